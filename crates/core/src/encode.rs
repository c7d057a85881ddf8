//! Pieces -> ids: whole tokens from the vocabulary's table, what was merged lately from a thread's own, the rest merged.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cache::recent::{Recent, Sought};
use crate::cache::tokens::{self, Found, Tokens};
use crate::error::{Error, Kind, Result};
use crate::merge::{self, Scratch};
use crate::segment::{Visit, shifted};
use crate::split::added::AddedToken;
use crate::split::{Ends, Pattern};
use crate::vocab::Vocab;

/// Takes ids as they come.
pub trait Sink {
    /// Some ids, in order.
    fn take(&mut self, ids: &[u32]);
}

impl Sink for Vec<u32> {
    #[inline]
    fn take(&mut self, ids: &[u32]) {
        self.extend_from_slice(ids);
    }
}

/// Counts ids and keeps none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count(pub u64);

impl Sink for Count {
    #[inline]
    fn take(&mut self, ids: &[u32]) {
        self.0 += ids.len() as u64;
    }
}

/// How many pieces are looked for together among the recent ones.
const TOGETHER: usize = 16;

/// What a thread needs to merge pieces.
#[derive(Default)]
struct Workspace {
    scratch: Scratch,
    recent: Recent,
    /// The ids of one piece.
    ids: Vec<u32>,
}

/// Workspaces that no thread uses now. They are lent for one call, so that there are never more than threads at once.
#[derive(Default)]
struct Pool(Mutex<Vec<Box<Workspace>>>);

impl Pool {
    /// Never waits: in a forked child the lock may be held by a thread that is not there.
    fn take(&self) -> Box<Workspace> {
        self.0.try_lock().ok().and_then(|mut idle| idle.pop()).unwrap_or_default()
    }

    fn give_back(&self, workspace: Box<Workspace>) {
        if let Ok(mut idle) = self.0.try_lock() {
            idle.push(workspace);
        }
    }
}

/// A vocabulary with its caches: what all threads share.
pub(crate) struct Model {
    pub(crate) vocab: Vocab,
    tokens: Tokens,
    pool: Pool,
}

impl Model {
    pub(crate) fn new(vocab: Vocab) -> Self {
        let tokens = Tokens::new(vocab.wholes());
        Self { vocab, tokens, pool: Pool::default() }
    }

    /// Bytes of memory of the table of tokens.
    pub(crate) fn memory(&self) -> usize {
        self.tokens.memory()
    }

    /// An encoder for one call.
    pub(crate) fn encoder<'a, S: Sink>(&'a self, sink: &'a mut S) -> Encoder<'a, S> {
        Encoder { model: self, workspace: None, stop: None, sink }
    }
}

/// Encodes pieces into a sink.
pub(crate) struct Encoder<'a, S> {
    model: &'a Model,
    /// Taken when the first piece has to be merged: most short texts have none.
    workspace: Option<Box<Workspace>>,
    /// Set by whoever no longer wants the ids.
    pub(crate) stop: Option<&'a AtomicBool>,
    pub(crate) sink: &'a mut S,
}

impl<S> Drop for Encoder<'_, S> {
    fn drop(&mut self) {
        if let Some(workspace) = self.workspace.take() {
            self.model.pool.give_back(workspace);
        }
    }
}

impl<S: Sink> Encoder<'_, S> {
    /// Looks some pieces up, of which the first starts at `start`, and merges those that are not known.
    fn encode(&mut self, text: &[u8], start: usize, ends: &[usize], found: &mut Found) -> Result<()> {
        let Model { vocab, tokens, pool } = self.model;
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Error::new(Kind::Interrupted, "encoding was interrupted"));
        }
        tokens.get_many(text, start, ends, found);
        let mut sent = 0;
        let mut missing = found.missing().peekable();
        if missing.peek().is_some() {
            let workspace = &mut **self.workspace.get_or_insert_with(|| pool.take());
            let mut sought = [const { Sought::NONE }; TOGETHER];
            loop {
                // As with the tokens: the memory of some is asked for while others are compared.
                let mut count = 0;
                // The places come first: a number that finds none would be lost.
                for (sought, number) in sought.iter_mut().zip(missing.by_ref()) {
                    let start = if number == 0 { start } else { ends[number - 1] };
                    *sought = Sought::new(text, start, ends[number], number);
                    workspace.recent.prepare(sought);
                    count += 1;
                }
                for sought in &sought[..count] {
                    workspace.recent.prepare_more(sought);
                }
                for sought in &sought[..count] {
                    if sent < sought.number {
                        self.sink.take(&found.ids[sent..sought.number]);
                    }
                    sent = sought.number + 1;
                    workspace.ids.clear();
                    workspace
                        .merge(vocab, sought)
                        .map_err(|error| shifted(error, ends[sought.number] - sought.piece.len()))?;
                    self.sink.take(&workspace.ids);
                }
                if count < TOGETHER {
                    break;
                }
            }
        }
        self.sink.take(&found.ids[sent..ends.len()]);
        Ok(())
    }
}

impl Workspace {
    /// Appends the ids of a piece that is not in the table of tokens.
    #[inline]
    fn merge(&mut self, vocab: &Vocab, sought: &Sought) -> Result<()> {
        let Self { scratch, recent, ids } = self;
        if recent.get(sought, ids) {
            return Ok(());
        }
        let piece = sought.piece;
        if piece.len() > tokens::LONGEST
            && let Some(id) = vocab.whole(piece)
        {
            ids.push(id);
        } else {
            merge::encode(vocab, piece, scratch, ids)?;
        }
        recent.keep(sought, ids);
        Ok(())
    }
}

impl<S: Sink> Visit for Encoder<'_, S> {
    fn piece(&mut self, piece: &str) -> Result<()> {
        let piece = piece.as_bytes();
        let mut found = Found::default();
        if piece.is_empty() {
            return Ok(());
        }
        self.encode(piece, 0, &[piece.len()], &mut found)
    }

    fn added(&mut self, token: &AddedToken, _: &str) -> Result<()> {
        self.sink.take(&[token.id]);
        Ok(())
    }

    fn pieces(&mut self, text: &str, pattern: &Pattern, range: Range<usize>) -> Result<usize> {
        let bytes = text.as_bytes();
        let mut scan = pattern.scan(text, range.start);
        let mut ends = Ends::default();
        let mut found = Found::default();
        let mut start = range.start;
        while start < range.end {
            let filled = scan.fill(&mut ends);
            let Some(&last) = ends.as_slice().last() else {
                filled?;
                break;
            };
            let mut ends = ends.as_slice();
            if last > range.end {
                // The first that ends at the range's end or later is the last that starts in it.
                ends = &ends[..=ends.partition_point(|&end| end < range.end)];
            }
            self.encode(bytes, start, ends, &mut found)?;
            start = ends.last().copied().unwrap_or(range.end);
        }
        Ok(start)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::split::names;
    use crate::vocab::Semantics;

    fn model() -> Model {
        let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
        let mut tokens: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).collect();
        tokens.extend([&b" a"[..], b"bc", b" abc", b"de"]);
        let ids: Vec<u32> = (0..tokens.len() as u32).collect();
        Model::new(Vocab::new(&tokens, &ids, Semantics::Ranks).unwrap())
    }

    #[test]
    fn pieces_together_have_the_ids_that_they_have_alone() {
        let pattern = Pattern::new(names::GPT2).unwrap();
        let words =
            [" abc", " abcd", "bc", " ", "\n\n", " deabcde", "!", " ééé", " longer than twenty-eight bytes", "12"];
        let mut seed = 9_u64;
        for length in [1, 2, 17, 40, 1000] {
            let (model, alone) = (model(), model());
            for _ in 0..3 {
                let text: String = (0..length)
                    .map(|_| {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        // Words that are no tokens are the most, so that many in a row have to be merged.
                        words[if seed >> 60 < 12 { 5 } else { (seed >> 33) as usize % words.len() }]
                    })
                    .collect();
                let (mut ids, mut count, mut expected) = (Vec::new(), Count::default(), Vec::new());
                model.encoder(&mut ids).pieces(&text, &pattern, 0..text.len()).unwrap();
                model.encoder(&mut count).pieces(&text, &pattern, 0..text.len()).unwrap();
                for piece in pattern.pieces(&text) {
                    alone.encoder(&mut expected).piece(piece.unwrap()).unwrap();
                }
                assert_eq!((&ids, count.0), (&expected, expected.len() as u64));
                let merged: Vec<u32> = pattern
                    .pieces(&text)
                    .flat_map(|piece| {
                        let mut ids = Vec::new();
                        let piece = piece.unwrap().as_bytes();
                        merge::encode(&model.vocab, piece, &mut Scratch::default(), &mut ids).unwrap();
                        ids
                    })
                    .collect();
                assert_eq!(ids, merged);
            }
        }
    }

    #[test]
    fn a_range_ends_with_the_piece_that_starts_in_it() {
        let (model, pattern) = (model(), Pattern::new(names::GPT2).unwrap());
        let text = " abc".repeat(200);
        for (range, expected) in [(0..1, 4), (4..8, 8), (4..9, 12), (0..800, 800), (0..0, 0), (400..799, 800)] {
            let mut ids = Vec::new();
            let end = model.encoder(&mut ids).pieces(&text, &pattern, range.clone()).unwrap();
            assert_eq!((end, ids.len()), (expected, (expected - range.start) / 4));
        }
    }
}
