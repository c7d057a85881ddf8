//! Take the longest token that begins here, again and again: by design not the result of merging.
//!
//! Its weakness: it is another tokenizer. Often its ids are those of merging; elsewhere there is often one id more or less.
//!
//! Source: the matching of `WordPiece` (Schuster and Nakajima, 2012); compared with merging in Uzan et al., "Greed is All You
//! Need", 2024.

use crate::vocab::{Candidates, Vocab};

/// Appends the ids of `piece`, each of whose bytes has a token.
pub(super) fn merge(vocab: &Vocab, piece: &[u8], beginnings: &mut Candidates, ids: &mut Vec<u32>) {
    let tokens = vocab.tokens();
    let mut text = piece;
    while !text.is_empty() {
        tokens.look(text, beginnings);
        let mut below = usize::MAX;
        while let Some(length) = beginnings.longest_below(below) {
            below = length;
            if let Some(index) = tokens.beginning(text, length, beginnings) {
                ids.push(tokens.ids()[index as usize]);
                break;
            }
        }
        // The loop ends at a byte at the latest, since every byte has a token.
        text = &text[below.min(text.len())..];
    }
}
