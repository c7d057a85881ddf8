//! The longest prefix, or suffix, of a text within a token budget.
//!
//! Counts are not monotone: one more character can lower the count. But they add up at cuts, so that a text beyond a cut has
//! no fewer ids than the text before it. So the part ends between the last cut up to which the text fits and the next one
//! (`count::stretch`). From the right it begins between two cuts, as a text by itself, which can have more ids there, or
//! fewer, than the text that goes on.

use crate::count::appender::Appender;
use crate::count::counter::{As, Counter};
use crate::count::prepender::Prepender;
use crate::count::ruler::Ruler;
use crate::count::stretch::Fit;
use crate::error::Result;
use crate::pipeline::{Cuts, Tokenizer};
use crate::segment::Policy;
use crate::utf8::boundary;

/// Bytes counted at once for each id that is left: fewer than ids usually have, so that they mostly fit.
const FOR_A_TOKEN: u64 = 3;

/// The most and the fewest bytes that are counted at once.
const MOST: u64 = 1 << 16;
const FEWEST: usize = 32;

/// No cut is looked for further away, in bytes, on the right side: a piece may be that long.
const LONG: usize = 1024;

/// Which end of a text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Its beginning.
    Left,
    /// Its end.
    Right,
}

impl Tokenizer {
    /// The longest beginning of a text that has at most `limit` ids, cut between characters; on the right side the
    /// longest end. It may be empty.
    ///
    /// Reads little more than the limit needs; inside one long piece, at most the length of `limit` of the longest
    /// tokens. In more than 256 bytes without a cut that are not one piece (see [`Appender`]) it bisects: then the part fits,
    /// and no part of up to 32 characters more does, but a longer one may.
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
        let counter = Counter::new(self, policy);
        let fit = match side {
            Side::Left => Ruler::new(limit).fit(&counter, text, 0, limit, text.len()),
            Side::Right => fit_right(&counter, text, limit),
        };
        fit.map_err(|error| counter.as_of_whole(error, text))
    }

    /// As [`Tokenizer::fit`] on the left side, one character after another.
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
                if appender.least(self) > limit {
                    return Ok(Fit { decided: true, ..fit });
                }
            }
        }
        Ok(fit)
    }

    /// As [`Tokenizer::fit`] on the right side, one character before another.
    pub(super) fn fit_from_right(&self, text: &str, policy: Policy, limit: u64, cuts: Option<&Cuts>) -> Result<Fit> {
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
            prepender.prepend(&text[start..fit.at])?;
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
            prepender.prepend(&text[at..end])?;
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
}

/// As [`Tokenizer::fit`] on the right side, from cut to cut.
fn fit_right(counter: &Counter, text: &str, limit: u64) -> Result<Fit> {
    let cuts = &counter.cuts;
    let all = |end, left| {
        let tokens = counter.count(text, 0..end, As::Text)?;
        Ok((tokens <= left).then(|| Fit { at: 0, tokens: limit - left + tokens, decided: false }))
    };
    // The text from `end` on goes on there, and leaves `left` ids.
    let (mut end, mut left) = (text.len(), limit);
    let mut wanted = wanted_for(left);
    // The last cut before `end`, or the start of the text, from which the text does not fit as one that goes on.
    let mut start = loop {
        let near = boundary(text, end.saturating_sub(wanted.max(1)));
        let cut = cuts.first(text, near..end).filter(|&cut| cut < end && wanted >= FEWEST);
        let far = boundary(text, near.saturating_sub(wanted.max(LONG)));
        let cut = cut.or_else(|| cuts.last(text, far..near)).or((far == 0).then_some(0));
        // In a long piece no more is read than fits.
        let Some(cut) = cut else { break 0 };
        let tokens = match counter.count(text, cut..end, As::GoingOn) {
            // White space that a text loses at its start can be an error where the text goes on.
            Err(error) if cut == 0 && !error.kind.ends_the_call() => match all(end, left)? {
                Some(fit) => return Ok(fit),
                None => break 0,
            },
            tokens => tokens?,
        };
        if tokens > left && wanted >= FEWEST {
            wanted = wanted.min(end - cut) / 2;
            continue;
        }
        if tokens > left {
            break cut;
        }
        if cut == 0 {
            if let Some(fit) = all(end, left)? {
                return Ok(fit);
            }
            // By itself it has more ids than as one that goes on.
            if let Some(cut) = cuts.first(text, 0..end).filter(|&cut| cut < end) {
                left -= counter.count(text, cut..end, As::GoingOn)?;
                end = cut;
            }
            break 0;
        }
        (end, left) = (cut, left - tokens);
        wanted = wanted_for(left);
    };
    loop {
        if let Some((at, tokens)) = counter.longest_end(text, start, end, left)? {
            return Ok(Fit { at, tokens: limit - left + tokens, decided: false });
        }
        start = end;
        if counter.is_same_inside || start == text.len() {
            return Ok(Fit { at: start, tokens: limit - left, decided: false });
        }
        // The first cut behind, with the ids that are left there.
        (end, left) = match cuts.first(text, start..text.len()) {
            Some(cut) => (cut, left + counter.count(text, start..cut, As::GoingOn)?),
            None => (text.len(), limit),
        };
    }
}

/// The bytes that are counted at once while `left` ids are left.
fn wanted_for(left: u64) -> usize {
    left.saturating_mul(FOR_A_TOKEN).min(MOST) as usize
}
