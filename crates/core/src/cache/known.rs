//! The pieces that a thread has seen, of any length, with their ids: one table for all, and a ring for those that do not fit
//! into its entries.

use super::ring::Ring;
use super::seen::{Key, Seen};
use crate::row::{self, IDS, Ids};

/// The pieces.
#[derive(Default)]
pub(crate) struct Known {
    seen: Seen,
    ring: Ring,
}

/// The ids of a piece as an entry holds them, if they are few.
#[inline]
pub(crate) fn few(ids: &[u32]) -> Option<Ids> {
    if ids.len() > IDS {
        return None;
    }
    let mut few = Ids::default();
    few[..ids.len()].copy_from_slice(ids);
    few[IDS] = ids.len() as u32;
    Some(few)
}

/// A place in the ring as an entry holds it instead of ids, whose number is 0.
fn of_place(place: u64) -> Ids {
    [place as u32, (place >> 32) as u32, 0, 0]
}

fn place([low, high, ..]: Ids) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl Known {
    /// Asks for the memory that [`Known::probe`] needs.
    #[inline(always)]
    pub(crate) fn prepare(&self, hash: u32) {
        self.seen.prepare(hash);
    }

    /// The content of the entry of a piece, and whether that is its ids, all of them.
    #[inline(always)]
    pub(crate) fn probe(&self, key: Key, hash: u32) -> (&Ids, bool) {
        let (ids, is_it) = self.seen.probe(key, hash);
        (ids, is_it && ids[IDS] > 0)
    }

    /// Asks for the memory that [`Known::get`] needs beyond that; whether the piece may be unknown.
    #[inline]
    pub(crate) fn prepare_more(&self, key: Key, hash: u32) -> bool {
        let (ids, is_it) = self.seen.probe(key, hash);
        if is_it {
            self.ring.prepare(place(*ids));
        } else {
            self.seen.prepare_more(hash);
        }
        !is_it
    }

    /// Appends the ids of a piece, if they are known and there is memory for them.
    #[inline]
    pub(crate) fn get(&mut self, key: Key, hash: u32, piece: &[u8], ids: &mut Vec<u32>) -> bool {
        let (held, is_it) = self.seen.probe(key, hash);
        let Some(held) = (if is_it { Some(*held) } else { self.seen.find(key, hash) }) else { return false };
        if held[IDS] == 0 {
            self.ring.read(place(held), piece, ids)
        } else {
            row::append(ids, IDS, |row| row.put(&held)).is_ok()
        }
    }

    /// Keeps the ids of a piece that was not known.
    pub(crate) fn keep(&mut self, key: Key, hash: u32, piece: &[u8], ids: &[u32]) {
        // The key of a longer piece is no proof that it is the one.
        let held = if key.is_whole() { few(ids) } else { None };
        if let Some(held) = held.or_else(|| self.ring.write(piece, ids).map(of_place)) {
            self.seen.keep(key, hash, held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(piece: &[u8]) -> (Key, u32) {
        let key = Key::new(piece, 0, piece.len());
        (key, key.hash())
    }

    fn get(known: &mut Known, piece: &[u8]) -> Option<Vec<u32>> {
        let ((key, hash), mut ids) = (key(piece), vec![7]);
        known.get(key, hash, piece, &mut ids).then(|| ids.split_off(1))
    }

    #[test]
    fn every_length_and_number_of_ids_comes_back() {
        let mut known = Known::default();
        let piece = |length: usize, last: u8| [vec![b'a'; length - 1], vec![last]].concat();
        let ids = |length: usize| (0..=length as u32 % 9).collect::<Vec<_>>();
        for length in (1..=1024).filter(|&length| ids(length).len() <= length) {
            for last in [0, b'a', 255] {
                assert_eq!(get(&mut known, &piece(length, last)), None);
                let (key, hash) = key(&piece(length, last));
                known.keep(key, hash, &piece(length, last), &ids(length));
                assert_eq!(get(&mut known, &piece(length, last)), Some(ids(length)));
                let (held, at_once) = known.probe(key, hash);
                assert!(!at_once || held[..held[IDS] as usize] == ids(length));
            }
        }
        let lost = (10..=1024).filter(|&length| get(&mut known, &piece(length, 0)) != Some(ids(length))).count();
        assert!(lost < 50, "{lost}");
    }

    #[test]
    fn longer_pieces_of_one_key_are_told_apart() {
        let mut known = Known::default();
        let pieces = [b"one that is longer", b"two that is longer"];
        let (key, hash) = key(pieces[0]);
        for (piece, ids) in [(pieces[0], [1, 2]), (pieces[1], [3, 4])] {
            known.keep(key, hash, piece, &ids);
            let mut found = Vec::new();
            assert!(known.get(key, hash, piece, &mut found));
            assert_eq!(found, ids);
        }
        assert!(!known.get(key, hash, pieces[0], &mut Vec::new()));
    }
}
