//! Pairs that may still merge: their counts, postings and order.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::error::Result;
use crate::memory::{self, Room};
use crate::train::byte_pairs::pair::{Pair, Place, symbols_of};
use crate::train::byte_pairs::queue::Queue;
use crate::train::byte_pairs::settings::Ties;
use crate::train::byte_pairs::symbols::Symbols;
use crate::train::byte_pairs::tally::Outbox;
use crate::train::overflow;

/// A pair in the queue, with its count and first place when it was put there; the truth may be worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) count: u64,
    pub(super) pair: u64,
    /// Only under [`Ties::FirstSeen`].
    pub(super) first: Place,
}

/// The pairs of one worker.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) pairs: HashMap<u64, Pair, FxBuildHasher>,
    /// Those that were at least as frequent as `bar` when they came.
    pub(super) queue: Queue<Entry>,
    bar: u64,
    /// The others, in no order: most are never needed, and a small queue is fast.
    later: Vec<Entry>,
    /// Gains of several parts of the words, added up.
    sums: HashMap<u64, Pair, FxBuildHasher>,
    new: Vec<u64>,
}

impl Shard {
    pub(super) fn new() -> Self {
        Self {
            pairs: HashMap::default(),
            queue: Queue::new(),
            bar: u64::MAX,
            later: Vec::new(),
            sums: HashMap::default(),
            new: Vec::new(),
        }
    }

    /// Forgets all pairs, before they are counted again.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Applies the reports of the parts of the words to this shard, without pairs below `floor`.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn apply(
        &mut self,
        outboxes: &[impl std::ops::Deref<Target = Outbox>],
        shard: usize,
        floor: u64,
    ) -> Result<()> {
        if let [outbox] = outboxes {
            for gain in &outbox.gains[shard] {
                let postings = memory::collect(outbox.postings(gain).iter().copied())?;
                self.pairs.room(1)?;
                self.pairs.insert(gain.pair, Pair { count: gain.count, postings });
                memory::push(&mut self.new, gain.pair)?;
            }
        } else {
            for gain in outboxes.iter().flat_map(|outbox| &outbox.gains[shard]) {
                self.sums.room(1)?;
                self.sums.entry(gain.pair).or_default().count += gain.count;
            }
            self.sums.retain(|_, sum| sum.count >= floor);
            for outbox in outboxes {
                for gain in &outbox.gains[shard] {
                    if let Some(sum) = self.sums.get_mut(&gain.pair) {
                        memory::extend(&mut sum.postings, outbox.postings(gain).iter().copied())?;
                    }
                }
            }
            memory::extend(&mut self.new, self.sums.keys().copied())?;
            self.pairs.room(self.sums.len())?;
            self.pairs.extend(self.sums.drain());
        }
        for &(pair, count) in outboxes.iter().flat_map(|outbox| &outbox.losses[shard]) {
            // Pairs that are too rare or too long are not there.
            if let Some(pair) = self.pairs.get_mut(&pair) {
                pair.count -= count;
            }
        }
        Ok(())
    }

    /// Takes pairs counted from scratch in one part of the words.
    ///
    /// # Errors
    /// `Training`, if a count does not fit into 64 bits; `Memory`.
    pub(super) fn collect(&mut self, counted: Vec<(u64, Pair)>) -> Result<()> {
        for (pair, more) in counted {
            self.pairs.room(1)?;
            let known = self.pairs.entry(pair).or_default();
            known.count = known.count.checked_add(more.count).ok_or_else(overflow)?;
            if known.postings.is_empty() {
                known.postings = more.postings;
            } else {
                memory::extend(&mut known.postings, more.postings)?;
            }
        }
        Ok(())
    }

    /// Drops pairs below `floor`, after all were collected.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn settle(&mut self, floor: u64) -> Result<()> {
        self.pairs.retain(|_, pair| pair.count >= floor);
        // `shrink_to_fit` would end the process where there is no memory for both.
        let mut kept = HashMap::default();
        kept.room(self.pairs.len())?;
        kept.extend(self.pairs.drain());
        self.pairs = kept;
        memory::extend(&mut self.new, self.pairs.keys().copied())
    }

    /// Enqueues the pairs that came since the last call.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn enqueue(
        &mut self,
        floor: u64,
        order: &Order,
        first: impl Fn(&mut Pair, [u32; 2]) -> Place,
    ) -> Result<()> {
        for pair in self.new.drain(..) {
            let Some(known) = self.pairs.get_mut(&pair) else { continue };
            if known.count < floor {
                self.pairs.remove(&pair);
                continue;
            }
            let entry = Entry { count: known.count, pair, first: first(known, symbols_of(pair)) };
            if entry.count < self.bar {
                memory::push(&mut self.later, entry)?;
            } else {
                self.queue.push(entry, |a, b| order.before(a, b))?;
            }
        }
        Ok(())
    }

    /// Lowers the bar, so that something gets over it; false if nothing is left.
    fn lower_bar(&mut self, order: &Order) -> Result<bool> {
        let most = self.later.iter().map(|entry| entry.count).max();
        self.bar = most.map_or(0, |most| most - most / 4);
        let mut at = 0;
        while let Some(&entry) = self.later.get(at) {
            if entry.count < self.bar {
                at += 1;
            } else {
                self.later.swap_remove(at);
                self.queue.push(entry, |a, b| order.before(a, b))?;
            }
        }
        Ok(most.is_some())
    }

    /// The first pair that merges, its entry corrected; pairs below `floor` are dropped where they are met.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn peek(
        &mut self,
        floor: u64,
        order: &Order,
        first: impl Fn(&mut Pair, [u32; 2]) -> Place,
    ) -> Result<Option<Entry>> {
        let before = |a: &Entry, b: &Entry| order.before(a, b);
        loop {
            let Some(&entry) = self.queue.peek() else {
                if self.lower_bar(order)? {
                    continue;
                }
                return Ok(None);
            };
            let Some(known) = self.pairs.get_mut(&entry.pair) else {
                self.queue.pop(before);
                continue;
            };
            if known.count < floor {
                self.pairs.remove(&entry.pair);
                self.queue.pop(before);
                continue;
            }
            let truth = Entry { count: known.count, first: first(known, symbols_of(entry.pair)), ..entry };
            if truth == entry {
                return Ok(Some(entry));
            }
            if truth.count < self.bar {
                self.queue.pop(before);
                memory::push(&mut self.later, truth)?;
            } else {
                self.queue.replace_top(truth, before);
            }
        }
    }
}

/// Which of two pairs merges first.
pub(super) struct Order<'a> {
    pub(super) ties: Ties,
    pub(super) symbols: &'a Symbols,
}

impl Order<'_> {
    /// Whether entry `a` merges before entry `b`.
    #[inline]
    pub(super) fn before(&self, a: &Entry, b: &Entry) -> bool {
        if a.count != b.count {
            return a.count > b.count;
        }
        let bytes = |entry: &Entry| symbols_of(entry.pair).map(|symbol| &*self.symbols.bytes[symbol as usize]);
        match self.ties {
            Ties::LowestIds => a.pair < b.pair,
            Ties::GreatestBytes => bytes(a) > bytes(b),
            Ties::SmallestBytes => bytes(a) < bytes(b),
            Ties::FirstSeen => a.first < b.first,
        }
    }
}
