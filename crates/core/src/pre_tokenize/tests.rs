//! Steps with and without origins, and behaviors against an oracle that follows their words.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::files::byte_alphabet::CHARACTERS;
use crate::normalize::categories::{PUNCT, SPACE, WORD, categories};
use crate::normalize::tests::texts;
use crate::split::matches::StatedPattern;
use crate::split::names;

fn steps() -> Vec<PreTokenizer> {
    let mut steps: Vec<PreTokenizer> =
        ["Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts", "Punctuation", "FixedLength"]
            .iter()
            .map(|name| PreTokenizer::parse(name).unwrap())
            .collect();
    let objects = [
        r#"{"type":"Digits","individual_digits":true}"#,
        r#"{"type":"CharDelimiterSplit","delimiter":"a"}"#,
        r#"{"type":"Punctuation","behavior":"MergedWithNext"}"#,
        r#"{"type":"Split","pattern":{"Regex":"\\s+"},"behavior":"Removed","invert":false}"#,
        r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}"#,
        r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"never","split":false}"#,
        r#"{"type":"Metaspace","replacement":" ","prepend_scheme":"first"}"#,
        r#"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}"#,
        r#"{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":false}"#,
    ];
    steps.extend(objects.iter().map(|step| PreTokenizer::parse(step).unwrap()));
    steps
}

#[test]
fn a_text_has_a_piece_where_each_has() {
    let makers: Vec<PreTokenizer> = steps().into_iter().filter(PreTokenizer::makes_something).collect();
    assert!(makers.len() > 5, "{makers:?}");
    for text in texts(12) {
        let parts = text.char_indices().map(|(at, character)| &text[at..at + character.len_utf8()]).chain([&*text]);
        for (step, part) in makers.iter().flat_map(|maker| parts.clone().map(move |part| (maker, part))) {
            for at_start in [false, true] {
                let mut cut = PreTokenized::new(Aligned::plain(part));
                step.apply(&mut cut, at_start).unwrap();
                assert!(part.is_empty() || !cut.pieces().is_empty(), "{step:?} {part:?}");
            }
        }
    }
}

#[test]
fn pieces_are_the_same_with_origins_in_order_and_never_empty() {
    let steps = steps();
    for (number, text) in texts(3).enumerate() {
        let chain: Vec<PreTokenizer> =
            [number % steps.len(), number / 7 % steps.len()].map(|at| steps[at].clone()).to_vec();
        let (mut plain, mut traced) = (
            PreTokenized::new(Aligned::plain(text.as_str())),
            PreTokenized::new(Aligned::traced(text.as_str()).unwrap()),
        );
        for step in &chain {
            step.apply(&mut plain, true).unwrap();
            step.apply(&mut traced, true).unwrap();
            assert_eq!(traced.text.origins().unwrap().len(), traced.text.text().len());
        }
        assert!(plain.pieces.windows(2).all(|pair| pair[0].end <= pair[1].start));
        assert!(plain.pieces.iter().all(|piece| !piece.is_empty()));
        assert_eq!(plain.texts().count(), plain.pieces.len());
        if !needs_origins(&[], &chain) {
            assert!(plain.texts().eq(traced.texts()), "{chain:?} {text:?}");
        }
        let places: Vec<_> = (0..traced.pieces.len()).map(|piece| traced.original(piece).unwrap()).collect();
        assert!(places.windows(2).all(|pair| pair[0].start <= pair[1].start), "{chain:?} {text:?}");
        assert_eq!(plain.original(0), None);
    }
}

#[test]
fn matches_that_are_kept_are_those_found_one_by_one_and_spelled_as_their_bytes() {
    let clip = r"<\|s\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";
    let step = serde_json::json!({"type": "Split", "pattern": {"Regex": clip}, "behavior": "Removed", "invert": true});
    let split = PreTokenizer::parse(&step.to_string()).unwrap();
    let [spells, cuts] = [false, true].map(|use_regex| {
        let step = serde_json::json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": use_regex});
        PreTokenizer::parse(&step.to_string()).unwrap()
    });
    let matches = Matches::new(&StatedPattern::Regex(clip.to_owned())).unwrap();
    let gpt2 = Pattern::new(names::GPT2).unwrap();
    assert!(matches.tiles().unwrap().is_match().is_some());
    for text in texts(9).map(|text| text.replace('b', "'ve <|s|>").replace('c', "!?")) {
        let mut found = Vec::new();
        matches.each(&text, |start, end| found.push(&text[start..end])).unwrap();
        let mut kept = PreTokenized::new(Aligned::plain(text.as_str()));
        split.apply(&mut kept, true).unwrap();
        assert!(kept.texts().eq(found.iter().copied()), "{text:?}");
        let spelled = |piece: &str| piece.bytes().map(|byte| CHARACTERS[usize::from(byte)]).collect::<String>();
        let mut whole = kept.clone();
        spells.apply(&mut whole, true).unwrap();
        assert!(whole.texts().eq(found.iter().map(|piece| spelled(piece))), "{text:?}");
        cuts.apply(&mut kept, true).unwrap();
        let cut = found.iter().flat_map(|piece| gpt2.pieces(piece)).map(|piece| spelled(piece.unwrap()));
        assert!(kept.texts().eq(cut), "{text:?}");
    }
}

/// The runs of characters of one kind: 0 for what goes, 1 for what is a piece of its own.
fn runs(text: &str, kind: impl Fn(char) -> u8) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut last = 0;
    for character in text.chars() {
        let kind = kind(character);
        match pieces.last_mut() {
            Some(piece) if kind > 1 && kind == last => piece.push(character),
            _ if kind > 0 => pieces.push(character.into()),
            _ => {}
        }
        last = kind;
    }
    pieces
}

#[test]
fn kinds_of_characters_are_cut_as_one_by_one() {
    let is = |character: char, category: u8| categories().of(character) & category != 0;
    let punctuation = |character: char| is(character, PUNCT);
    let steps: [(&str, &dyn Fn(char) -> u8); 8] = [
        ("WhitespaceSplit", &|one| if is(one, SPACE) { 0 } else { 3 }),
        ("Whitespace", &|one| {
            if is(one, WORD) {
                2
            } else if is(one, SPACE) {
                0
            } else {
                3
            }
        }),
        ("BertPreTokenizer", &|one| {
            if is(one, SPACE) {
                0
            } else if punctuation(one) {
                1
            } else {
                3
            }
        }),
        (r#"{"type":"Punctuation","behavior":"Isolated"}"#, &|one| if punctuation(one) { 1 } else { 3 }),
        (r#"{"type":"Punctuation","behavior":"Removed"}"#, &|one| if punctuation(one) { 0 } else { 3 }),
        (r#"{"type":"Punctuation","behavior":"Contiguous"}"#, &|one| if punctuation(one) { 2 } else { 3 }),
        (r#"{"type":"Digits","individual_digits":true}"#, &|one| if one.is_numeric() { 1 } else { 3 }),
        (r#"{"type":"Digits","individual_digits":false}"#, &|one| if one.is_numeric() { 2 } else { 3 }),
    ];
    for text in texts(4) {
        for (step, kind) in &steps {
            let mut cut = PreTokenized::new(Aligned::plain(text.as_str()));
            PreTokenizer::parse(step).unwrap().apply(&mut cut, true).unwrap();
            assert!(cut.texts().eq(runs(&text, kind)), "{step} {text:?}");
        }
    }
}

#[test]
fn behaviors_are_what_they_say() {
    let cut = |behavior: &str, invert: bool, text: &str| {
        let step =
            format!(r#"{{"type":"Split","pattern":{{"String":"-"}},"behavior":"{behavior}","invert":{invert}}}"#);
        let mut cut = PreTokenized::new(Aligned::plain(text));
        PreTokenizer::parse(&step).unwrap().apply(&mut cut, true).unwrap();
        cut.texts().collect::<Vec<_>>().join(" ")
    };
    let text = "the-final--countdown-";
    for (behavior, expected) in [
        ("Removed", "the final countdown"),
        ("Isolated", "the - final - - countdown -"),
        ("MergedWithPrevious", "the- final- - countdown-"),
        ("MergedWithNext", "the -final - -countdown -"),
        ("Contiguous", "the - final -- countdown -"),
    ] {
        assert_eq!(cut(behavior, false, text), expected);
        let same = PreTokenizer::parse(&format!(r#"{{"type":"Punctuation","behavior":"{behavior}"}}"#)).unwrap();
        let mut made = PreTokenized::new(Aligned::plain(text));
        same.apply(&mut made, true).unwrap();
        assert_eq!(made.texts().collect::<Vec<_>>().join(" "), expected);
    }
    assert_eq!(cut("Removed", true, text), "- - - -");
    assert_eq!(cut("MergedWithNext", true, text), "the- final- - countdown-");
}

#[test]
fn a_mark_in_front_depends_on_where_the_text_begins() {
    let first = PreTokenizer::parse(r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"first"}"#).unwrap();
    let words = PreTokenizer::parse("WhitespaceSplit").unwrap();
    let cut = |steps: &[&PreTokenizer], text: &str, at_start: bool| {
        let mut both = [PreTokenized::new(Aligned::plain(text)), PreTokenized::new(Aligned::traced(text).unwrap())];
        for (step, made) in steps.iter().flat_map(|step| [(step, 0), (step, 1)]) {
            step.apply(&mut both[made], at_start).unwrap();
        }
        let [plain, traced] = both.map(|made| made.texts().collect::<Vec<_>>().join("|"));
        assert_eq!(plain, traced);
        plain
    };
    assert_eq!(cut(&[&first], "a b", true), "▁a|▁b");
    assert_eq!(cut(&[&first], "a b", false), "a|▁b");
    assert_eq!(cut(&[&words, &first], "a b", true), "▁a|b");
    assert_eq!(cut(&[&words, &first], " a b", true), "a|b");
    let normalizers = ["NFKC", "StripAccents"].map(|name| Normalizer::parse(name).unwrap());
    let (sure, unsure) = ([first.clone(), words.clone()], [words, first]);
    assert!(needs_origins(&[], &unsure) && !needs_origins(&normalizers[..1], &sure));
    assert!(needs_origins(&normalizers, &sure) && !needs_origins(&normalizers, &unsure[..1]));
}

#[test]
fn where_a_pattern_gives_up_is_said() {
    let endless =
        r#"{"type":"Split","pattern":{"Regex":"(?:(?=a)a|(?=aa)aa)+b|,"},"behavior":"Isolated","invert":false}"#;
    let mut text = PreTokenized::new(Aligned::plain(format!("x,{}", "a".repeat(40))));
    PreTokenizer::parse(r#"{"type":"CharDelimiterSplit","delimiter":"x"}"#).unwrap().apply(&mut text, true).unwrap();
    let error = PreTokenizer::parse(endless).unwrap().apply(&mut text, true).unwrap_err();
    assert_eq!(error.byte, Some(2));
}
