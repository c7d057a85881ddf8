//! Threads that work in rounds for one call of learning, and end with it.
//!
//! A round is short, and waking a thread that sleeps takes as long as most. So a waiting thread spins before it sleeps: longer
//! where that was worth it the last time, and hardly where it was not, since others need the core then.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::error::{Error, Kind, Result};

/// How long a waiting thread spins at least and at most.
const SPINS: [Duration; 2] = [Duration::from_micros(10), Duration::from_micros(100)];

/// How often it looks before it looks at a clock.
const LOOKS: usize = 1 << 6;

/// The number that ends the workers; others are the caller's.
const END: usize = usize::MAX;

/// The state shared by the caller and its workers.
#[derive(Debug)]
struct Rounds {
    round: AtomicUsize,
    job: AtomicUsize,
    running: AtomicUsize,
    dead: AtomicBool,
    caller: Thread,
}

/// The workers, from the caller's side.
#[derive(Debug)]
pub(super) struct Workers<'a> {
    rounds: &'a Rounds,
    threads: Vec<Thread>,
    patience: Patience,
}

/// Calls `body` with up to `threads - 1` workers beside it; they run `work(job, worker)`, with workers numbered from 1.
pub(super) fn with_workers<T>(
    threads: usize,
    work: impl Fn(usize, usize) + Sync,
    body: impl FnOnce(&Workers) -> T,
) -> T {
    let rounds = Rounds {
        round: AtomicUsize::new(0),
        job: AtomicUsize::new(END),
        running: AtomicUsize::new(0),
        dead: AtomicBool::new(false),
        caller: thread::current(),
    };
    thread::scope(|scope| {
        let (rounds, work) = (&rounds, &work);
        let spawn = |worker| scope.spawn(move || rounds.serve(|job| work(job, worker))).thread().clone();
        let workers = Workers { rounds, threads: (1..threads).map(spawn).collect(), patience: Patience::new() };
        body(&workers)
    })
}

impl Workers<'_> {
    /// Runs a job on all workers and, as worker 0, here; returns when all have ended.
    ///
    /// # Errors
    /// `Interrupted`, if a worker has panicked; the panic is passed on when the others have ended.
    pub(super) fn run(&self, job: usize, work: impl Fn(usize, usize)) -> Result<()> {
        self.start(job);
        work(job, 0);
        self.patience.wait(|| self.rounds.running.load(Ordering::Acquire) == 0);
        if self.rounds.dead.load(Ordering::Relaxed) {
            return Err(Error::new(Kind::Interrupted, "a worker of the training ended before its time"));
        }
        Ok(())
    }

    fn start(&self, job: usize) {
        self.rounds.job.store(job, Ordering::Relaxed);
        self.rounds.running.store(self.threads.len(), Ordering::Relaxed);
        self.rounds.round.fetch_add(1, Ordering::Release);
        self.threads.iter().for_each(Thread::unpark);
    }
}

impl Drop for Workers<'_> {
    fn drop(&mut self) {
        self.start(END);
    }
}

impl Rounds {
    fn serve(&self, work: impl Fn(usize)) {
        let (mut seen, patience) = (0, Patience::new());
        loop {
            patience.wait(|| self.round.load(Ordering::Acquire) != seen);
            seen += 1;
            let job = self.job.load(Ordering::Relaxed);
            if job == END {
                return;
            }
            let _done = Done(self);
            work(job);
        }
    }
}

/// Tells the caller that a worker has ended its part, also by a panic.
struct Done<'a>(&'a Rounds);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.dead.store(true, Ordering::Relaxed);
        }
        if self.0.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.caller.unpark();
        }
    }
}

/// How long a thread spins the next time.
#[derive(Debug)]
struct Patience(Cell<Duration>);

impl Patience {
    fn new() -> Self {
        Self(Cell::new(SPINS[0]))
    }

    fn wait(&self, ready: impl Fn() -> bool) {
        let (start, spin) = (Instant::now(), self.0.get());
        while start.elapsed() < spin {
            for _ in 0..LOOKS {
                if ready() {
                    self.0.set((spin * 2).min(SPINS[1]));
                    return;
                }
                std::hint::spin_loop();
            }
        }
        self.0.set((spin / 2).max(SPINS[0]));
        while !ready() {
            thread::park();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn every_worker_runs_every_round_once() {
        for threads in [1, 2, 7] {
            let ran: Vec<AtomicUsize> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
            let work = |job: usize, worker: usize| {
                ran[worker].fetch_add(job, Ordering::Relaxed);
            };
            with_workers(threads, work, |workers| {
                for round in 1..=100 {
                    workers.run(1, work).unwrap();
                    assert!(ran.iter().all(|ran| ran.load(Ordering::Relaxed) == round));
                }
            });
        }
    }
}
