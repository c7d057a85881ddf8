//! The number of ids of every prefix of a piece that grows, whatever the model.
//!
//! A prefix as a piece of its own: a token may be taken whole, characters may be unknown, and a piece with a hazard is left
//! to the model that is spelled in characters. The rows of a model tell what merging makes of each prefix, and do not
//! change when the piece grows.

use crate::encode::{Compiled, Count};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::merge::{self, Prefixes};
use crate::model::WordRows;
use crate::segment::Visit;
use crate::vocab::Candidates;

/// So many bytes, and it is asked whether they are still wanted.
const AT_ONCE: usize = 1 << 14;

/// The prefixes of one piece.
#[derive(Default)]
pub(super) struct Rows {
    bytes: Prefixes,
    found: Candidates,
    words: WordRows,
    /// The bytes that are known.
    length: usize,
    /// Where the first hazard ends: prefixes that hold it are left to the model that is spelled in characters.
    hazard: Option<usize>,
}

impl Rows {
    /// Whether the pieces of a model have rows: all but those of vocabularies with tokens of more than a kilobyte, or of 256
    /// bytes if it is not proper, and of BPE of characters whose merges take unknown tokens, or those of bytes.
    pub(super) fn can(model: &Compiled) -> bool {
        match model.words() {
            Some(words) if model.vocab.is_empty() => words.has_rows(),
            Some(words) if model.has_hazards() && !words.has_rows() => false,
            _ => merge::has_prefixes(&model.vocab),
        }
    }

    /// The bytes that are known.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Forgets what is beyond a length, which lies between characters.
    pub(super) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
        self.words.truncate(length);
        self.length = self.length.min(length);
        self.hazard = self.hazard.filter(|&hazard| hazard <= length);
    }

    /// Extends to the end of `piece`, which begins with what is known.
    ///
    /// Time: linear in what is new. That a part of it has no token is not an error until it is counted. Of a model
    /// whose pieces have no rows nothing is kept, and each count encodes.
    ///
    /// # Errors
    /// `Format`, if the tokens are too many to be looked for.
    pub(super) fn extend(&mut self, model: &Compiled, piece: &str) -> Result<()> {
        if piece.len() <= self.length || u32::try_from(piece.len()).is_err() {
            return Ok(());
        }
        let known = std::mem::replace(&mut self.length, piece.len());
        if !Self::can(model) {
            return Ok(());
        }
        let extended = self.extend_from(known, model, piece);
        if extended.is_err() {
            self.length = known;
        }
        extended
    }

    fn extend_from(&mut self, known: usize, model: &Compiled, piece: &str) -> Result<()> {
        let words = model.words();
        if self.hazard.is_none() && words.is_some() {
            let from = (known + 1).saturating_sub(model.longest_hazard());
            self.hazard = model.hazard_end(piece, from);
        }
        if !model.vocab.is_empty() || words.is_none() {
            // A byte that has no token is found again by whoever counts it.
            let end = self.hazard.unwrap_or(piece.len());
            if let Err(error) = self.bytes.extend(&model.vocab, &piece.as_bytes()[..end], &mut self.found)
                && error.kind.ends_the_call()
            {
                return Err(error);
            }
        }
        if let Some(words) = words.filter(|_| model.vocab.is_empty() || self.hazard.is_some()) {
            let mut end = known;
            while end < piece.len() {
                interrupt::check()?;
                end = (end + AT_ONCE).min(piece.len());
                while !piece.is_char_boundary(end) {
                    end += 1;
                }
                self.words.extend(words, &piece[..end])?;
            }
        }
        Ok(())
    }

    /// The number of ids of a prefix as a piece of its own. Its end lies between characters.
    ///
    /// # Errors
    /// Those of encoding it.
    pub(super) fn count(&self, model: &Compiled, prefix: &str) -> Result<u64> {
        if let Some(count) = self.known(model, prefix)? {
            return Ok(count);
        }
        let mut count = Count::default();
        model.encoder(&mut count).piece(prefix)?;
        Ok(count.0)
    }

    /// The same; None if so much was not read, or the model has no rows.
    fn known(&self, model: &Compiled, prefix: &str) -> Result<Option<u64>> {
        if prefix.is_empty() {
            return Ok(Some(0));
        }
        if u32::try_from(prefix.len()).is_err() {
            return Err(Error::piece_too_long());
        }
        if prefix.len() > self.length {
            return Ok(None);
        }
        match model.words() {
            Some(words) if model.vocab.is_empty() || self.has_hazard(prefix.len()) => self.words.count(words, prefix),
            _ => self.count_bytes(model, prefix),
        }
    }

    /// The fewest ids of any longer piece that begins with the first `length` bytes, or fewer; 0 if nothing is known.
    ///
    /// A token of the longer piece goes over their end, or ends there. What is before it are the tokens of a prefix.
    pub(super) fn least(&self, model: &Compiled, length: usize) -> u64 {
        match model.words() {
            Some(words) if model.vocab.is_empty() || self.has_hazard(length) => self.words.least(words, length),
            _ => {
                if length > self.bytes.len() {
                    return 0;
                }
                // A short piece may be one token without being merged; then the empty prefix is among these.
                let lengths = length.saturating_sub(model.vocab.longest())..=length;
                lengths.map(|length| u64::from(self.bytes.count(length))).min().unwrap_or(0)
            }
        }
    }

    fn has_hazard(&self, length: usize) -> bool {
        self.hazard.is_some_and(|hazard| hazard <= length)
    }

    /// The number of ids of a prefix that is encoded by its bytes; None if it is not known.
    fn count_bytes(&self, model: &Compiled, prefix: &str) -> Result<Option<u64>> {
        let length = prefix.len();
        if length <= model.vocab.longest() && model.is_whole(prefix.as_bytes(), 0, length) {
            return Ok(Some(1));
        }
        let known = self.bytes.len();
        if length <= known {
            return Ok(Some(u64::from(self.bytes.count(length))));
        }
        merge::check(&model.vocab, &prefix.as_bytes()[known..]).map_err(|error| error.shifted(known))?;
        Ok(None)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod real_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
pub(super) mod tests;
