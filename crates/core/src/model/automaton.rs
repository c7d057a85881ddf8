//! All tokens that end at each place of a text, in time linear in the text and the tokens found: the automaton of Aho and
//! Corasick over a [`Trie`].
//!
//! The state behind a text is the node of the longest end of it that begins a token. The tokens that end there are the
//! node's own and those of its links, each the next shorter such end; nodes without a token are passed over.
//!
//! Source: Aho and Corasick, "Efficient String Matching: An Aid to Bibliographic Search", 1975.

use super::token_table::NONE;
use super::trie::{Node, Trie};
use crate::error::Result;

/// The state behind an empty text.
pub(super) const ROOT: u32 = u32::MAX;

/// Strings and their values.
pub(super) struct Automaton {
    trie: Trie,
    /// By place: the node of the longest beginning of a string that this node ends with, itself left out.
    links: Vec<u32>,
    /// By place: the node of the longest string that this node ends with, itself included; or [`NONE`].
    ends: Vec<u32>,
}

impl Automaton {
    /// From distinct strings, none of them empty, and their values.
    ///
    /// # Errors
    /// As [`Trie::new`].
    pub(super) fn new(strings: &[(&[u8], u32)]) -> Result<Self> {
        let trie = Trie::new(strings.iter().copied())?;
        let mut automaton = Self { links: vec![NONE; trie.places()], ends: vec![NONE; trie.places()], trie };
        // Nodes whose links are known, for each string the deepest; one byte more in each round.
        let mut depth = 0;
        let mut going: Vec<(u32, &[u8])> = strings.iter().map(|&(string, _)| (ROOT, string)).collect();
        let mut known = vec![false; automaton.trie.places()];
        while !going.is_empty() {
            going.retain_mut(|(parent, string)| {
                let Some(&byte) = string.get(depth) else { return false };
                let Some(place) = automaton.trie.place(automaton.node(*parent), byte) else { return false };
                if !known[place] {
                    known[place] = true;
                    automaton.link(place, *parent, byte);
                }
                *parent = place as u32;
                true
            });
            depth += 1;
        }
        Ok(automaton)
    }

    /// The state one byte further on.
    #[inline]
    pub(super) fn go(&self, mut at: u32, byte: u8) -> u32 {
        loop {
            if let Some(place) = self.trie.place(self.node(at), byte) {
                return place as u32;
            }
            if at == ROOT {
                return ROOT;
            }
            at = self.links[at as usize];
        }
    }

    /// The values of the strings that end at a state, the longest first.
    #[inline]
    pub(super) fn ending(&self, at: u32) -> impl Iterator<Item = u32> {
        let end = |at: u32| if at == ROOT { NONE } else { self.ends[at as usize] };
        let ends = std::iter::successors(Some(end(at)), move |&at| (at != NONE).then(|| end(self.links[at as usize])));
        ends.take_while(|&at| at != NONE).filter_map(|at| self.trie.at(at as usize).value())
    }

    fn link(&mut self, place: usize, parent: u32, byte: u8) {
        let link = if parent == ROOT { ROOT } else { self.go(self.links[parent as usize], byte) };
        let inherited = if link == ROOT { NONE } else { self.ends[link as usize] };
        self.links[place] = link;
        self.ends[place] = if self.trie.at(place).value().is_some() { place as u32 } else { inherited };
    }

    #[inline]
    fn node(&self, place: u32) -> Node {
        if place == ROOT { self.trie.root() } else { self.trie.at(place as usize) }
    }
}
