//! Reading a text in windows that end between characters.

use std::io::{self, Read};

use crate::error::{Error, Kind, Result};
use crate::memory::Room;
use crate::utf8::{self, OnInvalid, complete};

/// Reads a text piece by piece into windows that the caller keeps.
pub(super) struct Windows<R> {
    reader: R,
    size: usize,
    on_invalid: OnInvalid,
    at_end: bool,
    /// The bytes that came before the window.
    before: u64,
    /// The first bytes of an incomplete character.
    incomplete: Vec<u8>,
}

impl<R: Read> Windows<R> {
    pub(super) fn new(reader: R, size: usize, on_invalid: OnInvalid) -> Self {
        Self { reader, size, on_invalid, at_end: false, before: 0, incomplete: Vec::new() }
    }

    /// Whether all is read.
    pub(super) fn at_end(&self) -> bool {
        self.at_end
    }

    /// The bytes after the last window's text.
    pub(super) fn incomplete(&self) -> &[u8] {
        &self.incomplete
    }

    /// Appends the next text to a window: the size of a window, and no less than it already holds, so that a
    /// piece of any length is read in linear time.
    pub(super) fn read_on(&mut self, window: &mut Vec<u8>) -> Result<()> {
        let wanted = self.size.max(window.len());
        window.room(wanted)?;
        let read = io::Read::by_ref(&mut self.reader).take(wanted as u64).read_to_end(window);
        let read = read.map_err(|error| Error::new(Kind::Artifact, format!("reading failed: {error}")))?;
        self.at_end = read < wanted;
        Ok(())
    }

    /// The text of a window; at its end a character may be left out that is not complete.
    ///
    /// # Errors
    /// `Encode`, if it is not UTF-8, with the place in all that was read.
    pub(super) fn text<'w>(&mut self, window: &'w mut Vec<u8>) -> Result<&'w str> {
        self.incomplete.clear();
        if !self.at_end {
            self.incomplete.extend_from_slice(&window[complete(window)..]);
            window.truncate(window.len() - self.incomplete.len());
        }
        if self.on_invalid == OnInvalid::Replace
            && let std::borrow::Cow::Owned(replaced) = String::from_utf8_lossy(window)
        {
            *window = replaced.into_bytes();
        }
        utf8::text(window).map_err(|error| {
            let error = Error::not_utf8(window, &error);
            error.shifted(self.before as usize)
        })
    }

    /// Marks the next `bytes` bytes of the window as done.
    pub(super) fn passed(&mut self, bytes: usize) {
        self.before += bytes as u64;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// The text read through windows of every small size, each wholly passed on.
    fn read(bytes: &[u8], size: usize, on_invalid: OnInvalid) -> Result<String> {
        let mut windows = Windows::new(bytes, size, on_invalid);
        let (mut window, mut text) = (Vec::new(), String::new());
        loop {
            windows.read_on(&mut window)?;
            let now = windows.text(&mut window)?;
            text.push_str(now);
            let passed = now.len();
            windows.passed(passed);
            window = windows.incomplete().to_vec();
            if windows.at_end() {
                return Ok(text);
            }
        }
    }

    #[test]
    fn windows_cut_no_character() {
        let text = "aé中😀b".repeat(9);
        for size in 1..40 {
            assert_eq!(read(text.as_bytes(), size, OnInvalid::Raise).unwrap(), text);
        }
    }

    #[test]
    fn what_is_not_utf8_is_replaced_as_in_one_go_or_placed() {
        let mut seed = 5_u64;
        for _ in 0..2_000 {
            let bytes: Vec<u8> = (0..12)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    b"a\xC3\xA9\xE4\xB8\xADb\xF0\x9F\x98\x80\xFF"[(seed >> 33) as usize % 12]
                })
                .collect();
            for size in 1..14 {
                let replaced = read(&bytes, size, OnInvalid::Replace).unwrap();
                assert_eq!(replaced, String::from_utf8_lossy(&bytes), "{bytes:?} {size}");
                let place = read(&bytes, size, OnInvalid::Raise).err().map(|error| error.byte.unwrap());
                assert_eq!(place, std::str::from_utf8(&bytes).err().map(|error| error.valid_up_to()), "{bytes:?}");
            }
        }
    }
}
