//! A counts table in memory: pieces, their counts and their first positions.
//!
//! Slots have 32 bytes, so that a look-up touches half a cache line, which can be prefetched: a piece of up to 15 bytes is in
//! the slot itself, a longer one in an arena. The place of a slot is the high end of its hash, so that a range of slots is a
//! range of hashes, and tables can be joined a range at a time. The hash is keyed with a secret, so that no text can force
//! collisions. Long because a fifth of it is tests.

use std::hash::{BuildHasher, RandomState};

use crate::error::{Error, Kind, Result};
use crate::hash::mix;
use crate::large_pages;
use crate::memory::Room;
use crate::prefetch::prefetch;
use crate::train::counts::arena::Arena;
use crate::train::overflow;

/// How many pieces are looked up together.
const TOGETHER: usize = 128;

/// The longest piece that a slot holds, in bytes.
const SHORT: usize = 15;

/// In place of the length: the piece is in the arena.
const IN_ARENA: u8 = u8::MAX;

/// The longest piece that can be counted, in bytes: what one value of Arrow and Parquet holds.
const LONGEST: usize = i32::MAX as usize;

const FIRST_SLOTS: usize = 1 << 10;

/// So many slots are on large pages, since a processor does not know the addresses of as many small ones. For fewer, more is
/// lost where the system makes large pages than is gained.
const MANY_SLOTS: usize = 1 << 19;

/// The number of rows that tables have together is estimated from one row in this many.
const SAMPLE: usize = 16;

/// The most parts in which tables are joined.
pub(super) const MOST_PARTS: usize = FIRST_SLOTS / SAMPLE;

/// The bits of `first` that are a position; above them is the group. Callers that add rows ensure that they suffice.
pub(super) const POSITION: u32 = 48;

/// One row of a counts table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The bytes of the piece.
    pub piece: &'a [u8],
    /// The group of sources that it was counted in.
    pub group: u16,
    /// How often it occurs there; at least once.
    pub count: u64,
    /// Position of its first occurrence, over all sources in order; below 2^48.
    pub first: u64,
}

#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
struct Slot {
    /// The bytes of the piece and its length. Or the hash of the piece, its position in the arena, and [`IN_ARENA`].
    key: [u8; 16],
    /// None in an empty slot.
    count: u64,
    /// Group and position.
    first: u64,
}

/// So many slots without a piece.
fn empty(count: usize) -> Result<Vec<Slot>> {
    let mut slots = Vec::new();
    slots.room(count)?;
    if count >= MANY_SLOTS {
        large_pages::ask(&mut slots);
    }
    slots.resize(count, Slot::default());
    Ok(slots)
}

/// A number that is different for each process, in which all hashes start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Secret(u64, u64);

impl Secret {
    pub(super) fn new() -> Self {
        let state = RandomState::new();
        Self(state.hash_one(1), state.hash_one(2))
    }

    /// The hash of a key, which depends on all bits of both halves and of the group.
    #[inline(always)]
    fn of_key(self, key: u128, group: u16) -> u64 {
        mix(key as u64 ^ self.0, (key >> 64) as u64 ^ self.1 ^ u64::from(group))
    }

    fn of_bytes(self, bytes: &[u8]) -> u64 {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let start = self.0 ^ bytes.len() as u64;
        let hash = words.iter().fold(start, |hash, word| mix(hash, u64::from_le_bytes(*word) ^ self.1));
        mix(hash, u64::from_le_bytes(last) ^ self.1)
    }
}

/// At each length the bytes of a key that are a piece of that length, and the length above them.
const KEPT: [(u128, u128); SHORT + 1] = {
    let mut kept = [(0, 0); SHORT + 1];
    let mut length = 0;
    while length <= SHORT {
        kept[length] = ((1 << (8 * length)) - 1, (length as u128) << 120);
        length += 1;
    }
    kept
};

/// The key of a piece of up to [`SHORT`] bytes at the start of `rest`, which may be longer.
#[inline(always)]
fn short_key(rest: &[u8], length: usize) -> u128 {
    let (mask, above) = KEPT[length];
    if let Some(bytes) = rest.first_chunk() {
        return u128::from_le_bytes(*bytes) & mask | above;
    }
    let mut key = [0; 16];
    key[..length].copy_from_slice(&rest[..length]);
    u128::from_le_bytes(key) | above
}

/// A piece on its way into the table.
#[derive(Clone, Copy, Default)]
struct Sought {
    /// For a longer piece, only the hash of its bytes.
    key: u128,
    hash: u64,
}

/// The table.
pub(super) struct CountsTable {
    slots: Vec<Slot>,
    used: usize,
    arena: Arena,
    secret: Secret,
    /// The bytes that it may take.
    limit: usize,
    /// The number of high bits of hashes that are the same in all rows, and so are skipped.
    skip: u32,
}

impl CountsTable {
    pub(super) fn new(secret: Secret, limit: usize) -> Self {
        Self { slots: vec![Slot::default(); FIRST_SLOTS], used: 0, arena: Arena::default(), secret, limit, skip: 0 }
    }

    /// The rows of some tables of one secret whose hashes are in part `part` of `parts` equal ones, a power of two not
    /// above [`MOST_PARTS`].
    pub(super) fn join(tables: &[Self], part: usize, parts: usize) -> Result<Self> {
        let all = tables.iter().map(|table| table.used).sum::<usize>() / parts;
        // How much the tables share shows in a sample, since hashes are spread evenly.
        let expected = if all < 1 << 16 {
            all
        } else {
            Self::joined(tables, part * SAMPLE, parts * SAMPLE, all / SAMPLE)?.used * SAMPLE
        };
        Self::joined(tables, part, parts, expected)
    }

    /// Rows come in about the order of their slots, which is fast, but needs room for all from the start: the first
    /// rows would crowd the low end of a table that is too small, long before the table is full.
    fn joined(tables: &[Self], part: usize, parts: usize, expected: usize) -> Result<Self> {
        let secret = tables.first().map_or_else(Secret::new, |table| table.secret);
        let slots = (expected * 3 / 2).next_power_of_two().max(FIRST_SLOTS);
        let slots = empty(slots)?;
        let mut joined = Self { slots, skip: parts.trailing_zeros(), ..Self::new(secret, usize::MAX) };
        for row in tables.iter().flat_map(|table| table.rows_in(part, parts)) {
            joined.add(row)?;
        }
        Ok(joined)
    }

    /// Sets the bytes that it may take from now on.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// The bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<Slot>() + self.arena.bytes
    }

    /// Whether a piece more could need more memory than it may take; then its rows have to go elsewhere first.
    pub(super) fn is_full(&self, piece: &[u8]) -> bool {
        // Growing needs the old slots and the new ones at once.
        let growing = if self.has_room(1) { 0 } else { 2 * self.slots.len() * size_of::<Slot>() };
        let arena = if piece.len() > SHORT { self.arena.bytes_with(piece) - self.arena.bytes } else { 0 };
        self.used > 0 && self.bytes() + growing + arena > self.limit
    }

    fn has_room(&self, pieces: usize) -> bool {
        (self.used + pieces) * 4 <= self.slots.len() * 3
    }

    /// Counts pieces of a text that end at `ends`, places after `start`: each once, in a group. The first one starts at
    /// `from`; `first` is the position of the text. Returns how many were counted before the table was full.
    pub(super) fn count(
        &mut self,
        text: &[u8],
        (start, from): (usize, usize),
        ends: &[u32],
        (group, first): (u16, u64),
    ) -> Result<usize> {
        let mut sought = [Sought::default(); TOGETHER];
        let mut counted = 0;
        let mut piece_start = from;
        for ends in ends.chunks(TOGETHER) {
            let mut from = piece_start;
            for (sought, &end) in sought.iter_mut().zip(ends) {
                let end = start + end as usize;
                *sought = self.seek(&text[from..], end - from, group);
                prefetch(&self.slots, self.slot_of(sought.hash));
                from = end;
            }
            for (sought, &end) in sought.iter().zip(ends) {
                let end = start + end as usize;
                let piece = &text[piece_start..end];
                let at = first + piece_start as u64;
                if !self.add_sought(*sought, Row { piece, group, count: 1, first: at })? {
                    return Ok(counted);
                }
                counted += 1;
                piece_start = end;
            }
        }
        Ok(counted)
    }

    /// Adds a row; false, and nothing is added, if the table is full.
    ///
    /// # Errors
    /// `Training`, if its count no longer fits into 64 bits, or its piece is too long.
    pub(super) fn add(&mut self, row: Row) -> Result<bool> {
        let sought = self.seek(row.piece, row.piece.len(), row.group);
        self.add_sought(sought, row)
    }

    #[inline(always)]
    fn seek(&self, rest: &[u8], length: usize, group: u16) -> Sought {
        let key = if length <= SHORT {
            short_key(rest, length)
        } else {
            u128::from(self.secret.of_bytes(&rest[..length])) | u128::from(IN_ARENA) << 120
        };
        Sought { key, hash: self.secret.of_key(key, group) }
    }

    #[inline(always)]
    fn slot_of(&self, hash: u64) -> usize {
        // The slots are a power of two, and more than one.
        ((hash << self.skip) >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    #[inline(always)]
    fn add_sought(&mut self, Sought { key, hash }: Sought, row: Row) -> Result<bool> {
        let group_and_first = u64::from(row.group) << POSITION | row.first;
        let mask = self.slots.len() - 1;
        let mut at = self.slot_of(hash);
        loop {
            let slot = &mut self.slots[at & mask];
            let known = u128::from_le_bytes(slot.key);
            let same_group = (slot.first ^ group_and_first) >> POSITION == 0;
            let same = if row.piece.len() <= SHORT {
                known == key
            } else {
                known as u64 == key as u64 && slot.key[15] == IN_ARENA && self.arena.get(place(slot)) == row.piece
            };
            if same && same_group {
                let (count, overflowed) = slot.count.overflowing_add(row.count);
                if overflowed {
                    return Err(overflow());
                }
                slot.count = count;
                if group_and_first < slot.first {
                    slot.first = group_and_first;
                }
                return Ok(true);
            }
            if slot.count == 0 {
                return self.insert(Sought { key, hash }, row);
            }
            at += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, Sought { key, hash }: Sought, row: Row) -> Result<bool> {
        if self.is_full(row.piece) {
            return Ok(false);
        }
        if row.piece.len() > LONGEST {
            return Err(Error::new(Kind::Training, format!("a piece has {} bytes", row.piece.len()))
                .remedy("split the text: pieces have at most 2^31 - 1 bytes"));
        }
        if !self.has_room(1) {
            self.grow()?;
        }
        let mut slot =
            Slot { key: key.to_le_bytes(), count: row.count, first: u64::from(row.group) << POSITION | row.first };
        if row.piece.len() > SHORT {
            slot.key[8..15].copy_from_slice(&self.arena.push(row.piece)?.to_le_bytes()[..7]);
        }
        let free = self.free(hash);
        self.slots[free] = slot;
        self.used += 1;
        Ok(true)
    }

    /// The first empty slot for this hash.
    fn free(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.slot_of(hash);
        while self.slots[at].count != 0 {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) -> Result<()> {
        let slots = empty(2 * self.slots.len())?;
        for slot in std::mem::replace(&mut self.slots, slots) {
            if slot.count != 0 {
                let free = self.free(self.hash_of(&slot));
                self.slots[free] = slot;
            }
        }
        Ok(())
    }

    fn hash_of(&self, slot: &Slot) -> u64 {
        let key = u128::from_le_bytes(slot.key);
        let key = if slot.key[15] == IN_ARENA { u128::from(key as u64) | u128::from(IN_ARENA) << 120 } else { key };
        self.secret.of_key(key, (slot.first >> POSITION) as u16)
    }

    fn row<'a>(&'a self, slot: &'a Slot) -> Row<'a> {
        let piece = match slot.key[15] {
            IN_ARENA => self.arena.get(place(slot)),
            length => &slot.key[..usize::from(length)],
        };
        let first = slot.first & ((1 << POSITION) - 1);
        Row { piece, group: (slot.first >> POSITION) as u16, count: slot.count, first }
    }

    /// All rows, in no order.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.slots.iter().filter(|slot| slot.count != 0).map(|slot| self.row(slot))
    }

    /// The rows whose hashes are in part `part` of `parts` equal ones.
    fn rows_in(&self, part: usize, parts: usize) -> impl Iterator<Item = Row<'_>> {
        let share = self.slots.len() / parts;
        let range = part * share..(part + 1) * share;
        let is_in = move |slot: &&Slot| self.slot_of(self.hash_of(slot)) / share == part;
        // Rows displaced from their slots are behind the range, before the next empty slot.
        let behind = self.slots.iter().cycle().skip(range.end).take(self.slots.len() - share);
        self.slots[range]
            .iter()
            .filter(|slot| slot.count != 0)
            .chain(behind.take_while(|slot| slot.count != 0))
            .filter(is_in)
            .map(|slot| self.row(slot))
    }

    /// Empties the table, and has `take` see all its rows by piece and group first. No memory is needed for that.
    pub(super) fn drain_sorted(&mut self, take: impl FnMut(Row) -> Result<()>) -> Result<()> {
        let mut slots = std::mem::replace(&mut self.slots, vec![Slot::default(); FIRST_SLOTS]);
        slots.retain(|slot| slot.count != 0);
        // Comparing keys of short pieces as numbers compares their bytes: a key is padded with zeros, and the length,
        // its last byte, breaks ties.
        slots.sort_unstable_by(|a, b| {
            let order = if a.key[15] == IN_ARENA || b.key[15] == IN_ARENA {
                self.row(a).piece.cmp(self.row(b).piece)
            } else {
                u128::from_be_bytes(a.key).cmp(&u128::from_be_bytes(b.key))
            };
            order.then(a.first.cmp(&b.first))
        });
        self.used = 0;
        slots.iter().map(|slot| self.row(slot)).try_for_each(take)?;
        self.arena = Arena::default();
        Ok(())
    }
}

/// The place in the arena of a slot's piece.
fn place(slot: &Slot) -> u64 {
    let mut place = [0; 8];
    place[..7].copy_from_slice(&slot.key[8..15]);
    u64::from_le_bytes(place)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Pieces of all lengths about where they leave the slots, over a small alphabet, so that many recur.
    fn pieces(seed: u64) -> impl Iterator<Item = (Vec<u8>, u16)> {
        let mut seed = seed;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        std::iter::repeat_with(move || {
            let length = [1, 2, 3, 14, 15, 16, 17, 40][random(8) as usize];
            let piece = (0..length).map(|at| if at < 7 { b"ab\0"[random(3) as usize] } else { b'x' }).collect();
            (piece, random(2) as u16)
        })
    }

    #[test]
    fn a_table_counts_as_a_map_does() {
        let mut table = CountsTable::new(Secret::new(), usize::MAX);
        let mut map = BTreeMap::new();
        for (at, (piece, group)) in pieces(1).take(20_000).enumerate() {
            let row = Row { piece: &piece, group, count: 3, first: 90_000 - at as u64 };
            assert!(table.add(row).unwrap());
            let (count, first) = map.entry((piece.clone(), group)).or_insert((0, u64::MAX));
            (*count, *first) = (*count + 3, row.first.min(*first));
        }
        assert_eq!(table.len(), map.len());
        let mut parts = 0;
        for row in (0..8).flat_map(|part| table.rows_in(part, 8)) {
            assert_eq!(map[&(row.piece.to_vec(), row.group)], (row.count, row.first));
            parts += 1;
        }
        assert_eq!((parts, table.rows().count()), (map.len(), map.len()));
        let mut sorted = map.into_iter();
        table
            .drain_sorted(|row| {
                let found = ((row.piece.to_vec(), row.group), (row.count, row.first));
                assert_eq!(sorted.next().unwrap(), found);
                Ok(())
            })
            .unwrap();
        assert_eq!((sorted.next(), table.len()), (None, 0));
    }

    #[test]
    fn tables_that_share_nothing_or_all_are_joined_alike() {
        let secret = Secret::new();
        let table = |from: u32| {
            let mut table = CountsTable::new(secret, usize::MAX);
            for number in from..from + 100_000 {
                let row = Row { piece: &number.to_be_bytes(), group: 0, count: 1, first: u64::from(number) };
                assert!(table.add(row).unwrap());
            }
            table
        };
        for (tables, rows) in [([table(0), table(100_000)], 200_000), ([table(0), table(0)], 100_000)] {
            let joined: Vec<_> = (0..2).map(|part| CountsTable::join(&tables, part, 2).unwrap()).collect();
            assert_eq!(joined.iter().map(CountsTable::len).sum::<usize>(), rows);
            for table in joined {
                // No row is far from its own slot: else joining would take time that grows with the square of the rows.
                let mask = table.slots.len() - 1;
                let far = table.slots.iter().enumerate().filter(|(_, slot)| slot.count != 0);
                let far = far.map(|(at, slot)| at.wrapping_sub(table.slot_of(table.hash_of(slot))) & mask);
                assert!(far.max().unwrap() < 200);
            }
        }
    }

    #[test]
    fn a_full_table_says_so_and_takes_what_it_knows() {
        let mut table = CountsTable::new(Secret::new(), FIRST_SLOTS * size_of::<Slot>() + Arena::CHUNK);
        let mut taken = Vec::new();
        for (piece, group) in pieces(2).take(20_000) {
            let row = Row { piece: &piece, group, count: 1, first: 0 };
            if table.add(row).unwrap() {
                taken.push((piece, group));
            } else {
                assert!(!taken.contains(&(piece, group)));
            }
        }
        assert!(table.len() > FIRST_SLOTS / 2 && table.bytes() <= table.limit);
    }

    #[test]
    fn counts_beyond_64_bits_are_an_error() {
        let mut table = CountsTable::new(Secret::new(), usize::MAX);
        let row = |count| Row { piece: b"a", group: 0, count, first: 0 };
        assert!(table.add(row(u64::MAX - 1)).unwrap() && table.add(row(1)).unwrap());
        assert_eq!(table.add(row(1)).unwrap_err().kind, Kind::Training);
    }
}
