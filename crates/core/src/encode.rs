//! Pieces -> ids: whole tokens from the vocabulary's table, what was merged lately from a thread's own, the rest merged.

use std::ops::Range;
use std::sync::Mutex;

use crate::cache::hash;
use crate::cache::recent::{self, Recent};
use crate::cache::tokens::{self, Tokens};
use crate::error::Result;
use crate::merge::{Merger, Scratch};
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

    /// An encoder for one call.
    pub(crate) fn encoder<'a, S: Sink>(&'a self, sink: &'a mut S) -> Encoder<'a, S> {
        Encoder { model: self, workspace: None, sink }
    }
}

/// Encodes pieces into a sink.
pub(crate) struct Encoder<'a, S> {
    model: &'a Model,
    /// Taken when the first piece has to be merged: most short texts have none.
    workspace: Option<Box<Workspace>>,
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
    /// The ids of a piece that the table of tokens does not have.
    #[inline(never)]
    fn merge(&mut self, piece: &[u8]) -> Result<()> {
        let Model { vocab, pool, .. } = self.model;
        if piece.len() > tokens::LONGEST
            && let Some(id) = vocab.whole(piece)
        {
            self.sink.take(&[id]);
            return Ok(());
        }
        let Workspace { scratch, recent, ids } = &mut **self.workspace.get_or_insert_with(|| pool.take());
        ids.clear();
        if piece.len() > recent::LONGEST {
            Merger::for_length(piece.len()).merge(vocab, piece, scratch, ids)?;
            self.sink.take(ids);
            return Ok(());
        }
        let hash = hash(piece);
        if let Some(known) = recent.get(piece, hash) {
            ids.extend(known.iter().map(|id| u32::from_le_bytes(*id)));
        } else {
            Merger::for_length(piece.len()).merge(vocab, piece, scratch, ids)?;
            recent.keep(piece, hash, ids);
        }
        self.sink.take(ids);
        Ok(())
    }
}

impl<S: Sink> Visit for Encoder<'_, S> {
    fn piece(&mut self, piece: &str) -> Result<()> {
        let piece = piece.as_bytes();
        if (1..=tokens::LONGEST).contains(&piece.len()) {
            let tokens = &self.model.tokens;
            let hash = tokens.prepare(piece, 0, piece.len());
            if let Some(id) = tokens.get(piece, 0, piece.len(), hash) {
                self.sink.take(&[id]);
                return Ok(());
            }
        }
        self.merge(piece)
    }

    fn added(&mut self, token: &AddedToken, _: &str) -> Result<()> {
        self.sink.take(&[token.id]);
        Ok(())
    }

    /// Many pieces at a time: while some are compared with what the table has, the lines of those after them are on
    /// their way from memory.
    fn pieces(&mut self, text: &str, pattern: &Pattern, range: Range<usize>) -> Result<usize> {
        let bytes = text.as_bytes();
        let tokens = &self.model.tokens;
        let mut scan = pattern.scan(text, range.start);
        let mut ends = Ends::default();
        let mut hashes = [0; Ends::MOST];
        let mut known = Known { ids: [0; Ends::MOST], count: 0 };
        let mut start = range.start;
        while start < range.end {
            let filled = scan.fill(&mut ends);
            if ends.as_slice().is_empty() {
                filled?;
                break;
            }
            let mut first = start;
            for (&end, hash) in ends.as_slice().iter().zip(&mut hashes) {
                let length = end - first;
                if length <= tokens::LONGEST {
                    *hash = tokens.prepare(bytes, first, length);
                }
                first = end;
            }
            for (&end, &hash) in ends.as_slice().iter().zip(&hashes) {
                if start >= range.end {
                    break;
                }
                let length = end - start;
                if length <= tokens::LONGEST
                    && let Some(id) = tokens.get(bytes, start, length, hash)
                {
                    known.push(id);
                } else {
                    known.send(self.sink);
                    self.merge(&bytes[start..end]).map_err(|error| shifted(error, start))?;
                }
                start = end;
            }
            known.send(self.sink);
        }
        Ok(start)
    }
}

/// Ids of pieces that are tokens, sent on together.
struct Known {
    ids: [u32; Ends::MOST],
    count: usize,
}

impl Known {
    #[inline(always)]
    fn push(&mut self, id: u32) {
        // The mask spares a check of the bounds: between two sends there are no more pieces than places.
        self.ids[self.count & (Ends::MOST - 1)] = id;
        self.count += 1;
    }

    #[inline(always)]
    fn send(&mut self, sink: &mut impl Sink) {
        sink.take(&self.ids[..std::mem::take(&mut self.count)]);
    }
}
