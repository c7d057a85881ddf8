//! A run: text without cuts whose characters all belong to one piece, however it goes on. Its places are counted by the rows
//! of that piece (`count::rows`).
//!
//! At a joined place the text has the pieces of its left part, and the last of these goes on with what the right part
//! becomes. So the piece of a run grows by what each character becomes by itself. Where a place only grows (`Meeting::Growing`),
//! that holds as long as the text ends in the run: such a run says nothing of text behind it.
//!
//! A text of `sentencepiece` loses white space at its end, and has one space of it in the middle: behind white space the
//! piece is as long as before it, and the next character brings the space along. Where characters change those before
//! them, such as accents, the texts that end there are counted one by one, up to the next joined place.

use crate::count::counter::{As, Counter, Inside};
use crate::count::rows::Rows;
use crate::edge::Edge;
use crate::error::Result;
use crate::interrupt;
use crate::memory::{self, Room};
use crate::normalize::Normalizer;
use crate::segment::Visit;
use crate::split::added::AddedToken;

/// The bytes of the characters that stages look ahead to.
pub(super) const AHEAD: usize = 4 * Edge::MOST;

/// The most bytes between a joined place and the next one.
const APART: usize = 64;

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
    /// Each place of the run that is the end of a character, and the length of the piece there; at one that is not joined,
    /// that at the joined place before it.
    places: Vec<(usize, usize)>,
    /// The places at which the piece ends in another way than it goes on, and the ids of the text up to them.
    odd: Vec<(usize, u64)>,
    /// The bytes behind a place that decide whether it is joined.
    margin: usize,
    /// Whether its places are those where a text grows, which may not be joined: then it says nothing of text behind it.
    grows: bool,
}

/// Receives pieces as the model gets them, and counts added tokens.
#[derive(Default)]
pub(super) struct Pieces {
    pub(super) all: Vec<String>,
    pub(super) added: u64,
    /// Whether an added token came last.
    pub(super) ends_with_token: bool,
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
pub(super) fn pieces_behind(counter: &Counter, text: &str, place: usize, to: usize) -> Result<Option<Pieces>> {
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
        Ok(Some(Self { start, what, first, before, piece, rows, places, odd: Vec::new(), margin, grows }))
    }

    /// Where the text begins that is counted.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Where the run ends so far: at a place that is joined, or the end of what was asked for.
    pub(super) fn end(&self) -> usize {
        self.places.last().map_or(self.first, |place| place.0)
    }

    /// Goes on up to `to`, as long as joined places are not far apart; returns whether it got there.
    ///
    /// # Errors
    /// As [`crate::pipeline::Tokenizer::encode`].
    pub(super) fn extend(&mut self, counter: &Counter, text: &str, to: usize) -> Result<bool> {
        loop {
            if !self.is_odd(self.end()) && self.extend_inside(counter, text, to)? {
                return Ok(true);
            }
            // Where a text that ends on the way cannot be encoded, a longer one may be.
            let crossed = match self.cross(counter, text, to) {
                Err(error) if !error.kind.ends_the_call() => false,
                crossed => crossed?,
            };
            if !crossed || self.end() == to {
                return Ok(crossed);
            }
        }
    }

    /// Whether the piece ends in another way at a place than it goes on there.
    fn is_odd(&self, place: usize) -> bool {
        !self.odd.is_empty() && self.odd.binary_search_by_key(&place, |odd| odd.0).is_ok()
    }

    /// Goes on to the next joined place, or to `to`, over places where what is beside them may change what is before; false
    /// if there is none near. The texts up to places in between are counted one by one.
    fn cross(&mut self, counter: &Counter, text: &str, to: usize) -> Result<bool> {
        // None of its places may be joined, and all would be asked.
        if self.grows {
            return Ok(false);
        }
        let (base, length) = self.last_joined(counter, text);
        let mut end = self.end();
        if end - base > APART {
            return Ok(false);
        }
        let behind = self.places.partition_point(|place| place.0 <= base);
        for at in behind..self.places.len() {
            let place = self.places[at];
            if !self.is_odd(place.0) {
                let count = self.count(counter, place)?;
                self.odd.room(1)?;
                self.odd.push((place.0, count));
            }
        }
        self.places[behind..].iter_mut().for_each(|place| place.1 = length);
        self.put(counter, length, "")?;
        loop {
            interrupt::check()?;
            let pieces = pieces_behind(counter, text, base, end)?.filter(|pieces| pieces.added == 0);
            let Some([piece]) = pieces.as_ref().map(|pieces| pieces.all.as_slice()) else { return Ok(false) };
            self.put(counter, length, piece)?;
            let is_known = self.end() == end;
            if end > base && end < text.len() && counter.cuts.is_joined(text, end) {
                if is_known {
                    self.places.pop();
                    self.odd.pop();
                }
                self.places.room(1)?;
                self.places.push((end, self.piece.len()));
                return Ok(true);
            }
            if !is_known {
                let count = self.count(counter, (end, self.piece.len()))?;
                self.places.room(1)?;
                self.odd.room(1)?;
                self.places.push((end, length));
                self.odd.push((end, count));
            }
            self.put(counter, length, "")?;
            let Some(character) = text[end..to].chars().next() else { return Ok(true) };
            end += character.len_utf8();
            if end - base > APART {
                return Ok(false);
            }
        }
    }

    /// The same over places inside of the piece.
    fn extend_inside(&mut self, counter: &Counter, text: &str, to: usize) -> Result<bool> {
        let from = self.end();
        let (mut place, mut length) = self.places.last().copied().unwrap_or_default();
        let mut places = Vec::new();
        let cuts = &counter.cuts;
        let has_none_added = !self.grows && cuts.has_none_added(text, from, to);
        let is_inside = |place| match self.grows {
            true => cuts.is_growing(text, place),
            false if has_none_added => cuts.is_inside_text(text, place),
            false => cuts.is_inside(text, place),
        };
        let first = self.same_as_last();
        // The last place that is not behind lost white space.
        let mut solid = first;
        let mut before = text[..solid].chars().next_back();
        let minds_neighbours =
            counter.tokenizer.segmenter().steps().normalizers.iter().any(Normalizer::separates_ideographs);
        for character in text[from..to].chars() {
            interrupt::check()?;
            if place > self.first && !is_inside(place) {
                break;
            }
            let next = place + character.len_utf8();
            let is_behind_blank = solid < place && cuts.is_behind_blank(text, place);
            let key = Inside { character, before: before.filter(|_| minds_neighbours), is_behind_blank };
            let known = counter.lengths.borrow().get(&key).copied();
            let grown = match known {
                Some(known) => known,
                None if counter.keeps_text => character.len_utf8(),
                None => {
                    let Some(pieces) = pieces_behind(counter, text, solid, next)? else { break };
                    let length = pieces.all.iter().map(String::len).sum();
                    counter.lengths.borrow_mut().insert(key, length);
                    length
                }
            };
            places.room(1)?;
            length += grown;
            places.push((next, length));
            place = next;
            (solid, before) = if grown == 0 { (solid, before) } else { (next, Some(character)) };
        }
        if place > from {
            let pieces = pieces_behind(counter, text, first, place)?.filter(|pieces| pieces.added == 0);
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

    /// The first place where the piece is as long as at the last one: those behind it are behind lost characters.
    fn same_as_last(&self) -> usize {
        let length = self.places.last().map_or(0, |place| place.1);
        self.places.get(self.places.partition_point(|place| place.1 < length)).map_or(self.first, |place| place.0)
    }

    /// The places from `from` on, in order, with the number of ids of the text up to each.
    pub(super) fn counts<'a>(
        &'a self,
        counter: &'a Counter,
        from: usize,
    ) -> impl DoubleEndedIterator<Item = Result<(usize, u64)>> + 'a {
        let first = self.places.partition_point(|place| place.0 < from);
        self.places[first..].iter().map(|&place| Ok((place.0, self.count(counter, place)?)))
    }

    /// The number of ids of the text that is counted and ends with `text`, which goes on behind the run.
    ///
    /// # Errors
    /// As [`crate::pipeline::Tokenizer::encode`].
    pub(super) fn count_with(&mut self, counter: &Counter, text: &str) -> Result<u64> {
        let (part, what) = (self.start..text.len(), self.what);
        let placed = |error| counter.as_of_part(error, text, part.clone(), what);
        let last = self.places.last().copied().unwrap_or_default();
        if last.0 == text.len() {
            return self.count(counter, last).map_err(placed);
        }
        let (place, length) = if self.grows { last } else { self.last_joined(counter, text) };
        let mut grows_on = text[place..].char_indices().map(|(at, _)| counter.cuts.is_growing_to_end(text, place + at));
        if self.grows && (text.len() - place > AHEAD || !grows_on.all(|grows| grows)) {
            return counter.count(text, part, what);
        }
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
            let count = self.count_piece(counter, self.piece.len()).map_err(placed);
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
        let is_joined = |place: usize| {
            place == self.first || place < text.len() && !self.is_odd(place) && counter.cuts.is_joined(text, place)
        };
        let mut last = self.places.len().saturating_sub(1);
        while let Some(&(place, length)) = self.places.get(last) {
            if is_joined(place) {
                return (place, length);
            }
            // No place behind lost characters is joined.
            let same = self.places.partition_point(|known| known.1 < length);
            last = if same < last { same } else { last - 1 };
        }
        (0, 0)
    }

    /// The number of ids of the text up to a place.
    fn count(&self, counter: &Counter, (place, length): (usize, usize)) -> Result<u64> {
        if !self.odd.is_empty()
            && let Ok(at) = self.odd.binary_search_by_key(&place, |odd| odd.0)
        {
            return Ok(self.odd[at].1);
        }
        self.count_piece(counter, length)
    }

    /// The number of ids of the text up to where the piece has a length.
    fn count_piece(&self, counter: &Counter, length: usize) -> Result<u64> {
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
        self.odd.truncate(self.odd.partition_point(|known| known.0 <= place));
        let Some(&(_, length)) = self.places.last() else { return false };
        self.forget_beyond(length);
        true
    }
}
