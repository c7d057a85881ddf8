//! Long text in other units than UTF-8: encoded block by block, so that its UTF-8 is never in memory as a whole.
//!
//! A block of UTF-8 is made behind what is left of the one before, and encoded up to its last cut. A text without cuts is encoded
//! as a whole.

use super::Tokenizer;
use super::encode_stream::EncodeStream;
use crate::encode::{Count, Encoder, Sink};
use crate::error::{Error, Result};
use crate::segment::Policy;
use crate::units::Units;

/// A block, in characters.
const BLOCK: usize = 1 << 18;

/// A cut is looked for in so many bytes at the end of a block: where there is none, a block twice as long is tried.
const NEAR: usize = 1 << 16;

impl Tokenizer {
    /// Encodes a text. Apart from the loops over text that is UTF-8 already.
    #[inline(never)]
    pub(super) fn encode_units<S: Sink>(&self, units: Units, policy: Policy, encoder: &mut Encoder<S>) -> Result<()> {
        self.encode_in_blocks(units, policy, encoder, BLOCK)
    }

    /// The same with blocks of so many characters.
    pub(super) fn encode_in_blocks<S: Sink>(
        &self,
        units: Units,
        policy: Policy,
        encoder: &mut Encoder<S>,
        block: usize,
    ) -> Result<()> {
        let characters = units.characters();
        let segmenter = self.segmenter();
        let done = if characters <= 2 * block {
            units.text().and_then(|text| segmenter.walk(&text, policy, encoder))
        } else {
            let mut encode = |text: &str, is_first: bool| {
                if is_first { segmenter.walk(text, policy, encoder) } else { segmenter.walk_on(text, policy, encoder) }
            };
            let mut stream = EncodeStream::default();
            (0..characters)
                .step_by(block)
                .try_for_each(|start| {
                    let range = start..characters.min(start + block);
                    stream.push_units(self, policy, (units, range), NEAR, &mut encode)
                })
                .and_then(|()| stream.encode_rest(&mut encode))
        };
        done.map_err(|error| self.first_fault(units, policy, error))
    }

    /// The first error of a text of which one is known: what comes before a unit that is no character may be at fault as well.
    pub(super) fn first_fault(&self, units: Units, policy: Policy, error: Error) -> Error {
        let Some(end) = error.character.filter(|&character| !units.is_character(character)) else { return error };
        let mut text = String::new();
        let before = units.append(0..end, &mut text).and_then(|()| self.encode(&text, policy, &mut Count::default()));
        before.err().unwrap_or(error)
    }
}
