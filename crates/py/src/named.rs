//! Instances of a Python `NamedTuple` of integers, made without another tuple in between.
#![allow(
    unsafe_code,
    reason = "Python makes such an instance of another tuple only, which takes several times as long"
)]

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple, PyType};

/// A `NamedTuple` of `N` integers.
pub(crate) struct NamedInts<'py, const N: usize>(Bound<'py, PyType>);

impl<'py, const N: usize> NamedInts<'py, N> {
    /// Takes the class; a `TypeError` if it is no tuple of so many names.
    pub(crate) fn new(class: &Bound<'py, PyType>) -> PyResult<Self> {
        let fields = class.getattr("_fields").and_then(|fields| fields.len());
        if !class.is_subclass_of::<PyTuple>()? || fields.ok() != Some(N) {
            return Err(PyTypeError::new_err(format!("{class} is not a NamedTuple of {N} names")));
        }
        Ok(Self(class.clone()))
    }

    /// An instance.
    pub(crate) fn of(&self, values: [u64; N]) -> PyResult<Bound<'py, PyAny>> {
        let py = self.0.py();
        let values: [Bound<'py, PyInt>; N] = values.map(|value| {
            let Ok(value) = value.into_pyobject(py);
            value
        });
        // SAFETY: the class is a subclass of tuple, so that its instances hold as many items as are asked for. They are null
        // until each is set once below, when no other code has the instance yet. One that holds integers alone is in no cycle
        // of references, so that the garbage collector need not know it.
        unsafe {
            let made = ffi::PyType_GenericAlloc(self.0.as_type_ptr(), N.cast_signed());
            let made = Bound::from_owned_ptr_or_err(py, made)?;
            for (at, value) in values.into_iter().enumerate() {
                if ffi::PyTuple_SetItem(made.as_ptr(), at.cast_signed(), value.into_ptr()) != 0 {
                    return Err(PyErr::fetch(py));
                }
            }
            ffi::PyObject_GC_UnTrack(made.as_ptr().cast());
            Ok(made)
        }
    }
}
