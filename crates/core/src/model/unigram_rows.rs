//! Unigram: the number of tokens of every prefix of a growing piece.
//!
//! The best way to a place does not depend on what comes after it, so a row is final as soon as its place is reached. Of the
//! tokens that may still go on, the nodes of the trie are kept, those that began first before the others, and of all longer
//! ones the state of their automaton: a place takes its ways in the order in which encoding takes them.

use super::automaton::ROOT;
use super::token_table::NONE;
use super::trie::Node;
use super::unigram::{Best, NOT_YET, Pending, width};
use super::{Unigram, is_start, no_unk};
use crate::error::Result;
use crate::memory::Room;

/// The best way to a place.
#[derive(Clone, Copy)]
struct Row {
    sum: f64,
    /// How many tokens there are; as many as can be, inside of a character.
    count: u32,
    /// Where the unknown characters begin that the way ends with, or [`NONE`].
    unknown: u32,
}

const FIRST: Row = Row { sum: 0.0, count: 0, unknown: NONE };
const INSIDE: Row = Row { sum: 0.0, count: u32::MAX, unknown: NONE };

/// The prefixes of one piece, by their lengths.
#[derive(Default)]
pub(super) struct UnigramRows {
    rows: Vec<Row>,
    /// The tokens that may go on beyond the end: where they start, and how far they are spelled. None if not known.
    open: Option<Vec<(u32, Node)>>,
    /// The states of the automaton of long tokens behind each prefix, if there are any.
    states: Vec<u32>,
    /// The ends of the characters of which a byte has no token; of `byte_fallback` only.
    lacking: Vec<u32>,
    /// Where sums start from zero again, and what was taken off them there.
    offsets: Vec<(u32, f64)>,
    /// A character without a token, in a model without an unknown one: longer prefixes cannot be encoded.
    failed: Option<usize>,
}

impl UnigramRows {
    /// The bytes that are known.
    fn len(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// Forgets what is beyond a length.
    pub(super) fn truncate(&mut self, length: usize) {
        if length < self.len() {
            self.rows.truncate(length + 1);
            self.states.truncate(length);
            self.lacking.truncate(self.lacking.partition_point(|&end| end as usize <= length));
            self.offsets.truncate(self.offsets.partition_point(|&(place, _)| place as usize <= length));
            self.open = None;
        }
        self.failed = self.failed.filter(|&failed| failed < length);
    }

    /// Extends to the end of `piece`, which begins with what is known, or to where it cannot be encoded.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn extend(&mut self, model: &Unigram, piece: &str) -> Result<()> {
        if self.rows.is_empty() {
            self.rows.push(FIRST);
        }
        let (text, known) = (piece.as_bytes(), self.len());
        if self.failed.is_some() || known >= text.len() {
            return Ok(());
        }
        self.rows.room(text.len() - known)?;
        self.states.room(if model.long.is_some() { text.len() - known } else { 0 })?;
        let mut open = self.open.take().unwrap_or_else(|| Self::reopen(model, text, known));
        let mut start = known;
        for (end, &byte) in (known + 1..).zip(&text[known..]) {
            self.lacking.room(1)?;
            self.offsets.room(1)?;
            if is_start(byte) {
                start = end - 1;
                open.push((start as u32, model.trie.root()));
            }
            let mut best = NOT_YET;
            let mut has_character = false;
            let mut pending = None;
            if let Some(long) = &model.long {
                let state = long.go(self.states.last().copied().unwrap_or(ROOT), byte);
                self.states.push(state);
                for token in long.ending(state) {
                    let begin = end - model.table.text(token).len();
                    let pending = pending.get_or_insert_with(|| Pending::new(&self.offsets, begin as u32));
                    pending.shift(model, &mut best, begin as u32);
                    model.take(&mut best, self.rows[begin].sum + model.scores[token as usize], begin, token);
                }
            }
            let first = open.first().map_or(start as u32, |&(begin, _)| begin);
            let mut pending = pending.unwrap_or_else(|| Pending::new(&self.offsets, first));
            open.retain_mut(|(begin, node)| {
                let Some(longer) = model.trie.next(*node, byte) else { return false };
                *node = longer;
                if let Some(token) = longer.value() {
                    has_character |= *begin as usize == start;
                    pending.shift(model, &mut best, *begin);
                    let sum = self.rows[*begin as usize].sum + model.scores[token as usize];
                    model.take(&mut best, sum, *begin as usize, token);
                }
                true
            });
            if end - start < width(text[start]) {
                self.rows.push(INSIDE);
                continue;
            }
            pending.shift(model, &mut best, start as u32);
            if !has_character && model.take(&mut best, self.rows[start].sum + model.unk_score, start, NONE) {
                let Some(unk) = model.unk else {
                    self.rows.truncate(start + 1);
                    self.states.truncate(start);
                    self.failed = Some(start);
                    return Ok(());
                };
                best.token = unk;
            }
            if !model.has_bytes(&piece[start..end]) {
                self.lacking.push(end as u32);
            }
            if let Some(offset) = model.offset(best.sum) {
                self.offsets.push((end as u32, offset));
                model.shift(&mut best, offset);
            }
            let row = self.row(model, piece, end, &best);
            self.rows.push(row);
        }
        self.open = Some(open);
        Ok(())
    }

    /// The number of tokens of a prefix; None if it is not known.
    ///
    /// # Errors
    /// `Encode`, if a character has no token, and there is no unknown one.
    pub(super) fn count(&self, prefix: &str) -> Result<Option<u64>> {
        if let Some(failed) = self.failed.filter(|&failed| failed < prefix.len()) {
            return Err(no_unk(prefix, failed));
        }
        Ok(self.rows.get(prefix.len()).map(|row| u64::from(row.count)))
    }

    /// The fewest tokens of any piece that begins with the first `length` bytes: one of its ways to a place among the last
    /// ones, where no token goes across.
    pub(super) fn least(&self, model: &Unigram, length: usize) -> u64 {
        let longest = model.reach();
        let rows = self.rows.get(length.saturating_sub(longest)..=length).unwrap_or_default();
        let count = |row: &Row| match row.unknown {
            NONE => row.count,
            // More unknown characters may make one token of all.
            start => self.rows[start as usize].count + 1,
        };
        rows.iter().map(count).min().map_or(0, u64::from)
    }

    /// The tokens that begin among the last bytes and may go on.
    fn reopen(model: &Unigram, text: &[u8], known: usize) -> Vec<(u32, Node)> {
        let starts = (known.saturating_sub(model.walked())..known).filter(|&start| is_start(text[start]));
        let node = |start: usize| model.trie.spell(model.trie.root(), text[start..known].iter().copied());
        starts.filter_map(|start| Some((start as u32, node(start)?))).collect()
    }

    /// The row of a place to which this is the best way.
    fn row(&self, model: &Unigram, piece: &str, end: usize, best: &Best) -> Row {
        let before = self.rows[best.start as usize];
        if Some(best.token) != model.unk {
            return Row { sum: best.sum, count: before.count + 1, unknown: NONE };
        }
        let unknown = if before.unknown == NONE { best.start } else { before.unknown };
        let all_there = model.bytes.is_some() && self.lacking.last().is_none_or(|&lacking| lacking <= unknown);
        let together = if all_there && model.spelled_together(&piece[unknown as usize..end]).is_none() {
            end as u32 - unknown
        } else {
            1
        };
        Row { sum: best.sum, count: self.rows[unknown as usize].count + together, unknown }
    }
}
