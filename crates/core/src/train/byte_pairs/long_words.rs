//! Long pieces, merged by position: a merge reads only the occurrences and their neighbours.
//!
//! Every symbol of the alphabet keeps its slot. A token of several symbols covers as many slots: the first holds the token,
//! the last, flagged, the distance back to the first; those between are flagged as well. So the gap itself is the link: the
//! next token starts `width` slots further, and the previous one ends in the slot before, which is its start or holds the
//! distance to it. A posting is the slot where an occurrence starts; it is stale if other symbols are there now.
//!
//! Cost: O(1) for each posting, so that merging a text of n symbols visits O(n) postings for all merges that make its
//! symbols fewer, and as many again that are stale.

use crate::error::{Error, Kind, Result};
use crate::memory;
use crate::prefetch::prefetch;
use crate::train::Progress;
use crate::train::byte_pairs::pair::Place;
use crate::train::byte_pairs::symbols::{Joining, Symbols};
use crate::train::byte_pairs::tally::Tally;

/// No token starts here.
const INSIDE: u32 = 1 << 31;

/// Between two words.
const BOUNDARY: u32 = u32::MAX;

/// The number of postings that are prefetched.
const AHEAD: usize = 16;

/// The steps between two checks of the stop flag.
const STEPS: usize = 1 << 14;

/// The long words.
#[derive(Debug, Default)]
pub(super) struct LongWords {
    /// The number of the first slot in postings.
    pub(super) base: u32,
    slots: Vec<u32>,
    /// Where each word starts, and its count.
    starts: Vec<(u32, u64)>,
    /// The place of each word among all words.
    pub(super) orders: Vec<u32>,
}

impl LongWords {
    /// Appends a word.
    ///
    /// # Errors
    /// `Training`, if there are more than 2^31 symbols in long words; `Memory`, `Interrupted`.
    pub(super) fn push(
        &mut self,
        mut symbols: impl Iterator<Item = u32>,
        count: u64,
        progress: &Progress,
    ) -> Result<()> {
        if self.slots.is_empty() {
            memory::push(&mut self.slots, BOUNDARY)?;
        }
        memory::push(&mut self.starts, (self.slots.len() as u32, count))?;
        loop {
            progress.check()?;
            let before = self.slots.len();
            memory::extend(&mut self.slots, symbols.by_ref().take(1 << 20))?;
            if self.slots.len() >= INSIDE as usize {
                return Err(Error::new(Kind::Training, "there are 2^31 symbols or more in long pieces")
                    .remedy("use a split pattern that makes short pieces, or less text"));
            }
            if self.slots.len() == before {
                return memory::push(&mut self.slots, BOUNDARY);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The number of words.
    pub(super) fn words(&self) -> usize {
        self.starts.len()
    }

    /// The slot where the token before this one starts, or that of a boundary.
    #[inline]
    fn before(&self, at: usize) -> usize {
        let last = self.slots[at - 1];
        if last == BOUNDARY || last < INSIDE { at - 1 } else { at - 1 - (last - INSIDE) as usize }
    }

    #[inline]
    fn is_pair(&self, at: usize, merge: &Joining) -> bool {
        // A token never reaches over a boundary.
        self.slots[at] == merge.left && self.slots[at + merge.left_width as usize] == merge.right
    }

    /// The word at a slot, looked for from word `from` on.
    #[inline]
    fn word(&self, at: usize, from: usize) -> usize {
        match self.starts.get(from + 1) {
            Some(next) if next.0 as usize <= at => {
                from + self.starts[from + 1..].partition_point(|word| word.0 as usize <= at)
            }
            _ => from,
        }
    }

    /// Calls `visit(left, right, count, posting)` for every two adjacent symbols.
    pub(super) fn for_each_pair(
        &self,
        symbols: &Symbols,
        progress: &Progress,
        mut visit: impl FnMut(u32, u32, u64, u32) -> Result<()>,
    ) -> Result<()> {
        let mut steps = 0_usize;
        for &(start, count) in &self.starts {
            let mut at = start as usize;
            let mut left = self.slots[at];
            while left != BOUNDARY {
                let next = at + symbols.widths[left as usize] as usize;
                let right = self.slots[next];
                if right != BOUNDARY {
                    visit(left, right, count, self.base + at as u32)?;
                }
                (at, left) = (next, right);
                steps += 1;
                if steps.is_multiple_of(STEPS) {
                    progress.check()?;
                }
            }
        }
        Ok(())
    }

    /// Merges a pair at its postings, each occurrence from left to right, and tallies its neighbours.
    pub(super) fn merge(
        &mut self,
        postings: &[u32],
        merge: &Joining,
        tally: &mut Tally,
        progress: &Progress,
    ) -> Result<()> {
        let (left, right) = (merge.left_width as usize, merge.right_width as usize);
        let mut word = 0;
        for many in postings.chunks(STEPS) {
            progress.check()?;
            for (number, &posting) in many.iter().enumerate() {
                if let Some(later) = many.get(number + AHEAD) {
                    prefetch(&self.slots, (later - self.base) as usize);
                }
                let at = (posting - self.base) as usize;
                if !self.is_pair(at, merge) {
                    continue;
                }
                word = self.word(at, word);
                let count = self.starts[word].1;
                let (before, after) = (self.before(at), at + left + right);
                if self.slots[before] != BOUNDARY {
                    tally.left(self.slots[before], count, self.base + before as u32);
                }
                if self.slots[after] != BOUNDARY && !self.is_pair(after, merge) {
                    tally.right(self.slots[after], count, posting);
                }
                tally.merged(count);
                self.slots[at] = merge.joined;
                self.slots[at + left] = INSIDE;
                self.slots[after - 1] = INSIDE | (left + right - 1) as u32;
            }
        }
        Ok(())
    }

    /// Where the pair of a posting is, if it still is there.
    pub(super) fn first(&self, posting: u32, pair: [u32; 2], symbols: &Symbols) -> Option<Place> {
        let at = (posting - self.base) as usize;
        if self.slots[at] != pair[0] || self.slots[at + symbols.widths[pair[0] as usize] as usize] != pair[1] {
            return None;
        }
        let word = self.word(at, 0);
        Some((self.orders[word], at as u32 - self.starts[word].0))
    }
}
