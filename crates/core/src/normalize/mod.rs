//! Text -> text, before it is split.
//!
//! Each normalizer is one pass over a text, written once: it writes the changed text and, on request, the origins of its
//! bytes (see [`Aligned`]).

pub(crate) mod aligned;
mod bert;
mod blanks;
mod byte_level;
pub(crate) mod categories;
mod charsmap;
mod clusters;
mod edges;
mod formed;
mod forms;
pub(crate) mod joined;
mod joins;
mod parse;
mod precompiled;
mod replace;
mod rules;
pub mod sentencepiece;
mod simple;
mod spans;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use self::aligned::Edit;
pub(crate) use self::aligned::most_bytes;
pub use self::aligned::{Aligned, Origin};
pub use self::bert::Bert;
pub(crate) use self::byte_level::spell;
pub(crate) use self::formed::Tail;
use self::joined::Joined;
pub(crate) use self::parse::parsed;
pub use self::precompiled::Precompiled;
pub use self::replace::Replace;
use crate::edge::Edge;
use crate::error::{Error, Kind, Result};

/// One normalizer; to copy one costs nothing that grows.
#[derive(Clone, Debug)]
pub enum Normalizer {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
    /// Small letters, each character by itself.
    Lowercase,
    /// No white space at the ends.
    Strip {
        /// At the beginning.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// No combining marks.
    StripAccents,
    /// Another text for each match of a pattern.
    Replace(Arc<Replace>),
    /// A text before the first character, if there is one.
    Prepend(Arc<str>),
    /// The normalization of BERT.
    Bert(Bert),
    /// Spaces for other white space, and no control characters: the rules of neural machine translation.
    Nmt,
    /// The table of a SentencePiece model.
    Precompiled(Arc<Precompiled>),
    /// The table of a SentencePiece model as that library applies it, and the model's treatment of white space.
    SentencePiece(Arc<sentencepiece::SentencePiece>),
    /// A printable character for each byte.
    ByteLevel,
}

impl Normalizer {
    /// The normalized text; borrowed if nothing changed. If a pattern exceeds its step budget, the rest stays unchanged;
    /// [`Normalizer::try_apply`] reports it.
    ///
    /// ```
    /// use bytepair_core::normalize::Normalizer;
    /// assert_eq!(Normalizer::Nfc.apply("e\u{301}"), "é");
    /// let spaces = Normalizer::parse(r#"{"type":"Replace","pattern":{"String":" "},"content":"▁"}"#)?;
    /// assert_eq!(spaces.apply("a b"), "a▁b");
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    #[must_use]
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut edit = Edit::new(text, None, most_bytes(text.len()));
        if self.run(&mut edit).is_err() {
            edit.keep(text.len());
        }
        edit.into_text().unwrap_or(Cow::Borrowed(text))
    }

    /// The normalized text; borrowed if nothing changed.
    ///
    /// # Errors
    /// `Pattern`, if the pattern of a replacement exceeds its step budget; `Encode`, if the text becomes more than 32 times as long.
    pub fn try_apply<'t>(&self, text: &'t str) -> Result<Cow<'t, str>> {
        self.apply_within(text, most_bytes(text.len()))
    }

    fn apply_within<'t>(&self, text: &'t str, most: usize) -> Result<Cow<'t, str>> {
        // A character of four bytes in the place of one is well within.
        let mut new = Joined::default();
        if let Self::Replace(replace) = self
            && let Some(is_changed) = replace.characters(text, &mut new)?
        {
            return Ok(if is_changed { Cow::Owned(new.into_text()) } else { Cow::Borrowed(text) });
        }
        let mut edit = Edit::new(text, None, most).asking();
        self.run(&mut edit)?;
        edit.into_text()
    }

    /// Normalizes a text that knows where its bytes came from.
    ///
    /// # Errors
    /// As [`Normalizer::try_apply`], by the length of the original text.
    pub fn apply_aligned(&self, text: &mut Aligned) -> Result<()> {
        text.rewrite(|edit| self.run(edit))
    }

    /// Whether the first character always comes from the first one of the original text.
    pub(crate) fn keeps_start(&self) -> bool {
        match self {
            Self::Nfc | Self::Nfd | Self::Nfkc | Self::Nfkd | Self::Lowercase | Self::ByteLevel => true,
            Self::Strip { left, .. } => !left,
            Self::Prepend(content) => !content.is_empty(),
            Self::Replace(replace) => replace.keeps_start(),
            Self::Bert(bert) => !bert.clean_text && !bert.strips(),
            Self::SentencePiece(model) => model.keeps_start(),
            Self::StripAccents | Self::Nmt | Self::Precompiled(_) => false,
        }
    }

    /// Whether text of ASCII stays as it is, whatever of ASCII is beside it.
    pub(crate) fn keeps_ascii(&self) -> bool {
        matches!(self, Self::Nfc | Self::Nfd | Self::Nfkc | Self::Nfkd | Self::StripAccents)
    }

    /// Whether each part of a text that stays as it is stays as it is.
    pub(crate) fn parts_stay(&self) -> bool {
        self.is_form() || self.is_of_characters() || matches!(self, Self::Lowercase | Self::StripAccents)
    }

    /// Whether it puts one character in the place of another one, wherever that stands, and does nothing else.
    pub(crate) fn is_of_characters(&self) -> bool {
        matches!(self, Self::Replace(replace) if replace.is_of_characters())
    }

    /// The normalized text, borrowed if nothing changed, if it has as many characters as the original between any two places
    /// that are cuts; None where that is not known.
    pub(crate) fn one_for_one<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        if let Self::SentencePiece(model) = self {
            return model.one_for_one(text).map(Cow::Owned);
        }
        let new = self.try_apply(text).ok()?;
        (matches!(new, Cow::Borrowed(_)) || self.is_of_characters()).then_some(new)
    }

    /// The ranges of a text that a normal form may change.
    pub(crate) fn may_change(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        forms::may_change(self, text)
    }

    /// Whether it is a normal form of Unicode, which most texts already have.
    pub(crate) fn is_form(&self) -> bool {
        matches!(self, Self::Nfc | Self::Nfd | Self::Nfkc | Self::Nfkd)
    }

    /// The normalizer of a text that goes on where another one of the same stretch ended: without what this one does at the
    /// start of a text. None if it does nothing else.
    pub(crate) fn going_on(&self) -> Option<Self> {
        match self {
            Self::Prepend(_) | Self::Strip { left: _, right: false } => None,
            Self::Strip { left: _, right: true } => Some(Self::Strip { left: false, right: true }),
            Self::SentencePiece(model) => Some(Self::SentencePiece(model.going_on())),
            normalizer => Some(normalizer.clone()),
        }
    }

    /// Whether a text that goes on is normalized otherwise than one by itself.
    pub(crate) fn minds_start(&self) -> bool {
        matches!(self, Self::Prepend(_) | Self::Strip { left: true, .. } | Self::SentencePiece(_))
    }

    /// Whether the edge between two characters of ASCII depends on which ones of ASCII come behind them. Where one is a
    /// control character it may do so anyway ([`Normalizer::removes_controls`]).
    pub(crate) fn looks_ahead(&self) -> bool {
        match self {
            Self::Replace(replace) => !replace.is_of_characters(),
            Self::Precompiled(_) => true,
            Self::SentencePiece(model) => model.looks_ahead(),
            _ => false,
        }
    }

    /// Whether ideographs get spaces on both sides.
    pub(crate) fn separates_ideographs(&self) -> bool {
        matches!(self, Self::Bert(bert) if bert.handle_chinese_chars)
    }

    /// Whether control characters are removed, so that what is behind one comes to its place.
    pub(crate) fn removes_controls(&self) -> bool {
        match self {
            Self::Nmt | Self::SentencePiece(_) => true,
            Self::Bert(bert) => bert.clean_text,
            _ => false,
        }
    }

    /// Whether the edge between two characters depends on no others.
    pub(crate) fn is_of_pairs(&self) -> bool {
        match self {
            Self::Replace(replace) => replace.is_of_pairs(),
            Self::Prepend(_) | Self::Lowercase => true,
            _ => false,
        }
    }

    /// Whether [`Normalizer::is_settled`] may hold.
    pub(crate) fn may_settle(&self) -> bool {
        match self {
            Self::Bert(_) | Self::Precompiled(_) | Self::SentencePiece(_) => true,
            normalizer => normalizer.is_form() || normalizer.is_of_pairs(),
        }
    }

    /// Whether the edge before some characters depends on the first of them, and on the one in front of it, alone; unless the
    /// first becomes nothing.
    pub(crate) fn is_settled(&self, right: &[char]) -> bool {
        match self {
            Self::Nfc | Self::Nfd | Self::Nfkc | Self::Nfkd => {
                right.get(1).is_some_and(|&next| forms::settles(self, next))
            }
            Self::Bert(bert) => bert.is_settled(right),
            Self::Precompiled(_) => Precompiled::is_settled(right),
            Self::SentencePiece(model) => model.is_settled(right),
            normalizer => normalizer.is_of_pairs(),
        }
    }

    /// Whether each text that is not empty becomes one that is not.
    pub(crate) fn makes_something(&self) -> bool {
        self.is_form() || self.is_of_pairs() || matches!(self, Self::ByteLevel)
    }

    /// Whether a character becomes something, where [`Normalizer::is_settled`] asks for it.
    pub(crate) fn keeps(&self, character: char) -> bool {
        match self {
            Self::Bert(bert) => bert.keeps(character),
            Self::Precompiled(table) => table.keeps(character),
            Self::SentencePiece(model) => model.keeps(character),
            _ => true,
        }
    }

    /// Whether a text may lose a character if it ends with it.
    pub(crate) fn may_lose(&self, last: char) -> bool {
        match self {
            Self::Strip { right, .. } => *right && last.is_whitespace(),
            Self::SentencePiece(model) => model.drops_blanks() && (last.is_whitespace() || last == '\u{2581}'),
            _ => false,
        }
    }

    /// The edge of the normalized parts, if each text that is cut there becomes what its two parts become: the left one by
    /// this normalizer, the right one, which is not empty, as a text that goes on ([`Normalizer::going_on`]). The same holds
    /// where the left one goes on itself. No part may become too long for [`Normalizer::try_apply`].
    pub(crate) fn edge(&self, edge: &Edge) -> Option<Edge> {
        match self {
            Self::Nfc | Self::Nfd | Self::Nfkc | Self::Nfkd => forms::edge(self, edge),
            Self::Lowercase => simple::lowercase_edge(edge),
            Self::Strip { left, right } => simple::strip_edge(edge, *left, *right),
            Self::StripAccents => simple::strip_accents_edge(edge),
            Self::Replace(replace) => replace.edge(edge),
            // A text gets it unless it is empty.
            Self::Prepend(content) => (content.is_empty() || edge.left.is_some()).then(|| edge.clone()),
            Self::Bert(bert) => bert.edge(edge),
            Self::Nmt => simple::nmt_edge(edge),
            Self::Precompiled(table) => table.edge(edge),
            Self::SentencePiece(model) => model.edge_of(edge),
            Self::ByteLevel => byte_level::edge(edge),
        }
    }

    /// The character that all of a run becomes, if an edge is certainly inside of the run: each part of it becomes the same.
    pub(crate) fn run_becomes(&self, edge: &Edge) -> Option<char> {
        match self {
            Self::Replace(replace) => replace.run_becomes(edge),
            _ => None,
        }
    }

    /// Whether a text loses white space at its end, and has one space of it where it goes on.
    pub(crate) fn loses_blanks(&self) -> bool {
        matches!(self, Self::SentencePiece(model) if model.loses_blanks())
    }

    /// Whether either part of a text that [`Normalizer::loses_blanks`] certainly becomes what it becomes in the whole, and the
    /// right one is not empty then.
    pub(crate) fn is_in_text(&self, edge: &Edge) -> bool {
        match self {
            Self::SentencePiece(model) => model.is_in_text(edge),
            _ => false,
        }
    }

    /// Whether an edge is certainly behind white space that the left part loses, and of which the whole has one space, and the
    /// right part becomes what it becomes behind text, or is lost as well.
    pub(crate) fn resumes(&self, edge: &Edge) -> bool {
        match self {
            Self::SentencePiece(model) => model.resumes(edge),
            _ => false,
        }
    }

    /// The one that a character becomes wherever it is; None if that depends on others, or there is not one.
    pub(crate) fn image(&self, character: char) -> Option<char> {
        if !matches!(self, Self::Lowercase) && !self.is_of_characters() {
            return None;
        }
        let image = self.edge(&Edge::new(Some(character), [character])?)?;
        image.left.filter(|&last| image.right() == [last])
    }

    /// The pass over the text.
    fn run(&self, edit: &mut Edit) -> Result<()> {
        match self {
            Self::Nfc | Self::Nfd | Self::Nfkc | Self::Nfkd => forms::run(self, edit),
            Self::Lowercase => simple::lowercase(edit),
            Self::Strip { left, right } => simple::strip(edit, *left, *right),
            Self::StripAccents => simple::strip_accents(edit),
            Self::Replace(replace) => replace.run(edit)?,
            Self::Prepend(content) => simple::prepend(edit, content),
            Self::Bert(bert) => bert.run(edit)?,
            Self::Nmt => simple::nmt(edit),
            Self::Precompiled(table) => table.run(edit),
            Self::SentencePiece(model) => model.edit(edit)?,
            Self::ByteLevel => byte_level::run(edit),
        }
        edit.check_length()
    }
}

/// All normalizers, one after another; as [`Normalizer::apply`] if a pattern exceeds its budget.
#[must_use]
pub fn apply_all<'t>(normalizers: &[Normalizer], text: &'t str) -> Cow<'t, str> {
    normalizers.iter().fold(Cow::Borrowed(text), |text, normalizer| match text {
        Cow::Borrowed(text) => normalizer.apply(text),
        Cow::Owned(text) => match normalizer.apply(&text) {
            Cow::Owned(new) => Cow::Owned(new),
            Cow::Borrowed(_) => Cow::Owned(text),
        },
    })
}

/// An added token as it is spelled in normalized text. `SentencePiece` looks for its own as they are.
///
/// # Errors
/// `Pattern`, if the pattern of a replacement exceeds its step budget; `Format`, if the token becomes too long.
pub(crate) fn apply_to_added<'t>(normalizers: &[Normalizer], content: &'t str) -> Result<Cow<'t, str>> {
    if normalizers.iter().any(|normalizer| matches!(normalizer, Normalizer::SentencePiece(_))) {
        return Ok(Cow::Borrowed(content));
    }
    try_apply_all(normalizers, content).map_err(of_added)
}

/// The error of normalizing an added token: the tokenizer is at fault, not the text.
pub(crate) fn of_added(error: Error) -> Error {
    match error.kind {
        Kind::Encode => error.but(|error| error.kind = Kind::Format),
        _ => error,
    }
}

/// All normalizers, one after another.
///
/// # Errors
/// `Pattern`, if the pattern of a replacement exceeds its step budget; `Encode`, if the text becomes more than 32 times as long.
pub fn try_apply_all<'t>(normalizers: &[Normalizer], text: &'t str) -> Result<Cow<'t, str>> {
    let most = most_bytes(text.len());
    normalizers.iter().try_fold(Cow::Borrowed(text), |text, normalizer| match text {
        Cow::Borrowed(text) => normalizer.apply_within(text, most),
        Cow::Owned(text) => Ok(match normalizer.apply_within(&text, most)? {
            Cow::Owned(new) => Cow::Owned(new),
            Cow::Borrowed(_) => Cow::Owned(text),
        }),
    })
}

/// The same, in room that serves one text after the other, if all that is done is to put one character in the place of another.
///
/// # Errors
/// As [`try_apply_all`].
pub(crate) fn try_apply_in<'t>(
    normalizers: &[Normalizer],
    text: &'t str,
    room: &'t mut Joined,
) -> Result<Cow<'t, str>> {
    if let [Normalizer::Replace(replace)] = normalizers
        && let Some(is_changed) = replace.characters(text, room)?
    {
        return Ok(Cow::Borrowed(if is_changed { room.text() } else { text }));
    }
    try_apply_all(normalizers, text)
}

#[cfg(test)]
pub(crate) mod tests;
