//! The front of a text that grows there: a count for each place, back to a cut.
//!
//! The ids of a text from some place on do not depend on the text before, as long as no stage looks back. So each place has a
//! count, and that of a new first character follows from those behind it: an added token that starts there, or the piece
//! that starts there, plus the count from its end on.
//!
//! Two things keep that linear on long pieces. A scan that reaches the state of an earlier scan at the same place ends where
//! that one ended. And the first token of a piece is the one that fits the first token of the rest: `merge::suffixes`.

use crate::count::tail::Stages;
use crate::error::Result;
use crate::memory::{self, Room};
use crate::merge::{self, FirstBuffers, Scratch};
use crate::segment::{Policy, admit};
use crate::vocab::{NONE, Vocab};

/// The count of a text that cannot be encoded.
pub(super) const FAULT: u64 = u64::MAX;

/// No place.
const NOWHERE: usize = usize::MAX;

/// The part of a text from its front back to a cut, or to the end of the text. Places are counted from there.
#[derive(Clone, Debug, Default)]
pub(super) struct Head {
    /// Where it ends.
    pub(super) end: usize,
    /// The ids from there on.
    pub(super) after: u64,
    /// Where the stretch ends that the next character belongs to.
    pub(super) stretch: usize,
    /// A row for each byte, from the end to the front.
    pub(super) rows: Vec<Row>,
}

/// The state of a place; inside a character only the fields of its piece are set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The ids of the text from here on.
    tokens: u64,
    /// Where the piece ends that starts here; [`NOWHERE`] for an added token.
    piece: usize,
    /// The first token of that piece, and how many it has, when its bytes are merged.
    first: u32,
    within: u32,
    /// The state in which a scan passed here last.
    state: Option<u16>,
    /// Where the last match ended that the scan found from here on, or [`NOWHERE`].
    found: usize,
}

/// Buffers.
#[derive(Default)]
pub(super) struct Buffers {
    first: FirstBuffers,
    scratch: Box<Scratch>,
    ids: Vec<u32>,
    passed: Vec<usize>,
}

impl Head {
    /// An empty head, at a cut with `behind` ids behind it.
    pub(super) fn new(end: usize, after: u64) -> Self {
        Self { end, after, stretch: end, rows: Vec::new() }
    }

    fn row(&self, place: usize) -> Option<&Row> {
        self.rows.get((place - self.end).checked_sub(1)?)
    }

    /// The ids from a place on.
    pub(super) fn tokens(&self, place: usize) -> u64 {
        self.row(place).map_or(self.after, |row| row.tokens)
    }

    /// Where the front is.
    pub(super) fn front(&self) -> usize {
        self.end + self.rows.len()
    }

    /// Whether the piece of a row, or a match that its scan found, goes across a place.
    pub(super) fn goes_across(&self, place: usize) -> bool {
        self.rows[place - self.end..].iter().any(|row| row.piece < place || row.found < place)
    }

    /// The fewest ids that any longer text has, if all text between added tokens is one piece; 0 if nothing better is known.
    /// `longest` is the length of the longest token.
    ///
    /// A longer text has the end of a token among the first places, and from there on the tokens are those of that place. A
    /// piece may be one token without being merged, if it is not too long.
    pub(super) fn least(&self, longest: usize) -> u64 {
        let Some(first) = self.rows.len().checked_sub(2 * longest + 1) else { return 0 };
        let rows = &self.rows[first + longest..];
        let piece = rows[0].piece;
        if self.rows[first..].iter().any(|row| row.piece != piece || row.tokens == FAULT) {
            return 0;
        }
        let within = rows.iter().map(|row| u64::from(row.within)).min().unwrap_or(0);
        self.tokens(piece).saturating_add(within)
    }

    /// Works out the rows of the character at `start`.
    ///
    /// # Errors
    /// `Memory`; the rows are then as before.
    pub(super) fn prepend(
        &mut self,
        stages: &Stages,
        policy: Policy,
        text: &str,
        start: usize,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let place = text.len() - start;
        let bytes = &text.as_bytes()[start..];
        let width = place - self.front();
        self.rows.room(width)?;
        if let Some(token) = stages.added.and_then(|added| added.longest_at_start(&text[start..])) {
            let admitted = stages.tokenizer.added_token(token).is_some_and(|token| admit(token, policy).is_ok());
            let after = self.tokens(place - token.len());
            let tokens = if admitted { after.saturating_add(1) } else { FAULT };
            let row = Row { tokens, piece: NOWHERE, first: NONE, within: 0, state: None, found: NOWHERE };
            self.rows.extend(std::iter::repeat_n(row, width));
            self.stretch = place;
            return Ok(());
        }
        let piece = place - self.piece_end(stages, &bytes[..place - self.stretch], buffers)?;
        let model = stages.tokenizer.model();
        let has_rows = merge::has_prefixes(&model.vocab);
        let mut counted = None;
        for inside in (0..width).rev() {
            let bytes = &bytes[inside..place - piece];
            let merged = if has_rows {
                self.first_token(&model.vocab, bytes, piece, buffers)
            } else if inside == 0 {
                merged(&model.vocab, bytes, buffers)
            } else {
                None
            };
            let (first, within) = merged.unwrap_or((NONE, 0));
            self.rows.push(Row { tokens: 0, piece, first, within, state: None, found: NOWHERE });
            counted = merged.map(|(_, within)| u64::from(within));
        }
        let length = place - piece;
        if length <= model.vocab.longest() && model.is_whole(&bytes[..length], 0, length) {
            counted = Some(1);
        }
        let tokens = counted.map_or(FAULT, |counted| self.tokens(piece).saturating_add(counted));
        if let Some(row) = self.rows.last_mut() {
            row.tokens = tokens;
        }
        Ok(())
    }

    /// Where the piece ends that starts at the front of `stretch`, counted from its start.
    fn piece_end(&mut self, stages: &Stages, stretch: &[u8], buffers: &mut Buffers) -> Result<usize> {
        let (last, rows) = (self.stretch + stretch.len(), &mut self.rows);
        let row_at = |at: usize| last - at - self.end - 1;
        buffers.passed.clear();
        let mut remembered = Ok(());
        let end = stages.growing.end(stretch, 0, stretch.len(), |at, state| {
            if at == stretch.len() {
                return None;
            }
            let row = &mut rows[row_at(at)];
            if row.state == Some(state) {
                return Some((row.found != NOWHERE).then(|| last - row.found));
            }
            if remembered.is_ok() {
                remembered = memory::push(&mut buffers.passed, at);
            }
            // Only with the place, to which what is found is added.
            row.state = remembered.is_ok().then_some(state);
            None
        });
        for &at in &buffers.passed {
            rows[row_at(at)].found = if end >= at { last - end } else { NOWHERE };
        }
        remembered.map(|()| end)
    }

    /// The first token of a part of a piece that ends at `piece`, and how many there are; None if a byte has no token. All
    /// behind the first byte is known.
    fn first_token(&self, vocab: &Vocab, bytes: &[u8], piece: usize, buffers: &mut Buffers) -> Option<(u32, u32)> {
        let rest = |length: usize| match length {
            0 => Some((NONE, 0)),
            // Elsewhere the text from there on is split otherwise.
            _ => self
                .row(piece + length)
                .filter(|row| row.piece == piece && row.first != NONE)
                .map(|row| (row.first, row.within)),
        };
        merge::first_token(vocab, bytes, rest, &mut buffers.first).or_else(|| merged(vocab, bytes, buffers))
    }
}

/// The first token of a piece, and how many it has, by merging it.
fn merged(vocab: &Vocab, bytes: &[u8], buffers: &mut Buffers) -> Option<(u32, u32)> {
    buffers.ids.clear();
    merge::encode(vocab, bytes, &mut buffers.scratch, &mut buffers.ids).ok()?;
    let first = buffers.ids.first().and_then(|&id| vocab.symbol_of(id)).unwrap_or(NONE);
    Some((first, buffers.ids.len() as u32))
}
