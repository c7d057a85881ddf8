//! Work in the core: with or without letting other Python threads run, and listening for Ctrl-C where it is long.

use bytepair_core::Result;
use bytepair_core::pipeline::Run;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::options::Threads;
use crate::watch::stoppable;

/// Work on fewer bytes or ids does not let other Python threads run, which would cost more than it gains.
pub(crate) const UNITS_TO_DETACH: usize = 4096;

/// While more bytes are encoded, Ctrl-C is listened to.
const BYTES_TO_WATCH: usize = 10_000_000;

/// Runs a job on so many bytes or ids; other Python threads run meanwhile if that is worth it.
pub(crate) fn detached<T: Send>(py: Python<'_>, units: usize, job: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let result = if units < UNITS_TO_DETACH { job() } else { py.detach(job) };
    result.map_err(|error| raise(py, error))
}

/// Runs a job that encodes so many bytes, as [`detached`]; where they are many, Ctrl-C stops it.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    bytes: usize,
    threads: Threads,
    job: impl FnOnce(Run<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    if bytes >= BYTES_TO_WATCH {
        return stoppable(py, |stop| job(Run { threads: threads.most(), stop: Some(stop) }));
    }
    detached(py, bytes, || job(Run { threads: threads.most(), stop: None }))
}
