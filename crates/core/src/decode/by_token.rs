//! Decoders that work token by token: the text is the concatenation of the decoded tokens, without a stripped prefix.

use std::borrow::Cow;
use std::sync::Arc;

use super::chain::{Step, TextDecoder, stood_for};
use super::named_byte;
use super::sentencepiece::{Front, Pieces};
use crate::normalize::Replace;
use crate::normalize::aligned::most_bytes;

/// The decoders for a single token.
///
/// Replacements, of which one may make a token longer, then bytes for tokens that name one, then the end of all
/// boundaries, then one kind of character taken off the beginning: what SentencePiece vocabularies have. Where the bytes of
/// a text are UTF-8, joining them gives the text of the decoders: tokens that name no bytes are whole characters, and so is
/// each run of bytes between them. Or one decoder that does all.
#[derive(Default)]
pub(crate) struct ByToken {
    replacements: Vec<Arc<Replace>>,
    byte_fallback: bool,
    stripped: Option<(char, usize)>,
    /// The decoder of sentencepiece, if it is that one alone.
    pieces: Option<Arc<Pieces>>,
    /// Whether it is `ByteLevel` alone.
    byte_level: bool,
}

impl ByToken {
    /// None if the decoders are of another kind.
    pub(crate) fn new(decoders: &[TextDecoder]) -> Option<Self> {
        if let [TextDecoder(Step::SentencePiece(pieces))] = decoders {
            return Some(Self { pieces: Some(Arc::clone(pieces)), ..Self::default() });
        }
        if let [TextDecoder(Step::ByteLevel)] = decoders {
            return Some(Self { byte_level: true, ..Self::default() });
        }
        let mut made = Self::default();
        // Tables of tokens are made of this, which must not become much larger than the vocabulary.
        let mut grows = false;
        let mut fused = false;
        for TextDecoder(step) in decoders {
            match step {
                Step::Replace(replace)
                    if !made.byte_fallback
                        && !fused
                        && (replace.never_grows() || (!grows && replace.grows_little())) =>
                {
                    grows |= !replace.never_grows();
                    made.replacements.push(Arc::clone(replace));
                }
                Step::ByteFallback if !made.byte_fallback && !fused => made.byte_fallback = true,
                Step::Fuse if made.stripped.is_none() => fused = true,
                Step::Strip { content, start, stop: 0 } if fused && made.stripped.is_none() => {
                    made.stripped = Some((*content, *start));
                }
                _ => return None,
            }
        }
        (!decoders.is_empty()).then_some(made)
    }

    /// The bytes of a token.
    pub(crate) fn bytes<'a>(&self, token: &'a [u8]) -> Cow<'a, [u8]> {
        if self.byte_level {
            return std::str::from_utf8(token).ok().and_then(stood_for).map_or(Cow::Borrowed(token), Cow::Owned);
        }
        let names_byte = self.byte_fallback && token.first() == Some(&b'<');
        let stays = || !names_byte && !self.replacements.iter().any(|replace| replace.may_match(token));
        if self.pieces.is_none() && stays() {
            return Cow::Borrowed(token);
        }
        let Ok(text) = std::str::from_utf8(token) else { return Cow::Borrowed(token) };
        if let Some(pieces) = &self.pieces {
            return pieces.bytes(text);
        }
        let mut text = Cow::Borrowed(text);
        for replace in &self.replacements {
            if let Ok(Some(new)) = replace.replaced(&text, most_bytes(text.len())) {
                text = Cow::Owned(new);
            }
        }
        match named_byte(&text).filter(|_| self.byte_fallback) {
            Some(byte) => Cow::Owned(vec![byte]),
            None => match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
        }
    }

    /// The stripped prefix of the text: a character, and the most repetitions.
    pub(crate) fn stripped(&self) -> Option<(char, usize)> {
        self.stripped
    }

    /// The front of a text, where tokens lose the mark of a space.
    pub(crate) fn front(&self) -> Option<Front> {
        Some(self.pieces.as_ref()?.front()).filter(|front| front.is_open())
    }

    /// Whether the text of a token begins with a space that is no mark.
    pub(crate) fn keeps_space(&self, token: &[u8]) -> bool {
        let is_mark = |text| self.pieces.as_ref().is_some_and(|pieces| pieces.without_mark(text).is_some());
        self.bytes(token).first() == Some(&b' ') && !std::str::from_utf8(token).is_ok_and(is_mark)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::decode_tokens;
    use super::*;

    fn decoders(steps: &[&str]) -> Vec<TextDecoder> {
        steps.iter().map(|step| TextDecoder::parse(step).unwrap()).collect()
    }

    const SPACES: &str = r#"{"type":"Replace","pattern":{"String":"▁"},"content":" "}"#;
    const STRIP: &str = r#"{"type":"Strip","content":" ","start":1,"stop":0}"#;

    #[test]
    fn tokens_one_by_one_give_the_text_of_the_chain() {
        let decoders = decoders(&[SPACES, "ByteFallback", "Fuse", STRIP]);
        let by_token = ByToken::new(&decoders).unwrap();
        let tokens = ["▁the", "▁", "▁", "<0xC3>", "<0xA9>", "x▁y", "<0x0A>", "<0xg1>", "é"].map(String::from);
        for start in 0..tokens.len() {
            for end in start..=tokens.len() {
                let tokens = &tokens[start..end];
                let bytes: Vec<u8> =
                    tokens.iter().flat_map(|token| by_token.bytes(token.as_bytes()).to_vec()).collect();
                let Ok(text) = String::from_utf8(bytes) else { continue };
                let text = text.strip_prefix(' ').unwrap_or(&text);
                assert_eq!(text, decode_tokens(&decoders, tokens.to_vec()).unwrap());
            }
        }
    }

    #[test]
    fn characters_stand_for_bytes_in_tokens_that_have_no_others() {
        let by_token = ByToken::new(&decoders(&["ByteLevel"])).unwrap();
        let found = ["Ã", "©Ġ", "中Ġ"].map(|token| by_token.bytes(token.as_bytes()).to_vec());
        assert_eq!(found, [b"\xc3".to_vec(), b"\xa9 ".to_vec(), "中Ġ".as_bytes().to_vec()]);
    }

    #[test]
    fn what_minds_neighbours_is_not_decoded_by_token() {
        let wordpiece = r###"{"type":"WordPiece","prefix":"##","cleanup":true}"###;
        for steps in
            [&[][..], &[STRIP], &["ByteFallback", SPACES], &["Fuse", SPACES], &["Fuse", STRIP, STRIP], &[wordpiece]]
        {
            assert!(ByToken::new(&decoders(steps)).is_none(), "{steps:?}");
        }
        assert!(ByToken::new(&decoders(&["Fuse"])).is_some());
    }
}
