//! Whether two symbols fit, for every vocabulary: whether they are the encoding of their own bytes.
//!
//! Two or more tokens are the encoding of their bytes exactly if each two neighbours fit, whatever the rules are: a merge
//! that crosses no edge of a part of the piece is the next one of that part by itself as well (docs/algorithms/encoding.md).
//! Nothing is assumed of ranks but that the lowest pair merges first, the leftmost of equal ones. Proper rules tell
//! whether two fit from their parts; of others the two are merged, and the answer is remembered.

use crate::merge::{heap, short};
use crate::vocab::{NONE, NOTHING, Vocab};

/// Buffers kept between questions.
#[derive(Default)]
pub(crate) struct Buffers {
    joined: Vec<u8>,
    symbols: Vec<u32>,
    ids: Vec<u32>,
    heap: heap::Buffers,
}

/// Whether two symbols are the encoding of their own bytes. A left one of [`NONE`] is no symbol: then whether the right one
/// is that of its own.
///
/// Time: where the rules are not proper, that of merging the two, if the answer was not asked for lately.
#[inline]
pub(crate) fn fit(vocab: &Vocab, left: u32, right: u32, buffers: &mut Buffers) -> bool {
    let rules = vocab.rules();
    if vocab.is_proper() {
        return left == NONE || rules.fit(left, right);
    }
    if left != NONE && rules.value(left, right) != NONE {
        return false;
    }
    let question = u64::from(left.min(NOTHING)) << 32 | u64::from(right);
    vocab.fits().get(question, || merge_to_themselves(vocab, left, right, buffers))
}

/// Whether merging the bytes of two symbols, or of one, leaves them.
#[cold]
fn merge_to_themselves(vocab: &Vocab, left: u32, right: u32, buffers: &mut Buffers) -> bool {
    let Buffers { joined, symbols, ids, heap } = buffers;
    let rules = vocab.rules();
    joined.clear();
    ids.clear();
    let both = [left, right];
    let both = if left == NONE { &both[1..] } else { &both[..] };
    for &symbol in both {
        joined.extend_from_slice(vocab.token_bytes(rules.id(symbol)).unwrap_or_default());
    }
    if !short::merge(vocab, joined, ids) {
        symbols.clear();
        symbols.extend(joined.iter().map(|&byte| u32::from(byte)));
        // The answer is kept, so that it has to be found.
        let _ = heap::merge(rules, NONE, heap, symbols, || Ok(()));
        ids.extend(symbols.iter().map(|&symbol| rules.id(symbol)));
    }
    ids.iter().copied().eq(both.iter().map(|&symbol| rules.id(symbol)))
}
