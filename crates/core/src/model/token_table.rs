//! The tokens of a model as text: by id, and by spelling.

use rustc_hash::FxHasher;
use std::hash::Hasher;

use crate::error::{Error, Kind, Result};
use crate::prefetch::prefetch;

/// More tokens than this are refused.
pub(super) const MOST_TOKENS: usize = 1 << 21;

/// Stands for "no token here".
pub(super) const NONE: u32 = u32::MAX;

/// Tokens in id order. Inside of a model a token is its index in this order.
pub(super) struct TokenTable {
    text: String,
    /// Where token `i` ends in `text`; it begins where the one before it ends.
    ends: Vec<u32>,
    ids: Vec<u32>,
    /// By hash of their text: the upper half of the hash and the index, or [`EMPTY`]. At most half are taken.
    slots: Vec<u64>,
    /// The bytes of the longest token.
    longest: usize,
}

/// No token is here: none has this index.
const EMPTY: u64 = u64::MAX;

impl TokenTable {
    /// Checks columns of tokens and ids, and takes them.
    pub(super) fn new(tokens: &[&[u8]], ids: &[u32]) -> Result<Self> {
        if tokens.len() != ids.len() {
            return Err(format(format!("there are {} tokens and {} ids", tokens.len(), ids.len())));
        }
        let bytes = tokens.iter().map(|token| token.len()).sum::<usize>();
        if tokens.len() >= MOST_TOKENS || bytes >= 1 << 27 {
            let what = format!("{} tokens with {bytes} bytes are too many", tokens.len());
            return Err(format(what).remedy("use fewer than two million tokens and 128 MiB"));
        }
        if let Some(at) = (1..ids.len()).find(|&at| ids[at] <= ids[at - 1]) {
            let what = if ids[at] == ids[at - 1] { "occurs twice" } else { "does not ascend" };
            return Err(format(format!("id {} {what}", ids[at])));
        }
        if let Some(&id) = ids.last().filter(|&&id| id == NONE) {
            return Err(format(format!("id {id} is too large")));
        }
        let mut table = Self {
            text: String::with_capacity(bytes),
            ends: Vec::with_capacity(tokens.len()),
            ids: ids.to_vec(),
            slots: vec![EMPTY; (tokens.len() * 2).next_power_of_two().max(2)],
            longest: tokens.iter().map(|token| token.len()).max().unwrap_or(0),
        };
        for (index, token) in (0_u32..).zip(tokens) {
            let Ok(text) = std::str::from_utf8(token) else {
                return Err(format(format!("token {} is not UTF-8", ids[index as usize])));
            };
            let hash = hash(text);
            let (slot, found) = table.find(hash, text);
            if let Some(other) = found {
                let (first, second) = (ids[other as usize], ids[index as usize]);
                return Err(format(format!("token {text:?} has two ids, {first} and {second}")));
            }
            table.slots[slot] = hash >> 32 << 32 | u64::from(index);
            table.text.push_str(text);
            table.ends.push(table.text.len() as u32);
        }
        Ok(table)
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The text of token `index`.
    pub(super) fn text(&self, index: u32) -> &str {
        let end = self.ends[index as usize] as usize;
        let start = if index == 0 { 0 } else { self.ends[index as usize - 1] as usize };
        &self.text[start..end]
    }

    /// The id of token `index`.
    #[inline]
    pub(super) fn id(&self, index: u32) -> u32 {
        self.ids[index as usize]
    }

    /// The token that spells this.
    pub(super) fn index_of(&self, text: &str) -> Option<u32> {
        self.find(hash(text), text).1
    }

    /// The same for a text that may be long: it is not read if it is longer than every token.
    pub(super) fn index_of_short(&self, text: &str) -> Option<u32> {
        if text.len() > self.longest { None } else { self.index_of(text) }
    }

    /// The bytes of all tokens.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The bytes of the longest token.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// The tokens that these texts spell. Many at once are faster than each alone.
    pub(super) fn indices_of<'a>(&self, texts: impl Iterator<Item = &'a str> + Clone, found: &mut Vec<Option<u32>>) {
        // Memory is asked for in rounds: the slots, where the tokens there end, the tokens.
        let slots: Vec<(u64, usize)> = texts.clone().map(|text| (hash(text), self.slot(hash(text)))).collect();
        for &(_, slot) in &slots {
            prefetch(&self.slots, slot);
        }
        for &(_, slot) in &slots {
            prefetch(&self.ends, self.slots[slot] as u32 as usize);
        }
        for &(_, slot) in &slots {
            let end = self.ends.get(self.slots[slot] as u32 as usize).map_or(0, |&end| end as usize);
            prefetch(self.text.as_bytes(), end.saturating_sub(1));
        }
        found.extend(texts.zip(&slots).map(|(text, &(hash, _))| self.find(hash, text).1));
    }

    /// The token that spells this, or else the slot where it belongs.
    #[inline]
    fn find(&self, hash: u64, text: &str) -> (usize, Option<u32>) {
        let mut slot = self.slot(hash);
        while self.slots[slot] != EMPTY {
            let index = self.slots[slot] as u32;
            if self.slots[slot] >> 32 == hash >> 32 && self.text(index) == text {
                return (slot, Some(index));
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        (slot, None)
    }

    /// Where to look first.
    #[inline]
    fn slot(&self, hash: u64) -> usize {
        // The bits below the middle: those above it are compared.
        hash as usize & (self.slots.len() - 1)
    }

    /// The token with this id.
    pub(super) fn index_of_id(&self, id: u32) -> Option<u32> {
        // Ids mostly count up from the first one, with few holes: so it is at the guess, or by as many places before it.
        let (first, last) = (*self.ids.first()?, *self.ids.last()?);
        let guess = id.checked_sub(first)? as usize;
        let holes = (last - first) as usize + 1 - self.ids.len();
        let range = guess.saturating_sub(holes)..(guess + 1).min(self.ids.len());
        let within = self.ids.get(range.clone())?;
        within.binary_search(&id).ok().map(|place| (range.start + place) as u32)
    }

    /// The tokens in id order.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|index| self.text(index))
    }

    /// The index of a token that options name, if they name one.
    pub(super) fn named(&self, option: &str, token: Option<&str>) -> Result<Option<u32>> {
        let Some(token) = token else { return Ok(None) };
        let missing = || {
            format(format!("{option} is {token:?}, which is not a token"))
                .remedy(format!("add the token, or pass null as {option}"))
        };
        self.index_of(token).map(Some).ok_or_else(missing)
    }

    /// The tokens `<0x00>` to `<0xFF>` by their bytes; [`NONE`] where one is missing.
    pub(super) fn byte_tokens(&self) -> Box<[u32; 256]> {
        let mut found = Box::new([NONE; 256]);
        for (byte, place) in found.iter_mut().enumerate() {
            *place = self.index_of(&format!("<0x{byte:02X}>")).unwrap_or(NONE);
        }
        found
    }
}

/// A `Format` error.
pub(super) fn format(what: impl Into<String>) -> Error {
    Error::new(Kind::Format, what)
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}
