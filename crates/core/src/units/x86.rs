//! Units to UTF-8 in registers of 64 bytes.
//!
//! Sixteen characters are spelled at once, each in four bytes of a register, and the bytes that they do not need are pressed out
//! of it: no branch depends on where characters beyond ASCII are, beyond whether there are any.
//!
//! Source: of pressing, Clausecker and Lemire, "Transcoding Unicode characters with AVX-512 instructions", 2023.

use std::arch::x86_64::{
    __m512i, _mm_loadu_si128, _mm_storeu_si128, _mm256_loadu_si256, _mm512_and_si512, _mm512_cmpeq_epi32_mask,
    _mm512_cmpge_epu32_mask, _mm512_cmpgt_epu32_mask, _mm512_cvtepi32_epi8, _mm512_cvtepu8_epi32,
    _mm512_cvtepu16_epi32, _mm512_loadu_si512, _mm512_mask_mov_epi32, _mm512_maskz_compress_epi8,
    _mm512_multishift_epi64_epi8, _mm512_or_si512, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_srlv_epi32,
    _mm512_storeu_si512, _mm512_test_epi8_mask,
};

use super::{AHEAD, AT_ONCE, STORED, Unit};
use crate::prefetch::prefetch_at;

/// The first byte of each four.
const FIRST_BYTES: u64 = 0x1111_1111_1111_1111;

/// Whether the machine has all that [`append`] is compiled for.
#[inline]
pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("popcnt")
}

/// Appends as many characters as are a multiple of [`AT_ONCE`], as `append_plain` does; the others are returned, or None if
/// a unit is no character.
#[target_feature(enable = "avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
pub(super) fn append<'a, T: Unit>(units: &'a [T], text: &mut Vec<u8>) -> Option<&'a [T]> {
    debug_assert!(text.capacity() - text.len() >= units.len() * T::MOST + STORED);
    // SAFETY: the place is within the vector's room.
    let mut to = unsafe { text.as_mut_ptr().add(text.len()) };
    let mut wrong = 0;
    let (chunks, rest) = units.as_chunks::<AT_ONCE>();
    for chunk in chunks {
        prefetch_at(chunk.as_ptr().wrapping_byte_add(AHEAD));
        let characters = characters(chunk);
        // SAFETY: the room is enough for what is left of the characters, and for a register more.
        if _mm512_cmpge_epu32_mask(characters, all(0x80)) == 0 {
            unsafe { _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(characters)) };
            to = unsafe { to.add(AT_ONCE) };
        } else {
            let bytes = spelled::<T>(characters);
            // Of the bytes of a character only the first can be 0.
            let needed = _mm512_test_epi8_mask(bytes, bytes) | FIRST_BYTES;
            unsafe { _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi8(needed, bytes)) };
            to = unsafe { to.add(needed.count_ones() as usize) };
            if T::MOST > 2 {
                wrong |= _mm512_cmpeq_epi32_mask(_mm512_and_si512(characters, all(!0x7FF)), all(0xD800));
            }
            if T::MOST > 3 {
                wrong |= _mm512_cmpgt_epu32_mask(characters, all(0x10_FFFF));
            }
        }
    }
    if wrong != 0 {
        return None;
    }
    // SAFETY: everything up to there is written, in the same room.
    unsafe { text.set_len(to.offset_from_unsigned(text.as_ptr())) };
    Some(rest)
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn all(value: u32) -> __m512i {
    _mm512_set1_epi32(value.cast_signed())
}

/// The characters of units, in 32 bits each.
#[inline]
#[target_feature(enable = "avx512bw")]
fn characters<T: Unit>(units: &[T; AT_ONCE]) -> __m512i {
    let units = units.as_ptr();
    // SAFETY: the most bytes of a character tell how large a unit is, and so many are read.
    match T::MOST {
        2 => _mm512_cvtepu8_epi32(unsafe { _mm_loadu_si128(units.cast()) }),
        3 => _mm512_cvtepu16_epi32(unsafe { _mm256_loadu_si256(units.cast()) }),
        _ => unsafe { _mm512_loadu_si512(units.cast()) },
    }
}

/// Each character in UTF-8, from the lowest of four bytes on, and zeros behind it.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi")]
fn spelled<T: Unit>(characters: __m512i) -> __m512i {
    /// Where the six bits begin that each of eight bytes has, of two characters.
    const SIXES: i64 = i64::from_le_bytes([18, 12, 6, 0, 50, 44, 38, 32]);
    let sixes = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(SIXES), characters);
    let sixes = _mm512_and_si512(sixes, all(0x3F3F_3F3F));
    let (mut unused, mut marks) = (all(16), all(0x0000_80C0));
    let mut of = |first: u32, bits: u32, mark: u32| {
        let here = _mm512_cmpge_epu32_mask(characters, all(first));
        unused = _mm512_mask_mov_epi32(unused, here, all(bits));
        marks = _mm512_mask_mov_epi32(marks, here, all(mark));
    };
    if T::MOST > 2 {
        of(0x800, 8, 0x0080_80E0);
    }
    if T::MOST > 3 {
        of(0x1_0000, 0, 0x8080_80F0);
    }
    let longer = _mm512_or_si512(_mm512_srlv_epi32(sixes, unused), marks);
    _mm512_mask_mov_epi32(characters, _mm512_cmpge_epu32_mask(characters, all(0x80)), longer)
}
