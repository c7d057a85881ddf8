//! Scan all pairs for the lowest rank, merge it, update the two ranks beside it, again.
//!
//! Its weakness: quadratic in the length of the piece. On a handful of bytes nothing is faster.

use crate::error::Result;
use crate::merge::byte_ids;
use crate::vocab::Vocab;

/// No pair starts here.
pub(super) const NO_RANK: u32 = u32::MAX;

/// The ids of the piece so far, and the rank of each id's pair with the next.
#[derive(Default)]
pub(super) struct Buffers {
    symbols: Vec<u32>,
    ranks: Vec<u32>,
}

/// Merges what ranks below `limit`, which is [`NO_RANK`] for everything.
pub(super) fn merge(vocab: &Vocab, piece: &[u8], limit: u32, buffers: &mut Buffers, ids: &mut Vec<u32>) -> Result<()> {
    let Buffers { symbols, ranks } = buffers;
    symbols.clear();
    for id in byte_ids(vocab, piece) {
        symbols.push(id?);
    }
    let rank = |symbols: &[u32], at: usize| match symbols.get(at..at + 2) {
        Some(&[left, right]) => vocab.merge(left, right).map_or(NO_RANK, |merge| merge.rank),
        _ => NO_RANK,
    };
    ranks.clear();
    ranks.extend((0..symbols.len()).map(|at| rank(symbols, at)));
    while let Some((at, _)) = lowest(ranks).filter(|&(_, rank)| rank < limit) {
        let Some(merge) = vocab.merge(symbols[at], symbols[at + 1]) else { break };
        symbols[at] = merge.id;
        symbols.remove(at + 1);
        ranks.remove(at + 1);
        ranks[at] = rank(symbols, at);
        if at > 0 {
            ranks[at - 1] = rank(symbols, at - 1);
        }
    }
    ids.extend_from_slice(symbols);
    Ok(())
}

/// Where the lowest rank is, the leftmost of equal ones.
fn lowest(ranks: &[u32]) -> Option<(usize, u32)> {
    let mut best = (0, NO_RANK);
    for (at, &rank) in ranks.iter().enumerate() {
        if rank < best.1 {
            best = (at, rank);
        }
    }
    (best.1 != NO_RANK).then_some(best)
}
