//! Rust's vectors as numpy's arrays, and ids from them.

use std::thread;

use bytepair_core::memory::{self, Room};
use numpy::npyffi::is_numpy_2;
use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::errors::{collect, raise, room};

/// Arrays of fewer elements are copied into memory of numpy's own; larger ones are handed over as they are.
const ELEMENTS_TO_HAND_OVER: usize = 4096;

/// More than the objects of an array take, beside its elements.
const BYTES_OF_AN_ARRAY: usize = 1 << 16;

/// Ids, and offsets or places.
pub(crate) type FlatBatch<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>);

/// An array of these elements, without copying many of them.
pub(crate) fn array<T: Element + Copy>(py: Python<'_>, mut elements: Vec<T>) -> PyResult<Bound<'_, PyArray1<T>>> {
    if elements.len() < ELEMENTS_TO_HAND_OVER {
        return Ok(PyArray1::from_slice(py, &elements));
    }
    room(py, BYTES_OF_AN_ARRAY)?;
    elements.shrink_to_fit();
    Ok(PyArray1::from_vec(py, elements))
}

/// The start of each row and the end of the last one, from the ends of all.
pub(crate) fn starts<'py>(py: Python<'py>, ends: &[usize]) -> PyResult<Bound<'py, PyArray1<i64>>> {
    array(py, collect(py, std::iter::once(0).chain(ends.iter().map(|&end| end.cast_signed() as i64)))?)
}

/// Imports numpy by Python's own means, so that a failure is an exception: the bindings would panic.
///
/// They run Python's code again to find numpy's functions, and would panic where the handler of a signal raises in it. So another
/// thread has them do it: handlers run in the main one alone.
pub(crate) fn import_numpy(py: Python<'_>) -> PyResult<()> {
    static IMPORTED: PyOnceLock<()> = PyOnceLock::new();
    let import = || {
        py.import("numpy")?;
        let look = || Python::attach(is_numpy_2);
        py.detach(|| {
            thread::scope(|scope| {
                // Without a thread, the bindings look when they are used first.
                drop(thread::Builder::new().spawn_scoped(scope, look).map(thread::ScopedJoinHandle::join));
            });
        });
        Ok(())
    };
    IMPORTED.get_or_try_init(py, import).copied()
}

/// Whether an object may be an array. What has no `dtype` is none, and numpy is not imported for it.
pub(crate) fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !object.hasattr("dtype")? {
        return Ok(false);
    }
    match import_numpy(object.py()) {
        Err(error) if error.is_instance_of::<PyImportError>(object.py()) => Ok(false),
        imported => imported.map(|()| true),
    }
}

/// The numbers in an array of numpy's of one dimension; None if it is none of uint32 or int64, or one of them is no id.
pub(crate) fn of_array(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u32>>> {
    let py = object.py();
    if let Ok(array) = object.extract::<PyReadonlyArray1<'_, u32>>() {
        let ids = match array.as_slice() {
            Ok(ids) => memory::copied(ids),
            Err(_) => memory::collect(array.as_array().iter().copied()),
        };
        return ids.map(Some).map_err(|error| raise(py, error));
    }
    let Ok(array) = object.extract::<PyReadonlyArray1<'_, i64>>() else { return Ok(None) };
    let mut ids = Vec::new();
    ids.room(array.len()?).map_err(|error| raise(py, error))?;
    // Within the room, so that it does not allocate.
    let all = array.as_array().iter().try_for_each(|&id| u32::try_from(id).map(|id| ids.push(id)));
    Ok(all.is_ok().then_some(ids))
}
