//! Counting pieces and learning merges.

use std::borrow::Cow;

use bytepair_core::segment::Segmenter;
use bytepair_core::split::Pattern;
use bytepair_core::split::added::AddedToken;
use bytepair_core::train::{self, Alphabet, Learned, PieceCounts, Settings, Ties};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{in_row, raise};
use crate::text::{OnInvalid, utf8};
use crate::tokenizer::check_threads;
use crate::watch::watched;

/// Counts the pieces of texts, special tokens cut out.
#[pyclass(module = "bytepair._core")]
pub(crate) struct PieceCounter {
    segmenter: Segmenter,
    counts: PieceCounts,
}

#[pymethods]
impl PieceCounter {
    #[new]
    fn new(py: Python<'_>, pattern: &str, special_tokens: Vec<String>) -> PyResult<Self> {
        let special_tokens: Vec<_> = special_tokens
            .into_iter()
            .zip(0..)
            .map(|(content, id)| AddedToken { content, id, special: true, ..AddedToken::default() })
            .collect();
        let segmenter = Pattern::new(pattern)
            .and_then(|pattern| Segmenter::new(&special_tokens, Vec::new(), false, vec![pattern]))
            .map_err(|error| raise(py, error))?;
        Ok(Self { segmenter, counts: PieceCounts::default() })
    }

    /// Counts the pieces of some texts (str, or UTF-8 bytes); calls `tell(bytes_done)` now and then.
    #[pyo3(signature = (texts, *, errors="strict", threads=None, tell=None))]
    fn count(
        &mut self,
        py: Python<'_>,
        texts: Vec<Bound<'_, PyAny>>,
        errors: &str,
        threads: Option<usize>,
        tell: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let on_invalid = OnInvalid::parse(errors)?;
        let threads = check_threads(threads)?;
        let rows =
            texts.iter().enumerate().map(|(row, text)| utf8(text, on_invalid).map_err(|error| in_row(py, error, row)));
        let rows = rows.collect::<PyResult<Vec<Cow<'_, str>>>>()?;
        let texts: Vec<&str> = rows.iter().map(|text| &**text).collect();
        let Self { segmenter, counts } = self;
        watched(py, tell, |progress| counts.count_texts(segmenter, &texts, threads, progress))
    }

    /// Adds a piece that occurs `count` times.
    fn add(&mut self, py: Python<'_>, piece: &Bound<'_, PyAny>, count: u64) -> PyResult<()> {
        let added = match piece.cast::<PyBytes>() {
            Ok(bytes) => self.counts.add(bytes.as_bytes(), count),
            Err(_) => self.counts.add(utf8(piece, OnInvalid::Strict)?.as_bytes(), count),
        };
        added.map_err(|error| raise(py, error))
    }

    fn __len__(&self) -> usize {
        self.counts.len()
    }

    /// The pieces and their counts in order of first occurrence.
    fn pieces<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, u64)> {
        self.counts.in_order().into_iter().map(|(piece, count)| (PyBytes::new(py, piece), count)).collect()
    }
}

/// Learns merges from counts, those of `replay` (left, right, count) first; returns the bytes of the alphabet's symbols,
/// (left, right, count) for each merge, where merge `i` makes symbol `len(alphabet) + i`, and how many tokens all pieces
/// come to. `alphabet` is the order of the 256 bytes, or None for characters.
#[pyfunction]
#[pyo3(signature = (
    counter, *, alphabet, end_of_word_suffix, merges, ties, min_frequency, max_token_length, threads=None,
    replay=Vec::new(), tell=None
))]
#[allow(clippy::too_many_arguments, clippy::type_complexity, reason = "settings, by keyword")]
pub(crate) fn learn<'py>(
    py: Python<'py>,
    counter: PyRef<'py, PieceCounter>,
    alphabet: Option<&[u8]>,
    end_of_word_suffix: Option<String>,
    merges: usize,
    ties: &str,
    min_frequency: u64,
    max_token_length: Option<usize>,
    threads: Option<usize>,
    replay: Vec<(u32, u32, u64)>,
    tell: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Vec<Bound<'py, PyBytes>>, Vec<(u32, u32, u64)>, u128)> {
    let ties =
        Ties::by_name(ties).ok_or_else(|| PyValueError::new_err(format!("the tie policy {ties:?} is unknown")))?;
    let max_token_length = max_token_length.unwrap_or(usize::MAX);
    let settings = Settings { merges, ties, min_frequency, max_token_length };
    let alphabet = match alphabet {
        Some(order) => Alphabet::Bytes(order.to_vec()),
        None => Alphabet::Characters { end_of_word_suffix },
    };
    let threads = check_threads(threads)?;
    let replay: Vec<_> = replay.into_iter().map(|(left, right, count)| Learned { left, right, count }).collect();
    let counts = &counter.counts;
    let trained = watched(py, tell, |progress| train::learn(counts, &alphabet, &settings, &replay, threads, progress))?;
    let tokens = trained.alphabet.iter().map(|token| PyBytes::new(py, token)).collect();
    let merges = trained.merges.iter().map(|merge| (merge.left, merge.right, merge.count)).collect();
    Ok((tokens, merges, trained.tokens_total))
}
