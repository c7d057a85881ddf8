//! The usual split patterns, as a few parameters.
//!
//! The patterns in use are one family: contractions, letters with something in front, digits, punctuation, line ends,
//! white space, which may be left out. [`Family::of`] reads the parameters out of a pattern's alternatives, whatever its name or spelling, by
//! comparing the ASCII characters that each part takes; a pattern with any other part has none, and is run one character
//! at a time. [`Family::starts`] finds the pieces of 64 bytes at once.
//!
//! Long because what is read out of a pattern and what is done with it belong together, parameter by parameter.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::alternatives;
use super::masks::Masks;
use crate::eight_bytes::bits as bits_of;

/// The optional character before letters that belongs to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    /// None, nor any before punctuation: no match has white space.
    None,
    /// One space.
    Blank,
    /// One character that is no letter, digit or line end.
    Any,
}

/// How digits are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digits {
    /// Each alone.
    One,
    /// Up to three, from the left.
    Three,
    /// As many as there are.
    Run,
    /// As many as there are, with a space in front.
    BlankRun,
}

/// Which apostrophes make `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` a part of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contractions {
    /// None.
    None,
    /// They are pieces.
    Pieces {
        /// Upper case as well.
        any_case: bool,
    },
    /// In either case they belong to the letters before them.
    Suffixes,
}

/// The characters after punctuation that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    None,
    LineEnds,
    LineEndsAndSlashes,
}

/// The parameters of one pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Family {
    /// The first two characters of strings that match before all else, as special tokens do in the pattern of CLIP.
    strings: Option<[u8; 2]>,
    contractions: Contractions,
    prefix: Prefix,
    /// Whether letters are cut where upper case follows lower case.
    cut_at_case: bool,
    digits: Digits,
    tail: Tail,
    /// Whether white space up to its last line end is a piece.
    line_ends: bool,
    /// Whether digits and control characters are left to the automaton: they are no punctuation here.
    only_text: bool,
}

/// The starts of pieces that a block decides.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// Where pieces start, as bits; those that the block decides, without its first byte.
    pub(super) starts: u64,
    /// If there are none: where in the first piece a block may begin in its turn, which finds the end of that piece; 0 if nowhere.
    pub(super) goes_on: usize,
}

/// Sets of ASCII characters, as bits.
mod ascii {
    pub(super) const UPPER: u128 = range(b'A', b'Z');
    pub(super) const LOWER: u128 = range(b'a', b'z');
    pub(super) const LETTER: u128 = UPPER | LOWER;
    pub(super) const DIGIT: u128 = range(b'0', b'9');
    pub(super) const LINE_END: u128 = 1 << b'\n' | 1 << b'\r';
    pub(super) const BLANK: u128 = 1 << b' ';
    pub(super) const SPACE: u128 = range(b'\t', b'\r') | BLANK;
    pub(super) const SLASH: u128 = 1 << b'/';
    pub(super) const OTHER: u128 = !(LETTER | DIGIT | SPACE);
    pub(super) const PUNCTUATION: u128 = OTHER & range(b'!', b'~');

    pub(super) const fn range(first: u8, last: u8) -> u128 {
        (u128::MAX >> (127 - last)) & (u128::MAX << first)
    }
}

/// A part of an alternative as far as ASCII text is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// So many characters of a set, as many as there are.
    Some { set: u128, least: u32, most: Option<u32> },
    /// One of some strings; none of them, if it is optional.
    Words { words: BTreeSet<String>, optional: bool },
    /// The end of the text.
    End,
}

/// One character at most, one or more, any number.
const fn optional(set: u128) -> Part {
    Part::Some { set, least: 0, most: Some(1) }
}
const fn some(set: u128) -> Part {
    Part::Some { set, least: 1, most: None }
}
const fn any(set: u128) -> Part {
    Part::Some { set, least: 0, most: None }
}
const fn one(set: u128) -> Part {
    Part::Some { set, least: 1, most: Some(1) }
}

impl Digits {
    fn parts(self) -> Vec<Part> {
        match self {
            Self::One => vec![one(ascii::DIGIT)],
            Self::Three => vec![Part::Some { set: ascii::DIGIT, least: 1, most: Some(3) }],
            Self::Run => vec![some(ascii::DIGIT)],
            Self::BlankRun => vec![optional(ascii::BLANK), some(ascii::DIGIT)],
        }
    }
}

impl Family {
    /// The parameters of the pattern that has these alternatives; None if it is not of the family.
    pub(super) fn of(alternatives: &[String]) -> Option<Self> {
        let parsed: Vec<(Vec<Part>, bool)> = alternatives.iter().map(|text| parse(text)).collect::<Option<_>>()?;
        // An alternative that needs a character outside ASCII never matches ASCII text.
        let beyond = |(parts, _): &(Vec<Part>, bool)| {
            parts.iter().any(|part| matches!(part, Part::Some { set: 0, least: 1.., .. }))
        };
        let is_of_ascii = !parsed.iter().any(beyond);
        let mut rest = parsed.into_iter().filter(|alternative| !beyond(alternative)).peekable();
        let strings = rest.peek().and_then(|(parts, _)| starts_of_strings(parts));
        while strings.is_some() && rest.next_if(|(parts, _)| starts_of_strings(parts) == strings).is_some() {}
        let ways = [Digits::One, Digits::Three, Digits::Run, Digits::BlankRun];
        let mut digits = ways.into_iter().find(|way| rest.next_if_eq(&(way.parts(), false)).is_some());
        // Each contraction may be an alternative of its own, in any order: none is the beginning of another.
        let mut pieces = BTreeSet::new();
        let is_word = |(parts, no_text_next): &(Vec<Part>, bool)| {
            !no_text_next && matches!(**parts, [Part::Words { optional: false, .. }])
        };
        while let Some((parts, _)) = rest.next_if(is_word) {
            pieces.extend(parts.into_iter().flat_map(|part| match part {
                Part::Words { words, .. } => words,
                _ => BTreeSet::new(),
            }));
        }
        let mut contractions = Contractions::None;
        if !pieces.is_empty() {
            let any_case = [true, false].into_iter().find(|&any_case| pieces == contraction_words(any_case))?;
            contractions = Contractions::Pieces { any_case };
        }
        let mut next_is = |expected: &[Part], no_text_next: bool| {
            rest.next_if(|(parts, look)| parts == expected && *look == no_text_next).is_some()
        };

        // DeepSeek's spelling of a character in front of letters, after another pattern has taken the digits out.
        let only_text = next_is(&[one(ascii::PUNCTUATION), some(ascii::LETTER)], false);
        let mut letters = None;
        if only_text {
            let before = optional(!(ascii::LINE_END | ascii::LETTER | ascii::PUNCTUATION));
            letters = next_is(&[before, some(ascii::LETTER)], false).then_some((Prefix::Any, false, false));
            digits = digits.or(Some(Digits::Run));
        }
        if letters.is_none() && next_is(&[some(ascii::LETTER)], false) {
            letters = Some((Prefix::None, false, false));
        }
        let suffix = Part::Words { words: contraction_words(true), optional: true };
        let prefixes =
            [(Prefix::Blank, ascii::BLANK), (Prefix::Any, !(ascii::LINE_END | ascii::LETTER | ascii::DIGIT))];
        for ((prefix, set), suffixed) in prefixes.into_iter().flat_map(|prefix| [(prefix, false), (prefix, true)]) {
            if letters.is_some() {
                break;
            }
            let with = |parts: &[Part]| {
                let suffix = suffixed.then(|| suffix.clone());
                [optional(set)].into_iter().chain(parts.iter().cloned()).chain(suffix).collect::<Vec<_>>()
            };
            if next_is(&with(&[some(ascii::LETTER)]), false) {
                letters = Some((prefix, false, suffixed));
            } else if next_is(&with(&[any(ascii::UPPER), some(ascii::LOWER)]), false) {
                if !next_is(&with(&[some(ascii::UPPER), any(ascii::LOWER)]), false) {
                    return None;
                }
                letters = Some((prefix, true, suffixed));
            }
        }
        let (prefix, cut_at_case, suffixed) = letters?;
        if suffixed {
            if contractions != Contractions::None {
                return None;
            }
            contractions = Contractions::Suffixes;
        }
        digits = digits.or_else(|| ways.into_iter().find(|way| next_is(&way.parts(), false)));
        let tail = [
            (Tail::None, None),
            (Tail::LineEnds, Some(ascii::LINE_END)),
            (Tail::LineEndsAndSlashes, Some(ascii::LINE_END | ascii::SLASH)),
        ]
        .into_iter()
        .find_map(|(tail, set)| {
            let other = if only_text { ascii::PUNCTUATION } else { ascii::OTHER };
            let blank = (prefix != Prefix::None).then_some(optional(ascii::BLANK));
            let parts: Vec<Part> = blank.into_iter().chain([some(other)]).chain(set.map(any)).collect();
            next_is(&parts, false).then_some(tail)
        })?;
        let mut line_ends = false;
        let is_whole = if prefix == Prefix::None {
            is_of_ascii && !only_text && tail == Tail::None && digits != Some(Digits::BlankRun)
        } else {
            // White space that ends the text is not decided here.
            next_is(&[some(ascii::SPACE), Part::End], false);
            line_ends = next_is(&[any(ascii::SPACE), some(ascii::LINE_END)], false)
                || next_is(&[any(ascii::SPACE), one(ascii::LINE_END)], false);
            let spaces = next_is(&[some(ascii::SPACE)], true)
                && (next_is(&[some(ascii::SPACE)], false) || next_is(&[one(ascii::SPACE)], false));
            spaces && (tail == Tail::None || line_ends)
        };
        if !is_whole || rest.next().is_some() {
            return None;
        }
        Some(Self { strings, contractions, prefix, cut_at_case, digits: digits?, tail, line_ends, only_text })
    }

    /// Whether each character that begins a match is one by itself.
    pub(super) fn matches_characters(self) -> bool {
        self.prefix == Prefix::None
    }

    /// Where pieces start in a block whose first byte starts one. Bytes of which nothing is known end what the block decides.
    ///
    /// A run of one kind of character starts a piece unless what stands before it takes it in; then come the cuts
    /// within runs. Shifting a mask to the left asks what the byte before is, to the right what the next one is. Where characters
    /// have several bytes, an addition carries a bit past those inside of its character.
    #[inline(always)]
    pub(super) fn starts(self, masks: &Masks, block: &[u8; 64]) -> Found {
        let Masks { upper, lower, either, digit, space, line_end, blank, other, apostrophe, inside, .. } = *masks;
        let letter = upper | lower | either;
        // Where the characters begin that follow some.
        let after = |set: u64| (set << 1).wrapping_add(inside) & !inside;
        // The same for kinds that are of ASCII alone.
        let run_start = |run: u64| run & !(run << 1);
        let mut unknown = masks.unknown;
        if self.only_text {
            unknown |= digit | masks.control;
        }
        if let Some([first, second]) = self.strings {
            let is = |byte: u8| bits_of(&block.map(|other| u8::from(other == byte)));
            unknown |= is(first) & is(second) >> 1;
        }

        let (after_letter, after_other) = (after(letter), after(other));
        let mut letter_start = letter & !after_letter;
        let mut other_start = other & !after_other;
        if self.prefix != Prefix::None {
            other_start &= !(blank << 1);
        }
        match self.prefix {
            Prefix::None => {}
            Prefix::Blank => letter_start &= !(blank << 1),
            // Punctuation that starts a piece and is alone goes with letters.
            Prefix::Any => letter_start &= !((space & !line_end) << 1 | after(other_start)),
        }
        let mut space_start = run_start(space);
        if self.tail != Tail::None {
            space_start &= !(line_end & after_other);
        }
        if self.tail == Tail::LineEndsAndSlashes {
            unknown |= masks.slash & (line_end << 1);
        }
        let mut starts = letter_start | other_start | space_start;
        starts |= match self.digits {
            Digits::One => digit,
            Digits::Three => {
                let mut cut = run_start(digit);
                let mut cuts = cut;
                let inside = digit & (digit << 1) & (digit << 2) & (digit << 3);
                while inside & (cut << 3) != 0 {
                    cut = inside & (cut << 3);
                    cuts |= cut;
                }
                cuts
            }
            Digits::Run => run_start(digit),
            Digits::BlankRun => run_start(digit) & !(blank << 1),
        };
        if self.line_ends {
            // The last of some spaces before text starts a piece; so does what follows the last line end.
            let gap = space & !line_end;
            starts |= gap & !(gap >> 1) & !(line_end >> 1);
            let after_line_end = gap & (line_end << 1);
            starts |= after_line_end;
            // Where line ends come after that, it was not the last: rare, and left to the automaton.
            unknown |= gap.wrapping_add(after_line_end) & !gap & line_end;
        } else if self.prefix != Prefix::None {
            starts |= space & !(space >> 1);
        }
        if self.cut_at_case {
            starts |= upper & after(lower);
            // The piece ends before upper case if more of it is all that follows, not if lower case does: rare.
            unknown |= upper & after(either) | masks.mark & after_other;
        }
        if apostrophe != 0 {
            match self.contractions {
                Contractions::None => {}
                Contractions::Pieces { any_case } => {
                    for at in bits(apostrophe & other_start & (letter >> 1)) {
                        if let Some(length) = contraction(block, at, any_case) {
                            let end = bit(at + length);
                            starts = starts & !(end.wrapping_sub(bit(at + 1))) | end;
                        }
                    }
                }
                Contractions::Suffixes => {
                    for at in bits(apostrophe & after_letter & (letter >> 1)) {
                        if let Some(length) = contraction(block, at, true) {
                            let end = bit(at + length);
                            starts = starts & !(end.wrapping_sub(bit(at))) | end;
                            // A second one does not belong to the word.
                            unknown |= end & apostrophe;
                        }
                    }
                }
            }
        }

        // A start is decided when the next two bytes are known, and one within or after white space only where the
        // white space ends.
        let known = unknown.trailing_zeros();
        if known < 4 {
            return Found { starts: 0, goes_on: 0 };
        }
        let mut decided = (1_u64 << (known - 2)) - 1;
        if space >> (known - 1) & 1 == 1 {
            let text = !space & ((1_u64 << (known - 1)) - 1);
            decided &= 1_u64.checked_shl(65 - text.leading_zeros()).map_or(u64::MAX, |above| above - 1);
        }
        starts &= decided & !1;
        // A piece goes on from a letter as if it began there, unless that belongs to a contraction, which ends the piece.
        let in_contractions = apostrophe << 1 | apostrophe << 2;
        let goes_on = if starts == 0 { letter & !in_contractions & decided } else { 0 };
        Found { starts, goes_on: goes_on.checked_ilog2().unwrap_or(0) as usize }
    }
}

/// The places of the bits, from the lowest.
#[inline(always)]
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (at < 64).then_some(at)
    })
}

/// The bit for a place, none beyond the block.
#[inline(always)]
fn bit(at: usize) -> u64 {
    1_u64.checked_shl(at as u32).unwrap_or(0)
}

/// The length of the contraction whose apostrophe is at `at`.
#[inline(always)]
fn contraction(block: &[u8; 64], at: usize, any_case: bool) -> Option<usize> {
    let byte = |at: usize| {
        let byte = block.get(at).copied().unwrap_or(0);
        if any_case { byte.to_ascii_lowercase() } else { byte }
    };
    match (byte(at + 1), byte(at + 2)) {
        (b's' | b't' | b'm' | b'd', _) => Some(2),
        (b'r' | b'v', b'e') | (b'l', b'l') => Some(3),
        _ => None,
    }
}

/// The contractions of English that the patterns know, with all spellings in upper case.
fn contraction_words(any_case: bool) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for word in ["s", "t", "m", "d", "re", "ve", "ll"] {
        for upper in 0..if any_case { 1 << word.len() } else { 1 } {
            let cased = word
                .char_indices()
                .map(|(at, letter)| if upper >> at & 1 == 1 { letter.to_ascii_uppercase() } else { letter });
            words.insert(std::iter::once('\'').chain(cased).collect());
        }
    }
    words
}

/// The first two characters of a string, if they are punctuation, and not an apostrophe.
fn start_of_string(string: &str) -> Option<[u8; 2]> {
    let start = *string.as_bytes().first_chunk::<2>()?;
    let is_one = |byte: u8| byte.is_ascii() && ascii::PUNCTUATION >> byte & 1 == 1 && byte != b'\'';
    start.into_iter().all(is_one).then_some(start)
}

/// The same of the strings that an alternative is, if it is the same of all.
fn starts_of_strings(parts: &[Part]) -> Option<[u8; 2]> {
    let [Part::Words { words, optional: false }] = parts else { return None };
    let start = start_of_string(words.first()?)?;
    words.iter().all(|word| start_of_string(word) == Some(start)).then_some(start)
}

/// An alternative as parts, and whether no text may come next; None if there is anything else in it.
fn parse(alternative: &str) -> Option<(Vec<Part>, bool)> {
    let body = alternative.strip_suffix(alternatives::NO_TEXT_NEXT);
    let hir = regex_syntax::parse(body.unwrap_or(alternative)).ok()?;
    let mut parts = Vec::new();
    let is_word = |word: &String| word.starts_with('\'') || start_of_string(word).is_some();
    if let Some(words) = words(&hir).filter(|words| words.iter().all(is_word)) {
        parts.push(Part::Words { words, optional: false });
    } else if let HirKind::Concat(several) = hir.kind() {
        for one in several {
            parts.push(part(one)?);
        }
    } else {
        parts.push(part(&hir)?);
    }
    Some((parts, body.is_some()))
}

fn part(hir: &Hir) -> Option<Part> {
    match hir.kind() {
        HirKind::Class(_) | HirKind::Literal(_) => Some(one(set(hir)?)),
        HirKind::Look(Look::End) => Some(Part::End),
        HirKind::Capture(capture) => part(&capture.sub),
        HirKind::Repetition(repetition) if repetition.greedy => {
            if let Some(set) = set(&repetition.sub) {
                return Some(Part::Some { set, least: repetition.min, most: repetition.max });
            }
            let words = words(&repetition.sub)?;
            (repetition.min == 0 && repetition.max == Some(1)).then_some(Part::Words { words, optional: true })
        }
        _ => None,
    }
}

/// The ASCII characters that a part takes, if it takes exactly one character.
fn set(hir: &Hir) -> Option<u128> {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(alternatives::ascii(class)),
        HirKind::Literal(literal) => match *literal.0 {
            [byte] if byte.is_ascii() => Some(1 << byte),
            _ => None,
        },
        HirKind::Capture(capture) => set(&capture.sub),
        _ => None,
    }
}

/// The ASCII strings that a part matches, if they are few.
fn words(hir: &Hir) -> Option<BTreeSet<String>> {
    const MOST: usize = 64;
    let words = match hir.kind() {
        HirKind::Class(_) => {
            let set = set(hir)?;
            (0..128_u8).filter(|&byte| set >> byte & 1 == 1).map(|byte| char::from(byte).to_string()).collect()
        }
        HirKind::Literal(literal) => BTreeSet::from([String::from_utf8(literal.0.to_vec()).ok()?]),
        HirKind::Capture(capture) => words(&capture.sub)?,
        HirKind::Concat(parts) => {
            let mut joined = BTreeSet::from([String::new()]);
            for part in parts {
                let ends = words(part)?;
                if joined.len() * ends.len() > MOST {
                    return None;
                }
                joined = joined.iter().flat_map(|start| ends.iter().map(move |end| format!("{start}{end}"))).collect();
            }
            joined
        }
        HirKind::Alternation(parts) => {
            parts.iter().map(words).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect()
        }
        _ => return None,
    };
    (words.len() <= MOST).then_some(words)
}
