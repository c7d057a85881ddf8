//! Whole tokens: piece -> id, for pieces up to 28 bytes.
//!
//! The bytes of a token are in the table itself, so that a look-up touches one cache line, which can be prefetched: four
//! entries of up to 12 bytes, or two of up to 28, with id and length in the last four bytes.

use std::ops::Range;

use crate::error::Result;
use crate::hash::mix;
use crate::large_pages::{Table, Zeros};
use crate::prefetch::prefetch;
use crate::stored::{Items, Plain, Reader, Writer, expect};
use crate::vocab::NO_ID;
use crate::vocab::tokens::Tokens;

/// How many tokens are written together.
const TOGETHER: usize = 128;

/// The longest token that is held, in bytes.
pub(crate) const LONGEST: usize = LONG;

const SHORT: usize = 12;
const LONG: usize = 28;

/// Larger ids leave no room for the length.
const MOST_IDS: u32 = 1 << 27;

/// Where the id is in an entry's last word, and the length above it.
const ID: u64 = (MOST_IDS as u64 - 1) << 32;
const LENGTH: u32 = 59;

/// Set in the last entry of a line of short tokens if there was no room for all that belong there.
const SENT_ON: u64 = 1 << 63;

/// The bits in the last word of a short entry that are not part of the key.
const NO_KEY: u64 = ID | SENT_ON;

fn id_of(word: u64) -> u32 {
    (word >> 32) as u32 & (MOST_IDS - 1)
}

/// Entries of 16 bytes.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct ShortLine([Key; 4]);

/// The bytes of a short piece and its length; in an entry also its id.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct Key(u64, u64);

impl Key {
    /// Its high bits are the best.
    #[inline(always)]
    fn hash(self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(self.1.wrapping_mul(0xd6e8_feb8_6659_fd93))
    }

    fn with_id(self, id: u32) -> Self {
        Self(self.0, self.1 | u64::from(id) << 32)
    }
}

impl ShortLine {
    /// The id of the entry with this key, or [`NO_ID`].
    #[inline(always)]
    fn find(&self, &Key(low, high): &Key) -> u32 {
        // All four are compared without a branch, since which of them it is cannot be foreseen.
        self.0.iter().fold(NO_ID, |id, entry| {
            let differs = (entry.0 ^ low) | (entry.1 ^ high) & !NO_KEY;
            if differs == 0 { id_of(entry.1) } else { id }
        })
    }
}

/// The bytes of a piece of up to 28 bytes and its length; in an entry also its id.
type LongKey = [u64; 4];

/// Entries of 32 bytes.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct LongLine([LongKey; 2]);

#[allow(unsafe_code, reason = "a claim about a type")]
// SAFETY: a line is numbers alone.
unsafe impl Zeros for ShortLine {}
#[allow(unsafe_code, reason = "a claim about a type")]
// SAFETY: as above.
unsafe impl Zeros for LongLine {}
#[allow(unsafe_code, reason = "a claim about a type")]
// SAFETY: four entries of two words, as large as the alignment.
unsafe impl Plain for ShortLine {}
#[allow(unsafe_code, reason = "a claim about a type")]
// SAFETY: two entries of four words, as large as the alignment.
unsafe impl Plain for LongLine {}

/// The tokens of a vocabulary that pieces may become whole.
pub(crate) struct WholeTokens {
    short: Items<ShortLine>,
    /// A hash shifted right by this is the number of a line.
    short_shift: u32,
    long: Items<LongLine>,
    /// Whether there are none that are short enough but have too large an id.
    is_complete: bool,
}

/// By length: the first so many of 16 bytes.
const FIRST_BYTES: [u128; 17] = {
    let mut masks = [0; 17];
    let mut length = 1;
    while length <= 16 {
        masks[length] = u128::MAX >> (128 - 8 * length);
        length += 1;
    }
    masks
};

/// By length: the bytes of a short key, and the length where it stands in it. The last is a length that no entry has.
const SHORT_MASKS: [[u64; 3]; SHORT + 2] = {
    let mut masks = [[0; 3]; SHORT + 2];
    let mut length = 1;
    while length < SHORT + 2 {
        let bytes = FIRST_BYTES[if length < SHORT { length } else { SHORT }];
        masks[length] = [bytes as u64, (bytes >> 64) as u64, (length as u64) << LENGTH];
        length += 1;
    }
    masks
};

/// The piece's bytes as two numbers; of a piece of more than 12 bytes a key that no token has.
#[inline(always)]
fn short_key(text: &[u8], start: usize, length: usize) -> Key {
    let length = length.min(SHORT + 1);
    let words = match text[start..].first_chunk() {
        Some(bytes) => u128::from_le_bytes(*bytes),
        // Near the end of the text its last bytes are read, and those before the piece shifted out.
        None => match text.last_chunk::<16>() {
            Some(bytes) => u128::from_le_bytes(*bytes) >> (8 * (start + 16 - text.len())),
            None => padded(&text[start..start + length])[0],
        },
    };
    let [low, high, tag] = SHORT_MASKS[length];
    Key(words as u64 & low, (words >> 64) as u64 & high | tag)
}

/// The piece's bytes as four numbers; it has up to 28.
#[inline(always)]
fn long_key(text: &[u8], start: usize, length: usize) -> LongKey {
    let [low, high] = match text[start..].first_chunk::<32>() {
        Some(bytes) => {
            let (words, _) = bytes.as_chunks::<16>();
            [u128::from_le_bytes(words[0]), u128::from_le_bytes(words[1])]
        }
        None => padded(&text[start..start + length]),
    };
    let (low, high) = (low & FIRST_BYTES[length.min(16)], high & FIRST_BYTES[length.saturating_sub(16)]);
    [low as u64, (low >> 64) as u64, high as u64, (high >> 64) as u64 | (length as u64) << LENGTH]
}

#[cold]
fn padded(piece: &[u8]) -> [u128; 2] {
    let mut bytes = [[0; 16]; 2];
    bytes.as_flattened_mut()[..piece.len()].copy_from_slice(piece);
    bytes.map(u128::from_le_bytes)
}

fn lines(entries: usize, a_line: usize) -> usize {
    // Three quarters full at most, so that a line that overflows finds room in the next.
    (entries * 4 / 3 / a_line + 2).next_power_of_two()
}

#[inline(always)]
fn long_hash([a, b, c, d]: LongKey) -> u64 {
    mix(mix(a, b), c ^ d.rotate_left(32))
}

impl WholeTokens {
    /// A table of tokens, each some of `bytes`, and their ids; those that are too long are left out.
    ///
    /// # Errors
    /// `Memory`.
    pub(crate) fn new(bytes: &[u8], tokens: impl Iterator<Item = (Range<usize>, u32)> + Clone) -> Result<Self> {
        let fitting = tokens.filter(|(token, _)| token.len() <= LONG);
        let is_complete = fitting.clone().all(|(_, id)| id < MOST_IDS);
        let held = fitting.filter(|&(_, id)| id < MOST_IDS);
        let (mut short, mut long) = (0, 0);
        for (token, _) in held.clone() {
            *if token.len() <= SHORT { &mut short } else { &mut long } += 1;
        }
        let short_lines = lines(short, 4);
        let mut table = Self {
            short: Table::large(short_lines)?.into(),
            short_shift: 64 - short_lines.trailing_zeros(),
            long: Table::large(lines(long, 2))?.into(),
            is_complete,
        };
        // While some are written, the lines of others are on their way from memory.
        let mut held = held.peekable();
        let mut waiting = Vec::with_capacity(TOGETHER);
        while held.peek().is_some() {
            waiting.clear();
            for (token, id) in held.by_ref().take(TOGETHER) {
                if token.len() > SHORT {
                    table.insert_long(long_key(bytes, token.start, token.len()), id);
                    continue;
                }
                let key = short_key(bytes, token.start, token.len());
                let line = table.short_line(key.hash());
                prefetch(&table.short, line);
                waiting.push((key.with_id(id), line));
            }
            for &(entry, line) in &waiting {
                table.insert_short(entry, line);
            }
        }
        Ok(table)
    }

    pub(super) fn store(&self, writer: &mut Writer) {
        writer.items(&[u64::from(self.is_complete)]);
        writer.items(&self.short);
        writer.items(&self.long);
    }

    /// The table that was stored for these tokens.
    ///
    /// # Errors
    /// `Format`, if an entry has an id that no token of its length has, or a look-up might not end.
    pub(super) fn of_stored(reader: &mut Reader<'_>, tokens: &Tokens) -> Result<Self> {
        let is_complete = reader.exactly::<u64>(1)?[0] == 1;
        let (short, long): (Items<ShortLine>, Items<LongLine>) = (reader.items()?, reader.items()?);
        expect(short.len() > 1 && short.len().is_power_of_two() && long.len().is_power_of_two())?;
        let is_right = |word: u64| word == 0 || tokens.length_of_id(id_of(word)) as u64 == word >> LENGTH;
        expect(short.iter().all(|line| line.0.iter().all(|entry| is_right(entry.1 & !SENT_ON))))?;
        expect(long.iter().all(|line| line.0.iter().all(|entry| is_right(entry[3]))))?;
        expect(short.iter().any(|line| line.0[3].1 & SENT_ON == 0))?;
        expect(long.iter().any(|line| line.0[1][3] == 0))?;
        Ok(Self { short_shift: 64 - short.len().trailing_zeros(), short, long, is_complete })
    }

    fn insert_short(&mut self, entry: Key, first_line: usize) {
        let mut line = first_line;
        loop {
            if let Some(free) = self.short.edit()[line].0.iter_mut().find(|entry| entry.1 == 0) {
                *free = entry;
                return;
            }
            self.short.edit()[line].0[3].1 |= SENT_ON;
            line = (line + 1) & (self.short.len() - 1);
        }
    }

    fn insert_long(&mut self, key: LongKey, id: u32) {
        let mut line = self.long_line(long_hash(key));
        let [a, b, c, d] = key;
        loop {
            if let Some(free) = self.long.edit()[line].0.iter_mut().find(|entry| entry[3] == 0) {
                *free = [a, b, c, d | u64::from(id) << 32];
                return;
            }
            line = (line + 1) & (self.long.len() - 1);
        }
    }

    #[inline(always)]
    fn short_line(&self, hash: u64) -> usize {
        (hash >> self.short_shift) as usize
    }

    #[inline(always)]
    fn long_line(&self, hash: u64) -> usize {
        hash as usize & (self.long.len() - 1)
    }

    /// Asks for the memory that [`WholeTokens::get`] needs.
    #[inline]
    pub(crate) fn prepare(&self, text: &[u8], start: usize, end: usize) {
        let length = end - start;
        if length > SHORT {
            self.prepare_long(long_hash(long_key(text, start, length)));
        } else {
            prefetch(&self.short, self.short_line(short_key(text, start, length).hash()));
        }
    }

    /// The id of one piece, which has up to [`LONGEST`] bytes and is not empty.
    #[inline]
    pub(crate) fn get(&self, text: &[u8], start: usize, end: usize) -> Option<u32> {
        let length = end - start;
        if length > SHORT {
            let key = long_key(text, start, length);
            return self.get_long(&key, long_hash(key));
        }
        let key = short_key(text, start, length);
        let mut line = self.short_line(key.hash());
        loop {
            let id = self.short[line].find(&key);
            if id != NO_ID {
                return Some(id);
            }
            // Where the line was full, it may stand in the next ones.
            if self.short[line].0[3].1 & SENT_ON == 0 {
                return None;
            }
            line = (line + 1) & (self.short.len() - 1);
        }
    }

    /// Whether a piece of up to [`LONGEST`] bytes that is not here may be a whole token all the same.
    #[inline]
    pub(crate) fn may_lack_tokens(&self) -> bool {
        !self.is_complete
    }

    /// Asks for the memory that [`WholeTokens::get_long`] needs.
    #[inline]
    fn prepare_long(&self, hash: u64) {
        prefetch(&self.long, self.long_line(hash));
    }

    /// The id of a longer piece.
    #[inline]
    fn get_long(&self, key: &LongKey, hash: u64) -> Option<u32> {
        let mut at = self.long_line(hash);
        loop {
            for entry in &self.long[at].0 {
                let differs =
                    (entry[0] ^ key[0]) | (entry[1] ^ key[1]) | (entry[2] ^ key[2]) | (entry[3] ^ key[3]) & !ID;
                if differs == 0 {
                    return Some(id_of(entry[3]));
                }
                if entry[3] == 0 {
                    return None;
                }
            }
            at = (at + 1) & (self.long.len() - 1);
        }
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.short) + size_of_val(&*self.long)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table<'a>(tokens: impl IntoIterator<Item = (&'a [u8], u32)>) -> WholeTokens {
        let (mut bytes, mut rows) = (Vec::new(), Vec::new());
        for (token, id) in tokens {
            rows.push((bytes.len()..bytes.len() + token.len(), id));
            bytes.extend_from_slice(token);
        }
        WholeTokens::new(&bytes, rows.into_iter()).unwrap()
    }

    #[test]
    fn tokens_are_found_wherever_they_stand_and_nothing_else_is() {
        let tokens: Vec<Vec<u8>> = (1..=40_usize)
            .flat_map(|length| (0..60_u8).map(move |last| [vec![b'x'; length - 1], vec![last]].concat()))
            .collect();
        let table = table(tokens.iter().map(Vec::as_slice).zip(0..));
        let get = |text: &[u8], start: usize, length: usize| table.get(text, start, start + length);
        for (id, token) in (0..).zip(&tokens).filter(|(_, token)| token.len() <= LONGEST) {
            for (before, after) in [(0, 0), (1, 3), (7, 40), (0, 15), (0, 31)] {
                let text = [vec![b'y'; before], token.clone(), vec![0; after]].concat();
                assert_eq!(get(&text, before, token.len()), Some(id), "{token:?}");
            }
            let mut other = token.clone();
            other[0] ^= 0x80;
            assert_eq!(get(&other, 0, other.len()), None);
            if token.len() < LONGEST {
                let longer = [&token[..], &[0]].concat();
                let expected = tokens.iter().position(|token| *token == longer).map(|id| id as u32);
                assert_eq!(get(&longer, 0, longer.len()), expected, "a zero at the end counts");
            }
        }
    }

    #[test]
    fn many_tokens_overflow_their_lines_and_are_found() {
        let mut seed = 1_u64;
        let tokens: Vec<Vec<u8>> = (0..50_000_u32)
            .map(|number| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                [&number.to_le_bytes()[..], &seed.to_le_bytes(), &[7; 16]].concat()[..4 + (seed >> 40) as usize % 24]
                    .to_vec()
            })
            .collect();
        let table = table(tokens.iter().map(Vec::as_slice).zip(0..));
        for (id, token) in (0..).zip(&tokens) {
            assert_eq!(table.get(token, 0, token.len()), Some(id));
        }
    }

    #[test]
    fn ids_that_leave_no_room_for_the_length_are_left_out() {
        let table = table([(&b"a"[..], MOST_IDS - 1), (b"b", MOST_IDS)]);
        let get = |text: &[u8]| table.get(text, 0, 1);
        assert_eq!((get(b"a"), get(b"b")), (Some(MOST_IDS - 1), None));
    }

    #[test]
    fn an_empty_table_finds_nothing() {
        let table = table([]);
        assert_eq!((table.get(b"ab", 0, 1), table.get(b"ab", 0, 2)), (None, None));
    }
}
