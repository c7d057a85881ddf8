//! Pieces -> the symbols that merging starts from.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use rustc_hash::FxHashMap;

use crate::error::{Error, Kind, Result};
use crate::pipeline::Tokenizer;
use crate::train::Progress;
use crate::train::byte_pairs::site::SpelledWords;
use crate::train::byte_pairs::vocabulary;

/// The initial symbols of pieces. Their order matters under [`Ties::LowestIds`](crate::train::Ties::LowestIds).
#[derive(Clone)]
pub enum Alphabet<'t> {
    /// All 256 bytes, in this order.
    Bytes(Vec<u8>),
    /// The characters that occur, by code point, and a mark at the end of each piece, which is a symbol of its own: for
    /// people who study Sennrich's original.
    Characters {
        /// The mark, such as `</w>`.
        end_of_word_suffix: Option<String>,
    },
    /// The tokens of this tokenizer's model by their ids; pieces begin as it encodes them. What are its tokens already,
    /// added ones too, no merge makes.
    Tokens(&'t Tokenizer),
}

impl fmt::Debug for Alphabet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Bytes(order) => f.debug_tuple("Bytes").field(order).finish(),
            Self::Characters { end_of_word_suffix } => f.debug_tuple("Characters").field(end_of_word_suffix).finish(),
            Self::Tokens(_) => f.write_str("Tokens"),
        }
    }
}

impl Alphabet<'_> {
    /// The bytes in order of their values.
    #[must_use]
    pub fn raw_bytes() -> Self {
        Self::Bytes((0..=u8::MAX).collect())
    }

    /// The speller of the pieces, and the bytes of each symbol.
    ///
    /// # Errors
    /// `Training`, if the bytes are not all bytes once, or a piece is not UTF-8 and the alphabet is characters.
    pub(super) fn speller(&self, pieces: &[(&[u8], u64)]) -> Result<(Speller<'_>, Vec<Vec<u8>>)> {
        match self {
            Self::Bytes(order) => {
                let distinct: BTreeSet<_> = order.iter().collect();
                if (order.len(), distinct.len()) != (256, 256) {
                    return Err(Error::new(Kind::Training, "an alphabet of bytes holds each of the 256 once"));
                }
                let mut symbol = Box::new([0; 256]);
                for (at, &byte) in order.iter().enumerate() {
                    symbol[usize::from(byte)] = at as u32;
                }
                Ok((Speller::Bytes(symbol), order.iter().map(|&byte| vec![byte]).collect()))
            }
            Self::Characters { end_of_word_suffix } => {
                let mut characters = BTreeSet::new();
                for (piece, _) in pieces {
                    let piece = std::str::from_utf8(piece).map_err(|_| {
                        Error::new(Kind::Training, format!("the piece {piece:?} is not UTF-8"))
                            .remedy("use the alphabet of bytes")
                    })?;
                    // Then a token would not tell whether the mark is text, and merges could make it twice.
                    if let Some(suffix) = end_of_word_suffix.as_ref().filter(|suffix| piece.contains(suffix.as_str())) {
                        let what = format!("the piece {piece:?} holds the end-of-word suffix {suffix:?}");
                        return Err(Error::new(Kind::Training, what).remedy("choose a suffix that no text holds"));
                    }
                    characters.extend(piece.chars());
                }
                let mut tokens: Vec<Vec<u8>> =
                    characters.iter().map(|character| character.to_string().into_bytes()).collect();
                let symbol: FxHashMap<char, u32> = characters.into_iter().zip(0..).collect();
                let end = end_of_word_suffix.as_ref().map(|suffix| {
                    tokens.push(suffix.clone().into_bytes());
                    tokens.len() as u32 - 1
                });
                Ok((Speller::Characters(symbol, end), tokens))
            }
            Self::Tokens(tokenizer) => Ok((Speller::Tokens(tokenizer), vocabulary::symbols(tokenizer))),
        }
    }

    /// Bytes that no merge may make.
    pub(super) fn taken(&self) -> HashSet<Box<[u8]>> {
        match self {
            Self::Bytes(_) | Self::Characters { .. } => HashSet::new(),
            Self::Tokens(tokenizer) => tokenizer.tokens().map(Box::from).collect(),
        }
    }
}

/// Pieces -> symbols.
pub(super) enum Speller<'t> {
    Bytes(Box<[u32; 256]>),
    /// With the symbol at the end of each piece.
    Characters(FxHashMap<char, u32>, Option<u32>),
    Tokens(&'t Tokenizer),
}

impl Speller<'_> {
    /// Gives pieces that [`Alphabet::speller`] saw to `words`, as symbols.
    pub(super) fn spell(&self, pieces: &[(&[u8], u64)], words: &mut SpelledWords, progress: &Progress) -> Result<()> {
        match self {
            Self::Bytes(symbol) => pieces.iter().try_for_each(|&(piece, count)| {
                words.push(piece.iter().map(|&byte| symbol[usize::from(byte)]), piece.len(), count, progress)
            }),
            Self::Characters(symbol, end) => pieces.iter().try_for_each(|&(piece, count)| {
                let text = std::str::from_utf8(piece).unwrap_or_default();
                let length = text.chars().count() + usize::from(end.is_some());
                words.push(text.chars().map(|character| symbol[&character]).chain(*end), length, count, progress)
            }),
            Self::Tokens(tokenizer) => vocabulary::each_piece(tokenizer, pieces.iter().copied(), |symbols, count| {
                words.push(symbols.iter().copied(), symbols.len(), count, progress)
            }),
        }
    }
}
