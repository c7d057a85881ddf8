//! The pieces of a model of `sentencepiece`.

use bytepair_core::files::pieces::{Pieces as Core, ScoredMerges};
use bytepair_core::files::{Columns as CoreColumns, Texts};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::columns::Columns;
use crate::errors::raise;

/// The pieces of a model by id, without a Python object for each.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Pieces(Core);

#[pymethods]
impl Pieces {
    /// From rows of text, score and type; ValueError if two texts are equal.
    #[new]
    fn new(rows: Vec<(PyBackedStr, f64, u8)>) -> PyResult<Self> {
        let mut texts = Texts::default();
        for (text, ..) in &rows {
            texts.push(text);
        }
        let (scores, kinds) = rows.iter().map(|(_, score, kind)| (*score, *kind)).unzip();
        let pieces = Core::new(texts, scores, kinds);
        pieces.map(Self).ok_or_else(|| PyValueError::new_err("two pieces are equal"))
    }

    /// All rows of text, score and type.
    fn rows(&self) -> Vec<(&str, f64, u8)> {
        (0..self.0.len() as u32).map(|id| (self.0.text(id), self.0.score(id), self.0.kind(id))).collect()
    }

    /// Whether nothing about them is to be refused.
    fn are_sound(&self, py: Python<'_>, byte_fallback: bool, merges: bool) -> bool {
        py.detach(|| self.0.are_sound(byte_fallback, merges))
    }

    /// Text, id and type of the pieces of some types, by id.
    #[allow(clippy::needless_pass_by_value, reason = "pyo3 makes it")]
    fn of_kinds(&self, kinds: Vec<u8>) -> Vec<(&str, u32, u8)> {
        self.0.of_kinds(&kinds).map(|id| (self.0.text(id), id, self.0.kind(id))).collect()
    }

    /// The type of a piece, if it is one.
    fn kind_of(&self, text: &str) -> Option<u8> {
        self.0.id(text).map(|id| self.0.kind(id))
    }

    /// The lowest score of a normal piece; 0 without any.
    fn lowest(&self) -> f64 {
        self.0.lowest()
    }

    /// The columns of a Unigram of the pieces of some types.
    #[allow(clippy::needless_pass_by_value, reason = "pyo3 makes it")]
    fn scored(&self, py: Python<'_>, kinds: Vec<u8>) -> Columns {
        let (tokens, scores) = py.detach(|| (self.0.columns(&kinds), self.0.weights(&kinds)));
        Columns { tokens, merges: None, scores: Some(scores), unreachable: CoreColumns::default(), stored: None }
    }

    /// The columns of a BPE of the pieces of some types, which merge if `has_merges`; the number of merged pieces that share
    /// their score with another, the number of pieces with a character that is no piece, and the first of them.
    #[allow(clippy::needless_pass_by_value, reason = "pyo3 makes it")]
    fn merged(
        &self,
        py: Python<'_>,
        kinds: Vec<u8>,
        has_merges: bool,
    ) -> PyResult<(Columns, usize, usize, Option<&str>)> {
        let merges = || if has_merges { self.0.merges() } else { Ok(ScoredMerges::default()) };
        let (tokens, merges) =
            py.detach(|| Ok((self.0.columns(&kinds), merges()?))).map_err(|error| raise(py, error))?;
        let ScoredMerges { pairs, equal, strange, first_strange } = merges;
        let columns =
            Columns { tokens, merges: Some(pairs), scores: None, unreachable: CoreColumns::default(), stored: None };
        Ok((columns, equal, strange, first_strange.map(|id| self.0.text(id))))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// The pieces of a model of `sentencepiece`, and where its other fields start and end; None if anything is unusual.
#[pyfunction]
pub(crate) fn read_pieces(py: Python<'_>, data: &[u8]) -> Option<(Pieces, Vec<(usize, usize)>)> {
    let (pieces, rest) = py.detach(|| Core::read(data))?;
    Some((Pieces(pieces), rest.into_iter().map(|range| (range.start, range.end)).collect()))
}
