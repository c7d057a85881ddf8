//! The stages composed: segments, merges; and ids back to bytes. Nothing else composes them.

use std::collections::HashMap;

use crate::encode::{Count, Model, Sink};
use crate::error::{Error, Kind, Result};
use crate::normalize::Normalizer;
use crate::parallel;
use crate::segment::{Policy, Segmenter, Visit};
use crate::split::Pattern;
use crate::split::added::AddedToken;
use crate::vocab::Vocab;

/// A batch of fewer bytes than this is not worth a thread.
const BYTES_FOR_THREADS: usize = 1 << 16;

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

/// One text of a batch: some spans.
pub type Spans<'a> = Vec<Span<'a>>;

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
        Ok(Self { model: Model::new(vocab), added, added_by_content, added_by_id, segmenter })
    }

    /// The vocabulary of the model, without added tokens.
    #[must_use]
    pub fn vocab(&self) -> &Vocab {
        &self.model.vocab
    }

    /// The stages before the model.
    pub(crate) fn segmenter(&self) -> &Segmenter {
        &self.segmenter
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
        if let [Span::Text(text)] = *spans {
            return self.encode(text, policy, sink);
        }
        let mut joined = String::new();
        let mut run = Run { start: 0, left: None, right: None };
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
            self.encode_run(&joined, Run { right: Some(token), ..run }, policy, sink)?;
            sink.take(&[token.id]);
            joined.push_str(content);
            run = Run { start: joined.len(), left: Some(token), right: None };
        }
        self.encode_run(&joined, run, policy, sink)
    }

    /// Encodes the end of `joined`, less the white space that the control tokens beside it take.
    fn encode_run(&self, joined: &str, run: Run, policy: Policy, sink: &mut impl Sink) -> Result<()> {
        let mut text = &joined[run.start..];
        if run.right.is_some_and(|token| token.lstrip) {
            text = text.trim_end();
        }
        let mut start = run.start;
        if run.left.is_some_and(|token| token.rstrip) {
            start += text.len() - text.trim_start().len();
            text = text.trim_start();
        }
        self.encode(text, policy, sink)
            .map_err(|error| Error { byte: error.byte.map(|byte| byte + start), ..error }.placed(joined))
    }

    /// The ids of a batch, one after another, and where each text's ids end.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_spans`], of the first text at fault, with its row.
    pub fn encode_batch(&self, texts: &[Spans], policy: Policy, threads: usize) -> Result<(Vec<u32>, Vec<usize>)> {
        let rows = self.batch::<Vec<u32>>(texts, policy, threads)?;
        let mut ids = Vec::with_capacity(rows.iter().map(Vec::len).sum());
        let ends = rows.iter().map(|row| {
            ids.extend_from_slice(row);
            ids.len()
        });
        let ends = ends.collect();
        Ok((ids, ends))
    }

    /// The number of ids of each text of a batch.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_batch`].
    pub fn count_batch(&self, texts: &[Spans], policy: Policy, threads: usize) -> Result<Vec<u64>> {
        Ok(self.batch::<Count>(texts, policy, threads)?.into_iter().map(|count| count.0).collect())
    }

    fn batch<S: Sink + Default + Send>(&self, texts: &[Spans], policy: Policy, threads: usize) -> Result<Vec<S>> {
        let bytes: usize = texts.iter().flatten().map(|span| span.text().len()).sum();
        let threads = if bytes < BYTES_FOR_THREADS { 1 } else { threads };
        let rows = parallel::map(texts.len(), threads, |row| {
            let mut sink = S::default();
            self.encode_spans(&texts[row], policy, &mut sink).map_err(|error| error.row(row)).map(|()| sink)
        });
        rows.into_iter().collect()
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
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        for (row, &id) in ids.iter().enumerate() {
            let token = self.token_bytes(id).ok_or_else(|| self.invalid_id(id).row(row))?;
            if !(skip_special_tokens && self.is_special(id)) {
                bytes.extend_from_slice(token);
            }
        }
        Ok(bytes)
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
struct Run<'a> {
    start: usize,
    left: Option<&'a AddedToken>,
    right: Option<&'a AddedToken>,
}
