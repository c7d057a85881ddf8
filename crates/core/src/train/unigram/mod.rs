//! Counts -> the tokens of a Unigram model and their log probabilities, by expectation maximization and pruning.
//!
//! Kudo, "Subword Regularization: Improving Neural Network Translation Models with Multiple Subword Candidates" (ACL 2018),
//! as the trainer of SentencePiece does it: seeds are the frequent substrings of the words; then the probabilities are
//! estimated, and the tokens whose loss costs the least likelihood are removed, again and again.
//!
//! All sums over words are sums of integers, so that the result is the same on any number of threads.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "probabilities need no more bits than f64 has, and what is cast to an integer is not negative"
)]

mod expectation;
mod finish;
mod lattice;
mod pruning;
mod script;
mod seeds;
mod suffixes;
#[cfg(test)]
mod tests;
mod text;

use crate::error::{Error, Kind, Result};
use crate::train::Progress;
use crate::train::counts::PieceCounts;

use self::text::Text;

/// The settings of learning, in the terms of SentencePiece.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of SentencePiece")]
pub struct Settings {
    /// At most this many tokens, the reserved ones included.
    pub vocab_size: usize,
    /// So many places are left free for tokens such as `<unk>`.
    pub reserved: usize,
    /// How much of the text the characters that become tokens have to make up, from 0 to 1; the rarest others are left out.
    pub character_coverage: f64,
    /// Characters that become tokens whether they occur or not.
    pub required_chars: Vec<char>,
    /// The most characters of a token.
    pub max_piece_length: usize,
    /// At most this many substrings to begin with, beside the characters.
    pub seed_size: usize,
    /// How much of the tokens pruning leaves, from 0 to 1.
    pub shrinking_factor: f64,
    /// How often the probabilities are estimated before tokens are pruned.
    pub sub_iterations: usize,
    /// Whether a token is of one script.
    pub split_by_unicode_script: bool,
    /// Whether digits are split from letters as one script from another.
    pub split_by_number: bool,
    /// Whether each digit is a token of its own.
    pub split_digits: bool,
    /// Whether U+2581 precedes every word, not only those with white space in front of them in their piece.
    pub dummy_prefix: bool,
}

/// A token with its log probability.
pub type Scored = (String, f64);

/// The threshold below which an expected count makes no token.
const LEAST_EXPECTED: f64 = 0.5;

/// Tokens are numbered in 32 bits, and the characters among them are fewer than this.
const MOST_SEEDS: usize = 1 << 30;

/// Pruning leaves this many times the desired number of tokens, so that the best of them can be chosen.
const SPARE: f64 = 1.1;

/// Learns the tokens, best first, ties in order of the texts; they include all characters that `character_coverage`
/// requires. Words are the pieces, divided at white space and U+2581. Fewer than `vocab_size` are learned if the text
/// has no more substrings.
///
/// Time is n log n in the characters of the distinct words, which are n, and n times `max_piece_length` for each round;
/// memory is some 16 to 60 bytes for each of them.
///
/// # Errors
/// `Training`, if a setting is out of range, the required characters are more than `vocab_size`, counts overflow, or a piece
/// is no text; `Interrupted`.
///
/// ```
/// # use bytepair_core::train::{PieceCounts, Progress, unigram::{Settings, learn}};
/// let settings = Settings {
///     vocab_size: 6,
///     reserved: 0,
///     character_coverage: 1.0,
///     required_chars: Vec::new(),
///     max_piece_length: 16,
///     seed_size: 1_000_000,
///     shrinking_factor: 0.75,
///     sub_iterations: 2,
///     split_by_unicode_script: true,
///     split_by_number: true,
///     split_digits: false,
///     dummy_prefix: true,
/// };
/// let counts = PieceCounts::of([(&b"low"[..], 50), (b"owl", 2)])?;
/// let tokens = learn(&counts, &settings, 1, &Progress::default())?;
/// assert_eq!(tokens[0].0, "\u{2581}low");
/// assert_eq!(tokens.len(), 6);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn learn(counts: &PieceCounts, settings: &Settings, threads: usize, progress: &Progress) -> Result<Vec<Scored>> {
    check(settings)?;
    let text = Text::of(counts, settings, progress)?;
    progress.check()?;
    let (mut tokens, mut lattice) = seeds::seeds(&text, settings, progress)?;
    let desired = (settings.vocab_size as f64 * SPARE) as usize;
    loop {
        for _ in 0..settings.sub_iterations {
            let expected = expectation::expected(&text, &lattice, &tokens, threads, progress)?;
            let kept = expectation::maximize(&mut tokens, &expected)?;
            tokens.keep(&kept);
            lattice.keep(&kept, progress)?;
        }
        progress.advance(1)?;
        if tokens.len() <= desired {
            return finish::finish(&text, &tokens, settings);
        }
        let kept = pruning::prune(&text, &lattice, &tokens, desired, settings.shrinking_factor, threads, progress)?;
        tokens.keep(&kept);
        lattice.keep(&kept, progress)?;
    }
}

/// The tokens of a model while it is learned: the position of each in the text, and its score.
#[derive(Debug, Default)]
pub(super) struct ScoredTokens {
    /// The position of one occurrence in the text.
    at: Vec<u32>,
    /// Characters.
    lengths: Vec<u16>,
    /// Log probabilities.
    scores: Vec<f64>,
}

impl ScoredTokens {
    fn len(&self) -> usize {
        self.at.len()
    }

    fn keep(&mut self, kept: &[bool]) {
        fn only<T>(values: &mut Vec<T>, kept: &[bool]) {
            let mut kept = kept.iter();
            values.retain(|_| kept.next().is_some_and(|&kept| kept));
        }
        only(&mut self.at, kept);
        only(&mut self.lengths, kept);
        only(&mut self.scores, kept);
    }
}

fn check(settings: &Settings) -> Result<()> {
    let refuse = |name: &str, value: String, range: &str| {
        Err(Error::new(Kind::Training, format!("{name}={value} is out of range")).remedy(format!("use {range}")))
    };
    let coverage = settings.character_coverage;
    if !(coverage > 0.0 && coverage <= 1.0) {
        return refuse("character_coverage", coverage.to_string(), "more than 0, and at most 1");
    }
    let shrinking = settings.shrinking_factor;
    if !(0.5..=0.95).contains(&shrinking) {
        return refuse("shrinking_factor", shrinking.to_string(), "0.5 to 0.95");
    }
    if !(1..=512).contains(&settings.max_piece_length) {
        return refuse("max_piece_length", settings.max_piece_length.to_string(), "1 to 512");
    }
    if settings.seed_size > MOST_SEEDS {
        return refuse("seed_size", settings.seed_size.to_string(), &format!("at most {MOST_SEEDS}"));
    }
    if !(1..=100).contains(&settings.sub_iterations) {
        return refuse("sub_iterations", settings.sub_iterations.to_string(), "1 to 100");
    }
    Ok(())
}
