//! placeholder
/// x
#[must_use]
pub fn learn_bytes(pieces: usize, symbols: usize) -> u64 {
    (pieces + symbols) as u64
}
