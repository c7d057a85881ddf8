//! The number of tokens of every suffix of a piece that grows at its front, whatever the model.

use super::bpe_suffixes::BpeSuffixes;
use super::word_piece_suffixes::WordPieceSuffixes;
use super::{WordModel, no_unk};
use crate::error::Result;

/// The suffixes of one piece: those of its model are used.
#[derive(Default)]
pub(crate) struct WordSuffixes {
    bpe: BpeSuffixes,
    word_piece: WordPieceSuffixes,
}

impl WordModel {
    /// Whether its pieces that have rows have [`WordSuffixes`]: all but those of a Unigram, whose sums are rounded from the
    /// start of a piece on.
    pub(crate) fn has_suffixes(&self) -> bool {
        !matches!(self, Self::Unigram(_))
    }
}

impl WordSuffixes {
    /// Forgets suffixes of more bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.bpe.truncate(length);
        self.word_piece.truncate(length);
    }

    /// Extends to the start of `piece`, which ends with what is known.
    ///
    /// Time: linear in what is new, times the longest token.
    ///
    /// # Errors
    /// `Format`, if the tokens are too many to be looked for; `Memory`: what was read stays known.
    pub(crate) fn extend(&mut self, model: &WordModel, piece: &str) -> Result<()> {
        match model {
            WordModel::Bpe(model) => self.bpe.extend(model, piece),
            WordModel::WordPiece(model) => self.word_piece.extend(model, piece),
            WordModel::Unigram(_) | WordModel::WordLevel(_) => Ok(()),
        }
    }

    /// The number of tokens of a suffix as a piece of its own, which is not empty; None if it is not known.
    ///
    /// # Errors
    /// As [`WordModel::encode`] of the suffix.
    pub(crate) fn count(&self, model: &WordModel, suffix: &str) -> Result<Option<u64>> {
        match model {
            WordModel::Bpe(model) => self.bpe.count(model, suffix),
            WordModel::WordPiece(model) => self.word_piece.count(model, suffix),
            WordModel::Unigram(_) => Ok(None),
            WordModel::WordLevel(model) => {
                let known = model.table.index_of_short(suffix).or(model.unk);
                known.map(|_| Some(1)).ok_or_else(|| no_unk(suffix, 0))
            }
        }
    }
}
