//! Work in the core, with or without letting other Python threads run.

use bytepair_core::pipeline::Run;
use bytepair_core::{Result, memory};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::options::Threads;
use crate::signals::raised;

/// Work on fewer bytes or ids does not let other Python threads run, which would cost more than it gains.
pub(crate) const UNITS_TO_DETACH: usize = 4096;

/// Runs a job on so many bytes or ids; other Python threads run meanwhile if that is worth it. MemoryError at once where an
/// earlier call left nothing.
pub(crate) fn detached<T: Send>(py: Python<'_>, units: usize, job: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    memory::check().map_err(|error| raise(py, error))?;
    let result = if units < UNITS_TO_DETACH { job() } else { py.detach(job) };
    let done = result.map_err(|error| raise(py, error))?;
    // A job can end well although it was to stop.
    raised().map_or(Ok(done), Err)
}

/// Runs a job that encodes so many bytes, as [`detached`].
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    bytes: usize,
    threads: Threads,
    job: impl FnOnce(Run<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    detached(py, bytes, || job(Run { threads: threads.most(), stop: None }))
}
