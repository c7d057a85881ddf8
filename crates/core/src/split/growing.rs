//! Pieces of a text that grows at its end: the state of the scan for a piece's end, and the end if the text stopped now.

use super::automaton::Automaton;
use super::{Engine, Pattern};

/// Follows pieces of one pattern.
#[derive(Clone, Copy)]
pub(crate) struct Growing<'p> {
    /// None if all text is one piece.
    automaton: Option<&'p Automaton>,
}

/// A piece whose end is still open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrowingPiece {
    /// Where it starts.
    pub(crate) start: usize,
    /// Where the last match ends that was seen, which later ones may replace; the start if none was.
    pub(crate) end: usize,
    /// How far was read.
    pub(crate) at: usize,
    /// None once nothing more can match.
    state: Option<u16>,
}

impl Pattern {
    /// Follows its pieces; None if it is run by another engine, or does not match at every character.
    pub(crate) fn growing(&self) -> Option<Growing<'_>> {
        match &self.engine {
            Engine::Whole => Some(Growing::WHOLE),
            Engine::Classes(automaton, _) => {
                self.seams()?;
                Some(Growing { automaton: Some(automaton) })
            }
            Engine::Regular(_) | Engine::Backtracking(_) => None,
        }
    }
}

impl GrowingPiece {
    /// Whether no text ends the piece.
    pub(crate) fn is_endless(&self) -> bool {
        self.at > self.start && self.end == self.start && self.state.is_some()
    }
}

impl Growing<'_> {
    /// All text is one piece.
    pub(crate) const WHOLE: Self = Self { automaton: None };

    /// Whether all text is one piece.
    pub(crate) fn is_whole(self) -> bool {
        self.automaton.is_none()
    }

    /// A piece that starts here.
    pub(crate) fn begin(self, start: usize) -> GrowingPiece {
        let state = self.automaton.map_or(0, Automaton::start);
        GrowingPiece { start, end: start, at: start, state: Some(state) }
    }

    /// Reads on up to `to`; returns the end of the piece if no further text can change it.
    ///
    /// Time: linear in what was not read yet.
    #[inline]
    pub(crate) fn read(self, piece: &mut GrowingPiece, text: &[u8], to: usize) -> Option<usize> {
        if let (Some(automaton), Some(state)) = (self.automaton, piece.state) {
            let (state, found) = automaton.read_on(state, text, piece.at, to);
            piece.end = found.unwrap_or(piece.end);
            piece.state = state;
        }
        piece.at = to;
        // Every character starts a match, so that a piece that has ended is not empty.
        piece.state.is_none().then_some(piece.end)
    }

    /// Where the piece ends that starts at `start` of a text that ends at `to`. `pass` is told of each place and state after
    /// the first character; where it knows what comes of them, it gives the end of the last match from there on, None
    /// within if there is none.
    #[inline]
    pub(crate) fn end(
        self,
        text: &[u8],
        start: usize,
        to: usize,
        mut pass: impl FnMut(usize, u16) -> Option<Option<usize>>,
    ) -> usize {
        let Some(automaton) = self.automaton else { return to };
        let (mut state, mut at, mut found) = (automaton.start(), start, start);
        while at < to {
            let (next, after, is_match) = automaton.step(state, text, at);
            if is_match {
                found = at;
            }
            let Some(next) = next else { return found };
            (state, at) = (next, after);
            if let Some(known) = pass(at, state) {
                return known.unwrap_or(found);
            }
        }
        if automaton.matches_at_end(state) { to } else { found }
    }

    /// Where the piece ends if the text ends where it was read to.
    #[inline]
    pub(crate) fn end_now(self, piece: &GrowingPiece) -> usize {
        let Some(automaton) = self.automaton else { return piece.at };
        if piece.state.is_some_and(|state| automaton.matches_at_end(state)) { piece.at } else { piece.end }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::names;
    use super::*;

    #[test]
    fn pieces_end_where_they_end_in_the_text_so_far_and_final_ends_stay() {
        for name in [names::GPT2, names::CL100K, names::O200K, names::QWEN2] {
            let pattern = Pattern::new(name).unwrap();
            let growing = pattern.growing().unwrap();
            let Engine::Classes(automaton, _) = &pattern.engine else { unreachable!("{name}") };
            let characters = automaton.representatives();
            for number in 0..characters.len().pow(4) {
                let text: String =
                    (0..4).map(|place| characters[number / characters.len().pow(place) % characters.len()]).collect();
                let whole = pattern.pieces(&text).next().unwrap().unwrap().len();
                let mut piece = growing.begin(0);
                for (at, character) in text.char_indices() {
                    let to = at + character.len_utf8();
                    let ended = growing.read(&mut piece, text.as_bytes(), to);
                    let first = pattern.pieces(&text[..to]).next().unwrap().unwrap().len();
                    assert_eq!(growing.end_now(&piece), first, "{name} {text:?} {to}");
                    assert!(ended.is_none_or(|end| end == whole), "{name} {text:?} {to}");
                }
            }
        }
    }
}
