//! The cache of the ids of texts' beginnings.

use bytepair_core::prefix_cache::{Figures, PrefixCache as Cache};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, import_numpy};
use crate::options::{Added, OwnedPolicy};
use crate::run::detached;
use crate::text::given;
use crate::tokenizer::CoreTokenizer;

/// The least memory of a cache: some blocks.
const LEAST: usize = 1 << 16;

/// Ids of the texts that a server encodes again and again, each time with a few more bytes.
///
/// `encode` returns the ids of ``tok.encode``, always. A text that begins as an earlier one is compared with it byte by byte,
/// in blocks of 4,096 bytes; the ids of what is equal are copied up to the last cut, and the rest is encoded. Texts that
/// share a beginning share its memory. Threads share a cache.
///
/// Args:
///     tok: The tokenizer.
///     bytes: The most memory that texts and ids take; the least recently used go first. At least 65,536.
///     special: As for `encode`: servers whose chat template writes special tokens pass ``"allow"``.
///     added: As for `encode`.
///
/// Raises:
///     ValueError: `bytes` is too small.
///
/// Example:
///     >>> import bytepair as bp
///     >>> tok = bp.train({"low": 5, " low": 5}, vocab_size=259, split="gpt2")
///     >>> cache, turns = bp.PrefixCache(tok), "low low " * 1000
///     >>> cache.encode(turns).tolist() == tok.encode(turns), cache.count(turns + "low") == tok.count(turns + "low")
///     (True, True)
///     >>> figures = cache.figures()
///     >>> figures["texts"], figures["hits"], figures["found"]
///     (2, 1, 4095)
#[pyclass(frozen, module = "bytepair")]
pub(crate) struct PrefixCache {
    tokenizer: Py<CoreTokenizer>,
    policy: OwnedPolicy,
    cache: Cache,
}

#[pymethods]
impl PrefixCache {
    #[new]
    #[pyo3(
        signature = (tok, *, bytes=256 << 20, special=None, added=Added::Match),
        text_signature = "(tok, *, bytes=268435456, special='raise', added='match')"
    )]
    fn new(
        tok: &Bound<'_, CoreTokenizer>,
        bytes: usize,
        special: Option<&Bound<'_, PyAny>>,
        added: Added,
    ) -> PyResult<Self> {
        if bytes < LEAST {
            return Err(PyValueError::new_err(format!("bytes={bytes} is too small for a cache; use {LEAST} or more")));
        }
        let policy = OwnedPolicy::new(&tok.get().inner, special, added)?;
        Ok(Self { tokenizer: tok.clone().unbind(), policy, cache: Cache::new(bytes) })
    }

    /// The ids of a text, ``str`` or UTF-8 ``bytes``: those of ``tok.encode``, as a numpy array of uint32 that owns its memory.
    ///
    /// Raises:
    ///     EncodeError: As `encode`, and so are its other errors.
    ///
    /// Time is that of comparing what was found, copying its ids, and encoding the rest.
    fn encode<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        import_numpy(py)?;
        let text = given(text)?;
        let (tokenizer, policy) = (&self.tokenizer.get().inner, self.policy.borrowed());
        array(py, detached(py, text.size(), || self.cache.encode(tokenizer, policy, text))?)
    }

    /// The number of ids of a text, as `encode`, without copying ids.
    fn count(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<u64> {
        let text = given(text)?;
        let (tokenizer, policy) = (&self.tokenizer.get().inner, self.policy.borrowed());
        detached(py, text.size(), || self.cache.count(tokenizer, policy, text))
    }

    /// The figures so far: ``texts`` encoded or counted, ``hits`` among them, ``bytes`` of all texts, bytes whose ids
    /// were ``found``, blocks ``evicted``; and the ``blocks`` that are kept, with the ``memory`` that they take.
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Figures { texts, hits, bytes, found, evicted, blocks, memory } = self.cache.figures();
        let figures = PyDict::new(py);
        let (blocks, memory) = (blocks as u64, memory as u64);
        for (name, value) in [
            ("texts", texts),
            ("hits", hits),
            ("bytes", bytes),
            ("found", found),
            ("evicted", evicted),
            ("blocks", blocks),
            ("memory", memory),
        ] {
            figures.set_item(name, value)?;
        }
        Ok(figures)
    }

    /// Forget all texts. The figures of what was done stay.
    fn clear(&self, py: Python<'_>) {
        py.detach(|| self.cache.clear());
    }
}
