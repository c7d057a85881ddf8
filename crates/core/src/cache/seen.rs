//! The table of the pieces that a thread has seen, whole tokens and merged ones alike.
//!
//! An entry holds a piece of up to 15 bytes and up to three ids, so that one line of memory answers for most pieces, whatever
//! they are. For a longer one it has a hash, and in place of ids whatever the caller keeps. A piece belongs in one line;
//! where that is full it stands in the other line of its pair, until it is asked for; where both are full, in the pair beside.
//!
//! The table grows with use: it has memory for its largest size, of which only as much is touched as is in use, and is made
//! twice as large in place. When that would exceed what the thread or the process may take, a new generation begins, a smaller
//! one: what is asked for moves there from the older one, the rest goes when the generations change again. So what recurs
//! stays.
//!
//! Long because a third of it is tests.

use super::bound::{self, Taken};
use crate::hash::{hash, mix};
use crate::large_pages::{self, Table, Zeros};
use crate::prefetch::prefetch;
use crate::row::Ids;

/// The longest piece that an entry holds whole, in bytes.
const LONGEST: usize = 15;

/// The lines at first.
const FIRST_LINES: usize = 1 << 6;

/// The most lines in memory of their own. More have room for the most that there may be, where large pages are asked for from
/// its beginning: a large page cannot be had where a small one is.
const FEW_LINES: usize = bound::LEAST / size_of::<Line>();

/// The lines whose pairs have a bit each in one word.
const LINES_A_WORD: usize = 2 * u64::BITS as usize;

/// The lines of a large page.
const LARGE_PAGE: usize = large_pages::LARGE / size_of::<Line>();

/// A generation takes at most this part of a thread's memory.
const PARTS: usize = 2;

/// One that follows another begins with at most this part of the largest. Both together take the largest and this part of it at
/// most.
const NEXT: usize = 4;

/// The bytes of a piece, and above them its length; of a longer piece a hash and its length.
#[derive(Clone, Copy, Default)]
pub(crate) struct Key(u64, u64);

impl PartialEq for Key {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        // One branch, not two.
        (self.0 ^ other.0) | (self.1 ^ other.1) == 0
    }
}

/// In a key, where the length of a piece begins that the key holds whole, and what a longer one has there.
const LENGTH: u32 = 56;
const LONGER: u64 = 0xFF << LENGTH;

/// By length: which bytes of 16 belong to the piece, and the length where it stands in a key.
const MASKS: [[u64; 4]; LONGEST + 1] = {
    let mut masks = [[0; 4]; LONGEST + 1];
    let mut length = 1;
    while length <= LONGEST {
        let bytes = u128::MAX >> (128 - 8 * length);
        masks[length] = [bytes as u64, (bytes >> 64) as u64, (length as u64) << LENGTH, 0];
        length += 1;
    }
    masks
};

impl Key {
    /// The key of a piece.
    #[inline(always)]
    pub(crate) fn new(text: &[u8], start: usize, length: usize) -> Self {
        let Some([low, high, tag, _]) = MASKS.get(length) else {
            return Self(hash(&text[start..start + length]), length as u64 | LONGER);
        };
        let words = match text[start..].first_chunk() {
            Some(bytes) => u128::from_le_bytes(*bytes),
            // Near the end of the text its last bytes are read, and those before the piece shifted out.
            None => match text.last_chunk::<16>() {
                Some(bytes) => u128::from_le_bytes(*bytes) >> (8 * (start + 16 - text.len())),
                None => padded(&text[start..]),
            },
        };
        Self(words as u64 & low, (words >> 64) as u64 & high | tag)
    }

    /// The key of what is known of a piece besides its ids, which is no other piece's key of either kind.
    #[inline]
    pub(crate) fn of_places(self) -> Self {
        if self.is_whole() { Self(self.0, self.1 | 1 << (LENGTH + 6)) } else { Self(!self.0, self.1) }
    }

    /// Whether no other piece has this key.
    #[inline]
    pub(crate) fn is_whole(self) -> bool {
        self.1 < LONGER
    }

    #[inline(always)]
    pub(crate) fn hash(self) -> u32 {
        (mix(self.0, self.1) >> 32) as u32
    }
}

#[cold]
fn padded(piece: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..piece.len()].copy_from_slice(piece);
    u128::from_le_bytes(bytes)
}

#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
struct Entry {
    key: Key,
    ids: Ids,
}

impl Entry {
    fn is_free(&self) -> bool {
        self.key == Key::default()
    }
}

#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Line([Entry; 2]);

#[allow(unsafe_code, reason = "a claim about a type")]
// SAFETY: a line is numbers alone.
unsafe impl Zeros for Line {}

#[derive(Default)]
struct Generation {
    /// Room for some lines or for the most.
    lines: Table<Line>,
    /// How many are in use: a power of two, or none.
    count: usize,
    held: usize,
    /// A bit for each pair: whether pieces that belong there stand in the pair beside it. With three pieces for four lines one
    /// pair in sixty has more than it has room for, and they would take turns to be merged again.
    spilt: Vec<u64>,
}

impl Generation {
    /// So many lines in use, in room for `most` if they are many.
    fn new(most: usize, count: usize) -> Self {
        let room = if count <= FEW_LINES { most.min(FEW_LINES) } else { most };
        // Where there is no memory for the most, what is in use now has to do.
        let mut lines = Table::try_zeros(room).unwrap_or_else(|| Table::zeros(count));
        lines.ask(0..count);
        Self { lines, count, held: 0, spilt: vec![0; count.div_ceil(LINES_A_WORD)] }
    }

    /// Whether it has three pieces for each four lines: with more, too many stand beside their lines.
    fn is_full(&self) -> bool {
        self.held * 4 >= self.count * 3
    }

    /// Uses twice as many lines, of which `most` are allowed; whether there is memory for them.
    fn grow(&mut self, most: usize) -> bool {
        let before = self.count;
        if 2 * before <= self.lines.len() {
            self.lines.ask(before..2 * before);
        } else {
            let Some(mut room) = Table::try_zeros(most) else { return false };
            room.ask(0..LARGE_PAGE.min(most));
            room[..before].copy_from_slice(&self.lines[..before]);
            self.lines = room;
        }
        self.count = 2 * before;
        self.spilt.fill(0);
        self.spilt.resize(self.count.div_ceil(LINES_A_WORD), 0);
        let (lower, upper) = self.lines.split_at_mut(before);
        let pairs = lower.as_chunks_mut::<2>().0.iter_mut().zip(upper.as_chunks_mut::<2>().0);
        for (number, (lower, upper)) in pairs.enumerate() {
            // Those of a pair stay, or belong in the one as far beyond as there were lines, where nothing is yet.
            for entry in lower.iter_mut().flat_map(|line| &mut line.0).filter(|entry| !entry.is_free()) {
                let hash = entry.key.hash() as usize;
                if (hash ^ (2 * number)) & 2 != 0 {
                    // It stands beside its pair. Where it belongs may be full by now, and there are few.
                    *entry = Entry::default();
                    self.held -= 1;
                } else if hash & before != 0 {
                    let first = hash & 1;
                    let line = if upper[first].0[1].is_free() { first } else { first ^ 1 };
                    let place = usize::from(!upper[line].0[0].is_free());
                    upper[line].0[place] = std::mem::take(entry);
                }
            }
        }
        true
    }

    #[inline(always)]
    fn line(&self, hash: u32) -> usize {
        hash as usize & (self.count - 1)
    }

    /// The bit of the pair of a line: its word, and its place there.
    #[inline(always)]
    fn spilt_at(line: usize) -> (usize, u32) {
        (line / LINES_A_WORD, (line / 2) as u32 % u64::BITS)
    }

    /// Where a piece stands: its line first, then the other one of the pair, then the pair beside it.
    fn find(&self, key: Key, hash: u32) -> Option<(usize, usize)> {
        if self.count == 0 {
            return None;
        }
        let first = self.line(hash);
        let in_pair = |first: usize| {
            [first, first ^ 1].into_iter().find_map(|line| {
                let place = self.lines[line].0.iter().position(|entry| entry.key == key)?;
                Some((line, place))
            })
        };
        let found = in_pair(first);
        let (word, bit) = Self::spilt_at(first);
        if found.is_none() && self.spilt[word] >> bit & 1 == 1 {
            return in_pair(first ^ 2);
        }
        found
    }

    /// Writes an entry: in place of one with this key, else in its line, else in the other one, else in the pair beside them,
    /// else in place of one that came before.
    fn put(&mut self, entry: Entry, hash: u32) {
        if let Some((line, place)) = self.find(entry.key, hash) {
            self.lines[line].0[place] = entry;
            return;
        }
        let first = self.line(hash);
        for line in [first, first ^ 1, first ^ 2, first ^ 3] {
            if let Some(free) = self.lines[line].0.iter_mut().find(|entry| entry.is_free()) {
                *free = entry;
                self.held += 1;
                if (line ^ first) & 2 != 0 {
                    let (word, bit) = Self::spilt_at(first);
                    self.spilt[word] |= 1 << bit;
                }
                return;
            }
        }
        let [newer, older] = &mut self.lines[first].0;
        *older = std::mem::replace(newer, entry);
    }

    fn clear(&mut self) {
        self.lines[..self.count].fill(Line::default());
        self.spilt.fill(0);
        self.held = 0;
    }
}

/// The pieces.
pub(crate) struct Seen {
    newer: Generation,
    older: Generation,
    /// The most lines of a generation.
    most: usize,
    taken: Taken,
}

impl Default for Seen {
    fn default() -> Self {
        let most = bound::part(PARTS) / size_of::<Line>();
        Self { newer: Generation::new(most, FIRST_LINES), older: Generation::default(), most, taken: Taken::default() }
    }
}

impl Seen {
    /// Asks for the memory that [`Seen::probe`] needs.
    #[inline(always)]
    pub(crate) fn prepare(&self, hash: u32) {
        prefetch(&self.newer.lines, self.newer.line(hash));
    }

    /// The ids of a piece if it stands in its line of the newer generation; whether they are its own.
    #[inline(always)]
    pub(crate) fn probe(&self, key: Key, hash: u32) -> (&Ids, bool) {
        let [first, second] = &self.newer.lines[self.newer.line(hash)].0;
        let entry = if first.key == key { first } else { second };
        (&entry.ids, entry.key == key)
    }

    /// Asks for the memory that [`Seen::find`] needs beyond that.
    #[inline]
    pub(crate) fn prepare_more(&self, hash: u32) {
        prefetch(&self.newer.lines, self.newer.line(hash) ^ 1);
        if self.older.count > 0 {
            prefetch(&self.older.lines, self.older.line(hash));
        }
    }

    /// The ids of a piece wherever it stands. Next time it is where it is found sooner.
    pub(crate) fn find(&mut self, key: Key, hash: u32) -> Option<Ids> {
        if let Some((line, place)) = self.newer.find(key, hash) {
            let first = self.newer.line(hash);
            let found = self.newer.lines[line].0[place];
            if line != first {
                self.newer.lines[line].0[place] = std::mem::replace(&mut self.newer.lines[first].0[1], found);
            }
            return Some(found.ids);
        }
        let (line, place) = self.older.find(key, hash)?;
        let ids = self.older.lines[line].0[place].ids;
        self.keep(key, hash, ids);
        Some(ids)
    }

    /// Keeps the ids of a piece.
    pub(crate) fn keep(&mut self, key: Key, hash: u32, ids: Ids) {
        if self.newer.is_full() {
            self.make_room();
        }
        self.newer.put(Entry { key, ids }, hash);
    }

    #[cold]
    fn make_room(&mut self) {
        let Self { newer, older, most, taken } = self;
        let larger = 2 * newer.count;
        // For the older one, and for one after this one.
        let beside = older.count.max(larger.min(*most / NEXT));
        if larger + beside <= *most + *most / NEXT
            && taken.resize((larger + beside) * size_of::<Line>())
            && newer.grow(*most)
        {
            return;
        }
        std::mem::swap(newer, older);
        let count = older.count.min(*most / NEXT);
        if newer.count == count {
            newer.clear();
        } else {
            *newer = Generation::new(*most, count);
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

    fn ids(number: u32) -> Ids {
        [number, number + 1, number + 2, 1 + number % 3]
    }

    fn piece(number: u32) -> Vec<u8> {
        format!(" {number:x}{}", "é".repeat(number as usize % 4)).into_bytes()
    }

    #[test]
    fn what_recurs_stays_and_the_memory_is_bounded() {
        let mut seen = Seen::default();
        let total = 1_500_000_u32;
        let mut lost = 0;
        let (mut largest, mut together) = ([0; 2], 0);
        for number in 0..total {
            let (key, hash) = key(&piece(number));
            assert_eq!(seen.find(key, hash), None);
            seen.keep(key, hash, ids(number));
            assert_eq!(seen.find(key, hash), Some(ids(number)));
            let counts = [seen.newer.count, seen.older.count];
            largest = [largest[0].max(counts[0]), largest[1].max(counts[1])];
            together = together.max(counts[0] + counts[1]);
            // Some hundreds come again and again.
            let often = number % 300;
            let (key, hash) = self::key(&piece(often));
            match seen.find(key, hash) {
                Some(found) => assert_eq!(found, ids(often)),
                None if number < 300 => {}
                None => {
                    lost += 1;
                    seen.keep(key, hash, ids(often));
                }
            }
        }
        assert!(lost < total / 1000, "{lost}");
        let most = bound::part(PARTS) / size_of::<Line>();
        assert_eq!([&seen.newer, &seen.older].map(|generation| generation.lines.len()), [most; 2]);
        // Both of them are large at times, never together.
        assert!(largest.iter().all(|&count| count >= most / NEXT), "{largest:?}");
        assert_eq!(together, most + most / NEXT);
    }

    #[test]
    fn a_piece_comes_back_to_its_line() {
        let mut seen = Seen::default();
        // More pieces of one line than it has places, but not more than its pair has.
        let line = |number: u32| seen.newer.line(key(&piece(number)).1);
        let [a, b, c] = *(0..).filter(|&number| line(number) == 7).take(3).collect::<Vec<_>>() else { unreachable!() };
        for number in [a, b, c] {
            let (key, hash) = key(&piece(number));
            seen.keep(key, hash, ids(number));
        }
        let is_probed = |seen: &Seen, number: u32| {
            let (key, hash) = key(&piece(number));
            seen.probe(key, hash).1
        };
        assert_eq!([a, b, c].map(|number| is_probed(&seen, number)), [true, true, false]);
        let (key, hash) = key(&piece(c));
        assert_eq!(seen.find(key, hash), Some(ids(c)));
        assert_eq!([a, b, c].map(|number| is_probed(&seen, number)), [true, false, true]);
        let (key, hash) = self::key(&piece(b));
        assert_eq!(seen.find(key, hash), Some(ids(b)));
    }

    #[test]
    fn pieces_of_a_full_pair_stand_in_the_pair_beside_until_the_table_grows() {
        let mut seen = Seen::default();
        let pair = |number: u32| seen.newer.line(key(&piece(number)).1) / 2;
        let together: Vec<u32> = (0..).filter(|&number| pair(number) == 3).take(6).collect();
        for &number in &together {
            let (key, hash) = key(&piece(number));
            seen.keep(key, hash, ids(number));
        }
        let found = |seen: &mut Seen, number: u32| {
            let (key, hash) = key(&piece(number));
            seen.find(key, hash)
        };
        for &number in together.iter().chain(&together) {
            assert_eq!(found(&mut seen, number), Some(ids(number)));
        }
        for number in 10_000_000..10_000_500 {
            let (key, hash) = key(&piece(number));
            seen.keep(key, hash, ids(number));
        }
        let kept = together.iter().filter_map(|&number| Some((number, found(&mut seen, number)?)));
        let kept: Vec<(u32, Ids)> = kept.collect();
        assert!(seen.newer.count > FIRST_LINES && kept.len() >= 3, "{kept:?}");
        assert!(kept.iter().all(|&(number, found)| found == ids(number)));
        let held = seen.newer.lines.iter().flat_map(|line| &line.0).filter(|entry| !entry.is_free()).count();
        assert_eq!(held, seen.newer.held);
    }

    #[test]
    fn keys_differ_by_each_byte_and_by_length() {
        let text = [b'a'; 40];
        let mut keys = Vec::new();
        for length in 1..=LONGEST {
            for last in [0, b'a', 255] {
                let piece = [&text[..length - 1], &[last]].concat();
                let alone = Key::new(&piece, 0, length);
                for (before, after) in [(0, 1), (3, 0), (20, 7), (1, 40)] {
                    let text = [&text[..before], &piece, &text[..after]].concat();
                    assert!(Key::new(&text, before, length) == alone, "{length} {before} {after}");
                }
                assert!(alone.is_whole());
                let of_places = alone.of_places();
                assert!(of_places.is_whole() && of_places != alone);
                assert!(keys.iter().all(|&key| key != alone && key != of_places));
                keys.extend([alone, of_places]);
            }
        }
        let longer = Key::new(&text, 0, LONGEST + 1);
        assert!(!longer.is_whole() && !longer.of_places().is_whole() && longer != longer.of_places());
        assert!(Key::new(&text, 0, 30) == Key::new(&text, 5, 30) && Key::new(&text, 0, 30) != Key::new(&text, 0, 31));
    }
}
