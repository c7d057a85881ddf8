//! The blocks of a stretch that stages may change, so that what is remembered of the origins of its bytes stays in a cache, and
//! is never in memory for the whole.

use super::Tokenizer;
use super::cuts::Cuts;
use crate::error::Result;
use crate::model::WordModel;
use crate::pre_tokenize::PreTokenizer;
use crate::segment::{Policy, Steps};
use crate::utf8;

/// Text is located in blocks of so many bytes, so that what is remembered of their origins stays in a cache.
pub(super) const BLOCK: usize = 1 << 14;

/// The extent of a word of [`super::Located`], which says where text may be cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    /// A piece, which pre-tokenizers and, before a model of bytes, patterns make.
    EndWithPieces,
    /// A stretch between added tokens: nothing but patterns cuts it, if anything does, and before a model of characters that
    /// is for speed alone.
    EndWithStretches,
    /// Text is not cut. Pre-tokenizers make words, and patterns cut them for speed: an end of a piece may be either. Or a BPE of
    /// characters leaves those out that it has no token for, and counts places in a piece without them, as `tokenizers` does.
    NotCut,
}

/// The blocks of a stretch.
pub(super) struct Blocks<'t> {
    cuts: Cuts<'t>,
    words: Words,
    /// The size of one in bytes, but where it cannot be cut.
    size: usize,
}

impl<'t> Blocks<'t> {
    pub(super) fn new(tokenizer: &'t Tokenizer, policy: Policy, size: usize) -> Self {
        Self { cuts: Cuts::new(tokenizer, policy), words: Words::of(tokenizer), size }
    }

    /// Whether a word goes on from one block to the next.
    pub(super) fn words_go_on(&self) -> bool {
        self.words == Words::EndWithStretches
    }

    /// Calls `each` with each block and where it starts.
    pub(super) fn each(&self, stretch: &str, mut each: impl FnMut(&str, usize) -> Result<()>) -> Result<()> {
        let mut start = 0;
        while start < stretch.len() {
            let end = self.end(stretch, start);
            each(&stretch[start..end], start).map_err(|error| error.shifted(start))?;
            start = end;
        }
        Ok(())
    }

    /// Where a block that starts at `start` ends: at the end of a word if words end within stretches, else at any cut.
    fn end(&self, stretch: &str, start: usize) -> usize {
        let mut size = match self.words {
            Words::EndWithPieces => self.size,
            // Whether a place in a piece is a cut takes a table of all tokens, which is slow to make.
            Words::EndWithStretches => self.size << 4,
            Words::NotCut => return stretch.len(),
        };
        while stretch.len() - start > 2 * size {
            let end = utf8::boundary(stretch, start + size);
            let near = utf8::boundary(stretch, end - size / 4)..end;
            let cut = match self.words {
                Words::EndWithPieces => self.cuts.last_of_pieces(stretch, near),
                _ => self.cuts.last(stretch, near),
            };
            if let Some(cut) = cut {
                return cut;
            }
            size *= 2;
        }
        stretch.len()
    }
}

impl Words {
    fn of(tokenizer: &Tokenizer) -> Self {
        let Steps { pre_tokenizers, patterns, .. } = tokenizer.segmenter().steps();
        let patterns_make_words = tokenizer.is_byte_level() && !patterns.is_empty();
        let steps_make_words = pre_tokenizers.iter().any(PreTokenizer::makes_pieces);
        let model = tokenizer.model().words();
        let leaves_out = model.is_some_and(|model| matches!(model, WordModel::Bpe(_)) && model.unk_id().is_none());
        match (steps_make_words, patterns_make_words) {
            (false, false) if leaves_out => Self::NotCut,
            (false, false) => Self::EndWithStretches,
            (true, false) if !patterns.is_empty() => Self::NotCut,
            _ => Self::EndWithPieces,
        }
    }
}
