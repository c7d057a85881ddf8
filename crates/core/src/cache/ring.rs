//! Pieces of any length with any number of ids, by the place where they were written.
//!
//! They are written one after another in a ring of bytes, in which the newest overwrite the oldest. The ring is twice as long
//! each time that its end is reached, while memory allows, and then for good. So only the memory in use is touched:
//! touching a page for the first time costs more than merging a piece.

use super::bound::{self, Taken};
use crate::large_pages;
use crate::prefetch::prefetch;
use crate::row;

/// Bytes of the ring at first.
const FIRST: usize = 1 << 15;

/// The ring takes at most this part of a thread's memory.
const PARTS: usize = 4;

/// A ring of this size is written further in large pages: a short one is not worth the first.
const ENOUGH_FOR_LARGE_PAGES: usize = 4 << 20;

/// Longer pieces are not kept, in bytes: merging them costs little beyond reading them.
const LONGEST: usize = 1024;

/// The bytes of the header of a piece: its length and the number of its ids.
const HEADER: usize = 4;

/// The pieces. Each is a header, the bytes of the piece, four bytes for each id.
pub(super) struct Ring {
    bytes: Vec<u8>,
    /// Where the ring ends now, and where it may end: powers of two.
    size: usize,
    most: usize,
    /// How many bytes were ever written: the ring is written at this place modulo its size.
    written: u64,
    taken: Taken,
}

impl Default for Ring {
    fn default() -> Self {
        let (mut most, mut bytes) = (bound::part(PARTS), Vec::new());
        // Most of it is not touched where little is seen, but it has to be there.
        if bytes.try_reserve_exact(most).is_err() {
            most = FIRST.min(most);
            bytes.reserve_exact(most);
        }
        Self { bytes, size: FIRST.min(most), most, written: 0, taken: Taken::default() }
    }
}

impl Ring {
    /// Asks for the memory that [`Ring::read`] needs.
    #[inline]
    pub(super) fn prepare(&self, place: u64) {
        prefetch(&self.bytes, self.at(place));
    }

    /// Appends the ids of a piece, if it is the one that was written at a place and is still there, and there is memory for
    /// them.
    #[inline]
    pub(super) fn read(&self, place: u64, piece: &[u8], ids: &mut Vec<u32>) -> bool {
        // What was written a whole ring ago has been written over.
        if place + (self.size as u64) < self.written {
            return false;
        }
        let Some((header, rest)) = self.bytes.get(self.at(place)..).and_then(<[u8]>::split_first_chunk::<HEADER>)
        else {
            return false;
        };
        let header = u32::from_le_bytes(*header);
        let (length, count) = ((header & 0xFFFF) as usize, (header >> 16) as usize);
        let is_it = rest.get(..length) == Some(piece);
        let Some(known) = rest.get(length..length + 4 * count).filter(|_| is_it) else { return false };
        let known = known.as_chunks().0.iter().map(|id| u32::from_le_bytes(*id));
        row::append(ids, count, |row| row.put_all(known)).is_ok()
    }

    /// Writes a piece and its ids; returns the place, unless there are too many bytes or ids.
    pub(super) fn write(&mut self, piece: &[u8], ids: &[u32]) -> Option<u64> {
        if piece.len() > LONGEST || ids.len() > piece.len() {
            return None;
        }
        let size = HEADER + piece.len() + 4 * ids.len();
        // Unless something has been overwritten already.
        while self.written <= self.size as u64 && self.written as usize + size > self.size && self.lengthen() {}
        let left = self.size - self.at(self.written);
        if left < size {
            self.written += left as u64;
        }
        let place = self.written;
        self.written += size as u64;
        let at = self.at(place);
        if self.bytes.len() < at + size {
            self.bytes.resize(at + size, 0);
        }
        let (header, rest) = self.bytes[at..at + size].split_at_mut(HEADER);
        header.copy_from_slice(&(piece.len() as u32 | (ids.len() as u32) << 16).to_le_bytes());
        let (room, rest) = rest.split_at_mut(piece.len());
        room.copy_from_slice(piece);
        for (room, id) in rest.as_chunks_mut().0.iter_mut().zip(ids) {
            *room = id.to_le_bytes();
        }
        Some(place)
    }

    /// Where a place is in the ring.
    #[inline]
    fn at(&self, place: u64) -> usize {
        place as usize & (self.size - 1)
    }

    /// Makes the ring twice as long, unless it may be no longer.
    fn lengthen(&mut self) -> bool {
        let longer = self.size * 2;
        if longer > self.most || !self.taken.resize(longer) {
            return false;
        }
        self.size = longer;
        if longer == ENOUGH_FOR_LARGE_PAGES {
            large_pages::ask(&mut self.bytes);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(ring: &Ring, place: u64, piece: &[u8]) -> Option<Vec<u32>> {
        let mut ids = vec![7];
        ring.read(place, piece, &mut ids).then(|| ids.split_off(1))
    }

    #[test]
    fn pieces_are_there_until_they_are_written_over_and_memory_is_bounded() {
        let mut ring = Ring::default();
        // The bytes read in place of a header look like the longest possible piece.
        let piece = |number: u32| {
            let length = number as usize * 37 % (LONGEST - 4);
            [&number.to_le_bytes()[..], &vec![255; length]].concat()
        };
        let ids = |number: u32| vec![u32::MAX - number; number as usize % 4];
        let mut places = Vec::new();
        for number in 0..100_000 {
            let Some(place) = ring.write(&piece(number), &ids(number)) else { unreachable!() };
            places.push(place);
            for earlier in [0, 1, 9000, 60_000].map(|back| number.saturating_sub(back)) {
                let place = places[earlier as usize];
                let is_there = place + ring.size as u64 >= ring.written;
                let found = read(&ring, place, &piece(earlier));
                assert_eq!(found, is_there.then(|| ids(earlier)), "{number} {earlier}");
                assert_eq!(read(&ring, place, &piece(earlier + 1)), None);
            }
        }
        assert_eq!((ring.size, ring.bytes.capacity()), (ring.most, bound::part(PARTS)));
        assert_eq!(read(&ring, places[0], &piece(0)), None);
    }

    #[test]
    fn what_is_too_long_is_not_written() {
        let mut ring = Ring::default();
        assert_eq!(ring.write(&[b'a'; LONGEST + 1], &[1]), None);
        assert_eq!(ring.write(b"a", &[1, 2]), None);
        let place = ring.write(&[b'a'; LONGEST], &[3; LONGEST]);
        assert_eq!(read(&ring, place.unwrap_or(1), &[b'a'; LONGEST]), Some(vec![3; LONGEST]));
    }
}
