//! Counts -> the vocabulary of a `WordPiece` model.
//!
//! Words begin as characters, of which all but the first carry a prefix such as `##`. Then one pair of adjacent tokens after
//! the other becomes a token: the one with the greatest count, or the greatest C(ab) / (C(a) C(b)), which is the pair whose
//! merge raises the likelihood of a unigram model of the text most (Schuster & Nakajima, "Japanese and Korean voice
//! search", 2012). Fractions are compared exactly. Each occurrence of a pair is found by its position, so that a merge
//! costs only its changes.
//!
//! A token is its text: two pairs whose texts join to the same text make one token, and the second of them adds none to the
//! vocabulary.
//!
//! Long because the two scores share the bookkeeping, which is most of it.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use rustc_hash::FxHashMap;

use crate::error::{Error, Kind, Result};
use crate::memory::{self, Room};
use crate::normalize::Bert;
use crate::train::counts::PieceCounts;
use crate::train::{Progress, overflow};

mod bert_words;

use self::bert_words::Counted;

/// So many positions of words, and it is asked whether training is to stop.
const POSITIONS_TO_LISTEN: usize = 1 << 12;

/// No position: the end of a word.
const NONE: u32 = u32::MAX;

/// The score by which pairs merge; ties go to the lowest ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// The greatest C(ab) / (C(a) C(b)), of counts as they are at that moment.
    Likelihood,
    /// The greatest C(ab), as the trainer of `tokenizers` has it. As there, a pair that was merged keeps its count, so
    /// that occurrences which come up later, by another pair that makes one of its tokens, merge at once.
    Frequency,
}

impl Score {
    /// The score of a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "likelihood" => Self::Likelihood,
            "frequency" => Self::Frequency,
            _ => return None,
        })
    }
}

/// The settings of learning.
#[derive(Clone, Debug)]
pub struct Settings {
    /// At most this many tokens, special ones included.
    pub vocab_size: usize,
    /// The score by which pairs merge.
    pub score: Score,
    /// The first tokens.
    pub special_tokens: Vec<String>,
    /// The prefix of a token that does not begin a word.
    pub prefix: String,
    /// Pairs seen less often are not merged.
    pub min_frequency: u64,
    /// At most this many characters, the most frequent ones, of equal ones the first in Unicode; others are left out of
    /// the words.
    pub limit_alphabet: Option<usize>,
    /// Characters that count as the most frequent ones, whether they occur or not.
    pub initial_alphabet: Vec<char>,
    /// How words are normalized before their punctuation is set apart, as BERT's are; None for pieces that are words.
    pub bert: Option<Bert>,
}

/// Learns the tokens, in order of their ids: special tokens, characters in order of Unicode, those that continue a word in
/// the same order, and what merging makes, in order. Words are the pieces, divided at white space, which is dropped.
/// Fewer than `vocab_size` come out where no pair is left that occurs `min_frequency` times.
///
/// Time is n log n in the characters of the distinct words and in the merges; under [`Score::Likelihood`] a merge also costs
/// the number of pairs that its two tokens are in.
///
/// # Errors
/// `Training`, if `vocab_size` is too small for the characters, counts overflow, or a piece is no text; `Interrupted`.
///
/// ```
/// # use bytepair_core::train::{PieceCounts, Progress, wordpiece::{Score, Settings, learn}};
/// let settings = Settings {
///     vocab_size: 9,
///     score: Score::Frequency,
///     special_tokens: vec!["[UNK]".into()],
///     prefix: "##".into(),
///     min_frequency: 2,
///     limit_alphabet: None,
///     initial_alphabet: Vec::new(),
///     bert: None,
/// };
/// let counts = PieceCounts::of([(&b"low"[..], 5), (b"owl", 2)])?;
/// let tokens = learn(&counts, &settings, &Progress::default())?;
/// assert_eq!(tokens, ["[UNK]", "l", "o", "w", "##l", "##o", "##w", "lo", "low"]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn learn(counts: &PieceCounts, settings: &Settings, progress: &Progress) -> Result<Vec<String>> {
    let words = bert_words::words(counts, settings.bert, progress)?;
    let alphabet = alphabet(&words, settings)?;
    progress.check()?;
    let mut tokens = Tokens::new(&settings.prefix);
    for token in &settings.special_tokens {
        tokens.id(token.clone())?;
    }
    let mut starts = FxHashMap::default();
    for &character in &alphabet {
        starts.insert(character, tokens.id(character.to_string())?);
    }
    let continuing = continuing(&words, &starts, &mut tokens)?;
    progress.check()?;
    let needed = tokens.texts.len();
    if needed > settings.vocab_size {
        let what = format!(
            "vocab_size={} leaves no room for the {needed} tokens that there are before the first merge: {} special ones, \
             and {} characters as they begin and continue words",
            settings.vocab_size,
            settings.special_tokens.len(),
            alphabet.len()
        );
        let remedy = format!("use vocab_size={needed} or more, or a lower limit_alphabet");
        return Err(Error::new(Kind::Training, what).remedy(remedy));
    }
    let mut spelled = Spelled::default();
    for (word, &count) in &words {
        let known = word.chars().enumerate().filter_map(|(index, character)| {
            // Only the first character begins a word, even if it is left out.
            let ids = if index == 0 { &starts } else { &continuing };
            ids.get(&character).copied()
        });
        spelled.push(known, count)?;
        progress.check()?;
    }
    drop(words);
    let mut merging = Merging::new(spelled, tokens.texts.len(), settings, progress)?;
    while tokens.texts.len() < settings.vocab_size {
        let Some(pair) = merging.best()? else { break };
        let (left, right) = merging.pairs[pair as usize].ids;
        let before = tokens.texts.len();
        let joined = tokens.joined(left, right)?;
        merging.merge(pair, joined)?;
        progress.advance((tokens.texts.len() - before) as u64)?;
    }
    Ok(tokens.texts)
}

/// The characters that words may be made of, in order.
fn alphabet(words: &Counted, settings: &Settings) -> Result<Vec<char>> {
    let mut seen: BTreeMap<char, u64> = BTreeMap::new();
    for (word, &count) in words {
        for character in word.chars() {
            let total = seen.entry(character).or_default();
            *total = total.checked_add(count).ok_or_else(overflow)?;
        }
    }
    for &character in &settings.initial_alphabet {
        seen.insert(character, u64::MAX);
    }
    let mut kept: Vec<(Reverse<u64>, char)> =
        seen.into_iter().map(|(character, total)| (Reverse(total), character)).collect();
    if let Some(limit) = settings.limit_alphabet
        && kept.len() > limit
    {
        kept.sort_unstable();
        kept.truncate(limit);
    }
    let mut alphabet: Vec<char> = kept.into_iter().map(|(_, character)| character).collect();
    alphabet.sort_unstable();
    Ok(alphabet)
}

/// The tokens of characters that continue a word, in order of the characters.
fn continuing(words: &Counted, starts: &FxHashMap<char, u32>, tokens: &mut Tokens) -> Result<FxHashMap<char, u32>> {
    // To collect them would be to hold every one before equal ones are joined.
    let mut seen = BTreeSet::new();
    for word in words.keys() {
        seen.extend(word.chars().skip(1).filter(|character| starts.contains_key(character)));
    }
    let prefix = tokens.prefix.clone();
    seen.into_iter().map(|character| Ok((character, tokens.id(format!("{prefix}{character}"))?))).collect()
}

/// Tokens by id and by text.
struct Tokens {
    prefix: String,
    texts: Vec<String>,
    ids: FxHashMap<String, u32>,
}

impl Tokens {
    fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), texts: Vec::new(), ids: FxHashMap::default() }
    }

    /// The id of a text, which becomes a token if it is none.
    fn id(&mut self, text: String) -> Result<u32> {
        if let Some(&id) = self.ids.get(&text) {
            return Ok(id);
        }
        let id = u32::try_from(self.texts.len()).map_err(|_| too_large())?;
        memory::push(&mut self.texts, text.clone())?;
        self.ids.room(1)?;
        self.ids.insert(text, id);
        Ok(id)
    }

    fn joined(&mut self, left: u32, right: u32) -> Result<u32> {
        let (left, right) = (&self.texts[left as usize], &self.texts[right as usize]);
        let joined = [left, right.strip_prefix(&self.prefix).unwrap_or(right)].concat();
        self.id(joined)
    }
}

fn too_large() -> Error {
    Error::new(Kind::Training, "the distinct words have 2^32 characters or more")
        .remedy("leave out rare words, for example by min_count=2")
}

/// Words as tokens: each token is stored at the position of its first character, and links to its neighbours.
#[derive(Default)]
struct Spelled {
    tokens: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// The word of each position.
    word: Vec<u32>,
    /// The count of each word.
    counts: Vec<u64>,
}

impl Spelled {
    fn push(&mut self, tokens: impl Iterator<Item = u32>, count: u64) -> Result<()> {
        let start = self.tokens.len();
        memory::extend(&mut self.tokens, tokens)?;
        let end = u32::try_from(self.tokens.len()).ok().filter(|&end| end != NONE).ok_or_else(too_large)?;
        let start = start as u32;
        let word = self.counts.len() as u32;
        memory::push(&mut self.counts, count)?;
        let before = |position| if position == start { NONE } else { position - 1 };
        let behind = |position| if position + 1 == end { NONE } else { position + 1 };
        memory::extend(&mut self.previous, (start..end).map(before))?;
        memory::extend(&mut self.next, (start..end).map(behind))?;
        memory::extend(&mut self.word, (start..end).map(|_| word))?;
        Ok(())
    }
}

/// A pair that is or was adjacent somewhere.
struct Pair {
    ids: (u32, u32),
    /// How often it is adjacent; under [`Score::Frequency`] also how often it was when it merged.
    count: u64,
    /// The positions of its left token, current or past.
    positions: Vec<u32>,
    /// The number of its valid entry in the queue.
    version: u32,
    /// Whether it is among the pairs of its left and its right token.
    listed: [bool; 2],
    /// Whether its count rose since it was put into the queue.
    rose: bool,
}

/// A pair in the queue, with the score that it had then.
struct Entry {
    count: u64,
    /// C(a) C(b), or 1.
    expected: u128,
    ids: (u32, u32),
    pair: u32,
    version: u32,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = if self.expected == other.expected {
            self.count.cmp(&other.count)
        } else {
            wide(self.count, other.expected).cmp(&wide(other.count, self.expected))
        };
        by_score.then_with(|| other.ids.cmp(&self.ids)).then_with(|| self.version.cmp(&other.version))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// A product of 192 bits: its upper half and its lower 64 bits.
fn wide(left: u64, right: u128) -> (u128, u64) {
    let low = u128::from(left) * (right & u128::from(u64::MAX));
    let high = u128::from(left) * (right >> 64) + (low >> 64);
    (high, low as u64)
}

/// The words, their pairs, and the queue of what merges next.
struct Merging {
    words: Spelled,
    score: Score,
    min_frequency: u64,
    pairs: Vec<Pair>,
    by_ids: FxHashMap<(u32, u32), u32>,
    /// The pairs that each token is in; only under [`Score::Likelihood`].
    of_token: Vec<Vec<u32>>,
    /// How often each token occurs.
    occurrences: Vec<u64>,
    queue: BinaryHeap<Entry>,
    /// Pairs whose count rose by the merge at hand.
    risen: Vec<u32>,
}

impl Merging {
    fn new(words: Spelled, tokens: usize, settings: &Settings, progress: &Progress) -> Result<Self> {
        let mut merging = Self {
            score: settings.score,
            min_frequency: settings.min_frequency.max(1),
            pairs: Vec::new(),
            by_ids: FxHashMap::default(),
            of_token: memory::filled(Vec::new(), tokens)?,
            occurrences: memory::filled(0, tokens)?,
            queue: BinaryHeap::new(),
            risen: Vec::new(),
            words: Spelled::default(),
        };
        let mut total = 0_u64;
        for (position, (&token, &word)) in words.tokens.iter().zip(&words.word).enumerate() {
            if position.is_multiple_of(POSITIONS_TO_LISTEN) {
                progress.check()?;
            }
            let count = words.counts[word as usize];
            // No sum of counts can be more than this one.
            total = total.checked_add(count).ok_or_else(overflow)?;
            merging.occurrences[token as usize] += count;
            let next = words.next[position];
            if next != NONE {
                merging.add((token, words.tokens[next as usize]), count, position as u32)?;
            }
        }
        merging.words = words;
        merging.enqueue_risen()?;
        Ok(merging)
    }

    /// The pair that merges next.
    fn best(&mut self) -> Result<Option<u32>> {
        while let Some(entry) = self.queue.pop() {
            let pair = &self.pairs[entry.pair as usize];
            if pair.version != entry.version || pair.count < self.min_frequency {
                continue;
            }
            if pair.count == entry.count && self.expected(entry.ids) == entry.expected {
                return Ok(Some(entry.pair));
            }
            // Its score fell since.
            self.enqueue(entry.pair)?;
        }
        Ok(None)
    }

    /// Merges a pair wherever it is adjacent, from left to right in each word.
    fn merge(&mut self, pair: u32, joined: u32) -> Result<()> {
        if self.occurrences.len() <= joined as usize {
            memory::push(&mut self.occurrences, 0)?;
            memory::push(&mut self.of_token, Vec::new())?;
        }
        let (left, right) = self.pairs[pair as usize].ids;
        let mut positions = std::mem::take(&mut self.pairs[pair as usize].positions);
        positions.sort_unstable();
        for &at in &positions {
            let behind = self.words.next[at as usize];
            let stands = self.words.tokens[at as usize] == left;
            if behind == NONE || !stands || self.words.tokens[behind as usize] != right {
                continue;
            }
            let count = self.words.counts[self.words.word[at as usize] as usize];
            let (before, after) = (self.words.previous[at as usize], self.words.next[behind as usize]);
            if before != NONE {
                let token = self.words.tokens[before as usize];
                self.take((token, left), count);
                self.add((token, joined), count, before)?;
            }
            if after != NONE {
                let token = self.words.tokens[after as usize];
                self.take((right, token), count);
                self.add((joined, token), count, at)?;
                self.words.previous[after as usize] = at;
            }
            if self.score == Score::Likelihood {
                self.pairs[pair as usize].count -= count;
            }
            self.words.tokens[at as usize] = joined;
            // No position that was merged away may look like a token.
            self.words.tokens[behind as usize] = NONE;
            self.words.next[at as usize] = after;
            self.occurrences[left as usize] -= count;
            self.occurrences[right as usize] -= count;
            self.occurrences[joined as usize] += count;
        }
        self.enqueue_risen()?;
        if self.score == Score::Likelihood {
            self.enqueue_all_of(left)?;
            self.enqueue_all_of(right)?;
            if self.queue.len() > 1024 + 4 * self.pairs.len() {
                let pairs = &self.pairs;
                self.queue.retain(|entry| pairs[entry.pair as usize].version == entry.version);
            }
        }
        Ok(())
    }

    /// Counts occurrences of a pair at a position.
    fn add(&mut self, ids: (u32, u32), count: u64, position: u32) -> Result<()> {
        let new = self.pairs.len() as u32;
        self.by_ids.room(1)?;
        let at = *self.by_ids.entry(ids).or_insert(new);
        if at == new {
            let none = Pair { ids, count: 0, positions: Vec::new(), version: 0, listed: [false; 2], rose: false };
            memory::push(&mut self.pairs, none)?;
        }
        let pair = &mut self.pairs[at as usize];
        // A merged pair's kept count could grow for ever, if merging made its tokens again and again.
        pair.count = pair.count.saturating_add(count);
        memory::push(&mut pair.positions, position)?;
        if !std::mem::replace(&mut pair.rose, true) {
            memory::push(&mut self.risen, at)?;
        }
        if self.score == Score::Likelihood {
            for (listed, token) in pair.listed.iter_mut().zip([ids.0, ids.1]) {
                if !std::mem::replace(listed, true) {
                    memory::push(&mut self.of_token[token as usize], at)?;
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, ids: (u32, u32), count: u64) {
        if let Some(&pair) = self.by_ids.get(&ids) {
            let pair = &mut self.pairs[pair as usize];
            pair.count = pair.count.saturating_sub(count);
        }
    }

    /// The divisor of a pair's count.
    fn expected(&self, (left, right): (u32, u32)) -> u128 {
        match self.score {
            Score::Frequency => 1,
            Score::Likelihood => {
                u128::from(self.occurrences[left as usize]) * u128::from(self.occurrences[right as usize])
            }
        }
    }

    /// Puts a pair into the queue with its current score, in place of its earlier entry.
    fn enqueue(&mut self, at: u32) -> Result<()> {
        let expected = self.expected(self.pairs[at as usize].ids);
        let pair = &mut self.pairs[at as usize];
        pair.version = pair.version.wrapping_add(1);
        if pair.count >= self.min_frequency {
            let (count, ids, version) = (pair.count, pair.ids, pair.version);
            self.queue.room(1)?;
            self.queue.push(Entry { count, expected, ids, pair: at, version });
        }
        Ok(())
    }

    fn enqueue_risen(&mut self) -> Result<()> {
        let mut risen = std::mem::take(&mut self.risen);
        for &pair in &risen {
            self.pairs[pair as usize].rose = false;
            self.enqueue(pair)?;
        }
        risen.clear();
        self.risen = risen;
        Ok(())
    }

    /// The token became rarer, so that the scores of its pairs rose.
    fn enqueue_all_of(&mut self, token: u32) -> Result<()> {
        let mut pairs = std::mem::take(&mut self.of_token[token as usize]);
        pairs.retain(|&at| {
            let pair = &mut self.pairs[at as usize];
            if pair.count > 0 {
                return true;
            }
            pair.positions = Vec::new();
            for (listed, id) in pair.listed.iter_mut().zip([pair.ids.0, pair.ids.1]) {
                *listed &= id != token;
            }
            false
        });
        for &pair in &pairs {
            self.enqueue(pair)?;
        }
        self.of_token[token as usize] = pairs;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
