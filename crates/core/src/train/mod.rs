//! Texts -> counts of pieces -> merges.
//!
//! [`Counter`] counts in parallel; [`learn()`] merges the most frequent adjacent pair again and again. The result is a
//! function of counts and [`Settings`] alone.

mod byte_pairs;
mod counts;
mod piece_words;
mod progress;
pub mod unigram;
pub mod wordpiece;

pub use byte_pairs::{Alphabet, Settings, Ties, Training, learn, learn_bytes, token_uses};
pub use counts::{Counter, OwnedRow, PieceCounts, Row, Sorted, Spilled, Total};
pub use progress::{Learned, Progress, overflow};
