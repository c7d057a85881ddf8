//! BPE over characters as BPE over bytes, so that the encoders of bytes, which are linear, can run it.
//!
//! Wanted is byte fallback with all 256 byte tokens, neither prefix nor suffix, and no merge that names or makes a byte
//! token. A character of several bytes that is a token is made by merges of its own, of its beginning and its next byte,
//! ranked before all others by length. UTF-8 tells where characters begin, so that these merges never go across two
//! characters, and they are done with before any other begins: then characters that are tokens are whole, and of others
//! there are beginnings at most. No other merge takes a beginning or a byte token. So it goes on as it would over
//! characters. In the end a beginning becomes the byte tokens that it stands for.

use std::collections::{BTreeMap, BTreeSet};

use super::options::Options;
use super::pairs::Pairs;
use super::table::{NONE, Table};
use crate::error::Result;
use crate::vocab::{Beginnings, NO_ID, Semantics, Vocab};

/// The most bytes of a beginning.
const LONGEST: usize = 3;

/// A vocabulary over bytes with beginnings of characters as tokens of their own, whose ids are above all others.
pub struct OnBytes {
    /// Encodes as the characters would.
    pub vocab: Vocab,
    /// Tokens that merges of characters make.
    products: Vec<u32>,
}

impl OnBytes {
    /// Compiles tokens as the file spells them, ids, and merges as pairs of ids in rank order; none where the bytes
    /// would not do the same (see above). Not for `ignore_merges`.
    ///
    /// # Errors
    /// `Format`, as [`crate::model::WordModel::new`] and [`Vocab::new`].
    ///
    /// ```
    /// use bytepair_core::merge::{Scratch, encode};
    /// use bytepair_core::model::OnBytes;
    /// let mut tokens: Vec<Vec<u8>> = (0..256).map(|byte| format!("<0x{byte:02X}>").into_bytes()).collect();
    /// tokens.extend(["▁", "a", "▁a"].map(|token| token.as_bytes().to_vec()));
    /// let tokens: Vec<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
    /// let ids: Vec<u32> = (0..259).collect();
    /// let Some(model) = OnBytes::new(&tokens, &ids, &[(256, 257)])? else { unreachable!() };
    /// let mut ids = Vec::new();
    /// encode(&model.vocab, "▁a▂".as_bytes(), &mut Scratch::default(), &mut ids)?;
    /// assert_eq!(ids, [258, 0xE2, 0x96, 0x82]);
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn new(tokens: &[&[u8]], ids: &[u32], pairs: &[(u32, u32)]) -> Result<Option<Self>> {
        let table = Table::new(tokens, ids)?;
        let merges = Pairs::new(&table, pairs, 0)?;
        let byte_tokens = table.byte_tokens();
        let mut byte_of = vec![None; table.len()];
        for (byte, &token) in (0..=u8::MAX).zip(byte_tokens.iter()) {
            if token == NONE {
                return Ok(None);
            }
            byte_of[token as usize] = Some(byte);
        }
        let is_byte = |token: u32| byte_of[token as usize].is_some();
        let parts = merges.parts().iter();
        if merges.products().iter().any(|&token| is_byte(token))
            || parts.copied().any(|(l, r)| is_byte(l) || is_byte(r))
        {
            return Ok(None);
        }

        // The id of each byte, and what the vocabulary holds.
        let mut byte_ids = byte_tokens.map(|token| table.id(token));
        let mut columns: Vec<(&[u8], u32)> = Vec::with_capacity(table.len());
        let alone: Vec<[u8; 1]> = (0..=u8::MAX).map(|byte| [byte]).collect();
        for index in 0..table.len() as u32 {
            let (text, id) = (table.text(index), table.id(index));
            match byte_of[index as usize] {
                Some(byte) => {
                    let is_token =
                        byte.is_ascii() && table.index_of(char::from(byte).encode_utf8(&mut [0; 4])).is_some();
                    if !is_token {
                        columns.push((&alone[usize::from(byte)], id));
                    }
                }
                None if text.is_empty() => {}
                None => {
                    if let [byte] = text.as_bytes() {
                        byte_ids[usize::from(*byte)] = id;
                    }
                    columns.push((text.as_bytes(), id));
                }
            }
        }

        let mut beginnings: BTreeMap<(usize, &[u8]), u32> = BTreeMap::new();
        let characters = || table.texts().zip(0..).filter(|(text, _)| text.len() > 1 && text.chars().nth(1).is_none());
        for (character, _) in characters() {
            beginnings.extend((2..character.len()).map(|length| ((length, &character.as_bytes()[..length]), NONE)));
        }
        let first_pseudo = table.ids().last().map_or(0, |&id| id + 1);
        if NONE - first_pseudo <= beginnings.len() as u32 {
            return Ok(None);
        }
        let mut bytes_of = Vec::with_capacity(beginnings.len());
        for (id, (&(_, beginning), place)) in (first_pseudo..).zip(&mut beginnings) {
            *place = id;
            columns.push((beginning, id));
            let mut ids = [NO_ID; LONGEST];
            for (id, &byte) in ids.iter_mut().zip(beginning) {
                *id = byte_ids[usize::from(byte)];
            }
            bytes_of.push(ids);
        }

        let mut all: Vec<(usize, u32, u32)> = Vec::new();
        let mut build = |bytes: &[u8]| {
            let (last, before) = bytes.split_last()?;
            let before_id = match before {
                [byte] => byte_ids[usize::from(*byte)],
                longer => *beginnings.get(&(longer.len(), longer))?,
            };
            all.push((bytes.len(), before_id, byte_ids[usize::from(*last)]));
            Some(())
        };
        for &(_, beginning) in beginnings.keys() {
            build(beginning);
        }
        for (character, _) in characters() {
            build(character.as_bytes());
        }
        all.sort_by_key(|merge| merge.0);
        let mut list: Vec<(u32, u32)> = all.into_iter().map(|(_, left, right)| (left, right)).collect();
        list.extend_from_slice(pairs);

        let (tokens, ids): (Vec<&[u8]>, Vec<u32>) = columns.into_iter().unzip();
        let vocab = Vocab::new(&tokens, &ids, Semantics::Merges { pairs: list, ignore_merges: false })?;
        let mut products: Vec<u32> = merges.products().iter().map(|&token| table.id(token)).collect();
        products.sort_unstable();
        products.dedup();
        let vocab = vocab.with_beginnings(Beginnings { first: first_pseudo, bytes: bytes_of });
        Ok(Some(Self { vocab, products }))
    }

    /// Whether a model with these options is such that [`OnBytes::new`] may be asked: byte fallback, and nothing else.
    #[must_use]
    pub fn suits(options: &str) -> bool {
        Options::new(options).is_ok_and(|mut options| {
            let none =
                |key, options: &mut Options| options.text(key).is_ok_and(|text| text.unwrap_or_default().is_empty());
            options.flag("byte_fallback") == Ok(true)
                && options.flag("ignore_merges") == Ok(false)
                && none("continuing_subword_prefix", &mut options)
                && none("end_of_word_suffix", &mut options)
        })
    }

    /// A split pattern whose pieces may be merged alone: words with the U+2581 in front of them. None if tokens reach across.
    #[must_use]
    pub fn wall_pattern(&self) -> Option<String> {
        const MARK: char = '\u{2581}';
        let is_alone = self.walls(MARK).iter().all(|&before| before == MARK);
        is_alone.then(|| format!("{MARK}+[^{MARK}]*|[^{MARK}]+"))
    }

    /// The characters that stand right before `mark` in a token that merges make, ascending. Before a `mark` behind any
    /// other character text may be cut, and its parts encoded alone.
    #[must_use]
    pub fn walls(&self, mark: char) -> Vec<char> {
        let bytes = self.products.iter().filter_map(|&id| self.vocab.token_bytes(id));
        before(mark, bytes.filter_map(|bytes| std::str::from_utf8(bytes).ok()))
    }
}

/// The characters that stand right before `mark` in one of these tokens, ascending.
pub(super) fn before<'a>(mark: char, tokens: impl Iterator<Item = &'a str>) -> Vec<char> {
    let mut found = BTreeSet::new();
    for token in tokens {
        let places = token.match_indices(mark).map(|(at, _)| at);
        found.extend(places.filter_map(|at| token[..at].chars().next_back()));
    }
    found.into_iter().collect()
}
