//! A stretch of text without cuts: its longest beginning, or end, within a budget.
//!
//! Counts are not monotone: one more character can lower the count. So each place is counted, the furthest first. In a
//! stretch of more than some dozen bytes that would take too long. A text that grows counts its places in linear time
//! where it can be followed (`count::tail`, `count::head`), and so does a run within one piece (`count::run`).
//!
//! Weakness: where nothing is known of a long stretch but its counts, because an expression needs backtracking, say, it is
//! bisected. The place that is found then fits, and none of the next [`FURTHER`] does, but one behind these may.

use std::ops::Range;

use crate::cache::part_counts::LONGEST;
use crate::count::counter::{As, Counter};
use crate::count::run::Run;
use crate::error::Result;
use crate::interrupt;
use crate::utf8::boundary;

/// In a stretch of which nothing but counts is known, as many characters more are tried behind a place that fits.
const FURTHER: usize = 32;

/// So often a search goes on behind a place that fits unexpectedly.
const TURNS: usize = 64;

/// In stretches of no more bytes each place is counted by itself, since a run is not worth to be made.
const FEW: usize = 16;

/// A run is read as far as this for each id, first, and then twice as far each time.
const FOR_AN_ID: u64 = 3;

/// Within so many bytes for each id it is nearly always known how many fit.
const READ_FOR_AN_ID: u64 = 256;

/// In longer stretches, in bytes, not every place is counted by itself.
pub(super) const SHORT: usize = 256;

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

/// A part of a text without cuts inside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The way to count it.
    pub(super) what: As,
    /// Whether all of it may be taken, and more text change that.
    pub(super) is_open: bool,
}

impl Counter<'_> {
    /// The longest beginning of a stretch that has at most `limit` ids; where it ends is a place of the text.
    ///
    /// # Errors
    /// As [`crate::pipeline::Tokenizer::encode`], for the text that was read.
    pub(super) fn longest(&self, text: &str, stretch: Stretch, limit: u64) -> Result<Fit> {
        let Stretch { start, end, what, is_open } = stretch;
        if what == As::GoingOn && limit == 0 && self.never_empty {
            return Ok(Fit { at: start, tokens: 0, decided: !is_open });
        }
        // What comes behind a stretch changes nothing of its beginnings, and words recur.
        let part = &text[start..end];
        if is_open || part.len() > LONGEST {
            return self.find_longest(text, stretch, limit);
        }
        if let Some((length, tokens)) = self.known_fit(part, what, limit) {
            return Ok(Fit { at: start + length, tokens, decided: true });
        }
        let fit = self.find_longest(text, stretch, limit)?;
        self.keep_fit(part, what, limit, fit.at - start, fit.tokens);
        Ok(fit)
    }

    fn find_longest(&self, text: &str, stretch: Stretch, limit: u64) -> Result<Fit> {
        let Stretch { mut start, mut end, mut what, mut is_open } = stretch;
        let mut fit = Fit { at: start, tokens: 0, decided: !is_open };
        let mut limit = limit;
        // Between the marks of a ruler there may be more cuts, if they are near.
        while end - start <= SHORT
            && let Some(cut) = self.cuts.first(text, start..end).filter(|&cut| cut < end)
        {
            let tokens = self.count(text, start..cut, what)?;
            if tokens > limit {
                (end, is_open) = (cut, false);
                fit.decided = true;
                break;
            }
            limit -= tokens;
            fit = Fit { at: cut, tokens: fit.tokens + tokens, ..fit };
            (start, what) = (cut, As::GoingOn);
        }
        let stretch = Stretch { start, end, what, is_open };
        if end - start > FEW
            && let Some(run) = self.longest_in_run(text, stretch, limit)?
        {
            return Ok(Fit { tokens: fit.tokens + run.tokens, decided: fit.decided || run.decided, ..run });
        }
        if end - start > SHORT {
            for until in [near_end(text, start, end, limit), end] {
                let Some(rest) = self.longest_in_stages(text, start..until, limit)? else { break };
                if rest.decided || until == end {
                    return Ok(Fit { tokens: fit.tokens + rest.tokens, decided: fit.decided || rest.decided, ..rest });
                }
            }
            return self.longest_by_halves(text, stretch, limit, fit);
        }
        let most = if is_open { end } else { start.max(boundary_before(text, end)) };
        let mut place = most;
        while place > start {
            let tokens = self.count(text, start..place, what)?;
            if tokens <= limit {
                return Ok(Fit { at: place, tokens: fit.tokens + tokens, ..fit });
            }
            place = boundary_before(text, place);
        }
        Ok(fit)
    }

    /// The longest beginning of a stretch, as a text by itself, that has at most `limit` ids; None if it depends on what is at the
    /// end of the stretch, or behind it.
    ///
    /// # Errors
    /// As [`crate::pipeline::Tokenizer::encode`], for the text that was read.
    pub(super) fn longest_if_decided(&self, text: &str, stretch: Range<usize>, limit: u64) -> Result<Option<Fit>> {
        let Range { start, end } = stretch;
        let run = self.longest_in_run(text, Stretch { start, end, what: As::Text, is_open: true }, limit)?;
        let fit = match run {
            Some(fit) => Some(fit),
            None => self.longest_in_stages(text, start..near_end(text, start, end, limit), limit)?,
        };
        Ok(fit.filter(|fit| fit.decided))
    }

    /// The longest beginning of a stretch, if it can be followed through the stages.
    fn longest_in_stages(&self, text: &str, stretch: Range<usize>, limit: u64) -> Result<Option<Fit>> {
        let start = stretch.start;
        if self.stages_of(&text[stretch.clone()]).is_none() {
            return Ok(None);
        }
        let fit = self.tokenizer.fit_from_left(&text[stretch], self.policy, limit);
        let fit = fit.map_err(|error| error.shifted(start))?;
        Ok(Some(Fit { at: start + fit.at, ..fit }))
    }

    /// Where a run begins in a stretch, if one begins soon: the first joined place behind the last one near the start that is
    /// not.
    pub(super) fn first_joined(&self, text: &str, start: usize, end: usize) -> Option<usize> {
        if self.cuts.loses_blanks() {
            // All is one piece, but that white space at the beginning is lost.
            let mut places = text[start..end].char_indices().skip(1).map(|(at, _)| start + at).take(SHORT);
            return places.find(|&place| self.cuts.is_joined(text, place));
        }
        first_of_run(text, start, end, |place| self.cuts.is_joined(text, place))
    }

    /// The same of places where the text grows.
    pub(super) fn first_growing(&self, text: &str, start: usize, end: usize) -> Option<usize> {
        first_of_run(text, start, end, |place| self.cuts.is_growing(text, place))
    }

    /// The longest beginning of a stretch, if all but some hundred bytes of it are a run as far as the limit reaches.
    fn longest_in_run(&self, text: &str, stretch: Stretch, limit: u64) -> Result<Option<Fit>> {
        let Stretch { start, end, what, is_open } = stretch;
        let Some(first) = self.first_joined(text, start, end) else { return Ok(None) };
        let Some(mut run) = Run::new(self, text, start, what, first)? else { return Ok(None) };
        let mut fit = Fit { at: start, tokens: 0, decided: !is_open };
        let mut size = limit.saturating_mul(FOR_AN_ID).clamp(FEW as u64, SHORT as u64) as usize;
        loop {
            let (from, to) = (run.end(), boundary(text, (start + size).clamp(first, end)));
            let goes_on = run.extend(self, text, to)?;
            for place in run.counts(self, from) {
                interrupt::check()?;
                let (at, tokens) = place.map_err(|error| self.as_of_part(error, text, start..to, what))?;
                if tokens <= limit && (at < end || is_open) {
                    fit = Fit { at, tokens, ..fit };
                }
            }
            if run.least(self, text) > limit {
                fit.decided = true;
                break;
            }
            if to == end || !goes_on {
                // What little is left is counted behind the run.
                if end - run.end() > SHORT {
                    return Ok(None);
                }
                let mut place = if is_open { end } else { boundary_before(text, end) };
                while place > run.end() {
                    let tokens = run.count_with(self, &text[..place])?;
                    if tokens <= limit {
                        return Ok(Some(Fit { at: place, tokens, ..fit }));
                    }
                    place = boundary_before(text, place);
                }
                break;
            }
            size *= 2;
        }
        let mut place = first;
        while fit.at == start && place > start {
            let tokens = self.count(text, start..place, what)?;
            if tokens <= limit {
                fit = Fit { at: place, tokens, ..fit };
            }
            place = boundary_before(text, place);
        }
        Ok(Some(fit))
    }

    /// A beginning of a long stretch that fits, while none of up to [`FURTHER`] characters more does.
    fn longest_by_halves(&self, text: &str, stretch: Stretch, limit: u64, mut fit: Fit) -> Result<Fit> {
        let Stretch { start, end, what, .. } = stretch;
        let before = fit.tokens;
        let snap = |length| boundary(text, start + length) - start;
        let longer = |length| boundary_after(text, start + length) - start;
        by_halves(end - start, snap, longer, |length| {
            let tokens = self.count(text, start..start + length, what)?;
            if tokens <= limit {
                fit = Fit { at: start + length, tokens: before + tokens, ..fit };
            }
            Ok(tokens <= limit)
        })?;
        Ok(fit)
    }

    /// Where the longest end of a stretch starts that has at most `limit` ids as a text by itself, and how many it has; not
    /// the empty end. It ends where the rest of the text is counted as text that goes on.
    ///
    /// # Errors
    /// As [`crate::pipeline::Tokenizer::encode`], for the text that was read.
    pub(super) fn longest_end(&self, text: &str, start: usize, end: usize, limit: u64) -> Result<Option<(usize, u64)>> {
        if end - start > SHORT {
            if self.stages_of(&text[start..end]).is_some() {
                let fit = self.tokenizer.fit_from_right(&text[start..end], self.policy, limit, Some(&self.cuts));
                let fit = fit.map_err(|error| error.shifted(start))?;
                return Ok((start + fit.at < end).then_some((start + fit.at, fit.tokens)));
            }
            return self.longest_end_by_halves(text, start, end, limit);
        }
        let mut place = if limit == 0 && self.never_empty { end } else { start };
        while place < end {
            let tokens = self.count(text, place..end, As::Text)?;
            if tokens <= limit {
                return Ok(Some((place, tokens)));
            }
            place = boundary_after(text, place);
        }
        Ok(None)
    }

    /// An end of a long stretch that fits, while none of up to [`FURTHER`] characters more does.
    fn longest_end_by_halves(&self, text: &str, start: usize, end: usize, limit: u64) -> Result<Option<(usize, u64)>> {
        let mut found = None;
        let snap = |length| end - boundary(text, end - length);
        let longer = |length| end - boundary_before(text, end - length);
        by_halves(end - start, snap, longer, |length| {
            let tokens = self.count(text, end - length..end, As::Text)?;
            if tokens <= limit {
                found = Some((end - length, tokens));
            }
            Ok(tokens <= limit)
        })?;
        Ok(found)
    }
}

/// Up to where a stretch is read first: a few ids are of little text, and it is not asked what the rest is like.
fn near_end(text: &str, start: usize, end: usize, limit: u64) -> usize {
    let near = start.saturating_add(limit.saturating_mul(READ_FOR_AN_ID).max(SHORT as u64) as usize);
    boundary(text, near.min(end))
}

/// The first place of a run in a stretch behind the last one near the start that is none.
fn first_of_run(text: &str, start: usize, end: usize, is_inside: impl Fn(usize) -> bool) -> Option<usize> {
    let near = boundary(text, start + ((end - start) / 2).min(SHORT / 2));
    let mut places = text[start..near].char_indices().rev().map(|(at, _)| start + at);
    let apart = places.find(|&place| place == start || !is_inside(place))?;
    let first = boundary_after(text, apart);
    is_inside(first).then_some(first)
}

/// Asks for lengths of up to `most` bytes whether they fit: for longer and longer ones, for halves of what is between one
/// that fits and one that does not, and for up to [`FURTHER`] characters more; from one of these that fits it goes on so. The
/// last length that fits is the longest of those asked for. Where counts swing about the limit for long, it ends after
/// [`TURNS`] such turns.
///
/// `snap` makes a length one of whole characters, and `longer` adds one. Time: that of a few dozen counts a turn.
fn by_halves(
    most: usize,
    snap: impl Fn(usize) -> usize,
    longer: impl Fn(usize) -> usize,
    mut fits: impl FnMut(usize) -> Result<bool>,
) -> Result<()> {
    let mut low = 0;
    for _ in 0..TURNS {
        let mut size = SHORT;
        let mut high = snap((low + size).min(most));
        while fits(high)? {
            if high == most {
                return Ok(());
            }
            size *= 2;
            (low, high) = (high, snap((high + size).min(most)));
        }
        loop {
            let middle = snap(low + (high - low) / 2);
            let middle = if middle > low && middle < high { middle } else { longer(low) };
            if middle >= high {
                break;
            }
            if fits(middle)? {
                low = middle;
            } else {
                high = middle;
            }
        }
        // One character more can lower the count again.
        let mut tried = 0;
        loop {
            if tried == FURTHER || high == most {
                return Ok(());
            }
            high = longer(high);
            if fits(high)? {
                break;
            }
            tried += 1;
        }
        if high == most {
            return Ok(());
        }
        low = high;
    }
    Ok(())
}

/// The boundary of a character before a place that is not the start of the text.
fn boundary_before(text: &str, place: usize) -> usize {
    boundary(text, place - 1)
}

/// The boundary of a character behind a place that is not the end of the text.
fn boundary_after(text: &str, place: usize) -> usize {
    place + text[place..].chars().next().map_or(1, char::len_utf8)
}
