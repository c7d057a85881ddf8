//! Python texts as UTF-8: `str`, `bytes`, or a list of these and of `Control`.
//!
//! The UTF-8 of a `str` that is not ASCII is made for the call and let go of: Python's own would stay in the caller's object as a
//! second copy of the text.
#![allow(unsafe_code, reason = "the units of a `str`, which Python shows in no other way without a copy")]

use std::borrow::Cow;

use bytepair_core::memory::Room;
use bytepair_core::pipeline::{Batch, Span};
use bytepair_core::prefix_cache::Given;
use bytepair_core::units::Units;
use bytepair_core::{Error, Kind, utf8};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::string::PyStringData;
use pyo3::types::{PyBytes, PyList, PySlice, PyString, PyTuple};

use crate::errors::{collect, raise, room};
use crate::options::OnInvalid;
use crate::strings::{OwnedName, exact};

/// A special token that the caller vouches for, next to untrusted text.
///
/// In a list next to plain `str`, only a `Control` becomes a special token:
///
/// >>> import bytepair as bp
/// >>> tok = bp.train({"hi": 2}, vocab_size=258, special_tokens=["<|end|>"])
/// >>> tok.encode(["hi", bp.Control("<|end|>")])
/// [256, 257]
#[pyclass(frozen, eq, hash, module = "bytepair")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Control {
    /// The text of the token.
    #[pyo3(get)]
    token: String,
}

#[pymethods]
impl Control {
    #[new]
    fn new(token: OwnedName) -> Self {
        Self { token: token.0 }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Control({})", PyString::new(py, &self.token).repr()?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (String,)) {
        (slf.get_type().into_any(), (slf.get().token.clone(),))
    }
}

/// Fewer units are looked at.
const UNITS_LOOKED_AT: usize = 4096;

/// A `str` as it is stored.
pub(crate) enum Stored<'a> {
    Ascii(&'a str),
    Units(Units<'a>),
}

impl<'a> Stored<'a> {
    /// The text of an object.
    pub(crate) fn of(text: &'a Bound<'_, PyString>) -> PyResult<Self> {
        // SAFETY: CPython stores each character in one unit of its own byte order, and never changes a `str` that is shared.
        Ok(match unsafe { text.data() }? {
            PyStringData::Ucs1(ascii) if is_ascii(text, ascii) => {
                // SAFETY: it is ASCII, by its own bytes or by Python's flag, which it sets when it makes a `str`.
                Self::Ascii(unsafe { std::str::from_utf8_unchecked(ascii) })
            }
            PyStringData::Ucs1(units) => Self::Units(Units::One(units)),
            PyStringData::Ucs2(units) => Self::Units(Units::Two(units)),
            PyStringData::Ucs4(units) => Self::Units(Units::Four(units)),
        })
    }

    /// The text in UTF-8, or the error for its first lone surrogate.
    pub(crate) fn utf8(&self, py: Python<'_>) -> PyResult<Result<Cow<'a, str>, Error>> {
        match self {
            Self::Ascii(text) => Ok(Ok(Cow::Borrowed(text))),
            Self::Units(units) => match units.text() {
                Err(error) if error.kind == Kind::Memory => Err(raise(py, error)),
                text => Ok(text.map(Cow::Owned)),
            },
        }
    }
}

/// Whether a `str` of units of one byte is ASCII.
#[inline]
fn is_ascii(text: &Bound<'_, PyString>, units: &[u8]) -> bool {
    if units.len() < UNITS_LOOKED_AT { units.is_ascii() } else { is_long_ascii(text, units) }
}

/// Python has a flag for that, which takes longer to ask for than to look at a few units.
#[cold]
fn is_long_ascii(text: &Bound<'_, PyString>, units: &[u8]) -> bool {
    let ask = || text.call_method0(intern!(text.py(), "isascii"))?.extract();
    // A subclass may have a method of its own.
    if text.is_exact_instance_of::<PyString>() {
        ask().unwrap_or_else(|_: PyErr| units.is_ascii())
    } else {
        units.is_ascii()
    }
}

/// The UTF-8 of a `str` or of `bytes`, which the caller owns where they are stored in another form.
pub(crate) fn utf8<'a>(text: &'a Bound<'_, PyAny>, on_invalid: OnInvalid) -> PyResult<Cow<'a, str>> {
    match text.cast::<PyString>() {
        Ok(text) => match Stored::of(text)?.utf8(text.py())? {
            Ok(utf8) => Ok(utf8),
            Err(error) => invalid(text, error, on_invalid).map(Cow::Owned),
        },
        Err(_) => utf8_of_bytes(text, on_invalid),
    }
}

/// The text of a `str` or of `bytes` as Python stores it.
pub(crate) fn given<'a>(text: &'a Bound<'_, PyAny>) -> PyResult<Given<'a>> {
    if let Ok(text) = text.cast::<PyString>() {
        return Ok(match Stored::of(text)? {
            Stored::Ascii(text) => Given::Text(text),
            Stored::Units(units) => Given::Units(units),
        });
    }
    let bytes = text.cast::<PyBytes>().map_err(|_| no_text(text))?;
    Ok(Given::Bytes(bytes.as_bytes()))
}

/// The same as [`utf8`] for calls that read little of a text and come again for it: the UTF-8 stays with the `str`.
pub(crate) fn lasting_utf8<'a>(text: &'a Bound<'_, PyAny>, on_invalid: OnInvalid) -> PyResult<Cow<'a, str>> {
    match text.cast::<PyString>().map(|text| text.to_str()) {
        Ok(Ok(text)) => Ok(Cow::Borrowed(text)),
        // It is not Unicode.
        _ => utf8(text, on_invalid),
    }
}

/// The text of a `str` with lone surrogates, if they are to be replaced.
pub(crate) fn invalid(text: &Bound<'_, PyString>, error: Error, on_invalid: OnInvalid) -> PyResult<String> {
    match on_invalid {
        OnInvalid::Strict => Err(raise(text.py(), error)),
        OnInvalid::Replace => {
            // As UTF-16, so that two halves of one character meet.
            let halves = exact(text)?.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
            halves.call_method1("decode", ("utf-16-le", "replace"))?.extract()
        }
    }
}

fn utf8_of_bytes<'a>(text: &'a Bound<'_, PyAny>, on_invalid: OnInvalid) -> PyResult<Cow<'a, str>> {
    if let Ok(bytes) = text.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        return match (utf8::text(bytes), on_invalid) {
            (Ok(text), _) => Ok(Cow::Borrowed(text)),
            (Err(error), OnInvalid::Strict) => {
                let error = Error::not_utf8(bytes, &error);
                Err(raise(text.py(), error.placed(&String::from_utf8_lossy(bytes))))
            }
            (Err(_), OnInvalid::Replace) => Ok(String::from_utf8_lossy(bytes)),
        };
    }
    Err(no_text(text))
}

/// The error for an object that is no text.
fn no_text(text: &Bound<'_, PyAny>) -> PyErr {
    match text.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!("a text is str or bytes, not {name}")),
        Err(error) => error,
    }
}

/// Whether a code point is the first half of a surrogate pair.
pub(crate) fn is_high_surrogate(unit: u32) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

/// A `str` without the first half of a surrogate pair at its end, and that half, which the next part may complete.
pub(crate) fn without_half<'py>(
    text: &Bound<'py, PyString>,
) -> PyResult<(Bound<'py, PyString>, Option<Bound<'py, PyString>>)> {
    let text = exact(text)?;
    let Some(last) = text.len()?.checked_sub(1) else { return Ok((text, None)) };
    let half = text.get_item(last)?;
    let unit: u32 = half.py().import("builtins")?.call_method1("ord", (&half,))?.extract()?;
    if !is_high_surrogate(unit) {
        return Ok((text, None));
    }
    let rest = text.get_item(PySlice::new(text.py(), 0, last.cast_signed(), 1))?;
    Ok((rest.cast_into()?, Some(half.cast_into()?)))
}

/// The error of a part of a text, placed in the whole, of which so many bytes and characters come before.
pub(crate) fn moved(py: Python<'_>, error: PyErr, (bytes, characters): (usize, usize)) -> PyErr {
    let value = error.value(py);
    for (name, before) in [("byte", bytes), ("character", characters)] {
        let place = value.getattr(name).and_then(|place| place.extract::<usize>());
        if let Ok(place) = place
            && let Err(broken) = value.setattr(name, place + before)
        {
            return broken;
        }
    }
    error
}

/// The most that a text takes beside its bytes, in a batch of many.
const BYTES_OF_A_TEXT: usize = 128;

/// The texts of a call, kept alive while they are used.
#[derive(Default)]
pub(crate) struct Texts<'py> {
    parts: Vec<Bound<'py, PyAny>>,
    /// The end of each text's parts; None while each text has one part.
    ends: Option<Vec<usize>>,
}

impl<'py> Texts<'py> {
    pub(crate) fn one(text: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mut texts = Self::default();
        texts.push(text.clone())?;
        Ok(texts)
    }

    pub(crate) fn many(texts: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mut all = Self::default();
        // A copy of a list, which nothing changes, is faster to go through than the list.
        if let Ok(list) = texts.cast_exact::<PyList>() {
            // The copy, and what becomes of each text before any is encoded.
            room(list.py(), list.len().saturating_mul(BYTES_OF_A_TEXT))?;
            let texts = list.as_sequence().to_tuple()?;
            all.parts.room(texts.len()).map_err(|error| raise(list.py(), error))?;
            texts.as_slice().iter().try_for_each(|text| all.push(text.clone()))?;
        } else {
            texts.try_iter()?.try_for_each(|text| all.push(text?))?;
        }
        Ok(all)
    }

    fn push(&mut self, text: Bound<'py, PyAny>) -> PyResult<()> {
        let parts = if let Ok(list) = text.cast::<PyList>() {
            list.as_sequence().to_tuple()?
        } else if let Ok(parts) = text.cast::<PyTuple>() {
            parts.clone()
        } else {
            self.parts.push(text);
            if let Some(ends) = &mut self.ends {
                ends.push(self.parts.len());
            }
            return Ok(());
        };
        // Until now each text had one part.
        let ends = self.ends.get_or_insert_with(|| (1..=self.parts.len()).collect());
        for part in parts.try_iter()? {
            self.parts.push(part?);
        }
        ends.push(self.parts.len());
        Ok(())
    }

    /// Each part as the core takes it; an error comes with its row.
    pub(crate) fn parts(&self, on_invalid: OnInvalid) -> Result<Vec<Part<'_>>, (usize, PyErr)> {
        let row = |part| self.ends.as_ref().map_or(part, |ends| ends.partition_point(|&end| end <= part));
        let mut parts = Vec::new();
        if let Some(first) = self.parts.first() {
            parts.room(self.parts.len()).map_err(|error| (0, raise(first.py(), error)))?;
        }
        for (number, part) in self.parts.iter().enumerate() {
            parts.push(Part::read(part, on_invalid).map_err(|error| (row(number), error))?);
        }
        Ok(parts)
    }

    /// The texts as the core takes them.
    pub(crate) fn batch<'a>(&self, py: Python<'_>, parts: &'a [Part<'_>]) -> PyResult<Batch<'a>> {
        let spans = collect(py, parts.iter().map(Part::span))?;
        Ok(match &self.ends {
            None => Batch::of_single(spans),
            Some(ends) => Batch::of_many(spans, collect(py, ends.iter().copied())?),
        })
    }
}

/// The text of a `str` as it is stored; None if it holds what is no character and is to be replaced.
#[inline]
pub(crate) fn span<'a>(text: &'a Bound<'_, PyString>, on_invalid: OnInvalid) -> PyResult<Option<Span<'a>>> {
    Ok(match Stored::of(text)? {
        Stored::Ascii(text) => Some(Span::Text(text)),
        Stored::Units(units) if matches!(on_invalid, OnInvalid::Strict) || units.are_characters() => {
            Some(Span::Units(units))
        }
        Stored::Units(_) => None,
    })
}

/// A part of a text.
pub(crate) enum Part<'a> {
    /// As Python stores it.
    Stored(Span<'a>),
    /// Lone surrogates or invalid bytes were replaced.
    Replaced(String),
}

impl<'a> Part<'a> {
    fn read(part: &'a Bound<'_, PyAny>, on_invalid: OnInvalid) -> PyResult<Self> {
        if let Ok(text) = part.cast::<PyString>() {
            if let Some(span) = span(text, on_invalid)? {
                return Ok(Self::Stored(span));
            }
        } else if let Ok(control) = part.cast::<Control>() {
            return Ok(Self::Stored(Span::Control(&control.get().token)));
        }
        Ok(match utf8(part, on_invalid)? {
            Cow::Borrowed(text) => Self::Stored(Span::Text(text)),
            Cow::Owned(text) => Self::Replaced(text),
        })
    }

    pub(crate) fn span(&self) -> Span<'_> {
        match self {
            Self::Stored(span) => *span,
            Self::Replaced(text) => Span::Text(text),
        }
    }
}
