//! The changes of a merge, added up by neighbour.
//!
//! Where (a, b) becomes c, the pairs (x, a) and (b, y) around it are lost, and (x, c) and (c, y) gained. Neighbours are
//! few and occurrences many, so that counts are added up in an array by symbol first. Occurrences that touch (`abab`,
//! `aaaa`) meet as c: the neighbour on the left is c itself then, (b, a) is lost, and (c, c) gained.

use crate::error::{Error, Result};
use crate::memory::{self, Room};
use crate::train::Progress;
use crate::train::byte_pairs::pair::{Pair, key};
use crate::train::byte_pairs::symbols::{Joining, Symbols};

/// The records between two checks of the stop flag, and the number of records that keep their memory.
const RECORDS: usize = 1 << 16;

/// The sums of a symbol beside the occurrences, on one side.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbour {
    count: u64,
    /// How many postings, and the last of them: a word counts once.
    postings: u32,
    last: u32,
}

/// Neighbours of the occurrences of one pair.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By symbol, each on the left and on the right.
    neighbours: Vec<Neighbour>,
    /// Those that were met.
    touched: Vec<u32>,
    /// Each with its postings, as they came.
    records: Vec<(u32, u32)>,
    occurrences: u128,
    /// Whether a record was dropped, for which there was no memory.
    short: bool,
}

/// A pair gained, and where in [`Outbox::postings`] its postings are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gain {
    pub(super) pair: u64,
    pub(super) count: u64,
    start: usize,
    length: u32,
}

/// The report of one part of the words, by shard of pairs.
#[derive(Debug)]
pub(super) struct Outbox {
    pub(super) tally: Tally,
    pub(super) losses: Vec<Vec<(u64, u64)>>,
    pub(super) gains: Vec<Vec<Gain>>,
    postings: Vec<u32>,
    /// Pairs counted from scratch.
    pub(super) counted: Vec<Vec<(u64, Pair)>>,
    /// For [`crate::train::byte_pairs::recount`].
    pub(super) filter: Vec<u32>,
}

impl Tally {
    /// `x` on the left of an occurrence.
    #[inline]
    pub(super) fn left(&mut self, symbol: u32, count: u64, posting: u32) {
        self.add(symbol * 2, count, posting);
    }

    /// `y` on the right of an occurrence, which is not the start of the next one.
    #[inline]
    pub(super) fn right(&mut self, symbol: u32, count: u64, posting: u32) {
        self.add(symbol * 2 + 1, count, posting);
    }

    #[inline]
    pub(super) fn merged(&mut self, count: u64) {
        self.occurrences += u128::from(count);
    }

    #[inline]
    fn add(&mut self, slot: u32, count: u64, posting: u32) {
        let neighbour = &mut self.neighbours[slot as usize];
        neighbour.count += count;
        if neighbour.postings == 0 {
            self.touched.push(slot);
        } else if neighbour.last == posting {
            return;
        }
        neighbour.postings += 1;
        neighbour.last = posting;
        self.short |= memory::push(&mut self.records, (slot, posting)).is_err();
    }
}

impl Outbox {
    pub(super) fn new(shards: usize) -> Self {
        Self {
            tally: Tally::default(),
            losses: vec![Vec::new(); shards],
            gains: vec![Vec::new(); shards],
            postings: Vec::new(),
            counted: (0..shards).map(|_| Vec::new()).collect(),
            filter: Vec::new(),
        }
    }

    /// Makes room for the neighbours of merges.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn prepare(&mut self, symbols: &Symbols) -> Result<()> {
        let Tally { neighbours, touched, .. } = &mut self.tally;
        let wanted = 2 * symbols.widths.len();
        neighbours.room(wanted - neighbours.len())?;
        neighbours.resize(wanted, Neighbour::default());
        touched.room(wanted)
    }

    /// The occurrences since the last call.
    pub(super) fn take_occurrences(&mut self) -> u128 {
        std::mem::take(&mut self.tally.occurrences)
    }

    pub(super) fn postings(&self, gain: &Gain) -> &[u32] {
        &self.postings[gain.start..gain.start + gain.length as usize]
    }

    pub(super) fn clear(&mut self) {
        self.losses.iter_mut().for_each(Vec::clear);
        self.gains.iter_mut().for_each(Vec::clear);
        self.postings.clear();
    }

    /// Reports the changes of a merge, without gains below `floor`.
    ///
    /// # Errors
    /// `Memory`, `Interrupted`.
    pub(super) fn report(
        &mut self,
        merge: &Joining,
        symbols: &Symbols,
        floor: u64,
        progress: &Progress,
        shard: impl Fn(u64) -> usize,
    ) -> Result<()> {
        let Tally { neighbours, touched, records, short, .. } = &mut self.tally;
        if *short {
            return Err(Error::memory());
        }
        let Joining { left, right, joined, .. } = *merge;
        let mut next = self.postings.len();
        for &slot in &*touched {
            let (symbol, on_the_right) = (slot / 2, slot % 2 == 1);
            let (lost, gained) = if on_the_right {
                (key(right, symbol), (joined, symbol))
            } else {
                (if symbol == joined { key(right, left) } else { key(symbol, left) }, (symbol, joined))
            };
            let neighbour = &mut neighbours[slot as usize];
            memory::push(&mut self.losses[shard(lost)], (lost, neighbour.count))?;
            let length = std::mem::take(&mut neighbour.postings);
            if neighbour.count >= floor && symbols.fits(gained.0, gained.1) {
                let pair = key(gained.0, gained.1);
                let gain = Gain { pair, count: neighbour.count, start: next, length };
                memory::push(&mut self.gains[shard(pair)], gain)?;
                // From here on a cursor.
                neighbour.count = next as u64;
                neighbour.postings = 1;
                next += length as usize;
            }
        }
        self.postings.room(next - self.postings.len())?;
        self.postings.resize(next, 0);
        for some in records.chunks(RECORDS) {
            progress.check()?;
            for &(slot, posting) in some {
                let neighbour = &mut neighbours[slot as usize];
                if neighbour.postings == 1 {
                    self.postings[neighbour.count as usize] = posting;
                    neighbour.count += 1;
                }
            }
        }
        for slot in touched.drain(..) {
            neighbours[slot as usize] = Neighbour::default();
        }
        records.clear();
        // The memory for one very frequent pair is released before the others merge.
        records.shrink_to(RECORDS);
        Ok(())
    }
}
