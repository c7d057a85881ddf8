//! Texts, one after another in one buffer, and a table that finds each by its spelling.

use crate::files::slots::{Slots, hash};
use crate::prefetch::prefetch;

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

    /// Asks for where text number `place` is; [`Texts::prepare_text`] then for the text.
    #[inline]
    pub(crate) fn prepare(&self, place: u32) {
        prefetch(&self.ends, place as usize);
    }

    /// Asks for a text.
    #[inline]
    pub(crate) fn prepare_text(&self, place: u32) {
        let end = self.ends.get(place as usize).map_or(0, |&end| end as usize);
        prefetch(self.text.as_bytes(), end.saturating_sub(1));
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
    slots: Slots,
}

impl TextTable {
    /// The table of texts.
    ///
    /// # Errors
    /// The places of two texts that are equal.
    pub fn new(texts: Texts) -> Result<Self, (u32, u32)> {
        let hash_of = |place| hash(texts.get(place).as_bytes());
        let slots = Slots::new(texts.len() as u32, hash_of, |one, other| texts.get(one) == texts.get(other))?;
        Ok(Self { texts, slots })
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
        self.find(hash(text.as_bytes()), text)
    }

    /// The places of texts: many at once are faster than each alone.
    pub fn places<'a>(&self, texts: impl Iterator<Item = &'a str> + Clone, found: &mut Vec<Option<u32>>) {
        // Memory is asked for in rounds: the slots, where the texts there end, the texts.
        let hashes = texts.clone().map(|text| hash(text.as_bytes()));
        let slots: Vec<(u64, usize)> = hashes.map(|hash| (hash, self.slots.prepare(hash))).collect();
        for &(_, slot) in &slots {
            self.texts.prepare(self.slots.place(slot));
        }
        for &(_, slot) in &slots {
            self.texts.prepare_text(self.slots.place(slot));
        }
        found.extend(texts.zip(&slots).map(|(text, &(hash, _))| self.find(hash, text)));
    }

    #[inline]
    fn find(&self, hash: u64, text: &str) -> Option<u32> {
        self.slots.find(hash, |place| self.texts.get(place) == text).ok()
    }
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
