//! A min-heap of (rank, position) over a linked list of the piece's ids, as in SentencePiece and `tokenizers`.
//!
//! An entry is not removed when its pair goes away: it is found stale when it is popped. Each merge adds at most two
//! entries, so that the whole is n log n on every input. Its weakness: the heap's cache misses, on every short piece.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::Result;
use crate::merge::byte_ids;
use crate::vocab::{Merge, NO_ID, Vocab};

/// No neighbour on this side.
const END: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node {
    /// The id here, or [`NO_ID`] once it has been merged into its left neighbour.
    id: u32,
    previous: u32,
    next: u32,
}

/// The list and the heap; an entry is the rank in the upper half and the position in the lower, so that equal ranks
/// come out from left to right.
#[derive(Default)]
pub(super) struct Buffers {
    nodes: Vec<Node>,
    queue: BinaryHeap<Reverse<u64>>,
}

pub(super) fn merge(vocab: &Vocab, piece: &[u8], buffers: &mut Buffers, ids: &mut Vec<u32>) -> Result<()> {
    let Buffers { nodes, queue } = buffers;
    nodes.clear();
    for (at, id) in byte_ids(vocab, piece).enumerate() {
        let at = at as u32;
        nodes.push(Node { id: id?, previous: at.wrapping_sub(1), next: at + 1 });
    }
    let Some(last) = nodes.last_mut() else { return Ok(()) };
    last.next = END;

    let mut entries = std::mem::take(queue).into_vec();
    entries.clear();
    entries.extend((0..nodes.len() as u32).filter_map(|at| Some(entry(pair_at(vocab, nodes, at)?, at))));
    *queue = BinaryHeap::from(entries);

    while let Some(Reverse(top)) = queue.pop() {
        let (rank, at) = ((top >> 32) as u32, top as u32);
        let Some(merge) = pair_at(vocab, nodes, at).filter(|merge| merge.rank == rank) else { continue };
        let gone = nodes[at as usize].next;
        let next = nodes[gone as usize].next;
        nodes[gone as usize].id = NO_ID;
        nodes[at as usize].id = merge.id;
        nodes[at as usize].next = next;
        if let Some(node) = nodes.get_mut(next as usize) {
            node.previous = at;
        }
        let previous = nodes[at as usize].previous;
        queue.extend([previous, at].into_iter().filter_map(|start| Some(entry(pair_at(vocab, nodes, start)?, start))));
    }
    ids.extend(nodes.iter().map(|node| node.id).filter(|&id| id != NO_ID));
    Ok(())
}

fn entry(merge: Merge, at: u32) -> Reverse<u64> {
    Reverse(u64::from(merge.rank) << 32 | u64::from(at))
}

/// What the id at `at` and its right neighbour merge into.
fn pair_at(vocab: &Vocab, nodes: &[Node], at: u32) -> Option<Merge> {
    let node = nodes.get(at as usize).filter(|node| node.id != NO_ID)?;
    vocab.merge(node.id, nodes.get(node.next as usize)?.id)
}
