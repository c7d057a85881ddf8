//! Core errors as the exceptions of `bytepair.errors`.

use bytepair_core::{Error, Kind, memory};
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::signals::raised;

/// The Python exception of a core error, or what a signal's handler raised.
pub(crate) fn raise(py: Python<'_>, error: Error) -> PyErr {
    if let Some(raised) = raised() {
        return raised;
    }
    let name = match error.kind {
        Kind::Encode => "EncodeError",
        Kind::SpecialToken => "SpecialTokenError",
        Kind::InvalidId => "InvalidIdError",
        Kind::Format => "FormatError",
        Kind::Pattern => "PatternError",
        Kind::Training => "TrainingError",
        Kind::Limit => "LimitError",
        Kind::Artifact => "ArtifactError",
        Kind::Memory => return PyMemoryError::new_err(error.to_string()),
        Kind::Interrupted => return PyKeyboardInterrupt::new_err(error.what.clone()),
    };
    build(py, name, error).unwrap_or_else(|broken| broken)
}

fn build(py: Python<'_>, name: &str, error: Error) -> PyResult<PyErr> {
    let options = PyDict::new(py);
    options.set_item("remedy", &error.remedy)?;
    options.set_item("cli_remedy", error.cli_remedy.as_ref())?;
    options.set_item("line", error.line)?;
    options.set_item("row", error.row)?;
    options.set_item("character", error.character)?;
    options.set_item("byte", error.byte)?;
    let class = py.import("bytepair.errors")?.getattr(name)?;
    Ok(PyErr::from_value(class.call((&error.what,), Some(&options))?))
}

/// MemoryError unless so many bytes can be had: for Python objects, whose makers would panic.
#[inline]
pub(crate) fn room(py: Python<'_>, bytes: usize) -> PyResult<()> {
    memory::probe(bytes).map_err(|error| raise(py, error))
}

/// All items in a vector; MemoryError if there is no memory for it.
pub(crate) fn collect<T>(py: Python<'_>, items: impl IntoIterator<Item = T>) -> PyResult<Vec<T>> {
    memory::collect(items).map_err(|error| raise(py, error))
}

/// The same exception with the row of the batch.
pub(crate) fn in_row(py: Python<'_>, error: PyErr, row: usize) -> PyErr {
    match error.value(py).setattr("row", row) {
        Ok(()) => error,
        Err(broken) => broken,
    }
}
