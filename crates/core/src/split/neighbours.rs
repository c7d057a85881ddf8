//! Two neighbouring characters: what a pattern makes of the place between them, whatever the text further left or
//! right.
//!
//! It is read off the automaton, like a seam, but a place within a piece is certain as well. Take each state that a
//! scan can be in after the left character, and read the right one. If a match has ended between the two, and no later
//! one is sure to, a piece may end there. If no match ends behind the left character, it may lie between matches,
//! provided that the scan began with it: any other scan is followed by one that begins at the left character at the
//! latest.
//!
//! The parts of the text, matches and gaps, are those of either side alone, but perhaps for one match or gap that goes
//! across, if each of these scans is of one of three kinds:
//!
//! - The right character ends it, as the end of the text would, and neither lets a match end between the two. Then the
//!   scan is the same with the left side alone.
//! - The right character ends it, as the end of the text would, and either lets a match end between the two. Then the
//!   next scan begins with the right character, as in the right side alone.
//! - At the end of the text a match ends between the two. After the right character the scan is in a state that is
//!   equal to that of a scan that began with it: so it ends where that one does, if that one has a match. If that one
//!   may have none, a match ends between the two in the text as well.
//!
//! A text grows at the place if no such scan is of another kind than these: a match ends at the end of a text that ends with the
//! left character, and at that of one that ends with the right character; or the scan has ended before without a match there.
//!
//! Long because a third of it is tests: every pattern on all short texts.

use std::collections::HashMap;

use super::automaton::Automaton;
use super::{Engine, Pattern};
use crate::edge::Between;

/// What may be at a place, as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Neighbours(u8);

impl Neighbours {
    const NONE: Self = Self(0);
    /// A match goes across.
    pub(crate) const ONE_MATCH: Self = Self(1);
    /// Text between two matches goes across.
    pub(crate) const ONE_GAP: Self = Self(1 << 1);
    /// A match ends, and another one starts.
    pub(crate) const TWO_MATCHES: Self = Self(1 << 2);
    /// A match ends, and text without a match starts.
    pub(crate) const MATCH_AND_GAP: Self = Self(1 << 3);
    /// A match starts, and text without a match is before it.
    pub(crate) const GAP_AND_MATCH: Self = Self(1 << 4);
    /// Other parts may differ from those that either side has alone.
    pub(crate) const LINKED: Self = Self(1 << 5);
    /// A text that ends at the place may have other parts than those of the text with the right character, the last one of
    /// which ends before it.
    pub(crate) const UNSTEADY: Self = Self(1 << 6);
    /// The bits that are no case of a place.
    const BESIDES: Self = Self::LINKED.or(Self::UNSTEADY);
    /// Nothing is certain.
    pub(crate) const UNCERTAIN: Self = Self(u8::MAX);

    /// Either set's members.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The cases of a place where a part ends, or text without a match goes on, by what may be on either side.
    pub(crate) fn of_sides(left: Side, right: Side) -> Self {
        let cases = [
            (left.gap && right.gap, Self::ONE_GAP),
            (left.matched && right.matched, Self::TWO_MATCHES),
            (left.matched && right.gap, Self::MATCH_AND_GAP),
            (left.gap && right.matched, Self::GAP_AND_MATCH),
        ];
        cases.into_iter().filter(|(may_be, _)| *may_be).fold(Self::NONE, |set, (_, case)| set.or(case))
    }

    fn is_one_case(self) -> bool {
        (self.0 & !Self::BESIDES.0).is_power_of_two()
    }

    /// Whether only these cases may be at the place.
    pub(crate) fn are(self, cases: Self) -> bool {
        !self.has(Self(!cases.or(Self::BESIDES).0))
    }

    /// Whether text without a match is behind the place, and all other parts are those of either side alone.
    pub(crate) fn are_gaps_behind(self) -> bool {
        !self.has(Self(!Self::ONE_GAP.or(Self::MATCH_AND_GAP).or(Self::UNSTEADY).0))
    }

    /// The effect at the place, if these cases make one piece across it, and a piece ends there in all others.
    pub(crate) fn effect(self, joining: Self, left: Option<char>, right: char) -> Between {
        if self.has(Self::LINKED) {
            Between::Unknown
        } else if self.has(joining) {
            Between::Inside { left, right, joined: self.are(joining) }
        } else {
            Between::Wall
        }
    }
}

/// What a character beside a place may be in that ends or starts there.
#[derive(Clone, Copy, Default)]
pub(crate) struct Side {
    pub(crate) matched: bool,
    pub(crate) gap: bool,
}

/// What is at a place, by the classes of its neighbours.
pub(super) struct NeighbourTable {
    /// At `left * symbols + right`; the last row is for a left character that is not known, or for none.
    sets: Vec<Neighbours>,
    scans: Scans,
}

impl Pattern {
    /// What may be at the place between two characters in every text. An unknown left character may be any, or none.
    pub(crate) fn neighbours(&self, left: Option<char>, right: char) -> Neighbours {
        let automaton = match &self.engine {
            Engine::Whole => return Neighbours::ONE_MATCH,
            Engine::Classes(automaton, _) => automaton,
            Engine::Regular(_) | Engine::Backtracking(_) => return Neighbours::UNCERTAIN,
        };
        let table = self.neighbours.get_or_init(|| NeighbourTable::new(automaton));
        let unknown = automaton.symbols() - 1;
        let class = |character| automaton.class_of(character).map_or(unknown, usize::from);
        let row = left.map_or(unknown, class);
        table.sets.get(row * automaton.symbols() + class(right)).copied().unwrap_or(Neighbours::UNCERTAIN)
    }

    /// What may be at the place behind some characters, of which more than the last one are looked at.
    pub(crate) fn neighbours_behind(&self, left: &[char], right: char) -> Neighbours {
        let near = self.neighbours(left.last().copied(), right);
        if near.is_one_case() {
            return near;
        }
        let (Engine::Classes(automaton, _), Some(table), 2..) = (&self.engine, self.neighbours.get(), left.len())
        else {
            return near;
        };
        let classes: Option<Vec<u8>> = left.iter().map(|&character| automaton.class_of(character)).collect();
        let (Some(classes), Some(right)) = (classes, automaton.class_of(right)) else { return near };
        table.scans.behind(automaton, &classes, usize::from(right))
    }

    /// The effect at the place between two characters in every text: the pieces are those of either part alone, but at
    /// a place inside, where the last of the left part and the first of the right part may be one; if joined, they are
    /// one.
    pub(crate) fn between(&self, left: Option<char>, right: char) -> Between {
        self.neighbours(left, right).effect(ONE, left, right)
    }

    /// Whether a text that ends with the left character has, once the right one is appended, the same pieces, of which the
    /// last one is longer by it; with more text behind them they may be others.
    pub(crate) fn grows(&self, left: char, right: char) -> bool {
        let set = self.neighbours(Some(left), right);
        set.are(Neighbours::ONE_MATCH) && !set.has(Neighbours::UNSTEADY)
    }

    /// Whether the last one of some characters and the next one are in one piece in every text.
    pub(crate) fn joins(&self, left: &[char], right: char) -> bool {
        self.neighbours_behind(left, right).are(ONE)
    }
}

/// One piece goes across.
const ONE: Neighbours = Neighbours::ONE_MATCH.or(Neighbours::ONE_GAP);

impl NeighbourTable {
    fn new(automaton: &Automaton) -> Self {
        let scans = Scans { equal: equal_states(automaton), sure: sure_states(automaton) };
        let symbols = automaton.symbols();
        let mut sets = vec![Neighbours::NONE; symbols * symbols];
        for left in 0..symbols - 1 {
            let after = Scans::after(automaton, 0..automaton.states(), left);
            for right in 0..symbols - 1 {
                let set = scans.between(automaton, &after, left, right);
                sets[left * symbols + right] = set;
                let any = &mut sets[(symbols - 1) * symbols + right];
                *any = any.or(set);
            }
        }
        Self { sets, scans }
    }
}

/// What is known of the states of an automaton.
struct Scans {
    /// By state: a number that equal states share.
    equal: Vec<u16>,
    /// By state: whether a match will end here or later, whatever comes.
    sure: Vec<bool>,
}

impl Scans {
    /// The states after a character of a class, given those before it.
    fn after(automaton: &Automaton, before: impl IntoIterator<Item = usize>, class: usize) -> Vec<usize> {
        let mut after: Vec<usize> = before.into_iter().map(|state| automaton.go(state, class).0).collect();
        after.sort_unstable();
        after.dedup();
        after
    }

    /// Whether no match will end here or later, whatever comes.
    fn is_hopeless(&self, state: usize) -> bool {
        self.equal[state] == self.equal[Automaton::DEAD_STATE]
    }

    /// What may be behind some characters.
    fn behind(&self, automaton: &Automaton, left: &[u8], right: usize) -> Neighbours {
        let mut states: Vec<usize> = (0..automaton.states()).collect();
        for &class in left {
            // A scan may begin at each character.
            states.push(Automaton::START_STATE);
            states = Self::after(automaton, states, usize::from(class));
        }
        left.last().map_or(Neighbours::UNCERTAIN, |&last| self.between(automaton, &states, usize::from(last), right))
    }

    /// What may be between two classes of characters, given all states after the left one.
    fn between(&self, automaton: &Automaton, after: &[usize], left: usize, right: usize) -> Neighbours {
        let end = automaton.symbols() - 1;
        let (alone, _) = automaton.go(Automaton::START_STATE, right);
        let (first, _) = automaton.go(Automaton::START_STATE, left);
        let starts = Side { matched: !self.is_hopeless(alone), gap: !self.sure[alone] };
        let mut ends = Side::default();
        let mut set = Neighbours::NONE;
        for &state in after {
            let (next, ends_before_right) = automaton.go(state, right);
            let (_, ends_with_text) = automaton.go(state, end);
            let goes_on = !self.is_hopeless(next);
            let is_equal = self.equal[next] == self.equal[alone];
            if goes_on {
                set = set.or(Neighbours::ONE_MATCH);
            }
            if !self.sure[next] {
                if !ends_before_right {
                    ends.gap |= state == first;
                } else if goes_on && is_equal {
                    // Had the next scan a match, so had this one.
                    set = set.or(Neighbours::MATCH_AND_GAP);
                } else {
                    ends.matched = true;
                }
            }
            let is_linked = if goes_on {
                !(ends_with_text && is_equal && (ends_before_right || self.sure[next]))
            } else {
                ends_before_right != ends_with_text
            };
            if is_linked {
                set = set.or(Neighbours::LINKED);
            }
            let (_, ends_with_right) = automaton.go(next, end);
            // A scan that has ended without a match there leaves the place to a later one.
            let is_steady = if goes_on { ends_with_text && ends_with_right } else { !ends_with_text };
            if !is_steady {
                set = set.or(Neighbours::UNSTEADY);
            }
        }
        set.or(Neighbours::of_sides(ends, starts))
    }
}

/// A number for each state that states share if they find the same matches in every text; each has its own if there are
/// so many that comparing takes long.
fn equal_states(automaton: &Automaton) -> Vec<u16> {
    /// Transitions that are compared at most.
    const MOST: usize = 1 << 22;
    let (states, symbols) = (automaton.states(), automaton.symbols());
    let mut numbers = vec![0_u16; states];
    let mut count = 1;
    // States differ if a match ends at one of them, or if they lead to states that differ.
    for _ in 0..=MOST / (states * symbols) {
        let mut known = HashMap::new();
        let refined = (0..states).map(|state| {
            let row = (0..symbols).map(|symbol| {
                let (next, is_match) = automaton.go(state, symbol);
                (numbers[next], is_match)
            });
            let number = known.len() as u16;
            *known.entry((numbers[state], row.collect::<Vec<_>>())).or_insert(number)
        });
        let refined = refined.collect();
        if known.len() == count {
            return numbers;
        }
        (numbers, count) = (refined, known.len());
    }
    (0..states).map(|state| state as u16).collect()
}

/// By state: whether each way from it comes to a match.
fn sure_states(automaton: &Automaton) -> Vec<bool> {
    let mut sure = vec![false; automaton.states()];
    loop {
        let mut is_settled = true;
        // Later states are found from earlier ones, so that most of them settle in one pass.
        for state in (0..sure.len()).rev().filter(|&state| state != Automaton::DEAD_STATE) {
            let each_way = |symbol| {
                let (next, is_match) = automaton.go(state, symbol);
                is_match || sure[next]
            };
            if !sure[state] && (0..automaton.symbols()).all(each_way) {
                sure[state] = true;
                is_settled = false;
            }
        }
        if is_settled {
            return sure;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::{marked_words, names};
    use super::*;

    const CLIP: &str = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";

    /// The parts of a text, as bits by character: which of them end a match or a gap, and which are in a match.
    type Parts = (u16, u16);

    fn parts(pattern: &Pattern, text: &str) -> Parts {
        let (mut ends, mut matched, mut at) = (0, 0, 0);
        let count = |end: usize| text[..end].chars().count();
        let bits = |start: usize, end: usize| (1_u16 << count(end)) - (1 << count(start));
        while at < text.len() {
            let (start, end) = pattern.find(text, at).unwrap().unwrap_or((text.len(), text.len()));
            for end in [start, end].into_iter().filter(|&end| end > at) {
                ends |= 1 << (count(end) - 1);
            }
            matched |= bits(start, end);
            at = end;
        }
        (ends, matched)
    }

    /// All texts of some characters up to a length, by number, and their parts.
    struct Texts {
        characters: Vec<char>,
        parts: Vec<Vec<Parts>>,
    }

    impl Texts {
        fn new(pattern: &Pattern, characters: Vec<char>, longest: u32) -> Self {
            let mut texts = Self { characters, parts: Vec::new() };
            for length in 0..=longest {
                let all = 0..texts.characters.len().pow(length);
                texts.parts.push(all.map(|number| parts(pattern, &texts.text(number, length))).collect());
            }
            texts
        }

        fn text(&self, number: usize, length: u32) -> String {
            let count = self.characters.len();
            (0..length).map(|place| self.characters[number / count.pow(place) % count]).collect()
        }

        /// Whether the parts of a text before its last character are its parts, but that the last match is longer.
        fn grows(&self, number: usize, length: usize) -> bool {
            let (ends, matched) = self.parts[length][number];
            let last = 1 << (length - 1);
            let (fewer_ends, fewer_matched) =
                self.parts[length - 1][number % self.characters.len().pow(length as u32 - 1)];
            ends == fewer_ends & !(last >> 1) | last && matched == fewer_matched | last && matched & last >> 1 != 0
        }

        /// The case at a place of a text, and whether the other parts of the text are those of either side alone.
        fn case(&self, number: usize, length: usize, place: usize) -> (Neighbours, bool) {
            let power = self.characters.len().pow(place as u32);
            let (ends, matched) = self.parts[length][number];
            let (left_ends, left_matched) = self.parts[place][number % power];
            let (right_ends, right_matched) = self.parts[length - place][number / power];
            let last = 1 << (place - 1);
            let case = match (ends & last != 0, matched & last != 0, matched & 1 << place != 0) {
                (true, true, true) => Neighbours::TWO_MATCHES,
                (true, true, false) => Neighbours::MATCH_AND_GAP,
                (true, false, true) => Neighbours::GAP_AND_MATCH,
                (false, true, true) => Neighbours::ONE_MATCH,
                (false, false, false) => Neighbours::ONE_GAP,
                _ => unreachable!("a part is a match or none"),
            };
            let is_alone =
                matched == left_matched | right_matched << place && ends | last == left_ends | right_ends << place;
            (case, is_alone)
        }
    }

    /// Patterns, how long texts are that prove them, and for how many pairs nothing is said though all these texts
    /// agree.
    fn patterns() -> Vec<(String, u32, usize)> {
        let patterns = [
            (names::GPT2, 5, 4),
            (names::CL100K, 5, 2),
            (names::O200K, 4, 21),
            (names::LLAMA3, 5, 2),
            (names::QWEN2, 5, 2),
            (r"\p{N}{1,3}", 7, 0),
            ("[一-龥]+", 7, 0),
            (CLIP, 5, 0),
            (r"\s+|\S{1,2}", 7, 0),
            (r"[a-z]+| ?[.,]+\n*|\s+(?!\S)", 5, 3),
            (r"x|\s+(?!\S)", 6, 0),
            (r"ab|b+c?|aa(?!\S)", 7, 0),
            (r"a?\z|ab|[bc]", 7, 0),
            ("a*?|b", 7, 0),
            ("(?:ab)+c?|bc|b", 7, 0),
            ("a{2,3}b?|b{2}", 8, 0),
            (r"a(?:bc)*d|\w", 6, 0),
        ];
        let patterns = patterns.into_iter().map(|(text, longest, unsaid)| (text.to_owned(), longest, unsaid));
        let marked = [&[][..], &['>'], &['>', '-']].map(|reaching| (marked_words::pattern(reaching), 6, 0));
        patterns.chain(marked).collect()
    }

    #[test]
    fn what_is_at_each_place_is_in_the_set_in_all_short_texts() {
        for (text, longest, expected) in patterns() {
            let pattern = Pattern::new(&text).unwrap();
            let Engine::Classes(automaton, _) = &pattern.engine else { unreachable!("{text}") };
            let texts = Texts::new(&pattern, automaton.representatives(), longest);
            let count = texts.characters.len();
            // By pair, and by pair and the character before it: what was found.
            let mut pairs = vec![Neighbours::NONE; count * count];
            let mut threes = vec![Neighbours::NONE; count * count * count];
            let mut grows = vec![true; count * count];
            for length in 2..=longest as usize {
                for number in 0..count.pow(length as u32) {
                    grows[number / count.pow(length as u32 - 2)] &= texts.grows(number, length);
                    for place in 1..length {
                        let (case, is_alone) = texts.case(number, length, place);
                        let case = if is_alone { case } else { case.or(Neighbours::LINKED) };
                        let pair = &mut pairs[number / count.pow(place as u32 - 1) % (count * count)];
                        *pair = pair.or(case);
                        if place > 1 {
                            let three = &mut threes[number / count.pow(place as u32 - 2) % (count * count * count)];
                            *three = three.or(case);
                        }
                    }
                }
            }
            let mut unsaid = Vec::new();
            for (pair, &found) in pairs.iter().enumerate() {
                let (left, right) = (texts.characters[pair % count], texts.characters[pair / count]);
                let said = pattern.neighbours(Some(left), right);
                let any = pattern.neighbours(None, right);
                assert!(grows[pair] || !pattern.grows(left, right), "{text} {left:?} {right:?}");
                assert!(said.or(any) == any && found.or(said) == said, "{text} {left:?} {right:?} {said:?} {found:?}");
                if said.has(Neighbours::LINKED) && !found.has(Neighbours::LINKED) {
                    unsaid.push((left, right));
                }
                for before in 0..count {
                    let left = [texts.characters[before], left];
                    let (found, said) = (threes[before + pair * count], pattern.neighbours_behind(&left, right));
                    assert!(found.or(said) == said, "{text} {left:?} {right:?} {said:?} {found:?}");
                }
            }
            assert_eq!(unsaid.len(), expected, "{text} {unsaid:?}");
        }
    }

    #[test]
    fn a_word_grows_where_the_piece_behind_it_depends_on_how_it_began() {
        let pattern = Pattern::new(r"[!?][A-Za-z]+|[^\r\n\p{L}!?]?[\p{L}\p{M}]+| ?[!?]+|\s").unwrap();
        assert_eq!(pattern.between(Some('a'), 'b'), Between::Unknown);
        assert!(pattern.grows('a', 'b') && pattern.grows('é', 'a') && !pattern.grows('a', 'é'));
    }

    #[test]
    fn letters_are_in_one_piece_and_words_end_before_spaces() {
        for name in [names::GPT2, names::CL100K, names::LLAMA3, names::QWEN2, names::O200K, CLIP] {
            let pattern = Pattern::new(name).unwrap();
            for left in 'a'..='z' {
                assert_eq!(pattern.between(Some(left), ' '), Between::Wall, "{name} {left:?}");
                for right in 'a'..='z' {
                    assert!(pattern.joins(&['a', 'b', left], right), "{name} {left:?} {right:?}");
                }
            }
            let inside = Between::Inside { left: Some('a'), right: 'b', joined: true };
            assert_eq!(pattern.between(Some('a'), 'b'), inside, "{name}");
            assert!(pattern.joins(&['日'], '本') && !pattern.joins(&['s'], 't'), "{name}");
        }
    }

    #[test]
    fn other_engines_say_nothing_and_no_pattern_leaves_all_in_one() {
        let inside = Between::Inside { left: None, right: 'b', joined: true };
        assert_eq!(Pattern::new("").unwrap().between(None, 'b'), inside);
        for text in [r"\bx|(?s:.)", r"(.)\1|."] {
            let pattern = Pattern::new(text).unwrap();
            assert_eq!(pattern.between(Some('a'), ' '), Between::Unknown);
            assert!(!pattern.joins(&['a', 'a'], 'a'));
        }
    }

    #[test]
    fn so_many_states_that_comparing_takes_long_are_each_its_own() {
        let pattern = Pattern::new("a{1,1500}|b").unwrap();
        let Engine::Classes(automaton, _) = &pattern.engine else { unreachable!() };
        assert_eq!(equal_states(automaton)[1], 1);
        assert_eq!(pattern.between(Some('a'), 'b'), Between::Wall);
    }
}
