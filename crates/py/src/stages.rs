//! The text stages alone: normalizers, pre-tokenizers and decoders as `tokenizer.json` states them.

use bytepair_core::decode::TextDecoder;
use bytepair_core::normalize::Aligned;
use bytepair_core::normalize::{Normalizer, try_apply_all};
use bytepair_core::pre_tokenize::{PreTokenized, PreTokenizer};
use bytepair_core::{Error, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::strings::{Name, Names};

/// A normalized text, and where each character of it came from.
#[derive(IntoPyObject)]
pub(crate) enum Normalized {
    Text(String),
    Traced(String, Vec<(usize, usize)>),
}

/// A piece, and the characters of the original text that it came from.
type Piece = (String, (usize, usize));

/// Parses the steps of one stage.
pub(crate) fn parsed<T>(steps: &[String], parse: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    steps.iter().map(|step| parse(step)).collect()
}

/// Applies normalizers to a text in order. With ``offsets``, also returns for each character the range of characters of the
/// original text that it came from.
///
/// Args:
///     steps: Normalizers, each a bare name or its object in ``tokenizer.json``.
///     text: The text.
///     offsets: Whether to return the ranges.
///
/// Raises:
///     FormatError: If there is no such normalizer.
///     PatternError: If a pattern does not compile or exceeds its step budget.
///
/// Example:
///     >>> from bytepair._core import normalize
///     >>> normalize(["NFD", "StripAccents", "Lowercase"], "Café")
///     'cafe'
///     >>> normalize(['{"type":"Prepend","prepend":"_"}'], "ab", offsets=True)
///     ('_ab', [(0, 1), (0, 1), (1, 2)])
#[pyfunction]
#[pyo3(signature = (steps, text, offsets = false))]
pub(crate) fn normalize(py: Python<'_>, steps: Names, text: Name<'_>, offsets: bool) -> PyResult<Normalized> {
    let (steps, text) = (steps.0, text.as_str());
    let made = py.detach(|| {
        let steps = parsed(&steps, Normalizer::parse)?;
        if !offsets {
            return Ok(Normalized::Text(try_apply_all(&steps, text)?.into_owned()));
        }
        let mut aligned = Aligned::traced(text)?;
        steps.iter().try_for_each(|step| step.apply_aligned(&mut aligned))?;
        let places = Places::new(text);
        let changed = aligned.text();
        let ranges = changed
            .char_indices()
            .map(|(at, character)| places.range(aligned.original(at..at + character.len_utf8()).unwrap_or_default()));
        let ranges = ranges.collect();
        Ok(Normalized::Traced(aligned.into_text(), ranges))
    });
    made.map_err(|error: Error| raise(py, error))
}

/// Applies pre-tokenizers to a text in order; returns the pieces, each with its range of characters of the text.
///
/// Args:
///     steps: Pre-tokenizers, each a bare name or its object in ``tokenizer.json``.
///     text: The text.
///     normalizers: Normalizers to apply first.
///
/// Raises:
///     FormatError: If there is no such pre-tokenizer or normalizer.
///     PatternError: If a pattern does not compile or exceeds its step budget.
///
/// Example:
///     >>> from bytepair._core import pre_tokenize
///     >>> pre_tokenize(["BertPreTokenizer"], "Hey, you")
///     [('Hey', (0, 3)), (',', (3, 4)), ('you', (5, 8))]
#[pyfunction]
#[pyo3(signature = (steps, text, normalizers = None))]
pub(crate) fn pre_tokenize(
    py: Python<'_>,
    steps: Names,
    text: Name<'_>,
    normalizers: Option<Names>,
) -> PyResult<Vec<Piece>> {
    let (steps, text, normalizers) = (steps.0, text.as_str(), normalizers.map_or(Vec::new(), |names| names.0));
    let made = py.detach(|| {
        let steps = parsed(&steps, PreTokenizer::parse)?;
        let mut aligned = Aligned::traced(text)?;
        let normalizers = parsed(&normalizers, Normalizer::parse)?;
        normalizers.iter().try_for_each(|step| step.apply_aligned(&mut aligned))?;
        let mut cut = PreTokenized::new(aligned);
        steps.iter().try_for_each(|step| step.apply(&mut cut, true))?;
        let places = Places::new(text);
        let pieces = cut
            .texts()
            .enumerate()
            .map(|(number, piece)| (piece.to_owned(), places.range(cut.original(number).unwrap_or_default())));
        Ok(pieces.collect())
    });
    made.map_err(|error: Error| raise(py, error))
}

/// Applies decoders to tokens in order and joins the result.
///
/// Args:
///     steps: Decoders, each a bare name or its object in ``tokenizer.json``.
///     tokens: The tokens.
///
/// Raises:
///     FormatError: If there is no such decoder.
///     PatternError: If a pattern does not compile or exceeds its step budget.
///
/// Example:
///     >>> from bytepair._core import decode_tokens
///     >>> decode_tokens(["ByteFallback", "Fuse"], ["caf", "<0xC3>", "<0xA9>"])
///     'café'
#[pyfunction]
pub(crate) fn decode_tokens(py: Python<'_>, steps: Names, tokens: Names) -> PyResult<String> {
    let (steps, tokens) = (steps.0, tokens.0);
    let made = py.detach(|| bytepair_core::decode::decode_tokens(&parsed(&steps, TextDecoder::parse)?, tokens));
    made.map_err(|error| raise(py, error))
}

/// The number of each character of a text by the byte at which it starts; None if they are the same.
struct Places(Option<Vec<usize>>);

impl Places {
    fn new(text: &str) -> Self {
        if text.is_ascii() {
            return Self(None);
        }
        let mut numbers = Vec::with_capacity(text.len() + 1);
        for (number, character) in text.chars().enumerate() {
            numbers.extend(std::iter::repeat_n(number, character.len_utf8()));
        }
        numbers.push(text.chars().count());
        Self(Some(numbers))
    }

    fn range(&self, bytes: std::ops::Range<usize>) -> (usize, usize) {
        let number = |byte: usize| self.0.as_ref().map_or(byte, |numbers| numbers.get(byte).copied().unwrap_or(byte));
        (number(bytes.start), number(bytes.end))
    }
}

/// Checks a step of ``normalizer``, ``pre_tokenizer`` or ``decoder``; raises FormatError or PatternError.
#[pyfunction]
pub(crate) fn check_step(py: Python<'_>, stage: Name<'_>, step: Name<'_>) -> PyResult<()> {
    let (stage, step) = (stage.as_str(), step.as_str());
    let checked = match stage {
        "normalizer" => Normalizer::parse(step).map(drop),
        "pre_tokenizer" => PreTokenizer::parse(step).map(drop),
        "decoder" => TextDecoder::parse(step).map(drop),
        _ => return Err(PyValueError::new_err(format!("{stage:?} is no stage"))),
    };
    checked.map_err(|error| raise(py, error))
}
