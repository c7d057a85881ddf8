//! Whole texts through every stage, and back: by one thread or several, at once or in parts.

mod batch;
mod blocks;
mod character_tokens;
mod cuts;
mod each;
mod encode_stream;
mod in_blocks;
mod in_ranges;
mod locate;
mod sample;
pub mod study;
mod text_stream;
mod tokenizer;

pub use self::batch::{Batch, Gather, Run, Taker};
pub(crate) use self::cuts::Cuts;
#[cfg(test)]
pub(crate) use self::cuts::tests as made;
pub use self::each::{Each, Frame};
pub use self::encode_stream::EncodeStream;
pub(crate) use self::encode_stream::{last_cut, walk};
pub use self::locate::{Located, is_white};
pub use self::sample::Draw;
pub use self::text_stream::TextStream;
pub use self::tokenizer::{Model, Parts, Span, Tokenizer};
