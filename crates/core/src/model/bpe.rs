//! BPE over characters: the symbols that merging starts from are the characters of a piece.
//!
//! A character that is no token is treated as in `tokenizers`, in this order: with `byte_fallback` its bytes become the
//! tokens `<0x00>` to `<0xFF>`, if all are there; else it becomes the unknown token, with `fuse_unk` one for several
//! characters; else it vanishes. An unknown token is emitted before the next character that is a token, so that tokens of
//! byte fallback come before it. Offsets are sums of lengths: after a vanished character all tokens begin too early.
//!
//! A token behind which a word goes on may be marked by a separator, as subword-nmt prints it. Texts that merges make on the way to
//! tokens need not be tokens: what is left of them at the end is the unknown token, each by itself.

use std::sync::OnceLock;

use super::character_pages::CharacterPages;
use super::growth::Growth;
use super::list::{List, Symbol};
use super::merges::Pairs;
use super::options::Options;
use super::splits::Splits;
use super::token_table::{NONE, TokenTable, format};
use super::{OnBytes, Random, Token};
use crate::error::Result;
use crate::interrupt::{self, Checks};
use crate::memory::Room;

/// So many symbols of a long piece, and it is asked whether they are still wanted.
const SYMBOLS_TO_LISTEN: usize = 1 << 10;

/// Pieces of more symbols are merged by a heap.
const SCANNED: usize = 24;

/// Characters to tokens, and the merges of tokens.
pub struct Bpe {
    pub(super) table: TokenTable,
    pub(super) unk: Option<u32>,
    /// By whether the character is not the first one (1) and whether it is the last one (2).
    alphabets: [Option<CharacterPages>; 4],
    pub(super) prefix: String,
    pub(super) suffix: String,
    /// Behind all tokens but the last one of a piece.
    pub(super) separator: String,
    pub(super) pairs: Pairs,
    /// Tokens of the bytes; of `byte_fallback` only.
    pub(super) bytes: Option<Box<[u32; 256]>>,
    pub(super) fuse_unk: bool,
    pub(super) ignore_merges: bool,
    /// Made when a piece first grows.
    pub(super) growth: Growth,
    pub(super) has_rows: OnceLock<bool>,
    pub(super) splits: Splits,
}

/// Buffers kept between pieces.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) symbols: Vec<Symbol>,
    list: List,
}

impl Bpe {
    pub(super) fn new(mut options: Options, table: TokenTable, merges: &[(u32, u32)]) -> Result<Self> {
        let unk = options.text("unk_token")?;
        let unk = table.named("unk_token", unk.as_deref())?;
        let prefix = options.text("continuing_subword_prefix")?.unwrap_or_default();
        let suffix = options.text("end_of_word_suffix")?.unwrap_or_default();
        let (fuse_unk, ignore_merges) = (options.flag("fuse_unk")?, options.flag("ignore_merges")?);
        let bytes = options.flag("byte_fallback")?.then(|| table.byte_tokens());
        let separator = options.text("separator")?.unwrap_or_default();
        let unlisted = options.texts("unlisted")?;
        options.done()?;
        if !separator.is_empty() && (bytes.is_some() || ignore_merges || !prefix.is_empty() || !suffix.is_empty()) {
            return Err(format("a BPE with a separator has neither affixes nor byte_fallback nor ignore_merges"));
        }
        let table = table.with_unlisted(unk, unlisted.iter().map(String::as_str))?;
        let pairs = Pairs::new(&table, merges, &separator, prefix.len())?;
        let marks_last = !suffix.is_empty() || !separator.is_empty();
        // Where there is no prefix, or nothing marks the last character, all are looked up as the first one is.
        let used = |inner: bool, last: bool| (!inner || !prefix.is_empty()) && (!last || marks_last);
        let alphabets = [(false, false), (true, false), (false, true), (true, true)].map(|(inner, last)| {
            let prefix = if inner { prefix.as_str() } else { "" };
            let suffix = if last { suffix.as_str() } else { separator.as_str() };
            used(inner, last).then(|| CharacterPages::new(&table, prefix, suffix))
        });
        Ok(Self {
            table,
            unk,
            alphabets,
            prefix,
            suffix,
            separator,
            pairs,
            bytes,
            fuse_unk,
            ignore_merges,
            growth: Growth::default(),
            has_rows: OnceLock::new(),
            splits: Splits::default(),
        })
    }

    pub(super) fn encode(&self, piece: &str, buffers: &mut Buffers, out: &mut Vec<Token>) -> Result<()> {
        if self.ignore_merges
            && let Some(index) = self.table.index_of(piece)
        {
            if !piece.is_empty() {
                out.push(Token { id: self.table.id(index), start: 0, end: piece.len() as u32 });
            }
            return Ok(());
        }
        self.symbols(piece, &mut buffers.symbols)?;
        self.merge(buffers, interrupt::check)?;
        self.put_out(piece, &buffers.symbols, out)
    }

    /// Merges the symbols, unless `ask` has an error.
    pub(super) fn merge(&self, buffers: &mut Buffers, ask: impl Fn() -> Result<()>) -> Result<()> {
        if buffers.symbols.len() <= SCANNED {
            self.scan(&mut buffers.symbols);
            return Ok(());
        }
        buffers.list.merge(&mut buffers.symbols, |left, right| self.pair(left, right), || false, ask)
    }

    pub(super) fn encode_with_dropout(
        &self,
        piece: &str,
        dropout: f64,
        random: &mut Random,
        buffers: &mut Buffers,
        out: &mut Vec<Token>,
    ) -> Result<()> {
        self.symbols(piece, &mut buffers.symbols)?;
        let skip = || random.fraction() < dropout;
        buffers.list.merge(&mut buffers.symbols, |left, right| self.pair(left, right), skip, interrupt::check)?;
        self.put_out(piece, &buffers.symbols, out)
    }

    /// The same over bytes, where bytes would do the same; with all merges, or without those that few pieces need.
    pub(super) fn on_bytes(&self, with_all: bool) -> Result<Option<OnBytes>> {
        if self.bytes.is_none() || self.ignore_merges || !self.prefix.is_empty() || self.marks_last() {
            return Ok(None);
        }
        OnBytes::of(&self.table, &self.pairs, with_all)
    }

    /// Whether the last character of a piece is another symbol than elsewhere.
    #[inline]
    pub(super) fn marks_last(&self) -> bool {
        !self.suffix.is_empty() || !self.separator.is_empty()
    }

    /// The tokens that merges make.
    pub(super) fn products(&self) -> impl Iterator<Item = &str> {
        self.pairs.products().iter().map(|&product| self.table.text(product))
    }

    /// The merge of an adjacent pair.
    #[inline]
    pub(super) fn pair(&self, left: u32, right: u32) -> Option<(u32, u32)> {
        let rank = self.pairs.rank(left, right);
        (rank != NONE).then(|| (rank, self.pairs.product(rank)))
    }

    /// The initial symbols.
    fn symbols(&self, piece: &str, symbols: &mut Vec<Symbol>) -> Result<()> {
        symbols.clear();
        let mut checks = Checks::default();
        let mut unknown: Option<Symbol> = None;
        for (at, character) in piece.char_indices() {
            checks.check()?;
            // At most its bytes, with a prefix and a suffix, and the unknown ones before it.
            symbols.room(2 + character.len_utf8() + self.prefix.len() + self.suffix.len())?;
            let length = character.len_utf8() as u32;
            let (inner, last) = (at > 0, at + character.len_utf8() == piece.len());
            let token = self.token(character, inner, last);
            if token != NONE {
                symbols.extend(unknown.take());
                symbols.push(Symbol { token, length });
            } else if self.fall_back(character, inner, last, symbols) {
            } else if let Some(token) = self.unk {
                match &mut unknown {
                    Some(symbol) if self.fuse_unk => symbol.length += length,
                    _ => symbols.extend(unknown.replace(Symbol { token, length })),
                }
            }
        }
        symbols.extend(unknown);
        Ok(())
    }

    /// The token of a character at its place in the piece, or [`NONE`].
    #[inline]
    pub(super) fn token(&self, character: char, inner: bool, last: bool) -> u32 {
        let inner = usize::from(inner && !self.prefix.is_empty());
        let last = usize::from(last && self.marks_last());
        self.alphabets[inner | last << 1].as_ref().map_or(NONE, |alphabet| alphabet.token(character))
    }

    /// Whether a character became its bytes, with those of the prefix and suffix that belong to it.
    fn fall_back(&self, character: char, inner: bool, last: bool, symbols: &mut Vec<Symbol>) -> bool {
        let before = symbols.len();
        let all_there = self.each_byte(character, inner, last, |token| symbols.push(Symbol { token, length: 1 }));
        if !all_there {
            symbols.truncate(before);
        }
        all_there
    }

    /// How many bytes a character becomes, if it does.
    pub(super) fn bytes_of(&self, character: char, inner: bool, last: bool) -> Option<u32> {
        let mut count = 0;
        self.each_byte(character, inner, last, |_| count += 1).then_some(count)
    }

    /// Calls `visit` with the tokens of the bytes of a character at its place, and returns whether all are there.
    fn each_byte(&self, character: char, inner: bool, last: bool, mut visit: impl FnMut(u32)) -> bool {
        let Some(tokens) = &self.bytes else { return false };
        let mut spelled = [0; 4];
        let prefix = if inner { self.prefix.as_bytes() } else { &[] };
        let suffix = if last { self.suffix.as_bytes() } else { &[] };
        let mut bytes = prefix.iter().chain(character.encode_utf8(&mut spelled).as_bytes()).chain(suffix);
        bytes.all(|&byte| {
            let token = tokens[usize::from(byte)];
            visit(token);
            token != NONE
        })
    }

    /// Merges a few symbols: looks for the lowest rank, again and again.
    fn scan(&self, symbols: &mut Vec<Symbol>) {
        let mut ranks = [NONE; SCANNED];
        for (rank, pair) in ranks.iter_mut().zip(symbols.windows(2)) {
            *rank = self.pairs.rank(pair[0].token, pair[1].token);
        }
        let mut count = symbols.len();
        while count > 1 {
            let (mut at, mut lowest) = (0, NONE);
            for (place, &rank) in ranks[..count - 1].iter().enumerate() {
                if rank < lowest {
                    (at, lowest) = (place, rank);
                }
            }
            if lowest == NONE {
                break;
            }
            symbols[at] =
                Symbol { token: self.pairs.product(lowest), length: symbols[at].length + symbols[at + 1].length };
            symbols.copy_within(at + 2..count, at + 1);
            ranks.copy_within(at + 1..count - 1, at);
            count -= 1;
            ranks[count - 1] = NONE;
            if at + 1 < count {
                ranks[at] = self.pairs.rank(symbols[at].token, symbols[at + 1].token);
            }
            if at > 0 {
                ranks[at - 1] = self.pairs.rank(symbols[at - 1].token, symbols[at].token);
            }
        }
        symbols.truncate(count);
    }

    /// Symbols as tokens, one behind the other. What is spelled beyond the piece (bytes of a prefix or suffix) ends
    /// with it.
    fn put_out(&self, piece: &str, symbols: &[Symbol], out: &mut Vec<Token>) -> Result<()> {
        out.room(symbols.len())?;
        let (length, mut at) = (piece.len() as u64, 0_u64);
        for many in symbols.chunks(SYMBOLS_TO_LISTEN) {
            interrupt::check()?;
            out.extend(many.iter().map(|symbol| {
                let start = at.min(length) as u32;
                at += u64::from(symbol.length);
                Token { id: self.table.id(symbol.token), start, end: at.min(length) as u32 }
            }));
        }
        Ok(())
    }
}
