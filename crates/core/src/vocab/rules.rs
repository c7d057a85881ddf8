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
//! that has a cut with a part that ranks above it. If the parts meet once both are made, the cut merges out of turn.
//! Such a vocabulary is not proper, nor is a list of merges with a pair whose parts meet after its turn, or that is
//! listed twice. There all pairs are in the table, and only `naive` and `heap` are exact.
//!
//! Source: the README of the crate `bpe` (rust-gems) for fitting pairs; Berglund and van der Merwe, "Formalizing BPE
//! Tokenization", 2023, for merging in one pass over the ranks.
//!
//! Long because ranks and lists of merges become the same tables, which each step of either reads; an eighth of it is tests.

mod stored;

use crate::error::{Error, Kind, Result};
use crate::interrupt;
use crate::memory::{self, Room, filled, push};
use crate::prefetch::prefetch;
use crate::vocab::NO_ID;
use crate::vocab::cuts::Cuts;
use crate::vocab::hashes::{Hashes, hash, spread};
use crate::vocab::pair_table::{NONE, PairTable, SYMBOLS, VALUES};
use crate::vocab::tokens::Tokens;

/// The first symbol that is not a byte.
pub(crate) const FIRST: u32 = 256;

/// So many merges are resolved together, and so many tokens cut.
const TOGETHER: usize = 64;

/// So many merges before it is added, the memory for one is asked for.
const AHEAD: usize = 16;

/// Which pairs of symbols merge, and into what.
pub(crate) struct Rules {
    pairs: PairTable,
    /// The pair that makes symbol `FIRST + i`; `NONE` twice if none does. Empty if the vocabulary is not proper.
    parts: Vec<[u32; 2]>,
    /// The symbol that a pair of value `FIRST + i` makes; empty if values are symbols.
    products: Vec<u32>,
    /// The id of each symbol, [`NO_ID`] for a byte without a token; of the bytes alone if all others are their own ids, so that
    /// nothing is read for them.
    ids: Vec<u32>,
    /// The symbol of each token, by index; [`NONE`] for tokens that no merge makes.
    symbols: Vec<u32>,
    /// Whether some byte has no token.
    lacks_bytes: bool,
    proper: bool,
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
        self.ids.get(symbol as usize).copied().unwrap_or(symbol)
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
        rules.pairs = PairTable::with_capacity(tokens.len())?;
        rules.parts.room(tokens.len())?;
        // Tokens that no cut makes in their turn.
        let mut unmade = Vec::new();
        let (mut cuts, mut one) = (Cuts::default(), Hashes::default());
        let columns = Tokens::new(tokens, ids, |columns, rows, hashes| {
            for index in rows.clone().filter(|&index| tokens[index].len() > 1) {
                rules.symbols[index] = rules.ids.len() as u32;
                rules.ids.push(ids[index]);
            }
            cuts.find(columns, rows.clone(), hashes);
            rules.prepare(columns, &cuts);
            for (number, index) in rows.enumerate() {
                let token = tokens[index];
                if token.len() == 1 {
                    continue;
                }
                let pair = rules.guessed(columns, token, &cuts, number);
                let pair = pair.or_else(|| rules.searched(columns, token, index as u32, &mut one));
                if let Some([left, right]) = pair {
                    rules.pairs.insert(left, right, rules.symbols[index])?;
                } else {
                    rules.symbols[index] = NONE;
                    push(&mut unmade, index as u32)?;
                }
                rules.parts.push(pair.unwrap_or([NONE; 2]));
            }
            Ok(())
        })?;
        if unmade.iter().any(|&index| rules.is_made_out_of_turn(&columns, index, &mut one)) {
            rules = rules.with_all_cuts(&columns)?;
        }
        rules.settle();
        Ok((columns, rules))
    }

    /// Compiles a list of merges, as pairs of ids in rank order, for these tokens.
    pub(super) fn of_merges(columns: &Tokens, tokens: &[&[u8]], merges: &[(u32, u32)]) -> Result<Self> {
        let mut rules = Self::with_bytes(tokens, columns.ids())?;
        rules.pairs = PairTable::with_capacity(merges.len())?;
        let merges = resolve(columns, merges)?;
        rules.proper = rules.take_merges_in_turn(columns, &merges, 1)?.is_empty();
        if !rules.proper {
            rules.take_all_merges(columns, &merges)?;
        }
        rules.settle();
        Ok(rules)
    }

    /// Keeps no ids that are symbols.
    fn settle(&mut self) {
        if (FIRST..).zip(&self.ids[FIRST as usize..]).all(|(symbol, &id)| symbol == id) {
            self.ids.truncate(FIRST as usize);
            self.ids.shrink_to_fit();
        }
    }

    fn with_bytes(tokens: &[&[u8]], ids: &[u32]) -> Result<Self> {
        if tokens.len() + FIRST as usize >= SYMBOLS {
            return Err(Error::new(Kind::Format, format!("{} tokens are too many", tokens.len()))
                .remedy(format!("use fewer than {}", SYMBOLS - FIRST as usize)));
        }
        let mut ids_of_symbols = vec![NO_ID; FIRST as usize];
        ids_of_symbols.room(tokens.len())?;
        let mut symbols = filled(NONE, tokens.len())?;
        for ((&token, &id), symbol) in tokens.iter().zip(ids).zip(&mut symbols) {
            if let [byte] = *token {
                ids_of_symbols[usize::from(byte)] = id;
                *symbol = u32::from(byte);
            }
        }
        let lacks_bytes = ids_of_symbols.contains(&NO_ID);
        let (pairs, parts, products) = (PairTable::with_capacity(0)?, Vec::new(), Vec::new());
        Ok(Self { pairs, parts, products, ids: ids_of_symbols, symbols, lacks_bytes, proper: true })
    }

    /// Asks for what the choice among the best cuts reads, and adding their pairs.
    fn prepare(&self, columns: &Tokens, cuts: &Cuts) {
        for cut in cuts.best() {
            for side in cut.sides {
                prefetch(&self.symbols, side as usize);
                columns.prepare_range(side);
            }
        }
        for cut in cuts.best() {
            let symbols = cut.sides.map(|side| self.symbols[side as usize]);
            self.pairs.prepare(symbols[0], symbols[1]);
            for (side, symbol) in cut.sides.into_iter().zip(symbols) {
                prefetch(&self.parts, symbol.wrapping_sub(FIRST) as usize);
                columns.prepare_bytes(side);
            }
        }
    }

    /// The two symbols that a token consists of, if they are found by a guess: of cuts that fit there is at most one.
    #[inline]
    fn guessed(&self, columns: &Tokens, token: &[u8], cuts: &Cuts, number: usize) -> Option<[u32; 2]> {
        let best = cuts.best_of(number)?;
        let (cut, pair) = match self.symbols_that_fit(best.sides) {
            Some(pair) => (*best, pair),
            None => cuts.others(number).iter().find_map(|cut| Some((*cut, self.symbols_that_fit(cut.sides)?)))?,
        };
        let (left, right) = token.split_at(cut.place.at as usize);
        let is_token = |side: &[u8], index: u32| columns.bytes_at(index as usize) == side;
        (is_token(left, cut.sides[0]) && is_token(right, cut.sides[1])).then_some(pair)
    }

    /// The same by a search among all cuts into tokens that have lower ranks, and bytes.
    #[cold]
    fn searched(&self, columns: &Tokens, token: &[u8], index: u32, hashes: &mut Hashes) -> Option<[u32; 2]> {
        let mut pairs = Vec::new();
        columns.each_side(token, hashes, |at, [before, after]| {
            let (left, right) = token.split_at(at);
            let symbol = |side: &[u8], hash| match *side {
                // Bytes are there from the start, whatever their ranks.
                [byte] => (self.ids[usize::from(byte)] != NO_ID).then_some(u32::from(byte)),
                _ => columns.find(hash, side).filter(|&side| side < index).map(|side| self.symbols[side as usize]),
            };
            pairs.extend(symbol(left, before).zip(symbol(right, after)));
        });
        let fits = |&&(left, right): &&(u32, u32)| {
            left != NONE && right != NONE && meet(&self.pairs, &self.parts, left, right)
        };
        pairs.iter().find(fits).map(|&(left, right)| [left, right])
    }

    /// The symbols of two tokens, if both have one and they are the encoding of their own bytes; no pair that is there merges
    /// them.
    #[inline]
    fn symbols_that_fit(&self, sides: [u32; 2]) -> Option<[u32; 2]> {
        let [left, right] = sides.map(|side| self.symbols[side as usize]);
        (left != NONE && right != NONE && meet(&self.pairs, &self.parts, left, right)).then_some([left, right])
    }

    /// The same tokens, with every cut of a token into two as a pair that merges into it.
    pub(super) fn with_all_cuts(mut self, columns: &Tokens) -> Result<Self> {
        self.proper = false;
        self.parts = Vec::new();
        let longer = (0..columns.ids().len()).filter(|&index| columns.bytes_at(index).len() > 1);
        for (symbol, index) in (FIRST..).zip(longer) {
            self.symbols[index] = symbol;
        }
        let mut cuts = Cuts::default();
        for first in (0..columns.ids().len()).step_by(TOGETHER) {
            let tokens: Vec<&[u8]> =
                (first..columns.ids().len()).take(TOGETHER).map(|index| columns.bytes_at(index)).collect();
            cuts.each(columns, &tokens, |row, _, left, right| {
                let symbol = |index: usize| self.symbols[index];
                self.pairs.insert(symbol(left as usize), symbol(right as usize), symbol(first + row)).map(drop)
            })?;
        }
        Ok(self)
    }

    /// Whether the parts of some cut of this token meet, which no cut made in its turn: one of them ranks above the token.
    fn is_made_out_of_turn(&self, columns: &Tokens, index: u32, hashes: &mut Hashes) -> bool {
        let mut found = false;
        columns.each_cut(columns.bytes_at(index as usize), hashes, |_, left, right| {
            found |= self.symbols_that_fit([left, right]).is_some();
        });
        found
    }

    /// The merges that happen in turn, which are proper, and the tokens that others make, by index: of rules that are not proper.
    ///
    /// Time: that of looking up each cut of a token.
    pub(super) fn in_turn(&self, columns: &Tokens) -> Result<(Self, Vec<u32>)> {
        let tokens: Vec<&[u8]> = memory::collect((0..columns.ids().len()).map(|index| columns.bytes_at(index)))?;
        let (mut merges, mut hashes, mut result) = (Vec::new(), Hashes::default(), Ok(()));
        for (product, token) in (0..).zip(&tokens) {
            interrupt::check()?;
            columns.each_cut(token, &mut hashes, |_, left, right| {
                let value = self.value(self.symbols[left as usize], self.symbols[right as usize]);
                if value != NONE && result.is_ok() {
                    result = push(&mut merges, (value, [left, right, product]));
                }
            });
        }
        result?;
        merges.sort_unstable();
        let merges: Vec<[u32; 3]> = memory::collect(merges.into_iter().map(|(_, merge)| merge))?;
        let mut rules = Self::with_bytes(&tokens, columns.ids())?;
        rules.pairs = PairTable::with_capacity(merges.len())?;
        let others = rules.take_merges_in_turn(columns, &merges, usize::MAX)?;
        Ok((rules, others))
    }

    /// Adds each merge that can happen when its turn comes; returns the tokens that others make, and ends behind so many.
    fn take_merges_in_turn(&mut self, columns: &Tokens, merges: &[[u32; 3]], most: usize) -> Result<Vec<u32>> {
        let mut others = Vec::new();
        // Merges whose turn came before a part was made, in a list for each token: the last one, and of each the one before.
        let mut last = filled(NONE, columns.ids().len())?;
        let mut waiting: Vec<(u32, u32)> = Vec::new();
        self.parts.room(merges.len())?;
        for (rank, &[left, right, product]) in merges.iter().enumerate() {
            if others.len() >= most {
                break;
            }
            if let Some(&[left, right, _]) = merges.get(rank + AHEAD) {
                self.pairs.prepare(self.symbols[left as usize], self.symbols[right as usize]);
            }
            let (l, r) = (self.symbols[left as usize], self.symbols[right as usize]);
            if l == NONE || r == NONE {
                let unmade = if l == NONE { left } else { right } as usize;
                push(&mut waiting, (rank as u32, last[unmade]))?;
                last[unmade] = waiting.len() as u32 - 1;
                continue;
            }
            if self.pairs.get(l, r) != NONE {
                push(&mut others, product)?;
                continue;
            }
            if !meet(&self.pairs, &self.parts, l, r) {
                continue;
            }
            let symbol = self.ids.len() as u32;
            self.pairs.insert(l, r, symbol)?;
            self.parts.push([l, r]);
            push(&mut self.ids, columns.ids()[product as usize])?;
            self.symbols[product as usize] = symbol;
            // A merge that waited for this one comes out of turn, if its parts meet.
            let mut next = std::mem::replace(&mut last[product as usize], NONE);
            while next != NONE {
                let (rank, before) = waiting[next as usize];
                let [left, right, product] = merges[rank as usize];
                let unmade = [left, right].into_iter().find(|&side| self.symbols[side as usize] == NONE);
                if let Some(unmade) = unmade {
                    waiting[next as usize].1 = last[unmade as usize];
                    last[unmade as usize] = next;
                } else if self.symbols_that_fit([left, right]).is_some() {
                    push(&mut others, product)?;
                }
                next = before;
            }
        }
        Ok(others)
    }

    /// All merges in list order. Of a pair listed twice the later place counts, as in `tokenizers`.
    fn take_all_merges(&mut self, columns: &Tokens, merges: &[[u32; 3]]) -> Result<()> {
        self.parts = Vec::new();
        self.pairs = PairTable::with_capacity(merges.len())?;
        self.products.room(merges.len())?;
        self.ids.truncate(FIRST as usize);
        for (index, &id) in columns.ids().iter().enumerate() {
            if columns.bytes_at(index).len() > 1 {
                self.symbols[index] = self.ids.len() as u32;
                self.ids.push(id);
            }
        }
        for (value, &[left, right, product]) in (FIRST..).zip(merges) {
            self.pairs.insert(self.symbols[left as usize], self.symbols[right as usize], value)?;
            self.products.push(self.symbols[product as usize]);
        }
        Ok(())
    }
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
    while (left | right) >= FIRST {
        // Which of the two is the later one cannot be foreseen, so there is no branch.
        let (later, is_left) = (left.max(right), left > right);
        let [first, last] = parts[(later - FIRST) as usize];
        left = if is_left { last } else { left };
        right = if is_left { right } else { first };
        if pairs.get(left, right) < later + u32::from(!is_left) {
            return false;
        }
    }
    true
}

/// Merges as indices: left, right, product.
fn resolve(columns: &Tokens, merges: &[(u32, u32)]) -> Result<Vec<[u32; 3]>> {
    if merges.len() + FIRST as usize >= VALUES {
        return Err(Error::new(Kind::Format, format!("{} merges are too many", merges.len()))
            .remedy(format!("use fewer than {}", VALUES - FIRST as usize)));
    }
    let mut resolved = Vec::new();
    resolved.room(merges.len())?;
    let (mut joined, mut products) = (Vec::new(), Vec::new());
    // Each step asks for the memory that the next one reads.
    for (number, merges) in merges.chunks(TOGETHER).enumerate() {
        let first = number * TOGETHER;
        for (rank, &(left, right)) in (first..).zip(merges) {
            let index = |id| {
                columns.index_of_id(id).ok_or_else(|| {
                    let what = format!("merge {rank} ({left}, {right}) names id {id}, which is not a token");
                    Error::new(Kind::Format, what)
                })
            };
            let sides = [index(left)? as u32, index(right)? as u32];
            for side in sides {
                columns.prepare_range(side);
            }
            resolved.push([sides[0], sides[1], NONE]);
        }
        let resolved = &mut resolved[first..];
        for side in resolved.iter().flat_map(|merge| &merge[..2]) {
            columns.prepare_bytes(*side);
        }
        joined.clear();
        products.clear();
        for &[left, right, _] in &*resolved {
            let start = joined.len();
            joined.extend_from_slice(columns.bytes_at(left as usize));
            joined.extend_from_slice(columns.bytes_at(right as usize));
            let hash = spread(hash(&joined[start..]));
            columns.prepare(hash);
            products.push((start..joined.len(), hash));
        }
        for index in products.iter().filter_map(|&(_, hash)| columns.guess(hash)) {
            columns.prepare_range(index);
        }
        for (rank, (merge, (bytes, hash))) in (first..).zip(resolved.iter_mut().zip(&products)) {
            let bytes = &joined[bytes.clone()];
            merge[2] = columns.find_spread(*hash, bytes).ok_or_else(|| {
                let shown = String::from_utf8_lossy(bytes);
                Error::new(Kind::Format, format!("merge {rank} makes {shown:?}, which is not a token"))
                    .remedy("add the token to the vocabulary or remove the merge")
            })?;
        }
    }
    Ok(resolved)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// The two parts that merging tokens of lower ranks leaves of token `own`: the definition.
    fn parts_left(tokens: &[&[u8]], own: usize) -> Option<[Vec<u8>; 2]> {
        let mut parts: Vec<Vec<u8>> = tokens[own].iter().map(|&byte| vec![byte]).collect();
        while parts.len() > 2 {
            let rank = |at: &usize| tokens[..own].iter().position(|token| *token == parts[*at..=*at + 1].concat());
            let at = (0..parts.len() - 1).filter(|at| rank(at).is_some()).min_by_key(|at| (rank(at), *at))?;
            let right = parts.remove(at + 1);
            parts[at].extend(right);
        }
        parts.try_into().ok()
    }

    #[test]
    fn each_token_is_made_by_the_pair_that_merging_leaves() {
        let mut seed = 5_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let (mut proper, mut unmade) = (0, 0);
        for round in 0..120 {
            // Bytes first, as usual, or anywhere; tokens of earlier ones, in one batch and in several.
            let mut tokens: Vec<Vec<u8>> = (b'a'..b'd').map(|byte| vec![byte]).collect();
            for _ in 0..4 + random(150) {
                let mut token = tokens[random(tokens.len())].clone();
                token.extend_from_slice(&tokens[random(tokens.len())]);
                if token.len() < 12 && !tokens.contains(&token) {
                    tokens.push(token);
                }
            }
            for _ in 0..[0, 0, 1, 3][round % 4] {
                let (one, other) = (random(tokens.len()), random(tokens.len()));
                tokens.swap(one, other);
            }
            let tokens: Vec<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
            let ids: Vec<u32> = (0..tokens.len() as u32).collect();
            let (columns, rules) = Rules::of_ranks(&tokens, &ids).unwrap();
            if !rules.is_proper() {
                continue;
            }
            proper += 1;
            for index in (0..tokens.len()).filter(|&index| tokens[index].len() > 1) {
                let bytes_of = |symbol: u32| match u8::try_from(symbol) {
                    Ok(byte) => vec![byte],
                    Err(_) => columns.bytes_at(rules.id(symbol) as usize).to_vec(),
                };
                let made = rules.symbol(index) != NONE;
                let parts = made.then(|| rules.parts(rules.symbol(index)).unwrap().map(bytes_of));
                assert_eq!(parts, parts_left(&tokens, index), "{index} {tokens:?}");
                unmade += usize::from(!made);
            }
        }
        assert!(proper > 25 && unmade > 60, "{proper} {unmade}");
    }
}
