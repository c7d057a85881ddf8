//! BPE over characters: the number of tokens of every prefix of a growing piece.
//!
//! The symbols that merging starts from are those of the characters. As over bytes (`merge::fit`), tokens are the encoding
//! of their symbols exactly if each two neighbours are the encoding of theirs, whatever the merges are. So the last token
//! of a prefix is the one token that ends there and fits the last token of the rest. Four things are special:
//!
//! - A character has other symbols as the first one, inside, and as the last one. While a piece grows its end is not the
//!   end of the word: rows are those of prefixes that go on. That of a prefix as a whole differs in the last token, which
//!   ends with the suffix and fits the last token of a row.
//! - The text of a token and where it stands name its characters: behind the first one it begins with the prefix. So two
//!   texts, whether the left one is the first, and whether the right one is the last decide whether two fit.
//! - Unknown tokens and tokens of byte fallback are walls, if no merge takes one: nothing merges across, and what is
//!   behind one begins anew. Unknown tokens that are fused add none.
//! - Characters that vanish have no row; what stands beside them merges.

use super::affixes::bare;
use super::bpe::Buffers;
use super::list::Symbol;
use super::token_table::{MOST_TOKENS, NONE};
use super::trie::{Node, Trie};
use super::{Bpe, start_of};
use crate::error::Result;
use crate::memory::Room;

/// In place of a last token: bytes or an unknown token, behind which text begins anew.
pub(super) const WALL: u32 = NONE - 1;
/// The same, where an unknown token still waits for the next character that is a token.
pub(super) const WAITING: u32 = NONE - 2;

/// Models with longer tokens, in bytes, have no rows: looking for the tokens at each place could take that long.
const LONGEST_LOOKED_FOR: usize = 1024;

/// In place of the left one of two tokens: there is none.
pub(super) const NOTHING: u32 = MOST_TOKENS as u32 - 1;

/// A prefix that ends with a character that did not vanish.
#[derive(Clone, Copy)]
struct Row {
    /// Where it ends.
    end: u32,
    /// How many tokens it has if it goes on, one that waits among them.
    count: u32,
    /// The last token, or what stands in its place.
    token: u32,
}

/// The prefixes of one piece.
#[derive(Default)]
pub(super) struct BpeRows {
    rows: Vec<Row>,
    /// The bytes that are known.
    length: usize,
}

/// A character of a piece, and where it stands.
#[derive(Clone, Copy)]
struct Place {
    character: char,
    start: usize,
    last: bool,
}

impl Place {
    fn end(&self) -> usize {
        self.start + self.character.len_utf8()
    }
}

/// Two tokens that meet, or one by itself.
#[derive(Clone, Copy)]
pub(super) struct Meeting {
    /// [`NOTHING`] if there is none.
    pub(super) left: u32,
    pub(super) right: u32,
    /// Whether the first of them begins the piece.
    pub(super) first: bool,
    /// Whether the right one ends it.
    pub(super) last: bool,
}

impl Bpe {
    /// Whether its pieces have rows: if no merge takes a token that stands for an unknown character, or for a byte, no token is
    /// too long, and all but the last of a piece are spelled as they are.
    pub(super) fn has_rows(&self) -> bool {
        *self.has_rows.get_or_init(|| {
            if !self.separator.is_empty() || self.table.len() < self.table.texts().count() {
                return false;
            }
            let mut walls = vec![false; self.table.len()];
            let bytes = self.bytes.iter().flat_map(|bytes| bytes.iter());
            for &token in bytes.chain(&self.unk) {
                // Some bytes may have no token.
                if let Some(wall) = walls.get_mut(token as usize) {
                    *wall = true;
                }
            }
            let takes = |token: u32| walls[token as usize];
            let mut parts = self.pairs.parts().iter();
            self.table.longest() <= LONGEST_LOOKED_FOR && !parts.any(|&(left, right)| takes(left) || takes(right))
        })
    }

    /// Whether tokens that meet are the encoding of their characters.
    pub(super) fn fits(&self, meeting: Meeting) -> bool {
        let Meeting { left, right, first, last } = meeting;
        if left != NOTHING && self.pair(left, right).is_some() {
            return false;
        }
        let question = u64::from(left) << 32 | u64::from(right) << 2 | u64::from(first) << 1 | u64::from(last);
        self.growth.fits().get(question, || self.merge_to_themselves(meeting))
    }

    /// The same, by merging them.
    #[cold]
    fn merge_to_themselves(&self, meeting: Meeting) -> bool {
        let Meeting { left, right, first, last } = meeting;
        let mut buffers = Buffers::default();
        let mut first = first;
        let tokens = [(left, false), (right, last)];
        let tokens = if left == NOTHING { &tokens[1..] } else { &tokens[..] };
        for &(token, last) in tokens {
            let text = self.table.text(token);
            let prefix = if first { "" } else { self.prefix.as_str() };
            let suffix = if last { self.suffix.as_str() } else { "" };
            let mut characters = bare(text, prefix, suffix).unwrap_or_default().chars().peekable();
            while let Some(character) = characters.next() {
                let last = last && characters.peek().is_none();
                let token = self.token(character, !first, last);
                if token == NONE {
                    return false;
                }
                buffers.symbols.push(Symbol { token, length: character.len_utf8() as u32 });
                first = false;
            }
        }
        // The answer is kept, so that it has to be found.
        let _ = self.merge(&mut buffers, || Ok(()));
        buffers.symbols.iter().map(|symbol| symbol.token).eq(tokens.iter().map(|&(token, _)| token))
    }
}

impl BpeRows {
    /// Forgets what is beyond a length.
    pub(super) fn truncate(&mut self, length: usize) {
        self.rows.truncate(self.before(length));
        self.length = self.length.min(length);
    }

    /// Extends to the end of `piece`, which begins with what is known.
    ///
    /// # Errors
    /// `Format`, if the tokens are too many to be looked for; `Memory`.
    pub(super) fn extend(&mut self, model: &Bpe, piece: &str) -> Result<()> {
        let backward = model.growth.backward(&model.table)?;
        let known = self.length;
        for (at, character) in piece[known..].char_indices() {
            let place = Place { character, start: known + at, last: false };
            let Some((count, token)) = self.next(model, backward, piece, self.rows.len(), place) else { return Ok(()) };
            if token != NONE {
                self.rows.room(1)?;
                self.rows.push(Row { end: place.end() as u32, count, token });
            }
            self.length = place.end();
        }
        Ok(())
    }

    /// The number of tokens of a prefix as a piece of its own; None if it is not known.
    ///
    /// # Errors
    /// As [`BpeRows::extend`].
    pub(super) fn count(&self, model: &Bpe, prefix: &str) -> Result<Option<u64>> {
        if prefix.len() > self.length {
            return Ok(None);
        }
        if model.ignore_merges && model.table.index_of_short(prefix).is_some() {
            return Ok(Some(1));
        }
        let rows = self.before(prefix.len());
        if model.suffix.is_empty() {
            return Ok(Some(self.count_of(rows)));
        }
        let Some(character) = prefix.chars().next_back() else { return Ok(Some(0)) };
        let place = Place { character, start: prefix.len() - character.len_utf8(), last: true };
        let before = self.before(place.start);
        let last = self.next(model, model.growth.backward(&model.table)?, prefix, before, place);
        Ok(last.map(|(count, _)| u64::from(count)))
    }

    /// The fewest tokens of any longer piece that begins with the first `length` bytes.
    ///
    /// A token goes over the end of these bytes, or ends there, and has no more characters than bytes; before it are the
    /// tokens of a row. A short piece may be one token; then the empty row is among them.
    pub(super) fn least(&self, model: &Bpe, length: usize) -> u64 {
        let longest = model.table.longest();
        if length > self.length {
            return 0;
        }
        let rows = self.before(length);
        (rows.saturating_sub(longest)..=rows).map(|rows| self.count_of(rows)).min().unwrap_or(0)
    }

    /// How many rows end within a prefix.
    #[inline]
    fn before(&self, length: usize) -> usize {
        // Most text has one row a byte.
        if length.checked_sub(1).and_then(|last| self.rows.get(last)).is_some_and(|row| row.end as usize == length) {
            return length;
        }
        self.rows.partition_point(|row| row.end as usize <= length)
    }

    /// The number of tokens of what goes on behind so many rows.
    #[inline]
    fn count_of(&self, rows: usize) -> u64 {
        rows.checked_sub(1).map_or(0, |last| u64::from(self.rows[last].count))
    }

    /// The number of tokens and the last one, once a character stands behind so many rows; the last one is [`NONE`] if
    /// the character vanishes. None if no token is found, which cannot be.
    fn next(&self, model: &Bpe, backward: &Trie, piece: &str, rows: usize, place: Place) -> Option<(u32, u32)> {
        let Place { character, start, last } = place;
        let before = rows.checked_sub(1).map(|last| self.rows[last]);
        let (count, waits) = before.map_or((0, false), |row| (row.count, row.token == WAITING));
        if model.token(character, start > 0, last) != NONE {
            return self.last_token(model, backward, piece, rows, place);
        }
        let bytes = model.bytes_of(character, start > 0, last);
        Some(match bytes {
            Some(bytes) => (count + bytes, if waits { WAITING } else { WALL }),
            None if model.unk.is_none() => (count, NONE),
            None => (count + u32::from(!(waits && model.fuse_unk)), WAITING),
        })
    }

    /// The token that ends with a character which is a token, behind so many rows, and how many there are then.
    fn last_token(&self, model: &Bpe, backward: &Trie, piece: &str, rows: usize, place: Place) -> Option<(u32, u32)> {
        let text = piece.as_bytes();
        let mut node = backward.root();
        if place.last {
            node = backward.spell(node, model.suffix.bytes().rev())?;
        }
        // One of them fits, and no other.
        let (mut start, mut end, mut rows) = (place.start, place.end(), rows);
        loop {
            node = backward.spell(node, text[start..end].iter().rev().copied())?;
            let before = rows.checked_sub(1).map(|last| self.rows[last]).filter(|row| row.token < WAITING);
            let inner = if start > 0 { model.prefix.as_str() } else { "" };
            let token = backward.spell(node, inner.bytes().rev()).and_then(Node::value);
            if let Some(token) = token {
                let left = before.map_or(NOTHING, |row| row.token);
                // Without a prefix a character is the same wherever it stands.
                let first = !model.prefix.is_empty()
                    && before.map_or(start == 0, |row| row.count == 1 && self.begins_the_piece(text));
                if model.fits(Meeting { left, right: token, first, last: place.last }) {
                    return Some((self.count_of(rows) as u32 + 1, token));
                }
            }
            end = before?.end as usize;
            start = start_of(text, end - 1);
            rows -= 1;
        }
    }

    /// Whether the first row is that of the first character.
    fn begins_the_piece(&self, text: &[u8]) -> bool {
        self.rows.first().is_some_and(|row| start_of(text, row.end as usize - 1) == 0)
    }
}
