//! Unigram: the tokens whose scores, log probabilities, have the largest sum.
//!
//! Ties are broken from left to right: each place keeps the first best way to it. A character that is no token costs ten
//! more than the lowest score. Characters in a row that are unknown are one token, or all of their bytes, with
//! `byte_fallback` if all are there; or the token that they spell together, which can only be if scores are high.
//!
//! That is the model of `tokenizers`. The one of `sentencepiece`, which states the score of an unknown character, rounds
//! each sum to 32 bits; where the best sum is below -100,000, sums start from zero again, so that they stay exact enough
//! (`sentencepiece` 0.2.3 was seen to do so; other versions may not); and text never becomes its unknown token or a byte
//! token by spelling it.
//!
//! Where a vocabulary has other tokens than the model that finds them, as Marian's have, a token whose score is minus
//! infinity is never found, but unknown characters can spell it together, in a model of `sentencepiece` as well; and
//! unlisted texts are found, each of which has the id of the unknown token.
//!
//! That of `PLaMo` 2 goes from the end of a piece to its start: scores are whole ten-thousandths, so that sums are exact, and
//! each place keeps the best way from it to the end, of equal ones the one that begins with the longest token. There, too,
//! no text spells the unknown token or a byte token.
//!
//! Time: linear in the piece, times [`MOST_WALKED`] at most, and in the ways that longer tokens make. Tokens of up to
//! that length are found from where they begin, by a trie, and longer ones, which real vocabularies do not have, where
//! they end, by an automaton: a piece is not read again for each place at which a long token may begin. Where scores are
//! below -1,000, the offsets of a rounded sum are applied to each long way one by one.
//!
//! The file is long because encoding and sampling find the same tokens, and put them out by the same rules.
//!
//! Source: Kudo, "Subword Regularization: Improving Neural Network Translation Models with Multiple Subword
//! Candidates", 2018, for the model and for sampling.

use std::sync::OnceLock;

use super::automaton::{Automaton, ROOT};
use super::longest::backward;
use super::options::Options;
use super::splits::Splits;
use super::token_table::{NONE, TokenTable, format};
use super::trie::Trie;
use super::{Random, Token, no_unk};
use crate::error::{Error, Result};
use crate::interrupt::{self, Checks};
use crate::memory::Room;

/// How much less an unknown character scores than the worst token.
const PENALTY: f64 = 10.0;

/// A score of a model that goes from the end is counted in so many parts.
const PARTS: f64 = 1e4;

/// The score of an unknown character there. Every token scores more, so that one is unknown where no token is.
const UNKNOWN_FROM_END: f64 = -1000.0;

/// Below this a model of `sentencepiece` takes the best sum of a place off all sums from there on.
const LOWEST: f64 = -100_000.0;

/// The most bytes of a character.
const LONGEST_CHARACTER: usize = 4;

/// Longer tokens, in bytes, are found by an automaton. In tests most are longer, so that all of them try both ways.
const MOST_WALKED: usize = if cfg!(test) { LONGEST_CHARACTER } else { 128 };

/// So many bytes of a piece, and it is asked whether its tokens are still wanted.
const STRIDE: usize = 1024;

/// Tokens and their scores.
pub struct Unigram {
    pub(super) table: TokenTable,
    pub(super) unk: Option<u32>,
    pub(super) scores: Vec<f64>,
    pub(super) unk_score: f64,
    /// Whether the model is one of `sentencepiece`.
    pub(super) is_rounded: bool,
    /// Whether ways are taken from the end of a piece; scores are multiplied by [`PARTS`] then.
    pub(super) from_end: bool,
    /// Whether no score is minus infinity.
    finds_all: bool,
    /// Tokens of at most [`MOST_WALKED`] bytes.
    pub(super) trie: Trie,
    /// Longer ones, if there are any.
    pub(super) long: Option<Automaton>,
    long_tokens: Vec<u32>,
    /// The same ones read backward; made when a piece is first sampled.
    long_backward: OnceLock<Automaton>,
    /// Tokens of the bytes; of `byte_fallback` only.
    pub(super) bytes: Option<Box<[u32; 256]>>,
    pub(super) splits: Splits,
}

/// The best way to a place: the token that ends there.
#[derive(Clone, Copy)]
pub(super) struct Best {
    pub(super) sum: f64,
    pub(super) start: u32,
    pub(super) token: u32,
}

/// No way here.
pub(super) const NOT_YET: Best = Best { sum: 0.0, start: NONE, token: NONE };

/// A token from one place to another.
#[derive(Clone, Copy)]
struct Step {
    token: u32,
    start: u32,
    end: u32,
}

/// Buffers kept between pieces.
#[derive(Default)]
pub(super) struct Buffers {
    best: Vec<Best>,
    /// Log of the sum over all ways from a place to the end.
    rests: Vec<f64>,
    steps: Vec<Step>,
    choices: Vec<(Step, f64)>,
    /// Where sums start from zero again, and what was taken off them there.
    offsets: Vec<(u32, f64)>,
    /// The states of the automaton of long tokens, read backward.
    states: Vec<u32>,
}

/// The offsets that the ways to one place have not seen yet.
pub(super) struct Pending<'a> {
    offsets: &'a [(u32, f64)],
}

impl<'a> Pending<'a> {
    /// Those behind the place where the first way begins.
    pub(super) fn new(offsets: &'a [(u32, f64)], first: u32) -> Self {
        Self { offsets: &offsets[offsets.partition_point(|&(place, _)| place <= first)..] }
    }

    /// Takes off the best sum yet what is taken off up to a place, where the next way begins: ways from before a place
    /// with an offset are taken before it, all others after it.
    #[inline]
    pub(super) fn shift(&mut self, model: &Unigram, best: &mut Best, begin: u32) {
        while let Some((&(_, offset), rest)) = self.offsets.split_first().filter(|((place, _), _)| *place <= begin) {
            model.shift(best, offset);
            self.offsets = rest;
        }
    }
}

impl Unigram {
    pub(super) fn new(mut options: Options, table: TokenTable, scores: &[f64]) -> Result<Self> {
        let unk = options.number("unk_id")?;
        let bytes = options.flag("byte_fallback")?.then(|| table.byte_tokens());
        let stated = options.score("unk_score")?;
        let unlisted = options.scores("unlisted")?;
        let from_end = options.flag("from_end")?;
        options.done()?;
        if from_end && (stated.is_some() || !unlisted.is_empty()) {
            return Err(format("a Unigram from_end has no unk_score and no unlisted texts"));
        }
        if scores.len() != table.len() {
            return Err(format(format!("there are {} tokens and {} scores", table.len(), scores.len())));
        }
        let is_score = |&score: &f64| score.is_finite() || score == f64::NEG_INFINITY;
        if let Some((score, text)) = scores.iter().zip(table.texts()).find(|(score, _)| !is_score(score)) {
            return Err(format(format!("the score of {text:?} is {score}")).remedy("use numbers that are finite"));
        }
        let unk = match unk {
            None => None,
            Some(id) => {
                let index = u32::try_from(id).ok().and_then(|id| table.index_of_id(id));
                Some(index.ok_or_else(|| format(format!("unk_id is {id}, which is not a token")))?)
            }
        };
        let mut scores = scores.to_vec();
        scores.extend(unlisted.iter().map(|&(_, score)| score));
        let table = table.with_unlisted(unk, unlisted.iter().map(|(text, _)| text.as_str()))?;
        let finite = scores.iter().copied().filter(|score| score.is_finite());
        let lowest = finite.fold(f64::INFINITY, f64::min);
        let mut unk_score = stated.unwrap_or(lowest - PENALTY);
        if from_end {
            if lowest <= UNKNOWN_FROM_END {
                let what = format!("a Unigram from_end has the score {lowest}");
                return Err(format(what).remedy(format!("use scores above {UNKNOWN_FROM_END}")));
            }
            for score in &mut scores {
                *score = (*score * PARTS).round();
            }
            unk_score = UNKNOWN_FROM_END * PARTS;
        }
        let (is_rounded, finds_all) = (stated.is_some(), scores.iter().all(|score| score.is_finite()));
        let is_spelled = |&(_, index): &(&[u8], u32)| {
            scores[index as usize].is_finite()
                && (!(is_rounded || from_end)
                    || (Some(index) != unk && !bytes.as_deref().is_some_and(|bytes| bytes.contains(&index))))
        };
        let is_short = |(token, _): &(&[u8], u32)| token.len() <= MOST_WALKED;
        let (short, long): (Vec<_>, Vec<_>) =
            table.texts().map(str::as_bytes).zip(0..).filter(is_spelled).partition(is_short);
        let trie = Trie::new(short.into_iter())?;
        let automaton = if long.is_empty() { None } else { Some(Automaton::new(&long)?) };
        let long_tokens = long.into_iter().map(|(_, token)| token).collect();
        let (splits, long_backward) = (Splits::default(), OnceLock::new());
        Ok(Self {
            table,
            unk,
            scores,
            unk_score,
            is_rounded,
            from_end,
            finds_all,
            trie,
            long: automaton,
            long_tokens,
            long_backward,
            bytes,
            splits,
        })
    }

    /// The tokens of [`Unigram::long`], read backward.
    fn long_backward(&self) -> Result<Option<&Automaton>> {
        if self.long.is_none() {
            return Ok(None);
        }
        if self.long_backward.get().is_none() {
            let made = backward(self.long_tokens.iter().map(|&token| (self.table.text(token).as_bytes(), token)))?;
            return Ok(Some(self.long_backward.get_or_init(|| made)));
        }
        Ok(self.long_backward.get())
    }

    pub(super) fn encode(&self, piece: &str, buffers: &mut Buffers, out: &mut Vec<Token>) -> Result<()> {
        if self.from_end {
            return self.encode_from_end(piece, buffers, out);
        }
        let best = &mut buffers.best;
        best.clear();
        best.room(piece.len() + 1)?;
        best.resize(piece.len() + 1, NOT_YET);
        buffers.offsets.clear();
        let bytes = piece.as_bytes();
        let (mut start, mut asks) = (0, 0);
        // How far long tokens are looked for, and their state there.
        let (mut read, mut state) = (0, ROOT);
        while start < bytes.len() {
            if start >= asks {
                interrupt::check()?;
                asks = start + STRIDE;
            }
            if let Some(offset) = self.offset(best[start].sum) {
                let last = bytes.len().min(start + self.walked());
                best[start..=last].iter_mut().for_each(|way| self.shift(way, offset));
                buffers.offsets.push((start as u32, offset));
            }
            if let Some(long) = &self.long {
                // Long tokens end beyond the reach of shorter ones, and are taken before these.
                while read < bytes.len().min(start + MOST_WALKED) {
                    state = long.go(state, bytes[read]);
                    read += 1;
                    let mut pending = None;
                    for token in long.ending(state) {
                        let begin = read - self.table.text(token).len();
                        let sum = best[begin].sum + self.scores[token as usize];
                        pending.get_or_insert_with(|| Pending::new(&buffers.offsets, begin as u32)).shift(
                            self,
                            &mut best[read],
                            begin as u32,
                        );
                        self.take(&mut best[read], sum, begin, token);
                    }
                    if let Some(mut pending) = pending {
                        pending.shift(self, &mut best[read], start as u32);
                    }
                }
            }
            let here = best[start].sum;
            let next = start + width(bytes[start]);
            let mut has_character = false;
            let mut node = self.trie.root();
            for (end, &byte) in (start + 1..).zip(&bytes[start..]) {
                let Some(longer) = self.trie.next(node, byte) else { break };
                node = longer;
                if let Some(token) = node.value() {
                    has_character |= end == next;
                    self.take(&mut best[end], here + self.scores[token as usize], start, token);
                }
            }
            if !has_character && self.take(&mut best[next], here + self.unk_score, start, NONE) {
                best[next].token = self.unk.ok_or_else(|| no_unk(piece, start))?;
            }
            start = next;
        }
        buffers.steps.clear();
        let mut end = bytes.len();
        while end > 0 {
            let Best { start, token, .. } = best[end];
            buffers.steps.room(1)?;
            buffers.steps.push(Step { token, start, end: end as u32 });
            end = start as usize;
        }
        buffers.steps.reverse();
        self.put_out(piece, &buffers.steps, out)
    }

    pub(super) fn sample(
        &self,
        piece: &str,
        alpha: f64,
        random: &mut Random,
        buffers: &mut Buffers,
        out: &mut Vec<Token>,
    ) -> Result<()> {
        let alpha = if self.from_end { alpha / PARTS } else { alpha };
        let (bytes, mut checks) = (piece.as_bytes(), Checks::default());
        let Buffers { rests, steps, choices, states, .. } = buffers;
        let long = self.long_from(bytes, states)?;
        begin_at_end(rests, bytes.len())?;
        for (start, _) in piece.char_indices().rev() {
            checks.check()?;
            self.choices(bytes, start, long, alpha, rests, choices);
            let most = choices.iter().map(|choice| choice.1).fold(f64::NEG_INFINITY, f64::max);
            if most > f64::NEG_INFINITY {
                rests[start] = most + choices.iter().map(|choice| (choice.1 - most).exp()).sum::<f64>().ln();
            }
        }
        if rests[0] == f64::NEG_INFINITY {
            return Err(no_way(piece, rests));
        }
        steps.clear();
        let mut start = 0;
        while start < bytes.len() {
            checks.check()?;
            self.choices(bytes, start, long, alpha, rests, choices);
            let mut left = random.fraction();
            let mut chosen = None;
            for &(step, weight) in choices.iter().filter(|choice| choice.1 > f64::NEG_INFINITY) {
                chosen = Some(step);
                left -= (weight - rests[start]).exp();
                if left < 0.0 {
                    break;
                }
            }
            let Some(step) = chosen else { return Err(no_unk(piece, start)) };
            steps.room(1)?;
            steps.push(step);
            start = step.end as usize;
        }
        self.put_out(piece, steps, out)
    }

    /// The same from the end: the best way from each place to it, and of equal ones the one that begins with the longest token.
    fn encode_from_end(&self, piece: &str, buffers: &mut Buffers, out: &mut Vec<Token>) -> Result<()> {
        let (bytes, mut checks) = (piece.as_bytes(), Checks::default());
        let Buffers { rests, steps, choices, states, .. } = buffers;
        let long = self.long_from(bytes, states)?;
        begin_at_end(rests, bytes.len())?;
        steps.clear();
        steps.room(bytes.len())?;
        for (start, _) in piece.char_indices().rev() {
            checks.check()?;
            self.choices(bytes, start, long, 1.0, rests, choices);
            let ways = choices.iter().filter(|way| way.1 > f64::NEG_INFINITY);
            let best = ways.max_by(|one, other| one.1.total_cmp(&other.1).then(one.0.end.cmp(&other.0.end)));
            if let Some(&(step, sum)) = best {
                rests[start] = sum;
                steps.push(step);
            }
        }
        if rests[0] == f64::NEG_INFINITY {
            return Err(no_way(piece, rests));
        }
        // Those of the best way, out of one for each place, the first place last.
        steps.reverse();
        let mut end = 0;
        steps.retain(|step| {
            let is_taken = step.start == end;
            end = if is_taken { step.end } else { end };
            is_taken
        });
        self.put_out(piece, steps, out)
    }

    /// The automaton of long tokens, read backward, and its state at each place of a piece; None without any.
    fn long_from<'a>(&'a self, bytes: &[u8], states: &'a mut Vec<u32>) -> Result<Option<(&'a Automaton, &'a [u32])>> {
        let Some(long) = self.long_backward()? else { return Ok(None) };
        states.clear();
        states.room(bytes.len())?;
        states.resize(bytes.len(), ROOT);
        let mut at = ROOT;
        for (&byte, state) in bytes.iter().zip(states.iter_mut()).rev() {
            at = long.go(at, byte);
            *state = at;
        }
        Ok(Some((long, states)))
    }

    /// The tokens that begin at a place, and the log of their weight with all that can come after them.
    fn choices(
        &self,
        bytes: &[u8],
        start: usize,
        long: Option<(&Automaton, &[u32])>,
        alpha: f64,
        rests: &[f64],
        choices: &mut Vec<(Step, f64)>,
    ) {
        choices.clear();
        let next = start + width(bytes[start]);
        let mut has_character = false;
        let mut push = |token: u32, end: usize, score: f64| {
            choices.push((Step { token, start: start as u32, end: end as u32 }, alpha * score + rests[end]));
        };
        let mut node = self.trie.root();
        for (end, &byte) in (start + 1..).zip(&bytes[start..]) {
            let Some(longer) = self.trie.next(node, byte) else { break };
            node = longer;
            if let Some(token) = node.value() {
                has_character |= end == next;
                push(token, end, self.scores[token as usize]);
            }
        }
        if let Some((long, states)) = long {
            for token in long.ending(states[start]) {
                push(token, start + self.table.text(token).len(), self.scores[token as usize]);
            }
        }
        if let Some(unk) = self.unk.filter(|_| !has_character) {
            push(unk, next, self.unk_score);
        }
    }

    /// Whether the bytes of a text are tokens, if that is asked for.
    pub(super) fn has_bytes(&self, text: &str) -> bool {
        self.bytes.as_deref().is_none_or(|tokens| all_there(tokens, text))
    }

    /// The token that unknown characters spell together.
    pub(super) fn spelled_together(&self, text: &str) -> Option<u32> {
        let is_never_found = |&token: &u32| self.scores[token as usize] == f64::NEG_INFINITY;
        match (self.is_rounded, self.finds_all) {
            _ if self.from_end => None,
            (false, _) => self.table.token_of_short(text),
            (true, false) => self.table.token_of_short(text).filter(is_never_found),
            (true, true) => None,
        }
    }

    /// A sum as the model keeps it.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the sums of sentencepiece have 32 bits")]
    fn rounded(&self, sum: f64) -> f64 {
        if self.is_rounded { f64::from(sum as f32) } else { sum }
    }

    /// The most bytes that a token or an unknown character goes on for.
    pub(super) fn reach(&self) -> usize {
        self.table.longest().max(LONGEST_CHARACTER)
    }

    /// The same of a token that the trie has.
    pub(super) fn walked(&self) -> usize {
        self.reach().min(MOST_WALKED)
    }

    /// What is taken off the sums from a place on, given its best sum.
    #[inline]
    pub(super) fn offset(&self, sum: f64) -> Option<f64> {
        (self.is_rounded && sum < LOWEST).then_some(sum)
    }

    /// Takes an offset off the sum of a way, if there is one.
    #[inline]
    pub(super) fn shift(&self, best: &mut Best, offset: f64) {
        if best.start != NONE {
            best.sum = self.rounded(best.sum - offset);
        }
    }

    /// Whether a way to a place is the best one yet; if so it is taken.
    #[inline]
    pub(super) fn take(&self, best: &mut Best, sum: f64, start: usize, token: u32) -> bool {
        let sum = self.rounded(sum);
        let better = best.start == NONE || sum > best.sum;
        if better {
            *best = Best { sum, start: start as u32, token };
        }
        better
    }

    /// Steps as tokens; those that are unknown, one behind the other, together.
    fn put_out(&self, piece: &str, steps: &[Step], out: &mut Vec<Token>) -> Result<()> {
        out.room(steps.len())?;
        let mut steps = steps.iter().copied().peekable();
        while let Some(Step { token, start, mut end }) = steps.next() {
            if Some(token) != self.unk {
                out.push(Token { id: self.table.id(token), start, end });
                continue;
            }
            while let Some(more) = steps.next_if(|step| step.token == token) {
                end = more.end;
            }
            let text = &piece[start as usize..end as usize];
            if let Some(token) = self.spelled_together(text) {
                out.push(Token { id: self.table.id(token), start, end });
            } else if let Some(tokens) = self.bytes.as_deref().filter(|&tokens| all_there(tokens, text)) {
                let token = |byte: u8| self.table.id(tokens[usize::from(byte)]);
                out.room(text.len())?;
                out.extend(text.bytes().map(|byte| Token { id: token(byte), start, end }));
            } else {
                out.push(Token { id: self.table.id(token), start, end });
            }
        }
        Ok(())
    }
}

/// The sums from each place of a piece on, of which only that of its end is known.
fn begin_at_end(rests: &mut Vec<f64>, length: usize) -> Result<()> {
    rests.clear();
    rests.room(length + 1)?;
    rests.resize(length, f64::NEG_INFINITY);
    rests.push(0.0);
    Ok(())
}

/// The error of a piece that has no way to its end, given the sums from each place on.
fn no_way(piece: &str, rests: &[f64]) -> Error {
    let mut places = piece.char_indices().map(|(at, _)| at).rev();
    no_unk(piece, places.find(|&at| rests[at] == f64::NEG_INFINITY).unwrap_or_default())
}

/// The bytes of the character that begins with this byte.
#[inline]
pub(super) fn width(byte: u8) -> usize {
    match byte {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

fn all_there(tokens: &[u32; 256], text: &str) -> bool {
    text.bytes().all(|byte| tokens[usize::from(byte)] != NONE)
}
