//! Texts -> counts of pieces -> merges.
//!
//! [`Counter`] counts in parallel; [`learn()`] merges the most frequent adjacent pair again and again. The result is a
//! function of counts and [`Settings`] alone.

mod alphabet;
mod batch;
mod counts;
mod learn;
mod long;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod oracle;
mod pairs;
mod plan;
mod queue;
mod recount;
mod site;
mod spelled;
mod tally;
pub mod unigram;
mod vocabulary;
pub mod wordpiece;
mod words;
mod workers;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Kind, Result};

pub use alphabet::Alphabet;
pub use counts::{Counter, OnInvalid, OwnedRow, PieceCounts, Row, Sorted, Spilled, Total};
pub use learn::{Learned, Training, learn};
pub use plan::learn_bytes;
pub use vocabulary::token_uses;

/// Which of the most frequent pairs merges first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The smallest (left id, right id), as in `tokenizers` and `rustbpe`.
    LowestIds,
    /// The greatest (left bytes, right bytes), as in CS336 and "Building a Fast BPE Tokenizer from Scratch".
    GreatestBytes,
    /// The smallest (left bytes, right bytes), as in "02 - The BPE Algorithm".
    SmallestBytes,
    /// The pair whose earliest occurrence in the current symbols comes first, as a full recount finds it (minbpe,
    /// "Slow Data").
    FirstSeen,
}

impl Ties {
    /// The policy of a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "lowest_ids" => Self::LowestIds,
            "greatest_bytes" => Self::GreatestBytes,
            "smallest_bytes" => Self::SmallestBytes,
            "first_seen" => Self::FirstSeen,
            _ => return None,
        })
    }
}

/// What is learned, and when it ends.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// At most this many merges.
    pub merges: usize,
    /// Which of equally frequent pairs comes first.
    pub ties: Ties,
    /// Pairs seen less often are not merged.
    pub min_frequency: u64,
    /// Longer tokens, in bytes, are not made.
    pub max_token_length: usize,
}

/// How far the work is, and whether it is to stop: shared with the thread that watches.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes counted, or merges learned.
    pub done: AtomicU64,
    /// Set by the watcher.
    pub stop: AtomicBool,
    /// Merges that were learned and not yet taken.
    learned: Mutex<Vec<Learned>>,
}

impl Progress {
    /// Takes the merges learned since the last call, those that were replayed included. Any thread may, at any time;
    /// all calls together get each merge once, in order, also after learning was stopped or has failed.
    pub fn take_learned(&self) -> Vec<Learned> {
        std::mem::take(&mut *self.learned.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell_learned(&self, learned: &[Learned]) {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(learned);
        self.done.fetch_add(learned.len() as u64, Ordering::Relaxed);
    }

    /// Says that so much more is done.
    ///
    /// # Errors
    /// `Interrupted`, if the work is to stop.
    pub fn advance(&self, by: u64) -> Result<()> {
        self.done.fetch_add(by, Ordering::Relaxed);
        self.check()
    }

    fn check(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::new(Kind::Interrupted, "training was interrupted"));
        }
        Ok(())
    }
}

/// What is known of each symbol.
#[derive(Debug)]
struct Symbols {
    /// Its bytes; only where they matter.
    bytes: Vec<Box<[u8]>>,
    /// The length of its bytes.
    lengths: Vec<usize>,
    /// Its length in symbols of the alphabet.
    widths: Vec<u32>,
    max_token_length: usize,
    /// Bytes that no merge may make.
    taken: HashSet<Box<[u8]>>,
    /// Whether a pair was met that would make such bytes.
    met_taken: AtomicBool,
}

impl Symbols {
    fn new(alphabet: &[Vec<u8>], taken: HashSet<Box<[u8]>>, settings: &Settings) -> Self {
        let keep = !taken.is_empty() || matches!(settings.ties, Ties::GreatestBytes | Ties::SmallestBytes);
        Self {
            bytes: alphabet.iter().filter(|_| keep).map(|token| Box::from(&**token)).collect(),
            lengths: alphabet.iter().map(Vec::len).collect(),
            widths: vec![1; alphabet.len()],
            max_token_length: settings.max_token_length,
            taken,
            met_taken: AtomicBool::new(false),
        }
    }

    fn len(&self) -> usize {
        self.widths.len()
    }

    /// Whether a pair may merge: its token is short enough, and not one that there is.
    fn fits(&self, left: u32, right: u32) -> bool {
        let (left, right) = (left as usize, right as usize);
        if self.lengths[left] + self.lengths[right] > self.max_token_length {
            return false;
        }
        let is_taken =
            !self.taken.is_empty() && self.taken.contains(&*[&*self.bytes[left], &self.bytes[right]].concat());
        if is_taken {
            self.met_taken.store(true, Ordering::Relaxed);
        }
        !is_taken
    }

    fn join(&mut self, left: u32, right: u32) {
        let (left, right) = (left as usize, right as usize);
        if let (Some(start), Some(end)) = (self.bytes.get(left), self.bytes.get(right)) {
            let token = [&**start, end].concat().into();
            self.bytes.push(token);
        }
        self.lengths.push(self.lengths[left] + self.lengths[right]);
        self.widths.push(self.widths[left] + self.widths[right]);
    }
}

/// A pair that becomes a symbol.
#[derive(Debug)]
struct Merge {
    left: u32,
    right: u32,
    left_width: u32,
    right_width: u32,
    joined: u32,
    /// Where it occurs, or did.
    postings: Vec<u32>,
}

/// The error of a count that no longer fits into 64 bits.
#[must_use]
pub fn overflow() -> Error {
    Error::new(Kind::Training, "the counts add up to more than 2^64 - 1").remedy("divide all counts by a constant")
}
