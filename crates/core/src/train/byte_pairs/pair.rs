//! A pair of adjacent symbols: its key, its count and its postings.

/// The place of an occurrence: the number of the word, and the symbols of the alphabet before it in the word.
pub(super) type Place = (u32, u32);

/// Two symbols in one number, ordered as they are.
#[inline]
pub(super) fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The two symbols of a key.
#[inline]
pub(super) fn symbols_of(key: u64) -> [u32; 2] {
    [(key >> 32) as u32, key as u32]
}

/// The count of a pair, and the places where it occurs or did occur, ascending.
#[derive(Debug, Default)]
pub(super) struct Pair {
    pub(super) count: u64,
    pub(super) postings: Vec<u32>,
}
