//! Texts -> how often each piece occurs, and where first.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::Ordering;

use rustc_hash::FxBuildHasher;

use crate::error::{Error, Kind, Result};
use crate::parallel;
use crate::segment::{Segmenter, Visit};
use crate::split::added::AddedToken;
use crate::train::{Progress, overflow};

/// A worker's portion of a text, in bytes.
const PORTION: usize = 1 << 20;

/// After a guessed start, this many pieces are let pass: two scans of one text soon share their boundaries.
const PIECES_TO_SETTLE: usize = 16;

/// How often a worker tells how far it is, in bytes.
const TELL_EVERY: usize = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    count: u64,
    first: u64,
}

impl Seen {
    /// Counts what was seen elsewhere as well.
    fn join(&mut self, more: Self) -> Result<()> {
        self.count = self.count.checked_add(more.count).ok_or_else(overflow)?;
        self.first = self.first.min(more.first);
        Ok(())
    }
}

/// Pieces, how often each occurs, and the position of its first occurrence over all sources in order.
#[derive(Clone, Debug, Default)]
pub struct PieceCounts {
    seen: HashMap<Box<[u8]>, Seen, FxBuildHasher>,
    /// The position after all that was counted so far.
    end: u64,
}

impl PieceCounts {
    /// The number of distinct pieces.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Adds a piece that occurs `count` times, first after all that was counted so far.
    ///
    /// # Errors
    /// `Training`, if its count no longer fits into 64 bits.
    pub fn add(&mut self, piece: &[u8], count: u64) -> Result<()> {
        let first = self.end;
        self.end += piece.len() as u64 + 1;
        self.add_seen(piece, Seen { count, first })
    }

    fn add_seen(&mut self, piece: &[u8], more: Seen) -> Result<()> {
        if let Some(seen) = self.seen.get_mut(piece) {
            seen.join(more)?;
        } else {
            self.seen.insert(Box::from(piece), more);
        }
        Ok(())
    }

    /// The pieces and their counts in order of first occurrence.
    #[must_use]
    pub fn in_order(&self) -> Vec<(&[u8], u64)> {
        let mut pieces: Vec<_> = self.seen.iter().map(|(piece, seen)| (&**piece, *seen)).collect();
        pieces.sort_unstable_by_key(|&(_, seen)| seen.first);
        pieces.into_iter().map(|(piece, seen)| (piece, seen.count)).collect()
    }

    /// Counts the pieces of some texts. Added tokens are cut out and not counted.
    ///
    /// A long text is cut where two workers' scans were seen to agree, so that the counts are those of one scan over
    /// the whole; where they do not agree, the texts are counted again without cuts.
    ///
    /// # Errors
    /// `Pattern`, if a split pattern gives up, with the row of the text; `Training`, if a count overflows;
    /// `Interrupted`.
    ///
    /// ```
    /// use bytepair_core::segment::Segmenter;
    /// use bytepair_core::split::{Pattern, names};
    /// use bytepair_core::train::{PieceCounts, Progress};
    /// let segmenter = Segmenter::new(&[], vec![], false, vec![Pattern::new(names::GPT2)?])?;
    /// let mut counts = PieceCounts::default();
    /// counts.count_texts(&segmenter, &["a b a", " b"], 2, &Progress::default())?;
    /// assert_eq!(counts.in_order(), [(&b"a"[..], 1), (b" b", 2), (b" a", 1)]);
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn count_texts(
        &mut self,
        segmenter: &Segmenter,
        texts: &[&str],
        threads: usize,
        progress: &Progress,
    ) -> Result<()> {
        let mut stretches = Vec::new();
        let mut end = self.end;
        for (row, text) in texts.iter().enumerate() {
            let between = segmenter.stretches(text).into_iter();
            stretches.extend(between.map(|range| Stretch {
                row,
                text: &text[range.clone()],
                at: end + range.start as u64,
            }));
            end += text.len() as u64 + 1;
        }
        let whole = |stretch: &Stretch| std::iter::once(0..stretch.text.len()).collect();
        let cut = |stretch: &Stretch| if threads == 1 { whole(stretch) } else { portions(segmenter, stretch.text) };
        let told = progress.done.load(Ordering::Relaxed);
        let counted = match count(segmenter, &stretches, cut, threads, progress) {
            // A scan from a guess can fail where the one over the whole text does not.
            Ok(None) | Err(Error { kind: Kind::Pattern, .. }) => {
                progress.done.store(told, Ordering::Relaxed);
                count(segmenter, &stretches, whole, threads, progress)?
            }
            counted => counted?,
        };
        let tables = counted.ok_or_else(|| Error::new(Kind::Training, "a scan did not end where its text does"))?;
        for table in tables {
            self.absorb(table)?;
        }
        self.end = end;
        Ok(())
    }

    fn absorb(&mut self, other: Self) -> Result<()> {
        if self.seen.is_empty() {
            self.seen = other.seen;
            return Ok(());
        }
        for (piece, more) in other.seen {
            match self.seen.entry(piece) {
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(more);
                }
                std::collections::hash_map::Entry::Occupied(mut entry) => entry.get_mut().join(more)?,
            }
        }
        Ok(())
    }
}

/// Text between two added tokens, of which text it is, and its position over all sources.
struct Stretch<'t> {
    row: usize,
    text: &'t str,
    at: u64,
}

/// A stretch in portions; each cut is where a scan from a guess settled.
fn portions(segmenter: &Segmenter, stretch: &str) -> Vec<Range<usize>> {
    let mut portions = Vec::new();
    let mut start = 0;
    while stretch.len() - start > 2 * PORTION {
        let Some(cut) = segmenter.boundary_near(stretch, start + PORTION, PIECES_TO_SETTLE) else { break };
        portions.push(start..cut);
        start = cut;
    }
    portions.push(start..stretch.len());
    portions
}

/// One table a worker; None where a portion's scan did not end where the next one starts.
fn count(
    segmenter: &Segmenter,
    stretches: &[Stretch],
    cut: impl Fn(&Stretch) -> Vec<Range<usize>>,
    threads: usize,
    progress: &Progress,
) -> Result<Option<Vec<PieceCounts>>> {
    let portions: Vec<_> =
        stretches.iter().flat_map(|stretch| cut(stretch).into_iter().map(move |range| (stretch, range))).collect();
    let work = |worker: &mut Result<Option<PieceCounts>>, item: usize| {
        let Ok(Some(table)) = worker else { return };
        let (stretch, range) = &portions[item];
        let mut counter = Counter { table, at: stretch.at + range.start as u64, told: 0, progress };
        let walked = segmenter.walk_part(stretch.text, range.clone(), &mut counter);
        match walked.and_then(|end| counter.tell().map(|()| end)) {
            Ok(end) if end == range.end => {}
            Ok(_) => *worker = Ok(None),
            Err(error) => *worker = Err(error.row(stretch.row)),
        }
    };
    let mut workers = parallel::fold(portions.len(), threads, || Ok(Some(PieceCounts::default())), work);
    // Portions are handed out in order, so that the first text at fault is met whatever the number of threads.
    workers.sort_by_key(|worker| worker.as_ref().err().map_or(usize::MAX, |error| error.row.unwrap_or(0)));
    workers.into_iter().collect()
}

/// Counts each piece; added tokens are passed over.
struct Counter<'a> {
    table: &'a mut PieceCounts,
    at: u64,
    told: usize,
    progress: &'a Progress,
}

impl Counter<'_> {
    fn tell(&mut self) -> Result<()> {
        self.progress.advance(std::mem::take(&mut self.told) as u64)
    }

    fn pass(&mut self, text: &str) -> Result<()> {
        self.at += text.len() as u64;
        self.told += text.len();
        if self.told < TELL_EVERY { Ok(()) } else { self.tell() }
    }
}

impl Visit for Counter<'_> {
    fn piece(&mut self, piece: &str) -> Result<()> {
        self.table.add_seen(piece.as_bytes(), Seen { count: 1, first: self.at })?;
        self.pass(piece)
    }

    fn added(&mut self, _: &AddedToken, text: &str) -> Result<()> {
        self.pass(text)
    }
}
