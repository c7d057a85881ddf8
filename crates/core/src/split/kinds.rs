//! Characters beyond ASCII that a pattern treats as it treats some of ASCII, in tables for wide registers.
//!
//! A pattern of the family tells characters apart by the sets that they are in, and nothing else. One that is in the sets of
//! `a` alone takes its place everywhere; so do those of `A` and of `!`. One that is in the sets of `a` and of `A` goes with
//! either, as Han characters do where letters are cut at their case; one that is in those of `!` as well is a mark, which also goes
//! with what is neither letter nor digit. All others have no kind, white space and digits among them.

use std::ops::RangeInclusive;

use super::classes::Classes;
use super::masks::{BLOCK, Masks};

/// The bytes that may be second in a character, or later.
const LATER: usize = 64;

/// The least byte that is the first of a character beyond ASCII.
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code, reason = "no wide registers"))]
pub(super) const FIRST: u8 = 0xC0;

/// Tables by the bytes of a character.
pub(super) struct Kinds {
    /// By the first byte, from 0xC0 on: the kind, if it is that of all such characters; else 0.
    by_first: [u8; LATER],
    /// Whether letters beyond ASCII have a kind: not where a pattern has a set of letters of ASCII alone.
    pub(super) knows_letters: bool,
    /// By the first byte and the second one from 0x80 on: the kind, if it is that of all such characters.
    first: Box<[[u8; LATER]; LATER]>,
    /// By the first two bytes of others: which of `rows` they have.
    row_of: Box<[u8; LATER * LATER]>,
    /// By the third byte: the kind. Of characters of four bytes it is that of all that begin so.
    rows: Vec<[u8; LATER]>,
}

/// A kind is some of these together, 0 where it is not known. As lower case.
const LOWER: u8 = 1;
/// As upper case.
const UPPER: u8 = 2;
/// As punctuation.
const OTHER: u8 = 4;
/// In `first`: the third byte says it.
const MIXED: u8 = 128;

impl Kinds {
    pub(super) fn of(classes: &Classes) -> Self {
        let members = |byte: u8| classes.members(classes.of_point(byte.into()));
        // Some letters are in sets of words as well.
        let fewest =
            |letters: RangeInclusive<u8>| letters.map(members).min_by_key(|sets| sets.count_ones()).unwrap_or(0);
        let (lower, upper, other) = (fewest(b'a'..=b'z'), fewest(b'A'..=b'Z'), members(b'!'));
        let mut of_class = [0; 256];
        for (class, kind) in (0..classes.len()).zip(&mut of_class) {
            *kind = match classes.members(class as u8) {
                same if same == lower => LOWER,
                same if same == upper => UPPER,
                same if same == other => OTHER,
                both if both == lower | upper => LOWER | UPPER,
                all if all == lower | upper | other => LOWER | UPPER | OTHER,
                _ => 0,
            };
        }
        // Characters that differ in their last byte alone have one block of classes, which many share.
        let rows: Vec<[u8; LATER]> =
            classes.blocks.iter().map(|block| block.map(|class| of_class[usize::from(class)])).collect();
        let common = |row: &[u8; LATER]| row.iter().all(|&kind| kind == row[0]).then_some(row[0]);
        let of_row: Vec<u8> = rows.iter().map(|row| common(row).unwrap_or(0)).collect();
        let number = |block: usize| usize::from(classes.block_of[block]);
        let mut kinds = Self {
            by_first: [0; LATER],
            knows_letters: false,
            first: Box::new([[0; LATER]; LATER]),
            row_of: Box::new([0; LATER * LATER]),
            rows: Vec::new(),
        };
        for first in 0..LATER {
            for second in 0..LATER {
                let row = match first {
                    0..0x20 => [rows[number(first)][second]; LATER],
                    0x20..0x30 => rows[number((first & 0xF) << 6 | second)],
                    _ if (0x10..0x110).contains(&((first & 7) << 6 | second)) => {
                        std::array::from_fn(|third| of_row[number((first & 7) << 12 | second << 6 | third)])
                    }
                    _ => [0; LATER],
                };
                kinds.first[first][second] = common(&row).unwrap_or_else(|| kinds.add(first << 6 | second, row));
            }
            kinds.by_first[first] = common(&kinds.first[first]).filter(|&kind| kind != MIXED).unwrap_or(0);
        }
        kinds.knows_letters = kinds.of_first("é".as_bytes()) != 0;
        kinds
    }

    /// Adds a row, if there is room for one more: of bytes that have none the kind is not known.
    fn add(&mut self, bytes: usize, row: [u8; LATER]) -> u8 {
        let number = self.rows.iter().position(|known| *known == row).unwrap_or(self.rows.len());
        let Ok(number_of_row) = u8::try_from(number) else { return 0 };
        if number == self.rows.len() {
            self.rows.push(row);
        }
        self.row_of[bytes] = number_of_row;
        MIXED
    }

    /// The kinds of characters that begin with two bytes, by the third.
    #[inline(always)]
    fn row(&self, first: u8, second: u8) -> &[u8; LATER] {
        let bytes = usize::from(first & 0x3F) << 6 | usize::from(second & 0x3F);
        &self.rows[usize::from(self.row_of[bytes])]
    }

    /// The kind of the character beyond ASCII that some bytes begin with; 0 also where they end inside of it before that is known.
    #[inline]
    pub(super) fn of_first(&self, bytes: &[u8]) -> u8 {
        let &[first, ref rest @ ..] = bytes else { return 0 };
        let kind = self.by_first[usize::from(first & 0x3F)];
        let (0, &[second, ref rest @ ..]) = (kind, rest) else { return kind };
        match self.first[usize::from(first & 0x3F)][usize::from(second & 0x3F)] {
            MIXED => rest.first().map_or(0, |&third| self.row(first, second)[usize::from(third & 0x3F)]),
            kind => kind,
        }
    }

    /// The masks of a block with characters beyond ASCII, given those of its ASCII.
    ///
    /// All characters with one first byte are looked up at once, by their second bytes, in a table that fits into registers; and
    /// so by their third bytes those of the same two first ones, where these two do not tell. Most text has few of either.
    #[inline(always)]
    pub(super) fn masks<K: Copy, L: Copy>(
        &self,
        ascii: &Masks,
        block: &[u8; BLOCK],
        registers: &Registers<
            K,
            L,
            impl Fn(usize, u8) -> L,
            impl Fn(L, L) -> L,
            impl Fn(K, &[u8; LATER], L) -> K,
            impl Fn(L) -> u64,
            impl Fn(K, u8) -> u64,
        >,
    ) -> Masks {
        let Registers { none, first, is, both, put, mask, has } = registers;
        let mut kinds = put(*none, &self.by_first, *first);
        let first = mask(*first);
        // Those of whose kind nothing is known yet; the last byte of a block has none behind it.
        let mut left = first & !has(kinds, u8::MAX) & !(1 << 63);
        while left != 0 {
            let byte = block[left.trailing_zeros() as usize & 63];
            left &= !mask(is(0, byte));
            kinds = put(kinds, &self.first[usize::from(byte & 0x3F)], is(1, byte));
        }
        let mut left = has(kinds, MIXED);
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            let (before, byte) = (block[at.wrapping_sub(1) & 63], block[at & 63]);
            left &= !mask(both(is(0, byte), is(1, before)));
            kinds = put(kinds, self.row(before, byte), both(is(1, byte), is(2, before)));
        }
        ascii.and_beyond(first, [LOWER, UPPER, OTHER].map(|bit| has(kinds, bit)))
    }
}

/// Operations of [`Kinds::masks`] on the bytes of a block in registers: `K` holds a byte for each, `L` whether something holds of it.
pub(super) struct Registers<K, L, Is, Both, Put, Mask, Has> {
    /// No kinds.
    pub(super) none: K,
    /// Which bytes are the first of a character beyond ASCII.
    pub(super) first: L,
    /// Whether the byte so many places before is this one.
    pub(super) is: Is,
    /// Whether both hold.
    pub(super) both: Both,
    /// Kinds with, where something holds, the entry of a table for the low six bits of the byte.
    pub(super) put: Put,
    /// As bits.
    pub(super) mask: Mask,
    /// As bits, whether kinds have any of some bits.
    pub(super) has: Has,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use regex_syntax::hir::{Class, HirKind};

    use super::*;

    #[test]
    fn a_character_has_the_kind_of_those_in_its_sets() {
        let sets =
            [r"[^\r\n\p{L}\p{N}]", r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"\p{N}", r"\s"];
        let sets = sets.map(|set| match regex_syntax::parse(set).unwrap().into_kind() {
            HirKind::Class(Class::Unicode(class)) => class,
            _ => panic!("{set} is no class"),
        });
        let classes = Classes::new(&sets).unwrap();
        let kinds = Kinds::of(&classes);
        let is_in = |character: char, set: usize| {
            sets[set].ranges().iter().any(|range| (range.start()..=range.end()).contains(&character))
        };
        let (mut mixed, mut all) = (0, 0);
        for character in '\u{80}'..=char::MAX {
            let [loose, upper, lower, digit, space] = [0, 1, 2, 3, 4].map(|set| is_in(character, set));
            let expected = match (loose, upper, lower) {
                _ if digit || space => 0,
                (false, true, true) => LOWER | UPPER,
                (true, true, true) => LOWER | UPPER | OTHER,
                (false, true, false) => UPPER,
                (false, false, true) => LOWER,
                (true, false, false) => OTHER,
                _ => 0,
            };
            let found = kinds.of_first(character.encode_utf8(&mut [0; 4]).as_bytes());
            all += 1;
            // Those of four bytes share a kind with 64 others, or have none.
            let is_mixed = found == 0 && expected != 0 && character > '\u{ffff}';
            assert!(found == expected || is_mixed, "{character:?}: {found}, not {expected}");
            mixed += u32::from(is_mixed);
        }
        assert!(mixed < all / 50, "{mixed} of {all}");
        assert!(kinds.rows.len() < 256);
    }
}
