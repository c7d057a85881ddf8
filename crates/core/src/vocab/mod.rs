//! A compiled vocabulary: tokens, ids, and the merge of each adjacent pair. Immutable.
//!
//! Compiling needs merging where a vocabulary is not proper: `merge::compile` has [`Vocab::new`].
//!
//! Long because the tables of one vocabulary are made, stored, read and asked for in one place.

mod adjacent;
mod characters;
mod cuts;
mod endings;
mod fits;
mod hashes;
mod pair_table;
mod rules;
mod tokens;
mod whole_tokens;

use std::sync::OnceLock;

use crate::error::Result;
use crate::interrupt;
use crate::memory;
use crate::stored::{Stored, Writer};

pub(crate) use adjacent::{Adjacent, Splits};
use characters::Characters;
pub(crate) use cuts::Cuts;
pub(crate) use endings::Endings;
pub(crate) use fits::Fits;
pub(crate) use hashes::Rolling;
pub(crate) use pair_table::{NONE, NOTHING};
pub(crate) use rules::{FIRST, Rules};
pub(crate) use tokens::{Candidates, Tokens};
pub(crate) use whole_tokens::{LONGEST as LONGEST_WHOLE, WholeTokens};

/// An id that no token has: "none".
pub const NO_ID: u32 = u32::MAX;

/// The merge of an adjacent pair of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// Lower ranks merge first; pairs that never merge have none.
    pub rank: u32,
    /// The id of the token that the pair becomes.
    pub id: u32,
}

/// How the merges of a piece are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// Any adjacent pair whose concatenation is a token merges; the id is the rank (tiktoken).
    Ranks,
    /// Only listed pairs `(left id, right id)` merge, ranked by their place in the list (GPT-2, tokenizers).
    Merges {
        /// The list, in rank order.
        pairs: Vec<(u32, u32)>,
        /// Whether a piece that is a token becomes that token even if no merges make it.
        ignore_merges: bool,
    },
}

/// Tokens, ids and merges of one model.
///
/// ```
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 7], Semantics::Ranks)?;
/// assert_eq!(vocab.token_id(b"ab"), Some(7));
/// assert_eq!(vocab.token_bytes(7), Some(&b"ab"[..]));
/// assert_eq!(vocab.token_bytes(2), None);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub struct Vocab {
    tokens: Tokens,
    rules: Rules,
    characters: Characters,
    /// Whether token `i`, as a whole piece, is its own encoding; none if all are.
    whole: Option<Vec<bool>>,
    whole_tokens: WholeTokens,
    /// Made when a text grows for the first time.
    endings: OnceLock<Endings>,
    /// Which symbols fit, of vocabularies that are not proper.
    fits: OnceLock<Fits>,
    /// Made when a piece is first to be taken apart.
    splits: OnceLock<Splits>,
    /// Tokens that stand for several ids, in vocabularies of characters.
    beginnings: Option<Beginnings>,
}

/// Tokens for the first bytes of characters, and the ids that replace them in the output (`model::OnBytes`).
pub(crate) struct Beginnings {
    /// The first of their ids, which are above all others.
    pub(crate) first: u32,
    /// The ids of the bytes of each, [`NO_ID`] behind the last.
    pub(crate) bytes: Vec<[u32; 3]>,
}

impl Vocab {
    /// The part of [`Vocab::new`] without merging. For vocabularies that are not proper, `encodes_to_itself` reports whether
    /// merging the bytes of token `index` yields that token.
    pub(crate) fn compiled(
        tokens: &[&[u8]],
        ids: &[u32],
        semantics: Semantics,
        encodes_to_itself: impl Fn(&Self, usize) -> bool,
    ) -> Result<Self> {
        match semantics {
            Semantics::Ranks => {
                let (tokens, rules) = Rules::of_ranks(tokens, ids)?;
                Self::of_rules(tokens, rules)?.completed()
            }
            Semantics::Merges { pairs, ignore_merges } => {
                let columns = Tokens::new(tokens, ids, |_, _, _| Ok(()))?;
                let rules = Rules::of_merges(&columns, tokens, &pairs)?;
                let mut vocab = Self::of_rules(columns, rules)?;
                if !ignore_merges {
                    let mut whole = memory::filled(false, vocab.len())?;
                    for (index, whole) in whole.iter_mut().enumerate() {
                        interrupt::check()?;
                        *whole = if vocab.rules.is_proper() {
                            vocab.rules.symbol(index) != NONE
                        } else {
                            encodes_to_itself(&vocab, index)
                        };
                    }
                    vocab.whole = Some(whole);
                }
                vocab.completed()
            }
        }
    }

    fn of_rules(tokens: Tokens, rules: Rules) -> Result<Self> {
        let characters = if rules.is_proper() {
            let made = (0..tokens.ids().len()).map(|index| (rules.symbol(index), tokens.bytes_at(index)));
            Characters::new(made.filter(|&(symbol, _)| symbol != NONE))?
        } else {
            Characters::none()
        };
        Self::of_parts(tokens, rules, characters)
    }

    fn of_parts(tokens: Tokens, rules: Rules, characters: Characters) -> Result<Self> {
        Ok(Self {
            tokens,
            rules,
            characters,
            whole: None,
            whole_tokens: WholeTokens::new(&[], std::iter::empty())?,
            endings: OnceLock::new(),
            fits: OnceLock::new(),
            splits: OnceLock::new(),
            beginnings: None,
        })
    }

    /// The same with its table of whole tokens.
    fn completed(mut self) -> Result<Self> {
        let taken = |index: &usize| self.whole.as_ref().is_none_or(|whole| whole[*index]);
        let wholes = (0..self.len()).filter(taken).map(|index| (self.tokens.range_of(index), self.ids()[index]));
        self.whole_tokens = WholeTokens::new(self.all_bytes(), wholes)?;
        Ok(self)
    }

    /// Its tables, for [`Vocab::of_stored`]; `owner` is what they are the tables of.
    ///
    /// Not for vocabularies with tokens for the first bytes of characters.
    ///
    /// # Errors
    /// `Memory`.
    pub fn store(&self, owner: &[u8]) -> Result<Vec<u8>> {
        let mut writer = Writer::new();
        writer.items(&[u64::from(self.takes_all_whole())]);
        self.tokens.store(&mut writer);
        self.rules.store(&mut writer);
        self.characters.store(&mut writer);
        writer.items(&memory::collect(self.whole.iter().flatten().map(|&whole| u8::from(whole)))?);
        self.whole_tokens.store(&mut writer);
        writer.finish(owner)
    }

    /// The vocabulary whose tables were stored, from its columns, of which token `i` is `bytes[ends[i - 1]..ends[i]]`.
    /// `takes_all_whole` is whether a piece that is a token becomes it even if no merges make it; None if the tables are those
    /// of a vocabulary that differs in this.
    ///
    /// The checks leave no table of which a look-up does not end, a symbol is not as long as its parts together, or an id is
    /// that of no token. They do not prove which tokens a text becomes.
    ///
    /// Time: one pass over tables and tokens.
    ///
    /// # Errors
    /// `Format`, if they are not the tables of such a vocabulary.
    pub fn of_stored(
        bytes: &[u8],
        ends: &[usize],
        ids: &[u32],
        takes_all_whole: bool,
        stored: &Stored,
    ) -> Result<Option<Self>> {
        let reader = &mut stored.reader();
        if (reader.exactly::<u64>(1)?[0] == 1) != takes_all_whole {
            return Ok(None);
        }
        let tokens = Tokens::of_stored(bytes, ends, ids, reader)?;
        let (rules, lengths) = Rules::of_stored(&tokens, reader)?;
        let characters = Characters::of_stored(reader, &lengths)?;
        let whole = reader.exactly::<u8>(if takes_all_whole { 0 } else { ids.len() })?;
        let whole = (!takes_all_whole).then(|| memory::collect(whole.iter().map(|&whole| whole == 1))).transpose()?;
        let whole_tokens = WholeTokens::of_stored(reader, &tokens)?;
        Ok(Some(Self { whole, whole_tokens, ..Self::of_parts(tokens, rules, characters)? }))
    }

    /// A vocabulary of ranks with every cut of every token as a pair, whether it is proper or not: the definition.
    #[cfg(test)]
    pub(crate) fn with_all_cuts(tokens: &[&[u8]], ids: &[u32]) -> Result<Self> {
        let (tokens, rules) = Rules::of_ranks(tokens, ids)?;
        let rules = rules.with_all_cuts(&tokens)?;
        Self::of_rules(tokens, rules)?.completed()
    }

    /// The same with tokens for the first bytes of characters.
    pub(crate) fn with_beginnings(self, beginnings: Beginnings) -> Self {
        Self { beginnings: Some(beginnings), ..self }
    }

    /// Whether the token at an index is one for the first bytes of characters.
    pub(crate) fn is_beginning(&self, index: usize) -> bool {
        self.beginnings.as_ref().is_some_and(|beginnings| self.ids()[index] >= beginnings.first)
    }

    /// Replaces tokens for the first bytes of characters by the ids of these bytes, in `ids[from..]`.
    #[inline]
    pub(crate) fn expand(&self, ids: &mut Vec<u32>, from: usize) {
        if let Some(beginnings) = &self.beginnings {
            beginnings.expand(ids, from);
        }
    }

    /// The merges.
    #[inline]
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The merges that happen in turn, which are proper, and the tokens that others make, by index: of a vocabulary that is
    /// not proper.
    pub(crate) fn rules_in_turn(&self) -> Result<(Rules, Vec<u32>)> {
        self.rules.in_turn(&self.tokens)
    }

    /// The characters that merging can begin with.
    #[inline]
    pub(crate) fn characters(&self) -> &Characters {
        &self.characters
    }

    /// The tokens by their bytes.
    #[inline]
    pub(crate) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The tokens by their ends.
    pub(crate) fn endings(&self) -> &Endings {
        self.endings.get_or_init(|| Endings::new(&self.tokens))
    }

    /// The symbols that are known to fit or not; of vocabularies that are not proper.
    #[inline]
    pub(crate) fn fits(&self) -> &Fits {
        self.fits.get_or_init(Fits::new)
    }

    /// Where pieces can be taken apart; `make` finds it out once.
    #[inline]
    pub(crate) fn splits_or(&self, make: impl FnOnce(&Self) -> Splits) -> &Splits {
        self.splits.get_or_init(|| make(self))
    }

    /// Whether a piece that is a token is taken whole even if merging does not make it.
    pub(crate) fn takes_all_whole(&self) -> bool {
        self.whole.is_none()
    }

    /// How many ids stand for a symbol in the output.
    #[inline]
    pub(crate) fn ids_of_symbol(&self, symbol: u32) -> u32 {
        self.beginnings.as_ref().map_or(1, |beginnings| beginnings.ids_of(self.rules.id(symbol)))
    }

    /// Token `index`, in id order.
    pub(crate) fn token_at(&self, index: usize) -> &[u8] {
        self.tokens.bytes_at(index)
    }

    /// All tokens, one after another.
    pub(crate) fn all_bytes(&self) -> &[u8] {
        self.tokens.all_bytes()
    }

    /// The tokens that a piece may become without merging.
    #[inline]
    pub(crate) fn whole_tokens(&self) -> &WholeTokens {
        &self.whole_tokens
    }

    /// Whether each token that merges make is made by one pair, in every text: the condition of the linear encoders.
    ///
    /// ```
    /// use bytepair_core::vocab::{Semantics, Vocab};
    /// let tokens: [&[u8]; 4] = [b"a", b"b", b"ab", b"abab"];
    /// assert!(Vocab::new(&tokens, &[0, 1, 2, 3], Semantics::Ranks)?.is_proper());
    /// let tokens: [&[u8]; 4] = [b"a", b"b", b"aab", b"aa"];
    /// assert!(!Vocab::new(&tokens, &[0, 1, 2, 3], Semantics::Ranks)?.is_proper());
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    #[must_use]
    pub fn is_proper(&self) -> bool {
        self.rules.is_proper()
    }

    /// The bytes of the longest token.
    pub(crate) fn longest(&self) -> usize {
        self.tokens.longest()
    }

    /// The number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids().len()
    }

    /// Whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids().is_empty()
    }

    /// The ids, ascending.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        self.tokens.ids()
    }

    /// The bytes of the token with this id, if there is one.
    #[must_use]
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.tokens.index_of_id(id).map(|index| self.tokens.bytes_at(index))
    }

    /// The bytes of the token of an id; 0 if there is none.
    #[inline]
    pub(crate) fn length_of_id(&self, id: u32) -> usize {
        self.tokens.length_of_id(id)
    }

    /// The index of the token with this id, in id order.
    #[inline]
    pub(crate) fn index_of_id(&self, id: u32) -> Option<usize> {
        self.tokens.index_of_id(id)
    }

    /// The id of a token, if these bytes are one.
    #[must_use]
    pub fn token_id(&self, token: &[u8]) -> Option<u32> {
        self.tokens.index_of_token(token).map(|index| self.ids()[index])
    }

    /// The id of the token that is this one byte, or [`NO_ID`].
    #[inline]
    #[must_use]
    pub fn byte_id(&self, byte: u8) -> u32 {
        self.rules.id(u32::from(byte))
    }

    /// The merge of an adjacent pair of ids; None also if the two are never adjacent when their turn comes.
    #[must_use]
    pub fn merge(&self, left: u32, right: u32) -> Option<Merge> {
        let value = self.rules.value(self.symbol_of(left)?, self.symbol_of(right)?);
        (value != NONE).then(|| Merge { rank: value - FIRST, id: self.rules.id(self.rules.product(value)) })
    }

    /// The symbol of the token with this id, if merges make it.
    pub(crate) fn symbol_of(&self, id: u32) -> Option<u32> {
        let index = self.tokens.index_of_id(id)?;
        Some(self.rules.symbol(index)).filter(|&symbol| symbol != NONE)
    }

    /// The id of a piece that is a token, unless merging is known to yield the same id.
    pub(crate) fn whole_without_merges(&self, piece: &[u8]) -> Option<u32> {
        let index = self.tokens.index_of_token(piece)?;
        let merged = self.rules.is_proper() && self.rules.symbol(index) != NONE;
        (self.whole.is_none() && !merged).then(|| self.ids()[index])
    }

    /// The id of a piece that is a token and needs no merging.
    #[inline]
    #[must_use]
    pub fn whole(&self, piece: &[u8]) -> Option<u32> {
        let index = self.tokens.index_of_token(piece)?;
        self.whole.as_ref().is_none_or(|whole| whole[index]).then(|| self.ids()[index])
    }
}

impl Beginnings {
    /// How many ids stand for one.
    fn ids_of(&self, id: u32) -> u32 {
        let bytes = id.checked_sub(self.first).and_then(|number| self.bytes.get(number as usize));
        bytes.map_or(1, |bytes| bytes.iter().filter(|&&id| id != NO_ID).count() as u32)
    }

    fn expand(&self, ids: &mut Vec<u32>, from: usize) {
        let Some(first) = ids.iter().skip(from).position(|&id| id >= self.first) else { return };
        for id in ids.split_off(from + first) {
            match id.checked_sub(self.first).and_then(|number| self.bytes.get(number as usize)) {
                None => ids.push(id),
                Some(bytes) => ids.extend(bytes.iter().filter(|&&id| id != NO_ID)),
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn what(tokens: &[&[u8]], ids: &[u32], semantics: Semantics) -> String {
        Vocab::new(tokens, ids, semantics).err().unwrap().what.to_string()
    }

    #[test]
    fn faults_are_named() {
        assert!(what(&[b"a", b""], &[0, 1], Semantics::Ranks).contains("id 1 is empty"));
        assert!(what(&[b"a", b"a"], &[0, 1], Semantics::Ranks).contains("two ids, 0 and 1"));
        assert!(what(&[b"a", b"b"], &[4, 4], Semantics::Ranks).contains("id 4 occurs twice"));
        let merges = |pairs| Semantics::Merges { pairs, ignore_merges: false };
        assert!(what(&[b"a", b"b"], &[0, 1], merges(vec![(0, 9)])).contains("names id 9"));
        assert!(what(&[b"a", b"b"], &[0, 1], merges(vec![(0, 1)])).contains("\"ab\", which is not a token"));
    }

    #[test]
    fn a_huge_id_is_found() {
        let vocab = Vocab::new(&[b"a", b"b"], &[3, NO_ID - 1], Semantics::Ranks).unwrap();
        assert_eq!(vocab.token_bytes(NO_ID - 1), Some(&b"b"[..]));
        assert_eq!(vocab.token_bytes(NO_ID), None);
    }

    #[test]
    fn a_token_that_merges_cannot_reach_is_not_taken_whole() {
        let pairs = vec![(1, 2)];
        let tokens: [&[u8]; 5] = [b"a", b"b", b"c", b"bc", b"ab"];
        let strict = Semantics::Merges { pairs: pairs.clone(), ignore_merges: false };
        let vocab = Vocab::new(&tokens, &[0, 1, 2, 3, 4], strict).unwrap();
        assert_eq!((vocab.whole(b"bc"), vocab.whole(b"ab")), (Some(3), None));
        let ignoring = Semantics::Merges { pairs, ignore_merges: true };
        let vocab = Vocab::new(&tokens, &[0, 1, 2, 3, 4], ignoring).unwrap();
        assert_eq!(vocab.whole(b"ab"), Some(4));
    }
}
