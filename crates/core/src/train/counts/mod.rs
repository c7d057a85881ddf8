//! Texts -> the count and the first position of each piece.
//!
//! [`Counter`] counts texts and files on several threads, each with a [`counts_table`] of its own. A text is cut at seams, where no
//! piece can change ([`cut`]), and a file is read in windows that end at one ([`windows`]). When memory is short, tables
//! are written to disk as sorted [`runs`]. In the end all are joined to [`PieceCounts`], which do not depend on threads, cuts
//! or memory.

mod arena;
mod counter;
mod counts_table;
mod cut;
mod runs;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
mod windows;
mod worker;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

pub use self::counter::Counter;
use self::counts_table::CountsTable;
pub use self::counts_table::Row;
use self::runs::{Reader, SortedRun};
pub use self::worker::Spilled;
use crate::error::Result;
use crate::memory::{self, Room};
use crate::utf8::OnInvalid;

/// Counted pieces: each once in each group of sources.
pub struct PieceCounts {
    held: Held,
    spilled: Spilled,
}

enum Held {
    /// No piece is in two of the tables.
    Tables(Vec<CountsTable>),
    SortedRun(SortedRun),
}

impl PieceCounts {
    /// Counts of pieces that were given, in order of first occurrence.
    ///
    /// # Errors
    /// `Training`, if counts overflow 64 bits.
    ///
    /// ```
    /// # use bytepair_core::train::PieceCounts;
    /// let counts = PieceCounts::of([(&b"low"[..], 5), (b"er", 2), (b"low", 1)])?;
    /// assert_eq!((counts.len(), counts.piece_bytes()), (2, 5));
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn of<'a>(pieces: impl IntoIterator<Item = (&'a [u8], u64)>) -> Result<Self> {
        let mut counter = Counter::new(None);
        for (piece, count) in pieces {
            counter.add(piece, count)?;
        }
        counter.finish(1, &crate::train::Progress::default())
    }

    /// The number of rows: distinct pieces, if there is one group.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.held {
            Held::Tables(tables) => tables.iter().map(|table| table.len() as u64).sum(),
            Held::SortedRun(run) => run.rows,
        }
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of the pieces of all rows, each counted once.
    #[must_use]
    pub fn piece_bytes(&self) -> u64 {
        match &self.held {
            Held::Tables(tables) => tables.iter().flat_map(CountsTable::rows).map(|row| row.piece.len() as u64).sum(),
            Held::SortedRun(run) => run.piece_bytes,
        }
    }

    /// Whether the rows are on disk, because they did not fit into the memory that was allowed.
    #[must_use]
    pub fn is_on_disk(&self) -> bool {
        matches!(self.held, Held::SortedRun(_))
    }

    /// The totals of each group.
    ///
    /// # Errors
    /// `Artifact`, if a temporary file cannot be read.
    pub fn totals(&self) -> Result<BTreeMap<u16, Total>> {
        let mut totals = BTreeMap::new();
        let mut add = |row: Row| {
            let total: &mut Total = totals.entry(row.group).or_default();
            total.rows += 1;
            total.pieces += u128::from(row.count);
            total.bytes += u128::from(row.count) * row.piece.len() as u128;
        };
        match &self.held {
            Held::Tables(tables) => tables.iter().flat_map(CountsTable::rows).for_each(add),
            Held::SortedRun(run) => {
                let mut rows = Reader::new(run)?;
                while let Some(row) = rows.next()? {
                    add(row);
                }
            }
        }
        Ok(totals)
    }

    /// The rows written to disk while counting.
    #[must_use]
    pub fn spilled(&self) -> Spilled {
        self.spilled
    }

    /// Has `take` see all rows, sorted by piece and group.
    ///
    /// # Errors
    /// The errors of `take`; `Artifact`, if a temporary file cannot be read.
    pub fn for_each(&self, mut take: impl FnMut(Row) -> Result<()>) -> Result<()> {
        let mut rows = self.sorted()?;
        while let Some(row) = rows.next()? {
            take(row)?;
        }
        Ok(())
    }

    /// The rows, sorted by piece and group.
    ///
    /// # Errors
    /// `Artifact`, if a temporary file cannot be read.
    pub fn sorted(&self) -> Result<Sorted<'_>> {
        Ok(Sorted(match &self.held {
            Held::SortedRun(run) => Place::SortedRun(Reader::new(run)?),
            Held::Tables(tables) => {
                let prefix = |piece: &[u8]| {
                    let mut prefix = [0; 8];
                    let length = piece.len().min(8);
                    prefix[..length].copy_from_slice(&piece[..length]);
                    u64::from_be_bytes(prefix)
                };
                let rows = tables.iter().flat_map(CountsTable::rows).map(|row| (prefix(row.piece), row));
                let mut rows: Vec<(u64, Row)> = memory::collect(rows)?;
                rows.sort_unstable_by(|(prefix, row), (other_prefix, other)| {
                    prefix.cmp(other_prefix).then_with(|| (row.piece, row.group).cmp(&(other.piece, other.group)))
                });
                Place::Tables(rows.into_iter())
            }
        }))
    }

    /// The rows in memory, from where they are read if they are on disk.
    ///
    /// # Errors
    /// `Artifact`, if a temporary file cannot be read.
    pub fn in_memory(&self) -> Result<InMemory<'_>> {
        Ok(InMemory(match &self.held {
            Held::Tables(tables) => Tables::Borrowed(tables),
            Held::SortedRun(_) => {
                let mut table = CountsTable::new(counts_table::Secret::new(), usize::MAX);
                self.for_each(|row| table.add(row).map(|_| ()))?;
                Tables::Owned(Box::new(table))
            }
        }))
    }

    /// The `most` rows with the highest counts, sorted by that; of equal ones the first in order of pieces and groups.
    ///
    /// # Errors
    /// `Artifact`, if a temporary file cannot be read.
    pub fn top(&self, most: usize) -> Result<Vec<OwnedRow>> {
        let mut heap = BinaryHeap::new();
        self.for_each(|row| {
            let better = heap.peek().is_some_and(|Ranked(worst)| row.count > worst.count);
            // Rows come in order, so that one that is no better than the worst kept comes after it.
            if heap.len() < most || better {
                heap.push(Ranked(OwnedRow::from(row)));
                if heap.len() > most {
                    heap.pop();
                }
            }
            Ok(())
        })?;
        Ok(heap.into_sorted_vec().into_iter().map(|Ranked(row)| row).collect())
    }
}

/// A row that owns its piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedRow {
    /// See [`Row`].
    pub piece: Vec<u8>,
    /// See [`Row`].
    pub group: u16,
    /// See [`Row`].
    pub count: u64,
    /// See [`Row`].
    pub first: u64,
}

impl From<Row<'_>> for OwnedRow {
    fn from(Row { piece, group, count, first }: Row) -> Self {
        Self { piece: piece.to_vec(), group, count, first }
    }
}

impl OwnedRow {
    fn row(&self) -> Row<'_> {
        Row { piece: &self.piece, group: self.group, count: self.count, first: self.first }
    }

    fn order(&self, other: &Self) -> Ordering {
        (&self.piece, self.group).cmp(&(&other.piece, other.group))
    }
}

/// The highest counts are the least, of equal ones those that come first.
#[derive(PartialEq, Eq)]
struct Ranked(OwnedRow);

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, Self(other): &Self) -> Ordering {
        other.count.cmp(&self.0.count).then_with(|| self.0.order(other))
    }
}

/// The totals of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// The rows.
    pub rows: u64,
    /// All occurrences.
    pub pieces: u128,
    /// The bytes of all occurrences.
    pub bytes: u128,
}

/// Rows on their way, sorted by piece and group.
pub struct Sorted<'a>(Place<'a>);

enum Place<'a> {
    Tables(std::vec::IntoIter<(u64, Row<'a>)>),
    SortedRun(Reader),
}

impl Sorted<'_> {
    /// The next row, until there is none.
    ///
    /// # Errors
    /// `Artifact`, if a temporary file cannot be read.
    #[allow(clippy::should_implement_trait, reason = "a row is borrowed from the reader, which an iterator cannot say")]
    pub fn next(&mut self) -> Result<Option<Row<'_>>> {
        match &mut self.0 {
            Place::Tables(rows) => Ok(rows.next().map(|(_, row)| row)),
            Place::SortedRun(reader) => reader.next(),
        }
    }
}

/// All rows in memory.
pub struct InMemory<'a>(Tables<'a>);

enum Tables<'a> {
    Borrowed(&'a [CountsTable]),
    Owned(Box<CountsTable>),
}

impl InMemory<'_> {
    /// The rows, in no order.
    ///
    /// # Errors
    /// `Memory`.
    pub fn rows(&self) -> Result<Vec<Row<'_>>> {
        let tables = match &self.0 {
            Tables::Borrowed(tables) => tables,
            Tables::Owned(table) => std::slice::from_ref(&**table),
        };
        let mut rows = Vec::new();
        rows.room(tables.iter().map(CountsTable::len).sum())?;
        rows.extend(tables.iter().flat_map(CountsTable::rows));
        Ok(rows)
    }

    /// The rows in order of first occurrence, equal places in order of pieces and groups.
    ///
    /// # Errors
    /// `Memory`.
    pub fn in_order(&self) -> Result<Vec<Row<'_>>> {
        let mut rows = self.rows()?;
        rows.sort_unstable_by_key(|row| row.first);
        for same in rows.chunk_by_mut(|a, b| a.first == b.first) {
            same.sort_unstable_by_key(|row| (row.piece, row.group));
        }
        Ok(rows)
    }
}
