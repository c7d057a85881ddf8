//! The merge loop: the most frequent adjacent pair becomes a token, again and again.
//!
//! Pair counts are kept up to date word by word, found through postings (which words hold the pair). It is
//! exact for these reasons:
//!
//! **Keys only get worse.** No merge makes an older pair more frequent or brings it further to the front, since every
//! new adjacency contains the new symbol. So the queue can be lazy: a pair has one entry, whose key may be better than the
//! current one, and is corrected when it is popped.
//!
//! **The floor.** Only pairs that occur at least `floor` times are stored at all, for the same reason: a pair below it never
//! rises above it. When no pair is left and the floor is above `min_frequency`, it is lowered, and all pairs are counted
//! again from the current words. Until then, every stored pair comes before every other one. Most pairs
//! of a text are rare and never merge, so that this is less work and less memory than storing them. The first floor is a
//! guess from the number of merges, which the result does not depend on.
//!
//! **Batches**: see [`crate::train::byte_pairs::merge_batch`].

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::error::{Error, Kind, Result};
use crate::memory;
use crate::parallel;
use crate::train::byte_pairs::alphabet::Alphabet;
use crate::train::byte_pairs::alphabet::Speller;
use crate::train::byte_pairs::pair::{Pair, Place, symbols_of};
use crate::train::byte_pairs::pairs::{Order, Shard};
use crate::train::byte_pairs::recount;
use crate::train::byte_pairs::settings::{Settings, Ties};
use crate::train::byte_pairs::site::{Site, SpelledWords, into_sites, settle};
use crate::train::byte_pairs::symbols::{Joining, Symbols};
use crate::train::byte_pairs::tally::Outbox;
use crate::train::byte_pairs::workers::{Workers, with_workers};
use crate::train::counts::PieceCounts;
use crate::train::{Learned, Progress};

/// The result of [`learn`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Training {
    /// The bytes of each symbol of the alphabet.
    pub alphabet: Vec<Vec<u8>>,
    /// The merges in order, those that were replayed first.
    pub merges: Vec<Learned>,
    /// How many tokens all pieces come to, each as often as it occurs.
    pub tokens_total: u128,
}

/// Parameters that change only speed; tests vary them to reach every path with little text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Pieces from this many symbols on are merged by position.
    pub(super) long_from: usize,
    /// A worker's least share, in symbols.
    pub(super) share: usize,
    /// A batch with at least this many postings is shared among the workers.
    pub(super) batch_postings: usize,
    /// The most merges in a batch.
    pub(super) batch: usize,
    /// With so many postings a batch ends: they are kept until it is applied.
    pub(super) kept_postings: usize,
    /// The first floor is the number of adjacent symbols, over merges times this.
    pub(super) floor_divisor: u64,
    /// Each time, the floor is divided by this.
    pub(super) floor_step: u64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            long_from: 256,
            share: 1 << 19,
            batch_postings: 1 << 8,
            batch: 64,
            kept_postings: 1 << 20,
            floor_divisor: 64,
            floor_step: 8,
        }
    }
}

/// The jobs of the workers, each a round.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job {
    /// Words are tidied up, and the counts of their pairs added up by hash.
    Filter,
    /// Pairs are counted from scratch.
    Count,
    /// The counts go to the shards of pairs.
    Collect,
    /// A batch is merged in the words.
    Joining,
    /// Changes are applied to the shards of pairs.
    Apply,
}

const JOBS: [Job; 5] = [Job::Filter, Job::Count, Job::Collect, Job::Joining, Job::Apply];

/// The state that all workers read, and one writes between the rounds.
#[derive(Debug)]
pub(super) struct State {
    pub(super) symbols: Symbols,
    pub(super) batch: Vec<Joining>,
    /// Pairs that occur less often are not stored.
    pub(super) floor: u64,
    filter: Vec<u32>,
}

/// All that learning works on. A site of words, or a shard of pairs, has one worker in a round.
pub(super) struct Trainer<'a> {
    pub(super) settings: &'a Settings,
    pub(super) tuning: Tuning,
    pub(super) progress: &'a Progress,
    pub(super) state: RwLock<State>,
    pub(super) shards: Vec<Mutex<Shard>>,
    pub(super) sites: Vec<RwLock<Site>>,
    /// How many slots all sites have at the start.
    slots: usize,
    outboxes: Vec<RwLock<Outbox>>,
    failed: Mutex<Option<Error>>,
}

/// Learns merges from counts, on up to `threads` threads; the result is the same for any number.
///
/// Starts with the merges of `replay`, without choosing them, as a run that was stopped left them: learning some,
/// replaying them, and going on is learning at once. Ends early when no pair is left that is frequent and short enough.
/// `progress` gets the merges as they are made.
///
/// Time: O(symbols of the distinct pieces) to begin with, and O(postings) for each merge. Memory: [`learn_bytes`].
///
/// # Errors
/// `Training`, if counts overflow 64 bits, there are 2^32 symbols or more, or a merge of `replay` does not have the count
/// here that it was recorded with; `Interrupted`.
///
/// [`learn_bytes`]: crate::train::learn_bytes
///
/// ```
/// use bytepair_core::train::{Alphabet, PieceCounts, Progress, Settings, Ties, learn};
/// let counts = PieceCounts::of([(&b"aaab"[..], 2)])?;
/// let settings = Settings { merges: 9, ties: Ties::LowestIds, min_frequency: 2, max_token_length: usize::MAX, max_words: usize::MAX };
/// let trained = learn(&counts, &Alphabet::raw_bytes(), &settings, &[], 1, &Progress::default())?;
/// let pairs: Vec<_> = trained.merges.iter().map(|merge| (merge.left, merge.right, merge.count)).collect();
/// assert_eq!(pairs, [(97, 97, 4), (97, 98, 2), (256, 257, 2)]);
/// assert_eq!(trained.tokens_total, 2);
/// let again = learn(&counts, &Alphabet::raw_bytes(), &settings, &trained.merges[..1], 1, &Progress::default())?;
/// assert_eq!(again, trained);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn learn(
    counts: &PieceCounts,
    alphabet: &Alphabet,
    settings: &Settings,
    replay: &[Learned],
    threads: usize,
    progress: &Progress,
) -> Result<Training> {
    learn_tuned(counts, alphabet, settings, replay, (threads, Tuning::default()), progress)
}

pub(super) fn learn_tuned(
    counts: &PieceCounts,
    alphabet: &Alphabet,
    settings: &Settings,
    replay: &[Learned],
    (threads, tuning): (usize, Tuning),
    progress: &Progress,
) -> Result<Training> {
    if replay.len() > settings.merges {
        let what = format!("there are {} merges to replay and {} to learn", replay.len(), settings.merges);
        return Err(Error::new(Kind::Training, what).remedy("ask for at least as many as are replayed"));
    }
    let counts = counts.in_memory()?;
    // Sorting takes one thread, and the other orders of ties do not depend on the positions of pieces.
    let rows = if settings.ties == Ties::FirstSeen { counts.in_order() } else { counts.rows() }?;
    // Collected in place, which takes no memory.
    let pieces: Vec<_> = rows.into_iter().map(|row| (row.piece, row.count)).collect();
    let taken = alphabet.taken();
    let symbols = pieces.iter().map(|(piece, _)| piece.len()).sum::<usize>();
    let threads = threads.clamp(1, (symbols / tuning.share.max(1)).max(1));
    let (speller, alphabet) = alphabet.speller(&pieces)?;
    let words = spell(&pieces, symbols.div_ceil(threads), (threads, tuning.long_from), &speller, progress)?;
    drop(pieces);
    let mut tokens_total = words.iter().map(|words| words.symbols).sum::<u128>();
    let sites: Vec<_> = into_sites(words)?.into_iter().map(RwLock::new).collect();
    let least = settings.min_frequency.max(1);
    // A guess at how often the last pair occurs: frequencies fall like ranks rise.
    let expected = tokens_total / (settings.merges.max(1) as u128 * u128::from(tuning.floor_divisor));
    let trainer = Trainer {
        settings,
        tuning,
        progress,
        state: RwLock::new(State {
            symbols: Symbols::new(&alphabet, taken, settings),
            batch: Vec::new(),
            floor: u64::try_from(expected).unwrap_or(u64::MAX).max(least),
            filter: Vec::new(),
        }),
        shards: (0..threads).map(|_| Mutex::new(Shard::new())).collect(),
        slots: sites.iter().map(|site| read(site).range().len()).sum(),
        outboxes: sites.iter().map(|_| RwLock::new(Outbox::new(threads))).collect(),
        sites,
        failed: Mutex::new(None),
    };
    let work = |job: usize, worker| trainer.work(JOBS[job], worker);
    let merges = with_workers(threads, work, |workers| trainer.learn(replay, workers))?;
    tokens_total -= trainer.outboxes.iter().map(|outbox| write(outbox).take_occurrences()).sum::<u128>();
    Ok(Training { alphabet, merges, tokens_total })
}

/// The pieces as words, in portions of about `portion` symbols, one after another.
fn spell(
    pieces: &[(&[u8], u64)],
    portion: usize,
    (threads, long_from): (usize, usize),
    speller: &Speller<'_>,
    progress: &Progress,
) -> Result<Vec<SpelledWords>> {
    let mut portions = Vec::new();
    let (mut start, mut symbols) = (0, 0);
    for (at, (piece, _)) in pieces.iter().enumerate() {
        symbols += piece.len();
        if symbols >= portion || at + 1 == pieces.len() {
            portions.push(&pieces[start..=at]);
            (start, symbols) = (at + 1, 0);
        }
    }
    let work = |done: &mut Vec<_>, portion: usize| {
        let pieces = portions[portion];
        let short = pieces.iter().map(|(piece, _)| piece.len()).filter(|&length| length < long_from).sum();
        let words = SpelledWords::new(pieces.len(), short, long_from)
            .and_then(|mut words| speller.spell(pieces, &mut words, progress).map(|()| words));
        done.push((portion, words));
    };
    let mut words: Vec<_> = parallel::fold(portions.len(), threads, Vec::new, work).into_iter().flatten().collect();
    words.sort_unstable_by_key(|&(portion, _)| portion);
    words.into_iter().map(|(_, words)| words).collect()
}

impl Trainer<'_> {
    fn learn(&self, replay: &[Learned], workers: &Workers) -> Result<Vec<Learned>> {
        self.count_pairs(workers)?;
        let mut learned = Vec::new();
        while learned.len() < self.settings.merges {
            let chosen = match replay.get(learned.len()..).filter(|rest| !rest.is_empty()) {
                Some(rest) => self.replayed(rest, learned.len())?,
                None => self.chosen(self.settings.merges - learned.len())?,
            };
            if chosen.is_empty() {
                if !self.lower_floor() {
                    break;
                }
                self.count_pairs(workers)?;
                continue;
            }
            self.progress.tell_learned(&chosen);
            memory::extend(&mut learned, chosen)?;
            let postings = read(&self.state).batch.iter().map(|merge| merge.postings.len()).sum::<usize>();
            let shared = postings >= self.tuning.batch_postings;
            self.run(Job::Joining, workers, shared)?;
            self.run(Job::Apply, workers, shared)?;
        }
        Ok(learned)
    }

    /// Counts the pairs of all words, and enqueues them.
    fn count_pairs(&self, workers: &Workers) -> Result<()> {
        for shard in &self.shards {
            lock(shard).clear();
        }
        if read(&self.state).symbols.len() > recount::DENSE {
            self.run(Job::Filter, workers, true)?;
            settle(&mut self.sites.iter().map(write).collect::<Vec<_>>())?;
            let mut filters = self.outboxes.iter().map(|outbox| std::mem::take(&mut write(outbox).filter));
            let mut sum = filters.next().unwrap_or_default();
            for filter in filters {
                sum.iter_mut().zip(filter).for_each(|(sum, more)| *sum = sum.saturating_add(more));
            }
            write(&self.state).filter = sum;
        }
        self.run(Job::Count, workers, true)?;
        write(&self.state).filter = Vec::new();
        self.run(Job::Collect, workers, true)
    }

    /// Lowers the floor, if it can be lower.
    fn lower_floor(&self) -> bool {
        let least = self.settings.min_frequency.max(1);
        let mut state = write(&self.state);
        let lower = (state.floor / self.tuning.floor_step).max(least);
        std::mem::replace(&mut state.floor, lower) > lower
    }

    fn run(&self, job: Job, workers: &Workers, shared: bool) -> Result<()> {
        if shared {
            workers.run(job as usize, |_, worker| self.work(job, worker))?;
        } else {
            (0..self.shards.len()).for_each(|worker| self.work(job, worker));
        }
        lock(&self.failed).take().map_or(Ok(()), Err)
    }

    fn work(&self, job: Job, worker: usize) {
        let state = read(&self.state);
        let done = match job {
            Job::Filter | Job::Count | Job::Joining => (worker..self.sites.len())
                .step_by(self.shards.len())
                .try_for_each(|site| self.work_on_site(job, site, &state)),
            Job::Collect | Job::Apply => self.work_on_shard(job, worker, &state),
        };
        if let Err(error) = done {
            lock(&self.failed).get_or_insert(error);
        }
    }

    fn work_on_site(&self, job: Job, site: usize, state: &State) -> Result<()> {
        let (mut site, mut outbox) = (write(&self.sites[site]), write(&self.outboxes[site]));
        let State { symbols, batch, floor, filter } = state;
        match job {
            Job::Filter => {
                if let Site::Short(words) = &mut *site {
                    words.compact();
                }
                outbox.filter = recount::filter(&site, symbols, self.slots, self.progress)?;
            }
            Job::Count => {
                // A pair that is rare in one part may be frequent in all.
                let floor_here = if self.sites.len() == 1 { *floor } else { 1 };
                let counted = recount::count(&site, symbols, (filter, *floor), floor_here, self.progress)?;
                for (pair, counts) in counted {
                    memory::push(&mut outbox.counted[self.shard(pair)], (pair, counts))?;
                }
            }
            _ => {
                outbox.clear();
                outbox.prepare(symbols)?;
                let range = site.range();
                for merge in batch {
                    let from = merge.postings.partition_point(|&posting| posting < range.start);
                    let postings = &merge.postings[from..];
                    let postings = &postings[..postings.partition_point(|&posting| posting < range.end)];
                    site.merge(postings, merge, &mut outbox.tally, self.progress)?;
                    outbox.report(merge, |pair| self.shard(pair))?;
                }
            }
        }
        Ok(())
    }

    fn work_on_shard(&self, job: Job, number: usize, state: &State) -> Result<()> {
        let mut shard = lock(&self.shards[number]);
        if matches!(job, Job::Collect) {
            for outbox in &self.outboxes {
                let counted = std::mem::take(&mut write(outbox).counted[number]);
                shard.collect(counted)?;
            }
            shard.settle(state.floor)?;
        } else {
            let outboxes: Vec<_> = self.outboxes.iter().map(read).collect();
            let merges = state.batch.iter().enumerate().filter(|(_, merge)| self.shard_of(merge.joined) == number);
            shard.apply(&outboxes, number, merges, (&state.symbols, state.floor), self.progress)?;
        }
        let order = Order { ties: self.settings.ties, symbols: &state.symbols };
        shard.enqueue(state.floor, &order, self.first_place(&state.symbols))
    }

    /// Which shard a pair is in: that of its newer symbol, so that all pairs that a merge makes are in one.
    pub(super) fn shard(&self, pair: u64) -> usize {
        let [left, right] = symbols_of(pair);
        self.shard_of(left.max(right))
    }

    /// Which shard has the pairs of a symbol with older ones.
    fn shard_of(&self, symbol: u32) -> usize {
        symbol as usize % self.shards.len()
    }

    /// Finds where a pair first occurs now; postings that are out of date by now are dropped from the front.
    pub(super) fn first_place(&self, symbols: &Symbols) -> impl Fn(&mut Pair, [u32; 2]) -> Place {
        let asked = self.settings.ties == Ties::FirstSeen;
        let sites: Vec<_> = self.sites.iter().filter(|_| asked).map(read).collect();
        // The places of long words lie among those of the others.
        let long = sites.iter().find(|site| matches!(***site, Site::Long(_)));
        let long_from = long.map_or(u32::MAX, |site| site.range().start);
        move |pair, both| {
            if !asked {
                return (0, 0);
            }
            let first = |postings: &[u32]| {
                postings.iter().enumerate().find_map(|(at, &posting)| {
                    let site = sites.partition_point(|site| site.range().end <= posting);
                    sites[site].first(posting, both, symbols).map(|place| (at, place))
                })
            };
            let (short, long) = pair.postings.split_at(pair.postings.partition_point(|&posting| posting < long_from));
            let (in_short, in_long) = (first(short), first(long));
            let gone = in_short.map_or(short.len(), |(at, _)| at);
            let gone_long = in_long.map_or(long.len(), |(at, _)| at);
            let long_at = short.len();
            pair.postings.drain(long_at..long_at + gone_long);
            pair.postings.drain(..gone);
            let places = [in_short, in_long].into_iter().flatten().map(|(_, place)| place);
            places.min().unwrap_or((u32::MAX, 0))
        }
    }
}

pub(super) fn lock<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
