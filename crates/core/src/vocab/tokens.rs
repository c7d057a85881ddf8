//! Tokens and ids, each found by the other, and the tokens that begin or end at a place of a text.
//!
//! The hash of a token is a polynomial in [`BASE`] whose first byte has the lowest power: one multiplication and one
//! addition make the hash of a prefix from that of the prefix before, without a long dependency chain, and the hashes of
//! all suffixes follow from those of the prefixes. So many prefixes, or both sides of many cuts, cost little more than one.
//!
//! Long because every way to hash a token belongs beside the table that all of them use.

use std::ops::Range;

use crate::error::{Error, Kind, Result};
use crate::vocab::NO_ID;

/// An empty slot.
const EMPTY: u32 = u32::MAX;

/// The base of the polynomial: odd, so that it has an inverse.
const BASE: u64 = 0x9E37_79B9_7F4A_7C55;

/// The inverse of [`BASE`], by Newton's iteration: each step doubles the number of correct bits.
const INVERSE: u64 = {
    let mut inverse = BASE;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(BASE.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
};

/// The first powers of [`BASE`].
const POWERS: [u64; 64] = {
    let mut powers = [1; 64];
    let mut at = 1;
    while at < 64 {
        powers[at] = BASE.wrapping_mul(powers[at - 1]);
        at += 1;
    }
    powers
};

/// `BASE` to the 64th.
const NEXT_POWER: u64 = BASE.wrapping_mul(POWERS[63]);

/// Spreads a hash over its upper bits, which become the slot and the tag.
const SPREAD: u64 = 0xD6E8_FEB8_6659_FD93;

/// Parallel columns in id order, and the two ways to find a row.
pub(crate) struct Tokens {
    /// All tokens, one after another.
    bytes: Vec<u8>,
    /// Token `i` is `bytes[ends[i - 1]..ends[i]]`.
    ends: Vec<u32>,
    /// The id of token `i`, ascending.
    ids: Vec<u32>,
    /// Index of each id below its length; ids beyond it are searched for, so that one huge id costs no memory.
    index_of_id: Vec<u32>,
    /// Open addressing: the index of a token in the lower bits, a tag from its hash in those above, or [`EMPTY`].
    slots: Vec<u32>,
    index_bits: u32,
    /// A bit for each hash, by more of its bits than the slot has: most look-ups that fail end here.
    seen: Vec<u64>,
    /// The bytes of the longest token.
    longest: usize,
    /// The length of the longest token that begins with three bytes, by their hash; saturated at all ones.
    reach: Vec<u8>,
}

/// The hashes of all prefixes of one token.
#[derive(Default)]
pub(crate) struct Hashes {
    beginnings: Vec<u64>,
    /// The powers of [`INVERSE`].
    inverses: Vec<u64>,
}

impl Hashes {
    fn read(&mut self, token: &[u8]) {
        self.beginnings.clear();
        self.beginnings.push(0);
        extend(&mut self.beginnings, token);
        while self.inverses.len() < self.beginnings.len() {
            self.inverses.push(self.inverses.last().map_or(1, |last| INVERSE.wrapping_mul(*last)));
        }
    }

    /// The hash of the token up to `cut`.
    #[inline]
    pub(super) fn before(&self, cut: usize) -> u64 {
        self.beginnings[cut]
    }

    /// The hash of the token from `cut` on.
    #[inline]
    pub(super) fn after(&self, cut: usize) -> u64 {
        let end = self.beginnings.len() - 1;
        self.beginnings[end].wrapping_sub(self.beginnings[cut]).wrapping_mul(self.inverses[cut])
    }
}

/// Appends the hash of each prefix of `token` that is not empty to `hashes`.
#[inline]
fn extend(hashes: &mut Vec<u64>, token: &[u8]) {
    let mut hash = 0_u64;
    let mut factor = 1_u64;
    for bytes in token.chunks(POWERS.len()) {
        hashes.extend(bytes.iter().zip(&POWERS).map(|(&byte, power)| {
            hash = hash.wrapping_add((u64::from(byte) + 1).wrapping_mul(power.wrapping_mul(factor)));
            hash
        }));
        factor = factor.wrapping_mul(NEXT_POWER);
    }
}

fn hash(token: &[u8]) -> u64 {
    let mut hash = 0_u64;
    let mut factor = 1_u64;
    for bytes in token.chunks(POWERS.len()) {
        let terms = bytes.iter().zip(&POWERS).map(|(&byte, power)| (u64::from(byte) + 1).wrapping_mul(*power));
        hash = hash.wrapping_add(factor.wrapping_mul(terms.fold(0, u64::wrapping_add)));
        factor = factor.wrapping_mul(NEXT_POWER);
    }
    hash
}

/// The tokens that begin, or end, at one place of a text: likely candidates first, each verified on request.
#[derive(Default)]
pub(crate) struct Candidates {
    /// The hash of each prefix, or suffix, of the text that could be a token, one for each byte read.
    hashes: Vec<u64>,
    /// Bit `i` of word `j`: a token of `64 j + i + 1` bytes may begin, or end, here.
    lengths: Vec<u64>,
}

impl Candidates {
    /// The length of the longest candidate that is shorter than `below`.
    #[inline]
    pub(crate) fn longest_below(&self, below: usize) -> Option<usize> {
        let last = below.checked_sub(2)?;
        let mut word = last / 64;
        let mut kept = u64::MAX >> (63 - last % 64);
        if word >= self.lengths.len() {
            word = self.lengths.len().checked_sub(1)?;
            kept = u64::MAX;
        }
        loop {
            let bits = self.lengths[word] & kept;
            if bits != 0 {
                return Some(word * 64 + 64 - bits.leading_zeros() as usize);
            }
            word = word.checked_sub(1)?;
            kept = u64::MAX;
        }
    }
}

/// A rolling hash of bytes.
#[derive(Clone, Copy)]
pub(crate) struct Rolling {
    hash: u64,
    /// The power of the next byte.
    power: u64,
}

impl Rolling {
    /// The hash of some bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        bytes.iter().fold(Self { hash: 0, power: 1 }, |rolling, &byte| rolling.pushed(byte))
    }

    /// The hash with one more byte.
    #[inline]
    pub(crate) fn pushed(self, byte: u8) -> Self {
        let Self { hash, power } = self;
        let hash = hash.wrapping_add((u64::from(byte) + 1).wrapping_mul(power));
        Self { hash, power: power.wrapping_mul(BASE) }
    }
}

/// A hash of three bytes in 16 bits.
#[inline]
pub(super) fn three(a: u8, b: u8, c: u8) -> usize {
    (u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9E37_79B1) >> 16) as usize
}

/// Every bit of the hash in the upper half and in the upper bits of the lower.
#[inline]
fn spread(hash: u64) -> u64 {
    (hash ^ hash >> 32).wrapping_mul(SPREAD)
}

impl Tokens {
    /// Builds the table from columns; calls `visit` with each token before it can be found.
    ///
    /// # Errors
    /// `Format`, if an id or a token occurs twice, ids do not ascend or a token is empty.
    pub(crate) fn new(
        tokens: &[&[u8]],
        ids: &[u32],
        mut visit: impl FnMut(&Self, u32, &[u8], &Hashes),
    ) -> Result<Self> {
        if tokens.len() != ids.len() {
            return Err(Error::new(Kind::Format, format!("{} tokens but {} ids", tokens.len(), ids.len())));
        }
        let total: usize = tokens.iter().map(|token| token.len()).sum();
        if u32::try_from(total).is_err() {
            return Err(Error::new(Kind::Format, "the tokens are longer than 4 GiB together"));
        }
        let longest = tokens.iter().map(|token| token.len()).max().unwrap_or(0);
        let dense = ids.len() * 2 + 65_536;
        let mut columns = Self {
            bytes: Vec::with_capacity(total),
            ends: Vec::with_capacity(tokens.len()),
            ids: ids.to_vec(),
            index_of_id: vec![NO_ID; dense.min(ids.last().map_or(0, |&id| id as usize + 1))],
            slots: vec![EMPTY; (tokens.len() * 2).next_power_of_two()],
            // One more than indices need, so that no entry looks like an empty one.
            index_bits: usize::BITS - tokens.len().leading_zeros(),
            seen: vec![0; (tokens.len() * 2).next_power_of_two().div_ceil(16)],
            longest,
            reach: vec![0; 1 << 16],
        };
        for byte in tokens.iter().filter(|token| token.len() == 1) {
            columns.see(hash(byte));
        }
        let mut hashes = Hashes::default();
        let mut below = None;
        for (index, (&token, &id)) in (0..).zip(tokens.iter().zip(ids)) {
            if token.is_empty() {
                return Err(Error::new(Kind::Format, format!("the token with id {id} is empty")));
            }
            if id == NO_ID || below.is_some_and(|below| below >= id) {
                return Err(Error::new(Kind::Format, format!("id {id} occurs twice, is out of order or too large")));
            }
            below = Some(id);
            hashes.read(token);
            visit(&columns, index, token, &hashes);
            columns.push(index, id, token, hashes.before(token.len()))?;
        }
        Ok(columns)
    }

    fn push(&mut self, index: u32, id: u32, token: &[u8], hash: u64) -> Result<()> {
        match self.slot(hash, |other| self.bytes_at(other as usize) == token) {
            Ok(first) => {
                let first = self.ids[first as usize];
                let shown = String::from_utf8_lossy(token);
                return Err(Error::new(Kind::Format, format!("the token {shown:?} has two ids, {first} and {id}"))
                    .remedy("keep one of them; an id must stand for one token and a token for one id"));
            }
            Err(free) => self.slots[free] = self.tag(spread(hash)) | index,
        }
        self.see(hash);
        if let Some(slot) = self.index_of_id.get_mut(id as usize) {
            *slot = index;
        }
        if let [a, b, c, ..] = *token {
            let reach = &mut self.reach[three(a, b, c)];
            *reach = u8::try_from(token.len()).unwrap_or(u8::MAX).max(*reach);
        }
        self.bytes.extend_from_slice(token);
        self.ends.push(self.bytes.len() as u32);
        Ok(())
    }

    /// The index of the token with this hash for which `is_it` holds, or else the free slot for it.
    #[inline]
    fn slot(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> std::result::Result<u32, usize> {
        let spread = spread(hash);
        let mask = self.slots.len() - 1;
        let tag = self.tag(spread);
        let index_mask = (1 << self.index_bits) - 1;
        let mut at = (spread >> 32) as usize & mask;
        loop {
            let entry = self.slots[at & mask];
            if entry == EMPTY {
                return Err(at & mask);
            }
            let index = entry & index_mask;
            if entry & !index_mask == tag && is_it(index) {
                return Ok(index);
            }
            at += 1;
        }
    }

    /// The bits of a spread hash that an entry has room for; the slot is made of others.
    #[inline]
    fn tag(&self, spread: u64) -> u32 {
        spread as u32 & !((1 << self.index_bits) - 1)
    }

    /// Where the bit of a hash is.
    #[inline]
    fn seen_at(&self, hash: u64) -> (usize, u32) {
        let bits = spread(hash) >> 32;
        ((bits >> 6) as usize & (self.seen.len() - 1), bits as u32 & 63)
    }

    fn see(&mut self, hash: u64) {
        let (word, bit) = self.seen_at(hash);
        self.seen[word] |= 1 << bit;
    }

    /// Whether there can be a token with this hash, or a byte that comes later, without a branch.
    #[inline]
    pub(super) fn may_hold(&self, hash: u64) -> bool {
        let (word, bit) = self.seen_at(hash);
        self.seen[word] >> bit & 1 == 1
    }

    /// Finds the tokens that may begin `text`.
    ///
    /// Time: the length of the longest token that begins with the same three bytes.
    #[inline]
    pub(crate) fn look(&self, text: &[u8], beginnings: &mut Candidates) {
        let reach = match *text {
            [a, b, c, ..] => match self.reach[three(a, b, c)] {
                u8::MAX => self.longest,
                reach => usize::from(reach).max(2),
            },
            _ => text.len(),
        };
        beginnings.hashes.clear();
        extend(&mut beginnings.hashes, &text[..reach.min(text.len())]);
        self.sift(beginnings);
    }

    /// Finds the tokens that may end `text`, up to a number of bytes.
    #[inline]
    pub(super) fn look_back(&self, text: &[u8], reach: usize, endings: &mut Candidates) {
        endings.hashes.clear();
        let mut hash = 0_u64;
        endings.hashes.extend(text.iter().rev().take(reach).map(|&byte| {
            // The byte and what comes after it: its power is the lowest.
            hash = hash.wrapping_mul(BASE).wrapping_add(u64::from(byte) + 1);
            hash
        }));
        self.sift(endings);
    }

    /// Keeps the lengths of which a token may exist.
    #[inline]
    fn sift(&self, candidates: &mut Candidates) {
        candidates.lengths.clear();
        candidates.lengths.extend(candidates.hashes.chunks(64).map(|hashes| {
            hashes.iter().enumerate().fold(0, |bits, (at, &hash)| bits | u64::from(self.may_hold(hash)) << at)
        }));
    }

    /// The index of the token that equals the first bytes of `text`, after a search.
    #[inline]
    pub(crate) fn beginning(&self, text: &[u8], length: usize, beginnings: &Candidates) -> Option<u32> {
        self.find(beginnings.hashes[length - 1], &text[..length])
    }

    /// The index of the token that equals the last bytes of `text`, after a search.
    #[inline]
    pub(crate) fn ending(&self, text: &[u8], length: usize, endings: &Candidates) -> Option<u32> {
        self.find(endings.hashes[length - 1], &text[text.len() - length..])
    }

    /// The index of the token `bytes`, by its hash.
    #[inline]
    pub(crate) fn find_rolling(&self, rolling: &Rolling, bytes: &[u8]) -> Option<u32> {
        if self.may_hold(rolling.hash) { self.find(rolling.hash, bytes) } else { None }
    }

    /// The index of a token that probably has this hash; rarely it is another token with the same compared bits.
    #[inline]
    pub(super) fn guess(&self, hash: u64) -> Option<u32> {
        self.slot(hash, |_| true).ok()
    }

    /// Calls `found` with each cut of `token` into two tokens, from left to right: where it is, and the indices of both.
    ///
    /// Time: linear in the token, and in those found.
    pub(crate) fn each_cut(&self, token: &[u8], hashes: &mut Hashes, mut found: impl FnMut(usize, u32, u32)) {
        hashes.read(token);
        for at in 1..token.len() {
            let (before, after) = (hashes.before(at), hashes.after(at));
            if self.may_hold(before) & self.may_hold(after)
                && let Some(right) = self.find(after, &token[at..])
                && let Some(left) = self.find(before, &token[..at])
            {
                found(at, left, right);
            }
        }
    }

    /// The index of the token that is `bytes`, whose hash is known.
    #[inline]
    pub(super) fn find(&self, hash: u64, bytes: &[u8]) -> Option<u32> {
        self.slot(hash, |index| self.bytes_at(index as usize) == bytes).ok()
    }

    /// The index of a token, if these bytes are one.
    #[inline]
    pub(super) fn index_of_token(&self, token: &[u8]) -> Option<usize> {
        // A text longer than every token is not hashed.
        if token.len() > self.longest || self.ends.is_empty() {
            return None;
        }
        self.find(hash(token), token).map(|index| index as usize)
    }

    /// The bytes of token `index`.
    #[inline]
    pub(crate) fn bytes_at(&self, index: usize) -> &[u8] {
        &self.bytes[self.range_of(index)]
    }

    /// The range of token `index` in all bytes.
    #[inline]
    pub(crate) fn range_of(&self, index: usize) -> Range<usize> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        start..self.ends[index] as usize
    }

    /// All tokens, one after another.
    pub(crate) fn all_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The index of an id.
    pub(super) fn index_of_id(&self, id: u32) -> Option<usize> {
        match self.index_of_id.get(id as usize) {
            Some(&NO_ID) => None,
            Some(&index) => Some(index as usize),
            None => self.ids.binary_search(&id).ok(),
        }
    }

    /// The ids, ascending.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The bytes of the longest token.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_huge_id_costs_no_memory() {
        let tokens = Tokens::new(&[b"a", b"b"], &[3, NO_ID - 1], |_, _, _, _| {}).unwrap();
        assert!(tokens.index_of_id.len() < 100_000);
        assert_eq!(tokens.index_of_id(NO_ID - 1), Some(1));
    }

    #[test]
    fn tokens_are_found_from_their_ends() {
        let tokens = Tokens::new(&[b"a", b"ba", b"cba"], &[0, 1, 2], |_, _, _, _| {}).unwrap();
        let mut endings = Candidates::default();
        tokens.look_back(b"xcba", 9, &mut endings);
        let found = |length| tokens.ending(b"xcba", length, &endings);
        assert_eq!([found(1), found(2), found(3), found(4)], [Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn the_hashes_of_both_sides_of_a_cut_are_those_of_the_sides() {
        let mut hashes = Hashes::default();
        hashes.read(b"tokens");
        for cut in 0..=6 {
            assert_eq!(hashes.before(cut), hash(&b"tokens"[..cut]));
            assert_eq!(hashes.after(cut), hash(&b"tokens"[cut..]));
        }
    }
}
