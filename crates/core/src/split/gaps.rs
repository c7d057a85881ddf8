//! The text between two matches as a match of its own, so that an automaton tells the end of every piece.
//!
//! A gap goes on as long as no match begins. Of most patterns one more character says whether a match does: a digit of `\p{N}` is
//! one, and a control character begins a word only if a letter follows it. So a state of a gap remembers the class of its last
//! character, of which it is not certain yet; on the next symbol that character is part of the gap, or the gap ended before it.

use super::automaton::Automaton;

/// Whether a match begins with a character, by the symbol behind it.
struct Outcomes {
    symbols: usize,
    /// At `class * symbols + next`.
    begins: Vec<bool>,
}

impl Outcomes {
    /// None if two characters do not decide it.
    fn new(automaton: &Automaton) -> Option<Self> {
        let symbols = automaton.symbols();
        let mut known = vec![None; automaton.states()];
        let mut begins = Vec::with_capacity((symbols - 1) * symbols);
        for class in 0..symbols - 1 {
            let (state, _) = automaton.go(Automaton::START_STATE, class);
            for next in 0..symbols {
                let (after, matched) = automaton.go(state, next);
                let fails = !matched && after == Automaton::DEAD_STATE;
                if !(matched || fails || always_matches(automaton, after, &mut known)) {
                    return None;
                }
                begins.push(!fails);
            }
        }
        Some(Self { symbols, begins })
    }

    fn begins(&self, class: usize, next: usize) -> bool {
        self.begins[class * self.symbols + next]
    }

    /// Whether a character of this class may be part of a gap.
    fn may_fail(&self, class: usize) -> bool {
        class + 1 < self.symbols && (0..self.symbols).any(|next| !self.begins(class, next))
    }
}

/// Whether each way from a state comes to a match. No way goes on for ever without one (`Automaton::new`); `known` has the
/// answers for states, since many ways lead to each.
fn always_matches(automaton: &Automaton, state: usize, known: &mut [Option<bool>]) -> bool {
    if let Some(answer) = known[state] {
        return answer;
    }
    let answer = state != Automaton::DEAD_STATE
        && (0..automaton.symbols()).all(|symbol| {
            let (after, matched) = automaton.go(state, symbol);
            matched || always_matches(automaton, after, known)
        });
    known[state] = Some(answer);
    answer
}

/// The automaton that also matches each gap, as a whole; None if more than two characters decide where one ends, or an empty
/// match does, or if there would be too many states.
pub(super) fn with_gaps(automaton: &Automaton) -> Option<Automaton> {
    let (symbols, states) = (automaton.symbols(), automaton.states());
    let is_empty = |symbol| automaton.go(Automaton::START_STATE, symbol).1;
    let is_again = |state| (0..symbols).any(|symbol| automaton.go(state, symbol).0 == Automaton::START_STATE);
    if (0..symbols).any(is_empty) || (0..states).any(is_again) {
        return None;
    }
    let outcomes = Outcomes::new(automaton)?;
    // The states of the automaton; then, by class, those after the first character of a piece that may be a gap, and those after a
    // later one.
    let first = |class: usize| states + class;
    let later = |class: usize| states + symbols - 1 + class;
    // What comes after a character that is part of a gap.
    let goes_on = |next: usize| (if outcomes.may_fail(next) { later(next) } else { Automaton::DEAD_STATE }, true);
    let mut transitions = Vec::with_capacity((states + 2 * symbols) * symbols);
    for state in 0..states {
        transitions.extend((0..symbols).map(|symbol| {
            let is_gap = state == Automaton::START_STATE && outcomes.may_fail(symbol);
            if is_gap { (first(symbol), false) } else { automaton.go(state, symbol) }
        }));
    }
    for class in 0..symbols - 1 {
        let (after, _) = automaton.go(Automaton::START_STATE, class);
        let next_of = |next| if outcomes.begins(class, next) { automaton.go(after, next) } else { goes_on(next) };
        transitions.extend((0..symbols).map(next_of));
    }
    for class in 0..symbols - 1 {
        let ended = (Automaton::DEAD_STATE, false);
        transitions.extend((0..symbols).map(|next| if outcomes.begins(class, next) { ended } else { goes_on(next) }));
    }
    automaton.with_transitions(&transitions)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::{Engine, Pattern};
    use super::*;

    fn automaton(pattern: &Pattern) -> &Automaton {
        let Engine::Classes(automaton, _) = &pattern.engine else { unreachable!("{}", pattern.text()) };
        automaton
    }

    #[test]
    fn pieces_with_gaps_are_those_of_the_pattern_in_any_short_text() {
        let deepseek = concat!(
            r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"##,
            r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        );
        for (text, length) in [
            (r"\p{N}{1,3}", 6),
            (r"[a-c]+", 6),
            (r"(?:ab)+", 6),
            (r"ab|b(?!\S)", 6),
            (r"a(?:bc?|d)|c", 6),
            (deepseek, 4),
        ] {
            let pattern = Pattern::new(text).unwrap();
            let with_gaps = with_gaps(automaton(&pattern)).unwrap();
            let characters = automaton(&pattern).representatives();
            let mut gaps = 0;
            for number in 0..characters.len().pow(length) {
                let text: String = (0..length)
                    .map(|place| characters[number / characters.len().pow(place) % characters.len()])
                    .collect();
                let mut start = 0;
                for piece in pattern.pieces(&text).map(Result::unwrap) {
                    let end = start + piece.len();
                    assert_eq!(with_gaps.match_at(text.as_bytes(), start), Some(end), "{text:?} {:?}", pattern.text());
                    gaps += usize::from(automaton(&pattern).match_at(text.as_bytes(), start).is_none());
                    start = end;
                }
                assert_eq!(start, text.len());
            }
            assert!(gaps > 100, "{text} {gaps}");
        }
    }

    #[test]
    fn many_ways_to_a_match_are_followed_once() {
        let pattern = Pattern::new(r"a(?:(?s:.){0,60}\z|(?s:.){61})|[xyz]").unwrap();
        assert!(with_gaps(automaton(&pattern)).is_some());
    }

    #[test]
    fn gaps_whose_end_is_decided_late_are_refused() {
        for text in ["abc", r"a(?:bc|bd)", r"ab{2,5}"] {
            assert!(with_gaps(automaton(&Pattern::new(text).unwrap())).is_none(), "{text}");
        }
    }
}
