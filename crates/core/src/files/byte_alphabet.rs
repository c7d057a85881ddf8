//! Vocabularies and merges in the GPT-2 byte alphabet: a printable character for each byte.
//!
//! Printable Latin-1 characters represent themselves; the other 68 bytes, in order, are the characters from U+0100 on.

use rustc_hash::FxHashSet;

use crate::files::{Columns, IdMerges, Merges, Vocabulary};
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
    /// The merges.
    pub merges: IdMerges,
    /// By id, the tokens that are empty or not written in the alphabet: no text becomes them.
    pub unreachable: Columns,
}

/// Whether the bytes that UTF-8 uses are tokens, and all tokens but the `others` are written in the alphabet.
#[must_use]
pub fn is_of_bytes(vocab: &Vocabulary, others: &[&str]) -> bool {
    let is_used = |byte: &u8| !matches!(byte, 0xC0 | 0xC1 | 0xF5..);
    let has = |byte: u8| vocab.place(CHARACTERS[usize::from(byte)].encode_utf8(&mut [0; 4])).is_some();
    let others: FxHashSet<&str> = others.iter().copied().collect();
    (0..=u8::MAX).filter(is_used).all(has)
        && vocab
            .tokens()
            .all(|token| token.chars().all(|character| byte_of(character).is_some()) || others.contains(token))
}

/// The columns of a vocabulary in the alphabet and its merges; None if anything is malformed.
///
/// `added` are the added tokens: the vocabulary keeps only those of them that a merge makes, and single bytes.
///
/// ```
/// use bytepair_core::files::{Merges, Vocabulary, byte_alphabet};
/// let vocab = Vocabulary::of([("Ġ", 1), ("a", 0), ("Ġa", 2), ("<x>", 3)]).unwrap();
/// let read = byte_alphabet::read(&vocab, &Merges::of([("Ġ", "a")]), &["<x>"]).unwrap();
/// assert_eq!(read.tokens.tokens().collect::<Vec<_>>(), [&b"a"[..], b" ", b" a"]);
/// assert_eq!((read.tokens.ids, read.merges.pairs, read.merges.products), (vec![0, 1, 2], vec![(1, 0)], vec![2]));
/// ```
#[must_use]
pub fn read(vocab: &Vocabulary, merges: &Merges, added: &[&str]) -> Option<Read> {
    let resolved = vocab.resolve(merges, 0)?;
    let mut made = vec![false; vocab.len()];
    for &[.., product] in &resolved {
        made[product as usize] = true;
    }
    let mut used = made.clone();
    for &[left, right, _] in &resolved {
        (used[left as usize], used[right as usize]) = (true, true);
    }
    let mut dropped = vec![false; vocab.len()];
    for place in added.iter().filter_map(|token| vocab.place(token)) {
        let bytes = decode(vocab.token(place), &mut Vec::new());
        if !made[place as usize] && (bytes.is_none() || vocab.token(place).chars().count() != 1) {
            if used[place as usize] {
                return None;
            }
            dropped[place as usize] = true;
        }
    }
    let (mut tokens, mut unreachable) = (Columns::default(), Columns::default());
    let mut last = None;
    for place in vocab.by_id(|place| !dropped[place as usize]) {
        let (token, id) = (vocab.token(place), vocab.id(place));
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
        if used[place as usize] {
            return None;
        }
        unreachable.push(token.as_bytes());
        unreachable.ids.push(id);
    }
    Some(Read { tokens, merges: IdMerges::of(vocab, &resolved), unreachable })
}
