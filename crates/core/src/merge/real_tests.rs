//! All encoders against the definition on real vocabularies and texts, where the data folder is.

use super::tests::Random;
use super::*;
use crate::real_data;
use crate::vocab::Semantics;

/// A file of ranks as it is compiled, and with every cut of every token as a pair.
fn load(path: &std::path::Path) -> (Vocab, Vocab) {
    let columns = real_data::ranks(path);
    let (tokens, ids): (Vec<&[u8]>, _) = (columns.tokens().collect(), columns.ids.as_slice());
    (Vocab::new(&tokens, ids, Semantics::Ranks).unwrap(), Vocab::with_all_cuts(&tokens, ids).unwrap())
}

const FILES: [(&str, bool); 7] = [
    ("openai/r50k_base.tiktoken", true),
    ("openai/p50k_base.tiktoken", true),
    ("openai/cl100k_base.tiktoken", true),
    ("openai/o200k_base.tiktoken", true),
    ("kimi-k2/tiktoken.model", true),
    ("qwen/qwen.tiktoken", true),
    ("llama3/tokenizer.model", false),
];

#[test]
fn real_vocabularies_encode_real_text_and_hostile_runs_as_defined() {
    let Some(data) = real_data::folder() else { return };
    let texts = ["en_1mb.txt", "code_1mb.txt", "multi_1mb.txt"]
        .map(|name| std::fs::read(data.join("corpora").join(name)).unwrap());
    let mut random = Random(0xDA7A);
    for (file, proper) in FILES {
        let (vocab, defined) = load(&data.join("vocabs").join(file));
        assert_eq!(vocab.is_proper(), proper, "{file}");
        assert_eq!(canonical_merges(&vocab).ok(), canonical_merges(&defined).ok(), "{file}");
        let mut pieces: Vec<Vec<u8>> = Vec::new();
        for _ in 0..6000 {
            let text = &texts[random.below(3)];
            let start = random.below(text.len() - 400);
            let longest = [8, 24, 70, 400][random.below(4)];
            pieces.push(text[start..start + 1 + random.below(longest)].to_vec());
        }
        for unit in ["a", " ", "\n", "ab", "=-", "é", "中", "\u{a0}", "0", "👍", " the"] {
            pieces.extend([1, 2, 63, 64, 65, 129, 1000].map(|times| unit.repeat(times).into_bytes()));
        }
        pieces.extend((0..300).map(|_| (0..random.below(90)).map(|_| random.below(256) as u8).collect()));
        let mut scratch = Scratch::default();
        let mut ids = Vec::new();
        for piece in &pieces {
            let mut expected = Vec::new();
            Merger::Naive.merge(&defined, piece, &mut scratch, &mut expected).unwrap();
            let mut check = |name: &str, run: &dyn Fn(&mut Scratch, &mut Vec<u32>) -> Result<()>| {
                ids.clear();
                run(&mut scratch, &mut ids).unwrap();
                assert_eq!(ids, expected, "{file} {name} {piece:?}");
            };
            check("encode", &|scratch, ids| encode(&vocab, piece, scratch, ids));
            check("windows", &|scratch, ids| windows::merge(&vocab, piece, &mut scratch.backtrack, ids));
            for merger in super::tests::EXACT.into_iter().filter(|merger| merger.check(&vocab).is_ok()) {
                check(&format!("{merger:?}"), &|scratch, ids| merger.merge(&vocab, piece, scratch, ids));
            }
        }
    }
}
