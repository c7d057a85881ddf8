//! Reading pre-tokenizers from `tokenizer.json`.

use serde::Deserialize;

use super::byte_level::ByteLevel;
use super::kinds::{Kinds, Rule};
use super::{Behavior, Matches, PreTokenizer, Step, metaspace};
use crate::error::{Error, Kind, Result};
use crate::normalize::parsed;
use crate::split::matches::StatedPattern;

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
enum Named {
    ByteLevel {
        add_prefix_space: bool,
        /// It governs offsets, which are not made here.
        #[allow(dead_code, reason = "it is read so that it may be there")]
        trim_offsets: bool,
        #[serde(default = "yes")]
        use_regex: bool,
    },
    Split {
        pattern: StatedPattern,
        behavior: Behavior,
        invert: bool,
    },
    Whitespace {},
    WhitespaceSplit {},
    BertPreTokenizer {},
    Punctuation {
        #[serde(default = "isolated")]
        behavior: Behavior,
    },
    Digits {
        individual_digits: bool,
    },
    Metaspace(metaspace::StatedMetaspace),
    CharDelimiterSplit {
        delimiter: char,
    },
    UnicodeScripts {},
    FixedLength {
        #[serde(default = "five")]
        length: usize,
    },
}

fn yes() -> bool {
    true
}

fn isolated() -> Behavior {
    Behavior::Isolated
}

fn five() -> usize {
    5
}

impl PreTokenizer {
    /// The pre-tokenizer of a step: its bare name, or its object in `tokenizer.json`.
    ///
    /// # Errors
    /// `Format`, if there is no such pre-tokenizer or its fields are not those that it has; `Pattern`, if its regular
    /// expression does not compile.
    pub fn parse(step: &str) -> Result<Self> {
        let kinds = |rule, behavior| Step::Kinds(Kinds::new(rule, behavior));
        let wrong = |what: &str| Error::new(Kind::Format, format!("a pre-tokenizer that cannot be: {what}"));
        Ok(Self(match parsed("pre-tokenizer", step)? {
            Named::ByteLevel { add_prefix_space, use_regex, .. } => {
                Step::ByteLevel(ByteLevel::new(add_prefix_space, use_regex)?)
            }
            Named::Split { pattern, behavior, invert } => {
                Step::Split { matches: Matches::new(&pattern)?, behavior, invert }
            }
            Named::Whitespace {} => kinds(Rule::Whitespace, Behavior::Removed),
            Named::WhitespaceSplit {} => kinds(Rule::WhitespaceSplit, Behavior::Removed),
            Named::BertPreTokenizer {} => kinds(Rule::Bert, Behavior::Isolated),
            Named::Punctuation { behavior } => kinds(Rule::Punctuation, behavior),
            Named::Digits { individual_digits } => {
                kinds(Rule::Digits, if individual_digits { Behavior::Isolated } else { Behavior::Contiguous })
            }
            Named::Metaspace(stated) => Step::Metaspace(stated.try_into().map_err(wrong)?),
            Named::CharDelimiterSplit { delimiter } => kinds(Rule::Character(delimiter), Behavior::Removed),
            Named::UnicodeScripts {} => Step::UnicodeScripts,
            Named::FixedLength { length: 0 } => {
                return Err(wrong("the pieces of FixedLength would have no characters"));
            }
            Named::FixedLength { length } => Step::FixedLength(length),
        }))
    }
}
