//! Recently merged pieces of any length, and their ids.
//!
//! They are stored one after another in a ring of bytes, in which the newest overwrite the oldest; an index that grows with
//! them holds their places. The ring is twice as long each time that its end is reached, while memory allows, and then for
//! good. So only the memory in use is touched: touching a page for the first time costs more than merging a piece.

use super::bound::{self, Taken};
use super::hash;
use super::whole_tokens::{self, LongKey, long_hash, long_key};
use crate::large_pages;
use crate::prefetch::prefetch;

/// Bytes of the ring at first.
const FIRST_RING: usize = 1 << 15;

/// A ring of this size is written further in large pages: a short one is not worth the first.
const ENOUGH_FOR_LARGE_PAGES: usize = 4 << 20;

/// The ring takes at most this part of a thread's memory.
const PARTS: usize = 4;

/// Places in the index at first, and bytes of the ring for each at the end: pairs of them, so that two pieces of one place
/// can stay.
const FIRST_PLACES: usize = 1 << 10;
const RING_OF_A_PLACE: usize = 16;

/// Longer pieces are not kept, in bytes: merging them costs little beyond reading them.
const LONGEST: usize = 1024;

/// The bytes of the header of a piece: its length and the number of its ids.
const HEADER: usize = 4;

/// An entry of the index has where the piece starts in its lower bits, bits of the hash in the others.
const PLACE_BITS: u32 = 48;

/// The pieces. Each is a header, the bytes of the piece, four bytes for each id.
pub(crate) struct Recent {
    ring: Vec<u8>,
    /// Where the ring ends now, and where it may end: powers of two.
    size: usize,
    most: usize,
    /// How many bytes were ever written, and one: the ring is written at this place modulo its size.
    written: u64,
    index: Vec<u64>,
    /// How many pieces were kept since the index has its size.
    kept: usize,
    taken: Taken,
}

impl Default for Recent {
    fn default() -> Self {
        let most = bound::part(PARTS);
        let (index, taken) = (vec![0; FIRST_PLACES], Taken::default());
        Self { ring: Vec::with_capacity(most), size: FIRST_RING.min(most), most, written: 1, index, kept: 0, taken }
    }
}

/// A piece as it is looked for.
pub(crate) struct Sought<'t> {
    pub(crate) piece: &'t [u8],
    /// Its number among the pieces that are looked for together.
    pub(crate) number: u8,
    /// The bytes of a piece of up to 28 bytes.
    pub(crate) key: LongKey,
    pub(crate) hash: u64,
}

impl<'t> Sought<'t> {
    /// A place for one.
    pub(crate) const NONE: Self = Self { piece: &[], number: 0, key: [0; 4], hash: 0 };

    /// One of the pieces that end at `ends`, which is not empty.
    #[inline]
    pub(crate) fn new(text: &'t [u8], ends: &[u32], number: u8) -> Self {
        let start = if number == 0 { 0 } else { ends[usize::from(number) - 1] };
        Self::at(text, start as usize, ends[usize::from(number)] as usize, number)
    }

    #[inline]
    fn at(text: &'t [u8], start: usize, end: usize, number: u8) -> Self {
        let piece = &text[start..end];
        if piece.len() > whole_tokens::LONGEST {
            return Self { piece, number, key: [0; 4], hash: hash(piece) };
        }
        let key = long_key(text, start, piece.len());
        Self { piece, number, key, hash: long_hash(key) }
    }
}

impl Recent {
    /// Asks for the memory that [`Recent::get`] needs first.
    #[inline]
    pub(crate) fn prepare(&self, sought: &Sought) {
        prefetch(&self.index, self.place(sought.hash));
    }

    /// Asks for the memory that [`Recent::get`] needs next.
    #[inline]
    pub(crate) fn prepare_more(&self, sought: &Sought) {
        let entry = self.index[self.place(sought.hash)];
        if (entry ^ sought.hash) >> PLACE_BITS == 0 {
            prefetch(&self.ring, self.at(start(entry)));
        }
    }

    /// Appends the ids of a piece, if they are known.
    #[inline]
    pub(crate) fn get(&self, sought: &Sought, ids: &mut Vec<u32>) -> bool {
        let place = self.place(sought.hash);
        [place, place ^ 1].into_iter().any(|place| {
            let entry = self.index[place];
            (entry ^ sought.hash) >> PLACE_BITS == 0 && self.read(start(entry), sought, ids)
        })
    }

    /// Appends the ids of the piece that starts at a place, if it is the one.
    #[inline]
    fn read(&self, start: u64, sought: &Sought, ids: &mut Vec<u32>) -> bool {
        // Nothing starts at 0, and what was written a whole ring ago has been written over.
        if start == 0 || start + (self.size as u64) < self.written {
            return false;
        }
        let at = self.at(start) + HEADER;
        let Some((length, count)) = self.header(start) else { return false };
        let end = at + length;
        let is_it = if length > whole_tokens::LONGEST {
            self.ring.get(at..end) == Some(sought.piece)
        } else {
            length == sought.piece.len() && long_key(&self.ring, at, length) == sought.key
        };
        if is_it && let Some(known) = self.ring.get(end..end + 4 * count) {
            ids.extend(known.as_chunks().0.iter().map(|id| u32::from_le_bytes(*id)));
        }
        is_it
    }

    /// The length of the piece that starts at a place, and the number of its ids.
    #[inline]
    fn header(&self, start: u64) -> Option<(usize, usize)> {
        let header = u32::from_le_bytes(*self.ring.get(self.at(start)..)?.first_chunk()?);
        Some(((header & 0xFFFF) as usize, (header >> 16) as usize))
    }

    /// Keeps a piece that was not found.
    pub(crate) fn keep(&mut self, sought: &Sought, ids: &[u32]) {
        let piece = sought.piece;
        if piece.len() > LONGEST || ids.len() > piece.len() {
            return;
        }
        let size = HEADER + piece.len() + 4 * ids.len();
        // Unless something has been overwritten already.
        while self.written <= self.size as u64 && self.written as usize + size > self.size && self.lengthen() {}
        let left = self.size - self.at(self.written);
        if left < size {
            self.written += left as u64;
        }
        let start = self.written;
        self.written += size as u64;
        let at = self.at(start);
        if self.ring.len() < at + size {
            self.ring.resize(at + size, 0);
        }
        let entry = &mut self.ring[at..at + size];
        entry[..HEADER].copy_from_slice(&(piece.len() as u32 | (ids.len() as u32) << 16).to_le_bytes());
        let (room, rest) = entry[HEADER..].split_at_mut(piece.len());
        room.copy_from_slice(piece);
        for (room, id) in rest.as_chunks_mut().0.iter_mut().zip(ids) {
            *room = id.to_le_bytes();
        }
        self.kept += 1;
        if self.kept * 2 > self.index.len() && self.index.len() < self.size / RING_OF_A_PLACE {
            self.grow();
        }
        self.point(sought.hash, start);
    }

    /// Where a place is in the ring.
    #[inline]
    fn at(&self, place: u64) -> usize {
        place as usize & (self.size - 1)
    }

    /// Makes the ring twice as long, unless it may be no longer.
    fn lengthen(&mut self) -> bool {
        let longer = self.size * 2;
        let index = longer / RING_OF_A_PLACE * size_of::<u64>();
        if longer > self.most || !self.taken.resize(longer + index) {
            return false;
        }
        self.size = longer;
        if longer == ENOUGH_FOR_LARGE_PAGES {
            large_pages::ask(&mut self.ring);
        }
        true
    }

    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.index.len() - 1)
    }

    /// Writes an entry of the index: of two places the one whose piece is older, or gone, is taken.
    fn point(&mut self, hash: u64, at: u64) {
        let place = self.place(hash);
        let place = if start(self.index[place]) <= start(self.index[place ^ 1]) { place } else { place ^ 1 };
        self.index[place] = hash >> PLACE_BITS << PLACE_BITS | at;
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![0; (self.index.len() * 4).min(self.size / RING_OF_A_PLACE)];
        let mut places: Vec<u64> = std::mem::replace(&mut self.index, larger).into_iter().map(start).collect();
        // The ring is read from one end to the other, not at random.
        places.sort_unstable();
        self.kept = 0;
        for at in places {
            // Long pieces have gone around the ring before the index is full.
            let is_there = at != 0 && at + (self.size as u64) >= self.written;
            let Some((length, _)) = self.header(at).filter(|_| is_there) else { continue };
            let first = self.at(at) + HEADER;
            let hash = Sought::at(&self.ring, first, first + length, 0).hash;
            self.point(hash, at);
            self.kept += 1;
        }
    }
}

fn start(entry: u64) -> u64 {
    entry & ((1 << PLACE_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(recent: &Recent, piece: &[u8]) -> Option<Vec<u32>> {
        let mut ids = vec![7];
        recent.get(&Sought::at(piece, 0, piece.len(), 0), &mut ids).then(|| ids.split_off(1))
    }

    fn keep(recent: &mut Recent, piece: &[u8], ids: &[u32]) {
        recent.keep(&Sought::at(piece, 0, piece.len(), 0), ids);
    }

    #[test]
    fn the_newest_pieces_are_found_with_their_own_ids_and_the_memory_is_bounded() {
        let mut recent = Recent::default();
        let piece = |number: u32| format!("piece {number} {}", "x".repeat(number as usize % 100)).into_bytes();
        let total = 400_000_u32;
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
        assert_eq!(get(&recent, &piece(0)), None);
        assert_eq!((recent.size, recent.ring.capacity()), (recent.most, bound::part(PARTS)));
        assert!(recent.index.len() <= recent.most / RING_OF_A_PLACE);
    }

    #[test]
    fn every_length_comes_back_while_the_index_grows() {
        let mut recent = Recent::default();
        let piece = |length: usize, last: u8| [vec![b'a'; length - 1], vec![last]].concat();
        let ids = |length: usize| (0..length.min(30) as u32).collect::<Vec<_>>();
        for length in 1..=LONGEST + 1 {
            for last in [0, b'a', 255] {
                assert_eq!(get(&recent, &piece(length, last)), None);
                keep(&mut recent, &piece(length, last), &ids(length));
                assert_eq!(get(&recent, &piece(length, last)), (length <= LONGEST).then(|| ids(length)));
            }
        }
        assert!(recent.index.len() > FIRST_PLACES);
        let lost = (1..=LONGEST).filter(|&length| get(&recent, &piece(length, 0)) != Some(ids(length))).count();
        assert!(lost < LONGEST / 5, "{lost}");
    }

    #[test]
    fn long_pieces_go_around_the_ring_while_the_index_grows() {
        let mut recent = Recent::default();
        // The bytes read in their place look like the longest possible piece.
        let piece = |number: u32| [&number.to_le_bytes()[..], &vec![255; LONGEST - 4 - number as usize % 99]].concat();
        for number in 0..8000 {
            keep(&mut recent, &piece(number), &[u32::MAX; 900]);
            assert_eq!(get(&recent, &piece(number)), Some(vec![u32::MAX; 900]));
        }
        assert!(recent.index.len() > FIRST_PLACES * 4);
    }

    #[test]
    fn pieces_of_one_hash_are_told_apart() {
        let mut recent = Recent::default();
        let sought = |piece: &'static [u8]| Sought { hash: 7, ..Sought::at(piece, 0, piece.len(), 0) };
        let get = |recent: &Recent, piece| {
            let mut ids = Vec::new();
            recent.get(&sought(piece), &mut ids).then_some(ids)
        };
        recent.keep(&sought(b"one"), &[1]);
        recent.keep(&sought(b"two"), &[2, 3]);
        assert_eq!((get(&recent, b"one"), get(&recent, b"two")), (Some(vec![1]), Some(vec![2, 3])));
        recent.keep(&sought(b"six"), &[4]);
        assert_eq!((get(&recent, b"one"), get(&recent, b"six")), (None, Some(vec![4])));
    }
}
