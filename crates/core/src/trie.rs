//! A trie over the bytes of tokens, as flat arrays in preorder.
//!
//! A node's children follow it, each with its subtree: the first child of `node` is `node + 1`, the next sibling of a child is
//! `ends[child]`, and the subtree of `node` is `node..ends[node]`. So are the tokens: those of a subtree are one range of `ids`.

use std::ops::Range;

use crate::error::Result;
use crate::memory::push;

/// Tokens by their bytes. Node 0 is the root, which no token ends at.
///
/// ```
/// use bytepair_core::trie::Trie;
/// let trie = Trie::new(vec![(&b"ab"[..], 7), (b"a", 3), (b"b", 5)])?;
/// assert_eq!((&trie.bytes[..], &trie.ends[..]), (&[0, b'a', b'b', b'b'][..], &[4, 3, 3, 4][..]));
/// let node = trie.find(b"a").unwrap();
/// assert_eq!((trie.ids_at(node), trie.ids_under(node)), (&[3][..], &[3, 7][..]));
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub struct Trie {
    /// The byte that leads to each node; 0 for the root.
    pub bytes: Vec<u8>,
    /// One past the last node of each subtree.
    pub ends: Vec<u32>,
    /// The parent of each node; the root is its own.
    pub parents: Vec<u32>,
    /// The tokens that end at node `i` are `ids[starts[i]..starts[i + 1]]`.
    pub starts: Vec<u32>,
    /// The ids of the tokens, in the order of their bytes.
    pub ids: Vec<u32>,
}

impl Trie {
    /// The trie of some tokens and their ids. Several tokens may have the same bytes; those without bytes are left out.
    ///
    /// Time: that of sorting them.
    ///
    /// # Errors
    /// `Memory`.
    pub fn new(mut tokens: Vec<(&[u8], u32)>) -> Result<Self> {
        tokens.sort_unstable();
        let mut trie = Self { bytes: vec![0], ends: vec![0], parents: vec![0], starts: vec![0], ids: Vec::new() };
        // The nodes from the root to the last token's.
        let mut way = vec![0_u32];
        let mut before: &[u8] = &[];
        for (token, id) in tokens.into_iter().filter(|(token, _)| !token.is_empty()) {
            let shared = before.iter().zip(token).take_while(|(one, other)| one == other).count();
            trie.leave(&mut way, shared + 1);
            for &byte in &token[shared..] {
                let parent = way[way.len() - 1];
                push(&mut way, trie.bytes.len() as u32)?;
                push(&mut trie.bytes, byte)?;
                push(&mut trie.ends, 0)?;
                push(&mut trie.parents, parent)?;
                push(&mut trie.starts, trie.ids.len() as u32)?;
            }
            push(&mut trie.ids, id)?;
            before = token;
        }
        trie.leave(&mut way, 0);
        push(&mut trie.starts, trie.ids.len() as u32)?;
        Ok(trie)
    }

    fn leave(&mut self, way: &mut Vec<u32>, depth: usize) {
        for node in way.drain(depth..) {
            self.ends[node as usize] = self.bytes.len() as u32;
        }
    }

    /// The children of a node, ascending by their bytes.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.ends[node] as usize;
        let first = (node + 1 < end).then_some(node + 1);
        std::iter::successors(first, move |&child| Some(self.ends[child] as usize).filter(|&next| next < end))
    }

    /// The child that a byte leads to.
    #[must_use]
    pub fn child(&self, node: usize, byte: u8) -> Option<usize> {
        self.children(node).take_while(|&child| self.bytes[child] <= byte).find(|&child| self.bytes[child] == byte)
    }

    /// The node that some bytes lead to.
    #[must_use]
    pub fn find(&self, bytes: &[u8]) -> Option<usize> {
        bytes.iter().try_fold(0, |node, &byte| self.child(node, byte))
    }

    /// The nodes of a subtree, its root first.
    #[must_use]
    pub fn subtree(&self, node: usize) -> Range<usize> {
        node..self.ends[node] as usize
    }

    /// The ids of the tokens that end at a node.
    #[must_use]
    pub fn ids_at(&self, node: usize) -> &[u32] {
        &self.ids[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// The ids of the tokens that begin with the bytes of a node.
    #[must_use]
    pub fn ids_under(&self, node: usize) -> &[u32] {
        &self.ids[self.starts[node] as usize..self.starts[self.ends[node] as usize] as usize]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_under_each_of_their_beginnings() {
        let tokens: [&[u8]; 7] = [b"a", b"abc", b"abd", b"b", b"abc", b"\0", b"\xff\xff"];
        let trie = Trie::new(tokens.iter().copied().zip(0..).collect()).unwrap();
        for (number, token) in tokens.iter().enumerate() {
            for length in 0..=token.len() {
                let node = trie.find(&token[..length]).unwrap();
                let mut under: Vec<u32> = trie.ids_under(node).to_vec();
                under.sort_unstable();
                let begins = |other: &&u32| tokens[**other as usize].starts_with(&token[..length]);
                assert_eq!(under, (0..7).filter(|other| begins(&other)).collect::<Vec<u32>>());
                assert_eq!(trie.ids_at(node).contains(&(number as u32)), length == token.len());
            }
            assert_eq!(trie.find(&[token, &b"x"[..]].concat()), None);
        }
    }

    #[test]
    fn a_trie_of_nothing_has_a_root() {
        for trie in [vec![], vec![(&b""[..], 1)]].map(|tokens| Trie::new(tokens).unwrap()) {
            assert_eq!((trie.ends, trie.starts, trie.ids), (vec![1], vec![0, 0], vec![]));
        }
    }
}
