//! Pieces -> text, as `sentencepiece` decodes them.
//!
//! U+2581 is a space. A piece that names a byte is that byte: in a run of them whole characters stay, and each other byte
//! becomes U+FFFD. One U+2581 at the very beginning is dropped; where a model removes extra white space, one of each piece is,
//! as long as the text is empty.
//!
//! Source: `SentencePieceProcessor::Decode` of sentencepiece 0.2.

use std::borrow::Cow;

use serde::Deserialize;

use super::named_byte;
use crate::error::Result;
use crate::interrupt::Checks;
use crate::memory::Room;
use crate::normalize::aligned::grows_too_long;

/// The mark of a space.
const MARK: &str = "\u{2581}";

/// The options of a model for decoding.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pieces {
    /// The unknown piece.
    unk_piece: String,
    /// Its text.
    unk_surface: String,
    byte_fallback: bool,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
}

/// The front of a text, where marks are dropped.
#[derive(Clone, Copy)]
pub(crate) struct Front {
    is_open: bool,
    of_each: bool,
}

impl Front {
    /// Whether the next piece loses its mark, if it has one.
    pub(super) fn is_open(self) -> bool {
        self.is_open
    }

    /// The front behind a piece.
    pub(super) fn behind(self, lost_mark: bool, text_is_empty: bool) -> Self {
        Self { is_open: self.is_open && text_is_empty && (self.of_each || !lost_mark), ..self }
    }
}

impl Pieces {
    /// The front of a text.
    pub(super) fn front(&self) -> Front {
        Front {
            is_open: self.add_dummy_prefix || self.remove_extra_whitespaces,
            of_each: self.remove_extra_whitespaces,
        }
    }

    /// The piece without the mark in front of it, if it has one.
    pub(super) fn without_mark<'a>(&self, piece: &'a str) -> Option<&'a str> {
        piece.strip_prefix(MARK).filter(|_| piece != self.unk_piece)
    }

    /// The bytes of a piece that is not in front.
    pub(super) fn bytes<'a>(&self, piece: &'a str) -> Cow<'a, [u8]> {
        if let Some(byte) = self.byte(piece) {
            return Cow::Owned(vec![byte]);
        }
        if piece == self.unk_piece {
            return Cow::Owned(self.unk_surface.clone().into_bytes());
        }
        if piece.contains(MARK) {
            return Cow::Owned(piece.replace(MARK, " ").into_bytes());
        }
        Cow::Borrowed(piece.as_bytes())
    }

    fn byte(&self, piece: &str) -> Option<u8> {
        named_byte(piece).filter(|_| self.byte_fallback)
    }

    /// The text of some pieces, of at most `most` bytes.
    pub(super) fn text(&self, pieces: &[String], most: usize) -> Result<String> {
        let (mut text, mut run, mut front, mut checks) = (String::new(), Vec::new(), self.front(), Checks::default());
        for piece in pieces {
            checks.check()?;
            if let Some(byte) = self.byte(piece) {
                run.push(byte);
                continue;
            }
            end_run(&mut run, &mut text);
            front = front.behind(false, text.is_empty());
            let rest = self.without_mark(piece).filter(|_| front.is_open());
            let new = String::from_utf8_lossy(&self.bytes(rest.unwrap_or(piece))).into_owned();
            text.room(new.len())?;
            text.push_str(&new);
            front = front.behind(rest.is_some(), text.is_empty());
            if text.len() > most {
                return Err(grows_too_long(most));
            }
        }
        end_run(&mut run, &mut text);
        Ok(text)
    }
}

/// Appends a run of bytes, which is then empty.
fn end_run(run: &mut Vec<u8>, text: &mut String) {
    for chunk in run.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    run.clear();
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::{ByToken, Decoder, TextDecoder, TokenBytes, decode_tokens};

    #[test]
    fn the_front_is_the_same_in_a_list_of_pieces_and_in_a_table() {
        let pieces = ["<unk>", "\u{2581}", "\u{2581}\u{2581}", "\u{2581}a", "a", "<0x20>", "<0xC3>", "", "<s>"];
        let mut seen = 0;
        for (dummy, extra) in [(false, false), (true, false), (false, true), (true, true)] {
            let step = format!(
                r#"{{"type":"SentencePiece","unk_piece":"<unk>","unk_surface":" ? ","byte_fallback":true,
                "add_dummy_prefix":{dummy},"remove_extra_whitespaces":{extra}}}"#
            );
            let steps = [TextDecoder::parse(&step).unwrap()];
            let by_token = ByToken::new(&steps).unwrap();
            let rows = (0..).zip(pieces).map(|(id, piece)| (id, by_token.bytes(piece.as_bytes()), piece == "<s>"));
            let keep = (0..).zip(pieces).filter(|(_, piece)| by_token.keeps_space(piece.as_bytes()));
            let table =
                TokenBytes::new(pieces.len(), rows).with_front(by_token.front(), keep.map(|row| row.0).collect());
            for number in 0..pieces.len().pow(4) {
                let ids: Vec<u32> = (0..4).map(|at| (number / pieces.len().pow(at) % pieces.len()) as u32).collect();
                let kept = ids.iter().map(|&id| pieces[id as usize]).filter(|&piece| piece != "<s>");
                let text = decode_tokens(&steps, kept.map(String::from).collect()).unwrap();
                for cut in 0..=ids.len() {
                    let mut decoder = Decoder::new(&table, 0, true);
                    decoder.push(&ids[..cut]).unwrap();
                    decoder.push(&ids[cut..]).unwrap();
                    // Bytes that are no text have no text in common.
                    if let Ok(joined) = String::from_utf8(decoder.finish()) {
                        assert_eq!(joined, text, "{ids:?} {step}");
                        seen += 1;
                    }
                }
            }
        }
        assert!(seen > 50_000, "{seen}");
    }

    #[test]
    fn whole_characters_in_a_run_of_bytes_stay() {
        let step = r#"{"type":"SentencePiece","unk_piece":"<unk>","unk_surface":"?","byte_fallback":true,
            "add_dummy_prefix":true,"remove_extra_whitespaces":false}"#;
        let steps = [TextDecoder::parse(step).unwrap()];
        let pieces = ["<0xC3>", "<0xA9>", "<0xE2>", "<0x82>", "a", "<0xA9>"].map(String::from);
        assert_eq!(decode_tokens(&steps, pieces.to_vec()).unwrap(), "é\u{FFFD}\u{FFFD}a\u{FFFD}");
    }
}
