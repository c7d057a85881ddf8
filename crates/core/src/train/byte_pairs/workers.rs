//! Threads that work in rounds for one call of learning, and end with it.
//!
//! A round is short, so a waiting thread spins a little before it sleeps; a sleeping thread costs a busy machine nothing.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};

use crate::error::{Error, Kind, Result};

/// How often a waiting thread looks before it sleeps: some ten microseconds.
const LOOKS: usize = 1 << 9;

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
        let workers = Workers { rounds, threads: (1..threads).map(spawn).collect() };
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
        wait(|| self.rounds.running.load(Ordering::Acquire) == 0);
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
        let mut seen = 0;
        loop {
            wait(|| self.round.load(Ordering::Acquire) != seen);
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

fn wait(ready: impl Fn() -> bool) {
    for _ in 0..LOOKS {
        if ready() {
            return;
        }
        std::hint::spin_loop();
    }
    while !ready() {
        thread::park();
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
