//! Tokens that are spelled in characters -> text, by the decoders of a tokenizer; one by one where that is enough.

use std::borrow::Cow;

use crate::decode::{ByToken, TextDecoder, decode_tokens};
use crate::error::Result;

/// The decoders of a tokenizer.
pub(crate) struct TextMaker {
    decoders: Vec<TextDecoder>,
    /// The same for a token by itself, if they are such that the text is what the tokens give one by one.
    by_token: Option<ByToken>,
}

impl TextMaker {
    pub(crate) fn new(decoders: Vec<TextDecoder>) -> Self {
        Self { by_token: ByToken::new(&decoders), decoders }
    }

    /// Whether tokens are decoded one by one.
    pub(crate) fn is_by_token(&self) -> bool {
        self.by_token.is_some()
    }

    /// The bytes that a token gives; the token itself if they are not decoded one by one.
    pub(crate) fn bytes<'a>(&self, token: &'a [u8]) -> Cow<'a, [u8]> {
        self.by_token.as_ref().map_or(Cow::Borrowed(token), |by_token| by_token.bytes(token))
    }

    /// What is taken off the beginning of the text: a character, up to so many times.
    pub(crate) fn stripped(&self) -> Option<(char, usize)> {
        self.by_token.as_ref().and_then(ByToken::stripped)
    }

    /// The text of tokens.
    ///
    /// # Errors
    /// `Pattern`, if the pattern of a decoder gives up.
    pub(crate) fn text(&self, tokens: Vec<String>) -> Result<String> {
        if self.decoders.is_empty() { Ok(tokens.join(" ")) } else { decode_tokens(&self.decoders, tokens) }
    }
}
