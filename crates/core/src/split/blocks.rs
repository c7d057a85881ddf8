//! The pieces of a text, 64 bytes at a time where the kinds of its characters are known, by the automaton where they are not.
//!
//! A block begins where a piece starts. It is classified into one mask of 64 bits for each kind of character; shifts of the
//! masks mark the starts of pieces in it ([`Family::starts`]), and the next block begins at the last of these. No state is
//! carried from block to block, so that the automaton can take over anywhere.
//!
//! Weakness: long pieces of other than letters, and text outside ASCII where registers are not wide enough to classify it, go
//! through the automaton, a character at a time.

use super::automaton::Automaton;
use super::ends::{Ends, piece_end};
use super::family::{Family, Found};
use super::kinds::Kinds;
use super::masks::{BLOCK, Masks};
use crate::prefetch::prefetch_at;

/// The text this many bytes ahead is asked for: prefetches of other memory between two rounds keep the machine from doing it.
const AHEAD: usize = 1024;

/// A pattern of the family: its parameters, the kinds of characters beyond ASCII, and the automaton for all else.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'p> {
    pub(super) family: Family,
    pub(super) kinds: &'p Kinds,
    pub(super) automaton: &'p Automaton,
}

/// A way to find the ends of pieces: [`Blocks::fill`] for one kind of machine.
pub(super) type Fill = fn(Blocks, &str, usize, &mut Ends) -> usize;

impl Blocks<'_> {
    /// Appends the ends of pieces from `at` on, with one way to find where they start in a block ([`Family::starts`]), one to make
    /// a block of the end of a text, and one to write down where the bits of a mask are.
    #[inline(always)]
    pub(super) fn fill(
        self,
        find: impl Fn(Self, &[u8; BLOCK]) -> Found,
        end_block: impl Fn(&[u8]) -> [u8; BLOCK],
        push: impl Fn(&mut Ends, usize, u64),
        text: &str,
        at: usize,
        ends: &mut Ends,
    ) -> usize {
        let bytes = text.as_bytes();
        // A block begins where a piece starts, or further on in a long one.
        let (mut piece, mut at) = (at, at);
        let mut end_of_text;
        while at < bytes.len() && ends.has_room_for_a_block() {
            let rest = &bytes[at..];
            prefetch_at(rest.as_ptr().wrapping_add(AHEAD));
            let block = if let Some(block) = rest.first_chunk::<BLOCK>() {
                block
            } else {
                end_of_text = end_block(rest);
                &end_of_text
            };
            let Found { starts, goes_on } = find(self, block);
            if starts != 0 {
                push(ends, at, starts);
                at += 63 - starts.leading_zeros() as usize;
                piece = at;
            } else if goes_on > 0 {
                at += goes_on;
            } else {
                piece = piece_end(self.automaton, text, piece);
                ends.push(piece);
                at = piece;
            }
        }
        piece
    }

    /// [`Family::starts`] of a block whose ASCII is classified first, and what is beyond it only where there is any.
    #[inline(always)]
    pub(super) fn starts(
        self,
        ascii: impl Fn(&[u8; BLOCK]) -> Masks,
        beyond: impl Fn(&Masks, &Kinds, &[u8; BLOCK]) -> Masks,
        block: &[u8; BLOCK],
    ) -> Found {
        // Where letters beyond ASCII have no kind, looking others up costs more than it spares.
        let knows_letters = self.kinds.knows_letters;
        if !knows_letters && !begins_in_ascii(block) {
            return Found { starts: 0, goes_on: 0 };
        }
        let ascii = ascii(block);
        if ascii.unknown == 0 {
            return self.family.starts(&ascii, block);
        }
        let masks = if knows_letters { beyond(&ascii, self.kinds, block) } else { ascii };
        self.family.starts(&masks, block)
    }

    /// [`Family::starts`] of a block of which the characters of ASCII alone are classified.
    #[inline(always)]
    pub(super) fn starts_in_ascii(self, classify: impl Fn(&[u8; BLOCK]) -> Masks, block: &[u8; BLOCK]) -> Found {
        if begins_in_ascii(block) {
            self.family.starts(&classify(block), block)
        } else {
            Found { starts: 0, goes_on: 0 }
        }
    }
}

#[inline(always)]
fn begins_in_ascii(block: &[u8; BLOCK]) -> bool {
    u32::from_le_bytes([block[0], block[1], block[2], block[3]]) & 0x8080_8080 == 0
}

/// What a block is filled up with at the end of a text. Behind all that is not white space the last piece ends there as it does
/// at the end of the text; where white space ends is not decided, as before more of it.
pub(super) const FILLER: u8 = b' ';

/// The end of a text as a block.
pub(super) fn copy_end(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [FILLER; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    block
}

/// Appends the places of the bits of a block that starts at `at`, one after another.
#[inline(always)]
pub(super) fn push_one_by_one(ends: &mut Ends, at: usize, mut starts: u64) {
    let count = ends.count + starts.count_ones() as usize;
    let offset = ends.counted(at);
    // In groups of fixed size, so that there is no branch on the number of bits; surplus entries are not counted.
    while starts != 0 {
        if let Some(group) = ends.places[ends.count..].first_chunk_mut::<8>() {
            for place in group {
                *place = offset.wrapping_add(starts.trailing_zeros());
                starts &= starts.wrapping_sub(1);
            }
        }
        ends.count += 8;
    }
    ends.count = count;
}
