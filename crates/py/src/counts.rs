//! Counting pieces, and counted pieces.
//!
//! Long because each kind of source has a method that counts it, with what is said of it to callers.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytepair_core::memory::{self, Room};
use bytepair_core::normalize::Normalizer;
use bytepair_core::segment::{Segmenter, Steps};
use bytepair_core::split::Pattern;
use bytepair_core::split::added::AddedToken;
use bytepair_core::train::{self, Counter, Progress, Row, Sorted};
use bytepair_core::{Error, Kind, Result, utf8};
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList};

use crate::busy::alone;
use crate::errors::{collect, in_row, raise};
use crate::lists::{bytes, list};
use crate::options::{OnInvalid, Threads};
use crate::stages::parsed;
use crate::strings::{Name, Names, OwnedName};
use crate::text::utf8;
use crate::tokenizer::CoreTokenizer;
use crate::watch::watched;

/// About how many bytes of pieces are passed to Python at once.
const COLUMN_BYTES: usize = 1 << 26;

/// Counts the pieces of texts without their added tokens. It cannot be used after `finish` or an error.
#[pyclass(module = "bytepair._core")]
pub(crate) struct PieceCounter {
    stages: Stages,
    counter: Option<Counter>,
}

/// The stages before the model.
enum Stages {
    Own(Box<Segmenter>),
    Of(Py<CoreTokenizer>),
}

impl Stages {
    fn segmenter(&self) -> &Segmenter {
        match self {
            Self::Own(segmenter) => segmenter,
            Self::Of(tokenizer) => tokenizer.get().inner.segmenter(),
        }
    }
}

/// The options of every counting method.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options<'py> {
    group: u16,
    errors: OwnedName,
    threads: Option<usize>,
    tell: Option<Bound<'py, PyAny>>,
}

impl PieceCounter {
    /// Runs a counting `job` on the counter, watched for Ctrl-C.
    fn watch(
        &mut self,
        py: Python<'_>,
        options: &Options<'_>,
        job: impl FnOnce(&mut Counter, &Segmenter, utf8::OnInvalid, usize, &Progress) -> Result<()> + Send,
    ) -> PyResult<()> {
        let threads = Threads::new(options.threads)?.number();
        let on_invalid = OnInvalid::parse(&options.errors.0)?.into();
        let mut counter = self.counter.take().ok_or_else(used_up)?;
        let segmenter = self.stages.segmenter();
        let result = watched(py, options.tell.as_ref(), |progress| {
            job(&mut counter, segmenter, on_invalid, threads, progress).map(|()| counter)
        });
        self.counter = Some(result?);
        Ok(())
    }

    fn counter(&mut self) -> PyResult<&mut Counter> {
        self.counter.as_mut().ok_or_else(used_up)
    }
}

fn unreadable(error: &io::Error) -> Error {
    Error::new(Kind::Artifact, format!("cannot read the file: {error}")).remedy("check the path and its permissions")
}

fn used_up() -> PyErr {
    PyRuntimeError::new_err("this counter has finished, or met an error; make a new one")
}

/// Stages from their names and patterns.
fn segmenter(pattern: &str, special_tokens: Vec<String>, normalizers: &[String]) -> Result<Segmenter> {
    let special_tokens: Vec<_> = special_tokens
        .into_iter()
        .zip(0..)
        .map(|(content, id)| AddedToken { content, id, special: true, ..AddedToken::default() })
        .collect();
    let normalizers = parsed(normalizers, Normalizer::parse)?;
    Segmenter::new(&special_tokens, Steps { normalizers, ..Steps::of(vec![Pattern::new(pattern)?]) })
}

#[pymethods]
impl PieceCounter {
    #[new]
    #[pyo3(signature = (pattern, special_tokens, *, normalizers=Names(vec![]), memory=None))]
    fn new(
        py: Python<'_>,
        pattern: Name<'_>,
        special_tokens: Names,
        normalizers: Names,
        memory: Option<usize>,
    ) -> PyResult<Self> {
        let segmenter = segmenter(&pattern, special_tokens.0, &normalizers.0).map_err(|error| raise(py, error))?;
        Ok(Self { stages: Stages::Own(Box::new(segmenter)), counter: Some(Counter::new(memory)) })
    }

    /// A counter with the stages of a tokenizer, which leaves out all its added tokens.
    #[staticmethod]
    #[pyo3(signature = (tokenizer, *, memory=None))]
    fn of(tokenizer: Py<CoreTokenizer>, memory: Option<usize>) -> Self {
        Self { stages: Stages::Of(tokenizer), counter: Some(Counter::new(memory)) }
    }

    /// Counts the pieces of some texts (str, or UTF-8 bytes); calls `tell(bytes_done)` from time to time.
    fn count(slf: &Bound<'_, Self>, texts: Vec<Bound<'_, PyAny>>, options: Options<'_>) -> PyResult<()> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let on_invalid = OnInvalid::parse(&options.errors.0)?;
        let counter = this.counter.take().ok_or_else(used_up)?;
        let mut rows: Vec<Cow<'_, str>> = Vec::new();
        rows.room(texts.len()).map_err(|error| raise(py, error))?;
        for (row, text) in texts.iter().enumerate() {
            rows.push(utf8(text, on_invalid).map_err(|error| in_row(py, error, row))?);
        }
        this.counter = Some(counter);
        let texts: Vec<&str> = collect(py, rows.iter().map(|text| &**text))?;
        this.watch(py, &options, |counter, segmenter, _, threads, progress| {
            counter.count_texts(segmenter, &texts, options.group, threads, progress)
        })
    }

    /// Counts the pieces of many texts in one buffer, text `i` at `data[offsets[i]:offsets[i + 1] - gap]`.
    #[pyo3(signature = (data, offsets, options, *, gap=0))]
    fn count_buffer(
        slf: &Bound<'_, Self>,
        data: PyReadonlyArray1<'_, u8>,
        offsets: PyReadonlyArray1<'_, i64>,
        options: Options<'_>,
        gap: usize,
    ) -> PyResult<()> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let (data, offsets) = (data.as_slice()?, offsets.as_slice()?);
        let replace = matches!(OnInvalid::parse(&options.errors.0)?, OnInvalid::Replace);
        let counter = this.counter.take().ok_or_else(used_up)?;
        let text = |(row, ends): (usize, &[i64])| {
            let range = usize::try_from(ends[0]).ok().zip(usize::try_from(ends[1]).ok());
            let bytes = range.and_then(|(start, end)| data.get(start..end.checked_sub(gap)?));
            let bytes = bytes.ok_or_else(|| PyValueError::new_err("the offsets leave the data"))?;
            match utf8::text(bytes) {
                Ok(text) => Ok(Cow::Borrowed(text)),
                Err(_) if replace => Ok(String::from_utf8_lossy(bytes)),
                Err(error) => Err(raise(py, Error::not_utf8(bytes, &error).row(row))),
            }
        };
        let rows = offsets.windows(2).enumerate().map(text).collect::<PyResult<Vec<_>>>()?;
        this.counter = Some(counter);
        let texts: Vec<&str> = rows.iter().map(|text| &**text).collect();
        this.watch(py, &options, |counter, segmenter, _, threads, progress| {
            counter.count_texts(segmenter, &texts, options.group, threads, progress)
        })
    }

    /// Counts the pieces of a file, which is one text; or of the text in a field of each line, which is a JSON object.
    #[pyo3(signature = (path, options, *, json_field=None))]
    fn count_file(
        slf: &Bound<'_, Self>,
        path: PathBuf,
        options: Options<'_>,
        json_field: Option<Name<'_>>,
    ) -> PyResult<()> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let file = File::open(path).map_err(|error| raise(py, unreadable(&error)))?;
        this.count_reader(py, file, &options, json_field)
    }

    /// As `count_file`, for an iterator of bytes.
    #[pyo3(signature = (chunks, options, *, json_field=None))]
    fn count_chunks(
        slf: &Bound<'_, Self>,
        chunks: Bound<'_, PyAny>,
        options: Options<'_>,
        json_field: Option<Name<'_>>,
    ) -> PyResult<()> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let raised = Arc::new(Mutex::new(None));
        let iterator = chunks.try_iter()?.unbind();
        let chunks = Chunks { iterator, chunk: Vec::new(), read: 0, raised: raised.clone() };
        let counted = this.count_reader(py, chunks, &options, json_field);
        let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(counted, Err)
    }

    /// Adds a piece that occurs `count` times.
    fn add(slf: &Bound<'_, Self>, piece: &Bound<'_, PyAny>, count: u64) -> PyResult<()> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let added = match piece.cast::<PyBytes>() {
            Ok(bytes) => this.counter()?.add(bytes.as_bytes(), count),
            Err(_) => this.counter()?.add(utf8(piece, OnInvalid::Strict)?.as_bytes(), count),
        };
        this.done(py, added)
    }

    /// Adds rows in columns; the bytes of piece `i` are `data[offsets[i]:offsets[i + 1]]`.
    fn add_columns(
        slf: &Bound<'_, Self>,
        data: PyReadonlyArray1<'_, u8>,
        offsets: PyReadonlyArray1<'_, i64>,
        groups: PyReadonlyArray1<'_, u16>,
        counts: PyReadonlyArray1<'_, u64>,
        firsts: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let (data, offsets) = (data.as_slice()?, offsets.as_slice()?);
        let (groups, counts, firsts) = (groups.as_slice()?, counts.as_slice()?, firsts.as_slice()?);
        if [groups.len(), counts.len(), firsts.len()] != [offsets.len().saturating_sub(1); 3] {
            return Err(PyValueError::new_err("the columns are not of one length"));
        }
        if counts.contains(&0) {
            return Err(PyValueError::new_err("a count is 0"));
        }
        let counter = this.counter()?;
        let added = offsets.windows(2).enumerate().try_for_each(|(row, ends)| {
            let range = usize::try_from(ends[0]).ok().zip(usize::try_from(ends[1]).ok());
            let piece = range.and_then(|(start, end)| data.get(start..end));
            let piece = piece.ok_or_else(|| Error::new(Kind::Format, "the offsets leave the data"))?;
            counter.add_row(Row { piece, group: groups[row], count: counts[row], first: firsts[row] })
        });
        this.done(py, added)
    }

    /// Adds counted pieces; their group `g` is `groups[g]` here, and counts there are multiplied by `multipliers[g]`. Rows
    /// with a lower product than `least` are left out.
    #[pyo3(signature = (counts, *, groups, multipliers, least=1))]
    fn add_counts(
        slf: &Bound<'_, Self>,
        counts: &PieceCounts,
        groups: Vec<u16>,
        multipliers: Vec<u64>,
        least: u64,
    ) -> PyResult<()> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let mut counter = this.counter.take().ok_or_else(used_up)?;
        let counts = &counts.inner;
        let added = watched(py, None, |progress| {
            counts.for_each(|row| {
                let group = usize::from(row.group);
                let (Some(&group), Some(&multiplier)) = (groups.get(group), multipliers.get(group)) else {
                    return Err(Error::new(Kind::Training, format!("there is no group {group}")));
                };
                let count = row.count.checked_mul(multiplier).ok_or_else(train::overflow)?;
                progress.advance(1)?;
                if count < least { Ok(()) } else { counter.add_row(Row { group, count, ..row }) }
            })?;
            Ok(counter)
        });
        this.counter = Some(added?);
        Ok(())
    }

    /// Sets the position, over all sources, of the text that is counted next.
    fn start_at(slf: &Bound<'_, Self>, position: u64) -> PyResult<()> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let started = this.counter()?.start_at(position);
        this.done(py, started)
    }

    /// The position after all counted text.
    #[getter]
    fn end(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(alone(slf)?.counter()?.end())
    }

    /// The counts.
    #[pyo3(signature = (*, threads=Threads::ALL), text_signature = "($self, *, threads=None)")]
    fn finish(slf: &Bound<'_, Self>, threads: Threads) -> PyResult<PieceCounts> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let threads = threads.number();
        let counter = this.counter.take().ok_or_else(used_up)?;
        let inner = watched(py, None, |progress| counter.finish(threads, progress))?;
        Ok(PieceCounts { inner })
    }
}

impl PieceCounter {
    /// The counter cannot be used after an error.
    fn done(&mut self, py: Python<'_>, result: Result<()>) -> PyResult<()> {
        result.map_err(|error| {
            self.counter = None;
            raise(py, error)
        })
    }

    fn count_reader(
        &mut self,
        py: Python<'_>,
        reader: impl Read + Send,
        options: &Options<'_>,
        json_field: Option<Name<'_>>,
    ) -> PyResult<()> {
        let group = options.group;
        self.watch(py, options, |counter, segmenter, on_invalid, threads, progress| match json_field {
            None => counter.count_reader(segmenter, reader, on_invalid, group, threads, progress),
            Some(field) => counter.count_json_lines(segmenter, reader, &field, on_invalid, group, threads, progress),
        })
    }
}

/// Bytes from a Python iterator.
struct Chunks {
    iterator: Py<PyIterator>,
    chunk: Vec<u8>,
    /// The bytes of the chunk that were read.
    read: usize,
    /// The exception of the iterator.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Chunks {
    /// Loads the next chunk that is not empty; an empty one at the end.
    fn next(&self) -> PyResult<Vec<u8>> {
        Python::attach(|py| {
            for chunk in self.iterator.bind(py) {
                let chunk = chunk?;
                let chunk = chunk.cast::<PyBytes>()?.as_bytes();
                if !chunk.is_empty() {
                    return Ok(chunk.to_vec());
                }
            }
            Ok(Vec::new())
        })
    }
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.chunk.len() {
            self.read = 0;
            self.chunk = self.next().map_err(|error| {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                io::Error::other("the chunks raised")
            })?;
        }
        let rest = &self.chunk[self.read..];
        let read = buffer.len().min(rest.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        self.read += read;
        Ok(read)
    }
}

/// Counted pieces.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct PieceCounts {
    pub(crate) inner: train::PieceCounts,
}

/// Some rows, column by column; a piece ends where the next one begins, at one of the offsets.
#[derive(Default)]
struct Columns {
    data: Vec<u8>,
    offsets: Vec<i64>,
    groups: Vec<u16>,
    counts: Vec<u64>,
    firsts: Vec<u64>,
}

impl Columns {
    /// The next rows, at most so many.
    fn of(sorted: &mut Sorted, most: usize) -> Result<Self> {
        let mut columns = Self { offsets: vec![0], ..Self::default() };
        while columns.counts.len() < most && columns.data.len() < COLUMN_BYTES {
            let Some(row) = sorted.next()? else { break };
            memory::extend(&mut columns.data, row.piece.iter().copied())?;
            memory::push(&mut columns.offsets, columns.data.len().cast_signed() as i64)?;
            memory::push(&mut columns.groups, row.group)?;
            memory::push(&mut columns.counts, row.count)?;
            memory::push(&mut columns.firsts, row.first)?;
        }
        Ok(columns)
    }
}

/// Piece, group, count and position of the first occurrence.
type PyRow<'py> = (Bound<'py, PyBytes>, u16, u64, u64);

#[pymethods]
impl PieceCounts {
    fn __len__(&self) -> usize {
        self.inner.len() as usize
    }

    /// Whether the rows are on disk because they exceeded the memory limit.
    #[getter]
    fn is_on_disk(&self) -> bool {
        self.inner.is_on_disk()
    }

    /// The number of sorted runs written to disk while counting, and their bytes.
    #[getter]
    fn spilled(&self) -> (u64, u64) {
        let spilled = self.inner.spilled();
        (spilled.runs, spilled.bytes)
    }

    /// For each group that is not empty: its number, rows, pieces and bytes, counting all occurrences.
    fn totals(&self, py: Python<'_>) -> PyResult<Vec<(u16, u64, u128, u128)>> {
        let totals = watched(py, None, |_| self.inner.totals())?.into_iter();
        Ok(totals.map(|(group, total)| (group, total.rows, total.pieces, total.bytes)).collect())
    }

    /// Calls `take(data, offsets, groups, counts, firsts)` with all rows, sorted by piece and group, in batches of a given
    /// number of rows, or fewer if their pieces are long.
    fn columns(&self, py: Python<'_>, take: &Bound<'_, PyAny>, rows: usize) -> PyResult<()> {
        let mut sorted = self.inner.sorted().map_err(|error| raise(py, error))?;
        loop {
            let Columns { data, offsets, groups, counts, firsts } =
                Columns::of(&mut sorted, rows).map_err(|error| raise(py, error))?;
            if counts.is_empty() {
                return Ok(());
            }
            py.check_signals()?;
            take.call1((
                PyArray1::from_vec(py, data),
                PyArray1::from_vec(py, offsets),
                groups.to_pyarray(py),
                PyArray1::from_vec(py, counts),
                PyArray1::from_vec(py, firsts),
            ))?;
        }
    }

    /// How often each token of a tokenizer's model is used in the pieces, in the order of their ids.
    fn token_uses(&self, py: Python<'_>, tokenizer: Py<CoreTokenizer>) -> PyResult<Vec<u64>> {
        watched(py, None, |progress| train::token_uses(&tokenizer.get().inner, &self.inner, progress))
    }

    /// All rows in order of first occurrence: piece, group, count and position of the first occurrence.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let counts = self.inner.in_memory().map_err(|error| raise(py, error))?;
        let rows = counts.in_order().map_err(|error| raise(py, error))?;
        list(py, rows, |row| (bytes(py, row.piece)?, row.group, row.count, row.first).into_pyobject(py))
    }

    /// The rows with the highest counts; ties go to the first in order of pieces and groups.
    fn top<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Vec<PyRow<'py>>> {
        let rows = watched(py, None, |_| self.inner.top(most))?.into_iter();
        rows.map(|row| Ok((bytes(py, &row.piece)?, row.group, row.count, row.first))).collect()
    }
}
