//! A tokenizer: its stages composed from text to ids, and from ids back to text.
//!
//! Long because it defines a tokenizer for both kinds of tokens, bytes and characters.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use super::character_tokens::CharacterTokens;
use super::cuts::Memo;
use crate::cache::part_counts::PartCounts;
use crate::cache::pool::Pool;
use crate::decode::TextMaker;
use crate::decode::{Decoder, TextDecoder, TokenBytes};
use crate::encode::{Compiled, Encoder, Sink};
use crate::error::{Error, Kind, Result};
use crate::files::Columns;
use crate::files::byte_alphabet::CHARACTERS;
use crate::interrupt;
use crate::memory::{self, Room};
use crate::model::{OnBytes, WordModel};
use crate::normalize;
use crate::pre_tokenize::PreTokenizer;
use crate::segment::{Policy, Segmenter, Steps, Visit};
use crate::split::Pattern;
use crate::split::added::AddedToken;
use crate::units::Units;
use crate::vocab::Vocab;

/// A stretch of input: text from anywhere, or a token that the caller vouches for.
#[derive(Clone, Copy, Debug)]
pub enum Span<'a> {
    /// Text, in which the policy decides how added tokens are treated.
    Text(&'a str),
    /// The same in units of one size.
    Units(Units<'a>),
    /// The added token with this content, under every policy.
    Control(&'a str),
}

impl Span<'_> {
    /// How many bytes of UTF-8 the span has, of units about how many.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Control(text) => text.len(),
            Self::Units(units) => units.about_bytes(),
        }
    }
}

/// The model, which turns pieces into ids.
#[allow(clippy::large_enum_variant, reason = "there is one a tokenizer, and it is moved twice")]
pub enum Model {
    /// Tokens are bytes, and merging begins from bytes.
    Bytes(Vocab),
    /// Tokens are spelled in characters.
    Characters {
        /// By id, as the vocabulary spells them.
        tokens: Columns,
        /// The model that encodes them.
        words: WordModel,
    },
}

impl Model {
    /// A model that is spelled in characters, from its columns and its other settings ([`WordModel::new`]).
    ///
    /// # Errors
    /// `Format`, if they do not make a model.
    pub fn of_characters(
        tokens: &Columns,
        merges: Option<&[(u32, u32)]>,
        scores: Option<&[f64]>,
        options: &str,
    ) -> Result<Self> {
        let spelled: Vec<&[u8]> = tokens.tokens().collect();
        let words = WordModel::new(options, &spelled, &tokens.ids, merges, scores)?;
        Ok(Self::Characters { tokens: tokens.clone(), words })
    }
}

/// Everything that a tokenizer is made of.
pub struct Parts {
    /// Tokens, and how pieces become tokens.
    pub model: Model,
    /// Tokens of a vocabulary of bytes that no text becomes, by id: they are only decoded.
    pub unreachable: Columns,
    /// Added tokens, special ones among them.
    pub added: Vec<AddedToken>,
    /// The steps between added tokens and the model.
    pub steps: Steps,
    /// Decoders for tokens of characters; without any, tokens are joined by spaces.
    pub decoders: Vec<TextDecoder>,
}

impl Parts {
    /// A vocabulary of bytes, and nothing else.
    #[must_use]
    pub fn of(vocab: Vocab) -> Self {
        let model = Model::Bytes(vocab);
        Self { model, unreachable: Columns::default(), added: vec![], steps: Steps::default(), decoders: vec![] }
    }
}

/// An immutable tokenizer: shared by threads, each call given its own options.
pub struct Tokenizer {
    model: Compiled,
    /// The tokens of a model of characters, and what makes text of them.
    spelled: Option<(CharacterTokens, TextMaker)>,
    unreachable: Columns,
    added: Vec<AddedToken>,
    added_by_content: HashMap<String, usize>,
    added_by_id: HashMap<u32, usize>,
    /// Decoder input for added tokens that are matched in normalized text, where it differs from their content.
    added_normalized: HashMap<u32, String>,
    segmenter: Segmenter,
    /// Where text of ASCII may be cut.
    memo: OnceLock<Memo>,
    /// Counts of short parts of texts.
    part_counts: Pool<PartCounts>,
    /// Made when something is decoded first.
    table: OnceLock<TokenBytes>,
}

/// Keeps the text of each segment.
impl Visit for Vec<String> {
    fn piece(&mut self, piece: &str) -> Result<()> {
        interrupt::check()?;
        self.room(1)?;
        self.push(memory::copy(piece)?);
        Ok(())
    }

    fn added(&mut self, _: &AddedToken, text: &str) -> Result<()> {
        self.push(text.to_owned());
        Ok(())
    }
}

impl Tokenizer {
    /// Composes the parts.
    ///
    /// # Errors
    /// `Format`, if an added token is empty, is listed twice, or has the id of another token; if unreachable tokens are not by
    /// id, have the id of another one, or the model is one of characters.
    pub fn new(parts: Parts) -> Result<Self> {
        let Parts { model, unreachable, added, mut steps, decoders } = parts;
        let (model, tokens) = match model {
            Model::Bytes(vocab) => (Compiled::new(vocab), None),
            Model::Characters { tokens, words } => {
                let spells_bytes = steps.pre_tokenizers.last().is_some_and(PreTokenizer::spells_bytes);
                let words = if spells_bytes { words.with_alphabet(&CHARACTERS) } else { words };
                let on_bytes = words.on_bytes()?;
                if let Some(pattern) = on_bytes.as_ref().and_then(OnBytes::wall_pattern) {
                    steps.patterns.push(Pattern::new(&pattern)?);
                }
                (Compiled::of_words(words, on_bytes)?, Some(tokens))
            }
        };
        let spelled = tokens.map(|tokens| (CharacterTokens::new(tokens), TextMaker::new(decoders)));
        let mut added_normalized = HashMap::new();
        for token in added.iter().filter(|token| token.normalized && spelled.is_some()) {
            let normalized = normalize::apply_to_added(&steps.normalizers, &token.content)?;
            if normalized != token.content {
                added_normalized.insert(token.id, normalized.into_owned());
            }
        }
        let mut segmenter = Segmenter::new(&added, steps)?;
        if spelled.is_some() {
            segmenter = segmenter.without_cuts();
        }
        let added_by_content = added.iter().enumerate().map(|(at, token)| (token.content.clone(), at)).collect();
        let added_by_id = added.iter().enumerate().map(|(at, token)| (token.id, at)).collect();
        let (memo, part_counts, table) = (OnceLock::new(), Pool::default(), OnceLock::new());
        let made = Self {
            model,
            spelled,
            unreachable,
            added,
            added_by_content,
            added_by_id,
            added_normalized,
            segmenter,
            memo,
            part_counts,
            table,
        };
        made.check_unreachable()?;
        for token in &made.added {
            if made.own_token(token.id).is_some_and(|bytes| bytes != token.content.as_bytes()) {
                let what = format!("the added token {:?} has id {}, which another token has", token.content, token.id);
                return Err(Error::new(Kind::Format, what).remedy("give it an id of its own"));
            }
        }
        Ok(made)
    }

    fn check_unreachable(&self) -> Result<()> {
        let ids = &self.unreachable.ids;
        let wrong = |what: String| Err(Error::new(Kind::Format, what));
        if !ids.is_sorted_by(|one, next| one < next) || (self.spelled.is_some() && !ids.is_empty()) {
            return wrong("the unreachable tokens are not by id, or the model is one of characters".to_owned());
        }
        match ids.iter().find(|&&id| self.model.vocab.token_bytes(id).is_some()) {
            Some(id) => wrong(format!("id {id} occurs twice, once as an unreachable token")),
            None => Ok(()),
        }
    }

    /// The vocabulary of bytes, without added tokens. Where tokens are spelled in characters it is what does their work on
    /// bytes, or empty.
    #[must_use]
    pub fn vocab(&self) -> &Vocab {
        &self.model.vocab
    }

    /// Whether tokens are bytes, so that decoding joins them.
    #[must_use]
    pub fn is_byte_level(&self) -> bool {
        self.spelled.is_none()
    }

    /// Whether the model knows how probable each way to spell a piece is.
    #[must_use]
    pub fn has_probabilities(&self) -> bool {
        matches!(self.model.words(), Some(WordModel::Unigram(_)))
    }

    /// A token of the model.
    fn own_token(&self, id: u32) -> Option<&[u8]> {
        match &self.spelled {
            Some((spelled, _)) => spelled.token(id),
            None => self.model.vocab.token_bytes(id).or_else(|| {
                let index = self.unreachable.ids.binary_search(&id).ok()?;
                Some(self.unreachable.token(index))
            }),
        }
    }

    /// The tokens that no text becomes, with their ids.
    fn unreachable(&self) -> impl ExactSizeIterator<Item = (u32, &[u8])> {
        self.unreachable.ids.iter().copied().zip(self.unreachable.tokens())
    }

    /// The tokens of the model that text can become, with their ids, by id.
    fn own_tokens(&self) -> Box<dyn ExactSizeIterator<Item = (u32, &[u8])> + '_> {
        let vocab = &self.model.vocab;
        match &self.spelled {
            Some((spelled, _)) => Box::new(spelled.iter()),
            None => Box::new(vocab.ids().iter().copied().enumerate().map(|(at, id)| (id, vocab.token_at(at)))),
        }
    }

    /// The vocabulary with its caches.
    pub(crate) fn model(&self) -> &Compiled {
        &self.model
    }

    /// The stages before the model.
    #[must_use]
    pub fn segmenter(&self) -> &Segmenter {
        &self.segmenter
    }

    /// Where text of ASCII may be cut, as far as that was asked.
    pub(super) fn memo(&self) -> &Memo {
        self.memo.get_or_init(Memo::default)
    }

    /// Counts of short parts of texts, lent for one call.
    pub(crate) fn part_counts(&self) -> &Pool<PartCounts> {
        &self.part_counts
    }

    /// An encoder for one call, or for one worker of it.
    pub(crate) fn encoder<'a, S: Sink>(&'a self, sink: &'a mut S, stop: Option<&'a AtomicBool>) -> Encoder<'a, S> {
        let mut encoder = self.model.encoder(sink);
        encoder.stop = stop;
        encoder
    }

    /// The memory of the table of whole tokens, in bytes, which all threads share.
    #[must_use]
    pub fn table_memory(&self) -> usize {
        self.model.memory()
    }

    /// The largest id plus one: the rows of an embedding.
    #[must_use]
    pub fn vocab_size(&self) -> u64 {
        let added = self.added.iter().map(|token| token.id).max();
        let own = match &self.spelled {
            Some((spelled, _)) => spelled.last_id(),
            None => self.model.vocab.ids().last().copied().max(self.unreachable.ids.last().copied()),
        };
        own.max(added).map_or(0, |id| u64::from(id) + 1)
    }

    /// The number of tokens; ids may have holes.
    #[must_use]
    pub fn token_count(&self) -> usize {
        let outside = |token: &&AddedToken| self.own_token(token.id).is_none();
        self.own_tokens().len() + self.unreachable().len() + self.added.iter().filter(outside).count()
    }

    /// The added tokens.
    #[must_use]
    pub fn added(&self) -> &[AddedToken] {
        &self.added
    }

    /// The added token with this content.
    #[must_use]
    pub fn added_token(&self, content: &str) -> Option<&AddedToken> {
        self.added_by_content.get(content).map(|&at| &self.added[at])
    }

    /// The id of a token, added ones first.
    #[must_use]
    pub fn token_id(&self, token: &[u8]) -> Option<u32> {
        let added = std::str::from_utf8(token).ok().and_then(|content| self.added_token(content));
        added.map(|token| token.id).or_else(|| match &self.spelled {
            Some((spelled, _)) => spelled.id(token),
            None => self
                .model
                .vocab
                .token_id(token)
                .or_else(|| self.unreachable().find(|(_, unreachable)| *unreachable == token).map(|(id, _)| id)),
        })
    }

    /// The bytes of a token; of a model of characters the UTF-8 of how the vocabulary spells it.
    #[must_use]
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.own_token(id).or_else(|| self.added_by_id.get(&id).map(|&at| self.added[at].content.as_bytes()))
    }

    /// The bytes of the longest token, added ones too; only where tokens are bytes.
    #[must_use]
    pub fn longest_token(&self) -> usize {
        let added = self.added.iter().map(|token| token.content.len());
        added.chain([self.model.vocab.longest()]).max().unwrap_or_default()
    }

    /// The bytes of all tokens, added ones too.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        let added = self.added.iter().map(|token| token.content.as_bytes());
        self.own_tokens().map(|(_, token)| token).chain(added)
    }

    /// Whether the token with this id is special.
    #[must_use]
    pub fn is_special(&self, id: u32) -> bool {
        self.added_by_id.get(&id).is_some_and(|&at| self.added[at].special)
    }

    /// Sends the ids of a text to `sink`. Time: n log n in the length of the longest piece, else linear.
    ///
    /// # Errors
    /// `SpecialToken`, `Encode` and `Pattern`, with the position; `sink` then holds the ids of the text before it.
    pub fn encode(&self, text: &str, policy: Policy, sink: &mut impl Sink) -> Result<()> {
        self.segmenter.walk(text, policy, &mut self.model.encoder(sink))
    }

    /// Encodes spans as one text, in which what text there is between two control spans is split as a whole.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], with the position in the joined text; `SpecialToken`, if a control span is no added
    /// token.
    pub fn encode_spans(&self, spans: &[Span], policy: Policy, sink: &mut impl Sink) -> Result<()> {
        self.encode_spans_with(spans, policy, &mut self.model.encoder(sink))
    }

    pub(crate) fn encode_spans_with<S: Sink>(
        &self,
        spans: &[Span],
        policy: Policy,
        encoder: &mut Encoder<S>,
    ) -> Result<()> {
        match *spans {
            [Span::Text(text)] => return self.segmenter.walk(text, policy, encoder),
            [Span::Units(units)] => return self.encode_units(units, policy, encoder),
            _ => {}
        }
        let mut joined = String::new();
        let mut run = Stretch { start: 0, left: None, right: None };
        for span in spans {
            let content = match *span {
                Span::Text(text) => {
                    joined.room(text.len())?;
                    joined.push_str(text);
                    continue;
                }
                Span::Units(units) => {
                    let before = (joined.len(), joined.chars().count());
                    units.append(0..units.characters(), &mut joined).map_err(|error| error.moved(before))?;
                    continue;
                }
                Span::Control(content) => content,
            };
            let token = self.added_token(content).ok_or_else(|| {
                Error::new(Kind::SpecialToken, format!("{content:?} is not an added token of this tokenizer"))
                    .remedy("pass it as plain text, or use one of tok.special_tokens")
            })?;
            self.encode_run(&joined, Stretch { right: Some(token), ..run }, policy, encoder)?;
            encoder.sink.take(&[token.id])?;
            joined.room(content.len())?;
            joined.push_str(content);
            run = Stretch { start: joined.len(), left: Some(token), right: None };
        }
        self.encode_run(&joined, run, policy, encoder)
    }

    /// Encodes the end of `joined`, less the white space that the control tokens beside it take.
    fn encode_run<S: Sink>(&self, joined: &str, run: Stretch, policy: Policy, encoder: &mut Encoder<S>) -> Result<()> {
        let mut text = &joined[run.start..];
        if run.right.is_some_and(|token| token.lstrip) {
            text = text.trim_end();
        }
        let mut start = run.start;
        if run.left.is_some_and(|token| token.rstrip) {
            start += text.len() - text.trim_start().len();
            text = text.trim_start();
        }
        let walked = self.segmenter.walk_at(start == 0, text, policy, encoder);
        walked.map_err(|error| error.shifted(start).placed(joined))
    }

    /// The text of each segment: the pieces that merges happen in, and the added tokens; as normalized.
    ///
    /// # Errors
    /// `SpecialToken` and `Pattern`, with the position.
    pub fn pieces(&self, text: &str, policy: Policy) -> Result<Vec<String>> {
        let mut pieces = Vec::new();
        self.segmenter.walk(text, policy, &mut pieces)?;
        Ok(pieces)
    }

    /// The text of some ids as bytes: those of all tokens joined, if they are bytes; what the decoders make of them, if they
    /// are spelled in characters.
    ///
    /// # Errors
    /// `InvalidId`, with the row, if an id is no token's.
    pub fn decode(&self, ids: &[u32], skip_special_tokens: bool) -> Result<Vec<u8>> {
        if !self.decodes_by_table() {
            return self.decode_text(ids, skip_special_tokens).map(String::into_bytes);
        }
        let mut decoder = self.decoder(ids.len(), skip_special_tokens);
        decoder.push(ids).map_err(|lack| lack.error(|row| self.invalid_id(ids[row]).row(row)))?;
        Ok(self.without_prefix(decoder.finish()))
    }

    /// The text of some ids, as the decoders make it. Where tokens are bytes, U+FFFD replaces those that are not UTF-8.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`]; `Pattern`, if the pattern of a decoder exceeds its step budget.
    pub fn decode_text(&self, ids: &[u32], skip_special_tokens: bool) -> Result<String> {
        let Some((_, maker)) = &self.spelled else {
            return Ok(String::from_utf8_lossy(&self.decode(ids, skip_special_tokens)?).into_owned());
        };
        if let Some(mut decoder) = maker.behind(ids.len(), skip_special_tokens, || self.all_for_decoders()) {
            // The first token that counts is decoded by itself.
            let first = ids.iter().position(|&id| !(skip_special_tokens && self.is_special(id))).unwrap_or(ids.len());
            let (before, rest) = ids.split_at(ids.len().min(first + 1));
            let mut text = String::new();
            for (row, &id) in before.iter().enumerate() {
                let token = self.spelled_for_decoders(id).ok_or_else(|| self.invalid_id(id).row(row))?;
                if row == first {
                    text = maker.text(vec![String::from_utf8_lossy(token).into_owned()])?;
                }
            }
            let no_token = |row: usize| self.invalid_id(rest[row]).row(before.len() + row);
            decoder.push(rest).map_err(|lack| lack.error(no_token))?;
            let rest = decoder.finish();
            let rest = String::from_utf8_lossy(&rest);
            text.room(rest.len())?;
            text.push_str(&rest);
            return Ok(text);
        }
        let mut tokens = Vec::new();
        tokens.room(ids.len())?;
        for (row, &id) in ids.iter().enumerate() {
            interrupt::check()?;
            let token = self.spelled_for_decoders(id).ok_or_else(|| self.invalid_id(id).row(row))?;
            if !(skip_special_tokens && self.is_special(id)) {
                tokens.push(String::from_utf8_lossy(token).into_owned());
            }
        }
        maker.text(tokens)
    }

    /// Whether tokens are decoded one by one and joined.
    #[must_use]
    pub fn decodes_by_table(&self) -> bool {
        self.spelled.as_ref().is_none_or(|(_, maker)| maker.is_by_token())
    }

    /// A decoder for about `ids` ids, pushed in any number of parts; only if tokens are decoded one by one. The start
    /// of the text that decoding strips is still there.
    #[must_use]
    pub fn decoder(&self, ids: usize, skip_special_tokens: bool) -> Decoder<'_> {
        let table = self.table.get_or_init(|| {
            let own = self.own_tokens().chain(self.unreachable());
            let own = own.map(|(id, token)| (id, self.decoded(token), self.is_special(id)));
            let added = self.added.iter();
            let added = added.filter_map(|token| {
                Some((token.id, self.decoded(self.spelled_for_decoders(token.id)?), token.special))
            });
            let table = TokenBytes::new(self.token_count(), own.chain(added));
            match self.spelled.as_ref().and_then(|(_, maker)| maker.with_front()) {
                None => table,
                Some(by_token) => {
                    let all = self.all_for_decoders().into_iter();
                    let keep = all.filter(|&(_, token, _)| by_token.keeps_space(token));
                    table.with_front(by_token.front(), keep.map(|(id, ..)| id).collect())
                }
            }
        });
        Decoder::new(table, ids, skip_special_tokens)
    }

    /// The decoder input for each id, and whether that token is special.
    fn all_for_decoders(&self) -> Vec<(u32, &[u8], bool)> {
        let own = self.own_tokens().map(|(id, _)| id);
        let ids = own.chain(self.added.iter().map(|token| token.id));
        ids.filter_map(|id| Some((id, self.spelled_for_decoders(id)?, self.is_special(id)))).collect()
    }

    /// The decoder input for an id.
    pub(crate) fn spelled_for_decoders(&self, id: u32) -> Option<&[u8]> {
        self.added_normalized.get(&id).map(String::as_bytes).or_else(|| self.token_bytes(id))
    }

    /// The bytes of a token in the text, if tokens are decoded one by one.
    pub(crate) fn decoded<'a>(&'a self, token: &'a [u8]) -> Cow<'a, [u8]> {
        self.spelled.as_ref().map_or(Cow::Borrowed(token), |(_, maker)| maker.bytes(token))
    }

    /// The stripped prefix of a decoded text: a character, and the most repetitions.
    pub(crate) fn stripped(&self) -> Option<(char, usize)> {
        self.spelled.as_ref().and_then(|(_, maker)| maker.stripped())
    }

    /// Whether tokens lose a mark at the front of a decoded text.
    pub(crate) fn decodes_front(&self) -> bool {
        self.spelled.as_ref().is_some_and(|(_, maker)| maker.with_front().is_some())
    }

    /// Decoded bytes without the prefix that decoding strips.
    #[must_use]
    pub fn without_prefix(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if let Some((character, most)) = self.stripped() {
            let character = character.encode_utf8(&mut [0; 4]).as_bytes().to_vec();
            let times = bytes.chunks(character.len()).take(most).take_while(|chunk| **chunk == character).count();
            bytes.drain(..times * character.len());
        }
        bytes
    }

    /// The error for an id without a token.
    #[must_use]
    pub fn invalid_id(&self, id: impl std::fmt::Display) -> Error {
        Error::new(Kind::InvalidId, format!("no token has id {id}"))
            .remedy(format!("ids are below {}, and not all of these need a token", self.vocab_size()))
    }
}

/// The text from `start` of the joined parts so far, between two control tokens.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    start: usize,
    left: Option<&'a AddedToken>,
    right: Option<&'a AddedToken>,
}
