//! Ids with their places in the given text, and the added tokens in a text: functions of `bytepair.lowlevel`.

use std::ops::Range;

use bytepair_core::memory::{self, push};
use bytepair_core::pipeline::Tokenizer;
use bytepair_core::segment::Policy;
use bytepair_core::{Error, interrupt, parallel};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};

use crate::arrays::{array, import_numpy, starts};
use crate::errors::{collect, raise};
use crate::lists::{list, string};
use crate::options::{Added, OnInvalid, OwnedPolicy, Threads};
use crate::readable::Readable;
use crate::run::{detached, run};
use crate::tokenizer::CoreTokenizer;

/// Ids, their places, the numbers of their pieces, and the surfaces of some.
type LocatedRows<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyDict>);

/// The ids of a batch, its rows, places, pieces and surfaces.
type LocatedBatch<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyDict>,
);

/// Ids, and their places one after the other.
type Flat<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>);

/// Numbers of which many are the one before, as a token mostly begins where the last one ends: these share an object.
struct Repeating<'py>(usize, Bound<'py, PyInt>);

impl<'py> Repeating<'py> {
    fn new(py: Python<'py>) -> Self {
        Self(0, PyInt::new(py, 0))
    }

    fn int(&mut self, number: usize) -> Bound<'py, PyInt> {
        if number != self.0 {
            *self = Self(number, PyInt::new(self.1.py(), number));
        }
        self.1.clone()
    }
}

/// Intervals of the given text as ranges of bytes.
fn in_bytes(text: &Readable<'_>, intervals: Vec<(usize, usize)>) -> PyResult<Vec<Range<usize>>> {
    let mut places = text.places();
    let mut before = None;
    let mut ranges = Vec::with_capacity(intervals.len());
    for (start, end) in intervals {
        // An empty interval admits nothing, and two that meet are not apart.
        let is_in_order = start < end && before.is_none_or(|before| before < start);
        before = Some(end);
        let range = is_in_order.then(|| Some(places.byte(start)?..places.byte(end)?)).flatten();
        ranges.push(range.ok_or_else(|| {
            let what = format!(
                "({start}, {end}) is empty, not in order, not apart from the interval before, or not in the text"
            );
            PyValueError::new_err(what)
        })?);
    }
    Ok(ranges)
}

/// The ids of a text with their places and the numbers of their pieces; options and errors as `Tokenizer.encode`.
///
/// Args:
///     tokenizer: The tokenizer.
///     text: ``str``, whose places are characters; or UTF-8 ``bytes``, whose places are bytes. With ``errors="replace"``
///         places are those of the given text as well.
///     special: As for `Tokenizer.encode`.
///     added: As for `Tokenizer.encode`.
///     errors: As for `Tokenizer.encode`.
///
/// Returns:
///     Four columns: the ids; for each the start and end of its place in the text, whatever stages changed the text; the
///     number of its piece or added token; and a dict of surfaces by row. A token for a part of a character has the place
///     of the whole character. A surface is the normalized text of an added token that took white space, or of text that a
///     Unigram model does not know: other libraries spell these tokens so.
///
/// Example:
///     >>> import bytepair as bp
///     >>> tok = bp.train({"low": 5}, vocab_size=258, split="gpt2")
///     >>> bp.lowlevel.locate(tok, "low é!")
///     ([257, 32, 195, 169, 33], [(0, 3), (3, 4), (4, 5), (4, 5), (5, 6)], [0, 1, 1, 1, 2], {})
#[pyfunction]
#[pyo3(
    signature = (tokenizer, text, *, special=None, added=Added::Match, errors=OnInvalid::Strict),
    text_signature = "(tokenizer, text, *, special='raise', added='match', errors='strict')"
)]
pub(crate) fn locate<'py>(
    tokenizer: &Bound<'py, CoreTokenizer>,
    text: &Bound<'py, PyAny>,
    special: Option<&Bound<'py, PyAny>>,
    added: Added,
    errors: OnInvalid,
) -> PyResult<LocatedRows<'py>> {
    let (py, tokenizer) = (tokenizer.py(), tokenizer.get());
    let policy = OwnedPolicy::new(&tokenizer.inner, special, added)?;
    let text = Readable::new(text, errors)?;
    let located = run(py, text.text.len(), Threads::ALL, |_| tokenizer.inner.locate(&text.text, policy.borrowed()))?;
    let ids = list(py, &located, |token| Ok(tokenizer.int(py, token.id)))?;
    let (mut given, mut numbers) = (text.places(), Repeating::new(py));
    let places = list(py, &located, |token| {
        let start = numbers.int(given.given(token.start));
        (start, numbers.int(given.given(token.end))).into_pyobject(py)
    })?;
    let words = list(py, &located, |token| Ok(numbers.int(token.word as usize)))?;
    let surfaces = located.into_iter().enumerate();
    let by_row = PyDict::new(py);
    for (row, surface) in surfaces.filter_map(|(row, token)| Some((row, token.surface?))) {
        interrupt::check().map_err(|error| raise(py, error))?;
        by_row.set_item(row, string(py, &surface)?)?;
    }
    Ok((ids, places, words, by_row))
}

/// The ids of a batch with their places, without an object for each; options and errors as `Tokenizer.encode_batch`.
///
/// Args:
///     tokenizer: The tokenizer.
///     texts: A list of ``str`` and ``bytes``.
///     special: As for `Tokenizer.encode`.
///     added: As for `Tokenizer.encode`.
///     errors: As for `Tokenizer.encode`.
///     threads: As for `Tokenizer.encode_batch`.
///
/// Returns:
///     Five columns: the ids, uint32; the start of each row and the end of the last one, int64; the start and end of the place
///     of each id, as `locate` has them, in one flat array of int64; the number of the piece of each in its text, uint32; and
///     the surfaces that `locate` has, by place in the first.
#[pyfunction]
#[pyo3(signature = (tokenizer, texts, *, special, added, errors, threads))]
pub(crate) fn locate_batch<'py>(
    tokenizer: &Bound<'py, CoreTokenizer>,
    texts: Vec<Bound<'py, PyAny>>,
    special: Option<&Bound<'py, PyAny>>,
    added: Added,
    errors: OnInvalid,
    threads: Threads,
) -> PyResult<LocatedBatch<'py>> {
    let (py, inner) = (tokenizer.py(), &tokenizer.get().inner);
    import_numpy(py)?;
    let policy = OwnedPolicy::new(inner, special, added)?;
    let (contents, policy) = (Readable::all(&texts, errors, false)?, policy.borrowed());
    let work = |done: &mut Vec<(usize, Result<Row, Error>)>, row: usize| {
        done.push((row, Row::of(inner, &contents[row], policy).map_err(|error| error.row(row))));
    };
    let bytes = contents.iter().map(|content| content.text.len()).sum();
    let mut rows: Vec<_> =
        detached(py, bytes, || Ok(parallel::fold(contents.len(), threads.number(), Vec::new, work)))?
            .into_iter()
            .flatten()
            .collect();
    rows.sort_unstable_by_key(|&(row, _)| row);
    let rows: Vec<Row> =
        rows.into_iter().map(|(_, row)| row.map_err(|error| raise(py, error))).collect::<PyResult<_>>()?;
    let surfaces = PyDict::new(py);
    let mut ends: Vec<usize> = Vec::new();
    for row in &rows {
        let start = ends.last().copied().unwrap_or_default();
        for (at, surface) in &row.surfaces {
            surfaces.set_item(start + at, string(py, surface)?)?;
        }
        push(&mut ends, start + row.ids.len()).map_err(|error| raise(py, error))?;
    }
    let ids = collect(py, rows.iter().flat_map(|row| &row.ids).copied())?;
    let places = collect(py, rows.iter().flat_map(|row| row.places.as_flattened()).copied())?;
    let words = collect(py, rows.iter().flat_map(|row| &row.words).copied())?;
    Ok((array(py, ids)?, starts(py, &ends)?, array(py, places)?, array(py, words)?, surfaces))
}

/// The ids of one text of a batch, their places, the numbers of their pieces, and the surfaces of some.
struct Row {
    ids: Vec<u32>,
    places: Vec<[i64; 2]>,
    words: Vec<u32>,
    surfaces: Vec<(usize, Box<str>)>,
}

impl Row {
    fn of(tokenizer: &Tokenizer, content: &Readable<'_>, policy: Policy<'_>) -> Result<Self, Error> {
        let located = tokenizer.locate(&content.text, policy)?;
        let (mut given, mut surfaces) = (content.places(), Vec::new());
        let ids = memory::collect(located.iter().map(|token| token.id))?;
        let mut place = |at: usize| given.given(at).cast_signed() as i64;
        let places = memory::collect(located.iter().map(|token| [place(token.start), place(token.end)]))?;
        let words = memory::collect(located.iter().map(|token| token.word))?;
        for (at, surface) in located.into_iter().enumerate().filter_map(|(at, token)| Some((at, token.surface?))) {
            push(&mut surfaces, (at, surface))?;
        }
        Ok(Self { ids, places, words, surfaces })
    }
}

/// A list for each row of a batch, of the places of its ids, each a tuple of start and end.
///
/// Args:
///     places: Starts and ends, int64, one flat array.
///     starts: The number of the first place of each row, int64, and of the one behind the last.
#[pyfunction]
pub(crate) fn place_lists<'py>(
    py: Python<'py>,
    places: PyReadonlyArray1<'py, i64>,
    starts: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyList>> {
    let (places, starts) = (places.as_slice()?, starts.as_slice()?);
    let (places, _) = places.as_chunks::<2>();
    let mut numbers = Repeating::new(py);
    list(py, starts.windows(2), |row| {
        let range = usize::try_from(row[0]).ok().zip(usize::try_from(row[1]).ok());
        let row = range.and_then(|(start, end)| places.get(start..end));
        let row = row.ok_or_else(|| PyValueError::new_err("a row lies outside of the places"))?;
        list(py, row, |&[start, end]| {
            let start = numbers.int(start.cast_unsigned() as usize);
            (start, numbers.int(end.cast_unsigned() as usize)).into_pyobject(py)
        })
    })
}

/// The ids of a text with their places in bytes, without an object for each; options and errors as `Tokenizer.encode`.
///
/// Args:
///     tokenizer: The tokenizer.
///     text: ``str`` or UTF-8 ``bytes``.
///     special: As for `Tokenizer.encode`.
///     added: As for `Tokenizer.encode`.
///
/// Returns:
///     The ids, uint32; and the start and end of the place of each, in bytes of the UTF-8, in one flat array of int64. Starts
///     ascend: marks that a normal form put in another order overlap, and what they are part of starts with the first.
#[pyfunction]
#[pyo3(signature = (tokenizer, text, *, special, added))]
pub(crate) fn locate_bytes<'py>(
    tokenizer: &Bound<'py, CoreTokenizer>,
    text: &Bound<'py, PyAny>,
    special: Option<&Bound<'py, PyAny>>,
    added: Added,
) -> PyResult<Flat<'py>> {
    let (py, inner) = (tokenizer.py(), &tokenizer.get().inner);
    import_numpy(py)?;
    let policy = OwnedPolicy::new(inner, special, added)?;
    let text = Readable::new(text, OnInvalid::Strict)?;
    let (ids, places) = run(py, text.text.len(), Threads::ALL, |_| {
        let (mut ids, mut places) = room(text.text.len(), 1)?;
        inner.locate_each(&text.text, policy.borrowed(), |id, place| {
            ids.try_reserve(1).and_then(|()| places.try_reserve(1)).map_err(|_| Error::memory())?;
            ids.push(id);
            places.push([place.start, place.end].map(|place| place.cast_signed() as i64));
            Ok(())
        })?;
        let mut first = i64::MAX;
        for [start, _] in places.iter_mut().rev() {
            first = first.min(*start);
            *start = first;
        }
        Ok((ids, places))
    })?;
    Ok((array(py, ids)?, array(py, places.into_flattened())?))
}

/// The ids of a text in which only some parts may hold added tokens, with their places; errors as `Tokenizer.encode`.
///
/// Args:
///     tokenizer: The tokenizer.
///     text: One ``str``.
///     trusted: Intervals of the text, in characters, in order and apart. An added token is a token only if all of it lies
///         in one of them. Elsewhere its text is text like any other, unless it is white space, which controls nothing.
///
/// Returns:
///     The ids; and the start and end of the place of each, in characters, in one flat array of int32; of int64 for a text
///     whose places do not fit. Memory beyond text and result: little where stages keep the text or it can be
///     cut, else some 30 bytes a byte.
///
/// Raises:
///     ValueError: The intervals are not in order, or not in the text.
///
/// Example:
///     >>> import bytepair as bp
///     >>> tok = bp.train({"hi": 5}, vocab_size=258, special_tokens=["<|e|>"])
///     >>> ids, places = bp.lowlevel.locate_trusted(tok, "<|e|>hi<|e|>", [(0, 5)])
///     >>> ids[:3], len(ids), places.reshape(-1, 2)[:2].tolist()
///     (array([257, 256,  60]), 7, [[0, 5], [5, 7]])
#[pyfunction]
pub(crate) fn locate_trusted<'py>(
    tokenizer: &Bound<'py, CoreTokenizer>,
    text: &Bound<'py, PyString>,
    trusted: Vec<(usize, usize)>,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyAny>)> {
    let (py, inner) = (tokenizer.py(), &tokenizer.get().inner);
    import_numpy(py)?;
    let text = Readable::new(text.as_any(), OnInvalid::Strict)?;
    let trusted = in_bytes(&text, trusted)?;
    // Places are no longer than the UTF-8.
    if i32::try_from(text.text.len()).is_ok() {
        let (ids, places) = columns(py, inner, &text, &trusted, |place| i32::try_from(place).unwrap_or(i32::MAX))?;
        return Ok((array(py, ids)?, array(py, places)?.into_any()));
    }
    let (ids, places) = columns(py, inner, &text, &trusted, |place| place.cast_signed() as i64)?;
    Ok((array(py, ids)?, array(py, places)?.into_any()))
}

/// The ids, and the places as `number` makes them.
fn columns<N: Send>(
    py: Python<'_>,
    tokenizer: &Tokenizer,
    text: &Readable<'_>,
    trusted: &[Range<usize>],
    number: impl Fn(usize) -> N + Sync,
) -> PyResult<(Vec<i64>, Vec<N>)> {
    let mut given = text.places();
    run(py, text.text.len(), Threads::ALL, |_| {
        let (mut ids, mut places) = room(text.text.len(), 2)?;
        tokenizer.locate_trusted(&text.text, trusted, |id, place| {
            ids.try_reserve(1).and_then(|()| places.try_reserve(2)).map_err(|_| Error::memory())?;
            ids.push(i64::from(id));
            places.extend([number(given.given(place.start)), number(given.given(place.end))]);
            Ok(())
        })?;
        Ok((ids, places))
    })
}

/// Vectors for the ids of a text and for their places, so many items each. What is not written takes no memory; vectors that
/// grow are copied, and leave holes.
fn room<I, N>(bytes: usize, items: usize) -> Result<(Vec<I>, Vec<N>), Error> {
    let likely = bytes / 2;
    let (mut ids, mut places) = (Vec::new(), Vec::new());
    ids.try_reserve(likely).and_then(|()| places.try_reserve(items * likely)).map_err(|_| Error::memory())?;
    Ok((ids, places))
}

/// The added tokens in a text, as (id, start, end) in characters; errors as `Tokenizer.encode`.
///
/// Args:
///     tokenizer: The tokenizer.
///     text: One ``str``.
///     trusted: As for `locate_trusted`, for the tokens that it finds; None for all.
///
/// Example:
///     >>> import bytepair as bp
///     >>> tok = bp.train({"hi": 5}, vocab_size=258, special_tokens=["<|e|>"])
///     >>> bp.lowlevel.find_added(tok, "é<|e|>hi<|e|>"), bp.lowlevel.find_added(tok, "é<|e|>hi<|e|>", [(0, 5)])
///     ([(257, 1, 6), (257, 8, 13)], [])
#[pyfunction]
#[pyo3(signature = (tokenizer, text, trusted=None))]
pub(crate) fn find_added(
    tokenizer: &Bound<'_, CoreTokenizer>,
    text: &Bound<'_, PyString>,
    trusted: Option<Vec<(usize, usize)>>,
) -> PyResult<Vec<(u32, usize, usize)>> {
    let (py, inner) = (tokenizer.py(), &tokenizer.get().inner);
    let text = Readable::new(text.as_any(), OnInvalid::Strict)?;
    let trusted = trusted.map(|trusted| in_bytes(&text, trusted)).transpose()?;
    let found = run(py, text.text.len(), Threads::ALL, |_| inner.added_in(&text.text, trusted.as_deref()))?;
    let mut given = text.places();
    Ok(found.into_iter().map(|(id, at)| (id, given.given(at.start), given.given(at.end))).collect())
}
