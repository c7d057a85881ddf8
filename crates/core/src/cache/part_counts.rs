//! Short parts of texts that were counted lately, and their counts, or what of them fits: words recur, and a call through
//! all stages costs more than the few bytes of one.

use super::bound::{self, Taken};
use crate::memory;

/// The table takes at most this part of a thread's memory: with pieces seen and their ring, that is all of it.
const PARTS: usize = 8;

/// The bytes of the longest part that is kept.
pub(crate) const LONGEST: usize = 58;

/// The bytes of the longest part that is kept in a small entry.
pub(crate) const SMALL: usize = 26;

/// Parts that are counted before there is a table: it is not worth making for a few.
const FEW: usize = 64;

/// The places of the first table and of the largest, as powers of two.
const LEAST: u32 = 12;
const MOST: u32 = 16;

/// The counts of parts of up to [`LONGEST`] bytes. Memory: up to 6 MB, once there are so many, within the bounds of caches.
#[derive(Default)]
pub(crate) struct PartCounts {
    small: Table<{ SMALL + 2 }>,
    large: Table<{ LONGEST + 2 }>,
}

impl PartCounts {
    /// The number kept for a part, if it is known; `what` tells apart what was asked of it.
    #[inline]
    pub(crate) fn get(&self, part: &[u8], what: u8) -> Option<u64> {
        if part.len() <= SMALL { self.small.get(part, what) } else { self.large.get(part, what) }
    }

    /// Keeps a count that was not known.
    pub(crate) fn keep(&mut self, part: &[u8], what: u8, count: u64) {
        if part.len() <= SMALL { self.small.keep(part, what, count) } else { self.large.keep(part, what, count) }
    }
}

/// A part and its count: the part's bytes, then zeros, its length, and what it was counted as. No part is empty.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Entry<const N: usize> {
    key: [u8; N],
    count: u32,
}

impl<const N: usize> Entry<N> {
    const EMPTY: Self = Self { key: [0; N], count: 0 };

    fn is_empty(&self) -> bool {
        self.key[N - 2] == 0
    }
}

/// Counts by part. The last two parts whose hash names a pair of places are there; a table that loses many grows.
#[derive(Default)]
struct Table<const N: usize> {
    entries: Vec<Entry<N>>,
    /// Parts that were counted without a table, or whose place another one took.
    lost: usize,
    taken: Taken,
}

impl<const N: usize> Table<N> {
    fn key(part: &[u8], what: u8) -> Option<[u8; N]> {
        let mut key = [0; N];
        key.get_mut(..part.len()).filter(|_| part.len() <= N - 2)?.copy_from_slice(part);
        key[N - 2..].copy_from_slice(&[part.len() as u8, what]);
        Some(key)
    }

    /// The first of the two places of a part.
    fn place(&self, key: &[u8; N]) -> usize {
        let (words, rest) = key.as_chunks::<8>();
        let rest = rest.iter().fold(0, |rest, &byte| rest << 8 | u64::from(byte));
        let hash = words.iter().fold(rest, |hash, &word| {
            let product =
                u128::from(hash ^ 0x9E37_79B9_7F4A_7C15) * u128::from(u64::from_le_bytes(word) ^ 0x517C_C1B7_2722_0A95);
            (product >> 64) as u64 ^ product as u64
        });
        hash as usize & (self.entries.len() - 2)
    }

    fn get(&self, part: &[u8], what: u8) -> Option<u64> {
        if self.entries.is_empty() {
            return None;
        }
        let key = Self::key(part, what)?;
        let place = self.place(&key);
        let known = self.entries.get(place..place + 2)?.iter().find(|entry| entry.key == key)?;
        Some(u64::from(known.count))
    }

    fn keep(&mut self, part: &[u8], what: u8, count: u64) {
        let (Some(key), Ok(count)) = (Self::key(part, what), u32::try_from(count)) else { return };
        if self.entries.is_empty() {
            self.lost += 1;
            if self.lost < FEW {
                return;
            }
            self.grow(1 << LEAST);
            if self.entries.is_empty() {
                return;
            }
        }
        self.lost += usize::from(self.put(Entry { key, count }));
        if self.lost > self.entries.len() / 2 && self.entries.len() < 1 << MOST {
            self.grow(self.entries.len() * 2);
        }
    }

    /// Puts a part first of its two places; returns whether another one is lost.
    fn put(&mut self, entry: Entry<N>) -> bool {
        let place = self.place(&entry.key);
        let [first, second] = &mut self.entries[place..place + 2] else { return false };
        !std::mem::replace(second, std::mem::replace(first, entry)).is_empty()
    }

    /// Makes the table this large, if there is memory for it and caches may take it.
    fn grow(&mut self, size: usize) {
        self.lost = 0;
        let (before, bytes) = (self.taken.bytes(), size * size_of::<Entry<N>>());
        if bytes > bound::part(PARTS) || !self.taken.resize(bytes) {
            return;
        }
        let Ok(entries) = memory::collect(std::iter::repeat_n(Entry::EMPTY, size)) else {
            self.taken.resize(before);
            return;
        };
        let before = std::mem::replace(&mut self.entries, entries);
        for entry in before.into_iter().filter(|entry| !entry.is_empty()) {
            self.put(entry);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_that_were_kept_and_most_are_there() {
        let mut parts = PartCounts::default();
        let part = |number: u32| number.wrapping_mul(0x9E37_79B1).to_string().into_bytes();
        for round in 0..3 {
            let mut known = 0;
            for number in 0..10_000 {
                for what in 0..2 {
                    let count = u64::from(number) * 2 + u64::from(what);
                    match parts.get(&part(number), what) {
                        Some(kept) => {
                            assert_eq!(kept, count);
                            known += 1;
                        }
                        None => parts.keep(&part(number), what, count),
                    }
                }
            }
            assert!(if round == 0 { known == 0 } else { known > 5_000 }, "{round} {known}");
        }
        assert!(parts.small.entries.len() > 1 << LEAST);
    }

    #[test]
    fn parts_that_are_alike_are_told_apart() {
        let mut parts = PartCounts::default();
        let long = [b'a'; LONGEST + 1];
        for number in 0..FEW as u64 * 2 {
            parts.keep(b"a", 0, number);
            parts.keep(&long, 0, number);
        }
        assert_eq!(parts.get(b"a", 0), Some(FEW as u64 * 2 - 1));
        assert_eq!(parts.get(b"a\0", 0), None);
        assert_eq!(parts.get(b"a", 1), None);
        assert_eq!(parts.get(&long, 0), None);
        for length in 1..=LONGEST {
            assert_eq!(parts.get(&long[..length], 0), (length == 1).then_some(FEW as u64 * 2 - 1), "{length}");
        }
        parts.keep(b"b", 0, u64::MAX);
        assert_eq!(parts.get(b"b", 0), None);
    }
}
