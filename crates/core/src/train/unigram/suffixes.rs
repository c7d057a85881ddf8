//! The suffixes of all words in order, and the substrings that they share.
//!
//! Tokens are short, so that suffixes are compared no further than one character beyond the longest token: as many
//! characters as fit into a word of the machine are compared at once, and most comparisons end there.

use crate::error::Result;
use crate::memory;
use crate::train::Progress;
use crate::train::unigram::text::{END, Text};

/// So many suffixes, and it is asked whether training is to stop.
const SUFFIXES_TO_LISTEN: usize = 1 << 16;

/// One suffix: its first characters, where it begins, and in which word.
#[derive(Clone, Copy, Debug, Default)]
struct Suffix {
    key: u64,
    at: u32,
    word: u32,
}

/// Suffixes in order of their characters.
#[derive(Debug)]
pub(super) struct Suffixes {
    sorted: Vec<Suffix>,
    /// The most characters of a token.
    longest: usize,
}

/// A substring: the suffixes from `first` to before `end` begin with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) length: u16,
    /// How often it occurs in the text.
    pub(super) count: u64,
}

impl Suffixes {
    /// Sorts the suffixes, those of each first character by themselves: n log n comparisons for n characters.
    ///
    /// # Errors
    /// `Memory`, `Interrupted`.
    pub(super) fn of(text: &Text, longest: usize, progress: &Progress) -> Result<Self> {
        let bits = u32::BITS - (text.alphabet.len() as u32).leading_zeros();
        let together = 64 / bits.max(1) as usize;
        let mut ends = memory::filled(0_usize, text.alphabet.len() + 1)?;
        for &character in text.characters.iter().filter(|&&character| character != END) {
            ends[character as usize] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            total += *end;
            *end = total - *end;
        }
        let mut sorted = memory::filled(Suffix::default(), total)?;
        for (number, word) in text.words.iter().enumerate() {
            for at in word.start..word.end {
                let here = &text.characters[at as usize..word.end as usize];
                let mut key = 0;
                for index in 0..together {
                    key = key << bits | u64::from(here.get(index).copied().unwrap_or(END));
                }
                // Where those of this character begin becomes where they end.
                let place = &mut ends[here[0] as usize];
                sorted[*place] = Suffix { key, at, word: number as u32 };
                *place += 1;
            }
            progress.check()?;
        }
        let rest = |suffix: &Suffix| {
            let end = text.words[suffix.word as usize].end.min(suffix.at.saturating_add(longest as u32 + 1));
            let start = suffix.at.saturating_add(together as u32).min(end);
            &text.characters[start as usize..end as usize]
        };
        for both in ends.windows(2) {
            progress.check()?;
            sorted[both[0]..both[1]].sort_unstable_by(|suffix, other| {
                suffix.key.cmp(&other.key).then_with(|| rest(suffix).cmp(rest(other))).then(suffix.at.cmp(&other.at))
            });
        }
        Ok(Self { sorted, longest })
    }

    /// Where suffixes begin, in order.
    pub(super) fn positions(&self, shared: Shared) -> impl Iterator<Item = u32> + '_ {
        self.sorted[shared.first as usize..shared.end as usize].iter().map(|suffix| suffix.at)
    }

    /// Calls `take` for each substring of two characters or more that is as long as a token may be, occurs twice or more, and
    /// is not always followed by the same character; the end of a word is different from all that follows.
    ///
    /// These are the inner nodes of the tree of suffixes, which a stack finds in order (Kasai et al., "Linear-Time
    /// Longest-Common-Prefix Computation in Suffix Arrays and Its Applications", 2001).
    ///
    /// # Errors
    /// Those of `take`; `Interrupted`.
    pub(super) fn for_each_shared(
        &self,
        text: &Text,
        progress: &Progress,
        mut take: impl FnMut(Shared) -> Result<()>,
    ) -> Result<()> {
        let mut open = vec![Shared { first: 0, end: 0, length: 0, count: 0 }];
        let mut before: &[u32] = &[];
        for (index, suffix) in self.sorted.iter().enumerate() {
            if index.is_multiple_of(SUFFIXES_TO_LISTEN) {
                progress.check()?;
            }
            let index = index as u32;
            let word = text.words[suffix.word as usize];
            let end = word.end.min(suffix.at.saturating_add(self.longest as u32 + 1));
            let here = &text.characters[suffix.at as usize..end as usize];
            let common = before.iter().zip(here).take_while(|(a, b)| a == b).count() as u16;
            self.close(&mut open, common, index, &mut take)?;
            let length = here.len() as u16;
            match open.last_mut() {
                Some(top) if top.length == length => top.count += word.count,
                _ => open.push(Shared { first: index, end: 0, length, count: word.count }),
            }
            before = here;
        }
        self.close(&mut open, 0, self.sorted.len() as u32, &mut take)
    }

    /// Closes the prefixes longer than `common` before the suffix `index`, and opens the one of that length.
    fn close(
        &self,
        open: &mut Vec<Shared>,
        common: u16,
        index: u32,
        take: &mut impl FnMut(Shared) -> Result<()>,
    ) -> Result<()> {
        let mut inside = 0;
        let mut first = index;
        while let Some(top) = open.pop_if(|top| top.length > common) {
            inside += top.count;
            first = top.first;
            let shared = Shared { end: index, count: inside, ..top };
            if top.length >= 2 && usize::from(top.length) <= self.longest && shared.count >= 2 {
                take(shared)?;
            }
        }
        match open.last_mut() {
            Some(top) if top.length == common => top.count += inside,
            _ => open.push(Shared { first, end: 0, length: common, count: inside }),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::train::counts::PieceCounts;
    use crate::train::unigram::tests::{random_words, settings};

    #[test]
    fn shared_substrings_are_those_that_branch() {
        for seed in 0..200 {
            let words = random_words(seed);
            let pieces = words.iter().map(|(word, &count)| (word.as_bytes(), count));
            let progress = Progress::default();
            let text = Text::of(&PieceCounts::of(pieces).unwrap(), &settings(1000), &progress).unwrap();
            let longest = 1 + seed as usize % 6;
            let mut expected: BTreeMap<String, (u64, BTreeSet<Option<char>>, u64)> = BTreeMap::new();
            for (word, &count) in &words {
                let word: Vec<char> = format!("\u{2581}{word}").chars().collect();
                for start in 0..word.len() {
                    for end in start + 2..=word.len().min(start + longest) {
                        let entry = expected.entry(word[start..end].iter().collect()).or_default();
                        entry.0 += count;
                        entry.1.insert(word.get(end).copied());
                        entry.2 += u64::from(end == word.len());
                    }
                }
            }
            expected.retain(|_, (count, next, ends)| *count >= 2 && (next.len() > 1 || *ends > 0));
            let suffixes = Suffixes::of(&text, longest, &progress).unwrap();
            let mut found = BTreeMap::new();
            let take = |shared: Shared| {
                let texts: BTreeSet<String> =
                    suffixes.positions(shared).map(|at| text.spell(at, shared.length)).collect();
                assert_eq!(texts.len(), 1);
                assert!(found.insert(texts.into_iter().next().unwrap(), shared.count).is_none());
                Ok(())
            };
            suffixes.for_each_shared(&text, &progress, take).unwrap();
            let expected: BTreeMap<String, u64> =
                expected.into_iter().map(|(text, (count, ..))| (text, count)).collect();
            assert_eq!(found, expected, "{seed} {words:?}");
        }
    }
}
