//! The tokenizer as a Python class. Long because its docstrings and signatures are Python's; no method does more than
//! convert, call and map errors.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use bytepair_core::decode::{TOGETHER, TextDecoder};
use bytepair_core::encode::Count;
use bytepair_core::merge::canonical_merges as canonical;
use bytepair_core::model::Random;
use bytepair_core::normalize::Normalizer;
use bytepair_core::pipeline::{Batch, Draw, Frame, Gather, Model, Parts, Run, Span, is_white};
use bytepair_core::pre_tokenize::PreTokenizer;
use bytepair_core::segment::{Policy, Steps};
use bytepair_core::split::Pattern;
use bytepair_core::split::added::AddedToken;
use bytepair_core::vocab::Semantics;
use bytepair_core::{Error, Kind, Tokenizer, Vocab, parallel};
use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};

use crate::buffer::{self, EachRow, Rows};
use crate::columns::Columns;
use crate::encoder::Encoder;
use crate::encoding_stream::EncodingStream;
use crate::errors::{in_row, raise};
use crate::growing::{self, Appender, Prepender};
use crate::index::{self, TextIndex};
use crate::ints::Ints;
use crate::stages::parsed;
use crate::stream::{StreamBatch, StreamDecoder};
use crate::text::{OnInvalid, Part, Said, Texts};
use crate::watch::stoppable;

/// Texts of fewer bytes are encoded without letting other Python threads run, which would cost more than it gives.
const BYTES_TO_DETACH: usize = 4096;

/// While more bytes are encoded, Ctrl-C is listened to.
const BYTES_TO_WATCH: usize = 10_000_000;

/// Arrays of fewer elements are copied into memory of numpy's own; larger ones are handed over as they are.
const ELEMENTS_TO_HAND_OVER: usize = 4096;

/// Content, id, special, single_word, lstrip, rstrip, normalized.
type AddedRow = (String, u32, bool, bool, bool, bool, bool);

/// Ids, and offsets or places.
type FlatBatch<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>);

fn vocab(py: Python<'_>, tokens: Vec<&[u8]>, ids: &[u32], semantics: Semantics) -> PyResult<Vocab> {
    py.detach(|| Vocab::new(&tokens, ids, semantics)).map_err(|error| raise(py, error))
}

/// The merge that makes each token of more than one byte, in id order, as pairs of ids; FormatError if there is a token
/// for which ranks and merges are not proved to agree.
#[pyfunction]
pub(crate) fn canonical_merges(py: Python<'_>, tokens: Vec<PyBackedBytes>, ids: Vec<u32>) -> PyResult<Vec<(u32, u32)>> {
    let vocab = vocab(py, tokens.iter().map(|token| &**token).collect(), &ids, Semantics::Ranks)?;
    py.detach(|| canonical(&vocab)).map_err(|error| raise(py, error))
}

/// Ids, their places, the numbers of their pieces, and what some stand for.
type LocatedRows<'py> = (Bound<'py, PyList>, Vec<(usize, usize)>, Vec<u32>, BTreeMap<usize, String>);

/// The compiled core of a tokenizer: immutable, shared by threads.
#[pyclass(subclass, frozen, module = "bytepair._core")]
pub(crate) struct CoreTokenizer {
    pub(crate) inner: Tokenizer,
    ints: Ints,
}

/// Runs what encodes so many bytes in the way that suits their number.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    bytes: usize,
    threads: Option<usize>,
    job: impl FnOnce(Run<'_>) -> bytepair_core::Result<T> + Send,
) -> PyResult<T> {
    if bytes >= BYTES_TO_WATCH {
        return stoppable(py, |stop| job(Run { threads, stop: Some(stop) }));
    }
    let run = Run { threads, stop: None };
    let result = if bytes < BYTES_TO_DETACH { job(run) } else { py.detach(|| job(run)) };
    result.map_err(|error| raise(py, error))
}

/// Hands the texts of a batch to `job`.
fn with_batch<T: Send>(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    errors: &str,
    threads: Option<usize>,
    job: impl FnOnce(&Batch<'_>, Run<'_>) -> bytepair_core::Result<T> + Send,
) -> PyResult<T> {
    check_threads(threads)?;
    if texts.is_instance_of::<PyString>() || texts.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("a batch is a sequence of texts, not one text; call encode or count"));
    }
    let on_invalid = OnInvalid::parse(errors)?;
    let texts = Texts::many(texts)?;
    let parts = texts.utf8(on_invalid).map_err(|(row, error)| in_row(py, error, row))?;
    let batch = texts.batch(&parts);
    let bytes = parts.iter().map(|part| part.span().text().len()).sum();
    run(py, bytes, threads, |run| job(&batch, run))
}

impl CoreTokenizer {
    #[allow(clippy::too_many_arguments, reason = "options of the public call")]
    /// A list of the ints that it keeps.
    pub(crate) fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        self.ints.list(py, ids)
    }

    fn drawn(&self, py: Python<'_>, text: &str, said: &Said, draw: Draw, random: &mut Random) -> PyResult<Vec<u32>> {
        let mut ids = Vec::new();
        let drawn = || self.inner.draw(text, said.policy(), draw, random, &mut ids).map(|()| ids);
        let drawn = if text.len() < BYTES_TO_DETACH { drawn() } else { py.detach(drawn) };
        drawn.map_err(|error| raise(py, error))
    }

    fn encode_one<S: Gather>(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        special: Option<&Bound<'_, PyAny>>,
        added: &str,
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<S> {
        let said = Said::new(&self.inner, special, added)?;
        let on_invalid = OnInvalid::parse(errors)?;
        if threads.is_some() {
            check_threads(threads)?;
        }
        if let Ok(text) = text.cast::<PyString>()
            && let Ok(text) = text.to_str()
        {
            return self.encode_spans(py, &[Span::Text(text)], said.policy(), threads);
        }
        let texts = Texts::one(text)?;
        let parts = texts.utf8(on_invalid).map_err(|(_, error)| error)?;
        let spans: Vec<_> = parts.iter().map(Part::span).collect();
        self.encode_spans(py, &spans, said.policy(), threads)
    }

    fn encode_spans<S: Gather>(
        &self,
        py: Python<'_>,
        spans: &[Span<'_>],
        policy: Policy<'_>,
        threads: Option<usize>,
    ) -> PyResult<S> {
        let bytes = spans.iter().map(|span| span.text().len()).sum();
        run(py, bytes, threads, |run| self.inner.encode_whole(spans, policy, run))
    }
}

/// A seed of its own for a call that names none.
fn seed_or_new(seed: Option<u64>) -> u64 {
    seed.unwrap_or_else(|| RandomState::new().hash_one(0))
}

/// Places in bytes, which are all at characters, as places in characters. They seldom go back, and never far.
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

/// An array of these elements, without copying many of them.
pub(crate) fn array<T: Element + Copy>(py: Python<'_>, mut elements: Vec<T>) -> Bound<'_, PyArray1<T>> {
    if elements.len() < ELEMENTS_TO_HAND_OVER {
        return PyArray1::from_slice(py, &elements);
    }
    elements.shrink_to_fit();
    PyArray1::from_vec(py, elements)
}

/// Imports numpy by Python's own means, so that a failure is an exception: the bindings would panic.
pub(crate) fn import_numpy(py: Python<'_>) -> PyResult<()> {
    static THERE: PyOnceLock<()> = PyOnceLock::new();
    THERE.get_or_try_init(py, || py.import("numpy").map(|_| ())).copied()
}

/// The number of threads for a call.
pub(crate) fn check_threads(threads: Option<usize>) -> PyResult<usize> {
    match threads {
        Some(0) => Err(PyValueError::new_err("threads=0 would do nothing; use None for all cores")),
        threads => Ok(parallel::threads(threads)),
    }
}

#[pymethods]
impl CoreTokenizer {
    #[new]
    #[pyo3(signature = (
        *, columns, ignore_merges, added, normalizers, prefix_space, patterns, pre_tokenizers, decoders, model
    ))]
    #[allow(clippy::too_many_arguments, reason = "what a TokenizerSpec holds, by keyword")]
    fn new(
        py: Python<'_>,
        columns: &Bound<'_, Columns>,
        ignore_merges: bool,
        added: Vec<AddedRow>,
        normalizers: Vec<String>,
        prefix_space: bool,
        patterns: Vec<String>,
        pre_tokenizers: Vec<String>,
        decoders: Vec<String>,
        model: Option<&str>,
    ) -> PyResult<Self> {
        let columns = columns.get();
        let Columns { tokens, merges, scores } = columns;
        let model = match model {
            None => Model::Bytes(vocab(py, tokens.tokens().collect(), &tokens.ids, columns.semantics(ignore_merges))?),
            Some(options) => py
                .detach(|| Model::of_characters(tokens, merges.as_deref(), scores.as_deref(), options))
                .map_err(|error| raise(py, error))?,
        };
        let added = added.into_iter().map(|(content, id, special, single_word, lstrip, rstrip, normalized)| {
            AddedToken { content, id, special, single_word, lstrip, rstrip, normalized }
        });
        let steps = || -> bytepair_core::Result<_> {
            let steps = Steps {
                normalizers: parsed(&normalizers, Normalizer::parse)?,
                prefix_space,
                pre_tokenizers: parsed(&pre_tokenizers, PreTokenizer::parse)?,
                patterns: parsed(&patterns, Pattern::new)?,
            };
            Ok((steps, parsed(&decoders, TextDecoder::parse)?))
        };
        let (steps, decoders) = steps().map_err(|error| raise(py, error))?;
        let parts = Parts { model, added: added.collect(), steps, decoders };
        let inner = Tokenizer::new(parts).map_err(|error| raise(py, error))?;
        // One huge id costs no memory.
        let bound = usize::try_from(inner.vocab_size()).unwrap_or(usize::MAX).min(inner.token_count() * 2 + 65_536);
        Ok(Self { inner, ints: Ints::below(bound) })
    }

    /// The ids of a text.
    ///
    /// Args:
    ///     text: ``str``, UTF-8 ``bytes``, or a list of these and of `Control`, which is encoded as one text.
    ///     special: What becomes of special tokens in the text: ``"raise"`` an error, ``"text"`` encode them like any
    ///         text, ``"allow"`` let text become them, or a set of those that may, the others being errors.
    ///     added: What becomes of added tokens that are not special: ``"match"``, ``"text"`` or ``"raise"``.
    ///     errors: For lone surrogates and bytes that are not UTF-8: ``"strict"`` raises, ``"replace"`` encodes U+FFFD.
    ///     threads: Up to how many threads for one text; None for one thread up to a megabyte, and all cores for more.
    ///         A long text is cut where the split pattern cuts it anyway: threads never change an id or an error.
    ///     dropout: The probability with which each merge is passed over, each time it is its turn (BPE-dropout); by one
    ///         thread, and not for a list of texts.
    ///     seed: With `dropout`: the same seed gives the same ids, on every machine; None draws anew.
    ///
    /// Returns:
    ///     A list of ints, one object for each id: a second list of the same ids takes eight bytes an id.
    ///
    /// Raises:
    ///     SpecialTokenError: The text holds a token that the call does not allow.
    ///     EncodeError: The text is not Unicode, or a byte of it has no token.
    ///     PatternError: The split pattern ran out of its step budget (never with a named pattern).
    ///
    /// Time is linear in the text, n log n in its longest piece. Other Python threads run while more than a few thousand
    /// bytes are encoded; from ten million bytes on, Ctrl-C is heard as well, but within a piece.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=260, special_tokens=["<|end|>"])
    ///     >>> tok.encode("lower")
    ///     [257, 258]
    ///     >>> tok.encode("low<|end|>", special="allow")
    ///     [257, 259]
    #[pyo3(
        signature = (text, *, special=None, added="match", errors="strict", threads=None, dropout=None, seed=None),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict', threads=None, dropout=None, seed=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "options of the public call")]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: &str,
        errors: &str,
        threads: Option<usize>,
        dropout: Option<f64>,
        seed: Option<u64>,
    ) -> PyResult<Bound<'py, PyList>> {
        let Some(rate) = dropout else {
            if seed.is_some() {
                return Err(PyValueError::new_err("a seed is for dropout, which is not asked for"));
            }
            let ids: Vec<u32> = self.encode_one(py, text, special, added, errors, threads)?;
            return self.ints.list(py, &ids);
        };
        if threads.is_some_and(|threads| threads > 1) {
            return Err(PyValueError::new_err("dropout is drawn by one thread"));
        }
        let said = Said::new(&self.inner, special, added)?;
        let text = crate::text::utf8(text, OnInvalid::parse(errors)?)?;
        let ids = self.drawn(py, &text, &said, Draw::Dropout(rate), &mut Random::new(seed_or_new(seed)))?;
        self.ints.list(py, &ids)
    }

    /// The ids of a text as a numpy array of uint32 that owns its memory; options and errors as `encode`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).encode_array("low low")
    ///     array([257,  32, 257], dtype=uint32)
    #[pyo3(
        signature = (text, *, special=None, added="match", errors="strict", threads=None),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict', threads=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "options of the public call")]
    fn encode_array<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: &str,
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        import_numpy(py)?;
        Ok(array(py, self.encode_one(py, text, special, added, errors, threads)?))
    }

    /// The number of ids of a text; options and errors as `encode`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5}, vocab_size=258)
    ///     >>> tok.count("low low"), tok.count("low " * 1_000_000, threads=2)
    ///     (3, 2000000)
    #[pyo3(
        signature = (text, *, special=None, added="match", errors="strict", threads=None),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict', threads=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "options of the public call")]
    fn count<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: &str,
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<u64> {
        Ok(self.encode_one::<Count>(py, text, special, added, errors, threads)?.0)
    }

    /// The number of ids of a text if that is at most `limit`, else None; options and errors as `encode`.
    ///
    /// Stops soon after the limit is passed, and reports errors only in what it read: a text of more bytes than `limit` of
    /// the longest tokens is not encoded at all. Tokenizers with normalizers or ``prefix_space`` count the whole text.
    ///
    /// Args:
    ///     text: ``str`` or UTF-8 ``bytes``.
    ///     limit: The most ids.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5}, vocab_size=258)
    ///     >>> tok.count_until("low low", 3), tok.count_until("low " * 1_000_000, 3)
    ///     (3, None)
    #[pyo3(
        signature = (text, limit, *, special=None, added="match", errors="strict"),
        text_signature = "($self, text, limit, *, special='raise', added='match', errors='strict')"
    )]
    fn count_until(
        &self,
        text: &Bound<'_, PyAny>,
        limit: u64,
        special: Option<&Bound<'_, PyAny>>,
        added: &str,
        errors: &str,
    ) -> PyResult<Option<u64>> {
        let said = Said::new(&self.inner, special, added)?;
        index::count_until(self, text, limit, &said, OnInvalid::parse(errors)?)
    }

    /// An index of a text, by which any interval of it is counted without encoding it; options and errors as `encode`.
    ///
    /// Goes through the text once. An interval then costs a search and the encoding of about a hundred bytes at each end,
    /// wherever the text can be cut (between most words), and that of a few tokens if there is no split pattern. Memory: a
    /// quarter of a byte for each byte of text, and an eighth for each character of a ``str`` that is not ASCII; without a
    /// split pattern 16 bytes for each byte. Tokenizers with normalizers, ``prefix_space``, added tokens that take white
    /// space, or a split pattern that needs backtracking encode the interval; so do those without a split pattern whose
    /// tokens can be made in several ways.
    ///
    /// Args:
    ///     text: ``str``, whose intervals are characters; or UTF-8 whose intervals are bytes: ``bytes``, or a buffer such as
    ///         ``mmap.mmap``, which is read a window at a time and has to stay as it is.
    ///
    /// Returns:
    ///     `TextIndex`, with ``count(start, end)``, ``ids(start, end)``, ``len`` and ``nbytes``. ``start`` and ``end`` are meant
    ///     as in a slice. EncodeError for a place inside a character of bytes.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    ///     >>> index = tok.index("lower low lower")
    ///     >>> index.count(), index.count(6, 9), index.ids(0, 5), len(index)
    ///     (7, 1, [257, 258], 15)
    #[pyo3(
        signature = (text, *, special=None, added="match"),
        text_signature = "($self, text, *, special='raise', added='match')"
    )]
    fn index(
        slf: &Bound<'_, Self>,
        text: &Bound<'_, PyAny>,
        special: Option<&Bound<'_, PyAny>>,
        added: &str,
    ) -> PyResult<TextIndex> {
        let said = Said::new(&slf.get().inner, special, added)?;
        TextIndex::new(slf, text, said)
    }

    /// The longest part of a text that has at most `limit` ids, cut between characters; options and errors as `encode`.
    ///
    /// Reads little more than the limit needs, and reports errors only in what it read.
    ///
    /// Args:
    ///     text: ``str`` or UTF-8 ``bytes``.
    ///     limit: The most ids.
    ///     side: ``"left"`` keeps the beginning of the text, ``"right"`` its end.
    ///
    /// Returns:
    ///     The part, of the type of `text`; empty if not even one character fits. No longer part fits, although counts are
    ///     not monotone: one more character can make fewer ids.
    ///
    /// Time is linear in the part, as with ``appender()``, and with the tokenizers that it names as slow quadratic in the text.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    ///     >>> tok.fit("low lower", 3), tok.fit("low lower", 3, side="right")
    ///     ('low low', ' lower')
    #[pyo3(
        signature = (text, limit, side="left", *, special=None, added="match"),
        text_signature = "($self, text, limit, side='left', *, special='raise', added='match')"
    )]
    fn fit<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        limit: u64,
        side: &str,
        special: Option<&Bound<'py, PyAny>>,
        added: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let said = Said::new(&self.inner, special, added)?;
        growing::fit(self, text, limit, growing::side(side)?, &said)
    }

    /// The longest part of each text of a batch, on several threads; options as `fit`, errors with their row.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).fit_batch(["low low", "", "slow"], 1)
    ///     ['low', '', 's']
    #[pyo3(
        signature = (texts, limit, side="left", *, special=None, added="match", threads=None),
        text_signature = "($self, texts, limit, side='left', *, special='raise', added='match', threads=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "options of the public call")]
    fn fit_batch<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        limit: u64,
        side: &str,
        special: Option<&Bound<'py, PyAny>>,
        added: &str,
        threads: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let said = Said::new(&self.inner, special, added)?;
        growing::fit_batch(self, texts, limit, growing::side(side)?, &said, check_threads(threads)?)
    }

    /// A text that grows at its end, counted at any moment: `Appender`.
    ///
    /// Args:
    ///     special: As for `encode`; what it does not allow raises when the text is counted.
    ///     added: As for `encode`.
    ///
    /// Appending does nothing but keep the text, and a count does what was not done since the last one. Time is linear in the
    /// text, whatever the pieces are and however often it is counted, also for one endless word; what comes in many parts
    /// and is counted once takes little more than encoding it. Slower are tokenizers with normalizers, ``prefix_space``,
    /// added tokens that mind what is around them, or a pattern that needs backtracking (each count encodes the text), with
    /// several patterns in a row (the text since the last cut), and with a vocabulary in which tokens are made in several
    /// ways, such as Llama 3 (the piece at the end). Memory: the text, and eight bytes for each byte in pieces of more than a
    /// thousand. For one thread at a time.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> appender = bp.train({"low": 5, "lower": 2}, vocab_size=259).appender()
    ///     >>> appender.append("low")
    ///     >>> mark = appender.mark()
    ///     >>> appender.append("er")
    ///     >>> appender.count(), appender.ids(), appender.fits(" low", 3)
    ///     (2, [257, 258], False)
    ///     >>> appender.rollback(mark)
    ///     >>> appender.count(), appender.text
    ///     (1, 'low')
    #[pyo3(
        signature = (*, special=None, added="match"),
        text_signature = "($self, *, special='raise', added='match')"
    )]
    fn appender(slf: &Bound<'_, Self>, special: Option<&Bound<'_, PyAny>>, added: &str) -> PyResult<Appender> {
        let said = Said::new(&slf.get().inner, special, added)?;
        Ok(Appender::new(slf.clone().unbind(), said))
    }

    /// A text that grows at its front, counted at any moment: `Prepender`; options and cost as `appender`, and up to forty
    /// bytes of memory for each byte where the text cannot be cut.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> prepender = bp.train({"low": 5, "lower": 2}, vocab_size=259).prepender()
    ///     >>> for word in ["er", " low"]:
    ///     ...     prepender.prepend(word)
    ///     ...     print(prepender.text, prepender.count())
    ///     er 1
    ///      lower 3
    #[pyo3(
        signature = (*, special=None, added="match"),
        text_signature = "($self, *, special='raise', added='match')"
    )]
    fn prepender(slf: &Bound<'_, Self>, special: Option<&Bound<'_, PyAny>>, added: &str) -> PyResult<Prepender> {
        let said = Said::new(&slf.get().inner, special, added)?;
        Ok(Prepender::new(slf.clone().unbind(), said))
    }

    /// The ids of each text of a batch, on several threads; options and errors as `encode`, errors with their row.
    ///
    /// Args:
    ///     texts: A sequence of what `encode` takes.
    ///     threads: Up to how many threads; None for all cores. It never changes an id.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).encode_batch(["low", "", "w"])
    ///     [[257], [], [119]]
    #[pyo3(
        signature = (texts, *, special=None, added="match", errors="strict", threads=None),
        text_signature = "($self, texts, *, special='raise', added='match', errors='strict', threads=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "options of the public call")]
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: &str,
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (ids, ends) = self.flat_batch(py, texts, special, added, errors, threads)?;
        let mut start = 0;
        let rows = ends.into_iter().map(|end| self.ints.list(py, &ids[std::mem::replace(&mut start, end)..end]));
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }

    /// The ids of a batch in one uint32 array, and the int64 array of where each row starts and the last one ends.
    #[pyo3(
        signature = (texts, *, special=None, added="match", errors="strict", threads=None),
        text_signature = "($self, texts, *, special='raise', added='match', errors='strict', threads=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "options of the public call")]
    fn encode_batch_flat<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: &str,
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<FlatBatch<'py>> {
        import_numpy(py)?;
        let (ids, ends) = self.flat_batch(py, texts, special, added, errors, threads)?;
        let offsets = std::iter::once(0).chain(ends).map(usize::cast_signed).map(|end| end as i64).collect();
        Ok((array(py, ids), array(py, offsets)))
    }

    /// The ids of texts that lie in one buffer, each by itself: what cannot be encoded is told and not raised.
    ///
    /// Args:
    ///     data: The bytes of all texts, a uint8 array, and possibly of others around them.
    ///     offsets: One more than there are texts, an int64 array that never falls: text i is the UTF-8
    ///         ``data[offsets[i]:offsets[i + 1] - gap]``.
    ///     special: As for `encode`.
    ///     added: As for `encode`.
    ///     errors: As for `encode`.
    ///     prefix: Ids that stand in front of the ids of each text.
    ///     suffix: Ids that stand behind them.
    ///     gap: How many bytes stand behind each text and belong to none, such as a delimiter.
    ///
    /// Returns:
    ///     The ids of all texts in one uint32 array; the int64 array of where those of each text start and the last end,
    ///     from 0; and of each text that cannot be encoded its number and the error that `encode` raises for it, which
    ///     says the ``row`` as well. Such a text has no ids at all, not even a prefix.
    ///
    /// Raises:
    ///     ValueError: The offsets fall, leave the data, or lie closer together than `gap`.
    ///     InvalidIdError: An id of `prefix` or `suffix` is no token's.
    ///
    /// One thread encodes, while other Python threads run: for many processes or threads side by side. From ten million
    /// bytes on, Ctrl-C is heard.
    ///
    /// Example:
    ///     >>> import bytepair as bp, numpy as np
    ///     >>> tok = bp.train({"low": 5}, vocab_size=259, special_tokens=["<|end|>"])
    ///     >>> data, offsets = np.frombuffer(b"low<|end|>slow", np.uint8), np.array([0, 3, 10, 14])
    ///     >>> ids, starts, faults = tok.encode_buffer(data, offsets, suffix=[tok.token_id("<|end|>")])
    ///     >>> ids.tolist(), starts.tolist(), [(row, type(error).__name__) for row, error in faults]
    ///     ([257, 258, 115, 257, 258], [0, 2, 2, 5], [(1, 'SpecialTokenError')])
    #[pyo3(
        signature = (data, offsets, *, special=None, added="match", errors="strict", prefix=None, suffix=None, gap=0),
        text_signature = "($self, data, offsets, *, special='raise', added='match', errors='strict', prefix=(), suffix=(), gap=0)"
    )]
    #[allow(clippy::too_many_arguments, reason = "options of the public call")]
    fn encode_buffer<'py>(
        &self,
        py: Python<'py>,
        data: PyReadonlyArray1<'py, u8>,
        offsets: PyReadonlyArray1<'py, i64>,
        special: Option<&Bound<'py, PyAny>>,
        added: &str,
        errors: &str,
        prefix: Option<&Bound<'py, PyAny>>,
        suffix: Option<&Bound<'py, PyAny>>,
        gap: usize,
    ) -> PyResult<EachRow<'py>> {
        let said = Said::new(&self.inner, special, added)?;
        let on_invalid = OnInvalid::parse(errors)?;
        let (prefix, suffix) = (self.known_ids(py, prefix)?, self.known_ids(py, suffix)?);
        let frame = Frame { prefix: &prefix, suffix: &suffix };
        let rows = Rows { data: data.as_slice()?, offsets: offsets.as_slice()?, gap };
        buffer::encode(py, &self.inner, rows, frame, on_invalid, &said)
    }

    /// The number of ids of each text of a batch; options and errors as `encode_batch`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).count_batch(["low", "", "slow"])
    ///     [1, 0, 2]
    #[pyo3(
        signature = (texts, *, special=None, added="match", errors="strict", threads=None),
        text_signature = "($self, texts, *, special='raise', added='match', errors='strict', threads=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "options of the public call")]
    fn count_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        special: Option<&Bound<'_, PyAny>>,
        added: &str,
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<Vec<u64>> {
        let said = Said::new(&self.inner, special, added)?;
        with_batch(py, texts, errors, threads, |batch, run| self.inner.count_batch(batch, said.policy(), run))
    }

    /// The ids of a text with their places and the numbers of their pieces; options and errors as `encode`.
    ///
    /// Args:
    ///     text: ``str``, whose places are in characters; or UTF-8 ``bytes``, whose places are in bytes.
    ///
    /// Returns:
    ///     Ids; for each the start and the end of what it stands for in the text, whatever steps changed it before; and the
    ///     number of its piece, or of the added token that it is. A token that covers a part of a character has the place of
    ///     the whole character. Last, by row, the normalized text of added tokens that took white space, and of what a
    ///     Unigram model does not know: other libraries spell these tokens so.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258, split="gpt2").located("low é!")
    ///     ([257, 32, 195, 169, 33], [(0, 3), (3, 4), (4, 5), (4, 5), (5, 6)], [0, 1, 1, 1, 2], {})
    #[pyo3(
        signature = (text, *, special=None, added="match", errors="strict"),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict')"
    )]
    fn located<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: &str,
        errors: &str,
    ) -> PyResult<LocatedRows<'py>> {
        let said = Said::new(&self.inner, special, added)?;
        let in_characters = text.is_instance_of::<PyString>();
        let text = crate::text::utf8(text, OnInvalid::parse(errors)?)?;
        let policy = said.policy();
        let located = run(py, text.len(), None, |_| self.inner.locate(&text, policy))?;
        let ids: Vec<u32> = located.iter().map(|token| token.id).collect();
        let mut places: Vec<_> = located.iter().map(|token| (token.start, token.end)).collect();
        if in_characters && !text.is_ascii() {
            characters(&text, &mut places);
        }
        let words = located.iter().map(|token| token.word).collect();
        let surfaces = located.into_iter().enumerate();
        let surfaces = surfaces.filter_map(|(row, token)| Some((row, token.surface?.into_string()))).collect();
        Ok((self.ints.list(py, &ids)?, places, words, surfaces))
    }

    /// The ids of a text of which only parts may hold added tokens, with their places; errors as `encode`.
    ///
    /// Args:
    ///     text: One ``str``.
    ///     trusted: Intervals of the text, in characters, in order and apart from one another: an added token stands only
    ///         where all of it lies in one of them. Elsewhere what looks like one is text like any other, but for tokens
    ///         that are white space, which control nothing.
    ///
    /// Returns:
    ///     Ids; and for each the start and the end of what it stands for, in characters, in one flat array of int64.
    ///
    /// Raises:
    ///     ValueError: The intervals are not in order, or not in the text.
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
        let text = crate::text::utf8(text.as_any(), OnInvalid::parse("strict")?)?;
        let trusted = in_bytes(&text, trusted)?;
        let located = run(py, text.len(), None, |_| self.inner.locate_trusted(&text, &trusted))?;
        let mut places: Vec<_> = located.iter().map(|token| (token.start, token.end)).collect();
        if !text.is_ascii() {
            characters(&text, &mut places);
        }
        let ids = located.iter().map(|token| token.id).collect();
        let places = places.into_iter().flat_map(|(start, end)| [start.cast_signed() as i64, end.cast_signed() as i64]);
        Ok((array(py, ids), array(py, places.collect())))
    }

    /// The added tokens in a text, as (id, start, end) in characters; errors as `encode`.
    ///
    /// Args:
    ///     text: One ``str``.
    ///     trusted: As for `located_trusted`, those that it lets stand; None for all.
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
        let text = crate::text::utf8(text.as_any(), OnInvalid::parse("strict")?)?;
        let trusted = trusted.map(|trusted| in_bytes(&text, trusted)).transpose()?;
        let found = run(py, text.len(), None, |_| self.inner.added_in(&text, trusted.as_deref()))?;
        let (ids, mut places): (Vec<_>, Vec<_>) = found.into_iter().map(|(id, at)| (id, (at.start, at.end))).unzip();
        if !text.is_ascii() {
            characters(&text, &mut places);
        }
        Ok(ids.into_iter().zip(places).map(|(id, (start, end))| (id, start, end)).collect())
    }

    /// The added tokens that text from others must not become, and their ids, by id: all but those that are white space.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"hi": 5}, vocab_size=258, special_tokens=["<|e|>"]).reserved_tokens
    ///     {'<|e|>': 257}
    #[getter]
    fn reserved_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let reserved = PyDict::new(py);
        let mut added: Vec<_> = self.inner.added().iter().filter(|token| !is_white(&token.content)).collect();
        added.sort_unstable_by_key(|token| token.id);
        added.into_iter().try_for_each(|token| reserved.set_item(&token.content, token.id))?;
        Ok(reserved)
    }

    /// Some encodings of a text that are drawn, so that a model trained on them relies less on one spelling.
    ///
    /// Args:
    ///     text: As for `encode`, but no list.
    ///     n: How many to draw.
    ///     alpha: Of Unigram models: a segmentation is drawn with its probability to this power. Of models that merge: the
    ///         probability with which each merge is passed over, each time it is its turn (BPE-dropout).
    ///     seed: The same seed draws the same, on every machine; None draws anew.
    ///     special: As for `encode`.
    ///     added: As for `encode`.
    ///     errors: As for `encode`.
    ///
    /// Raises:
    ///     EncodeError: The model can only be encoded in one way, or `alpha` is out of range; and what `encode` raises.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    ///     >>> tok.sample("lower", 3, 0.5, seed=3)
    ///     [[256, 119, 258], [108, 111, 119, 258], [257, 258]]
    #[pyo3(
        signature = (text, n, alpha, *, seed=None, special=None, added="match", errors="strict"),
        text_signature = "($self, text, n, alpha, *, seed=None, special='raise', added='match', errors='strict')"
    )]
    #[allow(clippy::too_many_arguments, reason = "options of the public call")]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        n: usize,
        alpha: f64,
        seed: Option<u64>,
        special: Option<&Bound<'py, PyAny>>,
        added: &str,
        errors: &str,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let said = Said::new(&self.inner, special, added)?;
        let text = crate::text::utf8(text, OnInvalid::parse(errors)?)?;
        let draw = if self.inner.has_probabilities() { Draw::Power(alpha) } else { Draw::Dropout(alpha) };
        let mut random = Random::new(seed_or_new(seed));
        let draws = (0..n).map(|_| {
            py.check_signals()?;
            let ids = self.drawn(py, &text, &said, draw, &mut random)?;
            self.ints.list(py, &ids)
        });
        draws.collect()
    }

    /// The pieces of a text, in which merges happen, with added tokens as pieces of their own; options as `encode`.
    ///
    /// The pieces are of the text as the normalizer leaves it.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258, split="gpt2").pieces("It's  low!")
    ///     ['It', "'s", ' ', ' low', '!']
    #[pyo3(
        signature = (text, *, special=None, added="match", errors="strict"),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict')"
    )]
    fn pieces(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        special: Option<&Bound<'_, PyAny>>,
        added: &str,
        errors: &str,
    ) -> PyResult<Vec<String>> {
        let said = Said::new(&self.inner, special, added)?;
        let text = crate::text::utf8(text, OnInvalid::parse(errors)?)?;
        self.inner.pieces(&text, said.policy()).map_err(|error| raise(py, error))
    }

    /// The text of some ids.
    ///
    /// Args:
    ///     ids: A list or an array of ids.
    ///     errors: For bytes that are not UTF-8: ``"replace"`` gives U+FFFD, ``"strict"`` raises UnicodeDecodeError, and
    ///         any other error handler of Python does what it does.
    ///     skip_special_tokens: Whether special tokens are left out.
    ///
    /// Raises:
    ///     InvalidIdError: No token has this id; ``row`` says where it is.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5}, vocab_size=258)
    ///     >>> tok.decode([257, 32, 0xf0])
    ///     'low �'
    #[pyo3(signature = (ids, errors="replace", *, skip_special_tokens=false))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        errors: &str,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.text_of(py, ids, errors, skip_special_tokens)
    }

    /// The text of each row of ids; options and errors as `decode`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).decode_batch([[257], []])
    ///     ['low', '']
    #[pyo3(signature = (rows, errors="replace", *, skip_special_tokens=false))]
    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        errors: &str,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let texts = rows.try_iter()?.map(|ids| self.text_of(py, &ids?, errors, skip_special_tokens));
        PyList::new(py, texts.collect::<PyResult<Vec<_>>>()?)
    }

    /// The bytes of some ids, joined; arguments and errors as `decode`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).decode_bytes([257, 0xff])
    ///     b'low\xff'
    #[pyo3(signature = (ids, *, skip_special_tokens=false))]
    fn decode_bytes<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes_of(py, ids, skip_special_tokens)?))
    }

    /// A decoder that is given one id after another, or several at once.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> stream = bp.train({"é": 5}, vocab_size=256).stream()
    ///     >>> [stream.push(id) for id in "né".encode()], stream.flush()
    ///     (['n', '', 'é'], '')
    #[pyo3(signature = (*, skip_special_tokens=false))]
    fn stream(slf: Bound<'_, Self>, skip_special_tokens: bool) -> StreamDecoder {
        StreamDecoder::new(slf.unbind(), skip_special_tokens)
    }

    /// Stream decoders for sequences that are generated side by side, each in a row of its own.
    ///
    /// Args:
    ///     rows: How many. A row whose sequence has ended is flushed or reset, and then takes another.
    ///     skip_special_tokens: Leaves special tokens out.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> streams = bp.train({"é": 5}, vocab_size=256).stream_batch(2)
    ///     >>> [streams.push(ids) for ids in zip("né".encode(), "éh".encode())], streams.flush()
    ///     ([['n', ''], ['', 'é'], ['é', 'h']], ['', ''])
    #[pyo3(signature = (rows, *, skip_special_tokens=false))]
    fn stream_batch(slf: Bound<'_, Self>, rows: usize, skip_special_tokens: bool) -> StreamBatch {
        StreamBatch::new(slf.unbind(), rows, skip_special_tokens)
    }

    /// Encodes a text that comes in parts: `EncodingStream`. The ids of all calls together are those of the whole text.
    ///
    /// Args:
    ///     special: As for `encode`.
    ///     added: As for `encode`.
    ///     errors: As for `encode`.
    ///
    /// Memory is for what has come since the last place where any text may be cut: a piece, some thousand bytes, and a
    /// part. Split patterns have such places, between words as a rule, as have pre-tokenizers that drop white space or mark
    /// it with U+2581; where normalizers are normal forms or tables, only between ASCII. Other normalizers and
    /// pre-tokenizers, models without any, and split patterns that need backtracking could change their mind until the
    /// end: then the whole text is held.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    ///     >>> stream = tok.encoding_stream()
    ///     >>> ids = [stream.push("low lo"), stream.push("wer"), stream.finish()]
    ///     >>> [id for part in ids for id in part.tolist()] == tok.encode("low lower")
    ///     True
    #[pyo3(
        signature = (*, special=None, added="match", errors="strict"),
        text_signature = "($self, *, special='raise', added='match', errors='strict')"
    )]
    fn encoding_stream(
        slf: &Bound<'_, Self>,
        special: Option<&Bound<'_, PyAny>>,
        added: &str,
        errors: &str,
    ) -> PyResult<EncodingStream> {
        let said = Said::new(&slf.get().inner, special, added)?;
        Ok(EncodingStream::new(slf.clone().unbind(), said, OnInvalid::parse(errors)?))
    }

    /// The same tokenizer with one algorithm of the literature for its merges: for study and cross-checking.
    ///
    /// Args:
    ///     name: ``naive`` (scan, merge the lowest pair, again), ``heap`` (n log n), ``table`` (the last token of every
    ///         prefix), ``backtrack`` (the longest token that fits); or, not exact by design, ``greedy`` (the longest
    ///         token) and ``minimal`` (the fewest tokens).
    ///
    /// Raises:
    ///     ValueError: There is no encoder of this name.
    ///     FormatError: ``table`` or ``backtrack`` could be wrong with this vocabulary, in which tokens are made in more
    ///         than one way; ``heap`` never is.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    ///     >>> tok.encoder("backtrack").encode_piece(b"lower low")
    ///     [257, 258, 32, 257]
    fn encoder(slf: Bound<'_, Self>, name: &str) -> PyResult<Encoder> {
        Encoder::new(slf.py(), slf.clone().unbind(), name)
    }

    /// The bytes of a token; InvalidIdError if no token has this id.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).token_bytes(256)
    ///     b'lo'
    fn token_bytes<'py>(&self, py: Python<'py>, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let token = id.extract().ok().and_then(|id| self.inner.token_bytes(id));
        let token = token.ok_or_else(|| raise(py, self.inner.invalid_id(id)))?;
        Ok(PyBytes::new(py, token))
    }

    /// The id of a token given as bytes or str, added tokens first; InvalidIdError if it is none.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).token_id("lo")
    ///     256
    fn token_id(&self, py: Python<'_>, token: &Bound<'_, PyAny>) -> PyResult<u32> {
        let bytes = match token.cast::<PyString>() {
            Ok(text) => text.to_str()?.as_bytes(),
            Err(_) => token.cast::<PyBytes>()?.as_bytes(),
        };
        self.inner.token_id(bytes).ok_or_else(|| {
            let error = Error::new(Kind::InvalidId, format!("{:?} is not a token", String::from_utf8_lossy(bytes)));
            raise(py, error.remedy("encode it to see what it is made of"))
        })
    }

    /// The largest id plus one: the rows of an embedding. `len(tok)` is the number of tokens; ids may have holes.
    #[getter]
    fn vocab_size(&self) -> u64 {
        self.inner.vocab_size()
    }

    fn __len__(&self) -> usize {
        self.inner.token_count()
    }
}

impl CoreTokenizer {
    #[allow(clippy::too_many_arguments, reason = "options of the public call")]
    fn flat_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        special: Option<&Bound<'_, PyAny>>,
        added: &str,
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<(Vec<u32>, Vec<usize>)> {
        let said = Said::new(&self.inner, special, added)?;
        with_batch(py, texts, errors, threads, |batch, run| self.inner.encode_batch(batch, said.policy(), run))
    }

    fn text_of<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        errors: &str,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.bytes_of(py, ids, skip_special_tokens)?;
        match PyString::from_bytes(py, &bytes) {
            Ok(text) => Ok(text.into_any()),
            Err(_) if errors == "replace" && !self.inner.is_byte_level() => {
                // What stands for bytes that are not UTF-8 is for the decoders to say.
                let ids = self.ids_of(py, ids)?;
                let text = self.inner.decode_text(&ids, skip_special_tokens).map_err(|error| raise(py, error))?;
                Ok(PyString::new(py, &text).into_any())
            }
            Err(_) => PyBytes::new(py, &bytes).call_method1("decode", ("utf-8", errors)),
        }
    }

    pub(crate) fn bytes_of(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        skip_special_tokens: bool,
    ) -> PyResult<Vec<u8>> {
        if !self.inner.decodes_by_table() {
            let ids = self.ids_of(py, ids)?;
            let decode = || self.inner.decode(&ids, skip_special_tokens);
            let text = if ids.len() < BYTES_TO_DETACH { decode() } else { py.detach(decode) };
            return text.map_err(|error| raise(py, error));
        }
        if let Ok(list) = ids.cast_exact::<PyList>() {
            // Nothing runs in between that could change the list.
            return match self.bytes_of_ints(list.len(), list.iter(), skip_special_tokens) {
                Some(bytes) => Ok(bytes),
                None => self.bytes_of_any(py, list.to_tuple().as_any(), skip_special_tokens),
            };
        }
        if let Ok(tuple) = ids.cast_exact::<PyTuple>() {
            return match self.bytes_of_ints(tuple.len(), tuple.as_slice().iter(), skip_special_tokens) {
                Some(bytes) => Ok(bytes),
                None => self.bytes_of_any(py, tuple, skip_special_tokens),
            };
        }
        let decode = |ids: &[u32]| {
            let run = || self.inner.decode(ids, skip_special_tokens);
            let result = if ids.len() < BYTES_TO_DETACH { run() } else { py.detach(run) };
            result.map_err(|error| raise(py, error))
        };
        // An array is borrowed as it is. Only what looks like one is asked, because asking imports numpy.
        if ids.hasattr("dtype")? && import_numpy(py).is_ok() {
            if let Ok(array) = ids.extract::<PyReadonlyArray1<'_, u32>>() {
                return match array.as_slice() {
                    Ok(ids) => decode(ids),
                    Err(_) => decode(&array.as_array().to_vec()),
                };
            }
            if let Ok(array) = ids.extract::<PyReadonlyArray1<'_, i64>>()
                && let Ok(ids) = array.as_array().iter().map(|&id| u32::try_from(id)).collect::<Result<Vec<_>, _>>()
            {
                return decode(&ids);
            }
        }
        self.bytes_of_any(py, ids, skip_special_tokens)
    }

    /// Ids of any kind as numbers, of which nothing is known yet.
    pub(crate) fn ids_of(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let mut numbers = Vec::new();
        for (row, id) in ids.try_iter()?.enumerate() {
            let id = id?;
            numbers.push(id.extract().map_err(|error: PyErr| {
                if error.is_instance_of::<PyTypeError>(py) {
                    return error;
                }
                raise(py, self.inner.invalid_id(&id).row(row))
            })?);
        }
        Ok(numbers)
    }

    /// Ids that a call gives, each of which has a token.
    fn known_ids(&self, py: Python<'_>, ids: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u32>> {
        let ids = ids.map_or(Ok(Vec::new()), |ids| self.ids_of(py, ids))?;
        match ids.iter().position(|&id| self.inner.token_bytes(id).is_none()) {
            Some(row) => Err(raise(py, self.inner.invalid_id(ids[row]).row(row))),
            None => Ok(ids),
        }
    }

    /// The bytes of about `count` ids that are ints; None if one of them is not, or is no token's.
    fn bytes_of_ints<'py>(
        &self,
        count: usize,
        ids: impl Iterator<Item = impl Borrow<Bound<'py, PyAny>>>,
        skip_special_tokens: bool,
    ) -> Option<Vec<u8>> {
        let mut decoder = self.inner.decoder(count, skip_special_tokens);
        let mut numbers = [0_u32; TOGETHER];
        let mut filled = 0;
        for id in ids {
            numbers[filled] = id.borrow().cast::<PyInt>().ok()?.extract().ok()?;
            filled += 1;
            if filled == TOGETHER {
                decoder.push(&numbers).ok()?;
                filled = 0;
            }
        }
        decoder.push(&numbers[..filled]).ok()?;
        Some(self.inner.without_prefix(decoder.finish()))
    }

    /// The bytes of whatever gives ids, one after another.
    fn bytes_of_any(&self, py: Python<'_>, ids: &Bound<'_, PyAny>, skip_special_tokens: bool) -> PyResult<Vec<u8>> {
        // A length is a claim until that many ids have come, each of which is looked at before the next.
        let mut decoder = self.inner.decoder(ids.len().unwrap_or(0).min(BYTES_TO_DETACH), skip_special_tokens);
        for (row, id) in ids.try_iter()?.enumerate() {
            let id = id?;
            let invalid = || raise(py, self.inner.invalid_id(&id).row(row));
            let number = id
                .extract()
                .map_err(|error: PyErr| if error.is_instance_of::<PyTypeError>(py) { error } else { invalid() })?;
            decoder.push(&[number]).map_err(|_| invalid())?;
        }
        Ok(self.inner.without_prefix(decoder.finish()))
    }
}
