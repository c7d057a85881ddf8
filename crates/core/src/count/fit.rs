//! The longest prefix or suffix of a text that has at most so many ids.

use crate::count::cuts::Cuts;
use crate::encode::Count;
use crate::error::Result;
use crate::pipeline::Tokenizer;
use crate::segment::Policy;

/// Which end of a text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Its start.
    Left,
    /// Its end.
    Right,
}

/// What of a text fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Where it is cut.
    pub at: usize,
    /// The ids of the part that is kept.
    pub tokens: u64,
    /// Whether no text that goes on from this one has more of it that fits.
    pub decided: bool,
}

impl Tokenizer {
    /// The longest prefix, or suffix, that is cut at a character and has at most `limit` ids.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn fit(&self, text: &str, policy: Policy, limit: u64, side: Side) -> Result<Fit> {
        let count = |text: &str| {
            let mut count = Count::default();
            self.encode(text, policy, &mut count).map(|()| count.0)
        };
        let cuts = Cuts::new(self, policy);
        if side == Side::Right {
            for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
                let tokens = count(&text[at..])?;
                if tokens <= limit {
                    return Ok(Fit { at, tokens, decided: at > 0 });
                }
            }
        }
        let (mut start, mut counted, mut end, mut decided) = (0, 0, text.len(), false);
        while let Some(cut) = cuts.as_ref().and_then(|cuts| cuts.first(text, start..text.len())) {
            let tokens = counted + count(&text[start..cut])?;
            if tokens > limit {
                (end, decided) = (cut, true);
                break;
            }
            (start, counted) = (cut, tokens);
        }
        for at in (start..=end).rev().filter(|&at| text.is_char_boundary(at)) {
            let tokens = counted + count(&text[start..at])?;
            if tokens <= limit {
                return Ok(Fit { at, tokens, decided });
            }
        }
        Ok(Fit { at: start, tokens: counted, decided })
    }
}
