//! A part of the words, which one worker rewrites at a time.

use crate::error::{Error, Kind, Result};
use crate::memory;
use crate::train::Progress;
use crate::train::byte_pairs::long_words::LongWords;
use crate::train::byte_pairs::pair::Place;
use crate::train::byte_pairs::short_words::{LONGEST, ShortWords};
use crate::train::byte_pairs::symbols::{Joining, Symbols};
use crate::train::byte_pairs::tally::Tally;

/// Words of one kind. The postings of all sites are numbers of one range, in which each site has a stretch.
#[derive(Debug)]
pub(super) enum Site {
    Short(ShortWords),
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
        merge: &Joining,
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
pub(super) fn settle<S: std::ops::DerefMut<Target = Site>>(sites: &mut [S]) -> Result<()> {
    let mut base = 0;
    let mut orders = Vec::new();
    for site in sites {
        match &mut **site {
            Site::Short(words) => {
                words.base = base;
                memory::extend(&mut orders, words.stand_ins.iter().map(|offset| base + offset))?;
                base += words.len() as u32;
            }
            Site::Long(words) => {
                words.base = base;
                words.orders = memory::collect(orders.drain(..words.words()))?;
                base += words.len() as u32;
            }
        }
    }
    Ok(())
}

/// Pieces, spelled and sorted into sites.
#[derive(Debug)]
pub(super) struct SpelledWords {
    short: ShortWords,
    long: LongWords,
    /// Words from this many symbols on are long.
    long_from: usize,
    /// Symbols of all words, each as often as it occurs.
    pub(super) symbols: u128,
}

impl SpelledWords {
    /// With room for `pieces` pieces of about `symbols` symbols in all.
    pub(super) fn new(pieces: usize, symbols: usize, long_from: usize) -> Result<Self> {
        let short = ShortWords::with_capacity(ShortWords::slots(0) * pieces + symbols)?;
        Ok(Self { short, long: LongWords::default(), long_from: long_from.clamp(2, LONGEST), symbols: 0 })
    }

    /// Appends a word of `length` symbols.
    ///
    /// # Errors
    /// `Training`, if there are 2^32 symbols or more; `Memory`, `Interrupted`.
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
        if length >= self.long_from {
            self.short.push(std::iter::empty(), count)?;
            self.long.push(symbols, count, progress)?;
        } else {
            self.short.push(symbols, count)?;
        }
        check_slots(self.short.len() + self.long.len())
    }
}

fn check_slots(slots: usize) -> Result<()> {
    if slots < u32::MAX as usize {
        return Ok(());
    }
    Err(Error::new(Kind::Training, "the distinct pieces have 2^32 symbols or more").remedy("train on less text"))
}

/// The sites of all words in order, the long words last.
pub(super) fn into_sites(spelled: Vec<SpelledWords>) -> Result<Vec<Site>> {
    check_slots(spelled.iter().map(|words| words.short.len() + words.long.len()).sum())?;
    let (short, long): (Vec<_>, Vec<_>) =
        spelled.into_iter().map(|words| (Site::Short(words.short), Site::Long(words.long))).unzip();
    let mut sites: Vec<_> = short.into_iter().chain(long).filter(|site| !site.range().is_empty()).collect();
    settle(&mut sites.iter_mut().collect::<Vec<_>>())?;
    Ok(sites)
}
