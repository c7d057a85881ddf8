//! Chunks of a text within a token budget, which end at the best boundaries.
//!
//! A chunk could extend to the end of the longest prefix that fits. It ends at the last boundary of the strongest kind in the
//! second half of that prefix, or of the next weaker kind, and so on, or at its end. So a chunk is at least half as long as
//! it could be, and no text is read more than a few times.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::chunk::boundaries::{Blocks, Boundary, MARGIN};
use crate::count::{Counter, Fit, Ruler, Side};
use crate::error::{Error, Kind, Result};
use crate::parallel;
use crate::pipeline::Run;
use crate::pipeline::Tokenizer;
use crate::segment::Policy;

/// Fewer bytes in a batch are not worth a thread.
const BYTES_FOR_THREADS: usize = 1 << 16;

/// A part of a text, in bytes, and how many ids it has alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where it starts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Its ids.
    pub tokens: u64,
}

/// The options of chunks.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The most ids of a chunk.
    pub limit: u64,
    /// The most ids of the text that a chunk shares with the one before.
    pub overlap: u64,
    /// The strongest kind of place to end at; the weaker ones follow.
    pub boundary: Boundary,
    /// Places of the caller's own, in order, which come before all others.
    pub given: &'a [usize],
}

/// How far a text was cut into chunks.
pub(super) struct State {
    blocks: Blocks,
    ruler: Ruler,
    /// Where the next chunk starts, and where the one before ended.
    start: usize,
    end: usize,
    done: bool,
}

impl State {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            blocks: Blocks::new(settings.boundary),
            ruler: Ruler::new(settings.limit),
            start: 0,
            end: 0,
            done: false,
        }
    }

    /// Counts all places from `by` bytes further right, which is where the text begins from now on.
    pub(super) fn shift(&mut self, by: usize) {
        self.blocks.shift(by);
        self.ruler.shift(by);
        self.start -= by;
        self.end -= by;
    }
}

/// Makes one chunk after another.
pub(super) struct Chunker<'a> {
    tokenizer: &'a Tokenizer,
    policy: Policy<'a>,
    settings: Settings<'a>,
    counter: Counter<'a>,
    /// Up to here the text may be cut, whatever comes behind it.
    sure: usize,
    state: &'a mut State,
}

impl<'a> Chunker<'a> {
    pub(super) fn new(
        tokenizer: &'a Tokenizer,
        policy: Policy<'a>,
        settings: Settings<'a>,
        state: &'a mut State,
    ) -> Self {
        Self { tokenizer, policy, settings, counter: Counter::new(tokenizer, policy), sure: 0, state }
    }

    /// The next chunk of a text; None if there is no more, or if it depends on text to come, of which there is none if
    /// this `is_last`. Errors are placed in bytes.
    pub(super) fn next(&mut self, text: &str, is_last: bool) -> Result<Option<Chunk>> {
        if self.state.done || self.state.start == text.len() {
            return Ok(None);
        }
        self.sure = if is_last { text.len() } else { self.counter.sure(text) };
        let Some(mut fit) = self.fit(text, is_last)? else { return Ok(None) };
        // A chunk that would not end behind the one before shares nothing with it.
        if self.state.start < self.state.end && fit.at <= self.state.end {
            self.state.start = self.state.end;
            let Some(again) = self.fit(text, is_last)? else { return Ok(None) };
            fit = again;
        }
        let (start, most) = (self.state.start, fit.at);
        if most == start {
            let character = first(&text[start..]);
            let (tokens, limit) = (self.count(text, start, start + character.len_utf8())?, self.settings.limit);
            let what = format!("the character {character:?} alone has {tokens} tokens, more than the limit of {limit}");
            let remedy = format!("use a limit of at least {tokens}");
            return Err(Error::new(Kind::Limit, what).at(start).remedy(remedy));
        }
        if is_last && most == text.len() {
            self.state.done = true;
            return Ok(Some(Chunk { start, end: most, tokens: fit.tokens }));
        }
        let chunk = self.cut(text, Chunk { start, end: most, tokens: fit.tokens })?;
        self.state.start = self.next_start(text, chunk)?;
        self.state.end = chunk.end;
        Ok(Some(chunk))
    }

    /// From where on the text is still needed; what lies before is forgotten.
    pub(super) fn needed(&mut self) -> usize {
        self.state.ruler.forget(self.state.start);
        self.state.blocks.forget(self.state.start).min(self.state.start)
    }

    /// The longest prefix of what is left that fits; None if that depends on text to come.
    fn fit(&mut self, text: &str, is_last: bool) -> Result<Option<Fit>> {
        let State { ruler, start, .. } = &mut *self.state;
        let fit = ruler.fit(&self.counter, text, *start, self.settings.limit, self.sure)?;
        let is_sure = is_last || fit.decided && fit.at + MARGIN <= text.len();
        Ok(is_sure.then_some(fit))
    }

    /// The part of the longest chunk that ends at the best place.
    fn cut(&mut self, text: &str, longest: Chunk) -> Result<Chunk> {
        let Chunk { start, end: most, .. } = longest;
        let low = (start + (most - start) / 2).max(self.state.end);
        let given = self.settings.given;
        let (from, to) = (given.partition_point(|&at| at <= low), given.partition_point(|&at| at <= most));
        for &place in given[from..to].iter().rev() {
            if let Some(chunk) = self.up_to(text, longest, place)? {
                return Ok(chunk);
            }
        }
        for kind in self.settings.boundary.kinds() {
            self.state.blocks.cover(text, most);
            let mut high = most;
            while let Some(place) = self.state.blocks.last(text, kind, low, high) {
                if let Some(chunk) = self.up_to(text, longest, place)? {
                    return Ok(chunk);
                }
                high = place - 1;
            }
        }
        Ok(longest)
    }

    /// The longest chunk, cut at a place, if it then fits: a shorter text may have more ids.
    fn up_to(&mut self, text: &str, longest: Chunk, place: usize) -> Result<Option<Chunk>> {
        let Chunk { start, end, tokens } = longest;
        let tokens = if place == end { tokens } else { self.count(text, start, place)? };
        Ok((tokens <= self.settings.limit).then_some(Chunk { start, end: place, tokens }))
    }

    /// Where the next chunk starts: the same, seen from the end of this one. In the first half of the longest suffix
    /// that may be shared, the first place of the strongest kind.
    fn next_start(&mut self, text: &str, chunk: Chunk) -> Result<usize> {
        let Settings { overlap, given, boundary, .. } = self.settings;
        let (least, end) = (chunk.start + first(&text[chunk.start..]).len_utf8(), chunk.end);
        if overlap == 0 || least >= end {
            return Ok(end);
        }
        let fit = self.tokenizer.fit(&text[least..end], self.policy, overlap, Side::Right);
        let low = least + fit.map_err(|error| error.shifted(least))?.at;
        let high = low + (end - low) / 2;
        let (from, to) = (given.partition_point(|&at| at < low), given.partition_point(|&at| at <= high));
        for &place in &given[from..to] {
            if self.may_be_shared(text, low, place, end)? {
                return Ok(place);
            }
        }
        for kind in boundary.kinds() {
            self.state.blocks.cover(text, high);
            let mut from = low;
            while let Some(place) = self.state.blocks.first(text, kind, from, high) {
                if self.may_be_shared(text, low, place, end)? {
                    return Ok(place);
                }
                from = place + 1;
            }
        }
        Ok(low)
    }

    fn may_be_shared(&mut self, text: &str, low: usize, place: usize, end: usize) -> Result<bool> {
        Ok(place == low || self.count(text, place, end)? <= self.settings.overlap)
    }

    fn count(&mut self, text: &str, start: usize, end: usize) -> Result<u64> {
        self.state.ruler.count(&self.counter, text, start..end, self.sure)
    }
}

fn first(text: &str) -> char {
    text.chars().next().unwrap_or_default()
}

/// The error for a limit that leaves no room.
pub(super) fn check(settings: Settings) -> Result<()> {
    let Settings { limit, overlap, .. } = settings;
    if limit == 0 || overlap >= limit {
        let what = format!("a limit of {limit} tokens leaves no room for anything beside an overlap of {overlap}");
        return Err(Error::new(Kind::Limit, what).remedy("use a limit of at least 1, and a smaller overlap"));
    }
    Ok(())
}

impl Tokenizer {
    /// A text in chunks that cover it in order and have, each alone, at most `settings.limit` ids.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; `Limit`, if a character alone has more ids than the limit; `Interrupted`, if `stop` is set.
    ///
    /// ```
    /// use bytepair_core::chunk::{Boundary, Chunk, Settings};
    /// use bytepair_core::pipeline::{Parts, Tokenizer};
    /// use bytepair_core::segment::Policy;
    /// use bytepair_core::vocab::{Semantics, Vocab};
    /// let vocab = Vocab::new(&[b"a", b" ", b"aa"], &[0, 1, 2], Semantics::Ranks)?;
    /// let parts = Parts::of(vocab);
    /// let settings = Settings { limit: 3, overlap: 0, boundary: Boundary::Word, given: &[] };
    /// let chunks = Tokenizer::new(parts)?.chunks("aa a aa", Policy::default(), settings, None)?;
    /// let expected = [(0, 4, 3), (4, 7, 2)];
    /// assert_eq!(chunks, expected.map(|(start, end, tokens)| Chunk { start, end, tokens }));
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn chunks(
        &self,
        text: &str,
        policy: Policy,
        settings: Settings,
        stop: Option<&AtomicBool>,
    ) -> Result<Vec<Chunk>> {
        check(settings)?;
        self.segmenter().check(text, policy).map_err(|error| error.placed(text))?;
        let mut state = State::new(settings);
        let mut chunker = Chunker::new(self, policy, settings, &mut state);
        let mut chunks = Vec::new();
        while let Some(chunk) = chunker.next(text, true).map_err(|error| error.placed(text))? {
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(Error::new(Kind::Interrupted, "chunking was interrupted"));
            }
            chunks.push(chunk);
            chunker.needed();
        }
        Ok(chunks)
    }

    /// The chunks of each of some texts, which come with their own given places, on several threads.
    ///
    /// # Errors
    /// As [`Tokenizer::chunks`], of the first text at fault, with its row.
    pub fn chunks_batch(
        &self,
        texts: &[(&str, Vec<usize>)],
        policy: Policy,
        settings: Settings,
        run: Run,
    ) -> Result<Vec<Vec<Chunk>>> {
        check(settings)?;
        let bytes: usize = texts.iter().map(|(text, _)| text.len()).sum();
        let threads = if bytes < BYTES_FOR_THREADS { 1 } else { parallel::threads(run.threads) };
        // The longest first, so that none is left at the end.
        let mut order: Vec<_> = (0..texts.len()).collect();
        order.sort_unstable_by_key(|&row| std::cmp::Reverse(texts[row].0.len()));
        let faulty_row = AtomicUsize::new(usize::MAX);
        let done = parallel::fold(texts.len(), threads, Vec::new, |done, at| {
            let row = order[at];
            if row > faulty_row.load(Ordering::Relaxed) {
                return;
            }
            let (text, given) = &texts[row];
            let chunks = self.chunks(text, policy, Settings { given, ..settings }, run.stop);
            if chunks.is_err() {
                faulty_row.fetch_min(row, Ordering::Relaxed);
            }
            done.push((row, chunks));
        });
        let mut rows: Vec<_> = done.into_iter().flatten().collect();
        rows.sort_unstable_by_key(|&(row, _)| row);
        rows.into_iter().map(|(row, chunks)| chunks.map_err(|error| error.row(row))).collect()
    }
}
