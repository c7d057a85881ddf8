//! The cover of a text: the shortest beginnings of encodings that spell it.
//!
//! Each text that begins with `text` has one shortest beginning of its encoding whose bytes begin with `text` as well: so the
//! sequences of the cover are what a continuation of the text can begin with, and none begins with another.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::masks::{is_set, put};
use super::scans::{State, Texts, Way};
use super::spelling::{MARK, spaced};
use super::{Canonical, Reader};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::memory::Room;
use crate::merge;
use crate::pipeline::Tokenizer;
use crate::segment::{Policy, Treat};
use crate::vocab::NONE;

/// Sequences that differ in their last token alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stem {
    /// The ids before the last one.
    pub ids: Vec<u32>,
    /// The last ids, ascending; none for the one sequence of the empty text.
    pub lasts: Vec<u32>,
}

impl Stem {
    /// The ids that its sequences begin with.
    pub(super) fn firsts(&self) -> &[u32] {
        self.ids.get(..1).unwrap_or(&self.lasts)
    }
}

/// The cover of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// The ids that all sequences begin with.
    pub head: Vec<u32>,
    /// Last ids, by the ids before them.
    pub stems: Vec<Stem>,
}

/// A beginning that does not yet reach the end of the text.
struct Node {
    state: State,
    /// Bytes of the text that it spells.
    at: usize,
    parent: usize,
    id: u32,
}

/// The whole characters of a text that may end inside of one.
fn beginning(text: &[u8]) -> Result<&str> {
    match std::str::from_utf8(text) {
        Ok(known) => Ok(known),
        Err(error) if error.error_len().is_none() => {
            Ok(std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default())
        }
        Err(error) => Err(Error::not_utf8(text, &error).remedy("pass the bytes of a text, cut anywhere")),
    }
}

impl Canonical {
    /// The cover of a text, which may end inside of a character. Behind a normal form, that of the texts that have it and begin
    /// with the form of this one.
    ///
    /// # Errors
    /// `Encode`, if no text begins with these bytes.
    ///
    /// Time: that of encoding the text up to its last seam, and of the ways to spell the rest.
    pub fn cover(&self, tokenizer: &Tokenizer, text: &[u8]) -> Result<Cover> {
        let known = beginning(text)?;
        let Texts { form, spelling, .. } = self.reader(tokenizer)?.texts;
        match (spelling, form.map(|form| form.apply(known))) {
            (Some(spelling), _) => self.cover_formed(tokenizer, &spelling.text(text), false),
            (_, Some(Cow::Owned(formed))) => {
                self.cover_formed(tokenizer, &[formed.as_bytes(), &text[known.len()..]].concat(), false)
            }
            _ => self.cover_formed(tokenizer, text, false),
        }
    }

    /// The cover of a text, behind an added token perhaps, as normal forms and models of characters have it; no sequences if they have
    /// none like it.
    pub(super) fn cover_formed(&self, tokenizer: &Tokenizer, text: &[u8], behind_added: bool) -> Result<Cover> {
        let mut reader = self.reader(tokenizer)?;
        let known = beginning(text)?;
        if reader.texts.form.is_some_and(|form| form.apply(known) != known) {
            return Ok(Cover { head: Vec::new(), stems: Vec::new() });
        }
        // At a seam the pieces of either side are those that it has by itself, whatever follows.
        let mut head = Vec::new();
        let seam = if self.spelling.is_some() {
            let marked = known.replace(' ', MARK);
            let before = &marked[..reader.texts.states.last_seam(&marked)];
            merge::encode(reader.vocab, before.as_bytes(), &mut merge::Scratch::default(), &mut head)?;
            spaced(before.as_bytes()).len()
        } else {
            let seam = reader.texts.states.last_seam(known);
            let policy = Policy { special: Treat::Text, added: Treat::Text };
            tokenizer.encode(&known[..seam], policy, &mut head)?;
            seam
        };
        let mut stems = reader.cover_from(&State::behind(reader.texts, &known[..seam], behind_added), &text[seam..])?;
        stems.sort_by(|one, other| one.ids.cmp(&other.ids));
        // Ids that all of them begin with.
        let shared = stems.first().map_or(0, |first| {
            let shared = |stem: &Stem| first.ids.iter().zip(&stem.ids).take_while(|(one, other)| one == other).count();
            stems.iter().map(shared).min().unwrap_or(0)
        });
        if let Some(first) = stems.first() {
            head.extend_from_slice(&first.ids[..shared]);
        }
        for stem in &mut stems {
            stem.ids.drain(..shared);
        }
        Ok(Cover { head, stems })
    }
}

impl Reader<'_> {
    /// The shortest sequences behind a state that spell `rest`; the one of no ids if there is nothing to spell.
    pub(super) fn cover_from(&mut self, state: &State, rest: &[u8]) -> Result<Vec<Stem>> {
        let mut stems = Vec::new();
        if rest.is_empty() {
            if self.is_live(state)? {
                stems.push(Stem { ids: Vec::new(), lasts: Vec::new() });
            }
            return Ok(stems);
        }
        let mut nodes = vec![Node { state: state.clone(), at: 0, parent: 0, id: 0 }];
        let mut way = Way::default();
        let mut number = 0;
        while number < nodes.len() {
            interrupt::check()?;
            let Node { state, at, .. } = &nodes[number];
            let (state, at) = (state.clone(), *at);
            let trie = &self.of.trie;
            let (mut node, mut read, mut end) = (0, state.clone(), at);
            let mut is_text = true;
            while end < rest.len() && is_text {
                let Some(child) = trie.child(node, rest[end]) else { break };
                is_text = read.read(self.texts, &rest[end..=end]);
                (node, end) = (child, end + 1);
                for &index in trie.ids_at(node).iter().filter(|_| is_text && end < rest.len()) {
                    let mut after = read.clone();
                    let fits = state.last == NONE || self.fits(state.last, index);
                    if self.finish(&mut after, index, fits) {
                        nodes.room(1)?;
                        let id = self.vocab.ids()[index as usize];
                        nodes.push(Node { state: after, at: end, parent: number, id });
                    }
                }
            }
            if is_text && end == rest.len() {
                let lasts = self.lasts(&state, &read, node, &mut way)?;
                if !lasts.is_empty() {
                    let mut ids = Vec::new();
                    let mut before = number;
                    while before != 0 {
                        ids.push(nodes[before].id);
                        before = nodes[before].parent;
                    }
                    ids.reverse();
                    stems.push(Stem { ids, lasts });
                }
            }
            number += 1;
        }
        Ok(stems)
    }

    /// The ids of the tokens under a node of the trie that can follow `state`; `read` is the state after the node's bytes.
    fn lasts(&mut self, state: &State, read: &State, node: usize, way: &mut Way) -> Result<Vec<u32>> {
        let under = self.of.trie.ids_under(node);
        let ids = self.vocab.ids();
        let mut lasts = Vec::new();
        if let Some([fitting, others]) = self.masks_for(state, under.len())? {
            let known = self.mask_behind_for(state.last, under.len())?;
            for &index in under {
                let id = ids[index as usize];
                let (if_fits, if_not) = (is_set(&fitting, id), is_set(&others, id));
                let fits = if_fits == if_not
                    || state.last == NONE
                    || known.as_ref().map_or_else(|| self.fits(state.last, index), |known| is_set(known, id));
                if (fits && if_fits) || (!fits && if_not) {
                    lasts.push(id);
                }
            }
        } else {
            let (mut open, mut after) = (Vec::new(), state.clone());
            let mut buffers = std::mem::take(&mut self.buffers);
            self.each_token(read, node, way, |index, read| {
                let fits = state.last == NONE || self.of.fits(self.vocab, state.last, index, &mut buffers);
                after.copy(read);
                if self.finish(&mut after, index, fits) {
                    if after.may_stop(self.texts) {
                        lasts.push(ids[index as usize]);
                    } else {
                        open.push((index, after.clone()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            })?;
            self.buffers = buffers;
            for (index, after) in open {
                if self.is_live(&after)? {
                    lasts.push(ids[index as usize]);
                }
            }
        }
        self.sort(&mut lasts);
        Ok(lasts)
    }

    /// Sorts ids that are all different: many of them by a mask, in linear time.
    fn sort(&self, ids: &mut Vec<u32>) {
        if ids.len() <= self.words() {
            return ids.sort_unstable();
        }
        let mut mask = vec![0_u32; self.words()];
        ids.drain(..).for_each(|id| put(&mut mask, id, true));
        for (word, mut bits) in (0..).zip(mask) {
            while bits != 0 {
                ids.push(word * 32 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }
}
