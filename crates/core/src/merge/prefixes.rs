//! The last token and the number of ids of every prefix of a growing piece.
//!
//! The table of `table`, extended by one byte at a time: the last token of a prefix is the one token that ends there and
//! fits the last token of the prefix before it (`fit`), in every vocabulary. No entry changes when the piece grows.
//!
//! Its weakness: eight bytes of memory for each byte of the piece; and where the vocabulary is not proper, whether two
//! fit takes merging them once.
//!
//! Source: the README of the crate `bpe` (rust-gems), its appending encoder; there an automaton over reversed tokens finds
//! the tokens that end at a place, here hashes do.

use crate::error::Result;
use crate::interrupt;
use crate::memory::Room;
use crate::merge::{FitBuffers, check, fit};
use crate::stored;
use crate::vocab::{Candidates, NONE, Rolling, Vocab};

/// So many prefixes, and it is asked whether they are still wanted.
const LOOKS: usize = 1024;

/// The prefixes of one piece, the empty one not among them.
#[derive(Default)]
pub(crate) struct Prefixes {
    /// For the prefix of `i + 1` bytes: the symbol of its last token, and the number of its ids.
    rows: Vec<(u32, u32)>,
    /// Where the last token starts, as long as nothing was forgotten, and its bytes.
    open: Option<(usize, Rolling)>,
    buffers: FitBuffers,
}

impl Prefixes {
    /// The bytes of the piece that are known.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The number of ids of a prefix, as merging makes them.
    #[inline]
    pub(crate) fn count(&self, length: usize) -> u32 {
        length.checked_sub(1).map_or(0, |last| self.rows[last].1)
    }

    /// The symbol of the last token of a prefix; [`NONE`] of the empty one.
    #[inline]
    pub(crate) fn last(&self, length: usize) -> u32 {
        length.checked_sub(1).map_or(NONE, |last| self.rows[last].0)
    }

    /// The last token of a prefix, which is not empty.
    pub(crate) fn last_token<'v>(&self, vocab: &'v Vocab, length: usize) -> &'v [u8] {
        vocab.token_bytes(vocab.rules().id(self.last(length))).unwrap_or_default()
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.rows)
    }

    /// Truncates to a number of bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        if length < self.rows.len() {
            self.rows.truncate(length);
            self.open = None;
        }
    }

    /// Extends to the end of `piece`, which begins with the known text. `candidates` is a buffer.
    ///
    /// # Errors
    /// `Encode`, with the position in the piece, if one of its bytes has no token; the text before it is then known.
    /// `Interrupted`, `Memory`; it can then go on from what is known. `Format`, if somebody tampered with stored tables.
    pub(crate) fn extend(&mut self, vocab: &Vocab, piece: &[u8], candidates: &mut Candidates) -> Result<()> {
        let known = self.len();
        let checked = check(vocab, &piece[known..]).map_err(|error| error.shifted(known));
        let good = checked.as_ref().err().and_then(|error| error.byte).unwrap_or(piece.len());
        let (tokens, rules, endings) = (vocab.tokens(), vocab.rules(), vocab.endings());
        self.rows.room(good.saturating_sub(known))?;
        let mut buffers = std::mem::take(&mut self.buffers);
        for end in known + 1..=good {
            if end.is_multiple_of(LOOKS)
                && let Err(error) = interrupt::check()
            {
                self.buffers = buffers;
                return Err(error);
            }
            let prefix = &piece[..end];
            let mut made = |start: usize, symbol: u32| {
                let fits = symbol != NONE && fit(vocab, self.last(start), symbol, &mut buffers);
                fits.then(|| (symbol, self.count(start) + vocab.ids_of_symbol(symbol)))
            };
            // Most often the last token goes on.
            let longer = self.open.map(|(start, token)| (start, token.pushed(piece[end - 1])));
            let found = longer.and_then(|(start, token)| {
                let index = tokens.find_rolling(&token, &prefix[start..])?;
                made(start, rules.symbol(index as usize)).map(|row| (row, start, token))
            });
            let found = found.or_else(|| {
                endings.look(tokens, prefix, candidates);
                let mut below = usize::MAX;
                loop {
                    let length = candidates.longest_below(below)?;
                    below = length;
                    let start = end - length;
                    let index = tokens.ending(prefix, length, candidates);
                    let row = index.and_then(|index| made(start, rules.symbol(index as usize)));
                    if let Some(row) = row {
                        break Some((row, start, Rolling::of(&prefix[start..])));
                    }
                }
            });
            // A byte that has a token is the last resort, so that there always is one, unless somebody tampered with stored
            // tables.
            let Some((row, start, token)) = found else {
                self.buffers = buffers;
                return Err(stored::damaged());
            };
            self.rows.push(row);
            self.open = Some((start, token));
        }
        self.buffers = buffers;
        checked
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::merge::{Merger, Scratch};
    use crate::vocab::Semantics;

    #[test]
    fn each_prefix_has_the_tokens_that_it_has_alone() {
        let tokens: [&[u8]; 9] = [b"a", b"b", b"c", b"ab", b"bc", b"aa", b"abab", b"abc", b"aaaa"];
        let vocab = Vocab::new(&tokens, &[0, 1, 2, 3, 4, 5, 6, 7, 8], Semantics::Ranks).unwrap();
        assert!(vocab.is_proper());
        let mut seed = 5_u64;
        for _ in 0..300 {
            let mut piece = Vec::new();
            let mut prefixes = Prefixes::default();
            while piece.len() < 40 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if seed >> 61 == 0 {
                    piece.truncate(piece.len() / 2);
                    prefixes.truncate(piece.len());
                }
                piece.push(b"abc"[(seed >> 33) as usize % 3]);
                prefixes.extend(&vocab, &piece, &mut Candidates::default()).unwrap();
                let mut ids = Vec::new();
                Merger::Heap.merge(&vocab, &piece, &mut Scratch::default(), &mut ids).unwrap();
                assert_eq!(prefixes.count(piece.len()) as usize, ids.len(), "{piece:?}");
                assert_eq!(vocab.rules().id(prefixes.last(piece.len())), *ids.last().unwrap());
            }
        }
    }

    #[test]
    fn a_byte_without_a_token_is_named() {
        let vocab = Vocab::new(&[b"a", b"b"], &[0, 1], Semantics::Ranks).unwrap();
        let mut prefixes = Prefixes::default();
        assert_eq!(prefixes.extend(&vocab, b"abca", &mut Candidates::default()).unwrap_err().byte, Some(2));
        assert_eq!(prefixes.len(), 2);
    }
}
