//! `WordPiece`: the longest token that begins the piece, then again in the rest, with a prefix in front of it.
//!
//! Tries find the tokens. The search for the longest one can read far beyond its end; a piece in which that happens too
//! often is encoded again by [`Longest`], so that time is linear in the piece for all tokens and pieces.

use std::sync::OnceLock;

use super::longest::{Buffers, Longest};
use super::options::Options;
use super::splits::Splits;
use super::token_table::{NONE, TokenTable};
use super::trie::Trie;
use super::{Token, no_unk};
use crate::error::Result;

/// The default of the most characters of a piece; a longer one is unknown.
const LONGEST_PIECE: u64 = 100;

/// Bytes that may be read for each byte of a piece, before it is done over.
const READS: usize = 8;

/// Tokens that begin a piece, and tokens that go on in it.
pub struct WordPiece {
    pub(super) table: TokenTable,
    pub(super) unk: Option<u32>,
    first: Trie,
    /// Without their prefix; none if the prefix is empty: then they are those that begin a piece.
    inner: Option<Trie>,
    prefix: String,
    pub(super) longest_piece: usize,
    /// Whether tokens spell every piece that there can be, so that none is unknown.
    pub(super) spells_all: bool,
    pub(super) splits: Splits,
    /// Made when a piece first needs it.
    longest: OnceLock<Longest>,
}

impl WordPiece {
    pub(super) fn new(mut options: Options, table: TokenTable) -> Result<Self> {
        let unk = options.text("unk_token")?;
        let unk = table.named("unk_token", unk.as_deref())?;
        let prefix = options.text("continuing_subword_prefix")?.unwrap_or_default();
        let longest_piece = options.number("max_input_chars_per_word")?.unwrap_or(LONGEST_PIECE);
        options.done()?;
        let first = Trie::new(strings(&table, ""))?;
        let inner = if prefix.is_empty() { None } else { Some(Trie::new(strings(&table, &prefix))?) };
        let longest_piece = usize::try_from(longest_piece).unwrap_or(usize::MAX);
        let (splits, longest) = (Splits::default(), OnceLock::new());
        Ok(Self { table, unk, first, inner, prefix, longest_piece, spells_all: false, splits, longest })
    }

    /// Notes that pieces have no other characters than these.
    pub(super) fn with_alphabet(self, alphabet: &[char]) -> Self {
        let is_token = |tokens: &Trie, character: char| {
            let mut buffer = [0; 4];
            let spelled = character.encode_utf8(&mut buffer).as_bytes();
            tokens.longest(spelled).0.is_some_and(|(_, length)| length == spelled.len())
        };
        let has_all = |tokens: &Trie| alphabet.iter().all(|&character| is_token(tokens, character));
        // No longer piece is encoded.
        let is_long_enough = u32::try_from(self.longest_piece).map_or(true, |most| most == u32::MAX);
        Self { spells_all: is_long_enough && has_all(&self.first) && self.inner.iter().all(has_all), ..self }
    }

    /// Whether tokens that go on in a piece are those that begin one.
    pub(super) fn begins_anew(&self) -> bool {
        self.inner.is_none()
    }

    pub(super) fn encode(&self, piece: &str, buffers: &mut Buffers, out: &mut Vec<Token>) -> Result<()> {
        let before = out.len();
        // A piece has no more characters than bytes.
        let too_long = piece.len() > self.longest_piece && piece.chars().count() > self.longest_piece;
        if !too_long && self.spell(piece.as_bytes(), buffers, out)? {
            return Ok(());
        }
        out.truncate(before);
        let unk = self.unk.ok_or_else(|| no_unk(piece, 0))?;
        out.push(Token { id: self.table.id(unk), start: 0, end: piece.len() as u32 });
        Ok(())
    }

    /// Whether tokens spell the piece; they may be appended even if not.
    fn spell(&self, piece: &[u8], buffers: &mut Buffers, out: &mut Vec<Token>) -> Result<bool> {
        let before = out.len();
        let mut reads = READS * (piece.len() + 1);
        let mut at = 0;
        while at < piece.len() {
            let (found, read) = self.tokens_at(at).longest(&piece[at..]);
            let Some((token, length)) = found else { return Ok(false) };
            self.put_out(token, &mut at, length, out);
            let Some(left) = reads.checked_sub(read) else {
                out.truncate(before);
                return self.spell_in_linear_time(piece, buffers, out);
            };
            reads = left;
        }
        Ok(true)
    }

    /// The tokens of a place.
    #[inline]
    pub(super) fn tokens_at(&self, at: usize) -> &Trie {
        if at == 0 { &self.first } else { self.inner.as_ref().unwrap_or(&self.first) }
    }

    /// How many tokens spell a piece from a place on, if they do.
    pub(super) fn spelled(&self, piece: &str, start: usize) -> Option<u64> {
        let (mut at, mut count) = (start, 0);
        while at < piece.len() {
            at += self.tokens_at(at).longest(&piece.as_bytes()[at..]).0?.1;
            count += 1;
        }
        Some(count)
    }

    fn spell_in_linear_time(&self, piece: &[u8], buffers: &mut Buffers, out: &mut Vec<Token>) -> Result<bool> {
        let longest = if let Some(longest) = self.longest.get() {
            longest
        } else {
            let made = Longest::new(strings(&self.table, &self.prefix))?;
            self.longest.get_or_init(|| made)
        };
        longest.find(piece, buffers);
        let mut at = 0;
        let Some((token, length)) = self.first.longest(piece).0 else { return Ok(piece.is_empty()) };
        self.put_out(token, &mut at, length, out);
        while at < piece.len() {
            let token = buffers.tokens[at];
            if token == NONE {
                return Ok(false);
            }
            let length = self.table.text(token).len() - self.prefix.len();
            self.put_out(token, &mut at, length, out);
        }
        Ok(true)
    }

    fn put_out(&self, token: u32, at: &mut usize, length: usize, out: &mut Vec<Token>) {
        let start = *at as u32;
        *at += length;
        out.push(Token { id: self.table.id(token), start, end: *at as u32 });
    }

    #[cfg(test)]
    pub(super) fn spell_slowly_for_tests(&self, piece: &str) -> Option<Vec<Token>> {
        let mut out = Vec::new();
        let spelled = self.spell_in_linear_time(piece.as_bytes(), &mut Buffers::default(), &mut out).ok()?;
        spelled.then_some(out)
    }
}

/// The tokens with this prefix, without it, and their indices; not those that are the prefix.
fn strings<'a>(table: &'a TokenTable, prefix: &'a str) -> impl Iterator<Item = (&'a [u8], u32)> {
    let bare = move |token: &'a str| token.strip_prefix(prefix).filter(|bare| !bare.is_empty());
    table.texts().zip(0..).filter_map(move |(token, index)| Some((bare(token)?.as_bytes(), index)))
}
