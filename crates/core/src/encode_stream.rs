//! The ids of a text that comes in parts.
//!
//! What is held is encoded up to its last cut, where no text to come can change what stands before. Where there is no cut,
//! twice as much has to come before one is looked for again, so that a piece of any length takes linear time.

use std::sync::atomic::AtomicBool;

use crate::count::cuts::Cuts;
use crate::encode::Sink;
use crate::error::{Error, Result};
use crate::pipeline::Tokenizer;
use crate::segment::Policy;
use crate::utf8::{OnInvalid, complete};

/// A cut is looked for when so many bytes have come since the last time, so that small parts are not encoded one by one.
const LEAST_MORE: usize = 1 << 13;

/// Encodes a text that is given in parts: the ids are those of the whole.
///
/// It holds what has come since the last cut: a piece, some thousand bytes, and a part. A tokenizer with normalizers,
/// `prefix_space`, added tokens that mind what stands around them, a model of characters, or a pattern without seams could
/// change its mind until the end: then it holds the whole text.
///
/// ```
/// use bytepair_core::encode_stream::EncodeStream;
/// use bytepair_core::pipeline::{Parts, Tokenizer};
/// use bytepair_core::segment::Policy;
/// use bytepair_core::utf8::OnInvalid;
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b" ", b"aa"], &[0, 1, 2], Semantics::Ranks)?;
/// let tokenizer = Tokenizer::new(Parts::of(vocab))?;
/// let (mut stream, mut ids) = (EncodeStream::default(), Vec::new());
/// for part in [b"aa ", b"a a"] {
///     stream.push_bytes(&tokenizer, Policy::default(), part, OnInvalid::Raise, None, &mut ids)?;
/// }
/// stream.finish(&tokenizer, Policy::default(), OnInvalid::Raise, None, &mut ids)?;
/// assert_eq!(ids, [2, 1, 0, 1, 0]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct EncodeStream {
    /// The start of a character whose end has not come.
    pending: Vec<u8>,
    /// The text since the last cut.
    text: String,
    /// How many bytes, and how many characters, came before it.
    before: (usize, usize),
    /// With less text no cut is looked for.
    least: usize,
}

impl EncodeStream {
    /// The bytes of text that wait.
    #[must_use]
    pub fn held(&self) -> usize {
        self.text.len()
    }

    /// How long the text is by now, in bytes and in characters, but for the start of a character.
    #[must_use]
    pub fn length(&self) -> (usize, usize) {
        (self.before.0 + self.text.len(), self.before.1 + self.text.chars().count())
    }

    /// Takes the next part of the text; sends the ids that are certain to `sink`. Tokenizer and policy are always the same.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], placed in the whole text, when the error is certain; the stream is then of no more use.
    /// `Interrupted`.
    pub fn push(
        &mut self,
        tokenizer: &Tokenizer,
        policy: Policy,
        part: &str,
        stop: Option<&AtomicBool>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        self.text.push_str(part);
        if self.text.len() < self.least {
            return Ok(());
        }
        if let Some(cut) = self.cut(tokenizer, policy) {
            self.encode(tokenizer, policy, cut, stop, sink)?;
        }
        self.least = self.text.len() + self.text.len().max(LEAST_MORE);
        Ok(())
    }

    /// The same for UTF-8 that may be cut within a character.
    ///
    /// # Errors
    /// As [`EncodeStream::push`], and `Encode` if it is not UTF-8.
    pub fn push_bytes(
        &mut self,
        tokenizer: &Tokenizer,
        policy: Policy,
        part: &[u8],
        on_invalid: OnInvalid,
        stop: Option<&AtomicBool>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut joined = std::mem::take(&mut self.pending);
        let part = if joined.is_empty() {
            part
        } else {
            joined.extend_from_slice(part);
            &joined
        };
        let (whole, rest) = part.split_at(complete(part));
        let text = on_invalid.text(whole).map_err(|error| moved(error, self.length()))?;
        self.pending = rest.to_vec();
        self.push(tokenizer, policy, &text, stop, sink)
    }

    /// Sends the ids that are left. The stream is then as new.
    ///
    /// # Errors
    /// As [`EncodeStream::push_bytes`].
    pub fn finish(
        &mut self,
        tokenizer: &Tokenizer,
        policy: Policy,
        on_invalid: OnInvalid,
        stop: Option<&AtomicBool>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let rest = on_invalid.text(&pending).map_err(|error| moved(error, self.length()))?;
        self.text.push_str(&rest);
        self.encode(tokenizer, policy, self.text.len(), stop, sink)?;
        *self = Self::default();
        Ok(())
    }

    /// The last place where the text may be cut whatever comes.
    fn cut(&self, tokenizer: &Tokenizer, policy: Policy) -> Option<usize> {
        let cuts = Cuts::new(tokenizer, policy)?;
        // An added token that begins further right could go on in what comes.
        let mut end = (self.text.len() + 1).saturating_sub(cuts.longest_added().max(1));
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        cuts.last(&self.text, 0..end)
    }

    /// Encodes the beginning of the text and lets go of it.
    fn encode(
        &mut self,
        tokenizer: &Tokenizer,
        policy: Policy,
        end: usize,
        stop: Option<&AtomicBool>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let text = &self.text[..end];
        let walked = tokenizer.segmenter().walk(text, policy, &mut tokenizer.encoder(sink, stop));
        walked.map_err(|error| moved(error, self.before))?;
        self.before.0 += end;
        self.before.1 += text.chars().count();
        self.text.drain(..end);
        Ok(())
    }
}

/// An error of a text behind so many bytes and characters.
fn moved(error: Error, (bytes, characters): (usize, usize)) -> Error {
    let character = error.character.map(|character| character + characters);
    Error { byte: error.byte.map(|byte| byte + bytes), character, ..error }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::pipeline::Parts;
    use crate::segment::{Steps, Treat};
    use crate::split::added::AddedToken;
    use crate::split::{Pattern, names};
    use crate::vocab::{Semantics, Vocab};

    fn tokenizer(patterns: &[&str], flags: bool) -> Tokenizer {
        // A vocabulary without a byte, so that some texts are errors.
        let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).filter(|byte| byte != b"Q").collect();
        let mut tokens: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).collect();
        tokens.extend([&b" a"[..], b"bc", b" abc", b"  "]);
        let ids: Vec<u32> = (0..tokens.len() as u32).collect();
        let added = |id, content: &str| AddedToken { content: content.to_owned(), id, ..AddedToken::default() };
        Tokenizer::new(Parts {
            added: vec![
                AddedToken { special: true, ..added(300, "<s>") },
                AddedToken { lstrip: flags, ..added(301, "a <s") },
                added(302, "\n\n"),
            ],
            steps: Steps::of(patterns.iter().map(|pattern| Pattern::new(pattern).unwrap()).collect()),
            ..Parts::of(Vocab::new(&tokens, &ids, Semantics::Ranks).unwrap())
        })
        .unwrap()
    }

    /// The ids of a text in parts, with no waiting for more, and the error that there was.
    fn streamed(tokenizer: &Tokenizer, policy: Policy, parts: &[&[u8]]) -> (Vec<u32>, Option<Error>) {
        let (mut stream, mut ids) = (EncodeStream::default(), Vec::new());
        for part in parts {
            stream.least = 0;
            if let Err(error) = stream.push_bytes(tokenizer, policy, part, OnInvalid::Raise, None, &mut ids) {
                return (ids, Some(error));
            }
        }
        let error = stream.finish(tokenizer, policy, OnInvalid::Raise, None, &mut ids).err();
        assert!(error.is_some() || (stream.held(), stream.length()) == (0, (0, 0)));
        (ids, error)
    }

    #[test]
    fn parts_change_neither_ids_nor_errors() {
        let words =
            [" abc", "bcde", " ", "\n", "\n\n", "é世界😀", "<s>", "a <s", "a ", "<", "12345", "'ll", "!?", "   x", "Q"];
        let mut seed = 11_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let patterns: [&[&str]; 4] = [&[names::O200K], &[names::GPT2, r"\p{N}{1,2}|\P{N}+"], &[], &[r"(?<=b)c|\w"]];
        for (number, patterns) in patterns.into_iter().enumerate() {
            for flags in [false, true] {
                let tokenizer = tokenizer(patterns, flags);
                for case in 0..150 {
                    let words = &words[..if random(4) > 0 { words.len() - 1 } else { words.len() }];
                    let text: String = (0..random([4, 40][case % 2])).map(|_| words[random(words.len())]).collect();
                    let special = [Treat::Match, Treat::Text, Treat::Raise][case % 3];
                    let policy = Policy { special, added: [Treat::Match, Treat::Text][case % 2] };
                    let mut expected = Vec::new();
                    let error = tokenizer.encode(&text, policy, &mut expected).err();
                    for _ in 0..4 {
                        let mut parts = Vec::new();
                        let mut rest = text.as_bytes();
                        while !rest.is_empty() {
                            let most = [1, 3, 60][random(3)];
                            let (part, others) = rest.split_at(1 + random(rest.len().min(most)));
                            parts.push(part);
                            rest = others;
                        }
                        let (ids, found) = streamed(&tokenizer, policy, &parts);
                        assert_eq!(found, error, "{number} {flags} {text:?} {parts:?}");
                        assert!(if error.is_some() { expected.starts_with(&ids) } else { ids == expected }, "{text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn little_is_held_where_there_are_cuts_and_all_where_there_is_none() {
        let text = " abc bc".repeat(10_000);
        for (patterns, most) in [(&[names::GPT2][..], 2 * LEAST_MORE), (&[], usize::MAX)] {
            let tokenizer = tokenizer(patterns, false);
            let (mut stream, mut ids, mut held) = (EncodeStream::default(), Vec::new(), 0);
            for part in text.as_bytes().chunks(100) {
                let on_invalid = OnInvalid::Raise;
                stream.push_bytes(&tokenizer, Policy::default(), part, on_invalid, None, &mut ids).unwrap();
                held = held.max(stream.held());
            }
            assert!(if most == usize::MAX { held == text.len() } else { held <= most }, "{held}");
        }
    }
}
