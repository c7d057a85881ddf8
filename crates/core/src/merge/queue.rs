//! A queue of whole numbers, the least first, of which most come at once or in order: the entries of merges.
//!
//! A heap alone misses the cache at each level of each step. Here what is there is sorted, and what comes later waits in a heap,
//! until it is less than what is left of the sorted entries, or until nothing is left of them: then it is sorted in its turn.
//! An entry is sorted at most twice and goes through the heap at most once: n log n, and linear for entries that come in
//! order, as those of a long run of one letter.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::{Error, Result};
use crate::memory::Room;

/// The entries.
#[derive(Default)]
pub(crate) struct Queue {
    /// Entries in order, of which some were taken.
    sorted: Vec<u64>,
    taken: usize,
    later: BinaryHeap<Reverse<u64>>,
}

impl Queue {
    /// Replaces all entries by those that `add` appends, of which there are at most so many.
    ///
    /// # Errors
    /// Those of `add`; `Memory`, if there is no room.
    pub(crate) fn fill(&mut self, most: usize, add: impl FnOnce(&mut Vec<u64>) -> Result<()>) -> Result<()> {
        self.later.clear();
        self.sorted.clear();
        self.taken = 0;
        self.sorted.room(most)?;
        add(&mut self.sorted)?;
        self.sorted.sort_unstable();
        Ok(())
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// `Memory`, if there is no room.
    pub(crate) fn push(&mut self, entry: u64) -> Result<()> {
        self.later.try_reserve(1).map_err(|_| Error::memory())?;
        self.later.push(Reverse(entry));
        Ok(())
    }

    /// Takes the least entry.
    ///
    /// # Errors
    /// `Memory`, if there is no room.
    pub(crate) fn pop(&mut self) -> Result<Option<u64>> {
        if self.taken == self.sorted.len() {
            self.sorted.clear();
            self.taken = 0;
            self.sorted.room(self.later.len())?;
            self.sorted.extend(self.later.drain().map(|entry| entry.0));
            self.sorted.sort_unstable();
        }
        let Some(&first) = self.sorted.get(self.taken) else { return Ok(None) };
        if self.later.peek().is_some_and(|later| later.0 < first) {
            return Ok(self.later.pop().map(|entry| entry.0));
        }
        self.taken += 1;
        Ok(Some(first))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_as_from_a_heap() {
        let mut seed = 7_u64;
        let mut next = move |most: u64| {
            seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            (seed >> 33) % most
        };
        let mut queue = Queue::default();
        for _ in 0..200 {
            let most = 1 + next(40);
            let first: Vec<u64> = (0..next(30)).map(|_| next(most)).collect();
            let mut heap: BinaryHeap<Reverse<u64>> = first.iter().copied().map(Reverse).collect();
            queue
                .fill(first.len(), |entries| {
                    entries.extend(&first);
                    Ok(())
                })
                .unwrap();
            for _ in 0..60 {
                if next(3) == 0 {
                    let entry = next(most);
                    heap.push(Reverse(entry));
                    queue.push(entry).unwrap();
                } else {
                    assert_eq!(queue.pop().unwrap(), heap.pop().map(|entry| entry.0));
                }
            }
        }
    }
}
