//! Chunks of a text within a token budget, which end at the best boundaries.

mod boundaries;
mod chunk_stream;
mod chunks;
mod sentences;
mod words;

pub use boundaries::{Boundary, places};
pub use chunk_stream::{ChunkStream, Streamed};
pub use chunks::{Chunk, Settings};
