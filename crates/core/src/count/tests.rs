//! Texts that grow, and parts that fit, against encoding the same text; the sweeps of `fuzz/growing.py` go further.

use base64::Engine;

use super::*;
use crate::encode::Count;
use crate::files::Columns;
use crate::normalize::Normalizer;
use crate::normalize::tests::table;
use crate::pipeline::{Model, Parts, Tokenizer};
use crate::pre_tokenize::PreTokenizer;
use crate::segment::{Policy, Steps, Treat};
use crate::split::added::AddedToken;
use crate::split::{Pattern, names};
use crate::utf8::boundary;
use crate::vocab::{Semantics, Vocab};

const NFC: [Normalizer; 1] = [Normalizer::Nfc];
const POLICY: Policy = Policy { special: Treat::Match, added: Treat::Match };

fn tokenizer(normalizers: &[Normalizer], pattern: &str, more: &[&[u8]]) -> Tokenizer {
    of_patterns(normalizers, &[pattern], more)
}

fn of_patterns(normalizers: &[Normalizer], patterns: &[&str], more: &[&[u8]]) -> Tokenizer {
    let patterns = patterns.iter().map(|pattern| Pattern::new(pattern).unwrap()).collect();
    let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
    let mut tokens: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).collect();
    tokens.extend([&b"ab"[..], b" a", b"12", b"  ", b"aab", b"abab", b"\n\n", "é".as_bytes(), b"    "]);
    tokens.extend(more);
    let ids: Vec<u32> = (0..tokens.len() as u32).collect();
    let added = ["<s>", "<s>>", "s>a"].into_iter().zip(1000..);
    Tokenizer::new(Parts {
        added: added
            .map(|(content, id)| AddedToken { content: content.to_owned(), id, ..AddedToken::default() })
            .collect(),
        steps: Steps { normalizers: normalizers.to_vec(), ..Steps::of(patterns) },
        ..Parts::of(Vocab::new(&tokens, &ids, Semantics::Ranks).unwrap())
    })
    .unwrap()
}

fn count(tokenizer: &Tokenizer, text: &str) -> u64 {
    let mut count = Count::default();
    tokenizer.encode(text, POLICY, &mut count).unwrap();
    count.0
}

/// Calls `check` with tokenizers of each kind and some texts.
fn with_texts(check: impl Fn(&Tokenizer, &str)) {
    let mut seed = 11_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    let atoms =
        ["a", "b", "ab", " ", "  ", "\n", "1", "23", "A", "'s", "é", "日", ".", "/", "<s>", "<", "s>", ">", "\u{338}"];
    // One of the last tokens is made in two ways, and one in none.
    let kinds: [&[&[u8]]; 3] = [&[], &[b"aba", b"ba"], &[b"b1 a"]];
    for more in kinds {
        let stages =
            [names::GPT2, names::O200K, ""].into_iter().flat_map(|pattern| [(&[][..], pattern), (&NFC, pattern)]);
        for (normalizers, pattern) in stages {
            let tokenizer = tokenizer(normalizers, pattern, more);
            for case in 0..12 {
                let some: Vec<_> = (0..=random(4)).map(|_| atoms[random(atoms.len())]).collect();
                let length = if case == 0 { 300 } else { random(40) };
                let text: String = (0..length).map(|_| some[random(some.len())]).collect();
                check(&tokenizer, &text);
            }
        }
    }
}

#[test]
fn texts_that_grow_have_the_ids_of_the_whole_at_any_moment() {
    with_texts(|tokenizer, text| {
        let (mut appender, mut prepender) = (Appender::new(), Prepender::new());
        let mut marks = Vec::new();
        for (number, (at, character)) in text.char_indices().enumerate() {
            let end = at + character.len_utf8();
            appender.append(&text[at..end]).unwrap();
            assert_eq!(
                appender.count(tokenizer, POLICY).unwrap(),
                count(tokenizer, &text[..end]),
                "{:?}",
                &text[..end]
            );
            if number % 7 == 0 {
                marks.push((end, appender.mark(tokenizer, POLICY)));
            }
        }
        for (at, character) in text.char_indices().rev() {
            prepender.prepend(&text[at..at + character.len_utf8()]).unwrap();
            assert_eq!(prepender.count(tokenizer, POLICY).unwrap(), count(tokenizer, &text[at..]), "{:?}", &text[at..]);
        }
        for (end, mark) in marks.into_iter().rev() {
            assert!(appender.rollback(&mark));
            assert_eq!(appender.text(), &text[..end]);
            assert_eq!(appender.count(tokenizer, POLICY).unwrap(), count(tokenizer, &text[..end]));
            let fits = appender.fits(tokenizer, POLICY, &text[end..], 20).unwrap();
            assert_eq!(fits, count(tokenizer, text) <= 20);
        }
    });
}

#[test]
fn white_space_that_is_left_out_is_cut() {
    let normalizers = ["NFC", r#"{"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "}"#, "Lowercase"];
    let split = |behavior: &str, invert| {
        let regex = r#"{"Regex":"'s|\\p{L}+|\\p{N}|[^\\s\\p{L}\\p{N}]+"}"#;
        format!(r#"{{"type":"Split","pattern":{regex},"behavior":"{behavior}","invert":{invert}}}"#)
    };
    let added =
        |content: &str| AddedToken { content: content.to_owned(), id: 1000, normalized: true, ..AddedToken::default() };
    let cuts = |step: &str, content: &str| {
        let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
        let tokens: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).collect();
        let ids: Vec<u32> = (0..=255).collect();
        let tokenizer = Tokenizer::new(Parts {
            added: vec![added(content)],
            steps: Steps {
                normalizers: normalizers.iter().map(|step| Normalizer::parse(step).unwrap()).collect(),
                pre_tokenizers: vec![PreTokenizer::parse(step).unwrap()],
                ..Steps::default()
            },
            ..Parts::of(Vocab::new(&tokens, &ids, Semantics::Ranks).unwrap())
        })
        .unwrap();
        let counter = Counter::new(&tokenizer, POLICY);
        let text = "A   \t\n  b";
        let places: Vec<usize> = (2..text.len() - 1).collect();
        places.iter().filter(|&&place| counter.cuts.is_cut(text, place)).count()
    };
    assert_eq!(cuts(&split("Removed", true), "<s>"), 6);
    assert_eq!(cuts("Whitespace", "<s>"), 6);
    // A piece has the space, or an added token may.
    assert_eq!(cuts(&split("Isolated", true), "<s>"), 0);
    assert_eq!(cuts(&split("Removed", false), "<s>"), 0);
    assert_eq!(cuts(&split("Removed", true), "a b"), 0);
}

/// Appends parts, each once more after it was taken back, and checks each count.
fn check_appending(tokenizer: &Tokenizer, parts: &[&str]) {
    let mut appender = Appender::new();
    for part in parts {
        let mark = appender.mark(tokenizer, POLICY);
        for again in [true, false] {
            appender.append(part).unwrap();
            let text = appender.text().to_owned();
            assert_eq!(appender.count(tokenizer, POLICY).unwrap(), count(tokenizer, &text), "{text}");
            assert!(!again || appender.rollback(&mark));
        }
    }
}

#[test]
fn a_word_whose_end_depends_on_its_beginning_grows() {
    // As in the patterns of DeepSeek: behind a sign a word ends where its ASCII letters end.
    let words = r"[!?][A-Za-z]+|[^\r\n\p{L}!?]?[\p{L}\p{M}]+| ?[!?]+|\s";
    let tokenizer = of_patterns(&[], &[r"\p{N}{1,3}", words], &[b"aa"]);
    let counter = Counter::new(&tokenizer, POLICY);
    for start in ["", "!", "x!", "é", "1"] {
        let long = [start, &"aab".repeat(200)].concat();
        assert_eq!(counter.first_joined(&long, 0, long.len()), None, "{start}");
        assert!(counter.first_growing(&long, 0, long.len()).is_some(), "{start}");
        check_appending(&tokenizer, &[&long, "b", "a", "<", "s>", &long, "é", "a", " a", &long, "\u{301}", "1", "a"]);
    }
}

#[test]
fn a_run_does_not_begin_inside_of_an_added_token_that_is_not_complete() {
    let long = format!("<{}>", "ab".repeat(150));
    let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
    let tokens: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).chain([&b"ab"[..], b"ba"]).collect();
    let ids: Vec<u32> = (0..tokens.len() as u32).collect();
    let tokenizer = Tokenizer::new(Parts {
        added: vec![AddedToken { content: long.clone(), id: 1000, ..AddedToken::default() }],
        steps: Steps { normalizers: NFC.to_vec(), ..Steps::default() },
        ..Parts::of(Vocab::new(&tokens, &ids, Semantics::Ranks).unwrap())
    })
    .unwrap();
    let mut appender = Appender::new();
    // Marks are not joined, so that a run begins behind them.
    for character in ["\u{301}".repeat(20), long, "ab".to_owned()].concat().chars() {
        appender.append(character.encode_utf8(&mut [0; 4])).unwrap();
        let text = appender.text().to_owned();
        assert_eq!(appender.count(&tokenizer, POLICY).unwrap(), count(&tokenizer, &text), "{text}");
    }
}

#[test]
fn signs_and_emoji_behind_a_normal_form_grow_up_to_the_end() {
    // A sign may begin a word, so that those in a row are not joined; a normal form looks at what is behind the last one.
    for pattern in [names::QWEN2, names::GPT2] {
        let tokenizer = of_patterns(&NFC, &[pattern], &["▁▁".as_bytes(), "😀😀".as_bytes()]);
        let counter = Counter::new(&tokenizer, POLICY);
        for sign in ["▁", "😀"] {
            let long = sign.repeat(100);
            let last = long.char_indices().next_back().map_or(0, |(at, _)| at);
            assert!(!counter.cuts.is_growing(&long, last) && counter.cuts.is_growing_to_end(&long, last), "{sign}");
            check_appending(
                &tokenizer,
                &[&long, sign, "a", sign, &long, "e", "\u{301}", sign, "<s", ">", &long, " ", sign, "\n", &long],
            );
        }
    }
}

/// A Unigram whose sums are rounded to 32 bits, behind the normalizer of `sentencepiece`.
fn of_sentencepiece(more: &[Normalizer]) -> Tokenizer {
    let tokens = ["<unk>", "▁", "a", "b", "é", "e", "▁a", "ab", "▁ab", "b▁", "\u{301}", "가"];
    let mut columns = Columns { ids: (0..tokens.len() as u32).collect(), ..Columns::default() };
    for token in tokens {
        columns.push(token.as_bytes());
    }
    let scores: Vec<f64> = (0..tokens.len() as u8).map(|at| f64::from(-1.1_f32 * f32::from(at))).collect();
    let options = r#"{"type":"Unigram","unk_id":0,"unk_score":-30.0}"#;
    let rules = [("e\u{301}", "é"), ("\u{1100}\u{1161}", "가"), ("\u{3000}", " ")];
    let table = base64::engine::general_purpose::STANDARD.encode(table(&rules));
    let step = format!(
        r#"{{"type":"SentencePiece","precompiled_charsmap":"{table}","add_dummy_prefix":true,
        "remove_extra_whitespaces":true,"escape_whitespaces":true,"treat_whitespace_as_suffix":false}}"#
    );
    let added = [(true, "<s>"), (false, "</s>")].into_iter().zip(100..);
    Tokenizer::new(Parts {
        model: Model::of_characters(&columns, None, Some(&scores), options).unwrap(),
        unreachable: Columns::default(),
        added: added
            .map(|((lstrip, content), id)| AddedToken {
                content: content.to_owned(),
                id,
                lstrip,
                ..AddedToken::default()
            })
            .collect(),
        steps: Steps {
            normalizers: more.iter().cloned().chain([Normalizer::parse(&step).unwrap()]).collect(),
            ..Steps::default()
        },
        decoders: vec![],
    })
    .unwrap()
}

#[test]
fn a_text_of_sentencepiece_is_one_run_also_behind_white_space_and_accents() {
    let mut seed = 5_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    let atoms = ["a", "b", "ab", " ", "   ", "\u{3000}", "e", "\u{301}", "é", "\u{1100}\u{1161}", "x", "▁", "A", "``"];
    let quotes = Normalizer::parse(r#"{"type":"Replace","pattern":{"String":"``"},"content":"ab"}"#).unwrap();
    for more in [vec![], vec![quotes, Normalizer::Nfkd, Normalizer::Lowercase]] {
        let tokenizer = of_sentencepiece(&more);
        let counter = Counter::new(&tokenizer, POLICY);
        for length in [3, 40, 300, 300] {
            let text: String = (0..length).map(|_| atoms[random(atoms.len())]).collect();
            let text = format!("  ab{text}");
            let first = counter.first_joined(&text, 0, text.len()).unwrap();
            let mut run = run::Run::new(&counter, &text, 0, counter::As::Text, first).unwrap().unwrap();
            while run.end() < text.len() {
                let wanted = run.end() + 1 + random(60);
                let to = (wanted..text.len()).find(|&to| text.is_char_boundary(to)).unwrap_or(text.len());
                assert!(run.extend(&counter, &text, to).unwrap(), "{:?} of {text:?}", &text[..to]);
            }
            let places: Vec<_> = run.counts(&counter, 0).map(|place| place.unwrap()).collect();
            assert_eq!(places.len(), 1 + text[first..].chars().count());
            for (place, ids) in places {
                assert_eq!(ids, count(&tokenizer, &text[..place]), "{:?} of {text:?}", &text[..place]);
            }
            // A short one is too near to what was read for it.
            let stays = run.truncate(text.len());
            assert!(stays || length < 300);
            if stays {
                assert!(run.extend(&counter, &text, text.len()).unwrap());
                assert_eq!(run.count_with(&counter, &text).unwrap(), count(&tokenizer, &text));
            }
        }
    }
}

#[test]
fn parts_of_long_words_are_the_longest_that_fit() {
    let mut seed = 3_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    let atoms = ["a", "b", "ab", "e", "\u{301}", "é", "\u{1100}\u{1161}", "x"];
    let tokenizer = of_sentencepiece(&[]);
    let counter = Counter::new(&tokenizer, POLICY);
    // Words that end soon, and one that goes on behind all that is read for a part; cuts are rare inside of them.
    for length in [20, 300, 900] {
        let words: Vec<String> =
            (0..900 / length).map(|_| (0..length).map(|_| atoms[random(atoms.len())]).collect()).collect();
        let text = words.join(" <s>");
        for limit in [1, 4, 15] {
            let mut ruler = ruler::Ruler::new(limit);
            let mut start = 0;
            while start < text.len() {
                let fit = ruler.fit(&counter, &text, start, limit, text.len()).unwrap();
                let places = text[start..].char_indices().map(|(at, _)| start + at).chain([text.len()]);
                let near = places.take(1 + 40 * limit as usize);
                let counts = near.map(|place| (place, count(&tokenizer, &text[start..place])));
                let longest = counts.filter(|&(_, tokens)| tokens <= limit).last().unwrap();
                assert_eq!((fit.at, fit.tokens), longest, "{limit} of {:?}", &text[start..]);
                // Parts begin anywhere.
                start = boundary(&text, fit.at + random(3)).max(start + 1);
                start = (start..=text.len()).find(|&start| text.is_char_boundary(start)).unwrap();
            }
        }
    }
}

#[test]
fn no_longer_part_fits() {
    with_texts(|tokenizer, text| {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let left: Vec<u64> = places.iter().map(|&at| count(tokenizer, &text[..at])).collect();
        let right: Vec<u64> = places.iter().map(|&at| count(tokenizer, &text[at..])).collect();
        for limit in [0, 1, 3, count(tokenizer, text) / 2, count(tokenizer, text)] {
            let longest = places.iter().zip(&left).rfind(|&(_, &tokens)| tokens <= limit).unwrap();
            let fit = tokenizer.fit(text, POLICY, limit, Side::Left).unwrap();
            assert_eq!((fit.at, fit.tokens), (*longest.0, *longest.1), "{text:?} {limit}");
            if fit.decided {
                for more in ["a", "ab ab", ">", "\n 1", "\u{338}b"] {
                    let more = [text, more].concat();
                    assert_eq!(tokenizer.fit(&more, POLICY, limit, Side::Left).unwrap().at, fit.at, "{more:?} {limit}");
                }
            }
            let longest = places.iter().zip(&right).find(|&(_, &tokens)| tokens <= limit).unwrap();
            let fit = tokenizer.fit(text, POLICY, limit, Side::Right).unwrap();
            assert_eq!((fit.at, fit.tokens), (*longest.0, *longest.1), "{text:?} {limit}");
        }
    });
}

#[test]
fn an_index_that_comes_in_parts_is_that_of_the_whole() {
    with_texts(|tokenizer, text| {
        let text = text.repeat(5);
        let mut builder = Builder::new();
        let mut start = 0;
        while let Some(end) = (start + 13..text.len()).find(|&at| text.is_char_boundary(at)) {
            builder.push(tokenizer, &text[start..end], POLICY).unwrap();
            start = end;
        }
        builder.push(tokenizer, &text[start..], POLICY).unwrap();
        let indices = [builder.finish(tokenizer, POLICY).unwrap(), Index::new(tokenizer, &text, POLICY).unwrap()];
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for (&start, &end) in
            places.iter().step_by(3).zip(places.iter().rev().step_by(5)).filter(|(start, end)| start < end)
        {
            for index in &indices {
                let counted = index.count(tokenizer, |range| Ok(text[range].into()), POLICY, start..end).unwrap();
                assert_eq!(counted, count(tokenizer, &text[start..end]), "{:?}", &text[start..end]);
            }
        }
    });
}
