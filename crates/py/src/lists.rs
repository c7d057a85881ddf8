//! Lists and texts for Python that may be large: where there is no memory for them that is an error, and signals are heard while
//! they are made.
#![allow(unsafe_code, reason = "PyO3 panics where Python has no memory for a list, and an append takes twice as long")]

use pyo3::exceptions::{PyOverflowError, PySystemError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::errors::room;

/// So many items, and Python looks at its signals, and whether there is room for as many more.
const ITEMS: usize = 1 << 14;

/// More than an item takes with its parts.
const BYTES_OF_AN_ITEM: usize = 512;

/// A list of what `make` makes of each item.
#[inline]
pub(crate) fn list<'py, I, T>(
    py: Python<'py>,
    items: I,
    mut make: impl FnMut(I::Item) -> PyResult<Bound<'py, T>>,
) -> PyResult<Bound<'py, PyList>>
where
    I: IntoIterator<IntoIter: ExactSizeIterator>,
{
    let items = items.into_iter();
    let length = isize::try_from(items.len()).map_err(|_| PyOverflowError::new_err("a list is too long"))?;
    // SAFETY: a new list, or null and an exception.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(length))? };
    let (mut left, mut filled) = (ITEMS, 0);
    for (at, item) in (0..length).zip(items) {
        left -= 1;
        if left == 0 {
            left = ITEMS;
            py.check_signals()?;
            room(py, ITEMS * BYTES_OF_AN_ITEM)?;
        }
        let object = make(item)?;
        // SAFETY: `at` is a place of the list that is still null, and the list takes the reference. A list with places that are
        // null goes again, which is allowed, and is not returned.
        unsafe { ffi::PyList_SET_ITEM(list.as_ptr(), at, object.into_ptr()) };
        filled += 1;
    }
    if filled != length {
        return Err(PySystemError::new_err("a list has fewer items than were announced"));
    }
    Ok(list.cast_into()?)
}

/// A `str`.
pub(crate) fn string<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    PyString::from_bytes(py, text.as_bytes())
}

/// A `bytes`.
pub(crate) fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |made| {
        made.copy_from_slice(bytes);
        Ok(())
    })
}
