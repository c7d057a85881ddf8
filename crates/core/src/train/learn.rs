//! The merge loop: the most frequent adjacent pair becomes a token, again and again.
//!
//! Pair counts are kept up to date piece by piece, found through postings (which pieces hold the pair). The queue is
//! lazy: a pair has one entry, whose key may be better than the truth by now, and is corrected when it comes out.
//! That is enough because keys only ever get worse: no merge makes an older pair more frequent or brings it further
//! to the front, since whatever becomes adjacent then has the new symbol in it.

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::train::queue::Queue;
use crate::train::words::{Change, Words};
use crate::train::{Alphabet, PieceCounts, Progress, Settings, Ties, overflow};

/// One merge, with how often the pair was adjacent when it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learned {
    /// Symbol on the left: of the alphabet, or `alphabet length + i` for what merge `i` made.
    pub left: u32,
    /// Symbol on the right.
    pub right: u32,
    /// Occurrences.
    pub count: u64,
}

/// A pair that may still merge.
struct Pair {
    left: u32,
    right: u32,
    count: u64,
    /// The pieces that hold it, or held it, ascending.
    postings: Vec<u32>,
}

/// Where a pair first occurs: piece, and bytes from its start.
type Place = (u32, u32);

struct Entry {
    count: u64,
    pair: u32,
    /// Only under [`Ties::FirstSeen`].
    first: Place,
}

struct Trainer<'a> {
    settings: &'a Settings,
    words: Words,
    tokens: Vec<Vec<u8>>,
    pairs: Vec<Pair>,
    number: FxHashMap<(u32, u32), u32>,
    queue: Queue<Entry>,
}

/// Learns merges from counts; returns the bytes of the alphabet's symbols as well.
///
/// Ends early when no pair is left that is frequent and short enough.
///
/// # Errors
/// `Training`, if counts overflow 64 bits; `Interrupted`.
///
/// ```
/// use bytepair_core::train::{Alphabet, PieceCounts, Progress, Settings, Ties, learn};
/// let counts = PieceCounts::of([(&b"aaab"[..], 2)])?;
/// let settings = Settings { merges: 9, ties: Ties::LowestIds, min_frequency: 2, max_token_length: usize::MAX };
/// let (_, merges) = learn(&counts, &Alphabet::raw_bytes(), &settings, &Progress::default())?;
/// let pairs: Vec<_> = merges.iter().map(|merge| (merge.left, merge.right, merge.count)).collect();
/// assert_eq!(pairs, [(97, 97, 4), (97, 98, 2), (256, 257, 2)]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn learn(
    counts: &PieceCounts,
    alphabet: &Alphabet,
    settings: &Settings,
    progress: &Progress,
) -> Result<(Vec<Vec<u8>>, Vec<Learned>)> {
    let (words, tokens) = alphabet.spell(counts)?;
    let symbols = tokens.len();
    let mut trainer =
        Trainer { settings, words, tokens, pairs: Vec::new(), number: FxHashMap::default(), queue: Queue::new() };
    trainer.count_pairs()?;
    let mut learned = Vec::new();
    while learned.len() < settings.merges {
        let Some(pair) = trainer.next_pair() else { break };
        if alphabet.is_taken(&trainer.token(pair)) {
            // No entry of it is left in the queue, so that it never merges.
            continue;
        }
        learned.push(trainer.merge(pair));
        progress.advance(1)?;
    }
    trainer.tokens.truncate(symbols);
    Ok((trainer.tokens, learned))
}

impl Trainer<'_> {
    fn count_pairs(&mut self) -> Result<()> {
        for word in 0..self.words.len() as u32 {
            let count = self.words.count(word);
            for at in 1..self.words.symbols(word).len() {
                let symbols = self.words.symbols(word);
                let (left, right) = (symbols[at - 1], symbols[at]);
                if let Some(pair) = self.pair(left, right) {
                    pair.gain(word, count).ok_or_else(overflow)?;
                }
            }
        }
        self.enqueue_from(0);
        Ok(())
    }

    /// The pair, made where it is new; None if its token would be too long, so that it never merges.
    fn pair(&mut self, left: u32, right: u32) -> Option<&mut Pair> {
        if self.tokens[left as usize].len() + self.tokens[right as usize].len() > self.settings.max_token_length {
            return None;
        }
        let next = self.pairs.len() as u32;
        let number = *self.number.entry((left, right)).or_insert(next);
        if number == next {
            self.pairs.push(Pair { left, right, count: 0, postings: Vec::new() });
        }
        self.pairs.get_mut(number as usize)
    }

    /// Enqueues the pairs from this number on: those of the last merge.
    fn enqueue_from(&mut self, number: usize) {
        for number in number..self.pairs.len() {
            let pair = &self.pairs[number];
            if pair.count >= self.settings.min_frequency.max(1) {
                let entry = Entry { count: pair.count, pair: number as u32, first: self.first_place(number as u32) };
                self.enqueue(entry);
            } else {
                self.pairs[number].postings = Vec::new();
            }
        }
    }

    fn enqueue(&mut self, entry: Entry) {
        let Self { queue, pairs, tokens, settings, .. } = self;
        queue.push(entry, |a, b| before(settings.ties, pairs, tokens, a, b));
    }

    /// The pair to merge now.
    fn next_pair(&mut self) -> Option<u32> {
        loop {
            let Self { queue, pairs, tokens, settings, .. } = self;
            let entry = queue.pop(|a, b| before(settings.ties, pairs, tokens, a, b))?;
            let count = self.pairs[entry.pair as usize].count;
            if count < self.settings.min_frequency.max(1) {
                self.pairs[entry.pair as usize].postings = Vec::new();
                continue;
            }
            let first = self.first_place(entry.pair);
            if (count, first) == (entry.count, entry.first) {
                return Some(entry.pair);
            }
            self.enqueue(Entry { count, first, ..entry });
        }
    }

    /// Where a pair first occurs now. Pieces that no longer hold it are dropped from the front of its postings.
    fn first_place(&mut self, number: u32) -> Place {
        if self.settings.ties != Ties::FirstSeen {
            return (0, 0);
        }
        let pair = &mut self.pairs[number as usize];
        for (at, &word) in pair.postings.iter().enumerate() {
            let mut offset = 0;
            for two in self.words.symbols(word).windows(2) {
                if *two == [pair.left, pair.right] {
                    pair.postings.drain(..at);
                    return (word, offset);
                }
                offset += self.tokens[two[0] as usize].len() as u32;
            }
        }
        (u32::MAX, 0)
    }

    /// The bytes that the pair makes.
    fn token(&self, number: u32) -> Vec<u8> {
        let pair = &self.pairs[number as usize];
        [&*self.tokens[pair.left as usize], &self.tokens[pair.right as usize]].concat()
    }

    fn merge(&mut self, number: u32) -> Learned {
        let known = self.pairs.len();
        let joined = self.tokens.len() as u32;
        let token = self.token(number);
        let pair = &mut self.pairs[number as usize];
        let learned = Learned { left: pair.left, right: pair.right, count: pair.count };
        let postings = std::mem::take(&mut pair.postings);
        self.tokens.push(token);
        let mut changes = Vec::new();
        for word in postings {
            self.words.merge(word, (learned.left, learned.right), joined, |change| changes.push(change));
            let count = self.words.count(word);
            for change in changes.drain(..) {
                match change {
                    Change::Lost(left, right) => {
                        if let Some(&number) = self.number.get(&(left, right)) {
                            self.pairs[number as usize].count -= count;
                        }
                    }
                    Change::Gained(left, right) => {
                        if let Some(pair) = self.pair(left, right) {
                            // No more than the pair that has just merged, so that it cannot overflow.
                            pair.gain(word, count);
                        }
                    }
                }
            }
        }
        self.number.remove(&(learned.left, learned.right));
        self.enqueue_from(known);
        learned
    }
}

impl Pair {
    /// Counts an occurrence in a piece; None on overflow.
    fn gain(&mut self, word: u32, count: u64) -> Option<()> {
        self.count = self.count.checked_add(count)?;
        if self.postings.last() != Some(&word) {
            self.postings.push(word);
        }
        Some(())
    }
}

/// Whether entry `a` merges before entry `b`.
fn before(ties: Ties, pairs: &[Pair], tokens: &[Vec<u8>], a: &Entry, b: &Entry) -> bool {
    if a.count != b.count {
        return a.count > b.count;
    }
    let (left, right) = (&pairs[a.pair as usize], &pairs[b.pair as usize]);
    let ids = |pair: &Pair| (pair.left, pair.right);
    let bytes = |pair: &Pair| (tokens[pair.left as usize].as_slice(), tokens[pair.right as usize].as_slice());
    match ties {
        Ties::LowestIds => ids(left) < ids(right),
        Ties::GreatestBytes => bytes(left) > bytes(right),
        Ties::SmallestBytes => bytes(left) < bytes(right),
        Ties::FirstSeen => a.first < b.first,
    }
}
