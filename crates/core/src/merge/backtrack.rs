//! Take the longest token that fits the one before, and go back where none does: linear.
//!
//! A sequence of tokens whose neighbours fit is the encoding of its bytes (`fit`), so that there is at most one
//! way to reach a place of the piece: the encoding of the text before it. A place without a continuation is therefore a dead
//! end for good, and a bit marks it. Each place is passed once, and abandoned at most once: linear time.
//!
//! A token that follows itself in a run is taken for all of the run (`repeats`).
//!
//! Its weakness: vocabularies with very long tokens, since the search at each place goes as far as the longest token that
//! may begin there.
//!
//! Source: the backtracking encoder of the crate `bpe` (rust-gems); there an automaton finds the tokens, here hashes of
//! all prefixes and a bit set, which need no construction.

use crate::error::Result;
use crate::interrupt;
use crate::memory::Room;
use crate::merge::{FitBuffers, fit, repeats};
use crate::stored;
use crate::vocab::{Candidates, NONE, Vocab};

/// So many searches for tokens, and it is asked whether they are still wanted.
const LOOKS: usize = 1024;

/// The tokens so far and their lengths, and the places that lead nowhere.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) taken: Vec<(u32, u32)>,
    dead: Vec<u64>,
    beginnings: Candidates,
    pub(super) fitting: FitBuffers,
    /// The number of searches for tokens, which tests measure in place of time.
    pub(super) looks: usize,
}

/// Leaves the encoding of `piece` in `symbols`.
///
/// # Errors
/// `Interrupted`, `Memory`; `Format`, if somebody tampered with the tables.
pub(super) fn merge(vocab: &Vocab, piece: &[u8], buffers: &mut Buffers, symbols: &mut Vec<u32>) -> Result<()> {
    buffers.taken.clear();
    go_on(vocab, piece, 0, buffers)?;
    symbols.clear();
    symbols.room(buffers.taken.len())?;
    symbols.extend(buffers.taken.iter().map(|&(symbol, _)| symbol));
    Ok(())
}

/// Leaves the encoding of `piece` in `taken`, where that of the bytes before `at` is: perhaps with other tokens than
/// those that lead on, and shorter ones.
///
/// # Errors
/// As [`merge`].
pub(super) fn go_on(vocab: &Vocab, piece: &[u8], mut at: usize, buffers: &mut Buffers) -> Result<()> {
    let (tokens, rules) = (vocab.tokens(), vocab.rules());
    let Buffers { taken, dead, beginnings, fitting, looks } = buffers;
    dead.clear();
    dead.room(piece.len() / 64 + 1)?;
    dead.resize(piece.len() / 64 + 1, 0);
    let mut last = taken.last().map_or(NONE, |&(symbol, _)| symbol);
    let mut below = usize::MAX;
    // So many of the first tokens may be shorter than the longest that fits.
    let mut given = taken.len();
    while at < piece.len() {
        let text = &piece[at..];
        *looks += 1;
        if looks.is_multiple_of(LOOKS) {
            interrupt::check()?;
        }
        tokens.look(text, beginnings);
        let next = loop {
            let Some(length) = beginnings.longest_below(below) else { break None };
            below = length;
            let end = at + length;
            if dead[end / 64] >> (end % 64) & 1 == 1 {
                continue;
            }
            let Some(index) = tokens.beginning(text, length, beginnings) else { continue };
            let symbol = rules.symbol(index as usize);
            if symbol != NONE && fit(vocab, last, symbol, fitting) {
                break Some((symbol, length));
            }
        };
        if let Some((symbol, length)) = next {
            taken.room(1)?;
            taken.push((symbol, length as u32));
            (last, at, below) = (symbol, at + length, usize::MAX);
            let run = repeats::take(piece, at, taken)?;
            if run > 0 {
                // Longer tokens were not looked for there.
                (at, given) = (at + run, taken.len());
            }
        } else {
            dead[at / 64] |= 1 << (at % 64);
            // There is an encoding, so that the first place leads on, unless somebody tampered with stored tables.
            let Some((_, length)) = taken.pop() else { return Err(stored::damaged()) };
            (at, below) = (at - length as usize, length as usize);
            if taken.len() < given {
                (given, below) = (taken.len(), usize::MAX);
            }
            last = taken.last().map_or(NONE, |&(symbol, _)| symbol);
        }
    }
    Ok(())
}
