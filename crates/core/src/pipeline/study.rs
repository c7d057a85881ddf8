//! A tokenizer's pipeline with one chosen algorithm for its merges: for study, and for checking one by another.

use crate::encode::Sink;
use crate::error::Result;
use crate::merge::{Merger, Scratch};
use crate::pipeline::Tokenizer;
use crate::segment::{Policy, Visit};
use crate::split::added::AddedToken;
use crate::vocab::Vocab;

/// Appends the ids of one piece, as the tokenizer would return them if `merger` did the merging.
///
/// A piece that is a token is taken whole where merging does not decide it, else it is merged as well. Time: that of the
/// algorithm.
///
/// # Errors
/// As [`Merger::merge`].
///
/// ```
/// use bytepair_core::merge::{Merger, Scratch};
/// use bytepair_core::pipeline::study;
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b"b", b"c", b"bc", b"abc"], &[0, 1, 2, 3, 4], Semantics::Ranks)?;
/// let mut ids = Vec::new();
/// study::encode_piece(&vocab, Merger::Backtrack, b"abcb", &mut Scratch::default(), &mut ids)?;
/// assert_eq!(ids, [4, 1]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn encode_piece(
    vocab: &Vocab,
    merger: Merger,
    piece: &[u8],
    scratch: &mut Scratch,
    ids: &mut Vec<u32>,
) -> Result<()> {
    if let Some(id) = vocab.whole_without_merges(piece) {
        merger.check(vocab)?;
        ids.push(id);
        return Ok(());
    }
    merger.merge(vocab, piece, scratch, ids)
}

/// Sends the ids of a text to `sink`: added tokens, normalizers and split as the tokenizer has them, then `merger` for
/// each piece. Time: that of the algorithm on each piece.
///
/// # Errors
/// As [`Tokenizer::encode`], and as [`Merger::check`].
pub fn encode(
    tokenizer: &Tokenizer,
    merger: Merger,
    text: &str,
    policy: Policy,
    scratch: &mut Scratch,
    sink: &mut impl Sink,
) -> Result<()> {
    merger.check(tokenizer.vocab())?;
    let visitor = &mut Pieces { vocab: tokenizer.vocab(), merger, scratch, ids: Vec::new(), sink };
    tokenizer.segmenter().walk(text, policy, visitor)
}

/// Merges each piece into a sink.
struct Pieces<'a, S> {
    vocab: &'a Vocab,
    merger: Merger,
    scratch: &'a mut Scratch,
    /// The ids of one piece.
    ids: Vec<u32>,
    sink: &'a mut S,
}

impl<S: Sink> Visit for Pieces<'_, S> {
    fn piece(&mut self, piece: &str) -> Result<()> {
        self.ids.clear();
        encode_piece(self.vocab, self.merger, piece.as_bytes(), self.scratch, &mut self.ids)?;
        self.sink.take(&self.ids)
    }

    fn added(&mut self, token: &AddedToken, _: &str) -> Result<()> {
        self.sink.take(&[token.id])
    }
}
