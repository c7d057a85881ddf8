//! The naive scan on fixed arrays, for pieces that begin with up to 62 symbols: bytes, or whole characters.
//!
//! A pair's key is its value and its place in one word, so that the smallest key is the leftmost of the lowest pairs,
//! found without a branch. A merged symbol keeps its place, with a key that is never smallest.
//!
//! Its weakness: each merge scans all places again, or the smallest of each eight.

use crate::vocab::{NONE, NOTHING, Rules, Vocab};

/// The places of the larger arrays, of which the first and one after the last symbol hold [`NOTHING`], so that every
/// symbol has neighbours.
const MANY: usize = 64;

/// The places of the smaller ones: most pieces need no more, and preparing them takes time.
const FEW: usize = 16;

/// The bits of a key that are the place; those above are the value. Keys of 64 bits, though 32 would do: the compiler
/// compares those as vectors, which cannot be read at once after their parts were written, and is slower by a third.
const PLACE_BITS: u32 = 6;

/// The last places of a window, of which what comes after it could make other tokens.
const LOOSE: usize = 3;

/// The key of a place without a merge.
const NEVER: u64 = (NONE as u64) << PLACE_BITS;

/// The number of keys whose smallest one is kept.
const GROUP: usize = 8;

/// So many keys are compared at once.
const LANES: usize = 4;

/// Appends the ids of a piece that begins with few enough symbols; whether it did.
pub(super) fn merge(vocab: &Vocab, piece: &[u8], ids: &mut Vec<u32>) -> bool {
    // A piece begins with a symbol for each character at least.
    let most = FEW - 2;
    let is_short = piece.len() <= most
        || piece.len() <= 3 * most && piece.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() <= most;
    is_short && Scan::<FEW>::merge(vocab, piece, ids) || Scan::<MANY>::merge(vocab, piece, ids)
}

/// The symbols that a piece, or a window of one, begins with.
struct Scan<const PLACES: usize> {
    symbols: [u32; PLACES],
    /// How many there are.
    count: usize,
    /// Where the text ends.
    end: usize,
}

/// The beginning of the rest of a long piece, merged as if nothing came after it.
pub(super) struct Window {
    scan: Scan<FEW>,
    /// Where the symbol of each place begins.
    starts: [u32; FEW],
    /// The places that have not merged away.
    live: u64,
}

impl Window {
    /// Merges `piece` from `start` on, as far as the places reach.
    pub(super) fn new(vocab: &Vocab, piece: &[u8], start: usize) -> Self {
        let mut starts = [0; FEW];
        let mut scan = Scan::read(vocab, piece, start, |place, at| starts[place] = at as u32);
        let live = scan.run(vocab.rules());
        Self { scan, starts, live }
    }

    /// The place up to which symbols that begin there are kept, if something comes after the window.
    pub(super) fn kept(&self) -> usize {
        self.starts[(self.scan.count + 1).saturating_sub(LOOSE) % FEW] as usize
    }

    /// Where it ends.
    pub(super) fn end(&self) -> usize {
        self.scan.end
    }

    /// The symbols and where they begin.
    pub(super) fn symbols(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        places(self.live).map(|place| (self.scan.symbols[place % FEW], self.starts[place % FEW] as usize))
    }
}

impl<const PLACES: usize> Scan<PLACES> {
    fn merge(vocab: &Vocab, piece: &[u8], ids: &mut Vec<u32>) -> bool {
        let mut scan = Self::read(vocab, piece, 0, |_, _| {});
        if scan.end < piece.len() {
            return false;
        }
        let live = scan.run(vocab.rules());
        ids.extend(places(live).map(|place| vocab.rules().id(scan.symbols[place % PLACES])));
        true
    }

    #[inline(always)]
    fn read(vocab: &Vocab, piece: &[u8], start: usize, mut visit: impl FnMut(usize, usize)) -> Self {
        let mut symbols = [NOTHING; PLACES];
        let (mut count, mut end) = (0, start);
        while end < piece.len() && count < PLACES - 2 {
            let (symbol, length) = vocab.characters().at(piece, end);
            count += 1;
            symbols[count] = symbol;
            visit(count, end);
            end += length;
        }
        Self { symbols, count, end }
    }

    /// Merges; the bits of the places that are left.
    #[inline(always)]
    fn run(&mut self, rules: &Rules) -> u64 {
        let Self { symbols, count, .. } = self;
        let count = *count;
        let mut keys = [NEVER; PLACES];
        for place in 1..count {
            keys[place] = key(rules.value(symbols[place], symbols[place + 1]), place);
        }
        // The places that have not merged away, with the one before and the one after the piece.
        let mut live = u64::MAX >> (62 - count);
        let mut groups = Groups::new(&keys, count);
        loop {
            let lowest = if PLACES > FEW { groups.lowest() } else { lowest(&keys, count) };
            if lowest >= NEVER {
                return live & (u64::MAX >> (63 - count)) & !1;
            }
            let place = lowest as usize % PLACES;
            let after = live & (u64::MAX - 1) << place;
            let after_next = after & after.wrapping_sub(1);
            let gone = after.trailing_zeros() as usize % PLACES;
            let next = after_next.trailing_zeros() as usize % PLACES;
            let previous = (live & ((1 << place) - 1)).checked_ilog2().unwrap_or(0) as usize % PLACES;
            live ^= after ^ after_next;
            let symbol = rules.product((lowest >> PLACE_BITS) as u32);
            symbols[place] = symbol;
            keys[gone] = NEVER;
            keys[place] = key(rules.value(symbol, symbols[next]), place);
            keys[previous] = key(rules.value(symbols[previous], symbol), previous);
            if PLACES > FEW {
                groups.renew(&keys, [previous, place, gone]);
            }
        }
    }
}

/// The smallest key of each few places: of many places, few change with a merge.
struct Groups([u64; MANY / GROUP]);

impl Groups {
    #[inline(always)]
    fn new<const PLACES: usize>(keys: &[u64; PLACES], count: usize) -> Self {
        let mut groups = Self([NEVER; MANY / GROUP]);
        if PLACES > FEW {
            for (group, keys) in groups.0.iter_mut().zip(keys.as_chunks().0).take(count / GROUP + 1) {
                *group = lowest_of(keys);
            }
        }
        groups
    }

    #[inline(always)]
    fn lowest(&self) -> u64 {
        lowest_of(&self.0)
    }

    /// Three places have changed, in their order.
    #[inline(always)]
    fn renew<const PLACES: usize>(&mut self, keys: &[u64; PLACES], [before, place, after]: [usize; 3]) {
        let mut renew = |group: usize| {
            if let Some(keys) = keys.as_chunks().0.get(group) {
                self.0[group % (MANY / GROUP)] = lowest_of(keys);
            }
        };
        renew(place / GROUP);
        if before / GROUP != place / GROUP {
            renew(before / GROUP);
        }
        if after / GROUP != place / GROUP {
            renew(after / GROUP);
        }
    }
}

#[inline(always)]
fn lowest_of(keys: &[u64; GROUP]) -> u64 {
    let half = |at: usize| keys[at].min(keys[at + 1]).min(keys[at + 2].min(keys[at + 3]));
    half(0).min(half(4))
}

/// The places whose bits are set.
#[inline]
fn places(mut live: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = live.trailing_zeros() as usize;
        live &= live.wrapping_sub(1);
        (place < 64).then_some(place)
    })
}

#[inline]
fn key(value: u32, place: usize) -> u64 {
    u64::from(value) << PLACE_BITS | place as u64
}

/// The smallest key of the places up to `count`, and of some beyond.
#[inline]
fn lowest<const PLACES: usize>(keys: &[u64; PLACES], count: usize) -> u64 {
    let mut lowest = [NEVER; LANES];
    for lanes in keys.chunks_exact(LANES).take(count / LANES + 1) {
        for (lowest, &key) in lowest.iter_mut().zip(lanes) {
            *lowest = key.min(*lowest);
        }
    }
    lowest.into_iter().fold(NEVER, u64::min)
}
