//! Room at the end of a result, for the ids of some pieces one behind the other.
#![allow(unsafe_code, reason = "measured: ids that are written where they stay, without a copy")]

use std::mem::{MaybeUninit, transmute};

use crate::error::Result;
use crate::memory::Room;

/// The most ids that a piece has in a row.
pub(crate) const IDS: usize = 3;

/// The ids of a piece, and behind them their number.
pub(crate) type Ids = [u32; IDS + 1];

/// The room, and how many ids are in it.
pub(crate) struct Row<'a> {
    room: &'a mut [MaybeUninit<u32>],
    count: usize,
}

impl Row<'_> {
    /// Adds the ids of a piece. All are written that it could have, which takes no loop, and the next ones over those that are
    /// none.
    #[inline(always)]
    pub(crate) fn put(&mut self, ids: &Ids) {
        if let Some(room) = self.room[self.count..].first_chunk_mut() {
            // SAFETY: a number may stand where any number or none may.
            *room = unsafe { transmute::<Ids, [MaybeUninit<u32>; IDS + 1]>(*ids) };
            self.count += ids[IDS] as usize % (IDS + 1);
        }
    }

    /// Adds some ids: as many as there is room for.
    #[inline(always)]
    pub(crate) fn put_all(&mut self, ids: impl Iterator<Item = u32>) {
        for (room, id) in self.room[self.count..].iter_mut().zip(ids) {
            room.write(id);
            self.count += 1;
        }
    }
}

/// Appends what `write` puts into a row of up to so many ids; returns what it does.
///
/// # Errors
/// `Memory`.
#[inline(always)]
pub(crate) fn append<T>(ids: &mut Vec<u32>, most: usize, write: impl FnOnce(&mut Row) -> T) -> Result<T> {
    ids.room(most + 1)?;
    let mut row = Row { room: ids.spare_capacity_mut(), count: 0 };
    let result = write(&mut row);
    let count = row.count;
    // SAFETY: each id below the count is written, since a piece counts for no more than are written of it.
    unsafe { ids.set_len(ids.len() + count) };
    Ok(result)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn ids_stand_one_behind_the_other() {
        let mut all = vec![9];
        let last = append(&mut all, 4 * IDS, |row| {
            for ids in [[1, 0, 0, 1], [2, 3, 4, 3], [7, 7, 7, 0], [5, 6, 0, 2]] {
                row.put(&ids);
            }
            row.put_all([8, 8, 9, 9, 10].into_iter());
            "last"
        });
        assert_eq!((last.unwrap(), all), ("last", vec![9, 1, 2, 3, 4, 5, 6, 8, 8, 9, 9, 10]));
        let mut none = Vec::new();
        append(&mut none, 0, |_| ()).unwrap();
        assert!(none.is_empty());
    }
}
