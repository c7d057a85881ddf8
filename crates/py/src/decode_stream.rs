//! Ids in parts -> text, as Python classes: for one sequence, and for many in rows.

use bytepair_core::pipeline::TextStream;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::busy::{alone, shared};
use crate::errors::{in_row, raise};
use crate::ints::number;
use crate::lists::{bytes, list, string};
use crate::tokenizer::CoreTokenizer;

/// In a batch, the id that means no id.
const NO_ID: i64 = -1;

/// Decodes ids that arrive one at a time, never half a character; see `Tokenizer.decode_stream`.
#[pyclass(module = "bytepair")]
pub(crate) struct DecodeStream {
    tokenizer: Py<CoreTokenizer>,
    skip_special_tokens: bool,
    stream: TextStream,
}

impl DecodeStream {
    pub(crate) fn new(tokenizer: Py<CoreTokenizer>, skip_special_tokens: bool) -> Self {
        Self { tokenizer, skip_special_tokens, stream: TextStream::default() }
    }
}

#[pymethods]
impl DecodeStream {
    /// Takes ids; returns the text that they complete.
    ///
    /// Args:
    ///     ids: An id, or several at once: a list, an array.
    ///
    /// Raises:
    ///     InvalidIdError: No token has this id; ``row`` is its place among several. The stream has not changed.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> stream = bp.train({"low": 5}, vocab_size=258).decode_stream()
    ///     >>> stream.push(257), stream.push([32, 257, 0xC3]), stream.pending
    ///     ('low', ' low', b'\xc3')
    fn push<'py>(slf: &Bound<'py, Self>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let Self { tokenizer, skip_special_tokens, stream } = &mut *this;
        let core = tokenizer.get();
        let text = match core.id_of(ids) {
            Ok(id) => stream
                .push(&core.inner, &[id], *skip_special_tokens)
                .map_err(|error| error.but(|error| error.row = None)),
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                stream.push(&core.inner, &core.ids_of(py, ids)?, *skip_special_tokens)
            }
            Err(error) => return Err(error),
        };
        string(py, &text.map_err(|error| raise(py, error))?)
    }

    /// Ends the sequence and returns the remaining text: U+FFFD for half a character, else nothing. The stream is then ready
    /// for another sequence.
    fn finish(slf: &Bound<'_, Self>) -> PyResult<String> {
        let mut this = alone(slf)?;
        let Self { tokenizer, stream, .. } = &mut *this;
        Ok(stream.flush(&tokenizer.get().inner))
    }

    /// The pending bytes: the start of a character.
    #[getter]
    fn pending<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        bytes(slf.py(), shared(slf)?.stream.pending())
    }
}

/// Decodes the ids of many sequences, each in a row of its own; see `Tokenizer.decode_stream_batch`.
#[pyclass(module = "bytepair")]
pub(crate) struct DecodeStreamBatch {
    tokenizer: Py<CoreTokenizer>,
    skip_special_tokens: bool,
    streams: Vec<TextStream>,
}

impl DecodeStreamBatch {
    pub(crate) fn new(tokenizer: Py<CoreTokenizer>, rows: usize, skip_special_tokens: bool) -> Self {
        Self { tokenizer, skip_special_tokens, streams: vec![TextStream::default(); rows] }
    }

    fn row(&self, row: &Bound<'_, PyAny>) -> PyResult<usize> {
        let rows = self.streams.len();
        let shown = match number(row)? {
            Ok(number) => match usize::try_from(number) {
                Ok(row) if row < rows => return Ok(row),
                _ => number.to_string(),
            },
            Err(large) => large,
        };
        Err(PyIndexError::new_err(format!("row {shown} of {rows}")))
    }

    /// The rows of a call; all rows if it names none.
    fn rows(&self, rows: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<usize>> {
        match rows {
            None => Ok((0..self.streams.len()).collect()),
            Some(rows) => rows.try_iter()?.map(|row| self.row(&row?)).collect(),
        }
    }
}

#[pymethods]
impl DecodeStreamBatch {
    /// Takes ids for each row; returns the text that they complete in each.
    ///
    /// Args:
    ///     ids: For each row an id, several ids (a list, or a row of a two-dimensional array), or none for a sequence that
    ///         waits or has ended: None, or -1, which is never an id.
    ///     rows: The rows of the ids, in this order; a row may be repeated. None for all rows.
    ///
    /// Returns:
    ///     A text for each entry of `ids`, often empty.
    ///
    /// Raises:
    ///     InvalidIdError: No token has this id; ``row`` is its row. No stream has changed.
    ///     ValueError: There are more or fewer entries than rows.
    ///     IndexError: A row does not exist.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> streams = bp.train({"low": 5}, vocab_size=258).decode_stream_batch(3)
    ///     >>> streams.push([257, 0xC3, None]), streams.push([[32, 257], 0xA9, 97])
    ///     (['low', '', ''], [' low', 'é', 'a'])
    ///     >>> streams.push([98], rows=[2])
    ///     ['b']
    #[pyo3(signature = (ids, rows=None))]
    fn push<'py>(
        slf: &Bound<'py, Self>,
        ids: &Bound<'py, PyAny>,
        rows: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let rows = this.rows(rows)?;
        let Self { tokenizer, skip_special_tokens, streams } = &mut *this;
        let core = tokenizer.get();
        let given = Given::read(core, ids, &rows)?;
        let texts = rows.iter().enumerate().map(|(at, &row)| {
            let pushed = streams[row].push(&core.inner, given.of(at), *skip_special_tokens);
            let text = pushed.map_err(|error| raise(py, error))?;
            string(py, &text)
        });
        list(py, texts, |text| text)
    }

    /// Ends the sequence of one row, or without one of every row, and returns the remaining text: U+FFFD for half a
    /// character, else nothing. The row is then ready for another sequence.
    #[pyo3(signature = (row=None))]
    fn finish<'py>(slf: &Bound<'py, Self>, row: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let row = row.map(|row| this.row(row)).transpose()?;
        let Self { tokenizer, streams, .. } = &mut *this;
        let core = &tokenizer.get().inner;
        if let Some(row) = row {
            return Ok(string(py, &streams[row].flush(core))?.into_any());
        }
        Ok(list(py, streams, |stream| string(py, &stream.flush(core)))?.into_any())
    }

    /// Drops the pending bytes of one row, or without one of every row: for a sequence that is abandoned.
    #[pyo3(signature = (row=None))]
    fn reset(slf: &Bound<'_, Self>, row: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut this = alone(slf)?;
        match row {
            Some(row) => {
                let row = this.row(row)?;
                this.streams[row] = TextStream::default();
            }
            None => this.streams.fill(TextStream::default()),
        }
        Ok(())
    }

    /// The pending bytes of each row: the start of a character.
    #[getter]
    fn pending<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let py = slf.py();
        list(py, &shared(slf)?.streams, |stream| bytes(py, stream.pending()))
    }

    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(shared(slf)?.streams.len())
    }
}

/// The ids of a call for some rows, each known to have a token.
struct Given {
    ids: Vec<u32>,
    /// Where the ids of each row end.
    ends: Vec<usize>,
}

impl Given {
    fn read(core: &CoreTokenizer, given: &Bound<'_, PyAny>, rows: &[usize]) -> PyResult<Self> {
        let py = given.py();
        // `tolist` converts an array or tensor of any type and dimension in one call.
        let given = match given.cast_exact::<PyList>() {
            Err(_) if given.hasattr("tolist")? => given.call_method0("tolist")?,
            _ => given.clone(),
        };
        let mut read = Self { ids: Vec::with_capacity(rows.len()), ends: Vec::with_capacity(rows.len()) };
        for entry in given.try_iter()? {
            let entry = entry?;
            let row = *rows.get(read.ends.len()).ok_or_else(|| {
                PyValueError::new_err(format!("there are more than {} entries of ids, one for each row", rows.len()))
            })?;
            if !entry.is_none() && !read.take(core, &entry).map_err(|error| in_row(py, error, row))? {
                for id in entry.try_iter()? {
                    let id = id?;
                    if !read.take(core, &id).map_err(|error| in_row(py, error, row))? {
                        return Err(PyTypeError::new_err(format!("an id is an int, not {}", id.repr()?)));
                    }
                }
            }
            read.ends.push(read.ids.len());
        }
        if read.ends.len() < rows.len() {
            let message = format!("there are {} entries of ids for {} rows", read.ends.len(), rows.len());
            return Err(PyValueError::new_err(message));
        }
        Ok(read)
    }

    /// Appends an id unless it is -1; false if it is not a number.
    fn take(&mut self, core: &CoreTokenizer, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = id.py();
        let number = match number(id) {
            Err(error) if error.is_instance_of::<PyTypeError>(py) => return Ok(false),
            number => number?,
        };
        if number != Ok(NO_ID) {
            let id = core.id_from(py, number)?;
            if core.inner.token_bytes(id).is_none() {
                return Err(raise(py, core.inner.invalid_id(id)));
            }
            self.ids.push(id);
        }
        Ok(true)
    }

    fn of(&self, at: usize) -> &[u32] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ids[start..self.ends[at]]
    }
}

#[pymethods]
impl CoreTokenizer {
    /// Ids in parts -> text: a `DecodeStream`, which takes one id or several at a time.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> stream = bp.train({"é": 5}, vocab_size=256).decode_stream()
    ///     >>> [stream.push(id) for id in "né".encode()], stream.finish()
    ///     (['n', '', 'é'], '')
    #[pyo3(signature = (*, skip_special_tokens=false))]
    fn decode_stream(slf: Bound<'_, Self>, skip_special_tokens: bool) -> DecodeStream {
        DecodeStream::new(slf.unbind(), skip_special_tokens)
    }

    /// Ids in parts -> text for many sequences, each in a row of its own: a `DecodeStreamBatch`.
    ///
    /// Args:
    ///     rows: The number of rows. After ``finish`` or ``reset`` a row takes another sequence.
    ///     skip_special_tokens: Leaves special tokens out.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> streams = bp.train({"é": 5}, vocab_size=256).decode_stream_batch(2)
    ///     >>> [streams.push(ids) for ids in zip("né".encode(), "éh".encode())], streams.finish()
    ///     ([['n', ''], ['', 'é'], ['é', 'h']], ['', ''])
    #[pyo3(signature = (rows, *, skip_special_tokens=false))]
    fn decode_stream_batch(slf: Bound<'_, Self>, rows: usize, skip_special_tokens: bool) -> DecodeStreamBatch {
        DecodeStreamBatch::new(slf.unbind(), rows, skip_special_tokens)
    }
}
