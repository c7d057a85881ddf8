//! Classifying a block with the registers of ARM, of 16 bytes each, which every machine of 64 bits has.
#![allow(unsafe_code, reason = "loads of 16 bytes")]

use std::arch::aarch64::{
    uint8x16_t, uint8x16x4_t, vandq_u8, vbslq_u8, vceqq_u8, vcgeq_u8, vcleq_u8, vdupq_n_u8, vextq_u8, vgetq_lane_u64,
    vld1q_u8, vpaddq_u8, vqtbl4q_u8, vreinterpretq_u64_u8, vsubq_u8, vtstq_u8,
};

use super::blocks::{Blocks, Fill, copy_end, push_one_by_one};
use super::ends::Ends;
use super::kinds::{FIRST, Kinds, Registers};
use super::masks::{BLOCK, Masks};
use crate::tier::{Tier, allows};

/// A block in four registers.
type Quarters = [uint8x16_t; 4];

/// This way, if it may be used.
#[inline]
pub(super) fn fill() -> Option<Fill> {
    allows(Tier::Neon).then_some(|blocks, text, at, ends| {
        // SAFETY: every machine of 64 bits has these registers.
        unsafe { fill_neon(blocks, text, at, ends) }
    })
}

#[target_feature(enable = "neon")]
fn fill_neon(blocks: Blocks, text: &str, at: usize, ends: &mut Ends) -> usize {
    let starts = |blocks: Blocks, block: &[u8; BLOCK]| {
        let beyond = |ascii: &Masks, kinds: &Kinds, block: &[u8; BLOCK]| beyond_ascii(ascii, kinds, block);
        blocks.starts(|block| neon(block), beyond, block)
    };
    blocks.fill(starts, copy_end, push_one_by_one, text, at, ends)
}

#[inline]
#[target_feature(enable = "neon")]
fn load(block: &[u8; BLOCK]) -> Quarters {
    // SAFETY: each quarter has the 16 bytes that are read; they need no alignment.
    [0, 16, 32, 48].map(|from: usize| unsafe { vld1q_u8(block.as_ptr().add(from)) })
}

/// The highest bit of each byte, whose bits are all alike.
#[inline]
#[target_feature(enable = "neon")]
fn mask(quarters: Quarters) -> u64 {
    const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: the 16 bytes that are read are there; they need no alignment.
    let bits = unsafe { vld1q_u8(BITS.as_ptr()) };
    let [a, b, c, d] = quarters.map(|quarter| vandq_u8(quarter, bits));
    // Sums of neighbours, three times: a byte for eight.
    let halves = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(halves, halves)))
}

#[inline]
#[target_feature(enable = "neon")]
fn neon(block: &[u8; BLOCK]) -> Masks {
    let bytes = load(block);
    let is = |byte: u8| mask(bytes.map(|quarter| vceqq_u8(quarter, vdupq_n_u8(byte))));
    let range = |first: u8, last: u8| {
        mask(bytes.map(|quarter| vcleq_u8(vsubq_u8(quarter, vdupq_n_u8(first)), vdupq_n_u8(last - first))))
    };
    Masks::of(is, range, mask(bytes.map(|quarter| vcgeq_u8(quarter, vdupq_n_u8(0x80)))))
}

#[inline]
#[target_feature(enable = "neon")]
fn beyond_ascii(ascii: &Masks, kinds: &Kinds, block: &[u8; BLOCK]) -> Masks {
    let bytes = load(block);
    let zero = vdupq_n_u8(0);
    let [a, b, c, d] = bytes;
    let before = [vextq_u8::<15>(zero, a), vextq_u8::<15>(a, b), vextq_u8::<15>(b, c), vextq_u8::<15>(c, d)];
    let before_that = [vextq_u8::<14>(zero, a), vextq_u8::<14>(a, b), vextq_u8::<14>(b, c), vextq_u8::<14>(c, d)];
    let places = [bytes, before, before_that];
    let low = bytes.map(|quarter| vandq_u8(quarter, vdupq_n_u8(63)));
    let registers = Registers {
        none: [zero; 4],
        first: bytes.map(|quarter| vcgeq_u8(quarter, vdupq_n_u8(FIRST))),
        is: |before: usize, byte: u8| places[before].map(|quarter| vceqq_u8(quarter, vdupq_n_u8(byte))),
        both: |a: Quarters, b: Quarters| std::array::from_fn(|quarter| vandq_u8(a[quarter], b[quarter])),
        put: |kinds: Quarters, table: &[u8; BLOCK], here: Quarters| {
            let [a, b, c, d] = load(table);
            let table = uint8x16x4_t(a, b, c, d);
            std::array::from_fn(|quarter| vbslq_u8(here[quarter], vqtbl4q_u8(table, low[quarter]), kinds[quarter]))
        },
        mask: |quarters| mask(quarters),
        has: |kinds: Quarters, bits: u8| mask(kinds.map(|quarter| vtstq_u8(quarter, vdupq_n_u8(bits)))),
    };
    kinds.masks(ascii, block, &registers)
}

#[cfg(test)]
pub(super) use for_tests::{all, classifiers};

/// Everything that this machine has, by name.
#[cfg(test)]
mod for_tests {
    use super::{BLOCK, Fill, Masks, fill_neon, neon};

    pub(in super::super) fn all() -> Vec<(&'static str, Fill)> {
        // SAFETY: as above.
        vec![("neon", |blocks, text, at, ends| unsafe { fill_neon(blocks, text, at, ends) })]
    }

    type Classify = fn(&[u8; BLOCK]) -> Masks;

    pub(in super::super) fn classifiers() -> Vec<(&'static str, Classify)> {
        // SAFETY: as above.
        vec![("neon", |block| unsafe { neon(block) })]
    }
}
