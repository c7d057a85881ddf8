//! Learning merges.

use std::sync::atomic::Ordering;

use bytepair_core::normalize::Bert;
use bytepair_core::train::{self, Alphabet, Learned, Parity, Progress, Settings, Ties, unigram, wordpiece};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};

use crate::counts::PieceCounts;
use crate::lists::bytes;
use crate::options::Threads;
use crate::strings::{Name, Names, OwnedName};
use crate::tokenizer::CoreTokenizer;
use crate::watch::{beside, watched};

/// The symbols that merging starts from.
#[derive(FromPyObject)]
pub(crate) enum Symbols {
    Bytes(PyBackedBytes),
    Tokens(Py<CoreTokenizer>),
}

/// Learns merges from counts, beginning with those of `replay` (left, right, count). Returns the bytes of the alphabet's
/// symbols, and the number of tokens of all pieces. Appends the merges (left, right, count) to `learned` and calls
/// `tell(done)` from time to time, even if it ends early; merge `i` makes symbol `len(alphabet) + i`. `alphabet` is the
/// order of the 256 bytes, a tokenizer whose tokens are the symbols, or None for characters.
#[pyfunction]
#[pyo3(signature = (
    counts, *, alphabet, end_of_word_suffix, merges, ties, min_frequency, max_token_length, max_words, threads, replay,
    learned, tell
))]
pub(crate) fn learn<'py>(
    py: Python<'py>,
    counts: PyRef<'py, PieceCounts>,
    alphabet: Option<Symbols>,
    end_of_word_suffix: Option<OwnedName>,
    merges: usize,
    ties: Name<'_>,
    min_frequency: u64,
    max_token_length: Option<usize>,
    max_words: Option<usize>,
    threads: Threads,
    replay: Vec<(u32, u32, u64)>,
    learned: Py<PyList>,
    tell: Py<PyAny>,
) -> PyResult<(Vec<Bound<'py, PyBytes>>, u128)> {
    let settings = settings(&ties, merges, min_frequency, max_token_length, max_words)?;
    let alphabet = match &alphabet {
        Some(Symbols::Bytes(order)) => Alphabet::Bytes(order.to_vec()),
        Some(Symbols::Tokens(tokenizer)) => Alphabet::Tokens(&tokenizer.get().inner),
        None => Alphabet::Characters { end_of_word_suffix: end_of_word_suffix.map(|suffix| suffix.0) },
    };
    let threads = threads.number();
    let replay: Vec<_> = replay.into_iter().map(|(left, right, count)| Learned { left, right, count }).collect();
    let counts = &counts.inner;
    let job = |progress: &Progress| train::learn(counts, &alphabet, &settings, &replay, threads, progress);
    let trained = with_merges(py, learned, tell, job)?;
    let symbols = trained.alphabet.iter().map(|token| bytes(py, token)).collect::<PyResult<_>>()?;
    Ok((symbols, trained.tokens_total))
}

/// Learns merges by parity between groups (see `bytepair.Parity`): `window` is (length, most times of a group), and `sizes`
/// has the units of each group's `development` text. Appends the merges (left, right, count) to `learned` and calls
/// `tell(done)` from time to time. Returns the group of each merge, the number of tokens of all pieces, and those of the
/// development texts.
#[pyfunction]
#[pyo3(signature = (
    counts, *, development, sizes, alphabet, merges, ties, min_frequency, max_token_length, max_words, after, window,
    learned, tell
))]
#[allow(clippy::too_many_arguments, reason = "settings, by keyword")]
#[allow(clippy::type_complexity, reason = "a plain tuple for Python")]
pub(crate) fn learn_parity(
    py: Python<'_>,
    counts: PyRef<'_, PieceCounts>,
    development: PyRef<'_, PieceCounts>,
    sizes: Vec<u64>,
    alphabet: PyBackedBytes,
    merges: usize,
    ties: Name<'_>,
    min_frequency: u64,
    max_token_length: Option<usize>,
    max_words: Option<usize>,
    after: usize,
    window: (usize, usize),
    learned: Py<PyList>,
    tell: Py<PyAny>,
) -> PyResult<(Vec<usize>, u128, Vec<u128>)> {
    let settings = settings(&ties, merges, min_frequency, max_token_length, max_words)?;
    let parity = Parity { bytes: alphabet.to_vec(), groups: sizes.len(), after, window: window.0, share: window.1 };
    let (counts, development) = (&counts.inner, &development.inner);
    let job = |progress: &Progress| train::learn_parity(counts, (development, &sizes), &settings, &parity, progress);
    let trained = with_merges(py, learned, tell, job)?;
    Ok((trained.chosen, trained.tokens_total, trained.tokens))
}

/// The settings of learning byte pairs.
fn settings(
    ties: &str,
    merges: usize,
    min_frequency: u64,
    max_token_length: Option<usize>,
    max_words: Option<usize>,
) -> PyResult<Settings> {
    let ties =
        Ties::by_name(ties).ok_or_else(|| PyValueError::new_err(format!("the tie policy {ties:?} is unknown")))?;
    let [max_token_length, max_words] = [max_token_length, max_words].map(|most| most.unwrap_or(usize::MAX));
    Ok(Settings { merges, ties, min_frequency, max_token_length, max_words })
}

/// Runs `job` on a thread of its own, appends the merges that it learns to `learned`, and calls `tell(done)`.
fn with_merges<T: Send>(
    py: Python<'_>,
    learned: Py<PyList>,
    tell: Py<PyAny>,
    job: impl FnOnce(&Progress) -> bytepair_core::Result<T> + Send,
) -> PyResult<T> {
    let progress = Progress::default();
    let tell_all = |py: Python<'_>| {
        // No Python code runs here, in which Ctrl-C could be raised and merges be lost.
        let list = learned.bind(py);
        let new = progress.take_learned().into_iter();
        new.map(|merge| (merge.left, merge.right, merge.count)).try_for_each(|merge| list.append(merge))?;
        tell.call1(py, (progress.done.load(Ordering::Relaxed),)).map(|_| ())
    };
    let tick = |py: Python<'_>| tell_all(py).and_then(|()| py.check_signals());
    let trained = beside(py, tick, &progress.stop, || job(&progress));
    // The learned merges are reported in any case; if both fail, the error of learning is raised.
    let told = tell_all(py);
    let trained = trained?;
    told?;
    Ok(trained)
}

/// The estimated peak memory, in bytes, of learning a number of merges from these counts, without the counts.
#[pyfunction]
#[pyo3(signature = (counts, *, merges, threads))]
pub(crate) fn learn_bytes(counts: &PieceCounts, merges: usize, threads: Threads) -> u64 {
    let counts = &counts.inner;
    let (pieces, symbols) = (counts.len() as usize, counts.piece_bytes() as usize);
    train::learn_bytes(&Alphabet::raw_bytes(), pieces, symbols, merges, threads.number())
}

/// Learns the tokens of a WordPiece model from counts of pieces, in order of their ids. `bert` is (clean_text,
/// handle_chinese_chars, strip_accents, lowercase), or None for pieces that are words; `tell(done)` reports the number
/// of merged tokens.
#[pyfunction]
#[pyo3(signature = (
    counts, *, vocab_size, score, special_tokens, prefix, min_frequency, limit_alphabet, initial_alphabet, bert, tell
))]
pub(crate) fn learn_wordpiece(
    py: Python<'_>,
    counts: PyRef<'_, PieceCounts>,
    vocab_size: usize,
    score: Name<'_>,
    special_tokens: Names,
    prefix: OwnedName,
    min_frequency: u64,
    limit_alphabet: Option<usize>,
    initial_alphabet: Vec<char>,
    bert: Option<(bool, bool, Option<bool>, bool)>,
    tell: Bound<'_, PyAny>,
) -> PyResult<Vec<String>> {
    let score = wordpiece::Score::by_name(&score)
        .ok_or_else(|| PyValueError::new_err(format!("the score {:?} is unknown", &*score)))?;
    let bert = bert.map(|(clean_text, handle_chinese_chars, strip_accents, lowercase)| Bert {
        clean_text,
        handle_chinese_chars,
        strip_accents,
        lowercase,
    });
    let settings = wordpiece::Settings {
        vocab_size,
        score,
        special_tokens: special_tokens.0,
        prefix: prefix.0,
        min_frequency,
        limit_alphabet,
        initial_alphabet,
        bert,
    };
    let counts = &counts.inner;
    watched(py, Some(&tell), |progress| wordpiece::learn(counts, &settings, progress))
}

/// Learns the tokens of a Unigram model and their log probabilities from counts of pieces, best first. The options are those
/// of SentencePiece; `reserved` places of `vocab_size` are left free, and `tell(done)` reports the number of rounds.
#[pyfunction]
#[pyo3(signature = (
    counts, *, vocab_size, reserved, character_coverage, required_chars, max_piece_length, seed_size, shrinking_factor,
    sub_iterations, split_by_unicode_script, split_by_number, split_digits, dummy_prefix, threads, tell
))]
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "settings, by keyword")]
pub(crate) fn learn_unigram(
    py: Python<'_>,
    counts: PyRef<'_, PieceCounts>,
    vocab_size: usize,
    reserved: usize,
    character_coverage: f64,
    required_chars: Vec<char>,
    max_piece_length: usize,
    seed_size: usize,
    shrinking_factor: f64,
    sub_iterations: usize,
    split_by_unicode_script: bool,
    split_by_number: bool,
    split_digits: bool,
    dummy_prefix: bool,
    threads: Threads,
    tell: Bound<'_, PyAny>,
) -> PyResult<Vec<(String, f64)>> {
    let settings = unigram::Settings {
        vocab_size,
        reserved,
        character_coverage,
        required_chars,
        max_piece_length,
        seed_size,
        shrinking_factor,
        sub_iterations,
        split_by_unicode_script,
        split_by_number,
        split_digits,
        dummy_prefix,
    };
    let threads = threads.number();
    let counts = &counts.inner;
    watched(py, Some(&tell), |progress| unigram::learn(counts, &settings, threads, progress))
}
