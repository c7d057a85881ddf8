//! The scans of the pieces that are not final after some tokens.
//!
//! The first scan is that of the first piece whose end is not certain. If it has seen a match, and none further comes, the
//! piece ends there: the next scan is that of the piece which then begins, and so on. The last one may be *fresh*: it begins
//! at the last character's end, for the case that a piece ends there. A later scan counts only if all before it end at the
//! matches that they have seen, so that their states are kept even where they cannot go on themselves.

use rustc_hash::FxHashSet;

use super::spelling::{MARK, Spelling};
use crate::normalize::{Normalizer, Tail};
use crate::split::{States, Symbol, Walls};
use crate::trie::Trie;
use crate::vocab::{NONE, Vocab};

/// Which texts there are, and their pieces.
#[derive(Clone, Copy)]
pub(super) struct Texts<'t> {
    pub(super) states: States<'t>,
    /// The normal form that they have.
    pub(super) form: Option<&'t Normalizer>,
    /// How a model of characters spells them.
    pub(super) spelling: Option<&'t Spelling>,
}

/// A token that was read.
#[derive(Clone, Copy)]
pub(super) struct Token {
    pub(super) index: u32,
    /// Whether merging its bytes makes it.
    pub(super) is_made: bool,
    /// Whether it is its own encoding as a piece.
    pub(super) is_whole: bool,
    /// Whether it fits the one before.
    pub(super) fits: bool,
}

/// The start of a piece whose bytes do not matter any more.
const LONGER: u32 = u32::MAX;

/// The scan of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scan {
    state: u16,
    /// How many tokens the piece has so far; 2 for more.
    tokens: u8,
    /// Whether they are the beginning of the encoding of a longer piece.
    open: bool,
    /// Whether they are its encoding if it ends at the end of the last whole character.
    closes: bool,
    /// Whether they are if it ends at the last match; the next scan is that of the next piece then.
    falls: bool,
    /// Where the piece starts, in bytes of `State::text`; [`LONGER`] if it is no beginning of a token that is taken whole.
    start: u32,
}

/// The bytes of a character that is not whole; zeros behind them.
pub(super) type Beginning = [u8; 4];

/// All that matters of the text before: what may follow is a function of the key and of the last token.
#[derive(Clone, Debug)]
pub(super) struct State {
    scans: Vec<Scan>,
    /// Whether the last scan begins at the end of the last whole character.
    fresh: bool,
    pub(super) partial: Beginning,
    length: u8,
    /// The index of the last token; [`NONE`] before the first.
    pub(super) last: u32,
    /// The bytes from the start of the first scan on whose bytes matter.
    text: Vec<u8>,
    /// The end of the text, as far as its normal form depends on it.
    pub(super) tail: Tail,
    /// The states of the patterns before the last one.
    walls: Walls,
    /// The bytes read so far, up to those that every text has which is not empty.
    read: u8,
    /// Whether another token holds the first bytes of the character that is not whole.
    is_split: bool,
}

/// A state without its last token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    scans: Vec<Scan>,
    fresh: bool,
    partial: Beginning,
    text: Vec<u8>,
    tail: Tail,
    walls: Walls,
    read: u8,
}

impl State {
    /// The state before a text.
    pub(super) fn new(texts: Texts) -> Self {
        let (scans, text, tail, walls) = (Vec::new(), Vec::new(), Tail::default(), texts.states.first_walls());
        let mut state = Self {
            scans,
            fresh: false,
            partial: [0; 4],
            length: 0,
            last: NONE,
            text,
            tail,
            walls,
            read: 0,
            is_split: false,
        };
        state.begin(texts.states);
        state
    }

    /// The state behind an added token.
    pub(super) fn behind_added(texts: Texts) -> Self {
        let bare = texts.spelling.filter(|spelling| spelling.is_bare_behind_added());
        Self { read: bare.map_or(0, Spelling::least), ..Self::new(texts) }
    }

    /// The state at a seam behind a text, which an added token may precede.
    pub(super) fn behind(texts: Texts, text: &str, behind_added: bool) -> Self {
        let mut state = if behind_added { Self::behind_added(texts) } else { Self::new(texts) };
        if !text.is_empty() {
            state.read = texts.spelling.map_or(0, Spelling::least);
        }
        state.tail = texts.form.map_or(state.tail, |form| form.tail(text));
        if texts.states.has_walls() {
            let walls = |walls, next: char| texts.states.after_walls(walls, next.encode_utf8(&mut [0; 4]).as_bytes()).0;
            state.walls = text.chars().fold(state.walls, walls);
        }
        state
    }

    /// Adds the fresh scan.
    fn begin(&mut self, states: States) {
        let start = self.text.len() as u32;
        self.scans.push(Scan { state: states.start(), tokens: 0, open: true, closes: false, falls: false, start });
        self.fresh = true;
    }

    /// Becomes a copy, in the memory that it has.
    pub(super) fn copy(&mut self, other: &Self) {
        self.scans.clone_from(&other.scans);
        self.text.clone_from(&other.text);
        (self.fresh, self.partial, self.length, self.last) = (other.fresh, other.partial, other.length, other.last);
        (self.tail, self.walls, self.read) = (other.tail, other.walls, other.read);
        self.is_split = other.is_split;
    }

    /// The texts that may follow, but for the last token.
    pub(super) fn key(&self) -> Key {
        let &Self { ref scans, fresh, partial, ref text, tail, walls, read, .. } = self;
        Key { scans: scans.clone(), fresh, partial, text: text.clone(), tail, walls, read }
    }

    /// The state whose text ends in nothing that a character could join, if this is another one. What follows either is the same
    /// from a character on that joins nothing, unless one has begun.
    pub(super) fn without_tail(&self) -> Option<Self> {
        let is_other = self.length == 0 && self.tail != Tail::default();
        is_other.then(|| Self { tail: Tail::default(), ..self.clone() })
    }

    /// Whether the text may end here.
    pub(super) fn may_stop(&self, Texts { states, spelling, .. }: Texts) -> bool {
        let is_short = spelling.is_some_and(|spelling| self.read > 0 && self.read < spelling.least());
        if self.length > 0 || is_short {
            return false;
        }
        let (all, fresh) = self.scans.split_at(self.scans.len() - usize::from(self.fresh));
        for scan in all {
            if states.matches_at_end(scan.state) {
                return scan.closes;
            }
            if !scan.falls {
                return false;
            }
        }
        all.is_empty() && !fresh.is_empty()
    }

    /// The facts that decide whether any text can follow, whatever its tokens.
    pub(super) fn ways(&self) -> Ways {
        (self.walls, self.scans.iter().map(|scan| (scan.state, scan.open, scan.closes, scan.falls)).collect())
    }

    /// The bytes of a character that is not whole.
    pub(super) fn beginning(&self) -> Option<&[u8]> {
        (self.length > 0).then(|| &self.partial[..usize::from(self.length)])
    }

    /// Whether the first piece may be longer than it is.
    pub(super) fn is_open(&self) -> bool {
        self.scans.first().is_some_and(|scan| scan.open)
    }

    /// Reads bytes of a token; returns false if they are no text, or cross the end of a piece for certain.
    pub(super) fn read(&mut self, texts: Texts, bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| self.read_byte(texts, byte))
    }

    fn read_byte(&mut self, texts: Texts, byte: u8) -> bool {
        let length = usize::from(self.length);
        if texts.spelling.is_some_and(|spelling| self.read < spelling.least()) {
            if self.read == 0 && byte != b' ' {
                return false;
            }
            self.read += 1;
        }
        self.partial[length] = byte;
        let character = &self.partial[..=length];
        match std::str::from_utf8(character) {
            Ok(text) => {
                if let Some((form, next)) = texts.form.zip(text.chars().next()) {
                    let Some(tail) = form.goes_on(self.tail, next) else { return false };
                    self.tail = tail;
                }
                let mut character = character;
                if let Some((spelling, next)) = texts.spelling.zip(text.chars().next()) {
                    if self.is_split && !spelling.is_unknown(next) {
                        return false;
                    }
                    character = if next == ' ' { MARK.as_bytes() } else { character };
                }
                self.is_split = false;
                let (walls, is_wall) = texts.states.after_walls(self.walls, character);
                self.walls = walls;
                let lives = step(&mut self.scans, self.fresh, texts.states, character, is_wall);
                (self.fresh, self.length, self.partial) = (false, 0, [0; 4]);
                lives
            }
            Err(error) => {
                self.length += 1;
                error.error_len().is_none()
            }
        }
    }

    /// Ends a token whose bytes were read; returns false if no encoding begins so, as far as that is known. `wholes` has the
    /// tokens of `vocab` that are pieces without being made, if there are any.
    pub(super) fn finish(&mut self, states: States, vocab: &Vocab, wholes: Option<&Trie>, token: Token) -> bool {
        let Token { index, is_made, is_whole, fits } = token;
        self.last = index;
        if wholes.is_some() {
            self.text.extend_from_slice(vocab.token_at(index as usize));
        }
        let at_end = self.length == 0;
        self.is_split = !at_end;
        for scan in &mut self.scans {
            let is_first = scan.tokens == 0;
            scan.open = if is_first { is_made } else { scan.open && fits };
            scan.tokens = (scan.tokens + 1).min(2);
            if at_end {
                // Several tokens that fit are no token that is made.
                let is_taken = || {
                    let piece = self.text.get(scan.start as usize..);
                    wholes.zip(piece).is_some_and(|(wholes, piece)| {
                        wholes.find(piece).is_some_and(|node| !wholes.ids_at(node).is_empty())
                    })
                };
                scan.closes = if is_first { is_whole } else { scan.open && !is_taken() };
            }
        }
        if at_end {
            self.begin(states);
        }
        if let Some(wholes) = wholes {
            self.forget(wholes);
        }
        self.prune()
    }

    /// Forgets text that no piece needs: what is no beginning of a token that is taken whole becomes none.
    fn forget(&mut self, wholes: &Trie) {
        let mut first = self.text.len();
        for scan in &mut self.scans {
            let node = self.text.get(scan.start as usize..).and_then(|piece| wholes.find(piece));
            if node.is_some_and(|node| wholes.subtree(node).len() > 1) {
                first = first.min(scan.start as usize);
            } else {
                scan.start = LONGER;
            }
        }
        self.text.drain(..first);
        for scan in self.scans.iter_mut().filter(|scan| scan.start != LONGER) {
            scan.start -= first as u32;
        }
    }

    /// Removes scans that lead nowhere; returns false if all do.
    fn prune(&mut self) -> bool {
        if self.fresh && self.length > 0 && self.scans.last().is_some_and(|scan| !scan.open) {
            self.scans.pop();
            self.fresh = false;
            self.scans.iter_mut().for_each(|scan| scan.closes = false);
        }
        let mut fresh = if self.fresh { self.scans.pop() } else { None };
        while let Some(last) = self.scans.last()
            && !(last.open || last.closes || last.falls)
        {
            self.scans.pop();
            if let Some(before) = self.scans.last_mut() {
                before.falls = false;
            } else {
                fresh = None;
            }
        }
        self.fresh = fresh.is_some();
        self.scans.extend(fresh);
        !self.scans.is_empty()
    }
}

/// The states of the patterns before the last one; and of each scan the state, whether it is open, whether it may end at the end
/// of the last whole character, and whether the next one counts if it ends at its last match.
pub(super) type Ways = (Walls, Vec<(u16, bool, bool, bool)>);

/// Whether some symbols let a scan that is open decide, all tokens being allowed: without that nothing can follow. The first
/// of them is one of `begun`, if that is given.
pub(super) fn has_way(states: States, ways: Ways, all: &[Symbol], begun: Option<&[Symbol]>) -> bool {
    let mut symbols = begun.unwrap_or(all);
    let mut seen = FxHashSet::default();
    let mut pending = vec![ways];
    while let Some((walls, scans)) = pending.pop() {
        if scans.first().is_some_and(|&(_, open, _, _)| open) {
            return true;
        }
        for &symbol in symbols {
            let (walls, is_wall) = states.walls_after(walls, symbol);
            let mut after = Vec::new();
            for &(state, open, closes, falls) in &scans {
                let (next, matched) =
                    if is_wall { (None, states.matches_at_end(state)) } else { states.after_symbol(state, symbol) };
                let goes_on = if matched { closes } else { falls };
                match next {
                    // Behind more tokens, which may be any, a scan that is open may end.
                    Some(next) => after.push((next, open, open, goes_on)),
                    // The text has ended, or another piece begins.
                    None if goes_on && matched && after.is_empty() => return true,
                    None => {}
                }
                if let Some(next) = states.after_symbol(states.start(), symbol).0.filter(|_| matched && closes) {
                    // The tokens of the piece that begins here may be any.
                    after.push((next, true, true, false));
                }
                if matched || !goes_on {
                    break;
                }
            }
            let after = (walls, after);
            if !after.1.is_empty() && seen.insert(after.clone()) {
                pending.push(after);
            }
        }
        symbols = all;
    }
    false
}

/// Goes on by a whole character; returns false if no way is left. Closes and fresh scans are those of the place before it. A wall
/// there ends all scans but the fresh one, as the end of the text would.
fn step(scans: &mut Vec<Scan>, fresh: bool, states: States, character: &[u8], is_wall: bool) -> bool {
    let next_piece = scans.last().copied().filter(|_| fresh);
    let count = scans.len() - usize::from(fresh);
    let (mut kept, mut joined) = (0, count == 0);
    let mut lives = true;
    for number in 0..count {
        let Scan { closes, falls, .. } = scans[number];
        let state = scans[number].state;
        let (next, matched) =
            if is_wall { (None, states.matches_at_end(state)) } else { states.after(state, character) };
        let goes_on = if matched { closes } else { falls };
        if let Some(state) = next {
            scans[kept] = Scan { state, falls: goes_on, closes: false, ..scans[number] };
            kept += 1;
        } else if !goes_on {
            // The piece ends where its tokens are not its encoding: the scans before must not end at their matches.
            lives = kept > 0;
            if lives {
                scans[kept - 1].falls = false;
            }
        }
        joined = matched && goes_on;
        if matched || !goes_on {
            break;
        }
    }
    scans.truncate(kept);
    if joined
        && let Some(fresh) = next_piece
        && let (Some(state), _) = states.after(fresh.state, character)
    {
        scans.push(Scan { state, ..fresh });
    }
    lives && !scans.is_empty()
}

/// The states along a way of bytes, each kept until another one takes its place.
#[derive(Default)]
pub(super) struct Way {
    states: Vec<State>,
}

impl Way {
    /// Begins at a state, at depth 0.
    pub(super) fn begin(&mut self, state: &State) {
        self.states.clear();
        self.states.push(state.clone());
    }

    /// Reads a byte behind the state at `depth - 1`; returns false if it is no text.
    pub(super) fn read(&mut self, depth: usize, texts: Texts, byte: u8) -> bool {
        if self.states.len() == depth {
            self.states.push(self.states[depth - 1].clone());
        } else {
            let (before, after) = self.states.split_at_mut(depth);
            after[0].copy(&before[depth - 1]);
        }
        self.states[depth].read_byte(texts, byte)
    }

    /// The state at a depth.
    pub(super) fn at(&self, depth: usize) -> &State {
        &self.states[depth]
    }
}
