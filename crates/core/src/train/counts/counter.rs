//! Counting texts and files on several threads, and joining the counts.

use std::io::Read;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Kind, Result};
use crate::files::json_lines::{self, Wanted};
use crate::memory::{self, Room};
use crate::parallel;
use crate::segment::Segmenter;
use crate::train::Progress;
use crate::train::counts::counts_table::{CountsTable, MOST_PARTS, POSITION, Secret};
use crate::train::counts::cut::StretchCutter;
use crate::train::counts::runs::{self, SortedRun};
use crate::train::counts::windows::Windows;
use crate::train::counts::worker::{Spilled, Visitor, Worker};
use crate::train::counts::{Held, OnInvalid, PieceCounts, Row};

/// The bytes of a text that a worker takes at once.
const PORTION: usize = 1 << 16;

/// How much of a file is read at once for each thread, in bytes.
const WINDOW: usize = 1 << 21;

/// The size of a window grows with the threads, up to this many.
const MOST_WINDOWS: usize = 32;

/// Counts pieces. Its counts cannot be used after an error.
pub struct Counter {
    tables: Vec<CountsTable>,
    runs: Vec<SortedRun>,
    secret: Secret,
    /// The bytes that all tables together may take.
    memory: usize,
    spilled: Spilled,
    /// The position after all that was counted so far.
    end: u64,
}

/// A part of a text, of which text it is (or in which line it starts), and its position over all sources.
struct Part<'t> {
    row: usize,
    text: &'t str,
    at: u64,
}

/// A window of a text.
struct Window<'t> {
    text: &'t str,
    /// Whether nothing comes after it.
    is_last: bool,
}

impl Counter {
    /// A counter whose tables take at most about `memory` bytes; what does not fit goes to temporary files.
    #[must_use]
    pub fn new(memory: Option<usize>) -> Self {
        Self {
            tables: Vec::new(),
            runs: Vec::new(),
            secret: Secret::new(),
            memory: memory.unwrap_or(usize::MAX),
            spilled: Spilled::default(),
            end: 0,
        }
    }

    /// The rows on disk so far.
    #[must_use]
    pub fn spilled(&self) -> Spilled {
        self.spilled
    }

    /// The position after all that was counted so far, in bytes and one more after each text.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Sets the position of the next text, for instance after sources that were counted elsewhere.
    ///
    /// # Errors
    /// `Training`, if it is beyond 2^48.
    pub fn start_at(&mut self, position: u64) -> Result<()> {
        self.end = position;
        within(position)
    }

    /// Adds a piece that occurs `count` times, first after all that was counted so far.
    ///
    /// # Errors
    /// As [`Counter::add_row`].
    pub fn add(&mut self, piece: &[u8], count: u64) -> Result<()> {
        let first = self.end;
        self.end += piece.len() as u64 + 1;
        self.add_row(Row { piece, group: 0, count, first })
    }

    /// Adds a row; one without occurrences is none.
    ///
    /// # Errors
    /// `Training`, if its count no longer fits into 64 bits, or its position into 48; `Artifact`, if a temporary file cannot
    /// be written.
    pub fn add_row(&mut self, row: Row) -> Result<()> {
        within(row.first)?;
        if row.count == 0 {
            return Ok(());
        }
        let table = self.tables.pop().unwrap_or_else(|| CountsTable::new(self.secret, self.memory));
        let mut worker = Worker::new(table, self.memory);
        let added = worker.add(row);
        self.put_back(worker).and(added)
    }

    /// Counts the pieces of some texts in a group of sources. Added tokens are cut out and not counted.
    ///
    /// # Errors
    /// `Pattern`, if a split pattern exceeds its step budget, with the row of the text; `Training`, if a count overflows; `Artifact`, if
    /// a temporary file cannot be written; `Interrupted`.
    ///
    /// ```
    /// use bytepair_core::segment::{Segmenter, Steps};
    /// use bytepair_core::split::{Pattern, names};
    /// use bytepair_core::train::{Counter, Progress};
    /// let segmenter = Segmenter::new(&[], Steps::of(vec![Pattern::new(names::GPT2)?]))?;
    /// let mut counter = Counter::new(None);
    /// counter.count_texts(&segmenter, &["a b a", " b"], 0, 2, &Progress::default())?;
    /// let counts = counter.finish(2, &Progress::default())?;
    /// let counts = counts.in_memory()?;
    /// let pieces: Vec<_> = counts.in_order()?.into_iter().map(|row| (row.piece, row.count)).collect();
    /// assert_eq!(pieces, [(&b"a"[..], 1), (b" b", 2), (b" a", 1)]);
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn count_texts(
        &mut self,
        segmenter: &Segmenter,
        texts: &[&str],
        group: u16,
        threads: usize,
        progress: &Progress,
    ) -> Result<()> {
        let cutter = StretchCutter::new(segmenter);
        let size = if threads == 1 { usize::MAX / 4 } else { PORTION };
        let mut parts = Vec::new();
        for (row, text) in texts.iter().enumerate() {
            let at = self.end;
            let part = |Range { start, end }| Part { row, text: &text[start..end], at: at + start as u64 };
            let own = cutter.parts(text, size);
            parts.room(own.len())?;
            parts.extend(own.into_iter().map(part));
            self.end += text.len() as u64 + 1;
        }
        within(self.end)?;
        let count = |part: &Part, visitor: &mut Visitor| segmenter.walk_stretch(part.text, visitor);
        self.count_parts(&parts, threads, (group, progress), count, || Ok(()))
    }

    /// Counts the pieces of one text, which is read in windows, so that no more of it is in memory than its longest piece
    /// needs (all of it, if its pattern has no seams).
    ///
    /// # Errors
    /// As [`Counter::count_texts`]; `Artifact`, if reading fails; `Encode`, if it is not UTF-8.
    pub fn count_reader(
        &mut self,
        segmenter: &Segmenter,
        reader: impl Read + Send,
        on_invalid: OnInvalid,
        group: u16,
        threads: usize,
        progress: &Progress,
    ) -> Result<()> {
        let cutter = StretchCutter::new(segmenter);
        let parts = |window: &mut Window, portion| {
            let settled = if window.is_last { window.text.len() } else { cutter.settled(window.text) };
            let ranges = cutter.parts(&window.text[..settled], portion);
            (settled, ranges.into_iter().map(|range| (0, range)).collect())
        };
        let count = |part: &Part, visitor: &mut Visitor| segmenter.walk_stretch(part.text, visitor);
        self.count_windows(reader, on_invalid, threads, parts, (group, progress), count)
    }

    /// Counts the text in a field of each line of a file of JSON objects; lines of white space are passed over.
    ///
    /// # Errors
    /// As [`Counter::count_reader`]; `Training`, if a line is not such an object. With the line in the file.
    #[allow(clippy::too_many_arguments, reason = "as the other ways to count, and the field")]
    pub fn count_json_lines(
        &mut self,
        segmenter: &Segmenter,
        reader: impl Read + Send,
        field: &str,
        on_invalid: OnInvalid,
        group: u16,
        threads: usize,
        progress: &Progress,
    ) -> Result<()> {
        let mut line = 1;
        let parts = |window: &mut Window, portion: usize| {
            let text = window.text;
            let settled = if window.is_last { text.len() } else { text.rfind('\n').map_or(0, |at| at + 1) };
            let mut parts = Vec::new();
            let mut start = 0;
            while start < settled {
                let near = start.saturating_add(portion).min(settled);
                let rest = &text.as_bytes()[near..settled];
                let end = rest.iter().position(|&byte| byte == b'\n').map_or(settled, |at| near + at + 1);
                parts.push((line, start..end));
                line += text[start..end].matches('\n').count();
                start = end;
            }
            (settled, parts)
        };
        let count = |part: &Part, visitor: &mut Visitor| {
            let mut at = part.at;
            for (number, line) in (part.row..).zip(part.text.split_inclusive('\n')) {
                let object = if number == 1 { line.strip_prefix('\u{FEFF}').unwrap_or(line) } else { line };
                let before = visitor.passed;
                let counted = if object.trim_ascii().is_empty() {
                    Ok(())
                } else {
                    let read = json_lines::line_of(object, Wanted { text: field, id: None }, on_invalid);
                    read.map_err(for_training).and_then(|json_lines::Line { text, .. }| {
                        for stretch in segmenter.stretches(&text) {
                            visitor.at = at + stretch.start as u64;
                            segmenter.walk_stretch(&text[stretch], visitor)?;
                        }
                        Ok(())
                    })
                };
                // Progress is reported in bytes of the file, of which the text is only a part.
                let rest = (line.len() as u64).saturating_sub(visitor.passed - before);
                counted.and_then(|()| visitor.pass(rest as usize)).map_err(|error| error.line(number))?;
                at += line.len() as u64;
            }
            Ok(())
        };
        self.count_windows(reader, on_invalid, threads, parts, (group, progress), count)
    }

    /// Counts a text window by window. `parts` returns the length of a window that can be counted, and its parts, each
    /// with the number of a row.
    fn count_windows(
        &mut self,
        reader: impl Read + Send,
        on_invalid: OnInvalid,
        threads: usize,
        mut parts: impl FnMut(&mut Window, usize) -> (usize, Vec<(usize, Range<usize>)>),
        (group, progress): (u16, &Progress),
        count: impl Fn(&Part, &mut Visitor) -> Result<()> + Sync,
    ) -> Result<()> {
        let size = (WINDOW * threads.min(MOST_WINDOWS)).min(self.memory / 8).max(1 << 12);
        let portion = if threads == 1 { usize::MAX / 4 } else { PORTION.min(size / threads) };
        let mut windows = Windows::new(reader, size, on_invalid);
        let (mut window, mut next) = (Vec::new(), Vec::new());
        windows.read_on(&mut window)?;
        loop {
            let is_last = windows.at_end();
            let text = windows.text(&mut window)?;
            within(self.end + text.len() as u64)?;
            let (settled, ranges) = parts(&mut Window { text, is_last }, portion);
            next.clear();
            memory::extend(&mut next, text.as_bytes()[settled..].iter().chain(windows.incomplete()).copied())?;
            let parts: Vec<_> = ranges
                .into_iter()
                .map(|(row, range)| Part { row, at: self.end + range.start as u64, text: &text[range] })
                .collect();
            // The next window is read while this one is counted.
            let reading = Mutex::new((&mut windows, &mut next));
            let read = || {
                let mut reading = reading.lock().unwrap_or_else(PoisonError::into_inner);
                let (windows, next) = &mut *reading;
                if is_last { Ok(()) } else { windows.read_on(next) }
            };
            let counted = self.count_parts(&parts, threads, (group, progress), &count, read);
            counted.map_err(|error| error.but(|error| error.row = None))?;
            self.end += settled as u64;
            if is_last {
                self.end += 1;
                return Ok(());
            }
            windows.passed(settled);
            std::mem::swap(&mut window, &mut next);
        }
    }

    /// Counts parts, and does something else meanwhile.
    fn count_parts(
        &mut self,
        parts: &[Part],
        threads: usize,
        (group, progress): (u16, &Progress),
        count: impl Fn(&Part, &mut Visitor) -> Result<()> + Sync,
        meanwhile: impl Fn() -> Result<()> + Sync,
    ) -> Result<()> {
        let (secret, limit) = (self.secret, self.memory / threads);
        let idle = Mutex::new(std::mem::take(&mut self.tables));
        let worker = || {
            let table = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            (Worker::new(table.unwrap_or_else(|| CountsTable::new(secret, limit)), limit), Ok(()))
        };
        let work = |(worker, result): &mut (Worker, Result<()>), item: usize| {
            if result.is_err() {
                return;
            }
            *result = match item.checked_sub(1) {
                None => meanwhile(),
                Some(item) => {
                    let part = &parts[item];
                    let mut visitor = Visitor::new(worker, group, part.at, progress);
                    count(part, &mut visitor).and_then(|()| visitor.tell()).map_err(|error| error.row(part.row))
                }
            };
        };
        let mut results = Vec::new();
        for (worker, result) in parallel::fold(parts.len() + 1, threads, worker, work) {
            results.extend(result.err());
            results.extend(self.put_back(worker).err());
        }
        self.tables.extend(idle.into_inner().unwrap_or_else(PoisonError::into_inner));
        // Parts are handed out in order, so that the first faulty text is met with any number of threads. Other threads
        // were then working on later texts only.
        results.into_iter().min_by_key(|error| error.row.unwrap_or(usize::MAX)).map_or(Ok(()), Err)
    }

    fn put_back(&mut self, worker: Worker) -> Result<()> {
        self.tables.push(worker.table);
        self.spilled.runs += worker.spilled.runs;
        self.spilled.bytes += worker.spilled.bytes;
        self.runs.extend(worker.runs);
        // Half of them at a time, so that a large one is seldom written again.
        if self.runs.len() > 2 * runs::AT_ONCE {
            runs::merge_smallest(&mut self.runs, || Ok(()))?;
        }
        Ok(())
    }

    /// Joins all that was counted.
    ///
    /// # Errors
    /// `Training`, if counts overflow 64 bits; `Artifact`, if temporary files cannot be written or read; `Interrupted`.
    pub fn finish(mut self, threads: usize, progress: &Progress) -> Result<PieceCounts> {
        self.tables.retain(|table| table.len() > 0);
        let bytes: usize = self.tables.iter().map(CountsTable::bytes).sum();
        let joins = self.tables.len() > 1;
        // To join tables, or to sort one, takes as much again.
        if self.runs.is_empty() && bytes <= self.memory / 2 {
            let tables = if joins { join(&self.tables, threads, progress)? } else { self.tables };
            return Ok(PieceCounts { held: Held::Tables(tables), spilled: self.spilled });
        }
        for table in std::mem::take(&mut self.tables) {
            let mut worker = Worker::new(table, 0);
            worker.spill()?;
            self.put_back(worker)?;
        }
        let run = runs::merge(self.runs, || progress.advance(0))?;
        Ok(PieceCounts { held: Held::SortedRun(run), spilled: self.spilled })
    }
}

/// The error of a line, of which nothing can be trained.
fn for_training(error: Error) -> Error {
    error.but(|error| {
        if error.kind == Kind::Format {
            error.kind = Kind::Training;
        }
    })
}

/// The rows of all tables in new ones that share no piece.
fn join(tables: &[CountsTable], threads: usize, progress: &Progress) -> Result<Vec<CountsTable>> {
    let parts = threads.next_power_of_two().min(MOST_PARTS);
    let work = |joined: &mut Vec<Result<CountsTable>>, part: usize| {
        joined.push(progress.advance(0).and_then(|()| CountsTable::join(tables, part, parts)));
    };
    parallel::fold(parts, threads, Vec::new, work).into_iter().flatten().collect()
}

/// Whether positions up to this one can be kept.
fn within(position: u64) -> Result<()> {
    if position >> POSITION == 0 {
        return Ok(());
    }
    Err(Error::new(Kind::Training, "the sources are longer than 2^48 bytes together")
        .remedy("count them in several tables"))
}
