//! The longest token that begins at each place of a piece, in one pass from its end: time linear in the piece, memory
//! linear in the tokens. Tokens are read backward into an [`Automaton`].

use super::automaton::{Automaton, ROOT};
use super::token_table::NONE;
use crate::error::Result;

/// Tokens read backward.
pub(super) struct Longest(Automaton);

/// Buffers kept between pieces: the longest token at each place, or [`NONE`].
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) tokens: Vec<u32>,
}

/// An automaton of strings read backward: its states are those from the end of a text on, its tokens those that begin.
pub(super) fn backward<'a>(strings: impl Iterator<Item = (&'a [u8], u32)>) -> Result<Automaton> {
    let reversed: Vec<(Vec<u8>, u32)> =
        strings.map(|(string, value)| (string.iter().rev().copied().collect(), value)).collect();
    let strings: Vec<(&[u8], u32)> = reversed.iter().map(|(string, value)| (string.as_slice(), *value)).collect();
    Automaton::new(&strings)
}

impl Longest {
    /// From distinct strings and their values.
    pub(super) fn new<'a>(strings: impl Iterator<Item = (&'a [u8], u32)>) -> Result<Self> {
        Ok(Self(backward(strings)?))
    }

    /// Fills `buffers` with the longest token at each place of a piece.
    pub(super) fn find(&self, piece: &[u8], buffers: &mut Buffers) {
        let tokens = &mut buffers.tokens;
        tokens.clear();
        tokens.resize(piece.len(), NONE);
        let mut at = ROOT;
        for (&byte, token) in piece.iter().zip(tokens.iter_mut()).rev() {
            at = self.0.go(at, byte);
            *token = self.0.ending(at).next().unwrap_or(NONE);
        }
    }
}
