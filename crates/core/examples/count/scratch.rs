//! The expected results, by encoding from scratch.

use bytepair_core::count::{Fit, Side};
use bytepair_core::encode::Count;
use bytepair_core::segment::Policy;
use bytepair_core::{Result, Tokenizer};

/// So many characters beyond a part that fits none may fit, fewer if the part is long: so many bytes are encoded for that.
/// Longer parts are left to the tests.
const BEYOND: usize = 200;
const ENCODED: usize = 1 << 20;

/// The number of ids of a text.
pub(crate) fn count(tokenizer: &Tokenizer, text: &str) -> Result<u64> {
    let mut count = Count::default();
    tokenizer.encode(text, Policy::default(), &mut count)?;
    Ok(count.0)
}

/// Whether a part of a text has as many ids as it says, at most `limit`, and no part that is a little longer fits.
pub(crate) fn is_longest(tokenizer: &Tokenizer, text: &str, fit: Fit, limit: u64, side: Side) -> Result<bool> {
    let part = |at: usize| if side == Side::Left { &text[..at] } else { &text[at..] };
    if fit.tokens > limit || count(tokenizer, part(fit.at))? != fit.tokens {
        return Ok(false);
    }
    let beyond = BEYOND.min(ENCODED / part(fit.at).len().max(1) + 1);
    let longer: Vec<usize> = match side {
        Side::Left => text[fit.at..]
            .char_indices()
            .map(|(at, character)| fit.at + at + character.len_utf8())
            .take(beyond)
            .collect(),
        Side::Right => text[..fit.at].char_indices().map(|(at, _)| at).rev().take(beyond).collect(),
    };
    for at in longer {
        if count(tokenizer, part(at))? <= limit {
            return Ok(false);
        }
    }
    Ok(true)
}
