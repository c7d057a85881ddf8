//! Long text in other units than UTF-8: encoded block by block, so that its UTF-8 is never in memory as a whole.
//!
//! A block of UTF-8 is made behind what is left of the one before, and encoded up to its last cut. A text without cuts is encoded
//! as a whole.

use super::Tokenizer;
use super::encode_stream::EncodeStream;
use crate::encode::{Encoder, Sink};
use crate::error::Result;
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
        // A unit that is no character is found before all else, wherever it is.
        done.map_err(|error| {
            let ends = error.kind.ends_the_call() || units.are_characters();
            if ends { error } else { units.text().err().unwrap_or(error) }
        })
    }
}
