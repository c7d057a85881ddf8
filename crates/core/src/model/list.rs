//! Merging by a queue of pairs over a linked list of symbols, as in SentencePiece and `tokenizers`.
//!
//! An entry is not removed when its pair goes away: it is found stale when it is popped. The symbols at a place only
//! grow, and a merged symbol is as long as its parts, so that a pair that replaces another one never has its rank. Each merge adds at most two entries: n log n on every input.

use crate::error::Result;
use crate::memory::Room;
use crate::merge::Queue;

/// No neighbour on this side.
const END: u32 = u32::MAX;

/// So many entries, and it is asked whether they are still wanted.
const ENTRIES: usize = 1024;

/// A symbol of a piece: a token, and the number of bytes that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    pub(super) token: u32,
    pub(super) length: u32,
}

#[derive(Clone, Copy)]
struct Node {
    token: u32,
    previous: u32,
    next: u32,
    gone: bool,
}

/// The list, and the queue; an entry is the rank in the upper half and the place in the lower, so that equal ranks come
/// out from left to right.
#[derive(Default)]
pub(super) struct List {
    nodes: Vec<Node>,
    queue: Queue,
    skipped: Vec<u64>,
}

impl List {
    /// Merges `symbols` until no pair is left, the lowest rank first. `pair` gives the rank of two tokens and what they
    /// become. Where `skip` says so, what is first in the queue waits until something else was taken. An
    /// error of `ask` ends it.
    pub(super) fn merge(
        &mut self,
        symbols: &mut Vec<Symbol>,
        pair: impl Fn(u32, u32) -> Option<(u32, u32)>,
        mut skip: impl FnMut() -> bool,
        ask: impl Fn() -> Result<()>,
    ) -> Result<()> {
        let Self { nodes, queue, skipped } = self;
        nodes.clear();
        nodes.room(symbols.len())?;
        nodes.extend((0..).zip(symbols.iter()).map(|(at, symbol): (u32, _)| Node {
            token: symbol.token,
            previous: at.wrapping_sub(1),
            next: at + 1,
            gone: false,
        }));
        let Some(last) = nodes.last_mut() else { return Ok(()) };
        last.next = END;

        queue.fill(nodes.len(), |entries| {
            for at in 0..nodes.len() as u32 {
                if (at as usize).is_multiple_of(ENTRIES) {
                    ask()?;
                }
                entries.extend(candidate(nodes, at, &pair).map(|(rank, _)| entry(at, rank)));
            }
            Ok(())
        })?;
        skipped.clear();

        let mut taken = 0_usize;
        while let Some(top) = queue.pop()? {
            taken += 1;
            if taken.is_multiple_of(ENTRIES) {
                ask()?;
            }
            if skip() {
                skipped.room(1)?;
                skipped.push(top);
                continue;
            }
            skipped.drain(..).try_for_each(|entry| queue.push(entry))?;
            let (rank, at) = ((top >> 32) as u32, top as u32);
            let Some((_, product)) = candidate(nodes, at, &pair).filter(|&(now, _)| now == rank) else { continue };
            let gone = nodes[at as usize].next;
            let next = nodes[gone as usize].next;
            nodes[gone as usize].gone = true;
            nodes[at as usize].token = product;
            nodes[at as usize].next = next;
            symbols[at as usize].token = product;
            if let Some(node) = nodes.get_mut(next as usize) {
                node.previous = at;
            }
            for start in [nodes[at as usize].previous, at] {
                if let Some((rank, _)) = candidate(nodes, start, &pair) {
                    queue.push(entry(start, rank))?;
                }
            }
        }

        let mut kept = 0;
        for at in 0..nodes.len() {
            if nodes[at].gone {
                symbols[kept - 1].length += symbols[at].length;
            } else {
                symbols[kept] = symbols[at];
                kept += 1;
            }
        }
        symbols.truncate(kept);
        Ok(())
    }
}

fn entry(at: u32, rank: u32) -> u64 {
    u64::from(rank) << 32 | u64::from(at)
}

/// The rank and the product of the pair that begins at `at`, if there is one and it merges.
fn candidate(nodes: &[Node], at: u32, pair: impl Fn(u32, u32) -> Option<(u32, u32)>) -> Option<(u32, u32)> {
    let node = nodes.get(at as usize).filter(|node| !node.gone)?;
    pair(node.token, nodes.get(node.next as usize)?.token)
}
