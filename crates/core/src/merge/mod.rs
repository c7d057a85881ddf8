//! Piece -> ids. One algorithm a file, all with the same result: the lowest-ranked pair merges first, of equal ones the
//! leftmost, until no pair is left.

mod heap;
mod naive;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod real_tests;
mod short;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

use crate::error::{Error, Kind, Result};
use crate::vocab::{FIRST, NO_ID, NONE, Vocab};

/// The algorithms by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merger {
    /// Scan all pairs for the lowest rank, merge, again: quadratic, and the definition.
    Naive,
    /// A heap of pairs over a linked list: n log n on every input and every vocabulary.
    Heap,
}

/// Buffers that a caller keeps between pieces, so that merging allocates nothing.
#[derive(Default)]
pub struct Scratch {
    symbols: Vec<u32>,
    naive: naive::Buffers,
    heap: heap::Buffers,
}

/// Appends the ids of `piece` to `ids`, by what is fastest for it.
///
/// # Errors
/// `Encode`, with the position in the piece, if one of its bytes has no token.
pub fn encode(vocab: &Vocab, piece: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
    check(vocab, piece)?;
    if short::merge(vocab, piece, ids) {
        return Ok(());
    }
    Merger::Heap.merge(vocab, piece, scratch, ids)
}

impl Merger {
    /// Whether this algorithm is exact on this vocabulary, or inexact by design.
    #[must_use]
    pub fn serves(self, _vocab: &Vocab) -> bool {
        true
    }

    /// Appends the ids of `piece` to `ids`.
    ///
    /// # Errors
    /// `Encode`, with the position in the piece, if one of its bytes has no token.
    ///
    /// ```
    /// use bytepair_core::merge::{Merger, Scratch};
    /// use bytepair_core::vocab::{Semantics, Vocab};
    /// let vocab = Vocab::new(&[b"a", b"b", b"c", b"bc", b"ab"], &[0, 1, 2, 3, 4], Semantics::Ranks)?;
    /// let mut ids = Vec::new();
    /// Merger::Heap.merge(&vocab, b"abc", &mut Scratch::default(), &mut ids)?;
    /// assert_eq!(ids, [0, 3]);
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn merge(self, vocab: &Vocab, piece: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
        check(vocab, piece)?;
        let symbols = &mut scratch.symbols;
        symbols.clear();
        symbols.extend(piece.iter().map(|&byte| u32::from(byte)));
        match self {
            Self::Naive => naive::merge(vocab.rules(), NONE, &mut scratch.naive, symbols),
            Self::Heap => heap::merge(vocab.rules(), &mut scratch.heap, symbols),
        }
        ids.extend(symbols.iter().map(|&symbol| vocab.rules().id(symbol)));
        Ok(())
    }
}

/// Whether each byte of a piece has a token, and places can be counted.
#[inline]
fn check(vocab: &Vocab, piece: &[u8]) -> Result<()> {
    if u32::try_from(piece.len()).is_err() {
        return Err(Error::new(Kind::Encode, "a piece is longer than 4 GiB").remedy("use a split pattern").at(0));
    }
    if !vocab.rules().lacks_bytes() {
        return Ok(());
    }
    match piece.iter().position(|&byte| vocab.byte_id(byte) == NO_ID) {
        None => Ok(()),
        Some(at) => {
            let what = format!("byte 0x{:02X} has no token in this vocabulary", piece[at]);
            let error = Error::new(Kind::Encode, what);
            Err(error.remedy("use a vocabulary that holds all 256 bytes, or remove the character").at(at))
        }
    }
}

/// The merge that makes each token of several bytes: the two ids that are left of it when all that ranks lower has
/// merged. In id order, which under [`Semantics::Ranks`](crate::vocab::Semantics::Ranks) is rank order.
///
/// Under this list of merges every text has the ids that it has under the ranks. For suppose that the two first differ
/// where the ranks merge x and y into t, and the list says that t is made of l and r. Up to there both have merged all
/// that ranks below t and nothing else, since a merge only makes pairs that rank above it; so x and y are what the bytes
/// of t merge into below t (what is adjacent in an encoding is the encoding of its own bytes). That is l and r.
///
/// # Errors
/// `Format`, if a token is not left in two when what ranks lower has merged: then nothing is proved.
///
/// ```
/// use bytepair_core::merge::canonical_merges;
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b"b", b"ab", b"aab"], &[0, 1, 2, 3], Semantics::Ranks)?;
/// assert_eq!(canonical_merges(&vocab)?, [(0, 1), (0, 2)]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn canonical_merges(vocab: &Vocab) -> Result<Vec<(u32, u32)>> {
    let rules = vocab.rules();
    let mut merges = Vec::new();
    for (index, &id) in vocab.ids().iter().enumerate() {
        let token = vocab.token_at(index);
        if token.len() == 1 {
            continue;
        }
        if let Some([left, right]) = rules.parts(rules.symbol(index)) {
            merges.push((rules.id(left), rules.id(right)));
            continue;
        }
        check(vocab, token)?;
        let mut parts: Vec<_> = token.iter().map(|&byte| u32::from(byte)).collect();
        let limit = FIRST + merges.len() as u32;
        naive::merge(rules, limit, &mut naive::Buffers::default(), &mut parts);
        let [left, right] = *parts.as_slice() else {
            let shown = String::from_utf8_lossy(token);
            let what = format!("no merge of two tokens makes {shown:?} (id {id}): it is left in {} parts", parts.len());
            return Err(
                Error::new(Kind::Format, what).remedy("keep the ranks: save as tiktoken or as the native format")
            );
        };
        merges.push((rules.id(left), rules.id(right)));
    }
    Ok(merges)
}
