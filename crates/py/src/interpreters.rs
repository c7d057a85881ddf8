//! The main interpreter alone: subinterpreters are refused.
//!
//! Classes, and what is kept of Python between calls, are there once for the process. Objects of one interpreter in another
//! end in crashes when the first one goes, and with a lock for each, sooner.
#![allow(unsafe_code, reason = "Python says in C alone which interpreter this is")]

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The number of the interpreter that Python starts with.
const MAIN: i64 = 0;

/// An `ImportError` in any interpreter but the main one.
pub(crate) fn refuse_others(_: Python<'_>) -> PyResult<()> {
    // SAFETY: this thread is attached to an interpreter, which therefore is there.
    let number = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if number == MAIN {
        return Ok(());
    }
    Err(PyImportError::new_err(
        "bytepair works in the main interpreter, and not in subinterpreters; use threads, which run at the same time while it \
         encodes, or processes",
    ))
}
