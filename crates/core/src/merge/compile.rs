//! Compiling a vocabulary, which needs merging: whether each token, as a piece, is its own encoding.
//!
//! In a proper vocabulary a token that merges make is made of its own bytes in every text (`vocab::rules`). In others each
//! token is encoded once.

use crate::error::Result;
use crate::merge::{Scratch, encode};
use crate::vocab::{Semantics, Vocab};

impl Vocab {
    /// Compiles a vocabulary from parallel columns of tokens and ids.
    ///
    /// Time: linear in the bytes of the tokens, for vocabularies as they are trained.
    ///
    /// # Errors
    /// `Format`, if an id or a token occurs twice, ids do not ascend, a token is empty, a merge names an id that is
    /// not there or makes bytes that are not a token, or there are more than two million tokens or four million merges.
    pub fn new(tokens: &[&[u8]], ids: &[u32], semantics: Semantics) -> Result<Self> {
        Self::compiled(tokens, ids, semantics, |vocab, index| {
            let mut ids = Vec::new();
            let encoded = encode(vocab, vocab.token_at(index), &mut Scratch::default(), &mut ids);
            encoded.is_ok() && ids == [vocab.ids()[index]]
        })
    }
}
