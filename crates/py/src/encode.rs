//! Texts -> ids: one text, a batch, and the pieces of a text.

use bytepair_core::memory::Room;
use bytepair_core::model::Random;
use bytepair_core::pipeline::{Batch, Draw, Gather, Run, Span, Taker};
use bytepair_core::segment::Policy;
use bytepair_core::{Error, Kind};
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::arrays::{FlatBatch, array, import_numpy, starts};
use crate::errors::{collect, in_row};
use crate::lists::{list, string};
use crate::options::{Added, OnInvalid, OwnedPolicy, Threads};
use crate::run::run;
use crate::sample::seed_or_new;
use crate::text::{Part, Texts, span, utf8};
use crate::tokenizer::CoreTokenizer;

/// Converts the texts of a batch and runs `job` on them.
pub(crate) fn with_batch<T: Send>(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    errors: OnInvalid,
    threads: Threads,
    job: impl FnOnce(&Batch<'_>, Run<'_>) -> bytepair_core::Result<T> + Send,
) -> PyResult<T> {
    if texts.is_instance_of::<PyString>() || texts.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("a batch is a sequence of texts, not one text; call encode or count"));
    }
    let texts = Texts::many(texts)?;
    let parts = texts.parts(errors).map_err(|(row, error)| in_row(py, error, row))?;
    let batch = texts.batch(py, &parts)?;
    let bytes = parts.iter().map(|part| part.span().bytes()).sum();
    run(py, bytes, threads, |run| job(&batch, run))
}

/// The ids of a batch in one flat array; options and errors as `Tokenizer.encode_batch`.
///
/// Returns:
///     The ids, uint32; and the start of each row and the end of the last one, int64. `Tokenizer.encode_batch_array` returns
///     the same as a `Ragged`.
///
/// Example:
///     >>> import bytepair as bp
///     >>> tok = bp.train({"low": 5}, vocab_size=258)
///     >>> ids, offsets = bp.lowlevel.encode_batch_flat(tok, ["low", "", "low low"])
///     >>> ids.tolist(), offsets.tolist()
///     ([257, 257, 32, 257], [0, 1, 1, 4])
#[pyfunction]
#[pyo3(
    signature = (tokenizer, texts, *, special=None, added=Added::Match, errors=OnInvalid::Strict, threads=Threads::ALL),
    text_signature = "(tokenizer, texts, *, special='raise', added='match', errors='strict', threads=None)"
)]
pub(crate) fn encode_batch_flat<'py>(
    tokenizer: &Bound<'py, CoreTokenizer>,
    texts: &Bound<'py, PyAny>,
    special: Option<&Bound<'py, PyAny>>,
    added: Added,
    errors: OnInvalid,
    threads: Threads,
) -> PyResult<FlatBatch<'py>> {
    let py = tokenizer.py();
    import_numpy(py)?;
    let (ids, ends) = tokenizer.get().flat_batch(py, texts, special, added, errors, threads)?;
    Ok((array(py, ids)?, starts(py, &ends)?))
}

#[pymethods]
impl CoreTokenizer {
    /// The ids of a text.
    ///
    /// Args:
    ///     text: ``str``, UTF-8 ``bytes``, or a list of these and of `Control`, which is encoded as one text.
    ///     special: How special tokens in the text are treated: ``"raise"`` reports them as errors, ``"text"`` encodes them
    ///         as ordinary text, ``"allow"`` encodes them as tokens, and a set allows only the tokens in it.
    ///     added: How other added tokens are treated: ``"match"``, ``"text"`` or ``"raise"``.
    ///     errors: For lone surrogates and invalid UTF-8: ``"strict"`` raises, ``"replace"`` encodes U+FFFD.
    ///     threads: The most threads for one text. None uses one thread up to a megabyte, and all cores for more. A long
    ///         text is cut only where its ids are those of its parts: threads never change an id or an error.
    ///     dropout: The probability of skipping each merge when its turn comes (BPE-dropout). Uses one thread, and takes no
    ///         list of texts.
    ///     seed: Seed for `dropout`. Equal seeds draw equal ids on every machine; None draws a new seed.
    ///
    /// Returns:
    ///     A list of ints. Lists share one int object for each id, so a list costs eight bytes an id.
    ///
    /// Raises:
    ///     SpecialTokenError: The text holds a token that the call does not allow.
    ///     EncodeError: The text is not Unicode, or a byte of it has no token.
    ///     PatternError: The split pattern ran out of its step budget (never with a named pattern).
    ///
    /// Time is linear in the text, and n log n in its longest piece. Texts of more than a few thousand bytes are encoded
    /// without the GIL. Ctrl-C ends a call while it runs.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=260, special_tokens=["<|end|>"])
    ///     >>> tok.encode("lower")
    ///     [257, 258]
    ///     >>> tok.encode("low<|end|>", special="allow")
    ///     [257, 259]
    #[pyo3(
        signature = (text, *, special=None, added=Added::Match, errors=OnInvalid::Strict, threads=Threads::ALL, dropout=None, seed=None),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict', threads=None, dropout=None, seed=None)"
    )]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        errors: OnInvalid,
        threads: Threads,
        dropout: Option<f64>,
        seed: Option<u64>,
    ) -> PyResult<Bound<'py, PyList>> {
        let Some(rate) = dropout else {
            if seed.is_some() {
                return Err(PyValueError::new_err("a seed is for dropout, which is not asked for"));
            }
            let policy = OwnedPolicy::new(&self.inner, special, added)?;
            let ids: Vec<u32> = self.encode_one(py, text, &policy, errors, threads)?;
            return self.list(py, &ids);
        };
        if threads.most().is_some_and(|threads| threads > 1) {
            return Err(PyValueError::new_err("dropout is drawn by one thread"));
        }
        let policy = OwnedPolicy::new(&self.inner, special, added)?;
        let text = utf8(text, errors)?;
        let ids = self.drawn(py, &text, &policy, Draw::Dropout(rate), &mut Random::new(seed_or_new(seed)))?;
        self.list(py, &ids)
    }

    /// The ids of a text as a numpy array of uint32 that owns its memory. Options and errors: see `encode`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).encode_array("low low")
    ///     array([257,  32, 257], dtype=uint32)
    #[pyo3(
        signature = (text, *, special=None, added=Added::Match, errors=OnInvalid::Strict, threads=Threads::ALL),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict', threads=None)"
    )]
    fn encode_array<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        errors: OnInvalid,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        import_numpy(py)?;
        let policy = OwnedPolicy::new(&self.inner, special, added)?;
        array(py, self.encode_one(py, text, &policy, errors, threads)?)
    }

    /// The ids of each text of a batch, on several threads. Options: see `encode`. Errors report their row.
    ///
    /// Args:
    ///     texts: A sequence of texts, each as `encode` accepts it.
    ///     threads: The most threads; None for all cores. The ids do not depend on it.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).encode_batch(["low", "", "w"])
    ///     [[257], [], [119]]
    #[pyo3(
        signature = (texts, *, special=None, added=Added::Match, errors=OnInvalid::Strict, threads=Threads::ALL),
        text_signature = "($self, texts, *, special='raise', added='match', errors='strict', threads=None)"
    )]
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        errors: OnInvalid,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyList>> {
        let policy = OwnedPolicy::new(&self.inner, special, added)?;
        let mut rows = Rows { tokenizer: self, lists: Vec::new(), raised: None };
        let encoded = with_batch(py, texts, errors, threads, |batch, run| {
            self.inner.encode_batch_for(batch, policy.borrowed(), run, &mut rows)
        });
        rows.raised.map_or(encoded, Err)?;
        list(py, rows.lists, |row| Ok(row.into_bound(py)))
    }

    /// The pieces of a text, in which merges happen, with added tokens as pieces of their own; options as `encode`.
    ///
    /// The pieces are cut from the normalized text.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258, split="gpt2").pieces("It's  low!")
    ///     ['It', "'s", ' ', ' low', '!']
    #[pyo3(
        signature = (text, *, special=None, added=Added::Match, errors=OnInvalid::Strict),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict')"
    )]
    fn pieces<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<Bound<'py, PyList>> {
        let policy = OwnedPolicy::new(&self.inner, special, added)?;
        let text = utf8(text, errors)?;
        let pieces = run(py, text.len(), Threads::ONE, |_| self.inner.pieces(&text, policy.borrowed()))?;
        list(py, pieces, |piece| string(py, &piece))
    }
}

/// So many lists, and Python looks at its signals.
const ROWS_TO_LISTEN: usize = 1 << 12;

/// The lists of a batch, made while helpers encode: Python lets one thread alone make them.
struct Rows<'a> {
    tokenizer: &'a CoreTokenizer,
    lists: Vec<Py<PyList>>,
    raised: Option<PyErr>,
}

impl Taker for Rows<'_> {
    fn take(&mut self, ids: &[u32], ends: &[usize]) -> bytepair_core::Result<()> {
        self.lists.room(ends.len())?;
        let mut start = 0;
        let made = Python::attach(|py| {
            ends.iter().enumerate().try_for_each(|(row, &end)| {
                if row.is_multiple_of(ROWS_TO_LISTEN) {
                    py.check_signals()?;
                }
                let row = &ids[std::mem::replace(&mut start, end)..end];
                self.lists.push(self.tokenizer.list(py, row)?.unbind());
                Ok(())
            })
        });
        made.map_err(|error| {
            self.raised = Some(error);
            Error::new(Kind::Interrupted, "a list could not be made")
        })
    }

    fn begin_again(&mut self) {
        self.lists.clear();
    }
}

impl CoreTokenizer {
    pub(crate) fn encode_one<S: Gather>(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        policy: &OwnedPolicy,
        errors: OnInvalid,
        threads: Threads,
    ) -> PyResult<S> {
        if let Ok(text) = text.cast::<PyString>()
            && let Some(span) = span(text, errors)?
        {
            return self.encode_spans(py, &[span], policy.borrowed(), threads);
        }
        let texts = Texts::one(text)?;
        let parts = texts.parts(errors).map_err(|(_, error)| error)?;
        let spans = collect(py, parts.iter().map(Part::span))?;
        self.encode_spans(py, &spans, policy.borrowed(), threads)
    }

    fn encode_spans<S: Gather>(
        &self,
        py: Python<'_>,
        spans: &[Span<'_>],
        policy: Policy<'_>,
        threads: Threads,
    ) -> PyResult<S> {
        let bytes = spans.iter().map(Span::bytes).sum();
        run(py, bytes, threads, |run| S::of_spans(&self.inner, spans, policy, run))
    }

    fn flat_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        special: Option<&Bound<'_, PyAny>>,
        added: Added,
        errors: OnInvalid,
        threads: Threads,
    ) -> PyResult<(Vec<u32>, Vec<usize>)> {
        let policy = OwnedPolicy::new(&self.inner, special, added)?;
        with_batch(py, texts, errors, threads, |batch, run| self.inner.encode_batch(batch, policy.borrowed(), run))
    }
}
