//! Ids with their places in the original text, and the added tokens of a text.

use std::collections::BTreeMap;
use std::ops::Range;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::arrays::{FlatBatch, array, import_numpy};
use crate::options::{Added, OnInvalid, OwnedPolicy, Threads};
use crate::run::run;
use crate::text::utf8;
use crate::tokenizer::CoreTokenizer;

/// Ids, their places, the numbers of their pieces, and the surfaces of some of them.
type LocatedRows<'py> = (Bound<'py, PyList>, Vec<(usize, usize)>, Vec<u32>, BTreeMap<usize, String>);

/// Converts byte places at character boundaries to character places. They seldom go back, and never far.
fn characters(text: &str, places: &mut [(usize, usize)]) {
    let bytes = text.as_bytes();
    let is_start = |byte: &&u8| **byte & 0xC0 != 0x80;
    let (mut at, mut count) = (0, 0);
    let mut count_to = |place: usize| {
        if place >= at {
            count += bytes[at..place].iter().filter(is_start).count();
        } else {
            count -= bytes[place..at].iter().filter(is_start).count();
        }
        at = place;
        count
    };
    for (start, end) in places {
        *start = count_to(*start);
        *end = count_to(*end);
    }
}

/// Intervals in characters of a text as ranges in bytes.
fn in_bytes(text: &str, intervals: Vec<(usize, usize)>) -> PyResult<Vec<Range<usize>>> {
    let mut starts = text.char_indices().map(|(byte, _)| byte).chain([text.len()]);
    let mut next = 0;
    let mut byte_of = |character: usize| {
        let byte = character.checked_sub(next).and_then(|skipped| starts.nth(skipped));
        next = character + 1;
        byte
    };
    let mut ranges = Vec::with_capacity(intervals.len());
    for (start, end) in intervals {
        // Empty ones admit nothing, and those that meet are not apart.
        let range = (start < end).then(|| Some(byte_of(start)?..byte_of(end)?)).flatten();
        ranges.push(range.ok_or_else(|| {
            let what = format!(
                "({start}, {end}) is empty, not in order, not apart from the interval before, or not in the text"
            );
            PyValueError::new_err(what)
        })?);
    }
    Ok(ranges)
}

#[pymethods]
impl CoreTokenizer {
    /// The ids of a text with their places and the numbers of their pieces. Options and errors: see `encode`.
    ///
    /// Args:
    ///     text: ``str``, whose places are in characters; or UTF-8 ``bytes``, whose places are in bytes.
    ///
    /// Returns:
    ///     Ids; the start and end of each id's source in the original text, before any normalizer; and the number of its
    ///     piece or added token. A token that covers part of a character has the place of the whole character. Last, by row,
    ///     the normalized text of added tokens that took white space and of characters unknown to a Unigram model: other
    ///     libraries spell these tokens so.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258, split="gpt2").located("low é!")
    ///     ([257, 32, 195, 169, 33], [(0, 3), (3, 4), (4, 5), (4, 5), (5, 6)], [0, 1, 1, 1, 2], {})
    #[pyo3(
        signature = (text, *, special=None, added=Added::Match, errors=OnInvalid::Strict),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict')"
    )]
    fn located<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<LocatedRows<'py>> {
        let policy = OwnedPolicy::new(&self.inner, special, added)?;
        let in_characters = text.is_instance_of::<PyString>();
        let text = utf8(text, errors)?;
        let located = run(py, text.len(), Threads::ALL, |_| self.inner.locate(&text, policy.borrowed()))?;
        let ids: Vec<u32> = located.iter().map(|token| token.id).collect();
        let mut places: Vec<_> = located.iter().map(|token| (token.start, token.end)).collect();
        if in_characters && !text.is_ascii() {
            characters(&text, &mut places);
        }
        let words = located.iter().map(|token| token.word).collect();
        let surfaces = located.into_iter().enumerate();
        let surfaces = surfaces.filter_map(|(row, token)| Some((row, token.surface?.into_string()))).collect();
        Ok((self.list(py, &ids)?, places, words, surfaces))
    }

    /// The ids of a text in which only some intervals may hold added tokens, with their places. Errors: see `encode`.
    ///
    /// Args:
    ///     text: One ``str``.
    ///     trusted: Sorted, disjoint intervals of the text, in characters. An added token is matched only if it lies
    ///         completely inside one of them; elsewhere it is ordinary text, except for white space tokens, which control
    ///         nothing.
    ///
    /// Returns:
    ///     Ids, and the start and end of each id's source in characters, in one flat array of int64.
    ///
    /// Raises:
    ///     ValueError: The intervals are not sorted, or not in the text.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"hi": 5}, vocab_size=258, special_tokens=["<|e|>"])
    ///     >>> ids, places = tok.located_trusted("<|e|>hi<|e|>", [(0, 5)])
    ///     >>> ids[:3], len(ids), places.reshape(-1, 2)[:2].tolist()
    ///     (array([257, 256,  60], dtype=uint32), 7, [[0, 5], [5, 7]])
    fn located_trusted<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyString>,
        trusted: Vec<(usize, usize)>,
    ) -> PyResult<FlatBatch<'py>> {
        import_numpy(py)?;
        let text = utf8(text.as_any(), OnInvalid::Strict)?;
        let trusted = in_bytes(&text, trusted)?;
        let located = run(py, text.len(), Threads::ALL, |_| self.inner.locate_trusted(&text, &trusted))?;
        let mut places: Vec<_> = located.iter().map(|token| (token.start, token.end)).collect();
        if !text.is_ascii() {
            characters(&text, &mut places);
        }
        let ids = located.iter().map(|token| token.id).collect();
        let places = places.into_iter().flat_map(|(start, end)| [start.cast_signed() as i64, end.cast_signed() as i64]);
        Ok((array(py, ids), array(py, places.collect())))
    }

    /// The added tokens in a text, as (id, start, end) in characters. Errors: see `encode`.
    ///
    /// Args:
    ///     text: One ``str``.
    ///     trusted: See `located_trusted`: only tokens that it would match. None for all.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"hi": 5}, vocab_size=258, special_tokens=["<|e|>"])
    ///     >>> tok.added_in("é<|e|>hi<|e|>"), tok.added_in("é<|e|>hi<|e|>", [(0, 5)])
    ///     ([(257, 1, 6), (257, 8, 13)], [])
    #[pyo3(signature = (text, trusted=None))]
    fn added_in(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyString>,
        trusted: Option<Vec<(usize, usize)>>,
    ) -> PyResult<Vec<(u32, usize, usize)>> {
        let text = utf8(text.as_any(), OnInvalid::Strict)?;
        let trusted = trusted.map(|trusted| in_bytes(&text, trusted)).transpose()?;
        let found = run(py, text.len(), Threads::ALL, |_| self.inner.added_in(&text, trusted.as_deref()))?;
        let (ids, mut places): (Vec<_>, Vec<_>) = found.into_iter().map(|(id, at)| (id, (at.start, at.end))).unzip();
        if !text.is_ascii() {
            characters(&text, &mut places);
        }
        Ok(ids.into_iter().zip(places).map(|(id, (start, end))| (id, start, end)).collect())
    }
}
