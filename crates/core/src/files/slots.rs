//! A hash table of places in a list, whose items are elsewhere.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::prefetch::prefetch;

/// No place.
const EMPTY: u64 = u64::MAX;

/// So many items are entered together: while some are, the slots of others are on their way from memory.
const TOGETHER: usize = 64;

/// By the hash of an item: the upper half of the hash and the place, or [`EMPTY`]. At most half are taken.
#[derive(Debug)]
pub(super) struct Slots(Vec<u64>);

impl Slots {
    /// The slots of so many items, of which `hash` returns the hash and `are_equal` whether two are equal.
    ///
    /// # Errors
    /// The places of the first item that equals an earlier one: the earlier one's first.
    pub(super) fn new(
        count: u32,
        hash: impl Fn(u32) -> u64,
        are_equal: impl Fn(u32, u32) -> bool,
    ) -> Result<Self, (u32, u32)> {
        let mut slots = Self(vec![EMPTY; (count as usize * 2).next_power_of_two().max(2)]);
        let mut hashes = [0; TOGETHER];
        for first in (0..count).step_by(TOGETHER) {
            let places = first..count.min(first + TOGETHER as u32);
            for (place, into) in places.clone().zip(&mut hashes) {
                *into = hash(place);
                prefetch(&slots.0, slots.first(*into));
            }
            for (place, &hash) in places.zip(&hashes) {
                match slots.find(hash, |other| are_equal(other, place)) {
                    Ok(other) => return Err((other, place)),
                    Err(free) => slots.0[free] = hash >> 32 << 32 | u64::from(place),
                }
            }
        }
        Ok(slots)
    }

    /// The place of the item with this hash for which `is_it` holds, or else the free slot for it.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mut slot = self.first(hash);
        while self.0[slot] != EMPTY {
            let place = self.0[slot] as u32;
            if self.0[slot] >> 32 == hash >> 32 && is_it(place) {
                return Ok(place);
            }
            slot = (slot + 1) & (self.0.len() - 1);
        }
        Err(slot)
    }

    /// Asks for the slot where a search begins; returns it.
    #[inline]
    pub(super) fn prepare(&self, hash: u64) -> usize {
        let slot = self.first(hash);
        prefetch(&self.0, slot);
        slot
    }

    /// The place in a slot; of an empty one a place that no item has.
    #[inline]
    pub(super) fn place(&self, slot: usize) -> u32 {
        self.0[slot] as u32
    }

    #[inline]
    fn first(&self, hash: u64) -> usize {
        // The bits below the middle: those above it are compared.
        hash as usize & (self.0.len() - 1)
    }
}

/// The hash of an item's bytes.
#[inline]
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}
