//! Objects with state, each of which one call uses at a time.
//!
//! Others can come meanwhile: from another thread, a handler of a signal, or an iterator that the call asks. They get an
//! error at once. To wait would never end where the same thread asks.

use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::False;
use pyo3::types::PyDict;

/// The object for a call that changes it; BusyError while another call uses it.
#[inline]
pub(crate) fn alone<'py, T: PyClass<Frozen = False>>(object: &Bound<'py, T>) -> PyResult<PyRefMut<'py, T>> {
    object.try_borrow_mut().map_err(|_| busy(object.as_any()))
}

/// The object for a call that reads it; BusyError while another call changes it.
#[inline]
pub(crate) fn shared<'py, T: PyClass<Frozen = False>>(object: &Bound<'py, T>) -> PyResult<PyRef<'py, T>> {
    object.try_borrow().map_err(|_| busy(object.as_any()))
}

#[cold]
fn busy(object: &Bound<'_, PyAny>) -> PyErr {
    let py = object.py();
    let made = || -> PyResult<PyErr> {
        let what = format!("another call is using this {}", object.get_type().name()?);
        let options = PyDict::new(py);
        options.set_item(
            "remedy",
            "use one for each thread, or a lock; a signal handler or an iterator cannot use it while a call runs",
        )?;
        let class = py.import("bytepair.errors")?.getattr("BusyError")?;
        Ok(PyErr::from_value(class.call((what,), Some(&options))?))
    };
    made().unwrap_or_else(|broken| broken)
}
