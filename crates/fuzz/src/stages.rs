//! Stages around the model: patterns, normalizers, pre-tokenizers, decoders.

use std::sync::{Arc, LazyLock};

use bytepair_core::decode::{TextDecoder, decode_tokens};
use bytepair_core::normalize::{Aligned, Normalizer};
use bytepair_core::pre_tokenize::{PreTokenized, PreTokenizer};
use bytepair_core::split::{Pattern, names};

use crate::{Seen, halves, known};

/// A pattern and a text: pieces are the text, and those that the backtracking engine finds, where it compiles.
pub(crate) fn regex(data: &[u8]) -> bool {
    let Some((pattern, text)) = halves(data) else { return false };
    // A pattern of the caller's own may take time quadratic in the text.
    if pattern.len() > 100 || text.len() > 100 {
        return false;
    }
    let Ok(compiled) = Pattern::new(pattern) else { return true };
    let pieces: Result<Vec<&str>, _> = compiled.pieces(text).collect();
    if let Ok(pieces) = pieces {
        assert_eq!(pieces.concat(), text);
        assert!(pieces.iter().all(|piece| !piece.is_empty()));
    }
    true
}

/// The named patterns beside the backtracking engine.
pub(crate) fn split(data: &[u8]) -> bool {
    static BOTH: LazyLock<Vec<(Pattern, fancy_regex::Regex)>> = LazyLock::new(|| {
        let named = names::ALL.iter().filter(|(_, text)| !text.is_empty());
        named.map(|(_, text)| (Pattern::new(text).unwrap(), fancy_regex::Regex::new(text).unwrap())).collect()
    });
    let Some((&first, rest)) = data.split_first() else { return false };
    let Ok(text) = std::str::from_utf8(rest) else { return false };
    let (pattern, oracle) = &BOTH[usize::from(first) % BOTH.len()];
    let (mut expected, mut at) = (Vec::new(), 0);
    for found in oracle.find_iter(text) {
        let Ok(found) = found else { return true };
        if at < found.start() {
            expected.push(&text[at..found.start()]);
        }
        if found.start() < found.end() {
            expected.push(found.as_str());
        }
        at = at.max(found.end());
    }
    if at < text.len() {
        expected.push(&text[at..]);
    }
    let pieces: Vec<&str> = pattern.pieces(text).map(Result::unwrap).collect();
    assert_eq!(pieces, expected);
    true
}

/// A normalizer and a text: with origins and without, the same text; origins never go backwards.
pub(crate) fn normalizer(data: &[u8]) -> bool {
    let Some((step, text)) = halves(data) else { return false };
    if text.len() > 300 {
        return false;
    }
    let Ok(normalizer) = Normalizer::parse(step) else { return true };
    let plain = normalizer.try_apply(text);
    let mut aligned = Aligned::traced(text).unwrap();
    let traced = normalizer.apply_aligned(&mut aligned);
    match plain {
        Err(_) => assert!(traced.is_err()),
        Ok(plain) => {
            assert!(traced.is_ok());
            assert_eq!(aligned.text(), plain);
            let origins = aligned.origins().unwrap();
            assert_eq!(origins.len(), plain.len());
            assert!(origins.iter().all(|origin| origin.0 <= origin.1 && origin.1 as usize <= text.len()));
            assert!(origins.is_sorted_by(|one, next| one.0 <= next.0 && one.1 <= next.1), "{text:?} {origins:?}");
        }
    }
    true
}

/// A pre-tokenizer and a text: pieces are not empty, and lie in the text in order.
pub(crate) fn pre_tokenizer(data: &[u8]) -> bool {
    let Some((step, text)) = halves(data) else { return false };
    if text.len() > 300 {
        return false;
    }
    let Ok(step) = PreTokenizer::parse(step) else { return true };
    for at_start in [true, false] {
        let mut cut = PreTokenized::new(Aligned::traced(text).unwrap());
        if step.apply(&mut cut, at_start).is_err() {
            continue;
        }
        let mut at = 0;
        for (number, piece) in cut.texts().enumerate() {
            assert!(!piece.is_empty());
            let place = cut.original(number).unwrap();
            assert!(at <= place.start && place.start <= place.end && place.end <= text.len());
            at = place.start;
        }
    }
    true
}

/// A decoder and tokens, which lines separate.
pub(crate) fn decoder(data: &[u8]) -> bool {
    static SEEN: LazyLock<Seen<Option<Arc<TextDecoder>>>> = LazyLock::new(Seen::default);
    let Some((step, text)) = halves(data) else { return false };
    if text.len() > 300 {
        return false;
    }
    if let Some(decoder) = known(&SEEN, step.as_bytes(), || TextDecoder::parse(step).ok().map(Arc::new)) {
        let tokens = text.split('\n').map(str::to_owned).collect();
        let _ = decode_tokens(std::slice::from_ref(&*decoder), tokens);
    }
    true
}
