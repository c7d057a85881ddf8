//! Characters -> classes: the set of a pattern's character sets that a character is in, as one small number.
//!
//! Two characters that are in the same sets are equal to the pattern. The sets come from `regex-syntax`, which the
//! regular-expression engines use as well, so that they agree about Unicode.

use std::collections::HashMap;

use regex_syntax::hir::ClassUnicode;
use rustc_hash::FxHashMap;

/// Characters in one block of the table; the last byte of a UTF-8 sequence counts within a block.
const BLOCK: usize = 64;

/// Characters that UTF-8 has up to three bytes for.
const PLANE: usize = 0x1_0000;

/// One past the largest code point.
const CODE_POINTS: usize = 0x11_0000;

/// More classes than this do not fit; patterns in use have about a dozen.
const MOST_CLASSES: usize = 250;

/// The class of each character.
#[derive(Clone)]
pub(super) struct Classes {
    /// The classes of characters of up to three bytes, by code point.
    plane: Box<[u8; PLANE]>,
    /// The classes of the others, in two stages: 64 characters share a block, and equal blocks are stored once. By code point over
    /// 64: the number of its block.
    pub(super) block_of: Vec<u16>,
    pub(super) blocks: Vec<[u8; BLOCK]>,
    /// By class: bit `i` is set if its characters are in set `i`.
    members: Vec<u128>,
}

impl Classes {
    /// The classes that these sets tell apart; None if there are too many.
    pub(super) fn new(sets: &[ClassUnicode]) -> Option<Self> {
        if sets.len() > 128 {
            return None;
        }
        // Where a set begins or ends, the class may change.
        let mut changes = vec![(0, 0_u128)];
        for (set, class) in sets.iter().enumerate() {
            for range in class.ranges() {
                changes.push((range.start() as usize, 1 << set));
                changes.push((range.end() as usize + 1, 1 << set));
            }
        }
        changes.sort_unstable();
        let mut class_of_members = HashMap::new();
        let mut members = Vec::new();
        let mut flat = vec![0_u8; CODE_POINTS];
        let mut inside = 0;
        for (at, &(start, set)) in changes.iter().enumerate() {
            inside ^= set;
            let end = changes.get(at + 1).map_or(CODE_POINTS, |&(next, _)| next);
            if start == end {
                continue;
            }
            let class = *class_of_members.entry(inside).or_insert_with(|| {
                members.push(inside);
                members.len() - 1
            });
            if class >= MOST_CLASSES {
                return None;
            }
            flat[start..end].fill(class as u8);
        }
        let mut number_of = FxHashMap::default();
        let mut blocks = Vec::new();
        let (chunks, _) = flat.as_chunks::<BLOCK>();
        let block_of = chunks.iter().map(|block| {
            *number_of.entry(block).or_insert_with(|| {
                blocks.push(*block);
                (blocks.len() - 1) as u16
            })
        });
        let block_of = block_of.collect();
        flat.truncate(PLANE);
        flat.shrink_to_fit();
        let plane = flat.into_boxed_slice().try_into().ok()?;
        Some(Self { plane, block_of, blocks, members })
    }

    /// The number of classes.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether the characters of a class are in a set.
    pub(super) fn is_in(&self, class: usize, set: usize) -> bool {
        self.members[class] >> set & 1 == 1
    }

    /// The sets that the characters of a class are in, as bits.
    pub(super) fn members(&self, class: u8) -> u128 {
        self.members[usize::from(class)]
    }

    /// The class of a code point.
    pub(super) fn of_point(&self, point: u32) -> u8 {
        let point = point as usize;
        match self.plane.get(point) {
            Some(&class) => class,
            None => self.blocks[usize::from(self.block_of[point / BLOCK])][point % BLOCK],
        }
    }

    /// The first bytes of the characters of some classes.
    pub(super) fn first_bytes(&self, is_one: impl Fn(u8) -> bool) -> [bool; 256] {
        let mut first = [false; 256];
        for (point, &class) in self.plane.iter().enumerate() {
            let byte = match point {
                0..0x80 => point,
                0x80..0x800 => 0xC0 | point >> 6,
                _ => 0xE0 | point >> 12,
            };
            first[byte] |= is_one(class);
        }
        let in_block: Vec<bool> = self.blocks.iter().map(|block| block.iter().any(|&class| is_one(class))).collect();
        for (number, &block) in self.block_of.iter().enumerate().skip(PLANE / BLOCK) {
            first[0xF0 | number >> 12] |= in_block[usize::from(block)];
        }
        first
    }

    /// The class of the character that starts at `at`, and its length in bytes; None at the end of the text.
    #[inline(always)]
    pub(super) fn at(&self, text: &[u8], at: usize) -> Option<(u8, usize)> {
        // The text is UTF-8: nothing is missing after a first byte, but the compiler does not know.
        let rest = text.get(at..)?;
        let low = |byte: u8| usize::from(byte & 0x3F);
        let in_plane = |point: usize| self.plane[point & (PLANE - 1)];
        match *rest {
            [] => None,
            [first @ ..0x80, ..] => Some((in_plane(usize::from(first)), 1)),
            [first @ ..0xE0, last, ..] => Some((in_plane(usize::from(first & 0x1F) << 6 | low(last)), 2)),
            [first @ ..0xF0, second, last, ..] => {
                Some((in_plane(usize::from(first & 0x0F) << 12 | low(second) << 6 | low(last)), 3))
            }
            [first, second, third, last, ..] => {
                let block = usize::from(first & 0x07) << 12 | low(second) << 6 | low(third);
                Some((self.blocks[usize::from(self.block_of[block])][low(last)], 4))
            }
            _ => Some((0, 1)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use regex_syntax::hir::{Class, HirKind};

    use super::*;

    fn set(pattern: &str) -> ClassUnicode {
        match regex_syntax::parse(pattern).unwrap().into_kind() {
            HirKind::Class(Class::Unicode(class)) => class,
            _ => panic!("{pattern} is no class"),
        }
    }

    #[test]
    fn every_character_is_in_the_sets_that_its_class_says() {
        let sets = [set(r"\p{L}"), set(r"\p{N}"), set(r"\s"), set(r"[\p{Lu}\p{Lo}\p{M}]"), set("[a-z]")];
        let classes = Classes::new(&sets).unwrap();
        for character in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            let text = character.encode_utf8(&mut buffer).as_bytes();
            let (class, length) = classes.at(text, 0).unwrap();
            assert_eq!(length, character.len_utf8());
            for (number, set) in sets.iter().enumerate() {
                let inside = set.ranges().iter().any(|range| (range.start()..=range.end()).contains(&character));
                assert_eq!(classes.is_in(usize::from(class), number), inside, "{character:?}");
            }
        }
        assert!(classes.blocks.len() < 1_000, "{}", classes.blocks.len());
        for (number, set) in sets.iter().enumerate() {
            let mut expected = [false; 256];
            for character in set.iter().flat_map(|range| range.start()..=range.end()) {
                expected[usize::from(character.encode_utf8(&mut [0; 4]).as_bytes()[0])] = true;
            }
            assert_eq!(classes.first_bytes(|class| classes.is_in(usize::from(class), number)), expected);
        }
        assert_eq!(classes.at(b"a", 1), None);
    }
}
