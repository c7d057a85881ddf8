//! Ids with their places in the original text, through every stage.
//!
//! Each byte of a text that a step changed knows where it came from ([`crate::aligned`]), and so does a token.

use std::ops::Range;

use crate::aligned::Aligned;
use crate::encode::Borrowed;
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
        let borrowed = self.model().borrow();
        let mut locating =
            Locating { tokenizer: self, policy, borrowed, found: Vec::new(), word: 0, located: Vec::new() };
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
    borrowed: Borrowed<'t>,
    /// The tokens of one piece.
    found: Vec<Token>,
    word: u32,
    located: Vec<Located>,
}

impl Locating<'_> {
    fn added(&mut self, token: &AddedToken, surface: &str, range: Range<usize>) {
        let surface = (surface != token.content).then(|| surface.into());
        self.located.push(Located { id: token.id, start: range.start, end: range.end, word: self.word, surface });
        self.word += 1;
    }

    /// The stretch that starts at `base`.
    fn between(&mut self, stretch: &str, base: usize) -> Result<()> {
        let (tokenizer, policy) = (self.tokenizer, self.policy);
        let segmenter = tokenizer.segmenter();
        let mut text = Aligned::traced(stretch)?;
        segmenter.normalize(&mut text)?;
        each_part(segmenter.normalized_matcher(policy), text.text(), policy, |part, range| {
            if let Some(token) = part {
                let origin = text.original(range.clone()).unwrap_or_default();
                self.added(token, &text.text()[range], base + origin.start..base + origin.end);
                return Ok(());
            }
            let at_start = base == 0 && text.starts_original(range.start);
            self.pieces(&segmenter.pre_tokenize(text.part(range), at_start)?, base)
        })
    }

    fn pieces(&mut self, cut: &PreTokenized, base: usize) -> Result<()> {
        let text = cut.text.text();
        let bytes_are_tokens = self.tokenizer.is_byte_level();
        let unknown = match self.tokenizer.model().words() {
            Some(words @ WordModel::Unigram(_)) => words.unk_id(),
            _ => None,
        };
        let patterns = self.tokenizer.segmenter().patterns();
        for piece in &cut.pieces {
            let (base_word, at) = (self.word, piece.start as u32);
            let located = &mut self.located;
            let mut place = |token: Token, piece: u32| {
                let range = (at + token.start) as usize..(at + token.end) as usize;
                let surface = unknown.filter(|&id| id == token.id).and_then(|_| text.get(range.clone())).map(Box::from);
                let origin = cut.text.original(range).unwrap_or_default();
                let (start, end) = (base + origin.start, base + origin.end);
                // Where a model of characters is cut by a pattern, that is for speed alone.
                let word = base_word + if bytes_are_tokens { piece } else { 0 };
                located.push(Located { id: token.id, start, end, word, surface });
            };
            let inside = &text[piece.clone()];
            let pieces = if let Some(pieces) = self.borrowed.all_tokens(inside, patterns, &mut place)? {
                pieces
            } else if patterns.is_empty() {
                self.found.clear();
                self.borrowed.tokens(inside, &mut self.found)?;
                self.found.iter().for_each(|&token| place(token, 0));
                1
            } else {
                let mut tokens = Tokens { borrowed: &mut self.borrowed, at: 0, piece: 0, found: Vec::new() };
                self.tokenizer.segmenter().walk_patterns(inside, &mut tokens)?;
                tokens.found.into_iter().for_each(|(token, piece)| place(token, piece));
                tokens.piece
            };
            self.word += if bytes_are_tokens { pieces } else { 1 };
        }
        Ok(())
    }
}

/// The tokens of pieces that follow one another, and the number of the piece of each.
struct Tokens<'b, 't> {
    borrowed: &'b mut Borrowed<'t>,
    at: usize,
    piece: u32,
    found: Vec<(Token, u32)>,
}

impl Visit for Tokens<'_, '_> {
    fn piece(&mut self, piece: &str) -> Result<()> {
        let at = self.at as u32;
        let mut tokens = Vec::new();
        self.borrowed.tokens(piece, &mut tokens)?;
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
