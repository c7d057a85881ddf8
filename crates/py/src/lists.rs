//! Lists, tuples and texts that may be large, for Python and from it: a lack of memory for them is an error, and signals are heard
//! while they are made.
#![allow(
    unsafe_code,
    reason = "PyO3 panics where Python has no memory for a list; an append takes twice as long, and ints are read in two thirds"
)]

use bytepair_core::Result;
use bytepair_core::memory::Room;
use bytepair_core::prefetch::prefetch_at;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyOverflowError, PySystemError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use crate::errors::{raise, room};

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

/// A tuple of what `make` makes of each item.
pub(crate) fn tuple<'py, I, T>(
    py: Python<'py>,
    items: I,
    make: impl FnMut(I::Item) -> PyResult<Bound<'py, T>>,
) -> PyResult<Bound<'py, PyTuple>>
where
    I: IntoIterator<IntoIter: ExactSizeIterator>,
{
    let items = list(py, items, make)?;
    // SAFETY: a new tuple of a list's items, or null and an exception.
    Ok(unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_AsTuple(items.as_ptr()))? }.cast_into()?)
}

/// The items of any sequence, as an argument; MemoryError where there is no memory for them.
pub(crate) struct Many<T>(pub(crate) Vec<T>);

impl<'a, 'py, T: FromPyObjectOwned<'py>> FromPyObject<'a, 'py> for Many<T> {
    type Error = PyErr;

    fn extract(items: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let (py, mut all) = (items.py(), Vec::new());
        all.room(items.len()?).map_err(|error| raise(py, error))?;
        for item in items.try_iter()? {
            all.room(1).map_err(|error| raise(py, error))?;
            all.push(item?.extract().map_err(Into::into)?);
        }
        Ok(Self(all))
    }
}

/// A list or a tuple whose items are to be ints.
#[derive(Clone, Copy)]
pub(crate) enum Items<'a, 'py> {
    List(&'a Bound<'py, PyList>),
    Tuple(&'a Bound<'py, PyTuple>),
}

/// So many items before it is read, an int is prefetched.
const ITEMS_AHEAD: usize = 40;

impl<'a, 'py> Items<'a, 'py> {
    /// The items of an object that is of one of the two classes, and not of a class derived from them.
    pub(crate) fn of(object: &'a Bound<'py, PyAny>) -> Option<Self> {
        let list = object.cast_exact().ok().map(Self::List);
        list.or_else(|| object.cast_exact().ok().map(Self::Tuple))
    }

    pub(crate) fn len(self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Tuple(tuple) => tuple.len(),
        }
    }

    /// Fills `into` with the ints from a place on, and returns their number; None if one of them is not an int of 32 bits.
    ///
    /// A list may change between two calls, but not within one. Two thirds of the time were waits for the ints.
    pub(crate) fn ints(self, from: usize, into: &mut [u32]) -> Option<usize> {
        match self {
            // Without the GIL, other threads wait with a change until it is read.
            Self::List(list) => with_critical_section(list, || {
                // SAFETY: a list has `ob_item` point to as many objects as its length says, and nothing changes it here: the
                // lock is held, or the GIL, and `read` runs no Python code.
                let items = unsafe { (*list.as_ptr().cast::<ffi::PyListObject>()).ob_item };
                unsafe { read(items, list.len(), from, into) }
            }),
            // SAFETY: a slice of objects is one of pointers to them, and it stays as it is.
            Self::Tuple(tuple) => unsafe { read(tuple.as_slice().as_ptr().cast(), tuple.len(), from, into) },
        }
    }

    /// All ints; None if one of the items is not an int of 32 bits.
    pub(crate) fn all(self) -> Result<Option<Vec<u32>>> {
        let mut all = Vec::new();
        all.room(self.len())?;
        all.resize(self.len(), 0);
        Ok(self.ints(0, &mut all).map(|read| {
            all.truncate(read);
            all
        }))
    }
}

/// # Safety
/// There are `length` objects at `items`, which stay alive.
unsafe fn read(items: *const *mut ffi::PyObject, length: usize, from: usize, into: &mut [u32]) -> Option<usize> {
    let count = length.saturating_sub(from).min(into.len());
    for (place, number) in (from..length).zip(&mut into[..count]) {
        // SAFETY: both places are below `length`. An int, of a subclass too, is read without running any code of it.
        unsafe {
            prefetch_at(*items.add((place + ITEMS_AHEAD).min(length - 1)));
            let item = *items.add(place);
            if ffi::PyLong_Check(item) == 0 {
                return None;
            }
            let mut overflow = 0;
            *number = ffi::PyLong_AsLongLongAndOverflow(item, &raw mut overflow).try_into().ok()?;
            if overflow != 0 {
                return None;
            }
        }
    }
    Some(count)
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
