//! Learning against plain sums over all spellings, and on any number of threads.

use std::collections::BTreeMap;

use super::expectation::{Sums, expected};
use super::lattice::{Best, Lattice, UNKNOWN, unknown};
use super::*;

pub(super) fn settings(vocab_size: usize) -> Settings {
    Settings {
        vocab_size,
        reserved: 0,
        character_coverage: 1.0,
        required_chars: Vec::new(),
        max_piece_length: 16,
        seed_size: 1_000_000,
        shrinking_factor: 0.75,
        sub_iterations: 2,
        split_by_unicode_script: true,
        split_by_number: true,
        split_digits: false,
        dummy_prefix: true,
    }
}

/// Words of two to four letters, so that most substrings are shared.
pub(super) fn random_words(seed: u64) -> BTreeMap<String, u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let letters = next(3) + 2;
    let mut words = BTreeMap::new();
    for _ in 0..=next(14) {
        let word: String = (0..=next(9)).map(|_| char::from(b'a' + next(letters) as u8)).collect();
        *words.entry(word).or_default() += next(20) + 1;
    }
    words
}

fn counts(words: &BTreeMap<String, u64>) -> PieceCounts {
    PieceCounts::of(words.iter().map(|(word, &count)| (word.as_bytes(), count))).unwrap()
}

fn learned(words: &BTreeMap<String, u64>, settings: &Settings, threads: usize) -> Result<Vec<Scored>> {
    learn(&counts(words), settings, threads, &Progress::default())
}

/// All spellings of a stretch of characters, each with its log probability.
fn spellings(lattice: &Lattice, tokens: &ScoredTokens, start: usize, end: usize) -> Vec<(Vec<u32>, f64)> {
    if start == end {
        return vec![(Vec::new(), 0.0)];
    }
    let (ids, lengths) = lattice.at(start);
    let mut steps: Vec<(u32, usize, f64)> = ids
        .iter()
        .zip(lengths)
        .map(|(&id, &length)| (id, usize::from(length), tokens.scores[id as usize]))
        .filter(|&(_, length, _)| start + length <= end)
        .collect();
    if lengths.first() != Some(&1) {
        steps.push((UNKNOWN, 1, unknown(tokens)));
    }
    let mut all = Vec::new();
    for (id, length, score) in steps {
        for (mut path, rest) in spellings(lattice, tokens, start + length, end) {
            path.insert(0, id);
            all.push((path, score + rest));
        }
    }
    all
}

/// A model after some rounds, in which some tokens are dropped on purpose so that characters may be unknown.
fn model(seed: u64) -> (Text, ScoredTokens, Lattice) {
    let text = Text::of(&counts(&random_words(seed)), &settings(1000), &Progress::default()).unwrap();
    let (mut tokens, mut lattice) = seeds::seeds(&text, &settings(1000), &Progress::default()).unwrap();
    let kept: Vec<bool> = (0..tokens.len()).map(|id| id as u64 % 7 != seed % 9).collect();
    tokens.keep(&kept);
    lattice.keep(&kept, &Progress::default()).unwrap();
    (text, tokens, lattice)
}

#[test]
fn expected_counts_are_those_over_all_spellings() {
    for seed in 0..150 {
        let (text, tokens, lattice) = model(seed);
        let mut slow = vec![0.0; tokens.len()];
        for word in &text.words {
            let all = spellings(&lattice, &tokens, word.start as usize, word.end as usize);
            let total: f64 = all.iter().map(|(_, score)| score.exp()).sum();
            for (path, score) in all {
                for id in path.into_iter().filter(|&id| id != UNKNOWN) {
                    slow[id as usize] += score.exp() / total * word.count as f64;
                }
            }
        }
        let fast = expected(&text, &lattice, &tokens, 2, &Progress::default()).unwrap();
        for (id, (slow, fast)) in slow.iter().zip(&fast).enumerate() {
            assert!((slow - fast).abs() <= 1e-9 * slow.max(1.0), "{seed} {id} {slow} {fast}");
        }
    }
}

#[test]
fn the_best_path_is_the_likeliest_spelling() {
    for seed in 0..150 {
        let (text, tokens, lattice) = model(seed);
        let mut best = Best::default();
        for word in &text.words {
            for whole in [true, false] {
                let size = word.end - word.start;
                if size == 1 && !whole {
                    continue;
                }
                let all = spellings(&lattice, &tokens, word.start as usize, word.end as usize);
                let most = all
                    .iter()
                    .filter(|(path, _)| whole || path.len() > 1)
                    .map(|(_, score)| *score)
                    .fold(f64::NEG_INFINITY, f64::max);
                let unknown_score = unknown(&tokens);
                let found = best.find(&lattice, &tokens.scores, unknown_score, (word.start, word.end), whole).unwrap();
                assert!((found - most).abs() < 1e-9, "{seed} {found} {most}");
                let path: f64 = best
                    .path()
                    .map(|id| if id == UNKNOWN { unknown(&tokens) } else { tokens.scores[id as usize] })
                    .sum();
                assert!((path - most).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn long_words_do_not_underflow() {
    // The expected counts of a word that repeats are nearly proportional to its length, however small its probability is.
    let part = "abcabdacbdd";
    let of = |times: usize| {
        let words = BTreeMap::from([(part.repeat(times), 1), ("abc".into(), 2), ("dd".into(), 3)]);
        let text = Text::of(&counts(&words), &settings(1000), &Progress::default()).unwrap();
        let (tokens, lattice) = seeds::seeds(&text, &settings(1000), &Progress::default()).unwrap();
        (text, tokens, lattice)
    };
    let (text, tokens, lattice) = of(2000);
    let chances: Vec<f64> = tokens.scores.iter().map(|score| score.exp()).collect();
    let word = *text.words.iter().max_by_key(|word| word.end - word.start).unwrap();
    let mut totals = vec![0_u128; tokens.len()];
    Sums::default().add(&lattice, &chances, unknown(&tokens).exp(), word, &mut totals).unwrap();
    // Each path covers each character once.
    let covered: f64 = totals
        .iter()
        .zip(&tokens.lengths)
        .map(|(&total, &length)| total as f64 / (1_u64 << 62) as f64 * f64::from(length))
        .sum();
    let size = f64::from(word.end - word.start);
    assert!((covered - size).abs() < 1e-6 * size, "{covered} {size}");
}

#[test]
fn likelihood_rises_from_round_to_round() {
    let words = random_words(11);
    let text = Text::of(&counts(&words), &settings(1000), &Progress::default()).unwrap();
    let (mut tokens, lattice) = seeds::seeds(&text, &settings(1000), &Progress::default()).unwrap();
    let likelihood = |tokens: &ScoredTokens| -> f64 {
        let of = |word: &text::Word| {
            let all = spellings(&lattice, tokens, word.start as usize, word.end as usize);
            all.iter().map(|(_, score)| score.exp()).sum::<f64>().ln() * word.count as f64
        };
        text.words.iter().map(of).sum()
    };
    let mut before = likelihood(&tokens);
    for _ in 0..5 {
        let counted = expected(&text, &lattice, &tokens, 1, &Progress::default()).unwrap();
        // Without the prior, which has its own way.
        let total: f64 = counted.iter().sum();
        tokens.scores = counted.iter().map(|count| (count / total).ln()).collect();
        let now = likelihood(&tokens);
        assert!(now >= before - 1e-9, "{before} {now}");
        before = now;
    }
}

#[test]
fn threads_change_nothing() {
    let words: BTreeMap<String, u64> = (0..300).flat_map(random_words).collect();
    let one = learned(&words, &settings(60), 1).unwrap();
    assert_eq!(one.len(), 60);
    for threads in [2, 3, 7] {
        assert_eq!(learned(&words, &settings(60), threads).unwrap(), one);
    }
}

#[test]
fn vocabularies_have_their_size_and_their_characters() {
    for seed in 0..100 {
        let words = random_words(seed);
        let mut settings = settings(5 + seed as usize % 20);
        settings.reserved = seed as usize % 2;
        settings.required_chars = vec!['z'];
        let characters: std::collections::BTreeSet<char> =
            words.keys().flat_map(|word| word.chars()).chain(['z', '\u{2581}']).collect();
        match learned(&words, &settings, 1) {
            Ok(tokens) => {
                assert!(tokens.len() <= settings.vocab_size - settings.reserved);
                let texts: std::collections::BTreeSet<&str> = tokens.iter().map(|(token, _)| &**token).collect();
                assert_eq!(texts.len(), tokens.len());
                assert!(characters.iter().all(|character| texts.contains(&*character.to_string())));
                assert!(tokens.is_sorted_by(|a, b| a.1 >= b.1), "{tokens:?}");
                assert!(tokens.iter().all(|(_, score)| score.is_finite() && *score <= 0.0));
            }
            Err(error) => {
                assert!(characters.len() + settings.reserved > settings.vocab_size, "{error}");
                assert!(error.remedy.contains(&format!("{}", characters.len() + settings.reserved)), "{error}");
            }
        }
    }
}

#[test]
fn required_characters_become_tokens_also_where_the_text_is_covered() {
    let words = BTreeMap::from([("ab".to_owned(), 500)]);
    let mut settings = settings(40);
    settings.required_chars = ('a'..='z').chain(['\u{2581}']).collect();
    let tokens = learned(&words, &settings, 1).unwrap();
    assert!(('a'..='z').all(|character| tokens.iter().any(|(token, _)| **token == *character.to_string())));
}

#[test]
fn rare_characters_cut_words() {
    let words = BTreeMap::from([("abxab".to_owned(), 1), ("ab".to_owned(), 500)]);
    let mut settings = settings(10);
    settings.character_coverage = 0.99;
    let tokens = learned(&words, &settings, 1).unwrap();
    assert!(tokens.iter().all(|(token, _)| !token.contains('x')), "{tokens:?}");
}

#[test]
fn settings_out_of_range_and_empty_texts_are_refused() {
    let words = BTreeMap::from([("ab".to_owned(), 1)]);
    let changes: [fn(&mut Settings); 6] = [
        |settings| settings.character_coverage = f64::NAN,
        |settings| settings.shrinking_factor = 1.0,
        |settings| settings.max_piece_length = 0,
        |settings| settings.sub_iterations = 0,
        |settings| settings.seed_size = usize::MAX,
        |settings| settings.vocab_size = 2,
    ];
    for change in changes {
        let mut settings = settings(100);
        change(&mut settings);
        assert_eq!(learned(&words, &settings, 1).unwrap_err().kind, Kind::Training);
    }
    assert_eq!(learned(&BTreeMap::from([("  ".into(), 3)]), &settings(10), 1).unwrap_err().kind, Kind::Training);
    let most = BTreeMap::from([("ab".into(), u64::MAX)]);
    assert_eq!(learned(&most, &settings(10), 1).unwrap_err().kind, Kind::Training);
}
