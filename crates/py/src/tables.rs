//! Compiled tables in a file, or in `bytes`.

use std::slice;
use std::sync::Arc;

use bytepair_core::stored::{Memory, Stored};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;

/// The compiled tables of a vocabulary of bytes, as `CoreTokenizer._tables` writes them: used where they are.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Tables {
    pub(crate) stored: Stored,
}

#[pymethods]
impl Tables {
    /// Opens the tables that begin at `start` of some `bytes` or of a file that is mapped to be read, and were written for
    /// `owner`; None if this version of the core has others. FormatError if they are damaged.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value, reason = "pyo3 makes it")]
    fn open(py: Python<'_>, memory: PyBuffer<u8>, start: usize, owner: Vec<u8>) -> PyResult<Option<Self>> {
        let view = Arc::new(View::new(memory, start)?);
        let stored = py.detach(|| Stored::open(view, &owner)).map_err(|error| raise(py, error))?;
        Ok(stored.map(|stored| Self { stored }))
    }
}

/// The bytes of a buffer from a place on.
pub(crate) struct View {
    memory: PyBuffer<u8>,
    start: usize,
}

impl View {
    /// ValueError if the bytes may change, or are not one after another.
    pub(crate) fn new(memory: PyBuffer<u8>, start: usize) -> PyResult<Self> {
        if memory.readonly() && memory.is_c_contiguous() {
            let start = start.min(memory.len_bytes());
            return Ok(Self { memory, start });
        }
        Err(PyValueError::new_err("the columns and tables are not in memory that stays as it is"))
    }
}

#[allow(unsafe_code, reason = "a buffer of Python as bytes")]
// SAFETY: what has exported the buffer keeps its bytes where they are. They are read-only; whoever writes to a file while it
// is mapped breaks the contract that docs/reliability.md states.
unsafe impl Memory for View {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the buffer is contiguous and has so many bytes, and `start` is no more than that.
        unsafe {
            let first = self.memory.buf_ptr().cast::<u8>().add(self.start);
            slice::from_raw_parts(first, self.memory.len_bytes() - self.start)
        }
    }
}
