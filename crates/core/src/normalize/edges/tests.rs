//! Edges against the definition: a text and its two parts are normalized, for all that may stand around the place.
//!
//! Long because every normalizer needs the characters that matter to it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use base64::Engine;
use unicode_normalization_alignments::char::{
    canonical_combining_class, compose, decompose_canonical, decompose_compatible,
};

use super::super::categories::{CHINESE, WORD, categories};
use super::super::tests::{table, texts};
use super::super::{Normalizer, apply_all};
use super::*;
use crate::real_data;

fn parse(step: &str) -> Normalizer {
    Normalizer::parse(step).unwrap()
}

fn encoded(table: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(table)
}

fn precompiled(table: &[u8]) -> Normalizer {
    parse(&format!(r#"{{"type":"Precompiled","precompiled_charsmap":"{}"}}"#, encoded(table)))
}

/// Options: dummy prefix, squeezed spaces, escaped spaces, suffix.
fn sentencepiece(options: [bool; 4], symbols: &[&str], table: &[u8]) -> Normalizer {
    let [prefix, squeeze, escape, suffix] = options;
    let step = serde_json::json!({
        "type": "SentencePiece", "precompiled_charsmap": encoded(table), "add_dummy_prefix": prefix,
        "remove_extra_whitespaces": squeeze, "escape_whitespaces": escape, "treat_whitespace_as_suffix": suffix,
        "user_defined_symbols": symbols,
    });
    parse(&step.to_string())
}

/// That of a text whose space in front stays, so that a later step can put one there.
fn keeping_a_space(squeeze: bool, table: &[u8]) -> Normalizer {
    let step = serde_json::json!({
        "type": "SentencePiece", "precompiled_charsmap": encoded(table), "add_dummy_prefix": false,
        "remove_extra_whitespaces": squeeze, "escape_whitespaces": true, "treat_whitespace_as_suffix": false,
        "keep_leading_space": true,
    });
    parse(&step.to_string())
}

fn replace(pattern: &str, what: &str, content: &str) -> Normalizer {
    parse(&serde_json::json!({"type": "Replace", "pattern": {pattern: what}, "content": content}).to_string())
}

fn bert(clean: bool, chinese: bool, accents: Option<bool>, lowercase: bool) -> Normalizer {
    let step = serde_json::json!({
        "type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": chinese, "strip_accents": accents,
        "lowercase": lowercase,
    });
    parse(&step.to_string())
}

fn strip(left: bool, right: bool) -> Normalizer {
    Normalizer::Strip { left, right }
}

/// Rules of one and of several characters, some of which leave nothing, or white space at an end.
const RULES: [(&str, &str); 14] = [
    ("\t", " "),
    ("\u{1}", ""),
    ("b", "x"),
    ("bc", ""),
    ("a\u{301}", "á"),
    ("á", "a\u{301}"),
    ("\r\n", " "),
    ("\u{3000}", "  "),
    ("ﬁ", "fi"),
    ("\u{1100}\u{1161}", "가"),
    ("½", " 1/2 "),
    ("ab", "a "),
    ("日", ""),
    ("c b", "▁"),
];

/// The same table, whose units that are not in use look like a step over U+0000.
fn over_zero(mut table: Vec<u8>) -> Vec<u8> {
    let end = 4 + u32::from_le_bytes(table[..4].try_into().unwrap()) as usize;
    for unit in table[4..end].as_chunks_mut::<4>().0 {
        if *unit == 0xFE_u32.to_le_bytes() {
            *unit = [0; 4];
        }
    }
    table
}

/// A table of which one rule ends within a character.
fn within_a_character() -> Vec<u8> {
    let mut table = table(&[("b", "x"), ("bé", "y")]);
    let unit = |at: usize, table: &[u8]| u32::from_le_bytes(table[4 + 4 * at..8 + 4 * at].try_into().unwrap());
    let label = u32::from("é".as_bytes()[0]);
    let place =
        (0..table.len() / 4 - 2).find(|&at| unit(at, &table) & 0xFF == label && unit(at, &table) >> 31 == 0).unwrap();
    let node = place ^ (unit(place, &table) >> 10 << 8) as usize;
    table[4 + 4 * place + 1] |= 1;
    table[4 + 4 * node..8 + 4 * node].copy_from_slice(&(1_u32 << 31).to_le_bytes());
    table
}

/// The table of T5 where the data folder is.
fn real_table() -> Option<Vec<u8>> {
    let file = real_data::json(&real_data::folder()?.join("vocabs/t5-small/tokenizer.json"))?;
    let table = file["normalizer"]["precompiled_charsmap"].as_str().unwrap();
    Some(base64::engine::general_purpose::STANDARD.decode(table).unwrap())
}

/// Normalizers of every kind.
fn all() -> Vec<Normalizer> {
    let mut all = ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"].map(parse).to_vec();
    all.extend([strip(true, true), strip(true, false), strip(false, true), strip(false, false)]);
    all.extend(["▁", "", "▁ b"].map(|content| Normalizer::Prepend(content.into())));
    for (what, content) in [
        (" ", "▁"),
        ("a", ""),
        ("''", "\""),
        ("  ", " "),
        ("aba", "b"),
        ("ab", ""),
        ("a\u{301}", "á"),
        ("aab", "ab"),
        ("", "-"),
    ] {
        all.push(replace("String", what, content));
    }
    for (what, content) in [
        (r"\s+", " "),
        (r" {2,}", " "),
        (r" {2,}", "▁"),
        (r"[ab]{3,}", "aaba"),
        (r"[ab]{3,}", "a"),
        (r"\s{2,}", ""),
        (r"\s+", ""),
        (r"[^\S\n]", "▁"),
        (r"\n", ""),
        (r"\s+(?!\S)", "-"),
        (r"ab|\s+", "é"),
        (r"a+b", "-"),
        (r"\s+$", ""),
        (r"^\s+", ""),
        (r"a*", "-"),
        (r"\s{1,2}", "-"),
        (r"\s++", " "),
        (r"\s+?", "▁"),
        (r"(?<=a)b", "c"),
        (r"[ab]|[ab]\s", "-"),
        (r"(?i)a+", "-"),
    ] {
        all.push(replace("Regex", what, content));
    }
    for (clean, chinese, accents, lowercase) in [
        (true, true, None, true),
        (true, true, None, false),
        (false, false, Some(true), false),
        (false, true, Some(false), true),
        (true, false, Some(true), true),
        (false, true, Some(true), false),
    ] {
        all.push(bert(clean, chinese, accents, lowercase));
    }
    all.push(precompiled(&table(&RULES)));
    // Characters that join the next one are in a table, or its keys are prefixes of one another.
    all.push(precompiled(&table(&[("\u{600}a", "x"), ("a", "y"), ("\r", "z"), ("\n", "\n"), ("क", "k")])));
    all.push(precompiled(&table(&[("\r\n", "n"), ("\n", "n"), ("\u{301}", ""), ("\u{200D}", " ")])));
    for bits in 0..16_u8 {
        let options = [1, 2, 4, 8].map(|bit| bits & bit != 0);
        all.push(sentencepiece(options, &[], &table(&RULES)));
    }
    for squeeze in [false, true] {
        all.push(sentencepiece([false, squeeze, true, false], &["b ", "c▁"], &table(&[(" ", "x"), ("▁", "y")])));
        all.push(sentencepiece([true, squeeze, true, false], &[], &[]));
        all.push(keeping_a_space(squeeze, &table(&RULES)));
        all.push(sentencepiece([false, squeeze, true, false], &["a'", "b b", "b ", "\u{1}\u{1}", "c"], &table(&RULES)));
        all.push(sentencepiece([false, squeeze, false, false], &[], &over_zero(table(&RULES))));
        all.push(sentencepiece([false, squeeze, false, false], &[], &within_a_character()));
    }
    if let Some(real) = real_table() {
        all.push(precompiled(&real));
        all.push(sentencepiece([true, true, true, false], &[], &real));
        all.push(sentencepiece([false, false, true, false], &["<b>"], &real));
    }
    all
}

/// The normal form of a text that goes on.
fn going_on(normalizer: &Normalizer, text: &str) -> String {
    normalizer.going_on().map_or_else(|| text.to_owned(), |inside| inside.apply(text).into_owned())
}

fn agree(text: &str, with: &[char]) -> bool {
    text.chars().zip(with).all(|(one, other)| one == *other)
}

fn is_joined(whole: &str, left: &str, right: &str) -> bool {
    whole.strip_prefix(left) == Some(right)
}

/// All texts over an alphabet up to some length, and what they become.
struct Texts {
    letters: usize,
    /// By length and number; the first character has the highest digit.
    plain: Vec<Vec<String>>,
    normal: Vec<Vec<String>>,
    inside: Vec<Vec<String>>,
}

impl Texts {
    fn new(normalizer: &Normalizer, alphabet: &[char], longest: usize) -> Self {
        let mut texts = vec![vec![String::new()]];
        for length in 0..longest {
            let longer = |text: &String| alphabet.iter().map(|letter| format!("{text}{letter}")).collect::<Vec<_>>();
            texts.push(texts[length].iter().flat_map(longer).collect());
        }
        let each =
            |of: &dyn Fn(&str) -> String| texts.iter().map(|row| row.iter().map(|text| of(text)).collect()).collect();
        Self {
            letters: alphabet.len(),
            normal: each(&|text| normalizer.apply(text).into_owned()),
            inside: each(&|text| going_on(normalizer, text)),
            plain: texts,
        }
    }

    fn count(&self, length: usize) -> usize {
        self.letters.pow(length as u32)
    }
}

/// Proves the contract of every edge over an alphabet, with all texts up to some length around it; returns how many
/// edges were found.
fn prove(normalizer: &Normalizer, alphabet: &[char], longest: usize) -> usize {
    let all = Texts::new(normalizer, alphabet, longest);
    let ends = |number: usize, left: Option<usize>| left.is_none_or(|left| number % all.letters == left);
    let (mut found, mut rights, mut lefts) = (0, HashSet::new(), HashSet::new());
    let choices = (0..all.letters).map(Some).chain([None]);
    for left in choices {
        let least = usize::from(left.is_some());
        // Whether some edge was found with this right part, or with a longer one that begins with it.
        let mut certain: Vec<Vec<bool>> = (0..=longest).map(|length| vec![false; all.count(length)]).collect();
        let mut behind = certain.clone();
        for known in 1..=longest.min(Edge::MOST) {
            for number in 0..all.count(known) {
                let edge = Edge::new(left.map(|left| alphabet[left]), all.plain[known][number].chars()).unwrap();
                let Some(after) = normalizer.edge(&edge) else { continue };
                found += 1;
                certain[known][number] = true;
                for length in 1..known {
                    behind[length][number / all.count(known - length)] = true;
                }
                if let Some(last) = after.left {
                    lefts.insert((left.unwrap(), last));
                }
                rights.insert((known, number, after.right().to_vec()));
            }
        }
        for length in 1..=longest {
            for number in 0..all.count(length) {
                let any = (1..=length).any(|known| certain[known][number / all.count(length - known)]);
                if !any && !behind[length][number] {
                    continue;
                }
                for before in least..=longest - length {
                    for first in (0..all.count(before)).filter(|&first| ends(first, left)) {
                        let whole = first * all.count(length) + number;
                        let right = &all.inside[length][number];
                        assert!(
                            is_joined(&all.normal[before + length][whole], &all.normal[before][first], right)
                                && is_joined(&all.inside[before + length][whole], &all.inside[before][first], right),
                            "{normalizer:?} {:?} {:?}",
                            all.plain[before][first],
                            all.plain[length][number],
                        );
                    }
                }
            }
        }
    }
    for (left, last) in lefts {
        for length in 1..longest {
            for number in (0..all.count(length)).filter(|&number| ends(number, Some(left))) {
                let made = [&all.normal[length][number], &all.inside[length][number]];
                assert!(
                    made.iter().all(|made| made.ends_with(last)),
                    "{normalizer:?} {:?} {last:?}",
                    all.plain[length][number]
                );
            }
        }
    }
    for (known, number, right) in rights {
        for length in 1..=longest {
            let numbers = if length <= known {
                let number = number / all.count(known - length);
                number..number + 1
            } else {
                number * all.count(length - known)..(number + 1) * all.count(length - known)
            };
            for other in numbers {
                let (text, made) = (&all.plain[length][other], &all.inside[length][other]);
                assert!(agree(made, &right), "{normalizer:?} {:?} {text:?} {right:?}", all.plain[known][number]);
            }
        }
    }
    found
}

/// Whether all places are known from text on that is before the white space in front of a place.
fn is_known_from_text(normalizer: &Normalizer, text: &str, place: usize) -> bool {
    let mut places = text[..place].char_indices().rev().map(|(at, _)| at).take_while(|&at| at > 0);
    let edge = |at: usize| Edge::new(text[..at].chars().next_back(), text[at..].chars().take(Edge::MOST)).unwrap();
    let known = places.find(|&at| !normalizer.resumes(&edge(at)));
    known.is_some_and(|at| normalizer.is_in_text(&edge(at)) || normalizer.edge(&edge(at)).is_some())
}

/// Proves what is said of places in text and behind white space that a text loses at its end; returns how many there were.
fn prove_beside_blanks(normalizer: &Normalizer, alphabet: &[char], longest: usize) -> usize {
    let all = Texts::new(normalizer, alphabet, longest);
    let spaces = [' ', '\u{2581}'];
    let space = normalizer.apply("a a").chars().rev().find(|character| spaces.contains(character)).unwrap_or(' ');
    let mut found = 0;
    for length in 1..longest {
        for (number, right) in all.plain[length].iter().enumerate() {
            let inside = &all.inside[length][number];
            for (at, &left) in alphabet.iter().enumerate() {
                let edge = Edge::new(Some(left), right.chars()).unwrap();
                let (in_text, resumes) = (normalizer.is_in_text(&edge), normalizer.resumes(&edge));
                assert!(!(in_text && resumes), "{edge:?}");
                if !in_text && !resumes {
                    continue;
                }
                for before in 1..=longest - length {
                    for first in (0..all.count(before)).filter(|first| first % all.letters == at) {
                        let whole = first * all.count(length) + number;
                        let place = all.plain[before][first].len();
                        if resumes && !is_known_from_text(normalizer, &all.plain[before + length][whole], place) {
                            continue;
                        }
                        for (whole, first) in [
                            (&all.normal[before + length][whole], &all.normal[before][first]),
                            (&all.inside[before + length][whole], &all.inside[before][first]),
                        ] {
                            let said = || format!("{edge:?} {whole:?} {first:?} {inside:?} {normalizer:?}");
                            let is_solid = resumes && !inside.is_empty() && !inside.starts_with([' ', space]);
                            let behind = if is_solid { format!("{space}{inside}") } else { inside.clone() };
                            assert!(is_joined(whole, first, &behind), "{}", said());
                            assert!(resumes || !first.is_empty() && !inside.is_empty(), "{}", said());
                            found += 1;
                        }
                    }
                }
            }
        }
    }
    found
}

/// The contract for two parts and what was known of them, through normalizers in a row; returns whether there is an edge.
fn holds(chain: &[Normalizer], left: &str, right: &str, edge: &Edge) -> bool {
    let Some(after) = chain.iter().try_fold(edge.clone(), |edge, normalizer| normalizer.edge(&edge)) else {
        return false;
    };
    let inside: Vec<Normalizer> = chain.iter().filter_map(Normalizer::going_on).collect();
    let made = [apply_all(chain, left), apply_all(&inside, left)];
    let behind = apply_all(&inside, right);
    let whole = format!("{left}{right}");
    let shown = || format!("{chain:?} {left:?} {right:?} {edge:?} {after:?}");
    assert!(is_joined(&apply_all(chain, &whole), &made[0], &behind), "{}", shown());
    assert!(is_joined(&apply_all(&inside, &whole), &made[1], &behind), "{}", shown());
    assert!(after.left.is_none_or(|last| made.iter().all(|made| made.ends_with(last))), "{}", shown());
    assert!(agree(&behind, after.right()), "{}", shown());
    true
}

/// All edges that are true of two parts.
fn edges_of(left: &str, right: &str) -> Vec<Edge> {
    let known: Vec<char> = right.chars().take(Edge::MOST).collect();
    let lengths = 1..=known.len();
    let lefts = HashSet::from([left.chars().next_back(), None]);
    lengths
        .flat_map(|length| lefts.iter().map(move |&left| (left, length)))
        .filter_map(|(left, length)| Edge::new(left, known[..length].iter().copied()))
        .collect()
}

#[test]
fn every_edge_is_certain_in_all_short_texts() {
    let alphabets: [(&str, usize); 6] = [
        ("ab'c \t\u{301}▁日", 4),
        ("a\u{301}\u{323}á\u{1100}\u{1161}\u{11A8}가", 4),
        ("क\u{94D}\u{93C}\u{200D}\u{1F600}\u{1F1E6}\u{600}a \u{1F3FB}", 4),
        ("\r\n\0\u{1} bc\u{3000}éß", 4),
        ("ab ", 7),
        ("ßİﬁＡΣ½ｶ\u{FF9E}\u{302E}\u{1D165}é中\u{FFFD} ", 3),
    ];
    let mut beside_blanks = 0;
    for normalizer in all() {
        for (alphabet, longest) in alphabets {
            let alphabet: Vec<char> = alphabet.chars().collect();
            prove(&normalizer, &alphabet, longest);
            let found =
                if normalizer.loses_blanks() { prove_beside_blanks(&normalizer, &alphabet, longest) } else { 0 };
            beside_blanks = beside_blanks.max(found);
        }
    }
    assert!(beside_blanks > 1000, "{beside_blanks}");
}

#[test]
fn every_edge_is_certain_around_each_character() {
    let frames =
        [("a", "a"), ("e", "\u{301}b"), ("\u{1100}", "\u{1161} "), ("क\u{94D}", "\u{200D}क"), (" ", " \u{323}")];
    // Those of which something is known, and some of the others.
    let known = |character: char| {
        categories().of(character) & !(WORD | CHINESE) != 0 || !character.to_lowercase().eq([character])
    };
    let is_near = |character: char| matches!(character, '\0'..'\u{3400}' | '\u{11000}'..'\u{12000}');
    let characters: Vec<char> = ('\0'..='\u{E0200}')
        .filter(|&one| is_near(one) || u32::from(one) % 97 == 0 || !matches!(one, '\u{E000}'..'\u{F900}') && known(one))
        .collect();
    let mut normalizers =
        ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"].map(parse).to_vec();
    normalizers.extend([
        bert(true, true, None, true),
        bert(true, true, Some(true), false),
        precompiled(&table(&RULES)),
    ]);
    normalizers.extend([replace("Regex", r"\s+", " "), strip(true, true)]);
    if let Some(real) = real_table() {
        normalizers.extend([precompiled(&real), sentencepiece([true, true, true, false], &[], &real)]);
    }
    for normalizer in normalizers {
        let chain = [normalizer];
        let mut found = 0;
        for (number, &character) in characters.iter().enumerate() {
            let (before, behind) = frames[number % frames.len()];
            let (text, next) = (format!("{before}{character}{behind}"), character.len_utf8());
            for place in [before.len(), before.len() + next] {
                let (left, right) = text.split_at(place);
                for edge in edges_of(left, right) {
                    found += usize::from(holds(&chain, left, right, &edge));
                    // The same that was known, and a text that ends sooner, or has more before it.
                    let short = &right[..right.chars().next().unwrap().len_utf8()];
                    holds(&chain, &format!("{character}\u{301}{left}"), short, &edge);
                }
            }
        }
        assert!(found > characters.len() / 2, "{chain:?} {found}");
    }
}

#[test]
fn no_character_that_begins_an_edge_composes_with_one_before_it() {
    let canonical = |character| {
        let mut parts = Vec::new();
        decompose_canonical(character, |part| parts.push(part));
        parts
    };
    // What composes, with something before it, into a character that decomposes; syllables aside.
    let is_syllable = |character: char| ('\u{AC00}'..='\u{D7A3}').contains(&character);
    let composed: Vec<char> = ('\0'..=char::MAX).filter(|&one| !is_syllable(one) && canonical(one).len() > 1).collect();
    let before: HashSet<char> = composed.iter().flat_map(|&one| [one, canonical(one)[0]]).collect();
    let mut behind: HashSet<char> = composed.iter().flat_map(|&one| canonical(one).into_iter().skip(1)).collect();
    behind.retain(|&second| before.iter().any(|&first| compose(first, second).is_some()));
    behind.extend(('\u{1161}'..='\u{1175}').chain('\u{11A8}'..='\u{11C2}'));
    for form in ["NFC", "NFKC"].map(parse) {
        let mut found = 0;
        for character in '\0'..=char::MAX {
            if form.edge(&Edge::new(None, [character, ' ']).unwrap()).is_none() {
                continue;
            }
            let mut parts = canonical(character);
            if matches!(form, Normalizer::Nfkc) {
                parts.clear();
                decompose_compatible(character, |part| parts.push(part));
            }
            assert!(!behind.contains(&parts[0]) && canonical_combining_class(parts[0]) == 0, "{character:?}");
            found += 1;
        }
        assert!(found > 1_100_000);
    }
}

#[test]
fn edges_pass_through_normalizers_in_a_row() {
    let all = all();
    let mut seed = 20_u64;
    let mut next = move |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % bound
    };
    let mut found = 0;
    for text in (3..40).flat_map(texts) {
        let chain: Vec<Normalizer> = (0..=next(3)).map(|_| all[next(all.len())].clone()).collect();
        for _ in 0..6 {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let Some(&place) = places.get(next(places.len() + 1)) else { continue };
            let (left, right) = text.split_at(place);
            let end = places.get(next(places.len())).copied().filter(|&end| end > place).unwrap_or(text.len());
            for edge in edges_of(left, right) {
                found += usize::from(holds(&chain, left, right, &edge));
                holds(&chain, left, &text[place..end], &edge);
            }
        }
    }
    assert!(found > 20_000, "{found}");
}

/// The share of places in a text, beside a space and in all, that have an edge through normalizers in a row.
fn shares(chain: &[Normalizer], text: &str) -> (usize, usize) {
    let mut counts = [(0, 0), (0, 0)];
    for (place, _) in text.char_indices().skip(1) {
        let (left, right) = text.split_at(place);
        let edge = Edge::new(left.chars().next_back(), right.chars().take(Edge::MOST)).unwrap();
        let found = usize::from(holds(chain, left, right, &edge));
        let words = left.ends_with(' ') || right.starts_with(' ');
        for count in &mut counts[usize::from(!words)..] {
            *count = (count.0 + found, count.1 + 1);
        }
    }
    (counts[0].0 * 100 / counts[0].1.max(1), counts[1].0 * 100 / counts[1].1)
}

#[test]
fn edges_are_found_in_plain_text() {
    let texts = [
        "It was the best of times, it was the worst of times: 42 reasons (or more) for \"this\".",
        "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.",
        "道可道,非常道。名可名,非常名。 无名天地之始;有名万物之母。 故常无欲,以观其妙。",
        "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. すべての人間は、生まれながらにして自由",
    ];
    let squeezed = |content| replace("Regex", " {2,}", content);
    let quotes = || [replace("String", "``", "\""), replace("String", "''", "\"")];
    // The least share beside spaces and in all, with few marks and with many.
    let mut cases = vec![
        (vec![parse("NFC"), replace("Regex", r"\s+", " "), parse("Lowercase")], [(100, 97), (90, 80)]),
        (vec![bert(true, true, None, true)], [(100, 97), (100, 90)]),
        (vec![Normalizer::Prepend("▁".into()), replace("String", " ", "▁")], [(100, 100), (100, 100)]),
        (vec![strip(true, true), parse("NFKC"), squeezed(" ")], [(45, 75), (45, 65)]),
        (vec![sentencepiece([true, false, true, false], &[], &[])], [(100, 100), (100, 100)]),
    ];
    // Of a made table of a few characters nothing follows for text.
    if let Some(table) = real_table() {
        let albert =
            [quotes().as_slice(), &["NFKD", "StripAccents", "Lowercase"].map(parse), &[precompiled(&table)]].concat();
        cases.extend([
            (vec![precompiled(&table)], [(100, 90), (100, 50)]),
            (vec![precompiled(&table), squeezed("▁")], [(100, 90), (60, 30)]),
            (vec![precompiled(&table), squeezed(" ")], [(100, 90), (60, 30)]),
            (albert, [(100, 90), (55, 45)]),
            (vec![sentencepiece([true, false, true, false], &["<b>"], &table)], [(95, 95), (95, 95)]),
            (vec![sentencepiece([true, true, true, false], &[], &table)], [(45, 75), (45, 75)]),
        ]);
    }
    for kind in ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"] {
        cases.push((vec![parse(kind)], [(100, 97), (90, 80)]));
    }
    for (chain, least) in cases {
        for (number, text) in texts.into_iter().enumerate() {
            let (words, places) = shares(&chain, text);
            let least = least[usize::from(number == 3)];
            assert!(words >= least.0 && places >= least.1, "{chain:?} {text} {words} {places}");
        }
    }
}

#[test]
fn a_text_becomes_something_where_each_does() {
    let makers: Vec<Normalizer> = all().into_iter().filter(Normalizer::makes_something).collect();
    assert!(makers.len() > 8, "{makers:?}");
    for text in texts(12) {
        let characters = text.char_indices().map(|(at, character)| &text[at..at + character.len_utf8()]);
        for (normalizer, text) in makers.iter().flat_map(|maker| characters.clone().map(move |text| (maker, text))) {
            assert!(!normalizer.apply(text).is_empty(), "{normalizer:?} {text:?}");
        }
        assert!(text.is_empty() || makers.iter().all(|normalizer| !normalizer.apply(&text).is_empty()), "{text:?}");
    }
}

#[test]
fn an_edge_that_is_settled_is_the_same_whatever_follows() {
    let some: Vec<char> =
        " abc\n\t\u{1}\u{301}\u{327}é가\u{1100}\u{1161}\u{11A8}日ﬁ½\u{3000}▁\u{94D}\u{915}\u{200D}😀".chars().collect();
    let mut settled = HashSet::new();
    for (number, normalizer) in all().into_iter().enumerate() {
        for left in some.iter().copied().map(Some).chain([None]) {
            for &first in &some {
                let mut answer = None;
                for second in some.iter().copied().map(Some).chain([None]) {
                    for third in some.iter().copied().map(Some).chain([None]) {
                        let right = [Some(first), second, second.and(third)].into_iter().flatten();
                        let edge = Edge::new(left, right).unwrap();
                        if !(normalizer.is_settled(edge.right()) && normalizer.keeps(edge.right()[0])) {
                            continue;
                        }
                        assert!(normalizer.may_settle());
                        settled.insert(number);
                        let found = normalizer.edge(&edge).map(|edge| (edge.left, edge.right()[0]));
                        let expected = *answer.get_or_insert(found);
                        assert_eq!(found, expected, "{normalizer:?} {edge:?}");
                    }
                }
            }
        }
    }
    // All that may, but for those whose tables are broken.
    let may = all().iter().filter(|normalizer| normalizer.may_settle()).count();
    assert!(may - settled.len() <= 2, "{may} {}", settled.len());
}
