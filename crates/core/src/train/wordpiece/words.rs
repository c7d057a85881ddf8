//! Counted pieces as the words that WordPiece learns from.
//!
//! What BERT does to text before it is cut depends on one character at a time, but for the order of combining marks, which
//! never passes white space. So it is done to each distinct piece, if white space is what pieces end at, and words that
//! become equal are counted together.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, HirKind};
use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;

use crate::error::Result;
use crate::train::counts::PieceCounts;
use crate::train::overflow;
use crate::train::spelled::for_each_piece;

/// Distinct words and how often they occur.
pub(super) type Counted = FxHashMap<Box<str>, u64>;

/// What BERT does to words: its normalizer, after which punctuation stands apart (`BertNormalizer` and `BertPreTokenizer`
/// in `tokenizers`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of BERT's normalizer")]
pub struct Bert {
    /// Removes control characters and U+FFFD.
    pub clean_text: bool,
    /// Makes each ideograph a word.
    pub handle_chinese_chars: bool,
    /// Decomposes characters and removes their marks.
    pub strip_accents: bool,
    /// Makes letters small.
    pub lowercase: bool,
}

/// The words of all pieces.
pub(super) fn words(counts: &PieceCounts, bert: Option<Bert>) -> Result<Counted> {
    let mut words = Counted::default();
    let mut normal = String::new();
    for_each_piece(counts, |piece, count| {
        let mut add = |word: &str| {
            if let Some(total) = words.get_mut(word) {
                *total = total.checked_add(count).ok_or_else(overflow)?;
            } else {
                words.insert(word.into(), count);
            }
            Ok(())
        };
        let Some(bert) = bert else { return piece.split_whitespace().try_for_each(add) };
        bert.normalize(piece, &mut normal);
        normal.split_whitespace().try_for_each(|stretch| {
            let mut start = 0;
            for (at, character) in stretch.char_indices().filter(|&(_, character)| is_punctuation(character)) {
                let end = at + character.len_utf8();
                [&stretch[start..at], &stretch[at..end]]
                    .into_iter()
                    .filter(|word| !word.is_empty())
                    .try_for_each(&mut add)?;
                start = end;
            }
            if start < stretch.len() { add(&stretch[start..]) } else { Ok(()) }
        })
    })?;
    Ok(words)
}

impl Bert {
    /// Writes the normalized piece in place of what is in `normal`.
    fn normalize(self, piece: &str, normal: &mut String) {
        normal.clear();
        let put = |character: char, normal: &mut String| {
            if self.lowercase {
                normal.extend(character.to_lowercase());
            } else {
                normal.push(character);
            }
        };
        if piece.is_ascii() {
            for character in piece.chars() {
                let kept = !self.clean_text || !character.is_ascii_control() || matches!(character, '\t' | '\n' | '\r');
                if kept {
                    normal.push(if self.lowercase { character.to_ascii_lowercase() } else { character });
                }
            }
            return;
        }
        let clean = piece.chars().filter(|&character| !self.clean_text || !is_removed(character));
        let spaced = clean.flat_map(|character| {
            let space = (self.handle_chinese_chars && is_ideograph(character)).then_some(' ');
            space.into_iter().chain([character]).chain(space)
        });
        if self.strip_accents {
            spaced.nfd().filter(|&part| !TABLES.marks.holds(part)).for_each(|part| put(part, normal));
        } else {
            spaced.for_each(|part| put(part, normal));
        }
    }
}

fn is_removed(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => false,
        '\u{FFFD}' => true,
        _ => TABLES.controls.holds(character),
    }
}

fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation() || (!character.is_ascii() && TABLES.punctuation.holds(character))
}

/// The blocks that BERT's normalizer names.
fn is_ideograph(character: char) -> bool {
    matches!(
        u32::from(character),
        0x3400..=0x4DBF
            | 0x4E00..=0x9FFF
            | 0xF900..=0xFAFF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B73F
            | 0x2B920..=0x2CEAF
            | 0x2F800..=0x2FA1F
    )
}

/// A class of characters.
struct Table(ClassUnicode);

struct Tables {
    controls: Table,
    marks: Table,
    punctuation: Table,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    controls: Table::new(r"[\p{Cc}\p{Cf}\p{Co}]"),
    marks: Table::new(r"\p{Mn}"),
    punctuation: Table::new(r"\p{P}"),
});

impl Table {
    fn new(pattern: &str) -> Self {
        match regex_syntax::parse(pattern).map(regex_syntax::hir::Hir::into_kind) {
            Ok(HirKind::Class(Class::Unicode(class))) => Self(class),
            _ => Self(ClassUnicode::empty()),
        }
    }

    fn holds(&self, character: char) -> bool {
        let ranges = self.0.ranges();
        let above = ranges.partition_point(|range| range.start() <= character);
        above > 0 && ranges[above - 1].end() >= character
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_the_words_of_bert() {
        let bert = Bert { clean_text: true, handle_chinese_chars: true, strip_accents: true, lowercase: true };
        let pieces = [("Caf\u{E9}!", 2), ("cafe", 3), ("a\u{4E00}b", 1), ("x\u{200B}\u{B}y\u{FFFD}", 4), ("--", 1)];
        let counts = PieceCounts::of(pieces.map(|(piece, count)| (piece.as_bytes(), count))).unwrap();
        let expected = [("cafe", 5), ("!", 2), ("a", 1), ("\u{4E00}", 1), ("b", 1), ("xy", 4), ("-", 2)];
        let expected: Counted = expected.into_iter().map(|(word, count)| (word.into(), count)).collect();
        assert_eq!(words(&counts, Some(bert)).unwrap(), expected);
        let kept = Bert { clean_text: false, handle_chinese_chars: false, strip_accents: false, lowercase: false };
        let expected = [("Caf\u{E9}", 2), ("!", 2), ("a\u{4E00}b", 1), ("cafe", 3), ("-", 2)];
        let found = words(&counts, Some(kept)).unwrap();
        assert!(expected.iter().all(|&(word, count)| found[word] == count), "{found:?}");
    }

    #[test]
    fn the_tables_are_there() {
        assert!(TABLES.marks.holds('\u{301}') && !TABLES.marks.holds('a'));
        assert!(TABLES.controls.holds('\u{E000}') && TABLES.punctuation.holds('\u{2014}'));
    }
}
