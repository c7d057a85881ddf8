//! Texts, one after another in one buffer, and a table that finds each by its spelling.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::prefetch::prefetch;

/// No text is here: none has this place.
const EMPTY: u64 = u64::MAX;

/// How many texts are looked for together.
const TOGETHER: usize = 64;

/// Texts in order. Together they have less than 4 GiB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    text: String,
    /// Where text `i` ends in `text`; it begins where the one before it ends.
    ends: Vec<u32>,
}

impl Texts {
    /// No texts yet, with room for some.
    #[must_use]
    pub fn with_capacity(texts: usize, bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), ends: Vec::with_capacity(texts) }
    }

    /// Adds a text.
    #[inline]
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.end();
    }

    /// Where the next text is written; [`Texts::end`] ends it.
    #[inline]
    pub(super) fn open(&mut self) -> &mut String {
        &mut self.text
    }

    /// Ends a text that was written, which may be empty; returns whether it is not.
    #[inline]
    pub(super) fn end(&mut self) -> bool {
        let before = self.ends.last().map_or(0, |&end| end as usize);
        self.ends.push(self.text.len() as u32);
        self.text.len() > before
    }

    /// The number of texts.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of all texts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Text number `place`.
    ///
    /// # Panics
    /// If there is no such text.
    #[inline]
    #[must_use]
    pub fn get(&self, place: u32) -> &str {
        let end = self.ends[place as usize] as usize;
        let start = if place == 0 { 0 } else { self.ends[place as usize - 1] as usize };
        &self.text[start..end]
    }

    /// The texts in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.len()).map(|place| self.get(place as u32))
    }
}

/// Texts, no two of them equal, each found by its spelling.
///
/// ```
/// use bytepair_core::files::{TextTable, Texts};
/// let mut texts = Texts::default();
/// texts.push("low");
/// texts.push("er");
/// let table = TextTable::new(texts).unwrap();
/// assert_eq!((table.place("er"), table.place("lo")), (Some(1), None));
/// ```
#[derive(Debug)]
pub struct TextTable {
    texts: Texts,
    /// By the hash of a text: the upper half of the hash and the place, or [`EMPTY`]. At most half are taken.
    slots: Vec<u64>,
}

impl TextTable {
    /// The table of texts.
    ///
    /// # Errors
    /// The places of two texts that are equal.
    pub fn new(texts: Texts) -> Result<Self, (u32, u32)> {
        let mut table = Self { slots: vec![EMPTY; (texts.len() * 2).next_power_of_two().max(2)], texts };
        let mut hashes = [0; TOGETHER];
        let count = table.texts.len() as u32;
        for first in (0..count).step_by(TOGETHER) {
            let places = first..count.min(first + TOGETHER as u32);
            // Slots are asked for before the first is read.
            for (place, hash) in places.clone().zip(&mut hashes) {
                *hash = hash_of(table.texts.get(place));
                prefetch(&table.slots, table.slot(*hash));
            }
            for (place, &hash) in places.zip(&hashes) {
                let (slot, found) = table.find(hash, table.texts.get(place));
                if let Some(other) = found {
                    return Err((other, place));
                }
                table.slots[slot] = hash >> 32 << 32 | u64::from(place);
            }
        }
        Ok(table)
    }

    /// The texts.
    #[inline]
    #[must_use]
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The place of a text.
    #[inline]
    #[must_use]
    pub fn place(&self, text: &str) -> Option<u32> {
        self.find(hash_of(text), text).1
    }

    /// The places of texts: many at once are faster than each alone.
    pub fn places<'a>(&self, texts: impl Iterator<Item = &'a str> + Clone, found: &mut Vec<Option<u32>>) {
        // Memory is asked for in rounds: the slots, where the texts there end, the texts.
        let slots: Vec<(u64, usize)> = texts.clone().map(hash_of).map(|hash| (hash, self.slot(hash))).collect();
        for &(_, slot) in &slots {
            prefetch(&self.slots, slot);
        }
        let place = |slot: usize| self.slots[slot] as u32 as usize;
        for &(_, slot) in &slots {
            prefetch(&self.texts.ends, place(slot));
        }
        for &(_, slot) in &slots {
            let end = self.texts.ends.get(place(slot)).map_or(0, |&end| end as usize);
            prefetch(self.texts.text.as_bytes(), end.saturating_sub(1));
        }
        found.extend(texts.zip(&slots).map(|(text, &(hash, _))| self.find(hash, text).1));
    }

    /// The place of this text, or else the slot where it belongs.
    #[inline]
    fn find(&self, hash: u64, text: &str) -> (usize, Option<u32>) {
        let mut slot = self.slot(hash);
        while self.slots[slot] != EMPTY {
            let place = self.slots[slot] as u32;
            if self.slots[slot] >> 32 == hash >> 32 && self.texts.get(place) == text {
                return (slot, Some(place));
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        (slot, None)
    }

    /// Where to look first.
    #[inline]
    fn slot(&self, hash: u64) -> usize {
        // The bits below the middle: those above it are compared.
        hash as usize & (self.slots.len() - 1)
    }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_alone_and_together() {
        let mut texts = Texts::with_capacity(0, 0);
        let all: Vec<String> = (0..1000).map(|number| format!("{}", number * 7)).chain([String::new()]).collect();
        for text in &all {
            texts.push(text);
        }
        let table = TextTable::new(texts.clone()).unwrap();
        let mut found = Vec::new();
        table.places(all.iter().map(String::as_str).chain(["x"]), &mut found);
        for (place, text) in (0..).zip(&all) {
            assert_eq!(
                (table.place(text), found[place as usize], table.texts().get(place)),
                (Some(place), Some(place), &**text)
            );
        }
        assert_eq!((table.place("1"), found[1001]), (None, None));
        texts.push("70");
        assert_eq!(TextTable::new(texts).unwrap_err(), (10, 1001));
    }
}
