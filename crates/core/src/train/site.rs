//! A part of the words, which one worker rewrites at a time.

use crate::error::{Error, Kind, Result};
use crate::train::long::LongWords;
use crate::train::tally::Tally;
use crate::train::words::{LONGEST, Place, Words};
use crate::train::{Merge, Progress, Symbols};

/// Words of one kind. The postings of all sites are numbers of one range, in which each site has a stretch.
#[derive(Debug)]
pub(super) enum Site {
    Short(Words),
    Long(LongWords),
}

impl Site {
    /// The postings that are this site's.
    pub(super) fn range(&self) -> std::ops::Range<u32> {
        let (base, length) = match self {
            Self::Short(words) => (words.base, words.len()),
            Self::Long(words) => (words.base, words.len()),
        };
        base..base + length as u32
    }

    pub(super) fn for_each_pair(
        &self,
        symbols: &Symbols,
        progress: &Progress,
        visit: impl FnMut(u32, u32, u64, u32) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Short(words) => words.for_each_pair(progress, visit),
            Self::Long(words) => words.for_each_pair(symbols, progress, visit),
        }
    }

    pub(super) fn merge(
        &mut self,
        postings: &[u32],
        merge: &Merge,
        tally: &mut Tally,
        progress: &Progress,
    ) -> Result<()> {
        match self {
            Self::Short(words) => words.merge(postings, merge, tally, progress),
            Self::Long(words) => words.merge(postings, merge, tally, progress),
        }
    }

    pub(super) fn first(&self, posting: u32, pair: [u32; 2], symbols: &Symbols) -> Option<Place> {
        match self {
            Self::Short(words) => words.first(posting, pair, symbols),
            Self::Long(words) => words.first(posting, pair, symbols),
        }
    }
}

/// Gives each site its stretch of postings, and long words their places among the short ones.
pub(super) fn settle<S: std::ops::DerefMut<Target = Site>>(sites: &mut [S]) {
    let mut base = 0;
    let mut orders = Vec::new();
    for site in sites {
        match &mut **site {
            Site::Short(words) => {
                words.base = base;
                orders.extend(words.stand_ins.iter().map(|offset| base + offset));
                base += words.len() as u32;
            }
            Site::Long(words) => {
                words.base = base;
                words.orders = std::mem::take(&mut orders);
            }
        }
    }
}

/// Pieces, spelled and sorted into sites.
#[derive(Debug)]
pub(super) struct Spelled {
    short: Vec<Words>,
    long: LongWords,
    /// Words from this many symbols on are long.
    long_from: usize,
    /// A site is full from here on.
    full: usize,
    /// Symbols of all words, each as often as it occurs.
    pub(super) symbols: u128,
    /// What is left of the range of postings.
    left: usize,
}

impl Spelled {
    /// For about this many symbols, in `sites` sites.
    pub(super) fn new(pieces: usize, symbols: usize, sites: usize, long_from: usize) -> Self {
        let full = (Words::slots(0) * pieces + symbols).div_ceil(sites).max(1);
        let long_from = long_from.clamp(2, LONGEST);
        Self { short: Vec::new(), long: LongWords::default(), long_from, full, symbols: 0, left: u32::MAX as usize - 2 }
    }

    /// Appends a word of `length` symbols.
    ///
    /// # Errors
    /// `Training`, if there are 2^32 symbols or more; `Interrupted`.
    pub(super) fn push(
        &mut self,
        symbols: impl Iterator<Item = u32>,
        length: usize,
        count: u64,
        progress: &Progress,
    ) -> Result<()> {
        progress.check()?;
        self.symbols += length as u128 * u128::from(count);
        if length < 2 {
            return Ok(());
        }
        self.left = self.left.checked_sub(Words::slots(length)).ok_or_else(|| {
            Error::new(Kind::Training, "the distinct pieces have 2^32 symbols or more").remedy("train on less text")
        })?;
        let is_long = length >= self.long_from;
        if self.short.last().is_none_or(|words| words.len() >= self.full) {
            self.short.push(Words::with_capacity(if is_long { 0 } else { self.full + self.long_from }));
        }
        let words = self.short.len() - 1;
        if is_long {
            self.short[words].push(std::iter::empty(), count);
            self.long.push(symbols, count, progress)
        } else {
            self.short[words].push(symbols, count);
            Ok(())
        }
    }

    /// The sites, the long words last.
    pub(super) fn into_sites(self) -> Vec<Site> {
        let mut sites: Vec<_> = self.short.into_iter().map(Site::Short).collect();
        if self.long.len() > 0 {
            sites.push(Site::Long(self.long));
        }
        settle(&mut sites.iter_mut().collect::<Vec<_>>());
        sites
    }
}
