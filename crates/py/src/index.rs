//! Token counts of intervals of one text.

use std::borrow::Cow;
use std::ops::Range;

use bytepair_core::count::{Builder, Index};
use bytepair_core::segment::Policy;
use bytepair_core::{Error, Kind, Result, Tokenizer, utf8};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyMemoryView, PySlice, PyString};

use crate::errors::{collect, raise};
use crate::options::{Added, OnInvalid, OwnedPolicy};
use crate::readable::{Readable, byte_of};
use crate::run::detached;
use crate::strings::exact;
use crate::tokenizer::CoreTokenizer;

/// The index of a text that is not ASCII keeps the place of one in this many characters.
const APART: usize = 64;

/// The bytes of a buffer that are read at once.
const WINDOW: usize = 1 << 20;

/// A text whose intervals can be counted; see `Tokenizer.index`.
#[pyclass(frozen, module = "bytepair")]
pub(crate) struct TextIndex {
    tokenizer: Py<CoreTokenizer>,
    text: Text,
    policy: OwnedPolicy,
    index: Index,
    /// Where each character of a `str` that is not ASCII starts, one in [`APART`].
    places: Vec<usize>,
    /// The characters of a `str`, the bytes of `bytes`.
    length: usize,
}

enum Text {
    Characters(Py<PyString>),
    Bytes(Py<PyBytes>),
    /// Bytes of another owner, who could change them: they are copied and checked whenever they are read.
    Buffer(Py<PyAny>),
    /// A text that is not Unicode, with U+FFFD; and for each of its characters the byte and the place in the given text.
    Replaced(String, Vec<(usize, usize)>),
}

/// Some bytes of a memory view.
fn copied<'py>(view: &Bound<'py, PyAny>, range: Range<usize>) -> PyResult<Bound<'py, PyBytes>> {
    let slice = PySlice::new(view.py(), range.start.cast_signed(), range.end.cast_signed(), 1);
    Ok(view.get_item(slice)?.call_method0("tobytes")?.cast_into()?)
}

/// The index of the text that a memory view holds, which is never in memory as a whole unless it cannot be cut.
fn of_buffer(tokenizer: &Tokenizer, view: &Bound<'_, PyAny>, policy: Policy) -> PyResult<Index> {
    let py = view.py();
    let (mut builder, length, mut at) = (Builder::new(), view.len()?, 0);
    while at < length {
        py.check_signals()?;
        let window = copied(view, at..(at + WINDOW).min(length))?;
        let bytes = window.as_bytes();
        let text = match utf8::text(bytes) {
            Ok(text) => text,
            // The rest of a character comes with the next window.
            Err(error) if error.error_len().is_none() && at + bytes.len() < length => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) => {
                let error = Error::not_utf8(bytes, &error);
                return Err(raise(py, error.shifted(at)));
            }
        };
        detached(py, text.len(), || builder.push(tokenizer, text, policy))?;
        at += text.len();
    }
    detached(py, length, || builder.finish(tokenizer, policy))
}

fn cut() -> Error {
    Error::new(Kind::Encode, "an interval starts or ends inside a character").remedy("count whole characters")
}

impl TextIndex {
    pub(crate) fn new(
        tokenizer: &Bound<'_, CoreTokenizer>,
        text: &Bound<'_, PyAny>,
        policy: OwnedPolicy,
        errors: OnInvalid,
    ) -> PyResult<Self> {
        let py = tokenizer.py();
        let inner = &tokenizer.get().inner;
        let (mut places, length);
        let (kept, index) = if text.is_instance_of::<PyString>() || text.is_instance_of::<PyBytes>() {
            let readable = Readable::lasting(text, errors)?;
            let utf8 = &*readable.text;
            let index = detached(py, utf8.len(), || Index::new(inner, utf8, policy.borrowed()))?;
            places = Vec::new();
            let is_characters = text.is_instance_of::<PyString>();
            length = match text.cast::<PyString>() {
                Ok(text) => exact(text)?.len()?,
                Err(_) => text.cast::<PyBytes>()?.as_bytes().len(),
            };
            if is_characters && !utf8.is_ascii() {
                places = collect(py, utf8.char_indices().map(|(at, _)| at).step_by(APART))?;
            }
            let kept = if let Some((text, replaced)) = readable.into_replaced() {
                places = Vec::new();
                Text::Replaced(text, replaced)
            } else if is_characters {
                Text::Characters(text.cast::<PyString>()?.clone().unbind())
            } else {
                Text::Bytes(text.cast::<PyBytes>()?.clone().unbind())
            };
            (kept, index)
        } else if matches!(errors, OnInvalid::Replace) {
            return Err(PyValueError::new_err(
                "errors=\"replace\" is not supported for a buffer, which is read a window at a time; pass bytes",
            ));
        } else {
            let view = PyMemoryView::from(text).map_err(|_| {
                PyTypeError::new_err("a text is str, bytes, or a buffer of bytes such as mmap.mmap or memoryview")
            })?;
            let view = view.call_method1("cast", ("B",))?;
            places = Vec::new();
            length = view.len()?;
            let index = of_buffer(inner, &view, policy.borrowed())?;
            (Text::Buffer(view.unbind()), index)
        };
        Ok(Self { tokenizer: tokenizer.clone().unbind(), text: kept, policy, index, places, length })
    }

    /// A part of the text.
    fn part<'py>(&'py self, py: Python<'py>, range: Range<usize>) -> Result<Cow<'py, str>> {
        match &self.text {
            Text::Replaced(text, _) => text.get(range).map(Cow::Borrowed).ok_or_else(cut),
            Text::Characters(text) => {
                text.bind(py).to_str().ok().and_then(|text| text.get(range)).map(Cow::Borrowed).ok_or_else(cut)
            }
            Text::Bytes(bytes) => {
                let bytes = bytes.bind(py).as_bytes().get(range).unwrap_or_default();
                std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| cut())
            }
            Text::Buffer(view) => {
                let gone = |error: PyErr| Error::new(Kind::Encode, format!("the buffer cannot be read: {error}"));
                let bytes = copied(view.bind(py), range).map_err(gone)?;
                std::str::from_utf8(bytes.as_bytes()).map(|text| Cow::Owned(text.to_owned())).map_err(|_| cut())
            }
        }
    }

    /// The bytes of an interval, given as the bounds of a slice.
    fn range(&self, py: Python<'_>, start: Option<isize>, end: Option<isize>) -> PyResult<Range<usize>> {
        let place = |place: Option<isize>, otherwise: usize| match place {
            None => otherwise,
            Some(place) if place < 0 => self.length.saturating_sub(place.unsigned_abs()),
            Some(place) => place.unsigned_abs().min(self.length),
        };
        let (start, end) = (place(start, 0), place(end, self.length));
        let byte = |place: usize| {
            let text = match &self.text {
                Text::Characters(text) => text,
                Text::Replaced(_, places) => return byte_of(places, place).ok_or_else(|| raise(py, cut())),
                Text::Bytes(_) | Text::Buffer(_) => return Ok(place),
            };
            if self.places.is_empty() {
                return Ok(place);
            }
            let text = text.bind(py).to_str()?;
            let known = self.places.get(place / APART).copied().unwrap_or(text.len());
            PyResult::Ok(text[known..].char_indices().nth(place % APART).map_or(text.len(), |(at, _)| known + at))
        };
        Ok(byte(start)?..byte(end.max(start))?)
    }
}

#[pymethods]
impl TextIndex {
    /// The number of ids of the interval from `start` up to `end`, encoded by itself: `tok.count(text[start:end])`.
    #[pyo3(signature = (start=None, end=None))]
    fn count(&self, py: Python<'_>, start: Option<isize>, end: Option<isize>) -> PyResult<u64> {
        let range = self.range(py, start, end)?;
        let inner = &self.tokenizer.get().inner;
        let count = self.index.count(inner, |range| self.part(py, range), self.policy.borrowed(), range);
        count.map_err(|error| raise(py, error))
    }

    /// The ids of the interval, encoded by itself: `tok.encode(text[start:end])`.
    #[pyo3(signature = (start=None, end=None))]
    fn ids<'py>(&self, py: Python<'py>, start: Option<isize>, end: Option<isize>) -> PyResult<Bound<'py, PyList>> {
        let range = self.range(py, start, end)?;
        let tokenizer = self.tokenizer.get();
        let mut ids: Vec<u32> = Vec::new();
        let part = self.part(py, range);
        let encoded = part.and_then(|part| tokenizer.inner.encode(&part, self.policy.borrowed(), &mut ids));
        encoded.map_err(|error| raise(py, error))?;
        tokenizer.list(py, &ids)
    }

    /// The characters of a `str`, the bytes of `bytes`.
    fn __len__(&self) -> usize {
        self.length
    }

    /// The bytes of memory that the index takes in addition to the text.
    #[getter]
    fn nbytes(&self) -> usize {
        let replaced = match &self.text {
            Text::Replaced(text, places) => text.len() + size_of_val(places.as_slice()),
            Text::Characters(_) | Text::Bytes(_) | Text::Buffer(_) => 0,
        };
        self.index.bytes() + size_of_val(self.places.as_slice()) + replaced
    }
}

#[pymethods]
impl CoreTokenizer {
    /// An index of a text that counts any interval without encoding it; options and errors as `encode`.
    ///
    /// Reads the text once. An interval then costs a search and the encoding of about a hundred bytes at each end, wherever
    /// the text can be cut: between most words, with any tokenizer. In a longer piece the interval is encoded from the cut
    /// before it; without a split pattern only a few tokens are, if tokens are bytes and each is made in one way. Memory: a
    /// quarter of a byte for each byte of text, and an eighth for each character of a ``str`` that is not ASCII; without a
    /// split pattern 16 bytes for each byte.
    ///
    /// Args:
    ///     text: ``str``, whose intervals are characters; or UTF-8, whose intervals are bytes: ``bytes``, or a buffer such as
    ///         ``mmap.mmap``, which is read a window at a time and must not change.
    ///     special: As for `encode`.
    ///     added: As for `encode`.
    ///     errors: As for `encode`. With ``"replace"`` intervals are those of the given text, which must start and end neither
    ///         within bytes that become one U+FFFD nor within a surrogate pair; such a text takes 16 bytes more for each
    ///         character. A buffer is always strict.
    ///
    /// Returns:
    ///     `TextIndex`, with ``count(start, end)``, ``ids(start, end)``, ``len`` and ``nbytes``. ``start`` and ``end`` are those of
    ///     a slice. EncodeError for a place inside a character.
    ///
    /// Raises:
    ///     ValueError: ``errors="replace"`` for a buffer.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    ///     >>> index = tok.index("lower low lower")
    ///     >>> index.count(), index.count(6, 9), index.ids(0, 5), len(index)
    ///     (7, 1, [257, 258], 15)
    #[pyo3(
        signature = (text, *, special=None, added=Added::Match, errors=OnInvalid::Strict),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict')"
    )]
    fn index(
        slf: &Bound<'_, Self>,
        text: &Bound<'_, PyAny>,
        special: Option<&Bound<'_, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<TextIndex> {
        let policy = OwnedPolicy::new(&slf.get().inner, special, added)?;
        TextIndex::new(slf, text, policy, errors)
    }
}
