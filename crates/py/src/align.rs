//! The groups of two tokenizations of the same texts.

use bytepair_core::align::{self, Side, groups, lengths};
use bytepair_core::pipeline::Run;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{array, import_numpy};
use crate::errors::collect;
use crate::options::{Added, OnInvalid, OwnedPolicy, Threads};
use crate::readable::Readable;
use crate::run::{detached, run};
use crate::tokenizer::CoreTokenizer;

/// Offsets, whether lengths say where the tokens are, lengths, and places.
type Given<'py> =
    (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, bool>, PyReadonlyArray1<'py, u8>, PyReadonlyArray2<'py, i64>);
type Column<'py, N = i64> = Bound<'py, PyArray1<N>>;

fn side<'a>((offsets, covers, lengths, places): &'a Given<'_>) -> PyResult<Side<'a>> {
    let (places, rest) = places.as_slice()?.as_chunks();
    let side = Side { offsets: offsets.as_slice()?, covers: covers.as_slice()?, lengths: lengths.as_slice()?, places };
    let is_sound = || {
        let tokens = usize::try_from(*side.offsets.last()?).ok()?;
        let all_cover = side.covers.iter().all(|&covers| covers);
        Some(
            rest.is_empty()
                && side.offsets.len() == side.covers.len() + 1
                && side.offsets[0] >= 0
                && side.offsets.is_sorted()
                && side.lengths.len() == tokens
                && (side.places.len() == tokens || all_cover),
        )
    };
    let wrong = || PyValueError::new_err("the columns of a side are those of as many texts and tokens");
    is_sound().filter(|&is_sound| is_sound).map(|_| side).ok_or_else(wrong)
}

/// The finest groups of tokens of two tokenizers that cover the same text.
///
/// Args:
///     a, b: For each tokenizer four columns: where the tokens of each text begin and the end of the last, int64; whether
///         the tokens of each text lie side by side and cover it; the length of each token, uint8; and where it starts
///         and ends, int64, shape ``(tokens, 2)``, or no rows if all texts are covered.
///
/// Returns:
///     The first group of each text and the end of the last; the first token of each group by the first tokenizer and the
///     end of the last group; the same by the second; and where each group starts and ends, in one flat array.
#[pyfunction]
pub(crate) fn align_tokens<'py>(
    py: Python<'py>,
    a: Given<'py>,
    b: Given<'py>,
) -> PyResult<(Column<'py>, Column<'py>, Column<'py>, Column<'py>)> {
    import_numpy(py)?;
    let (a, b) = (side(&a)?, side(&b)?);
    if a.covers.len() != b.covers.len() {
        return Err(PyValueError::new_err("both tokenizers have tokens of the same texts"));
    }
    let found = detached(py, a.lengths.len() + b.lengths.len(), || groups(a, b))?;
    let places = array(py, found.places.into_flattened())?;
    Ok((array(py, found.rows)?, array(py, found.a)?, array(py, found.b)?, places))
}

/// The length of each token of some texts in bytes, and whether they add up to the size of each text.
///
/// Args:
///     ids: The ids of all texts, uint32.
///     offsets: Where those of each text begin and the end of the last, int64.
///     sizes: The bytes of each text, int64.
///     of: The length of each id, uint8; 255 for one that no lengths are known with.
///     prefixed: Whether the first token of each text has a space that the text does not have.
///
/// Raises:
///     ValueError: The columns are not those of as many texts and tokens.
#[pyfunction]
pub(crate) fn token_lengths<'py>(
    py: Python<'py>,
    ids: PyReadonlyArray1<'py, u32>,
    offsets: PyReadonlyArray1<'py, i64>,
    sizes: PyReadonlyArray1<'py, i64>,
    of: PyReadonlyArray1<'py, u8>,
    prefixed: PyReadonlyArray1<'py, bool>,
) -> PyResult<(Column<'py, u8>, Column<'py, bool>)> {
    let (ids, offsets, sizes, of) = (ids.as_slice()?, offsets.as_slice()?, sizes.as_slice()?, of.as_slice()?);
    let prefixed = prefixed.as_slice()?;
    let ends_with_ids = offsets.last().and_then(|&end| usize::try_from(end).ok()) == Some(ids.len());
    if !(offsets.len() == sizes.len() + 1
        && prefixed.len() == sizes.len()
        && offsets[0] == 0
        && offsets.is_sorted()
        && ends_with_ids)
    {
        return Err(PyValueError::new_err("the columns are those of as many texts and tokens"));
    }
    let (lengths, covers) = detached(py, ids.len(), || lengths(ids, offsets, sizes, of, prefixed))?;
    Ok((array(py, lengths)?, array(py, covers)?))
}

/// The ranges of a text, in bytes, that the stages before the patterns may change, in one flat array of int64; None if there are
/// none.
///
/// Args:
///     tokenizer: The tokenizer.
///     text: ``str`` or UTF-8 ``bytes``.
#[pyfunction]
pub(crate) fn may_change<'py>(
    tokenizer: &Bound<'py, CoreTokenizer>,
    text: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
    let (py, inner) = (tokenizer.py(), &tokenizer.get().inner);
    let text = Readable::new(text, OnInvalid::Strict)?;
    let ranges = run(py, text.text.len(), Threads::ONE, |_| align::may_change(inner, &text.text))?;
    if ranges.is_empty() {
        return Ok(None);
    }
    import_numpy(py)?;
    let places = ranges.into_iter().flat_map(|range| [range.start, range.end]);
    Ok(Some(array(py, collect(py, places.map(|place| place.cast_signed() as i64))?)?))
}

/// The length of each token of a text, in bytes of it, where tokens lie side by side; None where they do not.
///
/// Args:
///     tokenizer: The tokenizer.
///     text: ``str`` or UTF-8 ``bytes``, of which stages keep most.
///     ids: The ids of the text, uint32.
///     of: As for `token_lengths`.
///     changes: Of `may_change`.
///     special: As for `Tokenizer.encode`.
///     added: As for `Tokenizer.encode`.
///
/// Returns:
///     uint8: 0 for a token that cannot be told apart from the one behind it, such as parts of a character that stages made.
#[pyfunction]
#[pyo3(signature = (tokenizer, text, ids, of, changes, *, special, added))]
pub(crate) fn text_lengths<'py>(
    tokenizer: &Bound<'py, CoreTokenizer>,
    text: &Bound<'py, PyAny>,
    ids: PyReadonlyArray1<'py, u32>,
    of: PyReadonlyArray1<'py, u8>,
    changes: PyReadonlyArray1<'py, i64>,
    special: Option<&Bound<'py, PyAny>>,
    added: Added,
) -> PyResult<Option<Bound<'py, PyArray1<u8>>>> {
    let (py, inner) = (tokenizer.py(), &tokenizer.get().inner);
    import_numpy(py)?;
    let policy = OwnedPolicy::new(inner, special, added)?;
    let text = Readable::new(text, OnInvalid::Strict)?;
    let (ids, of) = (ids.as_slice()?, of.as_slice()?);
    let changes = changes.as_slice()?.as_chunks().0.iter();
    let place = |place| usize::try_from(place).ok().filter(|&place| text.text.is_char_boundary(place));
    let ranges = changes.map(|&[start, end]| Some(place(start)?..place(end)?).filter(|range| !range.is_empty()));
    let ranges =
        ranges.collect::<Option<Vec<_>>>().filter(|ranges| ranges.is_sorted_by(|one, next| one.end <= next.start));
    let ranges = ranges.ok_or_else(|| PyValueError::new_err("the changes are ranges of the text, in order"))?;
    let lengths = |_: Run<'_>| align::lengths_around(inner, &text.text, policy.borrowed(), ids, of, &ranges);
    let found = run(py, text.text.len(), Threads::ONE, lengths)?;
    found.map(|found| array(py, found)).transpose()
}
