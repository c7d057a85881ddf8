//! Counting the pairs of some words from scratch: at the start, and when only pairs below the floor are left.
//!
//! Most pairs are rare and never merge, so they are filtered out before anything is stored for them. First the counts of pairs
//! are added up by hash in a small table, which can only overestimate; then only the pairs are counted whose estimate is high
//! enough.

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::memory::{self, Room};
use crate::train::byte_pairs::pair::{Pair, key, symbols_of};
use crate::train::byte_pairs::site::Site;
use crate::train::byte_pairs::symbols::Symbols;
use crate::train::{Progress, overflow};

/// The most slots of the table of hashes.
const MOST_SLOTS: usize = 1 << 20;

/// Alphabets up to this size are counted in a square table.
pub(super) const DENSE: usize = 256;

/// The slot of a pair in a table of a power of two.
fn filter_slot(key: u64, slots: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (slots - 1)
}

/// Adds up the counts of pairs by hash, as far as 32 bits go; all words together have `length` slots.
pub(super) fn filter(site: &Site, symbols: &Symbols, length: usize, progress: &Progress) -> Result<Vec<u32>> {
    let mut table = memory::filled(0_u32, length.next_power_of_two().min(MOST_SLOTS))?;
    let slots = table.len();
    site.for_each_pair(symbols, progress, |left, right, count, _| {
        let slot = &mut table[filter_slot(key(left, right), slots)];
        *slot = slot.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        Ok(())
    })?;
    Ok(table)
}

/// Which counter a pair has.
enum Numbers {
    Dense(Vec<u32>, usize),
    Sparse(FxHashMap<u64, u32>),
}

impl Numbers {
    #[inline]
    fn get_or(&mut self, left: u32, right: u32, next: u32) -> Result<u32> {
        let number = match self {
            Self::Dense(table, size) => &mut table[left as usize * *size + right as usize],
            Self::Sparse(table) => {
                table.room(1)?;
                table.entry(key(left, right)).or_insert(u32::MAX)
            }
        };
        if *number == u32::MAX {
            *number = next;
        }
        Ok(*number)
    }
}

struct Counter {
    pair: u64,
    count: u64,
    last: u32,
    words: u32,
}

/// The pairs of a site with their counts and postings: those that the table of hashes lets pass, at least `floor` here.
pub(super) fn count(
    site: &Site,
    symbols: &Symbols,
    filter: (&[u32], u64),
    floor: u64,
    progress: &Progress,
) -> Result<Vec<(u64, Pair)>> {
    let alphabet = symbols.len();
    let mut numbers = if alphabet <= DENSE {
        Numbers::Dense(vec![u32::MAX; alphabet * alphabet], alphabet)
    } else {
        Numbers::Sparse(FxHashMap::default())
    };
    let (filter, least) = (filter.0, u32::try_from(filter.1).unwrap_or(u32::MAX));
    let passes = |left, right| filter.is_empty() || filter[filter_slot(key(left, right), filter.len())] >= least;
    let mut counters: Vec<Counter> = Vec::new();
    site.for_each_pair(symbols, progress, |left, right, count, posting| {
        if !passes(left, right) {
            return Ok(());
        }
        let number = numbers.get_or(left, right, counters.len() as u32)? as usize;
        if number == counters.len() {
            memory::push(&mut counters, Counter { pair: key(left, right), count: 0, last: 0, words: 0 })?;
        }
        let counter = &mut counters[number];
        if counter.words == 0 || counter.last != posting {
            counter.words += 1;
            counter.last = posting;
        }
        // Those that are too long to merge may overflow.
        counter.count = match counter.count.checked_add(count) {
            Some(count) => count,
            None if symbols.fits(left, right) => return Err(overflow()),
            None => u64::MAX,
        };
        Ok(())
    })?;
    let mut counted: Vec<(u64, Pair)> = Vec::new();
    counted.room(counters.len())?;
    for counter in &counters {
        let [left, right] = symbols_of(counter.pair);
        let wanted = counter.count >= floor && symbols.fits(left, right);
        let mut postings = Vec::new();
        postings.room(if wanted { counter.words as usize } else { 0 })?;
        counted.push((counter.pair, Pair { count: counter.count, postings }));
    }
    drop(counters);
    site.for_each_pair(symbols, progress, |left, right, _, posting| {
        if passes(left, right) {
            let postings = &mut counted[numbers.get_or(left, right, 0)? as usize].1.postings;
            if postings.len() < postings.capacity() && postings.last() != Some(&posting) {
                postings.push(posting);
            }
        }
        Ok(())
    })?;
    counted.retain(|(_, pair)| pair.postings.capacity() > 0);
    Ok(counted)
}
