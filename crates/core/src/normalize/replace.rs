//! Replacing each match of a pattern by a text.

use super::blanks;
use super::edges::{Beginning, of_characters};
use super::joined::{Joined, Spelled};
use super::spans::{Members, Spans};
use crate::edge::Edge;
use crate::eight_bytes::places_of;
use crate::error::{Error, Kind, Result};
use crate::normalize::aligned::Edit;
use crate::split::Pattern;
use crate::split::matches::{Matches, StatedPattern};

/// The most bytes that a step may insert in one place. Published tokenizers insert a few; more would make texts of any length.
const MOST_CONTENT: usize = 1024;

/// Texts of so many bytes, such as tokens, are searched for a text without more ado.
const SHORT: usize = 256;

/// Refuses an insertion that is too long.
pub(crate) fn check_content(content: &str) -> Result<()> {
    if content.len() <= MOST_CONTENT {
        return Ok(());
    }
    let what = format!("a step puts {} bytes in one place, more than {MOST_CONTENT}", content.len());
    Err(Error::new(Kind::Format, what).remedy("check the file: no published tokenizer has such a step"))
}

/// A pattern and its replacement of at most 1,024 bytes.
pub struct Replace {
    matches: Matches,
    content: String,
    /// If it puts one character in the place of one of ASCII: both.
    character: Option<(u8, char)>,
    /// The matches of a regular expression, if they are so simple.
    spans: Option<Spans>,
    /// Whether it puts a space in the place of each run of white space.
    squeezes: bool,
}

impl std::fmt::Debug for Replace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replace").field("content", &self.content).finish_non_exhaustive()
    }
}

impl Replace {
    pub(crate) fn new(pattern: &StatedPattern, content: String) -> Result<Self> {
        check_content(&content)?;
        let mut put = content.chars();
        let character = match (pattern, put.next(), put.next()) {
            (StatedPattern::String(text), Some(put), None) => match text.as_bytes() {
                [byte] => Some((*byte, put)),
                _ => None,
            },
            _ => None,
        };
        // It refuses what is too large.
        let matches = Matches::new(pattern)?;
        let spans = match pattern {
            StatedPattern::String(_) => None,
            StatedPattern::Regex(regex) => Spans::of(regex),
        };
        let squeezes = content == " " && spans.as_ref().is_some_and(Spans::are_white_space);
        Ok(Self { matches, content, character, spans, squeezes })
    }

    /// Whether it puts one character in the place of another one, wherever that stands.
    pub(crate) fn is_of_characters(&self) -> bool {
        self.character.is_some()
    }

    /// Whether the edge between two characters depends on no others: it replaces each character of some by itself, or each run of
    /// them, and none by nothing.
    pub(crate) fn is_of_pairs(&self) -> bool {
        let spans_pairs = matches!(self.spans, Some(Spans::Characters(_) | Spans::Runs { least: 1, .. }));
        self.is_of_characters() || spans_pairs && !self.content.is_empty()
    }

    /// Both, the first one being of ASCII.
    pub(crate) fn character(&self) -> Option<(u8, char)> {
        self.character
    }

    /// The text with one character in the place of another, as [`Replace::run`] makes it, in `new`: whether it is another text, and
    /// None if the step does something else.
    ///
    /// Spaces are near one another, so that looking for them in eight bytes at once is faster than one search for each.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn characters(&self, text: &str, new: &mut Joined) -> Result<Option<bool>> {
        let Some((byte, put)) = self.character else { return Ok(None) };
        let bytes = text.as_bytes();
        let Some(first) = memchr::memchr(byte, bytes) else { return Ok(Some(false)) };
        let put = Spelled::new(put);
        // A short text has room for as many as it could have.
        let most = if text.len() < SHORT { text.len() } else { memchr::memchr_iter(byte, &bytes[first..]).count() };
        new.begin(text.len() + most * put.width())?;
        let mut kept = 0;
        for place in places_of(byte, bytes, first) {
            new.copy(&text[kept..], place - kept);
            new.put(put);
            kept = place + 1;
        }
        new.copy(&text[kept..], text.len() - kept);
        Ok(Some(true))
    }

    /// The pass over the text: a replacement has the origin of the last byte of its match.
    pub(crate) fn run(&self, edit: &mut Edit) -> Result<()> {
        if self.squeezes {
            while let Some(run) = blanks::next_odd(edit.old(), edit.at()) {
                edit.keep(run.start);
                edit.skip(run.end);
                edit.insert(&self.content);
                edit.check()?;
            }
            edit.keep(edit.old().len());
            return Ok(());
        }
        if let Some((byte, put)) = self.character {
            edit.put_each(put, byte, edit.old().len());
            return edit.check_length();
        }
        self.matches.each(edit.old(), |start, end| {
            if edit.fits() {
                edit.keep(start);
                edit.skip(end);
                edit.insert(&self.content);
            }
        })?;
        edit.check_length()?;
        edit.keep(edit.old().len());
        Ok(())
    }

    /// Whether each match is one character, in the place of which something stands.
    pub(super) fn keeps_start(&self) -> bool {
        self.matches.is_one_character() && !self.content.is_empty()
    }

    /// Whether a text is known to become no longer, and no pattern can give up.
    pub(crate) fn never_grows(&self) -> bool {
        self.matches.text().is_some_and(|text| text.len() >= self.content.len())
    }

    /// Whether a text is known to become at most sixteen times as long, and no pattern can give up.
    pub(crate) fn grows_little(&self) -> bool {
        self.matches.text().is_some() && self.content.len() <= 16
    }

    /// The character that a run of matches becomes, if a place is certainly inside of one: it may be any number of them.
    pub(super) fn run_becomes(&self, edge: &Edge) -> Option<char> {
        let Some(Spans::Runs { class, least: 1 }) = &self.spans else { return None };
        let mut content = self.content.chars();
        let (put, None) = (content.next()?, content.next()) else { return None };
        (edge.left.is_some_and(|left| class.has(left)) && class.has(edge.right()[0])).then_some(put)
    }

    /// The edge of the parts. No match may lie across the place, nor depend on what is beyond it, and no part of one may be
    /// taken for certain where a match could begin or end.
    pub(super) fn edge(&self, edge: &Edge) -> Option<Edge> {
        if let Some(text) = self.matches.text() {
            return self.text_edge(std::str::from_utf8(text).ok()?, edge);
        }
        // Without the empty matches, of which there may be one at the place.
        let pattern = self.matches.tiles()?;
        pattern.scarce_seams()?;
        match &self.spans {
            Some(Spans::Characters(class)) => self.characters_edge(|character| class.has(character), edge),
            Some(Spans::Runs { class, least }) => self.runs_edge(class, *least, edge),
            None => self.pattern_edge(pattern, edge),
        }
    }

    /// The edge where single characters are replaced.
    fn characters_edge(&self, is_replaced: impl Fn(char) -> bool, edge: &Edge) -> Option<Edge> {
        of_characters(edge, |character, each| {
            if is_replaced(character) {
                self.content.chars().for_each(each);
            } else {
                each(character);
            }
        })
    }

    /// The edge where a literal text is replaced.
    fn text_edge(&self, text: &str, edge: &Edge) -> Option<Edge> {
        let (right, last) = (edge.right(), text.chars().next_back()?);
        let mut behind = text.chars();
        behind.next();
        if behind.as_str().is_empty() {
            return self.characters_edge(|character| character == last, edge);
        }
        let is_pair = |(left, next)| edge.left.is_none_or(|known| known == left) && next == right[0];
        if text.chars().zip(behind).any(is_pair) {
            return None;
        }
        // What ends the left part may be the end of a match, or not.
        let left = edge.left.filter(|&left| left != last || self.content.ends_with(left));
        let mut beginning = Beginning::new();
        for (place, &character) in right.iter().enumerate() {
            if text.chars().zip(&right[place..]).all(|(one, other)| one == *other) {
                break;
            }
            beginning.push(character);
        }
        beginning.edge(left)
    }

    /// The edge where runs of at least so many characters are replaced.
    fn runs_edge(&self, class: &Members, least: usize, edge: &Edge) -> Option<Edge> {
        let (right, is_in) = (edge.right(), |character| class.has(character));
        if edge.left.is_none_or(&is_in) && is_in(right[0]) {
            return None;
        }
        let left = edge.left.and_then(|left| {
            let end = self.content.chars().next_back();
            // Whether such a run is long enough is not known.
            if !is_in(left) || least > 1 && end == Some(left) { Some(left) } else { end.filter(|_| least == 1) }
        });
        let mut beginning = Beginning::new();
        let mut place = 0;
        while let Some(&character) = right.get(place) {
            let length = right[place..].iter().take_while(|&&next| is_in(next)).count();
            let ends = place + length < right.len();
            if length == 0 {
                beginning.push(character);
                place += 1;
            } else if ends && length < least {
                beginning.extend(right[place..place + length].iter().copied());
                place += length;
            } else {
                // As long as it is too short, a run that the text ends in stays.
                let short = &right[place..place + length.min(least - 1)];
                let same = self.content.chars().zip(short).take_while(|(new, old)| new == *old).count();
                if same < short.len() || !ends {
                    let sure = if least == 1 { usize::MAX } else { same };
                    beginning.extend(self.content.chars().take(sure));
                    break;
                }
                beginning.extend(self.content.chars());
                place += length;
            }
        }
        beginning.edge(left)
    }

    /// The edge where the matches of a pattern are replaced that is run by an automaton: behind what no match takes, and at
    /// seams, it starts anew.
    fn pattern_edge(&self, pattern: &Pattern, edge: &Edge) -> Option<Edge> {
        let (right, seams) = (edge.right(), pattern.scarce_seams()?);
        let left = edge.left?;
        let left = if pattern.never_takes(left) {
            Some(left)
        } else if seams.is_between(left, right[0]) {
            self.content.chars().next_back()
        } else {
            return None;
        };
        let mut beginning = Beginning::new();
        for (place, &character) in right.iter().enumerate() {
            if pattern.never_takes(character) {
                beginning.push(character);
            } else if right.get(place + 1).is_some_and(|&next| seams.is_between(character, next)) {
                beginning.extend(self.content.chars());
            } else {
                break;
            }
        }
        beginning.edge(left)
    }

    /// Whether there can be a match in a text, by its first byte alone.
    pub(crate) fn may_match(&self, text: &[u8]) -> bool {
        self.matches.text().and_then(<[u8]>::first).is_none_or(|&byte| memchr::memchr(byte, text).is_some())
    }

    /// The text with all matches replaced, which has at most `most` bytes; None if nothing is.
    pub(crate) fn replaced(&self, text: &str, most: usize) -> Result<Option<String>> {
        if text.len() <= SHORT
            && let Some(pattern) = self.matches.text().and_then(|text| std::str::from_utf8(text).ok())
        {
            if !text.contains(pattern) {
                return Ok(None);
            }
            let new = text.replace(pattern, &self.content);
            if new.len() <= most {
                return Ok(Some(new));
            }
        }
        let mut edit = Edit::new(text, None, most).asking();
        self.run(&mut edit)?;
        Ok(edit.finish()?.map(|(text, _)| text))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn characters_are_replaced_as_matches_are() {
        let letters = [" ", "  ", "a", "word", "\u{2581}", "é", "\0", "!", "       "];
        // One memory for all texts, as for the stretches of one.
        let (mut seed, mut new) = (3_u64, Joined::default());
        for (from, to) in [(" ", "\u{2581}"), ("a", " "), ("\0", "é")] {
            let replace = Replace::new(&StatedPattern::String(from.into()), to.into()).unwrap();
            for round in 0..2_000 {
                let mut text = String::new();
                for _ in 0..round % 40 {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    text.push_str(letters[(seed >> 33) as usize % letters.len()]);
                }
                let is_changed = replace.characters(&text, &mut new).unwrap().unwrap();
                assert_eq!(is_changed, text.contains(from));
                assert!(!is_changed || new.text() == text.replace(from, to), "{text:?}");
            }
        }
        let mut new = Joined::default();
        for (from, to) in [("é", "e"), ("ab", "c"), (" ", "ab"), (" ", ""), ("", "a")] {
            assert!(
                Replace::new(&StatedPattern::String(from.into()), to.into())
                    .unwrap()
                    .characters(" ", &mut new)
                    .unwrap()
                    .is_none()
            );
        }
    }
}
