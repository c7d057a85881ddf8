//! Vocabularies and merges of JSON files: read by the core, or from Python's objects, into columns.

use std::collections::HashSet;

use bytepair_core::files::character_vocab::{self, Kept};
use bytepair_core::files::{Columns as Core, IdMerges, Merges, Texts, Vocabulary, byte_alphabet, json_model};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyString};

use crate::columns::Columns;
use crate::lists::{list, string};

/// The vocabulary of a file, without a Python object for each token.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct FileVocab {
    vocab: Vocabulary,
    /// Of a list of tokens and scores.
    scores: Option<Vec<f64>>,
}

#[pymethods]
impl FileVocab {
    /// Whether a JSON file has a list of tokens and scores; else it has tokens with their ids.
    #[getter]
    fn is_list(&self) -> bool {
        self.scores.is_some()
    }

    /// The id of a token, or its place in the list.
    fn get(&self, token: &str) -> Option<u32> {
        self.vocab.place(token).map(|place| self.vocab.id(place))
    }

    /// Whether no token has one of these ids.
    #[allow(clippy::needless_pass_by_value, reason = "pyo3 makes it")]
    fn lacks_ids(&self, ids: HashSet<u32>) -> bool {
        ids.is_empty() || !self.vocab.ids().iter().any(|id| ids.contains(id))
    }

    /// Whether the bytes of UTF-8 are tokens, and all tokens but the `others` are spelled in the GPT-2 byte alphabet.
    #[allow(clippy::needless_pass_by_value, reason = "pyo3 makes it")]
    fn is_of_bytes(&self, others: Vec<PyBackedStr>) -> bool {
        byte_alphabet::is_of_bytes(&self.vocab, &texts(&others))
    }

    /// The same as `json.loads` returns it.
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(scores) = &self.scores {
            let rows = scores.iter().zip(self.vocab.tokens());
            let row = |(score, token): (&f64, &str)| {
                list(py, [string(py, token)?.into_any(), score.into_pyobject(py)?.into_any()], Ok)
            };
            return Ok(list(py, rows, row)?.into_any());
        }
        let made = PyDict::new(py);
        self.vocab.tokens().zip(self.vocab.ids()).try_for_each(|(token, id)| made.set_item(string(py, token)?, id))?;
        Ok(made.into_any())
    }

    fn __contains__(&self, token: &str) -> bool {
        self.vocab.place(token).is_some()
    }

    fn __len__(&self) -> usize {
        self.vocab.len()
    }
}

/// The merges of a JSON file, without a Python object for each.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct JsonMerges {
    merges: Merges,
    /// Whether the file has each as a list of two tokens; else they are a text with a space between.
    are_lists: bool,
}

#[pymethods]
impl JsonMerges {
    /// The same as `json.loads` returns it.
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, self.merges.iter(), |(left, right)| {
            Ok(if self.are_lists {
                list(py, [left, right], |token| string(py, token))?.into_any()
            } else {
                string(py, &format!("{left} {right}"))?.into_any()
            })
        })
    }

    fn __len__(&self) -> usize {
        self.merges.len()
    }
}

/// The vocabulary and the merges of a `tokenizer.json`, and the text of the file with null in their places; None if it has
/// anything unusual, or no vocabulary. Scores are read as `tokenizers` reads them, or exactly.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a plain tuple for Python")]
pub(crate) fn read_json_model(
    py: Python<'_>,
    data: PyBackedBytes,
    exact_scores: bool,
) -> Option<(FileVocab, Option<JsonMerges>, Bound<'_, PyBytes>)> {
    let (model, rest) = py.detach(|| {
        let model = json_model::read(std::str::from_utf8(&data).ok()?, exact_scores)?;
        let mut rest = Vec::new();
        let mut at = 0;
        for hole in &model.holes {
            rest.extend_from_slice(&data[at..hole.start]);
            rest.extend_from_slice(b"null");
            at = hole.end;
        }
        rest.extend_from_slice(&data[at..]);
        Some((model, rest))
    })?;
    let merges = model.merges.map(|merges| JsonMerges { merges, are_lists: model.merges_are_lists });
    Some((FileVocab { vocab: model.vocab, scores: model.scores }, merges, PyBytes::new(py, &rest)))
}

/// The vocabulary of a file with a token a line, whose number from 0 on is its id; None if it is not UTF-8, a line is empty, or two are
/// equal.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "pyo3 makes it")]
pub(crate) fn read_lines(py: Python<'_>, data: PyBackedBytes) -> Option<FileVocab> {
    let vocab = py.detach(|| Vocabulary::of_lines(std::str::from_utf8(&data).ok()?))?;
    Some(FileVocab { vocab, scores: None })
}

/// A vocabulary in either form.
#[derive(FromPyObject)]
pub(crate) enum AnyVocab<'py> {
    Read(Bound<'py, FileVocab>),
    Dict(Bound<'py, PyDict>),
}

impl AnyVocab<'_> {
    /// Calls with the vocabulary; None if it is none.
    fn with<T>(&self, call: impl FnOnce(&Vocabulary) -> Option<T>) -> Option<T> {
        match self {
            Self::Read(read) => call(&read.get().vocab),
            Self::Dict(dict) => {
                let (mut tokens, mut ids) = (Texts::default(), Vec::with_capacity(dict.len()));
                for (token, id) in dict {
                    tokens.push(text(&token)?);
                    ids.push(id.cast_exact::<PyInt>().ok()?.extract().ok()?);
                }
                call(&Vocabulary::new(tokens, ids)?)
            }
        }
    }
}

/// Merges in either form.
#[derive(FromPyObject)]
pub(crate) enum AnyMerges<'py> {
    Read(Bound<'py, JsonMerges>),
    List(Bound<'py, PyList>),
}

impl AnyMerges<'_> {
    /// Calls with the merges; None if one is malformed.
    fn with<T>(&self, call: impl FnOnce(&Merges) -> Option<T>) -> Option<T> {
        match self {
            Self::Read(read) => call(&read.get().merges),
            Self::List(list) => {
                let mut halves = Texts::default();
                for merge in list {
                    push_merge(&merge, &mut halves)?;
                }
                call(&Merges::new(halves))
            }
        }
    }
}

/// A merge of a JSON file: two tokens with a space between, or a list of two.
fn push_merge(merge: &Bound<'_, PyAny>, halves: &mut Texts) -> Option<()> {
    let mut push = |left: &str, right: &str| {
        halves.push(left);
        halves.push(right);
        (!left.is_empty() && !right.is_empty()).then_some(())
    };
    match merge.cast::<PyList>() {
        Ok(list) if list.len() == 2 => push(text(&list.get_item(0).ok()?)?, text(&list.get_item(1).ok()?)?),
        Ok(_) => None,
        Err(_) => {
            let (left, right) = text(merge)?.split_once(' ').filter(|(_, right)| !right.contains(' '))?;
            push(left, right)
        }
    }
}

fn text<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a str> {
    object.cast::<PyString>().ok()?.to_str().ok()
}

fn texts(texts: &[PyBackedStr]) -> Vec<&str> {
    texts.iter().map(|text| &**text).collect()
}

fn columns(tokens: Core, merges: Option<IdMerges>, scores: Option<Vec<f64>>) -> Columns {
    Columns { tokens, merges: merges.map(|merges| merges.pairs), scores, unreachable: Core::default(), stored: None }
}

/// The columns of a vocabulary and merges in the GPT-2 byte alphabet, without the added tokens that no merge makes; None if
/// anything is malformed.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "pyo3 makes them")]
pub(crate) fn read_byte_alphabet(
    py: Python<'_>,
    vocab: AnyVocab<'_>,
    merges: AnyMerges<'_>,
    added: Vec<PyBackedStr>,
) -> Option<Columns> {
    let added = texts(&added);
    let read = vocab.with(|vocab| merges.with(|merges| py.detach(|| byte_alphabet::read(vocab, merges, &added))))?;
    let unreachable = read.unreachable;
    Some(Columns { unreachable, ..columns(read.tokens, Some(read.merges), None) })
}

/// The columns of a vocabulary and merges spelled in characters, without the special tokens that no merge makes and that
/// are neither `unk` nor one character between `prefix` and `suffix`; None if anything is malformed. The right token of a merge
/// loses as many characters as the prefix has.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "pyo3 makes them")]
pub(crate) fn read_spelled(
    py: Python<'_>,
    vocab: AnyVocab<'_>,
    merges: AnyMerges<'_>,
    special: Vec<PyBackedStr>,
    unk: Option<&str>,
    prefix: &str,
    suffix: &str,
) -> Option<Columns> {
    let kept = Kept { prefix, suffix, special: &texts(&special), unk };
    let read = vocab.with(|vocab| merges.with(|merges| py.detach(|| character_vocab::read(vocab, merges, kept))));
    read.map(|(tokens, merges)| columns(tokens, Some(merges), None))
}

/// The columns of a vocabulary without merges, without the special tokens other than `unk`; None if anything is malformed.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "pyo3 makes them")]
pub(crate) fn read_words(
    py: Python<'_>,
    vocab: AnyVocab<'_>,
    special: Vec<PyBackedStr>,
    unk: Option<&str>,
) -> Option<Columns> {
    let special = texts(&special);
    let read = vocab.with(|vocab| py.detach(|| character_vocab::words(vocab, &special, unk)));
    read.map(|tokens| columns(tokens, None, None))
}

/// The columns of a list of tokens and scores, without the special tokens other than the one at `unk`; None if it is no list.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "pyo3 makes them")]
pub(crate) fn read_scored(
    py: Python<'_>,
    vocab: &Bound<'_, FileVocab>,
    special: Vec<PyBackedStr>,
    unk: Option<u32>,
) -> Option<Columns> {
    let (FileVocab { vocab, scores }, special) = (vocab.get(), texts(&special));
    let unk = unk.filter(|&place| (place as usize) < vocab.len()).map(|place| vocab.token(place));
    let (tokens, scores) = py.detach(|| character_vocab::scored(vocab, scores.as_deref()?, &special, unk))?;
    Some(columns(tokens, None, Some(scores)))
}
