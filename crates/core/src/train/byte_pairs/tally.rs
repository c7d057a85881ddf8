//! The changes of a merge, added up by neighbour.
//!
//! Where (a, b) becomes c, the pairs (x, a) and (b, y) around it are lost, and (x, c) and (c, y) gained. Neighbours are
//! few and occurrences many, so that counts are added up in an array by symbol first. Occurrences that touch (`abab`,
//! `aaaa`) meet as c: the neighbour on the left is c itself then, (b, a) is lost, and (c, c) gained.

use crate::error::{Error, Result};
use crate::memory::{self, Room};
use crate::train::byte_pairs::pair::{Pair, key};
use crate::train::byte_pairs::symbols::{Joining, Symbols};

/// The number of records that keep their memory.
const RECORDS: usize = 1 << 16;

/// The sums of a symbol beside the occurrences, on one side.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbour {
    count: u64,
    /// How many postings, and the last of them: a word counts once.
    postings: u32,
    last: u32,
}

/// Neighbours of the occurrences of pairs, one pair after another.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By symbol, each on the left and on the right.
    neighbours: Vec<Neighbour>,
    /// Those that were met.
    touched: Vec<u32>,
    /// Each with its postings, as they came, of all pairs.
    records: Vec<(u32, u32)>,
    occurrences: u128,
    /// Whether a record was dropped, for which there was no memory.
    short: bool,
}

/// The sums of a symbol beside all occurrences of a pair, on one side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Twice the symbol, and one more on the right.
    pub(super) slot: u32,
    /// How many postings it has at most.
    pub(super) postings: u32,
    pub(super) count: u64,
}

impl Row {
    /// The pair that is lost where a merge is made beside this symbol, and the one that is gained.
    pub(super) fn pairs(self, merge: &Joining) -> (u64, [u32; 2]) {
        let Joining { left, right, joined, .. } = *merge;
        let (symbol, on_the_right) = (self.slot / 2, self.slot % 2 == 1);
        if on_the_right {
            return (key(right, symbol), [joined, symbol]);
        }
        (if symbol == joined { key(right, left) } else { key(symbol, left) }, [symbol, joined])
    }
}

/// The report of one part of the words.
#[derive(Debug)]
pub(super) struct Outbox {
    pub(super) tally: Tally,
    /// By shard of pairs.
    pub(super) losses: Vec<Vec<(u64, u64)>>,
    /// The rows of each merge in order; and where the rows and the records of each end.
    rows: Vec<Row>,
    ends: Vec<(usize, usize)>,
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
            rows: Vec::new(),
            ends: Vec::new(),
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

    /// The rows of a merge, by its number in the batch, and the postings of their slots, ascending.
    pub(super) fn of_merge(&self, number: usize) -> (&[Row], &[(u32, u32)]) {
        let start = number.checked_sub(1).map_or((0, 0), |before| self.ends[before]);
        let end = self.ends[number];
        (&self.rows[start.0..end.0], &self.tally.records[start.1..end.1])
    }

    /// Forgets the merges before, and the memory of very frequent ones.
    pub(super) fn clear(&mut self) {
        self.losses.iter_mut().for_each(Vec::clear);
        self.rows.clear();
        self.ends.clear();
        self.tally.records.clear();
        self.tally.records.shrink_to(RECORDS);
    }

    /// Reports the changes of a merge.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn report(&mut self, merge: &Joining, shard: impl Fn(u64) -> usize) -> Result<()> {
        let Tally { neighbours, touched, records, short, .. } = &mut self.tally;
        if *short {
            return Err(Error::memory());
        }
        self.rows.room(touched.len())?;
        for slot in touched.drain(..) {
            let Neighbour { count, postings, .. } = std::mem::take(&mut neighbours[slot as usize]);
            let row = Row { slot, postings, count };
            let lost = row.pairs(merge).0;
            memory::push(&mut self.losses[shard(lost)], (lost, count))?;
            self.rows.push(row);
        }
        memory::push(&mut self.ends, (self.rows.len(), records.len()))
    }
}
