//! Many texts in one buffer: encoding each by itself, and reading them from lines of JSON.

use bytepair_core::files::json_lines::{self, Column, Wanted};
use bytepair_core::pipeline::{Each, Frame};
use bytepair_core::{Error, memory, occurrences};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{array, import_numpy, starts};
use crate::errors::raise;
use crate::options::{Added, OnInvalid, OwnedPolicy, Threads};
use crate::run::{detached, run};
use crate::strings::Name;
use crate::tokenizer::CoreTokenizer;

/// Ids, where those of each text start, and the texts at fault.
pub(crate) type EachRow<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>, Vec<(usize, PyErr)>);

/// Texts in one buffer, and where each starts.
type Texts<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>);

/// The fields of JSON lines: texts, the starts of their lines, ids, and the faulty lines.
type Fields<'py> = (
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Option<Bound<'py, PyArray1<u8>>>,
    Option<Bound<'py, PyArray1<i64>>>,
    Vec<(usize, usize, PyErr)>,
);

/// Texts in one buffer: the start of each, and the number of bytes between each and the next.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) offsets: &'a [i64],
    pub(crate) gap: usize,
}

impl<'a> Rows<'a> {
    /// The texts; an error if there are no offsets, if they fall or leave the data, or lie closer than the gap.
    fn texts(self) -> PyResult<(usize, impl Iterator<Item = &'a [u8]> + Clone)> {
        let Self { data, offsets, gap } = self;
        let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
            return Err(PyValueError::new_err(
                "there are no offsets; of no texts there is one, where they would start",
            ));
        };
        let place = |offset: i64| usize::try_from(offset).unwrap_or(usize::MAX);
        if place(first) > data.len() || place(last) > data.len() || offsets.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(PyValueError::new_err("the offsets fall, or leave the data"));
        }
        if gap > 0 && offsets.windows(2).any(|pair| place(pair[1] - pair[0]) < gap) {
            return Err(PyValueError::new_err(format!("there is no room for a gap of {gap} bytes behind each text")));
        }
        let texts = offsets.windows(2).map(move |pair| &data[place(pair[0])..place(pair[1]) - gap]);
        Ok((place(last - first), texts))
    }
}

fn texts(py: Python<'_>, column: Column) -> PyResult<Texts<'_>> {
    let starts = starts(py, &column.ends)?;
    Ok((array(py, column.data)?, starts))
}

/// All places of a byte string in others, overlapping ones too.
///
/// Args:
///     data: The bytes to search, a uint8 array.
///     wanted: The bytes to find: one or more.
///
/// Returns:
///     The starts of the occurrences, as an ascending int64 array.
///
/// Raises:
///     ValueError: `wanted` is empty.
///
/// Complexity:
///     Linear in `data` if `wanted` does not overlap itself.
///
/// Example:
///     >>> import numpy as np
///     >>> from bytepair._core import find_all
///     >>> find_all(np.frombuffer(b"low---er", np.uint8), b"--").tolist()
///     [3, 4]
#[pyfunction]
pub(crate) fn find_all<'py>(
    py: Python<'py>,
    data: PyReadonlyArray1<'py, u8>,
    wanted: &[u8],
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    import_numpy(py)?;
    if wanted.is_empty() {
        return Err(PyValueError::new_err("wanted is empty: there is nothing to find"));
    }
    let data = data.as_slice()?;
    let places = || memory::collect(occurrences::of(data, wanted).map(|place| place.cast_signed() as i64));
    array(py, detached(py, data.len(), places)?)
}

/// The text in one field of each line of JSON, and the id in another.
///
/// Args:
///     data: Whole lines; the last one may lack its line end. Lines of white space are skipped.
///     field: The field of the text.
///     id_field: The field of the id, if lines have one: a string, an integer, which is written in decimal, or null. A null
///         or missing id is empty.
///     errors: ``"strict"`` or ``"replace"``, for invalid UTF-8 and lone surrogates.
///     first: Whether `data` is the start of the file, so that a byte order mark is skipped.
///
/// Returns:
///     The texts in one uint8 array and their int64 offsets; the byte of `data` at which the line of each text starts; the
///     ids in the same form, or None twice; and for each faulty line its start, its end and the error, whose ``byte`` is
///     counted within the line.
///
/// Example:
///     >>> from bytepair._core import json_fields
///     >>> texts, offsets, starts, ids, id_offsets, faults = json_fields(b'{"text": "low", "n": 7}\n[]\n', "text", "n")
///     >>> texts.tobytes(), offsets.tolist(), starts.tolist(), ids.tobytes(), [fault[:2] for fault in faults]
///     (b'low', [0, 3], [0], b'7', [(24, 26)])
#[pyfunction]
#[pyo3(
    signature = (data, field, id_field, *, errors=OnInvalid::Strict, first=false),
    text_signature = "(data, field, id_field, *, errors='strict', first=False)"
)]
pub(crate) fn json_fields<'py>(
    py: Python<'py>,
    data: &[u8],
    field: Name<'_>,
    id_field: Option<Name<'_>>,
    errors: OnInvalid,
    first: bool,
) -> PyResult<Fields<'py>> {
    import_numpy(py)?;
    let (field, id_field) = (field.as_str(), id_field.map(Name::as_str));
    if id_field == Some(field) {
        return Err(PyValueError::new_err(format!("the field {field:?} cannot be both the text and its id")));
    }
    let on_invalid = errors.into();
    let wanted = Wanted { text: field, id: id_field };
    let read = run(py, data.len(), Threads::ONE, |_| Ok(json_lines::fields(data, wanted, on_invalid, first)))?;
    let starts = read.starts.into_iter().map(|start| start.cast_signed() as i64).collect();
    let faults = read.faults.into_iter().map(|(line, error): (_, Error)| (line.start, line.end, raise(py, error)));
    let (data, offsets) = texts(py, read.texts)?;
    let (ids, id_offsets) = id_field.map(|_| texts(py, read.ids)).transpose()?.unzip();
    Ok((data, offsets, array(py, starts)?, ids, id_offsets, faults.collect()))
}

/// The ids of texts in one buffer, each by itself; the errors of single texts are returned, not raised.
///
/// Args:
///     tokenizer: The tokenizer.
///     data: The bytes of all texts, a uint8 array; other bytes may surround them.
///     offsets: An int64 array that never falls, with one number more than there are texts: text i is the UTF-8
///         ``data[offsets[i]:offsets[i + 1] - gap]``.
///     special: As for `Tokenizer.encode`.
///     added: As for `Tokenizer.encode`.
///     errors: As for `Tokenizer.encode`.
///     prefix: Ids before the ids of each text.
///     suffix: Ids after them.
///     gap: The number of bytes after each text that belong to no text, such as a delimiter.
///
/// Returns:
///     The ids of all texts, uint32; the start of the ids of each text and the end of the last, int64 from 0; and for each
///     text that cannot be encoded its number and the error, whose ``row`` is that number. Such a text has no ids at all,
///     not even a prefix.
///
/// Raises:
///     ValueError: The offsets fall, leave the data, or lie closer together than `gap`.
///     InvalidIdError: An id of `prefix` or `suffix` has no token.
///
/// One thread encodes, while other Python threads run. Ctrl-C ends the call while it runs.
///
/// Example:
///     >>> import bytepair as bp, numpy as np
///     >>> tok = bp.train({"low": 5}, vocab_size=259, special_tokens=["<|end|>"])
///     >>> data, offsets = np.frombuffer(b"low<|end|>slow", np.uint8), np.array([0, 3, 10, 14])
///     >>> ids, starts, faults = bp.lowlevel.encode_buffer(tok, data, offsets, suffix=[tok.token_id("<|end|>")])
///     >>> ids.tolist(), starts.tolist(), [(row, type(error).__name__) for row, error in faults]
///     ([257, 258, 115, 257, 258], [0, 2, 2, 5], [(1, 'SpecialTokenError')])
#[pyfunction]
#[pyo3(
    signature = (tokenizer, data, offsets, *, special=None, added=Added::Match, errors=OnInvalid::Strict, prefix=None, suffix=None, gap=0),
    text_signature = "(tokenizer, data, offsets, *, special='raise', added='match', errors='strict', prefix=(), suffix=(), gap=0)"
)]
pub(crate) fn encode_buffer<'py>(
    tokenizer: &Bound<'py, CoreTokenizer>,
    data: PyReadonlyArray1<'py, u8>,
    offsets: PyReadonlyArray1<'py, i64>,
    special: Option<&Bound<'py, PyAny>>,
    added: Added,
    errors: OnInvalid,
    prefix: Option<&Bound<'py, PyAny>>,
    suffix: Option<&Bound<'py, PyAny>>,
    gap: usize,
) -> PyResult<EachRow<'py>> {
    let (py, tokenizer) = (tokenizer.py(), tokenizer.get());
    let policy = OwnedPolicy::new(&tokenizer.inner, special, added)?;
    let (prefix, suffix) = (tokenizer.known_ids(py, prefix)?, tokenizer.known_ids(py, suffix)?);
    let frame = Frame { prefix: &prefix, suffix: &suffix };
    let rows = Rows { data: data.as_slice()?, offsets: offsets.as_slice()?, gap };
    import_numpy(py)?;
    let (bytes, texts) = rows.texts()?;
    let Each { ids, ends, faults } = run(py, bytes, Threads::ONE, |run| {
        tokenizer.inner.encode_each(texts, frame, errors.into(), policy.borrowed(), run.stop)
    })?;
    let faults = faults.into_iter().map(|error| (error.row.unwrap_or_default(), raise(py, error)));
    Ok((array(py, ids)?, starts(py, &ends)?, faults.collect()))
}
