//! Lists and texts for Python that may be large: there is room for them, and signals are heard while they are made.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::errors::room;

/// So many items, and Python looks at its signals, and whether there is room for as many more.
const ITEMS: usize = 1 << 14;

/// More than an item takes with its parts.
const BYTES_OF_AN_ITEM: usize = 512;

/// An item; None if it could not be made. It is as small as its pointer, since lists of ids have millions.
struct Made<'py, T>(Option<Bound<'py, T>>);

impl<'py, T> IntoPyObject<'py> for Made<'py, T> {
    type Target = T;
    type Output = Bound<'py, T>;
    type Error = PyErr;

    #[inline]
    fn into_pyobject(self, _: Python<'py>) -> PyResult<Bound<'py, T>> {
        self.0.ok_or_else(|| PyMemoryError::new_err(()))
    }
}

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
    room(py, items.len().saturating_mul(size_of::<usize>()))?;
    let (mut left, mut failed) = (ITEMS, None);
    let objects = items.map(|item| {
        left -= 1;
        if left == 0 {
            left = ITEMS;
            if let Err(error) = py.check_signals().and_then(|()| room(py, ITEMS * BYTES_OF_AN_ITEM)) {
                failed = Some(error);
                return Made(None);
            }
        }
        Made(make(item).map_err(|error| failed = Some(error)).ok())
    });
    let list = PyList::new(py, objects);
    list.map_err(|error| failed.unwrap_or(error))
}

/// A `str`.
pub(crate) fn string<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    PyString::from_bytes(py, text.as_bytes())
}

/// A `bytes`.
pub(crate) fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    room(py, bytes.len())?;
    Ok(PyBytes::new(py, bytes))
}
