//! A text put together from short parts, which are copied in steps of one size: a call for each would take longer.

use crate::error::Result;
use crate::memory::Room;

/// So many bytes are copied at once; those that are too many are written over.
const STEP: usize = 16;

/// A character and its bytes.
#[derive(Clone, Copy)]
pub(crate) struct Spelled(char, [u8; 4]);

impl Spelled {
    pub(crate) fn new(character: char) -> Self {
        let mut bytes = [0; 4];
        character.encode_utf8(&mut bytes);
        Self(character, bytes)
    }

    pub(crate) fn character(self) -> char {
        self.0
    }

    /// The first byte.
    pub(crate) fn first(self) -> u8 {
        self.1[0]
    }

    /// How many bytes there are.
    #[inline]
    pub(crate) fn width(self) -> usize {
        self.0.len_utf8()
    }
}

/// The text so far: whole characters in the first `length` bytes.
#[derive(Default)]
pub(crate) struct Joined {
    bytes: Vec<u8>,
    length: usize,
}

impl Joined {
    /// None of it, with room for so many bytes.
    ///
    /// # Errors
    /// `Memory`.
    pub(crate) fn in_room_of(bytes: usize) -> Result<Self> {
        let mut joined = Self::default();
        joined.begin(bytes)?;
        Ok(joined)
    }

    /// Begins anew, with room for so many bytes.
    ///
    /// # Errors
    /// `Memory`.
    pub(crate) fn begin(&mut self, bytes: usize) -> Result<()> {
        self.length = 0;
        let size = bytes + STEP;
        if self.bytes.len() < size {
            // What is there is not copied.
            self.bytes.clear();
            self.bytes.room(size)?;
            self.bytes.resize(size, 0);
        }
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Adds a character.
    ///
    /// # Panics
    /// If there is no room for it.
    #[inline(always)]
    pub(crate) fn put(&mut self, character: Spelled) {
        self.bytes[self.length..][..4].copy_from_slice(&character.1);
        self.length += character.width();
    }

    /// Adds the first bytes of some text, which are whole characters.
    ///
    /// # Panics
    /// If they are not, or there is no room for them.
    #[inline(always)]
    pub(crate) fn copy(&mut self, text: &str, count: usize) {
        assert!(text.is_char_boundary(count), "a text has whole characters");
        let (room, text) = (&mut self.bytes[self.length..], text.as_bytes());
        match (room.first_chunk_mut::<STEP>(), text.first_chunk::<STEP>()) {
            (Some(room), Some(text)) if count <= STEP => *room = *text,
            _ => room[..count].copy_from_slice(&text[..count]),
        }
        self.length += count;
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        // SAFETY: the first `length` bytes are whole characters, one behind the other: both functions that add some have checked
        // that theirs are in the bytes, and write over what a step before wrote beyond them.
        #[allow(unsafe_code, reason = "to look at all of it once more takes as long as to put it together")]
        unsafe {
            std::str::from_utf8_unchecked(&self.bytes[..self.length])
        }
    }

    /// The same, alone.
    pub(crate) fn into_text(mut self) -> String {
        self.bytes.truncate(self.length);
        // SAFETY: as for `text`.
        #[allow(unsafe_code, reason = "as for `text`")]
        unsafe {
            String::from_utf8_unchecked(self.bytes)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn parts_of_any_length_stand_one_behind_the_other() {
        let text = "ab\u{E9}\u{4E16}\u{1F600}".repeat(9);
        for mark in ['_', '\u{E9}', '\u{2581}', '\u{1F600}'] {
            let (mut joined, mut expected) = (Joined::in_room_of(2 * text.len() + 4 * 200).unwrap(), String::new());
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            for (start, end) in
                ends.iter().zip(&ends[1..]).chain(ends.iter().step_by(3).zip(ends.iter().skip(20).step_by(3)))
            {
                joined.put(Spelled::new(mark));
                joined.copy(&text[*start..], end - start);
                expected.push(mark);
                expected.push_str(&text[*start..*end]);
                assert_eq!(joined.len(), expected.len());
                if expected.len() > 2 * text.len() {
                    break;
                }
            }
            assert_eq!(std::str::from_utf8(joined.into_text().as_bytes()), Ok(&*expected));
        }
    }

    #[test]
    #[should_panic(expected = "whole characters")]
    fn no_part_of_a_character_is_added() {
        Joined::in_room_of(8).unwrap().copy("a\u{E9}", 2);
    }

    #[test]
    fn nothing_is_added_without_room() {
        for text in ["0123456789abcdef", "0123456789abcde", "\u{1F600}"] {
            let full = || {
                let mut joined = Joined::in_room_of(0).unwrap();
                joined.copy("0123456789abcdef", 16);
                assert!(joined.len() == STEP && joined.bytes.len() == STEP);
                joined
            };
            assert!(std::panic::catch_unwind(|| full().copy(text, text.len())).is_err());
            assert!(std::panic::catch_unwind(|| full().put(Spelled::new('a'))).is_err());
        }
    }
}
