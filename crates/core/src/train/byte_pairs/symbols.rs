//! The properties of symbols, and the joining of two.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
use crate::memory;
use crate::train::byte_pairs::settings::{Settings, Ties};
use crate::train::byte_pairs::words::Words;

/// The properties of each symbol.
#[derive(Debug)]
pub(super) struct Symbols {
    /// Its bytes; only where they matter.
    pub(super) bytes: Vec<Box<[u8]>>,
    /// The length of its bytes.
    pub(super) lengths: Vec<usize>,
    /// Its length in symbols of the alphabet.
    pub(super) widths: Vec<u32>,
    pub(super) max_token_length: usize,
    /// Its words; only where their number is limited.
    words: Vec<Words>,
    max_words: usize,
    /// Bytes that no merge may make.
    pub(super) taken: HashSet<Box<[u8]>>,
    /// Whether a pair was met that would make such bytes.
    pub(super) met_taken: AtomicBool,
}

impl Symbols {
    pub(super) fn new(alphabet: &[Vec<u8>], taken: HashSet<Box<[u8]>>, settings: &Settings) -> Self {
        let keep = !taken.is_empty() || matches!(settings.ties, Ties::GreatestBytes | Ties::SmallestBytes);
        Self {
            bytes: alphabet.iter().filter(|_| keep).map(|token| Box::from(&**token)).collect(),
            lengths: alphabet.iter().map(Vec::len).collect(),
            widths: vec![1; alphabet.len()],
            max_token_length: settings.max_token_length,
            words: alphabet.iter().filter(|_| settings.max_words < usize::MAX).map(|token| Words::of(token)).collect(),
            max_words: settings.max_words,
            taken,
            met_taken: AtomicBool::new(false),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.widths.len()
    }

    /// Whether a pair may merge: its token is short enough, of few enough words, and not one that there is.
    pub(super) fn fits(&self, left: u32, right: u32) -> bool {
        let (left, right) = (left as usize, right as usize);
        if self.lengths[left] + self.lengths[right] > self.max_token_length {
            return false;
        }
        if self.max_words < usize::MAX && self.words[left].followed_by(self.words[right]).number > self.max_words {
            return false;
        }
        let is_taken =
            !self.taken.is_empty() && self.taken.contains(&*[&*self.bytes[left], &self.bytes[right]].concat());
        if is_taken {
            self.met_taken.store(true, Ordering::Relaxed);
        }
        !is_taken
    }

    /// Makes a symbol of two.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn join(&mut self, left: u32, right: u32) -> Result<()> {
        let (left, right) = (left as usize, right as usize);
        if let (Some(start), Some(end)) = (self.bytes.get(left), self.bytes.get(right)) {
            let token = [&**start, end].concat().into();
            memory::push(&mut self.bytes, token)?;
        }
        if let (Some(&start), Some(&end)) = (self.words.get(left), self.words.get(right)) {
            memory::push(&mut self.words, start.followed_by(end))?;
        }
        let (length, width) = (self.lengths[left] + self.lengths[right], self.widths[left] + self.widths[right]);
        memory::push(&mut self.lengths, length)?;
        memory::push(&mut self.widths, width)
    }
}

/// A pair that becomes a symbol.
#[derive(Debug)]
pub(super) struct Joining {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) left_width: u32,
    pub(super) right_width: u32,
    pub(super) joined: u32,
    /// Where it occurs, or did.
    pub(super) postings: Vec<u32>,
}
