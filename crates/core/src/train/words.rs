//! Pieces as symbols in one flat arena, rewritten in place as pairs merge.

use crate::error::{Error, Kind, Result};

/// A change in how often a pair is adjacent, in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Once more.
    Gained(u32, u32),
    /// Once less.
    Lost(u32, u32),
}

/// All pieces.
#[derive(Debug, Default)]
pub(super) struct Words {
    symbols: Vec<u32>,
    /// Piece `i` has `lengths[i]` symbols from `starts[i]` on; it only ever shrinks.
    starts: Vec<usize>,
    lengths: Vec<u32>,
    counts: Vec<u64>,
}

impl Words {
    /// Appends a piece.
    ///
    /// # Errors
    /// `Training`, if there are more than 2^32 pieces, or symbols in one.
    pub(super) fn push(&mut self, symbols: impl Iterator<Item = u32>, count: u64) -> Result<()> {
        let start = self.symbols.len();
        self.symbols.extend(symbols);
        let length = u32::try_from(self.symbols.len() - start);
        let (Ok(length), Ok(_)) = (length, u32::try_from(self.starts.len())) else {
            return Err(Error::new(Kind::Training, "there are more than 2^32 pieces, or symbols in one piece"));
        };
        self.starts.push(start);
        self.lengths.push(length);
        self.counts.push(count);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn count(&self, word: u32) -> u64 {
        self.counts[word as usize]
    }

    pub(super) fn symbols(&self, word: u32) -> &[u32] {
        let start = self.starts[word as usize];
        &self.symbols[start..start + self.lengths[word as usize] as usize]
    }

    /// Merges each `(left, right)` of a piece into `joined`, from left to right, and reports every adjacency that came
    /// or went: each once, also where occurrences touch or share a symbol, as in `aaa`.
    pub(super) fn merge(&mut self, word: u32, (left, right): (u32, u32), joined: u32, mut report: impl FnMut(Change)) {
        let start = self.starts[word as usize];
        let length = self.lengths[word as usize] as usize;
        let symbols = &mut self.symbols[start..start + length];
        let is_pair = |symbols: &[u32], at: usize| symbols.get(at..at + 2) == Some(&[left, right]);
        let (mut read, mut write) = (0, 0);
        // What stood before `read`, and whether it has just been merged away.
        let mut before = None;
        let mut merged = false;
        while read < length {
            if !is_pair(symbols, read) {
                before = Some(symbols[read]);
                merged = false;
                symbols[write] = symbols[read];
                read += 1;
                write += 1;
                continue;
            }
            if let Some(before) = before.filter(|_| !merged) {
                report(Change::Lost(before, left));
            }
            report(Change::Lost(left, right));
            if write > 0 {
                report(Change::Gained(symbols[write - 1], joined));
            }
            if let Some(&after) = symbols.get(read + 2) {
                report(Change::Lost(right, after));
                if !is_pair(symbols, read + 2) {
                    report(Change::Gained(joined, after));
                }
            }
            before = Some(right);
            merged = true;
            symbols[write] = joined;
            read += 2;
            write += 1;
        }
        self.lengths[word as usize] = write as u32;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn adjacent(symbols: &[u32]) -> BTreeMap<(u32, u32), i64> {
        let mut pairs = BTreeMap::new();
        for pair in symbols.windows(2) {
            *pairs.entry((pair[0], pair[1])).or_default() += 1;
        }
        pairs
    }

    #[test]
    fn changes_add_up_to_a_recount_for_every_short_piece() {
        for length in 0..=9_u32 {
            for number in 0..3_u32.pow(length) {
                let symbols: Vec<u32> = (0..length).map(|place| number / 3_u32.pow(place) % 3).collect();
                for pair in [(0, 0), (0, 1)] {
                    let mut words = Words::default();
                    words.push(symbols.iter().copied(), 1).unwrap();
                    let mut pairs = adjacent(&symbols);
                    words.merge(0, pair, 9, |change| match change {
                        Change::Gained(left, right) => *pairs.entry((left, right)).or_default() += 1,
                        Change::Lost(left, right) => *pairs.entry((left, right)).or_default() -= 1,
                    });
                    pairs.retain(|_, count| *count != 0);
                    assert_eq!(pairs, adjacent(words.symbols(0)), "{symbols:?} {pair:?}");
                    assert!(!pairs.contains_key(&pair));
                }
            }
        }
    }
}
