//! The core of bytepair: every loop that touches each byte of a text, and no Python.
//!
//! A text takes this way: [`segment`] sends it through [`normalize`], [`pre_tokenize`] and [`split`] to pieces; [`merge`] or
//! [`model`] turns each piece into ids, which [`encode`] looks up first among those it knows; [`decode`] turns ids back into
//! text. [`pipeline`] composes the stages, for one thread or several, for texts in parts and for ids with their places.
//! [`count`] counts tokens without keeping ids, and [`chunk`] cuts a text into parts of a limited count. [`train`] makes the
//! merges that a [`vocab`] is compiled from; [`files`] reads vocabularies and documents.

mod cache;
pub mod chunk;
pub mod count;
pub mod decode;
pub mod encode;
pub mod error;
pub mod files;
pub mod merge;
pub mod model;
pub mod normalize;
pub mod occurrences;
pub mod parallel;
pub mod pipeline;
pub mod pre_tokenize;
mod prefetch;
pub mod segment;
pub mod split;
pub mod train;
pub mod utf8;
pub mod vocab;

pub use error::{Error, Kind, Result};
pub use pipeline::Tokenizer;
pub use vocab::Vocab;

/// The memory, in bytes, in which a tokenizer keeps what a thread merged lately: as often as threads ever used it at the
/// same time. Texts do not make it grow beyond that.
#[must_use]
pub const fn memory_per_thread() -> usize {
    cache::MEMORY
}

/// The versions of Unicode whose tables decide ids, by what they are for: classes of characters in split patterns, normal
/// forms, categories and scripts as pre-tokenizers mean them, graphemes with words and sentences, and the standard
/// library's properties and cases of characters.
///
/// ```
/// assert_eq!(bytepair_core::unicode_versions()[0], ("split", bytepair_core::split::UNICODE.to_owned()));
/// ```
#[must_use]
pub fn unicode_versions() -> [(&'static str, String); 6] {
    let normalization = unicode_normalization_alignments::UNICODE_VERSION;
    let segmentation = unicode_segmentation::UNICODE_VERSION;
    let characters = char::UNICODE_VERSION;
    [
        ("split", split::UNICODE.to_owned()),
        ("normalization", format!("{}.{}.{}", normalization.0, normalization.1, normalization.2)),
        // Those of the tables in `normalize::categories` and `pre_tokenize::scripts`, which stand still.
        ("categories", "8.0.0".to_owned()),
        ("scripts", "9.0.0".to_owned()),
        ("segmentation", format!("{}.{}.{}", segmentation.0, segmentation.1, segmentation.2)),
        ("characters", format!("{}.{}.{}", characters.0, characters.1, characters.2)),
    ]
}

#[cfg(test)]
mod shared_by_threads {
    /// Compiles only while the public types may be shared by threads.
    const fn is<T: Send + Sync>() {}
    const _: () = {
        is::<super::Tokenizer>();
        is::<super::Vocab>();
        is::<super::Error>();
        is::<super::split::Pattern>();
        is::<super::train::PieceCounts>();
    };
}
