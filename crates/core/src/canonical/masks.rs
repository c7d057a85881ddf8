//! Masks of the tokens that can follow a state, kept for later calls in bounded memory.
//!
//! A state decides of each token whether it can follow if it fits behind the last token, and whether it can if it does not.
//! So a mask is put together from two masks of the state and one of the last token: there are few states, and each last
//! token needs one pass over the symbols.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::scans::{Key, State, Way};
use super::{Reader, open};
use crate::error::Result;
use crate::interrupt;
use crate::vocab::NONE;

/// Bytes of the masks that are kept, of states and of tokens each.
const MOST_BYTES: usize = 32 << 20;

type Mask = Arc<[u32]>;

/// Masks that were made before.
#[derive(Default)]
pub(super) struct Masks {
    /// By state: the tokens that can follow if they fit, and if they do not.
    of_states: HashMap<Key, [Mask; 2]>,
    /// By last token: those that fit.
    of_tokens: HashMap<u32, Mask>,
}

/// Keeps a value; all others go if there are too many.
fn keep<K: Eq + Hash, V>(kept: &mut HashMap<K, V>, key: K, value: V, bytes: usize) {
    if (kept.len() + 1) * bytes > MOST_BYTES {
        kept.clear();
    }
    kept.insert(key, value);
}

impl Reader<'_> {
    /// Adds the tokens that can follow a state to a mask.
    pub(super) fn add_mask(&mut self, state: &State, mask: &mut [u32]) -> Result<()> {
        let key = state.key();
        let known = open(&self.of.masks).of_states.get(&key).cloned();
        let [fitting, others] = if let Some(known) = known {
            known
        } else {
            let made = self.masks_of_state(state, mask.len())?;
            keep(&mut open(&self.of.masks).of_states, key, made.clone(), size_of_val(&*made[0]) * 2);
            made
        };
        if state.last == NONE {
            mask.iter_mut().zip(&*fitting).for_each(|(word, &fitting)| *word |= fitting);
            return Ok(());
        }
        let known = open(&self.of.masks).of_tokens.get(&state.last).cloned();
        let fits = if let Some(known) = known {
            known
        } else {
            let made = self.mask_of_token(state.last, mask.len())?;
            keep(&mut open(&self.of.masks).of_tokens, state.last, made.clone(), size_of_val(&*made));
            made
        };
        for (((word, &fits), &fitting), &others) in mask.iter_mut().zip(&*fits).zip(&*fitting).zip(&*others) {
            *word |= fits & fitting | !fits & others;
        }
        Ok(())
    }

    fn masks_of_state(&mut self, state: &State, words: usize) -> Result<[Mask; 2]> {
        let mut after: [Vec<(u32, State)>; 2] = [Vec::new(), Vec::new()];
        let mut masks = [vec![0; words], vec![0; words]];
        let ids = self.vocab.ids();
        let set = |mask: &mut [u32], index: u32| {
            let id = ids[index as usize];
            mask[id as usize / 32] |= 1 << (id % 32);
        };
        let mut scratch = state.clone();
        self.each_token(state, 0, &mut Way::default(), |index, read| {
            for (number, fits) in [true, false].into_iter().enumerate() {
                scratch.copy(read);
                if self.finish(&mut scratch, index, fits) {
                    if scratch.may_stop(self.states) {
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

    fn mask_of_token(&mut self, last: u32, words: usize) -> Result<Mask> {
        let mut mask = vec![0; words];
        let rules = self.vocab.rules();
        let row = (self.vocab.is_proper() && self.of.made[last as usize])
            .then(|| self.of.partners.fitting(self.vocab, rules.symbol(last as usize)));
        for (index, &id) in (0..).zip(self.vocab.ids()) {
            interrupt::check()?;
            let fits = match &row {
                Some(row) => self.of.made[index as usize] && row[rules.symbol(index as usize) as usize],
                None => self.fits(last, index),
            };
            mask[id as usize / 32] |= u32::from(fits) << (id % 32);
        }
        Ok(mask.into())
    }
}
