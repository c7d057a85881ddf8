//! The vocabulary, compiled: tokens, ids, and what each adjacent pair merges into. Immutable.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use crate::error::{Error, Kind, Result};
use crate::merge::{Merger, Scratch};

/// The id that no token has: it stands for "there is none".
pub const NO_ID: u32 = u32::MAX;

/// What an adjacent pair of ids becomes, and how early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// Lower ranks merge first.
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
        /// Whether a piece that is a token is taken whole, even if no merges lead to it.
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
    /// All tokens, one after another, in id order.
    bytes: Vec<u8>,
    /// Token `i` is `bytes[ends[i - 1]..ends[i]]`.
    ends: Vec<u32>,
    /// The id of token `i`, ascending.
    ids: Vec<u32>,
    /// Index of each id below its length; ids beyond it are searched for, so that one huge id costs no memory.
    index_of_id: Vec<u32>,
    /// Indices, found by the hash of their token's bytes.
    index_of_bytes: HashTable<u32>,
    id_of_byte: [u32; 256],
    pairs: FxHashMap<(u32, u32), Merge>,
    /// Whether token `i`, as a whole piece, is its own encoding.
    whole: Vec<bool>,
}

impl Vocab {
    /// Compiles a vocabulary from parallel columns of tokens and ids.
    ///
    /// # Errors
    /// `Format`, if an id or a token occurs twice, ids do not ascend, a token is empty, or a merge names an id that is
    /// not there or makes bytes that are not a token.
    pub fn new(tokens: &[&[u8]], ids: &[u32], semantics: Semantics) -> Result<Self> {
        let mut vocab = Self::with_tokens(tokens, ids)?;
        match semantics {
            Semantics::Ranks => {
                vocab.pair_all_tokens();
                vocab.whole = vec![true; ids.len()];
            }
            Semantics::Merges { pairs, ignore_merges } => {
                vocab.pair_listed_merges(&pairs)?;
                vocab.whole =
                    if ignore_merges { vec![true; ids.len()] } else { vocab.tokens_that_encode_to_themselves() };
            }
        }
        Ok(vocab)
    }

    fn with_tokens(tokens: &[&[u8]], ids: &[u32]) -> Result<Self> {
        if tokens.len() != ids.len() {
            return Err(Error::new(Kind::Format, format!("{} tokens but {} ids", tokens.len(), ids.len())));
        }
        let total: usize = tokens.iter().map(|token| token.len()).sum();
        if u32::try_from(total).is_err() {
            return Err(Error::new(Kind::Format, "the tokens are longer than 4 GiB together"));
        }
        let dense = ids.len() * 2 + 65_536;
        let mut vocab = Self {
            bytes: Vec::with_capacity(total),
            ends: Vec::with_capacity(tokens.len()),
            ids: ids.to_vec(),
            index_of_id: vec![NO_ID; dense.min(ids.last().map_or(0, |&id| id as usize + 1))],
            index_of_bytes: HashTable::with_capacity(tokens.len()),
            id_of_byte: [NO_ID; 256],
            pairs: FxHashMap::default(),
            whole: Vec::new(),
        };
        let mut below = None;
        for (index, (&token, &id)) in (0..).zip(tokens.iter().zip(ids)) {
            if token.is_empty() {
                return Err(Error::new(Kind::Format, format!("the token with id {id} is empty")));
            }
            if id == NO_ID || below.is_some_and(|below| below >= id) {
                return Err(Error::new(Kind::Format, format!("id {id} occurs twice, is out of order or too large")));
            }
            below = Some(id);
            if let Some(first) = vocab.token_id(token) {
                let shown = String::from_utf8_lossy(token);
                return Err(Error::new(Kind::Format, format!("the token {shown:?} has two ids, {first} and {id}"))
                    .remedy("keep one of them; an id must stand for one token and a token for one id"));
            }
            if let [byte] = *token {
                vocab.id_of_byte[usize::from(byte)] = id;
            }
            if let Some(slot) = vocab.index_of_id.get_mut(id as usize) {
                *slot = index;
            }
            vocab.bytes.extend_from_slice(token);
            vocab.ends.push(vocab.bytes.len() as u32);
            // There is room for all of them, so that nothing is hashed again.
            vocab.index_of_bytes.insert_unique(hash(token), index, |_| 0);
        }
        Ok(vocab)
    }

    /// Every way to cut a token into two tokens is a pair that merges into it.
    fn pair_all_tokens(&mut self) {
        for index in 0..self.ids.len() {
            let id = self.ids[index];
            let token = self.token_at(index);
            let cuts: Vec<_> = (1..token.len())
                .filter_map(|cut| Some((self.token_id(&token[..cut])?, self.token_id(&token[cut..])?)))
                .collect();
            for pair in cuts {
                self.pairs.insert(pair, Merge { rank: id, id });
            }
        }
    }

    fn pair_listed_merges(&mut self, pairs: &[(u32, u32)]) -> Result<()> {
        self.pairs.reserve(pairs.len());
        let mut joined = Vec::new();
        for (rank, &(left, right)) in pairs.iter().enumerate() {
            let unknown = |id| {
                Error::new(Kind::Format, format!("merge {rank} ({left}, {right}) names id {id}, which is not a token"))
            };
            joined.clear();
            joined.extend_from_slice(self.token_bytes(left).ok_or_else(|| unknown(left))?);
            joined.extend_from_slice(self.token_bytes(right).ok_or_else(|| unknown(right))?);
            let Some(id) = self.token_id(&joined) else {
                let shown = String::from_utf8_lossy(&joined);
                return Err(Error::new(Kind::Format, format!("merge {rank} makes {shown:?}, which is not a token"))
                    .remedy("add the token to the vocabulary or remove the merge"));
            };
            // A pair listed twice counts as `tokenizers` counts it: the later place stands.
            self.pairs.insert((left, right), Merge { rank: rank as u32, id });
        }
        Ok(())
    }

    fn tokens_that_encode_to_themselves(&self) -> Vec<bool> {
        let mut scratch = Scratch::default();
        let mut ids = Vec::new();
        (0..self.ids.len())
            .map(|index| {
                ids.clear();
                let token = self.token_at(index);
                Merger::for_length(token.len()).merge(self, token, &mut scratch, &mut ids).is_ok()
                    && ids == [self.ids[index]]
            })
            .collect()
    }

    fn token_at(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.bytes[start..self.ends[index] as usize]
    }

    fn index(&self, id: u32) -> Option<usize> {
        match self.index_of_id.get(id as usize) {
            Some(&NO_ID) => None,
            Some(&index) => Some(index as usize),
            None => self.ids.binary_search(&id).ok(),
        }
    }

    /// The number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no token at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The ids, ascending.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The bytes of a token, if there is one with this id.
    #[must_use]
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.index(id).map(|index| self.token_at(index))
    }

    /// The id of a token, if these bytes are one.
    #[must_use]
    pub fn token_id(&self, token: &[u8]) -> Option<u32> {
        self.index_of_token(token).map(|index| self.ids[index])
    }

    fn index_of_token(&self, token: &[u8]) -> Option<usize> {
        let found = self.index_of_bytes.find(hash(token), |&index| self.token_at(index as usize) == token);
        found.map(|&index| index as usize)
    }

    /// The id of the token that is this one byte, or [`NO_ID`].
    #[inline]
    #[must_use]
    pub fn byte_id(&self, byte: u8) -> u32 {
        self.id_of_byte[usize::from(byte)]
    }

    /// What an adjacent pair of ids merges into.
    #[inline]
    #[must_use]
    pub fn merge(&self, left: u32, right: u32) -> Option<Merge> {
        self.pairs.get(&(left, right)).copied()
    }

    /// The id of a piece that is a token and may be taken whole without merging.
    #[inline]
    #[must_use]
    pub fn whole(&self, piece: &[u8]) -> Option<u32> {
        self.index_of_token(piece).filter(|&index| self.whole[index]).map(|index| self.ids[index])
    }
}

impl Vocab {
    /// The tokens that may be taken whole without merging, and their ids.
    pub(crate) fn wholes(&self) -> impl Iterator<Item = (&[u8], u32)> + Clone {
        let taken = |&index: &usize| self.whole[index];
        (0..self.ids.len()).filter(taken).map(|index| (self.token_at(index), self.ids[index]))
    }
}

fn hash(token: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(token);
    hasher.finish()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn what(tokens: &[&[u8]], ids: &[u32], semantics: Semantics) -> String {
        Vocab::new(tokens, ids, semantics).err().unwrap().what
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
    fn a_huge_id_costs_no_memory() {
        let vocab = Vocab::new(&[b"a", b"b"], &[3, NO_ID - 1], Semantics::Ranks).unwrap();
        assert!(vocab.index_of_id.len() < 100_000);
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
