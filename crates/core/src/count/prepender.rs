//! A text that grows at its front and can be counted at any time. `count::head` has the counts of its places behind one
//! pattern or none; behind other stages `count::front_run` counts a long front without cuts.

use crate::count::counter::{As, Counter};
use crate::count::front_run::FrontRun;
use crate::count::front_text::FrontText;
use crate::count::head::{Buffers, FAULT, Head};
use crate::count::marks::{Marks, Stamp};
use crate::count::tail::Stages;
use crate::error::Result;
use crate::interrupt;
use crate::merge;
use crate::pipeline::{Cuts, Tokenizer};
use crate::segment::Policy;

/// More bytes of text than this are counted from their first cut on, and a cut is searched for after as many.
const AT_ONCE: usize = 256;

/// The same of text that is new, where it has rows: these take longer than encoding what is behind a cut.
const FEW: usize = 16;

/// A part of the text without cuts that is longer is kept when it is certain: to work it out again would take too long.
const KEPT: usize = 1024;

/// Text of no more bytes up to the first cut is counted by itself. Those of tests are short.
const ALONE: usize = if cfg!(test) { 8 } else { 256 };

/// A text that grows at its front, and how many ids it has so far: those of the text encoded from scratch.
///
/// Prepending only stores the text; a count encodes what is new since the last count. Time is linear in the text, for
/// any parts and any number of counts, also if it is one endless word. Where no cut is near and the text up to the first one
/// is not known to be one piece, each count encodes all of it. So it is with a Unigram, whose sums are rounded from the start
/// of a piece on.
///
/// Memory: the text twice, and up to forty bytes for each byte since the first cut and in heads of more than a thousand
/// bytes without any.
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
    text: FrontText,
    /// The state of the front; before it in the list, parts further right that are worth keeping for a rollback. Places
    /// are counted from the end of the text.
    heads: Vec<Head>,
    /// Between the last head and this place, counted from the end as well, there is no cut.
    looked: usize,
    /// The text up to the first cut, if it is long and one piece.
    run: Option<FrontRun>,
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
    looked: usize,
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
        Self {
            text: FrontText::default(),
            heads,
            looked: 0,
            run: None,
            buffers: Buffers::default(),
            marks: Marks::new(),
        }
    }

    /// Prepends text.
    ///
    /// # Errors
    /// `Memory`; the text is then as before.
    pub fn prepend(&mut self, text: &str) -> Result<()> {
        self.text.prepend(text)
    }

    /// The text so far.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.text()
    }

    /// The number of ids of the text so far.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`] of the text, each time until it is rolled back.
    pub fn count(&mut self, tokenizer: &Tokenizer, policy: Policy) -> Result<u64> {
        let counter = Counter::new(tokenizer, policy);
        let length = self.text.len();
        self.count_at_once(&counter)?;
        // A model that is spelled in characters may take some pieces otherwise than its vocabulary of bytes does.
        let front = self.heads.last().map_or(0, Head::front);
        let stages = counter.stages_of(&self.text()[..length - front]).filter(|_| tokenizer.model().words().is_none());
        let Some(stages) = stages else {
            // Text that cannot be encoded is encoded whole, for the place of the error.
            let head = self.heads.last().filter(|head| head.after != FAULT);
            let (end, after) = head.map_or((0, 0), |head| (head.end, head.after));
            if let Some(run) = self.count_run(&counter, end)? {
                return Ok(run + after);
            }
            let head = counter.count(self.text(), 0..length - end, As::Text);
            return head.map(|head| head + after).map_err(|error| counter.as_of_whole(error, self.text()));
        };
        let mut searched = self.heads.last().map_or(0, |head| head.rows.len());
        while let Some(head) = self.heads.last_mut().filter(|head| head.front() < length) {
            interrupt::check()?;
            let text = self.text.text();
            let next = text[..length - head.front()].chars().next_back().map_or(1, char::len_utf8);
            head.prepend(stages, policy, text, length - head.front() - next, &mut self.buffers)?;
            if head.rows.len() >= searched + AT_ONCE {
                searched = head.rows.len();
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
        let (text, Some(head)) = (self.text.text(), self.heads.last()) else { return Ok(()) };
        let few = if counter.stages.is_some() { FEW } else { AT_ONCE };
        if text.len() - head.front() <= few {
            return Ok(());
        }
        let new = text.len() - head.front().max(self.looked);
        let start = settled(&counter.cuts, text, 0).min(new);
        let looked = text.len() - start;
        let Some(cut) = counter.cuts.first(text, start..new) else {
            self.looked = looked;
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
        self.looked = looked;
        Ok(())
    }

    /// The ids of the text up to its first cut, which is at `end`, if that is long and one piece.
    fn count_run(&mut self, counter: &Counter, end: usize) -> Result<Option<u64>> {
        if self.text.len() - end <= ALONE {
            return Ok(None);
        }
        if self.run.as_ref().is_none_or(|run| run.end() != end) {
            self.run = FrontRun::new(counter, end);
        }
        let Some(run) = &mut self.run else { return Ok(None) };
        match run.count(counter, self.text.text()) {
            // Text that cannot be encoded is encoded whole, for the place of the error.
            Err(error) if !error.kind.ends_the_call() => Ok(None),
            count => count,
        }
    }

    /// Begins a new part at a cut among the last rows, if there is one.
    fn drop_rows(&mut self, cuts: &Cuts) {
        let (text, Some(head)) = (self.text.text(), self.heads.last_mut()) else { return };
        let front = text.len() - head.front();
        let near = (front + 2 * AT_ONCE..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
        let near = near.min(text.len() - head.end);
        let cut = cuts.first(text, settled(cuts, text, front).min(near)..near);
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
        FrontMark { stamp: self.marks.stamp(self.text.len()), end, after, stretch, looked: self.looked }
    }

    /// Takes back all that was prepended since a mark was made; false, and nothing is done, if the mark is of another text, or
    /// if its place was taken back.
    #[must_use]
    pub fn rollback(&mut self, mark: &FrontMark) -> bool {
        if !self.marks.go_back(mark.stamp) {
            return false;
        }
        self.text.truncate(mark.stamp.length);
        self.looked = mark.looked;
        if let Some(run) = &mut self.run {
            run.truncate(mark.stamp.length);
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

/// The first place at `start` or behind it that no added token can reach after more is prepended.
fn settled(cuts: &Cuts, text: &str, start: usize) -> usize {
    (start.max(cuts.longest_added())..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}
