//! Vocabularies and merges in the GPT-2 byte alphabet: a printable character for each byte.
//!
//! Printable Latin-1 characters represent themselves; the other 68 bytes, in order, are the characters from U+0100 on.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::files::Columns;
use crate::vocab::NO_ID;

/// The byte of each character from U+0000 on.
const BYTES: [Option<u8>; 0x144] = {
    let mut bytes = [None; 0x144];
    let mut others = 0x100;
    let mut byte = 0;
    while byte < 0x100 {
        let printable = matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
        bytes[if printable { byte } else { others }] = Some(byte as u8);
        others += !printable as usize;
        byte += 1;
    }
    bytes
};

/// The character of each byte.
pub(crate) const CHARACTERS: [char; 256] = {
    let mut characters = ['\0'; 256];
    let mut others = 0x100;
    let mut byte = 0;
    while byte < 0x100 {
        let printable = matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
        if let Some(character) = char::from_u32(if printable { byte } else { others }) {
            characters[byte as usize] = character;
        }
        others += !printable as u32;
        byte += 1;
    }
    characters
};

/// The byte of a character, if it is in the alphabet.
pub(crate) fn byte_of(character: char) -> Option<u8> {
    BYTES.get(character as usize).copied().flatten()
}

/// Appends the bytes of the characters; None if one is not in the alphabet.
fn decode(token: &str, into: &mut Vec<u8>) -> Option<()> {
    for character in token.chars() {
        into.push(byte_of(character)?);
    }
    Some(())
}

/// A vocabulary in the alphabet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// The tokens by id.
    pub tokens: Columns,
    /// The merges as pairs of ids.
    pub merges: Vec<(u32, u32)>,
    /// By id, the tokens that are empty or not written in the alphabet: no text becomes them.
    pub unreachable: Columns,
}

/// The columns of a vocabulary in the alphabet and its merges; None if anything is malformed.
///
/// `added` are the added tokens: the vocabulary keeps only those of them that a merge makes, and single bytes.
///
/// ```
/// let vocab = [("Ġ", 1), ("a", 0), ("Ġa", 2), ("<x>", 3)];
/// let read = bytepair_core::files::byte_alphabet::read(&vocab, &[("Ġ", "a")], &["<x>"]).unwrap();
/// assert_eq!(read.tokens.tokens().collect::<Vec<_>>(), [&b"a"[..], b" ", b" a"]);
/// assert_eq!((read.tokens.ids, read.merges), (vec![0, 1, 2], vec![(1, 0)]));
/// ```
#[must_use]
pub fn read(vocab: &[(&str, u32)], merges: &[(&str, &str)], added: &[&str]) -> Option<Read> {
    let places: FxHashMap<&str, usize> = vocab.iter().enumerate().map(|(place, &(token, _))| (token, place)).collect();
    let mut made = vec![false; vocab.len()];
    let mut joined = String::new();
    let mut pairs = Vec::with_capacity(merges.len());
    for &(left, right) in merges {
        joined.clear();
        joined.push_str(left);
        joined.push_str(right);
        made[*places.get(&*joined)?] = true;
        pairs.push((*places.get(left)?, *places.get(right)?));
    }
    let dropped: FxHashSet<usize> = added
        .iter()
        .filter_map(|&token| places.get(token).copied())
        .filter(|&place| {
            let bytes = decode(vocab[place].0, &mut Vec::new());
            !made[place] && (bytes.is_none() || vocab[place].0.chars().count() != 1)
        })
        .collect();
    if !dropped.is_empty() && pairs.iter().any(|(left, right)| dropped.contains(left) || dropped.contains(right)) {
        return None;
    }
    let mut order: Vec<usize> = (0..vocab.len()).filter(|place| !dropped.contains(place)).collect();
    order.sort_by_key(|&place| vocab[place].1);
    let (mut tokens, mut unreachable) = (Columns::default(), Columns::default());
    let mut used = made;
    for &(left, right) in &pairs {
        (used[left], used[right]) = (true, true);
    }
    let mut last = None;
    for place in order {
        let (token, id) = vocab[place];
        if id == NO_ID || last.replace(id) == Some(id) {
            return None;
        }
        let start = tokens.bytes.len();
        if decode(token, &mut tokens.bytes).is_some() && !token.is_empty() {
            tokens.ends.push(tokens.bytes.len());
            tokens.ids.push(id);
            continue;
        }
        tokens.bytes.truncate(start);
        if used[place] {
            return None;
        }
        unreachable.push(token.as_bytes());
        unreachable.ids.push(id);
    }
    let merges = pairs.iter().map(|&(left, right)| (vocab[left].1, vocab[right].1)).collect();
    Some(Read { tokens, merges, unreachable })
}
