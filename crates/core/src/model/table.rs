//! The tokens of a model as text: by id, and by what they spell.

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::Hasher;

use crate::error::{Error, Kind, Result};

/// More tokens than this are refused.
pub(super) const MOST_TOKENS: usize = 1 << 21;

/// Stands for "no token here".
pub(super) const NONE: u32 = u32::MAX;

/// Tokens in id order. Inside of a model a token is its index in this order.
pub(super) struct Table {
    text: String,
    /// Where token `i` ends in `text`; it begins where the one before it ends.
    ends: Vec<u32>,
    ids: Vec<u32>,
    by_text: HashTable<u32>,
}

impl Table {
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
            by_text: HashTable::with_capacity(tokens.len()),
        };
        for (index, token) in (0..).zip(tokens) {
            let Ok(text) = std::str::from_utf8(token) else {
                return Err(format(format!("token {} is not UTF-8", ids[index as usize])));
            };
            if let Some(other) = table.index_of(text) {
                let (first, second) = (ids[other as usize], ids[index as usize]);
                return Err(format(format!("token {text:?} has two ids, {first} and {second}")));
            }
            table.text.push_str(text);
            table.ends.push(table.text.len() as u32);
            let Self { text: all, ends, by_text, .. } = &mut table;
            by_text.insert_unique(hash(text), index, |&other| hash(slice(all, ends, other)));
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
        slice(&self.text, &self.ends, index)
    }

    /// The id of token `index`.
    #[inline]
    pub(super) fn id(&self, index: u32) -> u32 {
        self.ids[index as usize]
    }

    /// The token that spells this.
    pub(super) fn index_of(&self, text: &str) -> Option<u32> {
        self.by_text.find(hash(text), |&index| self.text(index) == text).copied()
    }

    /// The token with this id.
    pub(super) fn index_of_id(&self, id: u32) -> Option<u32> {
        // Ids mostly count up from the first one.
        let guess = id.checked_sub(*self.ids.first()?)?;
        if self.ids.get(guess as usize) == Some(&id) {
            return Some(guess);
        }
        self.ids.binary_search(&id).ok().map(|index| index as u32)
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

fn slice<'a>(text: &'a str, ends: &[u32], index: u32) -> &'a str {
    let end = ends[index as usize] as usize;
    let start = if index == 0 { 0 } else { ends[index as usize - 1] as usize };
    &text[start..end]
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}
