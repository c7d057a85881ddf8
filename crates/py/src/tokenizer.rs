//! The Python class of a tokenizer: its construction and its tokens.
//!
//! Its other methods are in the files of their tasks: `encode`, `count`, `decode`, `locate`, `fit`, `index`, `growing`,
//! `stream` and so on. Each of them uses this file; it uses none of them.

use std::sync::OnceLock;

use bytepair_core::canonical::Canonical;
use bytepair_core::decode::TextDecoder;
use bytepair_core::memory::Room;
use bytepair_core::merge::canonical_merges as canonical;
use bytepair_core::normalize::Normalizer;
use bytepair_core::pipeline::{Model, Parts, is_white};
use bytepair_core::pre_tokenize::PreTokenizer;
use bytepair_core::segment::Steps;
use bytepair_core::split::Pattern;
use bytepair_core::split::added::AddedToken;
use bytepair_core::vocab::Semantics;
use bytepair_core::{Error, Kind, Tokenizer, Vocab};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList};

use crate::arrays::{is_array, of_array};
use crate::columns::Columns;
use crate::errors::{collect, in_row, raise};
use crate::ints::{Ints, number};
use crate::lists::{Items, Many, bytes as made_bytes};
use crate::run::detached;
use crate::stages::parsed;
use crate::strings::{Name, Names, OwnedName};

/// So many ids are read, and Python looks at its signals.
const IDS_TO_LISTEN: usize = 1 << 14;

/// Content, id, special, single_word, lstrip, rstrip, normalized.
type AddedRow = (OwnedName, u32, bool, bool, bool, bool, bool);

/// The merge of each token of more than one byte, in id order, as pairs of ids; FormatError for a token where ranks and
/// merges are not proved to agree.
#[pyfunction]
pub(crate) fn canonical_merges(
    py: Python<'_>,
    tokens: Many<PyBackedBytes>,
    ids: Many<u32>,
) -> PyResult<Vec<(u32, u32)>> {
    let (tokens, ids) = (collect(py, tokens.0.iter().map(|token| &**token))?, ids.0);
    py.detach(|| canonical(&Vocab::new(&tokens, &ids, Semantics::Ranks)?)).map_err(|error| raise(py, error))
}

/// The compiled core of a tokenizer: immutable, shared by threads.
#[pyclass(subclass, frozen, module = "bytepair._core")]
pub(crate) struct CoreTokenizer {
    pub(crate) inner: Tokenizer,
    ints: Ints,
    /// Made when it is first asked which ids can follow others.
    canonical: OnceLock<Canonical>,
}

#[pymethods]
impl CoreTokenizer {
    #[new]
    #[pyo3(signature = (
        *, columns, ignore_merges, added, normalizers, prefix_space, patterns, pre_tokenizers, decoders, model
    ))]
    fn new(
        py: Python<'_>,
        columns: &Bound<'_, Columns>,
        ignore_merges: bool,
        added: Vec<AddedRow>,
        normalizers: Names,
        prefix_space: bool,
        patterns: Names,
        pre_tokenizers: Names,
        decoders: Names,
        model: Option<Name<'_>>,
    ) -> PyResult<Self> {
        let columns = columns.get();
        let Columns { tokens, merges, scores, unreachable, .. } = columns;
        let model = match model {
            None => Model::Bytes(py.detach(|| columns.vocab(ignore_merges)).map_err(|error| raise(py, error))?),
            Some(options) => py
                .detach(|| Model::of_characters(tokens, merges.as_deref(), scores.as_deref(), &options))
                .map_err(|error| raise(py, error))?,
        };
        let added = added.into_iter().map(|(content, id, special, single_word, lstrip, rstrip, normalized)| {
            AddedToken { content: content.0, id, special, single_word, lstrip, rstrip, normalized }
        });
        let steps = || -> bytepair_core::Result<_> {
            let steps = Steps {
                normalizers: parsed(&normalizers.0, Normalizer::parse)?,
                prefix_space,
                pre_tokenizers: parsed(&pre_tokenizers.0, PreTokenizer::parse)?,
                patterns: parsed(&patterns.0, Pattern::new)?,
            };
            Ok((steps, parsed(&decoders.0, TextDecoder::parse)?))
        };
        let (steps, decoders) = steps().map_err(|error| raise(py, error))?;
        let parts = Parts { model, unreachable: unreachable.clone(), added: added.collect(), steps, decoders };
        let inner = Tokenizer::new(parts).map_err(|error| raise(py, error))?;
        // One huge id costs no memory.
        let bound = usize::try_from(inner.vocab_size()).unwrap_or(usize::MAX).min(inner.token_count() * 2 + 65_536);
        Ok(Self { inner, ints: Ints::below(bound), canonical: OnceLock::new() })
    }

    /// The compiled tables of a vocabulary of bytes, for `Tables.open` with the same `owner`; None of a model of characters.
    fn _tables<'py>(&self, py: Python<'py>, owner: &[u8]) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let tables = self.inner.is_byte_level().then(|| self.inner.vocab().store(owner)).transpose();
        tables.map_err(|error| raise(py, error))?.map(|tables| made_bytes(py, &tables)).transpose()
    }

    /// The bytes of a token; InvalidIdError if no token has this id.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).token_bytes(256)
    ///     b'lo'
    fn token_bytes<'py>(&self, py: Python<'py>, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let id = self.id_of(id)?;
        let token = self.inner.token_bytes(id).ok_or_else(|| raise(py, self.inner.invalid_id(id)))?;
        made_bytes(py, token)
    }

    /// The id of a token, as bytes or str, added tokens first; InvalidIdError if there is no such token.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).token_id("lo")
    ///     256
    fn token_id(&self, py: Python<'_>, token: &Bound<'_, PyAny>) -> PyResult<u32> {
        let bytes = match token.cast::<PyBytes>() {
            Ok(bytes) => bytes.as_bytes(),
            Err(_) => Name::extract(token.as_borrowed())?.as_str().as_bytes(),
        };
        self.inner.token_id(bytes).ok_or_else(|| {
            let error = Error::new(Kind::InvalidId, format!("{:?} is not a token", String::from_utf8_lossy(bytes)));
            raise(py, error.remedy("encode it to see what it is made of"))
        })
    }

    /// As `token_id`, but None if these bytes are not a token: an exception for each of very many would take long.
    fn _find_token(&self, token: &str) -> Option<u32> {
        self.inner.token_id(token.as_bytes())
    }

    /// The largest id plus one: the rows of an embedding. `len(tok)` is the number of tokens; ids may have holes.
    #[getter]
    fn vocab_size(&self) -> u64 {
        self.inner.vocab_size()
    }

    fn __len__(&self) -> usize {
        self.inner.token_count()
    }

    /// The added tokens that untrusted text must not become, with their ids, in id order: all except white space.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"hi": 5}, vocab_size=258, special_tokens=["<|e|>"]).reserved_tokens
    ///     {'<|e|>': 257}
    #[getter]
    fn reserved_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let reserved = PyDict::new(py);
        let mut added: Vec<_> = self.inner.added().iter().filter(|token| !is_white(&token.content)).collect();
        added.sort_unstable_by_key(|token| token.id);
        added.into_iter().try_for_each(|token| reserved.set_item(&token.content, token.id))?;
        Ok(reserved)
    }
}

impl CoreTokenizer {
    /// Which ids can follow others; FormatError where no exact answer is known.
    pub(crate) fn canonical(&self, py: Python<'_>) -> PyResult<&Canonical> {
        if let Some(made) = self.canonical.get() {
            return Ok(made);
        }
        let made = detached(py, usize::MAX, || Canonical::new(&self.inner))?;
        // Threads that come at the same time each make one; the first is kept.
        Ok(self.canonical.get_or_init(|| made))
    }

    /// A list of ids, one shared int object for each id.
    pub(crate) fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        self.ints.list(py, ids)
    }

    /// The int object of an id.
    pub(crate) fn int<'py>(&self, py: Python<'py>, id: u32) -> Bound<'py, PyInt> {
        self.ints.get(py, id)
    }

    /// Any iterable of ids as numbers, not yet checked against the vocabulary.
    pub(crate) fn ids_of(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        if let Some(items) = Items::of(ids)
            && let Some(numbers) = items.all().map_err(|error| raise(py, error))?
        {
            return Ok(numbers);
        }
        if is_array(ids)?
            && let Some(numbers) = of_array(ids)?
        {
            return Ok(numbers);
        }
        let mut numbers = Vec::new();
        for (row, id) in ids.try_iter()?.enumerate() {
            if numbers.len() == numbers.capacity() {
                numbers.room(1).map_err(|error| raise(py, error))?;
            }
            if row.is_multiple_of(IDS_TO_LISTEN) {
                py.check_signals()?;
            }
            numbers.push(self.id_of(&id?).map_err(|error| in_row(py, error, row))?);
        }
        Ok(numbers)
    }

    /// An id as a number, not yet checked against the vocabulary; InvalidIdError if it cannot be one.
    pub(crate) fn id_of(&self, id: &Bound<'_, PyAny>) -> PyResult<u32> {
        self.id_from(id.py(), number(id)?)
    }

    /// The same of what [`number`] returned.
    pub(crate) fn id_from(&self, py: Python<'_>, number: Result<i64, String>) -> PyResult<u32> {
        let shown = match number {
            Ok(number) => match u32::try_from(number) {
                Ok(id) => return Ok(id),
                Err(_) => number.to_string(),
            },
            Err(large) => large,
        };
        Err(raise(py, self.inner.invalid_id(shown)))
    }

    /// Ids from an optional argument, each checked to have a token.
    pub(crate) fn known_ids(&self, py: Python<'_>, ids: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u32>> {
        let ids = ids.map_or(Ok(Vec::new()), |ids| self.ids_of(py, ids))?;
        match ids.iter().position(|&id| self.inner.token_bytes(id).is_none()) {
            Some(row) => Err(raise(py, self.inner.invalid_id(ids[row]).row(row))),
            None => Ok(ids),
        }
    }
}
