//! Masks of the tokens that can follow a state, kept for later calls in bounded memory.
//!
//! A state decides of each token whether it can follow if it fits behind the last token, and whether it can if it does not.
//! So a mask is put together from two masks of the state and one of the last token: there are few states, and each last
//! token needs one pass over the symbols.

use std::hash::Hash;
use std::ops::ControlFlow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::scans::{Key, State, Way};
use super::{Canonical, MOST_ANSWERS, Reader, open};
use crate::error::Result;
use crate::interrupt;
use crate::vocab::NONE;

/// Bytes of the masks that are kept, of states and of tokens each.
const MOST_BYTES: usize = 32 << 20;

/// A mask costs about what looking at every token alone does. It is made once one part in so many of that was spent.
const PART_LOOKED_AT: usize = 16;

/// Bit `id % 32` of word `id / 32`.
pub(super) type Mask = Arc<[u32]>;

/// Masks that were made before.
#[derive(Default)]
pub(super) struct Masks {
    /// By state: the tokens that can follow if they fit, and if they do not.
    of_states: Kept<Key, [Mask; 2]>,
    /// By last token: those that fit.
    of_tokens: Kept<u32, Mask>,
}

struct Kept<K, V> {
    made: FxHashMap<K, V>,
    /// How many tokens were looked at alone, where nothing was made.
    looked_at: FxHashMap<K, usize>,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self { made: FxHashMap::default(), looked_at: FxHashMap::default() }
    }
}

impl<K: Eq + Hash, V: Clone> Kept<K, V> {
    /// Keeps a value; all others go if there are too many.
    fn keep(&mut self, key: K, value: &V, bytes: usize) {
        if (self.made.len() + 1) * bytes > MOST_BYTES {
            self.made.clear();
        }
        self.looked_at.remove(&key);
        self.made.insert(key, value.clone());
    }

    /// Whether a value is there, or worth making for so many more of all tokens.
    fn is_worth(&mut self, key: K, tokens: usize, all: usize) -> bool {
        if self.made.contains_key(&key) {
            return true;
        }
        if self.looked_at.len() >= MOST_ANSWERS {
            self.looked_at.clear();
        }
        let looked_at = self.looked_at.entry(key).or_default();
        *looked_at += tokens;
        *looked_at > all / PART_LOOKED_AT
    }
}

/// Whether the bit of an id is set.
pub(super) fn is_set(mask: &[u32], id: u32) -> bool {
    mask[id as usize / 32] >> (id % 32) & 1 == 1
}

/// Sets the bit of an id, or clears it.
pub(super) fn put(mask: &mut [u32], id: u32, is_set: bool) {
    let word = &mut mask[id as usize / 32];
    *word = *word & !(1 << (id % 32)) | u32::from(is_set) << (id % 32);
}

impl Reader<'_> {
    /// Adds the tokens that can follow a state to a mask.
    pub(super) fn add_mask(&mut self, state: &State, mask: &mut [u32]) -> Result<()> {
        let [fitting, others] = self.masks_of(state)?;
        if state.last == NONE {
            mask.iter_mut().zip(&*fitting).for_each(|(word, &fitting)| *word |= fitting);
            return Ok(());
        }
        let fits = self.mask_behind(state.last)?;
        for (((word, &fits), &fitting), &others) in mask.iter_mut().zip(&*fits).zip(&*fitting).zip(&*others) {
            *word |= fits & fitting | !fits & others;
        }
        Ok(())
    }

    /// The tokens that can follow a state if they fit, and if they do not.
    fn masks_of(&mut self, state: &State) -> Result<[Mask; 2]> {
        let key = state.key();
        if let Some(known) = open(&self.of.masks).of_states.made.get(&key) {
            return Ok(known.clone());
        }
        let made = match state.without_tail() {
            Some(other) => {
                let known = self.masks_of(&other)?;
                self.change_masks(known, state)?
            }
            None => self.make_masks(state)?,
        };
        open(&self.of.masks).of_states.keep(key, &made, size_of_val(&*made[0]) * 2);
        Ok(made)
    }

    /// The tokens that fit behind one.
    fn mask_behind(&mut self, last: u32) -> Result<Mask> {
        if let Some(known) = open(&self.of.masks).of_tokens.made.get(&last) {
            return Ok(known.clone());
        }
        let made = self.make_mask_behind(last)?;
        open(&self.of.masks).of_tokens.keep(last, &made, size_of_val(&*made));
        Ok(made)
    }

    /// As [`Self::masks_of`]; None if looking at `tokens` tokens alone is quicker.
    pub(super) fn masks_for(&mut self, state: &State, tokens: usize) -> Result<Option<[Mask; 2]>> {
        let is_worth = open(&self.of.masks).of_states.is_worth(state.key(), tokens, self.vocab.len());
        if is_worth { self.masks_of(state).map(Some) } else { Ok(None) }
    }

    /// As [`Self::mask_behind`]; None if looking at `tokens` tokens alone is quicker, or there is no token before them.
    pub(super) fn mask_behind_for(&mut self, last: u32, tokens: usize) -> Result<Option<Mask>> {
        let is_worth = last != NONE && open(&self.of.masks).of_tokens.is_worth(last, tokens, self.vocab.len());
        if is_worth { self.mask_behind(last).map(Some) } else { Ok(None) }
    }

    /// The words of a mask.
    pub(super) fn words(&self) -> usize {
        self.vocab.ids().last().map_or(0, |&last| last as usize / 32 + 1)
    }

    /// The masks of a state from those of one whose text ends in no character that another could join.
    fn change_masks(&mut self, masks: [Mask; 2], state: &State) -> Result<[Mask; 2]> {
        let mut masks = masks.map(|mask| mask.to_vec());
        for &index in &self.of.joining {
            interrupt::check()?;
            let id = self.vocab.ids()[index];
            for (mask, fits) in masks.iter_mut().zip([true, false]) {
                let mut after = state.clone();
                let is_live = after.read(self.texts, &self.token(index))
                    && self.finish(&mut after, index as u32, fits)
                    && self.is_live(&after)?;
                put(mask, id, is_live);
            }
        }
        Ok(masks.map(Into::into))
    }

    fn make_masks(&mut self, state: &State) -> Result<[Mask; 2]> {
        let mut after: [Vec<(u32, State)>; 2] = [Vec::new(), Vec::new()];
        let mut masks = [vec![0; self.words()], vec![0; self.words()]];
        let ids = self.vocab.ids();
        let set = |mask: &mut [u32], index: u32| put(mask, ids[index as usize], true);
        let mut scratch = state.clone();
        self.each_token(state, 0, &mut Way::default(), |index, read| {
            for (number, fits) in [true, false].into_iter().enumerate() {
                scratch.copy(read);
                if self.finish(&mut scratch, index, fits) {
                    if scratch.may_stop(self.texts) {
                        set(&mut masks[number], index);
                    } else {
                        after[number].push((index, scratch.clone()));
                    }
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for (number, after) in after.into_iter().enumerate() {
            for (index, state) in after {
                if self.is_live(&state)? {
                    set(&mut masks[number], index);
                }
            }
        }
        Ok(masks.map(Into::into))
    }

    pub(super) fn make_mask_behind(&mut self, last: u32) -> Result<Mask> {
        let mut mask = vec![0; self.words()];
        let Canonical { made, partners, in_turn, trie, .. } = self.of;
        let ids = self.vocab.ids();
        let rules = in_turn.as_ref().map_or(self.vocab.rules(), |in_turn| &in_turn.rules);
        let is_plain = |index: u32| in_turn.as_ref().is_none_or(|in_turn| in_turn.is_plain(index as usize));
        let row = (made[last as usize] && is_plain(last) && !self.is_part(last))
            .then(|| partners.fitting(rules, rules.symbol(last as usize)));
        for (index, &id) in (0..).zip(ids) {
            interrupt::check()?;
            let fits = match &row {
                Some(row) if is_plain(index) && !self.is_part(index) => {
                    made[index as usize] && row[rules.symbol(index as usize) as usize]
                }
                _ => self.fits(last, index),
            };
            put(&mut mask, id, fits);
        }
        // Where one of the other tokens goes across, the row does not tell.
        let completions =
            in_turn.iter().flat_map(|in_turn| in_turn.completions(self.vocab, self.vocab.token_at(last as usize)));
        for node in completions.filter_map(|bytes| trie.find(&self.of.bytes(bytes))) {
            for &index in trie.ids_under(node) {
                put(&mut mask, ids[index as usize], self.fits(last, index));
            }
        }
        Ok(mask.into())
    }
}
