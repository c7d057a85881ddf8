//! Counting without encoding it all: until a limit, and in any interval of a text.
//!
//! Both are built on cuts, places where a text may be cut so that what lies on either side is encoded as it is in the
//! whole, whatever lies further away: counts add up there.

mod appender;
mod cuts;
mod fit;
mod index;
mod marks;
mod prepender;
mod tail;
mod until;

pub use appender::{Appender, Mark};
pub use fit::{Fit, Side};
pub use index::Index;
pub use prepender::{FrontMark, Prepender};
