//! The first token and the number of ids of every suffix of a piece that grows at its front: `prefixes`, mirrored.
//!
//! The first token of a suffix is the one token that begins there and fits the first token of the suffix behind it (`fit`),
//! in every vocabulary. No entry changes when the piece grows.
//!
//! Its weakness: eight bytes of memory for each byte of the piece.

use crate::error::Result;
use crate::interrupt;
use crate::memory::Room;
use crate::merge::{FitBuffers, fit};
use crate::stored;
use crate::vocab::{Candidates, NO_ID, NONE, Vocab};

/// So many suffixes, and it is asked whether they are still wanted.
const LOOKS: usize = 1024;

/// Buffers kept between suffixes.
#[derive(Default)]
pub(crate) struct Buffers {
    beginnings: Candidates,
    fitting: FitBuffers,
}

/// The symbol of the first token of `bytes`, and how many ids they have; `rest` is the same of the last so many of them, and
/// [`NONE`] and 0 of none. None where no token is found, or `rest` is not known.
pub(crate) fn first_token(
    vocab: &Vocab,
    bytes: &[u8],
    rest: impl Fn(usize) -> Option<(u32, u32)>,
    buffers: &mut Buffers,
) -> Option<(u32, u32)> {
    let (tokens, rules) = (vocab.tokens(), vocab.rules());
    let Buffers { beginnings, fitting } = buffers;
    tokens.look(bytes, beginnings);
    let mut below = usize::MAX;
    loop {
        let length = beginnings.longest_below(below)?;
        below = length;
        let index = tokens.beginning(bytes, length, beginnings);
        let symbol = index.map_or(NONE, |index| rules.symbol(index as usize));
        if symbol == NONE {
            continue;
        }
        let (next, count) = rest(bytes.len() - length)?;
        let fits = if next == NONE { fit(vocab, NONE, symbol, fitting) } else { fit(vocab, symbol, next, fitting) };
        if fits {
            return Some((symbol, count + vocab.ids_of_symbol(symbol)));
        }
    }
}

/// The suffixes of one piece, the empty one not among them.
#[derive(Default)]
pub(crate) struct Suffixes {
    /// For the suffix of `i + 1` bytes: the symbol of its first token, and the number of its ids.
    rows: Vec<(u32, u32)>,
    buffers: Buffers,
}

impl Suffixes {
    /// The bytes at the end of the piece that are known.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The number of ids of a suffix, as merging makes them.
    pub(crate) fn count(&self, length: usize) -> u32 {
        self.row(length).1
    }

    fn row(&self, length: usize) -> (u32, u32) {
        length.checked_sub(1).map_or((NONE, 0), |last| self.rows[last])
    }

    /// Forgets suffixes of more bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.rows.truncate(length);
    }

    /// Extends to the start of `piece`, which ends with the known text, or to behind the last byte that has no token.
    ///
    /// # Errors
    /// `Interrupted`, `Memory`; it can then go on from what is known. `Format`, if somebody tampered with stored tables.
    pub(crate) fn extend(&mut self, vocab: &Vocab, piece: &[u8]) -> Result<()> {
        let new = piece.len().saturating_sub(self.len());
        let lacks = |&byte: &u8| vocab.byte_id(byte) == NO_ID;
        let fault = if vocab.rules().lacks_bytes() { piece[..new].iter().rposition(lacks) } else { None };
        let end = fault.map_or(0, |at| at + 1);
        self.rows.room(new - end)?;
        let mut buffers = std::mem::take(&mut self.buffers);
        let mut extended = Ok(());
        for start in (end..new).rev() {
            if start.is_multiple_of(LOOKS) {
                extended = interrupt::check();
            }
            let row = first_token(vocab, &piece[start..], |length| Some(self.row(length)), &mut buffers);
            // A byte that has a token is the last resort.
            extended = extended.and(row.ok_or_else(stored::damaged).map(|row| self.rows.push(row)));
            if extended.is_err() {
                break;
            }
        }
        self.buffers = buffers;
        extended
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::merge::{Merger, Scratch};
    use crate::vocab::Semantics;

    #[test]
    fn each_suffix_has_the_tokens_that_it_has_alone() {
        let tokens: [&[u8]; 9] = [b"a", b"b", b"c", b"ab", b"bc", b"aa", b"abab", b"abc", b"aaaa"];
        let vocab = Vocab::new(&tokens, &[0, 1, 2, 3, 4, 5, 6, 7, 8], Semantics::Ranks).unwrap();
        let mut seed = 7_u64;
        for _ in 0..300 {
            let (mut piece, mut suffixes) = (Vec::new(), Suffixes::default());
            while piece.len() < 40 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if seed >> 61 == 0 {
                    piece.drain(..piece.len() / 2);
                    suffixes.truncate(piece.len());
                }
                piece.insert(0, b"abc"[(seed >> 33) as usize % 3]);
                suffixes.extend(&vocab, &piece).unwrap();
                let mut ids = Vec::new();
                Merger::Heap.merge(&vocab, &piece, &mut Scratch::default(), &mut ids).unwrap();
                assert_eq!(suffixes.count(piece.len()) as usize, ids.len(), "{piece:?}");
                assert_eq!(vocab.rules().id(suffixes.row(piece.len()).0), ids[0]);
            }
        }
    }

    #[test]
    fn nothing_before_a_byte_without_a_token_is_known() {
        let vocab = Vocab::new(&[b"a", b"b"], &[0, 1], Semantics::Ranks).unwrap();
        let mut suffixes = Suffixes::default();
        suffixes.extend(&vocab, b"acaba").unwrap();
        assert_eq!((suffixes.len(), suffixes.count(3)), (3, 3));
    }
}
