//! Classifying a block with AVX-512 or AVX2, whichever the machine has.
#![allow(unsafe_code, reason = "loads of 64 bytes, and calls of what the machine was asked for first")]

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_loadu_si128, _mm256_and_si256, _mm256_blendv_epi8, _mm256_broadcastsi128_si256,
    _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_max_epu8, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_set1_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi16, _mm512_add_epi32, _mm512_castsi512_si128,
    _mm512_cmpeq_epi8_mask, _mm512_cmple_epu8_mask, _mm512_cvtepu8_epi32, _mm512_extracti32x4_epi32,
    _mm512_loadu_si512, _mm512_mask_loadu_epi8, _mm512_mask_permutexvar_epi8, _mm512_maskz_compress_epi8,
    _mm512_movepi8_mask, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
    _mm512_sub_epi8, _mm512_test_epi8_mask,
};

use super::blocks::{Blocks, FILLER, Fill, copy_end, push_one_by_one};
use super::ends::{AT_ONCE, Ends};
use super::kinds::{FIRST, Kinds, Registers};
use super::masks::{BLOCK, Masks};
use crate::tier::{Tier, allows};

/// The fastest way that this machine has, and that may be used.
#[inline]
pub(super) fn fill() -> Option<Fill> {
    if allows(Tier::Avx512) && has_avx512() {
        Some(|blocks, text, at, ends| {
            // SAFETY: the machine has the features that the function is compiled for.
            unsafe { fill_avx512(blocks, text, at, ends) }
        })
    } else if allows(Tier::Avx2) && has_avx2() {
        Some(|blocks, text, at, ends| {
            // SAFETY: the machine has the features that the function is compiled for.
            unsafe { fill_avx2(blocks, text, at, ends) }
        })
    } else {
        None
    }
}

/// Whether the machine has all that [`fill_avx512`] is compiled for.
#[inline]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && has_bits()
}

/// Whether the machine has all that [`fill_avx2`] is compiled for.
#[inline]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && has_bits()
}

#[inline]
fn has_bits() -> bool {
    is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[target_feature(enable = "avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn fill_avx512(blocks: Blocks, text: &str, at: usize, ends: &mut Ends) -> usize {
    let starts = |blocks: Blocks, block: &[u8; BLOCK]| {
        let beyond = |ascii: &Masks, kinds: &Kinds, block: &[u8; BLOCK]| beyond_ascii_avx512(ascii, kinds, block);
        blocks.starts(|block| avx512(block), beyond, block)
    };
    let push = |ends: &mut Ends, at: usize, starts: u64| push(ends, at, starts);
    blocks.fill(starts, |rest| end_block(rest), push, text, at, ends)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn fill_avx2(blocks: Blocks, text: &str, at: usize, ends: &mut Ends) -> usize {
    let starts = |blocks: Blocks, block: &[u8; BLOCK]| {
        let beyond = |ascii: &Masks, kinds: &Kinds, block: &[u8; BLOCK]| beyond_ascii_avx2(ascii, kinds, block);
        blocks.starts(|block| avx2(block), beyond, block)
    };
    blocks.fill(starts, copy_end, push_one_by_one, text, at, ends)
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi")]
fn beyond_ascii_avx512(ascii: &Masks, kinds: &Kinds, block: &[u8; BLOCK]) -> Masks {
    // SAFETY: blocks and tables have the 64 bytes that are read; they need no alignment.
    let load = |bytes: &[u8; BLOCK]| unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
    let bytes: __m512i = load(block);
    let all = |byte: u8| _mm512_set1_epi8(byte.cast_signed());
    let registers = Registers {
        none: _mm512_setzero_si512(),
        first: _mm512_cmple_epu8_mask(all(FIRST), bytes),
        is: |before: usize, byte: u8| _mm512_cmpeq_epi8_mask(bytes, all(byte)) << before,
        both: |a: u64, b: u64| a & b,
        // The register takes the low six bits of each byte itself.
        put: |kinds, table: &[u8; BLOCK], here| _mm512_mask_permutexvar_epi8(kinds, here, bytes, load(table)),
        mask: |mask: u64| mask,
        has: |kinds, bits: u8| _mm512_test_epi8_mask(kinds, all(bits)),
    };
    kinds.masks(ascii, block, &registers)
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn avx512(block: &[u8; BLOCK]) -> Masks {
    // SAFETY: the block has the 64 bytes that are read; it needs no alignment.
    let bytes: __m512i = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    let all = |byte: u8| _mm512_set1_epi8(byte.cast_signed());
    let is = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, all(byte));
    let range = |first: u8, last: u8| _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, all(first)), all(last - first));
    Masks::of(is, range, _mm512_movepi8_mask(bytes))
}

/// [`copy_end`] in one load and one store: a block that was stored in parts could not be loaded at once soon after.
#[inline]
#[target_feature(enable = "avx512bw")]
fn end_block(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let here = 1_u64.checked_shl(rest.len() as u32).map_or(u64::MAX, |after| after - 1);
    // SAFETY: only as many bytes are read as there are, and the block has room for the 64 that are written.
    unsafe {
        let bytes = _mm512_mask_loadu_epi8(_mm512_set1_epi8(FILLER.cast_signed()), here, rest.as_ptr().cast());
        _mm512_storeu_si512(block.as_mut_ptr().cast(), bytes);
    }
    block
}

/// The places of the bits are the bytes 0 to 63 that the mask keeps, moved together.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi2,popcnt")]
fn push(ends: &mut Ends, at: usize, starts: u64) {
    const PLACES: [u8; BLOCK] = {
        let mut places = [0; BLOCK];
        let mut place = 0;
        while place < BLOCK {
            places[place] = place as u8;
            place += 1;
        }
        places
    };
    // SAFETY: the places have the 64 bytes that are read; they need no alignment.
    let places = unsafe { _mm512_loadu_si512(PLACES.as_ptr().cast()) };
    let kept = _mm512_maskz_compress_epi8(starts, places);
    let offset = _mm512_set1_epi32(ends.counted(at).cast_signed());
    let count = starts.count_ones() as usize;
    let mut group = |number: usize, bytes: __m128i| {
        let places = _mm512_add_epi32(_mm512_cvtepu8_epi32(bytes), offset);
        if let Some(room) = ends.places[ends.count + number * AT_ONCE..].first_chunk_mut::<AT_ONCE>() {
            // SAFETY: the room has the 64 bytes that are written; it needs no alignment.
            unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), places) };
        }
    };
    // Two groups without asking whether there is a second: English has about as many pieces in a block as one holds.
    group(0, _mm512_castsi512_si128(kept));
    group(1, _mm512_extracti32x4_epi32::<1>(kept));
    if count > 2 * AT_ONCE {
        group(2, _mm512_extracti32x4_epi32::<2>(kept));
        group(3, _mm512_extracti32x4_epi32::<3>(kept));
    }
    ends.count += count;
}

#[inline]
#[target_feature(enable = "avx2")]
fn avx2(block: &[u8; BLOCK]) -> Masks {
    let half = |number: usize| -> __m256i {
        // SAFETY: both halves lie in the block's 64 bytes; they need no alignment.
        unsafe { _mm256_loadu_si256(block.as_ptr().add(32 * number).cast()) }
    };
    let halves = [half(0), half(1)];
    let mask = |of: &dyn Fn(__m256i) -> __m256i| {
        let [low, high] = halves.map(|bytes| _mm256_movemask_epi8(of(bytes)).cast_unsigned());
        u64::from(high) << 32 | u64::from(low)
    };
    let all = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
    let is = |byte: u8| mask(&|bytes| _mm256_cmpeq_epi8(bytes, all(byte)));
    let range = |first: u8, last: u8| {
        mask(&|bytes| {
            let from = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, all(first)), bytes);
            let up_to = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, all(last)), bytes);
            _mm256_and_si256(from, up_to)
        })
    };
    Masks::of(is, range, mask(&|bytes| bytes))
}

/// [`beyond_ascii_avx512`] in two halves, which look up quarters of a table and choose among them by two bits.
#[inline]
#[target_feature(enable = "avx2")]
fn beyond_ascii_avx2(ascii: &Masks, kinds: &Kinds, block: &[u8; BLOCK]) -> Masks {
    type Halves = [__m256i; 2];
    // Two bytes in front, so that the bytes before those of the block can be loaded.
    let mut padded = [0; BLOCK + 2];
    padded[2..].copy_from_slice(block);
    let bytes: [Halves; 3] = [2, 1, 0].map(|from: usize| {
        // SAFETY: from 0, 1 or 2 on there are 64 bytes; they need no alignment.
        [0, 32].map(|half| unsafe { _mm256_loadu_si256(padded.as_ptr().add(from + half).cast()) })
    });
    let all = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
    let mask = |halves: Halves| {
        let [low, high] = halves.map(|half| _mm256_movemask_epi8(half).cast_unsigned());
        u64::from(high) << 32 | u64::from(low)
    };
    let put = |kinds: Halves, table: &[u8; BLOCK], here: Halves| -> Halves {
        let quarters = [0, 16, 32, 48].map(|from: usize| {
            // SAFETY: each quarter has the 16 bytes that are read; they need no alignment.
            _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().add(from).cast()) })
        });
        std::array::from_fn(|half| {
            let low = _mm256_and_si256(bytes[0][half], all(63));
            let [a, b, c, d] = quarters.map(|quarter| _mm256_shuffle_epi8(quarter, low));
            let (odd, upper) = (_mm256_slli_epi16::<3>(low), _mm256_slli_epi16::<2>(low));
            let found = _mm256_blendv_epi8(_mm256_blendv_epi8(a, b, odd), _mm256_blendv_epi8(c, d, odd), upper);
            _mm256_blendv_epi8(kinds[half], found, here[half])
        })
    };
    let none = [_mm256_setzero_si256(); 2];
    let registers = Registers {
        none,
        first: bytes[0].map(|half| _mm256_cmpeq_epi8(_mm256_max_epu8(half, all(FIRST)), half)),
        is: |before: usize, byte: u8| bytes[before].map(|half| _mm256_cmpeq_epi8(half, all(byte))),
        both: |[a, b]: Halves, [c, d]: Halves| [_mm256_and_si256(a, c), _mm256_and_si256(b, d)],
        put,
        mask,
        has: |kinds: Halves, bits: u8| {
            !mask(kinds.map(|half| _mm256_cmpeq_epi8(_mm256_and_si256(half, all(bits)), none[0])))
        },
    };
    kinds.masks(ascii, block, &registers)
}

#[cfg(test)]
pub(super) use for_tests::{all, classifiers};

/// Everything that this machine has, by name.
#[cfg(test)]
mod for_tests {
    use super::{BLOCK, Fill, Masks, avx2, avx512, fill_avx2, fill_avx512, has_avx2, has_avx512};

    fn has(name: &str) -> bool {
        if name == "avx512" { has_avx512() } else { has_avx2() }
    }

    pub(in super::super) fn all() -> Vec<(&'static str, Fill)> {
        // SAFETY: only those that the machine has are kept.
        let ways: [(_, Fill); 2] = unsafe {
            [
                ("avx512", |blocks, text, at, ends| fill_avx512(blocks, text, at, ends)),
                ("avx2", |blocks, text, at, ends| fill_avx2(blocks, text, at, ends)),
            ]
        };
        ways.into_iter().filter(|(name, _)| has(name)).collect()
    }

    type Classify = fn(&[u8; BLOCK]) -> Masks;

    pub(in super::super) fn classifiers() -> Vec<(&'static str, Classify)> {
        // SAFETY: only those that the machine has are kept.
        let ways: [(_, Classify); 2] = unsafe { [("avx512", |block| avx512(block)), ("avx2", |block| avx2(block))] };
        ways.into_iter().filter(|(name, _)| has(name)).collect()
    }
}
