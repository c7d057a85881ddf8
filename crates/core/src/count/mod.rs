//! Counting tokens without keeping ids: until a limit, in any interval of a text, of growing texts, and of the longest part
//! that fits.
//!
//! All are built on cuts, places where either side of a text has the ids that it has in the whole, for any text further
//! away: counts add up there.

mod appender;
mod counter;
mod fit;
mod front_run;
mod front_text;
mod head;
mod index;
mod marks;
mod path;
mod prepender;
mod rows;
mod ruler;
mod run;
mod stretch;
mod suffixes;
mod tail;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
mod until;

pub use appender::{Appender, Mark};
pub(crate) use counter::Counter;
pub use fit::Side;
pub use index::{Builder, Index};
pub use prepender::{FrontMark, Prepender};
pub(crate) use ruler::Ruler;
pub use stretch::Fit;
