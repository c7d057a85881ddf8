//! The ends of pieces, block by block, with the widest registers of the machine.

use super::blocks::{Blocks, copy_end, push_one_by_one};
use super::ends::Ends;
use super::masks::portable;

/// Appends the ends of pieces from `at` on until there is no room for another block; returns the last of them.
pub(super) fn fill(blocks: Blocks, text: &str, at: usize, ends: &mut Ends) -> usize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if let Some(fill) = super::wide::fill() {
        return fill(blocks, text, at, ends);
    }
    fill_portable(blocks, text, at, ends)
}

/// [`fill`] for any machine.
pub(super) fn fill_portable(blocks: Blocks, text: &str, at: usize, ends: &mut Ends) -> usize {
    blocks.fill(|blocks, block| blocks.starts_in_ascii(portable, block), copy_end, push_one_by_one, text, at, ends)
}
