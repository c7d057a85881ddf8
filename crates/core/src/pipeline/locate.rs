//! Ids with their places in the original text, through every stage.
//!
//! Each byte of a text that a step changed knows where it came from ([`crate::normalize::aligned`]), and so does a token. So trust
//! depends on places: text of a chat template may become control tokens, text of a user inside it may not.

use std::ops::Range;

use crate::encode::Borrowed;
use crate::error::Result;
use crate::interrupt::{self, Checks};
use crate::memory::Room;
use crate::model::{Token, WordModel};
use crate::normalize::Aligned;
use crate::pipeline::Tokenizer;
use crate::pre_tokenize::PreTokenized;
use crate::segment::{Policy, Treat, Visit, each_found, each_part};
use crate::split::added::{AddedToken, Matcher};

/// An id and its source.
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
    /// Its text, as normalized, where that is not what the token is spelled: of added tokens that take white
    /// space, and of the unknown token of a Unigram model.
    pub surface: Option<Box<str>>,
}

impl Tokenizer {
    /// The ids of a text with their places, in order.
    ///
    /// A token that covers a part of a character has the place of the whole character; one without a source in the text
    /// has an empty place. Time: some times that of encoding; memory: eight bytes for each byte between two added
    /// tokens.
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
        self.locate_admitted(text, Admitted::By(policy))
    }

    /// As [`Tokenizer::locate`], where only parts of the text may hold added tokens: each lies in one of the ranges of
    /// `trusted`, which are in bytes, in order, and apart from one another. Elsewhere, and across the end of a range, what
    /// looks like one is text like any other. White space may be a token anywhere, for it controls nothing.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], but for `SpecialToken`.
    pub fn locate_trusted(&self, text: &str, trusted: &[Range<usize>]) -> Result<Vec<Located>> {
        self.locate_admitted(text, Admitted::In(trusted))
    }

    /// The added tokens of a text: their ids, and places in bytes; with `trusted` those of [`Tokenizer::locate_trusted`].
    ///
    /// # Errors
    /// `Pattern`, if a pattern of a normalizer exceeds its step budget.
    pub fn added_in(&self, text: &str, trusted: Option<&[Range<usize>]>) -> Result<Vec<(u32, Range<usize>)>> {
        let admitted = trusted.map_or(Admitted::By(ALL), Admitted::In);
        let segmenter = self.segmenter();
        let inner = segmenter.normalized_matcher(ALL);
        let mut all = Vec::new();
        admitted.each(segmenter.matcher(ALL), text, Clone::clone, |part, range| {
            if let Some(token) = part {
                all.push((token.id, range));
                return Ok(());
            }
            if inner.is_none() {
                return Ok(());
            }
            let base = range.start;
            let mut stretch = Aligned::traced(&text[range])?;
            segmenter.normalize(&mut stretch)?;
            admitted.each(
                inner,
                stretch.text(),
                |range| original(&stretch, range.clone(), base),
                |part, range| {
                    all.extend(part.map(|token| (token.id, original(&stretch, range, base))));
                    Ok(())
                },
            )
        })?;
        Ok(all)
    }

    fn locate_admitted(&self, text: &str, admitted: Admitted) -> Result<Vec<Located>> {
        let segmenter = self.segmenter();
        let borrowed = self.model().borrow();
        let mut locating = Locating {
            tokenizer: self,
            admitted,
            borrowed,
            found: Vec::new(),
            word: 0,
            located: Vec::new(),
            checks: Checks::default(),
        };
        admitted
            .each(segmenter.matcher(admitted.policy()), text, Clone::clone, |part, range| match part {
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

const ALL: Policy = Policy { special: Treat::Match, added: Treat::Match };

/// The added tokens that are matched.
#[derive(Clone, Copy)]
enum Admitted<'t> {
    By(Policy<'t>),
    /// Those in these ranges of the original text.
    In(&'t [Range<usize>]),
}

impl<'t> Admitted<'t> {
    fn policy(self) -> Policy<'t> {
        match self {
            Self::By(policy) => policy,
            Self::In(_) => ALL,
        }
    }

    /// As [`each_part`], for a text whose ranges `origin` maps to the original text.
    fn each(
        self,
        matcher: Option<&Matcher>,
        text: &str,
        origin: impl Fn(&Range<usize>) -> Range<usize>,
        visit: impl FnMut(Option<&AddedToken>, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let trusted = match self {
            Self::By(policy) => return each_part(matcher, text, policy, visit),
            Self::In(trusted) => trusted,
        };
        let admits = |token: &AddedToken, range: Range<usize>| {
            let origin = origin(&range);
            let first = trusted.partition_point(|trusted| trusted.end < origin.end);
            is_white(&token.content) || trusted.get(first).is_some_and(|trusted| trusted.start <= origin.start)
        };
        let found = matcher
            .into_iter()
            .flat_map(|matcher| matcher.find_admitted(text, &admits).map(|found| (matcher.token(found.token), found)));
        each_found(found, text, visit)
    }
}

/// Whether an added token is only white space, as in vocabularies with tokens for runs; U+2581 represents a space.
#[must_use]
pub fn is_white(content: &str) -> bool {
    content.chars().all(|character| character.is_whitespace() || character == '\u{2581}')
}

/// Where a range of a stretch, which starts at `base`, is from.
fn original(stretch: &Aligned, range: Range<usize>, base: usize) -> Range<usize> {
    let origin = stretch.original(range).unwrap_or_default();
    base + origin.start..base + origin.end
}

struct Locating<'t> {
    tokenizer: &'t Tokenizer,
    admitted: Admitted<'t>,
    borrowed: Borrowed<'t>,
    /// The tokens of one piece.
    found: Vec<Token>,
    word: u32,
    located: Vec<Located>,
    checks: Checks,
}

impl Locating<'_> {
    fn added(&mut self, token: &AddedToken, surface: &str, range: Range<usize>) {
        let surface = (surface != token.content).then(|| surface.into());
        self.located.push(Located { id: token.id, start: range.start, end: range.end, word: self.word, surface });
        self.word += 1;
    }

    /// The stretch that starts at `base`.
    fn between(&mut self, stretch: &str, base: usize) -> Result<()> {
        let (tokenizer, admitted) = (self.tokenizer, self.admitted);
        let segmenter = tokenizer.segmenter();
        let mut text = Aligned::traced(stretch)?;
        segmenter.normalize(&mut text)?;
        let matcher = segmenter.normalized_matcher(admitted.policy());
        admitted.each(
            matcher,
            text.text(),
            |range| original(&text, range.clone(), base),
            |part, range| {
                if let Some(token) = part {
                    self.added(token, &text.text()[range.clone()], original(&text, range, base));
                    return Ok(());
                }
                let at_start = base == 0 && text.starts_original(range.start);
                self.pieces(&segmenter.pre_tokenize(text.part(range)?, at_start)?, base)
            },
        )
    }

    fn pieces(&mut self, cut: &PreTokenized, base: usize) -> Result<()> {
        let text = cut.text.text();
        let bytes_are_tokens = self.tokenizer.is_byte_level();
        let unknown = match self.tokenizer.model().words() {
            Some(words @ WordModel::Unigram(_)) => words.unk_id(),
            // In sentencepiece each model has them, in tokenizers a Unigram alone.
            Some(words @ WordModel::Bpe(_)) if self.tokenizer.segmenter().is_of_sentencepiece() => words.unk_id(),
            _ => None,
        };
        let patterns = self.tokenizer.segmenter().patterns();
        for piece in &cut.pieces {
            interrupt::check()?;
            let (base_word, at) = (self.word, piece.start as u32);
            let (located, checks) = (&mut self.located, &mut self.checks);
            let mut place = |token: Token, piece: u32| {
                let range = (at + token.start) as usize..(at + token.end) as usize;
                let surface = unknown.filter(|&id| id == token.id).and_then(|_| text.get(range.clone())).map(Box::from);
                let origin = cut.text.original(range).unwrap_or_default();
                let (start, end) = (base + origin.start, base + origin.end);
                // Where a model of characters is cut by a pattern, that is for speed alone.
                let word = base_word + if bytes_are_tokens { piece } else { 0 };
                located.room(1)?;
                located.push(Located { id: token.id, start, end, word, surface });
                checks.check()
            };
            let inside = &text[piece.clone()];
            let pieces = if let Some(pieces) = self.borrowed.all_tokens(inside, patterns, &mut place)? {
                pieces
            } else if patterns.is_empty() {
                self.found.clear();
                self.borrowed.tokens(inside, &mut self.found)?;
                for &token in &self.found {
                    place(token, 0)?;
                }
                1
            } else {
                let mut tokens = Tokens { borrowed: &mut self.borrowed, at: 0, piece: 0, found: Vec::new() };
                self.tokenizer.segmenter().walk_patterns(inside, &mut tokens)?;
                for (token, piece) in tokens.found {
                    place(token, piece)?;
                }
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
        self.found.room(tokens.len())?;
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
