//! Each count of each prefix against encoding it, over random small models of every kind.
//!
//! Long because each kind of model is made here.

use std::collections::BTreeMap;

use super::*;
use crate::model::{Random, WordModel};
use crate::vocab::{Semantics, Vocab};

/// Characters of one to four bytes, of which some models do not know some, and some that begin with the same bytes.
pub(in crate::count) const LETTERS: [&str; 12] = ["a", "b", "c", "é", "▁", "中", "😀", "<", "è", "▂", "丮", "😁"];

pub(in crate::count) fn below(random: &mut Random, limit: usize) -> usize {
    (random.next_u64() >> 33) as usize % limit
}

fn flip(random: &mut Random) -> bool {
    below(random, 2) == 0
}

/// Some letters together, with a few that come often.
pub(in crate::count) fn word(random: &mut Random, letters: usize, longest: usize) -> String {
    let unit: Vec<usize> = (0..=below(random, 4)).map(|_| below(random, letters)).collect();
    let loose = below(random, 9);
    let letter = |at: usize, random: &mut Random| {
        LETTERS[if below(random, 8) < loose { below(random, letters) } else { unit[at % unit.len()] }]
    };
    (0..below(random, longest + 1)).map(|at| letter(at, random)).collect()
}

/// Tokens without doubles, and ids with holes.
fn numbered(mut tokens: Vec<String>, random: &mut Random) -> (Vec<String>, Vec<u32>) {
    let mut seen = std::collections::HashSet::new();
    tokens.retain(|token| seen.insert(token.clone()));
    let mut id = below(random, 3) as u32;
    let ids = tokens.iter().map(|_| {
        id += 1 + below(random, 8) as u32 / 7;
        id
    });
    let ids = ids.collect();
    (tokens, ids)
}

/// A vocabulary of bytes: of ranks or of merges, proper or not, with tokens that no merge makes, and bytes without one.
pub(in crate::count) fn bytes_model(random: &mut Random) -> Compiled {
    let letters = 1 + below(random, LETTERS.len());
    let mut bytes: Vec<u8> = LETTERS[..letters].concat().into_bytes();
    bytes.sort_unstable();
    bytes.dedup();
    let alphabet = bytes.clone();
    if below(random, 8) == 0 {
        bytes.remove(below(random, bytes.len()));
    }
    let mut tokens: Vec<Vec<u8>> = bytes.iter().map(|&byte| vec![byte]).collect();
    let joins = below(random, 5);
    for _ in 0..below(random, 10 * letters) {
        let token = if below(random, 4) < joins && !tokens.is_empty() {
            let (left, right) = (below(random, tokens.len()), below(random, tokens.len()));
            [&tokens[left][..], &tokens[right]].concat()
        } else if flip(random) {
            word(random, letters, 4).into_bytes()
        } else {
            (0..=below(random, 5)).map(|_| alphabet[below(random, alphabet.len())]).collect()
        };
        if token.len() > 1 && token.len() < 20 && !tokens.contains(&token) {
            let at = if below(random, 5) == 0 { below(random, tokens.len() + 1) } else { tokens.len() };
            tokens.insert(at, token);
        }
    }
    let ids: Vec<u32> = (0..tokens.len() as u32).map(|id| 3 * id + 1).collect();
    let semantics = if flip(random) {
        Semantics::Ranks
    } else {
        let mut pairs = Vec::new();
        for token in &tokens {
            let index = |side: &[u8]| tokens.iter().position(|token| token == side);
            let cuts: Vec<_> = (1..token.len())
                .filter_map(|cut| Some((ids[index(&token[..cut])?], ids[index(&token[cut..])?])))
                .collect();
            for _ in 0..below(random, 3) {
                if !cuts.is_empty() {
                    let place = if below(random, 9) == 0 { below(random, pairs.len() + 1) } else { pairs.len() };
                    pairs.insert(place, cuts[below(random, cuts.len())]);
                }
            }
        }
        Semantics::Merges { pairs, ignore_merges: flip(random) }
    };
    let tokens: Vec<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
    Compiled::new(Vocab::new(&tokens, &ids, semantics).unwrap())
}

fn quoted(text: Option<&str>) -> String {
    serde_json::to_string(&text).unwrap()
}

fn byte_tokens(random: &mut Random) -> Vec<String> {
    let (all, missing) = (flip(random), [40, 5][below(random, 2)]);
    (0..256).filter(|_| all || below(random, missing) > 0).map(|byte| format!("<0x{byte:02X}>")).collect()
}

/// BPE over characters with any options, also where it runs on bytes.
pub(in crate::count) fn characters_model(random: &mut Random) -> Compiled {
    // Every third one can run on bytes.
    let on_bytes = below(random, 3) == 0;
    let decorations = [("", ""), ("##", ""), ("", "</w>"), ("@", "$"), ("a", "b")];
    let (prefix, suffix) = decorations[if on_bytes { 0 } else { below(random, 5) }];
    let known = 1 + below(random, LETTERS.len());
    let mut tokens = vec!["<unk>".to_owned()];
    for letter in &LETTERS[..known] {
        for (prefix, suffix) in [("", ""), (prefix, ""), ("", suffix), (prefix, suffix)] {
            if below(random, 12) > 0 {
                tokens.push(format!("{prefix}{letter}{suffix}"));
            }
        }
    }
    if on_bytes {
        tokens.extend((0..256).map(|byte| format!("<0x{byte:02X}>")));
    } else if flip(random) {
        tokens.extend(byte_tokens(random));
    }
    let taken = !on_bytes && below(random, 20) == 0;
    let mut merges: Vec<(String, String)> = Vec::new();
    for _ in 0..below(random, 40) {
        let is_no_byte = |token: &&String| !token.starts_with("<0x");
        let some: Vec<&String> = tokens.iter().filter(|token| taken || is_no_byte(token)).collect();
        let (left, right) = (some[below(random, some.len())], some[below(random, some.len())]);
        // Merges that take unknown tokens or bytes are rare: then there are no rows.
        let is_wall = |token: &String| token == "<unk>" || token.starts_with("<0x");
        if !taken && (is_wall(left) || is_wall(right)) {
            continue;
        }
        let fits = right.get(prefix.len()..).is_some_and(|rest| !rest.is_empty());
        if fits && left.len() + right.len() < 40 {
            merges.push((left.clone(), right.clone()));
            tokens.push(format!("{left}{}", &right[prefix.len()..]));
        }
    }
    match below(random, 4) {
        0 => {
            for at in 1..merges.len() {
                merges.swap(at, below(random, at + 1));
            }
        }
        // All cuts of all tokens: merges out of turn, and hazards.
        1 if prefix.is_empty() => {
            let all: std::collections::HashSet<&String> = tokens.iter().collect();
            merges.clear();
            for token in &tokens {
                for (at, _) in token.char_indices().skip(1) {
                    let pair = (token[..at].to_owned(), token[at..].to_owned());
                    let is_wall = pair.0 == "<unk>" || pair.0.starts_with("<0x");
                    if all.contains(&pair.0) && all.contains(&pair.1) && !merges.contains(&pair) && !is_wall {
                        merges.push(pair);
                    }
                }
            }
        }
        2 => {
            for _ in 0..merges.len() / 3 {
                merges.push(merges[below(random, merges.len())].clone());
            }
        }
        _ => {}
    }
    let (tokens, ids) = numbered(tokens, random);
    let id = |text: &String| ids[tokens.iter().position(|token| token == text).unwrap()];
    let pairs: Vec<(u32, u32)> = merges.iter().map(|(left, right)| (id(left), id(right))).collect();
    let options = format!(
        r#"{{"type":"BPE","unk_token":{},"fuse_unk":{},"byte_fallback":{},"ignore_merges":{},
            "continuing_subword_prefix":{},"end_of_word_suffix":{}}}"#,
        quoted(flip(random).then_some("<unk>")),
        flip(random),
        on_bytes || flip(random),
        !on_bytes && below(random, 4) == 0,
        quoted(Some(prefix)),
        quoted(Some(suffix).filter(|suffix| !suffix.is_empty())),
    );
    compiled(&options, &tokens, &ids, Some(&pairs), None)
}

fn compiled(
    options: &str,
    tokens: &[String],
    ids: &[u32],
    pairs: Option<&[(u32, u32)]>,
    scores: Option<&[f64]>,
) -> Compiled {
    let tokens: Vec<&[u8]> = tokens.iter().map(String::as_bytes).collect();
    let words = WordModel::new(options, &tokens, ids, pairs, scores).unwrap();
    let on_bytes = words.on_bytes().unwrap();
    Compiled::of_words(words, on_bytes).unwrap()
}

pub(in crate::count) fn word_piece_model(random: &mut Random) -> Compiled {
    let prefix = ["##", "", "a", "▁"][below(random, 4)];
    let (letters, longest) = (1 + below(random, LETTERS.len()), [3, 6, 12][below(random, 3)]);
    let mut tokens = vec!["[UNK]".to_owned(), prefix.to_owned()];
    for _ in 0..below(random, 60) {
        let decoration = if below(random, 3) == 0 { "" } else { prefix };
        tokens.push(format!("{decoration}{}", word(random, letters, longest)));
    }
    for letter in &LETTERS[..letters] {
        tokens.extend(
            ["", prefix].into_iter().filter(|_| below(random, 6) > 0).map(|before| format!("{before}{letter}")),
        );
    }
    let (tokens, ids) = numbered(tokens, random);
    let most = [100, 100, 100, 5, 12, 0][below(random, 6)];
    let options = format!(
        r#"{{"type":"WordPiece","unk_token":{},"continuing_subword_prefix":{},"max_input_chars_per_word":{most}}}"#,
        quoted((below(random, 4) > 0).then_some("[UNK]")),
        quoted(Some(prefix))
    );
    compiled(&options, &tokens, &ids, None, None)
}

/// A model that spells every piece that a test makes.
pub(in crate::count) fn spelling_model(random: &mut Random) -> Compiled {
    const OTHERS: &str = "<unk>b0x61";
    let alphabet: Vec<char> = LETTERS.iter().flat_map(|letter| letter.chars()).chain(OTHERS.chars()).collect();
    let (prefix, longest) = (["", "", "##"][below(random, 3)], [3, 6, 12][below(random, 3)]);
    let mut tokens = vec!["[UNK]".to_owned()];
    tokens.extend(alphabet.iter().flat_map(|letter| ["", prefix].map(|before| format!("{before}{letter}"))));
    let letters = 1 + below(random, LETTERS.len());
    for _ in 0..below(random, 40) {
        tokens.push(format!("{}{}", ["", prefix][below(random, 2)], word(random, letters, longest)));
    }
    let (tokens, ids) = numbered(tokens, random);
    let options = format!(
        r#"{{"type":"WordPiece","unk_token":null,"continuing_subword_prefix":"{prefix}","max_input_chars_per_word":{}}}"#,
        u32::MAX
    );
    let texts: Vec<&[u8]> = tokens.iter().map(String::as_bytes).collect();
    let words = WordModel::new(&options, &texts, &ids, None, None).unwrap().with_alphabet(&alphabet);
    Compiled::of_words(words, None).unwrap()
}

pub(in crate::count) fn unigram_model(random: &mut Random) -> Compiled {
    let known = 1 + below(random, LETTERS.len());
    let mut tokens: Vec<String> = vec![["<unk>", "<b<", "é"][below(random, 3)].to_owned()];
    tokens.extend((0..below(random, 40)).map(|_| word(random, known, 6)));
    if flip(random) {
        tokens.extend(byte_tokens(random));
    }
    let (tokens, ids) = numbered(tokens, random);
    let shift = [0.0, -5.0, 30.0, -60_000.0][below(random, 4)];
    let step = [0.5, 0.1, 0.001][below(random, 3)];
    let score = |random: &mut Random| shift - f64::from(below(random, 6) as u32) * step;
    let mut scores: Vec<f64> = tokens.iter().map(|_| score(random)).collect();
    let unk = (below(random, 5) > 0).then(|| ids[0]);
    let stated = flip(random).then_some(shift - 13.0);
    let mut unlisted = BTreeMap::new();
    if unk.is_some() && below(random, 4) == 0 {
        scores.iter_mut().filter(|_| below(random, 4) == 0).for_each(|score| *score = f64::NEG_INFINITY);
        let others = (0..below(random, 12)).map(|_| word(random, known, 5)).collect::<Vec<_>>().into_iter();
        let others = others.filter(|text| !tokens.contains(text));
        unlisted.extend(others.map(|text| (text, score(random))));
    }
    let options = serde_json::json!({
        "type": "Unigram", "unk_id": unk, "byte_fallback": flip(random), "unk_score": stated, "unlisted": unlisted,
    });
    compiled(&options.to_string(), &tokens, &ids, None, Some(&scores))
}

pub(in crate::count) fn word_level_model(random: &mut Random) -> Compiled {
    let mut tokens = vec!["<unk>".to_owned(), "a".to_owned()];
    tokens.extend((0..below(random, 40)).map(|_| word(random, 3, 5)));
    let (tokens, ids) = numbered(tokens, random);
    let options = format!(r#"{{"type":"WordLevel","unk_token":{}}}"#, quoted(flip(random).then_some("<unk>")));
    compiled(&options, &tokens, &ids, None, None)
}

/// The ids of a piece.
pub(in crate::count) fn encoded(model: &Compiled, piece: &str) -> Result<Vec<u32>> {
    let mut ids = Vec::new();
    model.encoder(&mut ids).piece(piece)?;
    Ok(ids)
}

/// The ends of characters of a text, its start among them.
fn places(text: &str) -> impl Iterator<Item = usize> {
    (0..=text.len()).filter(|&at| text.is_char_boundary(at))
}

/// Lets a piece grow and shrink, and checks each count of each prefix.
fn check_growing(model: &Compiled, random: &mut Random, longest: usize, shown: &str) -> [usize; 2] {
    let (mut piece, mut rows) = (String::new(), Rows::default());
    let letters = 1 + below(random, LETTERS.len());
    let mut seen = [0, 0];
    for _ in 0..6 {
        if below(random, 4) == 0 {
            let kept: Vec<usize> = places(&piece).collect();
            piece.truncate(kept[below(random, kept.len())]);
            rows.truncate(piece.len());
        }
        piece.push_str(&word(random, letters, longest));
        if below(random, 9) == 0 {
            piece.push_str(["<unk>", "<b<", "<0x61>"][below(random, 3)]);
        }
        rows.extend(model, &piece).unwrap();
        assert_eq!(rows.len(), piece.len());
        for end in places(&piece) {
            let expected = encoded(model, &piece[..end]).map(|ids| ids.len() as u64);
            seen[usize::from(expected.is_err())] += 1;
            let shown = || format!("{shown} {:?} of {piece:?}", &piece[..end]);
            assert_eq!(rows.count(model, &piece[..end]), expected, "{}", shown());
            // Nothing is encoded to count it.
            assert!(
                !Rows::can(model) || expected.is_err() || rows.known(model, &piece[..end]) != Ok(None),
                "{}",
                shown()
            );
        }
    }
    let known: Vec<usize> = places(&piece).collect();
    for _ in 0..20 {
        let length = known[below(random, known.len())];
        let more = format!("{}{}", &piece[..length], word(random, letters, 8));
        let more = if flip(random) { &piece } else { &more };
        if more.len() > length
            && let Ok(ids) = encoded(model, more)
        {
            assert!(rows.least(model, length) <= ids.len() as u64, "{shown} {length} {more:?}");
        }
    }
    seen
}

/// Checks models of a kind by pieces of words of up to so many letters; returns how many counts and how many errors there were,
/// and how many models cannot count.
pub(in crate::count) fn check_models(
    seed: u64,
    rounds: usize,
    make: impl Fn(&mut Random) -> Compiled,
    can: impl Fn(&Compiled) -> bool,
    check: impl Fn(&Compiled, &mut Random, usize, &str) -> [usize; 2],
) -> ([usize; 2], usize) {
    let random = &mut Random::new(seed);
    let (mut found, mut without) = ([0, 0], 0);
    for round in 0..rounds {
        let model = make(random);
        without += usize::from(!can(&model));
        for longest in [2, 5, 14] {
            let more = check(&model, random, longest, &format!("seed {seed:#x} round {round}"));
            found = [found[0] + more[0], found[1] + more[1]];
        }
    }
    (found, without)
}

fn check_kind(seed: u64, rounds: usize, make: impl Fn(&mut Random) -> Compiled) -> ([usize; 2], usize) {
    check_models(seed, rounds, make, Rows::can, check_growing)
}

#[test]
fn bytes_have_the_counts_of_encoding() {
    let mut kinds = [0, 0];
    let random = &mut Random::new(0xB17E);
    for _ in 0..300 {
        let model = bytes_model(random);
        kinds[usize::from(model.vocab.is_proper())] += 1;
    }
    assert!(kinds.iter().all(|&kind| kind > 60), "{kinds:?}");
    let (seen, without) = check_kind(0xB17E, 1200, bytes_model);
    assert!(seen[0] > 100_000 && seen[1] > 10_000 && without == 0, "{seen:?} {without}");
}

#[test]
fn characters_have_the_counts_of_encoding() {
    let (mut on_bytes, mut hazards, mut improper) = (0, 0, 0);
    let random = &mut Random::new(0xC4A6);
    for _ in 0..2000 {
        let model = characters_model(random);
        on_bytes += usize::from(!model.vocab.is_empty());
        hazards += usize::from(model.has_hazards());
        improper += usize::from(!model.vocab.is_proper());
    }
    assert!(on_bytes > 100 && hazards > 3 && improper > 10, "{on_bytes} {hazards} {improper}");
    let (seen, without) = check_kind(0xC4A6, 2000, characters_model);
    assert!(seen[0] > 100_000 && without > 10 && without < 200, "{seen:?} {without}");
}

#[test]
fn word_pieces_have_the_counts_of_encoding() {
    let (seen, without) = check_kind(0x30BE, 1500, word_piece_model);
    assert!(seen[0] > 100_000 && seen[1] > 10_000 && without == 0, "{seen:?} {without}");
    let (seen, without) = check_kind(0x5BE1, 300, spelling_model);
    assert!(seen[0] > 50_000 && seen[1] == 0 && without == 0, "{seen:?} {without}");
}

/// Without that each chunk of a long piece reads all of it, since more of it might be unknown as a whole.
#[test]
fn a_piece_that_is_always_spelled_has_the_tokens_that_end_in_it_at_least() {
    let random = &mut Random::new(0x1EA5);
    let mut sum = 0;
    for _ in 0..100 {
        let (model, mut rows) = (spelling_model(random), Rows::default());
        let piece = word(random, 3, 60);
        rows.extend(&model, &piece).unwrap();
        let count = rows.count(&model, &piece).unwrap();
        // The last tokens may become longer ones.
        assert!(rows.least(&model, piece.len()) + 12 >= count, "{piece:?}");
        sum += count;
    }
    assert!(sum > 1000, "{sum}");
}

#[test]
fn unigrams_have_the_counts_of_encoding() {
    let (seen, without) = check_kind(0x0614, 1500, unigram_model);
    assert!(seen[0] > 100_000 && seen[1] > 10_000 && without == 0, "{seen:?} {without}");
}

#[test]
fn whole_words_have_the_counts_of_encoding() {
    let (seen, without) = check_kind(0x3E8E, 200, word_level_model);
    assert!(seen[0] > 10_000 && seen[1] > 1000 && without == 0, "{seen:?} {without}");
}

/// Checks the places between which models of a kind say that pieces can be taken apart; returns how many they were.
fn check_splits(seed: u64, rounds: usize, make: impl Fn(&mut Random) -> Compiled) -> usize {
    let random = &mut Random::new(seed);
    let mut apart = 0;
    for round in 0..rounds {
        let model = make(random);
        let letters = 1 + below(random, LETTERS.len());
        for (left, right) in LETTERS.into_iter().flat_map(|left| LETTERS.map(|right| (left, right))) {
            let character = |letter: &str| letter.chars().next().unwrap();
            if !model.splits_between(character(left), character(right)) {
                continue;
            }
            for longest in [0, 1, 2, 3, 30] {
                let more = |random: &mut Random| match below(random, 12) {
                    0 => "<unk>".to_owned(),
                    1 => "<b<".to_owned(),
                    _ => word(random, letters, longest),
                };
                let (left, right) = (more(random) + left, right.to_owned() + &more(random));
                let whole = encoded(&model, &(left.clone() + &right));
                let parts = [&left, &right].map(|part| encoded(&model, part));
                let shown = || format!("seed {seed:#x} round {round} {left:?} {right:?}");
                // The whole cannot be encoded if a part cannot.
                let parts = parts.into_iter().collect::<Result<Vec<_>>>();
                assert_eq!(whole.ok(), parts.ok().map(|parts| parts.concat()), "{}", shown());
                apart += 1;
            }
        }
    }
    apart
}

#[test]
fn pieces_can_be_taken_apart_where_models_say_so() {
    type Make = fn(&mut Random) -> Compiled;
    let kinds: [(Make, usize); 6] = [
        (bytes_model, 700),
        (characters_model, 700),
        (unigram_model, 4500),
        (spelling_model, 200),
        (word_piece_model, 200),
        (word_level_model, 200),
    ];
    let apart = kinds.map(|(make, rounds)| check_splits(0x5911, rounds, make));
    assert!(apart[..4].iter().all(|&apart| apart > 10_000) && apart[4..] == [0, 0], "{apart:?}");
}

#[test]
fn sums_that_are_rounded_take_no_piece_apart() {
    let tokens = ["<unk>", "a", "b"].map(str::to_owned);
    let options = r#"{"type":"Unigram","unk_id":0}"#;
    let splits = |score: f64| compiled(options, &tokens, &[0, 1, 2], None, Some(&[0.0, score, -2.0]));
    assert!(splits(-1.5).splits_between('a', 'b'));
    assert!(splits(f64::from(-1.1_f32)).splits_between('a', 'b'));
    assert!(!splits(-1.1).splits_between('a', 'b'));
    assert!(splits(-1.5).longest_that_splits() > 1 << 40);
}

#[test]
fn counts_of_long_runs_take_linear_time() {
    let bytes = |tokens: &[&[u8]]| {
        let ids: Vec<u32> = (0..tokens.len() as u32).collect();
        Compiled::new(Vocab::new(tokens, &ids, Semantics::Ranks).unwrap())
    };
    let words = |options: &str, tokens: &[&str], pairs: Option<&[(u32, u32)]>, scores: Option<&[f64]>| {
        let tokens: Vec<String> = tokens.iter().map(|&token| token.to_owned()).collect();
        let ids: Vec<u32> = (0..tokens.len() as u32).collect();
        compiled(options, &tokens, &ids, pairs, scores)
    };
    let models = [
        bytes(&[b"a", b"aa", b"aaa", b"aaaa"]),
        bytes(&[b"a", b"aaa", b"aa", b"aaaaa"]),
        // The first letter has no token.
        bytes(&[b"b"]),
        words(r#"{"type":"BPE"}"#, &["a", "aa", "aaa"], Some(&[(0, 0), (1, 0)]), None),
        words(
            r#"{"type":"BPE","unk_token":"?","end_of_word_suffix":"$"}"#,
            &["a", "a$", "aa", "aa$", "?"],
            Some(&[(0, 0), (0, 1)]),
            None,
        ),
        words(r#"{"type":"BPE","unk_token":"?","fuse_unk":true}"#, &["?"], Some(&[]), None),
        words(r#"{"type":"BPE"}"#, &["?"], Some(&[]), None),
        words(
            r#"{"type":"WordPiece","unk_token":"?","max_input_chars_per_word":9000000}"#,
            &["a", "aa", "?"],
            None,
            None,
        ),
        words(r#"{"type":"WordPiece","unk_token":"?"}"#, &["a", "aa", "?"], None, None),
        words(r#"{"type":"WordPiece"}"#, &["b"], None, None),
        words(r#"{"type":"Unigram","unk_id":0}"#, &["?", "a", "aa"], None, Some(&[0.0, -1.0, -1.5])),
        words(r#"{"type":"Unigram","unk_id":0}"#, &["?"], None, Some(&[0.0])),
        words(r#"{"type":"Unigram"}"#, &["?"], None, Some(&[0.0])),
        words(r#"{"type":"WordLevel","unk_token":"?"}"#, &["?"], None, None),
    ];
    let piece = "a".repeat(300_000);
    let start = std::time::Instant::now();
    for model in &models {
        assert!(Rows::can(model));
        let mut rows = Rows::default();
        for end in 1..=piece.len() {
            rows.extend(model, &piece[..end]).unwrap();
            let _ = rows.count(model, &piece[..end]);
            // Now and then some of it is taken back.
            if end % 100 == 0 {
                rows.truncate(end - 10);
                rows.extend(model, &piece[..end]).unwrap();
            }
        }
        assert_eq!(rows.count(model, &piece).ok(), encoded(model, &piece).map(|ids| ids.len() as u64).ok());
    }
    // If each count read the piece, each of the models would take as long.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
