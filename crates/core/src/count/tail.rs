//! The end of a growing stretch: the pieces that more text can still change, counted as if the text ended now.
//!
//! A piece is final once its scan has nothing left to match (`split::growing`), and the next one starts where it ends. Until
//! then more text can change the split: the pieces of the text so far are kept in order, and each scan continues where it
//! stopped, so that nothing is read twice. The tokens of a piece that grows are those
//! of its prefixes (`count::rows`), so that one endless piece is linear as well.

use crate::count::rows::Rows;
use crate::encode::{Compiled, Count};
use crate::error::Result;
use crate::pipeline::Tokenizer;
use crate::segment::{Policy, Treat, Visit};
use crate::split::added::Matcher;
use crate::split::{Growing, GrowingPiece, Seams};

/// Text of at least this many bytes is counted up to its last seam.
const AT_ONCE: usize = 64;

/// The prefixes of longer pieces are kept when the pieces are final: to work them out again would take too long.
const KEPT: usize = 1024;

/// The stages of a tokenizer, as a text that grows goes through them.
pub(super) struct Stages<'t> {
    pub(super) tokenizer: &'t Tokenizer,
    /// Finds the added tokens that are looked for.
    pub(super) added: Option<&'t Matcher>,
    pub(super) growing: Growing<'t>,
    seams: Option<Seams<'t>>,
    /// Whether normalizers may change text that is not ASCII: it is not followed.
    only_ascii: bool,
}

impl<'t> Stages<'t> {
    /// None if stages before the model depend on more than a stretch so far, there are several patterns, or
    /// the pattern cannot be followed.
    pub(super) fn new(tokenizer: &'t Tokenizer, policy: Policy) -> Option<Self> {
        let segmenter = tokenizer.segmenter();
        // Where there are both, some are found within what others leave.
        let ((added, None) | (None, added)) = (segmenter.matcher(policy), segmenter.normalized_matcher(policy)) else {
            return None;
        };
        if added.is_some_and(Matcher::minds_context) {
            return None;
        }
        let steps = segmenter.steps();
        let patterns = segmenter.only_patterns().or_else(|| segmenter.only_patterns_of_ascii())?;
        let (growing, seams) = match patterns {
            [] => (Growing::WHOLE, None),
            [pattern] => (pattern.growing()?, pattern.seams()),
            _ => return None,
        };
        Some(Self { tokenizer, added, growing, seams, only_ascii: !steps.keep_text() })
    }

    /// Whether a text, all of a stretch or what is new of one, can be followed.
    pub(super) fn hold(&self, text: &str) -> bool {
        !self.only_ascii || text.is_ascii()
    }

    /// Up to where no later text changes the characters of a text that they hold: a mark can change the last one.
    pub(super) fn sure(&self, text: &str) -> usize {
        text.len().saturating_sub(usize::from(self.only_ascii))
    }
}

/// How far a stretch was split: small, so that it can be copied and come back to.
#[derive(Clone, Debug, Default)]
pub(super) struct Split {
    /// The pieces that are not final, the first of them first. What comes after one is as it would be if the text
    /// ended, and holds as long as it starts where the one before would end.
    pieces: Vec<GrowingPiece>,
}

/// The state of pieces, in text order, which later text does not change.
#[derive(Default)]
pub(super) struct Known {
    pieces: Vec<Piece>,
    /// Rows that are not used.
    spare: Rows,
}

/// The state of one piece.
struct Piece {
    start: usize,
    /// Up to where it was encoded as a whole, and how many tokens it then had.
    encoded: (usize, u64),
    /// None of them until it is seen to grow.
    rows: Rows,
}

impl Known {
    /// Drops the state beyond a place of the text.
    pub(super) fn truncate(&mut self, end: usize) {
        self.pieces.truncate(self.pieces.partition_point(|piece| piece.start < end));
        for piece in &mut self.pieces {
            piece.rows.truncate(end - piece.start);
            if piece.encoded.0 > end {
                piece.encoded = (piece.start, 0);
            }
        }
    }

    /// Drops the state before a place of the text.
    pub(super) fn forget(&mut self, before: usize) {
        self.pieces.drain(..self.pieces.partition_point(|piece| piece.start < before));
    }

    /// The number of tokens of a piece. Errors are placed in the text.
    fn count(&mut self, stages: &Stages, text: &str, start: usize, end: usize) -> Result<u64> {
        let model = stages.tokenizer.model();
        if end - start <= model.vocab.longest() && model.is_whole(text.as_bytes(), start, end) {
            return Ok(1);
        }
        let is_linear = Rows::can(model);
        let at = match self.place(start) {
            // Asked for again, it grows.
            Ok(at) if is_linear && self.pieces[at].encoded.0 != end => at,
            Ok(at) if self.pieces[at].encoded.0 == end => return Ok(self.pieces[at].encoded.1),
            known => {
                let encoded = (end, encode(stages, text, start, end)?);
                match known {
                    Ok(at) => self.pieces[at].encoded = encoded,
                    Err(at) => {
                        let rows = std::mem::take(&mut self.spare);
                        self.pieces.insert(at, Piece { start, encoded, rows });
                    }
                }
                return Ok(encoded.1);
            }
        };
        let rows = &mut self.pieces[at].rows;
        let piece = &text[start..end];
        rows.extend(model, piece)?;
        rows.count(model, piece).map_err(|error| error.shifted(start))
    }

    /// The number of tokens of a piece that is final: of its prefixes nothing more is kept, unless it is long.
    fn count_final(&mut self, stages: &Stages, text: &str, start: usize, end: usize) -> Result<u64> {
        let Ok(at) = self.place(start) else { return encode(stages, text, start, end) };
        let count = self.count(stages, text, start, end)?;
        if end - start < KEPT {
            self.spare = self.pieces.remove(at).rows;
            self.spare.truncate(0);
        }
        Ok(count)
    }

    /// The position of the known facts of a piece, or where they would be.
    fn place(&self, start: usize) -> std::result::Result<usize, usize> {
        self.pieces.binary_search_by_key(&start, |piece| piece.start)
    }
}

/// The number of tokens of a piece, through the caches of the thread. Errors are placed in the text.
fn encode(stages: &Stages, text: &str, start: usize, end: usize) -> Result<u64> {
    let mut count = Count::default();
    let encoded = stages.tokenizer.encoder(&mut count, None).piece(&text[start..end]);
    encoded.map_err(|error| error.shifted(start))?;
    Ok(count.0)
}

impl Split {
    /// A stretch that starts here, of which nothing was read.
    pub(super) fn new(stages: &Stages, start: usize) -> Self {
        Self { pieces: vec![stages.growing.begin(start)] }
    }

    /// Where the first piece starts that is not final, if text was split at all.
    pub(super) fn start(&self) -> Option<usize> {
        self.pieces.first().map(|piece| piece.start)
    }

    /// How far it was read.
    pub(super) fn at(&self) -> usize {
        self.pieces.first().map_or(0, |piece| piece.at)
    }

    /// Reads on up to `to`, and adds the tokens of the pieces that become final to `total`.
    ///
    /// # Errors
    /// `Encode`, with the position in the text, if a byte has no token; the text before its piece is then counted.
    pub(super) fn read(
        &mut self,
        stages: &Stages,
        known: &mut Known,
        text: &str,
        to: usize,
        total: &mut u64,
    ) -> Result<()> {
        if self.pieces.is_empty() {
            *self = Self::new(stages, 0);
        }
        let at = self.at();
        if to.saturating_sub(at) >= AT_ONCE
            && let Some(seam) = stages.seams.as_ref().and_then(|seams| seams.last(text, at..to))
        {
            let start = self.pieces[0].start;
            let mut count = Count::default();
            stages.tokenizer.encode(&text[start..seam], PLAIN, &mut count).map_err(|error| error.shifted(start))?;
            *total += count.0;
            *self = Self::new(stages, seam);
        }
        while let Some(end) = stages.growing.read(&mut self.pieces[0], text.as_bytes(), to) {
            *total += known.count_final(stages, text, self.pieces[0].start, end)?;
            self.pieces.remove(0);
            if self.pieces.first().is_none_or(|piece| piece.start != end) {
                self.pieces.clear();
                self.pieces.push(stages.growing.begin(end));
            }
        }
        Ok(())
    }

    /// The number of tokens from the first piece that is not final up to where it was read, if the stretch ended there.
    ///
    /// # Errors
    /// As [`Split::read`].
    pub(super) fn count(&mut self, stages: &Stages, known: &mut Known, text: &str) -> Result<u64> {
        let to = self.at();
        let mut count = 0;
        let mut number = 0;
        while let Some(piece) = self.pieces.get_mut(number).filter(|piece| piece.start < to) {
            stages.growing.read(piece, text.as_bytes(), to);
            let (start, end) = (piece.start, stages.growing.end_now(piece));
            count += known.count(stages, text, start, end)?;
            number += 1;
            if self.pieces.get(number).is_none_or(|next| next.start != end) {
                self.pieces.truncate(number);
                if end < to {
                    self.pieces.push(stages.growing.begin(end));
                }
            }
        }
        Ok(count)
    }

    /// The fewest tokens, from the first piece that is not final on, of any text that begins with the text read so far;
    /// 0 if nothing better is known. `longest` is the length of the longest token.
    ///
    /// A longer text has a piece end or a token end among the last places, and up to there the tokens are those of a prefix.
    pub(super) fn least(&self, known: &Known, model: &Compiled, longest: usize) -> u64 {
        let [piece, ..] = self.pieces.as_slice() else { return 0 };
        let (read, last) = (piece.at - piece.start, piece.at.saturating_sub(longest));
        // A piece may be one token without being merged, if it is not too long.
        if read <= 2 * longest || piece.end < last && !piece.is_endless() {
            return 0;
        }
        let Ok(at) = known.place(piece.start) else { return 0 };
        let rows = &known.pieces[at].rows;
        if rows.len() < read { 0 } else { rows.least(model, read) }
    }
}

/// Text in which no added token is looked for.
const PLAIN: Policy = Policy { special: Treat::Text, added: Treat::Text };
