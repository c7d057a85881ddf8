//! A text put together from short parts, which are copied in steps of one size: a call for each would take longer.

use crate::error::{Error, Result};
use crate::memory;
use crate::utf8;

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

/// The text so far.
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
        Ok(Self { bytes: memory::filled(0, bytes + STEP)?, length: 0 })
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Adds a character. There is room for it.
    #[inline(always)]
    pub(crate) fn put(&mut self, character: Spelled) {
        if let Some(room) = self.bytes[self.length..].first_chunk_mut() {
            *room = character.1;
        }
        self.length += character.width();
    }

    /// Adds the first bytes of some text. There is room for them.
    #[inline(always)]
    pub(crate) fn copy(&mut self, text: &[u8], count: usize) {
        let room = &mut self.bytes[self.length..];
        match (room.first_chunk_mut::<STEP>(), text.first_chunk::<STEP>()) {
            (Some(room), Some(text)) if count <= STEP => *room = *text,
            _ => room[..count].copy_from_slice(&text[..count]),
        }
        self.length += count;
    }

    /// The text.
    ///
    /// # Errors
    /// `Encode`, if the parts are not UTF-8 together; `Memory`.
    pub(crate) fn into_text(self) -> Result<String> {
        let mut bytes = self.bytes;
        bytes.truncate(self.length);
        match utf8::text(&bytes) {
            Ok(text) => memory::copy(text),
            Err(error) => Err(Error::not_utf8(&bytes, &error)),
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
                joined.copy(&text.as_bytes()[*start..], end - start);
                expected.push(mark);
                expected.push_str(&text[*start..*end]);
                assert_eq!(joined.len(), expected.len());
                if expected.len() > 2 * text.len() {
                    break;
                }
            }
            assert_eq!(joined.into_text().unwrap(), expected);
        }
    }
}
