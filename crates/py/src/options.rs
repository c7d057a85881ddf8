//! The options that many calls share: how special and other added tokens are treated, text that is not Unicode, threads.

use std::collections::HashSet;

use bytepair_core::segment::{Policy, Treat};
use bytepair_core::{Error, Kind, Tokenizer, parallel, utf8};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::raise;
use crate::strings::Name;

/// `errors`: how text that is not Unicode is treated.
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

impl<'a, 'py> FromPyObject<'a, 'py> for OnInvalid {
    type Error = PyErr;

    fn extract(errors: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Self::parse(&Name::extract(errors)?)
    }
}

impl From<OnInvalid> for utf8::OnInvalid {
    fn from(on_invalid: OnInvalid) -> Self {
        match on_invalid {
            OnInvalid::Strict => Self::Raise,
            OnInvalid::Replace => Self::Replace,
        }
    }
}

/// `threads`: at most how many threads work for a call; None leaves it to the core.
#[derive(Clone, Copy)]
pub(crate) struct Threads(Option<usize>);

impl Threads {
    /// As many as there are cores, where the call is worth it.
    pub(crate) const ALL: Self = Self(None);

    /// The thread of the call alone.
    pub(crate) const ONE: Self = Self(Some(1));

    /// At most how many; None leaves it to the core.
    pub(crate) fn most(self) -> Option<usize> {
        self.0
    }

    /// At most so many; ValueError for 0.
    pub(crate) fn new(threads: Option<usize>) -> PyResult<Self> {
        if threads == Some(0) {
            return Err(PyValueError::new_err("threads=0 would do nothing; use None for all cores"));
        }
        Ok(Self(threads))
    }

    /// The number of threads.
    pub(crate) fn number(self) -> usize {
        parallel::threads(self.0)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Threads {
    type Error = PyErr;

    fn extract(threads: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Self::new(threads.extract()?)
    }
}

/// `added`: how added tokens that are not special are treated.
#[derive(Clone, Copy)]
pub(crate) enum Added {
    Match,
    Text,
    Raise,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Added {
    type Error = PyErr;

    fn extract(added: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(match Name::extract(added)?.as_str() {
            "match" => Self::Match,
            "text" => Self::Text,
            "raise" => Self::Raise,
            added => {
                let what = format!("added={added:?} is unknown; use \"match\", \"text\" or \"raise\"");
                return Err(PyValueError::new_err(what));
            }
        })
    }
}

impl Added {
    fn treat(self) -> Treat<'static> {
        match self {
            Self::Match => Treat::Match,
            Self::Text => Treat::Text,
            Self::Raise => Treat::Raise,
        }
    }
}

/// `special`: how special tokens are treated.
enum Special {
    Raise,
    Text,
    Allow,
    /// Only those with these ids become tokens.
    Only(HashSet<u32>),
}

/// How a call treats special tokens and other added ones, for as long as it is needed.
pub(crate) struct OwnedPolicy {
    special: Special,
    added: Added,
}

impl OwnedPolicy {
    /// From the options of a call; `special` may hold the names of tokens.
    pub(crate) fn new(tokenizer: &Tokenizer, special: Option<&Bound<'_, PyAny>>, added: Added) -> PyResult<Self> {
        let Some(special) = special else { return Ok(Self { special: Special::Raise, added }) };
        if let Ok(special) = special.cast::<PyString>() {
            let special = match Name::extract(special.as_any().as_borrowed())?.as_str() {
                "raise" => Special::Raise,
                "text" => Special::Text,
                "allow" => Special::Allow,
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
            let name = name?;
            let name = Name::extract(name.as_borrowed())?.as_str();
            let Some(token) = tokenizer.added_token(name).filter(|token| token.special) else {
                let error =
                    Error::new(Kind::SpecialToken, format!("{name:?} is not a special token of this tokenizer"));
                let error = error.remedy("name some of tok.special_tokens").cli_remedy("bytepair inspect lists them");
                return Err(raise(special.py(), error));
            };
            ids.insert(token.id);
        }
        Ok(Self { special: Special::Only(ids), added })
    }

    /// As `new`, for a call that counts or fits: special tokens in the text are text unless the call says otherwise, since
    /// a count for a bill or a budget must not fail on what users write.
    pub(crate) fn counting(tokenizer: &Tokenizer, special: Option<&Bound<'_, PyAny>>, added: Added) -> PyResult<Self> {
        match special {
            None => Ok(Self { special: Special::Text, added }),
            Some(_) => Self::new(tokenizer, special, added),
        }
    }

    /// The policy as the core takes it.
    pub(crate) fn borrowed(&self) -> Policy<'_> {
        let special = match &self.special {
            Special::Raise => Treat::Raise,
            Special::Text => Treat::Text,
            Special::Allow => Treat::Match,
            Special::Only(ids) => Treat::Only(ids),
        };
        Policy { special, added: self.added.treat() }
    }
}
