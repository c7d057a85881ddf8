//! The longest prefix or suffix of a text within a token budget.

use bytepair_core::count::Side;
use bytepair_core::{Error, parallel};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors::{in_row, raise};
use crate::options::{Added, OnInvalid, OwnedPolicy, Threads};
use crate::run::detached;
use crate::text::utf8;
use crate::tokenizer::CoreTokenizer;

/// Parses `side`, the end of a text to keep.
fn by_name(side: &str) -> PyResult<Side> {
    match side {
        "left" => Ok(Side::Left),
        "right" => Ok(Side::Right),
        _ => Err(PyValueError::new_err(format!("side={side:?} is unknown; use \"left\" or \"right\""))),
    }
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

#[pymethods]
impl CoreTokenizer {
    /// The longest prefix or suffix of a text with at most `limit` ids, cut between characters. Options and errors: see
    /// `encode`.
    ///
    /// Reads little more text than the limit needs, and reports only the errors in that text.
    ///
    /// Args:
    ///     text: ``str`` or UTF-8 ``bytes``.
    ///     limit: The most ids.
    ///     side: ``"left"`` keeps the start of the text, ``"right"`` its end.
    ///
    /// Returns:
    ///     The part, of the same type as `text`; empty if not one character fits. It is the longest of all that fit, although
    ///     counts are not monotone: one more character can lower the count.
    ///
    /// Time is linear in the part. For the tokenizers that ``appender()`` lists as slow it is quadratic in the text.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    ///     >>> tok.fit("low lower", 3), tok.fit("low lower", 3, side="right")
    ///     ('low low', ' lower')
    #[pyo3(
        signature = (text, limit, side="left", *, special=None, added=Added::Match),
        text_signature = "($self, text, limit, side='left', *, special='raise', added='match')"
    )]
    fn fit<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        limit: u64,
        side: &str,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (side, policy) = (by_name(side)?, OwnedPolicy::new(&self.inner, special, added)?);
        let content = utf8(text, OnInvalid::Strict)?;
        let job = || self.inner.fit(&content, policy.borrowed(), limit, side);
        let fit = detached(text.py(), content.len(), job)?;
        Ok(part(text, &content, fit.at, side))
    }

    /// The longest part of each text of a batch, on several threads. Options: see `fit`. Errors report their row.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).fit_batch(["low low", "", "slow"], 1)
    ///     ['low', '', 's']
    #[pyo3(
        signature = (texts, limit, side="left", *, special=None, added=Added::Match, threads=Threads::ALL),
        text_signature = "($self, texts, limit, side='left', *, special='raise', added='match', threads=None)"
    )]
    fn fit_batch<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        limit: u64,
        side: &str,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        threads: Threads,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (side, policy) = (by_name(side)?, OwnedPolicy::new(&self.inner, special, added)?);
        let py = texts.py();
        if texts.is_instance_of::<PyString>() || texts.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err("a batch is a sequence of texts, not one text; call fit"));
        }
        let texts: Vec<_> = texts.try_iter()?.collect::<PyResult<_>>()?;
        let contents = texts.iter().enumerate();
        let contents =
            contents.map(|(row, text)| utf8(text, OnInvalid::Strict).map_err(|error| in_row(py, error, row)));
        let contents: Vec<_> = contents.collect::<PyResult<_>>()?;
        let (inner, policy) = (&self.inner, policy.borrowed());
        let work = |found: &mut Vec<(usize, Result<usize, Error>)>, row: usize| {
            let fit = inner.fit(&contents[row], policy, limit, side);
            found.push((row, fit.map(|fit| fit.at).map_err(|error| error.row(row))));
        };
        let mut fits: Vec<_> = py
            .detach(|| parallel::fold(contents.len(), threads.number(), Vec::new, work))
            .into_iter()
            .flatten()
            .collect();
        fits.sort_unstable_by_key(|&(row, _)| row);
        let parts = fits.into_iter().map(|(row, at)| match at {
            Ok(at) => Ok(part(&texts[row], &contents[row], at, side)),
            Err(error) => Err(raise(py, error)),
        });
        parts.collect()
    }
}
