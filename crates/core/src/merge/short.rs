//! The naive scan on fixed arrays, for pieces that begin with up to 62 symbols: bytes, or whole characters.
//!
//! A pair's key is its value and its place in one word, so that the smallest key is the leftmost of the lowest pairs,
//! found without a branch. What has merged away keeps its place, with a key that is never smallest. Its weakness: each
//! merge looks at all places again.

use crate::vocab::{NONE, NOTHING, Rules, Vocab};

/// The places of the larger arrays, of which the first and one after the last symbol hold [`NOTHING`], so that every
/// symbol has neighbours.
const MANY: usize = 64;

/// The places of the smaller ones: most pieces need no more, and preparing them takes time.
const FEW: usize = 16;

/// The bits of a key that are the place; those above are the value. Keys of 64 bits, though 32 would do: the compiler
/// compares those as vectors, which cannot be read at once after their parts were written, and is slower by a third.
const PLACE_BITS: u32 = 6;

/// The key of what does not merge.
const NEVER: u64 = u64::MAX;

/// So many keys are compared at once.
const LANES: usize = 4;

/// Appends the ids of a piece that begins with few enough symbols; whether it did.
pub(super) fn merge(vocab: &Vocab, piece: &[u8], ids: &mut Vec<u32>) -> bool {
    if piece.len() <= FEW - 2 { scan::<FEW>(vocab, piece, ids) } else { scan::<MANY>(vocab, piece, ids) }
}

fn scan<const PLACES: usize>(vocab: &Vocab, piece: &[u8], ids: &mut Vec<u32>) -> bool {
    let (rules, characters) = (vocab.rules(), vocab.characters());
    let mut symbols = [NOTHING; PLACES];
    let mut count = 0;
    let mut at = 0;
    while at < piece.len() {
        if count == PLACES - 2 {
            return false;
        }
        let (symbol, length) = characters.at(piece, at);
        count += 1;
        symbols[count] = symbol;
        at += length;
    }
    let mut keys = [NEVER; PLACES];
    for place in 1..count {
        keys[place] = key(rules.value(symbols[place], symbols[place + 1]), place);
    }
    let mut before: [u8; PLACES] = const { neighbours(u8::MAX) };
    let mut after: [u8; PLACES] = const { neighbours(1) };
    loop {
        let lowest = lowest(&keys, count);
        if lowest == NEVER {
            break;
        }
        let place = lowest as usize % PLACES;
        let gone = usize::from(after[place]) % PLACES;
        let next = usize::from(after[gone]) % PLACES;
        let previous = usize::from(before[place]) % PLACES;
        let symbol = rules.product((lowest >> PLACE_BITS) as u32);
        symbols[place] = symbol;
        after[place] = next as u8;
        before[next] = place as u8;
        keys[gone] = NEVER;
        keys[place] = key(rules.value_of_longer(symbol, symbols[next]), place);
        keys[previous] = key(rules.value_of_longer(symbols[previous], symbol), previous);
    }
    put_out(rules, &symbols[..=count], &after, ids);
    true
}

/// Each place's neighbour at first, `step` further on.
const fn neighbours<const PLACES: usize>(step: u8) -> [u8; PLACES] {
    let mut places = [0; PLACES];
    let mut place = 0;
    while place < PLACES {
        places[place] = (place as u8).wrapping_add(step) % PLACES as u8;
        place += 1;
    }
    places
}

#[inline]
fn key(value: u32, place: usize) -> u64 {
    if value == NONE { NEVER } else { u64::from(value) << PLACE_BITS | place as u64 }
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

#[inline]
fn put_out<const PLACES: usize>(rules: &Rules, symbols: &[u32], after: &[u8; PLACES], ids: &mut Vec<u32>) {
    let mut place = 1;
    while let Some(&symbol) = symbols.get(place) {
        ids.push(rules.id(symbol));
        place = usize::from(after[place % PLACES]);
    }
}
