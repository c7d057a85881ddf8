//! BPE over characters as BPE over bytes, so that the encoders of bytes, which are linear, can run it.
//!
//! It requires byte fallback with all 256 byte tokens, neither prefix nor suffix, and no merge that names or makes a byte
//! token. A character of several bytes that is a token gets merges of its own, of its first bytes and its next byte, ranked
//! before all others by length. In UTF-8 a lead byte begins each character, so these merges never join two characters, and
//! all of them precede any other merge: then characters that are tokens are whole, and of others at most the first bytes
//! have merged. No other merge takes such a beginning or a byte token. So merging continues as it would over characters. In
//! the end a beginning is replaced by its byte tokens.

use std::collections::{BTreeMap, BTreeSet};

use super::hazards::Hazards;
use super::merges::Pairs;
use super::token_table::{NONE, TokenTable};
use crate::error::Result;
use crate::interrupt;
use crate::split::marked_words;
use crate::vocab::{Beginnings, NO_ID, Semantics, Vocab};

/// The most bytes of a beginning.
const LONGEST: usize = 3;

/// A vocabulary over bytes with beginnings of characters as tokens of their own, whose ids are above all others.
pub struct OnBytes {
    /// Encodes as the characters would what [`OnBytes::can_encode`].
    pub vocab: Vocab,
    /// Tokens that merges of characters make.
    products: Vec<u32>,
    /// The characters that a piece must not contain; see `compile`.
    hazards: Option<Hazards>,
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
        let table = TokenTable::new(tokens, ids)?;
        let merges = Pairs::new(&table, pairs, "", 0)?;
        Self::of(&table, &merges, false)
    }

    /// The same of what is compiled already; with all merges, or without those that few pieces need.
    pub(super) fn of(table: &TokenTable, merges: &Pairs, with_all: bool) -> Result<Option<Self>> {
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
            interrupt::check()?;
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
        let mut pseudo_bytes = Vec::with_capacity(beginnings.len());
        for (id, (&(_, beginning), place)) in (first_pseudo..).zip(&mut beginnings) {
            *place = id;
            columns.push((beginning, id));
            let mut ids = [NO_ID; LONGEST];
            for (id, &byte) in ids.iter_mut().zip(beginning) {
                *id = byte_ids[usize::from(byte)];
            }
            pseudo_bytes.push(ids);
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
        let list: Vec<(u32, u32)> = all.into_iter().map(|(_, left, right)| (left, right)).collect();
        let (vocab, hazards) = compile(&columns, &list, table, merges, with_all)?;
        let mut products: Vec<u32> = merges.products().iter().map(|&token| table.id(token)).collect();
        products.sort_unstable();
        products.dedup();
        let vocab = vocab.with_beginnings(Beginnings { first: first_pseudo, bytes: pseudo_bytes });
        Ok(Some(Self { vocab, products, hazards }))
    }

    /// Whether the vocabulary encodes this piece as the characters would. It does all pieces of most models. Some have
    /// tokens, such as runs of white space, that merge out of turn: pieces with one of these are left to
    /// [`crate::model::WordModel::encode`].
    ///
    /// Time: linear in the piece, far less than encoding it.
    #[must_use]
    pub fn can_encode(&self, piece: &str) -> bool {
        self.hazards.as_ref().is_none_or(|hazards| !hazards.are_in(piece.as_bytes()))
    }

    /// Whether there are pieces that the vocabulary does not encode as the characters would.
    #[must_use]
    pub fn has_hazards(&self) -> bool {
        self.hazards.is_some()
    }

    /// The characters that [`OnBytes::can_encode`] searches.
    pub(crate) fn take_hazards(&mut self) -> Option<Hazards> {
        self.hazards.take()
    }

    /// A split pattern whose pieces may be merged alone: words with the U+2581 in front of them, and what tokens reach to
    /// across one. None if that are many characters.
    ///
    /// ```
    /// use bytepair_core::model::WordModel;
    /// let mut tokens: Vec<Vec<u8>> = (0..256).map(|byte| format!("<0x{byte:02X}>").into_bytes()).collect();
    /// tokens.extend([">", "▁", ">▁"].map(|token| token.as_bytes().to_vec()));
    /// let tokens: Vec<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
    /// let ids: Vec<u32> = (0..259).collect();
    /// let model = WordModel::new(r#"{"type":"BPE","byte_fallback":true}"#, &tokens, &ids, Some(&[(256, 257)]), None)?;
    /// let pattern = model.on_bytes()?.and_then(|model| model.wall_pattern());
    /// assert_eq!(pattern.as_deref(), Some(r"▁*(?:[^▁\x{3e}]|[\x{3e}]▁*)+|▁+"));
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    #[must_use]
    pub fn wall_pattern(&self) -> Option<String> {
        const MARK: char = '\u{2581}';
        const MOST: usize = 64;
        let reaching: Vec<char> = self.walls(MARK).into_iter().filter(|&before| before != MARK).collect();
        if reaching.len() > MOST {
            return None;
        }
        Some(marked_words::pattern(&reaching))
    }

    /// The characters that stand right before `mark` in a token that merges make, ascending. Before a `mark` behind any
    /// other character text may be cut, and its parts encoded alone.
    #[must_use]
    pub fn walls(&self, mark: char) -> Vec<char> {
        let bytes = self.products.iter().filter_map(|&id| self.vocab.token_bytes(id));
        before(mark, bytes.filter_map(|bytes| std::str::from_utf8(bytes).ok()))
    }
}

/// Compiles columns and merges, `first` before those of the table.
///
/// A merge is *late* if the list makes one of its tokens only behind it; files that list all cuts of all tokens have
/// thousands. In general they make a vocabulary improper. But say that the token that a late merge makes is made in its
/// turn by another merge, before the late merge's tokens are both there. Then the late one is never the first late one
/// to happen in a text. For until then merges went by rank, and no token reached over the edges of the two. So their
/// bytes merged as they would alone, and alone they were one token before the two were there. Nor is a late merge of a
/// token that only late merges make.
///
/// The others make *hazards*. In a text that contains none of these no late merge happens: all are left out, if that
/// leaves a proper vocabulary and few hazards. Else, or if all are asked for, all merges stay.
fn compile(
    columns: &[(&[u8], u32)],
    first: &[(u32, u32)],
    table: &TokenTable,
    merges: &Pairs,
    with_all: bool,
) -> Result<(Vocab, Option<Hazards>)> {
    let (tokens, ids): (Vec<&[u8]>, Vec<u32>) = columns.iter().copied().unzip();
    let with = |merge: &dyn Fn(usize) -> bool| {
        let named = |&(left, right): &(u32, u32)| (table.id(left), table.id(right));
        let kept = merges.parts().iter().enumerate().filter(|(rank, _)| merge(*rank)).map(|(_, parts)| named(parts));
        let pairs = first.iter().copied().chain(kept).collect();
        Vocab::new(&tokens, &ids, Semantics::Merges { pairs, ignore_merges: false })
    };
    let mut there: Vec<bool> = table.texts().map(|text| text.chars().nth(1).is_none()).collect();
    let mut late = vec![false; merges.products().len()];
    for (((left, right), &product), late) in merges.parts().iter().zip(merges.products()).zip(&mut late) {
        *late = !there[*left as usize] || !there[*right as usize];
        there[product as usize] |= !*late;
    }
    if late.contains(&true) && !with_all {
        let vocab = with(&|rank| !late[rank])?;
        // Symbols count up as merges make them.
        let symbol = |token: u32| vocab.symbol_of(table.id(token));
        let never = |rank: usize| {
            let (left, right) = merges.parts()[rank];
            match (symbol(left), symbol(right), symbol(merges.products()[rank])) {
                (Some(left), Some(right), Some(product)) => product < left.max(right),
                (Some(_), Some(_), None) => false,
                _ => true,
            }
        };
        if vocab.is_proper() {
            let hazards = (0..late.len()).filter(|&rank| late[rank] && !never(rank));
            let hazards: BTreeSet<&str> = hazards.map(|rank| table.text(merges.products()[rank])).collect();
            if hazards.is_empty() {
                return Ok((vocab, None));
            }
            if let Some(hazards) = Hazards::new(&hazards) {
                return Ok((vocab, Some(hazards)));
            }
        }
    }
    Ok((with(&|_| true)?, None))
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
