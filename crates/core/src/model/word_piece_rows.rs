//! `WordPiece`: the number of tokens of every prefix of a growing piece.
//!
//! The longest token at a place is final once the search for it ended before the end of what is known. A prefix that ends
//! behind it has it too. So a prefix has the final tokens that end in it, and behind them, in fewer bytes than the longest
//! token has, the longest ones that it holds.

use super::{WordPiece, no_unk};
use crate::error::Result;
use crate::memory::Room;

/// Models with longer tokens, in bytes, have no rows: each count looks for tokens in that many bytes.
const LONGEST_LOOKED_FOR: usize = 1024;

/// Where a final token ends.
#[derive(Clone, Copy, Default)]
struct Final {
    end: u32,
    /// How far text was read to know this token, and those before it.
    read: u32,
    /// The characters up to there.
    characters: u32,
}

/// The prefixes of one piece.
#[derive(Default)]
pub(super) struct WordPieceRows {
    ends: Vec<Final>,
    /// The bytes that are known.
    length: usize,
}

impl WordPiece {
    /// Whether its pieces have rows.
    pub(super) fn has_rows(&self) -> bool {
        self.table.longest() <= LONGEST_LOOKED_FOR
    }
}

impl WordPieceRows {
    /// Forgets what is beyond a length.
    pub(super) fn truncate(&mut self, length: usize) {
        self.ends.truncate(self.ends.partition_point(|end| end.read as usize <= length));
        self.length = self.length.min(length);
    }

    /// Extends to the end of `piece`, which begins with what is known.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn extend(&mut self, model: &WordPiece, piece: &str) -> Result<()> {
        self.length = self.length.max(piece.len());
        loop {
            let last = self.ends.last().copied().unwrap_or_default();
            let rest = &piece.as_bytes()[last.end as usize..];
            // Nothing more is asked of a piece that is too long.
            if last.characters as usize > model.longest_piece {
                return Ok(());
            }
            let (found, read) = model.tokens_at(last.end as usize).longest(rest);
            let Some((_, length)) = found.filter(|_| read < rest.len()) else { return Ok(()) };
            let end = last.end + length as u32;
            // The byte at which the search ended was read as well.
            let read = last.read.max(last.end + read as u32 + 1);
            let characters = last.characters + piece[last.end as usize..end as usize].chars().count() as u32;
            self.ends.room(1)?;
            self.ends.push(Final { end, read, characters });
        }
    }

    /// The fewest tokens of any longer piece that begins with the first `length` bytes, or fewer.
    pub(super) fn least(&self, model: &WordPiece, length: usize) -> u64 {
        if !model.spells_all {
            // The piece may be unknown as a whole.
            return 1;
        }
        let known = self.ends.partition_point(|end| end.read as usize <= length);
        let end = known.checked_sub(1).map_or(0, |last| self.ends[last].end as usize);
        known as u64 + u64::from(end < length)
    }

    /// The number of tokens of a prefix; None if it is not known.
    ///
    /// # Errors
    /// `Encode`, if no tokens spell it or it is too long, and there is no unknown one.
    pub(super) fn count(&self, model: &WordPiece, prefix: &str) -> Result<Option<u64>> {
        if prefix.len() > self.length {
            return Ok(None);
        }
        let known = self.ends.partition_point(|end| end.end as usize <= prefix.len());
        let last = known.checked_sub(1).map(|last| self.ends[last]).unwrap_or_default();
        let is_short = |characters: usize| characters <= model.longest_piece;
        let rest = || model.spelled(prefix, last.end as usize);
        if is_short(last.characters as usize)
            && let Some(more) = rest()
            && is_short(last.characters as usize + prefix[last.end as usize..].chars().count())
        {
            return Ok(Some(known as u64 + more));
        }
        model.unk.map(|_| Some(1)).ok_or_else(|| no_unk(prefix, 0))
    }
}
