//! The last token of the encoding of every prefix, from left to right: dynamic programming, for proper vocabularies.
//!
//! A sequence of tokens whose neighbours fit is the encoding of its bytes (`vocab::rules`). So a token that begins where
//! a prefix ends, and fits the prefix's last token, is the last token of the prefix that it makes; each prefix has exactly
//! one. The earlier tokens are found by walking back.
//!
//! Its weakness: it computes every prefix, also those that the encoding does not need, and keeps a row for each byte.
//!
//! Source: the README of the crate `bpe` (rust-gems), its first linear algorithm.

use crate::vocab::{Candidates, NONE, Vocab};

/// The last token of each prefix and its length, and the tokens at one place.
#[derive(Default)]
pub(super) struct Buffers {
    last: Vec<(u32, u32)>,
    beginnings: Candidates,
}

/// Leaves the encoding of `piece` in `symbols`.
pub(super) fn merge(vocab: &Vocab, piece: &[u8], buffers: &mut Buffers, symbols: &mut Vec<u32>) {
    let (tokens, rules) = (vocab.tokens(), vocab.rules());
    let Buffers { last, beginnings } = buffers;
    last.clear();
    last.resize(piece.len() + 1, (NONE, 0));
    for at in 0..piece.len() {
        let (before, _) = last[at];
        let text = &piece[at..];
        tokens.look(text, beginnings);
        let mut below = usize::MAX;
        while let Some(length) = beginnings.longest_below(below) {
            below = length;
            if last[at + length].0 == NONE
                && let Some(index) = tokens.beginning(text, length, beginnings)
                && let symbol = rules.symbol(index as usize)
                && symbol != NONE
                && (before == NONE || rules.fit(before, symbol))
            {
                last[at + length] = (symbol, length as u32);
            }
        }
    }
    symbols.clear();
    let mut end = piece.len();
    while let Some(&(symbol, length)) = last.get(end).filter(|&&(symbol, _)| symbol != NONE) {
        symbols.push(symbol);
        end -= length as usize;
    }
    symbols.reverse();
}
