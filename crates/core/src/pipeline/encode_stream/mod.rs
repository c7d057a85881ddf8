//! Streaming encode: the ids of a text that arrives in parts.
//!
//! The held text is encoded up to its last cut, before which no later text changes anything. If there is no cut, twice as
//! much text must arrive before the next search, so that a piece of any length takes linear time.

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use crate::encode::Sink;
use crate::error::Result;
use crate::memory::Room;
use crate::pipeline::{Cuts, Tokenizer};
use crate::segment::Policy;
use crate::units::Units;
use crate::utf8::{OnInvalid, boundary, complete};

/// The bytes between two searches for a cut, so that small parts are not encoded one by one.
const LEAST_MORE: usize = 1 << 12;

/// Encodes a text that is given in parts: the ids are those of the whole.
///
/// It holds what has come since the last cut: a piece, some thousand bytes, and a part. There are cuts where a pattern has
/// seams, where white space goes, and before marks for spaces; of text that normal forms or tables change only between
/// characters of ASCII. Other stages could change their mind until the end: then it holds the whole text.
///
/// ```
/// use bytepair_core::pipeline::EncodeStream;
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
    /// The first bytes of an incomplete character.
    pending: Vec<u8>,
    /// The text since the last cut.
    text: String,
    /// How long the whole text is by now, in bytes and in characters.
    length: (usize, usize),
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
        self.length
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
        self.hold(part)?;
        let encode = |text: &str, is_first| walk(tokenizer, policy, text, is_first, stop, sink);
        self.advance(tokenizer, policy, usize::MAX, encode)
    }

    /// Takes more text, and encodes with `encode`, which is given text and whether it is the first of the whole. A cut is
    /// looked for in the last `near` bytes.
    pub(super) fn push_units(
        &mut self,
        tokenizer: &Tokenizer,
        policy: Policy,
        (units, range): (Units, Range<usize>),
        near: usize,
        encode: impl FnOnce(&str, bool) -> Result<()>,
    ) -> Result<()> {
        let (before, characters) = (self.text.len(), range.len());
        units.append(range, &mut self.text)?;
        self.length.0 += self.text.len() - before;
        self.length.1 += characters;
        self.advance(tokenizer, policy, near, encode)
    }

    fn hold(&mut self, part: &str) -> Result<()> {
        self.text.room(part.len())?;
        self.text.push_str(part);
        self.length.0 += part.len();
        self.length.1 += part.chars().count();
        Ok(())
    }

    /// Encodes up to the last cut, if enough text came since the last search for one.
    fn advance(
        &mut self,
        tokenizer: &Tokenizer,
        policy: Policy,
        near: usize,
        encode: impl FnOnce(&str, bool) -> Result<()>,
    ) -> Result<()> {
        if self.text.len() < self.least {
            return Ok(());
        }
        if let Some(cut) = last_cut(tokenizer, policy, &self.text, near) {
            self.encode(cut, encode)?;
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
            joined.room(part.len())?;
            joined.extend_from_slice(part);
            &joined
        };
        let (whole, rest) = part.split_at(complete(part));
        let text = on_invalid.text(whole).map_err(|error| error.moved(self.length()))?;
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
        let rest = on_invalid.text(&pending).map_err(|error| error.moved(self.length()))?;
        self.hold(&rest)?;
        self.encode_rest(|text, is_first| walk(tokenizer, policy, text, is_first, stop, sink))
    }

    /// Encodes with `encode` what is left. The stream is then as new.
    pub(super) fn encode_rest(&mut self, encode: impl FnOnce(&str, bool) -> Result<()>) -> Result<()> {
        self.encode(self.text.len(), encode)?;
        *self = Self::default();
        Ok(())
    }

    /// Encodes the beginning of the text and lets go of it.
    fn encode(&mut self, end: usize, encode: impl FnOnce(&str, bool) -> Result<()>) -> Result<()> {
        let (length, held) = (self.length, &self.text);
        encode(&held[..end], length.0 == held.len())
            .map_err(|error| error.moved((length.0 - held.len(), length.1 - held.chars().count())))?;
        self.text.drain(..end);
        Ok(())
    }
}

/// The last place in the last `near` bytes where a text may be cut for any continuation.
pub(crate) fn last_cut(tokenizer: &Tokenizer, policy: Policy, text: &str, near: usize) -> Option<usize> {
    let cuts = Cuts::new(tokenizer, policy);
    // An added token that begins further right could continue in later text.
    let end = boundary(text, text.len().saturating_sub(cuts.longest_added()));
    cuts.last(text, boundary(text, end.saturating_sub(near))..end)
}

/// Encodes a text, or one that goes on where another one ended.
pub(crate) fn walk(
    tokenizer: &Tokenizer,
    policy: Policy,
    text: &str,
    is_first: bool,
    stop: Option<&AtomicBool>,
    sink: &mut impl Sink,
) -> Result<()> {
    let (segmenter, mut encoder) = (tokenizer.segmenter(), tokenizer.encoder(sink, stop));
    if is_first { segmenter.walk(text, policy, &mut encoder) } else { segmenter.walk_on(text, policy, &mut encoder) }
}
