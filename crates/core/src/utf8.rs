//! Invalid UTF-8, and characters that are cut off at the end of a buffer.

use std::borrow::Cow;
use std::ops::Range;
use std::str::Utf8Error;

use crate::error::{Error, Result};

/// The treatment of invalid UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnInvalid {
    /// It is an error.
    Raise,
    /// Each maximal part of a character becomes U+FFFD.
    Replace,
}

/// The text of bytes, checked in wide registers: text beyond ASCII in a fraction of the standard library's time, whose error it is.
///
/// # Errors
/// As [`std::str::from_utf8`].
///
/// ```
/// # use bytepair_core::utf8::text;
/// assert_eq!((text(b"\xC3\xA9"), text(b"a\xFF").map_err(|error| error.valid_up_to())), (Ok("é"), Err(1)));
/// ```
#[inline]
pub fn text(bytes: &[u8]) -> std::result::Result<&str, Utf8Error> {
    simdutf8::basic::from_utf8(bytes).or_else(|_| std::str::from_utf8(bytes))
}

impl OnInvalid {
    /// Decodes bytes.
    ///
    /// # Errors
    /// `Encode`, with the place in bytes and in characters.
    ///
    /// ```
    /// # use bytepair_core::utf8::OnInvalid;
    /// assert_eq!(OnInvalid::Replace.text(b"a\xFFb")?, "a\u{FFFD}b");
    /// assert_eq!(OnInvalid::Raise.text(b"\xC3\xA9\xFF").map_err(|error| error.character), Err(Some(1)));
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn text(self, bytes: &[u8]) -> Result<Cow<'_, str>> {
        match (text(bytes), self) {
            (Ok(text), _) => Ok(Cow::Borrowed(text)),
            (Err(_), Self::Replace) => Ok(String::from_utf8_lossy(bytes)),
            (Err(error), Self::Raise) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                Err(Error::not_utf8(bytes, &error).placed(&valid))
            }
        }
    }
}

/// The start of an incomplete last character; the end of the bytes if there is none.
pub(crate) fn complete(bytes: &[u8]) -> usize {
    let is_start = |byte: u8| byte & 0xC0 != 0x80;
    let length = |first: u8| match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    };
    let starts = (1..=bytes.len().min(3)).find(|&back| is_start(bytes[bytes.len() - back]));
    match starts {
        Some(back) if length(bytes[bytes.len() - back]) > back => bytes.len() - back,
        _ => bytes.len(),
    }
}
/// The last boundary of a character up to a place.
pub(crate) fn boundary(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

/// The characters that a range of a text has a byte of, and a character inside of which the range lies empty. Without a
/// branch that depends on the text, but near its ends.
#[inline]
pub(crate) fn characters(text: &str, range: Range<usize>) -> Range<usize> {
    let Range { start, end } = range;
    let near = |from: Option<usize>| text.as_bytes().get(from?..)?.first_chunk();
    let (Some(&before), Some(&behind)) = (near(start.checked_sub(3)), near(Some(end))) else {
        return boundary(text, start)..next_boundary(text, end);
    };
    let (back, on) = (begins(before).leading_zeros() / 8, begins(behind).trailing_zeros() / 8);
    start - back as usize..end + on as usize
}

/// The top bit of each of four bytes, the first of them lowest, that begins a character.
#[inline]
fn begins(bytes: [u8; 4]) -> u32 {
    let bits = u32::from_le_bytes(bytes);
    (!bits | bits << 1) & 0x8080_8080
}

/// The first boundary of a character from a place on.
pub(crate) fn next_boundary(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place += 1;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_a_range_are_those_it_has_a_byte_of() {
        for text in ["", "a", "é", "日", "😀", "aé日😀b😀日éa", "😀😀", "aaaaaaaa"] {
            for start in 0..=text.len() {
                for end in start..=text.len() {
                    let expected = boundary(text, start)..next_boundary(text, end);
                    assert_eq!(characters(text, start..end), expected, "{start} {end} {text:?}");
                }
            }
        }
    }
}
