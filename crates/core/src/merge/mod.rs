//! Piece -> ids. One algorithm a file, all with the same result: the lowest-ranked pair merges first, of equal ones the
//! leftmost, until no pair is left.

mod heap;
mod naive;

use crate::error::{Error, Kind, Result};
use crate::vocab::{NO_ID, Vocab};

/// Longer pieces, in bytes, go to the heap. The two are equally fast at about 40 bytes of multilingual text and at about
/// 110 of English: measured, see docs/performance.md.
const SCAN_UP_TO: usize = 64;

/// The algorithms by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merger {
    /// Scan all pairs for the lowest rank, merge, again: quadratic, and the fastest on short pieces.
    Naive,
    /// A heap of pairs over a linked list: n log n on every input and every vocabulary.
    Heap,
}

/// Buffers that a caller keeps between pieces, so that merging allocates nothing.
#[derive(Default)]
pub struct Scratch {
    naive: naive::Buffers,
    heap: heap::Buffers,
}

impl Merger {
    /// The algorithm that is fastest for a piece of this many bytes.
    #[must_use]
    pub fn for_length(bytes: usize) -> Self {
        if bytes <= SCAN_UP_TO { Self::Naive } else { Self::Heap }
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
        if u32::try_from(piece.len()).is_err() {
            return Err(Error::new(Kind::Encode, "a piece is longer than 4 GiB").remedy("use a split pattern").at(0));
        }
        match self {
            Self::Naive => naive::merge(vocab, piece, naive::NO_RANK, &mut scratch.naive, ids),
            Self::Heap => heap::merge(vocab, piece, &mut scratch.heap, ids),
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
    let mut buffers = naive::Buffers::default();
    let mut parts = Vec::new();
    let mut merges = Vec::new();
    for &id in vocab.ids() {
        let token = vocab.token_bytes(id).unwrap_or_default();
        if token.len() == 1 {
            continue;
        }
        parts.clear();
        naive::merge(vocab, token, id, &mut buffers, &mut parts)?;
        let [left, right] = *parts.as_slice() else {
            let shown = String::from_utf8_lossy(token);
            let what = format!("no merge of two tokens makes {shown:?} (id {id}): it is left in {} parts", parts.len());
            return Err(
                Error::new(Kind::Format, what).remedy("keep the ranks: save as tiktoken or as the native format")
            );
        };
        merges.push((left, right));
    }
    Ok(merges)
}

/// The id of each byte of a piece: where merging starts.
fn byte_ids<'a>(vocab: &'a Vocab, piece: &'a [u8]) -> impl Iterator<Item = Result<u32>> + 'a {
    piece.iter().enumerate().map(|(at, &byte)| match vocab.byte_id(byte) {
        NO_ID => {
            let error = Error::new(Kind::Encode, format!("byte 0x{byte:02X} has no token in this vocabulary"));
            Err(error.remedy("use a vocabulary that holds all 256 bytes, or remove the character").at(at))
        }
        id => Ok(id),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::vocab::Semantics;

    fn all_ways(vocab: &Vocab, piece: &[u8]) -> Vec<u32> {
        let mut scratch = Scratch::default();
        let mut naive = Vec::new();
        Merger::Naive.merge(vocab, piece, &mut scratch, &mut naive).unwrap();
        let mut heap = Vec::new();
        Merger::Heap.merge(vocab, piece, &mut scratch, &mut heap).unwrap();
        assert_eq!(naive, heap, "{piece:?}");
        naive
    }

    #[test]
    fn the_example_of_the_bpe_crate() {
        let tokens: [&[u8]; 9] = [b"a", b"b", b"c", b"ab", b"cb", b"ac", b"bb", b"cbb", b"acbb"];
        let vocab = Vocab::new(&tokens, &[0, 1, 2, 3, 4, 5, 6, 7, 8], Semantics::Ranks).unwrap();
        assert_eq!(all_ways(&vocab, b"abacb"), [3, 0, 4]);
        assert_eq!(all_ways(&vocab, b"abacbb"), [3, 8]);
        let last = |piece: &[u8]| *all_ways(&vocab, piece).last().unwrap();
        assert_eq!((1..=6).map(|end| last(&b"abacbb"[..end])).collect::<Vec<_>>(), [0, 3, 0, 5, 4, 8]);
    }

    #[test]
    fn naive_and_heap_agree_on_every_short_piece_of_two_letters() {
        let tokens: [&[u8]; 8] = [b"a", b"b", b"aa", b"ba", b"aab", b"bb", b"baa", b"aaaa"];
        let ids = [0, 1, 2, 3, 4, 5, 6, 7];
        let merges = vec![(0, 0), (1, 0), (2, 1), (1, 1), (3, 0), (2, 2)];
        for semantics in [Semantics::Ranks, Semantics::Merges { pairs: merges, ignore_merges: false }] {
            let vocab = Vocab::new(&tokens, &ids, semantics).unwrap();
            for length in 0..=12 {
                for bits in 0..1_u32 << length {
                    let piece: Vec<u8> = (0..length).map(|i| b'a' + (bits >> i & 1) as u8).collect();
                    let joined: Vec<u8> = all_ways(&vocab, &piece)
                        .iter()
                        .flat_map(|&id| vocab.token_bytes(id).unwrap())
                        .copied()
                        .collect();
                    assert_eq!(joined, piece);
                }
            }
        }
    }

    #[test]
    fn a_byte_without_a_token_is_placed() {
        let vocab = Vocab::new(&[b"a"], &[0], Semantics::Ranks).unwrap();
        for merger in [Merger::Naive, Merger::Heap] {
            let error = merger.merge(&vocab, b"aab", &mut Scratch::default(), &mut Vec::new()).unwrap_err();
            assert_eq!((error.kind, error.byte), (Kind::Encode, Some(2)));
        }
    }
}
