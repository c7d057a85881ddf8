//! The pieces of a text, 64 bytes at a time where its bytes are ASCII, by the automaton where they are not.
//!
//! A block is read from where a piece starts. It is classified into one mask of 64 bits for each kind of character, and
//! the masks say where pieces start in it; the next block is read from the last of these. Nothing is carried from block
//! to block, so that the automaton can take over anywhere.

use super::automaton::Automaton;
use super::family::Family;
use super::scan::{Ends, piece_end};

/// How many bytes are looked at together.
pub(super) const BLOCK: usize = 64;

/// How many places are written at once.
pub(super) const AT_ONCE: usize = 16;

/// For each kind of character, which bytes of a block are of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Masks {
    pub(super) upper: u64,
    pub(super) lower: u64,
    pub(super) digit: u64,
    /// White space, line ends among it.
    pub(super) space: u64,
    /// Line feed and carriage return.
    pub(super) line_end: u64,
    /// The space itself.
    pub(super) blank: u64,
    pub(super) apostrophe: u64,
    pub(super) slash: u64,
    /// Neither printed nor white space.
    pub(super) control: u64,
    /// Not ASCII.
    pub(super) beyond: u64,
}

impl Masks {
    /// The masks, by what says where a byte is, where bytes from a first to a last one are, and what is not ASCII.
    #[inline(always)]
    pub(super) fn of(is: impl Fn(u8) -> u64, range: impl Fn(u8, u8) -> u64, beyond: u64) -> Self {
        let blank = is(b' ');
        Self {
            upper: range(b'A', b'Z'),
            lower: range(b'a', b'z'),
            digit: range(b'0', b'9'),
            space: range(b'\t', b'\r') | blank,
            line_end: is(b'\n') | is(b'\r'),
            blank,
            apostrophe: is(b'\''),
            slash: is(b'/'),
            control: range(0, 8) | range(14, 31) | is(127),
            beyond,
        }
    }
}

/// A way to find the ends of pieces: [`fill`] for one kind of machine.
pub(super) type Fill = fn(Family, &Automaton, &str, usize, &mut Ends) -> usize;

/// Appends the ends of pieces from `at` on until there is no room for another block; returns the last of them.
pub(super) fn fill(family: Family, automaton: &Automaton, text: &str, at: usize, ends: &mut Ends) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(fill) = super::x86::fill() {
        return fill(family, automaton, text, at, ends);
    }
    fill_with(portable, copy_end, push_one_by_one, family, automaton, text, at, ends)
}

/// [`fill`] with one way of classifying a block, one of making a block of the end of a text, and one of writing down where
/// the bits of a mask are.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "three ways to do something, and what `fill` takes")]
pub(super) fn fill_with(
    classify: impl Fn(&[u8; BLOCK]) -> Masks,
    end_block: impl Fn(&[u8]) -> [u8; BLOCK],
    push: impl Fn(&mut Ends, usize, u64),
    family: Family,
    automaton: &Automaton,
    text: &str,
    at: usize,
    ends: &mut Ends,
) -> usize {
    let bytes = text.as_bytes();
    let mut at = at;
    let mut end_of_text;
    while at < bytes.len() && ends.has_room_for_a_block() {
        let rest = &bytes[at..];
        let block = if let Some(block) = rest.first_chunk::<BLOCK>() {
            block
        } else {
            end_of_text = end_block(rest);
            &end_of_text
        };
        let begins_in_ascii = u32::from_le_bytes([block[0], block[1], block[2], block[3]]) & 0x8080_8080 == 0;
        let starts = if begins_in_ascii { family.starts(&classify(block), block) } else { 0 };
        if starts == 0 {
            at = piece_end(automaton, text, at);
            ends.push(at);
            continue;
        }
        push(ends, at, starts);
        at += 63 - starts.leading_zeros() as usize;
    }
    at
}

/// The end of a text as a block. What comes after it is not known, like what is not ASCII.
pub(super) fn copy_end(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [0xFF; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    block
}

/// Appends the places of the bits of a block that starts at `at`, one after another.
#[inline(always)]
pub(super) fn push_one_by_one(ends: &mut Ends, at: usize, mut starts: u64) {
    let count = ends.count + starts.count_ones() as usize;
    let offset = ends.counted(at);
    // In groups whose size is fixed, so that there is no branch on the number of bits; what is too many counts not.
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

/// Eight bytes at a time, for machines without wider registers.
#[inline(always)]
pub(super) fn portable(block: &[u8; BLOCK]) -> Masks {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    let (words, _) = block.as_chunks::<8>();
    let words: [u64; 8] = std::array::from_fn(|number| u64::from_le_bytes(words[number]));
    // Of each word the high bits of its bytes, which the multiplication moves together.
    let mask = |of: &dyn Fn(u64) -> u64| {
        words
            .iter()
            .rev()
            .fold(0, |mask, &word| mask << 8 | ((of(word) & HIGH) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56)
    };
    let range = |first: u8, last: u8| {
        mask(&|word| {
            // The high bit of each byte that is at least `least`, for bytes below 128.
            let from = |least: u8| (word & !HIGH) + (0x80 - u64::from(least)) * ONES;
            from(first) & !from(last + 1) & !word
        })
    };
    Masks::of(|byte| range(byte, byte), range, mask(&|word| word))
}
