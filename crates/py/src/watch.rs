//! Long work on a thread of its own, while the calling thread watches for Ctrl-C and reports progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use bytepair_core::train::Progress;
use bytepair_core::{Error, Result, memory};
use pyo3::prelude::*;

use crate::errors::raise;

/// The longest delay before Ctrl-C is handled.
const TICK: Duration = Duration::from_millis(50);

/// The stack of a thread, and what it needs at once.
const BYTES_OF_A_THREAD: usize = 4 << 20;

/// Runs `job` with the interpreter released; calls `tell(done)` from time to time, and once at the end.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    tell: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&Progress) -> Result<T> + Send,
) -> PyResult<T> {
    let progress = Progress::default();
    let tell = tell.map(|tell| tell.clone().unbind());
    let tick = |py: Python<'_>| {
        py.check_signals()?;
        match &tell {
            Some(tell) => tell.call1(py, (progress.done.load(Ordering::Relaxed),)).map(|_| ()),
            None => Ok(()),
        }
    };
    let result = beside(py, tick, &progress.stop, || job(&progress))?;
    tick(py)?;
    Ok(result)
}

/// Runs `job` on a thread of its own and calls `tick` from time to time; an exception of `tick` sets `stop`.
pub(crate) fn beside<T: Send>(
    py: Python<'_>,
    tick: impl Fn(Python<'_>) -> PyResult<()> + Send + Sync,
    stop: &AtomicBool,
    job: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let outcome = py.detach(|| {
        thread::scope(|scope| {
            let (working, none_works) = mpsc::channel::<()>();
            let work = move || {
                let _working = working;
                job()
            };
            let started = memory::probe(BYTES_OF_A_THREAD)
                .and_then(|()| thread::Builder::new().spawn_scoped(scope, work).map_err(|_| Error::memory()));
            let worker = match started {
                Ok(worker) => worker,
                Err(error) => return Ok(Err(error)),
            };
            while none_works.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = Python::attach(&tick) {
                    stop.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
            Ok(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    })?;
    outcome.map_err(|error| raise(py, error))
}
