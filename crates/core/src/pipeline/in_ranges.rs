//! One long text on several threads: cut where the ids of both sides are certain, each range encoded by itself.
//!
//! Units become UTF-8 on the thread that encodes them, a range at a time. A cut is looked for at the first characters of each
//! range; where there is none, the range before goes on.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use super::encode_stream::walk;
use super::{Cuts, Span, Tokenizer};
use crate::edge::Edge;
use crate::encode::Sink;
use crate::error::{Error, Kind, Result};
use crate::interrupt;
use crate::segment::Policy;
use crate::units::Units;
use crate::utf8::boundary;

/// The bytes of the longest added token with which a text is cut.
const MOST_CONTEXT: usize = 1 << 12;

/// The places at the beginning of a range in which a cut is looked for.
const WINDOW: usize = 512;

/// A text whose first ranges have so many windows without a cut is not cut.
const TRIES: usize = 4;

/// A long text. Its places are characters of units, and bytes of UTF-8.
#[derive(Clone, Copy)]
pub(super) enum Long<'a> {
    Units(Units<'a>),
    Text(&'a str),
}

impl Long<'_> {
    fn places(&self) -> usize {
        match self {
            Self::Units(units) => units.characters(),
            Self::Text(text) => text.len(),
        }
    }

    /// The text of a range, which ends and starts between characters; `buffer` may come to hold it.
    fn text<'b>(&'b self, range: Range<usize>, buffer: &'b mut String) -> Result<&'b str> {
        match self {
            Self::Units(units) => {
                buffer.clear();
                units.append(range, buffer)?;
                Ok(buffer)
            }
            Self::Text(text) => Ok(&text[range]),
        }
    }

    /// The last place up to `place` that is between characters.
    fn between(&self, place: usize) -> usize {
        match self {
            Self::Units(_) => place,
            Self::Text(text) => boundary(text, place),
        }
    }

    /// The places of the bytes of a text.
    fn places_of(&self, text: &str) -> usize {
        match self {
            Self::Units(_) => text.chars().count(),
            Self::Text(_) => text.len(),
        }
    }
}

impl Tokenizer {
    /// A long text and where its ranges end, each of which has some places at least; None if it is not to be cut so. Text in UTF-8
    /// that stages leave as it is has parts ([`crate::segment::Segmenter::parts`]), whatever the pattern.
    pub(super) fn ranges<'a>(
        &self,
        span: Span<'a>,
        policy: Policy,
        range: usize,
    ) -> Result<Option<(Long<'a>, Vec<usize>)>> {
        let long = match span {
            Span::Units(units) => Long::Units(units),
            Span::Text(text) if !self.segmenter().steps().keep_text() => Long::Text(text),
            _ => return Ok(None),
        };
        let ends = self.range_ends(long, policy, range)?;
        Ok(if ends.len() > 1 { Some((long, ends)) } else { None })
    }

    fn range_ends(&self, long: Long, policy: Policy, range: usize) -> Result<Vec<usize>> {
        let cuts = Cuts::new(self, policy);
        let (mut ends, mut buffer, mut tries) = (Vec::new(), String::new(), 0);
        let mut start = range;
        while start < long.places().saturating_sub(range) {
            interrupt::check()?;
            if let Some(cut) = cut_behind(&cuts, long, start, &mut buffer)? {
                ends.push(cut);
                start = cut.saturating_add(range);
                continue;
            }
            tries += 1;
            if ends.is_empty() && tries == TRIES {
                break;
            }
            start += range;
        }
        ends.push(long.places());
        Ok(ends)
    }

    /// Encodes a range between two cuts; an error is not placed, and may not be the first of the text.
    pub(super) fn encode_range<S: Sink>(
        &self,
        long: Long,
        range: Range<usize>,
        policy: Policy,
        stop: Option<&AtomicBool>,
        sink: &mut S,
    ) -> Result<()> {
        let (is_first, mut buffer) = (range.start == 0, String::new());
        walk(self, policy, long.text(range, &mut buffer)?, is_first, stop, sink)
    }
}

/// The first cut in the window behind a place.
fn cut_behind(cuts: &Cuts, long: Long, place: usize, buffer: &mut String) -> Result<Option<usize>> {
    // An added token may begin and end so far away.
    let context = cuts.longest_added() + Edge::MOST;
    if context > MOST_CONTEXT {
        return Ok(None);
    }
    let places = long.places();
    let place = long.between(place);
    let (start, end) = (long.between(place.saturating_sub(context)), long.between(places.min(place + WINDOW)));
    let around = start..long.between(places.min(end + context));
    let is_no_text = |error: &Error| error.kind == Kind::Encode;
    let text = match long.text(around, buffer) {
        Ok(text) => text,
        // Whoever encodes it says so.
        Err(error) if is_no_text(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let byte = |place: usize| match long {
        Long::Units(_) => text.char_indices().nth(place - start).map_or(text.len(), |(byte, _)| byte),
        Long::Text(_) => place - start,
    };
    let window = byte(place)..byte(end);
    let cut = cuts.first_of_pieces(text, window.clone()).or_else(|| cuts.first(text, window.clone()));
    Ok(cut.map(|cut| place + long.places_of(&text[window.start..cut])))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::pipeline::made::{ALPHABET, tokenizers};
    use crate::segment::Treat;

    /// Has a text checked in both forms.
    fn each_form(text: &str, check: impl Fn(Long)) {
        let characters: Vec<u32> = text.chars().map(u32::from).collect();
        check(Long::Units(Units::Four(&characters)));
        check(Long::Text(text));
    }

    #[test]
    fn ranges_have_the_ids_of_the_whole_behind_all_stages() {
        let mut seed = 7_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let policy = Policy { special: Treat::Match, added: Treat::Match };
        for (number, flags, tokenizer) in tokenizers() {
            let mut most = 0;
            for range in [1, 10, 100] {
                let text: String = (0..1500).map(|_| ALPHABET[random(ALPHABET.len())]).collect();
                let mut expected = Vec::new();
                tokenizer.encode(&text, policy, &mut expected).unwrap();
                each_form(&text, |long| {
                    let ends = tokenizer.range_ends(long, policy, range).unwrap();
                    assert!(ends.is_sorted_by(|left, right| left < right), "{ends:?}");
                    let (mut ids, mut start) = (Vec::new(), 0);
                    for &end in &ends {
                        tokenizer.encode_range(long, start..end, policy, None, &mut ids).unwrap();
                        start = end;
                    }
                    assert_eq!(ids, expected, "{number} {flags} {range} {text:?} {ends:?}");
                });
                most = most.max(tokenizer.range_ends(Long::Text(&text), policy, range).unwrap().len());
            }
            // With a space put in front of each text there may be no cut.
            assert!(most > 60 || flags == 5, "{number} {flags} {most}");
        }
    }
}
