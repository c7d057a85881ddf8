//! The tokens that end at a place of a text: what `Beginnings` are from the other side, for texts that grow.

use crate::vocab::tokens::{Tokens, extended_left, three};

/// How far back tokens begin that end with certain bytes.
pub(crate) struct Endings {
    /// The length of the longest token that ends with three bytes, by their hash; all ones for what is longer.
    reach: Vec<u8>,
}

impl Endings {
    /// Goes through all tokens once.
    pub(super) fn new(tokens: &Tokens) -> Self {
        let mut reach = vec![2; 1 << 16];
        for index in 0..tokens.ids().len() {
            let token = tokens.bytes_at(index);
            if let [.., a, b, c] = *token {
                let reach: &mut u8 = &mut reach[three(a, b, c)];
                *reach = u8::try_from(token.len()).unwrap_or(u8::MAX).max(*reach);
            }
        }
        Self { reach }
    }

    /// Replaces `found` by the lengths of the tokens that may end `text`, and their hashes, the shortest first.
    ///
    /// Time: the length of the longest token that ends with the same three bytes.
    #[inline]
    pub(crate) fn look(&self, tokens: &Tokens, text: &[u8], found: &mut Vec<(u32, u64)>) {
        let reach = match *text {
            [.., a, b, c] => match self.reach[three(a, b, c)] {
                u8::MAX => tokens.longest(),
                reach => usize::from(reach),
            },
            _ => text.len(),
        };
        found.clear();
        let mut hash = 0;
        for (length, &byte) in (1..).zip(text.iter().rev().take(reach)) {
            hash = extended_left(hash, byte);
            if tokens.may_hold(hash) {
                found.push((length, hash));
            }
        }
    }
}
