//! Texts that grow, as Python classes.

use bytepair_core::count::{self, FrontMark};
use bytepair_core::pipeline::{Gather, Run, Span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::busy::{alone, shared};
use crate::errors::raise;
use crate::lists::string;
use crate::options::{Added, OnInvalid, OwnedPolicy};
use crate::run::detached;
use crate::text::utf8;
use crate::tokenizer::CoreTokenizer;

/// A text that grows at its end; see `Tokenizer.appender`. For one thread at a time.
#[pyclass(module = "bytepair")]
pub(crate) struct Appender {
    tokenizer: Py<CoreTokenizer>,
    policy: OwnedPolicy,
    on_invalid: OnInvalid,
    inner: count::Appender,
    /// The bytes that were appended since the last count.
    new: usize,
}

/// A text that grows at its front; see `Tokenizer.prepender`. For one thread at a time.
#[pyclass(module = "bytepair")]
pub(crate) struct Prepender {
    tokenizer: Py<CoreTokenizer>,
    policy: OwnedPolicy,
    on_invalid: OnInvalid,
    inner: count::Prepender,
    /// The bytes that were prepended since the last count.
    new: usize,
}

/// A place of a growing text to roll back to.
#[pyclass(frozen, module = "bytepair")]
pub(crate) struct Mark(Moment);

enum Moment {
    Back(count::Mark),
    Front(FrontMark),
}

fn lost() -> PyErr {
    PyValueError::new_err(
        "the mark is of another text, or its place was rolled back; keep marks in the order of the text",
    )
}

/// The ids of a text, as a list.
fn ids<'py>(
    py: Python<'py>,
    tokenizer: &CoreTokenizer,
    text: &str,
    policy: &OwnedPolicy,
) -> PyResult<Bound<'py, PyList>> {
    let one = Run { threads: Some(1), stop: None };
    let spans = [Span::Text(text)];
    let ids: Vec<u32> =
        detached(py, text.len(), || Gather::of_spans(&tokenizer.inner, &spans, policy.borrowed(), one))?;
    tokenizer.list(py, &ids)
}

impl Appender {
    pub(crate) fn new(tokenizer: Py<CoreTokenizer>, policy: OwnedPolicy, on_invalid: OnInvalid) -> Self {
        Self { tokenizer, policy, on_invalid, inner: count::Appender::new(), new: 0 }
    }
}

#[pymethods]
impl Appender {
    /// Appends text. ``bytes`` of UTF-8 may end inside a character, whose start is held in ``pending``.
    fn append(slf: &Bound<'_, Self>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, mut this) = (text.py(), alone(slf)?);
        let Self { on_invalid, inner, new, .. } = &mut *this;
        let appended = if let Ok(bytes) = text.cast::<PyBytes>() {
            let bytes = bytes.as_bytes();
            *new += bytes.len();
            match on_invalid {
                OnInvalid::Strict => inner.append_bytes(bytes),
                OnInvalid::Replace => inner.append_lossy(bytes),
            }
        } else {
            let text = utf8(text, *on_invalid)?;
            *new += text.len();
            if matches!(on_invalid, OnInvalid::Replace) && !text.is_empty() {
                inner.replace_pending();
            }
            inner.append(&text)
        };
        appended.map_err(|error| raise(py, error))
    }

    /// The number of ids of the text so far: `tok.count(appender.text)`.
    fn count(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let Self { tokenizer, policy, inner, new, .. } = &mut *this;
        let (tokenizer, policy) = (&tokenizer.get().inner, policy.borrowed());
        detached(py, std::mem::take(new), || inner.count(tokenizer, policy))
    }

    /// The ids of the text so far: `tok.encode(appender.text)`.
    fn ids<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let this = shared(slf)?;
        ids(slf.py(), this.tokenizer.get(), this.inner.text(), &this.policy)
    }

    /// The current end of the text, to roll back to.
    fn mark(slf: &Bound<'_, Self>) -> PyResult<Mark> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let Self { tokenizer, policy, inner, new, .. } = &mut *this;
        let (tokenizer, policy) = (&tokenizer.get().inner, policy.borrowed());
        detached(py, std::mem::take(new), || Ok(inner.mark(tokenizer, policy))).map(|mark| Mark(Moment::Back(mark)))
    }

    /// Removes the text appended since a mark; a mark can be used again. ValueError if the mark is of another text, or its
    /// own place was rolled back.
    fn rollback(slf: &Bound<'_, Self>, mark: &Bound<'_, Mark>) -> PyResult<()> {
        let Mark(Moment::Back(mark)) = mark.get() else { return Err(lost()) };
        alone(slf)?.inner.rollback(mark).then_some(()).ok_or_else(lost)
    }

    /// Whether the text would have at most `limit` ids with this one appended. Does not change the text.
    fn fits(slf: &Bound<'_, Self>, text: &Bound<'_, PyAny>, limit: u64) -> PyResult<bool> {
        let (py, mut this) = (text.py(), alone(slf)?);
        let Self { tokenizer, policy, on_invalid, inner, new } = &mut *this;
        let text = utf8(text, *on_invalid)?;
        let (tokenizer, policy) = (&tokenizer.get().inner, policy.borrowed());
        detached(py, std::mem::take(new) + text.len(), || inner.fits(tokenizer, policy, &text, limit))
    }

    /// The text so far, of whole characters.
    #[getter]
    fn text<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyString>> {
        string(slf.py(), shared(slf)?.inner.text())
    }

    /// The start of a character whose end has not been appended.
    #[getter]
    fn pending<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(slf.py(), shared(slf)?.inner.pending()))
    }
}

impl Prepender {
    pub(crate) fn new(tokenizer: Py<CoreTokenizer>, policy: OwnedPolicy, on_invalid: OnInvalid) -> Self {
        Self { tokenizer, policy, on_invalid, inner: count::Prepender::new(), new: 0 }
    }
}

#[pymethods]
impl Prepender {
    /// Prepends text: ``str``, or ``bytes`` of UTF-8 that are whole characters.
    fn prepend(slf: &Bound<'_, Self>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut this = alone(slf)?;
        let text = utf8(text, this.on_invalid)?;
        this.new += text.len();
        this.inner.prepend(&text).map_err(|error| raise(slf.py(), error))
    }

    /// The number of ids of the text so far: `tok.count(prepender.text)`.
    fn count(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let Self { tokenizer, policy, inner, new, .. } = &mut *this;
        let (tokenizer, policy) = (&tokenizer.get().inner, policy.borrowed());
        detached(py, std::mem::take(new), || inner.count(tokenizer, policy))
    }

    /// The ids of the text so far: `tok.encode(prepender.text)`.
    fn ids<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let this = shared(slf)?;
        ids(slf.py(), this.tokenizer.get(), this.inner.text(), &this.policy)
    }

    /// The current front of the text, to roll back to.
    fn mark(slf: &Bound<'_, Self>) -> PyResult<Mark> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let Self { tokenizer, policy, inner, new, .. } = &mut *this;
        let (tokenizer, policy) = (&tokenizer.get().inner, policy.borrowed());
        detached(py, std::mem::take(new), || Ok(inner.mark(tokenizer, policy))).map(|mark| Mark(Moment::Front(mark)))
    }

    /// Removes the text prepended since a mark; a mark can be used again. ValueError if the mark is of another text, or its
    /// own place was rolled back.
    fn rollback(slf: &Bound<'_, Self>, mark: &Bound<'_, Mark>) -> PyResult<()> {
        let Mark(Moment::Front(mark)) = mark.get() else { return Err(lost()) };
        alone(slf)?.inner.rollback(mark).then_some(()).ok_or_else(lost)
    }

    /// Whether the text would have at most `limit` ids with this one prepended. Does not change the text.
    fn fits(slf: &Bound<'_, Self>, text: &Bound<'_, PyAny>, limit: u64) -> PyResult<bool> {
        let (py, mut this) = (text.py(), alone(slf)?);
        let Self { tokenizer, policy, on_invalid, inner, new } = &mut *this;
        let text = utf8(text, *on_invalid)?;
        let (tokenizer, policy) = (&tokenizer.get().inner, policy.borrowed());
        detached(py, std::mem::take(new) + text.len(), || inner.fits(tokenizer, policy, &text, limit))
    }

    /// The text so far.
    #[getter]
    fn text<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyString>> {
        string(slf.py(), shared(slf)?.inner.text())
    }
}

#[pymethods]
impl CoreTokenizer {
    /// A text that grows at its end and can be counted at any time: `Appender`.
    ///
    /// Args:
    ///     special: As for `encode`; a token that it does not allow raises when the text is counted.
    ///     added: As for `encode`.
    ///     errors: As for `encode`. With ``"replace"`` each ``str`` is read by itself, so that two halves of a surrogate pair
    ///         in two calls are two U+FFFD; ``text`` is the text as it is counted.
    ///
    /// Appending only stores the text; a count encodes the text since the last count. Time is linear in the text for any
    /// parts and any number of counts, also for one endless word; many parts with one count take little more than encoding
    /// the text. That holds for any tokenizer whose texts can be cut (see ``DESIGN.md``); where a text has no cut for long and
    /// is not one piece, because a pattern needs backtracking, say, a count encodes the text since the last cut.
    /// Memory: the text, and eight bytes for each byte in pieces of more than a thousand; some forty where stages change the
    /// text. For one thread at a time.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> appender = bp.train({"low": 5, "lower": 2}, vocab_size=259).appender()
    ///     >>> appender.append("low")
    ///     >>> mark = appender.mark()
    ///     >>> appender.append("er")
    ///     >>> appender.count(), appender.ids(), appender.fits(" low", 3)
    ///     (2, [257, 258], False)
    ///     >>> appender.rollback(mark)
    ///     >>> appender.count(), appender.text
    ///     (1, 'low')
    #[pyo3(
        signature = (*, special=None, added=Added::Match, errors=OnInvalid::Strict),
        text_signature = "($self, *, special='raise', added='match', errors='strict')"
    )]
    fn appender(
        slf: &Bound<'_, Self>,
        special: Option<&Bound<'_, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<Appender> {
        let policy = OwnedPolicy::new(&slf.get().inner, special, added)?;
        Ok(Appender::new(slf.clone().unbind(), policy, errors))
    }

    /// A text that grows at its front and can be counted at any time: `Prepender`. Options and cost: see `appender`. With a
    /// Unigram, text without cuts is encoded anew for each count: its sums are rounded from the start on. Text that cannot be
    /// cut takes up to forty bytes of memory for each byte.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> prepender = bp.train({"low": 5, "lower": 2}, vocab_size=259).prepender()
    ///     >>> for word in ["er", " low"]:
    ///     ...     prepender.prepend(word)
    ///     ...     print(prepender.text, prepender.count())
    ///     er 1
    ///      lower 3
    #[pyo3(
        signature = (*, special=None, added=Added::Match, errors=OnInvalid::Strict),
        text_signature = "($self, *, special='raise', added='match', errors='strict')"
    )]
    fn prepender(
        slf: &Bound<'_, Self>,
        special: Option<&Bound<'_, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<Prepender> {
        let policy = OwnedPolicy::new(&slf.get().inner, special, added)?;
        Ok(Prepender::new(slf.clone().unbind(), policy, errors))
    }
}
