//! Pieces in the tokens of an existing tokenizer: to extend it by learning, and to count the uses of its tokens.

use crate::error::Result;
use crate::memory;
use crate::merge::{self, Scratch};
use crate::pipeline::Tokenizer;
use crate::train::counts::PieceCounts;
use crate::train::{Progress, overflow};

/// The bytes of each symbol: of the model's tokens in the order of their ids.
pub(super) fn symbols(tokenizer: &Tokenizer) -> Vec<Vec<u8>> {
    let vocab = tokenizer.vocab();
    (0..vocab.len()).map(|symbol| vocab.token_at(symbol).to_vec()).collect()
}

/// How often each token of the model is used in the encoding of the pieces, in the order of their ids.
///
/// # Errors
/// `Encode`, if a byte of a piece has no token; `Training`, if a number of uses does not fit into 64 bits; `Interrupted`.
///
/// ```
/// use bytepair_core::pipeline::{Parts, Tokenizer};
/// use bytepair_core::train::{PieceCounts, Progress, token_uses};
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 7], Semantics::Ranks)?;
/// let parts = Parts::of(vocab);
/// let counts = PieceCounts::of([(&b"abb"[..], 2)])?;
/// assert_eq!(token_uses(&Tokenizer::new(parts)?, &counts, &Progress::default())?, [0, 2, 2]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn token_uses(tokenizer: &Tokenizer, counts: &PieceCounts, progress: &Progress) -> Result<Vec<u64>> {
    let mut uses = memory::filled(0_u64, tokenizer.vocab().len())?;
    let counts = counts.in_memory()?;
    let pieces = counts.rows()?.into_iter().map(|row| (row.piece, row.count));
    each_piece(tokenizer, pieces, |symbols, count| {
        for &symbol in symbols {
            let total = &mut uses[symbol as usize];
            *total = total.checked_add(count).ok_or_else(overflow)?;
        }
        progress.advance(1)
    })?;
    Ok(uses)
}

/// Has `take` see each piece, as the tokenizer encodes it, in symbols, and its count.
pub(super) fn each_piece<'p>(
    tokenizer: &Tokenizer,
    pieces: impl Iterator<Item = (&'p [u8], u64)>,
    mut take: impl FnMut(&[u32], u64) -> Result<()>,
) -> Result<()> {
    let vocab = tokenizer.vocab();
    let (mut scratch, mut symbols) = (Scratch::default(), Vec::new());
    for (piece, count) in pieces {
        symbols.clear();
        match vocab.whole(piece) {
            Some(id) => symbols.push(id),
            // A place inside one of many pieces is of no use to the caller.
            None => merge::encode(vocab, piece, &mut scratch, &mut symbols)
                .map_err(|error| error.but(|error| error.byte = None))?,
        }
        for id in &mut symbols {
            *id = vocab.ids().partition_point(|known| known < id) as u32;
        }
        take(&symbols, count)?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::pipeline::Parts;
    use crate::train::{Alphabet, Settings, Ties, learn};
    use crate::vocab::{Semantics, Vocab};

    #[test]
    fn learning_goes_on_from_tokens_and_makes_none_again() {
        // Its merges do not make `abc` of its bytes.
        let pairs = vec![(3, 5)];
        let tokens: [&[u8]; 5] = [b"a", b"b", b"c", b"bc", b"abc"];
        let vocab = Vocab::new(&tokens, &[1, 3, 5, 7, 9], Semantics::Merges { pairs, ignore_merges: false }).unwrap();
        let parts = Parts::of(vocab);
        let tokenizer = Tokenizer::new(parts).unwrap();
        let counts = PieceCounts::of([(&b"abca"[..], 4), (b"abc", 4)]).unwrap();
        let settings = Settings {
            merges: 9,
            ties: Ties::LowestIds,
            min_frequency: 2,
            max_token_length: usize::MAX,
            max_words: usize::MAX,
        };
        let progress = Progress::default();
        let trained = learn(&counts, &Alphabet::Tokens(&tokenizer), &settings, &[], 1, &progress).unwrap();
        assert_eq!(trained.alphabet, tokens);
        let pairs: Vec<_> = trained.merges.iter().map(|merge| (merge.left, merge.right, merge.count)).collect();
        assert_eq!(pairs, [(3, 0, 4), (0, 5, 4)]);
        let counts = PieceCounts::of([(&b"abd"[..], 1)]).unwrap();
        assert_eq!(token_uses(&tokenizer, &counts, &progress).unwrap_err().byte, None);
    }
}
