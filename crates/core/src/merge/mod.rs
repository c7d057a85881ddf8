//! Piece -> ids. One algorithm a file. All but two have the same result: the lowest-ranked pair merges first, ties go left
//! to right, until no pair is left.

mod backtrack;
mod compile;
mod fit;
mod greedy;
mod heap;
mod minimal;
mod naive;
mod prefixes;
mod queue;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod real_tests;
mod repeats;
mod short;
mod splits;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod stored_tests;
mod suffixes;
mod table;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
mod windows;

pub(crate) use self::fit::{Buffers as FitBuffers, fit};
pub(crate) use self::prefixes::Prefixes;
pub(crate) use self::queue::Queue;
pub(crate) use self::suffixes::{Buffers as FirstBuffers, Suffixes, first_token};
use crate::error::{Error, Kind, Result};
use crate::interrupt;
use crate::memory::Room;
use crate::vocab::{Candidates, FIRST, NO_ID, NONE, Vocab};

/// Vocabularies with longer tokens, in bytes, are left to the heap: looking for tokens at each place of a long piece
/// could take that long each time.
const LONGEST_LOOKED_FOR: usize = 1024;

/// The same for vocabularies that are not proper, of which two tokens are merged to know whether they fit.
const LONGEST_MERGED: usize = 256;

/// Longer pieces of ASCII, in bytes, are not scanned. Other text begins with whole characters, of which `short` takes
/// as many as it has places: measured, see docs/performance.md.
const SCAN_OF_ASCII: usize = 15;

/// Pieces of at least this many bytes are merged in windows. `backtrack` is faster for words and lines, whose tokens are few
/// and long; longer pieces are more often random letters, digits or characters without spaces.
const LONG: usize = 1024;

/// The algorithms by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merger {
    /// Scan all pairs for the lowest rank, merge, again: quadratic, and the definition.
    Naive,
    /// A heap of pairs over a linked list: n log n on every input and every vocabulary.
    Heap,
    /// The last token of every prefix, by dynamic programming: linear, for proper vocabularies.
    Table,
    /// The longest token that fits the one before, going back where none does: linear, for proper vocabularies.
    Backtrack,
    /// The longest token that begins here, again and again: not the result of merging.
    Greedy,
    /// The fewest tokens that spell the piece: not the result of merging.
    Minimal,
}

/// Buffers that a caller keeps between pieces, so that merging allocates nothing.
#[derive(Default)]
pub struct Scratch {
    symbols: Vec<u32>,
    naive: naive::Buffers,
    heap: heap::Buffers,
    table: table::Buffers,
    backtrack: backtrack::Buffers,
    minimal: minimal::Buffers,
    beginnings: Candidates,
}

/// Appends the ids of `piece` to `ids`, by the fastest algorithm for it: a scan for short pieces, `windows` for long ones,
/// between them `backtrack` if the vocabulary is proper, else `heap`.
///
/// Time: linear in the piece; n log n for vocabularies with very long tokens.
///
/// # Errors
/// `Encode`, with the position in the piece, if one of its bytes has no token; `Interrupted`; `Memory`; `Format`, if somebody
/// tampered with stored tables.
///
/// ```
/// use bytepair_core::merge::{Scratch, encode};
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b"b", b"c", b"bc", b"ab"], &[0, 1, 2, 3, 4], Semantics::Ranks)?;
/// let mut ids = Vec::new();
/// encode(&vocab, b"abc", &mut Scratch::default(), &mut ids)?;
/// assert_eq!(ids, [0, 3]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn encode(vocab: &Vocab, piece: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
    check(vocab, piece)?;
    let before = ids.len();
    let linear = is_linear(vocab);
    let scans = !linear || piece.len() <= SCAN_OF_ASCII || !piece.is_ascii();
    if !(scans && short::merge(vocab, piece, ids)) {
        if piece.len() >= LONG && has_prefixes(vocab) {
            windows::merge(vocab, piece, &mut scratch.backtrack, ids)?;
        } else {
            let merger = if linear { Merger::Backtrack } else { Merger::Heap };
            merger.merge(vocab, piece, scratch, ids)?;
        }
    }
    vocab.expand(ids, before);
    Ok(())
}

impl Merger {
    /// All, by name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("naive", Self::Naive),
        ("heap", Self::Heap),
        ("table", Self::Table),
        ("backtrack", Self::Backtrack),
        ("greedy", Self::Greedy),
        ("minimal", Self::Minimal),
    ];

    /// The algorithm of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find_map(|(known, merger)| (known == name).then_some(merger))
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// Whether its result is that of merging the lowest pair first.
    #[must_use]
    pub fn is_exact(self) -> bool {
        !matches!(self, Self::Greedy | Self::Minimal)
    }

    /// Checks that it can run with this vocabulary.
    ///
    /// # Errors
    /// `Format`, for `table` and `backtrack` if the vocabulary is not proper.
    pub fn check(self, vocab: &Vocab) -> Result<()> {
        if vocab.is_proper() || !matches!(self, Self::Table | Self::Backtrack) {
            return Ok(());
        }
        let what = format!(
            "{:?} is exact only if each token is made by one pair, which does not hold for this vocabulary",
            self.name()
        );
        Err(Error::new(Kind::Format, what).remedy("use \"heap\", which is exact for every vocabulary"))
    }

    /// Appends the ids of `piece` to `ids`.
    ///
    /// # Errors
    /// `Encode`, with the position in the piece, if one of its bytes has no token; those of [`Merger::check`]; `Interrupted`.
    ///
    /// ```
    /// use bytepair_core::merge::{Merger, Scratch};
    /// use bytepair_core::vocab::{Semantics, Vocab};
    /// let vocab = Vocab::new(&[b"a", b"b", b"c", b"bc", b"ab"], &[0, 1, 2, 3, 4], Semantics::Ranks)?;
    /// let mut ids = Vec::new();
    /// Merger::Heap.merge(&vocab, b"abc", &mut Scratch::default(), &mut ids)?;
    /// Merger::Greedy.merge(&vocab, b"abc", &mut Scratch::default(), &mut ids)?;
    /// assert_eq!(ids, [0, 3, 4, 2]);
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn merge(self, vocab: &Vocab, piece: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
        self.check(vocab)?;
        check(vocab, piece)?;
        let symbols = &mut scratch.symbols;
        symbols.clear();
        if matches!(self, Self::Naive | Self::Heap) {
            symbols.room(piece.len())?;
            symbols.extend(piece.iter().map(|&byte| u32::from(byte)));
        }
        match self {
            Self::Naive => naive::merge(vocab.rules(), NONE, &mut scratch.naive, symbols),
            Self::Heap => heap::merge(vocab.rules(), NONE, &mut scratch.heap, symbols, interrupt::check)?,
            Self::Table => table::merge(vocab, piece, &mut scratch.table, symbols),
            Self::Backtrack => backtrack::merge(vocab, piece, &mut scratch.backtrack, symbols)?,
            Self::Greedy => {
                greedy::merge(vocab, piece, &mut scratch.beginnings, ids);
                return Ok(());
            }
            Self::Minimal => {
                minimal::merge(vocab, piece, &mut scratch.beginnings, &mut scratch.minimal, ids);
                return Ok(());
            }
        }
        ids.room(symbols.len())?;
        ids.extend(symbols.iter().map(|&symbol| vocab.rules().id(symbol)));
        Ok(())
    }
}

/// Whether a vocabulary is proper, and has encoders that are linear in the piece.
pub(crate) fn is_linear(vocab: &Vocab) -> bool {
    vocab.is_proper() && vocab.tokens().longest() <= LONGEST_LOOKED_FOR
}

/// Whether a vocabulary, proper or not, has the tokens of all prefixes of a piece in time that is linear in it
/// ([`Prefixes`]).
pub(crate) fn has_prefixes(vocab: &Vocab) -> bool {
    vocab.tokens().longest() <= if vocab.is_proper() { LONGEST_LOOKED_FOR } else { LONGEST_MERGED }
}

/// Whether each byte of a piece has a token, and places can be counted.
#[inline]
pub(crate) fn check(vocab: &Vocab, piece: &[u8]) -> Result<()> {
    if u32::try_from(piece.len()).is_err() {
        return Err(Error::piece_too_long());
    }
    if !vocab.rules().lacks_bytes() {
        return Ok(());
    }
    match piece.iter().position(|&byte| vocab.byte_id(byte) == NO_ID) {
        None => Ok(()),
        Some(at) => {
            let what = format!("byte 0x{:02X} has no token in this vocabulary", piece[at]);
            let error = Error::new(Kind::Encode, what);
            Err(error.remedy("use a vocabulary that holds all 256 bytes, or remove the character").at(at))
        }
    }
}

/// The merge that makes each token of several bytes: the two ids that remain of it when all lower ranks have merged. In id
/// order, which under [`Semantics::Ranks`](crate::vocab::Semantics::Ranks) is rank order.
///
/// Under this list of merges every text has the same ids as under the ranks. For suppose that the two first differ where the
/// ranks merge x and y into t, and the list makes t of l and r. Up to there both have merged all ranks below t and nothing
/// else, since a merge only makes pairs that rank above it. So x and y are the encoding of the bytes of t by the ranks below
/// t (adjacent tokens of an encoding are the encoding of their own bytes). That is l and r.
///
/// # Errors
/// `Format`, if two tokens do not remain of a token when all lower ranks have merged: then nothing is proved.
///
/// ```
/// use bytepair_core::merge::canonical_merges;
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b"b", b"ab", b"aab"], &[0, 1, 2, 3], Semantics::Ranks)?;
/// assert_eq!(canonical_merges(&vocab)?, [(0, 1), (0, 2)]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn canonical_merges(vocab: &Vocab) -> Result<Vec<(u32, u32)>> {
    let rules = vocab.rules();
    let (mut merges, mut buffers) = (Vec::new(), heap::Buffers::default());
    for (index, &id) in vocab.ids().iter().enumerate() {
        let token = vocab.token_at(index);
        if token.len() == 1 {
            continue;
        }
        if let Some([left, right]) = rules.parts(rules.symbol(index)) {
            merges.push((rules.id(left), rules.id(right)));
            continue;
        }
        check(vocab, token)?;
        let mut parts: Vec<_> = token.iter().map(|&byte| u32::from(byte)).collect();
        let limit = FIRST + merges.len() as u32;
        heap::merge(rules, limit, &mut buffers, &mut parts, interrupt::check)?;
        let [left, right] = *parts.as_slice() else {
            let shown = String::from_utf8_lossy(token);
            let what = format!("no merge of two tokens makes {shown:?} (id {id}): it is left in {} parts", parts.len());
            return Err(
                Error::new(Kind::Format, what).remedy("keep the ranks: save as tiktoken or as the native format")
            );
        };
        merges.push((rules.id(left), rules.id(right)));
    }
    Ok(merges)
}
