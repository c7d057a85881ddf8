//! The pre-tokenizers of `tokenizers`: a normalized text -> pieces, step by step.
//!
//! A step cuts the pieces of the step before, and can remove parts of them or change their spelling. All pieces are ranges
//! of one buffer, so that a step is a pass over it. A step cuts at its matches, by a [`Behavior`]; a step that only
//! distinguishes kinds of characters is one table.

mod behavior;
mod byte_level;
mod kinds;
mod metaspace;
mod parse;
mod scripts;

use std::ops::Range;

pub use self::behavior::Behavior;
use self::byte_level::ByteLevel;
use self::kinds::Kinds;
pub(crate) use self::metaspace::{Metaspace, StatedMetaspace};
use crate::edge::Between;
use crate::error::{Error, Result};
use crate::interrupt::Checks;
use crate::memory::Room;
use crate::normalize::Normalizer;
use crate::normalize::aligned::{Aligned, Edit};
use crate::split::Pattern;
use crate::split::matches::Matches;

/// A text and the pieces that some steps made of it.
#[derive(Clone, Debug, Default)]
pub struct PreTokenized {
    /// The text, as the steps changed it.
    pub text: Aligned,
    /// Ranges of its bytes, in order; removed text is in none. None is empty once a step was applied.
    pub pieces: Vec<Range<usize>>,
    /// Whether the first piece starts where the text started, as far as is known without origins.
    leads: bool,
    /// Room for the next step's pieces.
    spare: Vec<Range<usize>>,
}

impl PreTokenized {
    /// The whole of a text as one piece.
    #[must_use]
    pub fn new(text: Aligned) -> Self {
        let mut made = Self::default();
        made.reset(text);
        made
    }

    /// Starts again with another text, in the same buffers.
    pub fn reset(&mut self, text: Aligned) {
        self.pieces.clear();
        self.pieces.push(0..text.text().len());
        self.text = text;
        self.leads = true;
    }

    /// The bytes of the original text that a piece came from; None if there are no origins or no such piece.
    #[must_use]
    pub fn original(&self, piece: usize) -> Option<Range<usize>> {
        self.text.original(self.pieces.get(piece)?.clone())
    }

    /// The text that the pieces are of.
    pub(crate) fn text(&self) -> &str {
        self.text.text()
    }

    /// Where the pieces are in it.
    pub(crate) fn pieces(&self) -> &[Range<usize>] {
        &self.pieces
    }

    /// The texts of the pieces.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| self.text.text().get(piece.clone()))
    }

    /// Cuts each piece; `cut` appends the parts that it makes.
    fn cut(&mut self, mut cut: impl FnMut(&str, Range<usize>, &mut NewPieces) -> Result<()>) -> Result<()> {
        let mut parts = NewPieces::in_room(self.room_for_pieces()?);
        for piece in self.pieces.iter().filter(|piece| !piece.is_empty()) {
            cut(self.text.text(), piece.clone(), &mut parts)?;
        }
        self.spare = parts.finish()?;
        let start = |pieces: &[Range<usize>]| pieces.first().map(|piece| piece.start);
        self.leads &= start(&self.pieces) == start(&self.spare);
        std::mem::swap(&mut self.pieces, &mut self.spare);
        Ok(())
    }

    /// The same where most pieces stay as they are, which `is_one` says.
    fn cut_unless(
        &mut self,
        is_one: impl Fn(&str, Range<usize>) -> bool,
        mut cut: impl FnMut(&str, Range<usize>, &mut NewPieces) -> Result<()>,
    ) -> Result<()> {
        let (text, mut checks) = (self.text.text(), Checks::default());
        for piece in &self.pieces {
            checks.check()?;
            if piece.is_empty() || !is_one(text, piece.clone()) {
                return self.cut(|text, piece, parts| {
                    if is_one(text, piece.clone()) {
                        parts.push(piece);
                        return Ok(());
                    }
                    cut(text, piece, parts)
                });
            }
        }
        Ok(())
    }

    /// Spells each piece otherwise; `spell` edits the text up to the end of the piece and appends the pieces that it
    /// becomes. What lies between the pieces goes, or is kept.
    fn respell(
        &mut self,
        keeps_between: bool,
        mut spell: impl FnMut(&mut Edit, Range<usize>, &mut Vec<Range<usize>>),
    ) -> Result<()> {
        let mut pieces = self.room_for_pieces()?;
        let mut edit = self.text.edit().asking();
        for piece in self.pieces.iter().filter(|piece| !piece.is_empty()) {
            if keeps_between {
                edit.keep(piece.start);
            } else if edit.at() < piece.start {
                edit.skip(piece.start);
            }
            spell(&mut edit, piece.clone(), &mut pieces);
        }
        edit.keep(edit.old().len());
        if let Some((text, origins)) = edit.finish()? {
            self.text.replace(text, origins);
        }
        self.spare = std::mem::replace(&mut self.pieces, pieces);
        Ok(())
    }

    /// The spare pieces, none of them, with room for those of a short text.
    fn room_for_pieces(&mut self) -> Result<Vec<Range<usize>>> {
        let mut pieces = std::mem::take(&mut self.spare);
        pieces.clear();
        pieces.room((self.text.text().len() / 4).min(MOST_AT_FIRST))?;
        Ok(pieces)
    }
}

/// The pieces that there is room for from the start.
const MOST_AT_FIRST: usize = 1 << 12;

/// The parts that pieces are cut into.
///
/// Where there is no memory for more, or they are no longer wanted, none are taken any more, and there is an error in the end.
struct NewPieces {
    made: Vec<Range<usize>>,
    checks: Checks,
    failed: Option<Error>,
}

impl NewPieces {
    /// None yet, with room for some.
    fn in_room(none: Vec<Range<usize>>) -> Self {
        Self { made: none, checks: Checks::default(), failed: None }
    }

    #[inline]
    fn push(&mut self, part: Range<usize>) {
        if self.failed.is_some() {
            return;
        }
        let room = if self.made.len() == self.made.capacity() { self.made.room(1) } else { Ok(()) };
        match self.checks.check().and(room) {
            Ok(()) => self.made.push(part),
            Err(error) => self.failed = Some(error),
        }
    }

    /// Some parts, `most` of them at most.
    #[inline]
    fn extend(&mut self, most: usize, parts: impl Iterator<Item = Range<usize>>) {
        if self.failed.is_none() {
            self.failed = self.checks.check().and_then(|()| self.made.room(most)).err();
        }
        if self.failed.is_none() {
            self.made.extend(parts);
        }
    }

    fn finish(self) -> Result<Vec<Range<usize>>> {
        self.failed.map_or(Ok(self.made), Err)
    }
}

/// One pre-tokenizer.
#[derive(Clone, Debug)]
pub struct PreTokenizer(Step);

#[derive(Clone)]
enum Step {
    ByteLevel(ByteLevel),
    Split { matches: Matches, behavior: Behavior, invert: bool },
    Kinds(Kinds),
    Metaspace(Metaspace),
    UnicodeScripts,
    FixedLength(usize),
}

impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ByteLevel(_) => f.write_str("ByteLevel"),
            Self::Split { behavior, invert, .. } => {
                f.debug_struct("Split").field("behavior", behavior).field("invert", invert).finish_non_exhaustive()
            }
            Self::Kinds(kinds) => kinds.fmt(f),
            Self::Metaspace(metaspace) => metaspace.fmt(f),
            Self::UnicodeScripts => f.write_str("UnicodeScripts"),
            Self::FixedLength(length) => write!(f, "FixedLength({length})"),
        }
    }
}

impl PreTokenizer {
    /// Whether a text that goes on is cut otherwise than one by itself.
    pub(crate) fn minds_start(&self) -> bool {
        matches!(&self.0, Step::Metaspace(metaspace) if metaspace.is_first())
    }

    /// The step, if it is a Metaspace.
    pub(crate) fn metaspace(&self) -> Option<Metaspace> {
        if let Step::Metaspace(metaspace) = self.0 { Some(metaspace) } else { None }
    }

    /// The text that it looks for, if it is a Split at a text.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        if let Step::Split { matches, .. } = &self.0 { matches.text() } else { None }
    }

    /// Whether a text, which is not empty, is certainly the one piece that the step makes of it.
    pub(crate) fn finds_nothing_to_cut(&self, text: &str) -> bool {
        let Step::Split { matches, behavior, invert } = &self.0 else { return false };
        let goes = *behavior == Behavior::Removed && *invert;
        !goes && matches!(matches.text(), Some([byte]) if memchr::memchr(*byte, text.as_bytes()).is_none())
    }

    /// Whether the step cuts text. One that does not marks its spaces alone.
    pub(crate) fn makes_pieces(&self) -> bool {
        !matches!(&self.0, Step::Metaspace(metaspace) if !metaspace.split)
    }

    /// Applies the step to the pieces of the ones before it. `at_start` says whether the text begins where the original
    /// text begins: a Metaspace step with the scheme `first` asks for it. Where there are origins, they say for each piece
    /// whether its first character came from the first one; else the first piece of the text is taken to begin there, as
    /// long as no step took away what stood before it (see [`needs_origins`]).
    ///
    /// ```
    /// use bytepair_core::normalize::Aligned;
    /// use bytepair_core::pre_tokenize::{PreTokenized, PreTokenizer};
    /// let mut text = PreTokenized::new(Aligned::plain("Hey, you"));
    /// PreTokenizer::parse("BertPreTokenizer")?.apply(&mut text, true)?;
    /// assert_eq!(text.texts().collect::<Vec<_>>(), ["Hey", ",", "you"]);
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Pattern`, with its place in the text, if the pattern of a Split gives up; `Encode`, if the text becomes more than
    /// 32 times as long.
    pub fn apply(&self, text: &mut PreTokenized, at_start: bool) -> Result<()> {
        match &self.0 {
            Step::ByteLevel(byte_level) => {
                byte_level.apply(text)?;
                text.text.check_length()
            }
            Step::Split { matches, behavior, invert } => {
                text.cut(|text, piece, pieces| behavior::split(matches, *behavior, *invert, text, piece, pieces))
            }
            Step::Kinds(kinds) => text.cut(|text, piece, pieces| {
                kinds.cut(text, piece, pieces);
                Ok(())
            }),
            Step::Metaspace(metaspace) => {
                metaspace.apply(text, at_start)?;
                text.text.check_length()
            }
            Step::UnicodeScripts => text.cut(|text, piece, pieces| {
                scripts::cut(text, piece, pieces);
                Ok(())
            }),
            Step::FixedLength(length) => text.cut(|text, piece, pieces| {
                fixed_length(*length, text, piece, pieces);
                Ok(())
            }),
        }
    }

    /// The effect at a place within a piece: `left` is the character before it, if that is certain, and `right` the one
    /// behind it. All other text of the piece is any, and either part of it may be empty.
    ///
    /// The parts alone are cut by [`apply`](Self::apply), the right one with `at_start` false; so is the left one if it
    /// is empty.
    /// - At a wall, the pieces of the whole are those of the left part alone and then those of the right part alone.
    /// - Inside a piece they are the same, but the last of the left part and the first of the right part may be one:
    ///   then these end and begin with the characters of the answer. If they are joined, they are one in every text of
    ///   which neither part is empty.
    /// - Else nothing is certain.
    pub(crate) fn between(&self, left: Option<char>, right: char) -> Between {
        match &self.0 {
            Step::ByteLevel(byte_level) => byte_level.between(left, right),
            Step::Split { matches, behavior, invert } => behavior::between(matches, *behavior, *invert, left, right),
            Step::Kinds(kinds) => kinds.between(left, right),
            Step::Metaspace(metaspace) => metaspace.between(left, right),
            Step::UnicodeScripts => scripts::between(left, right),
            Step::FixedLength(_) => Between::Unknown,
        }
    }

    /// Whether each text that is not empty has a piece.
    pub(crate) fn makes_something(&self) -> bool {
        matches!(&self.0, Step::ByteLevel(_) | Step::Metaspace(_) | Step::FixedLength(_))
    }

    /// Whether a character is in no piece, and other pieces are the same however many of it are between them.
    pub(crate) fn leaves_out(&self, character: char) -> bool {
        match &self.0 {
            Step::Split { matches, behavior: Behavior::Removed, invert: true } => {
                matches.neighbours(&[], character).are_gaps_behind()
            }
            Step::Kinds(kinds) => kinds.leaves_out(character),
            _ => false,
        }
    }

    /// The spelling of two neighbouring characters that are in one piece in every text: the last one of `left`, of
    /// which more than one make it certain more often, and `right`; None if it is not certain. Other pieces may depend
    /// on both.
    fn joins(&self, left: &[char], right: char) -> Option<(char, char)> {
        let &last = left.last()?;
        let is_joined = match &self.0 {
            Step::ByteLevel(byte_level) => return byte_level.joins(left, right),
            Step::Metaspace(metaspace) => return metaspace.joins(last, right),
            Step::Split { matches, behavior, invert } => behavior::joins(matches, *behavior, *invert, left, right),
            Step::Kinds(kinds) => matches!(kinds.between(Some(last), right), Between::Inside { joined: true, .. }),
            Step::UnicodeScripts => scripts::joins(last, right),
            Step::FixedLength(_) => false,
        };
        is_joined.then_some((last, right))
    }

    /// Whether no more than two characters decide if a piece ends between them.
    pub(crate) fn is_of_characters(&self) -> bool {
        matches!(&self.0, Step::Kinds(_) | Step::Metaspace(_))
    }

    /// Whether pieces have no other characters behind the step than those of the byte alphabet.
    pub(crate) fn spells_bytes(&self) -> bool {
        matches!(&self.0, Step::ByteLevel(_))
    }

    /// Whether the step cuts pieces, and not only spells them otherwise.
    fn cuts(&self) -> bool {
        match &self.0 {
            Step::ByteLevel(byte_level) => byte_level.cuts(),
            Step::Metaspace(metaspace) => metaspace.split,
            _ => true,
        }
    }
}

/// Whether the last one of some characters and the next one are in one piece in every text behind some steps and
/// patterns. Other pieces may depend on both. Of the characters before, the last four matter.
pub(crate) fn joins(steps: &[PreTokenizer], patterns: &[Pattern], left: &[char], right: char) -> bool {
    let near = &left[left.len().saturating_sub(4)..];
    let run: Vec<char> = near.iter().copied().chain([right]).collect();
    let run = steps.iter().fold(run, |run, step| joined(&run, |left, right| step.joins(left, right)));
    let of_pattern = |pattern: &Pattern, left: &[char], right| {
        let &last = left.last()?;
        pattern.joins(left, right).then_some((last, right))
    };
    let run = patterns.iter().fold(run, |run, pattern| joined(&run, |left, right| of_pattern(pattern, left, right)));
    !run.is_empty()
}

/// The last ones of some neighbouring characters that are in one piece, as a stage spells them, none if the last two
/// may not be.
fn joined(run: &[char], joins: impl Fn(&[char], char) -> Option<(char, char)>) -> Vec<char> {
    let mut kept = Vec::new();
    for at in (1..run.len()).rev() {
        let Some((left, right)) = joins(&run[..at], run[at]) else { break };
        // A character that is spelled as several ends what is known.
        if *kept.last().unwrap_or(&right) != right {
            break;
        }
        if kept.is_empty() {
            kept.push(right);
        }
        kept.push(left);
    }
    kept.reverse();
    kept
}

/// Whether the pieces of a text are certain only with origins: a Metaspace step asks which of them begin with the original
/// text, and a normalizer may have taken away its beginning, or more than one piece may come from its first character.
#[must_use]
pub fn needs_origins(normalizers: &[Normalizer], steps: &[PreTokenizer]) -> bool {
    let asks = PreTokenizer::minds_start;
    let cut = steps.iter().position(PreTokenizer::cuts).map_or(steps.len(), |cut| cut + 1);
    steps[cut..].iter().any(asks) || (steps.iter().any(asks) && !normalizers.iter().all(Normalizer::keeps_start))
}

/// Pieces of `length` characters, the last one perhaps of fewer.
fn fixed_length(length: usize, text: &str, piece: Range<usize>, pieces: &mut NewPieces) {
    let mut start = piece.start;
    let ends = text[piece.clone()].char_indices().skip(length).step_by(length);
    for end in ends.map(|(at, _)| piece.start + at).chain([piece.end]) {
        pieces.push(start..end);
        start = end;
    }
}

#[cfg(test)]
mod places;
#[cfg(test)]
mod tests;
