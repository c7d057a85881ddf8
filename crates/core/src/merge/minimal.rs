//! The fewest tokens that spell the piece: a shortest path, by design not the result of merging.
//!
//! From right to left each place stores the least number of tokens that spell the rest, and the first of them; ties go to
//! the longest first token.
//!
//! Its weakness: it is another tokenizer, and looks up every token at every place.
//!
//! Source: the README of the crate `bpe` (rust-gems), `minimal`; the dynamic program is textbook.

use crate::vocab::{Candidates, NONE, Vocab};

/// For each place: how many tokens spell the rest, and the index and length of the first of them.
#[derive(Default)]
pub(super) struct Buffers {
    best: Vec<(u32, u32, u32)>,
}

/// Appends the ids of `piece`, each of whose bytes has a token.
pub(super) fn merge(
    vocab: &Vocab,
    piece: &[u8],
    beginnings: &mut Candidates,
    buffers: &mut Buffers,
    ids: &mut Vec<u32>,
) {
    let tokens = vocab.tokens();
    let best = &mut buffers.best;
    best.clear();
    best.resize(piece.len() + 1, (NONE, 0, 0));
    best[piece.len()].0 = 0;
    for at in (0..piece.len()).rev() {
        let text = &piece[at..];
        tokens.look(text, beginnings);
        let mut below = usize::MAX;
        while let Some(length) = beginnings.longest_below(below) {
            below = length;
            let count = best[at + length].0.saturating_add(1);
            if count < best[at].0
                && let Some(index) = tokens.beginning(text, length, beginnings)
            {
                best[at] = (count, index, length as u32);
            }
        }
    }
    let mut at = 0;
    while let Some(&(_, index, length)) = best.get(at).filter(|&&(_, _, length)| length > 0) {
        ids.push(tokens.ids()[index as usize]);
        at += length as usize;
    }
}
