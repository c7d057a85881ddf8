//! Python's `str`, without what a subclass overrides, and as UTF-8.

use std::ops::Deref;

use bytepair_core::{Error, Kind};
use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString};

use crate::errors::raise;

/// The same text as a `str` of its own type: a subclass can override its length, its slices and whatever else.
pub(crate) fn exact<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
    if text.is_exact_instance_of::<PyString>() {
        return Ok(text.clone());
    }
    Ok(text.py().get_type::<PyString>().call_method1("__str__", (text,))?.cast_into()?)
}

/// The error for a text whose UTF-8 could not be made: its first lone surrogate, with its place, and no remedy yet.
/// Other errors are returned as they are.
fn lone_surrogate(text: &Bound<'_, PyString>, error: PyErr) -> PyResult<Error> {
    let py = text.py();
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
        return Err(error);
    }
    let text = exact(text)?;
    let character: usize = error.value(py).getattr("start")?.extract()?;
    let before = text.get_item(PySlice::new(py, 0, character.cast_signed(), 1))?;
    let surrogate = text.get_item(character)?.repr()?;
    let error = Error::new(Kind::Encode, format!("the text holds the lone surrogate {surrogate}"));
    let byte = before.cast::<PyString>()?.to_str()?.len();
    Ok(error.but(|error| (error.byte, error.character) = (Some(byte), Some(character))))
}

/// A `str` argument that is no text to encode, such as a name or an option; EncodeError for a lone surrogate.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a>(&'a str);

impl<'a, 'py> FromPyObject<'a, 'py> for Name<'a> {
    type Error = PyErr;

    fn extract(name: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        name.extract().map(Self).map_err(|error: PyErr| match name.cast::<PyString>() {
            Ok(text) => match lone_surrogate(&text, error) {
                Ok(error) => raise(name.py(), error.remedy("use whole characters")),
                Err(error) => error,
            },
            Err(_) => error,
        })
    }
}

impl<'a> Name<'a> {
    /// A default.
    pub(crate) const fn of(name: &'a str) -> Self {
        Self(name)
    }

    pub(crate) fn as_str(self) -> &'a str {
        self.0
    }
}

impl Deref for Name<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

/// The same, kept.
pub(crate) struct OwnedName(pub(crate) String);

impl<'a, 'py> FromPyObject<'a, 'py> for OwnedName {
    type Error = PyErr;

    fn extract(name: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Name::extract(name).map(|name| Self(name.as_str().to_owned()))
    }
}

/// Some of them.
pub(crate) struct Names(pub(crate) Vec<String>);

impl<'a, 'py> FromPyObject<'a, 'py> for Names {
    type Error = PyErr;

    fn extract(names: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(names.extract::<Vec<OwnedName>>()?.into_iter().map(|name| name.0).collect()))
    }
}
