//! Proof by exhaustion that each pattern splits alike on every engine: the backtracking engine is the oracle of the
//! automaton, and the automaton that of the blocks.
//!
//! Matches do not depend on what comes before them, so that it suffices to compare the match at the start of a text.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use regex_automata::util::syntax;

use super::automaton::Automaton;
use super::blocks::{Blocks, Fill};
use super::ends::{Ends, step};
use super::family::Family;
use super::fill::fill_portable;
use super::kinds::Kinds;
use super::{Engine, Faster, Pattern, masks, names};

/// The split patterns of published tokenizers that have no name here, and others that a reader of parameters might
/// take for one of these.
const PUBLISHED: [(&str, &str, bool); 27] = [
    (
        "strings before qwen2's",
        concat!(
            r"<\|s\|>|(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*",
            r"|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        true,
    ),
    ("a word beyond ASCII", r"\x{E9}[a-z]+|\p{L}+|\p{N}+|[^\s\p{L}\p{N}]+", false),
    ("strings before all else", r"<\|s\|>|<\|\||'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}{1,3}|[^\s\p{L}\p{N}]+", true),
    ("clip", r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", true),
    ("strings of two kinds", r"<\|s\|>|\[s\]|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", false),
    ("strings behind letters", r"[\p{L}]+|<\|s\|>|[\p{N}]|[^\s\p{L}\p{N}]+", false),
    ("words, numbers and signs", r"\p{L}+|\p{N}+|[^\s\p{L}\p{N}]+", true),
    (
        "qwen3.5",
        concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*",
            r"|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        true,
    ),
    (
        "tekken",
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
            r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        true,
    ),
    (
        "kimi",
        concat!(
            r"[\p{Han}]+",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        true,
    ),
    ("deepseek, digits", r"\p{N}{1,3}", false),
    ("deepseek, CJK", "[一-龥\u{3040}-ゟ゠-ヿ]+", false),
    (
        "deepseek, text",
        concat!(
            r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"##,
            r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        true,
    ),
    ("starcoder, digits", r"\p{N}", false),
    // As `formats/oniguruma.py` spells `\w+|[^\w\s]+`, `[[:punct:]]` and `(?i)abc`.
    (
        "words of Oniguruma",
        concat!(
            r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}]+",
            r"|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\s]+"
        ),
        false,
    ),
    ("signs of Oniguruma", r"[\p{P}\p{S}]", false),
    ("without case", r"(?i:as)", false),
    (
        "gpt2 as tiktoken has it",
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
        true,
    ),
    (
        "digits first",
        concat!(
            r"\p{N}{1,3}|(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+| ?[^\s\p{L}\p{N}]+[\r\n]*",
            r"|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        true,
    ),
    ("runs of digits", r" ?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", true),
    ("line ends without tails", r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+", true),
    ("punctuation before letters", r" ?[^\s\p{L}\p{N}]+|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+|\s+(?!\S)|\s+", false),
    ("one contraction too few", r"'s|'t|'re|'ve|'m|'ll| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", false),
    ("digits only before spaces", r"\p{N}{1,3}(?!\S)| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\p{N}|\s+(?!\S)|\s+", false),
    (
        "contractions only before spaces",
        concat!(
            r"'s(?!\S)|'t(?!\S)|'re(?!\S)|'ve(?!\S)|'m(?!\S)|'ll(?!\S)|'d(?!\S)| ?\p{L}+| ?\p{N}+",
            r"| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
        ),
        false,
    ),
    (
        "two kinds of letters",
        concat!(
            r" ?\p{L}+|[^\r\n\p{L}\p{N}]?\p{Lu}*\p{Ll}+|[^\r\n\p{L}\p{N}]?\p{Lu}+\p{Ll}*|\p{N}",
            r"| ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        false,
    ),
    ("no space kept back", r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+", false),
];

/// Name, pattern, and whether its parameters are read.
fn all() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    let named = names::ALL.into_iter().filter(|(_, text)| !text.is_empty());
    named.map(|(name, text)| (name, text, text != names::SUPERWORDS)).chain(PUBLISHED)
}

fn engine(name: &str, pattern: &str) -> (Box<Automaton>, Option<(Family, Kinds)>) {
    match Pattern::new(pattern).unwrap().engine {
        Engine::Classes(automaton, Some(Faster::Family(family, kinds))) => (automaton, Some((family, kinds))),
        Engine::Classes(automaton, _) => (automaton, None),
        _ => panic!("{name} does not run on classes"),
    }
}

/// How long strings are: six characters with `BYTEPAIR_WHOLE`, which takes minutes.
fn longest() -> u32 {
    if is_whole() { 6 } else { 4 }
}

fn is_whole() -> bool {
    std::env::var_os("BYTEPAIR_WHOLE").is_some()
}

/// All strings up to a length over an alphabet.
fn strings(alphabet: &[char], longest: u32, mut visit: impl FnMut(&str)) {
    let mut text = String::new();
    for length in 1..=longest {
        for number in 0..alphabet.len().pow(length) {
            text.clear();
            text.extend((0..length).map(|place| alphabet[number / alphabet.len().pow(place) % alphabet.len()]));
            visit(&text);
        }
    }
}

/// The match at the start of a text as the backtracking engine finds it.
fn oracle(pattern: &str) -> impl Fn(&str) -> Option<usize> {
    let regex = fancy_regex::Regex::new(pattern).unwrap();
    move |text| {
        let found = regex.find(text).unwrap()?;
        (found.start() == 0).then_some(found.end())
    }
}

#[test]
fn the_parameters_of_the_family_are_read_and_of_nothing_else() {
    for (name, pattern, is_family) in all() {
        assert_eq!(engine(name, pattern).1.is_some(), is_family, "{name}");
    }
}

#[test]
fn the_automaton_matches_like_the_backtracking_engine_on_all_short_strings() {
    // Characters that any of the patterns tells apart, and others that it might.
    let alphabet = [
        ' ', '\n', '\r', '\t', '\u{a0}', 'a', 's', 'l', 'e', 'r', 'A', 'S', 'L', 'ǅ', 'ſ', '1', '½', '\'', '/', '-',
        '$', 'é', '\u{301}', 'ʰ', '中', '々', 'ア', '\u{0}',
    ];
    for (name, pattern, _) in all() {
        let (automaton, _) = engine(name, pattern);
        let expected = oracle(pattern);
        let check = |text: &str| {
            assert_eq!(automaton.match_at(text.as_bytes(), 0), expected(text), "{name} {text:?}");
        };
        strings(&alphabet, if is_whole() { 4 } else { 3 }, check);
        strings(&automaton.representatives(), longest(), check);
    }
}

#[test]
fn the_automaton_matches_like_the_backtracking_engine_on_every_character() {
    for (name, pattern, _) in all() {
        let (automaton, _) = engine(name, pattern);
        let expected = oracle(pattern);
        let frames: &[_] = &[("", "a"), (" ", ""), ("a", "A"), ("-", "\n"), ("\u{301}", " "), ("'", ""), ("A", "a")];
        let frames = if is_whole() { frames } else { &frames[..1] };
        for character in '\0'..=char::MAX {
            for &(before, after) in frames {
                let text = format!("{before}{character}{after}");
                assert_eq!(automaton.match_at(text.as_bytes(), 0), expected(&text), "{name} {text:?}");
            }
        }
    }
}

/// Every way to fill, by name.
fn ways() -> Vec<(&'static str, Fill)> {
    #[allow(unused_mut, reason = "some machines have nothing else")]
    let mut ways: Vec<(_, Fill)> = vec![("portable", fill_portable)];
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    ways.extend(super::wide::all());
    ways
}

fn all_ends(mut fill: impl FnMut(usize, &mut Ends) -> usize, length: usize) -> Vec<usize> {
    let mut ends = Ends::default();
    let (mut at, mut all) = (0, Vec::new());
    while at < length {
        ends.clear(at);
        let start = at;
        at = fill(at, &mut ends);
        all.extend(ends.as_slice().iter().map(|&end| start + end as usize));
    }
    all
}

/// Compares the blocks with the automaton on one text.
fn check(name: &str, automaton: &Automaton, (family, kinds): &(Family, Kinds), text: &str) {
    let blocks = Blocks { family: *family, kinds, automaton };
    let expected = all_ends(|at, ends| step(automaton, text, at, ends), text.len());
    for (way, fill) in ways() {
        let found = all_ends(|at, ends| fill(blocks, text, at, ends), text.len());
        assert_eq!(found, expected, "{name} {way} {text:?}");
    }
}

#[test]
fn blocks_end_pieces_where_the_automaton_does() {
    let alphabets = [
        [' ', '\n', '\t', 'a', 's', 'l', 'A', 'L', '1', '\'', '/', '-', '\u{1}', 'é'],
        [' ', '\n', 'a', 's', 'A', '1', '\'', '-', 'é', 'É', '中', '\u{301}', '。', '😀'],
    ];
    let families: Vec<_> = all()
        .map(|(name, pattern, _)| (name, engine(name, pattern)))
        .filter(|(_, engine)| engine.1.is_some())
        .collect();
    let filler = "a b\n1- 'tis the2nd  line;\n\n  it's A's  x-y ".repeat(3);
    for (name, (automaton, family)) in &families {
        let family = family.as_ref().unwrap();
        for alphabet in &alphabets {
            strings(alphabet, longest(), |text| {
                check(name, automaton, family, text);
                check(name, automaton, family, &format!("{text}{filler}"));
            });
        }
    }
}

#[test]
fn blocks_end_pieces_where_the_automaton_does_in_long_random_texts() {
    let families: Vec<_> = all().map(|(name, pattern, _)| (name, engine(name, pattern))).collect();
    let alphabets = [
        " \nabsAB'-/12",
        " \n\u{0}\u{7f}ab-\u{e}'",
        "as'SlLreRE ",
        "  \n\r\t-/a",
        "aAéÉ中1 '-\n",
        "0123456789 a",
        "éèЖж אب ñ’—",
        "中国アか、。々\u{3000}ー゙",
        "กขฉ\u{e34}\u{e49} ๑",
        "中中中中中中中中中中中ア\u{301}aA'",
        "aaaaaaaaaaaaaaaaaéA中's",
        "😀\u{fe0f}\u{200d}👍🏽½²Ⅷ\u{a0} a\n𐐀𐐨𠀀𝟙",
    ];
    let mut seed = 20_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    for round in 0..800 {
        let alphabet: Vec<char> = alphabets[round % alphabets.len()].chars().collect();
        let length = random(400);
        let text: String = (0..length).map(|_| alphabet[random(alphabet.len())]).collect();
        for (name, (automaton, family)) in &families {
            if let Some(family) = family {
                check(name, automaton, family, &text);
            }
        }
    }
}

/// All that the parameters can say together.
fn combinations() -> Vec<String> {
    let words = "'s|'t|'re|'ve|'m|'ll|'d";
    let mut patterns = Vec::new();
    for (before, after) in [
        (String::new(), String::new()),
        (format!("{words}|"), String::new()),
        (format!("(?i:{words})|"), String::new()),
        (String::new(), format!("(?i:{words})?")),
    ] {
        for prefix in [" ?", r"[^\r\n\p{L}\p{N}]?"] {
            let whole = format!(r"{prefix}\p{{L}}+{after}");
            let cased = format!(r"{prefix}\p{{Lu}}*\p{{Ll}}+{after}|{prefix}\p{{Lu}}+\p{{Ll}}*{after}");
            for letters in [whole, cased] {
                for digits in [r"\p{N}", r"\p{N}{1,3}", r"\p{N}+", r" ?\p{N}+"] {
                    for (tail, line_ends) in
                        [("", ""), ("", r"\s*[\r\n]+|"), (r"[\r\n]*", r"\s*[\r\n]+|"), (r"[\r\n/]*", r"\s*[\r\n]|")]
                    {
                        patterns.push(format!(
                            r"{before}{letters}|{digits}| ?[^\s\p{{L}}\p{{N}}]+{tail}|{line_ends}\s+(?!\S)|\s+"
                        ));
                    }
                }
            }
        }
    }
    patterns
}

#[test]
fn all_that_the_parameters_can_say_is_what_the_automaton_does() {
    let alphabet: Vec<char> = " \n\tasrelAL1'/-éÉ中\u{301}。".chars().collect();
    let mut seed = 5_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    // Every fifth still has each value of each parameter.
    for pattern in combinations().into_iter().step_by(if is_whole() { 1 } else { 5 }) {
        let (automaton, family) = engine(&pattern, &pattern);
        let expected = oracle(&pattern);
        for round in 0..60 {
            let letters = 2 + random(alphabet.len() - 1);
            let text: String = (0..=round * 4).map(|_| alphabet[random(letters)]).collect();
            assert_eq!(automaton.match_at(text.as_bytes(), 0), expected(&text), "{pattern} {text:?}");
            check(&pattern, &automaton, family.as_ref().unwrap(), &text);
        }
    }
}

#[test]
fn blocks_end_long_pieces_where_the_automaton_does() {
    let letters = ["a", "A", "é", "中", "กิ", "aé", "-", "。"];
    let tails = [
        "",
        "A",
        "'s",
        "'re",
        "'rea",
        "'reab½",
        "'sA",
        "'é",
        "éA",
        "中A",
        "\u{301}A",
        " b",
        "1",
        "½",
        "。中",
        "!\u{301}",
        "\n",
        "\u{3000}b",
    ];
    for (name, pattern, _) in all().filter(|(.., is_family)| *is_family) {
        let (automaton, family) = engine(name, pattern);
        for before in ["", " ", "'", "。"] {
            for letter in letters {
                for (tail, count) in tails.iter().flat_map(|tail| (1..70).map(move |count| (tail, count))) {
                    let text =
                        format!("{before}{}{tail}{}", letter.repeat(count), if count % 2 == 0 { "" } else { "ab 中" });
                    check(name, &automaton, family.as_ref().unwrap(), &text);
                }
            }
        }
    }
}

#[test]
fn blocks_end_pieces_where_the_automaton_does_beside_every_character() {
    let every = if is_whole() { 1 } else { 7 };
    for (name, pattern, is_family) in all().filter(|(.., is_family)| *is_family) {
        let (automaton, family) = engine(name, pattern);
        assert!(is_family && family.is_some());
        // A thousand at a time, each between others, at all places of a block.
        let characters: Vec<char> = ('\0'..=char::MAX).step_by(every).collect();
        for (round, some) in characters.chunks(1000).enumerate() {
            let between = ["a", " ", "A", "中 ", "!", "é's\n", "\u{301}x", "1"][round % 8];
            let text: String = some
                .iter()
                .flat_map(|character| ["b", between, " "].map(str::to_owned).into_iter().chain([character.to_string()]))
                .collect();
            check(name, &automaton, family.as_ref().unwrap(), &text);
        }
    }
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn all_ways_classify_alike() {
    let every_byte: Vec<u8> = (0..=255).collect();
    for block in every_byte.as_chunks::<64>().0 {
        for shift in 0..64 {
            let mut block = *block;
            block.rotate_left(shift);
            let expected = masks::portable(&block);
            for (way, classify) in super::wide::classifiers() {
                assert_eq!(classify(&block), expected, "{way}");
            }
        }
    }
}

#[test]
fn the_alternatives_alone_are_what_the_named_patterns_are() {
    // The parser takes out what all alternatives begin with; parsed one by one nothing is lost.
    for (name, pattern, _) in all() {
        let alternatives = super::alternatives::relaxed(pattern).unwrap();
        let plain = alternatives.iter().map(|text| text.replace(super::alternatives::NO_TEXT_NEXT, ""));
        assert!(plain.into_iter().all(|text| syntax::parse(&text).is_ok()), "{name}");
    }
}
