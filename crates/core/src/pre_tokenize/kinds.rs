//! Steps that distinguish kinds of characters: one pass, one table.

use std::ops::Range;

use super::behavior::Cutter;
use super::{Behavior, NewPieces};
use crate::edge::Between;
use crate::normalize::categories::{Categories, PUNCT, SPACE, WORD, categories};

/// Removed.
const GONE: u8 = 0;
/// Each is a piece of its own.
const ALONE: u8 = 1;
/// This kind and above: a run of one kind is a piece.
const ONE: u8 = 2;
const OTHER: u8 = 3;

/// The kinds that a step distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// White space is removed; words and runs of other characters are pieces.
    Whitespace,
    /// White space goes.
    WhitespaceSplit,
    /// White space goes, and each punctuation character is a piece.
    Bert,
    /// Punctuation is matched.
    Punctuation,
    /// Numbers are matched, whatever characters write them.
    Digits,
    /// One character is matched.
    Character(char),
}

/// A rule, and the treatment of its matches.
#[derive(Clone)]
pub(super) struct Kinds {
    rule: Rule,
    behavior: Behavior,
    /// The kinds of ASCII.
    ascii: [u8; 128],
}

impl std::fmt::Debug for Kinds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}({:?})", self.rule, self.behavior)
    }
}

impl Kinds {
    pub(super) fn new(rule: Rule, behavior: Behavior) -> Self {
        let mut made = Self { rule, behavior, ascii: [0; 128] };
        let categories = categories();
        for byte in 0..128_u8 {
            made.ascii[usize::from(byte)] = made.kind(categories, byte.into());
        }
        made
    }

    fn kind(&self, categories: &Categories, character: char) -> u8 {
        let is = |category: u8| categories.of(character) & category != 0;
        let matched = match self.rule {
            Rule::Whitespace if is(WORD) => return ONE,
            Rule::Whitespace | Rule::WhitespaceSplit => return if is(SPACE) { GONE } else { OTHER },
            Rule::Bert if is(SPACE) => return GONE,
            Rule::Bert | Rule::Punctuation => is(PUNCT),
            Rule::Digits => character.is_numeric(),
            Rule::Character(one) => character == one,
        };
        match self.behavior {
            _ if !matched => OTHER,
            Behavior::Removed => GONE,
            Behavior::Contiguous => ONE,
            Behavior::Isolated | Behavior::MergedWithPrevious | Behavior::MergedWithNext => ALONE,
        }
    }

    /// The effect at a place, as [`PreTokenizer::between`] has it.
    ///
    /// [`PreTokenizer::between`]: super::PreTokenizer::between
    pub(super) fn between(&self, left: Option<char>, right: char) -> Between {
        let categories = categories();
        let right_kind = self.kind(categories, right);
        let joins = |left_kind| match self.behavior {
            Behavior::MergedWithPrevious => left_kind == OTHER,
            Behavior::MergedWithNext => right_kind == OTHER,
            _ => left_kind == right_kind && right_kind >= ONE,
        };
        let (joined, may_join) = match left {
            Some(left) => {
                let joined = joins(self.kind(categories, left));
                (joined, joined)
            }
            None => (false, [ONE, OTHER].into_iter().any(joins)),
        };
        if may_join { Between::Inside { left, right, joined } } else { Between::Wall }
    }

    /// As [`PreTokenizer::leaves_out`](super::PreTokenizer::leaves_out).
    pub(super) fn leaves_out(&self, character: char) -> bool {
        self.kind(categories(), character) == GONE
    }

    /// Appends the pieces of a piece.
    pub(super) fn cut(&self, text: &str, piece: Range<usize>, pieces: &mut NewPieces) {
        if !matches!(self.behavior, Behavior::MergedWithPrevious | Behavior::MergedWithNext) {
            return self.runs(text, piece, pieces, |kind, part, pieces| {
                if kind != GONE {
                    pieces.push(part);
                }
            });
        }
        let mut cutter = Cutter::new(self.behavior, pieces);
        self.runs(text, piece, &mut cutter, |kind, part, cutter| cutter.part(part, kind != OTHER));
        cutter.finish();
    }

    /// Sends the runs of characters of one kind to `to`.
    #[inline(always)]
    fn runs<T>(&self, text: &str, piece: Range<usize>, into: &mut T, to: impl Fn(u8, Range<usize>, &mut T)) {
        let categories = categories();
        let bytes = text.as_bytes();
        let (mut start, mut at, mut last) = (piece.start, piece.start, GONE);
        while at < piece.end {
            let byte = bytes[at];
            let (kind, length) = if byte.is_ascii() {
                (self.ascii[usize::from(byte)], 1)
            } else {
                let Some(character) = text[at..].chars().next() else { break };
                (self.kind(categories, character), character.len_utf8())
            };
            if kind != last || kind == ALONE {
                if start < at {
                    to(last, start..at, into);
                }
                (start, last) = (at, kind);
            }
            at += length;
        }
        if start < at {
            to(last, start..at, into);
        }
    }
}
