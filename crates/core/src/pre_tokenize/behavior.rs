//! Cutting at the matches of a pattern: removed, isolated, or joined to a neighbour.

use std::ops::Range;

use serde::Deserialize;

use super::{Matches, NewPieces};
use crate::edge::Between;
use crate::error::{Error, Result};
use crate::split::neighbours::Neighbours;
use crate::split::{Ends, Scan};

/// The treatment of a match: `the-final--countdown`, split at `-`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub enum Behavior {
    /// It goes: `the`, `final`, `countdown`.
    Removed,
    /// It is a piece: `the`, `-`, `final`, `-`, `-`, `countdown`.
    Isolated,
    /// It ends the piece before it: `the-`, `final-`, `-`, `countdown`.
    MergedWithPrevious,
    /// It begins the piece behind it: `the`, `-final`, `-`, `-countdown`.
    MergedWithNext,
    /// Matches in a row are one piece: `the`, `-`, `final`, `--`, `countdown`.
    Contiguous,
}

impl Behavior {
    /// What makes one piece across a place; with `invert`, the text between matches is what is treated.
    fn joining(self, invert: bool) -> Neighbours {
        let one = Neighbours::ONE_MATCH.or(Neighbours::ONE_GAP);
        match (self, invert) {
            (Self::Removed, false) => Neighbours::ONE_GAP,
            (Self::Removed, true) => Neighbours::ONE_MATCH,
            (Self::Isolated, _) => one,
            (Self::MergedWithPrevious, false) | (Self::MergedWithNext, true) => one.or(Neighbours::GAP_AND_MATCH),
            (Self::MergedWithPrevious, true) | (Self::MergedWithNext, false) => one.or(Neighbours::MATCH_AND_GAP),
            (Self::Contiguous, _) => one.or(Neighbours::TWO_MATCHES),
        }
    }
}

/// The effect of cutting at the matches of a pattern, as [`PreTokenizer::between`] has it.
///
/// [`PreTokenizer::between`]: super::PreTokenizer::between
pub(super) fn between(matches: &Matches, behavior: Behavior, invert: bool, left: Option<char>, right: char) -> Between {
    matches.neighbours(left.as_slice(), right).effect(behavior.joining(invert), left, right)
}

/// Whether two characters are in one piece in every text, as [`PreTokenizer::joins`] has it.
///
/// [`PreTokenizer::joins`]: super::PreTokenizer::joins
pub(super) fn joins(matches: &Matches, behavior: Behavior, invert: bool, left: &[char], right: char) -> bool {
    matches.neighbours(left, right).are(behavior.joining(invert))
}

/// Makes pieces of the matches and the text between them, in one pass.
pub(super) struct Cutter<'v> {
    behavior: Behavior,
    pieces: &'v mut NewPieces,
    /// The last piece, while it may grow.
    open: Option<Range<usize>>,
    /// Whether the part before was a match.
    matched: bool,
}

impl<'v> Cutter<'v> {
    pub(super) fn new(behavior: Behavior, pieces: &'v mut NewPieces) -> Self {
        Self { behavior, pieces, open: None, matched: false }
    }

    /// The next part of the text, which may be an empty match.
    pub(super) fn part(&mut self, part: Range<usize>, matched: bool) {
        match self.behavior {
            Behavior::Removed if matched => {}
            Behavior::Removed | Behavior::Isolated => self.push(part),
            Behavior::Contiguous => self.join(part, matched == self.matched),
            Behavior::MergedWithPrevious => self.join(part, matched && !self.matched),
            Behavior::MergedWithNext => {
                let open = self.open.take();
                if matched {
                    self.push(open.unwrap_or(0..0));
                    self.open = Some(part);
                } else {
                    self.push(open.map_or(part.start, |open| open.start)..part.end);
                }
            }
        }
        self.matched = matched;
    }

    fn join(&mut self, part: Range<usize>, joined: bool) {
        match &mut self.open {
            Some(open) if joined => open.end = part.end,
            _ => {
                let before = self.open.replace(part);
                self.push(before.unwrap_or(0..0));
            }
        }
    }

    /// A piece, unless it is empty.
    fn push(&mut self, piece: Range<usize>) {
        if !piece.is_empty() {
            self.pieces.push(piece);
        }
    }

    /// The text ends.
    pub(super) fn finish(mut self) {
        let open = self.open.take();
        self.push(open.unwrap_or(0..0));
    }
}

/// Cuts a piece of a text at the matches of a pattern, or with `invert` at the text between them.
pub(super) fn split(
    matches: &Matches,
    behavior: Behavior,
    invert: bool,
    text: &str,
    piece: Range<usize>,
    pieces: &mut NewPieces,
) -> Result<()> {
    let placed = |error: Error| error.shifted(piece.start);
    let inside = &text[piece.clone()];
    if behavior == Behavior::Isolated
        && let Some(pattern) = matches.tiles()
    {
        let mut at = piece.start;
        for part in pattern.pieces(inside) {
            let end = at + part.map_err(placed)?.len();
            pieces.push(at..end);
            at = end;
        }
        return Ok(());
    }
    if behavior == Behavior::Removed
        && invert
        && let Some(pattern) = matches.tiles()
        && let Some(is_match) = pattern.is_match()
    {
        let (mut scan, mut ends, mut at) = (Scan::new(pattern, &[], inside, 0..inside.len()), Ends::default(), 0);
        loop {
            scan.fill(&mut ends, at).map_err(placed)?;
            let (start, ends) = (at, ends.as_slice());
            if ends.is_empty() {
                return Ok(());
            }
            let parts = ends.iter().map(|&end| std::mem::replace(&mut at, start + end as usize)..start + end as usize);
            let kept = parts.filter(|part| is_match(&inside.as_bytes()[part.clone()]));
            pieces.extend(ends.len(), kept.map(|part| piece.start + part.start..piece.start + part.end));
        }
    }
    let mut cutter = Cutter::new(behavior, pieces);
    let mut at = piece.start;
    let found = matches.each(inside, |start, end| {
        let (start, end) = (piece.start + start, piece.start + end);
        if at != start {
            cutter.part(at..start, invert);
        }
        cutter.part(start..end, !invert);
        at = end;
    });
    found.map_err(placed)?;
    if at != piece.end {
        cutter.part(at..piece.end, invert);
    }
    cutter.finish();
    Ok(())
}
