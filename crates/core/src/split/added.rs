//! Added tokens: matched before everything else, leftmost-longest, by one automaton; where that is faster, behind a search for what
//! they begin with, and runs of one byte by their length.
//!
//! Long because places, runs and neighbours of tokens are all looked up by how they are spelled, and a fifth of it is tests.

use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::packed::Searcher;
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind, Span};

use rustc_hash::FxHashSet;

use crate::eight_bytes::bits;
use crate::error::{Error, Kind, Result};

/// A token that is matched in the text itself, before any split.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "these are the flags that tokenizer.json has for each added token")]
pub struct AddedToken {
    /// The text that it is.
    pub content: String,
    /// Its id.
    pub id: u32,
    /// Whether it controls (bos, eos, role marks), so that user text may not become it unasked.
    pub special: bool,
    /// Only where it is not part of a longer word.
    pub single_word: bool,
    /// White space before it belongs to it.
    pub lstrip: bool,
    /// White space after it belongs to it.
    pub rstrip: bool,
    /// Whether it is looked for in the normalized text (else in the original).
    pub normalized: bool,
}

/// An added token found in a text: `start..end` in bytes, white space that it takes included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it starts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Which of the matcher's tokens it is.
    pub token: usize,
}

/// Finds some tokens in texts.
pub struct Matcher {
    tokens: Vec<AddedToken>,
    automaton: AhoCorasick,
    begin: Option<Begin>,
    /// Whether the automaton takes one byte after the other, which is slower.
    is_stepwise: bool,
    /// The tokens as they are spelled, sorted.
    spelled: Vec<String>,
    /// Whether one of them starts with this byte.
    starts: Box<[bool; 256]>,
    /// A bit for each pair of bytes: whether one of them may start with it.
    pairs: Box<[u64; 1024]>,
    runs: Vec<Runs>,
    minds_context: bool,
    meets: Meets,
}

/// The first bytes of tokens, looked for in many places at a time.
enum Begin {
    /// The first two of each.
    Pairs(Searcher),
    /// The first one of each, where a token has one alone: at most [`MOST_FIRSTS`].
    Bytes(Vec<u8>),
}

/// So many bytes can be looked for at once in less time than an automaton takes.
const MOST_FIRSTS: usize = 8;

impl Begin {
    /// None where tokens begin with too many bytes.
    fn new(spelled: &[String]) -> Option<Self> {
        let pairs: Option<BTreeSet<&[u8; 2]>> = spelled.iter().map(|token| token.as_bytes().first_chunk()).collect();
        if let Some(pairs) = pairs.and_then(Searcher::new) {
            return Some(Self::Pairs(pairs));
        }
        let bytes: BTreeSet<u8> = spelled.iter().filter_map(|token| token.bytes().next()).collect();
        (bytes.len() <= MOST_FIRSTS).then(|| Self::Bytes(bytes.into_iter().collect()))
    }

    /// The first place in a range of a text where a token may begin, which may end behind the range. `seen` is what was seen of the
    /// same text by the call before.
    #[inline]
    fn find_in(&self, text: &[u8], range: Range<usize>, seen: &mut SeenBlock) -> Option<usize> {
        match self {
            Self::Pairs(pairs) => {
                let span = Span::from(range.start..text.len().min(range.end + 1));
                pairs.find_in(text, span).map(|found| found.start()).filter(|&start| start < range.end)
            }
            Self::Bytes(firsts) => seen.next(&text[..range.end], range.start, firsts),
        }
    }
}

/// The places of a block of a text that have one of some bytes.
#[derive(Default)]
struct SeenBlock {
    /// Where the block ends; 0 before the first.
    end: usize,
    /// A bit for each of its bytes.
    bits: u64,
}

impl SeenBlock {
    /// The bytes of a block.
    const BLOCK: usize = u64::BITS as usize;

    /// The first place of a text, at `from` or later, that has one of some bytes.
    fn next(&mut self, text: &[u8], from: usize, wanted: &[u8]) -> Option<usize> {
        let mut start = self.end.saturating_sub(Self::BLOCK);
        if !(start..self.end).contains(&from) {
            start = from;
            self.see(text, start, wanted);
        }
        self.bits &= u64::MAX << (from - start);
        while self.bits == 0 {
            start = self.end;
            if start >= text.len() {
                return None;
            }
            self.see(text, start, wanted);
        }
        Some(start + self.bits.trailing_zeros() as usize)
    }

    /// Looks at the block that starts at a place.
    fn see(&mut self, text: &[u8], start: usize, wanted: &[u8]) {
        let rest = &text[start..];
        self.end = start + Self::BLOCK;
        self.bits = if let Some(block) = rest.first_chunk() {
            bits_of(block, wanted)
        } else {
            let mut block = [0; Self::BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            bits_of(&block, wanted) & !(u64::MAX << rest.len())
        };
    }
}

/// A bit for each byte of a block: whether it is one of some bytes.
#[inline]
fn bits_of(block: &[u8; 64], wanted: &[u8]) -> u64 {
    let mut found = [0; 64];
    for &wanted in wanted {
        for (found, &byte) in found.iter_mut().zip(block) {
            *found |= u8::from(byte == wanted);
        }
    }
    bits(&found)
}

/// Tokens that are runs of one byte, such as those for indentation, where all are that begin with two of it and none is longer
/// than a byte can say: the bytes of a run are counted one by one.
struct Runs {
    byte: u8,
    /// Whether all tokens are that begin with one of it.
    are_all: bool,
    /// By the length of a run, up to that of the longest token: the length of the longest one that begins it, and its number.
    longest: Vec<(u8, u32)>,
}

impl Runs {
    fn all(spelled: &[String]) -> Vec<Self> {
        let of_byte = |byte| Some(Self { byte, are_all: true, longest: vec![(0, 0)] });
        let mut all: Vec<Option<Self>> = (0..=u8::MAX).map(of_byte).collect();
        for (number, token) in (0..).zip(spelled) {
            let Some(&byte) = token.as_bytes().first() else { continue };
            let run = token.bytes().take_while(|&other| other == byte).count();
            let entry = &mut all[usize::from(byte)];
            let Some(runs) = entry else { continue };
            match u8::try_from(run) {
                Ok(length) if run == token.len() => {
                    let longest = runs.longest.len().max(run + 1);
                    runs.longest.resize(longest, (0, 0));
                    // Of tokens that are spelled alike the first is found.
                    let entry = &mut runs.longest[run];
                    *entry = if entry.0 > 0 { *entry } else { (length, number) };
                }
                Ok(1) => runs.are_all = false,
                _ => *entry = None,
            }
        }
        let mut all: Vec<Self> = all.into_iter().flatten().filter(|runs| runs.longest.len() > 2).collect();
        for runs in &mut all {
            for run in 1..runs.longest.len() {
                runs.longest[run] = runs.longest[run].max(runs.longest[run - 1]);
            }
        }
        all
    }

    /// The longest token that begins a text, which begins with this byte: its length, 0 if there is none, and its number.
    fn longest_at(&self, text: &[u8]) -> (usize, usize) {
        let run = text.iter().take(self.longest.len() - 1).take_while(|&&byte| byte == self.byte).count();
        let (length, number) = self.longest[run];
        (length.into(), number as usize)
    }
}

/// The characters of tokens as they are spelled.
#[derive(Default)]
struct Meets {
    /// Those one behind the other.
    pairs: FxHashSet<(char, char)>,
    /// Those that are not the first of a token.
    inside: FxHashSet<char>,
    last: FxHashSet<char>,
    first: FxHashSet<char>,
}

impl Meets {
    fn new(spelled: &[String]) -> Self {
        let mut meets = Self::default();
        for token in spelled {
            let (next, mut last) = (token.chars().skip(1), None);
            for (left, right) in token.chars().zip(next) {
                meets.pairs.insert((left, right));
                meets.inside.insert(right);
                last = Some(right);
            }
            meets.first.extend(token.chars().next());
            meets.last.extend(last.or_else(|| token.chars().next()));
        }
        meets
    }
}

/// States that a table may have, of at most 1 KB each.
const MOST_STATES: usize = 1 << 14;

/// Whether one of these tokens begins as words or lines do, and a table of all is not large.
fn begins_often(spelled: &[String]) -> bool {
    let often = |token: &String| token.starts_with(|first: char| first.is_whitespace() || first == '\u{2581}');
    if !spelled.iter().any(often) {
        return false;
    }
    let mut sorted: Vec<&[u8]> = spelled.iter().map(String::as_bytes).collect();
    sorted.sort_unstable();
    let mut before: &[u8] = &[];
    let mut states = 0;
    for token in sorted {
        states += token.len() - token.iter().zip(before).take_while(|(one, other)| one == other).count();
        before = token;
    }
    states <= MOST_STATES
}

impl Matcher {
    /// A matcher of these tokens as `spelled` in the texts to come; None where there are none.
    ///
    /// # Errors
    /// `Format`, if the tokens are too long together for one automaton.
    pub fn new(tokens: Vec<AddedToken>, spelled: impl Fn(&str) -> Result<String>) -> Result<Option<Self>> {
        if tokens.is_empty() {
            return Ok(None);
        }
        let mut spelled: Vec<String> = tokens.iter().map(|token| spelled(&token.content)).collect::<Result<_>>()?;
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostLongest);
        let is_stepwise = begins_often(&spelled);
        if is_stepwise {
            // A prefilter for first bytes would stop everywhere; a table takes one step a byte.
            builder.prefilter(false).kind(Some(AhoCorasickKind::DFA));
        }
        let begin = Begin::new(&spelled);
        let automaton = builder
            .build(&spelled)
            .map_err(|error| Error::new(Kind::Format, format!("the added tokens cannot be compiled: {error}")))?;
        let runs = Runs::all(&spelled);
        spelled.sort_unstable();
        let (mut starts, mut pairs) = (Box::new([false; 256]), Box::new([0; 1024]));
        for token in spelled.iter().map(String::as_bytes) {
            let Some(&first) = token.first() else { continue };
            starts[usize::from(first)] = true;
            let seconds = token.get(1).map_or(0..=u8::MAX, |&second| second..=second);
            for second in seconds {
                let pair = usize::from(u16::from_le_bytes([first, second]));
                pairs[pair / 64] |= 1 << (pair % 64);
            }
        }
        let meets = Meets::new(&spelled);
        let minds_context = tokens.iter().any(|token| token.single_word || token.lstrip || token.rstrip);
        Ok(Some(Self { tokens, automaton, begin, is_stepwise, spelled, starts, pairs, runs, minds_context, meets }))
    }

    /// The token with this number.
    #[must_use]
    pub fn token(&self, number: usize) -> &AddedToken {
        &self.tokens[number]
    }

    /// Whether the place or the extent of a match depends on the text around it.
    pub(crate) fn minds_context(&self) -> bool {
        self.minds_context
    }

    /// Whether a token may start with this byte.
    #[inline]
    pub(crate) fn may_start(&self, byte: u8) -> bool {
        self.starts[usize::from(byte)]
    }

    /// Whether a token, even one hidden by another, extends across a place of a text.
    pub(crate) fn is_across(&self, text: &[u8], place: usize) -> bool {
        (place.saturating_sub(self.longest())..place).any(|start| start + self.longest_at(&text[start..]) > place)
    }

    /// Whether a token, even one hidden by another, extends across a place of a text, or ends or begins there.
    pub(crate) fn touches(&self, text: &[u8], place: usize) -> bool {
        let touches = |start: usize| match self.longest_at(&text[start..]) {
            0 => false,
            length => start + length >= place,
        };
        (place.saturating_sub(self.longest())..=place.min(text.len() - 1)).any(touches)
    }

    /// The length of the longest token that begins a text, in bytes; 0 if there is none.
    #[inline]
    pub(crate) fn longest_at(&self, text: &[u8]) -> usize {
        self.runs_at(text).map_or_else(|| self.longest_of_others(text), |runs| runs.longest_at(text).0)
    }

    /// The same, where no runs are it.
    #[inline]
    fn longest_of_others(&self, text: &[u8]) -> usize {
        match text {
            [first, second, ..] if self.starts[usize::from(*first)] => {
                let pair = usize::from(u16::from_le_bytes([*first, *second]));
                if self.pairs[pair / 64] >> (pair % 64) & 1 == 0 { 0 } else { self.look_for_longest(text) }
            }
            [first] if self.starts[usize::from(*first)] => self.look_for_longest(text),
            _ => 0,
        }
    }

    /// The runs of which the longest that begins a text is the longest token that does.
    #[inline]
    fn runs_at(&self, text: &[u8]) -> Option<&Runs> {
        let first = text.first()?;
        let runs = self.runs.iter().find(|runs| runs.byte == *first)?;
        (runs.are_all || text.get(1) == Some(first)).then_some(runs)
    }

    /// As [`Matcher::longest_at`]. A token that begins the text sorts behind one that parts from it sooner: so the last one
    /// that does not sort behind the text is the one, or no longer one begins as the text goes on where they part.
    fn look_for_longest(&self, mut text: &[u8]) -> usize {
        loop {
            let behind = self.spelled.partition_point(|token| token.as_bytes() <= text);
            let Some(token) = behind.checked_sub(1).map(|at| self.spelled[at].as_bytes()) else { return 0 };
            let common = token.iter().zip(text).take_while(|(one, other)| one == other).count();
            if common == token.len() {
                return common;
            }
            text = &text[..common];
        }
    }

    /// Whether a token may extend across a place between two characters, of which the left one may be any; `apart`, also
    /// whether one may end or begin there.
    pub(crate) fn may_meet(&self, left: Option<char>, right: char, apart: bool) -> bool {
        let Meets { pairs, inside, last, first } = &self.meets;
        match left {
            // It cannot end or begin beside a character that is not known.
            None => apart || inside.contains(&right),
            Some(left) => pairs.contains(&(left, right)) || apart && (last.contains(&left) || first.contains(&right)),
        }
    }

    /// Whether a token may have a character.
    pub(crate) fn may_have(&self, character: char) -> bool {
        self.meets.inside.contains(&character) || self.meets.first.contains(&character)
    }

    /// The first place of a text, at `from` or later, where a token may have begun that more text would complete.
    pub(crate) fn open(&self, text: &[u8], from: usize) -> Option<usize> {
        let from = from.max(text.len().saturating_sub(self.longest() - 1));
        (from..text.len()).find(|&start| {
            let rest = &text[start..];
            self.may_start(rest[0]) && {
                let next = self.spelled.partition_point(|token| token.as_bytes() <= rest);
                self.spelled.get(next).is_some_and(|token| token.as_bytes().starts_with(rest))
            }
        })
    }

    /// The first place in a range of a text where a token begins, even one hidden by another, and the length of the longest.
    pub(crate) fn next_at(&self, text: &[u8], range: Range<usize>) -> Option<(usize, usize)> {
        let (mut at, mut seen) = (range.start, SeenBlock::default());
        // Where one begins, others often follow.
        if at < range.end
            && let length @ 1.. = self.longest_at(&text[at..])
        {
            return Some((at, length));
        }
        loop {
            let start = match &self.begin {
                Some(begin) => begin.find_in(text, at..range.end, &mut seen)?,
                None => at + text.get(at..range.end)?.iter().position(|&byte| self.may_start(byte))?,
            };
            let length = self.longest_at(&text[start..]);
            if length > 0 {
                return Some((start, length));
            }
            at = start + 1;
        }
    }

    /// The longest token that begins a text.
    pub(crate) fn longest_at_start<'t>(&self, text: &'t str) -> Option<&'t str> {
        text.get(..self.longest_at(text.as_bytes())).filter(|token| !token.is_empty())
    }

    /// The length of the longest token as it is spelled, in bytes.
    pub(crate) fn longest(&self) -> usize {
        self.automaton.max_pattern_len()
    }

    /// The tokens in `text`, in order, none overlapping another.
    pub fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Found> + 'a {
        let (mut at, mut last_end, mut seen) = (0, 0, SeenBlock::default());
        let all = std::iter::from_fn(move || {
            let found = self.longest_from(text, at, &mut seen)?;
            at = found.end;
            Some(found)
        });
        all.filter_map(move |found| {
            let found = self.taken(text, found, last_end)?;
            last_end = found.end;
            Some(found)
        })
    }

    /// The longest of the leftmost tokens in a text from a place on, as they are spelled.
    #[inline]
    fn longest_from(&self, text: &str, mut at: usize, seen: &mut SeenBlock) -> Option<Found> {
        let Some(begin) = self.begin.as_ref().filter(|_| self.is_stepwise) else {
            return self.find_in(text, at..text.len());
        };
        loop {
            let start = begin.find_in(text.as_bytes(), at..text.len(), seen)?;
            let rest = &text.as_bytes()[start..];
            if let Some(runs) = self.runs_at(rest) {
                let (length, token) = runs.longest_at(rest);
                if length > 0 {
                    return Some(Found { start, end: start + length, token });
                }
            } else if let length @ 1.. = self.longest_of_others(rest) {
                return self.find_in(text, start..start + length);
            }
            at = start + 1;
        }
    }

    /// The same by the automaton, of tokens in a range.
    fn find_in(&self, text: &str, range: Range<usize>) -> Option<Found> {
        let found = self.automaton.find(Input::new(text).span(range))?;
        Some(Found { start: found.start(), end: found.end(), token: found.pattern().as_usize() })
    }

    /// As [`Matcher::find`], with only those tokens at those places that `admits` accepts. Time: linear, but
    /// for places at which it refuses several tokens, each of which is looked for.
    pub(crate) fn find_admitted<'a>(
        &'a self,
        text: &'a str,
        admits: impl Fn(&AddedToken, Range<usize>) -> bool + 'a,
    ) -> impl Iterator<Item = Found> + 'a {
        let (mut at, mut last_end, mut seen) = (0, 0, SeenBlock::default());
        std::iter::from_fn(move || {
            loop {
                let longest = self.longest_from(text, at, &mut seen)?;
                let start = longest.start;
                let shorter =
                    |found: &Found| self.find_in(text, start..found.end - 1).filter(|found| found.start == start);
                let admitted = std::iter::successors(Some(longest), shorter)
                    .find(|found| admits(&self.tokens[found.token], start..found.end));
                at = match &admitted {
                    Some(found) => found.end,
                    None => start + text[start..].chars().next().map_or(1, char::len_utf8),
                };
                if let Some(found) = admitted.and_then(|found| self.taken(text, found, last_end)) {
                    last_end = found.end;
                    return Some(found);
                }
            }
        })
    }

    /// The extent of a match by its token's flags, if the match before ends at `last_end`.
    fn taken(&self, text: &str, found: Found, last_end: usize) -> Option<Found> {
        let token = &self.tokens[found.token];
        let Found { mut start, mut end, .. } = found;
        let inside_a_word = || {
            text[..start].chars().next_back().is_some_and(is_word) || text[end..].chars().next().is_some_and(is_word)
        };
        // An earlier token may have taken the white space that this one starts with.
        if start < last_end || token.single_word && inside_a_word() {
            return None;
        }
        if token.lstrip {
            start = last_end + text[last_end..start].trim_end().len();
        }
        if token.rstrip {
            end = text.len() - text[end..].trim_start().len();
        }
        Some(Found { start, end, token: found.token })
    }
}

/// Whether `\w` matches a character.
fn is_word(character: char) -> bool {
    regex_syntax::is_word_character(character)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn token(content: &str) -> AddedToken {
        AddedToken { content: content.to_owned(), ..AddedToken::default() }
    }

    fn found(tokens: Vec<AddedToken>, text: &str) -> Vec<&str> {
        let matcher = Matcher::new(tokens, |content| Ok(content.to_owned())).unwrap().unwrap();
        matcher.find(text).map(|found| &text[found.start..found.end]).collect()
    }

    #[test]
    fn the_longest_of_the_leftmost_wins() {
        assert_eq!(found(vec![token("<a"), token("<a>"), token("a>b")], "x<a>b<a"), ["<a>", "<a"]);
    }

    #[test]
    fn tokens_that_begin_as_words_do_are_found_many_places_at_a_time() {
        let (pairs, bytes): (&[&str], &[&str]) =
            (&["  ", "    ", "\n\n", " \n", "aa", "  a"], &["\n", "\n\n", "  ", "ab"]);
        for all in [pairs, &["  a", " \n", "\n\na", "aab"], bytes] {
            let tokens = all.iter().copied().map(token).collect();
            let matcher = Matcher::new(tokens, |content| Ok(content.to_owned())).unwrap().unwrap();
            let of_pairs = matches!(matcher.begin, Some(Begin::Pairs(_)));
            assert_eq!(of_pairs, all != bytes && Searcher::new(["ab"]).is_some());
            assert!(matcher.begin.is_some());
            for number in 0..4_u32.pow(7) {
                let letter = |at| [' ', '\n', 'a', 'b'][(number / 4_u32.pow(at) % 4) as usize];
                is_found(&matcher, all, &(0..7).map(letter).collect::<String>(), number as usize % 70);
            }
        }
    }

    /// All tokens of a text are found, with other text around it of which so many letters are on one side.
    fn is_found(matcher: &Matcher, all: &[&str], text: &str, letters: usize) {
        let (mut expected, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let longest = all.iter().filter(|token| text[at..].starts_with(**token)).map(|token| token.len()).max();
            expected.extend(longest.map(|longest| at..at + longest));
            at += longest.unwrap_or(1);
        }
        let filler = "c".repeat(70);
        for (before, behind) in [("", ""), (&filler[..letters], &*filler), (&*filler, &filler[..letters])] {
            let whole = format!("{before}{text}{behind}");
            let found: Vec<_> = matcher.find(&whole).map(|found| found.start..found.end).collect();
            let placed = expected.iter().map(|place| place.start + before.len()..place.end + before.len());
            assert_eq!(found, placed.collect::<Vec<_>>(), "{whole:?}");
        }
    }

    #[test]
    fn what_is_not_admitted_hides_nothing() {
        let tokens = ["<a>", "<a>b", "b<c", "<c>", ">"].map(token).to_vec();
        let matcher = Matcher::new(tokens, |content| Ok(content.to_owned())).unwrap().unwrap();
        let text = "<a>b<c>b<a>b";
        let within = |trusted: Range<usize>| {
            let admitted =
                matcher.find_admitted(text, move |_, place| trusted.start <= place.start && place.end <= trusted.end);
            admitted.map(|found| (found.start, found.end)).collect::<Vec<_>>()
        };
        assert_eq!(within(0..12), [(0, 4), (4, 7), (8, 12)]);
        assert_eq!(within(0..3), [(0, 3)]);
        assert_eq!(within(1..7), [(2, 3), (3, 6), (6, 7)]);
        assert_eq!(within(4..12), [(4, 7), (8, 12)]);
        assert_eq!(within(5..5), []);
        let all: Vec<_> = matcher.find(text).map(|found| (found.start, found.end)).collect();
        assert_eq!(within(0..12), all);
    }

    #[test]
    fn tokens_are_seen_while_they_come() {
        let matcher = Matcher::new(vec![token("<a>"), token("<a>>"), token("a>b")], |content| Ok(content.to_owned()))
            .unwrap()
            .unwrap();
        let open = |text: &str| matcher.open(text.as_bytes(), 0);
        assert_eq!(
            [open("x<"), open("x<a"), open("x<a>"), open("x<a>>"), open("x"), open("")],
            [Some(1), Some(1), Some(1), None, None, None]
        );
        assert_eq!((open("<a>b"), matcher.open(b"<a", 1)), (None, Some(1)));
        assert!(matcher.is_across(b"x<a>", 2) && !matcher.is_across(b"x<a>", 1) && !matcher.is_across(b"x<a>", 4));
        assert_eq!(matcher.longest_at_start("<a>>>"), Some("<a>>"));
    }

    #[test]
    fn the_longest_at_a_place_is_the_longest_that_begins_there() {
        let all = [" ", "  ", "   ", "     ", "a", "aa", "aab", " a", "  a", "aaaa"];
        let texts: Vec<String> = (0..3_u32.pow(6))
            .map(|number| (0..6).map(|place| [' ', 'a', 'b'][(number / 3_u32.pow(place) % 3) as usize]).collect())
            .collect();
        for chosen in (1..1_u32 << all.len()).step_by(7) {
            let spelled = (0..all.len()).filter(|at| chosen >> at & 1 == 1).map(|at| all[at]);
            let tokens = spelled.clone().map(token).collect();
            let matcher = Matcher::new(tokens, |content| Ok(content.to_owned())).unwrap().unwrap();
            for text in texts.iter().flat_map(|text| [&text[..], &text[4..], &text[5..]]) {
                let longest = spelled.clone().filter(|token| text.starts_with(token)).map(str::len).max();
                assert_eq!(matcher.longest_at(text.as_bytes()), longest.unwrap_or(0), "{chosen} {text:?}");
            }
        }
    }

    #[test]
    fn flags_take_white_space_and_mind_words() {
        let strip = AddedToken { lstrip: true, rstrip: true, ..token("<m>") };
        assert_eq!(found(vec![strip.clone()], "a \t<m> <m>\nb"), [" \t<m> ", "<m>\n"]);
        assert_eq!(found(vec![strip, token("\n")], "<m>\n\n"), ["<m>\n\n"]);
        let word = AddedToken { single_word: true, ..token("cat") };
        assert_eq!(found(vec![word], "cat cats écat cat"), ["cat", "cat"]);
    }
}
