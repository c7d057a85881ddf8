//! The models that work on a piece of text: BPE over characters, `WordPiece`, Unigram and `WordLevel`.
//!
//! Byte-level BPE is [`crate::vocab`] and [`crate::merge`]. A model here takes one piece, after normalizing and
//! splitting, and returns the tokens of `tokenizers`, with the same offsets.

mod affixes;
mod automaton;
mod bpe;
mod bpe_rows;
mod bpe_suffixes;
mod character_pages;
mod dropout;
mod growth;
mod hazards;
mod list;
mod longest;
mod merges;
mod on_bytes;
mod options;
mod random;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod real_tests;
mod rows;
mod splits;
mod suffixes;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
mod token_table;
mod trie;
mod unigram;
mod unigram_rows;
mod word_level;
mod word_piece;
mod word_piece_rows;
mod word_piece_suffixes;

pub use bpe::Bpe;
pub use dropout::encode_bytes_with_dropout;
pub(crate) use hazards::Hazards;
pub use on_bytes::OnBytes;
pub use random::Random;
pub(crate) use rows::WordRows;
pub(crate) use suffixes::WordSuffixes;
pub use unigram::Unigram;
pub use word_level::WordLevel;
pub use word_piece::WordPiece;

use crate::error::{Error, Kind, Result};
use options::Options;
use token_table::{TokenTable, format};

/// One token of a piece.
///
/// `start` and `end` are those of `tokenizers`, in bytes of the piece, and never beyond its end. They need not be at
/// character boundaries: a token of byte fallback covers one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its id.
    pub id: u32,
    /// Where it begins.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

/// Buffers that a caller keeps between pieces, so that encoding allocates nothing.
#[derive(Default)]
pub struct Scratch {
    characters: bpe::Buffers,
    unigram: unigram::Buffers,
    longest: longest::Buffers,
}

/// A model that works on pieces of text. Immutable.
///
/// ```
/// use bytepair_core::model::{Scratch, WordModel};
/// let options = r###"{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##"}"###;
/// let model = WordModel::new(options, &[b"[UNK]", b"un", b"##able"], &[0, 1, 2], None, None)?;
/// let mut tokens = Vec::new();
/// model.encode("unable", &mut Scratch::default(), &mut tokens)?;
/// let found: Vec<_> = tokens.iter().map(|token| (token.id, token.start, token.end)).collect();
/// assert_eq!(found, [(1, 0, 2), (2, 2, 6)]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
#[non_exhaustive]
pub enum WordModel {
    /// BPE that merges characters.
    Bpe(Box<Bpe>),
    /// The longest token first.
    WordPiece(Box<WordPiece>),
    /// The most probable tokens.
    Unigram(Box<Unigram>),
    /// Whole pieces.
    WordLevel(Box<WordLevel>),
}

impl WordModel {
    /// Compiles a model from options in JSON, tokens as the file spells them in id order, and their ids, with holes
    /// perhaps. `pairs` are the merges of `BPE` as pairs of ids in rank order, `scores` those of the tokens of
    /// `Unigram`.
    ///
    /// Options, which are `tokenizers`' own, by type; what may be null may be left out:
    /// - `BPE`: `unk_token`, `continuing_subword_prefix`, `end_of_word_suffix` (strings or null), `fuse_unk`,
    ///   `byte_fallback`, `ignore_merges` (flags).
    ///   Beyond `tokenizers`, `separator` (a string or null: behind all tokens but the last of a piece), and `unlisted`
    ///   (strings: what merges make that is no token, and becomes the unknown one). The ids of these in `pairs` follow those
    ///   of the tokens.
    /// - `WordPiece`: `unk_token`, `continuing_subword_prefix` (strings or null), `max_input_chars_per_word` (100).
    /// - `Unigram`: `unk_id` (a number or null), `byte_fallback`, `unk_score` (a number, which makes it a model of
    ///   `sentencepiece`, or null), `unlisted` (scores by texts: what text becomes like a token, with the unknown id).
    ///   A token whose score is minus infinity is not found, but can be what unknown characters spell together. With the
    ///   flag `from_end` it is a model of `PLaMo` 2, with neither of these two.
    /// - `WordLevel`: `unk_token`.
    ///
    /// Time: linear in the bytes of the tokens, but for sorting them.
    ///
    /// # Errors
    /// `Format`, if options are unknown or of the wrong kind, ids do not ascend, a token or an id occurs twice, the
    /// unknown token is none, a merge names or makes what is no token, a score is no number or infinite, or anything is
    /// too large.
    pub fn new(
        options: &str,
        tokens: &[&[u8]],
        ids: &[u32],
        pairs: Option<&[(u32, u32)]>,
        scores: Option<&[f64]>,
    ) -> Result<Self> {
        let options = Options::new(options)?;
        let model = options.model().to_owned();
        if pairs.is_some() != (model == "BPE") || scores.is_some() != (model == "Unigram") {
            return Err(format(format!("a model of type {model} needs merges if it is BPE, scores if it is Unigram")));
        }
        let table = TokenTable::new(tokens, ids)?;
        Ok(match model.as_str() {
            "BPE" => Self::Bpe(Box::new(Bpe::new(options, table, pairs.unwrap_or_default())?)),
            "WordPiece" => Self::WordPiece(Box::new(WordPiece::new(options, table)?)),
            "Unigram" => Self::Unigram(Box::new(Unigram::new(options, table, scores.unwrap_or_default())?)),
            "WordLevel" => Self::WordLevel(Box::new(WordLevel::new(options, table)?)),
            _ => {
                return Err(
                    format(format!("{model:?} is no type of model")).remedy("use BPE, WordPiece, Unigram or WordLevel")
                );
            }
        })
    }

    /// The model of pieces that have no other characters than these.
    pub(crate) fn with_alphabet(self, alphabet: &[char]) -> Self {
        match self {
            Self::WordPiece(model) => Self::WordPiece(Box::new(model.with_alphabet(alphabet))),
            other => other,
        }
    }

    /// Appends the tokens of a piece.
    ///
    /// Time: n log n in the piece for BPE, else linear; in Unigram each byte counts as often as tokens go over it.
    ///
    /// # Errors
    /// `Encode`, if the piece cannot be spelled and there is no unknown token, or it is longer than 4 GiB; `Interrupted`.
    pub fn encode(&self, piece: &str, scratch: &mut Scratch, out: &mut Vec<Token>) -> Result<()> {
        check_length(piece.len())?;
        match self {
            Self::Bpe(model) => model.encode(piece, &mut scratch.characters, out),
            Self::WordPiece(model) => model.encode(piece, &mut scratch.longest, out),
            Self::Unigram(model) => model.encode(piece, &mut scratch.unigram, out),
            Self::WordLevel(model) => model.encode(piece, out),
        }
    }

    /// Appends the tokens of a piece, merged with dropout: each merge is passed over with this probability while
    /// merging goes on. 0 is [`WordModel::encode`]; else `ignore_merges` is not asked, as in `tokenizers`.
    ///
    /// # Errors
    /// `Encode`, if this is no BPE, or the probability is not between 0 and 1; those of [`WordModel::encode`].
    pub fn encode_with_dropout(
        &self,
        piece: &str,
        dropout: f64,
        random: &mut Random,
        scratch: &mut Scratch,
        out: &mut Vec<Token>,
    ) -> Result<()> {
        let Self::Bpe(model) = self else {
            return Err(Error::new(Kind::Encode, format!("{} has no merges to drop", self.name())));
        };
        dropout::check(dropout)?;
        if dropout == 0.0 {
            return self.encode(piece, scratch, out);
        }
        check_length(piece.len())?;
        model.encode_with_dropout(piece, dropout, random, &mut scratch.characters, out)
    }

    /// Appends one way to spell a piece, drawn with its probability to the power of `alpha`: 0 makes all ways equal,
    /// a large number leaves the best one.
    ///
    /// # Errors
    /// `Encode`, if this is no Unigram, or `alpha` is negative or not finite; those of [`WordModel::encode`].
    pub fn sample(
        &self,
        piece: &str,
        alpha: f64,
        random: &mut Random,
        scratch: &mut Scratch,
        out: &mut Vec<Token>,
    ) -> Result<()> {
        let Self::Unigram(model) = self else {
            return Err(Error::new(Kind::Encode, format!("{} has no scores to sample by", self.name())));
        };
        if !alpha.is_finite() || alpha < 0.0 {
            return Err(Error::new(Kind::Encode, format!("alpha is {alpha}")).remedy("use a number from 0"));
        }
        check_length(piece.len())?;
        model.sample(piece, alpha, random, &mut scratch.unigram, out)
    }

    /// The id of a token, as the file spells it.
    #[must_use]
    pub fn token_id(&self, token: &str) -> Option<u32> {
        self.table().token_of_short(token).map(|index| self.table().id(index))
    }

    /// The token with this id, as the file spells it.
    #[must_use]
    pub fn token(&self, id: u32) -> Option<&str> {
        self.table().index_of_id(id).map(|index| self.table().text(index))
    }

    /// The number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table().len()
    }

    /// Whether there is no token at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ids, ascending.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        self.table().ids()
    }

    /// The id of the unknown token, if there is one.
    #[must_use]
    pub fn unk_id(&self) -> Option<u32> {
        let unk = match self {
            Self::Bpe(model) => model.unk,
            Self::WordPiece(model) => model.unk,
            Self::Unigram(model) => model.unk,
            Self::WordLevel(model) => model.unk,
        };
        unk.map(|index| self.table().id(index))
    }

    /// The characters that stand right before `mark` in a token that merges make, ascending; none if this is no BPE.
    ///
    /// Before a `mark` behind any other character no merge goes across: a long piece may be cut there, and its parts
    /// encoded alone, if no unknown tokens could be fused across, and there is neither prefix nor suffix.
    #[must_use]
    pub fn walls(&self, mark: char) -> Option<Vec<char>> {
        let Self::Bpe(model) = self else { return None };
        Some(on_bytes::before(mark, model.products()))
    }

    /// This model over bytes, whose encoders are faster on long pieces; none if it is no BPE with byte fallback, or has
    /// what bytes could not do.
    ///
    /// # Errors
    /// Those of [`crate::Vocab::new`].
    pub fn on_bytes(&self) -> Result<Option<OnBytes>> {
        let Self::Bpe(model) = self else { return Ok(None) };
        model.on_bytes(false)
    }

    /// The same with the merges out of turn as well, so that it encodes every piece, if not in linear time.
    pub(crate) fn on_bytes_with_all_merges(&self) -> Result<Option<OnBytes>> {
        let Self::Bpe(model) = self else { return Ok(None) };
        model.on_bytes(true)
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Bpe(_) => "BPE",
            Self::WordPiece(_) => "WordPiece",
            Self::Unigram(_) => "Unigram",
            Self::WordLevel(_) => "WordLevel",
        }
    }

    fn table(&self) -> &TokenTable {
        match self {
            Self::Bpe(model) => &model.table,
            Self::WordPiece(model) => &model.table,
            Self::Unigram(model) => &model.table,
            Self::WordLevel(model) => &model.table,
        }
    }
}

/// Refuses a piece whose places 32 bits do not count.
fn check_length(length: usize) -> Result<()> {
    if u32::try_from(length).is_err() {
        return Err(Error::piece_too_long());
    }
    Ok(())
}

/// The error of a piece that no tokens spell, at `at`, without an unknown token.
fn no_unk(piece: &str, at: usize) -> Error {
    let what = match piece.get(at..).and_then(|rest| rest.chars().next()) {
        Some(character) => format!("no token spells {character:?} here, and there is no unknown token"),
        None => "the empty piece is no token, and there is no unknown token".to_owned(),
    };
    Error::new(Kind::Encode, what).at(at)
}

/// Whether a byte is the first one of a character.
#[inline]
fn is_start(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// Where the character starts that a byte belongs to.
#[inline]
fn start_of(text: &[u8], at: usize) -> usize {
    (0..=at).rev().find(|&at| is_start(text[at])).unwrap_or(0)
}
