//! The stages composed: segments, merges; and ids back to bytes. Nothing else composes them, but [`crate::batch`] for
//! several threads.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use crate::decode::{Decoder, Table};
use crate::encode::{Encoder, Model, Sink};
use crate::error::{Error, Kind, Result};
use crate::normalize::Normalizer;
use crate::segment::{Policy, Segmenter, Visit};
use crate::split::Pattern;
use crate::split::added::AddedToken;
use crate::vocab::Vocab;

/// A stretch of input: text from anywhere, or a token that the caller vouches for.
#[derive(Clone, Copy, Debug)]
pub enum Span<'a> {
    /// Text, in which added tokens are treated as the policy says.
    Text(&'a str),
    /// The added token with this content, whatever the policy.
    Control(&'a str),
}

impl<'a> Span<'a> {
    /// The text of the span.
    #[must_use]
    pub fn text(&self) -> &'a str {
        match *self {
            Self::Text(text) | Self::Control(text) => text,
        }
    }
}

/// Everything that a tokenizer is made of.
pub struct Parts {
    /// Tokens and merges.
    pub vocab: Vocab,
    /// Added tokens, special ones among them.
    pub added: Vec<AddedToken>,
    /// Applied in order to the text between added tokens.
    pub normalizers: Vec<Normalizer>,
    /// Whether text that does not start with a space gets one.
    pub prefix_space: bool,
    /// Applied in order, each to the pieces of the one before.
    pub patterns: Vec<Pattern>,
}

/// An immutable tokenizer: shared by threads, each call given its own options.
pub struct Tokenizer {
    model: Model,
    added: Vec<AddedToken>,
    added_by_content: HashMap<String, usize>,
    added_by_id: HashMap<u32, usize>,
    segmenter: Segmenter,
    /// Made when something is decoded first.
    table: OnceLock<Table>,
}

/// Keeps the text of each segment.
impl Visit for Vec<String> {
    fn piece(&mut self, piece: &str) -> Result<()> {
        self.push(piece.to_owned());
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
    /// `Format`, if an added token is empty, stands there twice, or has the id of another token.
    pub fn new(parts: Parts) -> Result<Self> {
        let Parts { vocab, added, normalizers, prefix_space, patterns } = parts;
        let segmenter = Segmenter::new(&added, normalizers, prefix_space, patterns)?;
        for token in &added {
            if vocab.token_bytes(token.id).is_some_and(|bytes| bytes != token.content.as_bytes()) {
                let what = format!("the added token {:?} has id {}, which another token has", token.content, token.id);
                return Err(Error::new(Kind::Format, what).remedy("give it an id of its own"));
            }
        }
        let added_by_content = added.iter().enumerate().map(|(at, token)| (token.content.clone(), at)).collect();
        let added_by_id = added.iter().enumerate().map(|(at, token)| (token.id, at)).collect();
        Ok(Self { model: Model::new(vocab), added, added_by_content, added_by_id, segmenter, table: OnceLock::new() })
    }

    /// The vocabulary of the model, without added tokens.
    #[must_use]
    pub fn vocab(&self) -> &Vocab {
        &self.model.vocab
    }

    /// The vocabulary with its caches.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// The stages before the model.
    #[must_use]
    pub fn segmenter(&self) -> &Segmenter {
        &self.segmenter
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
        self.model.vocab.ids().last().copied().max(added).map_or(0, |id| u64::from(id) + 1)
    }

    /// The number of tokens; ids may have holes.
    #[must_use]
    pub fn token_count(&self) -> usize {
        let outside = |token: &&AddedToken| self.model.vocab.token_bytes(token.id).is_none();
        self.model.vocab.len() + self.added.iter().filter(outside).count()
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
        added.map(|token| token.id).or_else(|| self.model.vocab.token_id(token))
    }

    /// The bytes of a token.
    #[must_use]
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.model
            .vocab
            .token_bytes(id)
            .or_else(|| self.added_by_id.get(&id).map(|&at| self.added[at].content.as_bytes()))
    }

    /// The bytes of the longest token, added ones too.
    #[must_use]
    pub fn longest_token(&self) -> usize {
        let added = self.added.iter().map(|token| token.content.len());
        added.chain([self.model.vocab.longest()]).max().unwrap_or_default()
    }

    /// The bytes of all tokens, added ones too.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        let vocab = &self.model.vocab;
        let added = self.added.iter().map(|token| token.content.as_bytes());
        (0..vocab.len()).map(|symbol| vocab.token_at(symbol)).chain(added)
    }

    /// Whether the token with this id is special.
    #[must_use]
    pub fn is_special(&self, id: u32) -> bool {
        self.added_by_id.get(&id).is_some_and(|&at| self.added[at].special)
    }

    /// Sends the ids of a text to `sink`. Time: n log n in the length of the longest piece, else linear.
    ///
    /// # Errors
    /// `SpecialToken`, `Encode` and `Pattern`, with the position; `sink` then holds the ids of what comes before.
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
        if let [Span::Text(text)] = *spans {
            return self.segmenter.walk(text, policy, encoder);
        }
        let mut joined = String::new();
        let mut run = Stretch { start: 0, left: None, right: None };
        for span in spans {
            let content = match *span {
                Span::Text(text) => {
                    joined.push_str(text);
                    continue;
                }
                Span::Control(content) => content,
            };
            let token = self.added_token(content).ok_or_else(|| {
                Error::new(Kind::SpecialToken, format!("{content:?} is not an added token of this tokenizer"))
                    .remedy("pass it as plain text, or use one of tok.special_tokens")
            })?;
            self.encode_run(&joined, Stretch { right: Some(token), ..run }, policy, encoder)?;
            encoder.sink.take(&[token.id]);
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
        let walked = self.segmenter.walk(text, policy, encoder);
        walked.map_err(|error| Error { byte: error.byte.map(|byte| byte + start), ..error }.placed(joined))
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

    /// The bytes of all tokens, joined.
    ///
    /// # Errors
    /// `InvalidId`, with the row, if an id is no token's.
    pub fn decode(&self, ids: &[u32], skip_special_tokens: bool) -> Result<Vec<u8>> {
        let mut decoder = self.decoder(ids.len(), skip_special_tokens);
        decoder.push(ids).map_err(|row| self.invalid_id(ids[row]).row(row))?;
        Ok(decoder.finish())
    }

    /// A decoder for about so many ids, which are given to it in any number of parts.
    #[must_use]
    pub fn decoder(&self, ids: usize, skip_special_tokens: bool) -> Decoder<'_> {
        let table = self.table.get_or_init(|| {
            let vocab = self.vocab();
            let own =
                vocab.ids().iter().map(|&id| (id, vocab.token_bytes(id).unwrap_or_default(), self.is_special(id)));
            let added = self.added.iter().map(|token| (token.id, token.content.as_bytes(), token.special));
            Table::new(vocab.len() + self.added.len(), own.chain(added))
        });
        Decoder::new(table, ids, skip_special_tokens)
    }

    /// The error that says that no token has this id.
    #[must_use]
    pub fn invalid_id(&self, id: impl std::fmt::Display) -> Error {
        Error::new(Kind::InvalidId, format!("no token has id {id}"))
            .remedy(format!("ids are below {} here, with holes where len(tok) < tok.vocab_size", self.vocab_size()))
    }
}

/// The text from `start` of what is joined so far, between two control tokens.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    start: usize,
    left: Option<&'a AddedToken>,
    right: Option<&'a AddedToken>,
}
