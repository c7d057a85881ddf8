//! Every normalizer with and without origins, and stages against slow oracles.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::error::Kind;

/// Texts of characters that some normalizer treats in its own way.
pub(crate) fn texts(mut seed: u64) -> impl Iterator<Item = String> {
    let atoms: Vec<&str> = concat!(
        "a B 1 _ . 'S é É İ ß ǅ Σ ς ﬁ ½ \u{212b} \u{1e9b} \u{301} \u{323} \u{344} \u{345} \u{20dd} \u{302e} ",
        "\u{1d165} \u{f71} \u{f73} \u{f77} \u{94d} क ক \u{9cb} 한 \u{1100} \u{1161} \u{11a8} ﾡ 日 本 \u{f900} ",
        "\u{2f800} ㌔ か \u{3099} ｶ ﾞ ー א ﷺ \u{600} ٣ ▁ Ġ 👩 \u{200d} 💻 🇩 🇪 👍🏽 \u{0} \u{1} \u{7f} \u{ad} ",
        "\u{200b} \u{feff} \u{fffd} \u{e000} \u{10ffff} \u{378} abc DEF hello"
    )
    .split(' ')
    .chain([" ", "  ", "\t", "\n", "\r", "\r\n", "\u{a0}", "\u{3000}", "\u{85}", "\u{2028}"])
    .collect();
    let mut next = move |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % bound
    };
    // The last ones are long, mostly of ASCII, which is taken many bytes at once.
    let ascii = ["some WORDS, ", "12\r\n", "and_more (of Them)\t", "x"];
    std::iter::once(String::new()).chain((0..640).map(move |number| {
        let mut some: Vec<&str> = (0..=next(6)).map(|_| atoms[next(atoms.len())]).collect();
        let long = number >= 600;
        if long {
            some.extend(ascii.iter().cycle().take(2 * number - 1195));
        }
        (0..=next(if long { 90 } else { 14 })).map(|_| some[next(some.len())]).collect()
    }))
}

/// The units of a trie of these keys' bytes, and their replacements: a node at a multiple of 256 for each.
pub(crate) fn table(entries: &[(impl ToString, &str)]) -> Vec<u8> {
    let mut units = vec![0xFE_u32; 512];
    let mut replacements = Vec::new();
    units[0] = 1 << 9 | 1 << 10;
    for (key, replacement) in entries {
        let mut node = 256_usize;
        let bytes = key.to_string().into_bytes();
        for (at, &byte) in bytes.iter().enumerate() {
            let place = node ^ usize::from(byte);
            let known = units[place] & 0xFF == u32::from(byte) && units[place] >> 10 != 0;
            if !known {
                let base = units.len();
                units.resize(base + 256, 0xFE);
                // A wide offset counts 256 units; the low byte of the place stays.
                let offset = (base >> 8) ^ (place >> 8);
                units[place] = u32::from(byte) | 1 << 9 | (offset as u32) << 10;
            }
            let offset = (units[place] >> 10 << 8) as usize;
            node = place ^ offset;
            if at + 1 == bytes.len() {
                units[place] |= 1 << 8;
                units[node] = replacements.len() as u32 | 1 << 31;
            }
        }
        replacements.extend_from_slice(replacement.as_bytes());
        replacements.push(0);
    }
    let mut bytes = (units.len() as u32 * 4).to_le_bytes().to_vec();
    bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    bytes.extend(replacements);
    bytes
}

fn all() -> Vec<Normalizer> {
    let mut all: Vec<Normalizer> = ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"]
        .iter()
        .map(|name| Normalizer::parse(name).unwrap())
        .collect();
    let objects = [
        r#"{"type":"Strip","strip_left":true,"strip_right":true}"#,
        r#"{"type":"Strip","strip_left":false,"strip_right":true}"#,
        r#"{"type":"Replace","pattern":{"String":" "},"content":"▁"}"#,
        r#"{"type":"Replace","pattern":{"Regex":"a*|\\s+"},"content":"-"}"#,
        r#"{"type":"Prepend","prepend":"▁<"}"#,
        r#"{"type":"Prepend","prepend":""}"#,
    ];
    all.extend(objects.iter().map(|step| Normalizer::parse(step).unwrap()));
    for bits in 0..24_u8 {
        let strip_accents = [None, Some(false), Some(true)][usize::from(bits / 8)];
        let [clean_text, handle_chinese_chars, lowercase] = [1, 2, 4].map(|bit| bits & bit != 0);
        all.push(Normalizer::Bert(Bert { clean_text, handle_chinese_chars, strip_accents, lowercase }));
    }
    let entries =
        [('\u{1}', ""), ('\t', " "), ('é', "e"), ('½', "1/2"), ('日', ""), ('\u{301}', ""), ('B', "bb"), ('👩', "w")];
    all.push(Normalizer::Precompiled(Arc::new(Precompiled::new(&table(&entries)).unwrap())));
    all
}

#[test]
fn the_text_is_the_same_with_origins_and_they_are_in_order() {
    for normalizer in all() {
        for text in texts(1) {
            let mut traced = Aligned::traced(text.as_str()).unwrap();
            normalizer.apply_aligned(&mut traced).unwrap();
            let plain = normalizer.apply(&text);
            assert_eq!(plain, traced.text(), "{normalizer:?} {text:?}");
            assert_eq!(plain, normalizer.try_apply(&text).unwrap());
            assert!(!matches!(plain, Cow::Owned(_)) || plain != text || !text.is_ascii() || text.contains(' '));
            let origins = traced.origins().unwrap();
            assert_eq!(origins.len(), plain.len());
            assert!(origins.windows(2).all(|pair| pair[0] <= pair[1]), "{normalizer:?} {text:?} {origins:?}");
            assert!(origins.last().is_none_or(|last| last.1 as usize <= text.len()));
        }
    }
}

#[test]
fn parts_stay_where_it_is_said() {
    let said: Vec<_> = all().into_iter().filter(Normalizer::parts_stay).collect();
    assert!(said.len() > 6, "{said:?}");
    for (normalizer, text) in said.iter().flat_map(|normalizer| texts(5).map(move |text| (normalizer, text))) {
        if matches!(normalizer.apply(&text), Cow::Owned(_)) {
            continue;
        }
        for (start, _) in text.char_indices() {
            for (length, last) in text[start..].char_indices() {
                let part = &text[start..start + length + last.len_utf8()];
                assert!(matches!(normalizer.apply(part), Cow::Borrowed(_)), "{normalizer:?} {part:?}");
            }
        }
    }
}

#[test]
fn texts_of_as_many_characters_are_the_normalized_ones() {
    let step = |escape: bool, squeeze: bool, table: &[u8]| {
        let table = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, table);
        let options = format!(
            r#"{{"type":"SentencePiece","precompiled_charsmap":"{table}","add_dummy_prefix":true,"remove_extra_whitespaces":{squeeze},"escape_whitespaces":{escape},"treat_whitespace_as_suffix":false,"user_defined_symbols":["aB"]}}"#
        );
        Normalizer::parse(&options).unwrap()
    };
    let entries = [('\t', " "), ('é', "e"), ('½', "1/2"), ('日', ""), ('B', "bb"), ('ß', "s ")];
    let pairs = [("か\u{3099}", "が"), ("\r\n", "ab"), ("S", "s")];
    let mut said: Vec<_> = all();
    for (escape, squeeze) in [(true, true), (true, false), (false, true)] {
        said.extend([step(escape, squeeze, &[]), step(escape, squeeze, &table(&entries))]);
        said.push(step(escape, squeeze, &table(&pairs)));
    }
    let mut found = 0;
    for (normalizer, text) in said.iter().flat_map(|normalizer| texts(6).map(move |text| (normalizer, text))) {
        for normalizer in [Some(normalizer.clone()), normalizer.going_on()].into_iter().flatten() {
            let Some(new) = normalizer.one_for_one(&text) else { continue };
            assert_eq!(new, normalizer.apply(&text), "{normalizer:?} {text:?}");
            assert_eq!(new.chars().count(), text.chars().count(), "{normalizer:?} {text:?}");
            found += usize::from(new != text);
        }
    }
    assert!(found > 300, "{found}");
}

#[test]
fn bert_is_its_stages_one_after_another() {
    let parse = |step: &str| Normalizer::parse(step).unwrap();
    let categories = categories::categories();
    for text in texts(2) {
        let cleaned: String = text
            .chars()
            .filter(|&one| "\t\n\r".contains(one) || (categories.of(one) & categories::OTHER == 0 && one != '\u{FFFD}'))
            .map(|one| if one.is_whitespace() { ' ' } else { one })
            .collect();
        let spaced: String = cleaned
            .chars()
            .map(|one| if categories.of(one) & categories::CHINESE == 0 { one.to_string() } else { format!(" {one} ") })
            .collect();
        let marks = |one: &char| categories.of(*one) & categories::NONSPACING == 0;
        let stripped: String = parse("NFD").apply(&spaced).chars().filter(marks).collect();
        let expected: String = stripped.chars().flat_map(char::to_lowercase).collect();
        let bert = Bert { clean_text: true, handle_chinese_chars: true, strip_accents: None, lowercase: true };
        assert_eq!(Normalizer::Bert(bert).apply(&text), expected, "{text:?}");
    }
}

#[test]
fn small_letters_are_those_of_the_standard_library() {
    let bert = Bert { clean_text: false, handle_chinese_chars: false, strip_accents: Some(false), lowercase: true };
    for character in '\0'..=char::MAX {
        let expected = character.to_lowercase().to_string();
        let text = character.encode_utf8(&mut [0; 4]).to_owned();
        for normalizer in [Normalizer::Lowercase, Normalizer::Bert(bert)] {
            assert_eq!(normalizer.apply(&text), expected, "{character:?}");
        }
    }
}

#[test]
fn a_table_replaces_what_is_in_it_and_a_cluster_by_what_it_begins_with() {
    let entries = [('\u{1}', ""), ('e', "E"), ('日', "day"), ('\r', "")];
    let table = Normalizer::Precompiled(Arc::new(Precompiled::new(&table(&entries)).unwrap()));
    for (text, expected) in [
        ("plain", "plain"),
        ("hey", "hEy"),
        ("日本日", "day本day"),
        ("xe\u{301}y", "xEy"),
        ("a\r\nb", "ab"),
        ("\u{1}\u{1}a\u{1}", "a"),
        ("e\u{20dd}\u{20dd}", "E\u{20dd}\u{20dd}"),
    ] {
        assert_eq!(table.apply(text), expected);
    }
    assert!(matches!(table.apply("plain words\n"), Cow::Borrowed(_)));
}

#[test]
fn a_broken_table_is_an_error_or_a_table() {
    let good = table(&[('a', "b"), ('é', "e"), ('日', "d")]);
    let mut seed = 9_u64;
    for _ in 0..3000 {
        let mut bytes = good.clone();
        for _ in 0..3 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (seed >> 33) as usize % bytes.len().min(2200);
            bytes[at] = (seed >> 20) as u8;
        }
        match Precompiled::new(&bytes) {
            Ok(table) => {
                let _ = Normalizer::Precompiled(Arc::new(table)).apply("aé日\u{1}x 日日");
            }
            Err(error) => assert_eq!(error.kind, Kind::Format),
        }
    }
    assert!(Precompiled::new(&[0, 0, 0, 0]).is_err());
}

#[test]
fn all_in_a_row_are_each_applied_to_what_the_one_before_made() {
    let steps = ["NFD", "StripAccents", "Lowercase"].map(|name| Normalizer::parse(name).unwrap());
    assert_eq!(apply_all(&steps, "É É"), "e e");
    assert!(matches!(apply_all(&steps, "e e"), Cow::Borrowed(_)));
    assert_eq!(try_apply_all(&steps, "Ünï").unwrap(), "uni");
    let endless = r#"{"type":"Replace","pattern":{"Regex":"(?:(?=a)a|(?=aa)aa)+b"},"content":""}"#;
    let endless = Normalizer::parse(endless).unwrap();
    let text = "a".repeat(40);
    assert_eq!(try_apply_all(std::slice::from_ref(&endless), &text).unwrap_err().kind, Kind::Pattern);
    assert_eq!(apply_all(&[endless], &text), text);
}

#[test]
fn steps_that_feed_each_other_end_at_the_bound() {
    let double = r#"{"type":"Replace","pattern":{"String":"a"},"content":"aa"}"#;
    let steps: Vec<Normalizer> = (0..40).map(|_| Normalizer::parse(double).unwrap()).collect();
    for length in [1, 100, 10_000] {
        let text = "a".repeat(length);
        let alone = try_apply_all(&steps, &text).unwrap_err();
        let mut traced = Aligned::traced(text.as_str()).unwrap();
        let error = steps.iter().try_for_each(|step| step.apply_aligned(&mut traced)).unwrap_err();
        assert_eq!((alone.kind, &alone.what), (Kind::Encode, &error.what));
        assert!(traced.text().len() <= 32 * length + 4096);
        // Five doublings are 32 times as much.
        assert_eq!(try_apply_all(&steps[..5], &text).unwrap().len(), 32 * length);
    }
}

#[test]
fn a_table_that_leads_in_circles_is_refused() {
    // The unit that "a" leads to has itself as its child for "a": each place would be looked up to the end of the text.
    let letter = u32::from(b'a');
    let units = [(letter ^ 1) << 10, letter << 10 | letter];
    let mut table = u32::try_from(4 * units.len()).unwrap().to_le_bytes().to_vec();
    table.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    table.extend_from_slice(b"x\0");
    assert!(Precompiled::new(&table).is_err_and(|error| error.what.contains("leads in a circle")));
    let charsmap = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, table);
    let step = format!(
        r#"{{"type":"SentencePiece","precompiled_charsmap":"{charsmap}","add_dummy_prefix":false,
        "remove_extra_whitespaces":false,"escape_whitespaces":false,"treat_whitespace_as_suffix":false}}"#
    );
    assert!(Normalizer::parse(&step).is_err_and(|error| error.what.contains("leads in a circle")));
}
