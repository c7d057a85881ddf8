//! Cuts of a text that arrives in parts: either side of a cut has the ids that it has in the whole, for any later text.
//!
//! Each stage reports its effect at a place between two characters. No added token may extend across it. Normalizers must
//! change either side alone as they change it in the whole, and report the result of the two characters. Then the first
//! pre-tokenizer or pattern that certainly ends a piece there decides: those before it do not affect the place, and those
//! after it work inside pieces.

use crate::normalize::Normalizer;
use crate::pre_tokenize::Between;
use crate::segment::{Policy, Segmenter, Steps};
use crate::split::Pattern;
use crate::split::added::Matcher;

/// Finds cuts.
pub(super) struct StreamCuts<'t> {
    steps: &'t Steps,
    /// Whether normalizers may depend on the neighbours of a character, except for ASCII around ASCII.
    minds_neighbours: bool,
    /// Finds added tokens in the original text.
    original: Option<&'t Matcher>,
    /// Finds them in normalized text, which may be the same.
    normalized: Option<&'t Matcher>,
    /// Whether text beside an added token is not encoded as text that goes on.
    apart: bool,
    /// Whether the neighbours of added tokens decide if they are found, and their extent.
    minds_context: bool,
}

impl<'t> StreamCuts<'t> {
    /// None if there are stages of which nothing is certain.
    pub(super) fn new(segmenter: &'t Segmenter, policy: Policy) -> Option<Self> {
        let steps = segmenter.untraced_steps()?;
        let per_character = |normalizer: &Normalizer| match normalizer {
            Normalizer::Replace(replace) => replace.is_of_characters(),
            normalizer => matches!(normalizer, Normalizer::Prepend(_)),
        };
        if !steps.normalizers.iter().all(|normalizer| per_character(normalizer) || is_local(normalizer)) {
            return None;
        }
        let (original, normalized) = (segmenter.matcher(policy), segmenter.normalized_matcher(policy));
        let minds_context = [original, normalized].into_iter().flatten().any(Matcher::minds_context);
        if minds_context && normalized.is_some() && !steps.normalizers.is_empty() {
            return None;
        }
        let prepends = steps.normalizers.iter().any(|normalizer| matches!(normalizer, Normalizer::Prepend(_)));
        let minds_neighbours = !steps.normalizers.iter().all(per_character);
        Some(Self { steps, minds_neighbours, original, normalized, apart: minds_context || prepends, minds_context })
    }

    /// The last cut of a text that goes on.
    pub(super) fn last(&self, text: &str) -> Option<usize> {
        // An added token that begins further right could continue in later text.
        let longest = [self.original, self.normalized].into_iter().flatten().map(Matcher::longest).max();
        let mut end = text.len().saturating_sub(longest.unwrap_or_default());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut next = text[end..].chars();
        let (mut right, mut behind) = (next.next(), next.next());
        for (at, left) in text[..end].char_indices().rev() {
            let place = at + left.len_utf8();
            if let (Some(right), Some(behind)) = (right, behind)
                && self.is_cut(text, place, [left, right, behind])
            {
                return Some(place);
            }
            (right, behind) = (Some(left), right);
        }
        None
    }

    fn is_cut(&self, text: &str, place: usize, [left, right, behind]: [char; 3]) -> bool {
        if self.minds_neighbours && !(left.is_ascii() && right.is_ascii() && behind.is_ascii()) {
            return false;
        }
        let Some((left_normal, right_normal)) = self.normal(left, right) else { return false };
        if !self.is_wall(left_normal, right_normal) || self.minds_context && left.is_whitespace() {
            return false;
        }
        let is_across = |added: &Matcher| match self.steps.normalizers[..] {
            [] => self.is_near(added, text, place),
            _ => added.has_pair(left_normal, right_normal),
        };
        !self.original.is_some_and(|added| self.is_near(added, text, place)) && !self.normalized.is_some_and(is_across)
    }

    fn is_near(&self, added: &Matcher, text: &str, place: usize) -> bool {
        let text = text.as_bytes();
        if self.apart { added.touches(text, place) } else { added.is_across(text, place) }
    }

    /// Two characters inside a text after the normalizers; None if that depends on other text.
    fn normal(&self, left: char, right: char) -> Option<(char, char)> {
        let mut pair = (left, right);
        for normalizer in &self.steps.normalizers {
            if matches!(normalizer, Normalizer::Prepend(_)) {
                continue;
            }
            if is_local(normalizer) && (!pair.0.is_ascii() || !pair.1.is_ascii() || pair == ('\r', '\n')) {
                return None;
            }
            let text = String::from_iter([pair.0, pair.1]);
            let normal = normalizer.apply(&text);
            let mut characters = normal.chars();
            pair = (characters.next()?, characters.next()?);
            if characters.next().is_some() {
                return None;
            }
        }
        Some(pair)
    }

    /// Whether a piece ends between two characters of normalized text.
    fn is_wall(&self, left: char, right: char) -> bool {
        if self.steps.prefix_space && right != ' ' {
            return false;
        }
        let mut pair = (left, right);
        for step in &self.steps.pre_tokenizers {
            match step.between(pair.0, pair.1) {
                Between::Wall => return true,
                Between::Inside(left, right) => pair = (left, right),
                Between::Unknown => return false,
            }
        }
        let (left, right) = pair;
        let is_seam = |pattern: &Pattern| pattern.scarce_seams().map(|seams| seams.is_between(left, right));
        // A pattern leaves the place alone if it takes neither character.
        let leaves = |pattern: &Pattern| pattern.never_takes(left) && pattern.never_takes(right);
        let deciding = self.steps.patterns.iter().find(|pattern| is_seam(pattern) == Some(true) || !leaves(pattern));
        deciding.is_some_and(|pattern| is_seam(pattern) == Some(true))
    }
}

/// Whether a normalizer makes of two parts what it makes of the whole, if they meet within characters of ASCII; but of two
/// that make a line end.
fn is_local(normalizer: &Normalizer) -> bool {
    matches!(
        normalizer,
        Normalizer::Nfc
            | Normalizer::Nfd
            | Normalizer::Nfkc
            | Normalizer::Nfkd
            | Normalizer::Lowercase
            | Normalizer::StripAccents
            | Normalizer::Bert(_)
            | Normalizer::Nmt
            | Normalizer::Precompiled(_)
    )
}
