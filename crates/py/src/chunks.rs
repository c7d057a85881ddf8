//! Chunks of texts, for `bytepair.chunk.chunks`.

use std::ops::Range;

use bytepair_core::chunk::{self, Boundary, Chunk, Settings};
use bytepair_core::{Error, Tokenizer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyType};

use crate::busy::alone;
use crate::errors::{in_row, raise};
use crate::lists::list;
use crate::named::NamedInts;
use crate::options::{Added, OnInvalid, OwnedPolicy, Threads};
use crate::readable::Readable;
use crate::run::{detached, run};
use crate::strings::{Name, exact};
use crate::text::{moved, without_half};
use crate::tokenizer::CoreTokenizer;

/// Start, end, tokens.
type Row = (usize, usize, u64);

/// The texts of a batch, each with the places of the caller.
type Rows<'a> = Vec<(&'a str, Vec<usize>)>;

/// A row of a stream, and the text of the chunk.
type StreamedRow = (Row, String);

fn kind(name: &str) -> PyResult<Boundary> {
    let known = Boundary::ALL.iter().find(|(known, _)| *known == name);
    known.map(|&(_, kind)| kind).ok_or_else(|| {
        let names: Vec<_> = Boundary::ALL.iter().map(|(name, _)| format!("{name:?}")).collect();
        PyValueError::new_err(format!("boundary={name:?} is unknown; use {} or a callable", names.join(", ")))
    })
}

/// Chunks with their places in the given text.
fn rows(text: &Readable<'_>, chunks: Vec<Chunk>) -> Vec<Row> {
    let mut places = text.places();
    chunks.into_iter().map(|chunk| (places.given(chunk.start), places.given(chunk.end), chunk.tokens)).collect()
}

/// Rows as a list of the caller's named tuples.
fn named<'py>(class: &Bound<'py, PyType>, rows: Vec<Row>) -> PyResult<Bound<'py, PyList>> {
    let chunk = NamedInts::new(class)?;
    list(class.py(), rows, |(start, end, tokens)| chunk.of([start as u64, end as u64, tokens]))
}

/// Places in the given text, in order, as bytes.
fn in_bytes(text: &Readable<'_>, given: Vec<usize>) -> PyResult<Vec<usize>> {
    let mut places = text.places();
    let place = |given| {
        let outside = || PyValueError::new_err(format!("the boundary {given} is not a place between two characters"));
        places.byte(given).ok_or_else(outside)
    };
    given.into_iter().map(place).collect()
}

/// The chunks of a text, each a `row`; see `Tokenizer.chunks`.
#[pyfunction]
#[pyo3(signature = (tokenizer, text, limit, *, row, overlap, boundary, places, special, added, errors))]
pub(crate) fn chunks<'py>(
    tokenizer: &Bound<'py, CoreTokenizer>,
    text: &Bound<'py, PyAny>,
    limit: u64,
    row: &Bound<'py, PyType>,
    overlap: u64,
    boundary: Name<'_>,
    places: Vec<usize>,
    special: Option<&Bound<'_, PyAny>>,
    added: Added,
    errors: OnInvalid,
) -> PyResult<Bound<'py, PyList>> {
    let (py, inner) = (text.py(), &tokenizer.get().inner);
    let policy = OwnedPolicy::new(inner, special, added)?;
    let text = Readable::new(text, errors)?;
    let given = in_bytes(&text, places)?;
    let settings = Settings { limit, overlap, boundary: kind(&boundary)?, given: &given };
    let found = run(py, text.text.len(), Threads::ALL, |run| {
        Ok(rows(&text, inner.chunks(&text.text, policy.borrowed(), settings, run.stop)?))
    })?;
    named(row, found)
}

/// The chunks of each text of a batch; see `Tokenizer.chunks_batch`.
#[pyfunction]
#[pyo3(signature = (tokenizer, texts, limit, *, row, overlap, boundary, places, special, added, errors, threads))]
pub(crate) fn chunks_batch<'py>(
    py: Python<'py>,
    tokenizer: &Bound<'py, CoreTokenizer>,
    texts: Vec<Bound<'py, PyAny>>,
    limit: u64,
    row: &Bound<'py, PyType>,
    overlap: u64,
    boundary: Name<'_>,
    places: Vec<Vec<usize>>,
    special: Option<&Bound<'_, PyAny>>,
    added: Added,
    errors: OnInvalid,
    threads: Threads,
) -> PyResult<Vec<Bound<'py, PyList>>> {
    let inner = &tokenizer.get().inner;
    let policy = OwnedPolicy::new(inner, special, added)?;
    let settings = Settings { limit, overlap, boundary: kind(&boundary)?, given: &[] };
    let read = texts.iter().enumerate();
    let read = read.map(|(row, text)| Readable::new(text, errors).map_err(|error| in_row(py, error, row)));
    let read: Vec<_> = read.collect::<PyResult<_>>()?;
    let mut places = places.into_iter();
    let batch = read.iter().map(|text| Ok((&*text.text, in_bytes(text, places.next().unwrap_or_default())?)));
    let batch: Rows<'_> = batch.collect::<PyResult<_>>()?;
    let bytes = batch.iter().map(|(text, _)| text.len()).sum();
    let found: Vec<_> = run(py, bytes, threads, |run| {
        let chunks = inner.chunks_batch(&batch, policy.borrowed(), settings, run)?;
        Ok(chunks.into_iter().zip(&read).map(|(chunks, text)| rows(text, chunks)).collect())
    })?;
    found.into_iter().map(|rows| named(row, rows)).collect()
}

/// All places of one kind in a text, in characters of ``str`` and in bytes of ``bytes``, for the oracle of the tests.
#[pyfunction]
pub(crate) fn places(text: &Bound<'_, PyAny>, boundary: Name<'_>) -> PyResult<Vec<usize>> {
    let text = Readable::new(text, OnInvalid::Strict)?;
    let mut given = text.places();
    Ok(chunk::places(&text.text, kind(&boundary)?).into_iter().map(|place| given.given(place)).collect())
}

/// The chunks of a text that comes in parts; see `Tokenizer.chunk_parts`.
#[pyclass(module = "bytepair._core")]
pub(crate) struct ChunkStream {
    tokenizer: Py<CoreTokenizer>,
    policy: OwnedPolicy,
    on_invalid: OnInvalid,
    stream: chunk::ChunkStream,
    /// Whether parts are bytes; unknown before the first one.
    is_bytes: Option<bool>,
    /// The first bytes of an incomplete character.
    pending: Vec<u8>,
    /// The first half of a surrogate pair, whose second one may come.
    half: Option<Py<PyString>>,
    /// The bytes and the characters of the UTF-8 so far.
    before: (usize, usize),
    /// Places in the UTF-8, and how much longer the given text is up to there.
    shifts: Vec<(usize, isize)>,
}

#[pymethods]
impl ChunkStream {
    #[new]
    #[pyo3(signature = (tokenizer, limit, *, overlap, boundary, special, added, errors))]
    fn new(
        tokenizer: &Bound<'_, CoreTokenizer>,
        limit: u64,
        overlap: u64,
        boundary: Name<'_>,
        special: Option<&Bound<'_, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<Self> {
        let policy = OwnedPolicy::new(&tokenizer.get().inner, special, added)?;
        let stream = chunk::ChunkStream::new(limit, overlap, kind(&boundary)?);
        Ok(Self {
            tokenizer: tokenizer.clone().unbind(),
            policy,
            on_invalid: errors,
            stream: stream.map_err(|error| raise(tokenizer.py(), error))?,
            is_bytes: None,
            pending: Vec::new(),
            half: None,
            before: (0, 0),
            shifts: Vec::new(),
        })
    }

    /// Takes the next part; returns the chunks that no text to come can change, each as ((start, end, tokens), text).
    fn push(slf: &Bound<'_, Self>, part: &Bound<'_, PyAny>) -> PyResult<Vec<StreamedRow>> {
        let mut this = alone(slf)?;
        let (py, is_bytes) = (part.py(), part.is_instance_of::<PyBytes>());
        if *this.is_bytes.get_or_insert(is_bytes) != is_bytes {
            return Err(PyTypeError::new_err("the parts of a text are all str or all bytes"));
        }
        if let Ok(bytes) = part.cast::<PyBytes>() {
            let mut bytes = [&this.pending, bytes.as_bytes()].concat();
            this.pending = bytes.split_off(bytes.len() - cut_off(&bytes));
            return this.take_bytes(py, &bytes, false);
        }
        let part = match (this.half.take(), part.cast::<PyString>()) {
            (Some(half), Ok(part)) => half.bind(py).add(exact(part)?)?,
            _ => part.clone(),
        };
        let part = match (this.on_invalid, part.cast::<PyString>()) {
            (OnInvalid::Replace, Ok(part)) => {
                let (part, half) = without_half(part)?;
                this.half = half.map(Bound::unbind);
                part.into_any()
            }
            _ => part,
        };
        let text = Readable::new(&part, this.on_invalid).map_err(|error| moved(py, error, this.before))?;
        this.take(py, &text, false)
    }

    /// The remaining chunks.
    fn finish(slf: &Bound<'_, Self>) -> PyResult<Vec<StreamedRow>> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        if let Some(half) = this.half.take() {
            let on_invalid = this.on_invalid;
            return this.take(py, &Readable::new(half.bind(py), on_invalid)?, true);
        }
        let pending = std::mem::take(&mut this.pending);
        this.take_bytes(py, &pending, true)
    }
}

impl ChunkStream {
    fn take_bytes(&mut self, py: Python<'_>, bytes: &[u8], is_last: bool) -> PyResult<Vec<StreamedRow>> {
        if let (OnInvalid::Strict, Err(error)) = (self.on_invalid, std::str::from_utf8(bytes)) {
            let error = raise(py, Error::not_utf8(bytes, &error).placed(&String::from_utf8_lossy(bytes)));
            return Err(moved(py, error, self.before));
        }
        self.take(py, &Readable::lossy(bytes), is_last)
    }

    fn take(&mut self, py: Python<'_>, part: &Readable<'_>, is_last: bool) -> PyResult<Vec<StreamedRow>> {
        let is_bytes = self.is_bytes == Some(true);
        let before = if is_bytes { self.before.0 } else { self.before.1 };
        let mut longer = self.shifts.last().map_or(0, |&(_, longer)| longer);
        for (behind, more) in part.shifts() {
            longer += more;
            self.shifts.push((before + behind, longer));
        }
        let text = &*part.text;
        let (tokenizer, policy, stream): (&Tokenizer, _, _) =
            (&self.tokenizer.get().inner, self.policy.borrowed(), &mut self.stream);
        let chunks = detached(py, text.len(), || stream.push(tokenizer, policy, text, is_last))?;
        self.before.0 += text.len();
        self.before.1 += text.chars().count();
        let row = |streamed: chunk::Streamed| {
            let Chunk { start, end, tokens } = streamed.chunk;
            let Range { start, end } = if is_bytes { start..end } else { streamed.characters };
            ((self.given(start), self.given(end), tokens), streamed.text)
        };
        let rows: Vec<_> = chunks.into_iter().map(row).collect();
        // The last one stays, for all places behind it.
        let done = rows.last().map_or(0, |((start, ..), _)| *start);
        let passed = self.shifts.partition_point(|&(behind, longer)| behind.saturating_add_signed(longer) <= done);
        self.shifts.drain(..passed.saturating_sub(1));
        Ok(rows)
    }

    /// The place in the given text of one in the UTF-8.
    fn given(&self, place: usize) -> usize {
        let passed = self.shifts.partition_point(|&(behind, _)| behind <= place);
        let longer = passed.checked_sub(1).map_or(0, |last| self.shifts[last].1);
        place.saturating_add_signed(longer)
    }
}

/// The bytes of a character that is cut off at the end.
fn cut_off(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    let is_start = |error: std::str::Utf8Error| error.error_len().is_none();
    if std::str::from_utf8(last).is_err_and(is_start) { last.len() } else { 0 }
}
