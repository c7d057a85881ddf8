//! Vocabularies and merges spelled in characters: JSON objects of tokens, lists of merges, tokens with scores.

use crate::error::Result;
use crate::files::{Columns, IdMerges, Merges, Vocabulary};
use crate::memory::{collect, push};
use crate::vocab::{Cuts, NO_ID, Tokens};

/// So many tokens are cut together.
const TOGETHER: usize = 64;

/// The tokens of a vocabulary that a model keeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept<'a> {
    /// The prefix of continuing tokens: the right token of a merge loses as many characters.
    pub prefix: &'a str,
    /// The suffix of tokens at the end of a word.
    pub suffix: &'a str,
    /// Special tokens, which are not kept unless a merge needs them or they are one character.
    pub special: &'a [&'a str],
    /// The unknown token, which is kept.
    pub unk: Option<&'a str>,
}

impl Kept<'_> {
    /// Whether merging may begin with a token.
    fn is_character(&self, token: &str) -> bool {
        let is_one = |text: &str| text.chars().nth(1).is_none() && !text.is_empty();
        let bare = token.strip_prefix(self.prefix).unwrap_or(token);
        is_one(token) || is_one(bare.strip_suffix(self.suffix).unwrap_or(bare))
    }

    /// The tokens that stay, by id, of which `used` are needed; None if two of them have one id.
    fn columns(&self, vocab: &Vocabulary, used: impl Fn(u32) -> bool) -> Option<Columns> {
        let mut drops = vec![false; vocab.len()];
        for place in self.special.iter().filter_map(|token| vocab.place(token)) {
            drops[place as usize] = self.unk != Some(vocab.token(place)) && !used(place);
        }
        let mut columns = Columns::default();
        for place in vocab.by_id(|place| !drops[place as usize]) {
            let id = vocab.id(place);
            if id == NO_ID || columns.ids.last() == Some(&id) {
                return None;
            }
            columns.push(vocab.token(place).as_bytes());
            columns.ids.push(id);
        }
        Some(columns)
    }
}

/// The columns, by id, of a vocabulary, and its merges; None if anything is malformed.
///
/// ```
/// use bytepair_core::files::{Merges, Vocabulary};
/// use bytepair_core::files::character_vocab::{Kept, read};
/// let vocab = Vocabulary::of([("▁", 1), ("a", 0), ("▁a", 2), ("<s>", 3)]).unwrap();
/// let kept = Kept { special: &["<s>"], ..Kept::default() };
/// let (columns, merges) = read(&vocab, &Merges::of([("▁", "a")]), kept).unwrap();
/// assert_eq!((columns.ids, merges.pairs, merges.products), (vec![0, 1, 2], vec![(1, 0)], vec![2]));
/// ```
#[must_use]
pub fn read(vocab: &Vocabulary, merges: &Merges, kept: Kept) -> Option<(Columns, IdMerges)> {
    let resolved = vocab.resolve(merges, kept.prefix.chars().count())?;
    let mut used = vec![false; vocab.len()];
    for place in resolved.as_flattened() {
        used[*place as usize] = true;
    }
    let columns = kept.columns(vocab, |place| used[place as usize] || kept.is_character(vocab.token(place)))?;
    Some((columns, IdMerges::of(vocab, &resolved)))
}

/// The columns, by id, of a vocabulary without merges, special tokens other than the unknown one left out; None if two have
/// one id.
///
/// ```
/// use bytepair_core::files::Vocabulary;
/// let vocab = Vocabulary::of([("[UNK]", 1), ("a", 0), ("[CLS]", 2)]).unwrap();
/// let columns = bytepair_core::files::character_vocab::words(&vocab, &["[UNK]", "[CLS]"], Some("[UNK]")).unwrap();
/// assert_eq!(columns.ids, [0, 1]);
/// ```
#[must_use]
pub fn words(vocab: &Vocabulary, special: &[&str], unk: Option<&str>) -> Option<Columns> {
    Kept { special, unk, ..Kept::default() }.columns(vocab, |_| false)
}

/// The columns of a list of tokens and scores, special tokens other than the unknown one left out.
///
/// ```
/// use bytepair_core::files::Vocabulary;
/// let vocab = Vocabulary::of([("<unk>", 0), ("<s>", 1), ("a", 2)]).unwrap();
/// let scored = bytepair_core::files::character_vocab::scored(&vocab, &[0.0, 0.0, -1.5], &["<unk>", "<s>"], Some("<unk>"));
/// assert_eq!(scored.map(|(columns, scores)| (columns.ids, scores)), Some((vec![0, 2], vec![0.0, -1.5])));
/// ```
#[must_use]
pub fn scored(vocab: &Vocabulary, scores: &[f64], special: &[&str], unk: Option<&str>) -> Option<(Columns, Vec<f64>)> {
    let columns = words(vocab, special, unk)?;
    let scores = columns.ids.iter().map(|&id| scores.get(id as usize).copied()).collect::<Option<_>>()?;
    Some((columns, scores))
}

/// The merges implied by tokens with ids and scores, as pairs of ids, and the number of merged tokens that have the score of
/// the one before, except runs of one character.
///
/// Tokens come by descending score; ties go to the lowest id. All cuts of a token into two tokens are listed from left to
/// right, except that of two cuts that can overlap in a text, `xy z` and `x yz` with `xy = yz`, the one that is then further
/// left comes first. Time: linear in the tokens and the merges.
///
/// # Errors
/// `Format`, if two tokens are equal, or one is empty; `Memory`.
///
/// ```
/// let tokens = [("a", 0, 0.0), ("b", 1, 0.0), ("ab", 2, -1.0), ("ba", 3, -3.0), ("aba", 4, -2.0)];
/// assert_eq!(bytepair_core::files::character_vocab::by_score(&tokens)?.0, [(0, 1), (2, 0), (0, 3), (1, 0)]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn by_score(tokens: &[(&str, u32, f64)]) -> Result<(Vec<(u32, u32)>, usize)> {
    let texts = collect(tokens.iter().map(|(token, ..)| token.as_bytes()))?;
    let places = collect(0..tokens.len() as u32)?;
    let known = Tokens::new(&texts, &places, |_, _, _| Ok(()))?;
    let id = |place: u32| tokens[place as usize].1;
    let mut order = collect(tokens)?;
    // Adding zero makes the two zeros one, as they are to whoever compares.
    order.sort_by(|one, other| (other.2 + 0.0).total_cmp(&(one.2 + 0.0)).then(one.1.cmp(&other.1)));
    let (mut merges, mut equal, mut last) = (Vec::new(), 0, None);
    let (mut finder, mut found) = (Cuts::default(), Vec::new());
    for rows in order.chunks(TOGETHER) {
        let texts: Vec<&[u8]> = rows.iter().map(|(token, ..)| token.as_bytes()).collect();
        found.clear();
        finder.each(&known, &texts, |row, cut, left, right| push(&mut found, (row, (cut, id(left), id(right)))))?;
        for cuts in found.chunk_by(|one, next| one.0 == next.0) {
            let &(token, _, score) = rows[cuts[0].0];
            let is_run = || token.chars().zip(token.chars().skip(1)).all(|(one, next)| one == next);
            equal += usize::from(last == Some(score) && !is_run());
            last = Some(score);
            let length = token.len();
            // Few cuts have another one as far from the other end.
            let overlaps = |cut: usize| {
                2 * cut != length
                    && cuts.binary_search_by_key(&(length - cut), |&(_, (cut, ..))| cut).is_ok()
                    && token.as_bytes()[cut..] == token.as_bytes()[..length - cut]
            };
            for is_first in [true, false] {
                for &(_, (_, left, right)) in cuts.iter().filter(|&&(_, (cut, ..))| overlaps(cut) == is_first) {
                    push(&mut merges, (left, right))?;
                }
            }
        }
    }
    Ok((merges, equal))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_is_unusual_is_left_to_whoever_says_what_is_wrong() {
        let vocab = Vocabulary::of([("a", 0), ("b", 1), ("ab", 2)]).unwrap();
        assert!(read(&vocab, &Merges::of([("a", "b")]), Kept::default()).is_some());
        assert!(read(&vocab, &Merges::of([("b", "a")]), Kept::default()).is_none());
        let twice = Vocabulary::of([("a", 0), ("b", 0)]).unwrap();
        assert!(read(&twice, &Merges::default(), Kept::default()).is_none());
    }

    #[test]
    fn a_continuing_prefix_is_cut_and_special_tokens_go() {
        let rows = [("</s>", 3), ("a", 0), ("##b", 1), ("ab", 2), ("<unk>", 4), ("x", 9), ("##y$", 10), ("##yy$", 11)];
        let special = ["</s>", "<unk>", "x", "##y$", "##yy$"];
        let kept = Kept { prefix: "##", suffix: "$", special: &special, unk: Some("<unk>") };
        let (columns, merges) = read(&Vocabulary::of(rows).unwrap(), &Merges::of([("a", "##b")]), kept).unwrap();
        assert_eq!((columns.ids, merges.pairs, merges.products), (vec![0, 1, 2, 4, 9, 10], vec![(0, 1)], vec![2]));
    }
}
