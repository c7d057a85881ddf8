//! Threads that help calls, and wait between these for the next one.
//!
//! Starting a thread takes longer than encoding the texts of a small batch. So a helper that has done its part waits for
//! another for a while, then it ends. A forked child has none of them: a list of them belongs to a process, and a lock that a
//! fork left closed is not waited for. Where no helper waits, one is started; where none can be, there is one less.

use std::any::Any;
use std::hint::spin_loop;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;
use std::{mem, process, thread};

use crate::interrupt::{TICK, Team};
use crate::memory;

/// The stack of a thread, and what it needs at once.
const BYTES_OF_A_THREAD: usize = 4 << 20;

/// A helper that nobody needs for so long ends.
const PATIENCE: Duration = if cfg!(test) { Duration::from_millis(200) } else { Duration::from_secs(1) };

/// The list is held for less time than it takes to ask for it so often.
const TRIES: usize = 1 << 10;

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { process: 0, helpers: Vec::new() });
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// The helpers of a process that wait, by number.
struct Waiting {
    process: u32,
    helpers: Vec<(u64, Sender<Job>)>,
}

/// The part of one helper in a call.
struct Job {
    work: &'static (dyn Fn() + Sync),
    team: Team,
    panicked: Arc<Mutex<Option<Box<dyn Any + Send>>>>,
    /// The call ends when all of these have gone.
    _working: Sender<()>,
}

/// Calls `worker` on up to `count` threads, of which the calling one is the first; returns when all have.
///
/// # Panics
/// Where one of them does.
pub(crate) fn on_threads(count: usize, worker: &(dyn Fn() + Sync)) {
    let team = Team::of_this_thread();
    let panicked = Arc::default();
    // SAFETY: whoever has the longer borrow has a `working` as well, and drops it when the work is done. The call does not end,
    // by a panic either, before `until_done` has seen that all of these have gone.
    #[allow(unsafe_code, reason = "threads that outlive a call borrow from it")]
    let work = unsafe { mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(worker) };
    {
        let until_done = UntilDone::new(&team);
        for _ in 1..count {
            let panicked = Arc::clone(&panicked);
            let job = Job { work, team: team.of_a_helper(), panicked, _working: until_done.working() };
            if !hand_over(job) {
                break;
            }
        }
        let _stop = team.stop_on_panic();
        team.work(worker);
    }
    let payload = panicked.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(payload) = payload {
        panic::resume_unwind(payload);
    }
}

/// Waits, when it is dropped, until no helper works for a call.
struct UntilDone<'a> {
    team: &'a Team,
    working: Option<Sender<()>>,
    none_works: Receiver<()>,
}

impl<'a> UntilDone<'a> {
    fn new(team: &'a Team) -> Self {
        let (working, none_works) = mpsc::channel();
        Self { team, working: Some(working), none_works }
    }

    fn working(&self) -> Sender<()> {
        self.working.clone().unwrap_or_else(|| unreachable!("until it is dropped"))
    }
}

impl Drop for UntilDone<'_> {
    fn drop(&mut self) {
        self.working = None;
        while self.none_works.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            self.team.ask();
        }
    }
}

/// Has a helper do a job; false if none waits and none can be started.
fn hand_over(mut job: Job) -> bool {
    let waiting = waiting();
    // Without the list it does this job alone.
    let stays = waiting.is_some();
    if let Some((_, helper)) = waiting.and_then(|mut waiting| waiting.helpers.pop()) {
        match helper.send(job) {
            Ok(()) => return true,
            Err(returned) => job = returned.0,
        }
    }
    // Where the system has no memory for a thread that it started, it ends the process. So where memory may be short, nothing is
    // done until the thread has what it needs.
    let (starting, started) = addresses_are_limited().then(mpsc::channel::<()>).unzip();
    let start = move || {
        drop(starting);
        if stays { help(job) } else { job.work() }
    };
    let starts = memory::probe(BYTES_OF_A_THREAD).is_ok() && thread::Builder::new().spawn(start).is_ok();
    if let Some(started) = started.filter(|_| starts) {
        // It never receives anything: the other end is dropped.
        _ = started.recv();
    }
    starts
}

/// Does a job, and others that come soon after one.
fn help(mut job: Job) {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let (sender, jobs) = mpsc::channel();
    loop {
        job.work();
        if addresses_are_limited() {
            return;
        }
        // Before the job goes: whoever waits for it may need a helper at once.
        for_helpers().helpers.push((number, sender.clone()));
        drop(job);
        job = match jobs.recv_timeout(PATIENCE) {
            Ok(next) => next,
            // Where it is not among those that wait, a job is on its way.
            Err(_) if stop_waiting(number) => return,
            Err(_) => match jobs.recv_timeout(PATIENCE) {
                Ok(next) => next,
                Err(_) => return,
            },
        };
    }
}

impl Job {
    fn work(&self) {
        let work = || {
            let _stop = self.team.stop_on_panic();
            self.team.work(self.work);
        };
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(work)) {
            *self.panicked.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload);
        }
    }
}

/// Whether the process may have so many addresses only (`ulimit -v`). Of these the heap of a thread that waits would keep 64
/// MB from other threads, which can have it when the thread has ended.
fn addresses_are_limited() -> bool {
    #[cfg(target_os = "linux")]
    {
        rustix::process::getrlimit(rustix::process::Resource::As).current.is_some()
    }
    #[cfg(not(target_os = "linux"))]
    {
        false
    }
}

/// Takes a helper off the list; false if it is not on it.
fn stop_waiting(number: u64) -> bool {
    let mut waiting = for_helpers();
    let before = waiting.helpers.len();
    waiting.helpers.retain(|&(other, _)| other != number);
    waiting.helpers.len() < before
}

/// The list, for a helper: it could be had in this process before, so that no fork left it closed.
fn for_helpers() -> MutexGuard<'static, Waiting> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The list of this process; None if it cannot be had, as in a child that was forked while it was held.
fn waiting() -> Option<MutexGuard<'static, Waiting>> {
    for _ in 0..TRIES {
        let mut waiting = match WAITING.try_lock() {
            Ok(waiting) => waiting,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                spin_loop();
                continue;
            }
        };
        if waiting.process != process::id() {
            // Those of the parent are not here, and what they hold may be locked.
            mem::forget(mem::take(&mut waiting.helpers));
            waiting.process = process::id();
        }
        return Some(waiting);
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use std::collections::HashSet;
    use std::sync::Barrier;
    use std::thread::ThreadId;
    use std::time::Instant;

    use super::*;

    /// The threads of a call of so many, each of which is there before one ends.
    fn threads(count: usize) -> HashSet<ThreadId> {
        let (seen, all) = (Mutex::new(HashSet::new()), Barrier::new(count));
        on_threads(count, &|| {
            seen.lock().unwrap().insert(thread::current().id());
            all.wait();
        });
        seen.into_inner().unwrap()
    }

    #[test]
    fn helpers_help_again_and_end_when_nobody_needs_them() {
        let again = |_: usize| threads(3).intersection(&threads(3)).count() == 3;
        assert!((0..100).any(again), "no helper waited for the next call");
        let start = Instant::now();
        while waiting().is_none_or(|waiting| !waiting.helpers.is_empty()) && start.elapsed() < Duration::from_secs(20) {
            thread::sleep(PATIENCE / 4);
        }
        assert!(start.elapsed() < Duration::from_secs(20), "helpers wait for ever");
        assert_eq!(threads(3).len(), 3);
    }

    #[test]
    fn a_panic_of_a_helper_is_that_of_the_call_and_the_helper_lives_on() {
        let caller = thread::current().id();
        for _ in 0..10 {
            let all = Barrier::new(2);
            let call = || {
                on_threads(2, &|| {
                    all.wait();
                    assert!(thread::current().id() == caller, "of a helper");
                });
            };
            let payload = panic::catch_unwind(AssertUnwindSafe(call)).unwrap_err();
            assert_eq!(payload.downcast_ref::<&str>(), Some(&"of a helper"));
            assert_eq!(threads(2).len(), 2);
        }
    }

    #[test]
    fn a_panic_of_the_caller_waits_for_the_helpers() {
        let caller = thread::current().id();
        for _ in 0..10 {
            let (all, done) = (Barrier::new(2), Mutex::new(false));
            let call = || {
                on_threads(2, &|| {
                    all.wait();
                    assert!(thread::current().id() != caller, "of the caller");
                    thread::sleep(Duration::from_millis(5));
                    *done.lock().unwrap() = true;
                });
            };
            panic::catch_unwind(AssertUnwindSafe(call)).unwrap_err();
            assert!(*done.lock().unwrap());
        }
    }

    #[test]
    fn calls_of_many_threads_and_within_helpers_end() {
        let total = AtomicU64::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        on_threads(3, &|| {
                            on_threads(2, &|| {
                                total.fetch_add(1, Ordering::Relaxed);
                            });
                        });
                    }
                });
            }
        });
        assert!((8 * 50..=8 * 50 * 6).contains(&total.into_inner()));
    }
}
