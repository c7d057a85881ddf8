//! Ids -> bytes by a table; tokens -> text by decoders.

mod by_token;
mod chain;
mod sentencepiece;
mod text_maker;
mod utf8_stream;

use std::collections::HashMap;

use crate::error::Error;
use crate::interrupt;
use crate::memory::Room;
use crate::prefetch::prefetch;

pub(crate) use self::by_token::ByToken;
pub(crate) use self::chain::minds_only_the_first;
pub use self::chain::{TextDecoder, decode_tokens};
pub(crate) use self::sentencepiece::Front;
pub(crate) use self::text_maker::TextMaker;
pub use self::utf8_stream::Utf8Stream;

/// The byte that a token names. A sign is a digit here, as it is for `tokenizers`.
fn named_byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}

/// So many ids before it is read, an entry is prefetched.
const ENTRIES_AHEAD: usize = 16;

/// Bytes of an entry of the table.
const ENTRY: usize = 16;

/// The last byte of an entry is the length of the token, if that has at most 15 bytes and is not special. Else it is this.
const LONG: u8 = ENTRY as u8;

/// The number of ids that are decoded between two reservations of memory.
pub const TOGETHER: usize = 256;

/// The bytes of each token, by id: short ones are in the table itself, so that most ids touch one line of memory.
pub(crate) struct TokenBytes {
    /// By id, below a bound that follows from the number of tokens, so that one huge id costs no memory.
    entries: Vec<Entry>,
    /// Tokens that are special or do not fit into an entry.
    others: Vec<Other>,
    /// The places among the others of tokens whose ids are beyond the entries.
    beyond: HashMap<u32, u32>,
    /// The bytes of the others.
    bytes: Vec<u8>,
    /// The front of a text, where a token may lose its first space.
    front: Option<Front>,
    /// The ids whose first space stays in front all the same, ascending.
    keep_space: Vec<u32>,
}

/// As a number, whose lowest byte comes first: 15 bytes of a token, and its length; or which of the others it is, and
/// [`LONG`]; or zero for no token.
type Entry = u128;

struct Other {
    start: usize,
    end: usize,
    special: bool,
}

impl TokenBytes {
    /// A table of `count` tokens: id, bytes, whether it is special. Where an id comes twice, the later one counts.
    pub(crate) fn new(count: usize, tokens: impl Iterator<Item = (u32, impl AsRef<[u8]>, bool)>) -> Self {
        let mut table = Self {
            entries: Vec::new(),
            others: Vec::new(),
            beyond: HashMap::new(),
            bytes: Vec::new(),
            front: None,
            keep_space: Vec::new(),
        };
        let bound = count * 2 + 65_536;
        for (id, token, special) in tokens {
            let token = token.as_ref();
            let mut entry = [0; ENTRY];
            if (id as usize) < bound && token.len() < ENTRY && !token.is_empty() && !special {
                entry[..token.len()].copy_from_slice(token);
                entry[ENTRY - 1] = token.len() as u8;
            } else {
                let number = table.others.len() as u32;
                let start = table.bytes.len();
                table.bytes.extend_from_slice(token);
                table.others.push(Other { start, end: table.bytes.len(), special });
                if id as usize >= bound {
                    table.beyond.insert(id, number);
                    continue;
                }
                entry[..4].copy_from_slice(&number.to_le_bytes());
                entry[ENTRY - 1] = LONG;
            }
            if table.entries.len() <= id as usize {
                table.entries.resize(id as usize + 1, 0);
            }
            table.entries[id as usize] = Entry::from_le_bytes(entry);
        }
        table
    }

    /// The same table with a front, where the first space of a token is a mark that it loses, but for tokens of some ids.
    pub(crate) fn with_front(self, front: Option<Front>, mut keep_space: Vec<u32>) -> Self {
        keep_space.sort_unstable();
        Self { front, keep_space, ..self }
    }

    /// The token of an entry that is not a short one.
    fn other(&self, id: u32, entry: Entry) -> Option<&Other> {
        let number = if length(entry) == LONG { entry as u32 } else { *self.beyond.get(&id)? };
        self.others.get(number as usize)
    }
}

/// The last byte of an entry.
fn length(entry: Entry) -> u8 {
    (entry >> 120) as u8
}

/// So many ids, and it is asked whether their bytes are still wanted.
const IDS_TO_ASK: usize = 64 * TOGETHER;

/// Why ids have no bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undecoded {
    /// The id at this place has no token.
    NoToken(usize),
    /// Another error: the work is no longer wanted, or there is not enough memory.
    Other(Error),
}

impl From<Error> for Undecoded {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl Undecoded {
    /// The error, made by `no_token` of the place of an id that has none.
    #[must_use]
    pub fn error(self, no_token: impl FnOnce(usize) -> Error) -> Error {
        match self {
            Self::NoToken(place) => no_token(place),
            Self::Other(error) => error,
        }
    }
}

/// Joins the bytes of tokens.
pub struct Decoder<'a> {
    table: &'a TokenBytes,
    skip_special_tokens: bool,
    /// The bytes, and beyond their `end` room to copy whole entries to.
    bytes: Vec<u8>,
    end: usize,
    /// How many ids came before.
    count: usize,
    /// As long as a token may lose its first space.
    front: Option<Front>,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(table: &'a TokenBytes, ids: usize, skip_special_tokens: bool) -> Self {
        // More than most ids need: untouched memory costs nothing. Where there is none for so many bytes, there may be for
        // as many as there are.
        let mut bytes = Vec::new();
        let _ = bytes.try_reserve_exact(ids.saturating_mul(5).saturating_add(TOGETHER.min(ids) * ENTRY));
        Self { table, skip_special_tokens, bytes, end: 0, count: 0, front: table.front }
    }

    /// Appends the bytes of some tokens.
    ///
    /// # Errors
    /// The place, among all that came, of the first id that no token has; `Interrupted`, `Memory`.
    pub fn push(&mut self, mut ids: &[u32]) -> Result<(), Undecoded> {
        while let Some(front) = self.front
            && let Some((&first, rest)) = ids.split_first()
        {
            self.push_all(&[first])?;
            let loses = front.is_open()
                && self.end > 0
                && self.bytes[0] == b' '
                && self.table.keep_space.binary_search(&first).is_err();
            if loses {
                self.bytes.copy_within(1..self.end, 0);
                self.end -= 1;
            }
            self.front = Some(front.behind(loses, self.end == 0)).filter(|front| front.is_open());
            ids = rest;
        }
        self.push_all(ids)
    }

    /// The same behind the front.
    pub(crate) fn behind_front(self) -> Self {
        Self { front: None, ..self }
    }

    /// Whether a token may still lose its first space.
    pub(crate) fn is_in_front(&self) -> bool {
        self.front.is_some()
    }

    fn push_all(&mut self, ids: &[u32]) -> Result<(), Undecoded> {
        let Self { table, skip_special_tokens, bytes, end, count, .. } = self;
        for ids in ids.chunks(TOGETHER) {
            if count.is_multiple_of(IDS_TO_ASK) && *count > 0 {
                interrupt::check()?;
            }
            bytes.room((*end + ids.len() * ENTRY).saturating_sub(bytes.len()))?;
            bytes.resize(*end + ids.len() * ENTRY, 0);
            for (at, &id) in ids.iter().enumerate() {
                if let Some(&id) = ids.get(at + ENTRIES_AHEAD) {
                    prefetch(&table.entries, id as usize);
                }
                let entry = table.entries.get(id as usize).copied().unwrap_or(0);
                let length = length(entry);
                if (1..LONG).contains(&length)
                    && let Some(room) = bytes[*end..].first_chunk_mut()
                {
                    *room = entry.to_le_bytes();
                    *end += usize::from(length);
                    continue;
                }
                let other = table.other(id, entry).ok_or(Undecoded::NoToken(*count + at))?;
                if !(other.special && *skip_special_tokens) {
                    bytes.truncate(*end);
                    bytes.room(other.end - other.start + (ids.len() - at) * ENTRY)?;
                    bytes.extend_from_slice(&table.bytes[other.start..other.end]);
                    *end = bytes.len();
                    bytes.resize(*end + (ids.len() - at) * ENTRY, 0);
                }
            }
            *count += ids.len();
        }
        Ok(())
    }

    /// The bytes of all.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.truncate(self.end);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_long_special_and_far_tokens_are_decoded_and_the_first_unknown_id_is_named() {
        let tokens: Vec<Vec<u8>> = (1..60).map(|length| vec![b'a' + length % 26; length.into()]).collect();
        let id = |at: usize| if at % 7 == 3 { 4_000_000_000 + at as u32 } else { at as u32 * 3 };
        let special = |at: usize| at % 5 == 1;
        let columns = tokens.iter().enumerate().map(|(at, token)| (id(at), token.as_slice(), special(at)));
        let table = TokenBytes::new(tokens.len(), columns);
        assert!(table.entries.len() < 1000);
        let mut seed = 5_u64;
        for length in [0, 1, 2, 255, 256, 257, 3000] {
            let chosen: Vec<usize> = (0..length)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (seed >> 33) as usize % tokens.len()
                })
                .collect();
            let mut ids: Vec<u32> = chosen.iter().map(|&at| id(at)).collect();
            for skip in [false, true] {
                let kept = chosen.iter().filter(|&&at| !(skip && special(at)));
                let expected: Vec<u8> = kept.flat_map(|&at| tokens[at].clone()).collect();
                let mut decoder = Decoder::new(&table, ids.len(), skip);
                let (first, rest) = ids.split_at(ids.len() / 3);
                assert_eq!((decoder.push(first), decoder.push(rest)), (Ok(()), Ok(())));
                assert_eq!(decoder.finish(), expected);
            }
            for unknown in [1, 999, u32::MAX] {
                if let Some(last) = ids.last_mut() {
                    *last = unknown;
                    assert_eq!(Decoder::new(&table, 0, false).push(&ids), Err(Undecoded::NoToken(length - 1)));
                }
            }
        }
    }
}
