//! A ruler of a text: cuts, and how many ids the text before each has, made as far as they are asked for.
//!
//! Where nothing but patterns stands between a text and its pieces, or what does keeps the text as it is or the number of
//! its characters, one pass encodes it and marks piece ends that are cuts. So it does where pre-tokenizers make all pieces, whose
//! places in the text are known then. Elsewhere, and inside a piece, the parts between two cuts are counted one by one; most are
//! words, and were counted before.
//!
//! Long because marks are made in three ways, and found while they are made.

use std::borrow::Cow;
use std::ops::Range;

use crate::count::counter::{As, Counter};
use crate::count::stretch::{Fit, Stretch};
use crate::encode::{Count, Encoder};
use crate::error::Result;
use crate::interrupt::Checks;
use crate::memory::Room;
use crate::pipeline::Cuts;
use crate::segment::Visit;
use crate::split::Pattern;
use crate::split::added::{AddedToken, Matcher};
use crate::utf8::boundary;

/// The fewest bytes that are read at once.
const LEAST: usize = 64;

/// Within so many bytes behind a mark no other one is looked for where that takes long.
const NEAR: usize = 24;

/// Between two marks there are at least `limit / APART` bytes, but no more than `NEAR`: each mark takes a count, while the
/// text between the last two around the end of a part is counted for each part.
const APART: u64 = 16;

/// Between marks no further apart, in bytes, and twice what they have to be, no others are looked for.
const FINE: usize = 16;

/// The most bytes that are read before they are asked for.
const AHEAD: usize = 1 << 11;

/// The most that is looked through for one cut, and counted at once, in bytes.
const AT_ONCE: usize = 1 << 13;

/// Behind so many bytes for each id that a part may have, a cut is only looked for where nothing else tells how far it goes.
const FOR_AN_ID: u64 = 128;

/// Where the first mark behind a place is further away, in bytes and for each id of a limit, what fits is looked for before the
/// text up to the mark is counted. To count is fast where the pieces of a text are its parts.
const FAR: u64 = 128;
const FAR_IN_TEXT: u64 = 1024;
const FAR_FOR_AN_ID: u64 = 8;

/// Where no cut is in so many times the bytes that a limit asks for, what fits is looked for without one, if counting is slow.
const SOON: usize = 8;

/// The most marks that are kept although no one needs them.
const SPARE: usize = 1 << 12;

/// The marks of a text.
#[derive(Debug)]
pub(crate) struct Ruler {
    /// Where each cut is, and the ids between the first and it. The first is a cut, or the start of the text.
    marks: Vec<(usize, u64)>,
    /// Whether the first is the start of a text, from where it is counted as a text by itself.
    begins: bool,
    /// Up to here there is no cut behind the last mark.
    looked: usize,
    /// The fewest bytes that are read next: more and more, since much at once takes less time.
    ahead: usize,
    /// The fewest bytes between two marks.
    apart: usize,
    /// The number of marks up to the place last asked for, about which the next places are.
    near: usize,
    /// The mark before which all cuts were marked last.
    refined: usize,
    /// A place, the number of the first mark behind it and the ids up to there, as they were asked for last.
    behind: Option<(usize, usize, u64)>,
}

impl Ruler {
    /// A ruler for parts of at most `limit` ids.
    pub(crate) fn new(limit: u64) -> Self {
        let apart = (limit / APART).min(NEAR as u64) as usize;
        Self { marks: vec![(0, 0)], begins: true, looked: 0, ahead: LEAST, apart, near: 0, refined: 0, behind: None }
    }

    /// A ruler of all of a text, which begins by itself or goes on behind a cut, with marks about `apart` bytes from one another; up to
    /// `looked` there is no cut.
    pub(super) fn of_all(apart: usize, begins: bool, looked: usize) -> Self {
        Self { begins, looked, ahead: AHEAD, apart, ..Self::new(0) }
    }

    /// The marks, the first one being the start of the text, and up to where there is no cut behind the last.
    pub(super) fn into_marks(self) -> (Vec<(usize, u64)>, usize) {
        (self.marks, self.looked)
    }

    /// Makes marks until the last one is at `until` or behind it, or no cut is left up to `end`.
    ///
    /// # Errors
    /// As [`crate::pipeline::Tokenizer::encode`], for the text that was read.
    pub(super) fn cover(&mut self, counter: &Counter, text: &str, until: usize, end: usize) -> Result<()> {
        loop {
            let last = self.last();
            let from = last.max(self.looked);
            if last >= until || from >= end {
                return Ok(());
            }
            let wanted = (until.max(from + self.ahead) - from).min(AT_ONCE);
            self.ahead = (self.ahead * 2).min(AHEAD);
            let near = boundary(text, (from + wanted).min(end));
            let cut = counter.cuts.last(text, from..near);
            let far = boundary(text, (near + wanted).min(end));
            let cut = cut.or_else(|| counter.cuts.first(text, near..far));
            self.looked = cut.unwrap_or(far);
            if let Some(cut) = cut {
                self.mark(counter, text, last..cut)?;
            }
        }
    }

    /// Marks a part of the text from the last mark up to a cut.
    fn mark(&mut self, counter: &Counter, text: &str, part: Range<usize>) -> Result<()> {
        let is_first = self.begins && part.start == 0;
        let segmenter = counter.tokenizer.segmenter();
        let before = self.marks.last().map_or(0, |mark| mark.1);
        let written = segmenter.one_for_one(&text[part.clone()], is_first, counter.policy);
        let is_same = matches!(written, Some(Cow::Borrowed(_)));
        // Pieces of changed text are whole words, and small parts end inside of them.
        let written = written.filter(|_| is_same || self.apart > 0);
        if written.is_some() || self.apart > 0 && !is_first && segmenter.is_of_characters(counter.policy) {
            let (start, end) = (part.start, part.end);
            let mut count = Count(before);
            let encoder = counter.tokenizer.encoder(&mut count, None);
            // Where no part would be changed either, added tokens are spelled as they are.
            let finds_as_spelled = counter.cuts.finds_as_spelled() || is_same && segmenter.parts_stay();
            let cuts = Ascending::new(&counter.cuts, text, part.clone(), finds_as_spelled);
            let mut marking =
                Marking { text, encoder, at: start, end, is_same, marks: &mut self.marks, cuts, apart: self.apart };
            let walked = match &written {
                Some(written) if is_same => segmenter.walk_as_is(written, counter.policy, &mut marking),
                Some(written) => return segmenter.walk_changed(written, &mut marking),
                None => segmenter.walk_on(&text[part], counter.policy, &mut marking),
            };
            return walked.map_err(|error| error.shifted(start));
        }
        let marks = match self.mark_pieces(counter, text, part.clone(), before)? {
            Some(marks) => marks,
            None => self.mark_parts(counter, text, part, before)?,
        };
        self.marks.room(marks.len())?;
        self.marks.extend(marks);
        Ok(())
    }

    /// The marks of a part of the text between cuts, before which the text has so many ids, by the pieces that pre-tokenizers make
    /// of all of it; None where there are others, or one of them cannot be encoded.
    fn mark_pieces(
        &self,
        counter: &Counter,
        text: &str,
        part: Range<usize>,
        before: u64,
    ) -> Result<Option<Vec<(usize, u64)>>> {
        let segmenter = counter.tokenizer.segmenter();
        let is_first = self.begins && part.start == 0;
        let cut = match segmenter.placed_pieces(&text[part.clone()], is_first, counter.policy) {
            Ok(Some(cut)) => cut,
            Err(error) if error.kind.ends_the_call() => return Err(error),
            Ok(None) | Err(_) => return Ok(None),
        };
        let mut ascending = Ascending::new(&counter.cuts, text, part.clone(), counter.cuts.finds_as_spelled());
        let (mut marks, mut marked, mut next) = (Vec::new(), Ok(()), part.start + self.apart.max(1));
        let mut mark = |place: usize, sum: u64| {
            if marked.is_ok() && next <= place && place < part.end && ascending.is_cut(text, place) {
                marked = push(&mut marks, (place, sum));
                next = place + self.apart.max(1);
            }
        };
        let (mut sum, mut end) = (before, part.start);
        let mut nothing = Count::default();
        let mut encoder = counter.tokenizer.encoder(&mut nothing, None);
        let walked = encoder.count_pre_tokenized(cut.text(), cut.pieces(), |piece, count| {
            let origin = cut.text.original(piece.clone()).unwrap_or_default();
            let start = part.start + origin.start;
            // Pieces can be of one character of the text.
            if end <= start {
                mark(end, sum);
                mark(start, sum);
            }
            sum += count;
            end = end.max(part.start + origin.end);
        });
        marked?;
        match walked {
            Ok(()) => push(&mut marks, (part.end, sum)).map(|()| Some(marks)),
            Err(error) if error.kind.ends_the_call() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The marks of a part of the text between cuts, before which the text has so many ids, by counting the parts between the
    /// cuts inside of it.
    fn mark_parts(&self, counter: &Counter, text: &str, part: Range<usize>, before: u64) -> Result<Vec<(usize, u64)>> {
        let what = |start: usize| if self.begins && start == 0 { As::Text } else { As::GoingOn };
        let (mut marks, mut start) = (Vec::new(), part.start);
        let mut ascending = Ascending::new(&counter.cuts, text, part.clone(), counter.cuts.finds_as_spelled());
        let mut checks = Checks::default();
        for (at, character) in text[part.clone()].char_indices() {
            checks.check()?;
            let place = part.start + at + character.len_utf8();
            let is_passed = place - start < self.apart || place - start < NEAR && counter.cuts.takes_long(text, place);
            if place == part.end || !is_passed && ascending.is_cut(text, place) {
                counter.prepare(&text[start..place], what(start));
                push(&mut marks, (place, 0))?;
                start = place;
            }
        }
        let (mut start, mut sum) = (part.start, before);
        for mark in &mut marks {
            sum += counter.count(text, start..mark.0, what(start))?;
            (start, mark.1) = (mark.0, sum);
        }
        Ok(marks)
    }

    /// Marks the cuts between a mark and the one before it, if they are far apart, as in a long piece; returns whether there
    /// were any.
    fn refine(&mut self, counter: &Counter, text: &str, number: usize) -> Result<bool> {
        let before = number.checked_sub(1).and_then(|before| self.marks.get(before));
        let (Some(&(start, sum)), Some(&(end, _))) = (before, self.marks.get(number)) else { return Ok(false) };
        if end - start <= FINE + 2 * self.apart || end == self.refined {
            return Ok(false);
        }
        self.refined = end;
        let mut marks = self.mark_parts(counter, text, start..end, sum)?;
        debug_assert_eq!(marks.last(), self.marks.get(number), "parts between cuts add up");
        marks.pop();
        let is_finer = !marks.is_empty();
        self.marks.room(marks.len())?;
        self.marks.splice(number..number, marks);
        Ok(is_finer)
    }

    /// Where the last mark is.
    fn last(&self) -> usize {
        self.marks.last().map_or(0, |mark| mark.0)
    }

    /// The number of the first mark behind `start`, if there is one.
    fn first_behind(&mut self, counter: &Counter, text: &str, start: usize) -> Result<Option<usize>> {
        if let Some((_, first, _)) = self.behind.filter(|behind| behind.0 == start) {
            return Ok(Some(first));
        }
        let mut first = self.passed(self.near, |mark| mark.0 <= start);
        if self.refine(counter, text, first)? {
            first = self.passed(first, |mark| mark.0 <= start);
        }
        self.near = first;
        Ok((first < self.marks.len()).then_some(first))
    }

    /// The ids of the text from `start` to the first mark behind it, which has this number.
    fn head(&mut self, counter: &Counter, text: &str, start: usize, first: usize) -> Result<u64> {
        if let Some((_, _, head)) = self.behind.filter(|behind| behind.0 == start) {
            return Ok(head);
        }
        let (place, sum) = self.marks[first];
        let before = first.checked_sub(1).map(|before| self.marks[before]).filter(|before| before.0 == start);
        let is_counted = counter.is_same_inside || self.begins && start == 0;
        let head = match before.filter(|_| is_counted) {
            Some((_, before)) => sum - before,
            None => counter.count(text, start..place, As::Text)?,
        };
        self.behind = Some((start, first, head));
        Ok(head)
    }

    /// The number of ids of a part of the text by itself.
    ///
    /// # Errors
    /// As [`crate::pipeline::Tokenizer::encode`].
    pub(crate) fn count(&mut self, counter: &Counter, text: &str, part: Range<usize>, end: usize) -> Result<u64> {
        self.cover(counter, text, part.end, end)?;
        match self.first_behind(counter, text, part.start)? {
            Some(first) if self.marks[first].0 <= part.end => {
                let head = self.head(counter, text, part.start, first)?;
                let mut last = self.passed(first, |mark| mark.0 <= part.end);
                if self.refine(counter, text, last)? {
                    last = self.passed(last, |mark| mark.0 <= part.end);
                }
                let (place, sum) = self.marks[last - 1];
                Ok(head + sum - self.marks[first].1 + counter.count(text, place..part.end, As::GoingOn)?)
            }
            _ => counter.count(text, part, As::Text),
        }
    }

    /// The longest beginning of the text from `start` on that has at most `limit` ids as a text by itself. No cut is looked
    /// for behind `end`.
    ///
    /// # Errors
    /// As [`crate::pipeline::Tokenizer::encode`], for the text that was read.
    pub(crate) fn fit(&mut self, counter: &Counter, text: &str, start: usize, limit: u64, end: usize) -> Result<Fit> {
        let far = limit.saturating_mul(FOR_AN_ID).max(AT_ONCE as u64);
        let near = boundary(text, start.saturating_add(far as usize).min(end));
        let fit = self.fit_within(counter, text, start, limit, near)?;
        if fit.decided || near == end {
            return Ok(fit);
        }
        self.fit_within(counter, text, start, limit, end)
    }

    fn fit_within(&mut self, counter: &Counter, text: &str, start: usize, limit: u64, end: usize) -> Result<Fit> {
        if self.last() <= start {
            let wanted = bytes_for(limit);
            let soon = boundary(text, start.saturating_add(SOON * wanted).min(end));
            self.cover(counter, text, start + wanted, soon)?;
            if self.last() <= start
                && !counter.keeps_text
                && let Some(fit) = counter.longest_if_decided(text, start..soon, limit)?
            {
                return Ok(fit);
            }
            self.cover(counter, text, start + wanted, end)?;
        }
        let Some(first) = self.first_behind(counter, text, start)? else {
            return counter.longest(text, Stretch { start, end: text.len(), what: As::Text, is_open: true }, limit);
        };
        // In a long piece the first mark may be far behind all that fits.
        let place = self.marks[first].0;
        let far = if counter.keeps_text { FAR_IN_TEXT } else { FAR };
        if (place - start) as u64 > limit.saturating_mul(FAR_FOR_AN_ID).max(far)
            && let Some(fit) = counter.longest_if_decided(text, start..place, limit)?
        {
            return Ok(fit);
        }
        let head = self.head(counter, text, start, first)?;
        if head > limit {
            let stretch = Stretch { start, end: self.marks[first].0, what: As::Text, is_open: false };
            return counter.longest(text, stretch, limit);
        }
        // The sum of ids at which the limit is reached.
        let most = self.marks[first].1.saturating_add(limit - head);
        let mut last = loop {
            let last = self.passed(first + 1, |mark| mark.1 <= most).max(first + 1) - 1;
            let covered = self.last();
            if last + 1 < self.marks.len() || covered >= end {
                break last;
            }
            self.cover(counter, text, covered + bytes_for(most - self.marks[last].1), end)?;
            if self.last() == covered {
                break last;
            }
        };
        if self.refine(counter, text, last + 1)? {
            last = self.passed(last + 1, |mark| mark.1 <= most).max(first + 1) - 1;
        }
        let (place, sum) = self.marks[last];
        let before = head + sum - self.marks[first].1;
        let next = self.marks.get(last + 1).map(|next| next.0);
        let stretch =
            Stretch { start: place, end: next.unwrap_or(text.len()), what: As::GoingOn, is_open: next.is_none() };
        let fit = counter.longest(text, stretch, limit - before)?;
        Ok(Fit { tokens: before + fit.tokens, ..fit })
    }

    /// The number of marks that come first and of which something holds, looked for from a mark on.
    fn passed(&self, from: usize, is_passed: impl Fn(&(usize, u64)) -> bool) -> usize {
        let (mut low, mut step) = (0, 1);
        if from == 0 || self.marks.get(from - 1).is_some_and(&is_passed) {
            low = from;
            while self.marks.get(low + step - 1).is_some_and(&is_passed) {
                low += step;
                step *= 2;
            }
        } else {
            step = from;
        }
        let high = self.marks.len().min(low + step);
        low + self.marks[low..high].partition_point(is_passed)
    }

    fn drop_first(&mut self, gone: usize) {
        self.marks.drain(..gone);
        self.behind = None;
        self.near = self.near.saturating_sub(gone);
    }

    /// Forgets the marks before a place, but for the last of them.
    pub(crate) fn forget(&mut self, before: usize) {
        let gone = self.passed(self.near, |mark| mark.0 <= before).saturating_sub(1);
        if gone > SPARE {
            self.drop_first(gone);
        }
    }

    /// Counts all places from `by` bytes further right, which is where the text begins from now on; that is no more than the
    /// place up to which was forgotten.
    pub(crate) fn shift(&mut self, by: usize) {
        self.drop_first(self.marks.partition_point(|mark| mark.0 < by));
        for mark in &mut self.marks {
            mark.0 -= by;
        }
        self.looked = self.looked.saturating_sub(by);
        self.refined = self.refined.saturating_sub(by);
        self.begins = by == 0 && self.begins || self.marks.is_empty();
        if self.marks.is_empty() {
            self.marks.push((0, 0));
        }
    }
}

fn push(marks: &mut Vec<(usize, u64)>, mark: (usize, u64)) -> Result<()> {
    marks.room(1)?;
    marks.push(mark);
    Ok(())
}

/// Where the next mark may be.
fn next(marks: &[(usize, u64)], apart: usize) -> usize {
    marks.last().map_or(0, |mark| mark.0) + apart
}

/// Fewer bytes than so many ids usually have.
fn bytes_for(ids: u64) -> usize {
    ids.saturating_mul(3).clamp(LEAST as u64, AT_ONCE as u64) as usize
}

/// Where as many characters of a text end from a place on as there are in a piece.
fn behind(text: &str, place: usize, piece: &str) -> usize {
    let mut behind = text[place..].char_indices().skip(piece.chars().count());
    behind.next().map_or(text.len(), |(length, _)| place + length)
}

/// Marks the cuts among the ends of pieces while it encodes them.
struct Marking<'a, 't> {
    text: &'a str,
    encoder: Encoder<'a, Count>,
    at: usize,
    end: usize,
    /// Whether pieces are parts of the text; else up to each cut they have as many characters.
    is_same: bool,
    marks: &'a mut Vec<(usize, u64)>,
    cuts: Ascending<'a, 't>,
    /// The fewest bytes between two marks.
    apart: usize,
}

impl Marking<'_, '_> {
    /// Goes on to the end of a piece or token.
    fn mark(&mut self, at: usize) -> Result<()> {
        self.at = at;
        if at == self.end || at >= next(self.marks, self.apart) && self.cuts.is_cut(self.text, at) {
            push(self.marks, (at, self.encoder.sink.0))?;
        }
        Ok(())
    }
}

impl Visit for Marking<'_, '_> {
    fn piece(&mut self, piece: &str) -> Result<()> {
        self.encoder.piece(piece)?;
        let end = if self.is_same { self.at + piece.len() } else { behind(self.text, self.at, piece) };
        self.mark(end)
    }

    fn added(&mut self, token: &AddedToken, text: &str) -> Result<()> {
        self.encoder.added(token, text)?;
        self.mark(self.at + text.len())
    }

    fn pieces(&mut self, text: &str, pattern: &Pattern, inner: &[Pattern], _: Range<usize>) -> Result<usize> {
        let Self { text: whole, encoder, at, end, is_same, marks, cuts, apart } = self;
        let (first, mut sum, mut marked) = (*at, encoder.sink.0, Ok(()));
        let (mut start, mut changed) = (0, first);
        let counted = encoder.count_pieces(text, pattern, inner, |piece_end, count| {
            sum += count;
            let place = if *is_same {
                first + piece_end
            } else {
                changed = behind(whole, changed, &text[start..piece_end]);
                start = piece_end;
                changed
            };
            if marked.is_ok() && (place == *end || place >= next(marks, *apart) && cuts.is_cut(whole, place)) {
                marked = push(marks, (place, sum));
            }
        });
        encoder.sink.0 = sum;
        *at = if *is_same { first + text.len() } else { changed };
        counted.and(marked).map(|()| text.len())
    }
}

/// Finds cuts among places that ascend from a cut on: where an added token begins is looked up once.
struct Ascending<'a, 't> {
    cuts: &'a Cuts<'t>,
    finds_as_spelled: bool,
    /// The end of the places.
    end: usize,
    /// Where added tokens are found in the text as it is: each matcher, where its next token begins, and the length of the
    /// longest there.
    matchers: Vec<(&'t Matcher, Option<(usize, usize)>)>,
    /// The furthest end of those that begin before.
    reach: usize,
}

impl<'a, 't> Ascending<'a, 't> {
    /// `finds_as_spelled` is whether added tokens are found in the text as it is.
    fn new(cuts: &'a Cuts<'t>, text: &str, places: Range<usize>, finds_as_spelled: bool) -> Self {
        let next = |added: &'t Matcher| (added, added.next_at(text.as_bytes(), places.clone()));
        let matchers = if finds_as_spelled { cuts.matchers().map(next).collect() } else { Vec::new() };
        Self { cuts, finds_as_spelled, end: places.end, matchers, reach: 0 }
    }

    /// As [`Cuts::is_cut`].
    fn is_cut(&mut self, text: &str, place: usize) -> bool {
        self.cuts.is_wall(text, place) && !self.is_near(text, place)
    }

    /// As [`Cuts::is_near_added`].
    fn is_near(&mut self, text: &str, place: usize) -> bool {
        if !self.finds_as_spelled {
            return self.cuts.is_near_added(text, place);
        }
        for (added, next) in &mut self.matchers {
            while let Some((start, length)) = next.filter(|next| next.0 < place) {
                self.reach = self.reach.max(start + length);
                *next = added.next_at(text.as_bytes(), start + 1..self.end);
            }
        }
        self.reach > place || self.cuts.is_apart() && self.cuts.is_near_added(text, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::made::{ALPHABET, tokenizers};
    use crate::pipeline::{Parts, Tokenizer};
    use crate::segment::{Policy, Treat};
    use crate::vocab::{Semantics, Vocab};

    #[test]
    fn marks_are_cuts_with_the_ids_before_them() {
        let policy = Policy { special: Treat::Match, added: Treat::Match };
        let mut seed = 7_u64;
        for (number, flags, tokenizer) in tokenizers() {
            let counter = Counter::new(&tokenizer, policy);
            let count = |text: &str, what| counter.count(text, 0..text.len(), what).unwrap();
            for round in 0..12 {
                let text: String = (0..40)
                    .map(|_| {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        ALPHABET[(seed >> 33) as usize % ALPHABET.len()]
                    })
                    .collect();
                // Of changed text pieces are marked where chunks are not small.
                let mut ruler = Ruler::new(if round % 2 == 0 { 1 } else { APART });
                ruler.cover(&counter, &text, text.len(), text.len()).unwrap();
                for &(place, sum) in &ruler.marks[1..] {
                    assert_eq!(sum, count(&text[..place], As::Text), "{number} {flags} {text:?} at {place}");
                    for end in (place + 1..=text.len()).filter(|&end| text.is_char_boundary(end)) {
                        let behind = count(&text[place..end], As::GoingOn);
                        let whole = count(&text[..end], As::Text);
                        assert_eq!(sum + behind, whole, "{number} {flags} {text:?} to {end} at {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_fit_in_text_without_cuts_reads_no_further_than_its_ids_reach() {
        let parts = Parts::of(Vocab::new(&[b"a", b"aa"], &[0, 1], Semantics::Ranks).unwrap());
        let tokenizer = Tokenizer::new(parts).unwrap();
        let (counter, mut ruler) = (Counter::new(&tokenizer, Policy::default()), Ruler::new(1000));
        let text = "a".repeat(1 << 20);
        for (limit, most) in [(10, 2 * AT_ONCE), (1000, 1000 * FOR_AN_ID as usize + 2 * AT_ONCE)] {
            let fit = ruler.fit(&counter, &text, 0, limit, text.len()).unwrap();
            assert_eq!(fit, Fit { at: 2 * limit as usize, tokens: limit, decided: true });
            assert!(ruler.looked <= most, "{} bytes for {limit} ids", ruler.looked);
        }
    }
}
