//! Training: texts -> counts of pieces -> a vocabulary.
//!
//! [`Counter`] counts in parallel. [`learn()`] learns byte pairs: it merges the most frequent adjacent pair again and again.
//! [`wordpiece`] and [`unigram`] learn the other two models. Each result is a function of counts and settings alone, on any
//! number of threads.

mod byte_pairs;
mod counts;
mod piece_words;
mod progress;
pub mod unigram;
pub mod wordpiece;

pub use byte_pairs::{
    Alphabet, Parity, ParityTraining, Settings, Ties, Training, learn, learn_bytes, learn_parity, token_uses,
};
pub use counts::{Counter, OwnedRow, PieceCounts, Row, Sorted, Spilled, Total};
pub use progress::{Learned, Progress, overflow};
