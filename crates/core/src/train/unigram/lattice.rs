//! The tokens that begin at each position of the words, and the paths along them.

use crate::error::Result;
use crate::memory::{self, Room};
use crate::train::Progress;
use crate::train::unigram::ScoredTokens;
use crate::train::unigram::suffixes::{Shared, Suffixes};
use crate::train::unigram::text::Text;

/// A character in a path that is no token.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// So many positions, and it is asked whether training is to stop.
const POSITIONS_TO_LISTEN: usize = 1 << 16;

/// How much less likely than the rarest token a character is that is none, as a difference of log probabilities.
const PENALTY: f64 = 10.0;

/// Tokens by position, the shorter ones first.
#[derive(Debug)]
pub(super) struct Lattice {
    /// Where the tokens of each position begin in the next two; one more at the end.
    starts: Vec<usize>,
    ids: Vec<u32>,
    lengths: Vec<u16>,
}

impl Lattice {
    /// All occurrences of characters, whose ids are their numbers less one, and then of the chosen substrings, which come by
    /// length.
    ///
    /// # Errors
    /// `Memory`, `Interrupted`.
    pub(super) fn of(text: &Text, suffixes: &Suffixes, chosen: &[Shared], progress: &Progress) -> Result<Self> {
        let mut starts = memory::filled(0_usize, text.characters.len() + 1)?;
        let inside = || text.words.iter().flat_map(|word| word.start..word.end);
        for at in inside() {
            starts[at as usize + 1] = 1;
        }
        for &shared in chosen {
            progress.check()?;
            for at in suffixes.positions(shared) {
                starts[at as usize + 1] += 1;
            }
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        // Each start moves to the next one's place while tokens are put down, and back in the end.
        let mut ids = memory::filled(0, total)?;
        let mut lengths = memory::filled(0, total)?;
        let mut put = |at: u32, id: u32, length: u16| {
            let slot = &mut starts[at as usize];
            ids[*slot] = id;
            lengths[*slot] = length;
            *slot += 1;
        };
        for at in inside() {
            put(at, text.characters[at as usize] - 1, 1);
        }
        for (id, shared) in (text.alphabet.len() as u32..).zip(chosen) {
            progress.check()?;
            for at in suffixes.positions(*shared) {
                put(at, id, shared.length);
            }
        }
        starts.rotate_right(1);
        starts[0] = 0;
        Ok(Self { starts, ids, lengths })
    }

    /// Forgets the tokens that are not kept, and numbers the others anew.
    ///
    /// # Errors
    /// `Memory`, `Interrupted`; then it is of no use any more.
    pub(super) fn keep(&mut self, kept: &[bool], progress: &Progress) -> Result<()> {
        let mut next = 0;
        let number = |&kept: &bool| {
            next += u32::from(kept);
            if kept { next - 1 } else { UNKNOWN }
        };
        let numbers = memory::collect(kept.iter().map(number))?;
        let (mut read, mut write) = (0, 0);
        for position in 0..self.starts.len() - 1 {
            if position.is_multiple_of(POSITIONS_TO_LISTEN) {
                progress.check()?;
            }
            let end = self.starts[position + 1];
            self.starts[position] = write;
            for index in read..end {
                let number = numbers[self.ids[index] as usize];
                if number != UNKNOWN {
                    self.ids[write] = number;
                    self.lengths[write] = self.lengths[index];
                    write += 1;
                }
            }
            read = end;
        }
        if let Some(last) = self.starts.last_mut() {
            *last = write;
        }
        self.ids.truncate(write);
        self.lengths.truncate(write);
        Ok(())
    }

    /// The tokens at a position, and their lengths.
    pub(super) fn at(&self, position: usize) -> (&[u32], &[u16]) {
        let range = self.starts[position]..self.starts[position + 1];
        (&self.ids[range.clone()], &self.lengths[range])
    }
}

/// The log probability of a character that is no token.
pub(super) fn unknown(tokens: &ScoredTokens) -> f64 {
    tokens.scores.iter().copied().fold(0.0, f64::min) - PENALTY
}

/// The likeliest path through a stretch of a word, in buffers that are kept.
#[derive(Debug, Default)]
pub(super) struct Best {
    scores: Vec<f64>,
    /// The token that ends here on the best path to here, and its length.
    back: Vec<(u32, u16)>,
}

impl Best {
    /// Finds the path from `start` to `end` and returns its log probability; `whole` is whether it may be one token.
    /// Ties go to the path whose last token is longest.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn find(
        &mut self,
        lattice: &Lattice,
        scores: &[f64],
        unknown: f64,
        (start, end): (u32, u32),
        whole: bool,
    ) -> Result<f64> {
        let size = (end - start) as usize;
        self.scores.clear();
        self.scores.room(size + 1)?;
        self.scores.resize(size + 1, f64::NEG_INFINITY);
        self.back.clear();
        self.back.room(size + 1)?;
        self.back.resize(size + 1, (UNKNOWN, 1));
        self.scores[0] = 0.0;
        for from in 0..size {
            let here = self.scores[from];
            let (ids, lengths) = lattice.at(start as usize + from);
            let mut reach = |length: u16, id: u32, score: f64| {
                let to = from + usize::from(length);
                if to <= size && (whole || usize::from(length) < size) && here + score > self.scores[to] {
                    self.scores[to] = here + score;
                    self.back[to] = (id, length);
                }
            };
            if lengths.first() != Some(&1) {
                reach(1, UNKNOWN, unknown);
            }
            for (&id, &length) in ids.iter().zip(lengths) {
                reach(length, id, scores[id as usize]);
            }
        }
        Ok(self.scores[size])
    }

    /// The tokens of the path that was found, the last one first.
    pub(super) fn path(&self) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.back.len().saturating_sub(1);
        std::iter::from_fn(move || {
            if at == 0 {
                return None;
            }
            let (id, length) = self.back[at];
            at -= usize::from(length);
            Some(id)
        })
    }
}
