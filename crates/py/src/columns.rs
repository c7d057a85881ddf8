//! Tokens, ids and merges without a Python object for each: between a file and a tokenizer.

use bytepair_core::files::Columns as Core;
use bytepair_core::files::rank_file;
use bytepair_core::memory::Room;
use bytepair_core::stored::{Memory, Stored};
use bytepair_core::vocab::Semantics;
use bytepair_core::{Result, Vocab, memory};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyTuple};

use crate::errors::{collect, raise};
use crate::lists::{Many, bytes, tuple};
use crate::strings::{Name, OwnedName};
use crate::tables::{Tables, View};

/// The model of a tokenizer: the columns of a `BytePair`, converted to tuples only on access.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Columns {
    pub(crate) tokens: Core,
    pub(crate) merges: Option<Vec<(u32, u32)>>,
    pub(crate) scores: Option<Vec<f64>>,
    /// Tokens that no text becomes: they are only decoded.
    pub(crate) unreachable: Core,
    /// The compiled tables of these columns, if a file holds them.
    pub(crate) stored: Option<Stored>,
}

impl Columns {
    /// The merge semantics; `ignore_merges` is stored outside the columns.
    pub(crate) fn semantics(&self, ignore_merges: bool) -> Semantics {
        match &self.merges {
            Some(pairs) => Semantics::Merges { pairs: pairs.clone(), ignore_merges },
            None => Semantics::Ranks,
        }
    }

    /// The vocabulary of bytes: from its compiled tables, if there are any for these semantics.
    pub(crate) fn vocab(&self, ignore_merges: bool) -> Result<Vocab> {
        let Core { bytes, ends, ids } = &self.tokens;
        let takes_all_whole = ignore_merges || self.merges.is_none();
        if let Some(stored) = &self.stored
            && let Some(vocab) = Vocab::of_stored(bytes, ends, ids, takes_all_whole, stored)?
        {
            return Ok(vocab);
        }
        Vocab::new(&memory::collect(self.tokens.tokens())?, ids, self.semantics(ignore_merges))
    }
}

fn columns_of(rows: Vec<(OwnedName, u32)>) -> Core {
    let mut columns = Core::default();
    for (token, id) in rows {
        columns.push(token.0.as_bytes());
        columns.ids.push(id);
    }
    columns
}

#[pymethods]
impl Columns {
    #[new]
    #[pyo3(signature = (tokens, ids, merges, scores=None, unreachable=vec![]))]
    fn new(
        py: Python<'_>,
        tokens: Many<PyBackedBytes>,
        ids: Many<u32>,
        merges: Option<Many<(u32, u32)>>,
        scores: Option<Many<f64>>,
        unreachable: Vec<(OwnedName, u32)>,
    ) -> PyResult<Self> {
        let Many(tokens) = tokens;
        let mut columns = Core { ids: ids.0, ..Core::default() };
        let bytes = tokens.iter().map(|token| token.len()).sum();
        let room = columns.bytes.room(bytes).and_then(|()| columns.ends.room(tokens.len()));
        room.map_err(|error| raise(py, error))?;
        for token in &tokens {
            columns.push(token);
        }
        let (merges, scores) = (merges.map(|merges| merges.0), scores.map(|scores| scores.0));
        Ok(Self { tokens: columns, merges, scores, unreachable: columns_of(unreachable), stored: None })
    }

    /// The result of a training: the symbols, and the token of each merge (left, right, count), with ids from `first` on;
    /// ValueError if a merge names a symbol that does not exist yet.
    #[staticmethod]
    fn trained(
        py: Python<'_>,
        symbols: Many<PyBackedBytes>,
        merges: Many<(u32, u32, u64)>,
        first: u32,
    ) -> PyResult<Self> {
        let (Many(symbols), Many(merges)) = (symbols, merges);
        let mut columns = Core::default();
        for symbol in &symbols {
            columns.push(symbol);
        }
        for &(left, right, _) in &merges {
            let made = columns.tokens().len();
            if left.max(right) as usize >= made {
                return Err(PyValueError::new_err("a merge names a symbol that does not exist yet"));
            }
            let token = [columns.token(left as usize), columns.token(right as usize)].concat();
            columns.push(&token);
        }
        let made = columns.tokens().len();
        columns.ids = collect(py, (first..).take(made))?;
        let pairs = collect(py, merges.iter().map(|&(left, right, _)| (left + first, right + first)))?;
        Ok(Self { tokens: columns, merges: Some(pairs), scores: None, unreachable: Core::default(), stored: None })
    }

    /// Reads the output of `pack`, with sizes and compiled tables from the caller; ValueError if the length does not match.
    #[staticmethod]
    #[pyo3(signature = (data, tokens, merges, scores=false, unreachable=vec![], tables=None))]
    fn unpack(
        py: Python<'_>,
        data: PyBuffer<u8>,
        tokens: usize,
        merges: Option<usize>,
        scores: bool,
        unreachable: Vec<(OwnedName, u32)>,
        tables: Option<&Bound<'_, Tables>>,
    ) -> PyResult<Self> {
        let too_short = || PyValueError::new_err("the columns are longer than the file");
        let data = View::new(data, 0)?;
        let mut rest = data.bytes();
        // A number is a claim: nothing is reserved before that many bytes are there.
        let mut column = |length: Option<usize>| {
            let bytes = length.and_then(|length| length.checked_mul(4));
            let (column, after) = bytes.and_then(|bytes| rest.split_at_checked(bytes)).ok_or_else(too_short)?;
            rest = after;
            PyResult::Ok(column.as_chunks().0.iter().map(|&number| u32::from_le_bytes(number)))
        };
        let (ids, lengths) = (collect(py, column(Some(tokens))?)?, column(Some(tokens))?);
        let pairs = collect(py, column(merges.unwrap_or(0).checked_mul(2))?)?;
        let halves = collect(py, column(if scores { tokens.checked_mul(2) } else { Some(0) })?)?;
        let mut end = 0_usize;
        let ends = collect(
            py,
            lengths.map(|length| {
                end = end.saturating_add(length as usize);
                end
            }),
        )?;
        if ends.last().copied().unwrap_or(0) != rest.len() {
            return Err(PyValueError::new_err("the tokens are not as long as the file"));
        }
        let pairs = collect(py, pairs.as_chunks().0.iter().map(|&[left, right]| (left, right)))?;
        let bits = |&[low, high]: &[u32; 2]| f64::from_bits(u64::from(low) | u64::from(high) << 32);
        let scores = scores.then(|| collect(py, halves.as_chunks().0.iter().map(bits))).transpose()?;
        let (tokens, unreachable) = (
            Core { bytes: memory::copied(rest).map_err(|error| raise(py, error))?, ends, ids },
            columns_of(unreachable),
        );
        let stored = tables.map(|tables| tables.get().stored.clone());
        Ok(Self { tokens, merges: merges.map(|_| pairs), scores, unreachable, stored })
    }

    /// The columns one after another; `bytepair.formats.native` defines the layout.
    fn pack<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let lengths = self.tokens.tokens().map(|token| token.len() as u32);
        let pairs = self.merges.iter().flatten().flat_map(|&(left, right)| [left, right]);
        let numbers = self.tokens.ids.iter().copied().chain(lengths).chain(pairs);
        let mut packed = collect(py, numbers.flat_map(u32::to_le_bytes))?;
        let scores = self.scores.iter().flatten().flat_map(|score| score.to_le_bytes());
        let rest = scores.chain(self.tokens.bytes.iter().copied());
        memory::extend(&mut packed, rest).map_err(|error| raise(py, error))?;
        bytes(py, &packed)
    }

    /// The bytes of each token.
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.tokens.tokens(), |token| bytes(py, token))
    }

    /// The id of each token.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.tokens.ids, |id| Ok(id.into_pyobject(py)?))
    }

    /// The tokens that no text becomes, with their ids, by id.
    fn unreachable(&self) -> Vec<(String, u32)> {
        let spelled = self.unreachable.tokens().map(|token| String::from_utf8_lossy(token).into_owned());
        spelled.zip(self.unreachable.ids.iter().copied()).collect()
    }

    /// The merges as pairs of ids, if there is a list of them.
    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.merges.as_ref().map(|merges| tuple(py, merges, |&merge| merge.into_pyobject(py))).transpose()
    }

    /// The score of each token, if they have scores.
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.scores.as_ref().map(|scores| tuple(py, scores, |score| Ok(score.into_pyobject(py)?))).transpose()
    }

    /// Whether tokens have scores.
    #[getter]
    fn has_scores(&self) -> bool {
        self.scores.is_some()
    }

    /// The number of merges, if there is a list of them.
    #[getter]
    fn merge_count(&self) -> Option<usize> {
        self.merges.as_ref().map(Vec::len)
    }

    /// The bytes that are single-byte tokens, ascending.
    fn single_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let has = self.tokens.has_byte();
        let single: Vec<u8> = (0..=u8::MAX).filter(|&byte| has[usize::from(byte)]).collect();
        bytes(py, &single)
    }

    /// The number of tokens.
    fn __len__(&self) -> usize {
        self.tokens.ends.len()
    }
}

/// A decimal number as `tokenizers` reads it, which can be one off in the last place; ValueError if it is none.
#[pyfunction]
pub(crate) fn read_decimal(text: Name<'_>) -> PyResult<f64> {
    bytepair_core::files::decimal::read(&text).ok_or_else(|| PyValueError::new_err("not a decimal number"))
}

/// A spelling of a finite number that is read as that number, by `tokenizers` as well where it has one.
#[pyfunction]
pub(crate) fn write_decimal(number: f64) -> String {
    bytepair_core::files::decimal::write(number)
}

/// The columns of a rank file; FormatError with the number of a broken line.
#[pyfunction]
pub(crate) fn read_rank_file(py: Python<'_>, data: PyBackedBytes) -> PyResult<Columns> {
    let (tokens, unreachable) = py.detach(|| rank_file::read(&data)).map_err(|error| raise(py, error))?;
    Ok(Columns { tokens, merges: None, scores: None, unreachable, stored: None })
}
