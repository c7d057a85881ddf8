//! `tok.encoder(name)`: a tokenizer that merges by one chosen algorithm of the literature.

use bytepair_core::encode::{Count, Sink};
use bytepair_core::merge::{Merger, Scratch};
use bytepair_core::pipeline::study;
use bytepair_core::{Error, Kind};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::arrays::{array, import_numpy};
use crate::errors::raise;
use crate::options::{Added, OnInvalid, OwnedPolicy};
use crate::run::detached;
use crate::strings::Name;
use crate::text::utf8;
use crate::tokenizer::CoreTokenizer;

/// A tokenizer that merges with one algorithm, which `Tokenizer.encoder` names: for study and cross-checking.
///
/// It runs the whole pipeline, but keeps nothing between pieces and takes no short way for whole tokens.
///
/// Example:
///     >>> import bytepair as bp
///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
///     >>> [tok.encoder(name).encode("lower") for name in ("heap", "greedy")]
///     [[257, 258], [257, 258]]
#[pyclass(frozen, module = "bytepair")]
pub(crate) struct Encoder {
    tokenizer: Py<CoreTokenizer>,
    merger: Merger,
}

impl Encoder {
    pub(crate) fn new(py: Python<'_>, tokenizer: Py<CoreTokenizer>, name: &str) -> PyResult<Self> {
        let merger = Merger::by_name(name).ok_or_else(|| unknown(py, name))?;
        let inner = &tokenizer.get().inner;
        if !inner.is_byte_level() {
            let error = Error::new(Kind::Format, "this tokenizer does not merge bytes, as the encoders for study do");
            return Err(raise(py, error.remedy("use encode, which is exact for every tokenizer")));
        }
        merger.check(inner.vocab()).map_err(|error| raise(py, error))?;
        Ok(Self { tokenizer, merger })
    }

    fn run<S: Sink + Default + Send>(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        special: Option<&Bound<'_, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<S> {
        let tokenizer = &self.tokenizer.get().inner;
        let policy = OwnedPolicy::new(tokenizer, special, added)?;
        let text = utf8(text, errors)?;
        detached(py, text.len(), || {
            let mut sink = S::default();
            study::encode(tokenizer, self.merger, &text, policy.borrowed(), &mut Scratch::default(), &mut sink)
                .map(|()| sink)
                .map_err(|error| error.placed(&text))
        })
    }
}

/// The error for a name that no algorithm has, with the nearest that one has.
fn unknown(py: Python<'_>, name: &str) -> PyErr {
    let names = Merger::ALL.map(|(name, _)| name);
    let near: Vec<String> = py
        .import("difflib")
        .and_then(|difflib| difflib.call_method1("get_close_matches", (name, names.to_vec(), 1))?.extract())
        .unwrap_or_default();
    let meant = near.first().map_or(String::new(), |near| format!("; did you mean {near:?}?"));
    PyValueError::new_err(format!("there is no encoder {name:?}, only {}{meant}", names.join(", ")))
}

#[pymethods]
impl Encoder {
    /// The name of the algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.merger.name()
    }

    /// Whether its ids are those of the tokenizer; ``greedy`` and ``minimal`` differ by design.
    #[getter]
    fn exact(&self) -> bool {
        self.merger.is_exact()
    }

    /// The ids of a text, ``str`` or UTF-8 ``bytes``; options and errors as in `Tokenizer.encode`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).encoder("backtrack").encode("low low")
    ///     [257, 32, 257]
    #[pyo3(
        signature = (text, *, special=None, added=Added::Match, errors=OnInvalid::Strict),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict')"
    )]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<Bound<'py, PyList>> {
        let ids = self.run::<Vec<u32>>(py, text, special, added, errors)?;
        self.tokenizer.get().list(py, &ids)
    }

    /// The ids of a text as a numpy array of uint32; options and errors as `encode`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).encoder("table").encode_array("low low")
    ///     array([257,  32, 257], dtype=uint32)
    #[pyo3(
        signature = (text, *, special=None, added=Added::Match, errors=OnInvalid::Strict),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict')"
    )]
    fn encode_array<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        import_numpy(py)?;
        array(py, self.run(py, text, special, added, errors)?)
    }

    /// The number of ids of a text; options and errors as `encode`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).encoder("minimal").count("low low")
    ///     3
    #[pyo3(
        signature = (text, *, special=None, added=Added::Match, errors=OnInvalid::Strict),
        text_signature = "($self, text, *, special='raise', added='match', errors='strict')"
    )]
    fn count<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<u64> {
        Ok(self.run::<Count>(py, text, special, added, errors)?.0)
    }

    /// The ids of some bytes as one piece, with neither split nor added tokens nor normalizers.
    ///
    /// Raises:
    ///     EncodeError: A byte has no token.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> bp.train({"low": 5}, vocab_size=258).encoder("naive").encode_piece(b"slow\xff")
    ///     [115, 257, 255]
    fn encode_piece<'py>(&self, py: Python<'py>, piece: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyList>> {
        let vocab = self.tokenizer.get().inner.vocab();
        let piece = piece.as_bytes();
        let ids = detached(py, piece.len(), || {
            let mut ids = Vec::new();
            study::encode_piece(vocab, self.merger, piece, &mut Scratch::default(), &mut ids).map(|()| ids)
        })?;
        self.tokenizer.get().list(py, &ids)
    }

    fn __repr__(&self) -> String {
        format!("<Encoder: {}, {}>", self.merger.name(), if self.merger.is_exact() { "exact" } else { "not exact" })
    }
}

#[pymethods]
impl CoreTokenizer {
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
    fn encoder(slf: Bound<'_, Self>, name: Name<'_>) -> PyResult<Encoder> {
        Encoder::new(slf.py(), slf.clone().unbind(), &name)
    }
}
