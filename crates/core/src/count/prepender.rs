//! A text that grows at its front and can be counted at any time; `count::head` has the counts of its places.

use crate::count::counter::{As, Counter};
use crate::count::head::{Buffers, FAULT, Head};
use crate::count::marks::{Marks, Stamp};
use crate::count::tail::Stages;
use crate::error::Result;
use crate::interrupt;
use crate::memory::Room;
use crate::merge;
use crate::pipeline::{Cuts, Tokenizer};
use crate::segment::Policy;
use crate::utf8::boundary;

/// More bytes of text than this are counted from their first cut on, and a cut is searched for after as many.
const AT_ONCE: usize = 256;

/// A part of the text without cuts that is longer is kept when it is certain: to work it out again would take too long.
const KEPT: usize = 1024;

/// Filler for the room in front of the text.
const SPACES: &str = match str::from_utf8(&[b' '; 1024]) {
    Ok(spaces) => spaces,
    Err(_) => " ",
};

/// A text that grows at its front, and how many ids it has so far: those of the text encoded from scratch.
///
/// Prepending only stores the text; a count encodes what is new since the last count. Time is linear in the text, for
/// any parts and any number of counts, also if it is one endless word. If the stages before the model are more than one
/// pattern it takes longer: each count encodes the text up to the first cut that is some hundred bytes away.
///
/// Memory: the text twice, and forty bytes for each byte since the first cut and in heads of more than a thousand bytes
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
/// let heads = Parts::of(vocab);
/// let tokenizer = Tokenizer::new(heads)?;
/// let mut prepender = Prepender::new();
/// prepender.prepend("ba");
/// assert_eq!(prepender.count(&tokenizer, Policy::default())?, 2);
/// prepender.prepend("a");
/// assert_eq!(prepender.count(&tokenizer, Policy::default())?, 2);
/// assert_eq!(prepender.text(), "aba");
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub struct Prepender {
    /// The text is stored at the end, from `start` on; before it there are spaces.
    text: String,
    start: usize,
    /// The state of the front; before it in the list, parts further right that are worth keeping for a rollback. Places
    /// are counted from the end of the text.
    heads: Vec<Head>,
    buffers: Buffers,
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

impl Default for Prepender {
    fn default() -> Self {
        Self::new()
    }
}

impl Prepender {
    /// An empty text.
    #[must_use]
    pub fn new() -> Self {
        let heads = vec![Head::default()];
        Self { text: String::new(), start: 0, heads, buffers: Buffers::default(), marks: Marks::new() }
    }

    /// Prepends text.
    ///
    /// # Errors
    /// `Memory`; the text is then as before.
    pub fn prepend(&mut self, text: &str) -> Result<()> {
        if self.start < text.len() {
            let room = text.len() + self.text().len();
            let mut grown = String::new();
            grown.room(room + self.text().len())?;
            grown.extend(std::iter::repeat_n(' ', room));
            grown.push_str(self.text());
            self.text = grown;
            self.start = room;
        }
        let start = self.start - text.len();
        self.text.replace_range(start..self.start, text);
        self.start = start;
        Ok(())
    }

    /// The text so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text[self.start..]
    }

    /// The number of ids of the text so far.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`] of the text, each time until it is rolled back.
    pub fn count(&mut self, tokenizer: &Tokenizer, policy: Policy) -> Result<u64> {
        let counter = Counter::new(tokenizer, policy);
        let length = self.text().len();
        self.count_at_once(&counter)?;
        // A model that is spelled in characters may take some pieces otherwise than its vocabulary of bytes does.
        let front = self.heads.last().map_or(0, Head::front);
        let stages = counter.stages_of(&self.text()[..length - front]).filter(|_| tokenizer.model().words().is_none());
        let Some(stages) = stages else {
            // Text that cannot be encoded is encoded whole, for the place of the error.
            let head = self.heads.last().filter(|head| head.after != FAULT);
            let (end, after) = head.map_or((0, 0), |head| (head.end, head.after));
            let head = counter.count(self.text(), 0..length - end, As::Text);
            return head.map(|head| head + after).map_err(|error| counter.as_of_whole(error, self.text()));
        };
        let mut looked = self.heads.last().map_or(0, |head| head.rows.len());
        while let Some(head) = self.heads.last_mut().filter(|head| head.front() < length) {
            interrupt::check()?;
            let text = &self.text[self.start..];
            let next = text[..length - head.front()].chars().next_back().map_or(1, char::len_utf8);
            head.prepend(stages, policy, text, length - head.front() - next, &mut self.buffers)?;
            if head.rows.len() >= looked + AT_ONCE {
                looked = head.rows.len();
                self.drop_rows(&counter.cuts);
            }
        }
        match self.heads.last().map_or(0, |head| head.tokens(length)) {
            // Its place is found by encoding it.
            FAULT => counter.count(self.text(), 0..length, As::Text).map_err(|error| error.placed(self.text())),
            tokens => Ok(tokens),
        }
    }

    /// Counts text that came at once from its first cut on.
    fn count_at_once(&mut self, counter: &Counter) -> Result<()> {
        let (text, Some(head)) = (&self.text[self.start..], self.heads.last()) else { return Ok(()) };
        let front = text.len() - head.front();
        let Some(cut) = (front > AT_ONCE).then(|| first_cut(&counter.cuts, text, 0, front)).flatten() else {
            return Ok(());
        };
        let tokens = match counter.count(text, cut..text.len() - head.end, As::GoingOn) {
            Err(error) if error.kind.ends_the_call() => return Err(error),
            tokens => tokens.unwrap_or(FAULT),
        };
        let (end, after) = (text.len() - cut, head.after.saturating_add(tokens));
        if head.rows.len() < KEPT {
            self.heads.pop();
        }
        self.heads.push(Head::new(end, after));
        Ok(())
    }

    /// Begins a new part at a cut among the last rows, if there is one.
    fn drop_rows(&mut self, cuts: &Cuts) {
        let (text, Some(head)) = (&self.text[self.start..], self.heads.last_mut()) else { return };
        let front = text.len() - head.front();
        let near = (front + 2 * AT_ONCE..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
        let cut = first_cut(cuts, text, front, near.min(text.len() - head.end));
        let Some(end) = cut.map(|cut| text.len() - cut).filter(|&end| end > head.end) else { return };
        // A piece that goes across would be counted otherwise than its rows say.
        if head.goes_across(end) {
            return;
        }
        let rows = head.rows.split_off(end - head.end);
        let next = Head { end, after: head.tokens(end), stretch: head.stretch.max(end), rows };
        head.stretch = end;
        if head.rows.len() < KEPT {
            self.heads.pop();
        }
        self.heads.push(next);
    }

    /// The place where the text begins now.
    pub fn mark(&mut self, tokenizer: &Tokenizer, policy: Policy) -> FrontMark {
        // Text counted before the mark is not counted again after it. Errors are reported by the next count.
        let _ = self.count(tokenizer, policy);
        let Head { end, after, stretch, .. } = *self.heads.last().unwrap_or(&Head::default());
        FrontMark { stamp: self.marks.stamp(self.text().len()), end, after, stretch }
    }

    /// Takes back all that was prepended since a mark was made; false, and nothing is done, if the mark is of another text, or
    /// if its place was taken back.
    #[must_use]
    pub fn rollback(&mut self, mark: &FrontMark) -> bool {
        if !self.marks.go_back(mark.stamp) {
            return false;
        }
        let start = self.text.len() - mark.stamp.length;
        // A part at a time, which takes no memory.
        while self.start < start {
            let end = boundary(&self.text, start.min(self.start + SPACES.len()));
            self.text.replace_range(self.start..end, &SPACES[..end - self.start]);
            self.start = end;
        }
        self.heads.truncate(self.heads.partition_point(|head| head.end <= mark.end));
        match self.heads.last_mut().filter(|head| head.end == mark.end) {
            Some(head) if head.front() >= mark.stamp.length => {
                head.rows.truncate(mark.stamp.length - head.end);
                head.stretch = mark.stretch;
            }
            Some(_) => {}
            None => self.heads.push(Head::new(mark.end, mark.after)),
        }
        true
    }

    /// Whether the text so far and some more before it have at most `limit` ids together; the text stays as it is.
    ///
    /// # Errors
    /// As [`Prepender::count`].
    pub fn fits(&mut self, tokenizer: &Tokenizer, policy: Policy, more: &str, limit: u64) -> Result<bool> {
        let mark = self.mark(tokenizer, policy);
        self.prepend(more)?;
        let count = self.count(tokenizer, policy);
        let back = self.rollback(&mark);
        debug_assert!(back, "nothing before the mark was taken back");
        Ok(count? <= limit)
    }

    /// The fewest ids of any longer text that ends with the text counted last, if all text is one piece; else 0.
    ///
    /// Time: the length of the longest token.
    pub(super) fn least(&self, tokenizer: &Tokenizer, policy: Policy) -> u64 {
        let one_piece = Stages::new(tokenizer, policy).is_some_and(|stages| stages.growing.is_whole());
        let has_rows = one_piece && merge::has_prefixes(tokenizer.vocab());
        self.heads.last().filter(|_| has_rows).map_or(0, |head| head.least(tokenizer.longest_token()))
    }
}

/// The first cut of a text after `start` and up to `end` that no added token can cross after more is prepended.
fn first_cut(cuts: &Cuts, text: &str, start: usize, end: usize) -> Option<usize> {
    let start = (start.max(cuts.longest_added())..end).find(|&at| text.is_char_boundary(at))?;
    cuts.first(text, start..end)
}
