//! Between which characters a long piece can be taken apart, under models that are spelled in characters.
//!
//! Both characters are tokens by themselves, so that neither is unknown and none vanishes, and no token has them beside each
//! other. Then no merge goes across, and all best ways of a Unigram go through the place between them. A `WordPiece` without a
//! prefix begins anew there, if no piece is unknown as a whole. For a Unigram two things more:
//!
//! - *Sums.* The right side by itself has the same ways, but their sums begin at zero. Rounded, they could compare in
//!   another way than those of the whole. They are exact if all scores are multiples of one power of two, as scores of 32
//!   bits are, and no sum has more than 53 bits of it: that limits the length of the piece. Sums that `sentencepiece`
//!   rounds to 32 bits are never exact.
//! - *Unknown tokens* that a text spells are one with those beside them.

use std::sync::OnceLock;

use super::token_table::{NONE, TokenTable};
use super::{Bpe, Unigram, WordModel, WordPiece};
use crate::vocab::Adjacent;

/// The bits of a number that sums keep.
const BITS: i32 = f64::MANTISSA_DIGITS.cast_signed();

/// A Unigram whose longest exact sum is shorter is never taken apart.
const SHORTEST: usize = 1 << 16;

/// Where pieces can be taken apart; made when one is first to be.
#[derive(Default)]
pub(super) struct Splits {
    adjacent: OnceLock<Adjacent>,
    longest: OnceLock<usize>,
}

impl WordModel {
    /// Whether the place between two characters is an edge of tokens in every piece that has it, of up to
    /// [`WordModel::longest_that_splits`] bytes, the ids of both sides being those of each side as a piece of its own. Where
    /// it says no, it may still be one.
    pub(crate) fn splits_between(&self, left: char, right: char) -> bool {
        match self {
            Self::Bpe(model) => model.splits_between(left, right),
            Self::Unigram(model) => model.splits_between(left, right),
            Self::WordPiece(model) => model.splits_between(left, right),
            Self::WordLevel(_) => false,
        }
    }

    /// The bytes of the longest piece for which [`WordModel::splits_between`] holds.
    pub(crate) fn longest_that_splits(&self) -> usize {
        match self {
            Self::Bpe(_) | Self::WordPiece(_) => usize::MAX,
            Self::Unigram(model) => model.longest_exact(),
            Self::WordLevel(_) => 0,
        }
    }
}

impl Splits {
    fn are_apart(&self, table: &TokenTable, left: char, right: char) -> bool {
        let made = || Adjacent::new(table.texts().map(str::as_bytes), table.bytes());
        !self.adjacent.get_or_init(made).joins(left, right)
    }
}

impl Bpe {
    fn splits_between(&self, left: char, right: char) -> bool {
        // A side by itself could be taken whole, and has a beginning and an end of its own.
        let is_plain = !self.ignore_merges && self.prefix.is_empty() && !self.marks_last();
        let is_token = |character| self.token(character, false, false) != NONE;
        is_plain && is_token(left) && is_token(right) && self.splits.are_apart(&self.table, left, right)
    }
}

impl WordPiece {
    fn splits_between(&self, left: char, right: char) -> bool {
        self.spells_all && self.begins_anew() && self.splits.are_apart(&self.table, left, right)
    }
}

impl Unigram {
    fn splits_between(&self, left: char, right: char) -> bool {
        let is_token = |character: char| {
            let found = self.table.index_of(character.encode_utf8(&mut [0; 4]));
            found.is_some_and(|index| self.scores[index as usize].is_finite())
        };
        let unk = self.unk.map_or("", |unk| self.table.text(unk));
        is_token(left)
            && is_token(right)
            && !(unk.ends_with(left) && unk.starts_with(right))
            && self.longest_exact() >= SHORTEST
            && self.splits.are_apart(&self.table, left, right)
    }

    /// The bytes of the longest piece whose sums are exact: each character adds a score to some sum.
    fn longest_exact(&self) -> usize {
        if self.is_rounded {
            return 0;
        }
        *self.splits.longest.get_or_init(|| {
            let finite = || self.scores.iter().chain([&self.unk_score]).copied().filter(|score| score.is_finite());
            let bits = || finite().filter_map(bits);
            let lowest = bits().map(|(lowest, _)| lowest).min();
            let highest = bits().map(|(_, highest)| highest).max();
            // Only zeros are always exact.
            let (Some(lowest), Some(highest)) = (lowest, highest) else { return usize::MAX };
            let power = u32::try_from(BITS + lowest - highest - 1).ok();
            power.map_or(0, |power| 1_usize.checked_shl(power).unwrap_or(usize::MAX))
        })
    }
}

/// The exponents of the lowest and of the highest bit that are set in a number; None if it is zero.
fn bits(number: f64) -> Option<(i32, i32)> {
    const STORED: u32 = f64::MANTISSA_DIGITS - 1;
    /// The exponent of the last bit of the smallest numbers.
    const LEAST: i32 = f64::MIN_EXP - f64::MANTISSA_DIGITS.cast_signed();
    let bits = number.to_bits();
    let (fraction, exponent) = (bits & ((1 << STORED) - 1), bits << 1 >> (STORED + 1));
    let (whole, last) = if exponent == 0 { (fraction, 0) } else { (fraction | 1 << STORED, exponent - 1) };
    let last = LEAST + i32::try_from(last).unwrap_or(i32::MAX);
    (whole != 0).then(|| (last + whole.trailing_zeros().cast_signed(), last + whole.ilog2().cast_signed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_number() {
        for (number, expected) in [
            (1.0, (0, 0)),
            (-6.0, (1, 2)),
            (0.75, (-2, -1)),
            (-23.590_115_547_180_176, (-20, 4)),
            (f64::MIN_POSITIVE, (-1022, -1022)),
            (f64::MIN_POSITIVE / 4.0, (-1024, -1024)),
            (f64::MAX, (971, 1023)),
        ] {
            assert_eq!(bits(number), Some(expected), "{number}");
        }
        assert_eq!(bits(-0.0), None);
    }
}
