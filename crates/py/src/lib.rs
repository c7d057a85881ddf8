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

mod arrays;
mod buffer;
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
mod growing;
mod index;
mod ints;
mod locate;
mod named;
mod options;
mod readable;
mod run;
mod sample;
mod signals;
mod stages;
mod text;
mod tokenizer;
mod training;
mod watch;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    use std::collections::BTreeMap;

    use pyo3::prelude::*;
    use pyo3::types::{IntoPyDict, PyMappingProxy};

    #[pymodule_export]
    use crate::buffer::{encode_buffer, find_all, json_fields};
    #[pymodule_export]
    use crate::chunks::{ChunkStream, chunks, chunks_batch, places};
    #[pymodule_export]
    use crate::columns::{
        Columns, merges_by_score, read_byte_alphabet, read_decimal, read_pieces, read_rank_file, read_spelled,
        write_decimal,
    };
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
    use crate::growing::{Appender, Mark, Prepender};
    #[pymodule_export]
    use crate::index::TextIndex;
    #[pymodule_export]
    use crate::locate::{find_added, locate, locate_trusted};
    #[pymodule_export]
    use crate::stages::{check_step, decode_tokens, normalize, pre_tokenize};
    #[pymodule_export]
    use crate::text::Control;
    #[pymodule_export]
    use crate::tokenizer::{CoreTokenizer, canonical_merges};
    #[pymodule_export]
    use crate::training::{learn, learn_bytes, learn_unigram, learn_wordpiece};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::signals::listen();
        let versions = bytepair_core::unicode_versions().into_py_dict(module.py())?;
        module.add("UNICODE_VERSION", PyMappingProxy::new(module.py(), versions.as_mapping()))?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Whether a split pattern matches the empty text; PatternError if it does not compile.
    #[pyfunction]
    fn matches_nothing(py: Python<'_>, pattern: &str) -> PyResult<bool> {
        let pattern = bytepair_core::split::Pattern::new(pattern);
        pattern.and_then(|pattern| pattern.matches_nothing()).map_err(|error| crate::errors::raise(py, error))
    }

    /// The size in bytes of the cache of recently merged pieces; a tokenizer has one for each thread that ever used it at
    /// the same time as others.
    #[pyfunction]
    fn memory_per_thread() -> usize {
        bytepair_core::memory_per_thread()
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
