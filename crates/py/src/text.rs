//! Python texts as UTF-8: `str`, `bytes`, or a list of these and of `Control`; and what a call says of added tokens.

use std::borrow::Cow;
use std::collections::HashSet;

use bytepair_core::pipeline::{Span, Spans};
use bytepair_core::segment::{Policy, Treat};
use bytepair_core::{Error, Kind, Tokenizer};
use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySlice, PyString, PyTuple};

use crate::errors::raise;

/// A token that the caller vouches for, among text that could come from anyone.
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
    fn new(token: String) -> Self {
        Self { token }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Control({})", PyString::new(py, &self.token).repr()?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (String,)) {
        (slf.get_type().into_any(), (slf.get().token.clone(),))
    }
}

/// What to do about text that is not Unicode.
#[derive(Clone, Copy)]
pub(crate) enum OnInvalid {
    Strict,
    Replace,
}

impl OnInvalid {
    pub(crate) fn parse(errors: &str) -> PyResult<Self> {
        match errors {
            "strict" => Ok(Self::Strict),
            "replace" => Ok(Self::Replace),
            _ => Err(PyValueError::new_err(format!("errors={errors:?} is unknown; use \"strict\" or \"replace\""))),
        }
    }
}

/// The UTF-8 of a `str` or of `bytes`.
pub(crate) fn utf8<'a>(text: &'a Bound<'_, PyAny>, on_invalid: OnInvalid) -> PyResult<Cow<'a, str>> {
    if let Ok(text) = text.cast::<PyString>() {
        return match (text.to_str(), on_invalid) {
            (Ok(text), _) => Ok(Cow::Borrowed(text)),
            (Err(error), OnInvalid::Strict) => Err(lone_surrogate(text, error)),
            (Err(_), OnInvalid::Replace) => {
                // As UTF-16, so that two halves of one character meet.
                let halves = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
                Ok(Cow::Owned(halves.call_method1("decode", ("utf-16-le", "replace"))?.extract()?))
            }
        };
    }
    if let Ok(bytes) = text.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        return match (std::str::from_utf8(bytes), on_invalid) {
            (Ok(text), _) => Ok(Cow::Borrowed(text)),
            (Err(error), OnInvalid::Strict) => {
                let at = error.valid_up_to();
                let what = format!("the bytes are not UTF-8: 0x{:02X} cannot stand here", bytes[at]);
                let error =
                    Error::new(Kind::Encode, what).remedy("pass errors=\"replace\" to encode U+FFFD in its place");
                Err(raise(text.py(), error.at(at).placed(&String::from_utf8_lossy(bytes))))
            }
            (Err(_), OnInvalid::Replace) => Ok(String::from_utf8_lossy(bytes)),
        };
    }
    Err(PyTypeError::new_err(format!("a text is str or bytes, not {}", text.get_type().name()?)))
}

fn lone_surrogate(text: &Bound<'_, PyString>, error: PyErr) -> PyErr {
    let py = text.py();
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
        return error;
    }
    let placed = || -> PyResult<Error> {
        let character: usize = error.value(py).getattr("start")?.extract()?;
        let before = text.get_item(PySlice::new(py, 0, character.cast_signed(), 1))?;
        let surrogate = text.get_item(character)?.repr()?;
        let error = Error::new(Kind::Encode, format!("the text holds the lone surrogate {surrogate}"))
            .remedy("pass errors=\"replace\" to encode U+FFFD in its place");
        let byte = before.cast::<PyString>()?.to_str()?.len();
        Ok(Error { byte: Some(byte), character: Some(character), ..error })
    };
    match placed() {
        Ok(error) => raise(py, error),
        Err(error) => error,
    }
}

/// A text of a call, kept alive while it is used.
pub(crate) enum Text<'py> {
    One(Bound<'py, PyAny>),
    Parts(Vec<Bound<'py, PyAny>>),
}

impl<'py> Text<'py> {
    pub(crate) fn new(text: Bound<'py, PyAny>) -> PyResult<Self> {
        if text.is_instance_of::<PyList>() || text.is_instance_of::<PyTuple>() {
            return Ok(Self::Parts(text.try_iter()?.collect::<PyResult<_>>()?));
        }
        Ok(Self::One(text))
    }

    /// The UTF-8 of each part, and whether it is a control token.
    pub(crate) fn parts(&self, on_invalid: OnInvalid) -> PyResult<Vec<(bool, Cow<'_, str>)>> {
        let part = |part| match Bound::cast::<Control>(part) {
            Ok(control) => Ok((true, Cow::Borrowed(control.get().token.as_str()))),
            Err(_) => Ok((false, utf8(part, on_invalid)?)),
        };
        match self {
            Self::One(text) => Ok(vec![part(text)?]),
            Self::Parts(parts) => parts.iter().map(part).collect(),
        }
    }
}

/// Parts as the core's spans.
pub(crate) fn spans<'a>(parts: &'a [(bool, Cow<'_, str>)]) -> Spans<'a> {
    parts.iter().map(|(control, text)| if *control { Span::Control(text) } else { Span::Text(text) }).collect()
}

/// What a call says of special tokens and of the other added ones.
pub(crate) struct Said {
    special: Choice,
    added: Choice,
}

enum Choice {
    Raise,
    Text,
    Match,
    Only(HashSet<u32>),
}

impl Choice {
    fn treat(&self) -> Treat<'_> {
        match self {
            Self::Raise => Treat::Raise,
            Self::Text => Treat::Text,
            Self::Match => Treat::Match,
            Self::Only(ids) => Treat::Only(ids),
        }
    }
}

impl Said {
    pub(crate) fn new(tokenizer: &Tokenizer, special: Option<&Bound<'_, PyAny>>, added: &str) -> PyResult<Self> {
        let added = match added {
            "match" => Choice::Match,
            "text" => Choice::Text,
            "raise" => Choice::Raise,
            _ => {
                let what = format!("added={added:?} is unknown; use \"match\", \"text\" or \"raise\"");
                return Err(PyValueError::new_err(what));
            }
        };
        let Some(special) = special else { return Ok(Self { special: Choice::Raise, added }) };
        if let Ok(special) = special.cast::<PyString>() {
            let special = match special.to_str()? {
                "raise" => Choice::Raise,
                "text" => Choice::Text,
                "allow" => Choice::Match,
                other => {
                    let what = format!(
                        "special={other:?} is unknown; use \"raise\", \"text\", \"allow\" or a set like {{{other:?}}}"
                    );
                    return Err(PyValueError::new_err(what));
                }
            };
            return Ok(Self { special, added });
        }
        let mut ids = HashSet::new();
        for name in special.try_iter()? {
            let name: String = name?.extract()?;
            let Some(token) = tokenizer.added_token(&name).filter(|token| token.special) else {
                let error =
                    Error::new(Kind::SpecialToken, format!("{name:?} is not a special token of this tokenizer"));
                return Err(raise(special.py(), error.remedy("name some of tok.special_tokens")));
            };
            ids.insert(token.id);
        }
        Ok(Self { special: Choice::Only(ids), added })
    }

    pub(crate) fn policy(&self) -> Policy<'_> {
        Policy { special: self.special.treat(), added: self.added.treat() }
    }
}
