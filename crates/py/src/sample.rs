//! Subword regularization: Unigram sampling and BPE-dropout.

use std::hash::{BuildHasher, RandomState};

use bytepair_core::model::Random;
use bytepair_core::pipeline::Draw;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::options::{Added, OnInvalid, OwnedPolicy};
use crate::run::detached;
use crate::text::utf8;
use crate::tokenizer::CoreTokenizer;

/// The seed of a call, or a random one.
pub(crate) fn seed_or_new(seed: Option<u64>) -> u64 {
    seed.unwrap_or_else(|| RandomState::new().hash_one(0))
}

#[pymethods]
impl CoreTokenizer {
    /// Randomly drawn encodings of a text, so that a model trained on them depends less on one segmentation.
    ///
    /// Args:
    ///     text: See `encode`; lists are not accepted.
    ///     n: The number of encodings.
    ///     alpha: For Unigram models, each segmentation is drawn with its probability to the power of `alpha`. For models
    ///         that merge, `alpha` is the probability of skipping each merge when its turn comes (BPE-dropout).
    ///     seed: Equal seeds draw equal encodings on every machine; None draws a new seed.
    ///     special: See `encode`.
    ///     added: See `encode`.
    ///     errors: See `encode`.
    ///
    /// Raises:
    ///     EncodeError: The model has only one encoding for each text, or `alpha` is out of range. Also the errors of `encode`.
    ///
    /// Example:
    ///     >>> import bytepair as bp
    ///     >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    ///     >>> tok.sample("lower", 3, 0.5, seed=3)
    ///     [[256, 119, 258], [108, 111, 119, 258], [257, 258]]
    #[pyo3(
        signature = (text, n, alpha, *, seed=None, special=None, added=Added::Match, errors=OnInvalid::Strict),
        text_signature = "($self, text, n, alpha, *, seed=None, special='raise', added='match', errors='strict')"
    )]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        n: usize,
        alpha: f64,
        seed: Option<u64>,
        special: Option<&Bound<'py, PyAny>>,
        added: Added,
        errors: OnInvalid,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let policy = OwnedPolicy::new(&self.inner, special, added)?;
        let text = utf8(text, errors)?;
        let draw = if self.inner.has_probabilities() { Draw::Power(alpha) } else { Draw::Dropout(alpha) };
        let mut random = Random::new(seed_or_new(seed));
        let draws = (0..n).map(|_| {
            py.check_signals()?;
            let ids = self.drawn(py, &text, &policy, draw, &mut random)?;
            self.list(py, &ids)
        });
        draws.collect()
    }
}

impl CoreTokenizer {
    pub(crate) fn drawn(
        &self,
        py: Python<'_>,
        text: &str,
        policy: &OwnedPolicy,
        draw: Draw,
        random: &mut Random,
    ) -> PyResult<Vec<u32>> {
        let mut ids = Vec::new();
        let drawn = || self.inner.draw(text, policy.borrowed(), draw, random, &mut ids).map(|()| ids);
        detached(py, text.len(), drawn)
    }
}
