//! Bytes -> text, whole or as a stream.

/// Turns bytes that arrive in any pieces into text that is certain: never half a character.
///
/// What is not UTF-8 becomes U+FFFD, one for each maximal part of a character, as in [`String::from_utf8_lossy`]: the
/// texts of all pushes and of the flush together equal decoding all bytes at once. Each push costs only its own bytes.
///
/// ```
/// let mut stream = bytepair_core::decode::Utf8Stream::default();
/// assert_eq!(stream.push(b"\xf0\x9f"), "");
/// assert_eq!(stream.push(b"\xa6\x8a!"), "\u{1f98a}!");
/// assert_eq!(stream.push(b"\xc3"), "");
/// assert_eq!(stream.flush(), "\u{fffd}");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Utf8Stream {
    /// The start of a character whose end has not arrived: at most three bytes.
    pending: Vec<u8>,
}

impl Utf8Stream {
    /// The text that is certain after these bytes and was not before.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let mut text = String::new();
        let mut rest = self.pending.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                    break;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    rest = after;
                    let Some(bad) = error.error_len() else { break };
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = &rest[bad..];
                }
            }
        }
        let done = self.pending.len() - rest.len();
        self.pending.drain(..done);
        text
    }

    /// What is left, as text; the stream is then as new.
    pub fn flush(&mut self) -> String {
        let left = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending.clear();
        left
    }

    /// The bytes that wait for the rest of their character.
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        &self.pending
    }
}

#[cfg(test)]
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
                        text.push_str(&stream.push(&bytes[start..end]));
                        start = end;
                        assert!(stream.pending().len() < 4);
                    }
                }
                text.push_str(&stream.push(&bytes[start..]));
                text.push_str(&stream.flush());
                assert_eq!(text, whole);
            }
        }
    }
}
