//! Models of characters: BPE with a token for each byte, in which U+2581 stands for a space (Llama 2, Mistral, Gemma).
//!
//! Such a model merges characters as a vocabulary over bytes merges bytes (`model::on_bytes`). Two things differ. The bytes of a
//! character that is no token are tokens of their own, which merge with nothing. And tokens have U+2581 where the text has a
//! space; there may be one more of them in front. Here, bytes are those of the text, with the space in front.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use crate::error::Result;
use crate::memory;
use crate::model::WordModel;
use crate::normalize::Normalizer;
use crate::pipeline::Tokenizer;
use crate::vocab::Vocab;

/// The character that tokens have in place of a space.
pub(super) const MARK: &str = "\u{2581}";

/// Where a text gets a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Front {
    /// Nowhere.
    None,
    /// In front of every text that is not empty.
    Always,
    /// The same, unless a space is there.
    IfNone,
    /// The same, but not behind an added token.
    IfNoneAtStart,
}

/// How a model of characters spells texts.
pub(super) struct Spelling {
    front: Front,
    /// The characters that are tokens: no bytes stand for them.
    known: FxHashSet<char>,
    /// The vocabulary with merges out of turn, if the tokenizer's own one leaves these to another encoder.
    pub(super) vocab: Option<Vocab>,
}

impl Spelling {
    /// That of a tokenizer whose tokens are spelled in characters; None if it is not of this kind.
    ///
    /// # Errors
    /// Those of compiling the vocabulary.
    pub(super) fn new(tokenizer: &Tokenizer) -> Result<Option<Self>> {
        let Some(front) = front(tokenizer) else { return Ok(None) };
        let vocab = match tokenizer.model().words().filter(|_| tokenizer.model().has_hazards()) {
            Some(words) => words.on_bytes_with_all_merges()?.map(|model| model.vocab),
            None => None,
        };
        let tokens = vocab.as_ref().unwrap_or(tokenizer.vocab());
        let only = |index| {
            let mut characters = std::str::from_utf8(tokens.token_at(index)).ok()?.chars();
            characters.next().filter(|_| characters.next().is_none())
        };
        let known = (0..tokens.len()).filter(|&index| !tokens.is_beginning(index)).filter_map(only);
        let known = memory::collect(known)?.into_iter().collect();
        Ok(Some(Self { front, known, vocab }))
    }

    /// Whether bytes may stand for a character.
    pub(super) fn is_unknown(&self, character: char) -> bool {
        !self.known.contains(&character)
    }

    /// How many bytes a text has at least that is not empty; the first one is a space, if there are any.
    pub(super) fn least(&self) -> u8 {
        match self.front {
            Front::None => 0,
            Front::Always => 2,
            Front::IfNone | Front::IfNoneAtStart => 1,
        }
    }

    /// Whether a text behind an added token gets no space.
    pub(super) fn is_bare_behind_added(&self) -> bool {
        self.front == Front::IfNoneAtStart
    }

    /// A text with the space in front; U+2581 becomes a space, as which it is encoded.
    pub(super) fn text(&self, text: &[u8]) -> Vec<u8> {
        let spaced = spaced(text);
        let has_space = match self.front {
            Front::None => true,
            Front::Always => false,
            Front::IfNone | Front::IfNoneAtStart => spaced.starts_with(b" "),
        };
        if has_space || text.is_empty() { spaced.into_owned() } else { [b" ", &*spaced].concat() }
    }
}

/// A token of a vocabulary over bytes that stands for a part of a character, and merges with nothing.
pub(super) fn is_part(token: &[u8]) -> bool {
    matches!(token, [0x80..=0xFF])
}

/// Bytes with a space for each U+2581.
pub(super) fn spaced(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut marks = memchr::memmem::find_iter(bytes, MARK).peekable();
    if marks.peek().is_none() {
        return Cow::Borrowed(bytes);
    }
    let (mut spaced, mut from) = (Vec::with_capacity(bytes.len()), 0);
    for mark in marks {
        spaced.extend_from_slice(&bytes[from..mark]);
        spaced.push(b' ');
        from = mark + MARK.len();
    }
    spaced.extend_from_slice(&bytes[from..]);
    Cow::Owned(spaced)
}

/// Where texts get a space, if nothing else is done to them but to put U+2581 in the place of each space.
fn front(tokenizer: &Tokenizer) -> Option<Front> {
    if !matches!(tokenizer.model().words(), Some(WordModel::Bpe(_))) || tokenizer.vocab().is_empty() {
        return None;
    }
    let steps = tokenizer.segmenter().steps();
    let (mut replaced, mut prepended) = (0, 0);
    for normalizer in &steps.normalizers {
        match normalizer {
            Normalizer::Replace(replace) if replace.character() == Some((b' ', '\u{2581}')) => replaced += 1,
            Normalizer::Prepend(text) if **text == *MARK => prepended += 1,
            _ => return None,
        }
    }
    if steps.prefix_space || prepended > 1 {
        return None;
    }
    match &steps.pre_tokenizers[..] {
        [metaspace] if replaced == 0 && prepended == 0 => {
            let metaspace = metaspace.metaspace().filter(|step| !step.split && step.replacement == '\u{2581}')?;
            Some(match (metaspace.prepends(), metaspace.is_first()) {
                (false, _) => Front::None,
                (true, false) => Front::IfNone,
                (true, true) => Front::IfNoneAtStart,
            })
        }
        // No space is left to cut at.
        steps if replaced > 0 && steps.iter().all(|step| step.text() == Some(b" ")) => {
            Some(if prepended == 1 { Front::Always } else { Front::None })
        }
        _ => None,
    }
}
