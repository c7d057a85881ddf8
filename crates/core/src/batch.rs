//! Many texts, or one long text, encoded by several threads: the ids are those that one thread would give.
//!
//! Short texts are handed out in groups and long ones in parts, so that work balances whatever the texts are. What a
//! worker has encoded is put at its place in the one result as soon as all that comes before is there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::encode::{Count, Sink};
use crate::error::{Error, Kind, Result};
use crate::parallel;
use crate::pipeline::{Span, Tokenizer};
use crate::segment::{Part, Policy};

/// Fewer bytes in a batch are not worth a thread.
const BYTES_FOR_THREADS: usize = 1 << 16;

/// One text of fewer bytes is encoded by one thread, unless the call says how many it wants.
const BYTES_OF_A_LONG_TEXT: usize = 1 << 20;

/// A portion of work, in bytes: a group of texts, or a part of a long one. Its ids fit into a core's own cache.
const PORTION: usize = 1 << 17;
const LEAST_PORTION: usize = 1 << 13;

/// After a guessed start, this many pieces are let pass: two scans of one text soon share their boundaries.
const PIECES_TO_SETTLE: usize = 16;

/// Some texts, each of some spans.
#[derive(Debug, Default)]
pub struct Batch<'a> {
    spans: Vec<Span<'a>>,
    /// Where each text's spans end; none if each has one.
    ends: Option<Vec<usize>>,
}

impl<'a> Batch<'a> {
    /// A batch of texts of one span each.
    #[must_use]
    pub fn of_single(spans: Vec<Span<'a>>) -> Self {
        Self { spans, ends: None }
    }

    /// A batch of texts whose spans end at these places.
    #[must_use]
    pub fn of_many(spans: Vec<Span<'a>>, ends: Vec<usize>) -> Self {
        Self { spans, ends: Some(ends) }
    }

    fn len(&self) -> usize {
        self.ends.as_ref().map_or(self.spans.len(), Vec::len)
    }

    fn row(&self, row: usize) -> &[Span<'a>] {
        match &self.ends {
            None => &self.spans[row..=row],
            Some(ends) => &self.spans[row.checked_sub(1).map_or(0, |before| ends[before])..ends[row]],
        }
    }

    fn bytes(&self, row: usize) -> usize {
        self.row(row).iter().map(|span| span.text().len()).sum()
    }
}

/// How a call is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run<'a> {
    /// Up to how many threads; None for all cores, where there is enough to do.
    pub threads: Option<usize>,
    /// Set by whoever no longer wants the result.
    pub stop: Option<&'a AtomicBool>,
}

impl Run<'_> {
    fn threads(&self, bytes: usize, rows: usize) -> usize {
        let enough = if rows == 1 && self.threads.is_none() { BYTES_OF_A_LONG_TEXT } else { BYTES_FOR_THREADS };
        if bytes < enough { 1 } else { parallel::threads(self.threads) }
    }
}

/// A sink that others can be put behind.
pub trait Gather: Sink + Default + Send {
    /// Makes room for what so many bytes of text are likely to become.
    fn expect(&mut self, bytes: usize);
    /// How many ids it was given.
    fn total(&self) -> usize;
    /// Takes over what `other` was given, after its own.
    fn absorb(&mut self, other: &mut Self);
}

impl Gather for Vec<u32> {
    fn expect(&mut self, bytes: usize) {
        // More than most texts need: what is not touched costs nothing.
        self.reserve(bytes / 3 + 8);
    }

    fn total(&self) -> usize {
        self.len()
    }

    fn absorb(&mut self, other: &mut Self) {
        self.append(other);
    }
}

impl Gather for Count {
    fn expect(&mut self, _: usize) {}

    fn total(&self) -> usize {
        self.0 as usize
    }

    fn absorb(&mut self, other: &mut Self) {
        self.0 += std::mem::take(&mut other.0);
    }
}

/// What one worker does at a time.
enum Task {
    /// Some whole texts.
    Rows(Range<usize>),
    /// Some parts, from byte `start` on, of a long text: which of the long ones, and whether they are its last.
    Parts { row: usize, long: usize, parts: Range<usize>, start: usize, last: bool },
}

impl Task {
    fn row(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.start,
            Self::Parts { row, .. } => *row,
        }
    }
}

/// What texts became: ids, and where those of each text end. Of a long text in parts, the last one has the end.
#[derive(Default)]
struct Chunk<S> {
    sink: S,
    ends: Vec<usize>,
}

/// Puts chunks in order.
#[derive(Default)]
struct Gathered<S> {
    whole: Chunk<S>,
    next: usize,
    waiting: BTreeMap<usize, Chunk<S>>,
}

impl<S: Gather> Gathered<S> {
    /// Takes a chunk and leaves it empty.
    fn take(&mut self, number: usize, chunk: &mut Chunk<S>) {
        if number > self.next {
            self.waiting.insert(number, std::mem::take(chunk));
            return;
        }
        self.append(chunk);
        while let Some(mut chunk) = self.waiting.remove(&self.next) {
            self.append(&mut chunk);
        }
    }

    fn append(&mut self, chunk: &mut Chunk<S>) {
        let before = self.whole.sink.total();
        self.whole.ends.extend(chunk.ends.drain(..).map(|end| before + end));
        self.whole.sink.absorb(&mut chunk.sink);
        self.next += 1;
    }
}

/// Why a text was not encoded: an error, or a scan that did not end where the next one started.
enum Fault {
    Error(Error),
    Cut,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whoever panicked with the lock has ended the call.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tokenizer {
    /// What `S` makes of the ids of one text, which is cut for several threads if it is long.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_spans`]; `Interrupted`.
    pub fn encode_whole<S: Gather>(&self, spans: &[Span], policy: Policy, run: Run) -> Result<S> {
        let bytes = spans.iter().map(|span| span.text().len()).sum();
        if let [span @ Span::Text(_)] = *spans
            && run.threads(bytes, 1) > 1
        {
            let whole = self.gather::<S>(&Batch::of_single(vec![span]), policy, run);
            return whole.map(|whole| whole.sink).map_err(|error| Error { row: None, ..error });
        }
        let mut sink = S::default();
        sink.expect(bytes);
        let mut encoder = self.encoder(&mut sink, run.stop);
        self.encode_spans_with(spans, policy, &mut encoder)?;
        drop(encoder);
        Ok(sink)
    }

    /// The ids of a batch, one text after another, and where each text's ids end.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_spans`], of the first text at fault, with its row; `Interrupted`.
    ///
    /// ```
    /// use bytepair_core::batch::{Batch, Run};
    /// use bytepair_core::pipeline::{Parts, Span, Tokenizer};
    /// use bytepair_core::segment::Policy;
    /// use bytepair_core::vocab::{Semantics, Vocab};
    /// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 2], Semantics::Ranks)?;
    /// let parts = Parts { vocab, added: vec![], normalizers: vec![], prefix_space: false, patterns: vec![] };
    /// let batch = Batch::of_single(vec![Span::Text("aab"), Span::Text("b")]);
    /// let (ids, ends) = Tokenizer::new(parts)?.encode_batch(&batch, Policy::default(), Run::default())?;
    /// assert_eq!((ids, ends), (vec![0, 2, 1], vec![2, 3]));
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn encode_batch(&self, batch: &Batch, policy: Policy, run: Run) -> Result<(Vec<u32>, Vec<usize>)> {
        self.gather::<Vec<u32>>(batch, policy, run).map(|whole| (whole.sink, whole.ends))
    }

    /// The number of ids of each text of a batch.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_batch`].
    pub fn count_batch(&self, batch: &Batch, policy: Policy, run: Run) -> Result<Vec<u64>> {
        let mut before = 0;
        let ends = self.gather::<Count>(batch, policy, run)?.ends;
        Ok(ends.into_iter().map(|end| (end - std::mem::replace(&mut before, end)) as u64).collect())
    }

    fn gather<S: Gather>(&self, batch: &Batch, policy: Policy, run: Run) -> Result<Chunk<S>> {
        let bytes: usize = (0..batch.len()).map(|row| batch.bytes(row)).sum();
        let mut whole = Chunk::<S>::default();
        whole.sink.expect(bytes);
        let threads = run.threads(bytes, batch.len());
        if threads == 1 {
            self.encode_rows(batch, 0..batch.len(), policy, run, &mut whole).map_err(|(row, error)| error.row(row))?;
            return Ok(whole);
        }
        let portion = (bytes / (threads * 8)).clamp(LEAST_PORTION, PORTION);
        let (tasks, longs) = self.tasks(batch, policy, portion, true);
        let (row, fault) = match self.work(batch, &tasks, &longs, policy, run, threads, whole) {
            Ok(whole) => return Ok(whole),
            Err(fault) => fault,
        };
        // What went wrong in a part may be the cut's fault, or not the first thing that is wrong in the text.
        let was_cut = tasks.iter().any(|task| matches!(task, Task::Parts { row: cut, .. } if *cut == row));
        match fault {
            Fault::Error(error) if !was_cut || error.kind == Kind::Interrupted => return Err(error.row(row)),
            _ => {}
        }
        let alone = self.encode_rows(batch, row..row + 1, policy, run, &mut Chunk::<Count>::default());
        alone.map_err(|(row, error)| error.row(row))?;
        let (tasks, longs) = self.tasks(batch, policy, portion, false);
        let mut whole = Chunk::<S>::default();
        whole.sink.expect(bytes);
        self.work(batch, &tasks, &longs, policy, run, threads, whole).map_err(|(row, fault)| match fault {
            Fault::Error(error) => error.row(row),
            Fault::Cut => Error::new(Kind::Encode, "a scan did not end where its text does").row(row),
        })
    }

    /// The work on a batch: groups of texts, and if they may be `cut`, parts of long ones.
    fn tasks(&self, batch: &Batch, policy: Policy, portion: usize, cut: bool) -> (Vec<Task>, Vec<Vec<Part>>) {
        let (mut tasks, mut longs) = (Vec::new(), Vec::new());
        let (mut first, mut size) = (0, 0);
        let group = |rows: Range<usize>, tasks: &mut Vec<Task>| {
            if !rows.is_empty() {
                tasks.push(Task::Rows(rows));
            }
        };
        for row in 0..batch.len() {
            let bytes = batch.bytes(row);
            if cut
                && bytes > 2 * PORTION
                && let [Span::Text(text)] = *batch.row(row)
                && let Some(parts) = self.segmenter().parts(text, policy, PORTION, PIECES_TO_SETTLE)
            {
                group(first..row, &mut tasks);
                (first, size) = (row + 1, 0);
                let (mut begun, mut start) = (0, 0);
                for (number, part) in (1..).zip(&parts) {
                    let last = number == parts.len();
                    if last || part.end() - start >= PORTION {
                        tasks.push(Task::Parts { row, long: longs.len(), parts: begun..number, start, last });
                        (begun, start) = (number, part.end());
                    }
                }
                longs.push(parts);
                continue;
            }
            size += bytes;
            if size >= portion {
                group(first..row + 1, &mut tasks);
                (first, size) = (row + 1, 0);
            }
        }
        group(first..batch.len(), &mut tasks);
        (tasks, longs)
    }

    /// Does the tasks; of all errors, gives the one in the first text at fault, and which that is.
    #[allow(clippy::too_many_arguments, reason = "what a call consists of")]
    fn work<S: Gather>(
        &self,
        batch: &Batch,
        tasks: &[Task],
        longs: &[Vec<Part>],
        policy: Policy,
        run: Run,
        threads: usize,
        whole: Chunk<S>,
    ) -> std::result::Result<Chunk<S>, (usize, Fault)> {
        // The largest first, so that none is left at the end; those of usual size in order, for their results wait.
        let size = |task: &Task| match task {
            Task::Rows(rows) if rows.len() == 1 => batch.bytes(rows.start) / (4 * PORTION),
            _ => 0,
        };
        let mut order: Vec<_> = (0..tasks.len()).collect();
        order.sort_by_key(|&number| std::cmp::Reverse(size(&tasks[number])));
        let gathered = Mutex::new(Gathered { whole, next: 0, waiting: BTreeMap::new() });
        let fault = Mutex::new(None);
        let faulty_row = AtomicUsize::new(usize::MAX);
        parallel::fold(tasks.len(), threads, Chunk::<S>::default, |chunk, at| {
            let number = order[at];
            // What comes before a fault is still done: there may be another one.
            if tasks[number].row() > faulty_row.load(Ordering::Relaxed) {
                return;
            }
            let done = match &tasks[number] {
                Task::Rows(rows) => self
                    .encode_rows(batch, rows.clone(), policy, run, chunk)
                    .map_err(|(row, error)| (row, Fault::Error(error))),
                Task::Parts { row, long, parts, start, last } => {
                    let parts = &longs[*long][parts.clone()];
                    let text = batch.row(*row).first().map_or("", Span::text);
                    let encoded = self.encode_parts(text, parts, *start, run, &mut chunk.sink);
                    if *last {
                        chunk.ends.push(chunk.sink.total());
                    }
                    encoded.map_err(|fault| (*row, fault))
                }
            };
            match done {
                Ok(()) => lock(&gathered).take(number, chunk),
                Err((row, found)) => {
                    let mut fault = lock(&fault);
                    if faulty_row.fetch_min(row, Ordering::Relaxed) > row {
                        *fault = Some((row, found));
                    }
                    *chunk = Chunk::default();
                }
            }
        });
        match fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(fault) => Err(fault),
            None => Ok(gathered.into_inner().unwrap_or_else(PoisonError::into_inner).whole),
        }
    }

    /// Appends some texts of a batch; an error comes with its row.
    fn encode_rows<S: Gather>(
        &self,
        batch: &Batch,
        rows: Range<usize>,
        policy: Policy,
        run: Run,
        chunk: &mut Chunk<S>,
    ) -> std::result::Result<(), (usize, Error)> {
        let Chunk { sink, ends } = chunk;
        let mut encoder = self.encoder(sink, run.stop);
        ends.reserve(rows.len());
        for row in rows {
            self.encode_spans_with(batch.row(row), policy, &mut encoder).map_err(|error| (row, error))?;
            ends.push(encoder.sink.total());
        }
        Ok(())
    }

    /// Appends some parts of a text.
    fn encode_parts<S: Sink>(
        &self,
        text: &str,
        parts: &[Part],
        start: usize,
        run: Run,
        sink: &mut S,
    ) -> std::result::Result<(), Fault> {
        let mut encoder = self.encoder(sink, run.stop);
        let mut at = start;
        for part in parts {
            match part {
                Part::Added { id, end } => {
                    encoder.sink.take(&[*id]);
                    at = *end;
                }
                Part::Pieces { stretch, range } => {
                    // Without the cut, a scan would go on from where the last one ended.
                    at = self.segmenter().walk_piece_range(text, stretch, range, &mut encoder)?;
                    if at != range.end {
                        return Err(Fault::Cut);
                    }
                }
            }
        }
        debug_assert_eq!(Some(at), parts.last().map(Part::end), "each part is walked to its end");
        Ok(())
    }
}
