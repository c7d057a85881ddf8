//! Learning equals a full recount before every merge, for all threads, thresholds and stops.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::learn::{Tuning, learn_tuned};
use super::{Alphabet, Settings, Ties, Training, learn};
use crate::error::{Kind, Result};
use crate::train::{Counter, Learned, PieceCounts, Progress};

const ALL_TIES: [Ties; 4] = [Ties::LowestIds, Ties::GreatestBytes, Ties::SmallestBytes, Ties::FirstSeen];

/// Numbers that look random, by xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// The pieces and their counts in order of first occurrence.
fn in_order(counts: &PieceCounts) -> Vec<(Vec<u8>, u64)> {
    counts.in_memory().unwrap().in_order().unwrap().into_iter().map(|row| (row.piece.to_vec(), row.count)).collect()
}

/// The slow way: all pairs are counted before each merge.
fn oracle(counts: &PieceCounts, alphabet: &Alphabet, settings: &Settings) -> Training {
    let (mut tokens, end): (Vec<Vec<u8>>, _) = match alphabet {
        Alphabet::Tokens(_) => unreachable!("not drawn"),
        Alphabet::Bytes(order) => (order.iter().map(|&byte| vec![byte]).collect(), None),
        Alphabet::Characters { end_of_word_suffix } => {
            let pieces = in_order(counts);
            let mut bytes: Vec<u8> = pieces.iter().flat_map(|(piece, _)| piece.iter().copied()).collect();
            bytes.sort_unstable();
            bytes.dedup();
            let end = end_of_word_suffix.clone().map(String::into_bytes);
            (bytes.into_iter().map(|byte| vec![byte]).chain(end.clone()).collect(), end)
        }
    };
    let symbols = tokens.clone();
    let number = |byte: u8| symbols.iter().position(|token| *token == [byte]).unwrap() as u32;
    let mut words: Vec<(Vec<u32>, u64)> = Vec::new();
    for (piece, count) in in_order(counts) {
        let mut word: Vec<u32> = piece.iter().map(|&byte| number(byte)).collect();
        word.extend(end.as_ref().map(|_| symbols.len() as u32 - 1));
        words.push((word, count));
    }
    let mut merges = Vec::new();
    while merges.len() < settings.merges {
        let mut found: BTreeMap<(u32, u32), (u64, usize)> = BTreeMap::new();
        let mut place = 0;
        for (word, count) in &words {
            for two in word.windows(2) {
                place += 1;
                found.entry((two[0], two[1])).or_insert((0, place)).0 += count;
            }
        }
        let bytes = |pair: (u32, u32)| (tokens[pair.0 as usize].clone(), tokens[pair.1 as usize].clone());
        let length = |pair: (u32, u32)| tokens[pair.0 as usize].len() + tokens[pair.1 as usize].len();
        let words_of = |pair: (u32, u32)| {
            let token = [&*tokens[pair.0 as usize], &tokens[pair.1 as usize]].concat();
            token.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count()
        };
        let may = found.into_iter().filter(|&(pair, (count, _))| {
            count >= settings.min_frequency.max(1)
                && length(pair) <= settings.max_token_length
                && words_of(pair) <= settings.max_words
        });
        let Some((pair, (count, _))) = may.max_by(|(a, (many, first)), (b, (more, then))| {
            many.cmp(more).then_with(|| match settings.ties {
                Ties::LowestIds => b.cmp(a),
                Ties::GreatestBytes => bytes(*a).cmp(&bytes(*b)),
                Ties::SmallestBytes => bytes(*b).cmp(&bytes(*a)),
                Ties::FirstSeen => then.cmp(first),
            })
        }) else {
            break;
        };
        for (word, _) in &mut words {
            let mut at = 0;
            while at + 1 < word.len() {
                if (word[at], word[at + 1]) == pair {
                    word.splice(at..at + 2, [tokens.len() as u32]);
                }
                at += 1;
            }
        }
        tokens.push([&*tokens[pair.0 as usize], &tokens[pair.1 as usize]].concat());
        merges.push(Learned { left: pair.0, right: pair.1, count });
    }
    let tokens_total = words.iter().map(|(word, count)| word.len() as u128 * u128::from(*count)).sum();
    Training { alphabet: symbols, merges, tokens_total }
}

fn random_counts(random: &mut Random) -> PieceCounts {
    let letters = &random.pick(&[b"abc", b"ab "])[..=random.below(3)];
    let (words, longest, most) = (1 + random.below(8), random.pick(&[5, 9, 40]), random.pick(&[1, 4, 30]));
    let mut counts = Counter::new(None);
    for _ in 0..words {
        let mut piece = Vec::new();
        for _ in 0..=random.below(longest) {
            // Runs as well.
            let letter = random.pick(letters);
            piece.extend(std::iter::repeat_n(letter, random.pick(&[1, 1, 1, 2, 5])));
        }
        counts.add(&piece, 1 + random.below(most) as u64).unwrap();
    }
    counts.finish(1, &Progress::default()).unwrap()
}

fn random_settings(random: &mut Random) -> (Alphabet<'static>, Settings) {
    let alphabet = match random.below(3) {
        0 => Alphabet::Characters { end_of_word_suffix: random.pick(&[None, Some("</w>".to_owned())]) },
        1 => Alphabet::Bytes((0..=u8::MAX).rev().collect()),
        _ => Alphabet::raw_bytes(),
    };
    let settings = Settings {
        merges: random.pick(&[0, 3, 20, 60]),
        ties: random.pick(&ALL_TIES),
        min_frequency: random.below(5) as u64,
        max_token_length: random.pick(&[usize::MAX, usize::MAX, 2, 3, 7]),
        max_words: random.pick(&[usize::MAX, usize::MAX, 0, 1, 2, 4]),
    };
    (alphabet, settings)
}

fn random_tuning(random: &mut Random) -> Tuning {
    Tuning {
        long_from: random.pick(&[0, 3, 8, usize::MAX]),
        share: 1,
        batch_postings: random.pick(&[0, 3, usize::MAX]),
        batch: random.pick(&[1, 2, 64]),
        kept_postings: random.pick(&[1, 5, usize::MAX]),
        floor_divisor: random.pick(&[1, 8, u64::MAX]),
        floor_step: random.pick(&[2, 8]),
    }
}

fn learn_all(
    counts: &PieceCounts,
    case: &(Alphabet, Settings),
    replay: &[Learned],
    how: (usize, Tuning),
) -> Result<Training> {
    learn_tuned(counts, &case.0, &case.1, replay, how, &Progress::default())
}

#[test]
fn random_counts_give_the_merges_of_a_full_recount() {
    let mut random = Random(1);
    for number in 0..4_000 {
        let (counts, case) = (random_counts(&mut random), random_settings(&mut random));
        // Threads cost more than such a case.
        let threads = if number % 10 == 0 { random.pick(&[2, 7, 64]) } else { 1 };
        let how = (threads, random_tuning(&mut random));
        let trained = learn_all(&counts, &case, &[], how).unwrap();
        assert_eq!(trained, oracle(&counts, &case.0, &case.1), "{number} {:?} {case:?} {how:?}", in_order(&counts));
    }
}

#[test]
fn stopping_and_replaying_is_learning_at_once() {
    let mut random = Random(2);
    for number in 0..1_000 {
        let (counts, case) = (random_counts(&mut random), random_settings(&mut random));
        let how = (1 + random.below(2), random_tuning(&mut random));
        let trained = learn_all(&counts, &case, &[], how).unwrap();
        let stop = random.below(trained.merges.len() + 1);
        let how = (1, random_tuning(&mut random));
        let again = learn_all(&counts, &case, &trained.merges[..stop], how);
        assert_eq!(again, Ok(trained), "{number} {stop} {:?} {case:?} {how:?}", in_order(&counts));
    }
}

/// Enough text that workers share batches as they are by default.
fn some_text() -> PieceCounts {
    let mut random = Random(3);
    let mut counts = Counter::new(None);
    let syllables: Vec<Vec<u8>> =
        (0..60).map(|_| (0..=random.below(3)).map(|_| b'a' + random.below(12) as u8).collect()).collect();
    for _ in 0..3_000 {
        let most = random.pick(&[3, 3, 3, 200]);
        let piece: Vec<u8> =
            (0..=random.below(most)).flat_map(|_| syllables[random.below(60).min(random.below(60))].clone()).collect();
        counts.add(&piece, 1 + random.below(100) as u64).unwrap();
    }
    counts.finish(1, &Progress::default()).unwrap()
}

#[test]
fn every_number_of_threads_gives_the_same() {
    let counts = some_text();
    for ties in ALL_TIES {
        let case = (
            Alphabet::raw_bytes(),
            Settings { merges: 1_500, ties, min_frequency: 2, max_token_length: usize::MAX, max_words: usize::MAX },
        );
        let one =
            learn_all(&counts, &case, &[], (1, Tuning { batch: 1, floor_divisor: u64::MAX, ..Tuning::default() }));
        let one = one.unwrap();
        assert_eq!(one.merges.len(), 1_500);
        for threads in [1, 2, 7, 64] {
            let how = (threads, Tuning { share: 1, batch_postings: 50, long_from: 64, ..Tuning::default() });
            assert_eq!(learn_all(&counts, &case, &[], how).unwrap(), one, "{ties:?} {threads}");
        }
        let replayed = learn(&counts, &case.0, &case.1, &one.merges[..1_000], 2, &Progress::default());
        assert_eq!(replayed.unwrap(), one);
    }
}

fn raw(merges: usize) -> (Alphabet<'static>, Settings) {
    let settings = Settings {
        merges,
        ties: Ties::LowestIds,
        min_frequency: 1,
        max_token_length: usize::MAX,
        max_words: usize::MAX,
    };
    (Alphabet::raw_bytes(), settings)
}

fn counts_of(pieces: &[(&str, u64)]) -> PieceCounts {
    let mut counts = Counter::new(None);
    for (piece, count) in pieces {
        counts.add(piece.as_bytes(), *count).unwrap();
    }
    counts.finish(1, &Progress::default()).unwrap()
}

#[test]
fn counts_are_exact_up_to_64_bits() {
    for most in [1 << 31, 1 << 32, 1 << 63, u64::MAX] {
        for count in [most - 1, most] {
            for long_from in [0, usize::MAX] {
                let how = (1, Tuning { long_from, ..Tuning::default() });
                let trained = learn_all(&counts_of(&[("xyz", count)]), &raw(9), &[], how).unwrap();
                assert_eq!(trained.merges.iter().map(|merge| merge.count).collect::<Vec<_>>(), [count; 2]);
                assert_eq!(trained.tokens_total, u128::from(count));
                let error = learn_all(&counts_of(&[("xy", count), ("xyz", u64::MAX - count + 1)]), &raw(9), &[], how);
                let error = error.unwrap_err();
                assert_eq!((error.kind, error.what.contains("2^64")), (Kind::Training, true), "{error}");
                let how = (2, Tuning { share: 1, long_from, ..Tuning::default() });
                assert!(
                    learn_all(&counts_of(&[("xy", count), ("xyz", u64::MAX - count + 1)]), &raw(9), &[], how).is_err()
                );
            }
        }
    }
}

#[test]
fn replaying_other_counts_is_an_error_that_says_where() {
    let counts = counts_of(&[("abcab", 3)]);
    let merges = learn_all(&counts, &raw(3), &[], (1, Tuning::default())).unwrap().merges;
    for (change, says) in [
        (Learned { count: 7, ..merges[1] }, "merge 1 was learned from a pair that occurred 7 times; here it occurs 3"),
        (Learned { count: 0, ..merges[1] }, "merge 1 was learned from a pair that occurred 0 times; here it occurs 3"),
        (Learned { left: 257, ..merges[1] }, "which are not both there"),
        (Learned { left: 1, right: 2, count: 3 }, "here it occurs 0"),
    ] {
        let error = learn_all(&counts, &raw(9), &[merges[0], change, merges[2]], (1, Tuning::default())).unwrap_err();
        assert_eq!(error.kind, Kind::Training);
        assert!(error.what.contains(says), "{error}");
    }
    let error = learn_all(&counts, &raw(2), &merges, (1, Tuning::default())).unwrap_err();
    assert!(error.what.contains("3 merges"), "{error}");
    let short = (Alphabet::raw_bytes(), Settings { max_token_length: 2, ..raw(9).1 });
    let error = learn_all(&counts, &short, &merges, (1, Tuning::default())).unwrap_err();
    assert!(error.what.contains("the settings do not allow it"), "{error}");
}

#[test]
fn what_was_learned_until_a_stop_can_be_taken() {
    let counts = some_text();
    let case = raw(3_000);
    let whole = learn_all(&counts, &case, &[], (1, Tuning::default())).unwrap();
    let progress = Progress::default();
    let mut taken = Vec::new();
    let stopped = std::thread::scope(|scope| {
        let learning = scope.spawn(|| learn(&counts, &case.0, &case.1, &[], 2, &progress));
        while taken.len() < 20 {
            taken.extend(progress.take_learned());
        }
        progress.stop.store(true, Ordering::Relaxed);
        learning.join().unwrap()
    });
    taken.extend(progress.take_learned());
    assert_eq!(taken, whole.merges[..taken.len()]);
    assert_eq!(taken.len() as u64, progress.done.load(Ordering::Relaxed));
    // A stop may come when all is learned and the last merge is still under way.
    assert!(stopped.map_or_else(|error| error.kind == Kind::Interrupted, |trained| trained == whole));
    let stopped = learn(&counts, &case.0, &case.1, &[], 1, &progress);
    assert_eq!(stopped.unwrap_err().kind, Kind::Interrupted);
}
