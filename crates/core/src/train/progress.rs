//! The progress of counting or learning, for the thread that watches it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Kind, Result};
use crate::memory;

/// One merge, with the count of the pair when it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learned {
    /// Symbol on the left: of the alphabet, or `alphabet length + i` for what merge `i` made.
    pub left: u32,
    /// Symbol on the right.
    pub right: u32,
    /// Occurrences.
    pub count: u64,
}

/// Progress and a stop flag, shared with the watching thread.
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
    /// Takes the merges learned since the last call, including replayed ones. Any thread can call it at any time; all calls
    /// together return each merge once, in order, even after learning was stopped or failed.
    pub fn take_learned(&self) -> Vec<Learned> {
        std::mem::take(&mut *self.learned.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn tell_learned(&self, learned: &[Learned]) {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(learned);
        self.done.fetch_add(learned.len() as u64, Ordering::Relaxed);
    }

    /// Adds to the finished work.
    ///
    /// # Errors
    /// `Interrupted`, if the work is to stop; `Memory`, if memory has run short.
    pub fn advance(&self, by: u64) -> Result<()> {
        self.done.fetch_add(by, Ordering::Relaxed);
        self.check()
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::new(Kind::Interrupted, "training was interrupted"));
        }
        memory::check()
    }
}

/// The error of a count that exceeds 64 bits.
#[must_use]
pub fn overflow() -> Error {
    Error::new(Kind::Training, "the counts add up to more than 2^64 - 1").remedy("divide all counts by a constant")
}
