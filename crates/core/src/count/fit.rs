//! The longest prefix, or suffix, of a text within a token budget.
//!
//! Counts are not monotone: one more character can lower the count. But they add up at cuts, so that a text beyond a cut has
//! more ids than the text before it. So the text is counted from cut to cut as long as it fits, and then in parts of a
//! growing text; at last one character at a time, counting each place, until no longer text can fit.
//!
//! Weakness: tokenizers without cuts, which count each place from the end of the text on.

use crate::count::appender::{Appender, count};
use crate::count::cuts::Cuts;
use crate::count::prepender::Prepender;
use crate::count::tail::Stages;
use crate::error::Result;
use crate::pipeline::Tokenizer;
use crate::segment::Policy;

/// Bytes counted at once for each id that is left: fewer than ids usually have, so that they mostly fit.
const FOR_A_TOKEN: u64 = 3;

/// The most and the fewest bytes that are counted at once.
const MOST: u64 = 1 << 16;
const FEWEST: usize = 32;

/// Which end of a text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Its beginning.
    Left,
    /// Its end.
    Right,
}

/// The longest part of a text that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Where it ends, or on the right side where it starts, in bytes.
    pub at: usize,
    /// How many ids it has.
    pub tokens: u64,
    /// Whether more text would not change that: no longer text that begins with this one has a longer beginning that fits.
    /// Never on the right side.
    pub decided: bool,
}

impl Tokenizer {
    /// The longest beginning of a text that has at most `limit` ids, cut between characters; on the right side the
    /// longest end. It may be empty.
    ///
    /// Reads little more than the limit needs; inside one long piece, at most the length of `limit` of the longest
    /// tokens. Tokenizers whose texts cannot be cut (see [`Appender`]) try each place from the end of the text on: time
    /// that grows with the square of the text.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], for the text that was read.
    ///
    /// ```
    /// use bytepair_core::count::Side;
    /// use bytepair_core::pipeline::{Parts, Tokenizer};
    /// use bytepair_core::segment::Policy;
    /// use bytepair_core::vocab::{Semantics, Vocab};
    /// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 7], Semantics::Ranks)?;
    /// let parts = Parts::of(vocab);
    /// let tokenizer = Tokenizer::new(parts)?;
    /// let fit = tokenizer.fit("bbabab", Policy::default(), 3, Side::Left)?;
    /// assert_eq!((fit.at, fit.tokens), (4, 3));
    /// assert_eq!(tokenizer.fit("bbabab", Policy::default(), 3, Side::Right)?.at, 1);
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn fit(&self, text: &str, policy: Policy, limit: u64, side: Side) -> Result<Fit> {
        let fit = match side {
            Side::Left => self.fit_left(text, policy, limit),
            Side::Right => self.fit_right(text, policy, limit),
        };
        fit.map_err(|error| error.placed(text))
    }

    fn fit_left(&self, text: &str, policy: Policy, limit: u64) -> Result<Fit> {
        let Some(cuts) = Cuts::new(self, policy) else {
            let can_follow = Stages::new(self, policy).is_some();
            return if can_follow {
                self.fit_from_left(text, policy, limit)
            } else {
                self.fit_by_trying(text, policy, limit, Side::Left)
            };
        };
        let (mut start, mut left) = (0, limit);
        let mut wanted = wanted_for(left);
        while wanted >= FEWEST {
            let near = (start + wanted..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
            // Behind a long piece it may go on as fast.
            let far = (near + wanted..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
            let cut = cuts.last(text, start..near).or_else(|| cuts.first(text, near..far));
            let Some(cut) = cut else { break };
            let counted = count(self, policy, &text[..cut], start)?;
            if counted > left {
                wanted = wanted.min(cut - start) / 2;
                continue;
            }
            (start, left) = (cut, left - counted);
            wanted = wanted_for(left);
        }
        let fit = self.fit_from_left(&text[start..], policy, left).map_err(|error| error.shifted(start))?;
        Ok(Fit { at: start + fit.at, tokens: limit - left + fit.tokens, ..fit })
    }

    /// As [`Tokenizer::fit_left`], one character after another.
    pub(super) fn fit_from_left(&self, text: &str, policy: Policy, limit: u64) -> Result<Fit> {
        let longest = self.longest_token();
        let mut appender = Appender::new();
        let mut fit = Fit { at: 0, tokens: 0, decided: false };
        // Places inside text that fits need not be tried.
        let mut wanted = wanted_for(limit);
        while wanted >= FEWEST {
            let Some(end) = (fit.at + wanted..text.len()).find(|&at| text.is_char_boundary(at)) else { break };
            let mark = appender.mark(self, policy);
            appender.append(&text[fit.at..end])?;
            let tokens = appender.count(self, policy)?;
            if tokens <= limit {
                fit = Fit { at: end, tokens, ..fit };
                wanted = wanted_for(limit - tokens);
            } else {
                let back = appender.rollback(&mark);
                debug_assert!(back, "nothing before the mark was taken back");
                wanted /= 2;
            }
        }
        let (start, mut looked) = (fit.at, fit.at);
        for (at, character) in text[start..].char_indices() {
            let (at, end) = (start + at, start + at + character.len_utf8());
            appender.append(&text[at..end])?;
            let tokens = appender.count(self, policy)?;
            if tokens <= limit {
                fit = Fit { at: end, tokens, ..fit };
            } else if appender.certain() > limit || end as u64 > limit.saturating_mul(longest as u64) {
                return Ok(Fit { decided: true, ..fit });
            } else if end - looked >= longest {
                looked = end;
                if appender.least(self, policy) > limit {
                    return Ok(Fit { decided: true, ..fit });
                }
            }
        }
        Ok(fit)
    }

    fn fit_right(&self, text: &str, policy: Policy, limit: u64) -> Result<Fit> {
        let Some(cuts) = Cuts::new(self, policy) else {
            let can_follow = Stages::new(self, policy).is_some();
            return if can_follow {
                self.fit_from_right(text, policy, limit, None)
            } else {
                self.fit_by_trying(text, policy, limit, Side::Right)
            };
        };
        let (mut end, mut left) = (text.len(), limit);
        let mut wanted = wanted_for(left);
        while wanted >= FEWEST {
            let near = (0..=end.saturating_sub(wanted)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            let far = (0..=near.saturating_sub(wanted)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            let cut = cuts.first(text, near..end).filter(|&cut| cut < end).or_else(|| cuts.last(text, far..near));
            let Some(cut) = cut else { break };
            let counted = count(self, policy, &text[..end], cut)?;
            if counted > left {
                wanted = wanted.min(end - cut) / 2;
                continue;
            }
            (end, left) = (cut, left - counted);
            wanted = wanted_for(left);
        }
        let fit = self.fit_from_right(&text[..end], policy, left, Some(&cuts))?;
        Ok(Fit { tokens: limit - left + fit.tokens, ..fit })
    }

    /// As [`Tokenizer::fit_right`], one character before another.
    fn fit_from_right(&self, text: &str, policy: Policy, limit: u64, cuts: Option<&Cuts>) -> Result<Fit> {
        let longest = self.longest_token();
        let most = limit.saturating_mul(longest as u64);
        let mut prepender = Prepender::new();
        let mut fit = Fit { at: text.len(), tokens: 0, decided: false };
        let mut wanted = wanted_for(limit);
        while wanted >= FEWEST {
            let Some(start) = (1..=fit.at.saturating_sub(wanted)).rev().find(|&at| text.is_char_boundary(at)) else {
                break;
            };
            let mark = prepender.mark(self, policy);
            prepender.prepend(&text[start..fit.at]);
            let tokens = prepender.count(self, policy)?;
            if tokens <= limit {
                fit = Fit { at: start, tokens, ..fit };
                wanted = wanted_for(limit - tokens);
            } else {
                let back = prepender.rollback(&mark);
                debug_assert!(back, "nothing before the mark was taken back");
                wanted /= 2;
            }
        }
        let (mut before, mut looked) = (fit.tokens, fit.at);
        for (at, character) in text[..fit.at].char_indices().rev() {
            let end = at + character.len_utf8();
            prepender.prepend(&text[at..end]);
            let tokens = prepender.count(self, policy)?;
            if tokens <= limit {
                fit = Fit { at, tokens, ..fit };
            } else if looked - at >= longest && prepender.least(self, policy) > limit
                || (text.len() - at) as u64 > most
                || before >= limit && cuts.is_some_and(|cuts| cuts.first(text, at..end).is_some())
            {
                break;
            } else if looked - at >= longest {
                looked = at;
            }
            before = tokens;
        }
        Ok(fit)
    }

    /// Every place, the longest part first.
    fn fit_by_trying(&self, text: &str, policy: Policy, limit: u64, side: Side) -> Result<Fit> {
        let places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let places: Box<dyn Iterator<Item = usize>> = match side {
            Side::Left => Box::new(places.collect::<Vec<_>>().into_iter().rev()),
            Side::Right => Box::new(places),
        };
        for at in places {
            let part = if side == Side::Left { &text[..at] } else { &text[at..] };
            let tokens = count(self, policy, part, 0)?;
            if tokens <= limit {
                return Ok(Fit { at, tokens, decided: false });
            }
        }
        Ok(Fit { at: if side == Side::Left { 0 } else { text.len() }, tokens: 0, decided: false })
    }
}

/// The bytes that are counted at once while `left` ids are left.
fn wanted_for(left: u64) -> usize {
    left.saturating_mul(FOR_A_TOKEN).min(MOST) as usize
}
