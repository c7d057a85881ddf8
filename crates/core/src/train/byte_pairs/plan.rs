//! An estimate of the memory that learning needs.

use crate::train::byte_pairs::alphabet::Alphabet;

/// Bytes of a distinct piece: its place in order, twice while they are sorted, and its header.
const PIECE: u64 = 24 + 32 + 12;

/// Bytes of a symbol: its slot; its posting; and part of a record, while postings of new pairs are sorted.
const SYMBOL: u64 = 4 + 4 + 4;

/// Bytes of each thread, for the tables by which pairs are counted.
const THREAD: u64 = 12 << 20;

/// Bytes of a merge: its record, and the facts of its symbol by itself and as a neighbour.
const MERGE: u64 = 256;

/// Bytes of a pair that is stored: its place in the table while that grows, its entry in the queue, its postings' box.
const PAIR: u64 = 96;

/// The number of pairs stored for each merge; three to ten were measured.
const PAIRS_OF_A_MERGE: usize = 10;

/// The peak memory of [`learn()`](crate::train::learn()), in bytes, without the counts: a caller with a limit can
/// refuse before it starts.
///
/// `pieces` and `symbols` are those of the distinct pieces; `merges` and `threads` as for learning. It is meant to be
/// somewhat too high: texts of 20 to 100 MB took 0.3 to 0.5 of it, one piece of 100 MB of random letters 0.8. The
/// number of pairs at a time and the number of postings sorted at once are assumed, not proved; the bytes of tokens of
/// many kilobytes, which two of the four orders of ties keep, are left out. O(1).
///
/// ```
/// use bytepair_core::train::{Alphabet, learn_bytes};
/// let bytes = learn_bytes(&Alphabet::raw_bytes(), 694_507, 9_102_584, 31_744, 2);
/// assert!((100 << 20..500 << 20).contains(&bytes), "{bytes}");
/// ```
#[must_use]
pub fn learn_bytes(alphabet: &Alphabet, pieces: usize, symbols: usize, merges: usize, threads: usize) -> u64 {
    let of = |number: usize, bytes: u64| (number as u64).saturating_mul(bytes);
    // Pairs of an alphabet of bytes are new at the start or made by a merge.
    let known = match alphabet {
        Alphabet::Bytes(_) => 1 << 16,
        Alphabet::Characters { .. } | Alphabet::Tokens(_) => usize::MAX,
    };
    let pairs = symbols.min(known.saturating_add(merges.saturating_mul(PAIRS_OF_A_MERGE)));
    [of(pieces, PIECE), of(symbols, SYMBOL), of(threads, THREAD), of(merges, MERGE), of(pairs, PAIR)]
        .into_iter()
        .fold(1 << 20, u64::saturating_add)
}
