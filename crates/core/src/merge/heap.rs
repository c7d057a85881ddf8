//! A queue of (rank, position) over a linked list of the piece's symbols, as in SentencePiece and `tokenizers`.
//!
//! An entry is not removed when its pair goes away: it is found stale when it is popped. Each merge adds at most two
//! entries, so that the total is n log n on every input.
//!
//! Its weakness: cache misses of the queue, on every short piece.

use super::Queue;
use crate::error::Result;
use crate::memory::Room;
use crate::vocab::{NONE, Rules};

/// No neighbour on this side.
const END: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node {
    /// The symbol here, or [`NONE`] once it has been merged into its left neighbour.
    symbol: u32,
    previous: u32,
    next: u32,
}

/// The list and the heap; an entry is the value in the upper half and the position in the lower, so that equal values
/// come out from left to right.
#[derive(Default)]
pub(super) struct Buffers {
    nodes: Vec<Node>,
    queue: Queue,
}

/// So many entries of the heap, and it is asked whether they are still wanted.
const ENTRIES: usize = 1024;

/// Merges all pairs that rank below `limit`, which is [`NONE`] for no limit; `symbols` are bytes and become the encoding,
/// unless `ask` has an error, which it then returns.
pub(super) fn merge(
    rules: &Rules,
    limit: u32,
    buffers: &mut Buffers,
    symbols: &mut Vec<u32>,
    ask: impl Fn() -> Result<()>,
) -> Result<()> {
    let Buffers { nodes, queue } = buffers;
    nodes.clear();
    nodes.room(symbols.len())?;
    nodes.extend((0..).zip(symbols.iter()).map(|(at, &symbol): (u32, _)| Node {
        symbol,
        previous: at.wrapping_sub(1),
        next: at + 1,
    }));
    let Some(last) = nodes.last_mut() else { return Ok(()) };
    last.next = END;

    queue.fill(nodes.len(), |entries| {
        for at in 0..nodes.len() as u32 {
            if (at as usize).is_multiple_of(ENTRIES) {
                ask()?;
            }
            entries.extend(entry(rules, nodes, at, limit));
        }
        Ok(())
    })?;

    let mut taken = 0_usize;
    while let Some(top) = queue.pop()? {
        taken += 1;
        if taken.is_multiple_of(ENTRIES) {
            ask()?;
        }
        let (value, at) = ((top >> 32) as u32, top as u32);
        if entry(rules, nodes, at, limit) != Some(top) {
            continue;
        }
        let gone = nodes[at as usize].next;
        let next = nodes[gone as usize].next;
        nodes[gone as usize].symbol = NONE;
        nodes[at as usize].symbol = rules.product(value);
        nodes[at as usize].next = next;
        if let Some(node) = nodes.get_mut(next as usize) {
            node.previous = at;
        }
        let previous = nodes[at as usize].previous;
        [previous, at]
            .into_iter()
            .filter_map(|start| entry(rules, nodes, start, limit))
            .try_for_each(|entry| queue.push(entry))?;
    }
    symbols.clear();
    symbols.extend(nodes.iter().map(|node| node.symbol).filter(|&symbol| symbol != NONE));
    Ok(())
}

/// The entry of the pair that begins at `at`, if there is one and it ranks below `limit`.
fn entry(rules: &Rules, nodes: &[Node], at: u32, limit: u32) -> Option<u64> {
    let node = nodes.get(at as usize).filter(|node| node.symbol != NONE)?;
    let value = rules.value(node.symbol, nodes.get(node.next as usize)?.symbol);
    (value < limit).then_some(u64::from(value) << 32 | u64::from(at))
}
