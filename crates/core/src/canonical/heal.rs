//! Healing: which ids at the end of a prompt a continuation may spell otherwise.

use std::borrow::Cow;

use super::masks::put;
use super::{Canonical, Stem};
use crate::error::{Error, Kind, Result};
use crate::pipeline::Tokenizer;

/// How to go on behind some ids whose text was cut anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Healing {
    /// How many ids to take back.
    pub back: usize,
    /// The bytes that they spell, which the continuation begins with.
    pub prefix: Vec<u8>,
    /// The tokens that can come next.
    pub mask: Vec<u32>,
}

impl Canonical {
    /// The fewest ids to take back so that the rest begins the encoding of every text which begins with that of the ids, and
    /// the tokens that can come then. Text begins behind the last added token.
    ///
    /// # Errors
    /// `InvalidId`; `Encode`, if no encoding begins with the text of the ids.
    ///
    /// Time: as [`Canonical::cover`].
    pub fn heal(&self, tokenizer: &Tokenizer, ids: &[u32]) -> Result<Healing> {
        let reader = self.reader(tokenizer)?;
        let is_added = |id: u32| reader.index_of(id).is_none() && tokenizer.added().iter().any(|token| token.id == id);
        let start = ids.iter().rposition(|&id| is_added(id)).map_or(0, |last| last + 1);
        let (mut text, mut ends) = (Vec::new(), vec![0]);
        for (row, &id) in ids.iter().enumerate() {
            let token = tokenizer.token_bytes(id).ok_or_else(|| tokenizer.invalid_id(id).row(row))?;
            if row >= start {
                let index = reader.index_of(id);
                if index.is_none() && !tokenizer.is_byte_level() {
                    return Err(no_text());
                }
                text.extend_from_slice(&index.map_or(Cow::Borrowed(token), |index| reader.token(index)));
                ends.push(text.len());
            }
        }
        let added = &ids[start.saturating_sub(1)..start];
        let ids = &ids[start..];
        let mut cover = self.cover_formed(tokenizer, &text, start > 0)?;
        if let [stem] = &cover.stems[..]
            && let &[last] = &stem.lasts[..]
        {
            cover.head.push(last);
        } else if cover.stems.is_empty() {
            return Err(no_text());
        }
        let kept = ids.iter().zip(&cover.head).take_while(|(one, other)| one == other).count();
        let prefix = text[ends[kept]..].to_vec();
        let mask = if prefix.is_empty() {
            self.next_mask(tokenizer, &[added, &ids[..kept]].concat(), &[])?
        } else {
            let mut mask = vec![0; tokenizer.vocab_size().div_ceil(32) as usize];
            let mut set = |id| put(&mut mask, id, true);
            match cover.head.get(kept) {
                Some(&next) => set(next),
                None => cover.stems.iter().flat_map(Stem::firsts).copied().for_each(set),
            }
            mask
        };
        Ok(Healing { back: ids.len() - kept, prefix, mask })
    }
}

fn no_text() -> Error {
    Error::new(Kind::Encode, "no encoding begins with the text of these ids")
        .remedy("pass ids of a text that the tokenizer can encode")
}
