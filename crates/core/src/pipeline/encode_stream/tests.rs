//! Texts in parts against the same texts whole.

use super::*;
use crate::encode::Count;
use crate::error::Error;
use crate::pipeline::{Parts, Run, Span};
use crate::segment::{Steps, Treat};
use crate::split::added::AddedToken;
use crate::split::{Pattern, names};
use crate::vocab::{Semantics, Vocab};

fn tokenizer(patterns: &[&str], flags: bool) -> Tokenizer {
    // A vocabulary without a byte, so that some texts are errors.
    let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).filter(|byte| byte != b"Q").collect();
    let mut tokens: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).collect();
    tokens.extend([&b" a"[..], b"bc", b" abc", b"  "]);
    let ids: Vec<u32> = (0..tokens.len() as u32).collect();
    let added = |id, content: &str| AddedToken { content: content.to_owned(), id, ..AddedToken::default() };
    Tokenizer::new(Parts {
        added: vec![
            AddedToken { special: true, ..added(300, "<s>") },
            AddedToken { lstrip: flags, ..added(301, "a <s") },
            added(302, "\n\n"),
        ],
        steps: Steps::of(patterns.iter().map(|pattern| Pattern::new(pattern).unwrap()).collect()),
        ..Parts::of(Vocab::new(&tokens, &ids, Semantics::Ranks).unwrap())
    })
    .unwrap()
}

fn in_blocks<S: Sink + Default>(tokenizer: &Tokenizer, units: Units, policy: Policy, block: usize) -> Result<S> {
    let mut sink = S::default();
    tokenizer.encode_in_blocks(units, policy, &mut tokenizer.encoder(&mut sink, None), block)?;
    Ok(sink)
}

/// The ids of a text in parts, with no waiting for more, and the error that there was.
fn streamed(tokenizer: &Tokenizer, policy: Policy, parts: &[&[u8]]) -> (Vec<u32>, Option<Error>) {
    let (mut stream, mut ids) = (EncodeStream::default(), Vec::new());
    for part in parts {
        stream.least = 0;
        if let Err(error) = stream.push_bytes(tokenizer, policy, part, OnInvalid::Raise, None, &mut ids) {
            return (ids, Some(error));
        }
    }
    let error = stream.finish(tokenizer, policy, OnInvalid::Raise, None, &mut ids).err();
    assert!(error.is_some() || (stream.held(), stream.length()) == (0, (0, 0)));
    (ids, error)
}

#[test]
fn parts_change_neither_ids_nor_errors() {
    let words =
        [" abc", "bcde", " ", "\n", "\n\n", "é世界😀", "<s>", "a <s", "a ", "<", "12345", "'ll", "!?", "   x", "Q"];
    let mut seed = 11_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    let patterns: [&[&str]; 4] = [&[names::O200K], &[names::GPT2, r"\p{N}{1,2}|\P{N}+"], &[], &[r"(?<=b)c|\w"]];
    for (number, patterns) in patterns.into_iter().enumerate() {
        for flags in [false, true] {
            let tokenizer = tokenizer(patterns, flags);
            for case in 0..150 {
                let words = &words[..if random(4) > 0 { words.len() - 1 } else { words.len() }];
                let text: String = (0..random([4, 40][case % 2])).map(|_| words[random(words.len())]).collect();
                let special = [Treat::Match, Treat::Text, Treat::Raise][case % 3];
                let policy = Policy { special, added: [Treat::Match, Treat::Text][case % 2] };
                let mut expected = Vec::new();
                let error = tokenizer.encode(&text, policy, &mut expected).err();
                let characters: Vec<u32> = text.chars().map(u32::from).collect();
                let units = Units::Four(&characters);
                for block in [1, 2, 7] {
                    let ids = in_blocks::<Vec<u32>>(&tokenizer, units, policy, block);
                    let whole = error.clone().map_or_else(|| Ok(expected.clone()), Err);
                    assert_eq!(ids, whole, "{number} {flags} {text:?} {block}");
                }
                for _ in 0..4 {
                    let mut parts = Vec::new();
                    let mut rest = text.as_bytes();
                    while !rest.is_empty() {
                        let most = [1, 3, 60][random(3)];
                        let (part, others) = rest.split_at(1 + random(rest.len().min(most)));
                        parts.push(part);
                        rest = others;
                    }
                    let (ids, found) = streamed(&tokenizer, policy, &parts);
                    assert_eq!(found, error, "{number} {flags} {text:?} {parts:?}");
                    // Of a piece at fault a part may have been encoded.
                    let is_beginning = expected.starts_with(&ids) || ids.starts_with(&expected);
                    assert!(if error.is_some() { is_beginning } else { ids == expected }, "{text:?}");
                }
            }
        }
    }
}

#[test]
fn little_is_held_where_there_are_cuts_and_all_where_there_is_none() {
    // Without a pattern there is a cut where no token has both characters; one has two spaces.
    let (words, spaces) = (" abc bc".repeat(10_000), "  ".repeat(10_000));
    let few = 2 * LEAST_MORE;
    for (patterns, text, most) in [(&[names::GPT2][..], &words, few), (&[], &words, few), (&[], &spaces, usize::MAX)] {
        let tokenizer = tokenizer(patterns, false);
        let (mut stream, mut ids, mut held) = (EncodeStream::default(), Vec::new(), 0);
        for part in text.as_bytes().chunks(100) {
            let on_invalid = OnInvalid::Raise;
            stream.push_bytes(&tokenizer, Policy::default(), part, on_invalid, None, &mut ids).unwrap();
            held = held.max(stream.held());
        }
        assert!(if most == usize::MAX { held == text.len() } else { held <= most }, "{held}");
    }
}

#[test]
fn a_unit_that_is_no_character_is_the_error_before_all_others_on_any_number_of_threads() {
    let tokenizers = [names::GPT2, r"(?<=b)c|\w"].map(|pattern| tokenizer(&[pattern], true));
    let surrogate: &[u32] = &[0xD800];
    let [wrong, special] = ["Q", "<s>"].map(|text| text.chars().map(u32::from).collect::<Vec<_>>());
    for faults in
        [[&[][..], surrogate], [&wrong, surrogate], [surrogate, &wrong], [&special, surrogate], [&wrong, &special]]
    {
        let filling: Vec<u32> = " abc bcde\n é世界".repeat(15_000).chars().map(u32::from).collect();
        let text = [&filling[..], faults[0], &filling, faults[1], &filling].concat();
        let whole: String = text.iter().filter_map(|&unit| char::from_u32(unit)).collect();
        let (policy, run, units) =
            (Policy::default(), |threads| Run { threads: Some(threads), stop: None }, Units::Four(&text));
        for tokenizer in &tokenizers {
            let whole = || tokenizer.encode_whole::<Vec<u32>>(&[Span::Text(&whole)], policy, run(1));
            let expected = units.text().and_then(|_| whole()).unwrap_err();
            assert_eq!(in_blocks::<Count>(tokenizer, units, policy, 50_000).err(), Some(expected.clone()));
            for threads in [1, 3] {
                let error = tokenizer.encode_whole::<Count>(&[Span::Units(units)], policy, run(threads)).err();
                assert_eq!(error, Some(expected.clone()), "{threads}");
            }
        }
    }
}

#[test]
fn neither_blocks_nor_threads_change_ids_or_errors_of_units() {
    for patterns in [&[names::GPT2][..], &[], &[r"(?<=b)c|\w"]] {
        let tokenizer = tokenizer(patterns, true);
        for wrong in ["", "Q", "<s>"] {
            let text = [&" abc bcde\n é世界".repeat(30_000), wrong, &"é".repeat(1000), "Q", " abc"].concat();
            let text = if wrong.is_empty() { text.replace('Q', "") } else { text };
            let characters: Vec<u32> = text.chars().map(u32::from).collect();
            let units = Units::Four(&characters);
            let run = |threads| Run { threads: Some(threads), stop: None };
            let (policy, spans) = (Policy::default(), [Span::Text(&text)]);
            let whole = tokenizer.encode_whole::<Vec<u32>>(&spans, policy, run(1));
            assert_eq!(whole.is_err(), !wrong.is_empty());
            for block in [100_000, 140_001] {
                assert_eq!(
                    in_blocks::<Vec<u32>>(&tokenizer, units, policy, block),
                    whole,
                    "{patterns:?} {wrong:?} {block}"
                );
            }
            for threads in [1, 3] {
                let ids = tokenizer.encode_whole::<Vec<u32>>(&[Span::Units(units)], policy, run(threads));
                assert_eq!(ids, whole, "{patterns:?} {wrong:?} {threads}");
                let counted = tokenizer.encode_whole::<Count>(&[Span::Units(units)], policy, run(threads));
                assert_eq!(counted.map(|count| count.0), whole.clone().map(|ids| ids.len() as u64));
            }
        }
    }
}
