//! Seams: places where text can be cut without changing any piece, whatever the text further left or right.
//!
//! Which two neighbouring characters have a seam between them is read off the automaton. Take all states that it can be
//! in after the left character, in whatever text. If in each of them the right character ends the scan with a match that
//! ends between the two, then the piece that holds the left character ends there, no scan that began before reads beyond
//! the right character, and the next piece begins with it. If the end of the text would have done the same in each, then
//! the text left of the seam can be split by itself. Nothing reads backwards, so the right part can be as well.
//!
//! That holds if some match takes the left character: whatever tried to match before it either took it, and then the match
//! ends behind it, or came to an end before. What starts no match may lie between matches, and has no seam behind it.

use std::ops::Range;

use super::automaton::{Automaton, SeamTable};
use super::{Engine, Pattern};

/// The seams of a pattern.
#[derive(Clone, Copy)]
pub(crate) struct Seams<'p> {
    pub(super) automaton: &'p Automaton,
    pub(super) table: &'p SeamTable,
}

impl Pattern {
    /// Its seams; None if it is not run by an automaton, or does not match at every character.
    pub(crate) fn seams(&self) -> Option<Seams<'_>> {
        self.scarce_seams().filter(|seams| seams.table.covers)
    }

    /// The same also for a pattern that leaves text between matches, in which there are none: they may be far apart.
    pub(crate) fn scarce_seams(&self) -> Option<Seams<'_>> {
        let Engine::Classes(automaton, _) = &self.engine else { return None };
        Some(Seams { automaton, table: self.seams.get_or_init(|| automaton.seams()) })
    }
}

impl Pattern {
    /// Whether no match holds a character, for certain.
    pub(crate) fn never_takes(&self, character: char) -> bool {
        let Engine::Classes(automaton, _) = &self.engine else { return false };
        automaton.class_of(character).is_some_and(|class| automaton.never_reads(class))
    }
}

impl Seams<'_> {
    /// The last seam of a text after `range.start` and up to `range.end`.
    ///
    /// # Panics
    /// If the range does not start and end at characters.
    pub(crate) fn last(&self, text: &str, range: Range<usize>) -> Option<usize> {
        let class = |at| self.automaton.class(text.as_bytes(), at);
        let mut place = range.end;
        let mut right = class(place);
        for character in text[range].chars().rev() {
            let left = class(place - character.len_utf8());
            if self.between(left, right) {
                return Some(place);
            }
            right = left;
            place -= character.len_utf8();
        }
        None
    }

    /// The last seam of a text with a character behind it.
    pub(crate) fn last_inside(&self, text: &str) -> Option<usize> {
        let (last, _) = text.char_indices().next_back()?;
        self.last(text, 0..last)
    }

    /// The first seam of a text after `range.start` and up to `range.end`.
    ///
    /// # Panics
    /// If the range does not start and end at characters.
    #[cfg(test)]
    pub(crate) fn first(&self, text: &str, range: Range<usize>) -> Option<usize> {
        let class = |at| self.automaton.class(text.as_bytes(), at);
        let mut place = range.start;
        let mut left = class(place);
        for character in text[range].chars() {
            place += character.len_utf8();
            let right = class(place);
            if self.between(left, right) {
                return Some(place);
            }
            left = right;
        }
        None
    }

    /// Whether there is a seam between two characters.
    pub(crate) fn is_between(&self, left: char, right: char) -> bool {
        self.between(self.automaton.class_of(left), self.automaton.class_of(right))
    }

    fn between(&self, left: Option<u8>, right: Option<u8>) -> bool {
        let SeamTable { symbols, between, .. } = self.table;
        left.zip(right).is_some_and(|(left, right)| between[usize::from(left) * symbols + usize::from(right)])
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::names;
    use super::*;

    fn split<'t>(pattern: &Pattern, text: &'t str) -> Vec<&'t str> {
        pattern.pieces(text).map(Result::unwrap).collect()
    }

    #[test]
    fn no_seam_changes_a_piece_in_any_short_text() {
        let scarce = r"[a-z]+| ?[.,]+\n*|\s+(?!\S)";
        for (name, length) in
            [(names::GPT2, 4), (names::CL100K, 4), (names::O200K, 4), (r"\s+|\S{1,2}", 7), (scarce, 5)]
        {
            let pattern = Pattern::new(name).unwrap();
            let Engine::Classes(automaton, _) = &pattern.engine else { unreachable!("{name}") };
            let (seams, characters) = (pattern.scarce_seams().unwrap(), automaton.representatives());
            let mut found = 0;
            for number in 0..characters.len().pow(length) {
                let text: String = (0..length)
                    .map(|place| characters[number / characters.len().pow(place) % characters.len()])
                    .collect();
                let whole = split(&pattern, &text);
                let mut end = text.len();
                let mut start = 0;
                while let Some(seam) = seams.first(&text, start..text.len()) {
                    assert_eq!(seams.last(&text, 0..seam), Some(seam), "{text:?}");
                    assert_eq!(seams.last(&text, start..text[..seam].char_indices().next_back().unwrap().0), None);
                    start = seam;
                }
                assert_eq!(seams.last(&text, start..text.len()), None, "{text:?}");
                while let Some(seam) = seams.last(&text, 0..end) {
                    let (left, right) = text.split_at(seam);
                    assert_eq!([split(&pattern, left), split(&pattern, right)].concat(), whole, "{text:?} at {seam}");
                    end = left.len() - left.chars().next_back().unwrap().len_utf8();
                    found += 1;
                }
            }
            assert!(found > 100, "{name} has hardly any seam");
        }
    }

    #[test]
    fn words_have_seams_between_them_and_one_word_has_none() {
        for name in [names::GPT2, names::CL100K, names::O200K] {
            let pattern = Pattern::new(name).unwrap();
            let seams = pattern.seams().unwrap();
            assert_eq!(seams.last("some words and", 0..14), Some(10));
            assert_eq!(seams.last("some words and", 0..9), Some(4));
            assert_eq!(seams.last(&"a".repeat(99), 0..99), None);
        }
    }

    #[test]
    fn patterns_that_leave_text_between_matches_or_need_another_engine_have_none() {
        for text in ["", "[a-z]+", r"\bx|(?s:.)", r"(.)\1|."] {
            assert!(Pattern::new(text).unwrap().seams().is_none(), "{text}");
        }
    }
}
