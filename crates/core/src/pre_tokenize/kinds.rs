//! Steps that distinguish kinds of characters: one pass, one table.

use std::ops::Range;

use super::behavior::Cutter;
use super::{Behavior, NewPieces};
use crate::edge::Between;
use crate::eight_bytes::bits;
use crate::normalize::categories::{Categories, PUNCT, SPACE, WORD, categories};

/// Removed.
const GONE: u8 = 0;
/// Each is a piece of its own.
const ALONE: u8 = 1;
/// This kind and above: a run of one kind is a piece.
const ONE: u8 = 2;
const OTHER: u8 = 3;

/// So many characters of ASCII are cut at once.
const BLOCK: usize = 64;

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
            return self.kept_runs(text, piece, pieces);
        }
        let mut run = Run::before(piece.start);
        let mut cutter = Cutter::new(self.behavior, pieces);
        let part = |kind, part, cutter: &mut Cutter| cutter.part(part, kind != OTHER);
        self.runs(text, piece.clone(), &mut run, &mut cutter, part);
        run.end(piece.end, &mut cutter, part);
        cutter.finish();
    }

    /// Appends the runs of characters of one kind, but for those that go.
    fn kept_runs(&self, text: &str, piece: Range<usize>, pieces: &mut NewPieces) {
        let push = |kind, part, pieces: &mut NewPieces| {
            if kind != GONE {
                pieces.push(part);
            }
        };
        let bytes = &text.as_bytes()[..piece.end];
        let mut run = Run::before(piece.start);
        let mut at = piece.start;
        while let Some(block) = bytes[at..].first_chunk() {
            if block.is_ascii() {
                self.kept_runs_of_block(block, at, &mut run, pieces);
                at += BLOCK;
            } else {
                let end = (at + BLOCK..piece.end).find(|&end| text.is_char_boundary(end)).unwrap_or(piece.end);
                self.runs(text, at..end, &mut run, pieces, push);
                at = end;
            }
        }
        self.runs(text, at..piece.end, &mut run, pieces, push);
        run.end(piece.end, pieces, push);
    }

    /// The same for characters of ASCII from `at` on, with which `run` goes on or ends.
    ///
    /// The places where runs begin and end are bits, so that nothing is decided for a single byte.
    fn kept_runs_of_block(&self, block: &[u8; BLOCK], at: usize, run: &mut Run, pieces: &mut NewPieces) {
        let kinds = block.map(|byte| self.ascii[usize::from(byte & 127)]);
        let mut before = [run.kind; BLOCK];
        before[1..].copy_from_slice(&kinds[..BLOCK - 1]);
        let (mut starts, mut ends) = ([0; BLOCK], [0; BLOCK]);
        for place in 0..BLOCK {
            let (kind, before) = (kinds[place], before[place]);
            let turns = u8::from(kind != before) | u8::from(kind == ALONE);
            starts[place] = turns & u8::from(kind != GONE);
            ends[place] = turns & u8::from(before != GONE);
        }
        let [mut starts, mut ends] = [&starts, &ends].map(bits);
        let next = |bits: &mut u64| {
            let place = bits.trailing_zeros() as usize;
            *bits &= bits.wrapping_sub(1);
            at + place
        };
        let mut start = if run.kind == GONE { next(&mut starts) } else { run.start };
        let count = ends.count_ones() as usize;
        let parts = (0..count).map(|_| std::mem::replace(&mut start, next(&mut starts))..next(&mut ends));
        pieces.extend(count, parts);
        *run = Run { start, kind: kinds[BLOCK - 1] };
    }

    /// Sends the runs of characters of one kind that end in a part of a text to `to`; the last one is `run` then.
    #[inline(always)]
    fn runs<T>(
        &self,
        text: &str,
        part: Range<usize>,
        run: &mut Run,
        into: &mut T,
        to: impl Fn(u8, Range<usize>, &mut T),
    ) {
        let categories = categories();
        let bytes = text.as_bytes();
        let (Run { mut start, kind: mut last }, mut at) = (*run, part.start);
        while at < part.end {
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
        *run = Run { start, kind: last };
    }
}

/// The run of characters of one kind with which what was read of a text ends.
#[derive(Clone, Copy)]
struct Run {
    /// Its first byte; without meaning where its characters go.
    start: usize,
    kind: u8,
}

impl Run {
    /// None, before the first character.
    fn before(start: usize) -> Self {
        Self { start, kind: GONE }
    }

    /// Sends it to `to` if it has text, where no more comes.
    fn end<T>(self, end: usize, into: &mut T, to: impl Fn(u8, Range<usize>, &mut T)) {
        if self.start < end {
            to(self.kind, self.start..end, into);
        }
    }
}
