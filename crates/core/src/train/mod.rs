//! Texts -> counts of pieces -> merges.
//!
//! [`Counter`] counts in parallel; [`learn`] merges the most frequent adjacent pair again and again. The result is a
//! function of counts and [`Settings`] alone.

mod alphabet;
mod counts;
mod learn;
mod queue;
mod vocabulary;
mod words;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Kind, Result};

pub use alphabet::Alphabet;
pub use counts::{Counter, OnInvalid, OwnedRow, PieceCounts, Row, Sorted, Spilled, Total};
pub use learn::{Learned, learn};
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
}

impl Progress {
    /// Says that so much more is done.
    ///
    /// # Errors
    /// `Interrupted`, if the work is to stop.
    pub fn advance(&self, by: u64) -> Result<()> {
        self.done.fetch_add(by, Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::new(Kind::Interrupted, "training was interrupted"));
        }
        Ok(())
    }
}

/// The error of a count that no longer fits into 64 bits.
#[must_use]
pub fn overflow() -> Error {
    Error::new(Kind::Training, "the counts add up to more than 2^64 - 1").remedy("divide all counts by a constant")
}
