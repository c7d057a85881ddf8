//! Whole tokens: piece -> id, for pieces up to 28 bytes.
//!
//! The bytes of a token stand in the table itself, so that a look-up touches one cache line, which can be asked for
//! beforehand: four entries of up to 12 bytes, or two of up to 28, with id and length in the last four bytes.

use super::mix;
use crate::vocab::NO_ID;

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

/// What is no part of the key in the last word of a short entry.
const NO_KEY: u64 = ID | SENT_ON;

/// How many pieces are looked up together.
pub(crate) const MANY: usize = 128;

/// Room for so few is used where it suffices: to clear the room for many costs as much as a short text.
const FEW: usize = 16;

/// A piece on its way through the table of short tokens.
#[derive(Clone, Copy, Default)]
struct Sought {
    key: Key,
    line: usize,
}

/// What became of the pieces that were looked up together.
pub(crate) struct Found {
    /// The id of each, or [`NO_ID`].
    pub(crate) ids: [u32; MANY],
    /// The numbers of those that were not found.
    which: [u8; MANY],
    missing: usize,
}

impl Default for Found {
    fn default() -> Self {
        Self { ids: [NO_ID; MANY], which: [0; MANY], missing: 0 }
    }
}

impl Found {
    /// The numbers of the pieces that were not found, in order.
    pub(crate) fn missing(&self) -> impl Iterator<Item = usize> {
        self.which[..self.missing].iter().map(|&number| usize::from(number))
    }
}

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

/// Entries of 32 bytes.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct LongLine([[u64; 4]; 2]);

/// The tokens of a vocabulary that pieces may become whole.
pub(crate) struct Tokens {
    short: Vec<ShortLine>,
    long: Vec<LongLine>,
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

/// The piece's bytes as two numbers; of a piece of more than 12 bytes a key that no token has.
#[inline(always)]
fn short_key(text: &[u8], start: usize, length: usize) -> Key {
    // A length that no entry has, beyond what the mask knows.
    let length = length.min(SHORT + 1);
    let words = match text[start..].first_chunk() {
        Some(bytes) => u128::from_le_bytes(*bytes),
        // Near the end of the text its last bytes are read, and those before the piece shifted out.
        None => match text.last_chunk::<16>() {
            Some(bytes) => u128::from_le_bytes(*bytes) >> (8 * (start + 16 - text.len())),
            None => padded(&text[start..start + length])[0],
        },
    };
    let key = words & FIRST_BYTES[length];
    Key(key as u64, (key >> 64) as u64 & u64::from(u32::MAX) | (length as u64) << LENGTH)
}

/// The piece's bytes as four numbers; it has up to 28.
#[inline(always)]
pub(super) fn long_key(text: &[u8], start: usize, length: usize) -> [u64; 4] {
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
    (entries * 4 / 3 / a_line + 1).next_power_of_two()
}

#[inline(always)]
fn short_hash(Key(low, high): Key) -> u64 {
    mix(low, high)
}

#[inline(always)]
fn long_hash([a, b, c, d]: [u64; 4]) -> u64 {
    mix(mix(a, b), c ^ d.rotate_left(32))
}

impl Tokens {
    /// A table of these tokens and ids; those that are too long are left out.
    pub(crate) fn new<'a>(tokens: impl Iterator<Item = (&'a [u8], u32)> + Clone) -> Self {
        let held = tokens.filter(|&(token, id)| token.len() <= LONG && id < MOST_IDS);
        let (mut short, mut long) = (0, 0);
        for (token, _) in held.clone() {
            *if token.len() <= SHORT { &mut short } else { &mut long } += 1;
        }
        let mut table = Self {
            short: vec![ShortLine::default(); lines(short, 4)],
            long: vec![LongLine::default(); lines(long, 2)],
        };
        for (token, id) in held {
            table.insert(token, u64::from(id) << 32);
        }
        table
    }

    fn insert(&mut self, token: &[u8], id: u64) {
        if token.len() <= SHORT {
            let key = short_key(token, 0, token.len());
            let mut line = self.short_line(short_hash(key));
            loop {
                if let Some(free) = self.short[line].0.iter_mut().find(|entry| entry.1 == 0) {
                    *free = Key(key.0, key.1 | id);
                    return;
                }
                self.short[line].0[3].1 |= SENT_ON;
                line = (line + 1) & (self.short.len() - 1);
            }
        }
        let mut key = long_key(token, 0, token.len());
        let mut line = self.long_line(long_hash(key));
        key[3] |= id;
        loop {
            if let Some(free) = self.long[line].0.iter_mut().find(|entry| entry[3] == 0) {
                *free = key;
                return;
            }
            line = (line + 1) & (self.long.len() - 1);
        }
    }

    #[inline(always)]
    fn short_line(&self, hash: u64) -> usize {
        hash as usize & (self.short.len() - 1)
    }

    #[inline(always)]
    fn long_line(&self, hash: u64) -> usize {
        hash as usize & (self.long.len() - 1)
    }

    /// Looks up many pieces: the ids of those that are found, and which are not. All of them end in `ends`, the first
    /// one starts at `start`; none is empty.
    ///
    /// Most pieces are short, and in the first line if at all: they are all looked for there, without a branch.
    #[inline]
    pub(crate) fn get_many(&self, text: &[u8], start: usize, ends: &[usize], found: &mut Found) {
        #[cfg(target_arch = "x86_64")]
        if x86::is_there() {
            // SAFETY: the machine has what the function is compiled for.
            #[allow(unsafe_code, reason = "the call of what the machine was asked for first")]
            unsafe {
                x86::get_many(self, text, start, ends, found);
            }
            return;
        }
        self.get_many_with(text, start, ends, found, ShortLine::find);
    }

    /// [`Tokens::get_many`] with one way of comparing a line.
    #[inline(always)]
    fn get_many_with(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        found: &mut Found,
        find: impl Fn(&ShortLine, &Key) -> u32,
    ) {
        if ends.len() <= FEW {
            self.get_up_to::<FEW>(text, start, ends, found, find);
        } else {
            self.get_up_to::<MANY>(text, start, ends, found, find);
        }
    }

    #[inline(always)]
    fn get_up_to<const ROOM: usize>(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        found: &mut Found,
        find: impl Fn(&ShortLine, &Key) -> u32,
    ) {
        // While some pieces are compared, the lines of all of them are on their way from memory.
        let mut sought = [Sought::default(); ROOM];
        let mut at = start;
        for (&end, sought) in ends.iter().zip(&mut sought) {
            let key = short_key(text, at, end - at);
            let line = self.short_line(short_hash(key));
            prefetch(&self.short, line);
            *sought = Sought { key, line };
            at = end;
        }
        let mut missing = 0;
        for (number, (_, sought)) in ends.iter().zip(&sought).enumerate() {
            let id = find(&self.short[sought.line], &sought.key);
            found.ids[number] = id;
            found.which[missing & (MANY - 1)] = number as u8;
            missing += usize::from(id == NO_ID);
        }
        found.missing = missing;
        if missing > 0 {
            self.get_rest(text, start, ends, &mut sought, found);
        }
    }

    /// Looks for those that were not in the first short line: in the next ones, or among the long ones.
    #[inline(never)]
    fn get_rest(&self, text: &[u8], start: usize, ends: &[usize], sought: &mut [Sought], found: &mut Found) {
        let piece = |number: usize| {
            let start = if number == 0 { start } else { ends[number - 1] };
            (start, ends[number] - start)
        };
        for number in found.missing() {
            let (at, length) = piece(number);
            if (SHORT + 1..=LONG).contains(&length) {
                sought[number].line = self.long_line(long_hash(long_key(text, at, length)));
                prefetch(&self.long, sought[number].line);
            }
        }
        let mut missing = 0;
        for which in 0..found.missing {
            let number = usize::from(found.which[which]);
            let (at, length) = piece(number);
            let Sought { key, line } = sought[number];
            let id = match length {
                ..=SHORT => self.get_short(key, line),
                ..=LONG => self.get_long(long_key(text, at, length), line),
                _ => None,
            };
            if let Some(id) = id {
                found.ids[number] = id;
            } else {
                found.which[missing] = number as u8;
                missing += 1;
            }
        }
        found.missing = missing;
    }

    /// The id of a short piece that is not in its first line.
    #[inline]
    fn get_short(&self, key: Key, first_line: usize) -> Option<u32> {
        let mut at = first_line;
        // A line that was full has sent entries on to the next one.
        while self.short[at].0[3].1 & SENT_ON != 0 {
            at = (at + 1) & (self.short.len() - 1);
            let id = self.short[at].find(&key);
            if id != NO_ID {
                return Some(id);
            }
        }
        None
    }

    #[inline]
    fn get_long(&self, key: [u64; 4], first_line: usize) -> Option<u32> {
        let mut at = first_line;
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

/// The look-up of many pieces with registers of 64 bytes, each of which holds a line.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "loads of lines of 64 bytes")]
mod x86 {
    use std::arch::x86_64::{
        _mm_load_si128, _mm512_broadcast_i32x4, _mm512_load_si512, _mm512_set_epi64, _mm512_test_epi64_mask,
        _mm512_xor_si512,
    };

    use super::{Found, Key, NO_ID, NO_KEY, ShortLine, Tokens, id_of};

    #[inline]
    pub(super) fn is_there() -> bool {
        is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("bmi2")
    }

    #[target_feature(enable = "avx512f,bmi1,bmi2")]
    pub(super) fn get_many(tokens: &Tokens, text: &[u8], start: usize, ends: &[usize], found: &mut Found) {
        tokens.get_many_with(text, start, ends, found, |line, key| find(line, key));
    }

    #[inline]
    #[target_feature(enable = "avx512f,bmi1")]
    fn find(line: &ShortLine, key: &Key) -> u32 {
        // SAFETY: a line has the 64 bytes that are read, and their alignment.
        let entries = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
        // SAFETY: a key has the 16 bytes that are read, and their alignment.
        let key = _mm512_broadcast_i32x4(unsafe { _mm_load_si128(std::ptr::from_ref(key).cast()) });
        let rest = (!NO_KEY).cast_signed();
        let compared = _mm512_set_epi64(rest, -1, rest, -1, rest, -1, rest, -1);
        let differs = u32::from(_mm512_test_epi64_mask(_mm512_xor_si512(entries, key), compared));
        // Two bits for each entry, both of them zero where it is the one.
        let is = !(differs | differs >> 1) & 0b0101_0101;
        let entry = line.0[(is.trailing_zeros() as usize >> 1) & 3];
        if is == 0 { NO_ID } else { id_of(entry.1) }
    }
}

/// Asks for a cache line beforehand.
#[inline(always)]
#[allow(unsafe_code, reason = "asking for a cache line is no access")]
pub(super) fn prefetch<T>(lines: &[T], line: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, whatever the address; this one is within the table.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(lines.as_ptr().wrapping_add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (lines, line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_wherever_they_stand_and_nothing_else_is() {
        let tokens: Vec<Vec<u8>> = (1..=40_usize)
            .flat_map(|length| (0..60_u8).map(move |last| [vec![b'x'; length - 1], vec![last]].concat()))
            .collect();
        let table = Tokens::new(tokens.iter().map(Vec::as_slice).zip(0..));
        let get = |text: &[u8], start: usize, length: usize| {
            let mut ways: Vec<fn(&Tokens, &[u8], usize, &[usize], &mut Found)> =
                vec![|table, text, start, ends, found| {
                    table.get_many_with(text, start, ends, found, ShortLine::find);
                }];
            ways.push(Tokens::get_many);
            let ids = ways.into_iter().map(|get_many| {
                let mut found = Found::default();
                get_many(&table, text, start, &[start + length], &mut found);
                found.missing().next().is_none().then_some(found.ids[0])
            });
            let ids: Vec<_> = ids.collect();
            assert_eq!(ids[0], ids[1]);
            ids[0]
        };
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
        let table = Tokens::new(tokens.iter().map(Vec::as_slice).zip(0..));
        let text = tokens.concat();
        let mut ends = Vec::new();
        let mut at = 0;
        for (many, first) in tokens.chunks(MANY).zip((0..).step_by(MANY)) {
            let start = at;
            ends.clear();
            ends.extend(many.iter().map(|token| {
                at += token.len();
                at
            }));
            let mut found = Found::default();
            table.get_many(&text, start, &ends, &mut found);
            assert_eq!(found.missing().next(), None);
            assert!(found.ids[..many.len()].iter().copied().eq(first..first + many.len() as u32));
        }
    }

    #[test]
    fn ids_that_leave_no_room_for_the_length_are_left_out() {
        let table = Tokens::new([(&b"a"[..], MOST_IDS - 1), (b"b", MOST_IDS)].into_iter());
        let get = |text: &[u8]| {
            let mut found = Found::default();
            table.get_many(text, 0, &[1], &mut found);
            found.missing().next().is_none().then_some(found.ids[0])
        };
        assert_eq!((get(b"a"), get(b"b")), (Some(MOST_IDS - 1), None));
    }

    #[test]
    fn an_empty_table_finds_nothing() {
        let table = Tokens::new(std::iter::empty());
        let mut found = Found::default();
        table.get_many(b"ab", 0, &[1, 2], &mut found);
        assert_eq!(found.missing().collect::<Vec<_>>(), [0, 1]);
    }
}
