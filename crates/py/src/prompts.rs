//! Prompts that are cut anywhere: which ids can follow others, covers, healing, and the trie of the tokens.

use bytepair_core::canonical::{Cover, Healing};
use bytepair_core::memory;
use bytepair_core::trie::Trie;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::arrays::{FlatBatch, array, import_numpy, starts};
use crate::lists::{Many, bytes};
use crate::run::detached;
use crate::tokenizer::CoreTokenizer;

type Words<'py> = Bound<'py, PyArray1<u32>>;
/// The bytes, ends, parents and starts of the nodes, and the ids.
type Nodes<'py> = (Bound<'py, PyArray1<u8>>, Words<'py>, Words<'py>, Words<'py>, Words<'py>);

/// Work on a mask lets other threads run: the first one reads the vocabulary.
const MASK: usize = usize::MAX;

#[pymethods]
impl CoreTokenizer {
    /// The ids that can follow `ids` in the encoding of some text, as a bitmap.
    ///
    /// T is `encode` with added tokens as text. The bit of an id is set if T(x) begins with `ids` and this id, for some text
    /// x. So the ids of any text stay possible step by step, the parts of a character as well, and nothing else does. An
    /// added token ends a text: its bit is set where a text may end, and another text begins behind it. If T(x) begins with
    /// `ids` for no x, no bit is set.
    ///
    /// Args:
    ///     ids: A list or an array of ids.
    ///     prefix: Bytes, or text, that x has behind the bytes of `ids`: only ids that agree with them are set, and
    ///         no added tokens. The bytes of a token are those of `trie`: a space for U+2581.
    ///
    /// Returns:
    ///     Bit ``id % 32`` of word ``id // 32``: uint32, shape ``(ceil(vocab_size / 32),)``, as xgrammar and llguidance take
    ///     it.
    ///
    /// Raises:
    ///     InvalidIdError: No token has this id.
    ///     FormatError: No exact answer is known for this tokenizer: it is a Unigram, WordPiece or WordLevel; or one of its
    ///         stages is not followed, which the error names.
    ///
    /// Time is linear in `ids`; the first mask behind a token takes a pass over the vocabulary, and masks are kept in up to
    /// 64 MiB.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    ///     >>> mask = tok.next_mask(tok.encode("lo"))
    ///     >>> [bool(mask[id // 32] >> id % 32 & 1) for id in (ord("w"), ord("x"))]  # "low" is one token
    ///     [False, True]
    #[pyo3(signature = (ids, prefix=None), text_signature = "($self, ids, prefix=None)")]
    fn next_mask<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        prefix: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Words<'py>> {
        import_numpy(py)?;
        let ids = self.ids_of(py, ids)?;
        let prefix = prefix.map_or(Ok(Vec::new()), bytes_of)?;
        let canonical = self.canonical(py)?;
        array(py, detached(py, MASK, || canonical.next_mask(&self.inner, &ids, &prefix))?)
    }

    /// The ids that all sequences of a cover begin with; the ids of each stem; the last ids of each stem.
    #[allow(clippy::type_complexity, reason = "a plain tuple for Python")]
    fn _cover<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<(Words<'py>, FlatBatch<'py>, FlatBatch<'py>)> {
        import_numpy(py)?;
        let text = bytes_of(text)?;
        let canonical = self.canonical(py)?;
        let Cover { head, stems } = detached(py, MASK, || canonical.cover(&self.inner, &text))?;
        let (mut ids, mut lasts, mut ends) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
        for stem in &stems {
            ids.extend_from_slice(&stem.ids);
            lasts.extend_from_slice(&stem.lasts);
            ends[0].push(ids.len());
            ends[1].push(lasts.len());
        }
        let rows = |ids, ends: &[usize]| Ok::<_, PyErr>((array(py, ids)?, starts(py, ends)?));
        Ok((array(py, head)?, rows(ids, &ends[0])?, rows(lasts, &ends[1])?))
    }

    /// How many ids to take back, the bytes that they spell, and the mask of what may come.
    fn _heal<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
    ) -> PyResult<(usize, Bound<'py, PyBytes>, Words<'py>)> {
        import_numpy(py)?;
        let ids = self.ids_of(py, ids)?;
        let canonical = self.canonical(py)?;
        let Healing { back, prefix, mask } = detached(py, MASK, || canonical.heal(&self.inner, &ids))?;
        Ok((back, bytes(py, &prefix)?, array(py, mask)?))
    }
}

/// The bytes of `bytes`, or of a `str`.
fn bytes_of(text: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = text.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    Ok(crate::strings::Name::extract(text.as_borrowed())?.as_str().as_bytes().to_vec())
}

/// The trie of some tokens: the byte that leads to each node, one past its subtree, its parent, where its ids start, and
/// the ids; in preorder, node 0 is the root.
#[pyfunction]
pub(crate) fn token_trie(py: Python<'_>, tokens: Many<PyBackedBytes>, ids: Many<u32>) -> PyResult<Nodes<'_>> {
    let (Many(tokens), Many(ids)) = (tokens, ids);
    import_numpy(py)?;
    if tokens.len() != ids.len() {
        return Err(PyValueError::new_err("each token has one id"));
    }
    let made = || Trie::new(memory::collect(tokens.iter().map(|token| &**token).zip(ids))?);
    let Trie { bytes, ends, parents, starts, ids } = detached(py, tokens.len(), made)?;
    Ok((array(py, bytes)?, array(py, ends)?, array(py, parents)?, array(py, starts)?, array(py, ids)?))
}
