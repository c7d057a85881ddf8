//! The scan for the end of a piece, character by character, as numbers of states: for whoever follows every text at once.

use super::automaton::Automaton;
use super::{Engine, Pattern};

/// The states of a scan that begins where a piece begins.
#[derive(Clone, Copy)]
pub(crate) struct States<'p> {
    /// None if all text is one piece.
    automaton: Option<&'p Automaton>,
}

impl Pattern {
    /// Its states; None if it is run by another engine, or a character starts no match or an empty one.
    pub(crate) fn states(&self) -> Option<States<'_>> {
        match &self.engine {
            Engine::Whole => Some(States::WHOLE),
            Engine::Classes(automaton, _) => {
                self.seams()?;
                let is_empty = |symbol| automaton.go(Automaton::START_STATE, symbol).1;
                (!(0..automaton.symbols()).any(is_empty)).then_some(States { automaton: Some(automaton) })
            }
            Engine::Regular(_) | Engine::Backtracking(_) => None,
        }
    }
}

impl States<'_> {
    /// All text is one piece.
    pub(crate) const WHOLE: Self = Self { automaton: None };

    /// The state where a piece begins.
    pub(crate) fn start(self) -> u16 {
        self.automaton.map_or(0, Automaton::start)
    }

    /// Reads a character in a state: the state after it, None if nothing more can match, and whether there is a match that
    /// ends before the character.
    #[inline]
    pub(crate) fn after(self, state: u16, character: &[u8]) -> (Option<u16>, bool) {
        let Some(automaton) = self.automaton else { return (Some(0), false) };
        let (next, _, matched) = automaton.step(state, character, 0);
        (next, matched)
    }

    /// The number of symbols: classes of characters, and the end of the text, which is the last one.
    pub(crate) fn symbols(self) -> usize {
        self.automaton.map_or(1, Automaton::symbols)
    }

    /// The classes of the characters that begin with some bytes, at least one and not a whole character. Where all text is one
    /// piece there are none: no character ends it.
    pub(crate) fn classes(self, beginning: &[u8]) -> Vec<u8> {
        let Some(automaton) = self.automaton else { return Vec::new() };
        let mut is_class = [false; 256];
        for character in characters(beginning) {
            if let Some(class) = automaton.class_of(character) {
                is_class[usize::from(class)] = true;
            }
        }
        (0..=u8::MAX).filter(|&class| is_class[usize::from(class)]).collect()
    }

    /// As [`States::after`], for any character of a class, or for the end of the text.
    pub(crate) fn after_symbol(self, state: u16, symbol: usize) -> (Option<u16>, bool) {
        let Some(automaton) = self.automaton else { return (None, true) };
        let symbols = automaton.symbols();
        let (next, matched) = automaton.go(usize::from(state) / symbols, symbol);
        ((next != Automaton::DEAD_STATE).then_some((next * symbols) as u16), matched)
    }

    /// Whether there is a match that ends here if the text does.
    #[inline]
    pub(crate) fn matches_at_end(self, state: u16) -> bool {
        self.automaton.is_none_or(|automaton| automaton.matches_at_end(state))
    }
}

/// The characters that begin with some bytes.
fn characters(beginning: &[u8]) -> impl Iterator<Item = char> + '_ {
    let length = match beginning[0] {
        0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    let begin = |fill: u8| {
        let lead = u32::from(beginning[0]) & (0x7F >> length);
        let rest = beginning[1..].iter().copied().chain(std::iter::repeat(fill)).take(length - 1);
        rest.fold(lead, |point, byte| point << 6 | u32::from(byte & 0x3F))
    };
    // Smaller numbers have shorter forms.
    let least = [0x80, 0x800, 0x1_0000][length - 2];
    (begin(0x80).max(least)..=begin(0xBF).min(u32::from(char::MAX))).filter_map(char::from_u32)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn each_beginning_has_the_classes_of_its_characters() {
        let pattern = Pattern::new(r"\p{L}+|\p{N}{2}|[^\S\n]|(?s:.)").unwrap();
        let states = pattern.states().unwrap();
        let mut expected: BTreeMap<Vec<u8>, BTreeSet<(Option<u16>, bool)>> = BTreeMap::new();
        for character in '\u{80}'..=char::MAX {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            for length in 1..bytes.len() {
                let after = states.after(states.start(), bytes);
                expected.entry(bytes[..length].to_vec()).or_default().insert(after);
            }
        }
        for (beginning, expected) in expected {
            let classes = states.classes(&beginning).into_iter();
            let found = classes.map(|class| states.after_symbol(states.start(), usize::from(class)));
            assert_eq!(found.collect::<BTreeSet<_>>(), expected, "{beginning:x?}");
        }
        assert!(States::WHOLE.classes(&[0xC3]).is_empty());
    }
}
