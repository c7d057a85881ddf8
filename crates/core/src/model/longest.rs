//! The longest token that begins at each place of a piece, in one pass from its end: time linear in the piece, memory
//! linear in the tokens.
//!
//! Tokens are read backward into a trie with failure links. Going through the piece backward, the node is the longest
//! end of a token that begins here; of the tokens that begin here, the longest is the first one along its links, which
//! is precomputed.
//!
//! Source: Aho and Corasick, "Efficient String Matching: An Aid to Bibliographic Search", 1975.

use super::token_table::NONE;
use super::trie::{Node, Trie};
use crate::error::Result;

/// The place of the root.
const ROOT: u32 = u32::MAX;

/// Tokens read backward.
pub(super) struct Longest {
    trie: Trie,
    /// By place: the node of the longest beginning of a reversed token that this node ends with, itself left out.
    links: Vec<u32>,
    /// By place: the longest token that this node ends with; or [`NONE`].
    tokens: Vec<u32>,
}

/// Buffers kept between pieces: the longest token at each place, or [`NONE`].
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) tokens: Vec<u32>,
}

impl Longest {
    /// From distinct strings and their values.
    pub(super) fn new<'a>(strings: impl Iterator<Item = (&'a [u8], u32)>) -> Result<Self> {
        let reversed: Vec<(Vec<u8>, u32)> =
            strings.map(|(string, value)| (string.iter().rev().copied().collect(), value)).collect();
        let trie = Trie::new(reversed.iter().map(|(string, value)| (string.as_slice(), *value)))?;
        let mut longest = Self { links: vec![NONE; trie.places()], tokens: vec![NONE; trie.places()], trie };
        // Nodes whose links are known, for each string the deepest; one byte more in each round.
        let mut depth = 0;
        let mut going: Vec<(u32, &[u8])> = reversed.iter().map(|(string, _)| (ROOT, string.as_slice())).collect();
        let mut known = vec![false; longest.trie.places()];
        while !going.is_empty() {
            going.retain_mut(|(parent, string)| {
                let Some(&byte) = string.get(depth) else { return false };
                let Some(place) = longest.trie.place(longest.node(*parent), byte) else { return false };
                if !known[place] {
                    known[place] = true;
                    longest.link(place, *parent, byte);
                }
                *parent = place as u32;
                true
            });
            depth += 1;
        }
        Ok(longest)
    }

    /// Fills `buffers` with the longest token at each place of a piece.
    pub(super) fn find(&self, piece: &[u8], buffers: &mut Buffers) {
        let tokens = &mut buffers.tokens;
        tokens.clear();
        tokens.resize(piece.len(), NONE);
        let mut at = ROOT;
        for (&byte, token) in piece.iter().zip(tokens.iter_mut()).rev() {
            at = self.go(at, byte);
            if at != ROOT {
                *token = self.tokens[at as usize];
            }
        }
    }

    /// The node of the longest beginning of a reversed token that ends with this byte behind this node.
    #[inline]
    fn go(&self, mut at: u32, byte: u8) -> u32 {
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

    fn link(&mut self, place: usize, parent: u32, byte: u8) {
        let link = if parent == ROOT { ROOT } else { self.go(self.links[parent as usize], byte) };
        let inherited = if link == ROOT { NONE } else { self.tokens[link as usize] };
        self.links[place] = link;
        self.tokens[place] = self.trie.at(place).value().unwrap_or(inherited);
    }

    #[inline]
    fn node(&self, place: u32) -> Node {
        if place == ROOT { self.trie.root() } else { self.trie.at(place as usize) }
    }
}
