//! Counting that stops soon after a limit.

use crate::count::counter::{As, Counter};
use crate::count::stretch::Stretch;
use crate::error::Result;
use crate::pipeline::Tokenizer;
use crate::segment::Policy;
use crate::split::added::Matcher;
use crate::utf8::boundary;

/// The fewest bytes read at once, and the bytes read for each token that the limit leaves.
const LEAST: usize = 256;
const FOR_A_TOKEN: u64 = 3;

/// The most that is read at once, in bytes.
const MOST: u64 = 1 << 16;

impl Tokenizer {
    /// The number of ids of a text, if that is at most `limit`.
    ///
    /// Stops soon after the limit: a text of more bytes than `limit` of the longest tokens is not read at all, unless an
    /// added token takes in white space, and of others little more than the tokens that the limit leaves.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], for the text that was read.
    ///
    /// ```
    /// use bytepair_core::pipeline::{Parts, Tokenizer};
    /// use bytepair_core::segment::Policy;
    /// use bytepair_core::vocab::{Semantics, Vocab};
    /// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 7], Semantics::Ranks)?;
    /// let parts = Parts::of(vocab);
    /// let tokenizer = Tokenizer::new(parts)?;
    /// assert_eq!(tokenizer.count_until("abba", Policy::default(), 3)?, Some(3));
    /// assert_eq!(tokenizer.count_until("abba", Policy::default(), 2)?, None);
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn count_until(&self, text: &str, policy: Policy, limit: u64) -> Result<Option<u64>> {
        let counter = Counter::new(self, policy);
        counter.count_until(text, limit).map_err(|error| counter.as_of_whole(error, text))
    }
}

impl Counter<'_> {
    /// As [`Tokenizer::count_until`], from cut to cut.
    fn count_until(&self, text: &str, limit: u64) -> Result<Option<u64>> {
        let as_at = |start: usize| if start == 0 { As::Text } else { As::GoingOn };
        // The text that is counted ends at `start`.
        let (mut start, mut tokens) = (0, 0);
        // Text of so few bytes has no more tokens than the limit, unless a stage before the model makes it longer.
        if text.len() as u64 > limit {
            // Text of more bytes has more ids, but for white space that an added token takes in.
            let is_bounded =
                self.keeps_text && self.tokenizer.is_byte_level() && !self.cuts.matchers().any(Matcher::minds_context);
            let longest = is_bounded.then(|| self.tokenizer.longest_token() as u64);
            loop {
                let left = limit - tokens;
                if longest.is_some_and(|longest| (text.len() - start) as u64 > left.saturating_mul(longest)) {
                    return Ok(None);
                }
                let wanted = LEAST + left.saturating_mul(FOR_A_TOKEN).min(MOST) as usize;
                let near = boundary(text, (start + wanted).min(text.len()));
                let far = boundary(text, (near + wanted).min(text.len()));
                if near == text.len() {
                    break;
                }
                let cut = self.cuts.last(text, start..near).or_else(|| self.cuts.first(text, near..far));
                let cut = cut.or_else(|| match self.stages_of(&text[start..far]) {
                    Some(_) => None,
                    None => Some(self.cuts.first(text, far..text.len()).unwrap_or(text.len())),
                });
                let Some(cut) = cut else {
                    // A long piece: no more of it is read than can fit.
                    let stretch = Stretch { start, end: text.len(), what: as_at(start), is_open: true };
                    let fit = self.longest(text, stretch, left)?;
                    return Ok((fit.at == text.len()).then_some(tokens + fit.tokens));
                };
                tokens += self.count(text, start..cut, as_at(start))?;
                if tokens > limit {
                    return Ok(None);
                }
                start = cut;
            }
        }
        tokens += self.count(text, start..text.len(), as_at(start))?;
        Ok((tokens <= limit).then_some(tokens))
    }
}
