//! Characters that merging can begin with, in place of their bytes.
//!
//! A character is a lead byte and its one or two continuation bytes. In a proper vocabulary merging goes through the ranks
//! once (`rules`). Suppose that at a place in a piece no token of a lower rank than the character begins or ends inside of it
//! there and extends beyond its edge. Then up to its rank only its own bytes merge in it: its inside does not depend on its
//! neighbours, nor they on its inside. At its rank it is whole, and what is made of it ranks above it. So the piece can begin
//! with the whole character.
//!
//! Tokens that do cross an edge are known by the two bytes at the edge and the next one. With more bytes hardly any character
//! more would be whole, with fewer half of those of Thai and Bengali under `o200k_base`.

use crate::error::Result;
use crate::memory::{copied, push};
use crate::stored::{Items, Reader, Writer, expect};

/// The symbols of whole characters, and the edges at which bytes are needed.
pub(crate) struct Characters {
    /// By the lower eleven bits of a character of two bytes.
    two: Vec<u32>,
    /// By the sixteen bits of a character of three bytes.
    three: Vec<u32>,
    /// By the two bytes at an edge: 0, or the number of its row, from 1, if a token crosses it with part of a character.
    edges: Vec<[u16; 256]>,
    /// A row for each such edge, by the lower six bits of the byte behind these two: the lowest symbol of such a token.
    lowest: Vec<Row>,
}

type Row = [u32; 64];

impl Characters {
    /// From the tokens that merges make, and their symbols.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn new<'a>(tokens: impl Iterator<Item = (u32, &'a [u8])>) -> Result<Self> {
        // Zero is a byte's symbol, so that it can stand for none; and zeroed memory that is not used costs none.
        let edges = vec![[0; 256]; 256];
        let mut new = Self { two: vec![0; 1 << 11], three: vec![0; 1 << 16], edges, lowest: Vec::new() };
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
                new.cross(token, at, symbol)?;
            }
            // It ends inside one, whose lead byte is the last or the last but one.
            for at in token.len().saturating_sub(2).max(1)..token.len() {
                if length(token[at]) > token.len() - at {
                    new.cross(token, at, symbol)?;
                }
            }
        }
        Ok(new)
    }

    /// No characters: merging begins with bytes.
    pub(super) fn none() -> Self {
        Self { two: Vec::new(), three: Vec::new(), edges: Vec::new(), lowest: Vec::new() }
    }

    pub(super) fn store(&self, writer: &mut Writer) {
        writer.items(&self.two);
        writer.items(&self.three);
        writer.items(&self.edges);
        writer.items(&self.lowest);
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
        let (edges, lowest): (Items<[u16; 256]>, Items<Row>) = (reader.items()?, reader.items()?);
        expect(edges.len() == 256 || two.is_empty() && three.is_empty())?;
        expect(edges.iter().flatten().all(|&row| usize::from(row) <= lowest.len()))?;
        Ok(Self { two: two.to_vec(), three: three.to_vec(), edges: edges.to_vec(), lowest: copied(&lowest)? })
    }

    /// A token crosses the edge that it has before byte `at`.
    fn cross(&mut self, token: &[u8], at: usize, symbol: u32) -> Result<()> {
        let row = &mut self.edges[usize::from(token[at - 1])][usize::from(token[at])];
        if *row == 0 {
            // There are fewer edges than numbers, since one of the two bytes is not ASCII.
            push(&mut self.lowest, [u32::MAX; 64])?;
            *row = self.lowest.len() as u16;
        }
        let row = &mut self.lowest[usize::from(*row) - 1];
        match token.get(at + 1) {
            Some(&next) => lower(&mut row[usize::from(next & 63)], symbol),
            // Whatever comes next.
            None => row.iter_mut().for_each(|lowest| lower(lowest, symbol)),
        }
        Ok(())
    }

    /// Whether a token of a lower rank may cross the edge before byte `at`.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "measured: as below")]
    fn is_crossed(&self, piece: &[u8], at: usize, symbol: u32) -> bool {
        let row = self.edges[usize::from(piece[at - 1])][usize::from(piece[at])];
        row > 0 && {
            let next = piece.get(at + 1).map_or(0, |next| next & 63);
            self.lowest[usize::from(row) - 1][usize::from(next)] < symbol
        }
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
            || at > 0 && self.is_crossed(piece, at, symbol)
            || end < piece.len() && self.is_crossed(piece, end, symbol);
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

fn lower(lowest: &mut u32, symbol: u32) {
    *lowest = symbol.min(*lowest);
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
