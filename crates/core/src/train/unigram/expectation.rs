//! The expected count of each token over all paths, and the scores that follow (the two steps of EM).
//!
//! Forward and backward sums are of probabilities, not of their logarithms; where they become too small all that is still
//! in use is multiplied by a power of two. Each expected count is a sum of whole numbers, whose order does not matter.

use crate::error::Result;
use crate::memory::{self, Room};
use crate::parallel;
use crate::train::Progress;
use crate::train::unigram::lattice::{Lattice, unknown};
use crate::train::unigram::text::{Text, Word};
use crate::train::unigram::{LEAST_EXPECTED, ScoredTokens};

/// A probability of 1 as a whole number. Counts are 64 bits, so that 126 suffice for a sum.
const ONE: f64 = (1_u64 << 62) as f64;

/// Sums below 2^-`STEP` are multiplied by 2^`STEP`.
const STEP: i32 = 400;

/// The number of characters in a thread's unit of work.
pub(super) const PART: u32 = 1 << 14;

/// The expected count of each token.
pub(super) fn expected(
    text: &Text,
    lattice: &Lattice,
    tokens: &ScoredTokens,
    threads: usize,
    progress: &Progress,
) -> Result<Vec<f64>> {
    let chances = memory::collect(tokens.scores.iter().map(|score| score.exp()))?;
    let unknown = unknown(tokens).exp();
    let parts = text.parts(PART)?;
    let start = || Ok((memory::filled(0_u128, tokens.len())?, Sums::default()));
    let sums = parallel::try_fold(parts.len(), threads, start, |(totals, sums), part| {
        progress.check()?;
        text.words[parts[part].clone()].iter().try_for_each(|&word| sums.add(lattice, &chances, unknown, word, totals))
    })?;
    let mut sums = sums.into_iter().map(|(totals, _)| totals);
    let mut totals = sums.next().unwrap_or_default();
    for other in sums {
        totals.iter_mut().zip(other).for_each(|(total, other)| *total += other);
    }
    memory::collect(totals.into_iter().map(|total| total as f64 / ONE))
}

/// The sums of one word, in buffers that are kept.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// The sum over all paths from the start to here, times a power of two.
    forward: Vec<f64>,
    /// How often that was multiplied by 2^[`STEP`].
    scaled: Vec<i32>,
    /// The sum over all paths from here to the end, times a power of two.
    backward: Vec<f64>,
}

impl Sums {
    /// Adds the expected count of each token in a word to `totals`.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn add(
        &mut self,
        lattice: &Lattice,
        chances: &[f64],
        unknown: f64,
        word: Word,
        totals: &mut [u128],
    ) -> Result<()> {
        let (start, size) = (word.start as usize, (word.end - word.start) as usize);
        self.forward.room(size + 1)?;
        self.scaled.room(size + 1)?;
        self.backward.room(size + 1)?;
        self.run_forward(lattice, chances, unknown, start, size);
        self.backward.clear();
        self.backward.resize(size + 1, 0.0);
        self.backward[size] = 1.0;
        let all = self.forward[size];
        let mut scale = 0;
        let mut longest = 1;
        for from in (0..size).rev() {
            let (ids, lengths) = lattice.at(start + from);
            let mut sum = 0.0;
            // The rest of the scales of a path through here, as a factor.
            let factor = match scale + self.scaled[from] - self.scaled[size] {
                0 => 1.0,
                steps => 2.0_f64.powi(-STEP.saturating_mul(steps)),
            };
            let before = self.forward[from] / all * factor;
            if lengths.first() != Some(&1) {
                sum += unknown * self.backward[from + 1];
            }
            for (&id, &length) in ids.iter().zip(lengths) {
                let path = chances[id as usize] * self.backward[from + usize::from(length)];
                sum += path;
                let chance = (before * path).clamp(0.0, 1.0);
                totals[id as usize] += u128::from((chance * ONE) as u64) * u128::from(word.count);
            }
            longest = lengths.last().map_or(longest, |&length| longest.max(usize::from(length)));
            self.backward[from] = sum;
            if sum < 2.0_f64.powi(-STEP) {
                let end = (from + longest).min(size);
                scale += rescale(&mut self.backward[from..=end]);
            }
        }
        Ok(())
    }

    fn run_forward(&mut self, lattice: &Lattice, chances: &[f64], unknown: f64, start: usize, size: usize) {
        self.forward.clear();
        self.forward.resize(size + 1, 0.0);
        self.scaled.clear();
        self.scaled.resize(size + 1, 0);
        self.forward[0] = 1.0;
        let mut scale = 0;
        let mut reached = 0;
        for from in 0..=size {
            if self.forward[from] < 2.0_f64.powi(-STEP) {
                scale += rescale(&mut self.forward[from..=reached.max(from)]);
            }
            self.scaled[from] = scale;
            if from == size {
                return;
            }
            let here = self.forward[from];
            let (ids, lengths) = lattice.at(start + from);
            if lengths.first() != Some(&1) {
                self.forward[from + 1] += here * unknown;
                reached = reached.max(from + 1);
            }
            for (&id, &length) in ids.iter().zip(lengths) {
                self.forward[from + usize::from(length)] += here * chances[id as usize];
            }
            reached = lengths.last().map_or(reached, |&length| reached.max(from + usize::from(length)));
        }
    }
}

/// Multiplies sums by 2^[`STEP`] if all are small; returns how often.
fn rescale(sums: &mut [f64]) -> i32 {
    let most = sums.iter().copied().fold(0.0, f64::max);
    if most >= 2.0_f64.powi(-STEP) || most <= 0.0 {
        return 0;
    }
    for sum in sums {
        *sum *= 2.0_f64.powi(STEP);
    }
    1
}

/// Sets the scores from expected counts, and returns which tokens are kept: those expected often enough.
///
/// The digamma function instead of the logarithm makes rare tokens rarer: a sparse prior (Liang & Klein, "Structured
/// Bayesian Nonparametric Models with Variational Inference", ACL 2007 tutorial).
///
/// # Errors
/// `Memory`.
pub(super) fn maximize(tokens: &mut ScoredTokens, expected: &[f64]) -> Result<Vec<bool>> {
    let kept = memory::collect(expected.iter().map(|&expected| expected >= LEAST_EXPECTED))?;
    if !kept.contains(&true) {
        // So few words that nothing can be learned from them.
        return memory::filled(true, kept.len());
    }
    let total: f64 = expected.iter().filter(|&&expected| expected >= LEAST_EXPECTED).sum();
    let total = digamma(total);
    for (score, &expected) in tokens.scores.iter_mut().zip(expected) {
        if expected >= LEAST_EXPECTED {
            *score = digamma(expected) - total;
        }
    }
    Ok(kept)
}

/// The logarithmic derivative of the gamma function of a positive number: by its recurrence up to 7, from there by its
/// asymptotic series around half a step less (Bernardo, "Algorithm AS 103", 1976, has the like).
fn digamma(mut x: f64) -> f64 {
    let mut steps = 0.0;
    while x < 7.0 {
        steps -= 1.0 / x;
        x += 1.0;
    }
    let x = x - 0.5;
    let square = 1.0 / (x * x);
    let series = 1.0 / 24.0 - square * (7.0 / 960.0 - square * (31.0 / 8064.0 - square * (127.0 / 30720.0)));
    steps + x.ln() + square * series
}

#[cfg(test)]
mod tests {
    use super::digamma;

    #[test]
    fn digamma_has_its_known_values() {
        // Minus Euler's constant, that less 2 ln 2, and H(9) less Euler's constant.
        let known = [(1.0, -0.577_215_664_901_532_9), (0.5, -1.963_510_026_021_423), (10.0, 2.251_752_589_066_721)];
        for (x, expected) in known {
            assert!((digamma(x) - expected).abs() < 1e-9, "{x} {}", digamma(x));
        }
    }
}
