//! The merge of each pair of tokens: a hash table of one word an entry.

use super::affixes::bare;
use super::token_table::{MOST_TOKENS, NONE, TokenTable, format};
use crate::error::Result;
use crate::prefetch::prefetch;

const SYMBOL_BITS: u32 = MOST_TOKENS.trailing_zeros();
const RANK_BITS: u32 = 64 - 2 * SYMBOL_BITS;
const EMPTY: u64 = u64::MAX;

/// 2^64 over the golden ratio: multiplying by it spreads adjacent keys.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Merges that are resolved together.
const TOGETHER: usize = 64;

/// Slots for each word of `seen`: four bits a slot.
const SLOTS_A_WORD: usize = 16;

/// Pairs of tokens, by index, to ranks; ranks to their tokens.
pub(super) struct Pairs {
    /// Left, right, rank, from the top bit down; at most half are taken, so that most searches touch one line.
    slots: Vec<u64>,
    shift: u32,
    /// A bit for each pair, by two more bits of its hash than the slot has: most pairs that do not merge are known
    /// here, in an eighth of the memory.
    seen: Vec<u64>,
    /// The token that the merge of each rank makes.
    products: Vec<u32>,
    /// The two tokens of the merge of each rank.
    parts: Vec<(u32, u32)>,
}

impl Pairs {
    /// Compiles merges, given as pairs of ids in rank order, of which the left token loses the `separator` and the right one its
    /// first `prefix` bytes. A pair that is listed twice has its later place, as in `tokenizers`.
    pub(super) fn new(table: &TokenTable, merges: &[(u32, u32)], separator: &str, prefix: usize) -> Result<Self> {
        if merges.len() >= 1 << RANK_BITS {
            let what = format!("{} merges are too many", merges.len());
            return Err(format(what).remedy(format!("use fewer than {}", 1_u32 << RANK_BITS)));
        }
        let slots = (merges.len() * 2).next_power_of_two().max(SLOTS_A_WORD);
        let mut pairs = Self {
            slots: vec![EMPTY; slots],
            shift: u64::BITS - slots.trailing_zeros(),
            seen: vec![0; slots / SLOTS_A_WORD],
            products: Vec::with_capacity(merges.len()),
            parts: Vec::with_capacity(merges.len()),
        };
        let (mut joined, mut ends, mut found) = (String::new(), Vec::new(), Vec::new());
        for (chunk, merges) in merges.chunks(TOGETHER).enumerate() {
            joined.clear();
            ends.clear();
            ends.push(0);
            for (rank, &(left, right)) in (chunk * TOGETHER..).zip(merges) {
                let index = |id| {
                    let what = || format!("merge {rank} ({left}, {right}) names id {id}, which is not a token");
                    table.index_in_merges(id).ok_or_else(|| format(what()))
                };
                pairs.parts.push((index(left)?, index(right)?));
            }
            let parts = &pairs.parts[chunk * TOGETHER..];
            table.prepare(parts.iter().flat_map(|&(left, right)| [left, right]));
            for &(left, right) in parts {
                pairs.prepare(left, right);
            }
            for (rank, &(left, right)) in (chunk * TOGETHER..).zip(parts) {
                let (before, after) = (table.text(left), table.text(right));
                let begins = bare(before, "", separator).filter(|before| !before.is_empty());
                let goes_on = after.get(prefix..).filter(|after| !after.is_empty());
                let Some((before, after)) = begins.zip(goes_on) else {
                    let what = format!("merge {rank} of {before:?} and {after:?} adds nothing to a token");
                    return Err(format(what).remedy("remove the merge, the separator or the continuing_subword_prefix"));
                };
                joined.push_str(before);
                joined.push_str(after);
                ends.push(joined.len());
            }
            found.clear();
            table.indices_of(ends.windows(2).map(|ends| &joined[ends[0]..ends[1]]), &mut found);
            for (at, product) in found.iter().enumerate() {
                let rank = chunk * TOGETHER + at;
                let Some(product) = *product else {
                    let made = &joined[ends[at]..ends[at + 1]];
                    return Err(format(format!("merge {rank} makes {made:?}, which is not a token"))
                        .remedy("add the token to the vocabulary or remove the merge"));
                };
                pairs.products.push(product);
                let (left, right) = pairs.parts[rank];
                pairs.insert(left, right, rank as u32);
            }
        }
        Ok(pairs)
    }

    /// The rank of a pair, or [`NONE`].
    #[inline]
    pub(super) fn rank(&self, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        let (word, bit) = self.seen_at(key);
        if self.seen[word] >> bit & 1 == 0 {
            return NONE;
        }
        match self.slots[self.slot(key)] {
            EMPTY => NONE,
            entry => entry as u32 & ((1 << RANK_BITS) - 1),
        }
    }

    /// The token that the merge of this rank makes.
    #[inline]
    pub(super) fn product(&self, rank: u32) -> u32 {
        self.products[rank as usize]
    }

    /// The tokens that merges make.
    pub(super) fn products(&self) -> &[u32] {
        &self.products
    }

    /// The two tokens of each merge, in rank order.
    pub(super) fn parts(&self) -> &[(u32, u32)] {
        &self.parts
    }

    fn insert(&mut self, left: u32, right: u32, rank: u32) {
        let key = key(left, right);
        let (word, bit) = self.seen_at(key);
        self.seen[word] |= 1 << bit;
        let slot = self.slot(key);
        self.slots[slot] = key << RANK_BITS | u64::from(rank);
    }

    /// Asks for the memory that entering a pair needs.
    #[inline]
    fn prepare(&self, left: u32, right: u32) {
        let key = key(left, right);
        prefetch(&self.seen, self.seen_at(key).0);
        prefetch(&self.slots, (key.wrapping_mul(SPREAD) >> self.shift) as usize);
    }

    /// The slot of this pair, or the free one where it belongs.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let mut at = (key.wrapping_mul(SPREAD) >> self.shift) as usize;
        while self.slots[at] != EMPTY && self.slots[at] >> RANK_BITS != key {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    #[inline]
    fn seen_at(&self, key: u64) -> (usize, u32) {
        let bits = key.wrapping_mul(SPREAD) >> (self.shift - 2);
        ((bits >> 6) as usize, bits as u32 & 63)
    }
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << SYMBOL_BITS | u64::from(right)
}
