//! The tokens that end at a place of a growing text.

use crate::vocab::hashes::three;
use crate::vocab::tokens::{Candidates, Tokens};

/// The length of the longest token with a given ending.
pub(crate) struct Endings {
    /// The length of the longest token that ends with three bytes, by their hash; saturated at all ones.
    reach: Vec<u8>,
}

impl Endings {
    /// Reads all tokens once.
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

    /// Finds the tokens that may end `text`.
    ///
    /// Time: the length of the longest token that ends with the same three bytes.
    #[inline]
    pub(crate) fn look(&self, tokens: &Tokens, text: &[u8], endings: &mut Candidates) {
        let reach = match *text {
            [.., a, b, c] => match self.reach[three(a, b, c)] {
                u8::MAX => tokens.longest(),
                reach => usize::from(reach),
            },
            _ => text.len(),
        };
        tokens.look_back(text, reach, endings);
    }
}
