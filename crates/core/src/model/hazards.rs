//! Characters in a piece that the vocabulary over bytes must not encode.

use std::collections::BTreeSet;

use aho_corasick::packed::Searcher;
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input};

/// The bytes that all have together at most.
const MOST: usize = 1 << 14;

/// The mark of a space, with which most words of such models begin.
const MARK: &str = "\u{2581}";

/// Texts that merge out of turn; what they are: see `on_bytes`.
pub(crate) struct Hazards {
    automaton: AhoCorasick,
    /// Finds a part of each in many places at a time: the mark in front of a word is no part of it but for its last byte. None
    /// where they are too many, or the machine cannot.
    signs: Option<Box<Searcher>>,
}

impl Hazards {
    /// None if they are too long together. None of them is empty.
    pub(super) fn new(texts: &BTreeSet<&str>) -> Option<Self> {
        if texts.iter().map(|text| text.len()).sum::<usize>() > MOST {
            return None;
        }
        // Every new piece is looked through, and there are few: a table is three times as fast as links.
        let automaton = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).prefilter(false).build(texts).ok()?;
        let sign = |text: &&str| text.as_bytes()[if text.starts_with(MARK) { MARK.len() - 1 } else { 0 }..].to_vec();
        Some(Self { automaton, signs: Searcher::new(texts.iter().map(sign)).map(Box::new) })
    }

    /// Whether a text has one of them.
    #[inline]
    pub(crate) fn are_in(&self, text: &[u8]) -> bool {
        self.signs.as_ref().is_none_or(|signs| signs.find(text).is_some()) && self.automaton.is_match(text)
    }

    /// Where the first one ends that begins at `from` or later.
    pub(crate) fn end_behind(&self, text: &str, from: usize) -> Option<usize> {
        self.automaton.find(Input::new(text).range(from..)).map(|found| found.end())
    }

    /// The bytes of the longest.
    pub(crate) fn longest(&self) -> usize {
        self.automaton.max_pattern_len()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn signs_hide_none() {
        let texts = ["\t\t\t", "▁======", "▁SSSR", "▁▁▁", "a▁b"];
        let hazards = Hazards::new(&texts.into()).unwrap();
        let parts = ["\t", "\t\t\t", "▁", "=", "======", "SSSR", "▁word", "▁▁▁", "a▁b", "é", "longer than some bytes"];
        let mut seed = 22_u64;
        let mut found = 0;
        for _ in 0..3_000 {
            let mut text = String::new();
            for _ in 0..seed >> 60 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push_str(parts[(seed >> 33) as usize % parts.len()]);
            }
            seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let expected = texts.iter().any(|hazard| text.contains(hazard));
            assert_eq!(hazards.are_in(text.as_bytes()), expected, "{text:?}");
            found += usize::from(expected);
        }
        assert!((500..2_500).contains(&found), "{found}");
    }
}
