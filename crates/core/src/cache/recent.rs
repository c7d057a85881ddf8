//! Pieces that were merged lately, and their ids, in memory whose size never changes.
//!
//! Pieces of up to 28 bytes have a cache line each in a table, with up to 7 ids. Longer ones, and more ids, stand in a
//! ring of bytes in which the oldest make room for the newest. Memory that was not needed yet is not touched.

use super::tokens::{self, long_key, prefetch};
use super::{hash, mix};

/// Lines of the table.
const LINES: usize = 1 << 17;

/// Ids that a line has room for, after their number.
const IDS: usize = 7;

/// The number of ids of a short piece that has too many of them for its line and stands in the ring.
const ELSEWHERE: u64 = u64::MAX;

/// Bytes of the ring.
const RING: usize = 2 << 20;

/// Places in the index of the ring: pairs of them, so that two pieces of one place can stay.
const PLACES: usize = 1 << 16;

/// Longer pieces are not kept, in bytes: merging them costs little beyond reading them.
const LONGEST: usize = 1024;

/// What is written to the ring before a piece: its length and the number of its ids.
const HEADER: usize = 4;

/// The memory that the recent pieces of one thread take at most, in bytes.
pub const MEMORY: usize = LINES * 64 + RING + PLACES * 8;

/// The pieces.
pub(crate) struct Recent {
    /// Lines of eight words: four for the piece, four for the number of ids and the ids.
    table: Vec<u64>,
    /// Where the first line starts, so that each is one line of the processor's cache.
    first: usize,
    ring: Ring,
}

impl Default for Recent {
    fn default() -> Self {
        let table = vec![0_u64; LINES * 8 + 7];
        let first = table.as_ptr().align_offset(64).min(7);
        Self { table, first, ring: Ring::default() }
    }
}

/// A piece as it is looked for.
pub(crate) struct Sought<'t> {
    pub(crate) piece: &'t [u8],
    /// Its number among the pieces that are looked for together.
    pub(crate) number: usize,
    /// Of short pieces.
    key: [u64; 4],
    hash: u64,
}

impl<'t> Sought<'t> {
    /// A place for one.
    pub(crate) const NONE: Self = Self { piece: &[], number: 0, key: [0; 4], hash: 0 };

    /// The piece `text[start..end]`, which is not empty.
    #[inline]
    pub(crate) fn new(text: &'t [u8], start: usize, end: usize, number: usize) -> Self {
        let piece = &text[start..end];
        if piece.len() > tokens::LONGEST {
            return Self { piece, number, key: [0; 4], hash: hash(piece) };
        }
        let key = long_key(text, start, piece.len());
        Self { piece, number, key, hash: mix(mix(key[0], key[1]), key[2] ^ key[3].rotate_left(32)) }
    }

    fn is_short(&self) -> bool {
        self.key[3] != 0
    }

    fn line(&self) -> usize {
        self.hash as usize & (LINES - 1)
    }
}

impl Recent {
    fn lines(&self) -> &[[u64; 8]] {
        self.table[self.first..].as_chunks().0
    }

    /// Asks for the memory that [`Recent::get`] will need.
    #[inline]
    pub(crate) fn prepare(&self, sought: &Sought) {
        if sought.is_short() {
            prefetch(self.lines(), sought.line());
        } else {
            prefetch(&self.ring.index, Ring::place(sought.hash));
        }
    }

    /// Appends the ids of a piece, if they are known.
    #[inline]
    pub(crate) fn get(&self, sought: &Sought, ids: &mut Vec<u32>) -> bool {
        if !sought.is_short() {
            return sought.piece.len() <= LONGEST && self.ring.get(sought.piece, sought.hash, ids);
        }
        let key = &sought.key;
        for line in [sought.line(), sought.line() ^ 1] {
            let Some(line) = self.lines().get(line) else { continue };
            if (line[0] ^ key[0]) | (line[1] ^ key[1]) | (line[2] ^ key[2]) | (line[3] ^ key[3]) == 0 {
                if line[4] == ELSEWHERE {
                    return self.ring.get(sought.piece, sought.hash, ids);
                }
                // All are copied, which takes no loop, and those too many taken off.
                let [a, b, c, d] = [line[4], line[5], line[6], line[7]];
                let halves = [a >> 32, b, b >> 32, c, c >> 32, d, d >> 32].map(|word| word as u32);
                let length = ids.len() + a as u32 as usize;
                ids.extend_from_slice(&halves);
                ids.truncate(length);
                return true;
            }
        }
        false
    }

    /// Keeps a piece that was not found.
    pub(crate) fn keep(&mut self, sought: &Sought, ids: &[u32]) {
        if !sought.is_short() {
            if sought.piece.len() <= LONGEST {
                self.ring.keep(sought.piece, sought.hash, ids);
            }
            return;
        }
        let mut words = [0_u64; 8];
        words[..4].copy_from_slice(&sought.key);
        if ids.len() > IDS {
            words[4] = ELSEWHERE;
            self.ring.keep(sought.piece, sought.hash, ids);
        } else {
            words[4] = ids.len() as u64;
            for (place, &id) in (1..).zip(ids) {
                words[4 + place / 2] |= u64::from(id) << (32 * (place % 2));
            }
        }
        // The newer piece of the two stays, if both places are taken.
        let first = sought.line();
        let (lines, _) = self.table[self.first..].as_chunks_mut::<8>();
        if lines[first][3] != 0 {
            lines[first ^ 1] = lines[first];
        }
        lines[first] = words;
    }
}

/// Longer pieces. An entry is the header, four bytes for each id, the bytes of the piece.
struct Ring {
    bytes: Vec<u8>,
    /// How many bytes were ever written: the ring is written at this place modulo its size.
    written: u64,
    /// Where an entry starts, counted like `written` and from 1, under 16 bits of the hash.
    index: Vec<u64>,
}

impl Default for Ring {
    fn default() -> Self {
        Self { bytes: vec![0; RING], written: 0, index: vec![0; PLACES] }
    }
}

const PLACE_BITS: u32 = 48;

impl Ring {
    fn get(&self, piece: &[u8], hash: u64, ids: &mut Vec<u32>) -> bool {
        let place = Self::place(hash);
        [place, place ^ 1].into_iter().any(|place| {
            let found = self.entry(self.index[place], hash).filter(|(_, kept)| *kept == piece);
            if let Some((known, _)) = found {
                ids.extend(known.iter().map(|id| u32::from_le_bytes(*id)));
            }
            found.is_some()
        })
    }

    /// The ids and the bytes of the piece that the index leads to, unless it is gone.
    fn entry(&self, indexed: u64, hash: u64) -> Option<(&[[u8; 4]], &[u8])> {
        if indexed >> PLACE_BITS != hash >> PLACE_BITS {
            return None;
        }
        let start = (indexed & ((1 << PLACE_BITS) - 1)).checked_sub(1)?;
        // What was written a whole ring ago has been written over.
        if start + (RING as u64) < self.written {
            return None;
        }
        let entry = self.bytes.get(start as usize % RING..)?;
        let (&[length_low, length_high, count_low, count_high], rest) = entry.split_first_chunk::<HEADER>()?;
        let length = usize::from(u16::from_le_bytes([length_low, length_high]));
        let count = usize::from(u16::from_le_bytes([count_low, count_high]));
        let (ids, rest) = rest.split_at_checked(count * 4)?;
        Some((ids.as_chunks().0, rest.get(..length)?))
    }

    fn keep(&mut self, piece: &[u8], hash: u64, ids: &[u32]) {
        let size = HEADER + 4 * ids.len() + piece.len();
        let left = RING - self.written as usize % RING;
        if left < size {
            self.written += left as u64;
        }
        let start = self.written;
        self.written += size as u64;
        let at = start as usize % RING;
        let entry = &mut self.bytes[at..at + size];
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

    fn get(recent: &Recent, piece: &[u8]) -> Option<Vec<u32>> {
        let mut ids = vec![7];
        recent.get(&Sought::new(piece, 0, piece.len(), 0), &mut ids).then(|| ids.split_off(1))
    }

    fn keep(recent: &mut Recent, piece: &[u8], ids: &[u32]) {
        recent.keep(&Sought::new(piece, 0, piece.len(), 0), ids);
    }

    #[test]
    fn the_newest_pieces_are_found_with_their_own_ids_and_the_memory_stays() {
        let mut recent = Recent::default();
        let piece = |number: u32| format!("piece {number} {}", "x".repeat(number as usize % 100)).into_bytes();
        let total = 200_000_u32;
        let mut found = 0;
        for number in 0..total {
            keep(&mut recent, &piece(number), &[number, number + 1]);
            let earlier = number.saturating_sub(500);
            if let Some(ids) = get(&recent, &piece(earlier)) {
                found += 1;
                assert_eq!(ids, [earlier, earlier + 1]);
            }
        }
        assert!(found > total * 9 / 10, "{found}");
        assert_eq!(get(&recent, &piece(99)), None, "too long for a line, and written over");
        let sizes = [recent.table.capacity() * 8 - 56, recent.ring.bytes.capacity(), recent.ring.index.capacity() * 8];
        assert_eq!(sizes.iter().sum::<usize>(), MEMORY);
    }

    #[test]
    fn every_length_comes_back() {
        let mut recent = Recent::default();
        for length in 1..=LONGEST + 1 {
            let piece = vec![b'a'; length];
            let ids: Vec<u32> = (0..length as u32).collect();
            assert_eq!(get(&recent, &piece), None);
            keep(&mut recent, &piece, &ids);
            assert_eq!(get(&recent, &piece), (length <= LONGEST).then_some(ids));
        }
    }

    #[test]
    fn pieces_of_one_hash_are_told_apart() {
        let mut ring = Ring::default();
        let get = |ring: &Ring, piece: &[u8]| {
            let mut ids = Vec::new();
            ring.get(piece, 7, &mut ids).then_some(ids)
        };
        ring.keep(b"one", 7, &[1]);
        ring.keep(b"two", 7, &[2, 3]);
        assert_eq!((get(&ring, b"one"), get(&ring, b"two")), (Some(vec![1]), Some(vec![2, 3])));
        ring.keep(b"six", 7, &[4]);
        assert_eq!((get(&ring, b"one"), get(&ring, b"six")), (None, Some(vec![4])));
    }
}
