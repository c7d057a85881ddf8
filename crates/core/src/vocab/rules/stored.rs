//! The merges of a vocabulary as a file holds them: written, and checked when they are read.

use super::{FIRST, Rules};
use crate::error::Result;
use crate::memory::{collect, copied, filled};
use crate::stored::{Reader, Writer, damaged, expect};
use crate::vocab::NO_ID;
use crate::vocab::hashes::hash;
use crate::vocab::pair_table::{NONE, PairTable, SYMBOLS};
use crate::vocab::tokens::Tokens;

impl Rules {
    pub(in crate::vocab) fn store(&self, writer: &mut Writer) {
        writer.items(&[u64::from(self.proper), self.parts.len() as u64]);
        writer.items(&self.products);
        writer.items(&self.ids);
        writer.items(&self.symbols);
        self.pairs.store(writer);
    }

    /// The merges that were stored for these tokens, and the length of each symbol in bytes; 0 if it is none.
    ///
    /// # Errors
    /// `Format`, if a merge is not as long as its parts, or is not made of earlier ones in a proper vocabulary; `Memory`.
    pub(in crate::vocab) fn of_stored(columns: &Tokens, reader: &mut Reader<'_>) -> Result<(Self, Vec<u32>)> {
        let &[proper, made] = &*reader.exactly::<u64>(2)? else { return Err(damaged()) };
        let (proper, made) = (proper == 1, usize::try_from(made).map_err(|_| damaged())?);
        let products = copied(&reader.items::<u32>()?)?;
        let ids = copied(&reader.items::<u32>()?)?;
        let symbols = copied(&reader.exactly::<u32>(columns.ids().len())?)?;
        expect(ids.len() >= FIRST as usize && made < SYMBOLS && if proper { products.is_empty() } else { made == 0 })?;
        let id_of = |symbol: u32| ids.get(symbol as usize).copied().unwrap_or(symbol);

        // The length of each symbol; 0 if no token is made by it.
        let last = symbols.iter().filter(|&&symbol| symbol != NONE).max().map_or(0, |&last| last as usize + 1);
        let count = last.max(ids.len()).max(FIRST as usize + made);
        expect(count < SYMBOLS)?;
        let mut lengths: Vec<u32> =
            collect((0..count as u32).map(|symbol| columns.length_of_id(id_of(symbol)) as u32))?;
        for byte in 0..=u8::MAX {
            expect(
                columns.find(hash(&[byte]), &[byte]).map_or(NO_ID, |index| columns.ids()[index as usize])
                    == ids[usize::from(byte)],
            )?;
        }
        if proper {
            lengths.truncate(FIRST as usize + made);
        }
        let length = |lengths: &[u32], symbol: u32| lengths.get(symbol as usize).copied().unwrap_or(0);
        let is_made = |lengths: &[u32], [left, right]: [u32; 2], made: u32| {
            let [left, right] = [left, right].map(|part| length(lengths, part));
            left > 0 && right > 0 && left.saturating_add(right) == length(lengths, made)
        };
        let (pairs, parts) = if proper {
            // One more, for free slots.
            let mut parts = filled([NONE; 2], made + 1)?;
            let (pairs, count) = PairTable::of_stored(reader, |_, pair, value| {
                parts[(value.wrapping_sub(FIRST) as usize).min(made)] = pair;
            })?;
            parts.truncate(made);
            // Each pair makes a symbol of its own, of earlier ones.
            expect(parts.iter().filter(|&&pair| pair != [NONE; 2]).count() == count)?;
            for (symbol, &pair) in (FIRST..).zip(&parts) {
                if pair == [NONE; 2] {
                    lengths[symbol as usize] = 0;
                } else {
                    expect(pair[0].max(pair[1]) < symbol && is_made(&lengths, pair, symbol))?;
                }
            }
            (pairs, parts)
        } else {
            let mut are_right = true;
            let (pairs, _) = PairTable::of_stored(reader, |is_used, pair, value| {
                let made = products.get(value.wrapping_sub(FIRST) as usize).copied();
                let made = if products.is_empty() { value } else { made.unwrap_or(NONE) };
                are_right &= !is_used | (value >= FIRST && is_made(&lengths, pair, made));
            })?;
            expect(are_right)?;
            (pairs, Vec::new())
        };
        for (&symbol, &id) in symbols.iter().zip(columns.ids()).filter(|&(&symbol, _)| symbol != NONE) {
            expect(length(&lengths, symbol) > 0 && id_of(symbol) == id)?;
        }
        let lacks_bytes = ids[..FIRST as usize].contains(&NO_ID);
        Ok((Self { pairs, parts, products, ids, symbols, lacks_bytes, proper }, lengths))
    }
}
