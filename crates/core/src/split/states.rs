//! The scan for the end of a piece, character by character, as numbers of states: for whoever follows every text at once.

use rustc_hash::FxHashSet;

use super::automaton::Automaton;
use super::gaps::with_gaps;
use super::seams::Seams;
use super::{Engine, Pattern};

/// More patterns before the last one are refused.
const MOST_WALLS: usize = 3;

/// The states of the patterns before the last one.
pub(crate) type Walls = [u16; MOST_WALLS];

/// The characters that all patterns treat alike, or the end of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Symbol {
    /// The class in the last pattern.
    last: u8,
    /// Those in the patterns before it.
    walls: [u8; MOST_WALLS],
}

/// The states of a scan that begins where a piece begins.
#[derive(Clone, Copy)]
pub(crate) struct States<'p> {
    /// The last pattern; None if it leaves text whole.
    last: Option<Seams<'p>>,
    /// Those of the patterns before it, each of which ends its pieces by the next character. So where the pieces of all of them end
    /// is known from the text so far: at a wall, which the last pattern takes for the end of the text.
    walls: [Option<&'p Automaton>; MOST_WALLS],
}

impl Pattern {
    /// The automaton that tells the end of every piece, be it a match or the text between two, and its seams; None if there is none.
    fn tiling(&self) -> Option<Seams<'_>> {
        let Engine::Classes(automaton, _) = &self.engine else { return None };
        let is_empty = |symbol| automaton.go(Automaton::START_STATE, symbol).1;
        if let Some(seams) = self.seams().filter(|_| !(0..automaton.symbols()).any(is_empty)) {
            return Some(seams);
        }
        let tiling = || {
            let automaton = with_gaps(automaton)?;
            let table = automaton.seams();
            Some(Box::new((automaton, table)))
        };
        let (automaton, table) = self.tiling.get_or_init(tiling).as_deref()?;
        Some(Seams { automaton, table })
    }
}

impl<'p> States<'p> {
    /// Those of the pieces that patterns in a row make, each of the pieces of the one before.
    ///
    /// # Errors
    /// Which patterns have none.
    pub(crate) fn of(patterns: &'p [Pattern]) -> Result<Self, &'static str> {
        let mut tilings = Vec::with_capacity(patterns.len());
        for pattern in patterns.iter().filter(|pattern| !matches!(pattern.engine, Engine::Whole)) {
            tilings.push(pattern.tiling().ok_or("a split pattern that is no automaton")?);
        }
        let mut states = Self { last: tilings.pop(), walls: [None; MOST_WALLS] };
        if tilings.len() > MOST_WALLS {
            return Err("so many split patterns");
        }
        if !tilings.iter().all(|tiling| ends_at_once(tiling.automaton)) {
            return Err(
                "several split patterns, of which one before the last ends its pieces by more than the next character",
            );
        }
        states.walls.iter_mut().zip(tilings).for_each(|(wall, tiling)| *wall = Some(tiling.automaton));
        Ok(states)
    }

    fn automaton(self) -> Option<&'p Automaton> {
        self.last.map(|last| last.automaton)
    }

    /// The state where a piece begins.
    pub(crate) fn start(self) -> u16 {
        self.automaton().map_or(0, Automaton::start)
    }

    /// The states of the patterns before the last one where a text begins.
    pub(crate) fn first_walls(self) -> Walls {
        self.walls.map(|wall| wall.map_or(0, Automaton::start))
    }

    /// Reads a character in some states of these patterns: those after it, and whether there is a wall before it.
    #[inline]
    pub(crate) fn after_walls(self, walls: Walls, character: &[u8]) -> (Walls, bool) {
        self.through_walls(walls, |_, automaton, state| automaton.step(state, character, 0).0)
    }

    /// The same, given what reading does to a state of one of the automata: None if its piece ends.
    #[inline]
    fn through_walls(self, mut walls: Walls, read: impl Fn(usize, &Automaton, u16) -> Option<u16>) -> (Walls, bool) {
        let mut is_wall = false;
        for (number, (automaton, state)) in self.walls.into_iter().zip(&mut walls).enumerate() {
            let Some(automaton) = automaton else { break };
            // Pieces of this pattern begin with those of the one before.
            let going_on = if is_wall { None } else { read(number, automaton, *state) };
            is_wall = going_on.is_none();
            // A character begins a piece wherever one ends.
            *state = going_on.or_else(|| read(number, automaton, automaton.start())).unwrap_or(*state);
        }
        (walls, is_wall)
    }

    /// Whether there are walls in some texts.
    pub(crate) fn has_walls(self) -> bool {
        self.walls[0].is_some()
    }

    /// The last place of a text, with a character behind it, at which the text before it has the same pieces whatever follows.
    pub(crate) fn last_seam(self, text: &str) -> usize {
        self.last.and_then(|last| last.last_inside(text)).unwrap_or(0)
    }

    /// Reads a character in a state: the state after it, None if nothing more can match, and whether there is a match that
    /// ends before the character.
    #[inline]
    pub(crate) fn after(self, state: u16, character: &[u8]) -> (Option<u16>, bool) {
        let Some(automaton) = self.automaton() else { return (Some(0), false) };
        let (next, _, matched) = automaton.step(state, character, 0);
        (next, matched)
    }

    /// All symbols: the classes of characters, and the end of the text.
    ///
    /// Time: if there are walls, that of looking at every character.
    pub(crate) fn symbols(self) -> Vec<Symbol> {
        let Some(automaton) = self.automaton() else { return vec![Symbol::default()] };
        let end = (automaton.symbols() - 1) as u8;
        let of_class = |last| Symbol { last, ..Symbol::default() };
        let mut symbols =
            if self.has_walls() { self.of_characters('\0'..=char::MAX) } else { (0..end).map(of_class).collect() };
        symbols.push(of_class(end));
        symbols
    }

    /// The symbols of the characters that begin with some bytes, at least one and not a whole character. Where all text is one
    /// piece there are none: no character ends it.
    pub(crate) fn beginning_with(self, bytes: &[u8]) -> Vec<Symbol> {
        self.of_characters(characters(bytes))
    }

    fn of_characters(self, characters: impl Iterator<Item = char>) -> Vec<Symbol> {
        let (mut symbols, mut seen, mut before) = (Vec::new(), FxHashSet::default(), None);
        for character in characters {
            let Some(last) = self.automaton().and_then(|automaton| automaton.class_of(character)) else { continue };
            let class = |wall: Option<&Automaton>| wall.and_then(|wall| wall.class_of(character)).unwrap_or(0);
            let symbol = Symbol { last, walls: self.walls.map(class) };
            if before.replace(symbol) != Some(symbol) && seen.insert(symbol) {
                symbols.push(symbol);
            }
        }
        symbols
    }

    /// As [`States::after_walls`], for any character of a class; there is none before the end of the text.
    pub(crate) fn walls_after(self, walls: Walls, symbol: Symbol) -> (Walls, bool) {
        if self.automaton().is_none_or(|automaton| usize::from(symbol.last) + 1 == automaton.symbols()) {
            return (walls, false);
        }
        self.through_walls(walls, |number, automaton, state| after(automaton, state, symbol.walls[number]).0)
    }

    /// As [`States::after`], for any character of a class, or for the end of the text.
    pub(crate) fn after_symbol(self, state: u16, symbol: Symbol) -> (Option<u16>, bool) {
        self.automaton().map_or((None, true), |automaton| after(automaton, state, symbol.last))
    }

    /// Whether there is a match that ends here if the text does.
    #[inline]
    pub(crate) fn matches_at_end(self, state: u16) -> bool {
        self.automaton().is_none_or(|automaton| automaton.matches_at_end(state))
    }
}

/// The state after a symbol, None if nothing more can match, and whether there is a match that ends before it.
fn after(automaton: &Automaton, state: u16, symbol: u8) -> (Option<u16>, bool) {
    let symbols = automaton.symbols();
    let (next, matched) = automaton.go(usize::from(state) / symbols, usize::from(symbol));
    ((next != Automaton::DEAD_STATE).then_some((next * symbols) as u16), matched)
}

/// Whether each piece ends by the next character: behind each of its characters, unless that one goes on with it.
fn ends_at_once(automaton: &Automaton) -> bool {
    let after = |state| (0..automaton.symbols()).map(move |symbol| automaton.go(state, symbol));
    let mut pending: Vec<usize> = after(Automaton::START_STATE).map(|(state, _)| state).collect();
    let mut seen = vec![false; automaton.states()];
    seen[Automaton::DEAD_STATE] = true;
    while let Some(state) = pending.pop() {
        if !std::mem::replace(&mut seen[state], true) {
            if !after(state).all(|(_, matched)| matched) {
                return false;
            }
            pending.extend(after(state).map(|(state, _)| state));
        }
    }
    true
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
        let patterns = [pattern];
        let states = States::of(&patterns).unwrap();
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
            let symbols = states.beginning_with(&beginning).into_iter();
            let found = symbols.map(|symbol| states.after_symbol(states.start(), symbol));
            assert_eq!(found.collect::<BTreeSet<_>>(), expected, "{beginning:x?}");
        }
        assert!(States::of(&[]).unwrap().beginning_with(&[0xC3]).is_empty());
    }
}
