//! Searching eight bytes at once in plain integers (SIMD within a register), and bits for the bytes of a block.

use std::ops::Range;

/// The bytes of a word.
pub(crate) const WORD: usize = 8;

/// The highest bit of each byte.
const HIGH: u64 = u64::from_ne_bytes([0x80; WORD]);

/// The word at `at`, which is inside `bytes`; filled up with `other` beyond their end.
#[inline(always)]
pub(crate) fn word_at(bytes: &[u8], at: usize, other: u8) -> u64 {
    let rest = &bytes[at..];
    if let Some(word) = rest.first_chunk() {
        return u64::from_le_bytes(*word);
    }
    let mut word = [other; WORD];
    word[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(word)
}

/// Where a byte stands in some bytes, from a place on.
#[inline(always)]
pub(crate) fn places_of(byte: u8, bytes: &[u8], from: usize) -> impl Iterator<Item = usize> {
    let (mut next, mut found) = (from, 0);
    std::iter::from_fn(move || {
        while found == 0 {
            if next >= bytes.len() {
                return None;
            }
            // Beyond the end comes a byte that differs.
            found = bytes_equal(word_at(bytes, next, !byte), byte);
            next += WORD;
        }
        let place = next - WORD + found.trailing_zeros() as usize / WORD;
        found &= found - 1;
        Some(place)
    })
}

/// A bit for each of some bytes that are 0 or 1, the lowest for the first.
#[inline(always)]
pub(crate) fn bits(bytes: &[u8; 64]) -> u64 {
    // The product moves the lowest bit of each byte into the highest byte.
    let bits_of = |word: [u8; WORD]| u64::from_le_bytes(word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    bytes.as_chunks().0.iter().rev().fold(0, |bits, &word| bits << WORD | bits_of(word))
}

/// Calls `look` with part after part of some bytes: eight of them, and a word with the highest bit of each of those that count.
#[inline(always)]
pub(crate) fn words(bytes: &[u8], part: Range<usize>, mut look: impl FnMut(u64, u64)) {
    let mut at = part.start;
    while at < part.end {
        let left = part.end - at;
        let counts = if left < WORD { HIGH >> (u64::BITS as usize - left * WORD) } else { HIGH };
        look(word_at(bytes, at, 0), counts);
        at += WORD;
    }
}

/// A word with the highest bit set in each byte of ASCII from `first` to `last`.
#[inline(always)]
pub(crate) fn bytes_within(word: u64, first: u8, last: u8) -> u64 {
    // The highest bit of each byte that is at least `least`, of those of ASCII.
    let from = |least: u8| (word & !HIGH) + u64::from_ne_bytes([0x80 - least; WORD]);
    from(first) & !from(last + 1) & !word & HIGH
}

/// A word with the highest bit set in each byte that equals `byte`.
#[inline(always)]
pub(crate) fn bytes_equal(word: u64, byte: u8) -> u64 {
    let other = word ^ u64::from_ne_bytes([byte; WORD]);
    !(((other & !HIGH) + !HIGH) | other | !HIGH)
}
