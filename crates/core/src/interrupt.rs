//! Whether long work is still wanted: its loops [`check`], and the thread of the call asks whoever embeds the core.
//!
//! Nothing is passed through calls and nothing is set up for one, so any loop at any depth can check, in a short call as in
//! a long one. A thread asks at most every 50 ms. Threads that help another never ask: they look at the flag of their
//! team, which the thread that they help sets when it is told to stop.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::error::{Error, Kind, Result};
use crate::memory;

/// The time between two questions of a thread.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// A clock costs as much as the encoding of some words, so that one in so many checks looks at it.
const CHECKS: u32 = 256;

static SHOULD_STOP: OnceLock<fn() -> bool> = OnceLock::new();

thread_local! {
    /// Checks before the next look at the clock.
    static LEFT: Cell<u32> = const { Cell::new(0) };
    static LAST_ASKED: Cell<Option<Instant>> = const { Cell::new(None) };
    static TEAM: RefCell<Option<Team>> = const { RefCell::new(None) };
}

/// Says how a thread finds out whether its call should stop; the first time counts.
///
/// It is called by the threads that call the core, now and then, during calls. As long as it returns true, the call that
/// asks has not ended.
pub fn ask_with(should_stop: fn() -> bool) {
    SHOULD_STOP.get_or_init(|| should_stop);
}

/// An error if the work is no longer wanted, or memory has run short.
///
/// A loop calls it at least every 0.1 milliseconds, and may do so every 0.1 microseconds; never with a lock held, nor while
/// something is made that others wait for, since what is asked may wait for another thread. Its error is passed on.
///
/// # Errors
/// `Interrupted`.
///
/// ```
/// assert!(bytepair_core::interrupt::check().is_ok());
/// ```
#[inline]
pub fn check() -> Result<()> {
    let left = LEFT.get();
    if left == 0 {
        return look();
    }
    LEFT.set(left - 1);
    Ok(())
}

/// A loop's own count of its checks, where these are so many that [`check`], which finds the thread's, would cost too much.
///
/// Its first check is one of the thread's, so that short loops, of which there are many, look at the clock no more often.
#[derive(Default)]
pub(crate) struct Checks {
    /// One more than the checks before the next look at the clock; 0 before the first.
    left: u32,
}

impl Checks {
    /// As [`check`].
    #[inline]
    pub(crate) fn check(&mut self) -> Result<()> {
        if self.left <= 1 {
            if self.left == 0 { check() } else { look() }?;
            self.left = CHECKS + 1;
        }
        self.left -= 1;
        Ok(())
    }
}

#[cold]
fn look() -> Result<()> {
    if is_unwanted() {
        return Err(Error::new(Kind::Interrupted, "the work was interrupted"));
    }
    memory::check()?;
    LEFT.set(CHECKS);
    Ok(())
}

/// Whether this thread's work should stop; asks if it is time to.
fn is_unwanted() -> bool {
    // A copy: what is asked can call the core again.
    match TEAM.with_borrow(Clone::clone) {
        Some(team) => {
            if team.may_ask && ask() {
                team.stopped.store(true, Ordering::Relaxed);
            }
            team.stopped.load(Ordering::Relaxed)
        }
        None => ask(),
    }
}

fn ask() -> bool {
    let Some(should_stop) = SHOULD_STOP.get() else { return false };
    let now = Instant::now();
    if LAST_ASKED.get().is_some_and(|last| now - last < TICK) {
        return false;
    }
    LAST_ASKED.set(Some(now));
    should_stop()
}

/// The threads of one call, which stop together.
#[derive(Clone)]
pub(crate) struct Team {
    stopped: Arc<AtomicBool>,
    may_ask: bool,
}

impl Team {
    /// That of this thread, or a new one.
    pub(crate) fn of_this_thread() -> Self {
        TEAM.with_borrow(Clone::clone).unwrap_or_else(|| Self { stopped: Arc::default(), may_ask: true })
    }

    /// The same for a thread that helps.
    pub(crate) fn of_a_helper(&self) -> Self {
        Self { may_ask: false, ..self.clone() }
    }

    /// Works on this thread, which is in the team meanwhile.
    pub(crate) fn work<T>(&self, work: impl FnOnce() -> T) -> T {
        let _before = Before(TEAM.replace(Some(self.clone())));
        LEFT.set(0);
        work()
    }

    /// Stops its threads if this one panics before what is returned goes.
    pub(crate) fn stop_on_panic(&self) -> impl Drop {
        StopOnPanic(self.stopped.clone())
    }

    /// Asks, for the others, while this thread waits for them.
    pub(crate) fn ask(&self) {
        self.work(is_unwanted);
    }
}

struct StopOnPanic(Arc<AtomicBool>);

impl Drop for StopOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// The team that the thread is in again at the end, also after a panic.
struct Before(Option<Team>);

impl Drop for Before {
    fn drop(&mut self) {
        TEAM.set(self.0.take());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
pub(crate) mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;
    use crate::parallel;

    thread_local! {
        static WISHES: Cell<u32> = const { Cell::new(0) };
    }

    /// Has this thread told to stop once, when it next asks.
    pub(crate) fn interrupt_this_thread() {
        ask_with(|| {
            let wishes = WISHES.get();
            WISHES.set(wishes.saturating_sub(1));
            wishes > 0
        });
        WISHES.set(1);
    }

    /// Checks until it is stopped, for some seconds at most.
    fn is_stopped_in_the_end() -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            if check().is_err() {
                return true;
            }
        }
        false
    }

    #[test]
    fn a_loop_is_stopped_once() {
        interrupt_this_thread();
        assert!(is_stopped_in_the_end());
        let start = Instant::now();
        while start.elapsed() < 3 * TICK {
            assert!(check().is_ok());
        }
    }

    #[test]
    fn a_loop_with_a_count_of_its_own_is_stopped_as_well() {
        interrupt_this_thread();
        let (start, mut checks) = (Instant::now(), Checks::default());
        while checks.check().is_ok() {
            assert!(start.elapsed() < Duration::from_secs(20));
        }
        assert!((0..1000).all(|_| checks.check().is_ok()));
    }

    #[test]
    fn helpers_stop_with_the_thread_that_asks() {
        for threads in [1, 2, 5] {
            interrupt_this_thread();
            let stopped =
                parallel::fold(threads, threads, Vec::new, |stopped, _| stopped.push(is_stopped_in_the_end()));
            assert_eq!(stopped.concat(), vec![true; threads]);
            // The next call is another team.
            assert!((0..1000).all(|_| check().is_ok()));
        }
    }

    #[test]
    fn a_thread_that_waits_asks_for_its_helpers() {
        interrupt_this_thread();
        let (caller, both) = (thread::current().id(), Barrier::new(2));
        let stopped = parallel::fold(2, 2, Vec::new, |stopped, _| {
            both.wait();
            if thread::current().id() != caller {
                // In turn, with helpers of its own.
                stopped.extend(parallel::fold(2, 2, || true, |stopped, _| *stopped &= is_stopped_in_the_end()));
            }
        });
        let stopped = stopped.concat();
        assert!(!stopped.is_empty() && stopped.iter().all(|&stopped| stopped));
    }

    #[test]
    fn a_panic_leaves_no_team() {
        interrupt_this_thread();
        let team = Team::of_this_thread();
        let work = std::panic::AssertUnwindSafe(|| team.work(|| assert!(!is_stopped_in_the_end())));
        assert!(std::panic::catch_unwind(work).is_err());
        assert!((0..1000).all(|_| check().is_ok()));
    }
}
