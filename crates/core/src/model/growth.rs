//! The tables of a BPE over characters that its rows need, made when a piece first grows.

use super::token_table::TokenTable;
use super::trie::Trie;
use crate::error::Result;
use crate::vocab::Fits;

/// The tokens by their ends, and which of them fit.
pub(super) struct Growth {
    /// The tokens read backward.
    pub(super) backward: Trie,
    pub(super) fits: Fits,
}

impl Growth {
    /// Reads all tokens.
    ///
    /// # Errors
    /// `Format`, if they are too many for a trie.
    pub(super) fn new(table: &TokenTable) -> Result<Self> {
        let reversed: Vec<(Vec<u8>, u32)> =
            table.texts().zip(0..).map(|(text, index)| (text.bytes().rev().collect(), index)).collect();
        let backward = Trie::new(reversed.iter().map(|(text, index)| (text.as_slice(), *index)))?;
        Ok(Self { backward, fits: Fits::new() })
    }
}
