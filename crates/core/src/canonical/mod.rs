//! Which sequences of ids begin the encoding of some text, and which ids go on with it.
//!
//! T is the encoding in which added tokens are text. A sequence is *live* if T(x) begins with it for some text x. It need not
//! be a whole encoding: its last bytes may be a part of a character, and its last piece may end only with text to come.
//!
//! # How it is decided
//!
//! T(x) is made of the tokens of each piece of x, and (`merge::fit`) the tokens of a piece are its encoding exactly if each
//! two neighbours fit, unless the piece is a token that is taken whole. So a sequence begins T(x) exactly if
//!
//! - no token crosses an end of a piece of x,
//! - neighbours within a piece fit, and no piece of several tokens is one that is taken whole.
//!
//! Where pieces end depends on the text to come. `State` holds all that matters of it: the scan of the piece that is open, and
//! for the case that it turns out to have ended before, the scan of the next piece, and so on (`scans`). So whether more
//! tokens can follow is a question about states and last tokens alone, of which there are finitely many: a state is live if
//! the text may end there, or if a token leads to a live one.
//!
//! The texts are those that the stages before the model leave as they are: a normal form is followed character by character
//! (`normalize::Tail`), patterns before the last one by their walls (`split::States`). A model of characters does the same over
//! bytes (`spelling`).
//!
//! Source: for prefixes of encodings and covers, Vieira et al., "From Language Models over Tokens to Language Models over
//! Characters", 2024; for canonical sequences of byte pairs, Berglund and van der Merwe, "Formalizing BPE Tokenization",
//! 2023. That the ends of pieces are followed as well, so that a sequence is live for the tokenizer and not for its merges
//! alone, is bytepair's.

mod cover;
mod fitting;
mod heal;
mod in_turn;
mod masks;
mod scans;
mod spelling;

use std::borrow::Cow;
use std::hash::Hash;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

pub use self::cover::{Cover, Stem};
use self::fitting::Partners;
pub use self::heal::Healing;
use self::in_turn::InTurn;
use self::masks::{Masks, put};
use self::scans::{Beginning, Key, State, Texts, Token, Way, Ways, has_way};
use self::spelling::{Spelling, is_part, spaced};
use crate::error::{Error, Kind, Result};
use crate::interrupt;
use crate::memory;
use crate::merge::{FitBuffers, fit};
use crate::normalize::Normalizer;
use crate::pipeline::Tokenizer;
use crate::split::{States, Symbol};
use crate::trie::Trie;
use crate::vocab::{NONE, Vocab};

/// Ids of a larger vocabulary would need masks of more than 8 MB.
const MOST_IDS: u64 = 1 << 26;

/// Answers about states that are kept.
const MOST_ANSWERS: usize = 1 << 16;

/// The tables that decide which sequences of a tokenizer are live: made once for a tokenizer, shared by threads.
pub struct Canonical {
    /// The tokens by their index in the vocabulary.
    trie: Trie,
    /// Whether merging the bytes of each token makes it.
    made: Vec<bool>,
    /// The tokens that are not made by merging, if a piece that is a token is always that token.
    wholes: Option<Trie>,
    spelling: Option<Spelling>,
    /// The merges in turn of a vocabulary that is not proper.
    in_turn: Option<InTurn>,
    partners: Partners,
    /// The tokens that may lack the normal form, or go on with what the text before them ends in.
    joining: Vec<usize>,
    masks: Mutex<Masks>,
    /// Whether states after a last token are live, of those that a text cannot end in.
    answers: Mutex<FxHashMap<(Key, u32), bool>>,
    /// Whether some text can follow, whatever its tokens; and the bytes of the character that is not whole.
    ways: Mutex<FxHashMap<(Ways, Beginning), bool>>,
    symbols: Vec<Symbol>,
    /// The symbols of the characters with a beginning.
    beginnings: Mutex<FxHashMap<Beginning, Arc<[Symbol]>>>,
}

/// The inputs of a call: the tokenizer's parts, and buffers.
struct Reader<'a> {
    of: &'a Canonical,
    vocab: &'a Vocab,
    texts: Texts<'a>,
    buffers: FitBuffers,
}

fn open<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics with the lock held; what is kept there is right in any case.
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps an answer; all others go if there are too many.
fn keep<K: Eq + Hash>(answers: &Mutex<FxHashMap<K, bool>>, question: K, answer: bool) {
    let mut answers = open(answers);
    if answers.len() >= MOST_ANSWERS {
        answers.clear();
    }
    answers.insert(question, answer);
}

fn refused(what: &str) -> Error {
    Error::new(Kind::Format, format!("no exact statement about canonical ids is known with {what}"))
        .remedy("use a tokenizer whose tokens are bytes, without normalizers but for one normal form")
}

fn texts<'t>(tokenizer: &'t Tokenizer, spelling: Option<&'t Spelling>) -> Result<Texts<'t>> {
    let steps = tokenizer.segmenter().steps();
    let states = States::of(&steps.patterns).map_err(refused)?;
    if spelling.is_some() {
        return Ok(Texts { states, form: None, spelling });
    }
    let form = match &steps.normalizers[..] {
        [] => None,
        [form] if form.is_form() => Some(form),
        _ => return Err(refused("a normalizer that is no normal form, or several")),
    };
    if steps.prefix_space || !steps.pre_tokenizers.is_empty() {
        return Err(refused(if steps.prefix_space { "a prefix space" } else { "a pre-tokenizer" }));
    }
    Ok(Texts { states, form, spelling })
}

/// The vocabulary over bytes.
fn vocab_of<'t>(tokenizer: &'t Tokenizer, spelling: Option<&'t Spelling>) -> &'t Vocab {
    spelling.and_then(|spelling| spelling.vocab.as_ref()).unwrap_or(tokenizer.vocab())
}

/// The tokens by their bytes.
fn trie(vocab: &Vocab, is_spelled: bool) -> Result<Trie> {
    if !is_spelled {
        return Trie::new(memory::collect((0..vocab.len()).map(|index| (vocab.token_at(index), index as u32)))?);
    }
    // A text has a space wherever a token has U+2581: the token of the byte stands nowhere.
    let is_there = |&index: &usize| !vocab.is_beginning(index) && vocab.token_at(index) != b" ";
    let spaced = (0..vocab.len()).filter(is_there).map(|index| (spaced(vocab.token_at(index)), index as u32));
    let tokens = memory::collect(spaced)?;
    Trie::new(memory::collect(tokens.iter().map(|(token, index)| (&**token, *index)))?)
}

impl Canonical {
    /// Reads the vocabulary of a tokenizer.
    ///
    /// # Errors
    /// `Format`, naming what an exact answer is not known for: tokens of characters, normalizers other than one normal form, a
    /// prefix space, pre-tokenizers, a split pattern that is not run by the automaton, or several, one of which before the last
    /// looks ahead; `Limit`, if an id is too large for masks.
    ///
    /// Time: that of sorting the tokens.
    pub fn new(tokenizer: &Tokenizer) -> Result<Self> {
        let spelling = if tokenizer.is_byte_level() { None } else { Spelling::new(tokenizer)? };
        if spelling.is_none() && !tokenizer.is_byte_level() {
            return Err(refused("tokens that are spelled in characters, but for BPE with a token for each byte"));
        }
        let Texts { states, form, .. } = texts(tokenizer, spelling.as_ref())?;
        if tokenizer.vocab_size() > MOST_IDS {
            return Err(Error::new(
                Kind::Limit,
                format!("an id is above {MOST_IDS}, so that masks would be too large"),
            ));
        }
        let vocab = vocab_of(tokenizer, spelling.as_ref());
        let trie = trie(vocab, spelling.is_some())?;
        let in_turn = if vocab.is_proper() { None } else { Some(InTurn::new(vocab)?) };
        let mut buffers = FitBuffers::default();
        let mut made = Vec::with_capacity(vocab.len());
        for index in 0..vocab.len() {
            interrupt::check()?;
            let symbol = vocab.rules().symbol(index);
            made.push(match &in_turn {
                Some(in_turn) if in_turn.is_plain(index) => in_turn.rules.symbol(index) != NONE,
                _ => symbol != NONE && fit(vocab, NONE, symbol, &mut buffers),
            });
        }
        let wholes = if vocab.takes_all_whole() && made.contains(&false) {
            let unmade = (0..vocab.len()).filter(|&index| !made[index]);
            Some(Trie::new(memory::collect(unmade.map(|index| (vocab.token_at(index), index as u32)))?)?)
        } else {
            None
        };
        let rules = in_turn.as_ref().map_or(vocab.rules(), |in_turn| &in_turn.rules);
        let partners = Partners::new(rules, vocab.len());
        let joins = |form: &Normalizer, index: usize| {
            let first = vocab.token_at(index).utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
            !first.is_some_and(|first| form.is_settled_by(first))
        };
        let joining = form.map_or(Vec::new(), |form| (0..vocab.len()).filter(|&index| joins(form, index)).collect());
        let symbols = states.symbols();
        let (masks, answers, ways, beginnings) =
            (Mutex::default(), Mutex::default(), Mutex::default(), Mutex::default());
        Ok(Self { trie, made, wholes, spelling, in_turn, partners, joining, masks, answers, ways, symbols, beginnings })
    }

    fn reader<'a>(&'a self, tokenizer: &'a Tokenizer) -> Result<Reader<'a>> {
        let texts = texts(tokenizer, self.spelling.as_ref())?;
        Ok(Reader { of: self, vocab: vocab_of(tokenizer, texts.spelling), texts, buffers: FitBuffers::default() })
    }

    /// The bytes of the text that bytes of tokens stand for.
    fn bytes<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        if self.spelling.is_some() { spaced(bytes) } else { Cow::Borrowed(bytes) }
    }

    /// Whether two tokens, by index, are the encoding of their bytes.
    fn fits(&self, vocab: &Vocab, left: u32, right: u32, buffers: &mut FitBuffers) -> bool {
        let [left, right] = [left as usize, right as usize];
        let symbol = |index| vocab.rules().symbol(index);
        let is_part = |index| self.spelling.is_some() && is_part(vocab.token_at(index));
        self.made[left]
            && self.made[right]
            && (is_part(left) || is_part(right) || fit(vocab, symbol(left), symbol(right), buffers))
    }

    /// The tokens that can follow some ids: bit `id % 32` of word `id / 32` is set if some text's encoding begins with
    /// the ids and this one, and if that text begins with the bytes of the ids and `prefix`. Added tokens can follow where the
    /// text may end, and there is no prefix. No bit is set if no encoding begins with the ids.
    ///
    /// # Errors
    /// `InvalidId`.
    ///
    /// Time: linear in the ids, and in the vocabulary for the first mask after a last token or a state.
    pub fn next_mask(&self, tokenizer: &Tokenizer, ids: &[u32], prefix: &[u8]) -> Result<Vec<u32>> {
        let mut reader = self.reader(tokenizer)?;
        let mut mask = vec![0; tokenizer.vocab_size().div_ceil(32) as usize];
        let set = |id| put(&mut mask, id, true);
        let Some(state) = reader.state_after(tokenizer, ids)? else { return Ok(mask) };
        if !prefix.is_empty() {
            let cover = reader.cover_from(&state, prefix)?;
            cover.iter().flat_map(Stem::firsts).copied().for_each(set);
            return Ok(mask);
        }
        if state.may_stop(reader.texts) {
            let is_no_text = |id: &u32| reader.index_of(*id).is_none();
            tokenizer.added().iter().map(|token| token.id).filter(is_no_text).for_each(set);
        }
        reader.add_mask(&state, &mut mask)?;
        Ok(mask)
    }

    /// Whether some text's encoding begins with these ids.
    ///
    /// # Errors
    /// `InvalidId`.
    pub fn is_live(&self, tokenizer: &Tokenizer, ids: &[u32]) -> Result<bool> {
        let mut reader = self.reader(tokenizer)?;
        let state = reader.state_after(tokenizer, ids)?;
        state.map_or(Ok(false), |state| reader.is_live(&state))
    }
}

impl Reader<'_> {
    /// The state after some ids; None if no encoding begins so. Added tokens stand between texts, each of which is encoded by
    /// itself.
    fn state_after(&mut self, tokenizer: &Tokenizer, ids: &[u32]) -> Result<Option<State>> {
        let mut state = State::new(self.texts);
        for (row, &id) in ids.iter().enumerate() {
            interrupt::check()?;
            if let Some(index) = self.index_of(id) {
                if !self.push(&mut state, index) {
                    return Ok(None);
                }
            } else if tokenizer.added().iter().any(|token| token.id == id) {
                if !state.may_stop(self.texts) {
                    return Ok(None);
                }
                state = State::behind_added(self.texts);
            } else if tokenizer.token_bytes(id).is_some() {
                return Ok(None);
            } else {
                return Err(tokenizer.invalid_id(id).row(row));
            }
        }
        Ok(Some(state))
    }

    /// The index of an id that text has; what a model of characters has besides its merges is not text.
    fn index_of(&self, id: u32) -> Option<usize> {
        let index = self.vocab.index_of_id(id).filter(|&index| !self.vocab.is_beginning(index))?;
        (self.of.spelling.is_none() || self.of.made[index]).then_some(index)
    }

    /// The bytes of the text that a token stands for.
    fn token(&self, index: usize) -> Cow<'_, [u8]> {
        self.of.bytes(self.vocab.token_at(index))
    }

    /// Whether a token is a part of a character that merges with nothing.
    fn is_part(&self, index: u32) -> bool {
        self.of.spelling.is_some() && is_part(self.vocab.token_at(index as usize))
    }

    /// Whether two tokens are the encoding of their bytes.
    fn fits(&mut self, left: u32, right: u32) -> bool {
        self.of.fits(self.vocab, left, right, &mut self.buffers)
    }

    /// Goes on with a token; returns false if no encoding begins so, as far as its own bytes tell.
    fn push(&mut self, state: &mut State, index: usize) -> bool {
        let fits = state.last == NONE || self.fits(state.last, index as u32);
        state.read(self.texts, &self.token(index)) && self.finish(state, index as u32, fits)
    }

    /// Ends the token that was read.
    fn finish(&self, state: &mut State, index: u32, fits: bool) -> bool {
        let is_made = self.of.made[index as usize];
        // A piece that is a token is that token if it is taken whole, or made.
        let token = Token { index, is_made, is_whole: is_made || self.vocab.takes_all_whole(), fits };
        state.finish(self.texts.states, self.vocab, self.of.wholes.as_ref(), token)
    }

    /// Calls `found` with each token whose bytes can follow a state, and the state after them, which is not finished.
    fn each_token(
        &self,
        state: &State,
        from: usize,
        way: &mut Way,
        mut found: impl FnMut(u32, &State) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let trie = &self.of.trie;
        let nodes = trie.subtree(from);
        way.begin(state);
        let mut depths = vec![from];
        let mut node = from;
        while node < nodes.end {
            interrupt::check()?;
            while depths.last().is_some_and(|&above| node >= trie.ends[above] as usize) {
                depths.pop();
            }
            if node != from {
                if !way.read(depths.len(), self.texts, trie.bytes[node]) {
                    node = trie.ends[node] as usize;
                    continue;
                }
                depths.push(node);
            }
            for &index in trie.ids_at(node) {
                if found(index, way.at(depths.len() - 1))?.is_break() {
                    return Ok(());
                }
            }
            node += 1;
        }
        Ok(())
    }

    /// Whether some text can follow, if all tokens could: a cheap test that most of the states fail that are not live.
    fn has_way(&self, state: &State) -> bool {
        if state.is_open() {
            return true;
        }
        let question = (state.ways(), state.partial);
        if let Some(&known) = open(&self.of.ways).get(&question) {
            return known;
        }
        let begun = state.beginning().map(|bytes| {
            let known = open(&self.of.beginnings).get(&state.partial).cloned();
            known.unwrap_or_else(|| {
                let symbols: Arc<[Symbol]> = self.texts.states.beginning_with(bytes).into();
                open(&self.of.beginnings).insert(state.partial, symbols.clone());
                symbols
            })
        });
        let found = has_way(self.texts.states, question.0.clone(), &self.of.symbols, begun.as_deref());
        keep(&self.of.ways, question, found);
        found
    }

    /// Whether the text may end in a state, or some token leads to a live one.
    fn is_live(&mut self, state: &State) -> Result<bool> {
        if state.may_stop(self.texts) {
            return Ok(true);
        }
        if !self.has_way(state) {
            return Ok(false);
        }
        let question = (state.key(), state.last);
        if let Some(&known) = open(&self.of.answers).get(&question) {
            return Ok(known);
        }
        let mut seen = FxHashSet::from_iter([question.clone()]);
        let mut pending = vec![state.clone()];
        let mut live = false;
        while let Some(state) = pending.pop().filter(|_| !live) {
            let mut way = Way::default();
            // The buffers are lent: `each_token` only reads.
            let mut buffers = std::mem::take(&mut self.buffers);
            let result = self.each_token(&state, 0, &mut way, |index, after| {
                let mut after = after.clone();
                let fits = state.last == NONE || self.of.fits(self.vocab, state.last, index, &mut buffers);
                if self.finish(&mut after, index, fits) {
                    if after.may_stop(self.texts) {
                        live = true;
                        return Ok(ControlFlow::Break(()));
                    }
                    if self.has_way(&after) && seen.insert((after.key(), after.last)) {
                        pending.push(after);
                    }
                }
                Ok(ControlFlow::Continue(()))
            });
            self.buffers = buffers;
            result?;
        }
        keep(&self.of.answers, question, live);
        Ok(live)
    }
}
