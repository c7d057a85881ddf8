//! The front of a text up to its first cut, if all of its characters belong to one piece: `count::run`, mirrored.
//!
//! At a place where a text grows (`Cuts::is_growing`) the text has the pieces of its left part, and the last of these goes on
//! with what the next character becomes; at a joined one, with what the right part becomes. Where all places from some near
//! the front on are of these kinds, up to the cut or a joined one near it, the piece ends at the cut. It is what the text
//! before the first of these places ends with, and what the characters behind it become. The latter grows at its front and is
//! counted by its suffixes (`count::suffixes`); the former is short, and taken through the stages for each count, since what
//! they put in front of a text, and added tokens, depend on it.

use crate::count::counter::{As, Counter};
use crate::count::front_text::FrontText;
use crate::count::run::{AHEAD, Pieces, pieces_behind};
use crate::count::suffixes::Suffixes;
use crate::error::Result;
use crate::interrupt::Checks;
use crate::memory;

/// So near to the front, in bytes, there has to be a place where the text grows, behind the longest added token.
const NEAR: usize = 64;

/// A piece that ends at a cut, but for its beginning.
pub(super) struct FrontRun {
    /// Where the cut is. Places are counted from the end of the text.
    end: usize,
    /// The characters behind the last known place, as the model gets them.
    piece: FrontText,
    suffixes: Suffixes,
    known: Vec<Known>,
}

/// A place from which on a text grows up to the cut.
#[derive(Clone, Copy)]
struct Known {
    place: usize,
    /// The bytes of the piece from there on.
    length: usize,
    /// The bytes of the text when the place was found: it stays one as long as these are there.
    of: usize,
}

impl FrontRun {
    /// The run up to a cut; None if the model has none.
    pub(super) fn new(counter: &Counter, end: usize) -> Option<Self> {
        Suffixes::can(counter.tokenizer.model()).then(|| Self {
            end,
            piece: FrontText::default(),
            suffixes: Suffixes::default(),
            known: Vec::new(),
        })
    }

    /// Where the cut is.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Forgets what depends on more than the last so many bytes of the text.
    pub(super) fn truncate(&mut self, length: usize) {
        self.known.truncate(self.known.partition_point(|known| known.of <= length));
        let length = self.known.last().map_or(0, |known| known.length);
        self.piece.truncate(length);
        self.suffixes.truncate(length);
    }

    /// The number of ids of the text up to the cut; None if it is not known to be one piece there, or cannot be encoded.
    ///
    /// Time: linear in what is new since the last count, and in the longest added token.
    ///
    /// # Errors
    /// `Interrupted`, `Memory`.
    pub(super) fn count(&mut self, counter: &Counter, text: &str) -> Result<Option<u64>> {
        if !self.extend(counter, text)? {
            return Ok(None);
        }
        let Some(&Known { place, length, .. }) = self.known.last() else { return Ok(None) };
        let mut pieces = Pieces::default();
        counter.walk(text, 0..text.len() - place, As::Text, &mut pieces)?;
        let Some(first) = pieces.all.pop().filter(|_| !pieces.ends_with_token) else { return Ok(None) };
        let mut count = pieces.added;
        for piece in &pieces.all {
            count += counter.count_piece(piece)?;
        }
        let model = counter.tokenizer.model();
        self.piece.prepend(&first)?;
        let whole = self.suffixes.extend(model, self.piece.text());
        let whole = whole.and_then(|()| self.suffixes.count(model, self.piece.text()));
        self.piece.truncate(length);
        self.suffixes.truncate(length);
        Ok(whole?.map(|whole| count + whole))
    }

    /// Goes on to a place near the front; false if the text does not grow from there on.
    fn extend(&mut self, counter: &Counter, text: &str) -> Result<bool> {
        let cuts = &counter.cuts;
        let behind = text.len() - self.known.last().map_or(self.end, |known| known.place);
        let near = cuts.longest_added().max(1);
        let grows = |place| {
            let is_near_end = text.len() - place <= AHEAD;
            cuts.is_growing(text, place) || is_near_end && cuts.is_growing_to_end(text, place)
        };
        let mut places = (near..behind).filter(|&at| text.is_char_boundary(at));
        let is_near = |&at: &usize| at <= near + NEAR;
        let Some(first) = places.by_ref().take_while(is_near).find(|&place| grows(place)) else {
            // Too little is new for another place.
            return Ok(!self.known.is_empty() && behind <= near + NEAR);
        };
        let (mut checks, mut last) = (Checks::default(), first);
        for place in places {
            checks.check()?;
            if !grows(place) {
                // Stages may look ahead to what is not there. A joined place says enough of a few characters behind it.
                let is_end = self.known.is_empty() && behind - last <= NEAR && cuts.is_joined(text, last);
                if !is_end {
                    return Ok(false);
                }
                break;
            }
            last = place;
        }
        let pieces = pieces_behind(counter, text, first, behind)?.filter(|pieces| pieces.added == 0);
        let Some([piece]) = pieces.as_ref().map(|pieces| pieces.all.as_slice()) else { return Ok(false) };
        self.piece.prepend(piece)?;
        let known = Known { place: text.len() - first, length: self.piece.len(), of: text.len() };
        let extended = self.suffixes.extend(counter.tokenizer.model(), self.piece.text());
        if let Err(error) = extended.and_then(|()| memory::push(&mut self.known, known)) {
            self.truncate(text.len());
            return Err(error);
        }
        Ok(true)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::encode::Count;
    use crate::pipeline::made::tokenizers;
    use crate::segment::{Policy, Treat};

    #[test]
    fn an_endless_word_is_one_run_behind_many_stages() {
        let policy = Policy { special: Treat::Match, added: Treat::Match };
        let (mut seed, mut runs) = (3_u64, [0; 15]);
        for (number, flags, tokenizer) in tokenizers() {
            let counter = Counter::new(&tokenizer, policy);
            for words in [&["a", "ab"][..], &["中"], &["é", "b"], &["a", "ab", "b1", ".", "\n"]] {
                let (mut text, mut run) = (String::new(), FrontRun::new(&counter, 0).unwrap());
                let mut lengths = Vec::new();
                while text.len() < 400 {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let word = words[(seed >> 33) as usize % words.len()];
                    text.insert_str(0, &word.repeat(1 + (seed >> 60) as usize));
                    lengths.push(text.len());
                    if (seed >> 40).is_multiple_of(8) {
                        let length = lengths[(seed >> 50) as usize % lengths.len()];
                        text = text.split_off(text.len() - length);
                        lengths.retain(|&shorter| shorter <= length);
                        run.truncate(length);
                    }
                    let mut expected = Count::default();
                    tokenizer.encode(&text, policy, &mut expected).unwrap();
                    if let Some(count) = run.count(&counter, &text).unwrap() {
                        assert_eq!(count, expected.0, "{number} {flags} {text:?}");
                        runs[number] += 1;
                    }
                }
            }
        }
        // The engine of the tenth goes back, and nothing is known of its pieces.
        let are_few: Vec<usize> = (0..runs.len()).filter(|&number| runs[number] < 100).collect();
        assert_eq!(are_few, [9], "{runs:?}");
    }
}
