//! The longest prefix or suffix of a text within a token budget.

use bytepair_core::count::Side;
use bytepair_core::{Error, parallel};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors::raise;
use crate::options::{Added, OnInvalid, OwnedPolicy, Threads};
use crate::readable::Readable;
use crate::run::detached;
use crate::strings::Name;
use crate::tokenizer::CoreTokenizer;

/// Parses `side`, the end of a text to keep.
fn by_name(side: &str) -> PyResult<Side> {
    match side {
        "left" => Ok(Side::Left),
        "right" => Ok(Side::Right),
        _ => Err(PyValueError::new_err(format!("side={side:?} is unknown; use \"left\" or \"right\""))),
    }
}

/// The kept part of a text that is cut at a byte.
fn kept<'py>(given: &Bound<'py, PyAny>, text: &Readable<'_>, at: usize, side: Side) -> PyResult<Bound<'py, PyAny>> {
    text.part(given, if side == Side::Left { 0..at } else { at..text.text.len() })
}

#[pymethods]
impl CoreTokenizer {
    /// The longest prefix or suffix of a text with at most `limit` ids, cut between characters. Options and errors: see
    /// `encode`, but special tokens in the text are text by default, as in `count`.
    ///
    /// Reads little more than the limit needs, and reports errors only in the part that it read.
    ///
    /// Args:
    ///     text: ``str`` or UTF-8 ``bytes``.
    ///     limit: The most ids.
    ///     side: ``"left"`` keeps the start of the text, ``"right"`` its end.
    ///
    /// Returns:
    ///     The part, of the type of `text`; empty if not even one character fits. No longer part fits, although counts are
    ///     not monotone: one more character can make fewer ids. With ``errors="replace"`` it is a part of the given text,
    ///     which is cut neither within bytes that become one U+FFFD nor within a surrogate pair.
    ///
    /// Time is linear in the part, whatever the tokenizer. In more than 256 bytes of text without a cut that are not one piece,
    /// as with a split pattern that needs backtracking, the part is found by bisection: it fits, and no part of up to 32
    /// characters more does, but a longer one may.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    ///     >>> tok.fit("low lower", 3), tok.fit("low lower", 3, side="right")
    ///     ('low low', ' lower')
    #[pyo3(
        signature = (text, limit, side=Name::of("left"), *, special=None, added=Added::Match, errors=OnInvalid::Strict),
        text_signature = "($self, text, limit, side='left', *, special='text', added='match', errors='strict')"
    )]
    fn fit<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        limit: u64,
        side: Name<'_>,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (side, policy) = (by_name(&side)?, OwnedPolicy::counting(&self.inner, special, added)?);
        let readable = Readable::lasting(text, errors)?;
        let job = || self.inner.fit(&readable.text, policy.borrowed(), limit, side);
        let fit = detached(text.py(), readable.text.len(), job)?;
        kept(text, &readable, fit.at, side)
    }

    /// The longest part of each text of a batch, on several threads. Options: see `fit`. Errors report their row.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).fit_batch(["low low", "", "slow"], 1)
    ///     ['low', '', 's']
    #[pyo3(
        signature = (texts, limit, side=Name::of("left"), *, special=None, added=Added::Match, errors=OnInvalid::Strict, threads=Threads::ALL),
        text_signature = "($self, texts, limit, side='left', *, special='text', added='match', errors='strict', threads=None)"
    )]
    fn fit_batch<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        limit: u64,
        side: Name<'_>,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        errors: OnInvalid,
        threads: Threads,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (side, policy) = (by_name(&side)?, OwnedPolicy::counting(&self.inner, special, added)?);
        let py = texts.py();
        if texts.is_instance_of::<PyString>() || texts.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err("a batch is a sequence of texts, not one text; call fit"));
        }
        let texts: Vec<_> = texts.try_iter()?.collect::<PyResult<_>>()?;
        let contents = Readable::all(&texts, errors, true)?;
        let (inner, policy) = (&self.inner, policy.borrowed());
        let work = |found: &mut Vec<(usize, Result<usize, Error>)>, row: usize| {
            let fit = inner.fit(&contents[row].text, policy, limit, side);
            found.push((row, fit.map(|fit| fit.at).map_err(|error| error.row(row))));
        };
        let mut fits: Vec<_> = py
            .detach(|| parallel::fold(contents.len(), threads.number(), Vec::new, work))
            .into_iter()
            .flatten()
            .collect();
        fits.sort_unstable_by_key(|&(row, _)| row);
        let parts = fits.into_iter().map(|(row, at)| match at {
            Ok(at) => kept(&texts[row], &contents[row], at, side),
            Err(error) => Err(raise(py, error)),
        });
        parts.collect()
    }
}
