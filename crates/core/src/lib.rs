//! The core of bytepair: every loop that touches each byte of a text, and no Python.
//!
//! Data runs one way: [`segment`] takes a text through [`normalize`] and [`split`] to pieces, [`merge`] turns pieces into
//! ids, [`decode`] turns ids back. [`pipeline`] alone composes them, [`batch`] for several threads, [`count`] for who needs
//! no ids, and [`study`] with an algorithm that the caller chose. [`train`] makes the merges that a [`vocab`] is compiled from.

pub mod aligned;
pub mod batch;
pub mod byte_alphabet;
mod cache;
pub mod columns;
pub mod count;
pub mod decode;
pub mod encode;
pub mod error;
pub mod locate;
pub mod merge;
pub mod model;
pub mod normalize;
pub mod parallel;
pub mod pipeline;
mod prefetch;
pub mod rank_file;
pub mod sample;
pub mod segment;
mod spelled;
pub mod split;
pub mod study;
mod text_maker;
pub mod text_stream;
pub mod train;
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
