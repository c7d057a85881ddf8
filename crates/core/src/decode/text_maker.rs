//! Tokens of characters -> text, by the decoders of a tokenizer; token by token where that suffices.

use std::borrow::Cow;

use std::sync::OnceLock;

use crate::decode::chain::joined;
use crate::decode::{ByToken, Decoder, TextDecoder, TokenBytes, decode_tokens, minds_only_the_first};
use crate::error::Result;

/// The decoders of a tokenizer.
pub(crate) struct TextMaker {
    decoders: Vec<TextDecoder>,
    /// The same for single tokens, if the decoders work token by token.
    by_token: Option<ByToken>,
    /// The text of each token that is not first, if it depends on nothing else: made on first use.
    behind: Option<OnceLock<Option<TokenBytes>>>,
}

impl TextMaker {
    pub(crate) fn new(decoders: Vec<TextDecoder>) -> Self {
        let by_token = ByToken::new(&decoders);
        let only_the_first = by_token.is_none() && !decoders.is_empty() && minds_only_the_first(&decoders);
        Self { by_token, behind: only_the_first.then(OnceLock::new), decoders }
    }

    /// Whether tokens are decoded one by one.
    pub(crate) fn is_by_token(&self) -> bool {
        self.by_token.is_some()
    }

    /// The decoded bytes of a token; the token itself if decoders do not work token by token.
    pub(crate) fn bytes<'a>(&self, token: &'a [u8]) -> Cow<'a, [u8]> {
        self.by_token.as_ref().map_or(Cow::Borrowed(token), |by_token| by_token.bytes(token))
    }

    /// The stripped prefix of the text: a character, and the most repetitions.
    pub(crate) fn stripped(&self) -> Option<(char, usize)> {
        self.by_token.as_ref().and_then(ByToken::stripped)
    }

    /// The decoders for single tokens, if tokens lose a mark at the front of a text.
    pub(crate) fn with_front(&self) -> Option<&ByToken> {
        self.by_token.as_ref().filter(|by_token| by_token.front().is_some())
    }

    /// The text of tokens.
    ///
    /// # Errors
    /// `Pattern`, if the pattern of a decoder exceeds its step budget.
    pub(crate) fn text(&self, tokens: Vec<String>) -> Result<String> {
        if self.decoders.is_empty() { joined(&tokens, " ") } else { decode_tokens(&self.decoders, tokens) }
    }

    /// A decoder for about so many ids that stand behind another one; None if what they give depends on more than that.
    /// `tokens` are all of them, with ids, and whether they are special.
    pub(crate) fn behind<'t>(
        &self,
        ids: usize,
        skip_special_tokens: bool,
        tokens: impl FnOnce() -> Vec<(u32, &'t [u8], bool)>,
    ) -> Option<Decoder<'_>> {
        let table = self.behind.as_ref()?.get_or_init(|| {
            let tokens = tokens();
            // An empty token in front stays empty in all of these steps. Where one gives up, there is no table.
            let behind = |token: &[u8]| self.text(vec![String::new(), String::from_utf8_lossy(token).into_owned()]);
            let made = tokens.iter().map(|&(id, token, special)| Ok((id, behind(token)?, special)));
            let made = made.collect::<Result<Vec<(u32, String, bool)>>>().ok()?;
            Some(TokenBytes::new(made.len(), made.into_iter()))
        });
        Some(Decoder::new(table.as_ref()?, ids, skip_special_tokens))
    }
}
