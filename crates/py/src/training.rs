//! Learning merges.

use bytepair_core::train::{self, Alphabet, Settings, Ties};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::counts::PieceCounts;
use crate::tokenizer::CoreTokenizer;
use crate::watch::watched;

#[derive(FromPyObject)]
pub(crate) enum Symbols {
    Bytes(PyBackedBytes),
    Tokens(Py<CoreTokenizer>),
}

/// Learns merges from counts; returns the bytes of the alphabet's symbols, and (left, right, count) for each merge, where
/// merge `i` makes symbol `len(alphabet) + i`. `alphabet` is the order of the 256 bytes, a tokenizer whose tokens are the
/// symbols, or None for characters.
#[pyfunction]
#[pyo3(signature = (counts, *, alphabet, end_of_word_suffix, merges, ties, min_frequency, max_token_length, tell=None))]
#[allow(clippy::too_many_arguments, clippy::type_complexity, reason = "settings, by keyword")]
pub(crate) fn learn<'py>(
    py: Python<'py>,
<<<<<<< HEAD
    counts: PyRef<'py, PieceCounts>,
    alphabet: Option<&[u8]>,
=======
    counter: PyRef<'py, PieceCounter>,
    alphabet: Option<Symbols>,
>>>>>>> tools
    end_of_word_suffix: Option<String>,
    merges: usize,
    ties: &str,
    min_frequency: u64,
    max_token_length: Option<usize>,
    tell: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Vec<Bound<'py, PyBytes>>, Vec<(u32, u32, u64)>)> {
    let ties =
        Ties::by_name(ties).ok_or_else(|| PyValueError::new_err(format!("the tie policy {ties:?} is unknown")))?;
    let max_token_length = max_token_length.unwrap_or(usize::MAX);
    let settings = Settings { merges, ties, min_frequency, max_token_length };
    let alphabet = match &alphabet {
        Some(Symbols::Bytes(order)) => Alphabet::Bytes(order.to_vec()),
        Some(Symbols::Tokens(tokenizer)) => Alphabet::Tokens(&tokenizer.get().inner),
        None => Alphabet::Characters { end_of_word_suffix },
    };
    let counts = &counts.inner;
    let (tokens, learned) = watched(py, tell, |progress| train::learn(counts, &alphabet, &settings, progress))?;
    let tokens = tokens.iter().map(|token| PyBytes::new(py, token)).collect();
    Ok((tokens, learned.iter().map(|merge| (merge.left, merge.right, merge.count)).collect()))
}
