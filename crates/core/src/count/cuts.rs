//! Cuts: places where the ids of a text are those of its two parts, in every text that has the same characters around it.
//!
//! A cut is a seam of the split pattern with no added token across it. Text that ends or starts there is split there in any
//! case. And if no occurrence of an added token lies across it, not even one hidden by another, no token is matched across it
//! in any part of the text, so that the tokens of either side depend on that side alone.

use std::ops::Range;

use crate::pipeline::Tokenizer;
use crate::segment::Policy;
use crate::split::Seams;
use crate::split::added::Matcher;

/// Finds cuts.
pub(crate) struct Cuts<'t> {
    seams: Seams<'t>,
    /// Finds the added tokens that are looked for.
    added: Option<&'t Matcher>,
}

impl<'t> Cuts<'t> {
    /// None if a stage before the model depends on distant text: normalizers, a space in front, added tokens that depend on or
    /// take the text around them, or a pattern without seams.
    pub(crate) fn new(tokenizer: &'t Tokenizer, policy: Policy) -> Option<Self> {
        let segmenter = tokenizer.segmenter();
        let seams = segmenter.cuttable()?.0.seams()?;
        let added = segmenter.matcher(policy);
        added.is_none_or(|added| !added.minds_context()).then_some(Self { seams, added })
    }

    /// The last cut after `range.start` and up to `range.end`, which are characters of the text.
    pub(crate) fn last(&self, text: &str, range: Range<usize>) -> Option<usize> {
        let mut end = range.end;
        loop {
            let seam = self.seams.last(text, range.start..end)?;
            if !self.is_across(text, seam) {
                return Some(seam);
            }
            end = seam - text[..seam].chars().next_back().map_or(1, char::len_utf8);
        }
    }

    /// The first cut after `range.start` and up to `range.end`, which are characters of the text.
    pub(crate) fn first(&self, text: &str, range: Range<usize>) -> Option<usize> {
        let mut start = range.start;
        loop {
            let seam = self.seams.first(text, start..range.end)?;
            if !self.is_across(text, seam) {
                return Some(seam);
            }
            start = seam;
        }
    }

    /// The bytes of the longest added token that is looked for.
    pub(crate) fn longest_added(&self) -> usize {
        self.added.map_or(0, Matcher::longest)
    }

    /// Whether an added token extends across a place.
    fn is_across(&self, text: &str, place: usize) -> bool {
        self.added.is_some_and(|added| added.is_across(text.as_bytes(), place))
    }
}
