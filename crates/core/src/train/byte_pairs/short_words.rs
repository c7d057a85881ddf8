//! Short pieces as symbols in one flat arena, rewritten in place as pairs merge.
//!
//! Each word follows a header of its own (length, count), so that a visit costs one cache miss. Postings are
//! offsets of words, ascending.

use crate::error::Result;
use crate::large_pages;
use crate::memory::{self, Room};
use crate::prefetch::prefetch;
use crate::train::Progress;
use crate::train::byte_pairs::pair::Place;
use crate::train::byte_pairs::symbols::{Joining, Symbols};
use crate::train::byte_pairs::tally::Tally;

/// Length now, length in the arena, low and high half of the count.
const HEADER: usize = 3;

/// Longer words do not fit the header.
pub(super) const LONGEST: usize = u16::MAX as usize;

/// The number of words that are prefetched; without prefetching, loads took 1.6 times as long.
const AHEAD: usize = 16;

/// A slot of most words' second cache line, if they have one.
const MIDDLE: usize = 12;

/// The visits between two checks of the stop flag.
const VISITS: usize = 1 << 12;

/// The short words of one worker.
#[derive(Debug, Default)]
pub(super) struct ShortWords {
    /// The number of the first offset in postings.
    pub(super) base: u32,
    arena: Vec<u32>,
    /// The positions of words without symbols, placeholders for long words.
    pub(super) stand_ins: Vec<u32>,
}

impl ShortWords {
    pub(super) fn with_capacity(slots: usize) -> Result<Self> {
        let mut arena = Vec::new();
        arena.room(slots)?;
        large_pages::ask(&mut arena);
        Ok(Self { base: 0, arena, stand_ins: Vec::new() })
    }

    /// The number of slots that a word takes.
    pub(super) fn slots(symbols: usize) -> usize {
        HEADER + symbols
    }

    pub(super) fn len(&self) -> usize {
        self.arena.len()
    }

    /// Appends a word of at most [`LONGEST`] symbols; a word of none is the placeholder of a long word, in order.
    pub(super) fn push(&mut self, symbols: impl Iterator<Item = u32>, count: u64) -> Result<()> {
        let at = self.arena.len();
        memory::extend(&mut self.arena, [0, count as u32, (count >> 32) as u32])?;
        memory::extend(&mut self.arena, symbols)?;
        let length = (self.arena.len() - at - HEADER) as u32;
        self.arena[at] = length << 16 | length;
        if length == 0 {
            memory::push(&mut self.stand_ins, at as u32)?;
        }
        Ok(())
    }

    /// Forgets what merging left behind, and words without pairs; [`crate::train::byte_pairs::site::settle`] comes next.
    pub(super) fn compact(&mut self) {
        let (mut read, mut write) = (0, 0);
        self.stand_ins.clear();
        while read < self.arena.len() {
            let header = self.arena[read];
            let (length, held) = (header & 0xFFFF, header >> 16);
            if length == 0 {
                self.stand_ins.push(write as u32);
            }
            if length != 1 {
                self.arena.copy_within(read..read + HEADER + length as usize, write);
                self.arena[write] = length << 16 | length;
                write += HEADER + length as usize;
            }
            read += HEADER + held as usize;
        }
        self.arena.truncate(write);
        self.arena.shrink_to_fit();
    }

    /// Calls `visit(left, right, count, posting)` for every two adjacent symbols.
    pub(super) fn for_each_pair(
        &self,
        progress: &Progress,
        mut visit: impl FnMut(u32, u32, u64, u32) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        let mut visits = 0_usize;
        while at < self.arena.len() {
            let (length, count) = self.header(at);
            for two in self.arena[at + HEADER..at + HEADER + length].windows(2) {
                visit(two[0], two[1], count, self.base + at as u32)?;
            }
            at += HEADER + (self.arena[at] >> 16) as usize;
            visits += 1;
            if visits.is_multiple_of(VISITS) {
                progress.check()?;
            }
        }
        Ok(())
    }

    #[inline]
    fn header(&self, at: usize) -> (usize, u64) {
        let header = &self.arena[at..at + HEADER];
        let [lengths, low, high] = [header[0], header[1], header[2]];
        ((lengths & 0xFFFF) as usize, u64::from(low) | u64::from(high) << 32)
    }

    /// Merges a pair in these words, each occurrence from left to right, and tallies its neighbours.
    pub(super) fn merge(
        &mut self,
        postings: &[u32],
        merge: &Joining,
        tally: &mut Tally,
        progress: &Progress,
    ) -> Result<()> {
        for many in postings.chunks(VISITS) {
            progress.check()?;
            for (number, &posting) in many.iter().enumerate() {
                if let Some(later) = many.get(number + AHEAD) {
                    let at = (later - self.base) as usize;
                    prefetch(&self.arena, at);
                    prefetch(&self.arena, at + MIDDLE);
                }
                let at = (posting - self.base) as usize;
                let (length, count) = self.header(at);
                let symbols = &mut self.arena[at + HEADER..at + HEADER + length];
                let merged = rewrite(symbols, merge, count, posting, tally);
                self.arena[at] -= merged;
            }
        }
        Ok(())
    }

    /// Where a pair first occurs in a word.
    pub(super) fn first(&self, posting: u32, pair: [u32; 2], symbols: &Symbols) -> Option<Place> {
        let at = (posting - self.base) as usize;
        let mut offset = 0;
        for two in self.arena[at + HEADER..at + HEADER + self.header(at).0].windows(2) {
            if *two == pair {
                return Some((posting, offset));
            }
            offset += symbols.widths[two[0] as usize];
        }
        None
    }
}

/// Merges a pair in one word, and returns how many symbols shorter it is now.
///
/// Occurrences that touch, as in `abab` or `aaaa`, meet as the symbol that they make: that one is the neighbour then.
#[inline]
fn rewrite(symbols: &mut [u32], merge: &Joining, count: u64, posting: u32, tally: &mut Tally) -> u32 {
    let length = symbols.len();
    let Some(mut read) = symbols.windows(2).position(|two| *two == [merge.left, merge.right]) else { return 0 };
    let mut write = read;
    loop {
        // An occurrence is at `read`.
        if write > 0 {
            tally.left(symbols[write - 1], count, posting);
        }
        symbols[write] = merge.joined;
        tally.merged(count);
        read += 2;
        write += 1;
        let mut touches = true;
        loop {
            if read >= length {
                return (length - write) as u32;
            }
            let symbol = symbols[read];
            if symbol == merge.left && symbols.get(read + 1) == Some(&merge.right) {
                break;
            }
            if touches {
                tally.right(symbol, count, posting);
                touches = false;
            }
            symbols[write] = symbol;
            read += 1;
            write += 1;
        }
    }
}
