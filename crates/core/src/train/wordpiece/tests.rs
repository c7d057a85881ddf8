//! The trainer against one that counts everything again for each merge.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn settings(vocab_size: usize, score: Score) -> Settings {
    Settings {
        vocab_size,
        score,
        special_tokens: vec!["[UNK]".into()],
        prefix: "##".into(),
        min_frequency: 1,
        limit_alphabet: None,
        initial_alphabet: Vec::new(),
        bert: None,
    }
}

fn counts(words: &BTreeMap<String, u64>) -> PieceCounts {
    PieceCounts::of(words.iter().map(|(word, &count)| (word.as_bytes(), count))).unwrap()
}

/// All counts anew for each merge, and no index of anything.
fn naive(words: &BTreeMap<String, u64>, settings: &Settings) -> Vec<String> {
    let prefix = &*settings.prefix;
    let mut tokens = settings.special_tokens.clone();
    let id = |text: String, tokens: &mut Vec<String>| {
        tokens.iter().position(|token| *token == text).unwrap_or_else(|| {
            tokens.push(text);
            tokens.len() - 1
        })
    };
    let starts: BTreeSet<char> = words.keys().flat_map(|word| word.chars()).collect();
    let inside: BTreeSet<char> = words.keys().flat_map(|word| word.chars().skip(1)).collect();
    for start in &starts {
        id(start.to_string(), &mut tokens);
    }
    for inside in &inside {
        id(format!("{prefix}{inside}"), &mut tokens);
    }
    let mut spelled: Vec<(Vec<usize>, u64)> = Vec::new();
    for (word, &count) in words {
        let text =
            |(at, character): (usize, char)| if at == 0 { character.into() } else { format!("{prefix}{character}") };
        spelled.push((word.chars().enumerate().map(|part| id(text(part), &mut tokens)).collect(), count));
    }
    // The counts of merged pairs that the trainer of `tokenizers` leaves behind.
    let mut kept: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    while tokens.len() < settings.vocab_size {
        let mut single: BTreeMap<usize, u128> = BTreeMap::new();
        let mut pairs: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for (word, count) in &spelled {
            for &token in word {
                *single.entry(token).or_default() += u128::from(*count);
            }
            for two in word.windows(2) {
                *pairs.entry((two[0], two[1])).or_default() += count;
            }
        }
        if settings.score == Score::Frequency {
            for (pair, count) in &mut pairs {
                *count += kept.get(pair).unwrap_or(&0);
            }
        }
        let mut best: Option<((usize, usize), u64)> = None;
        // In order of ids, so that only a better one replaces the best so far.
        for (&pair, &count) in pairs.iter().filter(|&(_, &count)| count >= settings.min_frequency) {
            let better = |(other, most): ((usize, usize), u64)| match settings.score {
                Score::Frequency => count > most,
                Score::Likelihood => {
                    u128::from(count) * single[&other.0] * single[&other.1]
                        > u128::from(most) * single[&pair.0] * single[&pair.1]
                }
            };
            if best.is_none_or(better) {
                best = Some((pair, count));
            }
        }
        let Some(((left, right), count)) = best else { break };
        let text = format!("{}{}", tokens[left], tokens[right].strip_prefix(prefix).unwrap_or(&tokens[right]));
        let joined = id(text, &mut tokens);
        let mut overlapping = 0;
        for (word, count) in &mut spelled {
            let mut merged = Vec::new();
            let mut at = 0;
            while at < word.len() {
                if word[at..].starts_with(&[left, right]) {
                    merged.push(joined);
                    at += 2;
                    overlapping += if left == right && word.get(at) == Some(&left) { *count } else { 0 };
                } else {
                    merged.push(word[at]);
                    at += 1;
                }
            }
            *word = merged;
        }
        kept.insert((left, right), count - overlapping);
    }
    tokens
}

/// Words of a small alphabet, where tokens are made in several ways and pairs overlap.
fn random_words(seed: u64) -> BTreeMap<String, u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let letters: Vec<char> = "abcé#".chars().take(2 + next(4) as usize).collect();
    let mut words = BTreeMap::new();
    for _ in 0..=next(12) {
        let word: String = (0..=next(9)).map(|_| letters[next(letters.len() as u64) as usize]).collect();
        *words.entry(word).or_default() += next(6) + 1;
    }
    words
}

#[test]
fn the_vocabulary_is_that_of_counting_everything_again() {
    for seed in 0..1500 {
        let words = random_words(seed);
        for score in [Score::Frequency, Score::Likelihood] {
            let mut settings = settings(12 + seed as usize % 40, score);
            settings.min_frequency = seed % 4;
            let learned = learn(&counts(&words), &settings, &Progress::default()).unwrap();
            settings.min_frequency = settings.min_frequency.max(1);
            assert_eq!(learned, naive(&words, &settings), "{seed} {score:?} {words:?}");
        }
    }
}

#[test]
fn products_are_compared_exactly() {
    let entry = |count, expected| Entry { count, expected, ids: (0, 1), pair: 0, version: 0 };
    let most = u64::MAX;
    let squared = u128::from(most) * u128::from(most);
    assert!(entry(most, squared) > entry(most - 1, squared));
    assert!(entry(most, squared - 1) > entry(most, squared));
    // (2^64 - 1)^3 = (2^128 - 3 * 2^64 + 2) * 2^64 + 2^64 - 1.
    assert_eq!(wide(most, squared), (u128::MAX - 3 * (1 << 64) + 3, most));
}

#[test]
fn rare_characters_are_left_out() {
    let words = BTreeMap::from([("xab".to_owned(), 1), ("ab".to_owned(), 5), ("cb".to_owned(), 2)]);
    let mut settings = settings(20, Score::Frequency);
    settings.limit_alphabet = Some(2);
    settings.min_frequency = 1;
    let learned = learn(&counts(&words), &settings, &Progress::default()).unwrap();
    // `c` and `x` are gone; what followed them still continues a word.
    assert_eq!(learned, ["[UNK]", "a", "b", "##a", "##b", "ab", "##ab"]);
}

#[test]
fn a_vocabulary_needs_room_for_its_characters() {
    let words = BTreeMap::from([("ab".to_owned(), 1)]);
    let error = learn(&counts(&words), &settings(3, Score::Frequency), &Progress::default()).unwrap_err();
    assert_eq!(error.kind, Kind::Training);
    assert!(error.remedy.contains("vocab_size=4"), "{error}");
}

#[test]
fn it_stops_when_it_is_told_to() {
    let words = BTreeMap::from([("abab".to_owned(), 3)]);
    let progress = Progress::default();
    progress.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let error = learn(&counts(&words), &settings(30, Score::Likelihood), &progress).unwrap_err();
    assert_eq!(error.kind, Kind::Interrupted);
}

#[test]
fn one_long_word_takes_no_longer_than_its_merges() {
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + (state >> 61) as u8)
    };
    let word: String = (0..200_000).map(|_| letter()).collect();
    let words = BTreeMap::from([(word, 2)]);
    assert_eq!(learn(&counts(&words), &settings(100, Score::Frequency), &Progress::default()).unwrap().len(), 100);
}
