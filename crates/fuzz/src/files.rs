//! Readers of files: any bytes are read or refused.

use bytepair_core::files::json_lines::{self, Fields, Wanted};
use bytepair_core::files::{Columns, byte_alphabet, character_vocab, decimal, json_model, pieces, rank_file};
use bytepair_core::utf8::OnInvalid;
use bytepair_core::vocab::{Semantics, Vocab};

fn tokens(columns: &Columns) -> Vec<&[u8]> {
    columns.tokens().collect()
}

/// A file of ranks, and the vocabulary that it makes.
pub(crate) fn rank_file(data: &[u8]) -> bool {
    let Ok((columns, unreachable)) = rank_file::read(data) else { return true };
    assert_eq!(columns.tokens().len(), columns.ids.len());
    assert!(columns.ids.is_sorted_by(|one, next| one < next) && unreachable.ids.is_sorted());
    if let Ok(vocab) = Vocab::new(&tokens(&columns), &columns.ids, Semantics::Ranks) {
        for (&id, token) in columns.ids.iter().zip(columns.tokens()) {
            assert_eq!(vocab.token_bytes(id), Some(token));
        }
    }
    true
}

/// The model in a `tokenizer.json`, and each vocabulary that it can be.
pub(crate) fn json_model(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let read = json_model::read(text, data.len().is_multiple_of(2));
    let Some(model) = read else { return true };
    // What is read is what the general reader reads there. A name may be there twice: `bytepair.formats` sees to that.
    let holes = model.holes.iter().map(|hole| serde_json::from_str(&text[hole.clone()]).unwrap());
    let holes: Vec<serde_json::Value> = holes.collect();
    if let Some(vocab) = holes.iter().find_map(serde_json::Value::as_object) {
        assert!(model.vocab.len() <= vocab.len());
        for place in 0..model.vocab.len() as u32 {
            let (token, id) = (model.vocab.token(place), model.vocab.id(place));
            assert_eq!(vocab.get(token).and_then(serde_json::Value::as_u64), Some(u64::from(id)), "{token:?}");
        }
    }
    if let Some(merges) = &model.merges {
        let _ = byte_alphabet::read(&model.vocab, merges, &[]);
        let kept = character_vocab::Kept { prefix: "##", suffix: "</w>", special: &[], unk: Some("<unk>") };
        let _ = character_vocab::read(&model.vocab, merges, kept);
    }
    let _ = character_vocab::words(&model.vocab, &[], Some("[UNK]"));
    if let Some(scores) = &model.scores {
        assert_eq!(scores.len(), model.vocab.len());
        let _ = character_vocab::scored(&model.vocab, scores, &[], None);
    }
    true
}

/// The pieces of a SentencePiece model.
pub(crate) fn pieces(data: &[u8]) -> bool {
    let Some((pieces, rest)) = pieces::Pieces::read(data) else { return true };
    assert!(rest.iter().all(|range| range.end <= data.len()));
    for id in 0..pieces.len() as u32 {
        let (_, _, _) = (pieces.text(id), pieces.score(id), pieces.kind(id));
    }
    let kinds = [1, 4, 6];
    assert_eq!(pieces.columns(&kinds).tokens().len(), pieces.weights(&kinds).len());
    let _ = (pieces.are_sound(true, true), pieces.are_sound(false, false), pieces.lowest(), pieces.merges());
    true
}

fn fields(data: &[u8], on_invalid: OnInvalid) -> Fields {
    json_lines::fields(data, Wanted { text: "text", id: Some("id") }, on_invalid, false)
}

/// Lines of JSON: each alone is as among the others, and its text that of the general reader.
pub(crate) fn json_lines(data: &[u8]) -> bool {
    let whole = fields(data, OnInvalid::Replace);
    let _ = fields(data, OnInvalid::Raise);
    let mut texts = 0_usize;
    for line in data.split(|&byte| byte == b'\n') {
        let alone = fields(line, OnInvalid::Replace);
        assert!(alone.texts.ends.len() + alone.faults.len() <= 1);
        if alone.texts.ends.len() == 1 {
            let start = texts.checked_sub(1).map_or(0, |before| whole.texts.ends[before]);
            assert_eq!(alone.texts.data, whole.texts.data[start..whole.texts.ends[texts]]);
            if let Ok(table) = serde_json::from_slice::<serde_json::Value>(line) {
                assert_eq!(table["text"].as_str().map(str::as_bytes), Some(&*alone.texts.data));
            }
            texts += 1;
        }
    }
    assert_eq!((texts, whole.ids.ends.len()), (whole.texts.ends.len(), texts));
    true
}

/// A number, read as `serde_json` and written back.
pub(crate) fn decimal(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    if text.len() > 64 {
        return false;
    }
    let Some(number) = decimal::read(text) else { return true };
    if number.is_finite() {
        let written = decimal::write(number);
        let again = decimal::read(&written);
        assert_eq!(again.map(f64::to_bits), Some(number.to_bits()), "{text} {written}");
    }
    true
}
