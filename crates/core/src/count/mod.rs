//! Counting without encoding it all: until a limit, and in any interval of a text; and chunks of a text that have at most
//! so many tokens each.
//!
//! All are built on cuts, places where a text may be cut so that what lies on either side is encoded as it is in the
//! whole, whatever lies further away: counts add up there.

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
