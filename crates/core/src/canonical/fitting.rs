//! Which tokens fit behind one token, all at once.
//!
//! Whether `left` and `right` meet is decided by undoing the later of the two (`vocab::rules`). Undoing `right` leads to its
//! left part, so that in the order in which symbols are made, the answer of each follows from that of an earlier one:
//! one pass over all symbols, in which the part of `left` that counts changes where a symbol is later than it.

use crate::vocab::{FIRST, NONE, Rules};

/// For each symbol, the symbols that merge with it on its right; of rules that are proper.
pub(super) struct Partners {
    /// The partners of symbol `i` are those from `starts[i]` to `starts[i + 1]`.
    starts: Vec<u32>,
    /// The right part and what the two make.
    pairs: Vec<(u32, u32)>,
    /// The left part of each symbol; [`NONE`] if merging does not make it.
    lefts: Vec<u32>,
}

impl Partners {
    /// Those of the rules of so many tokens.
    pub(super) fn new(rules: &Rules, tokens: usize) -> Self {
        let last = (0..tokens).map(|index| rules.symbol(index)).filter(|&symbol| symbol != NONE).max();
        let count = last.map_or(0, |last| last as usize + 1).max(FIRST as usize);
        let parts: Vec<Option<[u32; 2]>> = (0..count as u32).map(|symbol| rules.parts(symbol)).collect();
        let mut starts = vec![0; count + 1];
        for &[left, _] in parts.iter().flatten() {
            starts[left as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut free = starts.clone();
        let mut pairs = vec![(0, 0); starts[count] as usize];
        for (symbol, &[left, right]) in
            parts.iter().enumerate().filter_map(|(symbol, parts)| Some((symbol, parts.as_ref()?)))
        {
            pairs[free[left as usize] as usize] = (right, symbol as u32);
            free[left as usize] += 1;
        }
        let lefts = parts.iter().map(|parts| parts.map_or(NONE, |[left, _]| left)).collect();
        Self { starts, pairs, lefts }
    }

    fn of(&self, symbol: u32) -> &[(u32, u32)] {
        &self.pairs[self.starts[symbol as usize] as usize..self.starts[symbol as usize + 1] as usize]
    }

    /// By symbol, whether it fits behind `left`, both of which merging makes.
    ///
    /// Time: linear in the symbols.
    pub(super) fn fitting(&self, rules: &Rules, left: u32) -> Vec<bool> {
        let count = self.lefts.len();
        // The symbols at the right edge of `left`, the latest first.
        let mut edge = vec![left];
        while let Some([_, right]) = edge.last().and_then(|&symbol| rules.parts(symbol)) {
            edge.push(right);
        }
        let mut meets = vec![true; count];
        let mut value_with = vec![NONE; count];
        let mut end = count;
        let mut bounds: Vec<usize> = Vec::with_capacity(edge.len());
        for &symbol in &edge {
            bounds.push(end);
            end = end.min(symbol as usize);
        }
        for number in (0..edge.len()).rev() {
            let symbol = edge[number];
            if let Some(&below) = edge.get(number + 1) {
                // Earlier symbols meet this one if they meet its right part until it is made.
                for &(right, value) in self.of(below) {
                    if right < symbol && value < symbol {
                        meets[right as usize] = false;
                    }
                }
            }
            for &(right, value) in self.of(symbol) {
                value_with[right as usize] = value;
            }
            for right in (symbol.max(FIRST) as usize)..bounds[number] {
                let before = self.lefts[right];
                meets[right] = before != NONE && meets[before as usize] && value_with[before as usize] > right as u32;
            }
            for &(right, _) in self.of(symbol) {
                value_with[right as usize] = NONE;
            }
        }
        for &(right, _) in self.of(left) {
            meets[right as usize] = false;
        }
        meets
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::vocab::{Semantics, Vocab};

    #[test]
    fn the_row_of_a_token_is_what_each_pair_says() {
        let mut seed = 5_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let mut unfit = 0;
        for _ in 0..200 {
            let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
            for _ in 0..random(40) {
                let token = [tokens[97 + random(3)].clone(), tokens[random(tokens.len() - 97) + 97].clone()];
                let token = if random(2) == 0 { token.concat() } else { [token[1].clone(), token[0].clone()].concat() };
                if !tokens.contains(&token) {
                    tokens.push(token);
                }
            }
            let ids: Vec<u32> = (0..tokens.len() as u32).collect();
            let tokens: Vec<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
            let vocab = Vocab::new(&tokens, &ids, Semantics::Ranks).unwrap();
            if !vocab.is_proper() {
                continue;
            }
            let partners = Partners::new(vocab.rules(), vocab.len());
            let symbols = (0..vocab.len()).map(|index| vocab.rules().symbol(index)).filter(|&symbol| symbol != NONE);
            for left in symbols.clone() {
                let row = partners.fitting(vocab.rules(), left);
                for right in symbols.clone() {
                    let fits = vocab.rules().fit(left, right);
                    assert_eq!(row[right as usize], fits, "{left} {right} {tokens:?}");
                    unfit += usize::from(!fits);
                }
            }
        }
        assert!(unfit > 10_000, "{unfit}");
    }
}
