//! Counted pieces as the words that WordPiece learns from.
//!
//! BERT's normalization works on one character at a time, except that it sorts combining marks, and never across white space.
//! So it is applied to each distinct piece if pieces end at white space, and words that become equal are counted together.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::memory::Room;
use crate::normalize::categories::{PUNCT, categories};
use crate::normalize::{Bert, Normalizer};
use crate::train::counts::PieceCounts;
use crate::train::piece_words::for_each_piece;
use crate::train::{Progress, overflow};

/// Distinct words and how often they occur.
pub(super) type Counted = FxHashMap<Box<str>, u64>;

/// The words of all pieces.
pub(super) fn words(counts: &PieceCounts, bert: Option<Bert>, progress: &Progress) -> Result<Counted> {
    let mut words = Counted::default();
    let normalizer = bert.map(Normalizer::Bert);
    let categories = categories();
    let is_punctuation = |&(_, character): &(usize, char)| categories.of(character) & PUNCT != 0;
    for_each_piece(counts, |piece, count| {
        progress.check()?;
        let mut add = |word: &str| {
            if let Some(total) = words.get_mut(word) {
                *total = total.checked_add(count).ok_or_else(overflow)?;
            } else {
                words.room(1)?;
                words.insert(word.into(), count);
            }
            Ok(())
        };
        let Some(normalizer) = &normalizer else { return piece.split_whitespace().try_for_each(add) };
        let normal: Cow<str> = normalizer.try_apply(piece)?;
        normal.split_whitespace().try_for_each(|stretch| {
            let mut start = 0;
            for (at, character) in stretch.char_indices().filter(is_punctuation) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_the_words_of_bert() {
        let bert = Bert { clean_text: true, handle_chinese_chars: true, strip_accents: None, lowercase: true };
        let pieces = [("Caf\u{E9}!", 2), ("cafe", 3), ("a\u{4E00}b", 1), ("x\u{200B}\u{B}y\u{FFFD}", 4), ("--", 1)];
        let counts = PieceCounts::of(pieces.map(|(piece, count)| (piece.as_bytes(), count))).unwrap();
        let expected = [("cafe", 5), ("!", 2), ("a", 1), ("\u{4E00}", 1), ("b", 1), ("xy", 4), ("-", 2)];
        let expected: Counted = expected.into_iter().map(|(word, count)| (word.into(), count)).collect();
        assert_eq!(words(&counts, Some(bert), &Progress::default()).unwrap(), expected);
        let kept = Bert { clean_text: false, handle_chinese_chars: false, strip_accents: None, lowercase: false };
        let expected = [("Caf\u{E9}", 2), ("!", 2), ("a\u{4E00}b", 1), ("cafe", 3), ("-", 2)];
        let found = words(&counts, Some(kept), &Progress::default()).unwrap();
        assert!(expected.iter().all(|&(word, count)| found[word] == count), "{found:?}");
    }
}
