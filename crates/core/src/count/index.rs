//! Counts of intervals of one text.

use std::ops::Range;

use crate::count::cuts::Cuts;
use crate::encode::Count;
use crate::error::Result;
use crate::pipeline::Tokenizer;
use crate::segment::Policy;

/// About how far apart known cuts are, in bytes: what is counted again at both ends of an interval.
const APART: usize = 64;

/// A text's cuts, one for about each 64 bytes, and how many ids the text before each has: 16 bytes for 64 of text.
///
/// ```
/// use bytepair_core::count::Index;
/// use bytepair_core::pipeline::{Parts, Tokenizer};
/// use bytepair_core::segment::Policy;
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 7], Semantics::Ranks)?;
/// let parts = Parts { vocab, added: vec![], normalizers: vec![], prefix_space: false, patterns: vec![] };
/// let tokenizer = Tokenizer::new(parts)?;
/// let text = "abbab";
/// let index = Index::new(&tokenizer, text, Policy::default())?;
/// assert_eq!(index.count(&tokenizer, |range| Ok(&text[range]), Policy::default(), 0..5)?, 3);
/// assert_eq!(index.count(&tokenizer, |range| Ok(&text[range]), Policy::default(), 1..4)?, 3);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub struct Index {
    /// Where each is, and how many ids come before it; the start of the text first.
    cuts: Vec<(usize, u64)>,
}

impl Index {
    /// Goes through a text once.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn new(tokenizer: &Tokenizer, text: &str, policy: Policy) -> Result<Self> {
        let mut cuts = vec![(0, 0)];
        let mut count = Count::default();
        let mut start = 0;
        if let Some(found) = Cuts::new(tokenizer, policy) {
            while let Some(near) = (start + APART..text.len()).find(|&at| text.is_char_boundary(at)) {
                let cut = found.last(text, start..near).or_else(|| found.first(text, near..text.len()));
                let Some(cut) = cut else { break };
                tokenizer.encode(&text[start..cut], policy, &mut count)?;
                cuts.push((cut, count.0));
                start = cut;
            }
        }
        // What is left is counted when it is asked for; only an error must not wait so long.
        tokenizer.encode(&text[start..], policy, &mut count)?;
        cuts.shrink_to_fit();
        Ok(Self { cuts })
    }

    /// The number of ids of an interval of the text, encoded by itself. Tokenizer, text and policy are those of the index;
    /// `text` gives parts of the text, so that who keeps it as bytes need not look at all of it again.
    ///
    /// Time: that of a search, and of encoding up to twice about 64 bytes; where the text cannot be cut, of encoding what
    /// lies up to the next cut.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; those of `text`.
    pub fn count<'a>(
        &self,
        tokenizer: &Tokenizer,
        text: impl Fn(Range<usize>) -> Result<&'a str>,
        policy: Policy,
        range: Range<usize>,
    ) -> Result<u64> {
        let Range { start, end } = range;
        let mut count = Count::default();
        let first = self.cuts.partition_point(|&(at, _)| at < start);
        let last = self.cuts.partition_point(|&(at, _)| at <= end);
        if last.saturating_sub(first) < 2 {
            tokenizer.encode(text(start..end)?, policy, &mut count)?;
            return Ok(count.0);
        }
        let ((left, before), (right, after)) = (self.cuts[first], self.cuts[last - 1]);
        tokenizer.encode(text(start..left)?, policy, &mut count)?;
        tokenizer.encode(text(right..end)?, policy, &mut count)?;
        Ok(count.0 + after - before)
    }

    /// The bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.cuts.len() * size_of::<(usize, u64)>()
    }
}
