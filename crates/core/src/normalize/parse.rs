//! Reading normalizers from `tokenizer.json`.

use std::sync::Arc;

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;

use super::precompiled::Precompiled;
use super::replace::{Replace, check_content};
use super::sentencepiece::{self, SentencePiece};
use super::{Bert, Normalizer};
use crate::error::{Error, Kind, Result};
use crate::split::matches::StatedPattern;

/// Padding may be left out, as it may for `tokenizers`.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
enum Step {
    #[serde(rename = "NFC")]
    Nfc {},
    #[serde(rename = "NFD")]
    Nfd {},
    #[serde(rename = "NFKC")]
    Nfkc {},
    #[serde(rename = "NFKD")]
    Nfkd {},
    Lowercase {},
    Strip {
        strip_left: bool,
        strip_right: bool,
    },
    StripAccents {},
    Replace {
        pattern: StatedPattern,
        content: String,
    },
    Prepend {
        prepend: String,
    },
    BertNormalizer {
        clean_text: bool,
        handle_chinese_chars: bool,
        strip_accents: Option<bool>,
        lowercase: bool,
    },
    Nmt {},
    Precompiled {
        precompiled_charsmap: String,
    },
    SentencePiece(sentencepiece::Options),
    ByteLevel {},
}

impl Normalizer {
    /// The normalizer of a step: its bare name, or its object in `tokenizer.json`.
    ///
    /// ```
    /// use bytepair_core::normalize::Normalizer;
    /// assert_eq!(Normalizer::parse("Lowercase")?.apply("ÀB"), "àb");
    /// let strip = Normalizer::parse(r#"{"type":"Strip","strip_left":true,"strip_right":false}"#)?;
    /// assert_eq!(strip.apply(" a "), "a ");
    /// assert!(Normalizer::parse("Uppercase").is_err());
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Format`, if there is no such normalizer or its fields are not those that it has; `Pattern`, if its regular
    /// expression does not compile.
    pub fn parse(step: &str) -> Result<Self> {
        Ok(match parsed("normalizer", step)? {
            Step::Nfc {} => Self::Nfc,
            Step::Nfd {} => Self::Nfd,
            Step::Nfkc {} => Self::Nfkc,
            Step::Nfkd {} => Self::Nfkd,
            Step::Lowercase {} => Self::Lowercase,
            Step::Strip { strip_left, strip_right } => Self::Strip { left: strip_left, right: strip_right },
            Step::StripAccents {} => Self::StripAccents,
            Step::Replace { pattern, content } => Self::Replace(Arc::new(Replace::new(&pattern, content)?)),
            Step::Prepend { prepend } => {
                check_content(&prepend)?;
                Self::Prepend(prepend.into())
            }
            Step::BertNormalizer { clean_text, handle_chinese_chars, strip_accents, lowercase } => {
                Self::Bert(Bert { clean_text, handle_chinese_chars, strip_accents, lowercase })
            }
            Step::Nmt {} => Self::Nmt,
            Step::Precompiled { precompiled_charsmap } => {
                let bytes = BASE64.decode(precompiled_charsmap).map_err(|error| {
                    Error::new(Kind::Format, format!("the table of the normalizer Precompiled is not base 64: {error}"))
                })?;
                Self::Precompiled(Arc::new(Precompiled::new(&bytes)?))
            }
            Step::SentencePiece(options) => Self::SentencePiece(Arc::new(SentencePiece::new(&options)?)),
            Step::ByteLevel {} => Self::ByteLevel,
        })
    }
}

/// The most characters of a step, and of its error, in a message: both may contain parts of the file.
const MOST_SHOWN: usize = 200;

/// Parses a step, which is a bare name or an object.
pub(crate) fn parsed<T: DeserializeOwned>(kind: &str, step: &str) -> Result<T> {
    let parsed = if step.trim_start().starts_with('{') {
        serde_json::from_str(step)
    } else {
        T::deserialize(MapDeserializer::<_, serde_json::Error>::new(std::iter::once(("type", step))))
    };
    parsed.map_err(|error| {
        let short = |text: &str| text.chars().take(MOST_SHOWN).collect::<String>();
        let (shown, error) = (short(step), short(&error.to_string()));
        Error::new(Kind::Format, format!("the {kind} {shown} is not supported: {error}"))
            .remedy("use one that tokenizer.json has, with the fields that it has there")
    })
}
