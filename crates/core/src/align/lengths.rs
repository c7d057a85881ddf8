//! The length of each token of a text that stages leave as it is but for a few places.
//!
//! Where stages keep the text, a token is as long as its bytes. Elsewhere it is located, between two cuts, so that its ids are
//! those that the whole has there; and yet they are compared.

use std::ops::Range;

use super::{UNKNOWN, length_of};
use crate::error::Result;
use crate::memory::{self, Room};
use crate::pipeline::{Cuts, Tokenizer};
use crate::segment::{Policy, Steps};
use crate::utf8;

/// A cut is looked for in so many bytes.
const NEAR: usize = 1024;

/// Changes no more than so many bytes apart are located together: the text between them costs less than to begin anew.
const CLOSE: usize = 256;

/// The ranges of a text that the stages before the patterns may change, in order: a normal form leaves the rest as it is. All of
/// the text where that is not known.
///
/// # Errors
/// `Memory`.
pub fn may_change(tokenizer: &Tokenizer, text: &str) -> Result<Vec<Range<usize>>> {
    let Steps { normalizers, prefix_space, pre_tokenizers, .. } = tokenizer.segmenter().steps();
    let nothing_else = !prefix_space && pre_tokenizers.is_empty();
    match &**normalizers {
        [] if nothing_else => Ok(Vec::new()),
        [form] if nothing_else && form.is_form() => memory::collect(form.may_change(text)),
        _ => memory::collect((!text.is_empty()).then_some(0..text.len())),
    }
}

/// The length of each token of a text, in bytes of it: tokens lie side by side. Those that cannot be told apart, such as
/// parts of a character that stages made, have length 0, but for the last of them. What a normal form joined to a character
/// is of the character's token.
///
/// `ids` are those of the text, `of` is as in [`super::lengths`], and `changes` are the ranges of [`may_change`]. None if a token
/// is of no text, one or some together are too long, or a range has no cuts near it. Time: linear in the text.
///
/// # Errors
/// As [`Tokenizer::encode`]; `Memory`.
pub fn lengths_around(
    tokenizer: &Tokenizer,
    text: &str,
    policy: Policy,
    ids: &[u32],
    of: &[u8],
    changes: &[Range<usize>],
) -> Result<Option<Vec<u8>>> {
    let cuts = Cuts::new(tokenizer, policy);
    let mut lengths = Lengths { ids, of, found: Vec::new() };
    lengths.found.room(ids.len())?;
    let (mut at, mut next) = (0, changes.iter().peekable());
    while let Some(range) = next.next() {
        let near = utf8::boundary(text, range.start.saturating_sub(NEAR)).max(at);
        let start = cuts.last(text, near..range.start).or((near == at).then_some(at));
        let Some(start) = start else { return Ok(None) };
        let mut end = range.end;
        loop {
            let near = utf8::boundary(text, text.len().min(end + NEAR));
            let cut = cuts.first(text, end..near).or((near == text.len()).then_some(near));
            let Some(cut) = cut else { return Ok(None) };
            end = cut;
            let Some(range) = next.next_if(|range| range.start < end + CLOSE) else { break };
            end = range.end.max(end);
        }
        let located = located(tokenizer, &text[start..end], policy)?;
        if !(lengths.take(start - at) && lengths.take_located(start..end, &located, changes)?) {
            return Ok(None);
        }
        at = end;
    }
    let fits = lengths.take(text.len() - at) && lengths.found.len() == ids.len();
    Ok(fits.then_some(lengths.found))
}

fn located(tokenizer: &Tokenizer, part: &str, policy: Policy) -> Result<Vec<(u32, Range<usize>)>> {
    let mut located = Vec::new();
    tokenizer.locate_each(part, policy, |id, place| memory::push(&mut located, (id, place)))?;
    Ok(located)
}

/// The lengths of the first tokens.
struct Lengths<'a> {
    ids: &'a [u32],
    of: &'a [u8],
    found: Vec<u8>,
}

impl Lengths<'_> {
    /// Takes the tokens of so many bytes that were kept; false if none end there.
    fn take(&mut self, size: usize) -> bool {
        let mut left = size;
        for &id in &self.ids[self.found.len()..] {
            if left == 0 {
                break;
            }
            let length = length_of(self.of, id);
            let rest = left.checked_sub(length.into()).filter(|_| length != UNKNOWN);
            let Some(rest) = rest else { return false };
            left = rest;
            // Within the room, as there are no more than ids.
            self.found.push(length);
        }
        left == 0
    }

    /// Takes the tokens of a part of the text; false if they are others, or have no lengths.
    fn take_located(
        &mut self,
        part: Range<usize>,
        located: &[(u32, Range<usize>)],
        changes: &[Range<usize>],
    ) -> Result<bool> {
        let ids = self.ids[self.found.len()..].get(..located.len());
        if !ids.is_some_and(|ids| ids.iter().zip(located).all(|(&id, token)| id == token.0)) {
            return Ok(false);
        }
        // Where each begins at the latest, since marks that a normal form put in another order overlap.
        let begins = memory::collect(located.iter().rev().scan(part.end, |begin, (_, place)| {
            *begin = (part.start + place.start).min(*begin);
            Some(*begin)
        }))?;
        let (mut first, mut begin, mut end) = (0, part.start, part.start);
        for (at, (_, place)) in located.iter().enumerate() {
            // What a normal form joined to a character is from its first part on.
            let next = if at + 1 < located.len() { begins[located.len() - at - 2] } else { part.end };
            end = (part.start + place.end).max(end).max(next);
            if place.is_empty() || end == next && !self.take_together(begin..end, at + 1 - first, changes) {
                return Ok(false);
            }
            if end == next {
                (first, begin) = (at + 1, end);
            }
        }
        Ok(begin == part.end && begins.last().is_none_or(|&first| first == part.start))
    }

    /// Takes so many tokens that cover a range together: a single one, or some that overlap one another.
    fn take_together(&mut self, range: Range<usize>, count: usize, changes: &[Range<usize>]) -> bool {
        let before = self.found.len();
        let near = changes.partition_point(|change| change.end <= range.start);
        if changes.get(near).is_none_or(|change| change.start >= range.end) {
            // Parts of a character that was kept.
            return self.take(range.len()) && self.found.len() == before + count;
        }
        let Some(length) = u8::try_from(range.len()).ok().filter(|&length| length != UNKNOWN) else { return false };
        // Within the room, as above.
        self.found.resize(before + count - 1, 0);
        self.found.push(length);
        true
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Lengths, Range};

    fn taken_of(places: &[Range<usize>], may_change: &[Range<usize>]) -> Option<Vec<u8>> {
        let ids = vec![0; places.len()];
        let located: Vec<_> = ids.iter().copied().zip(places.iter().cloned()).collect();
        let mut lengths = Lengths { ids: &ids, of: &[1, 0], found: Vec::new() };
        let size = places.iter().map(|place| place.end).max().unwrap_or(0);
        lengths.take_located(0..size, &located, may_change).unwrap().then_some(lengths.found)
    }

    fn taken(places: &[Range<usize>]) -> Option<Vec<u8>> {
        let all = 0..1000;
        taken_of(places, &[all])
    }

    #[test]
    fn parts_of_a_character_that_is_kept_have_lengths_of_their_own() {
        let (places, change) = ([0..1, 1..3, 1..3, 3..5, 3..5, 5..6], 3..4);
        assert_eq!(taken_of(&places, &[change]), Some(vec![1, 1, 1, 0, 2, 1]));
    }

    #[test]
    fn tokens_that_overlap_are_one_and_the_last_has_its_length() {
        assert_eq!(taken(&[0..2, 2..3]), Some(vec![2, 1]));
        assert_eq!(taken(&[0..3, 0..3, 0..3, 3..4]), Some(vec![0, 0, 3, 1]));
        assert_eq!(taken(&[0..1, 3..5, 1..3, 5..6]), Some(vec![1, 0, 4, 1]));
        assert_eq!(taken(&[0..2, 1..3]), Some(vec![0, 3]));
        assert_eq!(taken_of(&[], &[]), Some(vec![]));
    }

    #[test]
    fn what_no_token_has_is_of_the_one_before_it() {
        assert_eq!(taken(&[0..1, 2..3, 5..6]), Some(vec![2, 3, 1]));
        assert_eq!(taken(&[0..1, 0..1, 3..4]), Some(vec![0, 3, 1]));
    }

    #[test]
    fn tokens_without_a_place_and_long_ones_have_no_lengths() {
        assert_eq!(taken(&[0..1, 1..1, 1..2]), None);
        for (begin, end) in [(1, 2), (0, 255), (0, 300)] {
            assert_eq!(taken(&[begin..end, end..end + 1]), None);
        }
    }
}
