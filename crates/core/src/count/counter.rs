//! A tokenizer under a policy, as counting sees it: where texts may be cut, and the ids of a part.

use std::cell::RefCell;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::cache::part_counts::PartCounts;
use crate::count::tail::Stages;
use crate::encode::Count;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::normalize::Normalizer;
use crate::pipeline::{Cuts, Tokenizer};
use crate::pre_tokenize::PreTokenizer;
use crate::segment::{Policy, Steps, Treat, Visit};
use crate::utf8::boundary;

/// Counts parts of texts.
pub(crate) struct Counter<'t> {
    pub(super) tokenizer: &'t Tokenizer,
    pub(super) policy: Policy<'t>,
    pub(super) cuts: Cuts<'t>,
    /// The stages, where a text that grows can be followed through them.
    pub(super) stages: Option<Stages<'t>>,
    /// Whether the pieces of a text are its parts.
    pub(super) keeps_text: bool,
    /// Whether a text by itself has the ids that it has where it goes on.
    pub(super) is_same_inside: bool,
    /// Whether each text that is not empty has an id, also where it goes on.
    pub(super) never_empty: bool,
    /// The bytes that characters become inside a piece.
    pub(super) lengths: RefCell<FxHashMap<Inside, usize>>,
    parts: Kept<'t>,
}

/// A character inside a piece.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Inside {
    pub(super) character: char,
    /// The one before it, where it matters, as where ideographs get spaces.
    pub(super) before: Option<char>,
    /// Whether it is behind white space that a text loses at its end.
    pub(super) is_behind_blank: bool,
}

/// The ways to count a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum As {
    /// A text by itself.
    Text,
    /// Text that goes on behind a cut.
    GoingOn,
}

/// A question about a short part of a text.
#[derive(Clone, Copy)]
enum Asked {
    /// How many ids it has.
    Count(As),
    /// Its longest beginning with so many ids: its length, and in the lowest [`FIT_BITS`] bits its ids.
    Fit(As, u64),
}

const FIT_BITS: u32 = 8;

/// The policies without a list of tokens.
const POLICIES: u8 = 9;

impl<'t> Counter<'t> {
    pub(crate) fn new(tokenizer: &'t Tokenizer, policy: Policy<'t>) -> Self {
        let segmenter = tokenizer.segmenter();
        let keeps_text = segmenter.steps().keep_text();
        let minds_start =
            segmenter.minds_start() || segmenter.steps().pre_tokenizers.iter().any(PreTokenizer::minds_start);
        Self {
            tokenizer,
            policy,
            cuts: Cuts::new(tokenizer, policy),
            stages: Stages::new(tokenizer, policy),
            keeps_text,
            is_same_inside: !minds_start,
            never_empty: never_empty(tokenizer),
            lengths: RefCell::default(),
            parts: Kept::new(tokenizer, policy),
        }
    }

    /// The number of ids of a part of a text. Errors are placed in the text.
    pub(crate) fn count(&self, text: &str, part: Range<usize>, what: As) -> Result<u64> {
        if part.is_empty() {
            return Ok(0);
        }
        if let Some(count) = self.parts.get(&text[part.clone()], Asked::Count(what)) {
            return Ok(count);
        }
        let mut count = Count::default();
        self.walk(text, part.clone(), what, &mut self.tokenizer.encoder(&mut count, None))?;
        self.parts.keep(&text[part], Asked::Count(what), count.0);
        Ok(count.0)
    }

    /// Asks for the memory that [`Counter::count`] needs for a part that is not empty.
    #[inline]
    pub(super) fn prepare(&self, part: &str, what: As) {
        self.parts.prepare(part, Asked::Count(what));
    }

    /// The longest beginning of a stretch with at most `limit` ids that was found before: its length, and its ids.
    pub(super) fn known_fit(&self, stretch: &str, what: As, limit: u64) -> Option<(usize, u64)> {
        let fit = self.parts.get(stretch, Asked::Fit(what, limit))?;
        Some(((fit >> FIT_BITS) as usize, fit & ((1 << FIT_BITS) - 1)))
    }

    /// Keeps what was found of it.
    pub(super) fn keep_fit(&self, stretch: &str, what: As, limit: u64, length: usize, tokens: u64) {
        if tokens < 1 << FIT_BITS {
            self.parts.keep(stretch, Asked::Fit(what, limit), (length as u64) << FIT_BITS | tokens);
        }
    }

    /// The stages, if a stretch of text can be followed through them.
    pub(super) fn stages_of(&self, stretch: &str) -> Option<&Stages<'t>> {
        self.stages.as_ref().filter(|stages| stages.hold(stretch))
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
        if self.keeps_text || error.kind.ends_the_call() {
            return error.placed(text);
        }
        self.count(text, 0..text.len(), As::Text).err().unwrap_or(error).placed(text)
    }

    /// An error of a piece as the error of a part of a text that has the piece.
    pub(super) fn as_of_part(&self, error: Error, text: &str, part: Range<usize>, what: As) -> Error {
        self.count(text, part, what).err().unwrap_or(error.but(|error| error.byte = None))
    }

    /// The number of ids of a piece as the model gets it. Errors are placed in the piece.
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

/// Whether no stage makes nothing of a text that is not empty.
fn never_empty(tokenizer: &Tokenizer) -> bool {
    let Steps { normalizers, pre_tokenizers, .. } = tokenizer.segmenter().steps();
    tokenizer.model().makes_something()
        && normalizers.iter().all(Normalizer::makes_something)
        && pre_tokenizers.iter().all(PreTokenizer::makes_something)
}

/// The counts of short parts that the tokenizer lends.
struct Kept<'t> {
    tokenizer: &'t Tokenizer,
    /// None after they are given back.
    parts: RefCell<Option<Box<PartCounts>>>,
    /// Which of the policies without a list of tokens this is; with a list, the counts are for one caller.
    policy: Option<u8>,
}

impl<'t> Kept<'t> {
    fn new(tokenizer: &'t Tokenizer, policy: Policy) -> Self {
        let number = |treat: Treat| match treat {
            Treat::Match => Some(0),
            Treat::Text => Some(1),
            Treat::Raise => Some(2),
            Treat::Only(_) => None,
        };
        let policy = number(policy.special).zip(number(policy.added)).map(|(special, added)| special * 3 + added);
        let parts = if policy.is_some() { tokenizer.part_counts().take() } else { Box::default() };
        Self { tokenizer, parts: RefCell::new(Some(parts)), policy }
    }

    /// Parts are told apart by what is asked of them, and under which policy; None where that is not kept.
    fn what(&self, asked: Asked) -> Option<u8> {
        let (limit, what) = match asked {
            Asked::Count(what) => (0, what),
            Asked::Fit(what, limit) => (u8::try_from(limit).ok()?.checked_add(1)?, what),
        };
        limit.checked_mul(2 * POLICIES)?.checked_add(what as u8 + 2 * self.policy.unwrap_or_default())
    }

    #[inline]
    fn get(&self, part: &str, asked: Asked) -> Option<u64> {
        self.parts.borrow().as_ref()?.get(part.as_bytes(), self.what(asked)?)
    }

    #[inline]
    fn prepare(&self, part: &str, asked: Asked) {
        if let (Some(what), Some(parts)) = (self.what(asked), self.parts.borrow().as_ref()) {
            parts.prepare(part.as_bytes(), what);
        }
    }

    fn keep(&self, part: &str, asked: Asked, answer: u64) {
        if let (Some(what), Some(parts)) = (self.what(asked), self.parts.borrow_mut().as_mut()) {
            parts.keep(part.as_bytes(), what, answer);
        }
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if let (Some(_), Some(parts)) = (self.policy, self.parts.take()) {
            self.tokenizer.part_counts().give_back(parts);
        }
    }
}
