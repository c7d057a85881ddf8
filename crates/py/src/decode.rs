//! Ids -> text or bytes, from a list, an array or any other iterable.

use bytepair_core::decode::{TOGETHER, Undecoded};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyUnicodeDecodeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySequence, PyString};

use crate::arrays::{is_array, of_array};
use crate::errors::{in_row, raise, room};
use crate::lists::{Items, bytes as made_bytes, list, string};
use crate::run::{UNITS_TO_DETACH, detached};
use crate::strings::Name;
use crate::tokenizer::CoreTokenizer;

#[pymethods]
impl CoreTokenizer {
    /// The text of some ids.
    ///
    /// Args:
    ///     ids: A list or an array of ids.
    ///     errors: For invalid UTF-8: ``"replace"`` decodes to U+FFFD, ``"strict"`` raises UnicodeDecodeError, and other
    ///         Python error handlers work too.
    ///     skip_special_tokens: Whether to omit special tokens.
    ///
    /// Raises:
    ///     InvalidIdError: No token has this id; ``row`` is its index.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5}, vocab_size=258)
    ///     >>> tok.decode([257, 32, 0xf0])
    ///     'low �'
    #[pyo3(
        signature = (ids, errors=Name::of("replace"), *, skip_special_tokens=false),
        text_signature = "($self, ids, errors='replace', *, skip_special_tokens=False)"
    )]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        errors: Name<'_>,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.text_of(py, ids, &errors, skip_special_tokens)
    }

    /// The text of each row of ids. Options and errors: see `decode`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).decode_batch([[257], []])
    ///     ['low', '']
    #[pyo3(
        signature = (rows, errors=Name::of("replace"), *, skip_special_tokens=false),
        text_signature = "($self, rows, errors='replace', *, skip_special_tokens=False)"
    )]
    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        errors: Name<'_>,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let texts = rows.try_iter()?.map(|ids| self.text_of(py, &ids?, &errors, skip_special_tokens));
        list(py, texts.collect::<PyResult<Vec<_>>>()?, Ok)
    }

    /// The concatenated bytes of some ids. Arguments and errors: see `decode`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).decode_bytes([257, 0xff])
    ///     b'low\xff'
    #[pyo3(signature = (ids, *, skip_special_tokens=false))]
    fn decode_bytes<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        made_bytes(py, &self.bytes_of(py, ids, skip_special_tokens)?)
    }
}

impl CoreTokenizer {
    fn text_of<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        errors: &str,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.bytes_of(py, ids, skip_special_tokens)?;
        match PyString::from_bytes(py, &bytes) {
            Ok(text) => Ok(text.into_any()),
            Err(error) if !error.is_instance_of::<PyUnicodeDecodeError>(py) => Err(error),
            Err(_) if errors == "replace" && !self.inner.is_byte_level() => {
                // The decoders define the replacement for invalid UTF-8.
                let ids = self.ids_of(py, ids)?;
                let text = self.inner.decode_text(&ids, skip_special_tokens).map_err(|error| raise(py, error))?;
                Ok(string(py, &text)?.into_any())
            }
            Err(_) => made_bytes(py, &bytes)?.call_method1("decode", ("utf-8", errors)),
        }
    }

    pub(crate) fn bytes_of(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        skip_special_tokens: bool,
    ) -> PyResult<Vec<u8>> {
        if !self.inner.decodes_by_table() {
            let ids = self.ids_of(py, ids)?;
            return detached(py, ids.len(), || self.inner.decode(&ids, skip_special_tokens));
        }
        if let Some(items) = Items::of(ids) {
            if let Some(bytes) = self.bytes_of_ints(py, items, skip_special_tokens)? {
                return Ok(bytes);
            }
            // What an id's `__index__` does to a list must not matter here.
            room(py, ids.len()?.saturating_mul(size_of::<usize>()))?;
            return self.bytes_of_any(py, ids.cast::<PySequence>()?.to_tuple()?.as_any(), skip_special_tokens);
        }
        let decode = |ids: &[u32]| detached(py, ids.len(), || self.inner.decode(ids, skip_special_tokens));
        if is_array(ids)? {
            // One is borrowed without a copy, if it can be.
            if let Ok(array) = ids.extract::<PyReadonlyArray1<'_, u32>>()
                && let Ok(ids) = array.as_slice()
            {
                return decode(ids);
            }
            if let Some(ids) = of_array(ids)? {
                return decode(&ids);
            }
        }
        self.bytes_of_any(py, ids, skip_special_tokens)
    }

    /// The bytes of the ints of a list or a tuple; None if one is not an int or has no token.
    fn bytes_of_ints(
        &self,
        py: Python<'_>,
        items: Items<'_, '_>,
        skip_special_tokens: bool,
    ) -> PyResult<Option<Vec<u8>>> {
        let mut decoder = self.inner.decoder(items.len(), skip_special_tokens);
        let mut numbers = [0; TOGETHER];
        let mut from = 0;
        while let Some(read) = items.ints(from, &mut numbers) {
            match decoder.push(&numbers[..read]) {
                Err(Undecoded::NoToken(_)) => return Ok(None),
                Err(Undecoded::Other(error)) => return Err(raise(py, error)),
                Ok(()) if read < TOGETHER => return Ok(Some(self.inner.without_prefix(decoder.finish()))),
                Ok(()) => from += read,
            }
        }
        Ok(None)
    }

    /// The bytes of the ids from any iterable.
    fn bytes_of_any(&self, py: Python<'_>, ids: &Bound<'_, PyAny>, skip_special_tokens: bool) -> PyResult<Vec<u8>> {
        // A length is a claim until that many ids have come, each of which is looked at before the next.
        let length = match ids.len() {
            Err(error) if !error.is_instance_of::<PyTypeError>(py) => return Err(error),
            length => length.unwrap_or(0),
        };
        let mut decoder = self.inner.decoder(length.min(UNITS_TO_DETACH), skip_special_tokens);
        for (row, id) in ids.try_iter()?.enumerate() {
            let id = self.id_of(&id?).map_err(|error| in_row(py, error, row))?;
            let pushed = decoder.push(&[id]);
            pushed.map_err(|lack| raise(py, lack.error(|_| self.inner.invalid_id(id).row(row))))?;
        }
        Ok(self.inner.without_prefix(decoder.finish()))
    }
}
