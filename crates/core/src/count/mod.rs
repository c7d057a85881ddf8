//! Counting tokens without keeping ids: until a limit, in any interval of a text, of growing texts, and of the longest part
//! that fits.
//!
//! All are built on cuts, places where either side of a text has the ids that it has in the whole, for any text further
//! away: counts add up there.

mod appender;
mod cuts;
mod fit;
mod head;
mod index;
mod marks;
mod path;
mod prepender;
mod tail;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
mod until;

pub use appender::{Appender, Mark};
pub(crate) use cuts::Cuts;
pub use fit::{Fit, Side};
pub use index::{Builder, Index};
pub use prepender::{FrontMark, Prepender};
