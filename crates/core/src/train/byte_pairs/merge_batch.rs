//! Choosing the next merges: from the queue, or replayed; several at once where that is exact.
//!
//! **A batch** is a run of pairs from the queue, as long as no two pairs share a symbol, and their postings are not too many
//! to be kept until the batch is applied; a pair of a symbol with itself may only be the last. All of them are merged before
//! the next look at the queue. Merging one at a time has the same result:
//!
//! 1. A merge of (a, b) changes the counts and first places of pairs with a or b alone, and makes pairs with the new
//!    symbol c. So the others of the batch stay as they are, in their order, and so do their recorded counts.
//! 2. A pair that was not taken comes after the last of the batch, and its key only gets worse.
//! 3. A new pair (x, c) was (x, a) wherever it is, (c, y) was (b, y), and (c, c) was (b, a), none of which is (a, b) or
//!    of the batch, as they share a symbol with (a, b): for a = b this fails, (c, a) was (a, a), which is why such a pair
//!    comes last. So the new pair has at most the count n of a pair that was not taken. Those of the batch with counts
//!    above n come before it.
//! 4. At the count n itself the order of ties decides. Under `lowest_ids` those of the batch come before the new pair
//!    still: the pair that was not taken, say (x, a), comes after them, so that its ids are higher, and (x, c) has higher
//!    ids again, as c is the newest symbol; the same for (b, y) and (c, y), (b, a) and (c, c). Under the other orders
//!    it may be otherwise (the bytes of c are greater than those of a, but may be less than those of b; an occurrence of
//!    (c, y) starts before that of (b, y)), so that pairs with the count of the first that was not taken are put back.
//!
//! A pair below the floor is not in the queue, but its count is below those of the batch as well.
//!
//! Replayed merges need no order: consecutive merges that share no symbol are a batch.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

use crate::error::{Error, Kind, Result};
use crate::train::Learned;
use crate::train::byte_pairs::learn::{State, Trainer, lock, read, write};
use crate::train::byte_pairs::pair::{Pair, key, symbols_of};
use crate::train::byte_pairs::pairs::{Entry, Order, Shard};
use crate::train::byte_pairs::settings::Ties;
use crate::train::byte_pairs::symbols::Joining;

impl Trainer<'_> {
    /// Takes the next pairs from the queue, at most `most`; none if none is left above the floor.
    pub(super) fn chosen(&self, most: usize) -> Result<Vec<Learned>> {
        let taken = self.take(most, &read(&self.state))?;
        self.start_batch(taken.into_iter())
    }

    fn take(&self, most: usize, state: &State) -> Result<Vec<(u64, Pair)>> {
        let order = Order { ties: self.settings.ties, symbols: &state.symbols };
        let first = self.first_place(&state.symbols);
        let mut shards: Vec<_> = self.shards.iter().map(lock).collect();
        let next = |shards: &mut [MutexGuard<Shard>]| {
            let mut best: Option<(Entry, usize)> = None;
            for (number, shard) in shards.iter_mut().enumerate() {
                if let Some(entry) = shard.peek(state.floor, &order, &first)?
                    && best.is_none_or(|(best, _)| order.before(&entry, &best))
                {
                    best = Some((entry, number));
                }
            }
            Ok(best)
        };
        let mut taken: Vec<(Entry, Pair)> = Vec::new();
        let mut used: Vec<u32> = Vec::new();
        // A pair that may not merge breaks the third point: nothing bounds its count, and it is not in the queue.
        let alone = state.symbols.met_taken.load(Ordering::Relaxed);
        let most = most.min(if alone { 1 } else { self.tuning.batch });
        let mut postings = 0;
        let rest = loop {
            let Some((entry, number)) = next(&mut shards)? else { break 0 };
            let [left, right] = symbols_of(entry.pair);
            let closed = used.len() < 2 * taken.len();
            let full = taken.len() == most || postings >= self.tuning.kept_postings;
            if full || closed || used.contains(&left) || used.contains(&right) {
                break entry.count;
            }
            used.push(left);
            if left != right {
                used.push(right);
            }
            let shard = &mut shards[number];
            shard.queue.pop(|a, b| order.before(a, b));
            let pair = shard.pairs.remove(&entry.pair).unwrap_or_default();
            postings += pair.postings.len();
            taken.push((entry, pair));
        };
        while self.settings.ties != Ties::LowestIds
            && taken.len() > 1
            && let Some((entry, pair)) = taken.pop_if(|(entry, _)| entry.count == rest)
        {
            let shard = &mut shards[self.shard(entry.pair)];
            shard.queue.push(entry, |a, b| order.before(a, b))?;
            shard.pairs.insert(entry.pair, pair);
        }
        Ok(taken.into_iter().map(|(entry, pair)| (entry.pair, pair)).collect())
    }
}

impl Trainer<'_> {
    /// Takes the next merges of `rest`, the first of which is merge `number`; none if the floor is too high for it.
    pub(super) fn replayed(&self, rest: &[Learned], number: usize) -> Result<Vec<Learned>> {
        let state = read(&self.state);
        let mut taken: Vec<(u64, Pair)> = Vec::new();
        let (mut used, mut postings) = (Vec::new(), 0);
        for merge in rest.iter().take((self.settings.merges - number).min(self.tuning.batch)) {
            let known = (merge.left.max(merge.right) as usize) < state.symbols.len();
            let closed = used.len() < 2 * taken.len();
            let full = postings >= self.tuning.kept_postings;
            if !known || full || closed || used.contains(&merge.left) || used.contains(&merge.right) {
                break;
            }
            let pair = key(merge.left, merge.right);
            let mut shard = lock(&self.shards[self.shard(pair)]);
            if shard.pairs.get(&pair).is_none_or(|pair| pair.count != merge.count) {
                break;
            }
            used.push(merge.left);
            if merge.left != merge.right {
                used.push(merge.right);
            }
            let known = shard.pairs.remove(&pair).unwrap_or_default();
            postings += known.postings.len();
            taken.push((pair, known));
        }
        if taken.is_empty() && (rest[0].count >= state.floor || state.floor == self.settings.min_frequency.max(1)) {
            return Err(self.differs(rest[0], number, &state));
        }
        drop(state);
        self.start_batch(taken.into_iter())
    }

    fn differs(&self, merge: Learned, number: usize, state: &State) -> Error {
        let Learned { left, right, count } = merge;
        let known = (left.max(right) as usize) < state.symbols.len();
        let truth = if known { self.recount(left, right, state) } else { 0 };
        let what = match known {
            false => format!("merge {number} joins the symbols {left} and {right}, which are not both there"),
            true if truth == count => {
                format!("merge {number} has the count {count}, and the settings do not allow it")
            }
            true => {
                format!("merge {number} was learned from a pair that occurred {count} times; here it occurs {truth}")
            }
        };
        Error::new(Kind::Training, format!("{what}: these merges were learned from other counts or settings"))
            .remedy("resume with the source and settings of the first run, or start anew")
    }

    fn recount(&self, left: u32, right: u32, state: &State) -> u64 {
        let mut total = 0_u64;
        for site in &self.sites {
            // The error that is being made matters more than one that stops this.
            let _ = read(site).for_each_pair(&state.symbols, self.progress, |l, r, count, _| {
                total += if (l, r) == (left, right) { count } else { 0 };
                Ok(())
            });
        }
        total
    }

    fn start_batch(&self, taken: impl Iterator<Item = (u64, Pair)>) -> Result<Vec<Learned>> {
        let mut state = write(&self.state);
        let State { symbols, batch, .. } = &mut *state;
        batch.clear();
        let mut learned = Vec::new();
        for (pair, Pair { count, postings }) in taken {
            let [left, right] = symbols_of(pair);
            let [left_width, right_width] = [left, right].map(|symbol| symbols.widths[symbol as usize]);
            let joined = symbols.len() as u32;
            symbols.join(left, right)?;
            batch.push(Joining { left, right, left_width, right_width, joined, postings });
            learned.push(Learned { left, right, count });
        }
        Ok(learned)
    }
}
