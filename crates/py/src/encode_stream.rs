//! A text in parts -> ids, as a Python class.

use std::borrow::Cow;

use bytepair_core::{pipeline, utf8};
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::arrays::{array, import_numpy};
use crate::busy::alone;
use crate::options::{Added, OnInvalid, OwnedPolicy, Threads};
use crate::run::run;
use crate::strings::exact;
use crate::text::{Stored, moved, utf8, without_half};
use crate::tokenizer::CoreTokenizer;

/// Encodes a text that comes in parts; see `Tokenizer.encode_stream`. For one thread at a time.
#[pyclass(module = "bytepair")]
pub(crate) struct EncodeStream {
    tokenizer: Py<CoreTokenizer>,
    policy: OwnedPolicy,
    on_invalid: OnInvalid,
    stream: pipeline::EncodeStream,
    /// Whether parts are bytes; unknown before the first one.
    is_bytes: Option<bool>,
    /// The first half of a surrogate pair; the second may begin the next part.
    half: Option<Py<PyString>>,
    /// Whether an error was raised.
    failed: bool,
}

impl EncodeStream {
    pub(crate) fn new(tokenizer: Py<CoreTokenizer>, policy: OwnedPolicy, on_invalid: OnInvalid) -> Self {
        let stream = pipeline::EncodeStream::default();
        Self { tokenizer, policy, on_invalid, stream, is_bytes: None, half: None, failed: false }
    }
}

/// An input of the core.
enum Given<'a> {
    Text(&'a str),
    Bytes(&'a [u8]),
    End,
}

impl Given<'_> {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::End => 0,
        }
    }
}

#[pymethods]
impl EncodeStream {
    /// Takes the next part of the text; returns the ids that no text to come can change, often none.
    ///
    /// Args:
    ///     part: ``str``, or UTF-8 ``bytes``, which may be cut inside a character. All parts of a text have one type.
    ///
    /// Raises:
    ///     SpecialTokenError: As `Tokenizer.encode`, as soon as the error is certain; the other errors as well. Places are in
    ///         the whole text. The stream cannot be used after an error.
    fn push<'py>(slf: &Bound<'py, Self>, part: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let mut this = alone(slf)?;
        let (py, is_bytes) = (part.py(), part.is_instance_of::<PyBytes>());
        if !is_bytes && !part.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!(
                "a part of a text is str or bytes, not {}",
                part.get_type().name()?
            )));
        }
        if *this.is_bytes.get_or_insert(is_bytes) != is_bytes {
            return Err(PyTypeError::new_err("the parts of a text are all str or all bytes"));
        }
        if let Ok(bytes) = part.cast::<PyBytes>() {
            return this.take(py, &[Given::Bytes(bytes.as_bytes())]);
        }
        let part = match this.half.take() {
            Some(half) => half.bind(py).add(exact(part.cast()?)?)?,
            None => part.clone(),
        };
        if let Ok(text) = Stored::of(part.cast::<PyString>()?)?.utf8(py)? {
            return this.take(py, &[Given::Text(&text)]);
        }
        let part = match this.on_invalid {
            OnInvalid::Replace => {
                let (part, half) = without_half(part.cast()?)?;
                this.half = half.map(Bound::unbind);
                part.into_any()
            }
            OnInvalid::Strict => part,
        };
        let text = utf8(&part, this.on_invalid).map_err(|error| {
            this.failed = true;
            moved(py, error, this.stream.length())
        })?;
        this.take(py, &[Given::Text(&text)])
    }

    /// Ends the text and returns the remaining ids. The stream is then ready for another text.
    ///
    /// Raises:
    ///     EncodeError: As `push`, and for a text that ends inside a character.
    fn finish<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let (py, mut this) = (slf.py(), alone(slf)?);
        let half = this.half.take().map(|half| half.into_bound(py));
        let rest = half.as_ref().map_or(Ok(Cow::Borrowed("")), |half| utf8(half, this.on_invalid))?;
        this.take(py, &[Given::Text(&rest), Given::End])
    }
}

impl EncodeStream {
    fn take<'py>(&mut self, py: Python<'py>, given: &[Given<'_>]) -> PyResult<Bound<'py, PyArray1<u32>>> {
        import_numpy(py)?;
        if self.failed {
            return Err(PyValueError::new_err("the text of this stream had an error; begin another stream"));
        }
        let (core, policy, stream) = (&self.tokenizer.get().inner, self.policy.borrowed(), &mut self.stream);
        let on_invalid: utf8::OnInvalid = self.on_invalid.into();
        let bytes = given.iter().map(Given::bytes).sum::<usize>();
        self.failed = true;
        let ids = run(py, stream.held() + bytes, Threads::ONE, |run| {
            let mut ids = Vec::new();
            for given in given {
                match given {
                    Given::Text(text) => stream.push(core, policy, text, run.stop, &mut ids),
                    Given::Bytes(bytes) => stream.push_bytes(core, policy, bytes, on_invalid, run.stop, &mut ids),
                    Given::End => stream.finish(core, policy, on_invalid, run.stop, &mut ids),
                }?;
            }
            Ok(ids)
        })?;
        self.failed = false;
        if let Some(Given::End) = given.last() {
            self.is_bytes = None;
        }
        array(py, ids)
    }
}

#[pymethods]
impl CoreTokenizer {
    /// Text in parts -> ids: an `EncodeStream`, whose ids together are those of the whole text.
    ///
    /// Args:
    ///     special: See `encode`.
    ///     added: See `encode`.
    ///     errors: See `encode`.
    ///
    /// Memory holds the text since the last safe cut: a piece, some thousand bytes, and a part. Split patterns have safe
    /// cuts, between words as a rule; so have pre-tokenizers that drop white space or mark it with U+2581. With normalizers
    /// that are normal forms or tables, cuts are only between ASCII characters. With other normalizers and pre-tokenizers,
    /// models without any, and split patterns that need backtracking, later text can change all ids: the whole text is
    /// held.
    ///
    /// `encode_parts` is the same as a generator; `decode_stream` is the other direction.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    ///     >>> stream = tok.encode_stream()
    ///     >>> ids = [stream.push("low lo"), stream.push("wer"), stream.finish()]
    ///     >>> [id for part in ids for id in part.tolist()] == tok.encode("low lower")
    ///     True
    #[pyo3(
        signature = (*, special=None, added=Added::Match, errors=OnInvalid::Strict),
        text_signature = "($self, *, special='raise', added='match', errors='strict')"
    )]
    fn encode_stream(
        slf: &Bound<'_, Self>,
        special: Option<&Bound<'_, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<EncodeStream> {
        let policy = OwnedPolicy::new(&slf.get().inner, special, added)?;
        Ok(EncodeStream::new(slf.clone().unbind(), policy, errors))
    }
}
