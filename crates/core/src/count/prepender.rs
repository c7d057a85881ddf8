//! A text that grows at its front, counted at any moment.
//!
//! The ids of a text from some place on do not depend on what stands before that place, as long as nothing looks back. So
//! each place has a count, and that of a new first character is worked out of those behind it: an added token that starts
//! there, or the piece that starts there, and the count from its end on.
//!
//! Two things keep that linear on long pieces. A scan that comes into the state in which an earlier one was at the same place ends
//! where that one ended. And the first token of a piece is one that fits the first token of what is left of it: `table`,
//! mirrored.

use crate::count::appender::count;
use crate::count::cuts::Cuts;
use crate::count::marks::{Marks, Stamp};
use crate::count::tail::Stages;
use crate::error::Result;
use crate::merge::{self, Scratch};
use crate::pipeline::Tokenizer;
use crate::segment::{Policy, admit};
use crate::vocab::{Beginnings, NONE, Vocab};

/// Text of so many bytes that comes at once is counted from its first cut on, and a cut is looked for after as many.
const AT_ONCE: usize = 256;

/// A part of the text without cuts that is longer is kept when it is certain: to work it out again would take too long.
const KEPT: usize = 1024;

/// The count of a text that cannot be encoded.
const FAULT: u64 = u64::MAX;

/// A text that grows at its front, and how many ids it has so far: those of the text encoded from scratch.
///
/// Prepending keeps the text and does nothing else; a count does what was not done since the last one. Together they cost
/// a few times as much as encoding the text once, in whatever pieces it comes, also if it is one endless word. With normalizers,
/// `prefix_space`, added tokens that mind what is around them, or a pattern that another engine than the automaton runs
/// each count encodes the whole text; with several patterns in a row, some hundred bytes; if the vocabulary is not proper, it merges the piece at
/// the front.
///
/// Memory: the text twice, and forty bytes for each byte since the first cut and in parts of more than a thousand bytes
/// without any.
///
/// Tokenizer and policy have to be the same in all calls.
///
/// ```
/// use bytepair_core::count::Prepender;
/// use bytepair_core::pipeline::{Parts, Tokenizer};
/// use bytepair_core::segment::Policy;
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 7], Semantics::Ranks)?;
/// let parts = Parts { vocab, added: vec![], normalizers: vec![], prefix_space: false, patterns: vec![] };
/// let tokenizer = Tokenizer::new(parts)?;
/// let mut prepender = Prepender::new();
/// prepender.prepend("ba");
/// assert_eq!(prepender.count(&tokenizer, Policy::default())?, 2);
/// prepender.prepend("a");
/// assert_eq!((prepender.text(), prepender.count(&tokenizer, Policy::default())?), ("aba", 2));
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub struct Prepender {
    /// The text stands at the end, from `start` on; before it there are spaces.
    buffer: String,
    start: usize,
    /// Parts of the text that begin with a cut, each with the count from its end on; the last one is at the front. Places are counted
    /// from the end of the text.
    parts: Vec<Part>,
    scan: Scan,
    marks: Marks,
}

/// A place of a text that grows at its front, to come back to.
#[derive(Clone, Debug)]
pub struct FrontMark {
    stamp: Stamp,
    end: usize,
    after: u64,
    stretch: usize,
}

/// A part of the text that ends with a cut, or with the text.
#[derive(Clone, Debug, Default)]
struct Part {
    /// Where it ends.
    end: usize,
    /// The ids from there on.
    after: u64,
    /// Where the stretch ends that the next character belongs to.
    stretch: usize,
    /// A row for each byte, from the end to the front.
    rows: Vec<Row>,
}

/// What is known of a place; of one inside a character, only what concerns its piece.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The ids of the text from here on.
    tokens: u64,
    /// Where the piece ends that starts here.
    piece: usize,
    /// The first token of that piece, and how many it has, when its bytes are merged.
    first: u32,
    within: u32,
    /// The state in which a scan passed here last.
    state: Option<u16>,
    /// Where the last match ended that the scan found from here on.
    found: Option<usize>,
}

/// Buffers.
#[derive(Default)]
struct Scan {
    beginnings: Beginnings,
    scratch: Box<Scratch>,
    ids: Vec<u32>,
    passed: Vec<usize>,
}

impl Default for Prepender {
    fn default() -> Self {
        Self::new()
    }
}

impl Part {
    fn row(&self, place: usize) -> Option<&Row> {
        self.rows.get((place - self.end).checked_sub(1)?)
    }

    /// The ids from a place on.
    fn tokens(&self, place: usize) -> u64 {
        self.row(place).map_or(self.after, |row| row.tokens)
    }

    /// Where the front is.
    fn front(&self) -> usize {
        self.end + self.rows.len()
    }
}

impl Prepender {
    /// An empty text.
    #[must_use]
    pub fn new() -> Self {
        let parts = vec![Part::default()];
        Self { buffer: String::new(), start: 0, parts, scan: Scan::default(), marks: Marks::new() }
    }

    /// Prepends text.
    pub fn prepend(&mut self, text: &str) {
        if self.start < text.len() {
            let room = text.len() + self.text().len();
            let grown = [&" ".repeat(room), self.text()].concat();
            self.buffer = grown;
            self.start = room;
        }
        let start = self.start - text.len();
        self.buffer.replace_range(start..self.start, text);
        self.start = start;
    }

    /// The text so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.buffer[self.start..]
    }

    /// The number of ids of the text so far.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`] of the text, each time until it is rolled back.
    pub fn count(&mut self, tokenizer: &Tokenizer, policy: Policy) -> Result<u64> {
        let cuts = Cuts::new(tokenizer, policy);
        let length = self.text().len();
        self.count_at_once(tokenizer, policy, cuts.as_ref());
        let Some(stages) = Stages::new(tokenizer, policy) else {
            // What cannot be encoded is encoded whole, for the error's place.
            let part = self.parts.last().filter(|part| part.after != FAULT);
            let (end, after) = part.map_or((0, 0), |part| (part.end, part.after));
            let head = count(tokenizer, policy, &self.text()[..length - end], 0);
            return head.map(|head| head + after).map_err(|error| error.placed(self.text()));
        };
        let mut looked = self.parts.last().map_or(0, |part| part.rows.len());
        while let Some(part) = self.parts.last_mut().filter(|part| part.front() < length) {
            let text = &self.buffer[self.start..];
            let next = text[..length - part.front()].chars().next_back().map_or(1, char::len_utf8);
            part.prepend(&stages, policy, text, length - part.front() - next, &mut self.scan);
            if part.rows.len() >= looked + AT_ONCE {
                looked = part.rows.len();
                self.drop_rows(cuts.as_ref());
            }
        }
        match self.parts.last().map_or(0, |part| part.tokens(length)) {
            // Its place is found by encoding it.
            FAULT => count(tokenizer, policy, self.text(), 0).map_err(|error| error.placed(self.text())),
            tokens => Ok(tokens),
        }
    }

    /// Counts text that came at once from its first cut on.
    fn count_at_once(&mut self, tokenizer: &Tokenizer, policy: Policy, cuts: Option<&Cuts>) {
        let (text, Some(part)) = (&self.buffer[self.start..], self.parts.last()) else { return };
        let front = text.len() - part.front();
        let Some(cut) = cuts.filter(|_| front > AT_ONCE).and_then(|cuts| first_cut(cuts, text, 0, front)) else {
            return;
        };
        let counted = count(tokenizer, policy, &text[..text.len() - part.end], cut);
        let (end, after) = (text.len() - cut, part.after.saturating_add(counted.unwrap_or(FAULT)));
        if part.rows.len() < KEPT {
            self.parts.pop();
        }
        self.parts.push(Part { end, after, stretch: end, rows: Vec::new() });
    }

    /// Begins a new part at a cut among the last rows, if there is one.
    fn drop_rows(&mut self, cuts: Option<&Cuts>) {
        let (text, Some(part)) = (&self.buffer[self.start..], self.parts.last_mut()) else { return };
        let front = text.len() - part.front();
        let near = (front + 2 * AT_ONCE..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
        let cut = cuts.and_then(|cuts| first_cut(cuts, text, front, near.min(text.len() - part.end)));
        let Some(end) = cut.map(|cut| text.len() - cut).filter(|&end| end > part.end) else { return };
        let rows = part.rows.split_off(end - part.end);
        let next = Part { end, after: part.tokens(end), stretch: part.stretch.max(end), rows };
        part.stretch = end;
        if part.rows.len() < KEPT {
            self.parts.pop();
        }
        self.parts.push(next);
    }

    /// The place where the text begins now.
    pub fn mark(&mut self, tokenizer: &Tokenizer, policy: Policy) -> FrontMark {
        // What is counted before the mark need not be counted again after it. Errors are those of the next count.
        let _ = self.count(tokenizer, policy);
        let Part { end, after, stretch, .. } = *self.parts.last().unwrap_or(&Part::default());
        FrontMark { stamp: self.marks.stamp(self.text().len()), end, after, stretch }
    }

    /// Takes back all that was prepended since a mark was made; false, and nothing is done, if the mark is of another text, or
    /// if its place was taken back.
    #[must_use]
    pub fn rollback(&mut self, mark: &FrontMark) -> bool {
        if !self.marks.go_back(mark.stamp) {
            return false;
        }
        let start = self.buffer.len() - mark.stamp.length;
        self.buffer.replace_range(self.start..start, &" ".repeat(start - self.start));
        self.start = start;
        self.parts.truncate(self.parts.partition_point(|part| part.end <= mark.end));
        match self.parts.last_mut().filter(|part| part.end == mark.end) {
            Some(part) if part.front() >= mark.stamp.length => {
                part.rows.truncate(mark.stamp.length - part.end);
                part.stretch = mark.stretch;
            }
            Some(_) => {}
            None => self.parts.push(Part { end: mark.end, after: mark.after, stretch: mark.end, rows: Vec::new() }),
        }
        true
    }

    /// Whether the text so far and some more before it have at most `limit` ids together; the text stays as it is.
    ///
    /// # Errors
    /// As [`Prepender::count`].
    pub fn fits(&mut self, tokenizer: &Tokenizer, policy: Policy, more: &str, limit: u64) -> Result<bool> {
        let mark = self.mark(tokenizer, policy);
        self.prepend(more);
        let count = self.count(tokenizer, policy);
        let back = self.rollback(&mark);
        debug_assert!(back, "nothing before the mark was taken back");
        Ok(count? <= limit)
    }
}

/// The first cut of a text after `start` and up to `end` that no added token can come to stand across when more is prepended.
fn first_cut(cuts: &Cuts, text: &str, start: usize, end: usize) -> Option<usize> {
    let start = (start.max(cuts.longest_added())..end).find(|&at| text.is_char_boundary(at))?;
    cuts.first(text, start..end)
}

impl Part {
    /// Works out the rows of the character at `start`.
    fn prepend(&mut self, stages: &Stages, policy: Policy, text: &str, start: usize, scan: &mut Scan) {
        let place = text.len() - start;
        let bytes = &text.as_bytes()[start..];
        let width = place - self.front();
        if let Some(token) = stages.added.and_then(|added| added.longest_at_start(bytes)) {
            let admitted = stages.tokenizer.added_token(token).is_some_and(|token| admit(token, policy).is_ok());
            let after = self.tokens(place - token.len());
            let tokens = if admitted { after.saturating_add(1) } else { FAULT };
            let row = Row { tokens, piece: usize::MAX, first: NONE, within: 0, state: None, found: None };
            self.rows.extend(std::iter::repeat_n(row, width));
            self.stretch = place;
            return;
        }
        let piece = place - self.piece_end(stages, &bytes[..place - self.stretch], scan);
        let vocab = stages.tokenizer.vocab();
        let linear = merge::is_linear(vocab);
        let mut counted = None;
        for inside in (0..width).rev() {
            let bytes = &bytes[inside..place - piece];
            let merged = if linear {
                self.first_token(vocab, bytes, piece, scan)
            } else if inside == 0 {
                merged(vocab, bytes, scan)
            } else {
                None
            };
            let (first, within) = merged.unwrap_or((NONE, 0));
            self.rows.push(Row { tokens: 0, piece, first, within, state: None, found: None });
            counted = merged.map(|(_, within)| u64::from(within));
        }
        if linear && vocab.is_whole_unmade(&bytes[..place - piece]) {
            counted = Some(1);
        }
        let tokens = counted.map_or(FAULT, |counted| self.tokens(piece).saturating_add(counted));
        if let Some(row) = self.rows.last_mut() {
            row.tokens = tokens;
        }
    }

    /// Where the piece ends that starts at the front of `stretch`, counted from its start.
    fn piece_end(&mut self, stages: &Stages, stretch: &[u8], scan: &mut Scan) -> usize {
        let (last, rows) = (self.stretch + stretch.len(), &mut self.rows);
        let row_at = |at: usize| last - at - self.end - 1;
        scan.passed.clear();
        let end = stages.growing.end(stretch, 0, stretch.len(), |at, state| {
            let row = rows.get_mut(row_at(at)).filter(|_| at < stretch.len())?;
            if row.state == Some(state) {
                return Some(row.found.map(|found| last - found));
            }
            row.state = Some(state);
            scan.passed.push(at);
            None
        });
        for &at in &scan.passed {
            rows[row_at(at)].found = (end >= at).then(|| last - end);
        }
        end
    }

    /// The first token of a part of a piece that ends at `piece`, and how many there are; None if a byte has no token. All
    /// behind the first byte is known.
    fn first_token(&self, vocab: &Vocab, bytes: &[u8], piece: usize, scan: &mut Scan) -> Option<(u32, u32)> {
        let (tokens, rules) = (vocab.tokens(), vocab.rules());
        tokens.look(bytes, &mut scan.beginnings);
        let mut below = usize::MAX;
        while let Some(length) = scan.beginnings.longest_below(below) {
            below = length;
            let Some(index) = tokens.beginning(bytes, length, &scan.beginnings) else { continue };
            let symbol = rules.symbol(index as usize);
            if symbol == NONE {
                continue;
            }
            if length == bytes.len() {
                return Some((symbol, 1));
            }
            match self.row(piece + bytes.len() - length) {
                Some(row) if row.piece == piece && row.first != NONE => {
                    if rules.fit(symbol, row.first) {
                        return Some((symbol, row.within + 1));
                    }
                }
                // From there on the text is split otherwise.
                _ => break,
            }
        }
        merged(vocab, bytes, scan)
    }
}

/// The first token of a piece, and how many it has, by merging it.
fn merged(vocab: &Vocab, bytes: &[u8], scan: &mut Scan) -> Option<(u32, u32)> {
    scan.ids.clear();
    match vocab.whole(bytes).filter(|_| !merge::is_linear(vocab)) {
        Some(id) => scan.ids.push(id),
        None => merge::encode(vocab, bytes, &mut scan.scratch, &mut scan.ids).ok()?,
    }
    let first = scan.ids.first().and_then(|&id| vocab.symbol_of(id)).unwrap_or(NONE);
    Some((first, scan.ids.len() as u32))
}
