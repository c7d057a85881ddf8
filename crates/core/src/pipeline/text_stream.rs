//! Streaming decode: ids that arrive one after another -> text that no later id changes.
//!
//! Where decoders work token by token, bytes are joined to characters. Other decoders depend on the tokens before: there the
//! last tokens are decoded again with each new one, and the added text is new.
//!
//! All texts together equal decoding all ids at once, with one exception: where tokens of single bytes are invalid UTF-8, a
//! decoder can write U+FFFD for all bytes of a run, of which a stream has already returned the first.

use std::borrow::Cow;

use crate::decode::Utf8Stream;
use crate::error::Result;
use crate::memory::{self, Room};
use crate::pipeline::Tokenizer;

/// The number of last tokens that are decoded again.
const WINDOW: usize = 16;

/// The number of them that stay when the window is full: more than any decoder looks back.
const KEPT: usize = 6;

/// The returned and the pending text of a stream of ids, for one tokenizer.
#[derive(Clone, Debug, Default)]
pub struct TextStream {
    utf8: Utf8Stream,
    /// How many of the characters that decoding takes off the beginning have come, or all that ever will.
    stripped: usize,
    /// Whether no token that comes loses the mark of a space any more.
    behind_front: bool,
    /// The last ids, and how many bytes of their text were shown.
    window: Vec<u32>,
    shown: usize,
}

impl TextStream {
    /// The text that these ids make final.
    ///
    /// # Errors
    /// `InvalidId`, with the row, if an id is no token's; the stream is then as it was.
    pub fn push<'a>(&'a mut self, tokenizer: &'a Tokenizer, ids: &[u32], skip_special: bool) -> Result<Cow<'a, str>> {
        if !tokenizer.decodes_by_table() {
            return self.push_to_window(tokenizer, ids, skip_special).map(Cow::Owned);
        }
        let in_front = !self.behind_front && tokenizer.decodes_front();
        let mut behind_front = self.behind_front;
        let bytes = if let [id] = *ids
            && !in_front
        {
            let token = tokenizer.spelled_for_decoders(id).ok_or_else(|| tokenizer.invalid_id(id).row(0))?;
            if skip_special && tokenizer.is_special(id) { Cow::Borrowed(&b""[..]) } else { tokenizer.decoded(token) }
        } else {
            let mut decoder = tokenizer.decoder(ids.len(), skip_special);
            if !in_front {
                decoder = decoder.behind_front();
            }
            decoder.push(ids).map_err(|lack| lack.error(|row| tokenizer.invalid_id(ids[row]).row(row)))?;
            behind_front = !decoder.is_in_front();
            Cow::Owned(decoder.finish())
        };
        let text = match bytes {
            Cow::Borrowed(bytes) => self.utf8.push(bytes)?,
            Cow::Owned(bytes) => Cow::Owned(self.utf8.push_owned(bytes)?),
        };
        self.behind_front = behind_front;
        let Some((character, most)) = tokenizer.stripped() else { return Ok(text) };
        let mut rest = &*text;
        while self.stripped < most && !rest.is_empty() {
            match rest.strip_prefix(character) {
                Some(after) => (rest, self.stripped) = (after, self.stripped + 1),
                None => self.stripped = most,
            }
        }
        let gone = text.len() - rest.len();
        Ok(if gone == 0 { text } else { Cow::Owned(memory::copy(&text[gone..])?) })
    }

    fn push_to_window(&mut self, tokenizer: &Tokenizer, ids: &[u32], skip_special: bool) -> Result<String> {
        let before = self.window.len();
        for (row, &id) in ids.iter().enumerate() {
            tokenizer.token_bytes(id).ok_or_else(|| tokenizer.invalid_id(id).row(row))?;
        }
        self.window.room(ids.len())?;
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
        let new = memory::copy(&text[self.shown..])?;
        self.shown = text.len();
        if self.window.len() > WINDOW {
            self.window.drain(..self.window.len() - KEPT);
            self.shown = tokenizer.decode_text(&self.window, skip_special)?.len();
        }
        Ok(new)
    }

    /// Ends the sequence: U+FFFD for an incomplete character, else an empty text. The stream can then be reused.
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
