//! A text that grows at its end and can be counted at any time.
//!
//! Three parts of it can still change with more text, and each has its own state, so that the rest is counted once: added
//! tokens that may have begun (`Matcher::open`), pieces that may be split differently (`count::tail`), and tokens of a piece
//! that may merge differently (`count::rows`).

use crate::cache::part_counts;
use crate::count::counter::{As, Counter};
use crate::count::marks::{Marks, Stamp};
use crate::count::run::Run;
use crate::count::stretch::SHORT;
use crate::count::tail::{Known, Split, Stages};
use crate::error::{Error, Kind, Result};
use crate::interrupt;
use crate::memory::{self, Room};
use crate::pipeline::Tokenizer;
use crate::segment::{Policy, admit};
use crate::utf8::{self, boundary};

/// Text of no more bytes behind a cut is counted by itself.
const FEW: usize = part_counts::SMALL;

/// So many bytes before the end are looked through for cuts again.
const AGAIN: usize = 8;

/// The bytes that are read at once if only the question matters whether they fit.
const AT_ONCE: usize = 1 << 16;

/// A text that grows at its end, and how many ids it has so far: those of the text encoded from scratch.
///
/// Appending only stores the text; a count encodes what is new since the last count. Time is linear in the text, for
/// any parts and any number of counts, also if it is one endless word; a text in many parts that is counted once takes
/// little more time than encoding it. Where a text has no cut for long and is not one piece (a pattern that another engine
/// than the automaton runs, say), each count encodes the text since the last cut.
///
/// Memory: the text, and eight bytes for each byte in pieces of more than a thousand bytes; some forty for each byte of
/// pieces that are not parts of the text.
///
/// Tokenizer and policy have to be the same in all calls.
///
/// ```
/// use bytepair_core::count::Appender;
/// use bytepair_core::pipeline::{Parts, Tokenizer};
/// use bytepair_core::segment::Policy;
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 7], Semantics::Ranks)?;
/// let parts = Parts::of(vocab);
/// let tokenizer = Tokenizer::new(parts)?;
/// let mut appender = Appender::new();
/// appender.append("ba")?;
/// assert_eq!(appender.count(&tokenizer, Policy::default())?, 2);
/// let mark = appender.mark(&tokenizer, Policy::default());
/// appender.append("b")?;
/// assert_eq!(appender.count(&tokenizer, Policy::default())?, 2);
/// assert!(appender.rollback(&mark));
/// assert_eq!(appender.text(), "ba");
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub struct Appender {
    text: String,
    /// The beginning of a character, from bytes.
    pending: Vec<u8>,
    state: State,
    known: Known,
    /// The run that the text behind the last cut is, if it is long.
    run: Option<Run>,
    /// The length and the count of the text of the last query.
    counted: Option<(usize, u64)>,
    marks: Marks,
}

/// How far the text was counted, which a mark stores.
#[derive(Clone, Debug, Default)]
struct State {
    /// The last cut that is certain, or the start of the text, and the ids before it.
    cut: usize,
    total: u64,
    /// Up to here there is no cut behind that.
    looked: usize,
    /// The text behind the cut, if it is long.
    tail: Option<Tail>,
}

/// Text behind a cut that is followed through its stages.
#[derive(Clone, Debug)]
struct Tail {
    /// Before it no added token is to come: up to here the text was read.
    settled: usize,
    /// The ids of all that is certain.
    total: u64,
    split: Split,
}

impl State {
    /// The way to count the text behind the cut.
    fn what(&self) -> As {
        if self.cut == 0 { As::Text } else { As::GoingOn }
    }
}

/// A place of a text that grows, to come back to.
#[derive(Clone, Debug)]
pub struct Mark {
    stamp: Stamp,
    pending: Vec<u8>,
    state: State,
}

impl Default for Appender {
    fn default() -> Self {
        Self::new()
    }
}

impl Appender {
    /// An empty text.
    #[must_use]
    pub fn new() -> Self {
        Self {
            text: String::new(),
            pending: Vec::new(),
            state: State::default(),
            known: Known::default(),
            run: None,
            counted: None,
            marks: Marks::new(),
        }
    }

    /// Appends text.
    ///
    /// # Errors
    /// `Encode`, if bytes that were appended before end inside a character. Nothing is then appended.
    pub fn append(&mut self, text: &str) -> Result<()> {
        if !self.pending.is_empty() && !text.is_empty() {
            let error = Error::new(Kind::Encode, "the bytes before this text end inside a character");
            return Err(error.at(self.text.len()).placed(&self.text).remedy("append the rest of the character first"));
        }
        self.text.room(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    /// Appends bytes of UTF-8, which may end inside a character: its beginning waits, and is not counted.
    ///
    /// # Errors
    /// `Encode`, with the position in the whole text, if the bytes are not UTF-8. Nothing is then appended.
    pub fn append_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if let ([byte @ 0..0x80], []) = (bytes, self.pending.as_slice()) {
            self.text.push(char::from(*byte));
            return Ok(());
        }
        let joined;
        let bytes = if self.pending.is_empty() {
            bytes
        } else {
            joined = memory::collect(self.pending.iter().chain(bytes).copied())?;
            &joined
        };
        let text = match utf8::text(bytes) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) => {
                let error = Error::not_utf8(bytes, &error).shifted(self.text.len());
                let valid = self.text.chars().count();
                let inside = String::from_utf8_lossy(&bytes[..error.byte.map_or(0, |byte| byte - self.text.len())]);
                return Err(error.but(|error| error.character = Some(valid + inside.chars().count())));
            }
        };
        self.text.room(text.len())?;
        self.text.push_str(text);
        self.pending = bytes[text.len()..].to_vec();
        Ok(())
    }

    /// Appends bytes with U+FFFD in place of each maximal part that is not UTF-8; the start of a character waits.
    ///
    /// # Errors
    /// `Memory`.
    pub fn append_lossy(&mut self, bytes: &[u8]) -> Result<()> {
        let bytes = memory::collect(self.pending.iter().chain(bytes).copied())?;
        // A byte becomes three at most.
        self.text.room(bytes.len() + 2 * bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>())?;
        self.pending.clear();
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            let is_start = |error: std::str::Utf8Error| error.error_len().is_none();
            if chunks.peek().is_none() && std::str::from_utf8(invalid).is_err_and(is_start) {
                self.pending = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        Ok(())
    }

    /// Puts U+FFFD in place of the start of a character that waits.
    pub fn replace_pending(&mut self) {
        if !std::mem::take(&mut self.pending).is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }

    /// The text so far, of whole characters.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The beginning of a character that waits for the rest of it.
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        &self.pending
    }

    /// The number of ids of the text so far.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`] of the text, each time until it is rolled back.
    pub fn count(&mut self, tokenizer: &Tokenizer, policy: Policy) -> Result<u64> {
        if let Some((_, count)) = self.counted.filter(|&(length, _)| length == self.text.len()) {
            return Ok(count);
        }
        let counter = Counter::new(tokenizer, policy);
        let count = self.count_anew(&counter);
        let count = count.map_err(|error| counter.as_of_whole(error, &self.text))?;
        self.counted = Some((self.text.len(), count));
        Ok(count)
    }

    fn count_anew(&mut self, counter: &Counter) -> Result<u64> {
        interrupt::check()?;
        let Self { text, state, known, run, .. } = self;
        let (looked, until) = (state.cut.max(state.looked), counter.sure(text));
        if looked < until {
            if let Some(cut) = counter.cuts.last(text, looked..until) {
                state.total += counter.count(text, state.cut..cut, state.what())?;
                state.cut = cut;
                state.tail = None;
                known.forget(cut);
            }
            // With more text in view a place can turn out to be one.
            state.looked = boundary(text, until.saturating_sub(AGAIN));
        }
        let State { cut, total, .. } = *state;
        let read = state.tail.as_ref().map_or(cut, |tail| tail.settled);
        match counter.stages_of(&text[read..]) {
            Some(stages) if text.len() - cut > FEW => {
                let tail =
                    state.tail.get_or_insert_with(|| Tail { settled: cut, total, split: Split::new(stages, cut) });
                tail.settle(stages, counter, known, text)?;
                tail.count(stages, counter, known, text)
            }
            _ => {
                state.tail = None;
                count_open(counter, text, state, run).map(|open| total + open)
            }
        }
    }

    /// The place where the text ends now.
    pub fn mark(&mut self, tokenizer: &Tokenizer, policy: Policy) -> Mark {
        // Text counted before the mark is not counted again after it. Errors are reported by the next count.
        let _ = self.count(tokenizer, policy);
        Mark { stamp: self.marks.stamp(self.text.len()), pending: self.pending.clone(), state: self.state.clone() }
    }

    /// Takes back all that was appended since a mark was made; false, and nothing is done, if the mark is of another text, or
    /// if its place was taken back.
    #[must_use]
    pub fn rollback(&mut self, mark: &Mark) -> bool {
        if !self.marks.go_back(mark.stamp) {
            return false;
        }
        self.text.truncate(mark.stamp.length);
        self.pending.clone_from(&mark.pending);
        self.state.clone_from(&mark.state);
        self.known.truncate(mark.stamp.length);
        self.run = self.run.take().filter(|run| run.start() < mark.stamp.length);
        self.run = self.run.take().and_then(|mut run| run.truncate(mark.stamp.length).then_some(run));
        self.counted = None;
        true
    }

    /// Whether the text so far and some more have at most `limit` ids together; the text stays as it is.
    ///
    /// Reads little more of the added text than the limit needs.
    ///
    /// # Errors
    /// As [`Appender::append`] and [`Appender::count`], for the text that was read.
    pub fn fits(&mut self, tokenizer: &Tokenizer, policy: Policy, more: &str, limit: u64) -> Result<bool> {
        let mark = self.mark(tokenizer, policy);
        let fits = self.append_while(tokenizer, policy, more, limit);
        let back = self.rollback(&mark);
        debug_assert!(back, "nothing before the mark was taken back");
        fits
    }

    fn append_while(&mut self, tokenizer: &Tokenizer, policy: Policy, more: &str, limit: u64) -> Result<bool> {
        let mut rest = more;
        while let Some(end) = (AT_ONCE..rest.len()).find(|&end| rest.is_char_boundary(end)) {
            self.append(&rest[..end])?;
            rest = &rest[end..];
            self.count(tokenizer, policy)?;
            if self.least(tokenizer) > limit {
                return Ok(false);
            }
        }
        self.append(rest)?;
        Ok(self.count(tokenizer, policy)? <= limit)
    }

    /// A lower bound of the ids of any longer text.
    pub(super) fn certain(&self) -> u64 {
        let State { cut, total, tail, .. } = &self.state;
        let (start, total) = match tail {
            Some(tail) => (tail.split.start().unwrap_or(tail.settled), tail.total),
            None => (*cut, *total),
        };
        total + u64::from(start < self.text.len())
    }

    /// The fewest ids of any longer text that begins with the text counted last.
    ///
    /// Time: the length of the longest token.
    pub(super) fn least(&self, tokenizer: &Tokenizer) -> u64 {
        let tail = self.state.tail.as_ref().filter(|tail| tail.settled + 1 >= self.text.len());
        let least = tail
            .map_or(0, |tail| tail.total + tail.split.least(&self.known, tokenizer.model(), tokenizer.longest_token()));
        self.certain().max(least)
    }
}

impl Tail {
    /// Counts the part that more text cannot change.
    fn settle(&mut self, stages: &Stages, counter: &Counter, known: &mut Known, text: &str) -> Result<()> {
        loop {
            let settled = self.settled;
            let rest = &text[settled..];
            let added = stages.added.filter(|added| rest.bytes().any(|byte| added.may_start(byte)));
            let last = stages.sure(text).max(settled);
            let open = added.and_then(|added| added.open(text.as_bytes(), settled)).unwrap_or(text.len());
            let found = added.and_then(|added| added.find(rest).next().map(|found| (added.token(found.token), found)));
            let token = found.filter(|(_, found)| settled + found.start < open && settled + found.end <= last);
            // A token that ends behind what is sure is left for the next count, with all of its text.
            let begins = found.map_or(last, |(_, found)| settled + found.start);
            let end = open.min(last).min(begins);
            self.split.read(stages, known, text, end, &mut self.total)?;
            self.settled = end;
            let Some((token, found)) = token else { return Ok(()) };
            admit(token, counter.policy).map_err(|error| error.at(end))?;
            self.total += self.split.count(stages, known, text)? + 1;
            self.settled = settled + found.end;
            self.split = Split::new(stages, self.settled);
        }
    }

    /// The number of ids of the text so far.
    fn count(&mut self, stages: &Stages, counter: &Counter, known: &mut Known, text: &str) -> Result<u64> {
        if self.settled == text.len() {
            return self.split.count(stages, known, text).map(|rest| self.total + rest);
        }
        // A possible beginning of an added token is text until it is completed, or contains a shorter one.
        let found = stages.added.and_then(|added| added.find(&text[self.settled..]).next());
        let end = found.map_or(text.len(), |found| self.settled + found.start);
        let mut now = self.clone();
        now.split.read(stages, known, text, end, &mut now.total)?;
        let before = now.total + now.split.count(stages, known, text)?;
        counter.count(text, end..text.len(), As::GoingOn).map(|rest| before + rest)
    }
}

/// The number of ids of the text behind the last cut. A long one should be a run: what was counted of it is not read again.
fn count_open(counter: &Counter, text: &str, state: &State, run: &mut Option<Run>) -> Result<u64> {
    let (start, what) = (state.cut, state.what());
    if text.len() - start > SHORT {
        // An added token may begin further right.
        let until = counter.sure(text).max(start);
        if run.as_ref().is_none_or(|run| run.start() != start) {
            *run = match counter.first_joined(text, start, until) {
                Some(first) => Run::new(counter, text, start, what, first)?,
                None => match counter.first_growing(text, start, until) {
                    Some(first) => Run::growing(counter, text, start, what, first)?,
                    None => None,
                },
            };
        }
        if let Some(run) = run {
            if until > run.end() {
                run.extend(counter, text, until)?;
            }
            if text.len() - run.end() <= SHORT {
                return run.count_with(counter, text);
            }
        }
    }
    counter.count(text, start..text.len(), what)
}
