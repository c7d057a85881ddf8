//! Scans for the ends of pieces, many at a time, by one pattern or several in a row; and an iterator over pieces.

use std::ops::Range;

use super::blocks::Blocks;
use super::ends::{Ends, step};
use super::{Engine, Faster, Pattern, fill};
use crate::error::{Error, Result};

/// A piece of at most so many bytes, as words are, is read first to see which patterns may cut it.
const WORD: usize = 32;

/// A scan over a text that finds the ends of many pieces at a time: those that patterns in a row make, each of the
/// pieces of the one before.
pub(crate) struct Scan<'p, 't> {
    pattern: &'p Pattern,
    inner: &'p [Pattern],
    text: &'t str,
    /// Where the piece of the first pattern starts that is found next.
    at: usize,
    /// With inner patterns, no piece of the first one is begun from here on.
    end: usize,
    /// A match beyond `at`: the text before it is a piece of its own.
    found: Option<(usize, usize)>,
    /// Whether the inner patterns are in a piece: where it starts, and their scan over it, which stays for the next one.
    is_inside: bool,
    inside: Option<Box<(usize, Self)>>,
}

impl<'p, 't> Scan<'p, 't> {
    /// A scan of the pieces that start in `range`; without inner patterns, also of those after it.
    pub(crate) fn new(pattern: &'p Pattern, inner: &'p [Pattern], text: &'t str, range: Range<usize>) -> Self {
        Self { pattern, inner, text, at: range.start, end: range.end, found: None, is_inside: false, inside: None }
    }

    /// Replaces `ends` by those of the next pieces; there are none at the end.
    ///
    /// # Errors
    /// `Pattern`, if a pattern exceeds its step budget on the next piece; `ends` then holds the ones before it. `Encode`, if a piece is
    /// longer than 4 GiB.
    pub(crate) fn fill(&mut self, ends: &mut Ends, start: usize) -> Result<()> {
        ends.clear(start);
        let appended = self.append(ends);
        if ends.too_long {
            ends.count = 0;
            return Err(Error::piece_too_long().at(start));
        }
        appended
    }

    fn append(&mut self, ends: &mut Ends) -> Result<()> {
        if !self.inner.is_empty() {
            return self.append_inner(ends);
        }
        if let Engine::Classes(automaton, faster) = &self.pattern.engine {
            self.at = match faster {
                Some(Faster::Family(family, kinds)) => {
                    fill::fill(Blocks { family: *family, kinds, automaton }, self.text, self.at, ends)
                }
                Some(Faster::Words(words)) => words.fill(self.text, self.at, ends),
                None => step(automaton, self.text, self.at, ends),
            };
            return Ok(());
        }
        while self.at < self.text.len() && ends.has_room_for_a_block() {
            self.at = self.next_end()?;
            ends.push(self.at);
        }
        Ok(())
    }

    /// Appends the ends that the inner patterns make in one piece after another.
    fn append_inner(&mut self, ends: &mut Ends) -> Result<()> {
        while ends.has_room_for_a_block() {
            if !self.is_inside {
                if self.at >= self.end {
                    break;
                }
                let (start, end) = (self.at, self.next_end()?);
                self.at = end;
                let piece = &self.text[start..end];
                let Some((pattern, inner)) = that_may_cut(self.inner, piece).split_first() else {
                    ends.push(end);
                    continue;
                };
                if let Some(inside) = &mut self.inside {
                    let scan = &mut inside.1;
                    (scan.pattern, scan.inner, scan.text, scan.at) = (pattern, inner, piece, 0);
                    (scan.end, scan.found, scan.is_inside) = (piece.len(), None, false);
                    inside.0 = start;
                } else {
                    let scan = Self::new(pattern, inner, piece, 0..piece.len());
                    self.inside = Some(Box::new((start, scan)));
                }
                self.is_inside = true;
            }
            let Some((start, scan)) = self.inside.as_deref_mut() else { break };
            // Inside, places are counted from where the piece starts.
            ends.start = ends.start.wrapping_sub(*start);
            let appended = scan.append(ends);
            ends.start = ends.start.wrapping_add(*start);
            appended.map_err(|error| error.shifted(*start))?;
            self.is_inside = scan.at < scan.text.len() || scan.is_inside;
        }
        Ok(())
    }

    /// Where the next piece of the first pattern ends.
    fn next_end(&mut self) -> Result<usize> {
        let found = match self.found.take() {
            Some(found) => Some(found),
            None => self.pattern.find(self.text, self.at)?,
        };
        Ok(match found {
            None => self.text.len(),
            Some((start, end)) if start == self.at => end,
            Some(found) => {
                self.found = Some(found);
                found.0
            }
        })
    }
}

/// The patterns in a row from the first one on that may have a match in a piece.
#[inline]
fn that_may_cut<'p>(patterns: &'p [Pattern], piece: &str) -> &'p [Pattern] {
    if piece.len() > WORD || !piece.is_ascii() {
        return patterns;
    }
    let characters = piece.bytes().fold(0, |characters, byte| characters | 1 << byte);
    let first = patterns.iter().position(|pattern| match &pattern.engine {
        Engine::Classes(automaton, _) => automaton.may_match(characters),
        _ => true,
    });
    &patterns[first.unwrap_or(patterns.len())..]
}

/// The pieces of one text; after an error there are none.
pub struct Pieces<'p, 't> {
    scan: Scan<'p, 't>,
    ends: Ends,
    /// Which of `ends` is next.
    next: usize,
    at: usize,
}

impl<'p, 't> Pieces<'p, 't> {
    pub(crate) fn of(scan: Scan<'p, 't>) -> Self {
        Self { at: scan.at, scan, ends: Ends::default(), next: 0 }
    }

    /// Where the next piece starts, in bytes.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }
}

impl<'t> Iterator for Pieces<'_, 't> {
    type Item = Result<&'t str>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.scan.text;
        if self.next == self.ends.count {
            self.next = 0;
            if let Err(error) = self.scan.fill(&mut self.ends, self.at)
                && self.ends.count == 0
            {
                self.scan = Scan::new(self.scan.pattern, &[], text, text.len()..text.len());
                self.at = text.len();
                return Some(Err(error));
            }
        }
        let end = self.ends.start + *self.ends.as_slice().get(self.next)? as usize;
        self.next += 1;
        let start = std::mem::replace(&mut self.at, end);
        Some(Ok(&text[start..end]))
    }
}
