//! Many texts, or one long text, encoded by several threads: the ids are those of one thread.
//!
//! Short texts are handed out in groups and long ones in parts or ranges, so that work balances for all texts. The ids of
//! a worker are copied to their place in the one result as soon as all before them are there.
//!
//! Long because a fifth of it is tests, and because texts, spans and parts are distributed by one scheme.

use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::encode::{Count, Sink};
use crate::error::{Error, Kind, Result};
use crate::large_pages;
use crate::memory::Room;
use crate::parallel;
use crate::pipeline::in_ranges::Long;
use crate::pipeline::{Span, Tokenizer};
use crate::segment::{Part, Policy};

/// Fewer bytes in a batch are not worth a thread.
const BYTES_FOR_THREADS: usize = 1 << 16;

/// One text of fewer bytes is encoded by one thread, unless the call sets the number of threads.
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
        self.row(row).iter().map(Span::bytes).sum()
    }

    fn total(&self) -> usize {
        (0..self.len()).map(|row| self.bytes(row)).sum()
    }
}

/// How a call is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run<'a> {
    /// Up to how many threads; None for all cores, where there is enough to do.
    pub threads: Option<usize>,
    /// Set by a caller that no longer wants the result.
    pub stop: Option<&'a AtomicBool>,
}

impl Run<'_> {
    pub(super) fn threads(&self, bytes: usize, rows: usize) -> usize {
        let enough = if rows == 1 && self.threads.is_none() { BYTES_OF_A_LONG_TEXT } else { BYTES_FOR_THREADS };
        if bytes < enough { 1 } else { parallel::threads(self.threads) }
    }
}

/// A sink that others can be put behind.
pub trait Gather: Sink + Default + Send {
    /// Reserves room for the likely ids of this many bytes of text.
    fn expect(&mut self, bytes: usize);
    /// How many ids it was given.
    fn total(&self) -> usize;
    /// Takes over what `other` was given, after its own.
    ///
    /// # Errors
    /// `Memory`.
    fn absorb(&mut self, other: &mut Self) -> Result<()>;
    /// Hands out the first `total` of what it was given, and keeps the rest.
    ///
    /// # Errors
    /// `Memory`.
    fn hand_out(&mut self, total: usize) -> Result<Self>;
    /// The ids, if it keeps them.
    fn ids(&self) -> &[u32];
    /// Gathers one text, cut for several threads if it is long. Compiled in this crate, and so for speed.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_spans`]; `Interrupted`.
    fn of_spans(tokenizer: &Tokenizer, spans: &[Span], policy: Policy, run: Run) -> Result<Self>;
}

impl Gather for Vec<u32> {
    fn expect(&mut self, bytes: usize) {
        // More than most texts need: untouched memory costs nothing. A short text has more pieces than that, and each wants
        // room for a few ids.
        // Where there is no memory for so many, there may be for as many as there are.
        if self.try_reserve(bytes / 3 + 64).is_ok() {
            large_pages::ask(self);
        }
    }

    fn total(&self) -> usize {
        self.len()
    }

    fn absorb(&mut self, other: &mut Self) -> Result<()> {
        self.room(other.len())?;
        self.append(other);
        Ok(())
    }

    fn hand_out(&mut self, total: usize) -> Result<Self> {
        let mut rest = Self::new();
        rest.room(self.len() - total)?;
        rest.extend_from_slice(&self[total..]);
        self.truncate(total);
        Ok(std::mem::replace(self, rest))
    }

    fn ids(&self) -> &[u32] {
        self
    }

    fn of_spans(tokenizer: &Tokenizer, spans: &[Span], policy: Policy, run: Run) -> Result<Self> {
        tokenizer.encode_whole(spans, policy, run)
    }
}

impl Gather for Count {
    fn expect(&mut self, _: usize) {}

    fn total(&self) -> usize {
        self.0 as usize
    }

    fn absorb(&mut self, other: &mut Self) -> Result<()> {
        self.0 += std::mem::take(&mut other.0);
        Ok(())
    }

    fn hand_out(&mut self, total: usize) -> Result<Self> {
        self.0 -= total as u64;
        Ok(Self(total as u64))
    }

    fn ids(&self) -> &[u32] {
        &[]
    }

    fn of_spans(tokenizer: &Tokenizer, spans: &[Span], policy: Policy, run: Run) -> Result<Self> {
        tokenizer.encode_whole(spans, policy, run)
    }
}

/// How much is handed out at a time, in bytes: a group of texts, and a part of a text that is cut.
#[derive(Clone, Copy)]
struct Portions {
    group: usize,
    part: usize,
}

impl Portions {
    /// The portions of a batch of so many bytes.
    fn of(bytes: usize, threads: usize) -> Self {
        Self { group: (bytes / (threads * 8)).clamp(LEAST_PORTION, PORTION), part: PORTION }
    }
}

/// The unit of work of a worker.
enum Task<'a> {
    /// Some whole texts.
    Rows(Range<usize>),
    /// Some parts, from byte `start` on, of a long text: which of the long ones, and whether they are its last.
    Parts { row: usize, text: &'a str, long: usize, parts: Range<usize>, start: usize, last: bool },
    /// A range of a long text between two cuts, and whether it is its last.
    Range { row: usize, long: Long<'a>, range: Range<usize>, last: bool },
}

impl Task<'_> {
    fn row(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.start,
            Self::Parts { row, .. } | Self::Range { row, .. } => *row,
        }
    }
}

/// Encoded texts: ids, and the end of each text's ids. The last part of a long text has the end.
#[derive(Default)]
pub(super) struct Chunk<S> {
    pub(super) sink: S,
    ends: Vec<usize>,
}

/// Takes texts that are done, while others are encoded.
pub trait Taker: Send {
    /// The ids of the next texts, one text after another, and where those of each end. The calling thread calls it.
    ///
    /// # Errors
    /// An error of its own, which ends the call.
    fn take(&mut self, ids: &[u32], ends: &[usize]) -> Result<()>;

    /// All texts come again, from the first one on.
    fn begin_again(&mut self);
}

/// A call on several threads.
struct Call<'a> {
    batch: &'a Batch<'a>,
    policy: Policy<'a>,
    run: Run<'a>,
    threads: usize,
    /// Without one the result is a whole.
    taker: Option<Mutex<&'a mut dyn Taker>>,
}

impl Call<'_> {
    /// Has the taker take some texts.
    fn give<S: Gather>(&self, chunk: &Chunk<S>) -> Result<()> {
        self.taker.as_ref().map_or(Ok(()), |taker| lock(taker).take(chunk.sink.ids(), &chunk.ends))
    }
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
    fn take(&mut self, number: usize, chunk: &mut Chunk<S>) -> Result<()> {
        if number > self.next {
            self.waiting.insert(number, std::mem::take(chunk));
            return Ok(());
        }
        self.append(chunk)?;
        while let Some(mut chunk) = self.waiting.remove(&self.next) {
            self.append(&mut chunk)?;
        }
        Ok(())
    }

    /// Hands out the texts that are done.
    fn done(&mut self) -> Result<Chunk<S>> {
        let Some(&end) = self.whole.ends.last() else { return Ok(Chunk::default()) };
        Ok(Chunk { sink: self.whole.sink.hand_out(end)?, ends: std::mem::take(&mut self.whole.ends) })
    }

    fn append(&mut self, chunk: &mut Chunk<S>) -> Result<()> {
        let before = self.whole.sink.total();
        self.whole.ends.room(chunk.ends.len())?;
        self.whole.ends.extend(chunk.ends.drain(..).map(|end| before + end));
        self.whole.sink.absorb(&mut chunk.sink)?;
        self.next += 1;
        Ok(())
    }
}

/// Why a text was not encoded: an error, or a scan that did not end where the next one started.
enum Fault {
    /// And whether the text was cut.
    Error {
        error: Error,
        cut: bool,
    },
    Cut,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whoever panicked with the lock has ended the call.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tokenizer {
    /// The ids of one text, gathered by `S`. A long text is cut for several threads.
    pub(super) fn encode_whole<S: Gather>(&self, spans: &[Span], policy: Policy, run: Run) -> Result<S> {
        let bytes = spans.iter().map(Span::bytes).sum();
        if let [span @ (Span::Text(_) | Span::Units(_))] = *spans
            && run.threads(bytes, 1) > 1
        {
            // A pattern may say nothing of where text can be cut: then text in UTF-8 can be, if nothing changes it.
            if let Span::Units(units) = span
                && self.segmenter().steps().keep_text()
                && self.ranges(span, policy, PORTION)?.is_none()
            {
                return self.encode_whole(&[Span::Text(&units.text()?)], policy, run);
            }
            let whole = self.gather::<S>(&Batch::of_single(vec![span]), policy, run);
            return whole.map(|whole| whole.sink).map_err(|error| error.but(|error| error.row = None));
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
    /// use bytepair_core::pipeline::{Batch, Run};
    /// use bytepair_core::pipeline::{Parts, Span, Tokenizer};
    /// use bytepair_core::segment::Policy;
    /// use bytepair_core::vocab::{Semantics, Vocab};
    /// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 2], Semantics::Ranks)?;
    /// let parts = Parts::of(vocab);
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

    /// As [`Tokenizer::encode_batch`], for a taker, which takes texts while helpers encode others.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_batch`], and those of the taker.
    pub fn encode_batch_for(&self, batch: &Batch, policy: Policy, run: Run, taker: &mut dyn Taker) -> Result<()> {
        let bytes = batch.total();
        let threads = run.threads(bytes, batch.len());
        if threads == 1 {
            let (ids, ends) = self.encode_batch(batch, policy, run)?;
            return taker.take(&ids, &ends);
        }
        let call = Call { batch, policy, run, threads, taker: Some(Mutex::new(taker)) };
        let rest = self.gather_on::<Vec<u32>>(&call, bytes, Portions::of(bytes, threads))?;
        call.give(&rest)
    }

    pub(super) fn gather<S: Gather>(&self, batch: &Batch, policy: Policy, run: Run) -> Result<Chunk<S>> {
        let bytes = batch.total();
        let threads = run.threads(bytes, batch.len());
        if threads == 1 {
            let mut whole = Chunk::<S>::default();
            whole.sink.expect(bytes);
            self.encode_rows(batch, 0..batch.len(), policy, run, &mut whole)?;
            return Ok(whole);
        }
        self.gather_on(&Call { batch, policy, run, threads, taker: None }, bytes, Portions::of(bytes, threads))
    }

    /// The ids that no taker took.
    fn gather_on<S: Gather>(&self, call: &Call, bytes: usize, portions: Portions) -> Result<Chunk<S>> {
        let &Call { batch, policy, run, .. } = call;
        let work = |portions| {
            let mut whole = Chunk::<S>::default();
            if call.taker.is_none() {
                whole.sink.expect(bytes);
            }
            let tasks = self.tasks(batch, policy, portions);
            let (tasks, longs) = tasks.map_err(|error| Box::new((0, Fault::Error { error, cut: false })))?;
            self.work(call, &tasks, &longs, whole)
        };
        let (row, fault) = match work(portions) {
            Ok(whole) => return Ok(whole),
            Err(fault) => *fault,
        };
        match fault {
            Fault::Error { error, cut } if !cut || error.kind.ends_the_call() => return Err(error.row(row)),
            _ => {}
        }
        // An error in a part may be due to the cut, or not be the first error in the text.
        self.encode_rows(batch, row..row + 1, policy, run, &mut Chunk::<Count>::default())?;
        if let Some(taker) = &call.taker {
            lock(taker).begin_again();
        }
        work(Portions { part: usize::MAX, ..portions }).map_err(|fault| match *fault {
            (row, Fault::Error { error, .. }) => error.row(row),
            (row, Fault::Cut) => Error::new(Kind::Encode, "a scan did not end where its text does").row(row),
        })
    }

    /// The work on a batch: groups of texts, and parts of long ones.
    fn tasks<'b>(
        &self,
        batch: &Batch<'b>,
        policy: Policy,
        portions: Portions,
    ) -> Result<(Vec<Task<'b>>, Vec<Vec<Part>>)> {
        let (mut tasks, mut longs) = (Vec::new(), Vec::new());
        let (mut first, mut size) = (0, 0);
        let group = |rows: Range<usize>, tasks: &mut Vec<Task>| {
            if !rows.is_empty() {
                tasks.push(Task::Rows(rows));
            }
        };
        for row in 0..batch.len() {
            let bytes = batch.bytes(row);
            let span = match *batch.row(row) {
                [span] if bytes / 2 > portions.part => Some(span),
                _ => None,
            };
            let ranges = span.map_or(Ok(None), |span| self.ranges(span, policy, portions.part))?;
            if let Some((long, ends)) = ranges {
                group(first..row, &mut tasks);
                (first, size) = (row + 1, 0);
                let starts = iter::once(0).chain(ends.iter().copied());
                tasks.extend(starts.zip(&ends).enumerate().map(|(number, (start, &end))| Task::Range {
                    row,
                    long,
                    range: start..end,
                    last: number + 1 == ends.len(),
                }));
                continue;
            }
            if let Some(Span::Text(text)) = span
                && let Some(parts) = self.segmenter().parts(text, policy, portions.part, PIECES_TO_SETTLE)
            {
                group(first..row, &mut tasks);
                (first, size) = (row + 1, 0);
                let (mut begun, mut start) = (0, 0);
                for (number, part) in (1..).zip(&parts) {
                    let last = number == parts.len();
                    if last || part.end() - start >= portions.part {
                        tasks.push(Task::Parts { row, text, long: longs.len(), parts: begun..number, start, last });
                        (begun, start) = (number, part.end());
                    }
                }
                longs.push(parts);
                continue;
            }
            size += bytes;
            if size >= portions.group {
                group(first..row + 1, &mut tasks);
                (first, size) = (row + 1, 0);
            }
        }
        group(first..batch.len(), &mut tasks);
        Ok((tasks, longs))
    }

    /// Runs the tasks; returns the error in the first faulty text, and the number of that text.
    fn work<S: Gather>(
        &self,
        call: &Call,
        tasks: &[Task<'_>],
        longs: &[Vec<Part>],
        whole: Chunk<S>,
    ) -> std::result::Result<Chunk<S>, Box<(usize, Fault)>> {
        let &Call { batch, policy, run, threads, .. } = call;
        let caller = thread::current().id();
        // The largest first, so that none is left at the end; those of usual size in order, for their results wait.
        let size = |task: &Task| match task {
            Task::Rows(rows) if rows.len() == 1 => batch.bytes(rows.start) / (4 * PORTION),
            _ => 0,
        };
        let mut order: Vec<_> = (0..tasks.len()).collect();
        order.sort_unstable_by_key(|&number| std::cmp::Reverse(size(&tasks[number])));
        let gathered = Mutex::new(Gathered { whole, next: 0, waiting: BTreeMap::new() });
        let fault = Mutex::new(None);
        let faulty_row = AtomicUsize::new(usize::MAX);
        parallel::fold(tasks.len(), threads, Chunk::<S>::default, |chunk, at| {
            let number = order[at];
            // Tasks before a fault still run: they may have another one.
            if tasks[number].row() > faulty_row.load(Ordering::Relaxed) {
                return;
            }
            let done = match &tasks[number] {
                Task::Rows(rows) => self
                    .encode_rows(batch, rows.clone(), policy, run, chunk)
                    .map_err(|error| (error.row.unwrap_or(rows.start), Fault::Error { error, cut: false })),
                Task::Parts { row, text, long, parts, start, last } => {
                    let parts = &longs[*long][parts.clone()];
                    let encoded = self.encode_parts(text, parts, *start, run, &mut chunk.sink);
                    if *last {
                        chunk.ends.push(chunk.sink.total());
                    }
                    encoded.map_err(|fault| (*row, fault))
                }
                Task::Range { row, long, range, last } => {
                    let encoded = self.encode_range(*long, range.clone(), policy, run.stop, &mut chunk.sink);
                    if *last {
                        chunk.ends.push(chunk.sink.total());
                    }
                    encoded.map_err(|error| (*row, Fault::Error { error, cut: true }))
                }
            };
            let mut give = || {
                lock(&gathered).take(number, chunk)?;
                if call.taker.is_none() || thread::current().id() != caller {
                    return Ok(());
                }
                let done = lock(&gathered).done()?;
                if done.ends.is_empty() { Ok(()) } else { call.give(&done) }
            };
            let taken =
                done.and_then(|()| give().map_err(|error| (tasks[number].row(), Fault::Error { error, cut: false })));
            match taken {
                Ok(()) => {}
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
            Some(fault) => Err(Box::new(fault)),
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
    ) -> Result<()> {
        let Chunk { sink, ends } = chunk;
        let mut encoder = self.encoder(sink, run.stop);
        ends.room(rows.len())?;
        for row in rows {
            self.encode_spans_with(batch.row(row), policy, &mut encoder).map_err(|error| error.row(row))?;
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
                    encoder.sink.take(&[*id]).map_err(|error| Fault::Error { error, cut: false })?;
                    at = *end;
                }
                Part::Pieces { stretch, range } => {
                    // Without the cut, a scan would go on from where the last one ended.
                    let walked = self.segmenter().walk_piece_range(text, stretch, range, &mut encoder);
                    at = walked.map_err(|error| Fault::Error { error, cut: true })?;
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::pipeline::Parts;
    use crate::segment::{Steps, Treat};
    use crate::split::added::AddedToken;
    use crate::split::{Pattern, names};
    use crate::vocab::{Semantics, Vocab};

    fn tokenizer(patterns: &[&str]) -> Tokenizer {
        // A vocabulary without some bytes, so that some texts are errors.
        let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).filter(|byte| byte != b"Q").collect();
        let mut tokens: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).collect();
        tokens.extend([&b" a"[..], b"bc", b" abc", b"de", b"  "]);
        let ids: Vec<u32> = (0..tokens.len() as u32).collect();
        let added = |id, content: &str| AddedToken { content: content.to_owned(), id, ..AddedToken::default() };
        Tokenizer::new(Parts {
            added: vec![
                AddedToken { special: true, ..added(300, "<s>") },
                AddedToken { lstrip: true, rstrip: true, ..added(301, "<m>") },
                AddedToken { single_word: true, ..added(302, "word") },
                AddedToken { normalized: true, rstrip: true, ..added(303, "<n>") },
            ],
            steps: Steps::of(patterns.iter().map(|pattern| Pattern::new(pattern).unwrap()).collect()),
            ..Parts::of(Vocab::new(&tokens, &ids, Semantics::Ranks).unwrap())
        })
        .unwrap()
    }

    /// Takes texts, so many times at most.
    struct Rows {
        ids: Vec<u32>,
        ends: Vec<usize>,
        calls: usize,
        most: usize,
    }

    impl Taker for Rows {
        fn take(&mut self, ids: &[u32], ends: &[usize]) -> Result<()> {
            if self.calls == self.most {
                return Err(Error::new(Kind::Interrupted, "enough"));
            }
            self.calls += 1;
            self.ends.extend(ends.iter().map(|end| self.ids.len() + end));
            self.ids.extend_from_slice(ids);
            Ok(())
        }

        fn begin_again(&mut self) {
            self.ids.clear();
            self.ends.clear();
        }
    }

    #[test]
    fn threads_and_cuts_change_neither_ids_nor_errors() {
        let words = [
            " abc", "bcde", " ", "\n\n", "word", " word ", "é世界", "<s>", " <m>  ", "<n> ", "12345", "'ll", "!?", "Q",
            "   x",
        ];
        let (mut seed, mut gaps) = (3_u64, 0);
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        // The last but one has no place to settle in a row of letters, the last one looks back at what came before.
        let patterns: [&[&str]; 5] =
            [&[names::O200K], &[names::GPT2, r"\p{N}{1,2}|\P{N}+"], &[], &["(?:ab|ba)+"], &[r"(?<=b)c|\w"]];
        for patterns in patterns {
            let tokenizer = tokenizer(patterns);
            for case in 0..60 {
                // Faults and special tokens are rare, or there are none.
                let texts: Vec<String> = (0..=random(12))
                    .map(|_| {
                        let words = &words[..if random(4) > 0 { 7 } else { words.len() }];
                        let length = [3, 40, 400][random(3)];
                        (0..random(length)).map(|_| words[random(words.len())]).collect()
                    })
                    .collect();
                let spans: Vec<_> = texts.iter().map(|text| Span::Text(text)).collect();
                let batch = Batch::of_single(spans);
                let special = [Treat::Raise, Treat::Text, Treat::Match][case % 3];
                let policy = Policy { special, added: [Treat::Match, Treat::Text][case % 2] };
                let one = Run { threads: Some(1), stop: None };
                let expected = tokenizer.encode_batch(&batch, policy, one);
                for (threads, part) in [(2, 16), (3, 64), (7, 300)] {
                    let portions = Portions { group: 24, part };
                    let mut call = Call { batch: &batch, policy, run: one, threads, taker: None };
                    let found = tokenizer.gather_on::<Vec<u32>>(&call, 0, portions);
                    assert_eq!(found.map(|found| (found.sink, found.ends)), expected, "{patterns:?} {texts:?}");
                    let counted = tokenizer.gather_on::<Count>(&call, 0, portions);
                    let ends = expected.clone().map(|(_, ends)| ends);
                    assert_eq!(counted.map(|found| found.ends), ends);

                    let mut rows = Rows { ids: Vec::new(), ends: Vec::new(), calls: 0, most: usize::MAX };
                    call.taker = Some(Mutex::new(&mut rows));
                    let rest = tokenizer.gather_on::<Vec<u32>>(&call, 0, portions);
                    let taken = rest.and_then(|rest| call.give(&rest)).map(|()| (rows.ids, rows.ends));
                    assert_eq!(taken, expected, "{patterns:?} {texts:?}");
                    gaps += usize::from(rows.calls > 2);
                }
                assert_eq!(tokenizer.encode_batch(&batch, policy, Run { threads: Some(2), stop: None }), expected);
            }
        }
        assert!(gaps > 20, "texts are taken while others are encoded: {gaps}");
    }

    #[test]
    fn an_error_of_the_taker_ends_the_call() {
        let (tokenizer, text) = (tokenizer(&[names::GPT2]), " abc".repeat(5_000));
        let batch = Batch::of_single(vec![Span::Text(&text); 100]);
        for (threads, most) in [(1, 0), (2, 0), (2, 3)] {
            let mut rows = Rows { ids: Vec::new(), ends: Vec::new(), calls: 0, most };
            let run = Run { threads: Some(threads), stop: None };
            match tokenizer.encode_batch_for(&batch, Policy::default(), run, &mut rows) {
                Err(error) => assert_eq!((error.kind, rows.calls), (Kind::Interrupted, most)),
                // Where one thread had to wait, the other's rows may come in few calls.
                Ok(()) => assert!((1..=most).contains(&rows.calls)),
            }
        }
    }

    #[test]
    fn a_call_that_is_stopped_ends() {
        let (tokenizer, text) = (tokenizer(&[names::GPT2]), " abc".repeat(500_000));
        let stop = AtomicBool::new(true);
        for threads in [1, 2] {
            let run = Run { threads: Some(threads), stop: Some(&stop) };
            let stopped = tokenizer.encode_whole::<Vec<u32>>(&[Span::Text(&text)], Policy::default(), run);
            assert_eq!(stopped.unwrap_err().kind, Kind::Interrupted);
        }
    }
}
