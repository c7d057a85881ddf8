//! How a call treats added tokens in its text: as tokens, as text, or as errors.

use std::collections::HashSet;

use crate::error::{Error, Kind, Result};
use crate::split::added::AddedToken;

/// The treatment of an added token's text in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Treat<'a> {
    /// It is an error.
    #[default]
    Raise,
    /// It is text like any other.
    Text,
    /// It becomes the token.
    Match,
    /// It becomes the token if its id is in the set, else it is an error.
    Only(&'a HashSet<u32>),
}

/// How one call treats special tokens, and added tokens that are not special.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'a> {
    /// For special tokens.
    pub special: Treat<'a>,
    /// For added tokens that are not special.
    pub added: Treat<'a>,
}

impl Default for Policy<'_> {
    fn default() -> Self {
        Self { special: Treat::Raise, added: Treat::Match }
    }
}

impl Policy<'_> {
    /// Whether there can be tokens that it does not admit.
    pub(super) fn refuses(&self) -> bool {
        [self.special, self.added].iter().any(|treat| matches!(treat, Treat::Raise | Treat::Only(_)))
    }
}

/// Whether the policy admits this token.
pub(crate) fn admit(token: &AddedToken, policy: Policy) -> Result<()> {
    let (treat, option, kind) =
        if token.special { (policy.special, "special", "special") } else { (policy.added, "added", "added") };
    let admitted = match treat {
        Treat::Match | Treat::Text => true,
        Treat::Raise => false,
        Treat::Only(ids) => ids.contains(&token.id),
    };
    if admitted {
        return Ok(());
    }
    let content = &token.content;
    let allow = if token.special { "allow" } else { "match" };
    Err(Error::new(
        Kind::SpecialToken,
        format!("the text holds the {kind} token {content:?}, which this call does not allow"),
    )
    .remedy(format!(
        "pass {option}=\"text\" to encode it as ordinary text, {option}=\"{allow}\" to let text become such tokens, \
             or bp.Control({content:?}) where you mean the token"
    ))
    .cli_remedy(format!(
        "--{option} text encodes it as ordinary text, --{option} {allow} lets text become such tokens"
    )))
}
