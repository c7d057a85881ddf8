//! The look-up of many pieces with registers of 64 bytes, each of which holds a line.
#![allow(unsafe_code, reason = "loads of lines of 64 bytes")]

use std::arch::x86_64::{
    _mm_load_si128, _mm512_broadcast_i32x4, _mm512_load_si512, _mm512_mask_cmpeq_epi32_mask, _mm512_maskz_loadu_epi32,
    _mm512_set_epi64, _mm512_set1_epi32, _mm512_test_epi64_mask, _mm512_xor_si512,
};

use super::{Found, Key, MANY, NO_ID, NO_KEY, ShortLine, WholeTokens, id_of};

/// Whether the machine has all that [`get_many`] is compiled for.
#[inline]
pub(super) fn is_there() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2")
}

#[target_feature(enable = "avx512f,bmi1,bmi2")]
pub(super) fn get_many(tokens: &WholeTokens, text: &[u8], start: usize, ends: &[u32], found: &mut Found) {
    tokens.get_many_with(text, start, ends, found, |line, key| find(line, key), |ids, which| missing_of(ids, which));
}

#[inline]
#[target_feature(enable = "avx512f,bmi1")]
fn missing_of(ids: &[u32], which: &mut [u8; MANY]) -> usize {
    let mut missing = 0;
    for (first, ids) in (0..).step_by(16).zip(ids.chunks(16)) {
        let here = 0xFFFF_u16 >> (16 - ids.len());
        // SAFETY: only as many ids are read as there are.
        let ids = unsafe { _mm512_maskz_loadu_epi32(here, ids.as_ptr().cast()) };
        let mut lost = _mm512_mask_cmpeq_epi32_mask(here, ids, _mm512_set1_epi32(-1));
        while lost != 0 {
            which[missing & (MANY - 1)] = (first + lost.trailing_zeros()) as u8;
            missing += 1;
            lost &= lost - 1;
        }
    }
    missing
}

#[inline]
#[target_feature(enable = "avx512f,bmi1")]
fn find(line: &ShortLine, key: &Key) -> u32 {
    // SAFETY: a line has the 64 bytes that are read, and their alignment.
    let entries = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
    // SAFETY: a key has the 16 bytes that are read, and their alignment.
    let key = _mm512_broadcast_i32x4(unsafe { _mm_load_si128(std::ptr::from_ref(key).cast()) });
    let rest = (!NO_KEY).cast_signed();
    let compared = _mm512_set_epi64(rest, -1, rest, -1, rest, -1, rest, -1);
    let differs = u32::from(_mm512_test_epi64_mask(_mm512_xor_si512(entries, key), compared));
    // Two bits for each entry, both of them zero where it is the one.
    let is = !(differs | differs >> 1) & 0b0101_0101;
    let entry = line.0[(is.trailing_zeros() as usize >> 1) & 3];
    if is == 0 { NO_ID } else { id_of(entry.1) }
}
