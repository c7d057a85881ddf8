//! Work on several threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::Result;
use crate::helpers::on_threads;

/// The most threads that are ever started.
const MOST_THREADS: usize = 256;

/// The number of threads to use: at most `threads`, or by default as many as this process may run at once.
#[must_use]
pub fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, std::num::NonZero::get)).clamp(1, MOST_THREADS)
}

/// As [`fold`], where a state or an item can fail.
///
/// # Errors
/// One of those that came; no worker begins another item after the first.
///
/// ```
/// use bytepair_core::{Error, error::Kind, parallel};
/// let halve = |sum: &mut usize, item: usize| {
///     *sum += item.checked_sub(1).ok_or_else(|| Error::new(Kind::Training, "nothing before 0"))?;
///     Ok(())
/// };
/// assert!(parallel::try_fold(5, 2, || Ok(0), halve).is_err());
/// ```
pub fn try_fold<S: Send>(
    items: usize,
    threads: usize,
    state: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize) -> Result<()> + Sync,
) -> Result<Vec<S>> {
    let failed = AtomicBool::new(false);
    let work = |folded: &mut Result<S>, item: usize| {
        if failed.load(Ordering::Relaxed) {
            return;
        }
        if let Ok(inner) = folded
            && let Err(error) = work(inner, item)
        {
            *folded = Err(error);
        }
        if folded.is_err() {
            failed.store(true, Ordering::Relaxed);
        }
    };
    fold(items, threads, &state, work).into_iter().collect()
}

/// Each of up to `threads` workers starts with `state()` and folds items into it; the states are returned in any order.
///
/// Items are handed out one at a time, in order, so that uneven ones balance. All workers are told to stop when the
/// calling thread is ([`crate::interrupt::check`]).
///
/// ```
/// use bytepair_core::parallel;
/// let sums = parallel::fold(5, 2, || 0, |sum, item| *sum += item);
/// assert_eq!(sums.iter().sum::<usize>(), 10);
/// ```
pub fn fold<S: Send>(
    items: usize,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) + Sync,
) -> Vec<S> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut folded = state();
        loop {
            let item = next.fetch_add(1, Ordering::Relaxed);
            if item >= items {
                return folded;
            }
            work(&mut folded, item);
        }
    };
    let count = threads.min(items);
    if count <= 1 {
        return vec![worker()];
    }
    let states = Mutex::new(Vec::with_capacity(count));
    on_threads(count, &|| {
        let state = worker();
        states.lock().unwrap_or_else(PoisonError::into_inner).push(state);
    });
    states.into_inner().unwrap_or_else(PoisonError::into_inner)
}
