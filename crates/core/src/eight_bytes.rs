//! Eight bytes at once in plain integers.

/// Bytes that are looked at together.
pub(crate) const WORD: usize = 8;

/// The bytes from `at` on, which is in them; in place of those beyond the end `other`.
#[inline(always)]
pub(crate) fn word_at(bytes: &[u8], at: usize, other: u8) -> [u8; WORD] {
    let rest = &bytes[at..];
    if let Some(word) = rest.first_chunk() {
        return *word;
    }
    let mut word = [other; WORD];
    word[..rest.len()].copy_from_slice(rest);
    word
}

/// The highest bit of each byte that is this one.
#[inline(always)]
pub(crate) fn equal_bytes(word: [u8; WORD], byte: u8) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x7F; WORD]);
    let other = u64::from_le_bytes(word) ^ u64::from_ne_bytes([byte; WORD]);
    !(((other & LOW) + LOW) | other | LOW)
}
