//! BPE with dropout over bytes: each merge is skipped with some probability.
//!
//! Source: Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective Subword Regularization", 2020, as
//! `tokenizers` does it: the first entry of the queue is set aside with this probability, and returns when another
//! one was taken.

use super::Random;
use super::list::{List, Symbol};
use crate::error::{Error, Kind, Result};
use crate::interrupt;
use crate::memory::Room;
use crate::vocab::{NO_ID, Vocab};

/// Appends the ids of a piece, merged from its bytes with dropout: 0 merges as without it, 1 not at all.
///
/// Pairs merge that can merge without dropout as well. A pair of a list of merges that can never meet its turn without
/// dropout (no training makes one) is not taken, where `tokenizers` could. A piece is not taken whole.
///
/// Time: n log n in the piece, while the probability is not close to 1.
///
/// # Errors
/// `Encode`, if the probability is not between 0 and 1, or a byte has no token, with its place.
///
/// ```
/// use bytepair_core::model::{Random, encode_bytes_with_dropout};
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 2], Semantics::Ranks)?;
/// let mut ids = Vec::new();
/// encode_bytes_with_dropout(&vocab, b"ab", 0.0, &mut Random::new(1), &mut ids)?;
/// encode_bytes_with_dropout(&vocab, b"ab", 1.0, &mut Random::new(1), &mut ids)?;
/// assert_eq!(ids, [2, 0, 1]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn encode_bytes_with_dropout(
    vocab: &Vocab,
    piece: &[u8],
    dropout: f64,
    random: &mut Random,
    ids: &mut Vec<u32>,
) -> Result<()> {
    check(dropout)?;
    super::check_length(piece.len())?;
    let mut symbols = Vec::new();
    symbols.room(piece.len())?;
    for (at, &byte) in piece.iter().enumerate() {
        let token = vocab.byte_id(byte);
        if token == NO_ID {
            let what = format!("byte 0x{byte:02X} has no token in this vocabulary");
            return Err(Error::new(Kind::Encode, what).at(at));
        }
        symbols.push(Symbol { token, length: 1 });
    }
    let pair = |left, right| vocab.merge(left, right).map(|merge| (merge.rank, merge.id));
    List::default().merge(&mut symbols, pair, || random.fraction() < dropout, interrupt::check)?;
    ids.room(symbols.len())?;
    ids.extend(symbols.iter().map(|symbol| symbol.token));
    Ok(())
}

/// Checks a probability.
pub(super) fn check(dropout: f64) -> Result<()> {
    if (0.0..=1.0).contains(&dropout) {
        return Ok(());
    }
    Err(Error::new(Kind::Encode, format!("dropout is {dropout}")).remedy("use a number from 0 to 1"))
}
