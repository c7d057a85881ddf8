//! Added tokens: matched before everything else, leftmost-longest, by one automaton.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::error::{Error, Kind, Result};

/// A token that is matched in the text itself, before any split.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "these are the flags that tokenizer.json has for each added token")]
pub struct AddedToken {
    /// The text that it is.
    pub content: String,
    /// Its id.
    pub id: u32,
    /// Whether it controls (bos, eos, role marks), so that user text may not become it unasked.
    pub special: bool,
    /// Only where it is not part of a longer word.
    pub single_word: bool,
    /// White space before it belongs to it.
    pub lstrip: bool,
    /// White space after it belongs to it.
    pub rstrip: bool,
    /// Whether it is looked for in the normalized text (else in the original).
    pub normalized: bool,
}

/// An added token found in a text: `start..end` in bytes, white space that it takes included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it starts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Which of the matcher's tokens it is.
    pub token: usize,
}

/// Finds some tokens in texts.
pub struct Matcher {
    tokens: Vec<AddedToken>,
    automaton: AhoCorasick,
}

impl Matcher {
    /// A matcher of these tokens as `spelled` in the texts to come; None where there are none.
    ///
    /// # Errors
    /// `Format`, if the tokens are too long together for one automaton.
    pub fn new(tokens: Vec<AddedToken>, spelled: impl Fn(&str) -> String) -> Result<Option<Self>> {
        if tokens.is_empty() {
            return Ok(None);
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(tokens.iter().map(|token| spelled(&token.content)))
            .map_err(|error| Error::new(Kind::Format, format!("the added tokens cannot be compiled: {error}")))?;
        Ok(Some(Self { tokens, automaton }))
    }

    /// The token with this number.
    #[must_use]
    pub fn token(&self, number: usize) -> &AddedToken {
        &self.tokens[number]
    }

    /// All tokens.
    pub(crate) fn tokens(&self) -> &[AddedToken] {
        &self.tokens
    }

    /// The length of the longest token as it is spelled, in bytes.
    pub(crate) fn longest(&self) -> usize {
        self.automaton.max_pattern_len()
    }

    /// The tokens in `text`, in order, none overlapping another.
    pub fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Found> + 'a {
        let mut last_end = 0;
        self.automaton.find_iter(text).filter_map(move |found| {
            let number = found.pattern().as_usize();
            let token = &self.tokens[number];
            let (mut start, mut end) = (found.start(), found.end());
            let inside_a_word = || {
                text[..start].chars().next_back().is_some_and(is_word)
                    || text[end..].chars().next().is_some_and(is_word)
            };
            // White space that an earlier token took may be what this one starts with.
            if start < last_end || token.single_word && inside_a_word() {
                return None;
            }
            if token.lstrip {
                start = last_end + text[last_end..start].trim_end().len();
            }
            if token.rstrip {
                end = text.len() - text[end..].trim_start().len();
            }
            last_end = end;
            Some(Found { start, end, token: number })
        })
    }
}

/// What `\w` matches.
fn is_word(character: char) -> bool {
    regex_syntax::is_word_character(character)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn token(content: &str) -> AddedToken {
        AddedToken { content: content.to_owned(), ..AddedToken::default() }
    }

    fn found(tokens: Vec<AddedToken>, text: &str) -> Vec<&str> {
        let matcher = Matcher::new(tokens, str::to_owned).unwrap().unwrap();
        matcher.find(text).map(|found| &text[found.start..found.end]).collect()
    }

    #[test]
    fn the_longest_of_the_leftmost_wins() {
        assert_eq!(found(vec![token("<a"), token("<a>"), token("a>b")], "x<a>b<a"), ["<a>", "<a"]);
    }

    #[test]
    fn flags_take_white_space_and_mind_words() {
        let strip = AddedToken { lstrip: true, rstrip: true, ..token("<m>") };
        assert_eq!(found(vec![strip.clone()], "a \t<m> <m>\nb"), [" \t<m> ", "<m>\n"]);
        assert_eq!(found(vec![strip, token("\n")], "<m>\n\n"), ["<m>\n\n"]);
        let word = AddedToken { single_word: true, ..token("cat") };
        assert_eq!(found(vec![word], "cat cats écat cat"), ["cat", "cat"]);
    }
}
