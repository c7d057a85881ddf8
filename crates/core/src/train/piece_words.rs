//! Counted pieces as words, for models whose tokens are made of characters.

use crate::error::{Error, Kind, Result};
use crate::train::counts::{PieceCounts, Row};

/// The space symbol of SentencePiece, U+2581, which marks white space before a word.
pub(super) const SPACE: char = '\u{2581}';

/// How much of a piece an error shows.
const SHOWN: usize = 40;

/// Whether words end at this character: white space, or the symbol that marks it.
fn divides(character: char) -> bool {
    character == SPACE || character.is_whitespace()
}

/// Calls `take(piece, count)` for each piece. They come sorted, so that the order is a function of the counts; one that occurs
/// in several groups comes several times.
///
/// # Errors
/// `Training`, if a piece is empty or not UTF-8; the errors of `take`; `Artifact`, if a temporary file cannot be read.
pub(super) fn for_each_piece(counts: &PieceCounts, mut take: impl FnMut(&str, u64) -> Result<()>) -> Result<()> {
    counts.for_each(|row| take(text_of(&row)?, row.count))
}

/// Calls `take(word, spaced, count)` for each word of each piece; `spaced` is whether white space or [`SPACE`] precedes
/// it within its piece. White space itself belongs to no word.
///
/// # Errors
/// As [`for_each_piece`].
pub(super) fn for_each_word(counts: &PieceCounts, mut take: impl FnMut(&str, bool, u64) -> Result<()>) -> Result<()> {
    for_each_piece(counts, |piece, count| {
        let mut spaced = false;
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            if divides(first) {
                spaced = true;
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let (word, behind) = rest.split_at(rest.find(divides).unwrap_or(rest.len()));
            take(word, spaced, count)?;
            rest = behind;
        }
        Ok(())
    })
}

fn text_of<'a>(row: &Row<'a>) -> Result<&'a str> {
    let refused = |what: String| {
        let place = row.first;
        Error::new(Kind::Training, format!("{what}, first seen at position {place} of the counts"))
    };
    if row.piece.is_empty() {
        return Err(refused("a piece of the counts is empty".into()).remedy("leave it out of the counts"));
    }
    std::str::from_utf8(row.piece).map_err(|error| {
        let shown = row.piece[..row.piece.len().min(SHOWN)].escape_ascii();
        refused(format!("the piece b\"{shown}\" of the counts is not UTF-8"))
            .at(error.valid_up_to())
            .remedy("count pieces of whole characters: use another split pattern, or pass errors=\"replace\"")
            .cli_remedy("count pieces of whole characters: use another --split, or --errors replace")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(pieces: &[(&[u8], u64)]) -> Result<Vec<(String, bool, u64)>> {
        let mut words = Vec::new();
        let counts = PieceCounts::of(pieces.iter().copied())?;
        for_each_word(&counts, |word, spaced, count| {
            words.push((word.to_owned(), spaced, count));
            Ok(())
        })?;
        Ok(words)
    }

    #[test]
    fn white_space_divides_words_and_is_dropped() {
        let found = words(&[(b" low\tower", 2), (b"a\xE2\x96\x81b", 3), (b"  ", 7)]).unwrap();
        let expected = [("low", true, 2), ("ower", true, 2), ("a", false, 3), ("b", true, 3)];
        assert_eq!(found, expected.map(|(word, spaced, count)| (word.to_owned(), spaced, count)));
    }

    #[test]
    fn broken_pieces_are_refused_with_their_place() {
        let error = words(&[(b"ok", 1), (b"a\xFFb", 2)]).unwrap_err();
        assert_eq!((error.kind, error.byte), (Kind::Training, Some(1)));
        assert!(error.what.contains("a\\xffb"), "{error}");
    }
}
