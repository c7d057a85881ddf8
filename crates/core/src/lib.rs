//! The core of bytepair: every loop that touches each byte of a text, and no Python.
//!
//! A text takes this route: [`segment`] sends it through [`normalize`], [`pre_tokenize`] and [`split`] to pieces; [`merge`] or
//! [`model`] turns each piece into ids, which [`encode`] looks up first among those it knows; [`decode`] turns ids back into
//! text. [`pipeline`] composes the stages, for one thread or several, for texts in parts and for ids with their places.
//! [`count`] counts tokens without keeping ids, [`chunk`] cuts a text into parts of a limited count, [`align`] relates the
//! tokens of two tokenizers, and [`canonical`] says which ids can follow others; [`trie`] holds tokens by their bytes.
//! [`prefix_cache`] keeps the ids of texts that grow. [`train`] makes the merges that a [`vocab`] is compiled from; [`files`] reads vocabularies and
//! documents.

pub mod align;
mod cache;
pub mod canonical;
pub mod chunk;
pub mod count;
pub mod decode;
mod edge;
mod eight_bytes;
pub mod encode;
pub mod error;
pub mod files;
mod hash;
mod helpers;
pub mod interrupt;
mod large_pages;
pub mod memory;
pub mod merge;
pub mod model;
pub mod normalize;
pub mod occurrences;
pub mod parallel;
pub mod pipeline;
pub mod pre_tokenize;
pub mod prefetch;
pub mod prefix_cache;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod real_data;
mod row;
pub mod segment;
pub mod split;
pub mod stored;
pub mod tier;
pub mod train;
pub mod trie;
pub mod units;
pub mod utf8;
pub mod vocab;

pub use error::{Error, Kind, Result};
pub use pipeline::Tokenizer;
pub use vocab::Vocab;

/// The least that [`limit_cache_memory`] allows a thread, in bytes.
pub const LEAST_CACHE_MEMORY: usize = cache::bound::LEAST;

/// The most memory in bytes that the caches of one thread may take, and those of all threads together. A tokenizer has
/// caches for each thread that ever used it at the same time as others. They grow with use.
#[must_use]
pub fn cache_memory() -> (usize, usize) {
    cache::bound::get()
}

/// Sets what [`cache_memory`] returns, from now on: what has been taken stays until the tokenizer goes. A thread may always
/// take [`LEAST_CACHE_MEMORY`].
///
/// ```
/// let (thread, process) = bytepair_core::cache_memory();
/// bytepair_core::limit_cache_memory(4 << 20, process);
/// assert_eq!(bytepair_core::cache_memory(), (4 << 20, process));
/// # bytepair_core::limit_cache_memory(thread, process);
/// ```
pub fn limit_cache_memory(thread: usize, process: usize) {
    cache::bound::set(thread, process);
}

/// The Unicode versions of the tables that decide ids, by their use: character classes of split patterns, normal forms,
/// categories and scripts of pre-tokenizers, segmentation into graphemes, words and sentences, and the standard library's
/// character properties and cases.
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
        // The fixed tables in `normalize::categories` and `pre_tokenize::scripts`.
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
