//! Arrays of a GGUF file.

use bytepair_core::stored::Memory;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyUnicodeDecodeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::tables::View;

/// The strings in a row from a byte on, each behind its length as a little-endian number of 64 bits, and the byte behind
/// them; None if the data end before, or a string is not UTF-8.
#[pyfunction]
pub(crate) fn read_strings(
    py: Python<'_>,
    data: PyBuffer<u8>,
    start: usize,
    count: usize,
) -> PyResult<Option<(Bound<'_, PyList>, usize)>> {
    let view = View::new(data, start)?;
    let (strings, mut rest) = (PyList::empty(py), view.bytes());
    for _ in 0..count {
        let string = rest.split_first_chunk().and_then(|(length, after)| {
            let (string, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
            rest = after;
            Some(string)
        });
        let Some(string) = string else { return Ok(None) };
        match PyString::from_bytes(py, string) {
            Ok(string) => strings.append(string)?,
            Err(error) if error.is_instance_of::<PyUnicodeDecodeError>(py) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let end = start + view.bytes().len() - rest.len();
    Ok(Some((strings, end)))
}
