//! The naive scan on fixed arrays, for pieces that begin with up to 62 symbols: bytes, or whole characters.
//!
//! A pair's key is its value and its place in one word, so that the smallest key is the leftmost of the lowest pairs,
//! found without a branch. What has merged away keeps its place, with a key that is never smallest. Its weakness: each
//! merge looks at all places again.

use crate::vocab::{NONE, NOTHING, Rules, Vocab};

/// The places, of which the first and one after the last symbol hold [`NOTHING`], so that every symbol has neighbours.
const PLACES: usize = 64;

/// The most symbols that a piece may begin with.
const MOST: usize = PLACES - 2;

/// The bits of a key that are the place; those above hold any value, and the sign is free.
const PLACE_BITS: u32 = 6;

/// The key of what does not merge.
const NEVER: i32 = i32::MAX;

/// So many keys are compared at once.
const LANES: usize = 8;

/// Appends the ids of a piece that begins with few enough symbols; whether it did.
pub(super) fn merge(vocab: &Vocab, piece: &[u8], ids: &mut Vec<u32>) -> bool {
    let (rules, characters) = (vocab.rules(), vocab.characters());
    let mut symbols = [NOTHING; PLACES];
    let mut count = 0;
    let mut at = 0;
    while at < piece.len() {
        if count == MOST {
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
    let mut before = PREVIOUS;
    let mut after = NEXT;
    loop {
        let lowest = lowest(&keys, count);
        if lowest == NEVER {
            break;
        }
        let lowest = lowest.cast_unsigned();
        let place = lowest as usize % PLACES;
        let gone = usize::from(after[place]) % PLACES;
        let next = usize::from(after[gone]) % PLACES;
        let previous = usize::from(before[place]) % PLACES;
        let symbol = rules.product(lowest >> PLACE_BITS);
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

/// Each place's left neighbour at first.
const PREVIOUS: [u8; PLACES] = neighbours(u8::MAX);

/// Each place's right neighbour at first.
const NEXT: [u8; PLACES] = neighbours(1);

const fn neighbours(step: u8) -> [u8; PLACES] {
    let mut places = [0; PLACES];
    let mut place = 0;
    while place < PLACES {
        places[place] = (place as u8).wrapping_add(step) % PLACES as u8;
        place += 1;
    }
    places
}

#[inline]
fn key(value: u32, place: usize) -> i32 {
    if value == NONE { NEVER } else { (value << PLACE_BITS | place as u32).cast_signed() }
}

/// The smallest key of the places up to `count`, and of some beyond.
#[inline]
fn lowest(keys: &[i32; PLACES], count: usize) -> i32 {
    let mut lowest = [NEVER; LANES];
    for lanes in keys.chunks_exact(LANES).take(count / LANES + 1) {
        for (lowest, &key) in lowest.iter_mut().zip(lanes) {
            *lowest = key.min(*lowest);
        }
    }
    lowest.into_iter().fold(NEVER, i32::min)
}

#[inline]
fn put_out(rules: &Rules, symbols: &[u32], after: &[u8; PLACES], ids: &mut Vec<u32>) {
    let mut place = 1;
    while let Some(&symbol) = symbols.get(place) {
        ids.push(rules.id(symbol));
        place = usize::from(after[place % PLACES]);
    }
}
