//! Tokens and their ids, each found by the other.
//!
//! The hash of a token is a polynomial in its bytes, so that the hashes of all its ends follow from those of its
//! beginnings: looking up both sides of every cut of a token then costs no more than the look-ups.

use crate::error::{Error, Kind, Result};
use crate::vocab::NO_ID;

/// No token is here.
const EMPTY: u32 = u32::MAX;

/// The base of the polynomial: odd, so that multiplying by it loses nothing.
const BASE: u64 = 0x9E37_79B9_7F4A_7C55;

/// Spreads a hash over its upper bits, which become the slot and the tag.
const SPREAD: u64 = 0xD6E8_FEB8_6659_FD93;

/// Parallel columns in id order, and the two ways to find a row.
pub(super) struct Tokens {
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
    /// A bit for each hash, by more of its bits than the slot has: most look-ups of what is no token end here.
    seen: Vec<u64>,
    /// The bytes of the longest token.
    longest: usize,
}

/// The hashes of all beginnings of one token.
pub(super) struct Hashes {
    beginnings: Vec<u64>,
    powers: Vec<u64>,
}

impl Hashes {
    fn new(longest: usize) -> Self {
        let powers = std::iter::successors(Some(1_u64), |power| Some(power.wrapping_mul(BASE)));
        Self { beginnings: Vec::with_capacity(longest + 1), powers: powers.take(longest + 1).collect() }
    }

    fn read(&mut self, token: &[u8]) {
        self.beginnings.clear();
        self.beginnings.push(0);
        let mut hash = 0;
        for &byte in token {
            hash = add(hash, byte);
            self.beginnings.push(hash);
        }
    }

    /// The hash of the token up to `cut`.
    pub(super) fn before(&self, cut: usize) -> u64 {
        self.beginnings[cut]
    }

    /// The hash of the token from `cut` on.
    pub(super) fn after(&self, cut: usize) -> u64 {
        let end = self.beginnings.len() - 1;
        self.beginnings[end].wrapping_sub(self.beginnings[cut].wrapping_mul(self.powers[end - cut]))
    }
}

fn add(hash: u64, byte: u8) -> u64 {
    hash.wrapping_mul(BASE).wrapping_add(u64::from(byte) + 1)
}

fn hash(token: &[u8]) -> u64 {
    token.iter().fold(0, |hash, &byte| add(hash, byte))
}

/// Every bit of the hash in the upper half and in the upper bits of the lower.
#[inline]
fn spread(hash: u64) -> u64 {
    (hash ^ hash >> 32).wrapping_mul(SPREAD)
}

impl Tokens {
    /// Takes the columns, and calls `visit` with each token before it can be found.
    ///
    /// # Errors
    /// `Format`, if an id or a token occurs twice, ids do not ascend or a token is empty.
    pub(super) fn new(
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
        };
        for byte in tokens.iter().filter(|token| token.len() == 1) {
            columns.see(hash(byte));
        }
        let mut hashes = Hashes::new(longest);
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
        self.bytes.extend_from_slice(token);
        self.ends.push(self.bytes.len() as u32);
        Ok(())
    }

    /// The index of the token with this hash that `is_it`, or else the free slot where it would stand.
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

    /// The index of a token that probably has this hash: other tokens share what is compared, but rarely.
    #[inline]
    pub(super) fn guess(&self, hash: u64) -> Option<u32> {
        self.slot(hash, |_| true).ok()
    }

    /// The index of the token that is `bytes`, whose hash is known.
    #[inline]
    pub(super) fn find(&self, hash: u64, bytes: &[u8]) -> Option<u32> {
        self.slot(hash, |index| self.bytes_at(index as usize) == bytes).ok()
    }

    /// The index of a token, if these bytes are one.
    #[inline]
    pub(super) fn index_of_token(&self, token: &[u8]) -> Option<usize> {
        // What is longer than every token is not read.
        if token.len() > self.longest || self.ends.is_empty() {
            return None;
        }
        self.find(hash(token), token).map(|index| index as usize)
    }

    /// The bytes of token `index`.
    #[inline]
    pub(super) fn bytes_at(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.bytes[start..self.ends[index] as usize]
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
    pub(super) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The bytes of the longest token.
    pub(super) fn longest(&self) -> usize {
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
    fn the_hashes_of_both_sides_of_a_cut_are_those_of_the_sides() {
        let mut hashes = Hashes::new(6);
        hashes.read(b"tokens");
        for cut in 0..=6 {
            assert_eq!(hashes.before(cut), hash(&b"tokens"[..cut]));
            assert_eq!(hashes.after(cut), hash(&b"tokens"[cut..]));
        }
    }
}
