//! A tokenizer under a policy, as counting sees it: where texts may be cut, and the ids of a part.

use std::cell::RefCell;
use std::ops::Range;

use crate::count::tail::Stages;
use crate::encode::Count;
use crate::error::{Error, Kind, Result};
use crate::interrupt;
use crate::pipeline::{Cuts, Tokenizer};
use crate::segment::{Policy, Visit};
use crate::utf8::boundary;

/// Counts parts of texts.
pub(crate) struct Counter<'t> {
    pub(super) tokenizer: &'t Tokenizer,
    pub(super) policy: Policy<'t>,
    pub(super) cuts: Cuts<'t>,
    /// The stages, where a text that grows can be followed through them.
    pub(super) stages: Option<Stages<'t>>,
    /// Whether a text by itself has the ids that it has where it goes on.
    pub(super) is_same_inside: bool,
    /// Whether each character has at least a part of an id of its own.
    pub(super) never_empty: bool,
    parts: RefCell<Parts>,
}

/// Short parts that were counted lately, and their counts. Words recur, and a call through all stages costs more than the
/// few bytes of one.
#[derive(Default)]
pub(super) struct Parts {
    /// Parts that were counted before there was a table: it is not worth making for a few.
    asked: usize,
    /// A part is in the place that its hash names: its bytes, then zeros, its length, and what it was counted as.
    parts: Vec<([u8; Self::BYTES + 2], u32)>,
}

impl Parts {
    /// The bytes of the longest part that is kept.
    pub(super) const BYTES: usize = 22;
    const BITS: u32 = 12;
    const FEW: usize = 64;

    fn key(part: &[u8], what: As) -> Option<([u8; Self::BYTES + 2], usize)> {
        let mut key = [0; Self::BYTES + 2];
        key.get_mut(..part.len()).filter(|_| part.len() <= Self::BYTES)?.copy_from_slice(part);
        key[Self::BYTES..].copy_from_slice(&[part.len() as u8, what as u8]);
        let hash = key.as_chunks::<8>().0.iter().fold(0_u64, |hash, word| {
            (hash.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x517C_C1B7_2722_0A95)
        });
        Some((key, (hash >> (64 - Self::BITS)) as usize))
    }

    fn get(&self, part: &[u8], what: As) -> Option<u64> {
        if self.parts.is_empty() {
            return None;
        }
        let (key, place) = Self::key(part, what)?;
        let (known, count) = self.parts.get(place)?;
        (*known == key).then_some(u64::from(*count))
    }

    fn keep(&mut self, part: &[u8], what: As, count: u64) {
        if self.parts.is_empty() {
            self.asked += 1;
            if self.asked < Self::FEW {
                return;
            }
            self.parts.resize(1 << Self::BITS, ([0; Self::BYTES + 2], 0));
        }
        if let (Some((key, place)), Ok(count)) = (Self::key(part, what), u32::try_from(count)) {
            self.parts[place] = (key, count);
        }
    }
}

/// What a part of a text is counted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum As {
    /// A text by itself.
    Text,
    /// Text that goes on behind a cut.
    GoingOn,
}

impl<'t> Counter<'t> {
    pub(crate) fn new(tokenizer: &'t Tokenizer, policy: Policy<'t>) -> Self {
        Self::with(tokenizer, policy, Parts::default())
    }

    /// One that knows the parts that another one counted.
    pub(super) fn with(tokenizer: &'t Tokenizer, policy: Policy<'t>, parts: Parts) -> Self {
        let is_same_inside = tokenizer.segmenter().steps().keep_text();
        Self {
            tokenizer,
            policy,
            cuts: Cuts::new(tokenizer, policy),
            stages: Stages::new(tokenizer, policy),
            is_same_inside,
            never_empty: is_same_inside && tokenizer.is_byte_level(),
            parts: RefCell::new(parts),
        }
    }

    /// The parts that it knows.
    pub(super) fn into_parts(self) -> Parts {
        self.parts.into_inner()
    }

    /// The number of ids of a part of a text. Errors are placed in the text.
    pub(crate) fn count(&self, text: &str, part: Range<usize>, what: As) -> Result<u64> {
        if part.is_empty() {
            return Ok(0);
        }
        let known = self.parts.borrow().get(&text.as_bytes()[part.clone()], what);
        if let Some(count) = known {
            return Ok(count);
        }
        let mut count = Count::default();
        self.walk(text, part.clone(), what, &mut self.tokenizer.encoder(&mut count, None))?;
        self.parts.borrow_mut().keep(&text.as_bytes()[part], what, count.0);
        Ok(count.0)
    }

    /// Sends the segments of a part of a text to `visitor`. Errors are placed in the text.
    pub(super) fn walk(&self, text: &str, part: Range<usize>, what: As, visitor: &mut impl Visit) -> Result<()> {
        interrupt::check()?;
        let segmenter = self.tokenizer.segmenter();
        let (start, part) = (part.start, &text[part]);
        let walked = match what {
            As::Text => segmenter.walk(part, self.policy, visitor),
            As::GoingOn => segmenter.walk_on(part, self.policy, visitor),
        };
        walked.map_err(|error| error.shifted(start))
    }

    /// An error of a part of a text as the error of the text. Where text may be normalized it can have no place, or another
    /// one than in the part, so that the text is encoded for it.
    pub(super) fn as_of_whole(&self, error: Error, text: &str) -> Error {
        if self.is_same_inside || error.kind == Kind::Interrupted {
            return error.placed(text);
        }
        self.count(text, 0..text.len(), As::Text).err().unwrap_or(error).placed(text)
    }

    /// The number of ids of a piece as the model gets it.
    pub(super) fn count_piece(&self, piece: &str) -> Result<u64> {
        let mut count = Count::default();
        self.tokenizer.encoder(&mut count, None).piece(piece)?;
        Ok(count.0)
    }

    /// Up to where a text that goes on may be cut, whatever comes behind it.
    pub(crate) fn sure(&self, text: &str) -> usize {
        boundary(text, self.cuts.sure(text))
    }
}
