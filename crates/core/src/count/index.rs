//! Counts of intervals of one text: prefix sums at cuts, and a path of tokens where there are none.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Mutex;

use crate::count::counter::{As, Counter};
use crate::count::path::{Buffers, Path};
use crate::count::ruler::Ruler;
use crate::error::{Error, Result};
use crate::memory::Room;
use crate::merge;
use crate::pipeline::Tokenizer;
use crate::segment::Policy;

/// About the distance of stored cuts, in bytes, which is counted again at both ends of an interval.
const APART: usize = 64;

/// A text's cuts, one for about each 64 bytes, and how many ids the text before each has: 16 bytes for 64 of text. Without a
/// split pattern a text has no cuts, and each byte of it takes 16 bytes.
///
/// ```
/// use bytepair_core::count::Index;
/// use bytepair_core::pipeline::{Parts, Tokenizer};
/// use bytepair_core::segment::Policy;
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 7], Semantics::Ranks)?;
/// let parts = Parts::of(vocab);
/// let tokenizer = Tokenizer::new(parts)?;
/// let text = "abbab";
/// let index = Index::new(&tokenizer, text, Policy::default())?;
/// let count = |range| index.count(&tokenizer, |part| Ok(text[part].into()), Policy::default(), range);
/// assert_eq!((count(0..5)?, count(1..4)?), (3, 3));
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub struct Index {
    /// Where each is, and how many ids come before it; the start of the text first.
    cuts: Vec<(usize, u64)>,
    /// Long pieces of a text without a split pattern, and where each is.
    paths: Vec<(Range<usize>, Path)>,
    buffers: Mutex<Buffers>,
}

/// Builds an index of a text that arrives in parts; it holds only the text after the last cut.
pub struct Builder {
    index: Index,
    /// The text after the last cut, and how far a cut was looked for in it.
    rest: String,
    looked: usize,
}

impl Index {
    /// Goes through a text once.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn new(tokenizer: &Tokenizer, text: &str, policy: Policy) -> Result<Self> {
        let mut index = Self { cuts: vec![(0, 0)], paths: Vec::new(), buffers: Mutex::default() };
        let cut = index.cut(tokenizer, text, policy, &mut 0, text.len());
        let ended = cut.and_then(|cut| index.end(tokenizer, &text[cut..], policy).map_err(|error| error.shifted(cut)));
        ended.map_err(|error| Counter::new(tokenizer, policy).as_of_whole(error, text))?;
        Ok(index)
    }

    /// Cuts a text that begins with the last cut, from `looked` on up to `until`; returns where the last cut is.
    fn cut(
        &mut self,
        tokenizer: &Tokenizer,
        text: &str,
        policy: Policy,
        looked: &mut usize,
        until: usize,
    ) -> Result<usize> {
        let counter = Counter::new(tokenizer, policy);
        let &(at, before) = self.cuts.last().unwrap_or(&(0, 0));
        let mut ruler = Ruler::of_all(APART, at == 0, *looked);
        ruler.cover(&counter, text, until, until)?;
        let (marks, no_cut_to) = ruler.into_marks();
        self.cuts.room(marks.len())?;
        self.cuts.extend(marks[1..].iter().map(|&(place, tokens)| (at + place, before + tokens)));
        let last = marks.last().map_or(0, |mark| mark.0);
        *looked = no_cut_to.saturating_sub(last);
        Ok(last)
    }

    /// The text after the last cut.
    fn end(&mut self, tokenizer: &Tokenizer, rest: &str, policy: Policy) -> Result<()> {
        let start = self.cuts.last().map_or(0, |&(at, _)| at);
        let counter = Counter::new(tokenizer, policy);
        if let Some(stages) = counter.stages_of(rest).filter(|stages| stages.growing.is_whole())
            && merge::is_linear(tokenizer.vocab())
        {
            let mut at = 0;
            let tokens =
                stages.added.into_iter().flat_map(|added| added.find(rest)).map(|found| found.start..found.end);
            for token in tokens.chain(std::iter::once(rest.len()..rest.len())) {
                let piece = at..token.start;
                if piece.len() > APART {
                    let path = Path::new(tokenizer.vocab(), rest[piece.clone()].as_bytes());
                    let path = path.map_err(|error| error.shifted(piece.start))?;
                    self.paths.push((start + piece.start..start + piece.end, path));
                }
                at = token.end;
            }
        }
        // The rest is counted when it is queried; only errors must be reported now.
        counter.count(rest, 0..rest.len(), if start == 0 { As::Text } else { As::GoingOn })?;
        self.cuts.shrink_to_fit();
        Ok(())
    }

    /// The number of ids of an interval of the text, encoded by itself. Tokenizer, text and policy are those of the index;
    /// `text` returns parts of the text, so that a caller that stores bytes need not validate all of it again.
    ///
    /// Time: that of a search, and of encoding up to twice about 64 bytes; where the text cannot be cut, of encoding what
    /// lies up to the next cut. Without a split pattern it is that of encoding a few tokens, mostly.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; those of `text`.
    pub fn count<'a>(
        &self,
        tokenizer: &Tokenizer,
        text: impl Fn(Range<usize>) -> Result<Cow<'a, str>>,
        policy: Policy,
        range: Range<usize>,
    ) -> Result<u64> {
        let Range { start, end } = range;
        let counter = Counter::new(tokenizer, policy);
        let count = |part: Cow<str>, what| counter.count(&part, 0..part.len(), what);
        let is_counted = counter.is_same_inside || start == 0;
        let first = self.cuts.partition_point(|&(at, _)| if is_counted { at < start } else { at <= start });
        let last = self.cuts.partition_point(|&(at, _)| at <= end);
        if last.saturating_sub(first) < 2 {
            let interval = text(start..end)?;
            let path = self.paths.partition_point(|(piece, _)| piece.end < end);
            if let Some((piece, path)) = self.paths.get(path).filter(|(piece, _)| piece.start <= start) {
                return self.count_on(path, tokenizer, interval.as_bytes(), start - piece.start);
            }
            return count(interval, As::Text);
        }
        let ((left, before), (right, after)) = (self.cuts[first], self.cuts[last - 1]);
        Ok(count(text(start..left)?, As::Text)? + count(text(right..end)?, As::GoingOn)? + after - before)
    }

    /// The number of ids of an interval of one piece.
    fn count_on(&self, path: &Path, tokenizer: &Tokenizer, interval: &[u8], start: usize) -> Result<u64> {
        let model = tokenizer.model();
        let may_be_whole = (1..=model.vocab.longest()).contains(&interval.len());
        if may_be_whole && model.is_whole(interval, 0, interval.len()) {
            return Ok(1);
        }
        // Another thread may be counting with them.
        let mut own = Buffers::default();
        let mut shared = self.buffers.try_lock().ok();
        path.count(&model.vocab, interval, start, shared.as_deref_mut().unwrap_or(&mut own))
    }

    /// The bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let paths: usize = self.paths.iter().map(|(_, path)| path.bytes()).sum();
        size_of_val(&*self.cuts) + paths
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// The index of an empty text.
    #[must_use]
    pub fn new() -> Self {
        let index = Index { cuts: vec![(0, 0)], paths: Vec::new(), buffers: Mutex::default() };
        Self { index, rest: String::new(), looked: 0 }
    }

    /// Goes on with the next part of the text.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], placed in the bytes of the whole text.
    pub fn push(&mut self, tokenizer: &Tokenizer, part: &str, policy: Policy) -> Result<()> {
        self.rest.push_str(part);
        let until = Counter::new(tokenizer, policy).sure(&self.rest);
        let start = self.start();
        let cut = self.index.cut(tokenizer, &self.rest, policy, &mut self.looked, until);
        self.rest.drain(..cut.map_err(|error| placed(error, start))?);
        Ok(())
    }

    /// The index, of which nothing more comes.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], placed in the bytes of the whole text.
    pub fn finish(mut self, tokenizer: &Tokenizer, policy: Policy) -> Result<Index> {
        let start = self.start();
        let cut = self.index.cut(tokenizer, &self.rest, policy, &mut self.looked, self.rest.len());
        let cut = cut.map_err(|error| placed(error, start))?;
        let ended = self.index.end(tokenizer, &self.rest[cut..], policy);
        ended.map_err(|error| placed(error, start + cut))?;
        Ok(self.index)
    }

    /// Where the last cut is.
    fn start(&self) -> usize {
        self.index.cuts.last().map_or(0, |&(at, _)| at)
    }
}

/// The same error, its place counted from `start` bytes further left; the characters there are not known any more.
fn placed(error: Error, start: usize) -> Error {
    error.shifted(start).but(|error| error.character = None)
}
