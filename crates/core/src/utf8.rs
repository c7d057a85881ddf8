//! Bytes that should be UTF-8: what becomes of those that are not, and of characters that are cut.

use std::borrow::Cow;

use crate::error::{Error, Result};

/// What becomes of bytes that are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnInvalid {
    /// They are an error.
    Raise,
    /// Each maximal part of a character becomes U+FFFD.
    Replace,
}

impl OnInvalid {
    /// The text that some bytes are.
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

/// Where the last character of some bytes starts, if it is cut off; else their end.
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
