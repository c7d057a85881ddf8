//! Parity between groups: each merge is the most frequent pair of the group whose text takes the most tokens.
//!
//! Every pair has a count in each group, and each group a queue. Keys only get worse, as in [`super::learn()`], so an entry is
//! corrected when it comes out. A merge rewrites the words that hold its pair; only their pairs change.
//!
//! Source: "Parity-Aware Byte-Pair Encoding" (Foroutan et al., 2025), with its hybrid and its moving window.

use std::collections::VecDeque;
use std::collections::hash_map;

use rustc_hash::FxHashMap;

use crate::error::{Error, Kind, Result};
use crate::memory::{self, Room};
use crate::train::byte_pairs::pair::{key, symbols_of};
use crate::train::byte_pairs::pairs::{Entry, Order};
use crate::train::byte_pairs::queue::Queue;
use crate::train::byte_pairs::settings::{Settings, Ties};
use crate::train::byte_pairs::symbols::Symbols;
use crate::train::counts::PieceCounts;
use crate::train::{Learned, Progress, overflow};

/// The settings of parity.
#[derive(Clone, Debug)]
pub struct Parity {
    /// The bytes in the order of their symbols, each once.
    pub bytes: Vec<u8>,
    /// The number of groups.
    pub groups: usize,
    /// The first merges are those of all groups together.
    pub after: usize,
    /// A group is chosen at most `share` times in so many choices in a row, if another one is left.
    pub window: usize,
    /// See `window`.
    pub share: usize,
}

/// Merges, and the group that each was chosen for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParityTraining {
    /// The merges in order; each count is that of the group, or of all groups together.
    pub merges: Vec<Learned>,
    /// The group of each merge; the number of groups for all together.
    pub chosen: Vec<usize>,
    /// The number of tokens of all training pieces.
    pub tokens_total: u128,
    /// The number of tokens of each group's development text.
    pub tokens: Vec<u128>,
}

/// The counts of a piece, or of a pair, by group, and of all groups together at the end.
type ByGroup = Box<[u64]>;

struct Word {
    symbols: Vec<u32>,
    counts: ByGroup,
    development: ByGroup,
}

struct Pair {
    counts: ByGroup,
    /// The words that hold it, or did; a word can be there twice.
    words: Vec<u32>,
}

/// Learns merges from counts by group.
///
/// The next merge is that of the group with the most tokens for each unit of its development text: the most frequent pair
/// of its training pieces, which is merged in all groups. Ties between groups go to the first one. A group without a
/// frequent pair is left out from there on. `development` has a weight for each group and piece, and `sizes` the units of
/// each group: equal numbers if the texts have the same content.
///
/// Time: the length of the words that hold a pair, for each merge. Memory: 8 bytes for each pair and group.
///
/// # Errors
/// `Training`, if counts overflow 64 bits, or ties go by first occurrence; `Interrupted`.
///
/// ```
/// use bytepair_core::train::{Counter, Parity, Progress, Row, Settings, Ties, learn_parity};
/// let mut counts = Counter::new(None);
/// counts.add_row(Row { piece: b"aaaa", group: 0, count: 9, first: 0 })?;
/// counts.add_row(Row { piece: b"xyxyxy", group: 1, count: 1, first: 0 })?;
/// let counts = counts.finish(1, &Progress::default())?;
/// let settings =
///     Settings { merges: 2, ties: Ties::LowestIds, min_frequency: 1, max_token_length: 9, max_words: usize::MAX };
/// let parity = Parity { bytes: (0..=255).collect(), groups: 2, after: 0, window: 0, share: 0 };
/// let trained = learn_parity(&counts, (&counts, &[36, 3]), &settings, &parity, &Progress::default())?;
/// assert_eq!(trained.chosen, [1, 0]);
/// assert_eq!(trained.tokens, [18, 3]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn learn_parity(
    counts: &PieceCounts,
    (development, sizes): (&PieceCounts, &[u64]),
    settings: &Settings,
    parity: &Parity,
    progress: &Progress,
) -> Result<ParityTraining> {
    if settings.ties == Ties::FirstSeen {
        let what = "with parity, ties cannot go by first occurrence";
        return Err(Error::new(Kind::Training, what).remedy("use another policy, such as lowest_ids"));
    }
    let mut symbols = [u32::MAX; 256];
    for (number, &byte) in parity.bytes.iter().enumerate() {
        symbols[usize::from(byte)] = number as u32;
    }
    if parity.bytes.len() != 256 || symbols.contains(&u32::MAX) {
        return Err(Error::new(Kind::Training, "an alphabet of bytes holds each of the 256 once"));
    }
    let alphabet: Vec<Vec<u8>> = parity.bytes.iter().map(|&byte| vec![byte]).collect();
    let mut trainer = Trainer {
        words: words(counts, development, parity.groups, &symbols)?,
        pairs: FxHashMap::default(),
        queues: (0..=parity.groups).map(|_| Queue::new()).collect(),
        symbols: Symbols::new(&alphabet, std::collections::HashSet::default(), settings),
        ties: settings.ties,
        least: settings.min_frequency.max(1),
    };
    trainer.count(progress)?;
    let mut tokens = trainer.tokens(parity.groups);
    let mut tokens_total: u128 =
        trainer.words.iter().map(|word| word.symbols.len() as u128 * u128::from(word.counts[parity.groups])).sum();
    let mut turns = Turns::new(parity, sizes);
    let (mut merges, mut chosen) = (Vec::new(), Vec::new());
    while merges.len() < settings.merges {
        progress.check()?;
        let Some(group) = turns.next(merges.len(), &tokens) else { break };
        let Some(entry) = trainer.first(group) else {
            turns.exhausted[group] = true;
            continue;
        };
        let [left, right] = symbols_of(entry.pair);
        tokens_total -= trainer.merge(left, right, &mut tokens)?;
        turns.took(group);
        let learned = Learned { left, right, count: entry.count };
        progress.tell_learned(&[learned]);
        merges.push(learned);
        chosen.push(group);
    }
    Ok(ParityTraining { merges, chosen, tokens_total, tokens })
}

/// The distinct pieces of both tables, with their counts.
fn words(counts: &PieceCounts, development: &PieceCounts, groups: usize, symbols: &[u32; 256]) -> Result<Vec<Word>> {
    let (counts, development) = (counts.in_memory()?, development.in_memory()?);
    let mut places: FxHashMap<&[u8], usize> = FxHashMap::default();
    let mut words: Vec<Word> = Vec::new();
    for (rows, is_training) in [(counts.rows()?, true), (development.rows()?, false)] {
        for row in rows {
            places.room(1)?;
            let place = *places.entry(row.piece).or_insert(words.len());
            if place == words.len() {
                let none = || vec![0; groups + 1].into_boxed_slice();
                let symbols = memory::collect(row.piece.iter().map(|&byte| symbols[usize::from(byte)]))?;
                memory::push(&mut words, Word { symbols, counts: none(), development: none() })?;
            }
            let word = &mut words[place];
            let of = if is_training { &mut word.counts } else { &mut word.development };
            for at in [usize::from(row.group), groups] {
                of[at] = of[at].checked_add(row.count).ok_or_else(overflow)?;
            }
        }
    }
    Ok(words)
}

/// Whose turn it is.
struct Turns<'a> {
    parity: &'a Parity,
    sizes: &'a [u64],
    exhausted: Vec<bool>,
    recent: VecDeque<usize>,
    times: Vec<usize>,
}

impl<'a> Turns<'a> {
    fn new(parity: &'a Parity, sizes: &'a [u64]) -> Self {
        Self {
            parity,
            sizes,
            exhausted: vec![false; parity.groups + 1],
            recent: VecDeque::new(),
            times: vec![0; parity.groups],
        }
    }

    /// The group that the next merge is for; the number of groups for all together, None if no group has a pair left.
    fn next(&self, merges: usize, tokens: &[u128]) -> Option<usize> {
        let groups = self.parity.groups;
        if merges < self.parity.after && !self.exhausted[groups] {
            return Some(groups);
        }
        let left = || (0..groups).filter(|&group| !self.exhausted[group]);
        let rested = left().filter(|&group| self.parity.window == 0 || self.times[group] < self.parity.share);
        self.worst(rested, tokens).or_else(|| self.worst(left(), tokens))
    }

    /// The group with the most tokens for each unit of text.
    fn worst(&self, groups: impl Iterator<Item = usize>, tokens: &[u128]) -> Option<usize> {
        groups.reduce(|worst, group| {
            let [this, that] = [(group, worst), (worst, group)]
                .map(|(one, other)| tokens[one].saturating_mul(u128::from(self.sizes[other])));
            if this > that { group } else { worst }
        })
    }

    fn took(&mut self, group: usize) {
        if group == self.parity.groups || self.parity.window == 0 {
            return;
        }
        self.recent.push_back(group);
        self.times[group] += 1;
        // A choice is compared with the `window - 1` before it.
        if self.recent.len() >= self.parity.window
            && let Some(oldest) = self.recent.pop_front()
        {
            self.times[oldest] -= 1;
        }
    }
}

struct Trainer {
    words: Vec<Word>,
    pairs: FxHashMap<u64, Pair>,
    /// By group, and of all groups together at the end.
    queues: Vec<Queue<Entry>>,
    symbols: Symbols,
    ties: Ties,
    least: u64,
}

impl Trainer {
    /// Counts all pairs.
    fn count(&mut self, progress: &Progress) -> Result<()> {
        let groups = self.queues.len();
        for (number, word) in self.words.iter().enumerate() {
            progress.check()?;
            for two in word.symbols.windows(2) {
                self.pairs.room(1)?;
                let pair = self.pairs.entry(key(two[0], two[1])).or_insert_with(|| Pair::new(groups));
                pair.add(word)?;
                pair.note(number)?;
            }
        }
        let new = memory::collect(self.pairs.keys().copied())?;
        self.enqueue(&new)
    }

    fn tokens(&self, groups: usize) -> Vec<u128> {
        let of = |group: usize| {
            self.words.iter().map(|word| word.symbols.len() as u128 * u128::from(word.development[group])).sum()
        };
        (0..groups).map(of).collect()
    }

    fn enqueue(&mut self, new: &[u64]) -> Result<()> {
        let Self { pairs, queues, symbols, ties, least, .. } = self;
        let order = Order { ties: *ties, symbols };
        for &pair in new {
            let [left, right] = symbols_of(pair);
            if !symbols.fits(left, right) {
                continue;
            }
            for (queue, &count) in queues.iter_mut().zip(&pairs[&pair].counts) {
                if count >= *least {
                    queue.push(Entry { count, pair, first: (0, 0) }, |a, b| order.before(a, b))?;
                }
            }
        }
        Ok(())
    }

    /// The most frequent pair of a group.
    fn first(&mut self, group: usize) -> Option<Entry> {
        let Self { pairs, queues, symbols, ties, least, .. } = self;
        let order = Order { ties: *ties, symbols };
        let before = |a: &Entry, b: &Entry| order.before(a, b);
        loop {
            let entry = *queues[group].peek()?;
            let count = pairs.get(&entry.pair).map_or(0, |pair| pair.counts[group]);
            if count == entry.count {
                return Some(entry);
            }
            if count < *least {
                queues[group].pop(before);
            } else {
                queues[group].replace_top(Entry { count, ..entry }, before);
            }
        }
    }

    /// Merges a pair in all words; returns by how many tokens the training text is shorter.
    fn merge(&mut self, left: u32, right: u32, tokens: &mut [u128]) -> Result<u128> {
        let groups = self.queues.len();
        let joined = self.symbols.len() as u32;
        self.symbols.join(left, right)?;
        let Some(mut pair) = self.pairs.remove(&key(left, right)) else { return Ok(0) };
        pair.words.sort_unstable();
        pair.words.dedup();
        let mut shorter = 0;
        let mut new = Vec::new();
        for number in pair.words {
            let word = &mut self.words[number as usize];
            let merged = merged(&word.symbols, left, right, joined)?;
            let gone = word.symbols.len() - merged.len();
            if gone == 0 {
                continue;
            }
            shorter += gone as u128 * u128::from(word.counts[groups - 1]);
            for (total, &weight) in tokens.iter_mut().zip(&word.development) {
                *total -= gone as u128 * u128::from(weight);
            }
            for two in word.symbols.windows(2) {
                // The pair itself is gone, and so are those that were never counted again.
                if let Some(pair) = self.pairs.get_mut(&key(two[0], two[1])) {
                    pair.take(word);
                }
            }
            for two in merged.windows(2) {
                self.pairs.room(1)?;
                let pair = match self.pairs.entry(key(two[0], two[1])) {
                    hash_map::Entry::Occupied(known) => known.into_mut(),
                    hash_map::Entry::Vacant(free) => {
                        memory::push(&mut new, *free.key())?;
                        free.insert(Pair::new(groups))
                    }
                };
                pair.give(word);
                if two.contains(&joined) {
                    pair.note(number as usize)?;
                }
            }
            word.symbols = merged;
        }
        self.enqueue(&new)?;
        Ok(shorter)
    }
}

impl Pair {
    fn new(groups: usize) -> Self {
        Self { counts: vec![0; groups].into_boxed_slice(), words: Vec::new() }
    }

    /// Counts an occurrence in a word for the first time.
    fn add(&mut self, word: &Word) -> Result<()> {
        for (count, &more) in self.counts.iter_mut().zip(&word.counts) {
            *count = count.checked_add(more).ok_or_else(overflow)?;
        }
        Ok(())
    }

    /// As [`Pair::add`], where a merge has changed a word: no pair is more frequent than those that it was made of.
    fn give(&mut self, word: &Word) {
        self.counts.iter_mut().zip(&word.counts).for_each(|(count, &more)| *count += more);
    }

    fn take(&mut self, word: &Word) {
        self.counts.iter_mut().zip(&word.counts).for_each(|(count, &less)| *count -= less);
    }

    fn note(&mut self, word: usize) -> Result<()> {
        if self.words.last() == Some(&(word as u32)) { Ok(()) } else { memory::push(&mut self.words, word as u32) }
    }
}

/// A word in which a pair is one symbol, from left to right.
fn merged(symbols: &[u32], left: u32, right: u32, joined: u32) -> Result<Vec<u32>> {
    let mut merged = Vec::new();
    merged.room(symbols.len())?;
    let mut at = 0;
    while at < symbols.len() {
        let is_pair = symbols[at] == left && symbols.get(at + 1) == Some(&right);
        merged.push(if is_pair { joined } else { symbols[at] });
        at += 1 + usize::from(is_pair);
    }
    Ok(merged)
}
