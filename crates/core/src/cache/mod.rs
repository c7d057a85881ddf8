//! Pieces whose ids are known. [`known`] holds the pieces that a thread has seen, in memory that [`bound`] bounds: one table
//! ([`seen`]), and a ring for what does not fit into its entries ([`ring`]). [`part_counts`] holds counts of parts of texts,
//! [`pool`] lends what a thread has for itself.

pub(crate) mod bound;
pub(crate) mod known;
pub(crate) mod part_counts;
pub(crate) mod pool;
mod ring;
pub(crate) mod seen;
