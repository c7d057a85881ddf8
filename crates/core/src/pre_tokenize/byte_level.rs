//! GPT-2's pre-tokenizer: a space in front, its split pattern, and a printable character for each byte.

use std::ops::Range;

use super::{Behavior, Matches, PreTokenized, behavior};
use crate::edge::Between;
use crate::eight_bytes::{WORD, bytes_within, words};
use crate::error::Result;
use crate::files::byte_alphabet::CHARACTERS;
use crate::normalize::spell;
use crate::split::matches::StatedPattern;
use crate::split::names;

#[derive(Clone)]
pub(super) struct ByteLevel {
    add_prefix_space: bool,
    /// The split pattern, if it is used.
    matches: Option<Matches>,
}

impl ByteLevel {
    pub(super) fn new(add_prefix_space: bool, use_regex: bool) -> Result<Self> {
        let matches = use_regex.then(|| Matches::new(&StatedPattern::Regex(names::GPT2.to_owned()))).transpose()?;
        Ok(Self { add_prefix_space, matches })
    }

    pub(super) fn cuts(&self) -> bool {
        self.matches.is_some()
    }

    /// The effect at a place, as [`PreTokenizer::between`] has it.
    ///
    /// [`PreTokenizer::between`]: super::PreTokenizer::between
    pub(super) fn between(&self, left: Option<char>, right: char) -> Between {
        if self.add_prefix_space && right != ' ' {
            return Between::Unknown;
        }
        let effect = match &self.matches {
            Some(matches) => behavior::between(matches, Behavior::Isolated, false, left, right),
            None => Between::Inside { left, right, joined: true },
        };
        match effect {
            Between::Inside { joined, .. } => {
                Between::Inside { left: left.map(last_spelled), right: first_spelled(right), joined }
            }
            effect => effect,
        }
    }

    /// The spelling of two characters that are in one piece in every text, as [`PreTokenizer::joins`] has it.
    ///
    /// [`PreTokenizer::joins`]: super::PreTokenizer::joins
    pub(super) fn joins(&self, left: &[char], right: char) -> Option<(char, char)> {
        let joins = |matches| behavior::joins(matches, Behavior::Isolated, false, left, right);
        let &last = left.last()?;
        self.matches.as_ref().is_none_or(joins).then(|| (last_spelled(last), first_spelled(right)))
    }

    pub(super) fn apply(&self, text: &mut PreTokenized) -> Result<()> {
        if self.add_prefix_space {
            text.respell(false, |edit, piece, pieces| {
                let start = edit.len();
                let first = edit.old()[piece.clone()].chars().next();
                if let Some(first) = first.filter(|&first| first != ' ') {
                    edit.put(' ', piece.start + first.len_utf8());
                    edit.insert_char(first);
                }
                edit.keep(piece.end);
                edit.cut(pieces, start);
            })?;
        }
        if let Some(matches) = &self.matches {
            // Most pieces that a step before this one made are one match, and none is cut.
            let is_one = |text: &str, piece: Range<usize>| {
                is_of_one_kind(text, piece.clone())
                    || matches.tiles().is_some_and(|pattern| pattern.is_one_match(&text[piece]))
            };
            text.cut_unless(is_one, |text, piece, pieces| {
                behavior::split(matches, Behavior::Isolated, false, text, piece, pieces)
            })?;
        }
        text.respell(true, |edit, piece, pieces| {
            let start = edit.len();
            if is_graphic(edit.old(), piece.clone()) {
                edit.keep(piece.end);
            } else {
                spell(edit, piece.end);
            }
            edit.cut(pieces, start);
        })
    }
}

/// Whether a piece is letters of ASCII alone, or its digits, or its punctuation: then the split pattern matches it whole.
#[inline(always)]
fn is_of_one_kind(text: &str, piece: Range<usize>) -> bool {
    let (mut letters, mut digits, mut signs) = (true, true, true);
    words(text.as_bytes(), piece, |word, counts| {
        let lower = word | u64::from_ne_bytes([b' '; WORD]);
        let [letter, digit] =
            [bytes_within(lower, b'a', b'z'), bytes_within(word, b'0', b'9')].map(|kind| kind & counts);
        letters &= letter == counts;
        digits &= digit == counts;
        signs &= bytes_within(word, b'!', b'~') & counts & !letter & !digit == counts;
    });
    letters | digits | signs
}

/// Whether the byte alphabet spells a piece as it is.
#[inline(always)]
fn is_graphic(text: &str, piece: Range<usize>) -> bool {
    let mut all = true;
    words(text.as_bytes(), piece, |word, counts| all &= bytes_within(word, b'!', b'~') & counts == counts);
    all
}

/// The character for the first byte of a character.
fn first_spelled(character: char) -> char {
    let mut buffer = [0; 4];
    let bytes = character.encode_utf8(&mut buffer).as_bytes();
    CHARACTERS[usize::from(bytes[0])]
}

/// The character for the last byte of a character.
fn last_spelled(character: char) -> char {
    let mut buffer = [0; 4];
    let bytes = character.encode_utf8(&mut buffer).as_bytes();
    CHARACTERS[usize::from(bytes[bytes.len() - 1])]
}
