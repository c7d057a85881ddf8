//! Scan all pairs for the lowest rank, merge it, update the two ranks beside it, again: the definition.
//!
//! Its weakness: quadratic in the length of the piece.

use crate::vocab::{NONE, Rules};

/// The values of the pairs that begin at each symbol.
#[derive(Default)]
pub(super) struct Buffers {
    values: Vec<u32>,
}

/// Merges all pairs that rank below `limit`, which is [`NONE`] for no limit; `symbols` are bytes and become the encoding.
pub(super) fn merge(rules: &Rules, limit: u32, buffers: &mut Buffers, symbols: &mut Vec<u32>) {
    let values = &mut buffers.values;
    let value = |symbols: &[u32], at: usize| match symbols.get(at..at + 2) {
        Some(&[left, right]) => rules.value(left, right),
        _ => NONE,
    };
    values.clear();
    values.extend((0..symbols.len()).map(|at| value(symbols, at)));
    while let Some((at, lowest)) = lowest(values).filter(|&(_, value)| value < limit) {
        symbols[at] = rules.product(lowest);
        symbols.remove(at + 1);
        values.remove(at + 1);
        values[at] = value(symbols, at);
        if at > 0 {
            values[at - 1] = value(symbols, at - 1);
        }
    }
}

/// Where the lowest value is, the leftmost of equal ones.
fn lowest(values: &[u32]) -> Option<(usize, u32)> {
    let mut best = (0, NONE);
    for (at, &value) in values.iter().enumerate() {
        if value < best.1 {
            best = (at, value);
        }
    }
    (best.1 != NONE).then_some(best)
}
