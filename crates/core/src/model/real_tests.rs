//! Models of real files against their definitions on real text, where the data folder is.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::Value;

use super::tests::{Case, Triples, below, slow_unigram, slow_word_piece, triples};
use super::*;
use crate::real_data;

/// Tokens in id order.
fn case(rows: impl Iterator<Item = (String, u32)>) -> Case {
    let mut rows: Vec<(String, u32)> = rows.collect();
    rows.sort_by_key(|row| row.1);
    let (tokens, ids): (Vec<String>, Vec<u32>) = rows.into_iter().unzip();
    let id_of = tokens.iter().cloned().zip(ids.iter().copied()).collect();
    Case { tokens, ids, id_of }
}

/// Parts of real texts of up to `longest` characters, and odd ones.
fn pieces(data: &Path, random: &mut Random, count: usize, longest: usize) -> Vec<String> {
    let read = |name: &str| {
        let bytes = std::fs::read(data.join("corpora").join(name)).unwrap();
        String::from_utf8_lossy(&bytes).chars().collect::<Vec<char>>()
    };
    let texts = ["en_1mb.txt", "code_1mb.txt", "multi_1mb.txt"].map(read);
    let mut pieces: Vec<String> = (0..count)
        .map(|_| {
            let text = &texts[below(random, 3)];
            let start = below(random, text.len() - longest);
            text[start..start + 1 + below(random, longest)].iter().collect()
        })
        .collect();
    for unit in ["a", "\n", "\t", " ", "=-", "é", "中", "👍", "\u{378}", "<0x0A>", "<unk>", " the", "\u{10FFFF}"] {
        pieces.extend([1, 2, 3, 5, 40].map(|times| unit.repeat(times)));
    }
    pieces
}

#[test]
fn bert_takes_the_longest_token_first() {
    let Some(data) = real_data::folder() else { return };
    let text = std::fs::read_to_string(data.join("vocabs/bert-base-uncased/vocab.txt")).unwrap();
    let case = case(text.lines().map(str::to_owned).zip(0..));
    let options = r###"{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##"}"###;
    let model = case.model(options, None, None).unwrap();
    let WordModel::WordPiece(inner) = &model else { unreachable!() };
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    for piece in pieces(&data, &mut Random::new(1), 1500, 60) {
        for word in piece.to_lowercase().split_whitespace() {
            let expected: Triples = slow_word_piece(&case, word, "##", case.id_of["[UNK]"], 100);
            out.clear();
            model.encode(word, &mut scratch, &mut out).unwrap();
            assert_eq!(triples(&out), expected, "{word:?}");
            let short = word.chars().count() <= 100;
            if let Some(linear) = inner.spell_slowly_for_tests(word).filter(|_| short) {
                assert_eq!(triples(&linear), expected, "{word:?}");
            }
        }
    }
}

#[test]
fn t5_takes_the_first_best_way() {
    let Some(data) = real_data::folder() else { return };
    let Some(model) = real_data::model(&data.join("vocabs/t5-small/tokenizer.json")) else { return };
    let rows = model["vocab"].as_array().unwrap();
    let case = case(rows.iter().map(|row| row[0].as_str().unwrap().to_owned()).zip(0..));
    let scores: Vec<f64> = rows.iter().map(|row| row[1].as_f64().unwrap()).collect();
    let score_of: HashMap<u32, f64> = case.ids.iter().copied().zip(scores.iter().copied()).collect();
    let model = case.model(r#"{"type":"Unigram","unk_id":2}"#, None, Some(&scores)).unwrap();
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    for piece in pieces(&data, &mut Random::new(2), 600, 40) {
        let piece = piece.replace(' ', "▁");
        out.clear();
        model.encode(&piece, &mut scratch, &mut out).unwrap();
        assert_eq!(
            Some(triples(&out)),
            slow_unigram(&case, &score_of, Some(2), false, None, &BTreeMap::new(), &piece),
            "{piece:?}"
        );
    }
}

/// The definition over ids: the lowest merge, of equal ones the leftmost. Pieces whose characters are all known, or
/// become bytes.
fn slow_ids(case: &Case, ranks: &HashMap<(u32, u32), (usize, u32)>, piece: &str) -> Vec<u32> {
    let mut ids: Vec<u32> = Vec::new();
    for character in piece.chars() {
        match case.id_of.get(&character.to_string()) {
            Some(&id) => ids.push(id),
            None => ids.extend(character.to_string().bytes().map(|byte| case.id_of[&format!("<0x{byte:02X}>")])),
        }
    }
    while let Some(((_, product), at)) = (1..ids.len())
        .filter_map(|at| Some((*ranks.get(&(ids[at - 1], ids[at]))?, at)))
        .min_by_key(|found| (found.0.0, found.1))
    {
        ids[at - 1] = product;
        ids.remove(at);
    }
    ids
}

#[test]
fn characters_and_bytes_merge_as_defined() {
    let Some(data) = real_data::folder() else { return };
    let files = ["llama2/tokenizer.json", "mistral/tokenizer_v0.3.json", "gemma3/tokenizer.json.xz"];
    for (file, hazards) in files.into_iter().zip([false, false, true]) {
        let Some(read) = real_data::model(&data.join("vocabs").join(file)) else { continue };
        let vocab = read["vocab"].as_object().unwrap();
        let case = case(vocab.iter().map(|(token, id)| (token.clone(), id.as_u64().unwrap() as u32)));
        let pair = |merge: &Value| match merge {
            Value::String(pair) => {
                pair.split_once(' ').map(|(left, right)| (left.to_owned(), right.to_owned())).unwrap()
            }
            pair => (pair[0].as_str().unwrap().to_owned(), pair[1].as_str().unwrap().to_owned()),
        };
        let merges: Vec<(String, String)> = read["merges"].as_array().unwrap().iter().map(pair).collect();
        let id = |token: &String| case.id_of[token];
        let pairs: Vec<(u32, u32)> = merges.iter().map(|(left, right)| (id(left), id(right))).collect();
        let products = merges.iter().map(|(left, right)| id(&format!("{left}{right}")));
        let ranks = pairs.iter().copied().zip((0..).zip(products)).collect();
        let options = r#"{"type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":true}"#;
        let model = case.model(options, Some(&pairs), None).unwrap();
        let on_bytes = model.on_bytes().unwrap().unwrap();
        assert_eq!((on_bytes.vocab.is_proper(), on_bytes.has_hazards()), (true, hazards), "{file}");
        let (mut scratch, mut merging) = (Scratch::default(), crate::merge::Scratch::default());
        let mut left = 0;
        for piece in pieces(&data, &mut Random::new(3), 2000, 120) {
            let piece = piece.replace(' ', "▁");
            let expected = slow_ids(&case, &ranks, &piece);
            let mut out = Vec::new();
            model.encode(&piece, &mut scratch, &mut out).unwrap();
            assert_eq!(out.iter().map(|token| token.id).collect::<Vec<_>>(), expected, "{file} {piece:?}");
            if on_bytes.can_encode(&piece) {
                let mut ids = Vec::new();
                crate::merge::encode(&on_bytes.vocab, piece.as_bytes(), &mut merging, &mut ids).unwrap();
                assert_eq!(ids, expected, "{file} on bytes {piece:?}");
            } else {
                left += 1;
            }
        }
        assert!(left < 1000, "{file}: {left}");
    }
}
