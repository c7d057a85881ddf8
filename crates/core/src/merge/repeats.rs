//! A token that is taken again and again, as in a run of one letter: all of its places at once.
//!
//! A sequence of tokens whose neighbours fit is the encoding of its bytes (`fit`). So where a token follows itself and its
//! bytes come on and on, the token can be taken for each of them: whatever follows, the tokens so far are the encoding of
//! the text so far. The last few are left to the caller, since what follows the run may merge into them.
//!
//! Source: our own.

use crate::error::Result;
use crate::memory::Room;

/// Fewer repetitions are left to the caller.
const FEWEST: usize = 8;

/// So many of the last ones too.
const LEFT: usize = 2;

/// So many bytes are compared together.
const BLOCK: usize = 64;

/// Takes the last token of `taken`, symbols and their lengths, again and again at `at`, if it was taken twice; returns the
/// number of bytes.
///
/// Time: linear in these bytes.
///
/// # Errors
/// `Memory`.
#[inline]
pub(super) fn take(piece: &[u8], at: usize, taken: &mut Vec<(u32, u32)>) -> Result<usize> {
    let (Some(&last), more @ 1..) = (taken.last(), count(piece, at, taken)) else { return Ok(0) };
    taken.room(more)?;
    taken.resize(taken.len() + more, last);
    Ok(more * last.1 as usize)
}

/// How many times more the last token can be taken.
#[inline]
fn count(piece: &[u8], at: usize, taken: &[(u32, u32)]) -> usize {
    match *taken {
        [.., one, two] if one == two => ahead(&piece[at - two.1 as usize..], two.1 as usize),
        _ => 0,
    }
}

/// The same of the text from the last token on, which has `length` bytes.
fn ahead(text: &[u8], length: usize) -> usize {
    let next = &text[length..];
    if next.len() < FEWEST * length || next[..FEWEST * length] != text[..FEWEST * length] {
        return 0;
    }
    let differs = text.chunks(BLOCK).zip(next.chunks(BLOCK)).position(|(one, other)| one != other);
    let same = differs.map_or(next.len(), |blocks| blocks * BLOCK);
    (same / length).saturating_sub(LEFT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_counted_up_to_where_the_text_differs() {
        let text = [&b"ab".repeat(500)[..], b"c", &b"ab".repeat(90)].concat();
        let taken = [(7, 1), (9, 2), (9, 2)];
        // Of the 996 bytes that follow and are the same, 15 whole blocks count; then of 176 two.
        assert_eq!(count(&text, 4, &taken), 15 * BLOCK / 2 - LEFT);
        assert_eq!(count(&text, 1001 + 4, &taken), 2 * BLOCK / 2 - LEFT);
        assert_eq!(count(&text, 4, &taken[..2]), 0);
        assert_eq!(count(&text, 998, &taken), 0);
        assert_eq!(count(&text, text.len(), &taken), 0);
    }
}
