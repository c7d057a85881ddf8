//! Ids with their places in the original text, through every stage.
//!
//! Each byte of a text that a step changed knows where it came from ([`crate::aligned`]), and so does a token.

use std::ops::Range;

use crate::aligned::Aligned;
use crate::error::Result;
use crate::model::{Token, WordModel};
use crate::pipeline::Tokenizer;
use crate::segment::{Policy, Visit, each_part};
use crate::split::added::AddedToken;
use crate::split::pre::PreTokenized;

/// An id, and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The id.
    pub id: u32,
    /// Where its text starts in the original, in bytes: at a character.
    pub start: usize,
    /// Where its text ends.
    pub end: usize,
    /// The number of the piece or of the added token that it belongs to.
    pub word: u32,
    /// What it stands for, as normalized, where that is not what the token is spelled: of added tokens that take white
    /// space, and of the unknown token of a Unigram model.
    pub surface: Option<Box<str>>,
}

impl Tokenizer {
    /// The ids of a text with their places, in order.
    ///
    /// A token that covers a part of a character has the place of the whole character; one that stands for nothing in the
    /// text has an empty place. Time: some times that of encoding; memory: eight bytes for each byte between two added tokens.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    ///
    /// ```
    /// use bytepair_core::pipeline::{Parts, Tokenizer};
    /// use bytepair_core::segment::Policy;
    /// use bytepair_core::vocab::{Semantics, Vocab};
    /// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 2], Semantics::Ranks)?;
    /// let located = Tokenizer::new(Parts::of(vocab))?.locate("aab", Policy::default())?;
    /// let places: Vec<_> = located.iter().map(|token| (token.id, token.start, token.end)).collect();
    /// assert_eq!(places, [(0, 0, 1), (2, 1, 3)]);
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn locate(&self, text: &str, policy: Policy) -> Result<Vec<Located>> {
        let segmenter = self.segmenter();
        let mut locating = Locating { tokenizer: self, policy, word: 0, located: Vec::new() };
        each_part(segmenter.matcher(policy), text, policy, |part, range| match part {
            Some(token) => {
                locating.added(token, &text[range.clone()], range);
                Ok(())
            }
            None => locating.between(&text[range.clone()], range.start),
        })
        .map_err(|error| error.placed(text))?;
        Ok(locating.located)
    }
}

struct Locating<'t> {
    tokenizer: &'t Tokenizer,
    policy: Policy<'t>,
    word: u32,
    located: Vec<Located>,
}

impl Locating<'_> {
    fn added(&mut self, token: &AddedToken, taken: &str, range: Range<usize>) {
        let surface = (taken != token.content).then(|| taken.into());
        self.located.push(Located { id: token.id, start: range.start, end: range.end, word: self.word, surface });
        self.word += 1;
    }

    /// The stretch that starts at `base`.
    fn between(&mut self, stretch: &str, base: usize) -> Result<()> {
        let (tokenizer, policy) = (self.tokenizer, self.policy);
        let segmenter = tokenizer.segmenter();
        let mut text = Aligned::traced(stretch)?;
        segmenter.normalize(&mut text)?;
        each_part(segmenter.normalized_matcher(policy), text.text(), policy, |part, range| match part {
            Some(token) => {
                let origin = text.original(range.clone()).unwrap_or_default();
                self.added(token, &text.text()[range], base + origin.start..base + origin.end);
                Ok(())
            }
            None => {
                let at_start = base == 0 && text.original(range.clone()).is_some_and(|origin| origin.start == 0);
                self.pieces(&segmenter.pre_tokenize(text.part(range), at_start)?, base)
            }
        })
    }

    fn pieces(&mut self, cut: &PreTokenized, base: usize) -> Result<()> {
        let text = cut.text.text();
        let bytes_are_tokens = self.tokenizer.is_byte_level();
        let unknown = match self.tokenizer.model().words() {
            Some(words @ WordModel::Unigram(_)) => words.unk_id(),
            _ => None,
        };
        for piece in &cut.pieces {
            let mut tokens = Tokens { tokenizer: self.tokenizer, at: piece.start, piece: 0, found: Vec::new() };
            self.tokenizer.segmenter().walk_patterns(&text[piece.clone()], &mut tokens)?;
            // Where a model of characters is cut by a pattern, that is for speed alone.
            let word = |piece| if bytes_are_tokens { piece } else { 0 };
            for (token, piece) in &tokens.found {
                let range = token.start as usize..token.end as usize;
                let surface = unknown.filter(|&id| id == token.id).and_then(|_| text.get(range.clone())).map(Box::from);
                let origin = cut.text.original(range).unwrap_or_default();
                let (start, end) = (base + origin.start, base + origin.end);
                self.located.push(Located { id: token.id, start, end, word: self.word + word(*piece), surface });
            }
            self.word += if bytes_are_tokens { tokens.piece } else { 1 };
        }
        Ok(())
    }
}

/// The tokens of pieces that follow one another, and the number of the piece of each.
struct Tokens<'t> {
    tokenizer: &'t Tokenizer,
    at: usize,
    piece: u32,
    found: Vec<(Token, u32)>,
}

impl Visit for Tokens<'_> {
    fn piece(&mut self, piece: &str) -> Result<()> {
        let mut tokens = Vec::new();
        self.tokenizer.model().tokens(piece, &mut tokens)?;
        let at = self.at as u32;
        let placed = |token: Token| (Token { start: token.start + at, end: token.end + at, ..token }, self.piece);
        self.found.extend(tokens.into_iter().map(placed));
        self.at += piece.len();
        self.piece += 1;
        Ok(())
    }

    fn added(&mut self, _: &AddedToken, _: &str) -> Result<()> {
        Ok(())
    }
}
