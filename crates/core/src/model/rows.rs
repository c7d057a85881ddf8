//! The number of tokens of every prefix of a growing piece, whatever the model.

use super::bpe_rows::BpeRows;
use super::unigram_rows::UnigramRows;
use super::word_piece_rows::WordPieceRows;
use super::{WordModel, no_unk};
use crate::error::Result;

/// The prefixes of one piece: those of its model are used.
#[derive(Default)]
pub(crate) struct WordRows {
    bpe: BpeRows,
    word_piece: WordPieceRows,
    unigram: UnigramRows,
}

impl WordModel {
    /// Whether its pieces have [`WordRows`]: all but those of BPE whose merges take an unknown token or one of a byte, of a
    /// Unigram from the end, and of models with tokens of more than a kilobyte.
    pub(crate) fn has_rows(&self) -> bool {
        match self {
            Self::Bpe(model) => model.has_rows(),
            Self::WordPiece(model) => model.has_rows(),
            Self::Unigram(model) => !model.from_end,
            Self::WordLevel(_) => true,
        }
    }
}

impl WordRows {
    /// Forgets what is beyond a length.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.bpe.truncate(length);
        self.word_piece.truncate(length);
        self.unigram.truncate(length);
    }

    /// Extends to the end of `piece`, which begins with what is known.
    ///
    /// Time: linear in what is new, times the longest token; of a Unigram, in the ways that long tokens make.
    ///
    /// # Errors
    /// `Format`, if the tokens are too many to be looked for; `Memory`: what was read stays known.
    pub(crate) fn extend(&mut self, model: &WordModel, piece: &str) -> Result<()> {
        match model {
            WordModel::Bpe(model) => self.bpe.extend(model, piece),
            WordModel::WordPiece(model) => self.word_piece.extend(model, piece),
            WordModel::Unigram(model) => self.unigram.extend(model, piece),
            WordModel::WordLevel(_) => Ok(()),
        }
    }

    /// The number of tokens of a prefix as a piece of its own, which is not empty; None if it is not known.
    ///
    /// # Errors
    /// As [`WordModel::encode`] of the prefix.
    pub(crate) fn count(&self, model: &WordModel, prefix: &str) -> Result<Option<u64>> {
        match model {
            WordModel::Bpe(model) => self.bpe.count(model, prefix),
            WordModel::WordPiece(model) => self.word_piece.count(model, prefix),
            WordModel::Unigram(_) => self.unigram.count(prefix),
            WordModel::WordLevel(model) => {
                let known = model.table.index_of_short(prefix).or(model.unk);
                known.map(|_| Some(1)).ok_or_else(|| no_unk(prefix, 0))
            }
        }
    }

    /// The fewest tokens of any longer piece that begins with the first `length` bytes, or fewer; 0 if nothing is known.
    pub(crate) fn least(&self, model: &WordModel, length: usize) -> u64 {
        match model {
            WordModel::Bpe(model) => self.bpe.least(model, length),
            WordModel::Unigram(model) => self.unigram.least(model, length),
            WordModel::WordPiece(model) => self.word_piece.least(model, length),
            // It may be one token.
            WordModel::WordLevel(_) => 1,
        }
    }
}
