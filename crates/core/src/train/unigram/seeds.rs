//! The initial tokens of learning: all characters, and the shared substrings with the greatest count times length.

use crate::error::Result;
use crate::memory;
use crate::train::Progress;
use crate::train::unigram::lattice::Lattice;
use crate::train::unigram::script::{Script, scripts, within_one_script};
use crate::train::unigram::suffixes::{Shared, Suffixes};
use crate::train::unigram::text::Text;
use crate::train::unigram::{ScoredTokens, Settings};

/// The tokens, characters first, and the positions of each in the words.
pub(super) fn seeds(text: &Text, settings: &Settings, progress: &Progress) -> Result<(ScoredTokens, Lattice)> {
    let suffixes = Suffixes::of(text, settings.max_piece_length, progress)?;
    progress.check()?;
    let bounds = Bounds::new(text, settings)?;
    let mut chosen: Vec<Shared> = Vec::new();
    suffixes.for_each_shared(text, progress, |shared| {
        let allowed = suffixes.positions(shared).next().is_some_and(|at| bounds.allow(text, at, shared.length));
        if allowed { memory::push(&mut chosen, shared) } else { Ok(()) }
    })?;
    let score = |shared: &Shared| shared.count * u64::from(shared.length);
    // Best first; of equal ones, first in order of characters.
    let order = |a: &Shared, b: &Shared| score(b).cmp(&score(a)).then((a.first, b.length).cmp(&(b.first, a.length)));
    if chosen.len() > settings.seed_size {
        if let Some(last) = settings.seed_size.checked_sub(1) {
            chosen.select_nth_unstable_by(last, order);
        }
        chosen.truncate(settings.seed_size);
    }
    // By length, so that each position gets its tokens in that order.
    chosen.sort_unstable_by(|a, b| a.length.cmp(&b.length).then(a.first.cmp(&b.first)));
    progress.check()?;
    let mut tokens = ScoredTokens::default();
    let mut weights = memory::filled(0_u64, text.alphabet.len())?;
    tokens.at = vec![0; text.alphabet.len()];
    for word in &text.words {
        for at in word.start..word.end {
            let number = text.characters[at as usize] as usize - 1;
            weights[number] += word.count;
            tokens.at[number] = at;
        }
    }
    tokens.lengths = vec![1; text.alphabet.len()];
    for shared in &chosen {
        memory::extend(&mut tokens.at, suffixes.positions(*shared).next())?;
        memory::push(&mut tokens.lengths, shared.length)?;
        memory::push(&mut weights, score(shared))?;
    }
    let total = weights.iter().map(|&weight| u128::from(weight)).sum::<u128>();
    let scores = weights.iter().map(|&weight| (weight as f64).ln() - (total as f64).ln());
    tokens.scores = memory::collect(scores)?;
    let lattice = Lattice::of(text, &suffixes, &chosen, progress)?;
    Ok((tokens, lattice))
}

/// The places that no token may cross.
struct Bounds<'a> {
    scripts: Vec<Script>,
    digits: Vec<bool>,
    settings: &'a Settings,
}

impl<'a> Bounds<'a> {
    fn new(text: &Text, settings: &'a Settings) -> Result<Self> {
        let scripts = scripts(&text.alphabet, settings.split_by_number)?;
        let digit = |character: &char| matches!(character, '0'..='9' | '\u{FF10}'..='\u{FF19}');
        Ok(Self { scripts, digits: text.alphabet.iter().map(digit).collect(), settings })
    }

    /// Whether this substring of two characters or more can be a token.
    fn allow(&self, text: &Text, at: u32, length: u16) -> bool {
        let length = usize::from(length);
        let characters = &text.characters[at as usize..at as usize + length];
        let numbers = characters.iter().map(|&number| number as usize - 1);
        if self.settings.split_digits && numbers.clone().any(|number| self.digits[number]) {
            return false;
        }
        let scripts = numbers.map(|number| self.scripts[number]);
        within_one_script(scripts, self.settings.split_by_unicode_script) == length
    }
}
