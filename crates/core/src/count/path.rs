//! Counts of the intervals of one piece, for proper vocabularies, where text cannot be cut.
//!
//! The encodings of all prefixes of a piece are paths in a tree: the parent of a prefix is the one without its last token
//! (`merge::prefixes`). An interval is encoded from its start on, but only until its last token is also the last token of
//! the prefix that ends there, and that prefix is on the path of the interval's end. From there on the tokens are those
//! of the path: all neighbours fit, and so it is the encoding (`vocab::rules`). That mostly takes a few tokens.
//!
//! Source: the README of the crate `bpe` (rust-gems), its interval encoding.

use crate::error::Result;
use crate::interrupt::Checks;
use crate::memory::Room;
use crate::merge::{self, Prefixes, Scratch};
use crate::vocab::{Candidates, NONE, Vocab};

/// The bytes that are encoded first, and how many times more are if that was in vain.
const FIRST: usize = 16;
const MORE: usize = 4;

/// A piece whose intervals can be counted. Memory: 16 bytes for each byte.
pub(super) struct Path {
    prefixes: Prefixes,
    /// By the length of a prefix: its number when the tree is walked from the root, and the first number that is not below
    /// it.
    walked: Vec<(u32, u32)>,
}

impl Path {
    /// Goes through a piece once.
    ///
    /// # Errors
    /// `Encode`, with the position in the piece, if a byte has no token.
    pub(super) fn new(vocab: &Vocab, piece: &[u8]) -> Result<Self> {
        let mut prefixes = Prefixes::default();
        prefixes.extend(vocab, piece, &mut Candidates::default())?;
        let parent = |length: usize| length - prefixes.last_token(vocab, length).len();
        let (mut walked, mut checks) = (Vec::new(), Checks::default());
        walked.room(piece.len() + 1)?;
        walked.resize(piece.len() + 1, (0, 1));
        for length in (1..=piece.len()).rev() {
            checks.check()?;
            walked[parent(length)].1 += walked[length].1;
        }
        // Now the second is the size of the subtree; it becomes the place of the next child, and then the end.
        let size = walked[0].1;
        walked[0] = (0, 1);
        let mut ends = vec![size];
        ends.room(piece.len())?;
        for length in 1..=piece.len() {
            checks.check()?;
            let (above, below) = (parent(length), walked[length].1);
            let number = walked[above].1;
            walked[above].1 += below;
            walked[length] = (number, number + 1);
            ends.push(number + below);
        }
        for (walked, end) in walked.iter_mut().zip(ends) {
            walked.1 = end;
        }
        Ok(Self { prefixes, walked })
    }

    /// The number of tokens of an interval that is merged by itself.
    pub(super) fn count(&self, vocab: &Vocab, interval: &[u8], start: usize, buffers: &mut Buffers) -> Result<u64> {
        let end = start + interval.len();
        let mut length = FIRST;
        loop {
            let part = &interval[..length.min(interval.len())];
            buffers.ids.clear();
            merge::encode(vocab, part, &mut buffers.scratch, &mut buffers.ids)?;
            if part.len() == interval.len() {
                return Ok(buffers.ids.len() as u64);
            }
            let mut at = start;
            for (before, &id) in (1..).zip(&buffers.ids) {
                at += vocab.length_of_id(id);
                if self.prefixes.last(at) == vocab.symbol_of(id).unwrap_or(NONE) && self.is_on_path(at, end) {
                    return Ok(before + u64::from(self.prefixes.count(end) - self.prefixes.count(at)));
                }
            }
            length *= MORE;
        }
    }

    /// Whether the encoding of a prefix begins with that of another.
    fn is_on_path(&self, shorter: usize, longer: usize) -> bool {
        let (number, end) = self.walked[shorter];
        (number..end).contains(&self.walked[longer].0)
    }

    /// The bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.prefixes.bytes() + size_of_val(&*self.walked)
    }
}

/// Buffers.
#[derive(Default)]
pub(super) struct Buffers {
    scratch: Scratch,
    ids: Vec<u32>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::vocab::Semantics;

    #[test]
    fn intervals_are_counted_as_they_are_merged() {
        let tokens: [&[u8]; 9] = [b"a", b"b", b"c", b"ab", b"bc", b"aa", b"abab", b"abc", b"aaaa"];
        let vocab = Vocab::new(&tokens, &[0, 1, 2, 3, 4, 5, 6, 7, 8], Semantics::Ranks).unwrap();
        let (mut seed, mut buffers) = (7_u64, Buffers::default());
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        for letters in [1, 2, 3] {
            let piece: Vec<u8> = (0..400).map(|_| b"abc"[random(letters)]).collect();
            let path = Path::new(&vocab, &piece).unwrap();
            for _ in 0..3000 {
                let start = random(401);
                let interval = &piece[start..start + random(401 - start)];
                let mut ids = Vec::new();
                merge::encode(&vocab, interval, &mut Scratch::default(), &mut ids).unwrap();
                assert_eq!(path.count(&vocab, interval, start, &mut buffers).unwrap(), ids.len() as u64);
            }
        }
    }
}
