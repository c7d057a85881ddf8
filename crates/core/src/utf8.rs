//! Invalid UTF-8, and characters that are cut off at the end of a buffer.

use std::borrow::Cow;

use crate::error::{Error, Result};

/// The treatment of invalid UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnInvalid {
    /// It is an error.
    Raise,
    /// Each maximal part of a character becomes U+FFFD.
    Replace,
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
        match (std::str::from_utf8(bytes), self) {
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

/// The first boundary of a character from a place on.
pub(crate) fn next_boundary(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place += 1;
    }
    place
}
