//! A run: text without cuts whose characters all belong to one piece, however it goes on. Its places are counted by the rows
//! of that piece (`count::rows`).
//!
//! At a joined place the text has the pieces of its left part, and the last of these goes on with what the right part
//! becomes. So the piece of a run grows by what each character becomes by itself. Where a place only grows (`Meeting::Growing`),
//! that holds as long as the text ends in the run: such a run says nothing of text behind it.

use crate::count::counter::{As, Counter};
use crate::count::rows::Rows;
use crate::edge::Edge;
use crate::error::Result;
use crate::interrupt;
use crate::memory::{self, Room};
use crate::segment::Visit;
use crate::split::added::AddedToken;

/// The bytes of the characters that stages look ahead to.
const AHEAD: usize = 4 * Edge::MOST;

/// A run, and the counts of its places.
pub(super) struct Run {
    /// Where the text begins that is counted, what it is counted as, and where the run begins: at the first joined place.
    start: usize,
    what: As,
    first: usize,
    /// The ids of the pieces before that of the run.
    before: u64,
    /// The piece of the run as the model gets it.
    piece: String,
    rows: Rows,
    /// The length of the piece at each place of the run that is the end of a character, and where it is.
    places: Vec<(usize, usize)>,
    /// The bytes behind a place that decide whether it is joined.
    margin: usize,
    /// Whether its places are those where a text grows, which may not be joined: then it says nothing of text behind it.
    grows: bool,
}

/// Receives pieces as the model gets them, and counts added tokens.
#[derive(Default)]
struct Pieces {
    all: Vec<String>,
    added: u64,
    /// Whether an added token came last.
    ends_with_token: bool,
}

impl Visit for Pieces {
    fn piece(&mut self, piece: &str) -> Result<()> {
        if !piece.is_empty() {
            self.all.room(1)?;
            self.all.push(memory::copy(piece)?);
            self.ends_with_token = false;
        }
        Ok(())
    }

    fn added(&mut self, _: &AddedToken, _: &str) -> Result<()> {
        self.added += 1;
        self.ends_with_token = true;
        Ok(())
    }
}

/// The pieces of the text behind `place`, which is behind a joined place, up to `to`, as they go on the piece there: without
/// what is put in front of them by themselves. None if they are not what they should be.
fn pieces_behind(counter: &Counter, text: &str, place: usize, to: usize) -> Result<Option<Pieces>> {
    let before = place - text[..place].chars().next_back().map_or(0, char::len_utf8);
    let (mut one, mut all) = (Pieces::default(), Pieces::default());
    counter.walk(text, before..place, As::GoingOn, &mut one)?;
    counter.walk(text, before..to, As::GoingOn, &mut all)?;
    let ([piece], [first, ..]) = (one.all.as_slice(), all.all.as_mut_slice()) else { return Ok(None) };
    if !first.starts_with(piece.as_str()) {
        return Ok(None);
    }
    first.drain(..piece.len());
    // The character before may become an added token and what goes on behind it.
    all.added -= one.added;
    Ok(Some(all))
}

impl Run {
    /// The run that begins at the joined place `first` in the text that is counted from `start` on; None if the model has no
    /// rows.
    ///
    /// # Errors
    /// As [`crate::pipeline::Tokenizer::encode`].
    pub(super) fn new(counter: &Counter, text: &str, start: usize, what: As, first: usize) -> Result<Option<Self>> {
        Self::of(counter, text, start, what, first, false)
    }

    /// The same, of the places from `first` on where the text grows: it counts texts that end in it.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub(super) fn growing(counter: &Counter, text: &str, start: usize, what: As, first: usize) -> Result<Option<Self>> {
        Self::of(counter, text, start, what, first, true)
    }

    fn of(counter: &Counter, text: &str, start: usize, what: As, first: usize, grows: bool) -> Result<Option<Self>> {
        if !Rows::can(counter.tokenizer.model()) {
            return Ok(None);
        }
        let mut pieces = Pieces::default();
        counter.walk(text, start..first, what, &mut pieces)?;
        let Some(piece) = pieces.all.pop().filter(|_| !pieces.ends_with_token) else { return Ok(None) };
        let mut before = pieces.added;
        for piece in &pieces.all {
            let ids = counter.count_piece(piece);
            before += ids.map_err(|error| counter.as_of_part(error, text, start..first, what))?;
        }
        let mut rows = Rows::default();
        rows.extend(counter.tokenizer.model(), &piece)?;
        let places = vec![(first, piece.len())];
        let margin = counter.cuts.longest_added() + AHEAD;
        Ok(Some(Self { start, what, first, before, piece, rows, places, margin, grows }))
    }

    /// Where the text begins that is counted.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Where the run ends so far: at a place that is joined, or the end of what was asked for.
    pub(super) fn end(&self) -> usize {
        self.places.last().map_or(self.first, |place| place.0)
    }

    /// Whether a place goes on a run of this kind.
    fn is_inside(&self, counter: &Counter, text: &str, place: usize) -> bool {
        if self.grows { counter.cuts.is_growing(text, place) } else { counter.cuts.is_joined(text, place) }
    }

    /// Goes on over the joined places up to `to`; returns whether it got there.
    ///
    /// # Errors
    /// As [`crate::pipeline::Tokenizer::encode`].
    pub(super) fn extend(&mut self, counter: &Counter, text: &str, to: usize) -> Result<bool> {
        let from = self.end();
        let (mut place, mut length) = self.places.last().copied().unwrap_or_default();
        let mut places = Vec::new();
        for character in text[from..to].chars() {
            interrupt::check()?;
            if place > self.first && !self.is_inside(counter, text, place) {
                break;
            }
            let next = place + character.len_utf8();
            let known = counter.lengths.borrow().get(&character).copied();
            length += match known {
                Some(known) => known,
                None if counter.keeps_text => character.len_utf8(),
                None => {
                    let Some(pieces) = pieces_behind(counter, text, place, next)? else { break };
                    let length = pieces.all.iter().map(String::len).sum();
                    counter.lengths.borrow_mut().insert(character, length);
                    length
                }
            };
            places.room(1)?;
            places.push((next, length));
            place = next;
        }
        if place > from {
            let pieces = pieces_behind(counter, text, from, place)?.filter(|pieces| pieces.added == 0);
            let Some([piece]) = pieces.as_ref().map(|pieces| pieces.all.as_slice()) else { return Ok(false) };
            if self.piece.len() + piece.len() != length {
                return Ok(false);
            }
            self.piece.room(piece.len())?;
            self.places.room(places.len())?;
            self.piece.push_str(piece);
            self.places.append(&mut places);
            self.rows.extend(counter.tokenizer.model(), &self.piece)?;
        }
        Ok(place == to)
    }

    /// The places from `from` on, in order, with the number of ids of the text up to each.
    pub(super) fn counts<'a>(
        &'a self,
        counter: &'a Counter,
        from: usize,
    ) -> impl DoubleEndedIterator<Item = Result<(usize, u64)>> + 'a {
        let first = self.places.partition_point(|place| place.0 < from);
        self.places[first..].iter().map(|&(place, length)| Ok((place, self.count(counter, length)?)))
    }

    /// The number of ids of the text that is counted and ends with `text`, which goes on behind the run.
    ///
    /// # Errors
    /// As [`crate::pipeline::Tokenizer::encode`].
    pub(super) fn count_with(&mut self, counter: &Counter, text: &str) -> Result<u64> {
        let (part, what) = (self.start..text.len(), self.what);
        let placed = |error| counter.as_of_part(error, text, part.clone(), what);
        let (end, length) = self.places.last().copied().unwrap_or_default();
        if end == text.len() {
            return self.count(counter, length).map_err(placed);
        }
        if self.grows {
            return counter.count(text, part, what);
        }
        let (place, length) = self.last_joined(counter, text);
        let Some(pieces) = pieces_behind(counter, text, place, text.len())? else {
            return counter.count(text, part, what);
        };
        let mut rest = pieces.added;
        for piece in &pieces.all[1..] {
            rest += counter.count_piece(piece).map_err(placed)?;
        }
        let behind = self.piece.split_off(length);
        let mut count_behind = || {
            self.put(counter, length, &pieces.all[0])?;
            let count = self.count(counter, self.piece.len()).map_err(placed);
            self.put(counter, length, &behind).and(count)
        };
        let count = count_behind();
        if self.piece.len() != length + behind.len() {
            self.forget_beyond(length);
        }
        Ok(count? + rest)
    }

    /// Forgets what is beyond a length of the piece.
    fn forget_beyond(&mut self, length: usize) {
        self.places.truncate(self.places.partition_point(|known| known.1 <= length));
        self.piece.truncate(length);
        self.rows.truncate(length);
    }

    /// Puts something behind so many bytes of the piece.
    fn put(&mut self, counter: &Counter, length: usize, behind: &str) -> Result<()> {
        self.rows.truncate(length);
        self.piece.truncate(length);
        self.piece.room(behind.len())?;
        self.piece.push_str(behind);
        self.rows.extend(counter.tokenizer.model(), &self.piece)
    }

    /// The last joined place of a text that goes on behind the run, and the length of the piece there: the last place of the
    /// run need not be joined, since an added token may go over it, or a normalizer change what is beside it.
    fn last_joined(&self, counter: &Counter, text: &str) -> (usize, usize) {
        let is_joined = |place: usize| place == self.first || place < text.len() && counter.cuts.is_joined(text, place);
        let known = self.places.iter().rev().find(|known| is_joined(known.0));
        known.copied().unwrap_or_default()
    }

    /// The number of ids of the text up to where the piece has a length.
    fn count(&self, counter: &Counter, length: usize) -> Result<u64> {
        Ok(self.before + self.rows.count(counter.tokenizer.model(), &self.piece[..length])?)
    }

    /// The fewest ids of any longer text that begins as `text` does, up to behind the run; 0 if nothing is known.
    pub(super) fn least(&self, counter: &Counter, text: &str) -> u64 {
        if self.grows {
            return 0;
        }
        match self.rows.least(counter.tokenizer.model(), self.last_joined(counter, text).1) {
            0 => 0,
            least => self.before + least,
        }
    }

    /// Forgets what is behind a place of the text, or depends on text there; false if the run begins there or later.
    pub(super) fn truncate(&mut self, place: usize) -> bool {
        let place = place.saturating_sub(self.margin);
        self.places.truncate(self.places.partition_point(|known| known.0 <= place));
        let Some(&(_, length)) = self.places.last() else { return false };
        self.forget_beyond(length);
        true
    }
}
