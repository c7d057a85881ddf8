//! The counts of one thread: a table, and the runs that it was written to when it was full.

use std::ops::Range;

use crate::error::Result;
use crate::segment::Visit;
use crate::split::added::AddedToken;
use crate::split::{Ends, Pattern, Scan};
use crate::train::Progress;
use crate::train::counts::Row;
use crate::train::counts::counts_table::CountsTable;
use crate::train::counts::runs::{self, SortedRun, Writer};

/// The bytes between two reports of progress.
const TELL_EVERY: usize = 1 << 16;

/// More runs of one worker are merged before it goes on, since each is an open file.
const MOST_RUNS: usize = 8;

/// The rows written to disk because memory was short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spilled {
    /// Sorted runs.
    pub runs: u64,
    /// Their bytes together.
    pub bytes: u64,
}

/// The counts of one thread.
pub(super) struct Worker {
    pub(super) table: CountsTable,
    pub(super) runs: Vec<SortedRun>,
    pub(super) spilled: Spilled,
}

impl Worker {
    pub(super) fn new(mut table: CountsTable, limit: usize) -> Self {
        table.set_limit(limit);
        Self { table, runs: Vec::new(), spilled: Spilled::default() }
    }

    pub(super) fn add(&mut self, row: Row) -> Result<()> {
        while !self.table.add(row)? {
            self.spill()?;
        }
        Ok(())
    }

    #[cold]
    pub(super) fn spill(&mut self) -> Result<()> {
        let mut writer = Writer::new()?;
        self.table.drain_sorted(|row| writer.push(row))?;
        let run = writer.finish()?;
        self.spilled.runs += 1;
        self.spilled.bytes += run.bytes;
        self.runs.push(run);
        if self.runs.len() > MOST_RUNS { runs::merge_smallest(&mut self.runs, || Ok(())) } else { Ok(()) }
    }
}

/// Counts each piece of a text; added tokens are passed over.
pub(super) struct Visitor<'a> {
    worker: &'a mut Worker,
    group: u16,
    /// The position of the next text.
    pub(super) at: u64,
    /// The bytes processed so far.
    pub(super) passed: u64,
    /// Those of them that were not reported yet.
    told: usize,
    progress: &'a Progress,
}

impl<'a> Visitor<'a> {
    pub(super) fn new(worker: &'a mut Worker, group: u16, at: u64, progress: &'a Progress) -> Self {
        Self { worker, group, at, passed: 0, told: 0, progress }
    }

    pub(super) fn tell(&mut self) -> Result<()> {
        self.progress.advance(std::mem::take(&mut self.told) as u64)
    }

    pub(super) fn pass(&mut self, bytes: usize) -> Result<()> {
        self.at += bytes as u64;
        self.passed += bytes as u64;
        self.told += bytes;
        if self.told < TELL_EVERY { Ok(()) } else { self.tell() }
    }
}

impl Visit for Visitor<'_> {
    fn piece(&mut self, piece: &str) -> Result<()> {
        self.worker.add(Row { piece: piece.as_bytes(), group: self.group, count: 1, first: self.at })?;
        self.pass(piece.len())
    }

    fn added(&mut self, _: &AddedToken, text: &str) -> Result<()> {
        self.pass(text.len())
    }

    fn pieces(&mut self, text: &str, pattern: &Pattern, inner: &[Pattern], range: Range<usize>) -> Result<usize> {
        let mut scan = Scan::new(pattern, inner, text, range.clone());
        let mut ends = Ends::default();
        let mut start = range.start;
        while start < range.end {
            let filled = scan.fill(&mut ends, start);
            let mut places = ends.as_slice();
            let Some(&last) = places.last() else { return filled.map(|()| start) };
            let first = self.at - start as u64;
            let mut from = start;
            loop {
                let counted = self.worker.table.count(text.as_bytes(), (start, from), places, (self.group, first))?;
                if counted == places.len() {
                    break;
                }
                if counted > 0 {
                    from = start + places[counted - 1] as usize;
                    places = &places[counted..];
                }
                self.worker.spill()?;
            }
            start += last as usize;
            self.pass(last as usize)?;
        }
        Ok(start)
    }
}
