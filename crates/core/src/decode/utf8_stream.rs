//! Bytes that arrive in parts, as text.

use std::borrow::Cow;

use crate::error::Result;
use crate::memory::{self, Room};
use crate::utf8;

/// Turns bytes that arrive in any parts into text, in whole characters.
///
/// Invalid UTF-8 becomes U+FFFD, one for each maximal part of a character, as in [`String::from_utf8_lossy`]: the
/// texts of all pushes and of the flush together equal decoding all bytes at once. Each push costs only its own bytes.
///
/// ```
/// let mut stream = bytepair_core::decode::Utf8Stream::default();
/// assert_eq!(stream.push(b"\xf0\x9f")?, "");
/// assert_eq!(stream.push(b"\xa6\x8a!")?, "\u{1f98a}!");
/// assert_eq!(stream.push_owned(b"\xc3".to_vec())?, "");
/// assert_eq!(stream.flush(), "\u{fffd}");
/// # Ok::<(), bytepair_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Utf8Stream {
    /// An incomplete character: at most three bytes.
    pending: Vec<u8>,
}

impl Utf8Stream {
    /// The text that these bytes complete: the bytes themselves if they are whole characters and none is pending.
    ///
    /// # Errors
    /// `Memory`, if there is none for the text; the bytes count as not pushed then.
    pub fn push<'a>(&mut self, bytes: &'a [u8]) -> Result<Cow<'a, str>> {
        if self.pending.is_empty() {
            if let Ok(text) = utf8::text(bytes) {
                return Ok(Cow::Borrowed(text));
            }
            let (text, rest) = certain(bytes)?;
            self.pending.extend_from_slice(rest);
            return Ok(text);
        }
        let before = self.pending.len();
        self.pending.room(bytes.len())?;
        self.pending.extend_from_slice(bytes);
        match certain(&self.pending).and_then(|(text, rest)| Ok((owned(text)?, rest.len()))) {
            Ok((text, rest)) => {
                self.pending.drain(..self.pending.len() - rest);
                Ok(Cow::Owned(text))
            }
            Err(error) => {
                self.pending.truncate(before);
                Err(error)
            }
        }
    }

    /// The same, which keeps the bytes as the text where it can.
    ///
    /// # Errors
    /// As [`Utf8Stream::push`].
    pub fn push_owned(&mut self, mut bytes: Vec<u8>) -> Result<String> {
        if self.pending.is_empty() {
            match String::from_utf8(bytes) {
                Ok(text) => return Ok(text),
                Err(error) => bytes = error.into_bytes(),
            }
        }
        self.push(&bytes).and_then(owned)
    }

    /// Ends the text: U+FFFD for an incomplete character. The stream can then be reused.
    pub fn flush(&mut self) -> String {
        let left = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending.clear();
        left
    }

    /// The bytes of an incomplete character.
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        &self.pending
    }
}

fn owned(text: Cow<'_, str>) -> Result<String> {
    match text {
        Cow::Borrowed(text) => memory::copy(text),
        Cow::Owned(text) => Ok(text),
    }
}

/// The text of some bytes, but for the start of a character at their end, which is the rest.
fn certain(bytes: &[u8]) -> Result<(Cow<'_, str>, &[u8])> {
    let (mut text, mut rest) = (String::new(), &b""[..]);
    let mut end = 0;
    for chunk in bytes.utf8_chunks() {
        let (good, bad) = (chunk.valid(), chunk.invalid());
        end += good.len() + bad.len();
        let unfinished = || std::str::from_utf8(bad).is_err_and(|error| error.error_len().is_none());
        if end == bytes.len() && unfinished() {
            rest = bad;
        }
        if text.is_empty() && good.len() + rest.len() == bytes.len() {
            return Ok((Cow::Borrowed(good), rest));
        }
        text.room(good.len() + char::REPLACEMENT_CHARACTER.len_utf8())?;
        text.push_str(good);
        if !bad.is_empty() && rest.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Ok((Cow::Owned(text), rest))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn every_cut_of_every_byte_sequence_equals_decoding_at_once() {
        let samples: [&[u8]; 5] = [
            "mañana 🦊".as_bytes(),
            b"\xf0\x9f\xa6",
            b"a\xffb\xc3",
            b"\xe2\x82\xe2\x82\xac\xed\xa0\x80",
            b"\xf4\x90\x80\x80",
        ];
        for bytes in samples {
            let whole = String::from_utf8_lossy(bytes);
            for cuts in 0..1_u32 << bytes.len().min(12) {
                let mut stream = Utf8Stream::default();
                let mut text = String::new();
                let mut start = 0;
                for end in 1..=bytes.len() {
                    if cuts >> (end - 1).min(31) & 1 == 1 {
                        text.push_str(&stream.push(&bytes[start..end]).unwrap());
                        start = end;
                        assert!(stream.pending().len() < 4);
                    }
                }
                text.push_str(&stream.push_owned(bytes[start..].to_vec()).unwrap());
                text.push_str(&stream.flush());
                assert_eq!(text, whole);
            }
        }
    }
}
