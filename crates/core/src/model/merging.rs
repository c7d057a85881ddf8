//! A BPE over characters that is compiled only if somebody drops merges: else its vocabulary over bytes does the work.

use std::sync::OnceLock;

use super::WordModel;
use crate::columns::Columns;
use crate::error::Result;

/// What the model is compiled from, and the model.
pub struct Merging {
    tokens: Columns,
    merges: Vec<(u32, u32)>,
    options: String,
    model: OnceLock<Result<WordModel>>,
}

impl Merging {
    /// Of tokens by id, merges as pairs of ids, and options as [`WordModel::new`] takes them.
    #[must_use]
    pub fn new(tokens: Columns, merges: Vec<(u32, u32)>, options: String) -> Self {
        Self { tokens, merges, options, model: OnceLock::new() }
    }

    /// The model.
    ///
    /// # Errors
    /// `Format`, if they do not make one.
    pub fn model(&self) -> Result<&WordModel> {
        let model = self.model.get_or_init(|| {
            let tokens: Vec<&[u8]> = self.tokens.tokens().collect();
            WordModel::new(&self.options, &tokens, &self.tokens.ids, Some(&self.merges), None)
        });
        model.as_ref().map_err(Clone::clone)
    }
}
