//! Whole tokens: piece -> id, for pieces up to 28 bytes.
//!
//! The bytes of a token stand in the table itself, so that a look-up touches one cache line, which can be asked for
//! beforehand: four entries of up to 12 bytes, or two of up to 28, with id and length in the last four bytes.

use super::mix;

/// The longest token that is held, in bytes.
pub(crate) const LONGEST: usize = LONG;

const SHORT: usize = 12;
const LONG: usize = 28;

/// Larger ids leave no room for the length.
const MOST_IDS: u32 = 1 << 27;

/// An id and its length, in the upper 32 bits of an entry's last word.
const ID: u64 = (MOST_IDS as u64 - 1) << 32;

/// Entries of 16 bytes.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct ShortLine {
    low: [u64; 4],
    high: [u64; 4],
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

/// The piece's bytes as two numbers; it has up to 12.
#[inline(always)]
fn short_key(text: &[u8], start: usize, length: usize) -> (u64, u64) {
    let words = match text.get(start..start + 16) {
        Some(bytes) => bytes.first_chunk().copied().map_or(0, u128::from_le_bytes),
        None => padded(&text[start..start + length])[0],
    };
    let key = words & FIRST_BYTES[length];
    (key as u64, (key >> 64) as u64 | (length as u64) << 59)
}

/// The piece's bytes as four numbers; it has from 13 to 28.
#[inline(always)]
fn long_key(text: &[u8], start: usize, length: usize) -> [u64; 4] {
    let [low, high] = match text.get(start..start + 32) {
        Some(bytes) => {
            let (words, _) = bytes.as_chunks::<16>();
            [u128::from_le_bytes(words[0]), u128::from_le_bytes(words[1])]
        }
        None => padded(&text[start..start + length]),
    };
    // Of 13 to 16 bytes none is in the second half.
    let (low, high) = if length > 16 { (low, high & FIRST_BYTES[length - 16]) } else { (low & FIRST_BYTES[length], 0) };
    [low as u64, (low >> 64) as u64, high as u64, (high >> 64) as u64 | (length as u64) << 59]
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
fn short_hash((low, high): (u64, u64)) -> u64 {
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
            let (low, high) = short_key(token, 0, token.len());
            let mut line = self.short_line(short_hash((low, high)));
            loop {
                let ShortLine { low: lows, high: highs } = &mut self.short[line];
                if let Some(free) = highs.iter().position(|&high| high == 0) {
                    (lows[free], highs[free]) = (low, high | id);
                    return;
                }
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

    /// The hash of a piece of up to [`LONGEST`] bytes, whose line is asked for from memory on the way.
    #[inline(always)]
    pub(crate) fn prepare(&self, text: &[u8], start: usize, length: usize) -> u64 {
        if length <= SHORT {
            let hash = short_hash(short_key(text, start, length));
            prefetch(&self.short, self.short_line(hash));
            hash
        } else {
            let hash = long_hash(long_key(text, start, length));
            prefetch(&self.long, self.long_line(hash));
            hash
        }
    }

    /// The id of the piece `text[start..start + length]`, which has 1 to [`LONGEST`] bytes and this hash.
    #[inline(always)]
    pub(crate) fn get(&self, text: &[u8], start: usize, length: usize, hash: u64) -> Option<u32> {
        if length <= SHORT {
            self.get_short(text, start, length, hash)
        } else {
            self.get_long(text, start, length, hash)
        }
    }

    #[inline(always)]
    fn get_short(&self, text: &[u8], start: usize, length: usize, hash: u64) -> Option<u32> {
        let (low, high) = short_key(text, start, length);
        let mut at = self.short_line(hash);
        loop {
            let line = &self.short[at];
            // All four are compared without a branch, since which of them it is cannot be foreseen.
            let mut found = 0;
            for way in 0..4 {
                let differs = (line.low[way] ^ low) | (line.high[way] ^ high) & !ID;
                found |= u32::from(differs == 0) << way;
            }
            if found != 0 {
                return Some((line.high[found.trailing_zeros() as usize & 3] >> 32) as u32 & (MOST_IDS - 1));
            }
            // A line with room has sent nothing on to the next one.
            if line.high[3] == 0 {
                return None;
            }
            at = (at + 1) & (self.short.len() - 1);
        }
    }

    #[inline(always)]
    fn get_long(&self, text: &[u8], start: usize, length: usize, hash: u64) -> Option<u32> {
        let key = long_key(text, start, length);
        let mut at = self.long_line(hash);
        loop {
            for entry in &self.long[at].0 {
                let differs =
                    (entry[0] ^ key[0]) | (entry[1] ^ key[1]) | (entry[2] ^ key[2]) | (entry[3] ^ key[3]) & !ID;
                if differs == 0 {
                    return Some((entry[3] >> 32) as u32 & (MOST_IDS - 1));
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

#[inline(always)]
#[allow(unsafe_code, reason = "asking for a cache line is no access")]
fn prefetch<T>(lines: &[T], line: usize) {
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
            table.get(text, start, length, table.prepare(text, start, length))
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
    fn ids_that_leave_no_room_for_the_length_are_left_out() {
        let table = Tokens::new([(&b"a"[..], MOST_IDS - 1), (b"b", MOST_IDS)].into_iter());
        let get = |text: &[u8]| table.get(text, 0, 1, table.prepare(text, 0, 1));
        assert_eq!((get(b"a"), get(b"b")), (Some(MOST_IDS - 1), None));
    }

    #[test]
    fn an_empty_table_finds_nothing() {
        let table = Tokens::new(std::iter::empty());
        assert_eq!(table.get(b"a", 0, 1, table.prepare(b"a", 0, 1)), None);
    }
}
