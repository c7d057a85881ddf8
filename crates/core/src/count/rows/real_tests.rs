//! Each count of each prefix under real vocabularies against encoding it, where the data folder is.

use std::path::Path;

use serde_json::Value;

use super::tests::{below, encoded};
use super::*;
use crate::model::{Random, WordModel};
use crate::real_data;
use crate::vocab::{Semantics, Vocab};

/// A file of ranks.
fn ranks(path: &Path) -> Compiled {
    let columns = real_data::ranks(path);
    let tokens: Vec<&[u8]> = columns.tokens().collect();
    Compiled::new(Vocab::new(&tokens, &columns.ids, Semantics::Ranks).unwrap())
}

fn compiled(options: &str, rows: &[(String, u32)], merges: Option<&[(u32, u32)]>, scores: Option<&[f64]>) -> Compiled {
    let (tokens, ids): (Vec<&[u8]>, Vec<u32>) = rows.iter().map(|(token, id)| (token.as_bytes(), *id)).unzip();
    let words = WordModel::new(options, &tokens, &ids, merges, scores).unwrap();
    let on_bytes = words.on_bytes().unwrap();
    Compiled::of_words(words, on_bytes).unwrap()
}

/// A model of merges of characters.
fn characters(path: &Path, options: &str) -> Option<Compiled> {
    let model = real_data::model(path)?;
    let vocab = model["vocab"].as_object().unwrap();
    let mut rows: Vec<(String, u32)> =
        vocab.iter().map(|(token, id)| (token.clone(), id.as_u64().unwrap() as u32)).collect();
    rows.sort_by_key(|row| row.1);
    let id = |token: &str| vocab[token].as_u64().unwrap() as u32;
    let pair = |merge: &Value| match merge {
        Value::String(pair) => pair.split_once(' ').map(|(left, right)| (id(left), id(right))).unwrap(),
        pair => (id(pair[0].as_str().unwrap()), id(pair[1].as_str().unwrap())),
    };
    let merges: Vec<(u32, u32)> = model["merges"].as_array().unwrap().iter().map(pair).collect();
    Some(compiled(options, &rows, Some(&merges), None))
}

/// A score as the file means it: of 32 bits. Reading it can be wrong in the last of 64.
fn score(value: &Value) -> f64 {
    f64::from(value.as_f64().unwrap() as f32)
}

fn t5(path: &Path) -> Option<Compiled> {
    let model = real_data::model(path)?;
    let rows = model["vocab"].as_array().unwrap().iter().zip(0..);
    let (rows, scores): (Vec<(String, u32)>, Vec<f64>) =
        rows.map(|(row, id)| ((row[0].as_str().unwrap().to_owned(), id), score(&row[1]))).unzip();
    Some(compiled(r#"{"type":"Unigram","unk_id":2}"#, &rows, None, Some(&scores)))
}

fn bert(path: &Path) -> Compiled {
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<(String, u32)> = text.lines().map(str::to_owned).zip(0..).collect();
    let options = r###"{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##"}"###;
    compiled(options, &rows, None, None)
}

/// The models of the data folder, by name.
fn models(data: &Path) -> Vec<(&'static str, Compiled)> {
    let vocabs = data.join("vocabs");
    let fallback = r#"{"type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":true}"#;
    let clip = r#"{"type":"BPE","unk_token":"<|endoftext|>","end_of_word_suffix":"</w>"}"#;
    let models = [
        ("o200k", Some(ranks(&vocabs.join("openai/o200k_base.tiktoken")))),
        ("qwen", Some(ranks(&vocabs.join("qwen/qwen.tiktoken")))),
        ("llama 3", Some(ranks(&vocabs.join("llama3/tokenizer.model")))),
        ("llama 2", characters(&vocabs.join("llama2/tokenizer.json"), fallback)),
        ("gemma 3", characters(&vocabs.join("gemma3/tokenizer.json.xz"), fallback)),
        ("clip", characters(&vocabs.join("clip/tokenizer.json"), clip)),
        ("t5", t5(&vocabs.join("t5-small/tokenizer.json"))),
        ("bert", Some(bert(&vocabs.join("bert-base-uncased/vocab.txt")))),
    ];
    models.into_iter().filter_map(|(name, model)| Some((name, model?))).collect()
}

/// Parts of real texts, runs, and letters at random.
fn pieces(data: &Path, random: &mut Random) -> Vec<String> {
    let read = |name: &str| {
        let bytes = std::fs::read(data.join("corpora").join(name)).unwrap();
        String::from_utf8_lossy(&bytes).chars().collect::<Vec<char>>()
    };
    let texts = ["en_1mb.txt", "code_1mb.txt", "multi_1mb.txt"].map(read);
    let han: Vec<char> = texts[2].iter().copied().filter(|&character| character >= '\u{4E00}').collect();
    let part = |text: &[char], length: usize, random: &mut Random| -> String {
        let start = below(random, text.len().saturating_sub(length).max(1));
        text[start..(start + length).min(text.len())].iter().collect()
    };
    let mut pieces: Vec<String> = (0..18).map(|at| part(&texts[at % 3], 200, random)).collect();
    pieces.push(part(&han, 2000, random));
    pieces.push((0..2000).map(|_| char::from(b'a' + below(random, 26) as u8)).collect());
    pieces.push((0..600).map(|_| char::from(32 + below(random, 95) as u8)).collect());
    for unit in ["a", " ", "\n", "=-", "é", "中", "👍", "\u{378}", "<unk>", " the", "\u{10FFFF}", "ab", "\t\t\n"] {
        pieces.push(unit.repeat(400 / unit.chars().count()));
    }
    // Some models mark spaces.
    let marked: Vec<String> = pieces.iter().map(|piece| piece.replace(' ', "▁")).collect();
    pieces.extend(marked);
    pieces
}

#[test]
fn prefixes_of_real_pieces_have_the_counts_of_encoding() {
    let Some(data) = real_data::folder() else { return };
    let random = &mut Random::new(0xDA7A);
    for (name, model) in models(&data) {
        assert!(Rows::can(&model), "{name}");
        let mut rows = Rows::default();
        for piece in pieces(&data, random) {
            rows.truncate(0);
            let places: Vec<usize> = (1..=piece.len()).filter(|&at| piece.is_char_boundary(at)).collect();
            // In parts, some of them taken back.
            for _ in 0..3 {
                let end = places[below(random, places.len())];
                rows.extend(&model, &piece[..end]).unwrap();
                rows.truncate(places[below(random, places.len())].min(rows.len()));
            }
            rows.extend(&model, &piece).unwrap();
            // All of the first ones, and some of the others, which take long to encode.
            for (number, &end) in places.iter().enumerate().filter(|&(at, _)| at < 80 || at % 41 == 0) {
                let prefix = &piece[..end];
                let expected = encoded(&model, prefix).unwrap().len() as u64;
                assert_eq!(rows.known(&model, prefix), Ok(Some(expected)), "{name} {prefix:?}");
                let before = places[number.saturating_sub(1 + below(random, 40))];
                assert!(before == end || rows.least(&model, before) <= expected, "{name} {before} {prefix:?}");
            }
        }
    }
}

#[test]
fn real_pieces_are_taken_apart_where_models_say_so() {
    let Some(data) = real_data::folder() else { return };
    let random = &mut Random::new(0x5911);
    for (name, model) in models(&data) {
        let mut apart = 0;
        for piece in pieces(&data, random) {
            let Ok(whole) = encoded(&model, &piece) else { continue };
            let (mut ids, mut start) = (Vec::new(), 0);
            let characters: Vec<(usize, char)> = piece.char_indices().collect();
            for pair in characters.windows(2) {
                if model.splits_between(pair[0].1, pair[1].1) && below(random, 3) > 0 {
                    ids.extend(encoded(&model, &piece[start..pair[1].0]).unwrap());
                    start = pair[1].0;
                    apart += 1;
                }
            }
            ids.extend(encoded(&model, &piece[start..]).unwrap());
            assert_eq!(ids, whole, "{name} {piece:?}");
        }
        assert!(apart > 1000 || ["clip", "bert"].contains(&name), "{name} {apart}");
    }
}

#[test]
fn han_is_mostly_apart() {
    let Some(data) = real_data::folder() else { return };
    let text = std::fs::read(data.join("corpora/multi_1mb.txt")).unwrap();
    let text: Vec<char> = String::from_utf8_lossy(&text).chars().collect();
    let is_han = |character: char| ('\u{4E00}'..='\u{9FFF}').contains(&character);
    for (name, model) in models(&data) {
        let pairs = || text.windows(2).filter(|pair| is_han(pair[0]) && is_han(pair[1]));
        let apart = pairs().filter(|pair| model.splits_between(pair[0], pair[1])).count();
        // T5 knows no Han, and CLIP and BERT mark where words begin and end.
        let expected = !["clip", "t5", "bert"].contains(&name);
        assert_eq!(apart * 2 > pairs().count(), expected, "{name} {apart} of {}", pairs().count());
    }
}
