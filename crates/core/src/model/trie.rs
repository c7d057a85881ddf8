//! Strings -> values, byte by byte: a double array whose nodes are placed by exclusive or.
//!
//! A node's children stand at its base, each with its byte combined into it, and store that byte. No two nodes have the
//! same base, so that the byte suffices as proof. Only the latest blocks of 256 places are searched for room: building is
//! linear in the bytes of the strings, and so is the memory, hostile strings or not (8 bytes a place; some places stay
//! free).
//!
//! Source: Aoe, "An Efficient Digital Search Algorithm by Using a Double-Array Structure", 1989; Yata et al., "A
//! Compact Static Double-Array Keeping Character Codes", 2007, for exclusive or and one base a node.

use super::token_table::format;
use crate::error::Result;

/// Places in a block, one for each byte.
const BLOCK: usize = 256;

/// Blocks that are searched for room.
const OPEN: usize = 16;

/// Bases that are tried for one node before it gets a new block.
const TRIES: usize = 256;

/// The low bits of a place: 0 if it is free, else its byte and 1.
const BYTE_BITS: u32 = 9;
/// Above them: 0, or the value and 1.
const VALUE_BITS: u32 = 28;
const BASE_BITS: u32 = 64 - BYTE_BITS - VALUE_BITS;

/// The base of nodes without children, which no other node has.
const NO_CHILDREN: u32 = 0;

/// A node: what stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node(u64);

impl Node {
    /// The value of the string that ends here.
    #[inline]
    pub(super) fn value(self) -> Option<u32> {
        ((self.0 >> BYTE_BITS) as u32 & ((1 << VALUE_BITS) - 1)).checked_sub(1)
    }

    #[inline]
    fn base(self) -> usize {
        (self.0 >> (BYTE_BITS + VALUE_BITS)) as usize
    }
}

/// Strings and their values. Immutable.
pub(super) struct Trie {
    places: Vec<Node>,
    root: Node,
}

/// Strings that share a beginning, which has the node at this place.
struct Branch {
    first: usize,
    end: usize,
    depth: usize,
    place: Option<usize>,
}

impl Trie {
    /// A trie of strings, no two of them equal, and their values, which are below 2^28 - 1.
    ///
    /// # Errors
    /// `Format`, if 2^27 places do not hold them.
    pub(super) fn new<'a>(strings: impl Iterator<Item = (&'a [u8], u32)>) -> Result<Self> {
        // The first eight bytes mostly decide.
        let head = |string: &[u8]| {
            let mut head = [0; 8];
            let length = string.len().min(8);
            head[..length].copy_from_slice(&string[..length]);
            u64::from_be_bytes(head)
        };
        let mut strings: Vec<(u64, &[u8], u32)> =
            strings.map(|(string, value)| (head(string), string, value)).collect();
        strings.sort_unstable();

        let mut trie = Self { places: Vec::new(), root: Node(0) };
        let mut room = Room { blocks: Vec::new() };
        let mut branches = vec![Branch { first: 0, end: strings.len(), depth: 0, place: None }];
        let mut children: Vec<(u8, usize)> = Vec::new();
        while let Some(Branch { mut first, end, depth, place }) = branches.pop() {
            let mut value = 0;
            if let Some(&(_, _, this)) = strings.get(first).filter(|(_, string, _)| string.len() == depth) {
                value = u64::from(this) + 1;
                first += 1;
            }
            children.clear();
            for (at, (_, string, _)) in (first..).zip(&strings[first..end]) {
                if children.last().is_none_or(|&(byte, _)| byte != string[depth]) {
                    children.push((string[depth], at));
                }
            }
            let base = if children.is_empty() { NO_CHILDREN } else { room.base(&children, &mut trie.places)? };
            for (index, &(byte, start)) in children.iter().enumerate() {
                let place = base as usize ^ usize::from(byte);
                trie.places[place] = Node(u64::from(byte) + 1);
                let end = children.get(index + 1).map_or(end, |&(_, next)| next);
                branches.push(Branch { first: start, end, depth: depth + 1, place: Some(place) });
            }
            let node = match place {
                None => &mut trie.root,
                Some(place) => &mut trie.places[place],
            };
            node.0 |= value << BYTE_BITS | u64::from(base) << (BYTE_BITS + VALUE_BITS);
        }
        if trie.places.is_empty() {
            trie.places.resize(BLOCK, Node(0));
        }
        Ok(trie)
    }

    /// The node of the empty string.
    #[inline]
    pub(super) fn root(&self) -> Node {
        self.root
    }

    /// The node one byte further on.
    #[inline]
    pub(super) fn next(&self, node: Node, byte: u8) -> Option<Node> {
        self.place(node, byte).map(|place| self.places[place])
    }

    /// The place of the node one byte further on.
    #[inline]
    pub(super) fn place(&self, node: Node, byte: u8) -> Option<usize> {
        let place = node.base() ^ usize::from(byte);
        let found = self.places.get(place)?.0 & ((1 << BYTE_BITS) - 1);
        (found == u64::from(byte) + 1).then_some(place)
    }

    /// The node behind some bytes.
    #[inline]
    pub(super) fn spell(&self, node: Node, mut bytes: impl Iterator<Item = u8>) -> Option<Node> {
        bytes.try_fold(node, |node, byte| self.next(node, byte))
    }

    /// The node at a place.
    #[inline]
    pub(super) fn at(&self, place: usize) -> Node {
        self.places[place]
    }

    /// The number of places, free or not.
    pub(super) fn places(&self) -> usize {
        self.places.len()
    }

    /// The longest string that `text` begins with: its value and its length, if it is not empty; and how many bytes
    /// were looked at.
    #[inline]
    pub(super) fn longest(&self, text: &[u8]) -> (Option<(u32, usize)>, usize) {
        let (mut node, mut found) = (self.root, None);
        for (at, &byte) in text.iter().enumerate() {
            let Some(next) = self.next(node, byte) else { return (found, at) };
            node = next;
            if let Some(value) = node.value() {
                found = Some((value, at + 1));
            }
        }
        (found, text.len())
    }
}

/// Where there is room for nodes.
struct Room {
    blocks: Vec<Block>,
}

/// The free places of a block, and its bases that no node has.
struct Block {
    start: usize,
    free: [u64; 4],
    bases: [u64; 4],
}

impl Room {
    /// A base at which all children have room, which is taken.
    fn base(&mut self, children: &[(u8, usize)], places: &mut Vec<Node>) -> Result<u32> {
        let first = children[0].0;
        let mut tries = TRIES;
        'blocks: for (index, block) in self.blocks.iter_mut().enumerate().rev() {
            for word in 0..4 {
                let mut free = block.free[word];
                while free != 0 {
                    let base = (word as u8) << 6 | free.trailing_zeros() as u8;
                    let base = base ^ first;
                    free &= free - 1;
                    if has(&block.bases, base) && children.iter().all(|&(byte, _)| has(&block.free, base ^ byte)) {
                        let found = block.take(base, children);
                        if block.free == [0; 4] {
                            self.blocks.remove(index);
                        }
                        return Ok(found);
                    }
                    tries -= 1;
                    if tries == 0 {
                        break 'blocks;
                    }
                }
            }
        }
        let start = places.len();
        if start + BLOCK > 1 << BASE_BITS {
            return Err(format("the tokens are too many bytes for their trie"));
        }
        places.resize(start + BLOCK, Node(0));
        if self.blocks.len() == OPEN {
            self.blocks.remove(0);
        }
        let mut block = Block { start, free: [u64::MAX; 4], bases: [u64::MAX; 4] };
        if start == 0 {
            // `NO_CHILDREN` is no base.
            block.bases[0] &= !1;
        }
        let found = block.take(u8::from(start == 0), children);
        self.blocks.push(block);
        Ok(found)
    }
}

impl Block {
    fn take(&mut self, base: u8, children: &[(u8, usize)]) -> u32 {
        clear(&mut self.bases, base);
        for &(byte, _) in children {
            clear(&mut self.free, base ^ byte);
        }
        self.start as u32 | u32::from(base)
    }
}

fn has(bits: &[u64; 4], bit: u8) -> bool {
    bits[usize::from(bit >> 6)] >> (bit & 63) & 1 == 1
}

fn clear(bits: &mut [u64; 4], bit: u8) {
    bits[usize::from(bit >> 6)] &= !(1 << (bit & 63));
}
