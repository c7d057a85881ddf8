//! Counts against a scan of the whole text into a map.

use std::collections::BTreeMap;

use super::*;
use crate::error::Kind;
use crate::segment::{Segmenter, Steps};
use crate::split::added::AddedToken;
use crate::split::{Pattern, names};
use crate::train::Progress;

type Counted = BTreeMap<(Vec<u8>, u16), (u64, u64)>;

fn segmenter(pattern: &str) -> Segmenter {
    let end = AddedToken { content: "<end>".to_owned(), special: true, ..AddedToken::default() };
    Segmenter::new(&[end], Steps::of(vec![Pattern::new(pattern).unwrap()])).unwrap()
}

/// The slow way: the text in one go, between its added tokens.
fn expected(pattern: &str, texts: &[&str]) -> Counted {
    let pattern = Pattern::new(pattern).unwrap();
    let mut counted = Counted::new();
    let mut at = 0;
    for (row, text) in texts.iter().enumerate() {
        for stretch in text.split("<end>") {
            for piece in pattern.pieces(stretch) {
                let piece = piece.unwrap();
                counted.entry((piece.into(), row as u16 % 2)).or_insert((0, at)).0 += 1;
                at += piece.len() as u64;
            }
            at += 5;
        }
        at -= 4;
    }
    counted
}

fn rows(counts: &PieceCounts) -> Counted {
    let mut rows = Counted::new();
    counts
        .for_each(|row| {
            assert!(rows.last_key_value().is_none_or(|(key, _)| *key < (row.piece.to_vec(), row.group)));
            rows.insert((row.piece.to_vec(), row.group), (row.count, row.first));
            Ok(())
        })
        .unwrap();
    assert_eq!((counts.len(), counts.is_empty()), (rows.len() as u64, rows.is_empty()));
    assert_eq!(counts.piece_bytes(), rows.keys().map(|(piece, _)| piece.len() as u64).sum::<u64>());
    rows
}

fn random_text(seed: &mut u64, characters: usize) -> String {
    let parts = ["a", "b", "l", "'", " ", " ", "\n", "é", "中", "7", "<end>", "<en", "d>", "words"];
    (0..characters)
        .map(|_| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            parts[(*seed >> 33) as usize % parts.len()]
        })
        .collect()
}

#[test]
fn threads_windows_and_memory_change_nothing() {
    let mut seed = 11;
    let progress = Progress::default();
    for pattern in [names::GPT2, names::O200K, r"\w+(?=\s)|\s+|\S", ""] {
        let segmenter = segmenter(pattern);
        for round in 0..3 {
            let texts: Vec<String> = (0..3).map(|_| random_text(&mut seed, 900 * round)).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let expected = expected(pattern, &texts);
            for (threads, memory) in [(1, None), (2, None), (7, None), (1, Some(50_000)), (3, Some(100_000))] {
                let (mut read, mut given) = (Counter::new(memory), Counter::new(memory));
                for (row, text) in texts.iter().enumerate() {
                    let group = row as u16 % 2;
                    let bytes = text.as_bytes();
                    read.count_reader(&segmenter, bytes, OnInvalid::Raise, group, threads, &progress).unwrap();
                    given.count_texts(&segmenter, &[text], group, threads, &progress).unwrap();
                }
                for counter in [read, given] {
                    assert_eq!(rows(&counter.finish(threads, &progress).unwrap()), expected, "{pattern} {threads}");
                }
            }
        }
    }
}

#[test]
fn runs_are_written_when_memory_is_short_and_hold_the_same() {
    let mut seed = 12;
    let row = |number: u64| (format!("{}-{number}", "long piece ".repeat(number as usize % 3)), number);
    let (mut small, mut large) = (Counter::new(Some(300_000)), Counter::new(None));
    for _ in 0..60_000 {
        seed = (seed * 6_364_136_223_846_793_005_u128 + 1) % (1 << 64);
        let (piece, count) = row((seed >> 33) as u64 % 20_000);
        for counter in [&mut small, &mut large] {
            counter.add(piece.as_bytes(), count).unwrap();
        }
    }
    assert!(small.spilled().runs > 3 && large.spilled() == Spilled::default());
    let progress = Progress::default();
    let (small, large) = (small.finish(1, &progress).unwrap(), large.finish(1, &progress).unwrap());
    assert!(small.is_on_disk() && !large.is_on_disk());
    assert_eq!(rows(&small), rows(&large));
    assert_eq!(small.top(7).unwrap(), large.top(7).unwrap());
    let (small, large) = (small.in_memory().unwrap(), large.in_memory().unwrap());
    assert_eq!(small.in_order().unwrap(), large.in_order().unwrap());
}

#[test]
fn the_top_rows_are_those_of_a_sort() {
    let pieces = ["b", "a", "c", "d"].map(str::as_bytes);
    let counts = PieceCounts::of(pieces.into_iter().zip([2, 2, 5, 1])).unwrap();
    let top = |most| -> Vec<_> { counts.top(most).unwrap().into_iter().map(|row| row.piece).collect() };
    assert_eq!(top(2), [b"c", b"a"]);
    assert_eq!(top(9), [b"c", b"a", b"b", b"d"]);
    assert!(top(0).is_empty());
}

#[test]
fn counts_are_exact_up_to_64_bits_and_an_error_beyond_also_between_tables_and_runs() {
    for count in [(1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, u64::MAX / 2] {
        for memory in [None, Some(0)] {
            let mut counter = Counter::new(memory);
            for piece in [b"a", b"b", b"a"] {
                counter.add(piece, count).unwrap();
            }
            let counts = counter.finish(1, &Progress::default()).unwrap();
            assert_eq!(rows(&counts).values().map(|(count, _)| *count).collect::<Vec<_>>(), [2 * count, count]);
        }
    }
    for memory in [None, Some(0)] {
        let mut counter = Counter::new(memory);
        let added = [b"a", b"b", b"a"].iter().try_for_each(|piece| counter.add(*piece, 1 << 63));
        let error = added.and_then(|()| counter.finish(1, &Progress::default()).map(|_| ())).unwrap_err();
        assert_eq!(error.kind, Kind::Training);
    }
}

#[test]
fn a_text_that_is_not_utf8_is_an_error_with_its_place() {
    let bytes = [b"words ".repeat(3_000), b"\xFF".to_vec()].concat();
    let mut counter = Counter::new(Some(40_000));
    let result = counter.count_reader(&segmenter(names::GPT2), &*bytes, OnInvalid::Raise, 0, 2, &Progress::default());
    assert_eq!(result.unwrap_err().byte, Some(18_000));
}

#[test]
fn a_text_whose_pattern_gives_up_is_named() {
    let explosive = segmenter(r"(?:(?=a)a|(?=aa)aa)+b");
    let texts = ["b", &"a".repeat(40)];
    let counted = Counter::new(None).count_texts(&explosive, &texts, 0, 2, &Progress::default());
    let error = counted.unwrap_err();
    assert_eq!((error.kind, error.row), (Kind::Pattern, Some(1)));
}

#[test]
fn lines_of_json_are_counted_as_their_texts_are() {
    let mut seed = 13;
    let progress = Progress::default();
    let segmenter = segmenter(names::GPT2);
    let texts: Vec<String> = (0..200).map(|round| random_text(&mut seed, round)).collect();
    let mut lines = String::new();
    for (row, text) in texts.iter().enumerate() {
        let (text, end) = (serde_json::to_string(text).unwrap(), ["\n", "\r\n \n"][row % 2]);
        lines.extend(["{\"n\": 7, \"text\": ", &text, "}", end]);
    }
    let mut counter = Counter::new(None);
    let given: Vec<&str> = texts.iter().map(String::as_str).collect();
    counter.count_texts(&segmenter, &given, 0, 1, &progress).unwrap();
    let counts_of = |counter: Counter| -> BTreeMap<_, _> {
        rows(&counter.finish(1, &progress).unwrap()).into_iter().map(|(key, (count, _))| (key, count)).collect()
    };
    let expected = counts_of(counter);
    for (threads, memory) in [(1, None), (2, None), (7, None), (2, Some(40_000))] {
        let mut counter = Counter::new(memory);
        let lines = lines.trim_end().as_bytes();
        counter.count_json_lines(&segmenter, lines, "text", OnInvalid::Raise, 0, threads, &progress).unwrap();
        assert_eq!(counts_of(counter), expected);
    }
    for threads in [1, 2] {
        let broken = [lines.as_bytes(), b"{}\n", lines.as_bytes()].concat();
        let mut counter = Counter::new(Some(40_000));
        let result = counter.count_json_lines(&segmenter, &*broken, "text", OnInvalid::Raise, 0, threads, &progress);
        assert_eq!(result.unwrap_err().line, Some(301));
    }
}
