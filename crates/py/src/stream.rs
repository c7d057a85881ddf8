//! The stream decoder as a Python class.

use bytepair_core::decode::Utf8Stream;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::raise;
use crate::tokenizer::CoreTokenizer;

/// Text from ids that arrive one at a time: never half a character; see `Tokenizer.stream`.
#[pyclass(module = "bytepair")]
pub(crate) struct StreamDecoder {
    tokenizer: Py<CoreTokenizer>,
    skip_special_tokens: bool,
    stream: Utf8Stream,
}

impl StreamDecoder {
    pub(crate) fn new(tokenizer: Py<CoreTokenizer>, skip_special_tokens: bool) -> Self {
        Self { tokenizer, skip_special_tokens, stream: Utf8Stream::default() }
    }
}

#[pymethods]
impl StreamDecoder {
    /// The text that is certain with this id and was not before; InvalidIdError if no token has it.
    fn push(&mut self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<String> {
        let tokenizer = &self.tokenizer.get().inner;
        let invalid = || raise(py, tokenizer.invalid_id(id));
        let id = id.extract().map_err(|_| invalid())?;
        let token = tokenizer.token_bytes(id).ok_or_else(invalid)?;
        let skipped = self.skip_special_tokens && tokenizer.is_special(id);
        Ok(if skipped { String::new() } else { self.stream.push(token) })
    }

    /// What is left when no more ids come: U+FFFD for half a character, else nothing. The stream is then as new.
    fn flush(&mut self) -> String {
        self.stream.flush()
    }

    /// The bytes that wait for the rest of their character.
    #[getter]
    fn pending<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.stream.pending())
    }
}
