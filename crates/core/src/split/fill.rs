//! The ends of pieces, block by block, with the widest registers of the machine.

use super::automaton::Automaton;
use super::blocks::{copy_end, fill_with, push_one_by_one};
use super::ends::Ends;
use super::family::Family;
use super::masks::portable;

/// Appends the ends of pieces from `at` on until there is no room for another block; returns the last of them.
pub(super) fn fill(family: Family, automaton: &Automaton, text: &str, at: usize, ends: &mut Ends) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(fill) = super::x86::fill() {
        return fill(family, automaton, text, at, ends);
    }
    fill_with(portable, copy_end, push_one_by_one, family, automaton, text, at, ends)
}
