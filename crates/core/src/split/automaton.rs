//! A split pattern as an automaton over classes of characters: one step a character, from a table.
//!
//! Alternatives are compiled to a nondeterministic automaton (Thompson's construction) whose threads have an order, the
//! order in which a backtracking engine would try them; sets of threads in that order are the states of the automaton
//! that runs (as in Cox, "Regular Expression Matching: the Virtual Machine Approach", and RE2). A thread reads
//! the class of the next character, or the end of the text, so that `(?!\S)` and `\z` are decided on the way, and a match is
//! reported one step late.
//!
//! Weakness: patterns that need more than classes of characters, or that could read on for ever and then fail, are left to
//! other engines; and each step depends on the one before.
//!
//! Long because compiling the threads, the table and its steps are one construction.

use std::collections::HashMap;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look};

use super::alternatives;
use super::classes::Classes;
use super::kinds::Kinds;
use super::starts::Starts;

/// Set in a transition: the text up to here is a match.
const MATCH: u16 = 1 << 15;

/// The state without threads.
const DEAD: u16 = 0;

/// More threads or states than this are not worth their memory; patterns in use have some dozens.
const MOST: usize = 4096;

/// Between which classes of characters there are seams.
pub(super) struct SeamTable {
    pub(super) symbols: usize,
    /// At `left * symbols + right`: whether there is a seam between characters of these classes.
    pub(super) between: Vec<bool>,
    /// Whether each character starts a match, so that no text lies between two.
    pub(super) covers: bool,
}

/// A split pattern that is decided by the classes of its characters.
pub(super) struct Automaton {
    classes: Classes,
    /// The transitions of state `s` on symbol `c` are at `s + c`: the number of a state is where its row starts. The
    /// last symbol is the end of the text.
    next: Vec<u16>,
    start: u16,
    end_of_text: u8,
    /// The first bytes of the characters that a match may start with.
    starts: Starts,
    /// Characters of ASCII, as bits, of which each match has one where all text is ASCII.
    needed: u128,
}

impl Automaton {
    /// The automaton of some alternatives; None if one of them has something that classes cannot decide, if it would be
    /// too large, or if it could read on for ever in search of a match and then find none.
    pub(super) fn new(alternatives: &[String]) -> Option<Self> {
        let mut program = Program::default();
        program.alternation(alternatives)?;
        let classes = Classes::new(&program.sets)?;
        let mut automaton = determinize(&program, classes)?;
        if !automaton.fails_soon() {
            return None;
        }
        let starts = &automaton.next[usize::from(automaton.start)..];
        let first_bytes = automaton.classes.first_bytes(|class| starts[usize::from(class)] & !MATCH != DEAD);
        automaton.starts = Starts::new(first_bytes);
        automaton.needed = alternatives::needed(alternatives);
        Some(automaton)
    }

    /// The kinds of the characters beyond ASCII.
    pub(super) fn kinds(&self) -> Kinds {
        Kinds::of(&self.classes)
    }

    /// The first character after the one at `at` that a match may start with, or the end of the text.
    #[inline]
    pub(super) fn next_start(&self, text: &str, at: usize) -> usize {
        let behind = text.len().min(at + 1);
        behind + self.starts.next(&text.as_bytes()[behind..])
    }

    /// Whether there may be a match in text of these characters of ASCII alone, given as bits.
    #[inline]
    pub(super) fn may_match(&self, characters: u128) -> bool {
        self.needed & characters != 0
    }

    /// Whether a text begins with a match, if each character that begins one is one by itself.
    #[inline]
    pub(super) fn begins(&self, text: &[u8]) -> bool {
        match text.first() {
            Some(byte) if byte.is_ascii() => self.starts.has(*byte),
            _ => self.match_at(text, 0).is_some(),
        }
    }

    /// Where the match that starts at `at` ends; None if there is none.
    #[inline]
    pub(super) fn match_at(&self, text: &[u8], at: usize) -> Option<usize> {
        let mut found = None;
        let mut state = self.start;
        let mut place = at;
        loop {
            let (symbol, length) = self.classes.at(text, place).unwrap_or((self.end_of_text, 0));
            let next = self.next[usize::from(state) + usize::from(symbol)];
            if next & MATCH != 0 {
                found = Some(place);
            }
            state = next & !MATCH;
            if state == DEAD {
                return found;
            }
            place += length;
        }
    }

    /// The state before anything was read.
    #[inline]
    pub(super) fn start(&self) -> u16 {
        self.start
    }

    /// Reads on from `at` in some state, up to `to`; returns the state there and the place of the last match that was
    /// seen on the way. The state is None once nothing more can match.
    #[inline]
    pub(super) fn read_on(&self, state: u16, text: &[u8], at: usize, to: usize) -> (Option<u16>, Option<usize>) {
        let (mut state, mut at, mut found) = (state, at, None);
        while at < to {
            let Some((class, length)) = self.classes.at(text, at) else { break };
            let next = self.next[usize::from(state) + usize::from(class)];
            if next & MATCH != 0 {
                found = Some(at);
            }
            state = next & !MATCH;
            if state == DEAD {
                return (None, found);
            }
            at += length;
        }
        (Some(state), found)
    }

    /// Reads the character at `at`: the state after it, None if nothing more can match, where it ends, and whether there
    /// is a match that ends before it.
    #[inline]
    pub(super) fn step(&self, state: u16, text: &[u8], at: usize) -> (Option<u16>, usize, bool) {
        let (class, length) = self.classes.at(text, at).unwrap_or((self.end_of_text, 0));
        let next = self.next[usize::from(state) + usize::from(class)];
        (Some(next & !MATCH).filter(|&next| next != DEAD), at + length, next & MATCH != 0)
    }

    /// Whether there is a match that ends here if the text does.
    #[inline]
    pub(super) fn matches_at_end(&self, state: u16) -> bool {
        self.next[usize::from(state) + usize::from(self.end_of_text)] & MATCH != 0
    }

    /// The number of the state without threads, from which no match is found.
    pub(super) const DEAD_STATE: usize = 0;

    /// The number of the state before anything was read.
    pub(super) const START_STATE: usize = 1;

    /// The number of classes of characters, and one for the end of the text, which is the last one.
    pub(super) fn symbols(&self) -> usize {
        usize::from(self.end_of_text) + 1
    }

    /// The number of states, each of which some text leads to but for the one without threads.
    pub(super) fn states(&self) -> usize {
        self.next.len() / self.symbols()
    }

    /// The number of the state that a symbol leads to, and whether a match ends before the symbol.
    pub(super) fn go(&self, state: usize, symbol: usize) -> (usize, bool) {
        let symbols = self.symbols();
        let next = self.next[state * symbols + symbol];
        (usize::from(next & !MATCH) / symbols, next & MATCH != 0)
    }

    /// The automaton of the same classes with other transitions: by state and symbol, what [`Automaton::go`] returns. None if there
    /// are too many.
    pub(super) fn with_transitions(&self, transitions: &[(usize, bool)]) -> Option<Self> {
        let symbols = self.symbols();
        let row = |&(state, matched): &(usize, bool)| {
            let row = u16::try_from(state * symbols).ok().filter(|&row| row < MATCH)?;
            Some(row | if matched { MATCH } else { 0 })
        };
        let next = transitions.iter().map(row).collect::<Option<_>>()?;
        let (classes, starts) = (self.classes.clone(), Starts::new([true; 256]));
        Some(Self { classes, next, start: self.start, end_of_text: self.end_of_text, starts, needed: u128::MAX })
    }

    /// The class of the character that starts at `at`; None at the end of the text.
    #[inline]
    pub(super) fn class(&self, text: &[u8], at: usize) -> Option<u8> {
        self.classes.at(text, at).map(|(class, _)| class)
    }

    /// The class of a character.
    pub(super) fn class_of(&self, character: char) -> Option<u8> {
        self.class(character.encode_utf8(&mut [0; 4]).as_bytes(), 0)
    }

    /// Between which classes of characters text may be cut (the argument is in `split::seams`).
    pub(super) fn seams(&self) -> SeamTable {
        let symbols = usize::from(self.end_of_text) + 1;
        let next = |state: u16, symbol: usize| self.next[usize::from(state) + symbol];
        let ends = |state: u16, symbol| next(state, symbol) == MATCH | DEAD;
        let mut between = vec![true; symbols * symbols];
        for left in 0..symbols - 1 {
            // A character that starts no match may lie between matches, and so may its successors.
            if next(self.start, left) & !MATCH == DEAD {
                between[left * symbols..(left + 1) * symbols].fill(false);
            }
        }
        for state in (0..self.next.len()).step_by(symbols) {
            for left in 0..symbols - 1 {
                let after = next(state as u16, left) & !MATCH;
                if after != DEAD {
                    for right in 0..symbols {
                        between[left * symbols + right] &= ends(after, right) && ends(after, symbols - 1);
                    }
                }
            }
        }
        SeamTable { symbols, between, covers: self.covers() }
    }

    /// Whether no thread in any state reads a character of this class.
    pub(super) fn never_reads(&self, class: u8) -> bool {
        let symbols = usize::from(self.end_of_text) + 1;
        self.next.iter().skip(usize::from(class)).step_by(symbols).all(|next| next & !MATCH == DEAD)
    }

    /// Whether each character starts a match.
    fn covers(&self) -> bool {
        let symbols = usize::from(self.end_of_text) + 1;
        let next = |state: u16, symbol: usize| self.next[usize::from(state) + symbol];
        // From a first character on, each way has to reach a match.
        let mut unmatched: Vec<u16> = (0..symbols - 1).map(|class| next(self.start, class) & !MATCH).collect();
        let mut known = vec![false; self.next.len()];
        while let Some(state) = unmatched.pop() {
            if state == DEAD {
                return false;
            }
            if !std::mem::replace(&mut known[usize::from(state)], true) {
                unmatched.extend((0..symbols).map(|symbol| next(state, symbol)).filter(|next| next & MATCH == 0));
            }
        }
        true
    }

    /// Whether every way through states that have not seen a match is short.
    fn fails_soon(&self) -> bool {
        let symbols = usize::from(self.end_of_text) + 1;
        // Steps that no match goes with, from each state that they can reach: a way longer than all states is a circle.
        let mut reached = vec![self.start];
        for _ in 0..=self.next.len() / symbols {
            let mut further: Vec<u16> = reached
                .iter()
                .flat_map(|&state| &self.next[usize::from(state)..usize::from(state) + symbols])
                .copied()
                .filter(|&next| next & MATCH == 0 && next != DEAD)
                .collect();
            further.sort_unstable();
            further.dedup();
            if further.is_empty() {
                return true;
            }
            reached = further;
        }
        false
    }
}

/// The next action of a thread.
#[derive(Clone, Copy)]
enum Instruction {
    /// Reads a character of this set.
    Read { set: usize, then: usize },
    /// Tries both, the first one first.
    Fork { first: usize, second: usize },
    /// Goes on unless a character of this set comes next.
    Unless { set: usize, then: usize },
    /// Goes on at the end of the text only.
    AtEnd { then: usize },
    /// Has matched.
    Match,
}

/// The nondeterministic automaton.
#[derive(Default)]
struct Program {
    instructions: Vec<Instruction>,
    sets: Vec<ClassUnicode>,
    start: usize,
}

impl Program {
    /// Compiled from the back: each part gets the address of its successor.
    fn alternation(&mut self, alternatives: &[String]) -> Option<()> {
        let matched = self.push(Instruction::Match)?;
        let mut starts = Vec::new();
        for alternative in alternatives {
            let (body, then) = match alternative.strip_suffix(alternatives::NO_TEXT_NEXT) {
                Some(body) => {
                    let Class::Unicode(text) = regex_class(r"\S")? else { return None };
                    let set = self.set(text);
                    (body, self.push(Instruction::Unless { set, then: matched })?)
                }
                None => (alternative.as_str(), matched),
            };
            starts.push(self.part(&regex_syntax::parse(body).ok()?, then)?);
        }
        self.start = self.fork(starts)?;
        Some(())
    }

    fn push(&mut self, instruction: Instruction) -> Option<usize> {
        self.instructions.push(instruction);
        (self.instructions.len() < MOST).then_some(self.instructions.len() - 1)
    }

    fn set(&mut self, set: ClassUnicode) -> usize {
        self.sets.iter().position(|known| *known == set).unwrap_or_else(|| {
            self.sets.push(set);
            self.sets.len() - 1
        })
    }

    /// A thread that tries several beginnings in order.
    fn fork(&mut self, starts: Vec<usize>) -> Option<usize> {
        let mut backwards = starts.into_iter().rev();
        let mut rest = backwards.next()?;
        for first in backwards {
            rest = self.push(Instruction::Fork { first, second: rest })?;
        }
        Some(rest)
    }

    fn part(&mut self, part: &Hir, then: usize) -> Option<usize> {
        match part.kind() {
            HirKind::Empty => Some(then),
            HirKind::Look(Look::End) => self.push(Instruction::AtEnd { then }),
            HirKind::Literal(literal) => {
                std::str::from_utf8(&literal.0).ok()?.chars().rev().try_fold(then, |then, only| {
                    let set = self.set(ClassUnicode::new([ClassUnicodeRange::new(only, only)]));
                    self.push(Instruction::Read { set, then })
                })
            }
            HirKind::Class(Class::Unicode(class)) => {
                let set = self.set(class.clone());
                self.push(Instruction::Read { set, then })
            }
            HirKind::Capture(capture) => self.part(&capture.sub, then),
            HirKind::Concat(parts) => parts.iter().rev().try_fold(then, |then, part| self.part(part, then)),
            HirKind::Alternation(parts) => {
                let starts = parts.iter().map(|part| self.part(part, then)).collect::<Option<_>>()?;
                self.fork(starts)
            }
            HirKind::Repetition(repetition) => {
                // A part that can match nothing would have a thread run in a circle.
                if repetition.sub.properties().minimum_len() == Some(0) {
                    return None;
                }
                let fork = |more, done| {
                    let (first, second) = if repetition.greedy { (more, done) } else { (done, more) };
                    Instruction::Fork { first, second }
                };
                let mut after = then;
                if let Some(most) = repetition.max {
                    for _ in repetition.min..most {
                        let more = self.part(&repetition.sub, after)?;
                        after = self.push(fork(more, then))?;
                    }
                } else {
                    // The fork precedes its loop body, so its first way is set after the body is compiled.
                    let again = self.push(Instruction::Match)?;
                    let more = self.part(&repetition.sub, again)?;
                    self.instructions[again] = fork(more, then);
                    after = again;
                }
                (0..repetition.min).try_fold(after, |after, _| self.part(&repetition.sub, after))
            }
            HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => None,
        }
    }
}

fn regex_class(pattern: &str) -> Option<Class> {
    match regex_syntax::parse(pattern).ok()?.into_kind() {
        HirKind::Class(class) => Some(class),
        _ => None,
    }
}

/// One step of all threads, in order, given what comes next: the threads after it, and whether one of them has matched
/// before it, which ends all threads of lower order.
struct Step<'a> {
    program: &'a Program,
    classes: &'a Classes,
    /// None for the end of the text.
    class: Option<usize>,
    seen: Vec<bool>,
    after: Vec<usize>,
    matched: bool,
}

impl Step<'_> {
    fn is_next(&self, set: usize) -> bool {
        self.class.is_some_and(|class| self.classes.is_in(class, set))
    }

    fn thread(&mut self, start: usize) {
        let mut pending = vec![start];
        while let Some(at) = pending.pop() {
            if self.matched {
                return;
            }
            if std::mem::replace(&mut self.seen[at], true) {
                continue;
            }
            match self.program.instructions[at] {
                Instruction::Read { set, then } if self.is_next(set) => {
                    if !self.after.contains(&then) {
                        self.after.push(then);
                    }
                }
                Instruction::Fork { first, second } => pending.extend([second, first]),
                Instruction::Unless { set, then } if !self.is_next(set) => pending.push(then),
                Instruction::AtEnd { then } if self.class.is_none() => pending.push(then),
                Instruction::Match => self.matched = true,
                Instruction::Read { .. } | Instruction::Unless { .. } | Instruction::AtEnd { .. } => {}
            }
        }
    }
}

fn determinize(program: &Program, classes: Classes) -> Option<Automaton> {
    let symbols = classes.len() + 1;
    let mut states: Vec<Vec<usize>> = vec![Vec::new(), vec![program.start]];
    let mut numbers: HashMap<Vec<usize>, usize> = states.iter().cloned().zip(0..).collect();
    let mut next = vec![DEAD; symbols];
    let mut at = 1;
    while at < states.len() {
        for symbol in 0..symbols {
            let mut step = Step {
                program,
                classes: &classes,
                class: (symbol < classes.len()).then_some(symbol),
                seen: vec![false; program.instructions.len()],
                after: Vec::new(),
                matched: false,
            };
            for &thread in &states[at] {
                step.thread(thread);
            }
            let Step { after, matched, .. } = step;
            let number = *numbers.entry(after).or_insert_with_key(|after| {
                states.push(after.clone());
                states.len() - 1
            });
            let row = u16::try_from(number * symbols).ok().filter(|&row| row < MATCH)?;
            next.push(row | if matched { MATCH } else { 0 });
        }
        at += 1;
    }
    let starts = Starts::new([false; 256]);
    Some(Automaton {
        next,
        start: symbols as u16,
        end_of_text: classes.len() as u8,
        starts,
        needed: u128::MAX,
        classes,
    })
}

#[cfg(test)]
impl Automaton {
    /// A character of each class; of classes that the automaton treats alike, one.
    pub(super) fn representatives(&self) -> Vec<char> {
        let symbols = usize::from(self.end_of_text) + 1;
        let mut seen = Vec::new();
        let mut representatives = Vec::new();
        let mut of_class = vec![None; symbols];
        for character in '\0'..=char::MAX {
            let class = self.classes.at(character.encode_utf8(&mut [0; 4]).as_bytes(), 0).map_or(0, |(class, _)| class);
            of_class[usize::from(class)].get_or_insert(character);
        }
        for (class, character) in of_class.into_iter().enumerate() {
            let treated: Vec<u16> = self.next.iter().skip(class).step_by(symbols).copied().collect();
            if let Some(character) = character.filter(|_| !seen.contains(&treated)) {
                seen.push(treated);
                representatives.push(character);
            }
        }
        representatives
    }
}
