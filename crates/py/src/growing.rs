//! Texts that grow and parts that fit, as Python calls.

use bytepair_core::count::{self, FrontMark, Side};
use bytepair_core::pipeline::Run;
use bytepair_core::pipeline::Span;
use bytepair_core::{Error, parallel};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::errors::{in_row, raise};
use crate::text::{OnInvalid, Said, utf8};
use crate::tokenizer::CoreTokenizer;

/// While fewer bytes are counted, other Python threads wait: to let them run would cost more.
const BYTES_TO_DETACH: usize = 4096;

/// A text that grows at its end; see `Tokenizer.appender`. For one thread at a time.
#[pyclass(module = "bytepair")]
pub(crate) struct Appender {
    tokenizer: Py<CoreTokenizer>,
    said: Said,
    inner: count::Appender,
    /// The bytes that were appended since the last count.
    new: usize,
}

/// A text that grows at its front; see `Tokenizer.prepender`. For one thread at a time.
#[pyclass(module = "bytepair")]
pub(crate) struct Prepender {
    tokenizer: Py<CoreTokenizer>,
    said: Said,
    inner: count::Prepender,
    /// The bytes that were prepended since the last count.
    new: usize,
}

/// A moment of a text that grows, to roll back to.
#[pyclass(frozen, module = "bytepair")]
pub(crate) struct Mark(Moment);

enum Moment {
    Back(count::Mark),
    Front(FrontMark),
}

/// Runs what reads so many bytes in the way that suits their number.
fn run<T: Send>(py: Python<'_>, bytes: usize, job: impl FnOnce() -> bytepair_core::Result<T> + Send) -> PyResult<T> {
    let result = if bytes < BYTES_TO_DETACH { job() } else { py.detach(job) };
    result.map_err(|error| raise(py, error))
}

fn lost() -> PyErr {
    PyValueError::new_err(
        "the mark is of another text, or what it marks was rolled back; keep marks in the order of the text",
    )
}

/// The ids of a text, as a list.
fn ids<'py>(py: Python<'py>, tokenizer: &CoreTokenizer, text: &str, said: &Said) -> PyResult<Bound<'py, PyList>> {
    let one = Run { threads: Some(1), stop: None };
    let spans = [Span::Text(text)];
    let ids: Vec<u32> = run(py, text.len(), || tokenizer.inner.encode_whole(&spans, said.policy(), one))?;
    tokenizer.list(py, &ids)
}

impl Appender {
    pub(crate) fn new(tokenizer: Py<CoreTokenizer>, said: Said) -> Self {
        Self { tokenizer, said, inner: count::Appender::new(), new: 0 }
    }
}

#[pymethods]
impl Appender {
    /// Appends text. ``bytes`` of UTF-8 may end inside a character, whose beginning waits in ``pending``.
    fn append(&mut self, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = text.py();
        let appended = if let Ok(bytes) = text.cast::<PyBytes>() {
            self.new += bytes.as_bytes().len();
            self.inner.append_bytes(bytes.as_bytes())
        } else {
            let text = utf8(text, OnInvalid::Strict)?;
            self.new += text.len();
            self.inner.append(&text)
        };
        appended.map_err(|error| raise(py, error))
    }

    /// The number of ids of the text so far: `tok.count(appender.text)`.
    fn count(&mut self, py: Python<'_>) -> PyResult<u64> {
        let Self { tokenizer, said, inner, new } = self;
        let (tokenizer, policy) = (&tokenizer.get().inner, said.policy());
        run(py, std::mem::take(new), || inner.count(tokenizer, policy))
    }

    /// The ids of the text so far: `tok.encode(appender.text)`.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        ids(py, self.tokenizer.get(), self.inner.text(), &self.said)
    }

    /// The end of the text as it is now, to roll back to.
    fn mark(&mut self, py: Python<'_>) -> PyResult<Mark> {
        let Self { tokenizer, said, inner, new } = self;
        let (tokenizer, policy) = (&tokenizer.get().inner, said.policy());
        run(py, std::mem::take(new), || Ok(inner.mark(tokenizer, policy))).map(|mark| Mark(Moment::Back(mark)))
    }

    /// Takes back what was appended since a mark was made, as often as wanted; ValueError if the mark is of another text, or
    /// if its own place was rolled back.
    fn rollback(&mut self, mark: &Bound<'_, Mark>) -> PyResult<()> {
        let Mark(Moment::Back(mark)) = mark.get() else { return Err(lost()) };
        self.inner.rollback(mark).then_some(()).ok_or_else(lost)
    }

    /// Whether the text with this one appended has at most `limit` ids; the text stays as it is.
    fn fits(&mut self, text: &Bound<'_, PyAny>, limit: u64) -> PyResult<bool> {
        let py = text.py();
        let Self { tokenizer, said, inner, new } = self;
        let (tokenizer, policy) = (&tokenizer.get().inner, said.policy());
        let text = utf8(text, OnInvalid::Strict)?;
        run(py, std::mem::take(new) + text.len(), || inner.fits(tokenizer, policy, &text, limit))
    }

    /// The text so far, of whole characters.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, self.inner.text())
    }

    /// The beginning of a character that waits for the rest of it.
    #[getter]
    fn pending<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.pending())
    }
}

impl Prepender {
    pub(crate) fn new(tokenizer: Py<CoreTokenizer>, said: Said) -> Self {
        Self { tokenizer, said, inner: count::Prepender::new(), new: 0 }
    }
}

#[pymethods]
impl Prepender {
    /// Prepends text: ``str``, or ``bytes`` of UTF-8 in whole characters.
    fn prepend(&mut self, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = utf8(text, OnInvalid::Strict)?;
        self.new += text.len();
        self.inner.prepend(&text);
        Ok(())
    }

    /// The number of ids of the text so far: `tok.count(prepender.text)`.
    fn count(&mut self, py: Python<'_>) -> PyResult<u64> {
        let Self { tokenizer, said, inner, new } = self;
        let (tokenizer, policy) = (&tokenizer.get().inner, said.policy());
        run(py, std::mem::take(new), || inner.count(tokenizer, policy))
    }

    /// The ids of the text so far: `tok.encode(prepender.text)`.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        ids(py, self.tokenizer.get(), self.inner.text(), &self.said)
    }

    /// The front of the text as it is now, to roll back to.
    fn mark(&mut self, py: Python<'_>) -> PyResult<Mark> {
        let Self { tokenizer, said, inner, new } = self;
        let (tokenizer, policy) = (&tokenizer.get().inner, said.policy());
        run(py, std::mem::take(new), || Ok(inner.mark(tokenizer, policy))).map(|mark| Mark(Moment::Front(mark)))
    }

    /// Takes back what was prepended since a mark was made, as often as wanted; ValueError if the mark is of another text, or
    /// if its own place was rolled back.
    fn rollback(&mut self, mark: &Bound<'_, Mark>) -> PyResult<()> {
        let Mark(Moment::Front(mark)) = mark.get() else { return Err(lost()) };
        self.inner.rollback(mark).then_some(()).ok_or_else(lost)
    }

    /// Whether the text with this one prepended has at most `limit` ids; the text stays as it is.
    fn fits(&mut self, text: &Bound<'_, PyAny>, limit: u64) -> PyResult<bool> {
        let py = text.py();
        let Self { tokenizer, said, inner, new } = self;
        let (tokenizer, policy) = (&tokenizer.get().inner, said.policy());
        let text = utf8(text, OnInvalid::Strict)?;
        run(py, std::mem::take(new) + text.len(), || inner.fits(tokenizer, policy, &text, limit))
    }

    /// The text so far.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, self.inner.text())
    }
}

/// Which end of a text is kept.
pub(crate) fn side(name: &str) -> PyResult<Side> {
    match name {
        "left" => Ok(Side::Left),
        "right" => Ok(Side::Right),
        _ => Err(PyValueError::new_err(format!("side={name:?} is unknown; use \"left\" or \"right\""))),
    }
}

/// The longest part of a text that has at most `limit` ids.
pub(crate) fn fit<'py>(
    tokenizer: &CoreTokenizer,
    text: &Bound<'py, PyAny>,
    limit: u64,
    side: Side,
    said: &Said,
) -> PyResult<Bound<'py, PyAny>> {
    let content = utf8(text, OnInvalid::Strict)?;
    let job = || tokenizer.inner.fit(&content, said.policy(), limit, side);
    let fit = run(text.py(), content.len(), job)?;
    Ok(part(text, &content, fit.at, side))
}

/// The longest part of each text.
pub(crate) fn fit_batch<'py>(
    tokenizer: &CoreTokenizer,
    texts: &Bound<'py, PyAny>,
    limit: u64,
    side: Side,
    said: &Said,
    threads: usize,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = texts.py();
    if texts.is_instance_of::<PyString>() || texts.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("a batch is a sequence of texts, not one text; call fit"));
    }
    let texts: Vec<_> = texts.try_iter()?.collect::<PyResult<_>>()?;
    let contents = texts.iter().enumerate();
    let contents = contents.map(|(row, text)| utf8(text, OnInvalid::Strict).map_err(|error| in_row(py, error, row)));
    let contents: Vec<_> = contents.collect::<PyResult<_>>()?;
    let (inner, policy) = (&tokenizer.inner, said.policy());
    let work = |found: &mut Vec<(usize, Result<usize, Error>)>, row: usize| {
        let fit = inner.fit(&contents[row], policy, limit, side);
        found.push((row, fit.map(|fit| fit.at).map_err(|error| error.row(row))));
    };
    let mut fits: Vec<_> =
        py.detach(|| parallel::fold(contents.len(), threads, Vec::new, work)).into_iter().flatten().collect();
    fits.sort_unstable_by_key(|&(row, _)| row);
    let parts = fits.into_iter().map(|(row, at)| match at {
        Ok(at) => Ok(part(&texts[row], &contents[row], at, side)),
        Err(error) => Err(raise(py, error)),
    });
    parts.collect()
}

/// A part of a text, of the text's own type.
fn part<'py>(text: &Bound<'py, PyAny>, content: &str, at: usize, side: Side) -> Bound<'py, PyAny> {
    let part = if side == Side::Left { &content[..at] } else { &content[at..] };
    if part.len() == content.len() {
        return text.clone();
    }
    let py = text.py();
    if text.is_instance_of::<PyBytes>() {
        PyBytes::new(py, part.as_bytes()).into_any()
    } else {
        PyString::new(py, part).into_any()
    }
}
