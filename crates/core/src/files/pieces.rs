//! The pieces of a `SentencePiece` model, read without an object for each, and what follows from them.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::error::Result;
use crate::files::character_vocab::by_score;
use crate::files::{Columns, TextTable, Texts};

/// Cuts of a longer piece are not looked up one by one, which would take the square of its length.
const LONG: usize = 1 << 10;

/// The types of pieces, as models number them.
pub const NORMAL: u8 = 1;
/// The piece for what is unknown.
pub const UNKNOWN: u8 = 2;
/// Text never becomes it.
pub const CONTROL: u8 = 3;
/// Found in text before anything else.
pub const USER_DEFINED: u8 = 4;
/// Not in use.
pub const UNUSED: u8 = 5;
/// One byte of an unknown character.
pub const BYTE: u8 = 6;

/// The pieces of a model by id, no two of them equal.
#[derive(Debug)]
pub struct Pieces {
    texts: TextTable,
    scores: Vec<f64>,
    kinds: Vec<u8>,
}

/// The merges that scores imply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoredMerges {
    /// Pairs of ids, in rank order.
    pub pairs: Vec<(u32, u32)>,
    /// The number of merged pieces that share their score with another.
    pub equal: usize,
    /// The number of pieces with a character that is no piece.
    pub strange: usize,
    /// The first of these.
    pub first_strange: Option<u32>,
}

impl Pieces {
    /// Pieces with a score and a type each; None if two are equal, or the columns have different lengths.
    #[must_use]
    pub fn new(texts: Texts, scores: Vec<f64>, kinds: Vec<u8>) -> Option<Self> {
        let are_columns = texts.len() == scores.len() && texts.len() == kinds.len();
        Some(Self { texts: TextTable::new(texts).ok()?, scores, kinds }).filter(|_| are_columns)
    }

    /// The pieces of a model, and the ranges of bytes with its other fields; None if anything is unusual.
    ///
    /// A model is a message of Protocol Buffers; its field 1 is a piece, whose fields are 1 the text, 2 the score and 3 the
    /// type.
    ///
    /// ```
    /// use bytepair_core::files::pieces::{BYTE, Pieces};
    /// let (pieces, rest) = Pieces::read(b"\x0a\x0a\x0a\x01a\x15\0\0\x80\xbf\x18\x06\x12\x00").unwrap();
    /// assert_eq!((pieces.text(0), pieces.score(0), pieces.kind(0), rest), ("a", -1.0, BYTE, vec![12..14]));
    /// ```
    #[must_use]
    pub fn read(model: &[u8]) -> Option<(Self, Vec<Range<usize>>)> {
        let mut rest: Vec<Range<usize>> = Vec::new();
        let (mut texts, mut scores, mut kinds) = (Texts::with_capacity(0, model.len() / 2), Vec::new(), Vec::new());
        let mut at = 0;
        while at < model.len() {
            let start = at;
            let tag = number(model, &mut at)?;
            let length = match tag & 7 {
                0 => number(model, &mut at).map(|_| 0)?,
                1 => 8,
                2 => usize::try_from(number(model, &mut at)?).ok()?,
                5 => 4,
                _ => return None,
            };
            let value = at..at.checked_add(length)?;
            model.get(value.clone())?;
            at = value.end;
            match tag {
                // A piece as a number or as four bytes is damage, which is somebody else's to place.
                0x0A => {
                    let (text, score, kind) = piece(&model[value])?;
                    texts.push(text);
                    scores.push(f64::from(score));
                    kinds.push(kind);
                }
                _ if tag >> 3 <= 1 => return None,
                _ => match rest.last_mut() {
                    Some(last) if last.end == start => last.end = at,
                    _ => rest.push(start..at),
                },
            }
        }
        Some((Self::new(texts, scores, kinds)?, rest))
    }

    /// The number of pieces.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The text of the piece with this id.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn text(&self, id: u32) -> &str {
        self.texts.texts().get(id)
    }

    /// Its score; panics as [`Pieces::text`].
    #[must_use]
    pub fn score(&self, id: u32) -> f64 {
        self.scores[id as usize]
    }

    /// Its type; panics as [`Pieces::text`].
    #[must_use]
    pub fn kind(&self, id: u32) -> u8 {
        self.kinds[id as usize]
    }

    /// The id of a piece.
    #[must_use]
    pub fn id(&self, text: &str) -> Option<u32> {
        self.texts.place(text)
    }

    /// The ids of the pieces of some types.
    pub fn of_kinds(&self, kinds: &[u8]) -> impl Iterator<Item = u32> {
        (0..self.len() as u32).filter(|&id| kinds.contains(&self.kind(id)))
    }

    /// Whether nothing about them is to be refused: one is for the unknown, bytes are there if they are needed, and merges make
    /// no piece that is not in use. Of one that is not in use and long this is not known.
    #[must_use]
    pub fn are_sound(&self, byte_fallback: bool, merges: bool) -> bool {
        let spells_byte = |id| {
            let digits = self.text(id).strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
            digits.is_some_and(|digits| {
                digits.len() == 2 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F'))
            })
        };
        let has_cut = |id| {
            let text = self.text(id);
            let mut cuts = text.char_indices().skip(1);
            text.len() > LONG || cuts.any(|(cut, _)| self.id(&text[..cut]).is_some() && self.id(&text[cut..]).is_some())
        };
        self.of_kinds(&[UNKNOWN]).count() == 1
            && self.of_kinds(&[BYTE]).count() == if byte_fallback { 256 } else { 0 }
            && self.of_kinds(&[BYTE]).all(spells_byte)
            && !(merges && self.of_kinds(&[UNUSED]).any(has_cut))
    }

    /// The pieces of some types as columns.
    #[must_use]
    pub fn columns(&self, kinds: &[u8]) -> Columns {
        let mut columns = Columns::default();
        for id in self.of_kinds(kinds) {
            columns.push(self.text(id).as_bytes());
            columns.ids.push(id);
        }
        columns
    }

    /// The lowest score of a normal piece; 0 without any.
    #[must_use]
    pub fn lowest(&self) -> f64 {
        self.of_kinds(&[NORMAL]).map(|id| self.score(id)).reduce(f64::min).unwrap_or(0.0)
    }

    /// The scores of the pieces of some types in a Unigram. A user-defined symbol scores a tenth for each byte but one:
    /// `sentencepiece` 0.2.3 was seen to do so, to the last bit, and which of many equal segmentations it takes depends on
    /// it.
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "scores have 32 bits")]
    pub fn weights(&self, kinds: &[u8]) -> Vec<f64> {
        let weight = |id| match self.kind(id) {
            USER_DEFINED => f64::from((self.text(id).len().saturating_sub(1) as f64 / 10.0) as f32),
            _ => self.score(id),
        };
        self.of_kinds(kinds).map(weight).collect()
    }

    /// The merges of the normal pieces.
    ///
    /// # Errors
    /// As [`by_score`].
    pub fn merges(&self) -> Result<ScoredMerges> {
        let normal: Vec<_> = self.of_kinds(&[NORMAL]).map(|id| (self.text(id), id, self.score(id))).collect();
        let (pairs, equal) = by_score(&normal)?;
        let single = |text: &str| text.chars().next().filter(|first| first.len_utf8() == text.len());
        let letters: FxHashSet<char> = normal.iter().filter_map(|row| single(row.0)).collect();
        let is_strange = |text: &str| !text.chars().all(|character| letters.contains(&character));
        let mut strange = normal.iter().filter(|row| is_strange(row.0)).map(|row| row.1);
        let first_strange = strange.next();
        let strange = strange.count() + usize::from(first_strange.is_some());
        Ok(ScoredMerges { pairs, equal, strange, first_strange })
    }
}

/// One piece.
fn piece(message: &[u8]) -> Option<(&str, f32, u8)> {
    let (mut content, mut score, mut kind) = ("", 0.0_f32, u64::from(NORMAL));
    let mut at = 0;
    while at < message.len() {
        match number(message, &mut at)? {
            0x0A => {
                let length = usize::try_from(number(message, &mut at)?).ok()?;
                let end = at.checked_add(length)?;
                content = std::str::from_utf8(message.get(at..end)?).ok()?;
                at = end;
            }
            0x15 => {
                score = f32::from_le_bytes(*message.get(at..)?.first_chunk()?);
                at += 4;
            }
            0x18 => kind = number(message, &mut at)?,
            _ => return None,
        }
    }
    let usual = !content.is_empty() && score.is_finite();
    let kind = u8::try_from(kind).ok().filter(|kind| usual && (NORMAL..=BYTE).contains(kind))?;
    Some((content, score, kind))
}

/// A number of seven bits a byte, the lowest first; None if it does not end or has more than 63 bits.
fn number(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for (place, &byte) in bytes.get(*at..)?.iter().take(9).enumerate() {
        value |= u64::from(byte & 0x7F) << (7 * place);
        if byte < 0x80 {
            *at += place + 1;
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test fails by panicking, and these numbers are exact")]
mod tests {
    use super::*;

    #[test]
    fn what_is_unusual_is_left_to_whoever_says_what_is_wrong() {
        let whole = b"\x0a\x05\x0a\x01a\x18\x02\x12\x02\x18\x01\x0a\x03\x0a\x01b";
        let (read, rest) = Pieces::read(whole).unwrap();
        assert_eq!((read.text(0), read.kind(0), read.text(1), read.kind(1)), ("a", UNKNOWN, "b", NORMAL));
        assert_eq!(rest.as_slice(), std::slice::from_ref(&(7..11)));
        for cut in 1..whole.len() {
            // Only between fields can it end.
            assert_eq!(Pieces::read(&whole[..cut]).is_some(), [7, 11].contains(&cut), "{cut}");
        }
        for broken in [
            &b"\x0a\x02\x0a\x00"[..],
            b"\x0a\x05\x0a\x01a\x18\x07",
            b"\x08\x01",
            b"\x0a\x05\x0a\x01\xff\x18\x01",
            b"\x0a\x03\x0a\x01b\x0a\x03\x0a\x01b",
        ] {
            assert!(Pieces::read(broken).is_none(), "{broken:?}");
        }
    }

    #[test]
    fn merges_come_with_what_there_is_to_warn_of() {
        let mut texts = Texts::default();
        for text in ["<unk>", "a", "b", "ab", "ba", "ax", "s s"] {
            texts.push(text);
        }
        let kinds = vec![UNKNOWN, NORMAL, NORMAL, NORMAL, NORMAL, NORMAL, USER_DEFINED];
        let pieces = Pieces::new(texts, vec![0.0, -9.0, -8.0, -1.0, -1.0, -2.0, 0.0], kinds).unwrap();
        assert!(pieces.are_sound(false, true) && !pieces.are_sound(true, true));
        let merges = ScoredMerges { pairs: vec![(1, 2), (2, 1)], equal: 1, strange: 1, first_strange: Some(5) };
        assert_eq!((pieces.merges().unwrap(), pieces.lowest()), (merges, -9.0));
        assert_eq!(pieces.weights(&[UNKNOWN, USER_DEFINED]), [0.0, f64::from(0.2_f32)]);
        assert_eq!(pieces.columns(&[NORMAL]).ids, [1, 2, 3, 4, 5]);
    }
}
