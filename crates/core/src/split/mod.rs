//! Text -> pieces: hard walls for merges.
//!
//! A [`Pattern`] tiles a text: its matches are pieces, and so is the text between two matches, so that nothing is lost.
//! [`added`] finds the added tokens, which are matched before everything else. `matches` finds the matches of a step's
//! pattern, which normalizers and pre-tokenizers use: so this room is below both.

pub mod added;
mod alternatives;
mod automaton;
mod blocks;
mod classes;
mod ends;
mod family;
mod fill;
mod gaps;
mod growing;
mod kinds;
pub(crate) mod marked_words;
mod masks;
pub(crate) mod matches;
pub mod names;
pub(crate) mod neighbours;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scan;
mod seams;
mod starts;
mod states;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(test)]
mod equivalence;

use std::sync::OnceLock;

use fancy_regex::RegexBuilder;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use self::automaton::{Automaton, SeamTable};
pub(crate) use self::ends::Ends;
use self::family::Family;
pub(crate) use self::growing::{Growing, GrowingPiece};
use self::kinds::Kinds;
use self::marked_words::MarkedWords;
use self::neighbours::NeighbourTable;
#[cfg(target_arch = "aarch64")]
use self::neon as wide;
pub use self::scan::Pieces;
pub(crate) use self::scan::Scan;
pub(crate) use self::seams::Seams;
pub(crate) use self::states::{States, Symbol, Walls};
#[cfg(target_arch = "x86_64")]
use self::x86 as wide;
use crate::error::{Error, Kind, Result};

/// The version of Unicode in which split patterns mean classes of characters.
pub const UNICODE: &str = "16.0.0";

/// Bytes of the longest pattern: a class of all characters in a vocabulary of Chinese has tens of thousands. Compiling the
/// longest takes up to a second.
const LONGEST_PATTERN: usize = 131_072;

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
    /// Computed on first use.
    seams: OnceLock<SeamTable>,
    /// Computed on first use.
    neighbours: OnceLock<NeighbourTable>,
    /// The automaton that matches the text between matches as well, computed on first use; None if there is none.
    tiling: OnceLock<Option<Box<(Automaton, SeamTable)>>>,
}

enum Engine {
    /// The empty pattern: the whole text is one piece.
    Whole,
    /// An automaton over classes of characters, and a faster way to the same pieces.
    Classes(Box<Automaton>, Option<Faster>),
    /// An automaton over bytes, built as it runs: linear on every text.
    Regular(Regex),
    /// A backtracking engine, for look-around and back-references.
    Backtracking(fancy_regex::Regex),
}

/// A faster way than the automaton to the pieces of some patterns.
enum Faster {
    /// For the usual family of patterns.
    Family(Family, Kinds),
    /// For words that begin with U+2581.
    Words(MarkedWords),
}

impl Pattern {
    /// Compiles a pattern; the empty one leaves every text whole.
    ///
    /// # Errors
    /// `Pattern`, if it is not a regular expression, or longer than 16,384 bytes.
    pub fn new(text: &str) -> Result<Self> {
        if text.len() > LONGEST_PATTERN {
            return Err(Error::new(Kind::Pattern, format!("the split pattern has {} bytes", text.len()))
                .remedy(format!("use at most {LONGEST_PATTERN}")));
        }
        let engine = if text.is_empty() {
            Engine::Whole
        } else if let Some(engine) = automaton(text) {
            engine
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
        let (seams, neighbours, tiling) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Self { text: text.to_owned(), engine, seams, neighbours, tiling })
    }

    /// The source of the pattern.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a match may be empty, in some text; true if that is not known.
    ///
    /// ```
    /// use bytepair_core::split::Pattern;
    /// assert!(Pattern::new("a*|b")?.may_match_nothing() && Pattern::new("(?=a)")?.may_match_nothing());
    /// assert!(!Pattern::new("(?=a)a*b")?.may_match_nothing());
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    #[must_use]
    pub fn may_match_nothing(&self) -> bool {
        !matches!(self.engine, Engine::Whole) && !matches::never_empty(&self.text)
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
        Pieces::of(Scan::new(self, &[], text, start..text.len()))
    }

    /// Whether a text is known to be one piece, which is a match.
    pub(crate) fn is_one_match(&self, text: &str) -> bool {
        let Engine::Classes(automaton, _) = &self.engine else { return false };
        automaton.match_at(text.as_bytes(), 0) == Some(text.len())
    }

    /// Whether a piece is a match, where its first character tells that.
    pub(crate) fn is_match(&self) -> Option<impl Fn(&[u8]) -> bool> {
        let Engine::Classes(automaton, Some(Faster::Family(family, _))) = &self.engine else { return None };
        family.matches_characters().then_some(|piece: &[u8]| automaton.begins(piece))
    }

    /// The first match that is not empty and starts at `from` or later.
    fn find(&self, text: &str, from: usize) -> Result<Option<(usize, usize)>> {
        let mut from = from;
        while from < text.len() {
            let Some((start, end)) = self.match_from(text, from)? else { return Ok(None) };
            if end > start {
                return Ok(Some((start, end)));
            }
            from = after_character(text, end);
        }
        Ok(None)
    }

    /// The first match that starts at `from` or later, perhaps an empty one.
    fn match_from(&self, text: &str, from: usize) -> Result<Option<(usize, usize)>> {
        Ok(match &self.engine {
            Engine::Whole => Some((from, text.len())),
            Engine::Classes(automaton, _) => {
                let mut from = from;
                loop {
                    if let Some(end) = automaton.match_at(text.as_bytes(), from) {
                        return Ok(Some((from, end)));
                    }
                    if from >= text.len() {
                        return Ok(None);
                    }
                    from = automaton.next_start(text, from);
                }
            }
            Engine::Regular(regex) => {
                let input = Input::new(text).range(from..);
                // Anchored first, since most patterns cover every text: that search need not look for its start.
                let found = regex.find(input.clone().anchored(Anchored::Yes)).or_else(|| regex.find(input));
                found.map(|found| (found.start(), found.end()))
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

/// Where the character that starts at `at` ends; past the end of the text, if none does.
fn after_character(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

/// The engine of a pattern that needs no backtracking.
///
/// Each alternative is parsed by itself, since the parser of regular expressions factors out a common prefix of all
/// alternatives, which changes the preference of `a?a|a?b`.
fn automaton(pattern: &str) -> Option<Engine> {
    let alternatives = alternatives::relaxed(pattern);
    if let Some(alternatives) = &alternatives
        && let Some(automaton) = Automaton::new(alternatives)
    {
        let words = MarkedWords::of(pattern).map(Faster::Words);
        let family = || Family::of(alternatives).map(|family| Faster::Family(family, automaton.kinds()));
        let faster = words.or_else(family);
        return Some(Engine::Classes(Box::new(automaton), faster));
    }
    if let Some(alternatives) = &alternatives
        && let Some(regex) = regular(alternatives)
    {
        return Some(Engine::Regular(regex));
    }
    regular(&[pattern]).filter(|_| !alternatives::has_possessive(pattern)).map(Engine::Regular)
}

/// Several patterns as one automaton over bytes, the first of them preferred.
fn regular(patterns: &[impl AsRef<str>]) -> Option<Regex> {
    Regex::builder()
        .configure(Regex::config().hybrid_cache_capacity(AUTOMATON_BYTES))
        .syntax(syntax::Config::new())
        .build_many(patterns)
        .ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn split(pattern: &Pattern, text: &str) -> Vec<String> {
        pattern.pieces(text).map(|piece| piece.unwrap().to_owned()).collect()
    }

    #[test]
    fn the_version_of_unicode_is_that_of_the_classes() {
        let (major, _) = UNICODE.split_once('.').unwrap();
        assert!(regex_syntax::parse(&format!(r"\p{{age={major}.0}}")).is_ok());
        assert!(regex_syntax::parse(&format!(r"\p{{age={}.0}}", major.parse::<u32>().unwrap() + 1)).is_err());
    }

    #[test]
    fn patterns_in_a_row_split_what_the_one_before_left() {
        // Those of DeepSeek V3 and DeepSeek Coder, and some that match only before others, or nothing.
        let rows: [&[&str]; 3] = [
            &[r"\p{N}{1,3}", "[一-龥]+", names::GPT2],
            &[r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-\u{D7FF}]+", r"\p{N}"],
            &[r"a(?!\S)", r"1?-|x*", "(?i:S)|'", "[ 2-4]{2,3}"],
        ];
        for texts in rows {
            check_row(&texts.iter().map(|text| Pattern::new(text).unwrap()).collect::<Vec<_>>());
        }
    }

    fn check_row(patterns: &[Pattern]) {
        let rows = |text: &str| {
            let mut pieces = vec![text.to_owned()];
            for pattern in patterns {
                pieces = pieces.iter().flat_map(|piece| split(pattern, piece)).collect();
            }
            pieces
        };
        let mut seed = 3_u64;
        let alphabet: Vec<char> = "  \na'sé中国1234-.$".chars().collect();
        for length in [0, 1, 2, 5, 40, 700] {
            for _ in 0..30 {
                let text: String = (0..length)
                    .map(|_| {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        alphabet[(seed >> 33) as usize % alphabet.len()]
                    })
                    .collect();
                let scan = Scan::new(&patterns[0], &patterns[1..], &text, 0..text.len());
                let pieces: Vec<String> = Pieces::of(scan).map(|piece| piece.unwrap().to_owned()).collect();
                assert_eq!(pieces, rows(&text), "{text:?}");
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
            assert!(matches!(given.engine, Engine::Classes(_, Some(_))));
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
