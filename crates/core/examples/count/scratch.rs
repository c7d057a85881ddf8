//! What results have to be: found by encoding from scratch.

use bytepair_core::count::{Fit, Side};
use bytepair_core::encode::Count;
use bytepair_core::segment::Policy;
use bytepair_core::{Result, Tokenizer};

/// So many characters beyond a part that fits none may fit. Longer parts are left to the tests.
const BEYOND: usize = 200;

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
    let mut longer: Vec<usize> = match side {
        Side::Left => text[fit.at..].char_indices().map(|(at, _)| fit.at + at).skip(1).take(BEYOND).collect(),
        Side::Right => text[..fit.at].char_indices().map(|(at, _)| at).rev().take(BEYOND).collect(),
    };
    if side == Side::Left && longer.len() < BEYOND && fit.at < text.len() {
        longer.push(text.len());
    }
    for at in longer {
        if count(tokenizer, part(at))? <= limit {
            return Ok(false);
        }
    }
    Ok(true)
}
