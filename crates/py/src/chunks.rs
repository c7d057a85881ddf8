//! Chunks of texts: the functions behind `bytepair.chunk`.

use bytepair_core::chunk::{self, Boundary, Chunk, Settings};
use bytepair_core::{Error, Tokenizer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{in_row, raise};
use crate::options::{Added, OnInvalid, OwnedPolicy, Threads};
use crate::run::run;
use crate::text::{moved, utf8};
use crate::tokenizer::CoreTokenizer;

/// Start, end, tokens.
type Row = (usize, usize, u64);

/// The texts of a batch, each with the boundaries that the caller passed.
type Rows<'a> = Vec<(&'a str, Vec<usize>)>;

/// A chunk of a stream: its row and its text.
type StreamedRow = (Row, String);

fn kind(name: &str) -> PyResult<Boundary> {
    let known = Boundary::ALL.iter().find(|(known, _)| *known == name);
    known.map(|&(_, kind)| kind).ok_or_else(|| {
        let names: Vec<_> = Boundary::ALL.iter().map(|(name, _)| format!("{name:?}")).collect();
        PyValueError::new_err(format!("boundary={name:?} is unknown; use {} or a callable", names.join(", ")))
    })
}

/// Converts chunks from bytes to characters. The starts of chunks never go back.
fn rows(text: &str, is_bytes: bool, chunks: Vec<Chunk>) -> Vec<Row> {
    let same = is_bytes || text.is_ascii();
    let (mut at, mut character) = (0, 0);
    let row = |chunk: Chunk| {
        if same {
            return (chunk.start, chunk.end, chunk.tokens);
        }
        character += text[at..chunk.start].chars().count();
        at = chunk.start;
        (character, character + text[chunk.start..chunk.end].chars().count(), chunk.tokens)
    };
    chunks.into_iter().map(row).collect()
}

/// Converts ascending places in characters to bytes; checks those in bytes.
fn in_bytes(text: &str, is_bytes: bool, places: Vec<usize>) -> PyResult<Vec<usize>> {
    let outside = |place| PyValueError::new_err(format!("the boundary {place} is not a place between two characters"));
    let (mut at, mut character) = (0, 0);
    let place = |place: usize| {
        if is_bytes {
            return if text.is_char_boundary(place) { Ok(place) } else { Err(outside(place)) };
        }
        let between = text[at..].char_indices().map(|(at, _)| at).chain([text.len() - at]).nth(place - character);
        at += between.ok_or_else(|| outside(place))?;
        character = place;
        Ok(at)
    };
    places.into_iter().map(place).collect()
}

/// The chunks of a text as (start, end, tokens); see `Tokenizer.chunks`.
#[pyfunction]
#[pyo3(signature = (tokenizer, text, limit, *, overlap, boundary, places, special, added))]
pub(crate) fn chunks(
    tokenizer: &Bound<'_, CoreTokenizer>,
    text: &Bound<'_, PyAny>,
    limit: u64,
    overlap: u64,
    boundary: &str,
    places: Vec<usize>,
    special: Option<&Bound<'_, PyAny>>,
    added: Added,
) -> PyResult<Vec<Row>> {
    let (py, inner) = (text.py(), &tokenizer.get().inner);
    let policy = OwnedPolicy::new(inner, special, added)?;
    let (is_bytes, utf8) = (text.is_instance_of::<PyBytes>(), utf8(text, OnInvalid::Strict)?);
    let given = in_bytes(&utf8, is_bytes, places)?;
    let settings = Settings { limit, overlap, boundary: kind(boundary)?, given: &given };
    run(py, utf8.len(), Threads::ALL, |run| {
        Ok(rows(&utf8, is_bytes, inner.chunks(&utf8, policy.borrowed(), settings, run.stop)?))
    })
}

/// The chunks of each text of a batch; see `Tokenizer.chunks_batch`.
#[pyfunction]
#[pyo3(signature = (tokenizer, texts, limit, *, overlap, boundary, places, special, added, threads))]
pub(crate) fn chunks_batch(
    py: Python<'_>,
    tokenizer: &Bound<'_, CoreTokenizer>,
    texts: Vec<Bound<'_, PyAny>>,
    limit: u64,
    overlap: u64,
    boundary: &str,
    places: Vec<Vec<usize>>,
    special: Option<&Bound<'_, PyAny>>,
    added: Added,
    threads: Threads,
) -> PyResult<Vec<Vec<Row>>> {
    let inner = &tokenizer.get().inner;
    let policy = OwnedPolicy::new(inner, special, added)?;
    let settings = Settings { limit, overlap, boundary: kind(boundary)?, given: &[] };
    let encoded = texts.iter().enumerate().map(|(row, text)| {
        utf8(text, OnInvalid::Strict)
            .map(|utf8| (utf8, text.is_instance_of::<PyBytes>()))
            .map_err(|error| in_row(py, error, row))
    });
    let encoded: Vec<_> = encoded.collect::<PyResult<_>>()?;
    let mut places = places.into_iter();
    let batch = encoded
        .iter()
        .map(|(text, is_bytes)| Ok((&**text, in_bytes(text, *is_bytes, places.next().unwrap_or_default())?)));
    let batch: Rows<'_> = batch.collect::<PyResult<_>>()?;
    let bytes = batch.iter().map(|(text, _)| text.len()).sum();
    run(py, bytes, threads, |run| {
        let chunks = inner.chunks_batch(&batch, policy.borrowed(), settings, run)?;
        Ok(chunks.into_iter().zip(&encoded).map(|(chunks, (text, is_bytes))| rows(text, *is_bytes, chunks)).collect())
    })
}

/// All boundaries of one kind in a text, in characters of ``str`` and bytes of ``bytes``: input for the tests' oracle.
#[pyfunction]
pub(crate) fn places(text: &Bound<'_, PyAny>, boundary: &str) -> PyResult<Vec<usize>> {
    let (is_bytes, text) = (text.is_instance_of::<PyBytes>(), utf8(text, OnInvalid::Strict)?);
    let places = chunk::places(&text, kind(boundary)?).into_iter();
    let rows = rows(&text, is_bytes, places.map(|place| Chunk { start: place, end: place, tokens: 0 }).collect());
    Ok(rows.into_iter().map(|(place, _, _)| place).collect())
}

/// The chunks of a text that arrives in parts; see `Tokenizer.chunk_stream`.
#[pyclass(module = "bytepair._core")]
pub(crate) struct ChunkStream {
    tokenizer: Py<CoreTokenizer>,
    policy: OwnedPolicy,
    stream: chunk::ChunkStream,
    /// Whether parts are bytes; unknown before the first one.
    is_bytes: Option<bool>,
    /// The first bytes of an incomplete character.
    pending: Vec<u8>,
    /// The numbers of bytes and characters before.
    before: (usize, usize),
}

#[pymethods]
impl ChunkStream {
    #[new]
    #[pyo3(signature = (tokenizer, limit, *, overlap, boundary, special, added))]
    fn new(
        tokenizer: &Bound<'_, CoreTokenizer>,
        limit: u64,
        overlap: u64,
        boundary: &str,
        special: Option<&Bound<'_, PyAny>>,
        added: Added,
    ) -> PyResult<Self> {
        let policy = OwnedPolicy::new(&tokenizer.get().inner, special, added)?;
        let stream = chunk::ChunkStream::new(limit, overlap, kind(boundary)?);
        let stream = stream.map_err(|error| raise(tokenizer.py(), error))?;
        let tokenizer = tokenizer.clone().unbind();
        Ok(Self { tokenizer, policy, stream, is_bytes: None, pending: Vec::new(), before: (0, 0) })
    }

    /// Takes the next part and returns the chunks that are now final, each as ((start, end, tokens), text).
    fn push(&mut self, part: &Bound<'_, PyAny>) -> PyResult<Vec<StreamedRow>> {
        let (py, is_bytes) = (part.py(), part.is_instance_of::<PyBytes>());
        if *self.is_bytes.get_or_insert(is_bytes) != is_bytes {
            return Err(PyTypeError::new_err("the parts of a text are all str or all bytes"));
        }
        if let Ok(bytes) = part.cast::<PyBytes>() {
            self.pending.extend_from_slice(bytes.as_bytes());
            let whole = match std::str::from_utf8(&self.pending) {
                Ok(text) => text.len(),
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                Err(error) => return Err(self.not_utf8(py, &error)),
            };
            let rest = self.pending.split_off(whole);
            let whole = std::mem::replace(&mut self.pending, rest);
            return self.take(py, &String::from_utf8_lossy(&whole), false);
        }
        let text = utf8(part, OnInvalid::Strict).map_err(|error| moved(py, error, self.before))?;
        self.take(py, &text, false)
    }

    /// The remaining chunks.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Vec<StreamedRow>> {
        match std::str::from_utf8(&self.pending) {
            Err(error) => Err(self.not_utf8(py, &error)),
            Ok(_) => self.take(py, "", true),
        }
    }
}

impl ChunkStream {
    fn take(&mut self, py: Python<'_>, text: &str, is_last: bool) -> PyResult<Vec<StreamedRow>> {
        let (tokenizer, policy, stream): (&Tokenizer, _, _) =
            (&self.tokenizer.get().inner, self.policy.borrowed(), &mut self.stream);
        let chunks = py.detach(|| stream.push(tokenizer, policy, text, is_last)).map_err(|error| raise(py, error))?;
        self.before.0 += text.len();
        self.before.1 += text.chars().count();
        let is_bytes = self.is_bytes == Some(true);
        let row = |streamed: chunk::Streamed| {
            let Chunk { start, end, tokens } = streamed.chunk;
            let characters = streamed.characters;
            let row = if is_bytes { (start, end, tokens) } else { (characters.start, characters.end, tokens) };
            (row, streamed.text)
        };
        Ok(chunks.into_iter().map(row).collect())
    }

    /// The error for the pending bytes.
    fn not_utf8(&self, py: Python<'_>, error: &std::str::Utf8Error) -> PyErr {
        let error = Error::not_utf8(&self.pending, error).placed(&String::from_utf8_lossy(&self.pending));
        let (byte, character) = self.before;
        raise(
            py,
            Error {
                byte: error.byte.map(|at| at + byte),
                character: error.character.map(|at| at + character),
                ..error
            },
        )
    }
}
