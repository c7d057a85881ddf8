//! The table of a `SentencePiece` model as that library applies it: the longest rule that fits.

use super::charsmap::{self, offset};
use super::replace::check_content;

/// Bytes of the longest rule that is applied; those in use have fewer than thirty.
const LONGEST_RULE: usize = 256;

/// The table: a double array of what is replaced, whose values are places in the replacements.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    units: Vec<u32>,
    replacements: String,
}

impl Rules {
    /// Reads the bytes of a table; else what is wrong with it.
    pub(super) fn new(table: &[u8]) -> std::result::Result<Self, String> {
        let (length, rest) = table.split_first_chunk().ok_or("its table has no length")?;
        let length = u32::from_le_bytes(*length) as usize;
        let (trie, rest) = rest.split_at_checked(length).ok_or("its table ends within its trie")?;
        let units: Vec<u32> = trie.as_chunks().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        if units.is_empty() || rest.is_empty() {
            return Err("its table has no trie or no replacements".to_owned());
        }
        let replacements = std::str::from_utf8(rest).map_err(|_| "its replacements are not UTF-8")?.to_owned();
        if replacements.split('\0').any(|one| check_content(one).is_err()) {
            return Err("it puts more than 1,024 bytes in one place".to_owned());
        }
        charsmap::check(&units, &replacements).map_err(|what| format!("its table {what}"))?;
        Ok(Self { units, replacements })
    }

    /// The node that `byte` leads to from a node, by its offset; and its value, if a rule ends there.
    fn step(&self, node: usize, byte: u8) -> Option<(usize, Option<u32>)> {
        let node = node ^ usize::from(byte);
        let unit = *self.units.get(node)?;
        if unit & (1 << 31 | 0xFF) != u32::from(byte) {
            return None;
        }
        let node = node ^ offset(unit);
        let value = if unit >> 8 & 1 == 1 { self.units.get(node).map(|unit| unit & (u32::MAX >> 1)) } else { None };
        Some((node, value))
    }

    /// The node that all rules begin at.
    pub(super) fn root(&self) -> usize {
        self.units.first().map_or(0, |&unit| offset(unit))
    }

    /// The longest rule that `key` begins with: what it gives, and its length. Rules have at most [`LONGEST_RULE`] bytes,
    /// so that no table makes each place be looked up to the end of the text.
    pub(super) fn longest(&self, key: &[u8]) -> Option<(&str, usize)> {
        let mut node = self.root();
        let mut found = None;
        for (place, &byte) in key.iter().enumerate().take(LONGEST_RULE) {
            let Some((next, value)) = self.step(node, byte) else { break };
            node = next;
            if let Some(value) = value {
                found = Some((value, place + 1));
            }
        }
        let (value, length) = found?;
        Some((self.replacement(value)?, length))
    }

    /// The replacement that a value stands for; None if there is none.
    pub(super) fn replacement(&self, value: u32) -> Option<&str> {
        let rest = self.replacements.get(value as usize..)?;
        Some(rest.split('\0').next().unwrap_or(rest))
    }

    /// Calls `found` with each character that leads on from a node, the node that it leads to, and the value of a rule
    /// that ends there; each step takes one from `budget`. None if that is spent, or if a rule ends within a character.
    pub(super) fn each_character(
        &self,
        node: usize,
        budget: &mut usize,
        mut found: impl FnMut(char, usize, Option<u32>),
    ) -> Option<()> {
        for first in (0..0x80).chain(0xC2..=0xF4) {
            let mut bytes = [first, 0x80, 0x80, 0x80];
            let length = 1 + [0xC0, 0xE0, 0xF0].iter().filter(|&&least| first >= least).count();
            let mut nodes = [node; 4];
            let mut read = 0;
            loop {
                *budget = budget.checked_sub(1)?;
                let next = self.step(nodes[read], bytes[read]);
                if let Some((next, value)) = next
                    && read + 1 < length
                {
                    if value.is_some() {
                        return None;
                    }
                    read += 1;
                    nodes[read] = next;
                    bytes[read] = 0x80;
                    continue;
                }
                if let Some((next, value)) = next
                    && let Ok(text) = std::str::from_utf8(&bytes[..length])
                {
                    text.chars().for_each(|character| found(character, next, value));
                }
                // The next way: the last byte that can be greater.
                while read > 0 && bytes[read] == 0xBF {
                    read -= 1;
                }
                if read == 0 {
                    break;
                }
                bytes[read] += 1;
            }
        }
        Some(())
    }

    /// Whether a rule is this ASCII character, or begins with it and another one.
    pub(super) fn changes_ascii(&self, byte: u8) -> bool {
        self.step(self.root(), byte)
            .is_some_and(|(node, value)| value.is_some() || (0..128).any(|next| self.step(node, next).is_some()))
    }
}
