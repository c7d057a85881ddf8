//! A mark for each space, one in front, and pieces that begin with it; and the way back.

use std::ops::Range;

use serde::Deserialize;

use super::PreTokenized;
use crate::edge::Between;
use crate::eight_bytes::{bytes_equal, words};
use crate::error;
use crate::interrupt::Checks;
use crate::memory::Room;
use crate::normalize::joined::{Joined, Spelled};

/// Where a mark is put in front.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scheme {
    /// Before the piece with which the original text begins.
    First,
    /// Nowhere.
    Never,
    /// Before each piece.
    #[default]
    Always,
}

/// The step as files state it; older files have other fields for the same options.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatedMetaspace {
    replacement: char,
    add_prefix_space: Option<bool>,
    prepend_scheme: Option<Scheme>,
    split: Option<bool>,
    str_rep: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Metaspace {
    pub(crate) replacement: char,
    scheme: Scheme,
    pub(crate) split: bool,
}

impl TryFrom<StatedMetaspace> for Metaspace {
    type Error = &'static str;

    fn try_from(stated: StatedMetaspace) -> Result<Self, Self::Error> {
        let StatedMetaspace { replacement, add_prefix_space, prepend_scheme, split, str_rep } = stated;
        let prefixed = add_prefix_space.unwrap_or(true);
        let scheme = prepend_scheme.unwrap_or(if prefixed { Scheme::Always } else { Scheme::Never });
        if !prefixed && scheme != Scheme::Never {
            return Err("add_prefix_space is false, and prepend_scheme is not \"never\"");
        }
        if str_rep.is_some_and(|text| !text.chars().eq([replacement])) {
            return Err("str_rep is not the replacement");
        }
        Ok(Self { replacement, scheme, split: split.unwrap_or(true) })
    }
}

impl Metaspace {
    pub(crate) fn is_first(self) -> bool {
        self.scheme == Scheme::First
    }

    /// Whether it does nothing to a text that goes on but to put another character in the place of each space.
    pub(crate) fn is_of_characters(self) -> bool {
        !self.split && self.scheme != Scheme::Always
    }

    /// Whether text is marked in front at all.
    pub(crate) fn prepends(self) -> bool {
        self.scheme != Scheme::Never
    }

    /// The effect at a place, as [`PreTokenizer::between`] has it.
    ///
    /// [`PreTokenizer::between`]: super::PreTokenizer::between
    pub(super) fn between(self, left: Option<char>, right: char) -> Between {
        let is_mark = self.spelled(right) == self.replacement;
        if is_mark && self.split {
            return Between::Wall;
        }
        // The right part alone has a mark in front that it does not have behind other text.
        let is_marked = match self.scheme {
            Scheme::Always => true,
            Scheme::First => left.is_none(),
            Scheme::Never => false,
        };
        if is_marked && !is_mark {
            return Between::Unknown;
        }
        Between::Inside { left: left.map(|left| self.spelled(left)), right: self.spelled(right), joined: true }
    }

    /// The spelling of two characters that are in one piece in every text, as [`PreTokenizer::joins`] has it.
    ///
    /// [`PreTokenizer::joins`]: super::PreTokenizer::joins
    pub(super) fn joins(self, left: char, right: char) -> Option<(char, char)> {
        let (left, right) = (self.spelled(left), self.spelled(right));
        (!self.split || right != self.replacement).then_some((left, right))
    }

    fn spelled(self, character: char) -> char {
        if character == ' ' { self.replacement } else { character }
    }

    pub(super) fn apply(self, text: &mut PreTokenized, at_start: bool) -> error::Result<()> {
        let origins = text.text.origins().map(|origins| origins.iter().take_while(|origin| origin.0 == 0).count());
        // The pieces that start before this place begin with the original text.
        let begin = match (self.scheme, origins) {
            (Scheme::Always, _) => usize::MAX,
            (Scheme::First, Some(begin)) if at_start => begin,
            (Scheme::First, None) if at_start && text.leads => text.pieces.first().map_or(0, |piece| piece.start + 1),
            _ => 0,
        };
        let mark = Spelled::new(self.replacement);
        if begin == usize::MAX && mark_each(text, mark)? {
            return Ok(());
        }
        let first_byte = mark.first();
        text.respell(false, |edit, piece, pieces| {
            let old = edit.old();
            let mut start = edit.len();
            let mut at = piece.start;
            if let Some(first) = old[piece.clone()].chars().next()
                && piece.start < begin
                && !matches!(first, ' ')
                && first != self.replacement
            {
                if !may_have(old, piece.clone(), first_byte) {
                    edit.keep_marked(self.replacement, first, piece.end);
                    return edit.cut(pieces, start);
                }
                at += first.len_utf8();
                edit.put(self.replacement, at);
                edit.insert_char(first);
            }
            if !self.split {
                if self.replacement != ' ' {
                    edit.put_each(self.replacement, b' ', piece.end);
                }
                edit.keep(piece.end);
                return edit.cut(pieces, start);
            }
            while let Some(next) = memchr::memchr2(b' ', first_byte, &old.as_bytes()[at..piece.end]) {
                let place = at + next;
                let Some(found) = old[place..].chars().next() else { break };
                at = place + found.len_utf8();
                edit.keep(place);
                if found == ' ' || found == self.replacement {
                    if start < edit.len() {
                        edit.cut(pieces, start);
                        start = edit.len();
                    }
                    if found == ' ' && self.replacement != ' ' {
                        edit.put(self.replacement, at);
                        continue;
                    }
                }
                edit.keep(at);
            }
            edit.keep(piece.end);
            edit.cut(pieces, start);
        })
    }
}

/// Puts a mark in front of each piece, where no origins are kept and no piece may have a mark or a space; whether it did. What
/// lies between the pieces goes.
fn mark_each(text: &mut PreTokenized, mark: Spelled) -> error::Result<bool> {
    if text.text.origins().is_some() {
        return Ok(false);
    }
    let (mut checks, mut total) = (Checks::default(), 0);
    for piece in &text.pieces {
        checks.check()?;
        let has = |piece: &str| piece.contains([' ', mark.character()]);
        if piece.is_empty() || may_have(text.text(), piece.clone(), mark.first()) && has(&text.text()[piece.clone()]) {
            return Ok(false);
        }
        total += mark.width() + piece.len();
    }
    let mut pieces = text.room_for_pieces()?;
    pieces.room(text.pieces.len())?;
    let (old, mut new) = (text.text(), Joined::in_room_of(total)?);
    for piece in &text.pieces {
        let start = new.len();
        new.put(mark);
        new.copy(&old[piece.start..], piece.len());
        pieces.push(start..new.len());
    }
    text.text.replace(new.into_text(), None);
    text.spare = std::mem::replace(&mut text.pieces, pieces);
    Ok(true)
}

/// Whether a piece may have a space or a mark, which begins with `first_byte`.
#[inline]
fn may_have(text: &str, piece: Range<usize>, first_byte: u8) -> bool {
    /// To search in so many bytes takes no longer than to begin a search in many at a time.
    const FEW: usize = 16;
    if piece.len() > FEW {
        return memchr::memchr2(b' ', first_byte, &text.as_bytes()[piece]).is_some();
    }
    let mut found = 0;
    words(text.as_bytes(), piece, |word, counts| {
        found |= (bytes_equal(word, first_byte) | bytes_equal(word, b' ')) & counts;
    });
    found != 0
}
