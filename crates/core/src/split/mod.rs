//! Text -> pieces: hard walls for merges.
//!
//! A [`Pattern`] tiles a text: its matches are pieces and so is what lies between two matches, so that nothing is
//! lost. [`added`] finds the added tokens, which are matched before everything else.

pub mod added;
mod alternatives;
pub mod names;

use fancy_regex::RegexBuilder;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, PatternID};

use crate::error::{Error, Kind, Result};

/// How many steps back `fancy-regex` may take within one piece.
const STEP_BUDGET: usize = 10_000_000;

/// Memory that one lazily built automaton may use; Unicode-heavy text thrashes the default of 2 MB.
const AUTOMATON_BYTES: usize = 16 << 20;

/// A compiled split pattern.
///
/// ```
/// use bytepair_core::split::{Pattern, names};
/// let gpt2 = Pattern::new(names::GPT2)?;
/// let pieces: Result<Vec<_>, _> = gpt2.pieces("it's  42!").collect();
/// assert_eq!(pieces?, ["it", "'s", " ", " 42", "!"]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub struct Pattern {
    text: String,
    engine: Engine,
}

enum Engine {
    /// The empty pattern: the whole text is one piece.
    Whole,
    /// An automaton: linear on every text.
    Automaton(Regex),
    /// An automaton of the alternatives in which `\s+(?!\S)`, the one with number `spaces`, stands as `\s+` and is then
    /// corrected: linear where a backtracking engine would need memory for each space. `after` is the rest of the
    /// alternatives, for the one space that the look-ahead refuses.
    Spaces { all: Regex, spaces: PatternID, after: Regex },
    /// A backtracking engine, for look-around and back-references of any other form.
    Backtracking(fancy_regex::Regex),
}

impl Pattern {
    /// Compiles a pattern; the empty one leaves every text whole.
    ///
    /// # Errors
    /// `Pattern`, if it is not a regular expression.
    pub fn new(text: &str) -> Result<Self> {
        let engine = if text.is_empty() {
            Engine::Whole
        } else if let Some(engine) = family_engine(text) {
            engine
        } else if let Some(regex) = automaton(&[text]).filter(|_| !alternatives::has_possessive(text)) {
            Engine::Automaton(regex)
        } else {
            // Both make a match depend on where the search began, so that a piece would depend on the one before it.
            if let Some(escape) = alternatives::escapes(text).find(|escape| matches!(escape, 'G' | 'K')) {
                return Err(Error::new(Kind::Pattern, format!("the split pattern has \\{escape}"))
                    .remedy("use a pattern whose matches depend on the text alone"));
            }
            Engine::Backtracking(RegexBuilder::new(text).backtrack_limit(STEP_BUDGET).build().map_err(|error| {
                Error::new(Kind::Pattern, format!("the split pattern does not compile: {error}"))
                    .remedy("check the pattern, or name one: gpt2, cl100k, o200k, llama3, qwen2, none")
            })?)
        };
        Ok(Self { text: text.to_owned(), engine })
    }

    /// The pattern as it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the empty text is a match.
    ///
    /// # Errors
    /// `Pattern`, if the pattern gives up.
    pub fn matches_nothing(&self) -> Result<bool> {
        Ok(!matches!(self.engine, Engine::Whole) && self.find_any("", 0)?.is_some())
    }

    /// The pieces of a text, in order; together they are the text.
    #[must_use]
    pub fn pieces<'p, 't>(&'p self, text: &'t str) -> Pieces<'p, 't> {
        self.pieces_from(text, 0)
    }

    /// The pieces from byte `start` on, with all of `text` in view of look-around. Where two scans that began at
    /// different places share one boundary, they share all later ones.
    ///
    /// # Panics
    /// If `start` is not a character boundary.
    #[must_use]
    pub fn pieces_from<'p, 't>(&'p self, text: &'t str, start: usize) -> Pieces<'p, 't> {
        assert!(text.is_char_boundary(start), "a scan starts at a character");
        Pieces { pattern: self, text, at: start, found: None }
    }

    /// The first match that is not empty and starts at `from` or later.
    fn find(&self, text: &str, from: usize) -> Result<Option<(usize, usize)>> {
        let mut from = from;
        while from < text.len() {
            let Some((start, end)) = self.find_any(text, from)? else { return Ok(None) };
            if end > start {
                return Ok(Some((start, end)));
            }
            from = end + text[end..].chars().next().map_or(1, char::len_utf8);
        }
        Ok(None)
    }

    /// The first match; an empty one says that nothing matches where it is.
    fn find_any(&self, text: &str, from: usize) -> Result<Option<(usize, usize)>> {
        let input = Input::new(text).range(from..);
        // Anchored first: patterns in use cover every text, and an anchored search need not look for its start.
        let anchored = input.clone().anchored(Anchored::Yes);
        let ends = |found: regex_automata::Match| (found.start(), found.end());
        Ok(match &self.engine {
            Engine::Whole => Some((from, text.len())),
            Engine::Automaton(regex) => regex.find(anchored).or_else(|| regex.find(input)).map(ends),
            Engine::Spaces { all, spaces, after } => {
                let Some(found) = all.find(anchored).or_else(|| all.find(input)) else { return Ok(None) };
                let (start, end) = ends(found);
                if found.pattern() != *spaces || end == text.len() {
                    return Ok(Some((start, end)));
                }
                let last = text[start..end].chars().next_back().map_or(0, char::len_utf8);
                if end - last > start {
                    return Ok(Some((start, end - last)));
                }
                let alone = Input::new(text).range(start..).anchored(Anchored::Yes);
                Some(after.find(alone).map_or((start, start), ends))
            }
            Engine::Backtracking(regex) => regex
                .find_from_pos(text, from)
                .map_err(|error| {
                    Error::new(Kind::Pattern, format!("the split pattern gave up on this text: {error}"))
                        .at(from)
                        .remedy("use a pattern without nested repetition or look-around")
                })?
                .map(|found| (found.start(), found.end())),
        })
    }
}

/// Several patterns as one automaton, the first of them preferred.
fn automaton(patterns: &[impl AsRef<str>]) -> Option<Regex> {
    Regex::builder()
        .configure(Regex::config().hybrid_cache_capacity(AUTOMATON_BYTES))
        .syntax(syntax::Config::new())
        .build_many(patterns)
        .ok()
}

/// The engine for patterns of the usual family: alternatives, one of them perhaps `\s+(?!\S)`, some of them possessive.
///
/// Each alternative is a pattern of its own, since the parser of regular expressions takes out what all alternatives
/// begin with, and so makes `a?a|a?b` prefer what it should not.
fn family_engine(pattern: &str) -> Option<Engine> {
    let mut alternatives = alternatives::relaxed(pattern)?;
    let Some(spaces) = alternatives.iter().position(|alternative| alternative == alternatives::TRAILING_SPACES) else {
        return automaton(&alternatives).map(Engine::Automaton);
    };
    r"\s+".clone_into(&mut alternatives[spaces]);
    let after = automaton(&alternatives[spaces + 1..])?;
    Some(Engine::Spaces { all: automaton(&alternatives)?, spaces: PatternID::new(spaces).ok()?, after })
}

/// The pieces of one text; after an error there are none.
pub struct Pieces<'p, 't> {
    pattern: &'p Pattern,
    text: &'t str,
    at: usize,
    /// A match that was found beyond `at`: what lies before it is a piece of its own.
    found: Option<(usize, usize)>,
}

impl Pieces<'_, '_> {
    /// Where the next piece starts, in bytes.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }
}

impl<'t> Iterator for Pieces<'_, 't> {
    type Item = Result<&'t str>;

    fn next(&mut self) -> Option<Self::Item> {
        let from = self.at;
        if from >= self.text.len() {
            return None;
        }
        let found = match self.found.take() {
            Some(found) => Ok(Some(found)),
            None => self.pattern.find(self.text, from),
        };
        self.at = match found {
            Err(error) => {
                self.at = self.text.len();
                return Some(Err(error));
            }
            Ok(None) => self.text.len(),
            Ok(Some((start, end))) if start == from => end,
            Ok(Some(found)) => {
                self.found = Some(found);
                found.0
            }
        };
        Some(Ok(&self.text[from..self.at]))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn split(pattern: &Pattern, text: &str) -> Vec<String> {
        pattern.pieces(text).map(|piece| piece.unwrap().to_owned()).collect()
    }

    /// The same pattern on the backtracking engine: the oracle.
    fn oracle(text: &str) -> Pattern {
        Pattern { text: text.to_owned(), engine: Engine::Backtracking(fancy_regex::Regex::new(text).unwrap()) }
    }

    #[test]
    fn named_patterns_need_no_backtracking_and_split_like_it() {
        // One representative of each character class that any of the patterns tells apart.
        let classes = [' ', '\n', '\t', 'a', 's', 'A', '1', '\'', '/', '-', 'é', '\u{301}', '中', '\u{a0}', '\r'];
        for (name, text) in names::ALL.iter().filter(|(_, text)| !text.is_empty()) {
            let (fast, slow) = (Pattern::new(text).unwrap(), oracle(text));
            assert!(!matches!(fast.engine, Engine::Backtracking(_)), "{name}");
            for length in 1..=4_u32 {
                for number in 0..classes.len().pow(length) {
                    let text: String =
                        (0..length).map(|place| classes[number / classes.len().pow(place) % classes.len()]).collect();
                    assert_eq!(split(&fast, &text), split(&slow, &text), "{name} {text:?}");
                }
            }
        }
    }

    #[test]
    fn possessive_spellings_need_no_backtracking() {
        let gpt2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";
        let cl100k = concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+",
            r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        );
        for (given, named) in [(gpt2, names::GPT2), (cl100k, names::CL100K)] {
            let (given, named) = (Pattern::new(given).unwrap(), Pattern::new(named).unwrap());
            assert!(matches!(given.engine, Engine::Spaces { .. }));
            for text in ["I'Ve  42317 \n\n a.\n\n", "--x!!\r\n  ", " \n \n", "a  b", "don't'll"] {
                assert_eq!(split(&given, text), split(&named, text), "{text:?}");
            }
        }
    }

    #[test]
    fn a_possessive_that_matters_is_kept() {
        let pattern = Pattern::new("a++ab|a|b").unwrap();
        assert!(matches!(pattern.engine, Engine::Backtracking(_)));
        assert_eq!(split(&pattern, "aab"), ["a", "a", "b"]);
    }

    #[test]
    fn what_lies_between_matches_is_a_piece_and_empty_matches_are_none() {
        assert_eq!(split(&Pattern::new("[0-9]+").unwrap(), "ab12c3"), ["ab", "12", "c", "3"]);
        assert_eq!(split(&Pattern::new("[0-9]*").unwrap(), "éb12c"), ["éb", "12", "c"]);
        assert_eq!(split(&Pattern::new("").unwrap(), "a b"), ["a b"]);
        assert_eq!(split(&Pattern::new("x|\\s+(?!\\S)").unwrap(), "a b  x"), ["a b", " ", " ", "x"]);
        assert!(split(&Pattern::new(names::GPT2).unwrap(), "").is_empty());
    }

    #[test]
    fn a_million_spaces_split_in_linear_time() {
        let text = format!("{}x", " ".repeat(1_000_000));
        let lengths: Vec<_> = split(&Pattern::new(names::CL100K).unwrap(), &text).iter().map(String::len).collect();
        assert_eq!(lengths, [999_999, 2]);
    }

    #[test]
    fn a_million_single_spaces_that_nothing_matches_are_stepped_over() {
        let text = "a ".repeat(1_000_000) + "x";
        assert_eq!(split(&Pattern::new(r"x|\s+(?!\S)").unwrap(), &text), [&text[..2_000_000], "x"]);
    }

    #[test]
    fn a_pattern_that_does_not_compile_or_explodes_is_an_error() {
        assert_eq!(Pattern::new("(a").err().unwrap().kind, Kind::Pattern);
        let explosive = Pattern::new(r"(?:(?=a)a|(?=aa)aa)+b").unwrap();
        let error = explosive.pieces(&"a".repeat(40)).find_map(Result::err).unwrap();
        assert_eq!((error.kind, error.byte), (Kind::Pattern, Some(0)));
    }

    #[test]
    fn matches_that_depend_on_where_the_search_began_are_refused() {
        for pattern in [r"a|(?<=\Ka)b", r"\Gab|a"] {
            assert!(Pattern::new(pattern).err().unwrap().what.starts_with("the split pattern has"), "{pattern}");
        }
    }

    #[test]
    fn patterns_that_were_once_read_wrong() {
        let cases: [(&str, &str, &[&str]); 9] = [
            (r"a?a|a?b", "ab", &["a", "b"]),
            (r"\n??.+|\n??\s+?[ab]", "\n akA", &["\n akA"]),
            (r"a?a|a?b|\s+(?!\S)", "ab", &["a", "b"]),
            (r"a|(?i)b|\s+(?!\S)|c", "dCd", &["d", "C", "d"]),
            (r"b|(?i)a++A|\s", "aA", &["aA"]),
            (r"a|(?x) b |\s+(?!\S)|\s +", " A", &[" ", "A"]),
            (r"a++\z?a", "baa", &["baa"]),
            (r"a++$?a|b", "baa", &["b", "aa"]),
            (r"b|(?m)a++$|\s++$|\s+", " \na", &[" \n", "a"]),
        ];
        for (pattern, text, pieces) in cases {
            assert_eq!(split(&Pattern::new(pattern).unwrap(), text), pieces, "{pattern}");
        }
    }
}
