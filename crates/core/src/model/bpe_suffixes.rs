//! BPE over characters: the number of tokens of every suffix of a piece that grows at its front.
//!
//! `bpe_rows`, mirrored: the first token of a suffix is the one token that begins there and fits the first token of the rest.
//! The end of the piece is where it was from the start, so that its last character is known to be the last. While a
//! piece grows the front is not the beginning of the word: rows are those of suffixes with more before them. That of a suffix
//! as a whole differs in the first token alone, which has no prefix there.

use super::Bpe;
use super::bpe_rows::{Meeting, NOTHING, WAITING, WALL};
use super::token_table::NONE;
use super::trie::{Node, Trie};
use crate::error::Result;
use crate::interrupt::Checks;
use crate::memory::Room;

/// A suffix that begins with a character that did not vanish.
#[derive(Clone, Copy)]
struct Row {
    /// Its bytes.
    length: u32,
    /// How many tokens it has with more before it.
    count: u32,
    /// The first token, or what stands in its place.
    token: u32,
    /// Whether that token ends the piece.
    is_last: bool,
}

/// The suffixes of one piece.
#[derive(Default)]
pub(super) struct BpeSuffixes {
    rows: Vec<Row>,
    /// The bytes that are known.
    length: usize,
}

impl BpeSuffixes {
    /// Forgets suffixes of more bytes.
    pub(super) fn truncate(&mut self, length: usize) {
        self.rows.truncate(self.within(length));
        self.length = self.length.min(length);
    }

    /// Extends to the start of `piece`, which ends with what is known.
    ///
    /// # Errors
    /// `Format`, if the tokens are too many to be looked for; `Interrupted`; `Memory`.
    pub(super) fn extend(&mut self, model: &Bpe, piece: &str) -> Result<()> {
        let forward = model.growth.forward(&model.table)?;
        let mut checks = Checks::default();
        for (at, _) in piece[..piece.len() - self.length].char_indices().rev() {
            checks.check()?;
            let suffix = &piece[at..];
            let Some(row) = self.next(model, forward, suffix, self.rows.len(), true) else { return Ok(()) };
            if row.token != NONE {
                self.rows.room(1)?;
                self.rows.push(row);
            }
            self.length = suffix.len();
        }
        Ok(())
    }

    /// The number of tokens of a suffix as a piece of its own; None if it is not known.
    ///
    /// # Errors
    /// As [`BpeSuffixes::extend`].
    pub(super) fn count(&self, model: &Bpe, suffix: &str) -> Result<Option<u64>> {
        if suffix.len() > self.length {
            return Ok(None);
        }
        if model.ignore_merges && model.table.index_of_short(suffix).is_some() {
            return Ok(Some(1));
        }
        if model.prefix.is_empty() {
            return Ok(Some(u64::from(self.count_of(self.within(suffix.len())))));
        }
        let Some(character) = suffix.chars().next() else { return Ok(Some(0)) };
        let behind = self.within(suffix.len() - character.len_utf8());
        let first = self.next(model, model.growth.forward(&model.table)?, suffix, behind, false);
        Ok(first.map(|row| u64::from(row.count)))
    }

    /// How many rows are those of suffixes of up to so many bytes.
    fn within(&self, length: usize) -> usize {
        self.rows.partition_point(|row| row.length as usize <= length)
    }

    fn count_of(&self, rows: usize) -> u32 {
        rows.checked_sub(1).map_or(0, |last| self.rows[last].count)
    }

    /// The row of a suffix that begins with a character, with so many rows behind that; its token is [`NONE`] if the
    /// character vanishes. `inner` is whether more is before it. None if no token is found, which cannot be.
    fn next(&self, model: &Bpe, forward: &Trie, suffix: &str, rows: usize, inner: bool) -> Option<Row> {
        let character = suffix.chars().next()?;
        let is_last = character.len_utf8() == suffix.len();
        if model.token(character, inner, is_last) != NONE {
            return self.first_token(model, forward, suffix, rows, inner);
        }
        let count = self.count_of(rows);
        let waits = rows.checked_sub(1).is_some_and(|last| self.rows[last].token == WAITING);
        let (count, token) = match model.bytes_of(character, inner, is_last) {
            Some(bytes) => (count + bytes, if waits { WAITING } else { WALL }),
            None if model.unk.is_none() => (count, NONE),
            None => (count + u32::from(!(waits && model.fuse_unk)), WAITING),
        };
        Some(Row { length: suffix.len() as u32, count, token, is_last })
    }

    /// The row of a suffix whose first character is a token.
    fn first_token(&self, model: &Bpe, forward: &Trie, suffix: &str, rows: usize, inner: bool) -> Option<Row> {
        let prefix = if inner { model.prefix.as_str() } else { "" };
        let mut node = forward.spell(forward.root(), prefix.bytes())?;
        // Without a prefix a character is the same wherever it stands.
        let first = !inner && !model.prefix.is_empty();
        let (mut length, mut rows) = (suffix.len(), rows);
        // One of them fits, and no other.
        loop {
            let rest = &suffix[suffix.len() - length..];
            let spelled = rest.chars().next()?.len_utf8();
            node = forward.spell(node, rest.bytes().take(spelled))?;
            let is_last = spelled == length;
            let ends = if is_last { model.suffix.as_str() } else { "" };
            let next = rows.checked_sub(1).map(|last| self.rows[last]).filter(|row| row.token < WAITING);
            if let Some(token) = forward.spell(node, ends.bytes()).and_then(Node::value) {
                let meeting = match next {
                    Some(row) => Meeting { left: token, right: row.token, first, last: row.is_last },
                    None => Meeting { left: NOTHING, right: token, first, last: is_last },
                };
                if model.fits(meeting) {
                    let count = self.count_of(rows) + 1;
                    return Some(Row { length: suffix.len() as u32, count, token, is_last });
                }
            }
            length = next?.length as usize;
            rows -= 1;
        }
    }
}
