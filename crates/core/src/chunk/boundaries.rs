//! The boundaries of a text: headings, paragraphs, lines, sentences, words.
//!
//! A text is read in *blocks*: lines, and the parts of long ones. The start of a block determines the boundaries there;
//! sentences and words inside it are searched on first use, and then kept. UAX #29 lets no
//! sentence and no word reach across the end of a line, so that a line by itself has the boundaries that it has in the text.
//!
//! Weakness: a line can be endless, and the search for sentences looks ahead, in the worst case again and again over all
//! text in view. So a long line is cut where a sentence certainly ends; if none does for long, where a word ends, or at last
//! anywhere. That is inexact in a sentence of thousands of bytes, and makes time linear on any text.

use std::collections::VecDeque;

use memchr::memchr2;

use crate::chunk::sentences::{is_alphanumeric, is_line_end, sentence_ends};
use crate::chunk::words::Window;

/// Longer lines, in bytes, are read in parts.
const LONGEST: usize = 4096;

/// A sentence end is sure of itself with so many bytes after it in view.
const AHEAD: usize = 256;

/// After so many characters without a letter or digit among them a block ends.
const MOST_SIGNS: usize = 128;

/// With so many bytes after a place in view, nothing further away changes which places there are up to it.
pub(super) const MARGIN: usize = LONGEST + 16;

/// Kinds of places, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Boundary {
    /// Before a heading (`#` to `######`) that is not in fenced code.
    Markdown,
    /// After a blank line.
    Paragraph,
    /// After the end of a line.
    Line,
    /// Between sentences of UAX #29, after the white space that follows the first.
    Sentence,
    /// Between words of UAX #29, before white space and not after it.
    Word,
    /// Between any two characters.
    Character,
}

impl Boundary {
    /// All kinds, by name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("markdown", Self::Markdown),
        ("paragraph", Self::Paragraph),
        ("line", Self::Line),
        ("sentence", Self::Sentence),
        ("word", Self::Word),
        ("character", Self::Character),
    ];

    /// The kinds with stored places, from this one on: characters need none.
    pub(super) fn kinds(self) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().map(|(_, kind)| kind).filter(move |&kind| kind >= self && kind < Self::Character)
    }
}

/// All places of one kind in a text, its start and end not among them.
///
/// ```
/// use bytepair_core::chunk::{Boundary, places};
/// assert_eq!(places("Some words. More.\nEnd", Boundary::Sentence), [12, 18]);
/// assert_eq!(places("Some words.\n", Boundary::Word), [4, 10, 11]);
/// ```
#[must_use]
pub fn places(text: &str, kind: Boundary) -> Vec<usize> {
    if kind == Boundary::Character {
        return text.char_indices().map(|(at, _)| at).skip(1).collect();
    }
    let mut blocks = Blocks::new(kind);
    blocks.cover(text, text.len());
    let mut found = Vec::new();
    while let Some(place) = blocks.first(text, kind, found.last().map_or(1, |last| last + 1), text.len()) {
        found.push(place);
    }
    found.retain(|&place| place < text.len());
    found
}

/// A line, or a part of a long one.
struct Block {
    start: usize,
    end: usize,
    /// The strongest kind that has a place at its start.
    kind: Boundary,
    /// The places inside, from its start on, once they were asked for.
    sentences: Option<Vec<usize>>,
    /// The words last asked for.
    words: Window,
}

impl Block {
    /// The last place of a kind inside of it, after `low` and up to `high`; those of lines and more are at its start.
    fn last(&mut self, text: &str, kind: Boundary, low: usize, high: usize) -> Option<usize> {
        let (start, line) = (self.start, &text[self.start..self.end]);
        let mut high = (high - start).min(line.len() - 1);
        let place = match kind {
            Boundary::Sentence => last(self.sentences(line), high),
            Boundary::Word => loop {
                let words = self.words(line, high);
                let place = last(&words.places, high);
                if place.is_some() || words.range.start == 0 || start + words.range.start <= low {
                    break place;
                }
                high = words.range.start - 1;
            },
            _ => None,
        };
        place.map(|place| start + place).filter(|&place| place > low)
    }

    /// The first place of a kind inside of it, from `low` up to `high`.
    fn first(&mut self, text: &str, kind: Boundary, low: usize, high: usize) -> Option<usize> {
        let (start, line) = (self.start, &text[self.start..self.end]);
        let mut low = low.saturating_sub(start);
        let place = match kind {
            Boundary::Sentence => first(self.sentences(line), low),
            Boundary::Word => loop {
                let words = self.words(line, low);
                let place = first(&words.places, low);
                if place.is_some() || words.range.end == line.len() || start + words.range.end > high {
                    break place;
                }
                low = words.range.end;
            },
            _ => None,
        };
        place.map(|place| start + place).filter(|&place| place <= high)
    }

    fn sentences(&mut self, line: &str) -> &[usize] {
        self.sentences.get_or_insert_with(|| sentence_ends(line))
    }

    fn words(&mut self, line: &str, place: usize) -> &Window {
        if !self.words.range.contains(&place) {
            self.words = Window::around(line, place);
        }
        &self.words
    }
}

/// The last of some places up to one.
fn last(places: &[usize], high: usize) -> Option<usize> {
    places[..places.partition_point(|&place| place <= high)].last().copied()
}

/// The first of some places from one on.
fn first(places: &[usize], low: usize) -> Option<usize> {
    places.get(places.partition_point(|&place| place < low)).copied()
}

/// The blocks of the part of a text that is in use.
pub(super) struct Blocks {
    kept: VecDeque<Block>,
    /// Where the next block starts, and what is there.
    at: usize,
    next: Boundary,
    /// Whether the line is blank as far as it was read.
    is_blank: bool,
    /// Whether headings are looked for, and the fence that the code here began with.
    markdown: bool,
    fence: Option<(u8, usize)>,
}

impl Blocks {
    pub(super) fn new(strongest: Boundary) -> Self {
        let markdown = strongest == Boundary::Markdown;
        Self { kept: VecDeque::new(), at: 0, next: Boundary::Line, is_blank: true, markdown, fence: None }
    }

    /// Reads on until all places up to `place` are known.
    pub(super) fn cover(&mut self, text: &str, place: usize) {
        while self.at <= place && self.at < text.len() {
            self.read(text);
        }
    }

    fn read(&mut self, text: &str) {
        let (start, mut kind) = (self.at, self.next);
        let (length, next) = block(&text[start..]);
        let body = &text[start..start + length];
        if kind <= Boundary::Line {
            self.is_blank = true;
            if self.markdown {
                match (self.fence, fence(body)) {
                    (Some(open), Some((sign, length, true))) if sign == open.0 && length >= open.1 => self.fence = None,
                    (None, Some((sign, length, _))) => self.fence = Some((sign, length)),
                    (None, None) if is_heading(body) => kind = Boundary::Markdown,
                    _ => {}
                }
            }
        }
        self.is_blank = self.is_blank && body.chars().all(char::is_whitespace);
        self.at = start + length;
        self.next = if next == Boundary::Line && self.is_blank { Boundary::Paragraph } else { next };
        self.kept.push_back(Block { start, end: self.at, kind, sentences: None, words: Window::default() });
    }

    /// The last place of a kind, or of a stronger one, after `low` and up to `high`, which was covered.
    pub(super) fn last(&mut self, text: &str, kind: Boundary, low: usize, high: usize) -> Option<usize> {
        let mut number = self.kept.partition_point(|block| block.start <= high);
        while number > 0 {
            number -= 1;
            let block = &mut self.kept[number];
            let inside = block.last(text, kind, low, high);
            if inside.is_some() || block.start <= low {
                return inside;
            }
            if block.kind <= kind {
                return Some(block.start);
            }
        }
        None
    }

    /// The first place of a kind, or of a stronger one, from `low` up to `high`, which was covered.
    pub(super) fn first(&mut self, text: &str, kind: Boundary, low: usize, high: usize) -> Option<usize> {
        let number = self.kept.partition_point(|block| block.end <= low);
        for block in self.kept.iter_mut().skip(number) {
            if block.start > high {
                return None;
            }
            if block.start >= low && block.kind <= kind {
                return Some(block.start);
            }
            let inside = block.first(text, kind, low, high);
            if inside.is_some() || block.end > high {
                return inside;
            }
        }
        None
    }

    /// Forgets what lies before a place; returns from where on the text is still needed.
    pub(super) fn forget(&mut self, before: usize) -> usize {
        while self.kept.front().is_some_and(|block| block.end < before) {
            self.kept.pop_front();
        }
        // Boundaries at every character need no blocks.
        self.kept.front().map_or(before, |block| block.start)
    }

    /// Counts all places from `by` bytes further right.
    pub(super) fn shift(&mut self, by: usize) {
        self.at = self.at.saturating_sub(by);
        for block in &mut self.kept {
            block.start -= by;
            block.end -= by;
        }
    }
}

/// How long the block is that a text starts with, and the kind of place at its end.
fn block(text: &str) -> (usize, Boundary) {
    let window = &text.as_bytes()[..text.len().min(LONGEST)];
    let line_end = memchr2(b'\n', b'\r', window);
    let line = &window[..line_end.unwrap_or(window.len())];
    if line.is_ascii() {
        return match (without_letters(line), line_end) {
            (Some(at), _) => (at, Boundary::Character),
            (None, Some(at)) => (at + line_end_length(&text[at..]), Boundary::Line),
            (None, None) => part(&text[..line.len()], text.len()),
        };
    }
    let mut signs = 0;
    for (at, character) in text.char_indices() {
        if at >= LONGEST {
            return part(&text[..at], text.len());
        }
        if is_line_end(character) {
            return (at + line_end_length(&text[at..]), Boundary::Line);
        }
        // Sentences look for a letter ahead, and pass over marks and signs.
        signs = if is_alphanumeric(character) { 0 } else { signs + 1 };
        if signs == MOST_SIGNS {
            return (at + character.len_utf8(), Boundary::Character);
        }
    }
    (text.len(), Boundary::Character)
}

/// Where in an ASCII text the first [`MOST_SIGNS`] characters in a row without a letter or digit end.
fn without_letters(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(signs) = text.get(at..at + MOST_SIGNS) {
        match signs.iter().rposition(u8::is_ascii_alphanumeric) {
            Some(letter) => at += letter + 1,
            None => return Some(at + MOST_SIGNS),
        }
    }
    None
}

/// How long the line end is that a text starts with.
fn line_end_length(text: &str) -> usize {
    if text.starts_with("\r\n") { 2 } else { text.chars().next().map_or(0, char::len_utf8) }
}

/// Where a part of a line ends that starts with this text, of so many bytes with what follows.
fn part(text: &str, whole: usize) -> (usize, Boundary) {
    if text.len() == whole {
        return (whole, Boundary::Character);
    }
    let near = (0..=text.len() - AHEAD).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
    if let Some(at) = last(&sentence_ends(text), near) {
        return (at, Boundary::Sentence);
    }
    let mut after = text[near..].chars().next();
    for (at, character) in text[..near].char_indices().rev() {
        if after.is_some_and(char::is_whitespace) && !character.is_whitespace() {
            return (at + character.len_utf8(), Boundary::Word);
        }
        after = Some(character);
    }
    (near, Boundary::Character)
}

/// A line without what may stand before a heading or a fence.
fn unindented(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len() <= 3).then_some(rest)
}

fn is_heading(line: &str) -> bool {
    unindented(line).is_some_and(|line| {
        let rest = line.trim_start_matches('#');
        (1..=6).contains(&(line.len() - rest.len())) && (rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']))
    })
}

/// The sign and the length of a fence, and whether nothing follows it, as the end of code asks.
fn fence(line: &str) -> Option<(u8, usize, bool)> {
    let line = unindented(line)?;
    let sign = *line.as_bytes().first().filter(|sign| matches!(sign, b'`' | b'~'))?;
    let rest = line.trim_start_matches(char::from(sign));
    let length = line.len() - rest.len();
    let is_fence = length >= 3 && !(sign == b'`' && rest.contains('`'));
    is_fence.then(|| (sign, length, rest.chars().all(char::is_whitespace)))
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    /// Numbers that look random.
    fn numbers(mut seed: u64) -> impl FnMut(usize) -> usize {
        move |below| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        }
    }

    #[test]
    fn sentences_and_words_are_those_of_the_whole_text() {
        let atoms = ["a", "B", "1", ".", "?", " ", " ", "\u{301}", ")", "\"", ",", "'", "日", "\n", "\r\n", "\u{2028}"];
        let mut number = numbers(1);
        for _ in 0..3000 {
            let text: String = (0..number(40)).map(|_| atoms[number(atoms.len())]).collect();
            let inside = |at: &usize| (1..text.len()).contains(at);
            let sentences: Vec<_> = text.split_sentence_bound_indices().map(|(at, _)| at).filter(inside).collect();
            assert_eq!(places(&text, Boundary::Sentence), sentences, "{text:?}");
            let is_line_end = |at: usize| text[..at].ends_with(['\n', '\r', '\u{2028}']);
            let is_word = |at: &usize| is_line_end(*at) || !text[..*at].ends_with(char::is_whitespace);
            let words = text.split_word_bound_indices().map(|(at, _)| at).filter(inside).filter(is_word);
            assert_eq!(places(&text, Boundary::Word), words.collect::<Vec<_>>(), "{text:?}");
        }
    }

    #[test]
    fn sentences_of_a_line_in_parts_are_those_of_the_whole_line() {
        let words = ["word ", "Word ", "end. ", "No. 3 ", "e.g. ", "Mr. X ", "what?! ", "(yes.) ", "日本。", "3.5 "];
        let mut number = numbers(2);
        let line: String = (0..20_000).map(|_| words[number(words.len())]).collect();
        let sentences: Vec<_> = line.split_sentence_bound_indices().map(|(at, _)| at).skip(1).collect();
        assert_eq!(places(&line, Boundary::Sentence), sentences);
    }

    #[test]
    fn the_last_and_the_first_place_of_a_part_are_those_of_all_places() {
        let atoms = ["word", "B", "1", ". ", "! ", " ", "  ", "\u{301}", ")", "日", "カ", "é", "\n", "\r\n", "# ", "'"];
        let mut number = numbers(4);
        for case in 0..200 {
            // Some lines are longer than a block.
            let (few, length) = (&atoms[..=number(atoms.len())], if case % 10 == 0 { 5000 } else { 60 });
            let text: String = (0..length).map(|_| few[number(few.len())]).collect();
            for kind in Boundary::Markdown.kinds() {
                let mut blocks = Blocks::new(kind);
                blocks.cover(&text, text.len());
                let places = places(&text, kind);
                for _ in 0..100 {
                    let low = number(text.len());
                    let high = low + number((text.len() - low).min(300));
                    let after = places.iter().copied().filter(|&place| place > low && place <= high);
                    assert_eq!(blocks.last(&text, kind, low, high), after.max(), "{kind:?} {low} {high} {text:?}");
                    let mut from = places.iter().copied().filter(|&place| place >= low && place <= high);
                    let first = blocks.first(&text, kind, low.max(1), high);
                    assert_eq!(first, from.next(), "{kind:?} {low} {high} {text:?}");
                }
            }
        }
    }

    #[test]
    fn what_a_margin_away_comes_changes_no_place() {
        let atoms = ["a", ". ", ")", " ", "\u{301}", "1", "b. B", "\n", "\r"];
        let mut number = numbers(3);
        for _ in 0..60 {
            let few = &atoms[number(6)..];
            let text: String = (0..6000).map(|_| few[number(few.len().min(3))]).collect();
            let mut end = text.len() - number(1000);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            for kind in Boundary::Paragraph.kinds() {
                let sure = |found: Vec<usize>| found.into_iter().filter(|at| at + MARGIN <= end).collect::<Vec<_>>();
                assert_eq!(sure(places(&text[..end], kind)), sure(places(&text, kind)), "{kind:?} {few:?}");
            }
        }
    }
}
