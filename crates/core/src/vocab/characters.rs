//! Characters that merging can begin with, in place of their bytes.
//!
//! A character is a lead byte and its one or two continuation bytes. Suppose that at a place in a piece no token that merges
//! make begins or ends inside the character there and extends beyond its edge. Then only the character's own bytes merge in
//! it until it is whole: its inside does not depend on its neighbours, nor they on its inside, so the piece can begin with
//! the whole character. Tokens that do cross an edge are known by the two bytes at the edge: a table of 256 by 256 bits
//! marks each edge that some token crosses from the inside of a character, or into it.

use crate::error::Result;
use crate::stored::{Items, Reader, Writer, expect};

/// The symbols of whole characters, and the edges at which bytes are needed.
pub(crate) struct Characters {
    /// By the lower eleven bits of a character of two bytes.
    two: Vec<u32>,
    /// By the sixteen bits of a character of three bytes.
    three: Vec<u32>,
    /// Bit `right` of `crossed[left]`: a token crosses this edge with part of a character.
    crossed: Vec<[u64; 4]>,
}

impl Characters {
    /// From the tokens that merges make, and their symbols.
    pub(super) fn new<'a>(tokens: impl Iterator<Item = (u32, &'a [u8])>) -> Self {
        // Zero is a byte's symbol, so that it can stand for none; and zeroed memory that is not used costs none.
        let mut new = Self { two: vec![0; 1 << 11], three: vec![0; 1 << 16], crossed: vec![[0; 4]; 256] };
        for (symbol, token) in tokens {
            let (first, last) = (token[0], token[token.len() - 1]);
            if first < 0x80 && last < 0x80 {
                continue;
            }
            match *token {
                [lead, a] if length(lead) == 2 && is_continuation(a) => new.two[two(lead, a)] = symbol,
                [lead, a, b] if length(lead) == 3 && is_continuation(a) && is_continuation(b) => {
                    new.three[three(lead, a, b)] = symbol;
                }
                _ => {}
            }
            // The token begins inside a character, which ends after one or two of its bytes.
            for at in 1..token.len().min(3) {
                if !is_continuation(token[at - 1]) {
                    break;
                }
                new.cross(token[at - 1], token[at]);
            }
            // It ends inside one, whose lead byte is the last or the last but one.
            for at in token.len().saturating_sub(2).max(1)..token.len() {
                if length(token[at]) > token.len() - at {
                    new.cross(token[at - 1], token[at]);
                }
            }
        }
        new
    }

    /// No characters: merging begins with bytes.
    pub(super) fn none() -> Self {
        Self { two: Vec::new(), three: Vec::new(), crossed: vec![[u64::MAX; 4]; 256] }
    }

    pub(super) fn store(&self, writer: &mut Writer) {
        writer.items(&self.two);
        writer.items(&self.three);
        writer.items(&self.crossed);
    }

    /// The characters that were stored, for symbols of these lengths.
    ///
    /// # Errors
    /// `Format`, if a character is not as long as its symbol.
    pub(super) fn of_stored(reader: &mut Reader<'_>, lengths: &[u32]) -> Result<Self> {
        let (two, three): (Items<u32>, Items<u32>) = (reader.items()?, reader.items()?);
        for (symbols, length) in [(&two, 2), (&three, 3)] {
            expect(symbols.iter().all(|&symbol| symbol == 0 || lengths.get(symbol as usize) == Some(&length)))?;
        }
        Ok(Self { two: two.to_vec(), three: three.to_vec(), crossed: reader.exactly(256)?.to_vec() })
    }

    fn cross(&mut self, left: u8, right: u8) {
        self.crossed[usize::from(left)][usize::from(right >> 6)] |= 1 << (right & 63);
    }

    #[inline]
    fn is_crossed(&self, left: u8, right: u8) -> bool {
        self.crossed[usize::from(left)][usize::from(right >> 6)] >> (right & 63) & 1 == 1
    }

    /// The symbol of the whole character at `at` and its length, if the piece may begin with it; else the byte.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "measured: a call for each symbol costs more than its work")]
    pub(crate) fn at(&self, piece: &[u8], at: usize) -> (u32, usize) {
        let lead = piece[at];
        if lead < 0xC2 {
            return (u32::from(lead), 1);
        }
        self.beyond_ascii(piece, at).unwrap_or((u32::from(lead), 1))
    }

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "measured: a call for each symbol costs more than its work")]
    fn beyond_ascii(&self, piece: &[u8], at: usize) -> Option<(u32, usize)> {
        let lead = piece[at];
        let (symbol, length) = match length(lead) {
            2 => match *piece.get(at + 1..at + 2)? {
                [a] if is_continuation(a) => (*self.two.get(two(lead, a))?, 2),
                _ => return None,
            },
            3 => match *piece.get(at + 1..at + 3)? {
                [a, b] if is_continuation(a) && is_continuation(b) => (*self.three.get(three(lead, a, b))?, 3),
                _ => return None,
            },
            _ => return None,
        };
        let end = at + length;
        let crossed = symbol == 0
            || at > 0 && self.is_crossed(piece[at - 1], lead)
            || end < piece.len() && self.is_crossed(piece[end - 1], piece[end]);
        (!crossed).then_some((symbol, length))
    }
}

/// The length of a character with this lead byte; 0 if it is not two or three bytes.
#[inline]
fn length(lead: u8) -> usize {
    match lead {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        _ => 0,
    }
}

#[inline]
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[inline]
fn two(lead: u8, a: u8) -> usize {
    usize::from(lead & 31) << 6 | usize::from(a & 63)
}

#[inline]
fn three(lead: u8, a: u8, b: u8) -> usize {
    usize::from(lead & 15) << 12 | usize::from(a & 63) << 6 | usize::from(b & 63)
}
