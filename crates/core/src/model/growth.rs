//! The tables of a BPE over characters that its rows need, each made when a piece first grows there.

use std::sync::OnceLock;

use super::token_table::TokenTable;
use super::trie::Trie;
use crate::error::Result;
use crate::vocab::Fits;

/// The tokens by their ends and by their beginnings, and which of them fit.
#[derive(Default)]
pub(super) struct Growth {
    backward: OnceLock<Trie>,
    forward: OnceLock<Trie>,
    fits: OnceLock<Fits>,
}

impl Growth {
    /// The tokens read backward.
    ///
    /// # Errors
    /// `Format`, if they are too many for a trie.
    pub(super) fn backward(&self, table: &TokenTable) -> Result<&Trie> {
        let reversed = || -> Vec<Vec<u8>> { table.texts().map(|text| text.bytes().rev().collect()).collect() };
        made(&self.backward, || Trie::new(reversed().iter().map(Vec::as_slice).zip(0..)))
    }

    /// The tokens read forward.
    ///
    /// # Errors
    /// As [`Growth::backward`].
    pub(super) fn forward(&self, table: &TokenTable) -> Result<&Trie> {
        made(&self.forward, || Trie::new(table.texts().map(str::as_bytes).zip(0..)))
    }

    /// Which tokens fit, as far as it was asked.
    pub(super) fn fits(&self) -> &Fits {
        self.fits.get_or_init(Fits::new)
    }
}

/// The trie in a cell, made if there is none.
fn made(cell: &OnceLock<Trie>, make: impl FnOnce() -> Result<Trie>) -> Result<&Trie> {
    if let Some(there) = cell.get() {
        return Ok(there);
    }
    let new = make()?;
    Ok(cell.get_or_init(|| new))
}
