//! Long text in other units than UTF-8: encoded block by block, so that its UTF-8 is never in memory as a whole.
//!
//! A block of UTF-8 is made behind what is left of the one before, and encoded up to its last cut, by all threads of the call. A
//! text without cuts is encoded as a whole.

use super::batch::{Batch, Gather, Run};
use super::encode_stream::{EncodeStream, walk};
use super::{Span, Tokenizer};
use crate::error::Result;
use crate::segment::Policy;
use crate::units::Units;

/// A block, in characters for each thread.
const BLOCK: usize = 1 << 18;

/// A cut is looked for in so many bytes at the end of a block: where there is none, a block twice as long is tried.
const NEAR: usize = 1 << 16;

impl Tokenizer {
    /// The ids of a text, as [`Tokenizer::encode_whole`].
    pub(super) fn encode_units<S: Gather>(&self, units: Units, policy: Policy, run: Run) -> Result<S> {
        self.encode_in_blocks(units, policy, run, BLOCK * run.threads(units.characters(), 1))
    }

    /// The same with blocks of so many characters.
    pub(super) fn encode_in_blocks<S: Gather>(
        &self,
        units: Units,
        policy: Policy,
        run: Run,
        block: usize,
    ) -> Result<S> {
        let characters = units.characters();
        if characters <= 2 * block {
            return self.encode_whole(&[Span::Text(&units.text()?)], policy, run);
        }
        let mut sink = S::default();
        let mut encode = |text: &str, is_first: bool| {
            if is_first {
                // As if all blocks were alike.
                sink.expect(text.len().saturating_mul(characters.div_ceil(block)));
            }
            self.encode_block(text, is_first, policy, run, &mut sink)
        };
        let mut stream = EncodeStream::default();
        let mut start = 0;
        while start < characters {
            let end = characters.min(start + block);
            stream.push_units(self, policy, (units, start..end), NEAR, &mut encode)?;
            start = end;
        }
        stream.encode_rest(&mut encode)?;
        Ok(sink)
    }

    /// Encodes a text that begins at a cut, if it is not the first, and ends at one.
    fn encode_block<S: Gather>(
        &self,
        text: &str,
        is_first: bool,
        policy: Policy,
        run: Run,
        sink: &mut S,
    ) -> Result<()> {
        // Where several threads can encode a text, no stage minds whether it is the first.
        if run.threads(text.len(), 1) > 1 && self.segmenter().steps().keep_text() {
            let block = Batch::of_single(vec![Span::Text(text)]);
            let mut ids: S =
                self.gather(&block, policy, run).map_err(|error| error.but(|error| error.row = None))?.sink;
            return sink.absorb(&mut ids);
        }
        walk(self, policy, text, is_first, run.stop, sink)
    }
}
