//! The words of a training as numbered characters, one after another.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::error::{Error, Kind, Result};
use crate::memory::{self, Room};
use crate::train::counts::PieceCounts;
use crate::train::piece_words::{SPACE, for_each_word};
use crate::train::unigram::Settings;
use crate::train::{Progress, overflow};

/// The number at the end of each word; characters begin at 1.
pub(super) const END: u32 = 0;

/// A word and how often it occurs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) count: u64,
}

/// Distinct words, in order of their characters.
#[derive(Debug)]
pub(super) struct Text {
    /// The words, [`END`] behind each.
    pub(super) characters: Vec<u32>,
    pub(super) words: Vec<Word>,
    /// The characters by their numbers, ascending; the first has number 1.
    pub(super) alphabet: Vec<char>,
    /// The characters that become tokens, most frequent first, ties in order of Unicode; those that the text lacks
    /// included.
    pub(super) required: Vec<char>,
}

impl Text {
    /// Words of the characters that are frequent enough. A word with another character is cut there: nothing is known of a
    /// token across it.
    pub(super) fn of(counts: &PieceCounts, settings: &Settings, progress: &Progress) -> Result<Self> {
        let (required, alphabet) = characters(counts, settings, progress)?;
        let numbers: FxHashMap<char, u32> = alphabet.iter().copied().zip(1..).collect();
        let mut text = Self { characters: Vec::new(), words: Vec::new(), alphabet, required };
        for_each_word(counts, |word, spaced, count| {
            progress.check()?;
            let space = (settings.dummy_prefix || spaced).then_some(SPACE);
            let mut start = text.characters.len();
            for character in space.into_iter().chain(word.chars()) {
                match numbers.get(&character) {
                    Some(&number) => memory::push(&mut text.characters, number)?,
                    None => start = text.end_word(start, count)?,
                }
            }
            text.end_word(start, count)?;
            Ok(())
        })?;
        text.join_equal()
    }

    /// Ends the word that begins at `start`, if it has a character; returns where the next one begins.
    fn end_word(&mut self, start: usize, count: u64) -> Result<usize> {
        let end = self.characters.len();
        if end > start {
            memory::push(&mut self.characters, END)?;
            if self.characters.len() >= u32::MAX as usize {
                return Err(Error::new(Kind::Training, "the distinct words have 2^32 characters or more")
                    .remedy("leave out rare words, for example by min_count=2"));
            }
            memory::push(&mut self.words, Word { start: start as u32, end: end as u32, count })?;
        }
        Ok(self.characters.len())
    }

    /// Puts words in order, equal ones together.
    fn join_equal(mut self) -> Result<Self> {
        let characters = std::mem::take(&mut self.characters);
        let of = |word: &Word| &characters[word.start as usize..word.end as usize];
        self.words.sort_unstable_by(|word, other| of(word).cmp(of(other)));
        let mut words: Vec<Word> = Vec::new();
        words.room(self.words.len())?;
        for word in &self.words {
            let new = of(word);
            if let Some(last) = words.last_mut()
                && self.characters[last.start as usize..last.end as usize] == *new
            {
                // All counts together fit, since those of the characters do.
                last.count = last.count.checked_add(word.count).ok_or_else(overflow)?;
                continue;
            }
            let start = self.characters.len() as u32;
            memory::extend(&mut self.characters, new.iter().copied())?;
            memory::push(&mut words, Word { start, end: self.characters.len() as u32, count: word.count })?;
            memory::push(&mut self.characters, END)?;
        }
        self.words = words;
        Ok(self)
    }

    /// The text of a token.
    pub(super) fn spell(&self, at: u32, length: u16) -> String {
        let numbers = &self.characters[at as usize..at as usize + usize::from(length)];
        numbers.iter().filter_map(|&number| self.alphabet.get(number as usize - 1)).collect()
    }

    /// The words in parts of about `characters` characters, as ranges: the units of work of threads.
    pub(super) fn parts(&self, characters: u32) -> Result<Vec<std::ops::Range<usize>>> {
        let mut parts = Vec::new();
        let mut first = 0;
        for (number, word) in self.words.iter().enumerate() {
            if word.end - self.words[first].start >= characters {
                memory::push(&mut parts, first..number + 1)?;
                first = number + 1;
            }
        }
        if first < self.words.len() {
            memory::push(&mut parts, first..self.words.len())?;
        }
        Ok(parts)
    }
}

/// The characters that become tokens, most frequent first, and those of them that occur, in order.
fn characters(counts: &PieceCounts, settings: &Settings, progress: &Progress) -> Result<(Vec<char>, Vec<char>)> {
    let mut seen: BTreeMap<char, u64> = BTreeMap::new();
    let mut all = 0_u64;
    for_each_word(counts, |word, spaced, count| {
        progress.check()?;
        let space = (settings.dummy_prefix || spaced).then_some(SPACE);
        for character in space.into_iter().chain(word.chars()).filter(|&character| character != '\0') {
            *seen.entry(character).or_default() += count;
            all = all.checked_add(count).ok_or_else(overflow)?;
        }
        Ok(())
    })?;
    // Scores of seeds are counts times lengths.
    all.checked_mul(settings.max_piece_length as u64).ok_or_else(overflow)?;
    if all == 0 {
        return Err(Error::new(Kind::Training, "there is no text to train on")
            .remedy("check the source: it is empty, or white space"));
    }
    let mut sorted: Vec<(bool, u64, char)> = seen
        .iter()
        .map(|(&character, &count)| (settings.required_chars.contains(&character), count, character))
        .collect();
    let missing =
        settings.required_chars.iter().filter(|character| **character != '\0' && !seen.contains_key(character));
    sorted.extend(missing.map(|&character| (true, 0, character)));
    sorted.sort_unstable_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then(a.2.cmp(&b.2)));
    sorted.dedup();
    let mut covered = 0_u64;
    let mut required = Vec::new();
    for (is_required, count, character) in sorted {
        // In single precision, as SentencePiece compares them.
        if !is_required && (covered as f64 / all as f64) as f32 >= settings.character_coverage as f32 {
            break;
        }
        covered += count;
        required.push(character);
    }
    let needed = required.len() + settings.reserved;
    if needed > settings.vocab_size {
        let what = format!(
            "vocab_size={} leaves no room for the {} characters that make up {} of the text and {} other tokens",
            settings.vocab_size,
            required.len(),
            settings.character_coverage,
            settings.reserved
        );
        let remedy = format!("use vocab_size={needed} or more, or a lower character_coverage");
        return Err(Error::new(Kind::Training, what).remedy(remedy));
    }
    let mut alphabet: Vec<char> = required.iter().copied().filter(|character| seen.contains_key(character)).collect();
    alphabet.sort_unstable();
    Ok((required, alphabet))
}
