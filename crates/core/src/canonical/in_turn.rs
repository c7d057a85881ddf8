//! Vocabularies that are not proper, without the few merges that make them so.
//!
//! Some merges happen out of turn (`vocab::rules`). As long as none does, text merges by the others alone, which are proper. So
//! where no token occurs in some bytes that a merge out of turn makes, the others decide whether two tokens fit; elsewhere the
//! two are merged. Of Llama 3's 128,000 tokens 82 are made out of turn.

use crate::error::Result;
use crate::interrupt;
use crate::memory;
use crate::trie::Trie;
use crate::vocab::{Rules, Vocab};

/// The merges of a vocabulary that happen in turn.
pub(super) struct InTurn {
    pub(super) rules: Rules,
    /// The tokens that other merges make, by index.
    others: Trie,
    /// Whether one of them occurs in each token.
    has_other: Vec<bool>,
}

impl InTurn {
    /// Sorts out the merges of a vocabulary that is not proper.
    pub(super) fn new(vocab: &Vocab) -> Result<Self> {
        let (rules, others) = vocab.rules_in_turn()?;
        let others = Trie::new(memory::collect(others.iter().map(|&index| (vocab.token_at(index as usize), index)))?)?;
        let occurs = |bytes: &[u8]| {
            let mut nodes = bytes.iter().scan(0, |node, &byte| {
                *node = others.child(*node, byte)?;
                Some(*node)
            });
            nodes.any(|node| !others.ids_at(node).is_empty())
        };
        let mut has_other = memory::filled(false, vocab.len())?;
        for (index, has_other) in has_other.iter_mut().enumerate() {
            interrupt::check()?;
            let token = vocab.token_at(index);
            *has_other = (0..token.len()).any(|start| occurs(&token[start..]));
        }
        Ok(Self { rules, others, has_other })
    }

    /// Whether the other merges have no part in a token by itself.
    pub(super) fn is_plain(&self, index: usize) -> bool {
        !self.has_other[index]
    }

    /// The bytes that make one of the other tokens of the end of a token and themselves.
    pub(super) fn completions<'v>(&self, vocab: &'v Vocab, token: &[u8]) -> Vec<&'v [u8]> {
        let begun = (0..token.len()).filter_map(|start| Some((start, self.others.find(&token[start..])?)));
        begun
            .flat_map(|(start, node)| {
                let longer = &self.others.ids_under(node)[self.others.ids_at(node).len()..];
                longer.iter().map(move |&index| &vocab.token_at(index as usize)[token.len() - start..])
            })
            .collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use crate::canonical::Canonical;
    use crate::canonical::masks::is_set;
    use crate::pipeline::{Parts, Tokenizer};
    use crate::vocab::{Semantics, Vocab};

    #[test]
    fn the_mask_behind_a_token_is_what_merging_each_pair_says() {
        let mut seed = 7_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let (mut improper, mut across) = (0, 0);
        for _ in 0..150 {
            let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
            for _ in 0..10 + random(40) {
                let letter = |at: usize| if at < 3 { 97 + at } else { 253 + at };
                let [left, right] = [random(tokens.len() - 253), random(tokens.len() - 253)].map(letter);
                let token = [&tokens[left][..], &tokens[right]].concat();
                if token.len() < 9 && !tokens.contains(&token) {
                    tokens.push(token);
                }
            }
            for _ in 0..random(4) {
                let made = tokens.len() - 256;
                let [one, other] = [random(made) + 256, random(made) + 256];
                tokens.swap(one, other);
            }
            let ids: Vec<u32> = (0..tokens.len() as u32).collect();
            let tokens: Vec<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
            let tokenizer = Tokenizer::new(Parts::of(Vocab::new(&tokens, &ids, Semantics::Ranks).unwrap())).unwrap();
            let canonical = Canonical::new(&tokenizer).unwrap();
            let Some(in_turn) = &canonical.in_turn else { continue };
            improper += 1;
            let mut reader = canonical.reader(&tokenizer).unwrap();
            let letters = || (97..100).chain(256..tokens.len() as u32);
            for last in letters() {
                let mask = reader.make_mask_behind(last).unwrap();
                for index in letters() {
                    assert_eq!(is_set(&mask, index), reader.fits(last, index), "{last} {index} {:?}", &tokens[256..]);
                }
                across += in_turn.completions(tokenizer.vocab(), tokens[last as usize]).len();
            }
        }
        assert!(improper > 50 && across > 500, "{improper} {across}");
    }
}
