//! Encoding: every algorithm beside the naive one, models of characters, and texts in parts.

use std::sync::{Arc, LazyLock};

use bytepair_core::merge::{self, Merger, Scratch};
use bytepair_core::model::{self, WordModel};
use bytepair_core::pipeline::{EncodeStream, Parts, Tokenizer};
use bytepair_core::segment::{Policy, Steps};
use bytepair_core::split::{Pattern, names};
use bytepair_core::utf8::OnInvalid;
use bytepair_core::vocab::{Semantics, Vocab};

use crate::{Seen, known};

/// Few letters make many ties.
const LETTERS: &[u8] = b"ab \nA1'\xC3\xA9\xE6\x97\xA5x";

/// An input: the first bytes choose merges, the others are a text of few letters.
struct Read<'a> {
    /// All bytes that choose the vocabulary, and the pairs among them.
    chosen: &'a [u8],
    pairs: &'a [u8],
    kind: u8,
    text: Vec<u8>,
}

fn read(data: &[u8]) -> Option<Read<'_>> {
    let (&kind, rest) = data.split_first()?;
    let (&merges, rest) = rest.split_first()?;
    let (pairs, text) = rest.split_at_checked(usize::from(merges % 40) * 2)?;
    let text: Vec<u8> = text.iter().map(|&byte| LETTERS[usize::from(byte) % LETTERS.len()]).collect();
    Some(Read { chosen: &data[..data.len() - text.len()], pairs, kind, text })
}

fn vocab(pairs: &[u8], kind: u8) -> Option<Vocab> {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut merges = Vec::new();
    for pair in pairs.chunks_exact(2) {
        // A small number is a letter, others are the latest tokens.
        let id = |byte: u8| match LETTERS.get(usize::from(byte)) {
            Some(&letter) => usize::from(letter),
            None => tokens.len() - 1 - usize::from(byte) % (tokens.len() - 255).max(1),
        };
        let (left, right) = (id(pair[0]), id(pair[1]));
        let joined = [&*tokens[left], &*tokens[right]].concat();
        if joined.len() < 40 && !tokens.contains(&joined) {
            merges.push((left as u32, right as u32));
            tokens.push(joined);
        }
    }
    let bytes: Vec<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
    let ids: Vec<u32> = (0..bytes.len() as u32).collect();
    let semantics = match kind % 3 {
        0 => Semantics::Ranks,
        more => Semantics::Merges { pairs: merges, ignore_merges: more == 2 },
    };
    Vocab::new(&bytes, &ids, semantics).ok()
}

/// Every algorithm beside the naive one.
pub(crate) fn merging(data: &[u8]) -> bool {
    static SEEN: LazyLock<Seen<Option<Arc<Vocab>>>> = LazyLock::new(Seen::default);
    let Some(Read { chosen, pairs, kind, text: piece }) = read(data) else { return false };
    let Some(vocab) = known(&SEEN, chosen, || vocab(pairs, kind).map(Arc::new)) else { return false };
    let mut scratch = Scratch::default();
    let mut expected = Vec::new();
    if Merger::Naive.merge(&vocab, &piece, &mut scratch, &mut expected).is_err() {
        return true;
    }
    for merger in [Merger::Heap, Merger::Table, Merger::Backtrack] {
        let mut ids = Vec::new();
        if merger.check(&vocab).is_ok() {
            merger.merge(&vocab, &piece, &mut scratch, &mut ids).unwrap();
            assert_eq!(ids, expected, "{}", merger.name());
        }
    }
    for merger in [Merger::Greedy, Merger::Minimal] {
        let mut ids = Vec::new();
        if merger.merge(&vocab, &piece, &mut scratch, &mut ids).is_ok() {
            let spelled: Vec<u8> = ids.iter().flat_map(|&id| vocab.token_bytes(id).unwrap()).copied().collect();
            assert_eq!(spelled, piece, "{}", merger.name());
        }
    }
    let mut ids = Vec::new();
    merge::encode(&vocab, &piece, &mut scratch, &mut ids).unwrap();
    match vocab.whole(&piece) {
        Some(whole) => assert!(ids == [whole] || ids == expected),
        None => assert_eq!(ids, expected),
    }
    true
}

/// A model of characters: tokens lie in order and cover the piece, unless characters are left out.
pub(crate) fn characters(data: &[u8]) -> bool {
    let Some((&kind, rest)) = data.split_first() else { return false };
    let Ok(text) = std::str::from_utf8(rest) else { return false };
    let Some((vocab, piece)) = text.split_once('\n') else { return false };
    let mut tokens: Vec<&[u8]> = vec![b"<unk>"];
    for token in vocab.split(' ').filter(|token| !token.is_empty()).map(str::as_bytes) {
        if !tokens.contains(&token) {
            tokens.push(token);
        }
    }
    let ids: Vec<u32> = (0..tokens.len() as u32).collect();
    let mut pairs = Vec::new();
    for (left, one) in tokens.iter().enumerate() {
        for (right, other) in tokens.iter().enumerate() {
            if tokens.contains(&&*[*one, *other].concat()) {
                pairs.push((left as u32, right as u32));
            }
        }
    }
    let scores: Vec<f64> = (0..tokens.len()).map(|at| -((at * 7 % 5) as f64)).collect();
    let fallback = kind & 8 != 0;
    let model = match kind % 4 {
        0 => WordModel::new(
            &format!(r#"{{"type":"BPE","unk_token":"<unk>","fuse_unk":{fallback},"byte_fallback":{fallback}}}"#),
            &tokens,
            &ids,
            Some(&pairs),
            None,
        ),
        1 => WordModel::new(
            r###"{"type":"WordPiece","unk_token":"<unk>","continuing_subword_prefix":"##"}"###,
            &tokens,
            &ids,
            None,
            None,
        ),
        2 => WordModel::new(
            &format!(r#"{{"type":"Unigram","unk_id":0,"byte_fallback":{fallback}}}"#),
            &tokens,
            &ids,
            None,
            Some(&scores),
        ),
        _ => WordModel::new(r#"{"type":"WordLevel","unk_token":"<unk>"}"#, &tokens, &ids, None, None),
    };
    let Ok(model) = model else { return true };
    let mut out = Vec::new();
    if model.encode(piece, &mut model::Scratch::default(), &mut out).is_err() {
        return true;
    }
    let (mut at, mut before) = (0, 0);
    for token in &out {
        // The bytes of unknown characters of a Unigram all have the place of the run.
        let is_byte_of_run = fallback && kind % 4 == 2 && (token.start, token.end) == (before, at);
        assert!(token.start == at || is_byte_of_run || kind % 4 == 0, "{out:?}");
        assert!(token.start <= token.end && token.end as usize <= piece.len());
        assert!((token.id as usize) < tokens.len());
        (before, at) = (token.start, token.end);
    }
    assert_eq!(at as usize, piece.len());
    true
}

/// A text in parts beside the whole, its count, and its decoding.
pub(crate) fn streams(data: &[u8]) -> bool {
    static SEEN: LazyLock<Seen<Option<Arc<Tokenizer>>>> = LazyLock::new(Seen::default);
    let Some(Read { chosen, pairs, kind, text }) = read(data) else { return false };
    let Ok(text) = String::from_utf8(text) else { return false };
    let made = known(&SEEN, chosen, || {
        let pattern = if kind & 64 != 0 { names::ALL[usize::from(kind & 63) % names::ALL.len()].1 } else { "" };
        let steps = Steps::of(vec![Pattern::new(pattern).unwrap()]);
        Some(Arc::new(Tokenizer::new(Parts { steps, ..Parts::of(vocab(pairs, kind)?) }).unwrap()))
    });
    let Some(tokenizer) = made else { return false };
    let (policy, mut expected) = (Policy::default(), Vec::new());
    tokenizer.encode(&text, policy, &mut expected).unwrap();
    let mut located = tokenizer.locate(&text, policy).unwrap();
    located.sort_by_key(|token| token.start);
    assert_eq!(located.iter().map(|token| token.id).collect::<Vec<_>>(), expected);
    let (mut stream, mut ids, mut start) = (EncodeStream::default(), Vec::new(), 0);
    for end in (0..=text.len()).filter(|&at| text.is_char_boundary(at) && at % 5 == 0) {
        stream.push(&tokenizer, policy, &text[start..end], None, &mut ids).unwrap();
        start = end;
    }
    stream.push(&tokenizer, policy, &text[start..], None, &mut ids).unwrap();
    stream.finish(&tokenizer, policy, OnInvalid::Raise, None, &mut ids).unwrap();
    assert_eq!(ids, expected);
    true
}
