//! Tokens and ids, each found by the other, and the tokens that begin or end at a place of a text.

mod stored;

use std::ops::Range;

use crate::error::{Error, Kind, Result};
use crate::memory::{Room, copied, filled};
use crate::prefetch::prefetch;
use crate::stored::Items;
use crate::vocab::NO_ID;
use crate::vocab::hashes::{BASE, Hashes, Rolling, extend, hash, spread, three};

/// An empty slot.
const EMPTY: u32 = u32::MAX;

/// So many tokens are entered together: while some are, the slots of others are on their way from memory.
const TOGETHER: usize = 64;

/// Slots for each word of bits.
const SLOTS_A_WORD: usize = 16;

/// How many hashes three bytes have.
const REACHES: usize = 1 << 16;

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
    /// The bytes of the token of each of these ids, where that is nearer than its ends; 0 if it is longer than fits.
    length_of_id: Vec<u8>,
    /// Open addressing: the index of a token in the lower bits, a tag from its hash in those above, or [`EMPTY`].
    slots: Items<u32>,
    index_bits: u32,
    /// A bit for each hash, by more of its bits than the slot has: most look-ups that fail end here.
    seen: Items<u64>,
    /// The bytes of the longest token.
    longest: usize,
    /// The length of the longest token that begins with three bytes, by their hash; saturated at all ones.
    reach: Vec<u8>,
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

/// How many slots so many tokens have: twice as many or more.
fn slots_of(tokens: usize) -> usize {
    (tokens * 2).next_power_of_two()
}

/// How many bits of a slot are an index: one more than indices need, so that no entry looks like an empty one.
fn index_bits_of(tokens: usize) -> u32 {
    usize::BITS - tokens.leading_zeros()
}

/// How many ids are found without a search.
fn indexed_of(ids: &[u32]) -> usize {
    (ids.len() * 2 + 65_536).min(ids.last().map_or(0, |&id| id as usize + 1))
}

impl Tokens {
    /// Builds the table from columns; calls `visit` with the rows of tokens that can be found from then on, in order, and
    /// the hashes of their cuts.
    ///
    /// # Errors
    /// `Format`, if an id or a token occurs twice, ids do not ascend or a token is empty; `Memory`.
    pub(crate) fn new(
        tokens: &[&[u8]],
        ids: &[u32],
        mut visit: impl FnMut(&Self, Range<usize>, &Hashes) -> Result<()>,
    ) -> Result<Self> {
        if tokens.len() != ids.len() {
            return Err(Error::new(Kind::Format, format!("{} tokens but {} ids", tokens.len(), ids.len())));
        }
        let total: usize = tokens.iter().map(|token| token.len()).sum();
        if u32::try_from(total).is_err() {
            return Err(Error::new(Kind::Format, "the tokens are longer than 4 GiB together"));
        }
        let longest = tokens.iter().map(|token| token.len()).max().unwrap_or(0);
        let indexed = indexed_of(ids);
        let mut columns = Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            ids: copied(ids)?,
            index_of_id: filled(NO_ID, indexed)?,
            length_of_id: filled(0, indexed)?,
            slots: filled(EMPTY, slots_of(tokens.len()))?.into(),
            index_bits: index_bits_of(tokens.len()),
            seen: filled(0, slots_of(tokens.len()).div_ceil(SLOTS_A_WORD))?.into(),
            longest,
            reach: filled(0, REACHES)?,
        };
        columns.bytes.room(total)?;
        columns.ends.room(tokens.len())?;
        for byte in tokens.iter().filter(|token| token.len() == 1) {
            columns.see(spread(hash(byte)));
        }
        let mut hashes = Hashes::default();
        for first in (0..tokens.len()).step_by(TOGETHER) {
            let rows = first..tokens.len().min(first + TOGETHER);
            hashes.read(&tokens[rows.clone()]);
            for &hash in hashes.wholes() {
                columns.prepare(spread(hash));
            }
            for (index, &hash) in rows.clone().zip(hashes.wholes()) {
                columns.push(index as u32, tokens[index], hash)?;
            }
            visit(&columns, rows, &hashes)?;
        }
        Ok(columns)
    }

    fn push(&mut self, index: u32, token: &[u8], hash: u64) -> Result<()> {
        let (id, below) = (self.ids[index as usize], index.checked_sub(1).map(|below| self.ids[below as usize]));
        if token.is_empty() {
            return Err(Error::new(Kind::Format, format!("the token with id {id} is empty")));
        }
        if id == NO_ID || below.is_some_and(|below| below >= id) {
            return Err(Error::new(Kind::Format, format!("id {id} occurs twice, is out of order or too large")));
        }
        let spread = spread(hash);
        match self.slot(spread, |other| self.bytes_at(other as usize) == token) {
            Ok(first) => {
                let first = self.ids[first as usize];
                let shown = String::from_utf8_lossy(token);
                return Err(Error::new(Kind::Format, format!("the token {shown:?} has two ids, {first} and {id}"))
                    .remedy("keep one of them; an id must stand for one token and a token for one id"));
            }
            Err(free) => self.slots.edit()[free] = self.tag(spread) | index,
        }
        self.see(spread);
        if let Some(slot) = self.index_of_id.get_mut(id as usize) {
            *slot = index;
            self.length_of_id[id as usize] = u8::try_from(token.len()).unwrap_or(0);
        }
        if let [a, b, c, ..] = *token {
            let reach = &mut self.reach[three(a, b, c)];
            *reach = u8::try_from(token.len()).unwrap_or(u8::MAX).max(*reach);
        }
        self.bytes.extend_from_slice(token);
        self.ends.push(self.bytes.len() as u32);
        Ok(())
    }

    /// The index of the token with this spread hash for which `is_it` holds, or else the free slot for it.
    #[inline]
    fn slot(&self, spread: u64, is_it: impl Fn(u32) -> bool) -> std::result::Result<u32, usize> {
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

    /// Where the bit of a spread hash is.
    #[inline]
    fn seen_at(&self, spread: u64) -> (usize, u32) {
        let bits = spread >> 32;
        ((bits >> 6) as usize & (self.seen.len() - 1), bits as u32 & 63)
    }

    /// Asks for the memory that [`Tokens::guess`] needs.
    #[inline]
    pub(super) fn prepare(&self, spread: u64) {
        prefetch(&self.slots, (spread >> 32) as usize & (self.slots.len() - 1));
    }

    /// Asks for the place of a token in all bytes.
    #[inline]
    pub(super) fn prepare_range(&self, index: u32) {
        prefetch(&self.ends, index as usize);
    }

    /// Asks for the bytes of a token.
    #[inline]
    pub(super) fn prepare_bytes(&self, index: u32) {
        prefetch(&self.bytes, self.range_of(index as usize).start);
    }

    fn see(&mut self, spread: u64) {
        let (word, bit) = self.seen_at(spread);
        self.seen.edit()[word] |= 1 << bit;
    }

    /// Whether there can be a token with this hash, or a byte that comes later, without a branch.
    #[inline]
    pub(super) fn may_hold(&self, hash: u64) -> bool {
        self.may_hold_spread(spread(hash))
    }

    /// The same of a spread hash.
    #[inline]
    pub(super) fn may_hold_spread(&self, spread: u64) -> bool {
        let (word, bit) = self.seen_at(spread);
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

    /// The index of a token that probably has this hash, which is spread; rarely it is another token with the same compared bits.
    #[inline]
    pub(super) fn guess(&self, spread: u64) -> Option<u32> {
        self.slot(spread, |_| true).ok()
    }

    /// Calls `found` with each cut of `token` whose sides may both be tokens, from left to right: where it is, and their
    /// hashes.
    pub(super) fn each_side(&self, token: &[u8], hashes: &mut Hashes, mut found: impl FnMut(usize, [u64; 2])) {
        hashes.read(&[token]);
        for (at, (_, [before, after])) in (1..token.len()).zip(hashes.sides()) {
            if self.may_hold(before) & self.may_hold(after) {
                found(at, [before, after]);
            }
        }
    }

    /// Calls `found` with each cut of `token` into two tokens, from left to right: where it is, and the indices of both.
    ///
    /// Time: linear in the token, and in those found.
    pub(super) fn each_cut(&self, token: &[u8], hashes: &mut Hashes, mut found: impl FnMut(usize, u32, u32)) {
        self.each_side(token, hashes, |at, [before, after]| {
            if let Some(right) = self.find(after, &token[at..])
                && let Some(left) = self.find(before, &token[..at])
            {
                found(at, left, right);
            }
        });
    }

    /// The index of the token that is `bytes`, whose hash is known.
    #[inline]
    pub(super) fn find(&self, hash: u64, bytes: &[u8]) -> Option<u32> {
        self.find_spread(spread(hash), bytes)
    }

    /// The same by the spread hash.
    #[inline]
    pub(super) fn find_spread(&self, spread: u64, bytes: &[u8]) -> Option<u32> {
        self.slot(spread, |index| self.bytes_at(index as usize) == bytes).ok()
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

    /// The bytes of the token of an id; 0 if there is none.
    #[inline]
    pub(super) fn length_of_id(&self, id: u32) -> usize {
        match self.length_of_id.get(id as usize) {
            Some(&length) if length > 0 => usize::from(length),
            _ => self.index_of_id(id).map_or(0, |index| self.range_of(index).len()),
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
        let tokens = Tokens::new(&[b"a", b"b"], &[3, NO_ID - 1], |_, _, _| Ok(())).unwrap();
        assert!(tokens.index_of_id.len() < 100_000);
        assert_eq!(tokens.index_of_id(NO_ID - 1), Some(1));
    }

    #[test]
    fn tokens_are_found_from_their_ends() {
        let tokens = Tokens::new(&[b"a", b"ba", b"cba"], &[0, 1, 2], |_, _, _| Ok(())).unwrap();
        let mut endings = Candidates::default();
        tokens.look_back(b"xcba", 9, &mut endings);
        let found = |length| tokens.ending(b"xcba", length, &endings);
        assert_eq!([found(1), found(2), found(3), found(4)], [Some(0), Some(1), Some(2), None]);
    }
}
