//! The merge of each pair of symbols: a hash table with one word an entry, and a plain table for pairs of early symbols.

use crate::error::Result;
use crate::large_pages::Table;
use crate::memory::filled;
use crate::prefetch::prefetch;
use crate::stored::{Items, Reader, Writer, expect};

/// The value of a pair that does not merge, and the symbol of a token without one.
pub(crate) const NONE: u32 = u32::MAX;

/// Symbols are below this, so that a pair and its value are one word.
pub(crate) const SYMBOLS: usize = 1 << SYMBOL_BITS;

/// Values are below this.
pub(crate) const VALUES: usize = 1 << VALUE_BITS;

const SYMBOL_BITS: u32 = 21;
const VALUE_BITS: u32 = 22;

/// A symbol of no token, which merges with nothing but can be looked up.
pub(crate) const NOTHING: u32 = SYMBOLS as u32 - 1;

/// An empty slot. No entry equals it, since its pair would be of early symbols.
const EMPTY: u64 = 0;

/// Slots for each word of `seen`: eight bits a slot, so that three pairs in a hundred look like others.
const SLOTS_A_WORD: usize = 8;

/// Symbols below this are early: the bytes, and the first merges, which are the most frequent.
const EARLY: u32 = 512;

/// The values of one early symbol with all others, and a line more: rows a power of two apart would share their place in a
/// processor's caches.
const ROW: u32 = EARLY + 16;

/// 2^64 over the golden ratio: multiplying by it spreads adjacent keys.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// An open-addressing table from pairs of symbols to values; at most four fifths full, as few look-ups fail in it.
pub(super) struct PairTable {
    /// Left, right, value, from the top bit down; or [`EMPTY`].
    slots: Items<u64>,
    entries: usize,
    shift: u32,
    /// Three bits of a word for each pair: most pairs that do not merge are known here, in an eighth of the memory.
    seen: Items<u64>,
    /// The values of pairs of early symbols and 1, or 0: the first round of merging looks up hardly anything else, and the
    /// lines of frequent pairs stay near.
    early: Items<u32>,
}

impl PairTable {
    /// A table with room for this many pairs; it grows where there are more.
    ///
    /// # Errors
    /// `Memory`, as of [`PairTable::insert`].
    pub(super) fn with_capacity(pairs: usize) -> Result<Self> {
        let slots = (pairs * 5 / 4).next_power_of_two().max(16);
        Ok(Self {
            slots: Table::large(slots)?.into(),
            entries: 0,
            seen: filled(0, slots / SLOTS_A_WORD)?.into(),
            shift: u64::BITS - slots.trailing_zeros(),
            early: Table::large((EARLY * ROW) as usize)?.into(),
        })
    }

    /// The value of a pair, or [`NONE`].
    #[inline]
    pub(super) fn get(&self, left: u32, right: u32) -> u32 {
        if let Some(place) = place(left, right) {
            return self.early[place].wrapping_sub(1);
        }
        let key = key(left, right);
        let (word, bits) = self.seen_at(key);
        if self.seen[word] & bits != bits {
            return NONE;
        }
        match self.slots[self.slot(key)] {
            EMPTY => NONE,
            entry => entry as u32 & (VALUES as u32 - 1),
        }
    }

    /// Asks for the memory that [`PairTable::insert`] needs.
    #[inline]
    pub(super) fn prepare(&self, left: u32, right: u32) {
        let key = key(left, right);
        prefetch(&self.seen, self.seen_at(key).0);
        prefetch(&self.slots, self.first_slot(key));
    }

    /// Sets the value of a pair and returns the previous one.
    pub(super) fn insert(&mut self, left: u32, right: u32, value: u32) -> Result<u32> {
        if let Some(place) = place(left, right) {
            return Ok(std::mem::replace(&mut self.early.edit()[place], value + 1).wrapping_sub(1));
        }
        if self.entries * 5 >= self.slots.len() * 4 {
            self.grow()?;
        }
        let key = key(left, right);
        let slot = self.slot(key);
        let before = std::mem::replace(&mut self.slots.edit()[slot], key << VALUE_BITS | u64::from(value));
        self.see(key);
        if before == EMPTY {
            self.entries += 1;
            return Ok(NONE);
        }
        Ok(before as u32 & (VALUES as u32 - 1))
    }

    pub(super) fn store(&self, writer: &mut Writer) {
        writer.items(&[self.entries as u64]);
        writer.items(&self.slots);
        writer.items(&self.seen);
        writer.items(&self.early);
    }

    /// The table that was stored, and how many pairs it has. `found` is called with each pair and its value, and at each free
    /// slot as well, since which are free cannot be foreseen: with false, and a value that no pair has.
    ///
    /// # Errors
    /// `Format`, if a look-up might not end.
    pub(super) fn of_stored(
        reader: &mut Reader<'_>,
        mut found: impl FnMut(bool, [u32; 2], u32),
    ) -> Result<(Self, usize)> {
        let entries = reader.exactly::<u64>(1)?[0] as usize;
        let slots: Items<u64> = reader.items()?;
        expect(slots.len() >= SLOTS_A_WORD && slots.len().is_power_of_two())?;
        let seen = reader.exactly(slots.len() / SLOTS_A_WORD)?;
        let early: Items<u32> = reader.exactly((EARLY * ROW) as usize)?;
        let part = |entry: u64, bits: u32, below: u32| (entry >> below) as u32 & ((1 << bits) - 1);
        let mut used = 0;
        for &entry in slots.iter() {
            let pair = [SYMBOL_BITS, 0].map(|below| part(entry, SYMBOL_BITS, VALUE_BITS + below));
            found(entry != EMPTY, pair, part(entry, VALUE_BITS, 0));
            used += usize::from(entry != EMPTY);
        }
        // Some are free, as `insert` leaves them.
        expect(used == entries && used < slots.len())?;
        let mut pairs = entries;
        for (left, row) in (0..).zip(early.chunks(ROW as usize)) {
            for (right, &value) in (0..EARLY).zip(row).filter(|&(_, &value)| value != 0) {
                found(true, [left, right], value - 1);
                pairs += 1;
            }
        }
        Ok((Self { entries, shift: u64::BITS - slots.len().trailing_zeros(), slots, seen, early }, pairs))
    }

    fn grow(&mut self) -> Result<()> {
        let larger = Table::large(self.slots.len() * 2)?;
        self.seen = filled(0, larger.len() / SLOTS_A_WORD)?.into();
        self.shift -= 1;
        for &entry in &*std::mem::replace(&mut self.slots, larger.into()) {
            if entry != EMPTY {
                self.see(entry >> VALUE_BITS);
                let slot = self.slot(entry >> VALUE_BITS);
                self.slots.edit()[slot] = entry;
            }
        }
        Ok(())
    }

    fn see(&mut self, key: u64) {
        let (word, bits) = self.seen_at(key);
        self.seen.edit()[word] |= bits;
    }

    /// Where the bits of a pair are.
    #[inline]
    fn seen_at(&self, key: u64) -> (usize, u64) {
        let hash = key.wrapping_mul(SPREAD);
        // The bits below those of the slot, which depend on most of the key.
        let bit = |below: u32| 1 << (hash >> (self.shift - below) & 63);
        ((hash >> self.shift) as usize / SLOTS_A_WORD, bit(6) | bit(12) | bit(18))
    }

    #[inline]
    fn first_slot(&self, key: u64) -> usize {
        (key.wrapping_mul(SPREAD) >> self.shift) as usize & (self.slots.len() - 1)
    }

    /// The slot of a pair, or the free slot for it.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.first_slot(key);
        while self.slots[at] >> VALUE_BITS != key && self.slots[at] != EMPTY {
            at = (at + 1) & mask;
        }
        at
    }
}

/// Where a pair of early symbols is.
#[inline]
fn place(left: u32, right: u32) -> Option<usize> {
    (left < EARLY && right < EARLY).then_some((left * ROW + right) as usize)
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << SYMBOL_BITS | u64::from(right)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_found_again_after_growing_and_others_are_not() {
        let mut table = PairTable::with_capacity(0).unwrap();
        let pair = |at: u32| (at * 7 % 997, at * 13 % 1009);
        for at in 0..5000 {
            assert_eq!(table.insert(pair(at).0, pair(at).1, at).unwrap(), NONE);
        }
        for at in 0..5000 {
            assert_eq!(table.get(pair(at).0, pair(at).1), at);
            assert_eq!(table.get(pair(at).0 + 1000, pair(at).1), NONE);
        }
        assert_eq!(table.insert(7, 13, 9).unwrap(), 1);
        let largest = SYMBOLS as u32 - 2;
        assert_eq!(table.get(largest, largest), NONE);
        table.insert(largest, largest, VALUES as u32 - 1).unwrap();
        assert_eq!(table.get(largest, largest), VALUES as u32 - 1);
    }
}
