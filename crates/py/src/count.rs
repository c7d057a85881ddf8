//! Token counts of texts, without keeping ids.

use bytepair_core::encode::Count;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::encode::with_batch;
use crate::lists::list;
use crate::options::{Added, OnInvalid, OwnedPolicy, Threads};
use crate::run::detached;
use crate::text::lasting_utf8;
use crate::tokenizer::CoreTokenizer;

#[pymethods]
impl CoreTokenizer {
    /// The number of ids of a text. Options and errors: see `encode`, but special tokens in the text are text by default:
    /// a count for a bill or a budget does not fail on what users write. ``special="allow"`` counts them as tokens.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5}, vocab_size=258)
    ///     >>> tok.count("low low"), tok.count("low " * 1_000_000, threads=2)
    ///     (3, 2000000)
    ///     >>> tok = bp.train({"low": 5}, vocab_size=258, special_tokens=["<s>"])
    ///     >>> tok.count("<s>"), tok.count("<s>", special="allow")
    ///     (3, 1)
    #[pyo3(
        signature = (text, *, special=None, added=Added::Match, errors=OnInvalid::Strict, threads=Threads::ALL),
        text_signature = "($self, text, *, special='text', added='match', errors='strict', threads=None)"
    )]
    fn count<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        errors: OnInvalid,
        threads: Threads,
    ) -> PyResult<u64> {
        let policy = OwnedPolicy::counting(&self.inner, special, added)?;
        Ok(self.encode_one::<Count>(py, text, &policy, errors, threads)?.0)
    }

    /// The number of ids of a text if it is at most `limit`, else None. Options and errors: see `count`.
    ///
    /// Counting stops soon after the limit, so errors further on are not reported. A text longer than `limit` times the
    /// longest token is not encoded at all. Tokenizers with normalizers or ``prefix_space`` count the whole text.
    ///
    /// Args:
    ///     text: ``str`` or UTF-8 ``bytes``.
    ///     limit: The most ids.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5}, vocab_size=258)
    ///     >>> tok.count_until("low low", 3), tok.count_until("low " * 1_000_000, 3)
    ///     (3, None)
    #[pyo3(
        signature = (text, limit, *, special=None, added=Added::Match, errors=OnInvalid::Strict),
        text_signature = "($self, text, limit, *, special='text', added='match', errors='strict')"
    )]
    fn count_until(
        &self,
        text: &Bound<'_, PyAny>,
        limit: u64,
        special: Option<&Bound<'_, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<Option<u64>> {
        let policy = OwnedPolicy::counting(&self.inner, special, added)?;
        let (py, text) = (text.py(), lasting_utf8(text, errors)?);
        detached(py, text.len(), || self.inner.count_until(&text, policy.borrowed(), limit))
    }

    /// The number of ids of each text of a batch. Options and errors: see `count` and `encode_batch`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).count_batch(["low", "", "slow"])
    ///     [1, 0, 2]
    #[pyo3(
        signature = (texts, *, special=None, added=Added::Match, errors=OnInvalid::Strict, threads=Threads::ALL),
        text_signature = "($self, texts, *, special='text', added='match', errors='strict', threads=None)"
    )]
    fn count_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        special: Option<&Bound<'_, PyAny>>,
        added: Added,
        errors: OnInvalid,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyList>> {
        let policy = OwnedPolicy::counting(&self.inner, special, added)?;
        let counts =
            with_batch(py, texts, errors, threads, |batch, run| self.inner.count_batch(batch, policy.borrowed(), run))?;
        list(py, counts, |count| Ok(count.into_pyobject(py)?))
    }
}
