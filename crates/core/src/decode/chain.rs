//! Tokens -> text: the decoders of `tokenizers`.
//!
//! Each step transforms the list of tokens; in the end they are joined.

use std::sync::Arc;

use serde::Deserialize;

use super::named_byte;
use super::sentencepiece::Pieces;
use crate::error::{Error, Kind, Result};
use crate::files::byte_alphabet::byte_of;
use crate::interrupt::Checks;
use crate::memory::Room;
use crate::normalize::aligned::{grows_too_long, most_bytes};
use crate::normalize::{Replace, parsed};
use crate::pre_tokenize::{Metaspace, StatedMetaspace};
use crate::split::matches::StatedPattern;

/// One step from tokens to text.
#[derive(Clone, Debug)]
pub struct TextDecoder(pub(super) Step);

#[derive(Clone, Debug)]
pub(super) enum Step {
    ByteLevel,
    ByteFallback,
    WordPiece { prefix: String, cleanup: bool },
    Metaspace(Metaspace),
    Bpe { suffix: String },
    Fuse,
    Strip { content: char, start: usize, stop: usize },
    Replace(Arc<Replace>),
    Ctc { pad_token: String, word_delimiter_token: String, cleanup: bool },
    SentencePiece(Arc<Pieces>),
}

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
enum Named {
    ByteLevel {
        /// Options of the pre-tokenizer of the same name, which have no effect here.
        #[serde(rename = "add_prefix_space")]
        _add_prefix_space: Option<bool>,
        #[serde(rename = "trim_offsets")]
        _trim_offsets: Option<bool>,
        #[serde(rename = "use_regex")]
        _use_regex: Option<bool>,
    },
    ByteFallback {},
    WordPiece {
        prefix: String,
        cleanup: bool,
    },
    Metaspace(StatedMetaspace),
    #[serde(rename = "BPEDecoder")]
    Bpe {
        suffix: String,
    },
    Fuse {},
    Strip {
        content: char,
        start: usize,
        stop: usize,
    },
    Replace {
        pattern: StatedPattern,
        content: String,
    },
    #[serde(rename = "CTC")]
    Ctc {
        pad_token: String,
        word_delimiter_token: String,
        cleanup: bool,
    },
    /// Not one of `tokenizers`.
    SentencePiece(Pieces),
}

impl TextDecoder {
    /// The decoder of a step: its bare name, or its object in `tokenizer.json`.
    ///
    /// # Errors
    /// `Format`, if there is no such decoder or its fields are not those that it has; `Pattern`, if its regular expression
    /// does not compile.
    pub fn parse(step: &str) -> Result<Self> {
        let wrong = |what: &str| Error::new(Kind::Format, format!("a decoder that cannot be: {what}"));
        Ok(Self(match parsed("decoder", step)? {
            Named::ByteLevel { .. } => Step::ByteLevel,
            Named::ByteFallback {} => Step::ByteFallback,
            Named::WordPiece { prefix, cleanup } => Step::WordPiece { prefix, cleanup },
            Named::Metaspace(stated) => Step::Metaspace(stated.try_into().map_err(wrong)?),
            Named::Bpe { suffix } => Step::Bpe { suffix },
            Named::Fuse {} => Step::Fuse,
            Named::Strip { content, start, stop } => Step::Strip { content, start, stop },
            Named::Replace { pattern, content } => Step::Replace(Arc::new(Replace::new(&pattern, content)?)),
            Named::Ctc { pad_token, word_delimiter_token, cleanup } => {
                Step::Ctc { pad_token, word_delimiter_token, cleanup }
            }
            Named::SentencePiece(pieces) => Step::SentencePiece(Arc::new(pieces)),
        }))
    }

    /// The tokens that this step makes of others.
    fn apply(&self, mut tokens: Vec<String>, most: usize) -> Result<Vec<String>> {
        let mut checks = Checks::default();
        match &self.0 {
            Step::ByteLevel => return Ok(vec![byte_level(&tokens)?]),
            Step::ByteFallback => return byte_fallback(tokens),
            Step::WordPiece { prefix, cleanup } => {
                for (place, token) in tokens.iter_mut().enumerate() {
                    checks.check()?;
                    if place > 0 {
                        match token.strip_prefix(prefix.as_str()) {
                            Some(rest) => *token = rest.to_owned(),
                            None => token.insert(0, ' '),
                        }
                    }
                    if *cleanup {
                        clean(token);
                    }
                }
            }
            Step::Metaspace(metaspace) => {
                for (place, token) in tokens.iter_mut().enumerate() {
                    checks.check()?;
                    if token.contains(metaspace.replacement) {
                        let space = if place == 0 && metaspace.prepends() { "" } else { " " };
                        *token = token.replace(metaspace.replacement, space);
                    }
                }
            }
            Step::Bpe { suffix } => {
                let last = tokens.len().saturating_sub(1);
                for (place, token) in tokens.iter_mut().enumerate() {
                    checks.check()?;
                    *token = token.replace(suffix.as_str(), if place == last { "" } else { " " });
                }
            }
            Step::Fuse => return Ok(vec![joined(&tokens, "")?]),
            Step::SentencePiece(pieces) => return Ok(vec![pieces.text(&tokens, most)?]),
            Step::Strip { content, start, stop } => {
                for token in &mut tokens {
                    checks.check()?;
                    strip(token, *content, *start, *stop);
                }
            }
            Step::Replace(replace) => {
                let mut left = most;
                for token in &mut tokens {
                    checks.check()?;
                    if let Some(new) = replace.replaced(token, left)? {
                        *token = new;
                    }
                    left = left.checked_sub(token.len()).ok_or_else(|| grows_too_long(most))?;
                }
            }
            Step::Ctc { pad_token, word_delimiter_token, cleanup } => {
                tokens.dedup();
                for token in &mut tokens {
                    checks.check()?;
                    *token = token.replace(pad_token.as_str(), "");
                    if *cleanup {
                        clean(token);
                        *token = token.replace(word_delimiter_token.as_str(), " ");
                    }
                }
                tokens.retain(|token| !token.is_empty());
            }
        }
        Ok(tokens)
    }
}

/// Whether the text of a token depends only on the token and on whether it is first.
pub(crate) fn minds_only_the_first(decoders: &[TextDecoder]) -> bool {
    decoders
        .iter()
        .all(|TextDecoder(step)| matches!(step, Step::WordPiece { .. } | Step::Metaspace(_) | Step::Strip { .. }))
}

/// The text of some tokens: all steps, one after another, and then joined. Linear in the tokens' length.
///
/// ```
/// use bytepair_core::decode::{TextDecoder, decode_tokens};
/// let steps = [TextDecoder::parse(r###"{"type":"WordPiece","prefix":"##","cleanup":true}"###)?];
/// let tokens = ["walk", "##ing", "home", "."].map(String::from);
/// assert_eq!(decode_tokens(&steps, tokens.to_vec())?, "walking home.");
/// # Ok::<(), bytepair_core::Error>(())
/// ```
///
/// # Errors
/// `Pattern`, if the pattern of a replacement exceeds its step budget; `Encode`, if the tokens become more than 32 times as long.
pub fn decode_tokens(decoders: &[TextDecoder], tokens: Vec<String>) -> Result<String> {
    // A token may be empty, and still a space is put before it.
    let length = |tokens: &[String]| tokens.iter().map(|token| token.len() + 1).sum();
    let most = most_bytes(length(&tokens));
    let tokens = decoders.iter().try_fold(tokens, |tokens, decoder| {
        let tokens = decoder.apply(tokens, most)?;
        if length(&tokens) > most { Err(grows_too_long(most)) } else { Ok(tokens) }
    })?;
    joined(&tokens, "")
}

/// Tokens with something between them.
///
/// # Errors
/// `Memory`; `Interrupted`.
pub(super) fn joined(tokens: &[String], between: &str) -> Result<String> {
    let (mut text, mut checks) = (String::new(), Checks::default());
    text.room(tokens.iter().map(|token| token.len() + between.len()).sum())?;
    for (place, token) in tokens.iter().enumerate() {
        checks.check()?;
        if place > 0 {
            text.push_str(between);
        }
        text.push_str(token);
    }
    Ok(text)
}

/// The bytes that the characters of a token stand for; None if it has another character, and stands for itself.
pub(super) fn stood_for(token: &str) -> Option<Vec<u8>> {
    token.chars().map(byte_of).collect()
}

/// The text that tokens stand for.
fn byte_level(tokens: &[String]) -> Result<String> {
    let (mut bytes, mut checks) = (Vec::new(), Checks::default());
    bytes.room(tokens.iter().map(String::len).sum())?;
    for token in tokens {
        checks.check()?;
        match stood_for(token) {
            Some(stood_for) => bytes.extend_from_slice(&stood_for),
            None => bytes.extend_from_slice(token.as_bytes()),
        }
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Tokens such as `<0xE2>` as the bytes that they name, a run of them as text; if it is none, a U+FFFD for each.
fn byte_fallback(tokens: Vec<String>) -> Result<Vec<String>> {
    let (mut made, mut run, mut checks) = (Vec::new(), Vec::new(), Checks::default());
    made.room(tokens.len())?;
    for token in tokens {
        checks.check()?;
        if let Some(byte) = named_byte(&token) {
            run.push(byte);
        } else {
            end_run(&mut run, &mut made);
            made.push(token);
        }
    }
    end_run(&mut run, &mut made);
    Ok(made)
}

fn end_run(run: &mut Vec<u8>, made: &mut Vec<String>) {
    match std::str::from_utf8(run) {
        Ok("") => {}
        Ok(text) => made.push(text.to_owned()),
        Err(_) => made.extend(std::iter::repeat_n("\u{FFFD}".to_owned(), run.len())),
    }
    run.clear();
}

/// At most `start` characters less at the start and `stop` at the end, as long as they are `content`.
fn strip(token: &mut String, content: char, start: usize, stop: usize) {
    let cut = |length: usize, characters: usize| length.min(characters * content.len_utf8());
    let end = token.trim_end_matches(content).len();
    let kept = token.len() - cut(token.len() - end, stop.min(token.len()));
    let front = token.len() - token.trim_start_matches(content).len();
    let from = cut(front, start.min(token.len()));
    token.truncate(kept);
    token.drain(..from.min(kept));
}

/// The clean-up of spaces before punctuation and contractions: each is replaced everywhere, in this order.
const CLEANED: [(&str, &str); 11] = [
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
];

fn clean(token: &mut String) {
    let may = |pair: &[u8]| pair[0] == b' ' && b".?!,'nd".contains(&pair[1]);
    if !token.as_bytes().windows(2).any(may) {
        return;
    }
    for (found, written) in CLEANED {
        if token.contains(found) {
            *token = token.replace(found, written);
        }
    }
}
