//! A changed text, and the origin of each of its bytes.
//!
//! An *origin* is the range of bytes of the original text that a byte of the changed text represents. A replacement has the
//! origin of the replaced character; an insertion has the origin of the byte before it, or the empty range `0..0` at the
//! start; a removal leaves no trace. `tokenizers` keeps the alignments of a `NormalizedString` by the same rules, so that
//! offsets agree.
//!
//! Weakness: origins are 32 bits wide, so that a text of more than 4 GiB has none and is refused.
//!
//! Long because the one way to change a text is here, with and without origins.

use std::borrow::Cow;
use std::iter::repeat_n;
use std::ops::Range;

use crate::eight_bytes::places_of;
use crate::error::{Error, Kind, Result};
use crate::interrupt::Checks;
use crate::memory::{self, Room};

/// How many times as long as it was a text may become.
///
/// Published tokenizers stay far below: NFKC makes at most eleven bytes of one, and a byte alphabet two of each.
const MOST_TIMES: usize = 32;

/// So many bytes may be added to any text, however short it is.
const ALWAYS: usize = 4096;

/// So many origins are made between two looks at whether they are still wanted, and so many bytes together.
const AT_ONCE: usize = 256;

/// The most bytes that the steps may make of a text: without a bound, forty steps that double a text would never end.
pub(crate) fn most_bytes(length: usize) -> usize {
    length.saturating_mul(MOST_TIMES).saturating_add(ALWAYS)
}

/// The error of a step that makes more of a text than [`most_bytes`].
pub(crate) fn grows_too_long(most: usize) -> Error {
    Error::new(Kind::Encode, format!("the tokenizer's steps make more than {most} bytes of this text"))
        .remedy("no text may become 32 times as long; do the steps replace what they have put in?")
}

/// Where a byte came from: the start and the end of a range of bytes.
pub type Origin = (u32, u32);

/// A text and, on request, the origins of its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aligned {
    text: String,
    /// One a byte of the text.
    origins: Option<Vec<Origin>>,
    original_len: usize,
}

impl Aligned {
    /// A text without origins.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { original_len: text.len(), text, origins: None }
    }

    /// A text with origins: at first each byte comes from its own character.
    ///
    /// ```
    /// use bytepair_core::normalize::{Aligned, Normalizer};
    /// let mut text = Aligned::traced("caf\u{e9}s")?;
    /// Normalizer::Nfd.apply_aligned(&mut text)?;
    /// assert_eq!((text.text(), text.original(6..7)), ("cafe\u{301}s", Some(5..6)));
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Encode`, if the text is longer than 4 GiB.
    pub fn traced(text: &str) -> Result<Self> {
        if u32::try_from(text.len()).is_err() {
            let what = format!("offsets were requested for a text of {} bytes", text.len());
            return Err(Error::new(Kind::Encode, what).remedy("pass texts of at most 4 GiB"));
        }
        let mut origins = Vec::new();
        origins.room(text.len())?;
        let mut checks = Checks::default();
        // As for ASCII first, many at once.
        for start in (0..text.len()).step_by(AT_ONCE) {
            checks.check()?;
            origins.extend((start..text.len().min(start + AT_ONCE)).map(|at| (at as u32, at as u32 + 1)));
        }
        if !text.is_ascii() {
            for (at, character) in text.char_indices().filter(|(_, character)| !character.is_ascii()) {
                checks.check()?;
                let end = at + character.len_utf8();
                origins[at..end].fill((at as u32, end as u32));
            }
        }
        Ok(Self { original_len: text.len(), text: memory::copy(text)?, origins: Some(origins) })
    }

    /// The text as it is now.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text as it is now, alone.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }

    /// The origin of each byte, if they are kept.
    #[must_use]
    pub fn origins(&self) -> Option<&[Origin]> {
        self.origins.as_deref()
    }

    /// How many bytes the original text has.
    #[must_use]
    pub fn original_len(&self) -> usize {
        self.original_len
    }

    /// The bytes of the original text that a range of bytes came from: from the start of the first one's origin to the end
    /// of the last one's. An empty range came from nothing, just before what the byte behind it came from. None if there
    /// are no origins or the range is not one of the text.
    #[must_use]
    pub fn original(&self, range: Range<usize>) -> Option<Range<usize>> {
        let origins = self.origins.as_ref()?;
        if range.is_empty() {
            let place =
                if range.start == origins.len() { self.original_len } else { origins.get(range.start)?.0 as usize };
            return Some(place..place);
        }
        let origins = origins.get(range)?;
        Some(origins.first()?.0 as usize..origins.last()?.1 as usize)
    }

    /// A part of the text, its origins counted as before.
    pub(crate) fn part(&self, range: Range<usize>) -> Result<Self> {
        let mut origins = self.origins.as_ref().map(|_| Vec::new());
        if let (Some(part), Some(all)) = (&mut origins, self.origins.as_ref().and_then(|all| all.get(range.clone()))) {
            part.room(all.len())?;
            part.extend_from_slice(all);
        }
        let text = memory::copy(self.text.get(range).unwrap_or_default())?;
        Ok(Self { text, origins, original_len: self.original_len })
    }

    /// Whether the byte at `start` came from the beginning of the original text.
    pub(crate) fn starts_original(&self, start: usize) -> bool {
        self.origins().and_then(|origins| origins.get(start)).is_some_and(|origin| origin.0 == 0)
    }

    /// An edit of the whole text.
    pub(crate) fn edit(&self) -> Edit<'_> {
        Edit::new(&self.text, self.origins.as_deref(), most_bytes(self.original_len))
    }

    /// Refuses a text that became too long.
    pub(crate) fn check_length(&self) -> Result<()> {
        let most = most_bytes(self.original_len);
        if self.text.len() > most { Err(grows_too_long(most)) } else { Ok(()) }
    }

    /// The text that an edit made of this one.
    pub(crate) fn replace(&mut self, text: String, origins: Option<Vec<Origin>>) {
        self.text = text;
        self.origins = origins;
    }

    /// Changes the text by `edit`.
    pub(crate) fn rewrite(&mut self, edit: impl FnOnce(&mut Edit<'_>) -> Result<()>) -> Result<()> {
        let mut made = self.edit().asking();
        edit(&mut made)?;
        if let Some((text, origins)) = made.finish()? {
            self.replace(text, origins);
        }
        Ok(())
    }
}

/// A pass over a text that makes another one, from left to right.
///
/// Kept text is copied in runs, and not at all while nothing changes.
pub(crate) struct Edit<'a> {
    old: &'a str,
    origins: Option<&'a [Origin]>,
    /// From here to `at` all is kept and not copied yet.
    from: usize,
    /// How much of the old text is done.
    at: usize,
    text: String,
    traced: Vec<Origin>,
    /// How long the new text may become.
    most: usize,
    /// Asks whether the text is still wanted, if the caller looks at what came of it.
    checks: Option<Checks>,
    /// Why nothing is written any more.
    failed: Option<Error>,
}

impl<'a> Edit<'a> {
    pub(crate) fn new(old: &'a str, origins: Option<&'a [Origin]>, most: usize) -> Self {
        Self { old, origins, from: 0, at: 0, text: String::new(), traced: Vec::new(), most, checks: None, failed: None }
    }

    /// The same, which ends early where it is no longer wanted, or lacks memory; [`Edit::check`] then has the error.
    pub(crate) fn asking(self) -> Self {
        Self { checks: Some(Checks::default()), ..self }
    }

    /// Why the pass ended early, if it did.
    pub(crate) fn check(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Whether a pass that writes a text of its own, which has this length by now, goes on.
    #[inline]
    pub(crate) fn goes_on(&mut self, length: usize) -> bool {
        length <= self.most && self.may_write(0)
    }

    /// Ends a piece, which began at `start`, at the end of what is written.
    pub(crate) fn cut(&mut self, pieces: &mut Vec<Range<usize>>, start: usize) {
        if self.checks.is_some()
            && let Err(error) = pieces.room(1)
        {
            self.failed = Some(error);
            return;
        }
        pieces.push(start..self.len());
    }

    /// A text of its own with room for so many bytes; where there is none, the pass ends.
    pub(crate) fn room_for(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        if self.checks.is_some()
            && let Err(error) = text.room(bytes)
        {
            self.failed = Some(error);
        }
        text
    }

    /// Whether so much may be written: there is room, and the text is still wanted.
    #[inline]
    fn may_write(&mut self, more: usize) -> bool {
        let Some(checks) = &mut self.checks else { return true };
        if self.failed.is_some() {
            return false;
        }
        let traced = if self.origins.is_some() { more } else { 0 };
        let room = checks.check().and_then(|()| self.text.room(more)).and_then(|()| self.traced.room(traced));
        room.map_err(|error| self.failed = Some(error)).is_ok()
    }

    /// Whether the new text is not too long yet.
    pub(crate) fn fits(&self) -> bool {
        self.len() <= self.most && self.failed.is_none()
    }

    /// Refuses a new text that is too long.
    pub(crate) fn check_length(&self) -> Result<()> {
        self.check()?;
        if self.fits() { Ok(()) } else { Err(grows_too_long(self.most)) }
    }

    /// The text that is edited.
    pub(crate) fn old(&self) -> &'a str {
        self.old
    }

    /// How much of it is done.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// How long the new text is.
    pub(crate) fn len(&self) -> usize {
        self.text.len() + self.at - self.from
    }

    #[inline]
    fn flush(&mut self) {
        if self.from < self.at {
            self.copy_kept();
        }
    }

    fn copy_kept(&mut self) {
        let first = if self.text.is_empty() { self.old.len() } else { self.at - self.from };
        if self.may_write(first) {
            if self.text.is_empty() {
                self.text.reserve(self.old.len());
            }
            self.text.push_str(&self.old[self.from..self.at]);
            if let Some(origins) = self.origins {
                self.traced.extend_from_slice(&origins[self.from..self.at]);
            }
        }
        self.from = self.at;
    }

    /// Keeps the old text up to `to`.
    #[inline]
    pub(crate) fn keep(&mut self, to: usize) {
        self.at = to;
    }

    /// Removes the old text up to `to`.
    #[inline]
    pub(crate) fn skip(&mut self, to: usize) {
        self.flush();
        self.at = to;
        self.from = to;
    }

    /// Puts a character in the place of the old text up to `to`, with the origin of the first byte of that.
    #[inline]
    pub(crate) fn put(&mut self, character: char, to: usize) {
        self.flush();
        if !self.may_write(character.len_utf8()) {
            (self.at, self.from) = (to, to);
            return;
        }
        if let Some(origins) = self.origins {
            let origin = origins.get(self.at).copied().unwrap_or_default();
            self.traced.extend(repeat_n(origin, character.len_utf8()));
        }
        self.text.push(character);
        self.at = to;
        self.from = to;
    }

    /// Keeps the old text up to `to`, with a character in the place of each byte that is `byte`, of ASCII.
    pub(crate) fn put_each(&mut self, put: char, byte: u8, to: usize) {
        let bytes = &self.old.as_bytes()[..to];
        let count = memchr::memchr_iter(byte, &bytes[self.at..]).count();
        if count == 0 {
            return self.keep(to);
        }
        self.flush();
        let mut kept = self.at;
        (self.at, self.from) = (to, to);
        let width = put.len_utf8();
        if !self.may_write(to - kept + count * width) {
            return;
        }
        for end in places_of(byte, bytes, kept) {
            if !self.may_write(0) {
                return;
            }
            self.text.push_str(&self.old[kept..end]);
            self.text.push(put);
            if let Some(origins) = self.origins {
                self.traced.extend_from_slice(&origins[kept..end]);
                self.traced.extend(repeat_n(origins[end], width));
            }
            kept = end + 1;
        }
        self.text.push_str(&self.old[kept..to]);
        if let Some(origins) = self.origins {
            self.traced.extend_from_slice(&origins[kept..to]);
        }
    }

    /// Keeps the old text up to `to`, which begins with `first`, with a mark in front, by the rules of a mark that takes the place
    /// of `first` and of `first` being inserted then.
    #[inline]
    pub(crate) fn keep_marked(&mut self, mark: char, first: char, to: usize) {
        self.flush();
        let range = self.at..to;
        (self.at, self.from) = (to, to);
        if !self.may_write(mark.len_utf8() + range.len()) {
            return;
        }
        self.text.push(mark);
        self.text.push_str(&self.old[range.clone()]);
        if let Some(origins) = self.origins.and_then(|origins| origins.get(range)) {
            let (of_first, rest) = origins.split_at(first.len_utf8());
            let (start, end) = (of_first[0], of_first[of_first.len() - 1]);
            self.traced.extend(repeat_n(start, mark.len_utf8()).chain(of_first.iter().map(|_| end)));
            self.traced.extend_from_slice(rest);
        }
    }

    /// Inserts text with the origin of the last byte that is done.
    #[inline]
    pub(crate) fn insert(&mut self, text: &str) {
        self.flush();
        if !self.may_write(text.len()) {
            return;
        }
        self.text.push_str(text);
        if let Some(origins) = self.origins {
            let origin = self.at.checked_sub(1).and_then(|before| origins.get(before)).copied().unwrap_or_default();
            self.traced.extend(repeat_n(origin, text.len()));
        }
    }

    /// Inserts a character as [`Edit::insert`] does.
    #[inline]
    pub(crate) fn insert_char(&mut self, character: char) {
        self.insert(character.encode_utf8(&mut [0; 4]));
    }

    /// Puts characters of ASCII in the place of the old text up to `to`, which is ASCII too: the image of each byte.
    #[inline]
    pub(crate) fn put_images(&mut self, to: usize, image: impl Fn(u8) -> u8) {
        self.flush();
        let range = self.at..to;
        (self.at, self.from) = (to, to);
        if !self.may_write(if self.text.is_empty() { self.old.len() } else { range.len() }) {
            return;
        }
        let mut images = [0; AT_ONCE];
        for part in self.old.as_bytes()[range.clone()].chunks(AT_ONCE) {
            let images = &mut images[..part.len()];
            for (made, &byte) in images.iter_mut().zip(part) {
                *made = image(byte);
            }
            // Never empty: ASCII is UTF-8.
            self.text.push_str(std::str::from_utf8(images).unwrap_or_default());
        }
        if let Some(origins) = self.origins {
            self.traced.extend_from_slice(&origins[range]);
        }
    }

    /// Changes the old text up to `to`, in the form of `tokenizers`: a character and 1 if it is inserted, 0 if it takes the
    /// place of the next one, less if it takes also the place of so many more.
    pub(crate) fn transform(&mut self, changes: impl Iterator<Item = (char, isize)>, to: usize) {
        for (character, change) in changes {
            if !self.fits() {
                break;
            }
            self.change(character, change);
        }
        self.skip(to);
    }

    /// Applies one such change.
    #[inline]
    pub(crate) fn change(&mut self, character: char, change: isize) {
        if change > 0 {
            return self.insert_char(character);
        }
        let mut rest = self.old[self.at..].chars();
        for _ in change..=0 {
            rest.next();
        }
        self.put(character, self.old.len() - rest.as_str().len());
    }

    /// Whether origins are kept.
    pub(crate) fn is_traced(&self) -> bool {
        self.origins.is_some()
    }

    /// A copy of the old text, to be changed by itself.
    ///
    /// # Errors
    /// `Memory`.
    pub(crate) fn copy_of_old(&self) -> Result<Aligned> {
        let origins = self.origins.map(|origins| memory::collect(origins.iter().copied())).transpose()?;
        Ok(Aligned { text: memory::copy(self.old)?, origins, original_len: self.old.len() })
    }

    /// Takes a text, with its origins, for all of the old one.
    pub(crate) fn take_all(&mut self, text: Aligned) {
        self.text = text.text;
        self.traced = text.origins.unwrap_or_default();
        self.at = self.old.len();
        self.from = self.at;
    }

    /// The new text; None if it is the old one.
    ///
    /// # Errors
    /// Those of [`Edit::check`]: what was kept last is copied only now.
    pub(crate) fn finish(mut self) -> Result<Option<(String, Option<Vec<Origin>>)>> {
        if self.from == 0 && self.text.is_empty() && self.at == self.old.len() {
            return self.check().map(|()| None);
        }
        self.flush();
        self.check()?;
        Ok(Some((self.text, self.origins.map(|_| self.traced))))
    }

    /// The new text; borrowed if it is the old one.
    ///
    /// # Errors
    /// As [`Edit::finish`].
    pub(crate) fn into_text(self) -> Result<Cow<'a, str>> {
        let old = self.old;
        Ok(self.finish()?.map_or(Cow::Borrowed(old), |(text, _)| Cow::Owned(text)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn kept_replaced_inserted_and_removed_bytes_have_the_origins_of_the_rules() {
        let mut text = Aligned::traced("aé日b").unwrap();
        text.rewrite(|edit| {
            edit.insert("<");
            edit.keep(1);
            edit.put('E', 3);
            edit.insert("^");
            edit.skip(6);
            edit.insert("!");
            edit.keep(7);
            Ok(())
        })
        .unwrap();
        assert_eq!(text.text(), "<aE^!b");
        assert_eq!(text.origins().unwrap(), [(0, 0), (0, 1), (1, 3), (1, 3), (3, 6), (6, 7)]);
        assert_eq!(
            (text.original(1..3), text.original(4..4), text.original(6..6)),
            (Some(0..3), Some(3..3), Some(7..7))
        );
        assert_eq!((text.original(5..9), Aligned::plain("a").original(0..1)), (None, None));
    }

    #[test]
    fn what_keeps_everything_copies_nothing_and_what_removes_everything_is_empty() {
        for text in ["", "abc"] {
            let mut edit = Edit::new(text, None, 9);
            edit.keep(text.len());
            assert_eq!(edit.finish().unwrap(), None);
        }
        let mut edit = Edit::new("abc", None, 9);
        edit.skip(3);
        assert_eq!(edit.finish().unwrap(), Some((String::new(), None)));
    }
}
