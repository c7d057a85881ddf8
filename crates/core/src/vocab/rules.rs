//! The compiled merges of a vocabulary: the pairs of symbols that merge, and the pair that makes each symbol.
//!
//! Symbols number tokens in the order in which merges make them: the bytes by value below 256, then the merged tokens, so
//! that a symbol is its own rank. Symbols are converted to ids only for output.
//!
//! # Proper vocabularies
//!
//! Suppose that each merge's parts are bytes or made by earlier merges. Then merging the lowest rank first is the same as
//! going through the ranks once, each time merging all pairs of that rank from left to right: a merge only makes pairs
//! that rank above it. And the merges between two boundaries that no merge crosses do not depend on the text beyond
//! them. Three things follow.
//!
//! - Two adjacent tokens of an encoding are the encoding of their own bytes: they *fit*. A sequence of tokens is the
//!   encoding of its bytes exactly if each two neighbours fit.
//! - Whether two tokens fit is decided by undoing the merges that made their inner edges, from the latest to the earliest
//!   (`Rules::fit`): no pair that meets at the boundary may rank before the merge that ends the meeting.
//! - A token is made by one pair, in every text: the two tokens that remain of its bytes when all lower ranks have merged.
//!   Pairs that do not fit when their turn comes never merge anywhere, and the table omits them. A token that no pair makes
//!   occurs in no encoding, except as a whole piece.
//!
//! Under the semantics of ranks any cut of a token into two tokens is a pair. The parts of a cut that fits rank lower, so
//! that the same holds with the cuts as the list of merges. There is one exception: a token that no cut makes in time, and
//! that has a cut with a part that ranks above it. That part could be made first, and then the cut would merge out of turn.
//! Such a vocabulary is not proper, nor is a list of merges with a pair that uses a token before it is made, or that is
//! listed twice. There all pairs are in the table, and only `naive` and `heap` are exact.
//!
//! Source: the README of the crate `bpe` (rust-gems) for fitting pairs; Berglund and van der Merwe, "Formalizing BPE
//! Tokenization", 2023, for merging in one pass over the ranks.

use crate::error::{Error, Kind, Result};
use crate::vocab::NO_ID;
use crate::vocab::pair_table::{NONE, PairTable, SYMBOLS, VALUES};
use crate::vocab::tokens::{Hashes, Tokens};

/// The first symbol that is not a byte.
pub(crate) const FIRST: u32 = 256;

/// Which pairs of symbols merge, and into what.
pub(crate) struct Rules {
    pairs: PairTable,
    /// The pair that makes symbol `FIRST + i`; `NONE` twice if none does. Empty if the vocabulary is not proper.
    parts: Vec<[u32; 2]>,
    /// The symbol that a pair of value `FIRST + i` makes; empty if values are symbols.
    products: Vec<u32>,
    /// The id of each symbol; [`NO_ID`] for a byte without a token.
    ids: Vec<u32>,
    /// The symbol of each token, by index; [`NONE`] for tokens that no merge makes.
    symbols: Vec<u32>,
    /// Whether some byte has no token.
    lacks_bytes: bool,
    proper: bool,
}

/// A token cut in two.
#[derive(Clone, Copy)]
struct Cut {
    at: usize,
    symbols: [u32; 2],
    /// The tokens' indices; [`NONE`] for bytes.
    indices: [u32; 2],
}

impl Rules {
    /// The value of a pair, by which the lowest merges first; [`NONE`] if the pair does not merge.
    #[inline]
    pub(crate) fn value(&self, left: u32, right: u32) -> u32 {
        self.pairs.get(left, right)
    }

    /// The symbol that a pair of this value becomes.
    #[inline]
    pub(crate) fn product(&self, value: u32) -> u32 {
        if self.products.is_empty() { value } else { self.products[(value - FIRST) as usize] }
    }

    /// The two symbols whose merge makes this one; None for a byte. For proper vocabularies only.
    #[inline]
    pub(crate) fn parts(&self, symbol: u32) -> Option<[u32; 2]> {
        self.parts.get(symbol.wrapping_sub(FIRST) as usize).copied().filter(|parts| parts[0] != NONE)
    }

    /// The id of a symbol.
    #[inline]
    pub(crate) fn id(&self, symbol: u32) -> u32 {
        self.ids[symbol as usize]
    }

    /// The symbol of the token with this index; [`NONE`] if no merge makes it.
    #[inline]
    pub(crate) fn symbol(&self, index: usize) -> u32 {
        self.symbols[index]
    }

    /// Whether the argument above applies.
    pub(crate) fn is_proper(&self) -> bool {
        self.proper
    }

    /// Whether some byte has no token.
    #[inline]
    pub(crate) fn lacks_bytes(&self) -> bool {
        self.lacks_bytes
    }

    /// Whether two symbols are the encoding of their own bytes. For proper vocabularies only.
    ///
    /// Time: the depth of the merges that made the inner edges.
    #[inline]
    pub(crate) fn fit(&self, left: u32, right: u32) -> bool {
        fit(&self.pairs, &self.parts, left, right)
    }

    /// Compiles tokens whose ids are their ranks, and the index of the tokens.
    pub(super) fn of_ranks(tokens: &[&[u8]], ids: &[u32]) -> Result<(Tokens, Self)> {
        let mut rules = Self::with_bytes(tokens, ids)?;
        rules.pairs = PairTable::with_capacity(tokens.len());
        rules.parts.reserve(tokens.len());
        // Tokens that no cut makes in their turn.
        let mut unmade = Vec::new();
        let mut cuts = Vec::new();
        let columns = Tokens::new(tokens, ids, |columns, index, token, hashes| {
            if token.len() == 1 {
                return;
            }
            let symbol = rules.ids.len() as u32;
            rules.ids.push(ids[index as usize]);
            let Some([left, right]) = rules.cut_that_fits(columns, token, hashes, &mut cuts) else {
                unmade.push(index);
                rules.parts.push([NONE; 2]);
                return;
            };
            rules.pairs.insert(left, right, symbol);
            rules.parts.push([left, right]);
            rules.symbols[index as usize] = symbol;
        })?;
        let mut hashes = Hashes::default();
        if unmade.iter().any(|&index| has_a_higher_part(&columns, index, &mut hashes)) {
            rules = rules.with_all_cuts(&columns);
        }
        Ok((columns, rules))
    }

    /// Compiles a list of merges, as pairs of ids in rank order, for these tokens.
    pub(super) fn of_merges(columns: &Tokens, tokens: &[&[u8]], merges: &[(u32, u32)]) -> Result<Self> {
        let mut rules = Self::with_bytes(tokens, columns.ids())?;
        rules.pairs = PairTable::with_capacity(merges.len());
        let merges = resolve(columns, merges)?;
        rules.proper = rules.take_merges_in_turn(columns, &merges);
        if !rules.proper {
            rules.take_all_merges(columns, &merges);
        }
        Ok(rules)
    }

    fn with_bytes(tokens: &[&[u8]], ids: &[u32]) -> Result<Self> {
        if tokens.len() + FIRST as usize >= SYMBOLS {
            return Err(Error::new(Kind::Format, format!("{} tokens are too many", tokens.len()))
                .remedy(format!("use fewer than {}", SYMBOLS - FIRST as usize)));
        }
        let mut ids_of_symbols = vec![NO_ID; FIRST as usize];
        ids_of_symbols.reserve(tokens.len());
        let mut symbols = vec![NONE; tokens.len()];
        for ((&token, &id), symbol) in tokens.iter().zip(ids).zip(&mut symbols) {
            if let [byte] = *token {
                ids_of_symbols[usize::from(byte)] = id;
                *symbol = u32::from(byte);
            }
        }
        let lacks_bytes = ids_of_symbols.contains(&NO_ID);
        let (pairs, parts, products) = (PairTable::with_capacity(0), Vec::new(), Vec::new());
        Ok(Self { pairs, parts, products, ids: ids_of_symbols, symbols, lacks_bytes, proper: true })
    }

    /// The cut of a token into two symbols that fit, of which there is at most one.
    ///
    /// Tokens are first guessed by their hashes alone: a cut that fits and whose bytes are right is the one.
    fn cut_that_fits(&self, columns: &Tokens, token: &[u8], hashes: &Hashes, cuts: &mut Vec<Cut>) -> Option<[u32; 2]> {
        let guessed = self.first_that_fits(columns, token, hashes, cuts, |hash, _| columns.guess(hash));
        let is_token = |side: &[u8], index: u32| side.len() == 1 || columns.bytes_at(index as usize) == side;
        let right = |cut: &Cut| {
            let (left, right) = token.split_at(cut.at);
            is_token(left, cut.indices[0]) && is_token(right, cut.indices[1])
        };
        let cut = guessed
            .filter(right)
            .or_else(|| self.first_that_fits(columns, token, hashes, cuts, |hash, side| columns.find(hash, side)))?;
        Some(cut.symbols)
    }

    /// One of the cuts that fit; the one with the earliest parts is tried first, since it fits most often.
    fn first_that_fits(
        &self,
        columns: &Tokens,
        token: &[u8],
        hashes: &Hashes,
        cuts: &mut Vec<Cut>,
        find: impl Fn(u64, &[u8]) -> Option<u32>,
    ) -> Option<Cut> {
        let symbol = |side: &[u8], hash: u64| {
            if let [byte] = *side {
                return (self.ids[usize::from(byte)] != NO_ID).then_some((u32::from(byte), NONE));
            }
            let index = find(hash, side)?;
            let symbol = self.symbols[index as usize];
            (symbol != NONE).then_some((symbol, index))
        };
        cuts.clear();
        for at in 1..token.len() {
            let (before, after) = (hashes.before(at), hashes.after(at));
            if columns.may_hold(after) & columns.may_hold(before)
                && let Some(right) = symbol(&token[at..], after)
                && let Some(left) = symbol(&token[..at], before)
            {
                cuts.push(Cut { at, symbols: [left.0, right.0], indices: [left.1, right.1] });
            }
        }
        if cuts.len() > 1 {
            cuts.sort_unstable_by_key(|cut| cut.symbols[0].max(cut.symbols[1]));
        }
        // No pair that is there makes this token yet.
        cuts.iter().find(|cut| meet(&self.pairs, &self.parts, cut.symbols[0], cut.symbols[1])).copied()
    }

    /// The same tokens, with every cut of a token into two as a pair that merges into it.
    pub(super) fn with_all_cuts(mut self, columns: &Tokens) -> Self {
        self.proper = false;
        self.parts = Vec::new();
        let longer = (0..columns.ids().len()).filter(|&index| columns.bytes_at(index).len() > 1);
        for (symbol, index) in (FIRST..).zip(longer) {
            self.symbols[index] = symbol;
        }
        let mut hashes = Hashes::default();
        for index in 0..columns.ids().len() {
            columns.each_cut(columns.bytes_at(index), &mut hashes, |_, left, right| {
                self.pairs.insert(self.symbols[left as usize], self.symbols[right as usize], self.symbols[index]);
            });
        }
        self
    }

    /// Adds each merge that can happen when its turn comes; returns whether no other can.
    fn take_merges_in_turn(&mut self, columns: &Tokens, merges: &[[u32; 3]]) -> bool {
        let mut awaited = vec![false; columns.ids().len()];
        self.parts.reserve(merges.len());
        for &[left, right, product] in merges {
            let (l, r) = (self.symbols[left as usize], self.symbols[right as usize]);
            if l == NONE || r == NONE {
                awaited[left as usize] |= l == NONE;
                awaited[right as usize] |= r == NONE;
                continue;
            }
            if awaited[product as usize] || self.pairs.get(l, r) != NONE {
                return false;
            }
            if !meet(&self.pairs, &self.parts, l, r) {
                continue;
            }
            let symbol = self.ids.len() as u32;
            self.pairs.insert(l, r, symbol);
            self.parts.push([l, r]);
            self.ids.push(columns.ids()[product as usize]);
            self.symbols[product as usize] = symbol;
        }
        true
    }

    /// All merges in list order. Of a pair listed twice the later place counts, as in `tokenizers`.
    fn take_all_merges(&mut self, columns: &Tokens, merges: &[[u32; 3]]) {
        self.parts = Vec::new();
        self.pairs = PairTable::with_capacity(merges.len());
        self.ids.truncate(FIRST as usize);
        for (index, &id) in columns.ids().iter().enumerate() {
            if columns.bytes_at(index).len() > 1 {
                self.symbols[index] = self.ids.len() as u32;
                self.ids.push(id);
            }
        }
        for (value, &[left, right, product]) in (FIRST..).zip(merges) {
            self.pairs.insert(self.symbols[left as usize], self.symbols[right as usize], value);
            self.products.push(self.symbols[product as usize]);
        }
    }
}

/// Whether a cut of this token has a part that ranks above it.
fn has_a_higher_part(columns: &Tokens, index: u32, hashes: &mut Hashes) -> bool {
    let token = columns.bytes_at(index as usize);
    let mut found = false;
    columns.each_cut(token, hashes, |cut, left, right| {
        // Bytes are there from the start, whatever their ids.
        found |= cut > 1 && left > index || token.len() - cut > 1 && right > index;
    });
    found
}

/// Whether two symbols are the encoding of their own bytes, by the merges added so far.
///
/// The symbols that meet at the boundary go back in time: of the two the one made later is replaced by its part at the
/// boundary. While two symbols met, from when the later one was made until `limit`, their pair must not have merged. Of
/// merges of the same rank the leftmost is first: one left of the boundary goes before one across it, and that before
/// one right of it.
#[inline]
fn fit(pairs: &PairTable, parts: &[[u32; 2]], left: u32, right: u32) -> bool {
    pairs.get(left, right) == NONE && meet(pairs, parts, left, right)
}

/// Whether two symbols meet in the encoding of their bytes, merging with each other or not.
#[inline]
fn meet(pairs: &PairTable, parts: &[[u32; 2]], mut left: u32, mut right: u32) -> bool {
    loop {
        let limit = if left > right && left >= FIRST {
            let limit = left;
            left = parts[(left - FIRST) as usize][1];
            limit
        } else if right >= FIRST {
            let limit = right + 1;
            right = parts[(right - FIRST) as usize][0];
            limit
        } else {
            return true;
        };
        if pairs.get(left, right) < limit {
            return false;
        }
    }
}

/// Merges as indices: left, right, product.
fn resolve(columns: &Tokens, merges: &[(u32, u32)]) -> Result<Vec<[u32; 3]>> {
    if merges.len() + FIRST as usize >= VALUES {
        return Err(Error::new(Kind::Format, format!("{} merges are too many", merges.len()))
            .remedy(format!("use fewer than {}", VALUES - FIRST as usize)));
    }
    let mut joined = Vec::new();
    let resolved = merges.iter().enumerate().map(|(rank, &(left, right))| {
        let index = |id| {
            columns.index_of_id(id).ok_or_else(|| {
                let what = format!("merge {rank} ({left}, {right}) names id {id}, which is not a token");
                Error::new(Kind::Format, what)
            })
        };
        let (l, r) = (index(left)?, index(right)?);
        joined.clear();
        joined.extend_from_slice(columns.bytes_at(l));
        joined.extend_from_slice(columns.bytes_at(r));
        let Some(product) = columns.index_of_token(&joined) else {
            let shown = String::from_utf8_lossy(&joined);
            return Err(Error::new(Kind::Format, format!("merge {rank} makes {shown:?}, which is not a token"))
                .remedy("add the token to the vocabulary or remove the merge"));
        };
        Ok([l as u32, r as u32, product as u32])
    });
    resolved.collect()
}
