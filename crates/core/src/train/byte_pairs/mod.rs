//! Byte pairs: counts of pieces -> merges.
//!
//! [`learn()`] is the merge loop. Words are stored in sites (`site`, `short_words`, `long_words`), their pairs in shards with
//! a queue (`pairs`, `queue`); `tally` adds up the changes of a merge, and `merge_batch` chooses the next merges.

mod alphabet;
mod learn;
mod long_words;
mod merge_batch;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod oracle;
mod pair;
mod pairs;
mod parity;
mod plan;
mod queue;
mod recount;
mod settings;
mod short_words;
mod site;
mod symbols;
mod tally;
mod vocabulary;
mod words;
mod workers;

pub use alphabet::Alphabet;
pub use learn::{Training, learn};
pub use parity::{Parity, ParityTraining, learn_parity};
pub use plan::learn_bytes;
pub use settings::{Settings, Ties};
pub use vocabulary::token_uses;
