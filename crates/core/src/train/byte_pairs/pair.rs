//! Two adjacent symbols: as one number, how often they occur, and where.

/// Where an occurrence is: order of the word, symbols of the alphabet from its start.
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

/// How often a pair occurs, and where it does, or did: ascending.
#[derive(Debug, Default)]
pub(super) struct Pair {
    pub(super) count: u64,
    pub(super) postings: Vec<u32>,
}
