//! The table of tokens as a file holds it: written, and checked when it is read.

use super::{EMPTY, REACHES, SLOTS_A_WORD, Tokens, index_bits_of, indexed_of, slots_of};
use crate::error::Result;
use crate::memory::{collect, copied, filled};
use crate::stored::{Items, Reader, Writer, expect};
use crate::vocab::NO_ID;

impl Tokens {
    pub(in crate::vocab) fn store(&self, writer: &mut Writer) {
        writer.items(&self.slots);
        writer.items(&self.seen);
        writer.items(&self.reach);
    }

    /// Builds the table from columns, of which token `i` is `bytes[ends[i - 1]..ends[i]]`, and what was stored for them.
    ///
    /// # Errors
    /// `Format`, if ids do not ascend or a token is empty, an index is that of no token, or a look-up might not end; `Memory`.
    pub(in crate::vocab) fn of_stored(
        bytes: &[u8],
        ends: &[usize],
        ids: &[u32],
        reader: &mut Reader<'_>,
    ) -> Result<Self> {
        expect(ends.len() == ids.len() && u32::try_from(bytes.len()).is_ok())?;
        let (mut index_of_id, mut length_of_id) = (filled(NO_ID, indexed_of(ids))?, filled(0, indexed_of(ids))?);
        let (mut start, mut below, mut longest) = (0, None, 0);
        for (index, (&end, &id)) in (0..).zip(ends.iter().zip(ids)) {
            expect(end > start && end <= bytes.len() && id != NO_ID && Some(id) > below)?;
            if let Some(slot) = index_of_id.get_mut(id as usize) {
                *slot = index;
                length_of_id[id as usize] = u8::try_from(end - start).unwrap_or(0);
            }
            longest = longest.max(end - start);
            (start, below) = (end, Some(id));
        }
        let index_bits = index_bits_of(ids.len());
        let slots: Items<u32> = reader.exactly(slots_of(ids.len()))?;
        // All that are used have an index, and half of the slots or more are free.
        let (last, index_mask) = (ids.len() as u32, (1 << index_bits) - 1);
        let (mut used, mut wrong) = (0, 0);
        for &entry in slots.iter() {
            used += u32::from(entry != EMPTY);
            wrong |= u32::from(entry != EMPTY && entry & index_mask >= last);
        }
        expect(used == last && wrong == 0)?;
        Ok(Self {
            bytes: copied(bytes)?,
            ends: collect(ends.iter().map(|&end| end as u32))?,
            ids: copied(ids)?,
            index_of_id,
            length_of_id,
            index_bits,
            seen: reader.exactly(slots.len().div_ceil(SLOTS_A_WORD))?,
            slots,
            longest,
            reach: reader.exactly(REACHES)?.to_vec(),
        })
    }
}
