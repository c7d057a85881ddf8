//! Counting that ends when a limit is passed.

use crate::count::cuts::Cuts;
use crate::encode::Count;
use crate::error::Result;
use crate::pipeline::Tokenizer;
use crate::segment::Policy;

/// The least that is read at once, in bytes, and what is read for each token that the limit leaves.
const LEAST: usize = 256;
const FOR_A_TOKEN: u64 = 3;

/// The most that is read at once, in bytes.
const MOST: u64 = 1 << 16;

impl Tokenizer {
    /// The number of ids of a text, if that is at most `limit`.
    ///
    /// Stops soon after the limit is passed: a text of more bytes than so many of the longest tokens is not read at all,
    /// and of others little more than the tokens that the limit leaves, but for a piece that cannot be cut, which is read
    /// whole. Tokenizers with normalizers, `prefix_space`, added tokens that take white space, or a pattern without seams
    /// read the whole text.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], from what was read.
    ///
    /// ```
    /// use bytepair_core::pipeline::{Parts, Tokenizer};
    /// use bytepair_core::segment::Policy;
    /// use bytepair_core::vocab::{Semantics, Vocab};
    /// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 7], Semantics::Ranks)?;
    /// let parts = Parts { vocab, added: vec![], normalizers: vec![], prefix_space: false, patterns: vec![] };
    /// let tokenizer = Tokenizer::new(parts)?;
    /// assert_eq!(tokenizer.count_until("abba", Policy::default(), 3)?, Some(3));
    /// assert_eq!(tokenizer.count_until("abba", Policy::default(), 2)?, None);
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn count_until(&self, text: &str, policy: Policy, limit: u64) -> Result<Option<u64>> {
        let count = |text: &str| {
            let mut count = Count::default();
            self.encode(text, policy, &mut count).map(|()| count.0)
        };
        let mut counted = 0;
        let mut rest = text;
        // Text of so few bytes has no more tokens than the limit, unless a stage before the model makes it longer.
        if let Some(cuts) = Cuts::new(self, policy).filter(|_| text.len() as u64 > limit) {
            let longest = self.longest_token() as u64;
            loop {
                let left = limit - counted;
                if rest.len() as u64 > left.saturating_mul(longest) {
                    return Ok(None);
                }
                let wanted = LEAST + left.saturating_mul(FOR_A_TOKEN).min(MOST) as usize;
                let Some(near) = (wanted..rest.len()).find(|&at| rest.is_char_boundary(at)) else { break };
                let cut = cuts.last(rest, 0..near).or_else(|| cuts.first(rest, near..rest.len()));
                let Some(cut) = cut else { break };
                counted += count(&rest[..cut])?;
                if counted > limit {
                    return Ok(None);
                }
                rest = &rest[cut..];
            }
        }
        counted += count(rest)?;
        Ok((counted <= limit).then_some(counted))
    }
}
