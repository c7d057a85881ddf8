//! Texts in chunks of at most a number of tokens each, which end at the best places.

mod boundaries;
mod chunk_stream;
mod chunks;

pub use boundaries::{Boundary, places};
pub use chunk_stream::{ChunkStream, Streamed};
pub use chunks::{Chunk, Settings};
