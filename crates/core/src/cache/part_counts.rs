//! Short parts of texts that were counted lately, and their counts, or what of them fits: words recur, and a call through
//! all stages costs more than the few bytes of one.

use super::bound::{self, Taken};
use crate::hash::mix;
use crate::memory;
use crate::prefetch::prefetch;

/// A table takes at most this part of a thread's memory, and both twice that: with pieces seen and their ring, that is all of it.
const PARTS: usize = 16;

/// The words of a small entry and of a large one.
const SMALL_WORDS: usize = 4;
const LARGE_WORDS: usize = 8;

/// The bytes of the longest part that is kept.
pub(crate) const LONGEST: usize = held(LARGE_WORDS);

/// The bytes of the longest part that is kept in a small entry.
pub(crate) const SMALL: usize = held(SMALL_WORDS);

/// The bytes of a part that so many words have room for.
const fn held(words: usize) -> usize {
    8 * words - 6
}

/// Parts that are counted before there is a table: it is not worth making for a few.
const FEW: usize = 64;

/// The pairs of places of a first table.
const LEAST: usize = 1 << 11;

/// The bytes of the largest table.
const MOST: usize = 4 << 20;

/// The counts of parts of up to [`LONGEST`] bytes. Memory: up to 8 MB, once there are so many, within the bounds of caches.
#[derive(Default)]
pub(crate) struct PartCounts {
    small: Table<SMALL_WORDS>,
    large: Table<LARGE_WORDS>,
}

impl PartCounts {
    /// The number kept for a part, if it is known; `what` tells apart what was asked of it.
    #[inline]
    pub(crate) fn get(&self, part: &[u8], what: u8) -> Option<u64> {
        if part.len() <= SMALL { self.small.get(part, what) } else { self.large.get(part, what) }
    }

    /// Asks for the memory that [`PartCounts::get`] needs.
    #[inline]
    pub(crate) fn prepare(&self, part: &[u8], what: u8) {
        if part.len() <= SMALL { self.small.prepare(part, what) } else { self.large.prepare(part, what) }
    }

    /// Keeps a count that was not known.
    pub(crate) fn keep(&mut self, part: &[u8], what: u8, count: u64) {
        if part.len() <= SMALL { self.small.keep(part, what, count) } else { self.large.keep(part, what, count) }
    }
}

/// A part and its count: the part's bytes, then zeros; in the last word behind two of these bytes their number, what was asked of
/// it, and in the upper half the count. No part is empty.
#[derive(Clone, Copy)]
struct Entry<const WORDS: usize>([u64; WORDS]);

/// In the last word, where the length begins, what was asked, and the count.
const LENGTH: u32 = 16;
const WHAT: u32 = 24;
const COUNT: u32 = 32;

impl<const WORDS: usize> Entry<WORDS> {
    const EMPTY: Self = Self([0; WORDS]);

    /// The entry of a part without its count; None if it has no room.
    #[inline(always)]
    fn of(part: &[u8], what: u8) -> Option<Self> {
        if part.len() > held(WORDS) {
            return None;
        }
        let mut words = [0; WORDS];
        let (whole, rest) = part.as_chunks();
        for (word, bytes) in words.iter_mut().zip(whole) {
            *word = u64::from_le_bytes(*bytes);
        }
        words[whole.len()] = match part.last_chunk() {
            _ if rest.is_empty() => 0,
            Some(bytes) => u64::from_le_bytes(*bytes) >> (u64::BITS as usize - 8 * rest.len()),
            None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        };
        words[WORDS - 1] |= (part.len() as u64) << LENGTH | u64::from(what) << WHAT;
        Some(Self(words))
    }

    fn with_count(mut self, count: u32) -> Self {
        self.0[WORDS - 1] |= u64::from(count) << COUNT;
        self
    }

    fn count(&self) -> u64 {
        self.0[WORDS - 1] >> COUNT
    }

    fn is_empty(&self) -> bool {
        self.0[WORDS - 1] == 0
    }

    /// The last word without the count.
    #[inline(always)]
    fn last(&self) -> u64 {
        self.0[WORDS - 1] << (u64::BITS - COUNT)
    }

    /// Whether both are of one part that was asked the same.
    #[inline(always)]
    fn is_of(&self, other: &Self) -> bool {
        let before = self.0[..WORDS - 1].iter().zip(&other.0[..WORDS - 1]);
        before.fold(self.last() ^ other.last(), |differs, (word, other)| differs | (word ^ other)) == 0
    }

    #[inline(always)]
    fn hash(&self) -> u64 {
        self.0[..WORDS - 1].iter().fold(self.last(), |hash, &word| mix(hash, word))
    }
}

/// The last two parts whose hash names this place, the newer one first.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Pair<const WORDS: usize>([Entry<WORDS>; 2]);

/// Counts by part. A table that loses many grows.
#[derive(Default)]
struct Table<const WORDS: usize> {
    pairs: Vec<Pair<WORDS>>,
    /// Parts that were counted without a table, or whose place another one took.
    lost: usize,
    taken: Taken,
}

impl<const WORDS: usize> Table<WORDS> {
    #[inline(always)]
    fn place(&self, entry: &Entry<WORDS>) -> usize {
        entry.hash() as usize & (self.pairs.len() - 1)
    }

    #[inline]
    fn prepare(&self, part: &[u8], what: u8) {
        if !self.pairs.is_empty()
            && let Some(entry) = Entry::of(part, what)
        {
            prefetch(&self.pairs, self.place(&entry));
        }
    }

    #[inline]
    fn get(&self, part: &[u8], what: u8) -> Option<u64> {
        if self.pairs.is_empty() {
            return None;
        }
        let entry = Entry::of(part, what)?;
        let Pair(pair) = &self.pairs[self.place(&entry)];
        pair.iter().find(|known| known.is_of(&entry)).map(Entry::count)
    }

    fn keep(&mut self, part: &[u8], what: u8, count: u64) {
        let (Some(entry), Ok(count)) = (Entry::of(part, what), u32::try_from(count)) else { return };
        if self.pairs.is_empty() {
            self.lost += 1;
            if self.lost < FEW {
                return;
            }
            self.grow(LEAST);
            if self.pairs.is_empty() {
                return;
            }
        }
        self.lost += usize::from(self.put(entry.with_count(count)));
        if self.lost > self.pairs.len() && size_of_val(&*self.pairs) < MOST {
            self.grow(self.pairs.len() * 2);
        }
    }

    /// Puts a part first of its two places; returns whether another one is lost.
    fn put(&mut self, entry: Entry<WORDS>) -> bool {
        let place = self.place(&entry);
        let Pair([first, second]) = &mut self.pairs[place];
        !std::mem::replace(second, std::mem::replace(first, entry)).is_empty()
    }

    /// Makes the table this large, if there is memory for it and caches may take it.
    fn grow(&mut self, size: usize) {
        self.lost = 0;
        let (before, bytes) = (self.taken.bytes(), size * size_of::<Pair<WORDS>>());
        if bytes > bound::part(PARTS) || !self.taken.resize(bytes) {
            return;
        }
        let Ok(pairs) = memory::collect(std::iter::repeat_n(Pair([Entry::EMPTY; 2]), size)) else {
            self.taken.resize(before);
            return;
        };
        let before = std::mem::replace(&mut self.pairs, pairs);
        for entry in before.into_iter().flat_map(|Pair([newer, older])| [older, newer]) {
            if !entry.is_empty() {
                self.put(entry);
            }
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
        assert!(parts.small.pairs.len() > LEAST);
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
