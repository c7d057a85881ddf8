//! The ends of some pieces, and finding them with the automaton, one match after another.

use super::automaton::Automaton;
use super::masks::BLOCK;

/// How many places are written at once.
pub(super) const AT_ONCE: usize = 16;

/// Where some pieces end, as many as fit, counted from where the first of them starts.
pub(crate) struct Ends {
    /// Where the first piece starts in the text.
    pub(super) start: usize,
    /// More places than are used, since some are written that do not count.
    pub(super) places: [u32; Ends::MOST + AT_ONCE],
    pub(super) count: usize,
    /// Whether one of them was too far away to be counted.
    pub(super) too_long: bool,
}

impl Default for Ends {
    fn default() -> Self {
        Self { start: 0, places: [0; Self::MOST + AT_ONCE], count: 0, too_long: false }
    }
}

impl Ends {
    /// A block of text has at most 64 ends, and there is room for as many whenever a block is begun.
    pub(crate) const MOST: usize = 256;

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.places[..self.count]
    }

    /// Forgets all; the next piece starts at `start`.
    pub(super) fn clear(&mut self, start: usize) {
        self.start = start;
        self.count = 0;
        self.too_long = false;
    }

    pub(super) fn has_room_for_a_block(&self) -> bool {
        self.count + BLOCK <= Self::MOST
    }

    /// A place as it is counted here; those of the 64 bytes after it can be counted as well.
    #[inline(always)]
    pub(super) fn counted(&mut self, place: usize) -> u32 {
        let counted = place.wrapping_sub(self.start);
        self.too_long |= counted > u32::MAX as usize - BLOCK;
        counted as u32
    }

    #[inline(always)]
    pub(super) fn push(&mut self, end: usize) {
        self.places[self.count] = self.counted(end);
        self.count += 1;
    }
}

/// The ends of the pieces from `at` on, one match after another; returns where the last one ends.
pub(super) fn step(automaton: &Automaton, text: &str, at: usize, ends: &mut Ends) -> usize {
    let mut at = at;
    while at < text.len() && ends.has_room_for_a_block() {
        at = piece_end(automaton, text, at);
        ends.push(at);
    }
    at
}

/// Where the piece that starts at `at` ends: with the match there, or where the next match starts.
#[inline]
pub(super) fn piece_end(automaton: &Automaton, text: &str, at: usize) -> usize {
    let matched = |from: usize| automaton.match_at(text.as_bytes(), from).filter(|&end| end > from);
    if let Some(end) = matched(at) {
        return end;
    }
    let mut next = automaton.next_start(text, at);
    while next < text.len() && matched(next).is_none() {
        next = automaton.next_start(text, next);
    }
    next
}
