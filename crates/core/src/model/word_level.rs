//! `WordLevel`: a piece is a token, or unknown.

use super::options::Options;
use super::token_table::{TokenTable, format};
use super::{Token, no_unk};
use crate::error::Result;

/// A vocabulary of whole pieces.
pub struct WordLevel {
    pub(super) table: TokenTable,
    pub(super) unk: Option<u32>,
}

impl WordLevel {
    pub(super) fn new(mut options: Options, table: TokenTable) -> Result<Self> {
        let unk = options.text("unk_token")?;
        options.done()?;
        let unk = table.named("unk_token", unk.as_deref())?;
        if table.len() == 0 {
            return Err(format("a model of type WordLevel has no tokens"));
        }
        Ok(Self { table, unk })
    }

    pub(super) fn encode(&self, piece: &str, out: &mut Vec<Token>) -> Result<()> {
        let index = self.table.index_of(piece).or(self.unk).ok_or_else(|| no_unk(piece, 0))?;
        out.push(Token { id: self.table.id(index), start: 0, end: piece.len() as u32 });
        Ok(())
    }
}
