//! Learning merges.

use std::sync::atomic::Ordering;

use bytepair_core::train::{self, Alphabet, Learned, Progress, Settings, Ties};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};

use crate::counts::PieceCounts;
use crate::tokenizer::{CoreTokenizer, check_threads};
use crate::watch::beside;

/// What pieces are spelled in.
#[derive(FromPyObject)]
pub(crate) enum Symbols {
    Bytes(PyBackedBytes),
    Tokens(Py<CoreTokenizer>),
}

/// Learns merges from counts, those of `replay` (left, right, count) first; returns the bytes of the alphabet's symbols, and
/// how many tokens all pieces come to. Appends the merges (left, right, count) to `learned` and calls `tell(done)` now and
/// then, also if it ends early; merge `i` makes symbol `len(alphabet) + i`. `alphabet` is the order of the 256
/// bytes, a tokenizer whose tokens are the symbols, or None for characters.
#[pyfunction]
#[pyo3(signature = (
    counts, *, alphabet, end_of_word_suffix, merges, ties, min_frequency, max_token_length, threads, replay, learned, tell
))]
#[allow(clippy::too_many_arguments, reason = "settings, by keyword")]
pub(crate) fn learn<'py>(
    py: Python<'py>,
    counts: PyRef<'py, PieceCounts>,
    alphabet: Option<Symbols>,
    end_of_word_suffix: Option<String>,
    merges: usize,
    ties: &str,
    min_frequency: u64,
    max_token_length: Option<usize>,
    threads: Option<usize>,
    replay: Vec<(u32, u32, u64)>,
    learned: Py<PyList>,
    tell: Py<PyAny>,
) -> PyResult<(Vec<Bound<'py, PyBytes>>, u128)> {
    let ties =
        Ties::by_name(ties).ok_or_else(|| PyValueError::new_err(format!("the tie policy {ties:?} is unknown")))?;
    let max_token_length = max_token_length.unwrap_or(usize::MAX);
    let settings = Settings { merges, ties, min_frequency, max_token_length };
    let alphabet = match &alphabet {
        Some(Symbols::Bytes(order)) => Alphabet::Bytes(order.to_vec()),
        Some(Symbols::Tokens(tokenizer)) => Alphabet::Tokens(&tokenizer.get().inner),
        None => Alphabet::Characters { end_of_word_suffix },
    };
    let threads = check_threads(threads)?;
    let replay: Vec<_> = replay.into_iter().map(|(left, right, count)| Learned { left, right, count }).collect();
    let counts = &counts.inner;
    let progress = Progress::default();
    let tell_all = |py: Python<'_>| {
        // No Python code runs here, in which Ctrl-C could be raised and merges be lost.
        let list = learned.bind(py);
        let new = progress.take_learned().into_iter();
        new.map(|merge| (merge.left, merge.right, merge.count)).try_for_each(|merge| list.append(merge))?;
        tell.call1(py, (progress.done.load(Ordering::Relaxed),)).map(|_| ())
    };
    let tick = |py: Python<'_>| tell_all(py).and_then(|()| py.check_signals());
    let job = || train::learn(counts, &alphabet, &settings, &replay, threads, &progress);
    let trained = beside(py, tick, &progress.stop, job);
    // What was learned is told in any case; what ended it comes first if both fail.
    let told = tell_all(py);
    let trained = trained?;
    told?;
    let symbols = trained.alphabet.iter().map(|token| PyBytes::new(py, token)).collect();
    Ok((symbols, trained.tokens_total))
}

/// The most memory, in bytes, that learning so many merges from these counts is expected to take beside them.
#[pyfunction]
#[pyo3(signature = (counts, *, merges, threads))]
pub(crate) fn learn_bytes(counts: &PieceCounts, merges: usize, threads: Option<usize>) -> PyResult<u64> {
    let counts = &counts.inner;
    let (pieces, symbols) = (counts.len() as usize, counts.piece_bytes() as usize);
    Ok(train::learn_bytes(&Alphabet::raw_bytes(), pieces, symbols, merges, check_threads(threads)?))
}
