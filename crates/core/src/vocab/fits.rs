//! Answers about pairs of tokens, remembered: whether two fit, where only merging them can tell.
//!
//! A slot is one word, the question and its answer, so that threads share the slots without a lock. A new answer takes
//! the place of an older one: the memory is bounded, and what is forgotten is asked again.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many answers are remembered.
const SLOTS: usize = 1 << 16;

/// 2^64 over the golden ratio: multiplying by it spreads adjacent keys.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Questions below 2^62, each with a yes or a no.
pub(crate) struct Fits {
    /// The question, the answer, and a bit that tells a slot from an empty one.
    slots: Box<[AtomicU64]>,
}

impl Fits {
    /// No answers.
    pub(crate) fn new() -> Self {
        Self { slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect() }
    }

    /// The answer to a question, which is asked if it is not known.
    #[inline]
    pub(crate) fn get(&self, question: u64, ask: impl FnOnce() -> bool) -> bool {
        let slot = &self.slots[(question.wrapping_mul(SPREAD) >> (u64::BITS - SLOTS.trailing_zeros())) as usize];
        let known = slot.load(Ordering::Relaxed);
        let asked = question << 2 | 1;
        if known & !2 == asked {
            return known & 2 != 0;
        }
        let answer = ask();
        slot.store(asked | u64::from(answer) << 1, Ordering::Relaxed);
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_those_of_the_question() {
        let fits = Fits::new();
        let right = |question: u64| question.is_multiple_of(3);
        for question in (0..300_000).chain(0..300_000).chain(5..9) {
            assert_eq!(fits.get(question, || right(question)), right(question));
        }
        // The latest ones are not asked again.
        for question in 5..9 {
            assert_eq!(fits.get(question, || !right(question)), right(question));
        }
    }
}
