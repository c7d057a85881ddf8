//! Ids that come one after another -> text that is certain.
//!
//! Where tokens are decoded one by one, their bytes are joined to characters. Other decoders mind what stands before a
//! token: there the last tokens are decoded again with each new one, and what was not there before is new.
//!
//! All texts together are what decoding all ids at once gives, but where tokens of single bytes do not spell UTF-8: for
//! these a decoder can have U+FFFD in place of all bytes of a row, and a stream has given away the first ones by then.

use std::borrow::Cow;

use crate::decode::Utf8Stream;
use crate::error::Result;
use crate::pipeline::Tokenizer;

/// So many of the last tokens are decoded again.
const WINDOW: usize = 16;

/// Of these, so many stay when the window is full: more than any decoder looks back.
const KEPT: usize = 6;

/// What a stream of ids has shown, and what waits. For one tokenizer.
#[derive(Clone, Debug, Default)]
pub struct TextStream {
    utf8: Utf8Stream,
    /// How many of the characters that decoding takes off the beginning have come, or all that ever will.
    stripped: usize,
    /// The last ids, and how many bytes of their text were shown.
    window: Vec<u32>,
    shown: usize,
}

impl TextStream {
    /// The text that is certain with these ids and was not before.
    ///
    /// # Errors
    /// `InvalidId`, with the row, if an id is no token's; the stream is then as it was.
    pub fn push<'a>(&'a mut self, tokenizer: &'a Tokenizer, ids: &[u32], skip_special: bool) -> Result<Cow<'a, str>> {
        if !tokenizer.decodes_by_table() {
            return self.push_to_window(tokenizer, ids, skip_special).map(Cow::Owned);
        }
        let bytes = if let [id] = *ids {
            let token = tokenizer.spelled_for_decoders(id).ok_or_else(|| tokenizer.invalid_id(id).row(0))?;
            if skip_special && tokenizer.is_special(id) { Cow::Borrowed(&b""[..]) } else { tokenizer.decoded(token) }
        } else {
            let mut decoder = tokenizer.decoder(ids.len(), skip_special);
            decoder.push(ids).map_err(|row| tokenizer.invalid_id(ids[row]).row(row))?;
            Cow::Owned(decoder.finish())
        };
        let text = match bytes {
            Cow::Borrowed(bytes) => self.utf8.push(bytes),
            Cow::Owned(bytes) => Cow::Owned(self.utf8.push(&bytes).into_owned()),
        };
        let Some((character, most)) = tokenizer.stripped() else { return Ok(text) };
        let mut rest = &*text;
        while self.stripped < most && !rest.is_empty() {
            match rest.strip_prefix(character) {
                Some(after) => (rest, self.stripped) = (after, self.stripped + 1),
                None => self.stripped = most,
            }
        }
        let gone = text.len() - rest.len();
        Ok(if gone == 0 { text } else { Cow::Owned(text[gone..].to_owned()) })
    }

    fn push_to_window(&mut self, tokenizer: &Tokenizer, ids: &[u32], skip_special: bool) -> Result<String> {
        let before = self.window.len();
        for (row, &id) in ids.iter().enumerate() {
            tokenizer.token_bytes(id).ok_or_else(|| tokenizer.invalid_id(id).row(row))?;
        }
        self.window.extend(ids.iter().copied().filter(|&id| !(skip_special && tokenizer.is_special(id))));
        if self.window.len() == before {
            return Ok(String::new());
        }
        let text = tokenizer.decode_text(&self.window, skip_special)?;
        // A character whose bytes are not all there, as long as they can still come.
        let unfinished = text.ends_with(char::REPLACEMENT_CHARACTER) && self.window.len() < before + WINDOW;
        let is_new = |text: &String| text.len() > self.shown && text.is_char_boundary(self.shown);
        if unfinished || !is_new(&text) {
            return Ok(String::new());
        }
        let new = text[self.shown..].to_owned();
        self.shown = text.len();
        if self.window.len() > WINDOW {
            self.window.drain(..self.window.len() - KEPT);
            self.shown = tokenizer.decode_text(&self.window, skip_special)?.len();
        }
        Ok(new)
    }

    /// What is left when no more ids come: U+FFFD for half a character, else nothing. The stream is then as new.
    pub fn flush(&mut self, tokenizer: &Tokenizer) -> String {
        let mut left = self.utf8.flush();
        if let Ok(text) = tokenizer.decode_text(&self.window, false)
            && let Some(rest) = text.get(self.shown..).filter(|_| !self.window.is_empty())
        {
            left.push_str(rest);
        }
        *self = Self::default();
        left
    }

    /// The bytes that wait for the rest of their character.
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        self.utf8.pending()
    }
}
