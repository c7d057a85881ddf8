//! Recently merged pieces of up to 12 bytes, and their ids: a table of the same layout as that of whole tokens.
//!
//! In place of an id, an entry holds the place of the piece's ids. Table and ids grow with their contents, so that only the
//! memory in use is touched. When they are full they are emptied: recurring pieces are soon stored again.

use super::whole_tokens::{Key, ShortLine};
use crate::prefetch::prefetch;

/// Ids that are kept of a piece at most.
pub(crate) const IDS: usize = 7;

/// Pieces that are kept at most.
const PIECES: usize = 1 << 16;

const FIRST_LINES: usize = 1 << 6;
const MOST_LINES: usize = PIECES / 2;

/// The memory that these take at most, in bytes.
pub(super) const MEMORY: usize = MOST_LINES * size_of::<ShortLine>() + PIECES * size_of::<Ids>();

/// The number of ids of a piece, and the ids.
pub(crate) type Ids = [u32; IDS + 1];

/// The pieces.
pub(crate) struct Short {
    lines: Vec<ShortLine>,
    /// A hash shifted right by this is the number of a line.
    shift: u32,
    ids: Vec<Ids>,
}

impl Default for Short {
    fn default() -> Self {
        Self { lines: lines(FIRST_LINES), shift: shift(FIRST_LINES), ids: Vec::with_capacity(PIECES) }
    }
}

fn lines(count: usize) -> Vec<ShortLine> {
    vec![ShortLine::default(); count]
}

fn shift(lines: usize) -> u32 {
    64 - lines.trailing_zeros()
}

impl Short {
    fn line(&self, key: &Key) -> usize {
        (key.hash() >> self.shift) as usize
    }

    /// Asks for the memory that [`Short::find`] needs.
    #[inline]
    pub(crate) fn prepare(&self, key: &Key) {
        prefetch(&self.lines, self.line(key));
    }

    /// The place of the ids of a piece, or [`NO_ID`].
    #[inline]
    pub(crate) fn find(&self, key: &Key) -> u32 {
        self.lines[self.line(key)].find(key)
    }

    /// The ids at a place.
    #[inline]
    pub(crate) fn ids(&self, at: u32) -> &Ids {
        &self.ids[at as usize]
    }

    /// Makes room for so many pieces more: until as many are kept, what was found stays where it is.
    #[inline]
    pub(crate) fn make_room(&mut self, pieces: usize) {
        if self.ids.len() + pieces > PIECES {
            self.lines.fill(ShortLine::default());
            self.ids.clear();
        }
    }

    /// Keeps a piece that was not found and has up to [`IDS`] ids, and for which there is room.
    pub(crate) fn keep(&mut self, key: Key, ids: &[u32]) {
        if self.ids.len() >= 2 * self.lines.len() && self.lines.len() < MOST_LINES {
            self.grow();
        }
        let at = self.ids.len() as u32;
        let mut counted = [0; IDS + 1];
        counted[0] = ids.len() as u32;
        counted[1..=ids.len()].copy_from_slice(ids);
        self.ids.push(counted);
        let line = self.line(&key);
        self.lines[line].put(key.with_id(at), at as usize);
    }

    #[cold]
    fn grow(&mut self) {
        let larger = (self.lines.len() * 4).min(MOST_LINES);
        self.shift = shift(larger);
        for entry in std::mem::replace(&mut self.lines, lines(larger)).iter().flat_map(ShortLine::entries) {
            let line = self.line(&entry.without_id());
            self.lines[line].put(entry, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::whole_tokens::short_key;
    use super::*;
    use crate::vocab::NO_ID;

    fn get(short: &Short, piece: &[u8]) -> Option<Vec<u32>> {
        let at = short.find(&short_key(piece, 0, piece.len()));
        let [count, ids @ ..] = short.ids.get(at as usize)?;
        (at != NO_ID).then(|| ids[..*count as usize].to_vec())
    }

    #[test]
    fn what_was_kept_comes_back_until_all_is_emptied() {
        let mut short = Short::default();
        let piece = |number: u32| format!(" {number:x}{}", "é".repeat(number as usize % 3)).into_bytes();
        let ids = |number: u32| (number..number + 1 + number % 7).collect::<Vec<_>>();
        let mut lost = 0;
        for number in 0..3 * PIECES as u32 {
            assert_eq!(get(&short, &piece(number)), None);
            short.make_room(1);
            short.keep(short_key(&piece(number), 0, piece(number).len()), &ids(number));
            assert_eq!(get(&short, &piece(number)), Some(ids(number)));
            let earlier = number - number % PIECES as u32 / 2;
            match get(&short, &piece(earlier)) {
                Some(found) => assert_eq!(found, ids(earlier)),
                None => lost += 1,
            }
        }
        assert!(lost < 3 * PIECES / 10, "{lost}");
        let memory = short.lines.capacity() * size_of::<ShortLine>() + short.ids.capacity() * size_of::<Ids>();
        assert_eq!(memory, MEMORY);
    }
}
