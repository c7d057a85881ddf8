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
