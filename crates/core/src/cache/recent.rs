//! Pieces that were merged lately, and their ids: a ring of bytes in which the oldest make room for the newest.
//!
//! Its size never changes, whatever comes; memory that was not needed yet is not touched.

/// Bytes of the ring.
const RING: usize = 4 << 20;

/// Places in the index: pairs of them, so that two pieces of one place can stay.
const PLACES: usize = 1 << 17;

/// Longer pieces are not kept, in bytes: merging them costs little beyond reading them.
pub(crate) const LONGEST: usize = 1024;

/// What is written before a piece: its length and the number of its ids.
const HEADER: usize = 4;

/// The memory that one of these takes at most, in bytes.
pub const MEMORY: usize = RING + PLACES * size_of::<u64>();

/// The pieces. An entry is the header, four bytes for each id, the bytes of the piece.
pub(crate) struct Recent {
    ring: Vec<u8>,
    /// How many bytes were ever written: the ring is written at this place modulo its size.
    written: u64,
    /// Where an entry starts, counted like `written` and from 1, under 16 bits of the hash.
    index: Vec<u64>,
}

impl Default for Recent {
    fn default() -> Self {
        Self { ring: vec![0; RING], written: 0, index: vec![0; PLACES] }
    }
}

const PLACE_BITS: u32 = 48;

impl Recent {
    /// The ids of a piece, each as four bytes, the lowest first.
    #[inline]
    pub(crate) fn get(&self, piece: &[u8], hash: u64) -> Option<&[[u8; 4]]> {
        let place = Self::place(hash);
        [place, place ^ 1].into_iter().find_map(|place| {
            let entry = self.index[place];
            if entry >> PLACE_BITS != hash >> PLACE_BITS {
                return None;
            }
            let start = (entry & ((1 << PLACE_BITS) - 1)).checked_sub(1)?;
            // What was written a whole ring ago has been written over.
            if start + (RING as u64) < self.written {
                return None;
            }
            let entry = self.ring.get(start as usize % RING..)?;
            let (&[length_low, length_high, count_low, count_high], rest) = entry.split_first_chunk::<HEADER>()?;
            let length = usize::from(u16::from_le_bytes([length_low, length_high]));
            let count = usize::from(u16::from_le_bytes([count_low, count_high]));
            let (ids, rest) = rest.split_at_checked(count * 4)?;
            (rest.get(..length)? == piece).then_some(ids.as_chunks().0)
        })
    }

    /// Keeps a piece of up to [`LONGEST`] bytes that was not found.
    pub(crate) fn keep(&mut self, piece: &[u8], hash: u64, ids: &[u32]) {
        let size = HEADER + 4 * ids.len() + piece.len();
        if piece.len() > LONGEST || ids.len() > piece.len() {
            return;
        }
        let left = RING - self.written as usize % RING;
        if left < size {
            self.written += left as u64;
        }
        let start = self.written;
        self.written += size as u64;
        let at = start as usize % RING;
        let entry = &mut self.ring[at..at + size];
        entry[..2].copy_from_slice(&(piece.len() as u16).to_le_bytes());
        entry[2..4].copy_from_slice(&(ids.len() as u16).to_le_bytes());
        let (room, rest) = entry[HEADER..].split_at_mut(4 * ids.len());
        for (room, id) in room.as_chunks_mut().0.iter_mut().zip(ids) {
            *room = id.to_le_bytes();
        }
        rest.copy_from_slice(piece);
        // Of the two places the one whose entry is older, or gone, is taken.
        let place = Self::place(hash);
        let age = |place: usize| self.index[place] & ((1 << PLACE_BITS) - 1);
        let place = if age(place) <= age(place ^ 1) { place } else { place ^ 1 };
        self.index[place] = hash >> PLACE_BITS << PLACE_BITS | (start + 1);
    }

    fn place(hash: u64) -> usize {
        hash as usize % PLACES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::hash;

    #[test]
    fn the_newest_pieces_are_found_with_their_own_ids_and_the_memory_stays() {
        let mut recent = Recent::default();
        let piece = |number: u32| format!("piece {number} {}", "x".repeat(number as usize % 100)).into_bytes();
        let total = 200_000_u32;
        let mut found = 0;
        for number in 0..total {
            let bytes = piece(number);
            recent.keep(&bytes, hash(&bytes), &[number, number + 1]);
            let earlier = piece(number.saturating_sub(500));
            if let Some(ids) = recent.get(&earlier, hash(&earlier)) {
                found += 1;
                let first = number.saturating_sub(500);
                assert_eq!(ids, [first.to_le_bytes(), (first + 1).to_le_bytes()]);
            }
        }
        assert!(found > total * 9 / 10, "{found}");
        assert_eq!(recent.get(&piece(0), hash(&piece(0))), None);
        assert_eq!(recent.ring.len() + recent.index.len() * 8, MEMORY);
    }

    #[test]
    fn pieces_of_one_hash_are_told_apart() {
        let mut recent = Recent::default();
        recent.keep(b"one", 7, &[1]);
        recent.keep(b"two", 7, &[2, 3]);
        assert_eq!(recent.get(b"one", 7), Some(&[[1, 0, 0, 0]][..]));
        assert_eq!(recent.get(b"two", 7), Some(&[[2, 0, 0, 0], [3, 0, 0, 0]][..]));
        recent.keep(b"six", 7, &[4]);
        assert_eq!((recent.get(b"one", 7), recent.get(b"six", 7)), (None, Some(&[[4, 0, 0, 0]][..])));
    }
}
