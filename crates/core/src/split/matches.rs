//! The matches of a step's pattern, which is a literal text or a regular expression.
//!
//! Unlike the pieces of a [`Pattern`], empty matches count, as in Oniguruma's search for all matches: an empty one is
//! skipped only where the match before it ended. In an empty text nothing matches.

use std::sync::Arc;

use fancy_regex::Expr;
use memchr::memmem::Finder;
use serde::Deserialize;

use crate::error::Result;
use crate::split::neighbours::{Neighbours, Side};
use crate::split::{Pattern, after_character, names};

/// A pattern as a step states it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) enum StatedPattern {
    String(String),
    Regex(String),
}

/// A compiled pattern.
#[derive(Clone)]
pub(crate) enum Matches {
    /// A text that is not empty.
    Text(Arc<Finder<'static>>),
    Regex {
        pattern: Arc<Pattern>,
        /// Whether each match is known to have a character.
        never_empty: bool,
    },
}

impl Matches {
    /// # Errors
    /// `Pattern`, if it is not a regular expression.
    pub(crate) fn new(stated: &StatedPattern) -> Result<Self> {
        let regex = match stated {
            StatedPattern::String(text) if !text.is_empty() => {
                return Ok(Self::Text(Arc::new(Finder::new(text.as_bytes()).into_owned())));
            }
            StatedPattern::Regex(regex) if !regex.is_empty() => regex,
            // To a `Pattern` the empty expression has no match at all.
            StatedPattern::String(_) | StatedPattern::Regex(_) => "(?:)",
        };
        Ok(Self::Regex { pattern: Arc::new(Pattern::new(regex)?), never_empty: never_empty(regex) })
    }

    /// The pattern, if its pieces are its matches and the text between them.
    pub(crate) fn tiles(&self) -> Option<&Pattern> {
        match self {
            Self::Regex { pattern, never_empty: true } => Some(pattern),
            _ => None,
        }
    }

    /// The text that is looked for; None if it is a regular expression.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        match self {
            Self::Text(finder) => Some(finder.needle()),
            Self::Regex { .. } => None,
        }
    }

    /// Whether each match is known to be one character.
    pub(crate) fn is_one_character(&self) -> bool {
        match self {
            Self::Text(finder) => std::str::from_utf8(finder.needle()).is_ok_and(|text| text.chars().count() == 1),
            Self::Regex { .. } => false,
        }
    }

    /// What may be at the place behind some characters in every text, as [`Pattern::neighbours_behind`] has it.
    pub(crate) fn neighbours(&self, left: &[char], right: char) -> Neighbours {
        match self {
            Self::Text(finder) => {
                let of_text = |text| of_text(text, left.last().copied(), right);
                std::str::from_utf8(finder.needle()).map_or(Neighbours::UNCERTAIN, of_text)
            }
            Self::Regex { pattern, never_empty: true } => pattern.neighbours_behind(left, right),
            // Empty matches are none of a pattern's.
            Self::Regex { .. } => Neighbours::UNCERTAIN,
        }
    }

    /// Calls `found` with the start and the end of each match, in order.
    ///
    /// # Errors
    /// `Pattern`, if the pattern exceeds its step budget.
    pub(crate) fn each(&self, text: &str, mut found: impl FnMut(usize, usize)) -> Result<()> {
        let pattern = match self {
            Self::Text(finder) => {
                let length = finder.needle().len();
                finder.find_iter(text.as_bytes()).for_each(|start| found(start, start + length));
                return Ok(());
            }
            Self::Regex { pattern, .. } => pattern,
        };
        let (mut from, mut last) = (0, None);
        while from <= text.len() && !text.is_empty() {
            let Some((start, end)) = pattern.match_from(text, from)? else { break };
            if start == end && last == Some(end) {
                from = after_character(text, from);
                continue;
            }
            found(start, end);
            from = end;
            last = Some(end);
        }
        Ok(())
    }
}

/// What may be at a place where a text is looked for.
fn of_text(text: &str, left: Option<char>, right: char) -> Neighbours {
    let (mut before, after) = (text.chars(), text.chars().skip(1));
    let goes_across = before.clone().zip(after).any(|(one, next)| next == right && left.is_none_or(|left| left == one));
    let is_one = text.chars().nth(1).is_none();
    let side = |end: Option<char>, beside: Option<char>| Side {
        matched: beside.is_none_or(|beside| end == Some(beside)),
        gap: beside.is_none_or(|beside| end != Some(beside) || !is_one),
    };
    let set = Neighbours::of_sides(side(before.next_back(), left), side(text.chars().next(), Some(right)));
    if goes_across { set.or(Neighbours::ONE_MATCH).or(Neighbours::LINKED) } else { set }
}

/// Whether each match of a regular expression has a character; false if that is not known.
pub(super) fn never_empty(regex: &str) -> bool {
    names::ALL.iter().any(|(_, named)| !regex.is_empty() && *named == regex)
        || Expr::parse_tree(regex).is_ok_and(|tree| has_character(&tree.expr))
}

fn has_character(part: &Expr) -> bool {
    match part {
        Expr::Any { .. } | Expr::GeneralNewline { .. } => true,
        Expr::Literal { val, .. } => !val.is_empty(),
        Expr::Delegate { inner, .. } => regex_syntax::parse(inner)
            .is_ok_and(|parsed| parsed.properties().minimum_len().is_some_and(|least| least > 0)),
        Expr::Concat(parts) => parts.iter().any(has_character),
        Expr::Alt(parts) => parts.iter().all(has_character),
        Expr::Group(inner) => has_character(inner),
        Expr::AtomicGroup(inner) => has_character(inner),
        Expr::Repeat { child, lo, .. } => *lo > 0 && has_character(child),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn found(stated: &StatedPattern, text: &str) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        Matches::new(stated).unwrap().each(text, |start, end| all.push((start, end))).unwrap();
        all
    }

    #[test]
    fn empty_matches_count_but_not_where_a_match_ended() {
        let regex = |text: &str| StatedPattern::Regex(text.to_owned());
        assert_eq!(found(&regex("x*"), "axxb"), [(0, 0), (1, 3), (4, 4)]);
        assert_eq!(found(&regex("(?=[A-Z])"), "aBéC"), [(1, 1), (4, 4)]);
        assert_eq!(found(&regex(""), "é"), [(0, 0), (2, 2)]);
        assert_eq!(found(&StatedPattern::String(String::new()), "ab"), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(found(&StatedPattern::String("..".into()), "a....."), [(1, 3), (3, 5)]);
        assert_eq!(found(&regex("^|a"), ""), []);
    }

    #[test]
    fn it_is_known_of_the_patterns_in_use_that_no_match_is_empty() {
        assert!(names::ALL.iter().all(|(_, regex)| regex.is_empty() || never_empty(regex)));
        for regex in [r"\s+(?!\S)|\d", "(?i:a)b?", r"\p{L}{2,3}", "(?>a|b)c*", "[^ab]", "a.|\\n"] {
            assert!(never_empty(regex), "{regex}");
        }
        for regex in ["", "a*", "(?=a)", r"\b", "a|b?", "(?:a*)+", "(?!a)|b", "^", r"(a)?\1"] {
            assert!(!never_empty(regex), "{regex}");
        }
    }
}
