//! Counting that stops soon after a limit.

use crate::count::appender::count;
use crate::count::cuts::Cuts;
use crate::count::tail::Stages;
use crate::error::Result;
use crate::pipeline::Tokenizer;
use crate::segment::Policy;

/// The fewest bytes read at once, and the bytes read for each token that the limit leaves.
const LEAST: usize = 256;
const FOR_A_TOKEN: u64 = 3;

/// The most that is read at once, in bytes.
const MOST: u64 = 1 << 16;

impl Tokenizer {
    /// The number of ids of a text, if that is at most `limit`.
    ///
    /// Stops soon after the limit: a text of more bytes than `limit` of the longest tokens is not read at all,
    /// and of others little more than the tokens that the limit leaves. Tokenizers with normalizers, `prefix_space`, added
    /// tokens that take white space, or a pattern without seams read the whole text.
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
        let until = self.count_from_cut_to_cut(text, policy, limit);
        until.map_err(|error| error.placed(text))
    }

    fn count_from_cut_to_cut(&self, text: &str, policy: Policy, limit: u64) -> Result<Option<u64>> {
        // The counted text ends at `start`.
        let (mut start, mut counted) = (0, 0);
        // Text of so few bytes has no more tokens than the limit, unless a stage before the model makes it longer.
        let is_long = text.len() as u64 > limit;
        let cuts = Cuts::new(self, policy);
        if is_long && (cuts.is_some() || Stages::new(self, policy).is_some()) {
            let longest = self.longest_token() as u64;
            loop {
                let left = limit - counted;
                if (text.len() - start) as u64 > left.saturating_mul(longest) {
                    return Ok(None);
                }
                let wanted = LEAST + left.saturating_mul(FOR_A_TOKEN).min(MOST) as usize;
                let place = |wanted: usize| (start + wanted..text.len()).find(|&at| text.is_char_boundary(at));
                let Some(near) = place(wanted) else { break };
                let far = place(2 * wanted).unwrap_or(text.len());
                let cut =
                    cuts.as_ref().and_then(|cuts| cuts.last(text, start..near).or_else(|| cuts.first(text, near..far)));
                let Some(cut) = cut else {
                    // A long piece: no more of it is read than can fit.
                    let fit = self.fit_from_left(&text[start..], policy, left);
                    let fit = fit.map_err(|error| error.shifted(start))?;
                    return Ok((start + fit.at == text.len()).then_some(counted + fit.tokens));
                };
                counted += count(self, policy, &text[..cut], start)?;
                if counted > limit {
                    return Ok(None);
                }
                start = cut;
            }
        }
        counted += count(self, policy, text, start)?;
        Ok((counted <= limit).then_some(counted))
    }
}
