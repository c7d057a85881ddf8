//! The naive scan on fixed arrays, for pieces of up to 64 symbols.
//!
//! A pair's key is its value and its place in one word, so that the smallest key is the leftmost of the lowest pairs,
//! found without a branch. What has merged away keeps its place, with a key that is never smallest. Its weakness: each
//! merge looks at all places again.

use crate::vocab::{NONE, Vocab};

/// The most symbols that a piece may begin with.
const MOST: usize = 64;

/// The bits of a key that are the place; those above hold any value.
const PLACE_BITS: u32 = 6;

/// Merges a piece that begins with few enough symbols, handing the ids to `ids`; whether it did.
pub(super) fn merge(vocab: &Vocab, piece: &[u8], ids: &mut Vec<u32>) -> bool {
    let (rules, characters) = (vocab.rules(), vocab.characters());
    let mut symbols = [0; MOST];
    let mut count = 0;
    let mut at = 0;
    while at < piece.len() {
        if count == MOST {
            return false;
        }
        let (symbol, length) = characters.at(piece, at);
        symbols[count] = symbol;
        count += 1;
        at += length;
    }
    if count == 0 {
        return true;
    }
    let mut keys = [NONE; MOST];
    let mut before = [0_u8; MOST + 1];
    let mut after = [0_u8; MOST];
    let key = |left: u32, right: u32, place: usize| match rules.value(left, right) {
        NONE => NONE,
        value => value << PLACE_BITS | place as u32,
    };
    for place in 0..count - 1 {
        keys[place] = key(symbols[place], symbols[place + 1], place);
    }
    for place in 0..MOST {
        before[place + 1] = place as u8;
        after[place] = place as u8 + 1;
    }
    loop {
        let lowest = keys[..count].iter().fold(NONE, |lowest, &key| lowest.min(key));
        if lowest == NONE {
            break;
        }
        let place = (lowest & ((1 << PLACE_BITS) - 1)) as usize;
        let symbol = rules.product(lowest >> PLACE_BITS);
        let gone = usize::from(after[place]) & (MOST - 1);
        let next = usize::from(after[gone]);
        symbols[place] = symbol;
        after[place] = next as u8;
        before[next] = place as u8;
        keys[gone] = NONE;
        keys[place] = if next < count { key(symbol, symbols[next], place) } else { NONE };
        if place > 0 {
            let previous = usize::from(before[place]);
            keys[previous] = key(symbols[previous], symbol, previous);
        }
    }
    let mut place = 0;
    while place < count {
        ids.push(rules.id(symbols[place]));
        place = usize::from(after[place]);
    }
    true
}
