//! Rows on disk, sorted by piece and group: runs, written when memory is full and merged in the end.
//!
//! A run is a temporary file without a name, so that nothing remains of it, however the process ends. A row is four
//! numbers (length of the piece, group, count, first position), each in groups of seven bits, and the bytes of the piece.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use crate::error::{Error, Kind, Result};
use crate::train::counts::{OwnedRow, Row};
use crate::train::overflow;

/// The bytes that are read or written at once.
const BUFFER: usize = 1 << 18;

/// The most runs merged at once: each needs a buffer and an open file, and a process may open a limited number.
pub(super) const AT_ONCE: usize = 64;

fn failed(error: &io::Error) -> Error {
    Error::new(Kind::Artifact, format!("counts cannot be kept in a temporary file: {error}"))
        .remedy("make room in the folder for temporary files, choose another one by TMPDIR, or allow more memory")
}

/// A sorted run.
pub(super) struct SortedRun {
    file: File,
    /// Its rows.
    pub(super) rows: u64,
    /// Bytes of the pieces of its rows.
    pub(super) piece_bytes: u64,
    /// The bytes that it takes on disk.
    pub(super) bytes: u64,
}

/// Writes a run.
pub(super) struct Writer {
    file: BufWriter<File>,
    run: SortedRun,
}

impl Writer {
    pub(super) fn new() -> Result<Self> {
        let made = || -> io::Result<_> {
            let file = tempfile::tempfile()?;
            Ok((file.try_clone()?, file))
        };
        let (file, same) = made().map_err(|error| failed(&error))?;
        let run = SortedRun { file, rows: 0, piece_bytes: 0, bytes: 0 };
        Ok(Self { file: BufWriter::with_capacity(BUFFER, same), run })
    }

    /// Appends a row, which comes after the one before.
    pub(super) fn push(&mut self, row: Row) -> Result<()> {
        let mut numbers = [0; 40];
        let mut used = 0;
        for mut number in [row.piece.len() as u64, u64::from(row.group), row.count, row.first] {
            while number >= 0x80 {
                numbers[used] = number as u8 | 0x80;
                number >>= 7;
                used += 1;
            }
            numbers[used] = number as u8;
            used += 1;
        }
        let written = self.file.write_all(&numbers[..used]).and_then(|()| self.file.write_all(row.piece));
        self.run.rows += 1;
        self.run.piece_bytes += row.piece.len() as u64;
        self.run.bytes += (used + row.piece.len()) as u64;
        written.map_err(|error| failed(&error))
    }

    pub(super) fn finish(mut self) -> Result<SortedRun> {
        self.file.flush().map_err(|error| failed(&error))?;
        Ok(self.run)
    }
}

/// The contents of a file from a place on. The place is its own, since several may read one run at the same time.
struct At {
    file: File,
    place: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&self.file, buffer, self.place)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(&self.file, buffer, self.place)?;
        self.place += read as u64;
        Ok(read)
    }
}

/// Reads a run.
pub(super) struct Reader {
    file: BufReader<At>,
    row: OwnedRow,
}

impl Reader {
    pub(super) fn new(run: &SortedRun) -> Result<Self> {
        let file = run.file.try_clone().map_err(|error| failed(&error))?;
        Ok(Self { file: BufReader::with_capacity(BUFFER, At { file, place: 0 }), row: OwnedRow::default() })
    }

    /// The next row, until there is none.
    pub(super) fn next(&mut self) -> Result<Option<Row<'_>>> {
        let more = self.read().map_err(|error| failed(&error))?;
        Ok(more.then(|| self.row.row()))
    }

    fn read(&mut self) -> io::Result<bool> {
        if self.file.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let mut numbers = [0; 4];
        for number in &mut numbers {
            let mut shift = 0;
            loop {
                let mut byte = [0];
                self.file.read_exact(&mut byte)?;
                *number |= u64::from(byte[0] & 0x7F) << shift;
                if byte[0] < 0x80 {
                    break;
                }
                shift += 7;
            }
        }
        let [length, group, count, first] = numbers;
        self.row.piece.resize(length as usize, 0);
        self.file.read_exact(&mut self.row.piece)?;
        (self.row.group, self.row.count, self.row.first) = (group as u16, count, first);
        Ok(true)
    }
}

/// A run's next row, in a heap whose greatest comes first.
struct Next(Reader);

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Next {}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.row.order(&self.0.row)
    }
}

/// One run of all rows, equal pieces of a group added up; calls `tell` from time to time, which can stop it.
pub(super) fn merge(mut runs: Vec<SortedRun>, tell: impl Fn() -> Result<()>) -> Result<SortedRun> {
    while runs.len() > 1 {
        merge_smallest(&mut runs, &tell)?;
    }
    match runs.pop() {
        Some(run) => Ok(run),
        None => Writer::new()?.finish(),
    }
}

/// Merges the smallest runs into one, so that merged runs are not merged again too soon.
pub(super) fn merge_smallest(runs: &mut Vec<SortedRun>, tell: impl Fn() -> Result<()>) -> Result<()> {
    runs.sort_by_key(|run| run.bytes);
    let some: Vec<SortedRun> = runs.drain(..runs.len().min(AT_ONCE)).collect();
    runs.push(merge_some(&some, tell)?);
    Ok(())
}

fn merge_some(runs: &[SortedRun], tell: impl Fn() -> Result<()>) -> Result<SortedRun> {
    let mut heap = BinaryHeap::new();
    for run in runs {
        let mut reader = Reader::new(run)?;
        if reader.next()?.is_some() {
            heap.push(Next(reader));
        }
    }
    let mut merged = Writer::new()?;
    // The row that is being added up, once there is one.
    let (mut last, mut any) = (OwnedRow::default(), false);
    while let Some(mut top) = heap.peek_mut() {
        let row = &mut top.0.row;
        if any && last.order(row).is_eq() {
            last.count = last.count.checked_add(row.count).ok_or_else(overflow)?;
            last.first = last.first.min(row.first);
        } else {
            if any {
                merged.push(last.row())?;
                if merged.run.rows.is_multiple_of(1 << 16) {
                    tell()?;
                }
            }
            std::mem::swap(&mut last, row);
            any = true;
        }
        if top.0.next()?.is_none() {
            PeekMut::pop(top);
        }
    }
    if any {
        merged.push(last.row())?;
    }
    merged.finish()
}
