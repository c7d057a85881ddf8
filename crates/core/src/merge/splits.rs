//! Between which characters a long piece can be taken apart.
//!
//! If no token has two characters beside each other, no merge goes across the edge between them, in no piece; so the ids of
//! both sides are those that merging makes of each side alone. A side alone could still be taken whole as a token that
//! merging does not make. Then it ends, or begins, as that token does: the characters at the ends of these are known.

use crate::merge::{FitBuffers, fit};
use crate::vocab::{Adjacent, NO_ID, NONE, Splits, Vocab};

impl Vocab {
    /// Whether the place between two characters is an edge of tokens in every piece that has it, the ids of both sides
    /// being those of each side as a piece of its own. Where it says no, it may still be one.
    ///
    /// Time: that of a few look-ups. The first call reads all tokens, and encodes them if the vocabulary is not proper.
    #[inline]
    pub(crate) fn splits_between(&self, left: char, right: char) -> bool {
        self.splits_or(make).are_apart(left, right)
    }
}

#[cold]
fn make(vocab: &Vocab) -> Splits {
    let tokens = (0..vocab.len()).map(|index| vocab.token_at(index));
    let adjacent = Adjacent::new(tokens, vocab.all_bytes().len());
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    if vocab.takes_all_whole() {
        let mut buffers = FitBuffers::default();
        for index in 0..vocab.len() {
            let token = vocab.token_at(index);
            let symbol = vocab.rules().symbol(index);
            let is_spelled = || token.iter().all(|&byte| vocab.byte_id(byte) != NO_ID);
            if symbol != NONE && is_spelled() && fit(vocab, NONE, symbol, &mut buffers) {
                continue;
            }
            // Others are no piece of text.
            if let Ok(token) = std::str::from_utf8(token) {
                begins.extend(token.chars().next());
                ends.extend(token.chars().next_back());
            }
        }
    }
    Splits::new(adjacent, begins, ends)
}
