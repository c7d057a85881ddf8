//! The cuts of tokens into two tokens of lower rank, for many tokens at once.
//!
//! Compiling ranks waits for memory and for branches that cannot be foreseen more than it computes. So each step is taken for
//! all tokens of a batch, asks for the memory that the next one reads, and chooses without branches. Tokens are guessed by
//! their hashes alone; the bytes of a cut are compared when it is chosen.

use std::ops::Range;

use crate::error::Result;
use crate::vocab::hashes::{Hashes, Place, spread};
use crate::vocab::tokens::Tokens;

/// No cut.
const NO_CUT: u64 = u64::MAX;

/// A token cut in two.
#[derive(Clone, Copy, Default)]
pub(super) struct Cut {
    /// The token, by its place in the batch, and where it is cut.
    pub(super) place: Place,
    /// The index of each side.
    pub(super) sides: [u32; 2],
}

impl Cut {
    /// The later side: the cut that fits is most often the one where this is earliest.
    pub(super) fn latest(&self) -> u32 {
        self.sides[0].max(self.sides[1])
    }
}

/// The cuts of a batch.
#[derive(Default)]
pub(crate) struct Cuts {
    /// Those whose sides may both be tokens, and the spread hashes of the sides.
    likely: Vec<(Place, [u64; 2])>,
    found: Vec<Cut>,
    /// The best cut of each token: its later side, and below it its place in `found`.
    best: Vec<u64>,
    hashes: Hashes,
}

impl Cuts {
    /// Finds the cuts of tokens `rows` whose sides are, by their hashes, tokens before them.
    pub(super) fn find(&mut self, columns: &Tokens, rows: Range<usize>, hashes: &Hashes) {
        let likely = self.look(columns, hashes);
        self.best.clear();
        self.best.resize(rows.len(), NO_CUT);
        if self.found.len() < likely {
            self.found.resize(likely, Cut::default());
        }
        let mut count = 0;
        for &(place, spreads) in &self.likely[..likely] {
            let token = rows.start as u32 + place.token;
            // None is after every token.
            let sides = spreads.map(|spread| columns.guess(spread).unwrap_or(u32::MAX));
            let cut = Cut { place, sides };
            self.found[count] = cut;
            let is_before = cut.latest() < token;
            let rank = u64::from(cut.latest()) << 32 | count as u64;
            let best = &mut self.best[place.token as usize];
            *best = (*best).min(if is_before { rank } else { NO_CUT });
            count += usize::from(is_before);
        }
        self.found.truncate(count);
    }

    /// Calls `found` with each cut of each token into two tokens of the table, from left to right: the token's place among
    /// `tokens`, where the cut is, and the indices of both sides.
    ///
    /// Time: linear in the tokens, and in those found.
    ///
    /// # Errors
    /// Those of `found`.
    pub(crate) fn each(
        &mut self,
        columns: &Tokens,
        tokens: &[&[u8]],
        mut found: impl FnMut(usize, usize, u32, u32) -> Result<()>,
    ) -> Result<()> {
        self.hashes.read(tokens);
        let hashes = std::mem::take(&mut self.hashes);
        let likely = self.look(columns, &hashes);
        self.hashes = hashes;
        let likely = &self.likely[..likely];
        for (_, spreads) in likely {
            for index in spreads.iter().filter_map(|&spread| columns.guess(spread)) {
                columns.prepare_range(index);
            }
        }
        for &(place, [before, after]) in likely {
            let (token, at) = (place.token as usize, place.at as usize);
            let (left, right) = tokens[token].split_at(at);
            if let Some(right) = columns.find_spread(after, right)
                && let Some(left) = columns.find_spread(before, left)
            {
                found(token, at, left, right)?;
            }
        }
        Ok(())
    }

    /// The best cut of each token that has one.
    pub(super) fn best(&self) -> impl Iterator<Item = &Cut> {
        self.best.iter().filter_map(|&best| self.found.get(best as u32 as usize))
    }

    /// The best cut of a token of the batch, if it has one.
    pub(super) fn best_of(&self, token: usize) -> Option<&Cut> {
        self.found.get(self.best[token] as u32 as usize)
    }

    /// The other cuts of a token of the batch, in order of their later sides.
    #[cold]
    pub(super) fn others(&self, token: usize) -> Vec<Cut> {
        let first = self.found.partition_point(|cut| (cut.place.token as usize) < token);
        let own = self.found[first..].iter().take_while(|cut| cut.place.token as usize == token);
        let mut cuts: Vec<Cut> = own.copied().collect();
        cuts.sort_by_key(Cut::latest);
        cuts.split_off(1.min(cuts.len()))
    }

    /// Finds the cuts whose sides may be tokens; returns how many there are.
    fn look(&mut self, columns: &Tokens, hashes: &Hashes) -> usize {
        let mut count = 0;
        for (place, sides) in hashes.sides() {
            if count == self.likely.len() {
                self.likely.resize(2 * count + 64, Default::default());
            }
            let spreads = sides.map(spread);
            self.likely[count] = (place, spreads);
            let [before, after] = spreads.map(|spread| columns.may_hold_spread(spread));
            let is_cut = place.at != 0;
            count += usize::from(before & after & is_cut);
        }
        for (_, spreads) in &self.likely[..count] {
            for &spread in spreads {
                columns.prepare(spread);
            }
        }
        count
    }
}
