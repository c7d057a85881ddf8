//! `WordPiece`: the number of tokens of every suffix of a piece that grows at its front.
//!
//! The longest token that begins at a place and goes on in a word does not depend on what is before it: a suffix has that
//! token, and those of the suffix behind it. One as a whole has the longest token that begins a word, and the same behind it.

use super::{WordPiece, no_unk};
use crate::error::Result;
use crate::interrupt::Checks;
use crate::memory::Room;

/// In place of a number of tokens: none spell the suffix.
const UNKNOWN: u32 = u32::MAX;

/// A suffix: its bytes, and the tokens that spell it with more before it.
#[derive(Clone, Copy)]
struct Row {
    length: u32,
    count: u32,
}

/// The suffixes of one piece.
#[derive(Default)]
pub(super) struct WordPieceSuffixes {
    /// One for each character.
    rows: Vec<Row>,
}

impl WordPieceSuffixes {
    /// Forgets suffixes of more bytes.
    pub(super) fn truncate(&mut self, length: usize) {
        self.rows.truncate(self.within(length));
    }

    /// Extends to the start of `piece`, which ends with what is known.
    ///
    /// # Errors
    /// `Interrupted`; `Memory`.
    pub(super) fn extend(&mut self, model: &WordPiece, piece: &str) -> Result<()> {
        let new = piece.len() - self.rows.last().map_or(0, |row| row.length as usize);
        let mut checks = Checks::default();
        for (at, _) in piece[..new].char_indices().rev() {
            checks.check()?;
            let suffix = &piece[at..];
            let count = self.count_with(suffix, model.tokens_at(1).longest(suffix.as_bytes()).0);
            self.rows.room(1)?;
            self.rows.push(Row { length: suffix.len() as u32, count });
        }
        Ok(())
    }

    /// The number of tokens of a suffix as a piece of its own; None if it is not known.
    ///
    /// # Errors
    /// `Encode`, if no tokens spell it or it is too long, and there is no unknown one.
    pub(super) fn count(&self, model: &WordPiece, suffix: &str) -> Result<Option<u64>> {
        let characters = self.within(suffix.len());
        if characters.checked_sub(1).is_none_or(|last| self.rows[last].length as usize != suffix.len()) {
            return Ok(if suffix.is_empty() { Some(0) } else { None });
        }
        if characters <= model.longest_piece {
            let count = self.count_with(suffix, model.tokens_at(0).longest(suffix.as_bytes()).0);
            if count != UNKNOWN {
                return Ok(Some(u64::from(count)));
            }
        }
        model.unk.map(|_| Some(1)).ok_or_else(|| no_unk(suffix, 0))
    }

    /// How many rows are those of suffixes of up to so many bytes.
    fn within(&self, length: usize) -> usize {
        self.rows.partition_point(|row| row.length as usize <= length)
    }

    /// The tokens of a suffix that begins with a token of so many bytes.
    fn count_with(&self, suffix: &str, first: Option<(u32, usize)>) -> u32 {
        let Some((_, length)) = first else { return UNKNOWN };
        let rest = suffix.len() - length;
        match self.within(rest).checked_sub(1).map(|last| self.rows[last]) {
            Some(row) if row.length as usize == rest => row.count.saturating_add(1),
            // Tokens are text, so that one ends where a character does.
            _ => {
                if rest == 0 {
                    1
                } else {
                    UNKNOWN
                }
            }
        }
    }
}
