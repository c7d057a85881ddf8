//! The Python bindings of `bytepair-core`: they convert arguments, call the core and map errors, and decide nothing.
//!
//! A file holds one task: the class that a call returns, and the method of the tokenizer that makes it.

#![allow(
    clippy::doc_markdown,
    clippy::doc_link_with_quotes,
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "docstrings and options here are Python's, and arguments come as PyO3 extracts them"
)]

mod align;
mod allocator;
mod arrays;
mod buffer;
mod busy;
mod chunks;
mod columns;
mod count;
mod counts;
mod decode;
mod decode_stream;
mod encode;
mod encode_stream;
mod encoder;
mod errors;
mod fit;
mod gguf;
mod growing;
mod index;
mod interpreters;
mod ints;
mod lists;
mod locate;
mod named;
mod options;
mod pieces;
mod prefix_cache;
mod prompts;
mod readable;
mod run;
mod sample;
mod signals;
mod stages;
mod strings;
mod tables;
mod text;
mod tokenizer;
mod training;
mod vocabularies;
mod watch;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    use std::collections::BTreeMap;

    use bytepair_core::tier::{self, Tier};
    use pyo3::exceptions::PyValueError;
    use pyo3::prelude::*;
    use pyo3::types::{IntoPyDict, PyMappingProxy};

    use crate::strings::Name;

    #[pymodule_export]
    use crate::align::{align_tokens, may_change, text_lengths, token_lengths};
    #[pymodule_export]
    use crate::buffer::{encode_buffer, find_all, json_fields};
    #[pymodule_export]
    use crate::chunks::{ChunkStream, chunks, chunks_batch, places};
    #[pymodule_export]
    use crate::columns::{Columns, read_decimal, read_rank_file, write_decimal};
    #[pymodule_export]
    use crate::counts::{PieceCounter, PieceCounts};
    #[pymodule_export]
    use crate::decode_stream::{DecodeStream, DecodeStreamBatch};
    #[pymodule_export]
    use crate::encode::encode_batch_flat;
    #[pymodule_export]
    use crate::encode_stream::EncodeStream;
    #[pymodule_export]
    use crate::encoder::Encoder;
    #[pymodule_export]
    use crate::gguf::read_strings;
    #[pymodule_export]
    use crate::growing::{Appender, Mark, Prepender};
    #[pymodule_export]
    use crate::index::TextIndex;
    #[pymodule_export]
    use crate::locate::{find_added, locate, locate_batch, locate_bytes, locate_trusted, place_lists};
    #[pymodule_export]
    use crate::pieces::{Pieces, read_pieces};
    #[pymodule_export]
    use crate::prefix_cache::PrefixCache;
    #[pymodule_export]
    use crate::prompts::token_trie;
    #[pymodule_export]
    use crate::stages::{check_step, decode_tokens, normalize, pre_tokenize};
    #[pymodule_export]
    use crate::tables::Tables;
    #[pymodule_export]
    use crate::text::Control;
    #[pymodule_export]
    use crate::tokenizer::{CoreTokenizer, canonical_merges};
    #[pymodule_export]
    use crate::training::{learn, learn_bytes, learn_parity, learn_unigram, learn_wordpiece};
    #[pymodule_export]
    use crate::vocabularies::{
        FileVocab, JsonMerges, read_byte_alphabet, read_json_model, read_lines, read_scored, read_spelled, read_words,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::interpreters::refuse_others(module.py())?;
        limit_tier()?;
        // Without it calls end as they would where there is none left.
        let _ = bytepair_core::memory::hold();
        crate::allocator::report_panics();
        crate::signals::listen();
        let versions = bytepair_core::unicode_versions().into_py_dict(module.py())?;
        module.add("UNICODE_VERSION", PyMappingProxy::new(module.py(), versions.as_mapping()))?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// BYTEPAIR_TIER names the widest instructions that may be used; benchmarks and tests set it.
    fn limit_tier() -> PyResult<()> {
        let Some(name) = std::env::var_os("BYTEPAIR_TIER").filter(|name| !name.is_empty()) else { return Ok(()) };
        let tier = name.to_str().and_then(Tier::by_name).ok_or_else(|| {
            let known = Tier::ALL.map(|(known, _)| known).join(", ");
            PyValueError::new_err(format!("BYTEPAIR_TIER is {}, not one of {known}", name.display()))
        })?;
        tier::limit(tier);
        Ok(())
    }

    /// Whether a match of a split pattern may be empty; PatternError if it does not compile.
    #[pyfunction]
    fn may_match_nothing(py: Python<'_>, pattern: Name<'_>) -> PyResult<bool> {
        let pattern = bytepair_core::split::Pattern::new(&pattern);
        pattern.map(|pattern| pattern.may_match_nothing()).map_err(|error| crate::errors::raise(py, error))
    }

    /// MemoryError unless so many bytes can be had now: asked before work of many objects that do not fail one by one.
    #[pyfunction]
    fn require_memory(py: Python<'_>, size: usize) -> PyResult<()> {
        crate::errors::room(py, size)
    }

    /// The bytes of memory that the caches of one thread may take, and those of all threads of the process.
    #[pyfunction]
    fn cache_memory() -> (usize, usize) {
        bytepair_core::cache_memory()
    }

    /// Bound the memory of the caches of pieces from now on; what they have taken stays until their tokenizer goes.
    ///
    /// A tokenizer has caches for each thread that uses it at the same time as others. They grow with use; where they may
    /// not, pieces are found more slowly, and ids are the same.
    ///
    /// Args:
    ///     thread: Bytes for the caches of one thread, at least 262,144; None leaves the bound as it is. Otherwise 64 MiB.
    ///     process: Bytes for the caches of all threads and tokenizers; None leaves the bound as it is. Otherwise 512 MiB.
    ///         What caches have when they are made, up to 64 KiB, does not count.
    ///
    /// Raises:
    ///     ValueError: `thread` is too small.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> before = bp.lowlevel.cache_memory()
    ///     >>> bp.lowlevel.limit_cache_memory(thread=8 << 20)
    ///     >>> bp.lowlevel.cache_memory()[0]
    ///     8388608
    ///     >>> bp.lowlevel.limit_cache_memory(*before)
    #[pyfunction]
    #[pyo3(signature = (thread=None, process=None))]
    fn limit_cache_memory(thread: Option<usize>, process: Option<usize>) -> PyResult<()> {
        let (thread_before, process_before) = bytepair_core::cache_memory();
        let thread = thread.unwrap_or(thread_before);
        if thread < bytepair_core::LEAST_CACHE_MEMORY {
            let least = bytepair_core::LEAST_CACHE_MEMORY;
            return Err(PyValueError::new_err(format!("thread={thread} is too small for caches; use {least} or more")));
        }
        bytepair_core::limit_cache_memory(thread, process.unwrap_or(process_before));
        Ok(())
    }

    /// The version of Unicode that defines the character classes of split patterns.
    #[pyfunction]
    fn unicode_version() -> &'static str {
        bytepair_core::split::UNICODE
    }

    /// The named split patterns.
    #[pyfunction]
    fn split_patterns() -> BTreeMap<&'static str, &'static str> {
        bytepair_core::split::names::ALL.into_iter().collect()
    }
}
