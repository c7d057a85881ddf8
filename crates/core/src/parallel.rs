//! Work on scoped threads, which live no longer than one call, so that a forked child never meets a dead pool.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::interrupt::{TICK, Team};
use crate::memory;

/// The most threads that are ever started.
const MOST_THREADS: usize = 256;

/// The stack of a thread, and what it needs at once.
const BYTES_OF_A_THREAD: usize = 4 << 20;

/// The number of threads to use: at most `threads`, or by default as many as this process may run at once.
#[must_use]
pub fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, std::num::NonZero::get)).clamp(1, MOST_THREADS)
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

/// Calls `worker` on up to `count` threads, of which the calling one is the first.
fn on_threads(count: usize, worker: &(dyn Fn() + Sync)) {
    let team = Team::of_this_thread();
    let (working, none_works) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let spawn = |_| {
            // Where the system has no memory for a thread that it started, it ends the process.
            memory::probe(BYTES_OF_A_THREAD).ok()?;
            let (team, working) = (team.of_a_helper(), working.clone());
            let work = move || {
                let _working = working;
                let _stop = team.stop_on_panic();
                team.work(worker);
            };
            thread::Builder::new().spawn_scoped(scope, work).ok()
        };
        // The others do what a thread that cannot be started would have done.
        let workers: Vec<_> = (1..count).map_while(spawn).collect();
        let _stop = team.stop_on_panic();
        team.work(worker);
        drop(working);
        while none_works.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            team.ask();
        }
        for worker in workers {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}
