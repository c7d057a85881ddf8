//! Scan a few places of a long piece, then a few more from where the last token began.
//!
//! A sequence of tokens whose neighbours fit is the encoding of its bytes (`fit`). The tokens of one window fit
//! one another, since it was merged alone; so it suffices that the first token of the next window fits the last one kept.
//! The last tokens of each window are dropped, since the text after it could have merged into them. Where two tokens do not
//! fit, one more is dropped.
//!
//! Its weakness: tokens that are long compared with a window, or that depend on distant text. It leaves the rest to
//! `backtrack` as soon as windows gain too little, so that the total is linear.
//!
//! Source: our own.

use crate::error::Result;
use crate::interrupt;
use crate::memory::Room;
use crate::merge::short::Window;
use crate::merge::{backtrack, fit, repeats};
use crate::vocab::Vocab;

/// A window that gains fewer tokens is in vain: `backtrack` takes about as long for each token, however long it is.
const FEWEST: usize = 3;

/// Windows that may be in vain before others have not.
const TRIES: usize = 4;

/// At most one window in this many may be in vain.
const IN_VAIN: usize = 4;

/// Appends the ids of `piece`.
///
/// # Errors
/// `Interrupted`, `Memory`; `Format`, if somebody tampered with stored tables.
pub(super) fn merge(vocab: &Vocab, piece: &[u8], buffers: &mut backtrack::Buffers, ids: &mut Vec<u32>) -> Result<()> {
    let rules = vocab.rules();
    buffers.taken.clear();
    let backtrack::Buffers { taken, fitting, .. } = buffers;
    let (mut at, mut furthest) = (0, 0);
    let (mut windows, mut in_vain) = (0, 0);
    while at < piece.len() {
        interrupt::check()?;
        windows += 1;
        let window = Window::new(vocab, piece, at);
        let mut symbols = window.symbols();
        let Some((mut symbol, mut start)) = symbols.next() else { break };
        if let Some(&(last, length)) = taken.last()
            && !fit(vocab, last, symbol, fitting)
        {
            if !may_be_in_vain(&mut in_vain, windows) {
                break;
            }
            taken.pop();
            at -= length as usize;
            continue;
        }
        let is_last = window.end() == piece.len();
        let before = taken.len();
        for (next, end) in symbols {
            if end > window.kept() && !is_last {
                break;
            }
            taken.room(1)?;
            taken.push((symbol, (end - start) as u32));
            (symbol, start) = (next, end);
        }
        if is_last {
            taken.room(1)?;
            taken.push((symbol, (piece.len() - start) as u32));
            at = piece.len();
            break;
        }
        let gains = start > furthest && taken.len() >= before + FEWEST;
        start += repeats::take(piece, start, taken)?;
        (at, furthest) = (start, furthest.max(start));
        if !gains && !may_be_in_vain(&mut in_vain, windows) {
            break;
        }
    }
    if at < piece.len() {
        backtrack::go_on(vocab, piece, at, buffers)?;
    }
    ids.room(buffers.taken.len())?;
    ids.extend(buffers.taken.iter().map(|&(symbol, _)| rules.id(symbol)));
    Ok(())
}

/// Counts a window that was in vain; whether there may be another.
fn may_be_in_vain(in_vain: &mut usize, windows: usize) -> bool {
    *in_vain += 1;
    *in_vain <= TRIES + windows / IN_VAIN
}
