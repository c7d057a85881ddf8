//! Pairs that may still merge: their counts, postings and order.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};
use crate::memory::{self, Room};
use crate::train::byte_pairs::pair::{Pair, Place, key, symbols_of};
use crate::train::byte_pairs::queue::Queue;
use crate::train::byte_pairs::settings::Ties;
use crate::train::byte_pairs::symbols::{Joining, Symbols};
use crate::train::byte_pairs::tally::{Outbox, Row};
use crate::train::{Progress, overflow};

/// The records between two checks of the stop flag.
const RECORDS: usize = 1 << 16;

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
    new: Vec<u64>,
    /// While a merge is applied: the sums of its neighbours, the pairs that it makes, and by slot the number of either, or 0.
    sums: Vec<Row>,
    gained: Vec<(u64, Pair)>,
    places: Vec<u32>,
}

impl Shard {
    pub(super) fn new() -> Self {
        Self {
            pairs: HashMap::default(),
            queue: Queue::new(),
            bar: u64::MAX,
            later: Vec::new(),
            new: Vec::new(),
            sums: Vec::new(),
            gained: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Forgets all pairs, before they are counted again.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Applies the reports of the parts of the words: the gains of the merges that are this shard's, and all losses of its
    /// pairs.
    ///
    /// Parts are added up by symbol in an array, since a merge has few neighbours, and what is gained below the floor, which
    /// is most, is not stored.
    ///
    /// # Errors
    /// `Memory`, `Interrupted`.
    pub(super) fn apply<'m>(
        &mut self,
        outboxes: &[impl std::ops::Deref<Target = Outbox>],
        shard: usize,
        merges: impl Iterator<Item = (usize, &'m Joining)>,
        (symbols, floor): (&Symbols, u64),
        progress: &Progress,
    ) -> Result<()> {
        let wanted = 2 * symbols.len();
        self.places.room(wanted - self.places.len())?;
        self.places.resize(wanted, 0);
        for (number, merge) in merges {
            self.gain(outboxes.iter().map(|outbox| outbox.of_merge(number)), merge, (symbols, floor), progress)?;
        }
        for &(pair, count) in outboxes.iter().flat_map(|outbox| &outbox.losses[shard]) {
            // Pairs that are too rare or too long are not there.
            if let Some(pair) = self.pairs.get_mut(&pair) {
                pair.count -= count;
            }
        }
        Ok(())
    }

    /// Takes the pairs that a merge makes, from the reports of all parts.
    fn gain<'r>(
        &mut self,
        parts: impl Iterator<Item = (&'r [Row], &'r [(u32, u32)])> + Clone,
        merge: &Joining,
        (symbols, floor): (&Symbols, u64),
        progress: &Progress,
    ) -> Result<()> {
        let Self { pairs, new, places, sums, gained, .. } = self;
        let mut rows = parts.clone().map(|part| part.0);
        let sums = if let (Some(rows), None) = (rows.next(), rows.next()) {
            rows
        } else {
            add_up(parts.clone().flat_map(|part| part.0), sums, places)?;
            sums
        };
        for sum in sums {
            let [left, right] = sum.pairs(merge).1;
            let mut place = 0;
            if sum.count >= floor && symbols.fits(left, right) {
                let mut postings = Vec::new();
                postings.try_reserve_exact(sum.postings as usize).map_err(|_| Error::memory())?;
                memory::push(gained, (key(left, right), Pair { count: sum.count, postings }))?;
                place = gained.len() as u32;
            }
            places[sum.slot as usize] = place;
        }
        for some in parts.flat_map(|part| part.1.chunks(RECORDS)) {
            progress.check()?;
            for &(slot, posting) in some {
                if let Some(place) = places[slot as usize].checked_sub(1) {
                    gained[place as usize].1.postings.push(posting);
                }
            }
        }
        for sum in sums {
            places[sum.slot as usize] = 0;
        }
        pairs.room(gained.len())?;
        for (pair, known) in gained.drain(..) {
            memory::push(new, pair)?;
            pairs.insert(pair, known);
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

/// Adds up the rows of a slot, whose number among the sums is in `places`.
fn add_up<'r>(rows: impl Iterator<Item = &'r Row>, sums: &mut Vec<Row>, places: &mut [u32]) -> Result<()> {
    sums.clear();
    for row in rows {
        let place = &mut places[row.slot as usize];
        if let Some(known) = place.checked_sub(1) {
            sums[known as usize].count += row.count;
            sums[known as usize].postings += row.postings;
        } else {
            memory::push(sums, *row)?;
            *place = sums.len() as u32;
        }
    }
    Ok(())
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
