//! The number of ids of every suffix of a piece that grows at its front, whatever the model: `count::rows`, mirrored.

use crate::count::rows::Rows;
use crate::encode::Compiled;
use crate::error::Result;
use crate::merge;
use crate::model::{WordModel, WordSuffixes};

/// The suffixes of one piece.
#[derive(Default)]
pub(super) struct Suffixes {
    bytes: merge::Suffixes,
    words: WordSuffixes,
    /// The bytes that are known.
    length: usize,
    /// Longer suffixes may hold a hazard, and are left to the model that is spelled in characters.
    safe: Option<usize>,
}

impl Suffixes {
    /// Whether the pieces of a model have suffixes: all that have [`Rows`] but those of a Unigram.
    pub(super) fn can(model: &Compiled) -> bool {
        Rows::can(model) && model.words().is_none_or(WordModel::has_suffixes)
    }

    /// Forgets suffixes of more bytes. These are those of characters.
    pub(super) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
        self.words.truncate(length);
        self.length = self.length.min(length);
        self.safe = self.safe.filter(|&safe| safe < length);
    }

    /// Extends to the start of `piece`, which ends with what is known.
    ///
    /// Time: linear in what is new, times the longest token.
    ///
    /// # Errors
    /// `Format`, if the tokens are too many to be looked for; `Interrupted`; `Memory`.
    pub(super) fn extend(&mut self, model: &Compiled, piece: &str) -> Result<()> {
        if piece.len() <= self.length || u32::try_from(piece.len()).is_err() {
            return Ok(());
        }
        let (known, words) = (self.length, model.words());
        if self.safe.is_none() && words.is_some() {
            // One that begins in what is new.
            let reach = (piece.len() - known).saturating_add(model.longest_hazard()).min(piece.len());
            let reach = (reach..=piece.len()).find(|&at| piece.is_char_boundary(at)).unwrap_or(piece.len());
            self.safe = model.hazard_end(&piece[..reach], 0).map(|_| known);
        }
        if !model.vocab.is_empty() || words.is_none() {
            self.bytes.extend(&model.vocab, piece.as_bytes())?;
        }
        if let Some(words) = words.filter(|_| model.vocab.is_empty() || self.safe.is_some()) {
            self.words.extend(words, piece)?;
        }
        self.length = piece.len();
        Ok(())
    }

    /// The number of ids of a suffix as a piece of its own, which is not empty; None if it is not known.
    ///
    /// # Errors
    /// Those of encoding it.
    pub(super) fn count(&self, model: &Compiled, suffix: &str) -> Result<Option<u64>> {
        let length = suffix.len();
        if length > self.length {
            return Ok(None);
        }
        match model.words() {
            Some(words) if model.vocab.is_empty() || self.safe.is_some_and(|safe| length > safe) => {
                self.words.count(words, suffix)
            }
            _ if length <= model.vocab.longest() && model.is_whole(suffix.as_bytes(), 0, length) => Ok(Some(1)),
            _ => Ok((length <= self.bytes.len()).then(|| u64::from(self.bytes.count(length)))),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::count::rows::tests::{
        LETTERS, below, bytes_model, characters_model, check_models, encoded, spelling_model, unigram_model, word,
        word_level_model, word_piece_model,
    };
    use crate::model::Random;

    /// Lets pieces of a model grow at their front and shrink, and checks each count of each suffix; returns how many there were,
    /// and how many errors.
    fn check_growing(model: &Compiled, random: &mut Random, longest: usize, shown: &str) -> [usize; 2] {
        let (mut piece, mut suffixes) = (String::new(), Suffixes::default());
        let letters = 1 + below(random, LETTERS.len());
        let mut seen = [0, 0];
        for _ in 0..6 {
            if below(random, 4) == 0 {
                let places: Vec<usize> = piece.char_indices().map(|(at, _)| at).chain([piece.len()]).collect();
                piece.drain(..places[below(random, places.len())]);
                suffixes.truncate(piece.len());
            }
            piece.insert_str(0, &word(random, letters, longest));
            if below(random, 9) == 0 {
                piece.insert_str(0, ["<unk>", "<b<", "<0x61>"][below(random, 3)]);
            }
            suffixes.extend(model, &piece).unwrap();
            for (at, _) in piece.char_indices() {
                let suffix = &piece[at..];
                let expected = encoded(model, suffix).map(|ids| ids.len() as u64);
                seen[usize::from(expected.is_err())] += 1;
                let counted = suffixes.count(model, suffix);
                if Suffixes::can(model) && expected.is_ok() {
                    assert_eq!(counted, expected.map(Some), "{shown} {suffix:?} of {piece:?}");
                } else if let Ok(Some(counted)) = counted {
                    assert_eq!(Ok(counted), expected, "{shown} {suffix:?} of {piece:?}");
                }
            }
        }
        seen
    }

    fn check_kind(seed: u64, rounds: usize, make: impl Fn(&mut Random) -> Compiled) -> ([usize; 2], usize) {
        check_models(seed, rounds, make, Suffixes::can, check_growing)
    }

    #[test]
    fn each_suffix_of_each_model_has_the_count_of_encoding() {
        let (seen, without) = check_kind(0xB17F, 1200, bytes_model);
        assert!(seen[0] > 100_000 && seen[1] > 10_000 && without == 0, "{seen:?} {without}");
        let (seen, without) = check_kind(0xC4A7, 2000, characters_model);
        assert!(seen[0] > 100_000 && without > 10 && without < 200, "{seen:?} {without}");
        let (seen, without) = check_kind(0x30BF, 1500, word_piece_model);
        assert!(seen[0] > 100_000 && seen[1] > 10_000 && without == 0, "{seen:?} {without}");
        let (seen, without) = check_kind(0x5BE2, 300, spelling_model);
        assert!(seen[0] > 50_000 && seen[1] == 0 && without == 0, "{seen:?} {without}");
        let (seen, without) = check_kind(0x3E8F, 200, word_level_model);
        assert!(seen[0] > 10_000 && seen[1] > 1000 && without == 0, "{seen:?} {without}");
        assert_eq!(check_kind(0x0615, 20, unigram_model).1, 20);
    }
}
