//! Texts that have a normal form, read one character at a time.
//!
//! A part of a text that has a form has it as well (UAX #15), so that a text can be read from its beginning: each character
//! must leave the form to all before it. What was before a starter that composes with nothing does not matter then; of the
//! characters since, two do (`Tail`).

use std::sync::OnceLock;

use rustc_hash::FxHashSet;
use unicode_normalization_alignments::char::{canonical_combining_class, decompose_canonical};

use super::Normalizer;
use super::forms::{composes, settles};

/// The end of the planes in which characters have decompositions.
const END_OF_DECOMPOSED: u32 = 0x3_0000;

/// The end of a text, as far as it decides which characters can follow, so that the text keeps its form.
///
/// Marks are sorted by their combining class, so that a lower one than the last cannot follow. One composes with the starter
/// unless a mark of its own class is between: of the marks, the first one of the last class says both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Tail {
    /// The last starter, if something may compose with it.
    starter: Option<char>,
    /// The first mark behind it of the class of the last one.
    mark: Option<char>,
}

impl Normalizer {
    /// The tail of a text that has this form and goes on with a character; None if it has the form no more.
    pub(crate) fn goes_on(&self, tail: Tail, character: char) -> Option<Tail> {
        let starter = || Some(character).filter(|&character| composes(self) && may_compose(character));
        if settles(self, character) {
            return Some(Tail { starter: starter(), mark: None });
        }
        let text: String = [tail.starter, tail.mark, Some(character)].into_iter().flatten().collect();
        if self.apply(&text) != text {
            return None;
        }
        let class = canonical_combining_class(character);
        if class == 0 {
            return Some(Tail { starter: starter(), mark: None });
        }
        let is_of_last_class = tail.mark.is_some_and(|mark| canonical_combining_class(mark) == class);
        Some(Tail { mark: if is_of_last_class { tail.mark } else { Some(character) }, ..tail })
    }

    /// The tail of a text that has this form.
    pub(crate) fn tail(&self, text: &str) -> Tail {
        let last = text.char_indices().rev().find(|&(_, character)| settles(self, character));
        let text = &text[last.map_or(0, |(start, _)| start)..];
        text.chars().try_fold(Tail::default(), |tail, character| self.goes_on(tail, character)).unwrap_or_default()
    }

    /// Whether the characters before one do not matter to whether a text has this form, and it does by itself.
    pub(crate) fn is_settled_by(&self, character: char) -> bool {
        settles(self, character)
    }
}

/// Whether something behind a starter may compose with it, or with what it decomposes to.
fn may_compose(starter: char) -> bool {
    static FIRSTS: OnceLock<FxHashSet<char>> = OnceLock::new();
    if starter.is_ascii() {
        return starter.is_ascii_alphabetic() || ('<'..='>').contains(&starter);
    }
    let firsts = || (0..END_OF_DECOMPOSED).filter_map(char::from_u32).filter_map(first_of_several).collect();
    first_of_several(starter).is_some() || FIRSTS.get_or_init(firsts).contains(&starter)
}

/// The first character of a decomposition, unless it is the character itself.
fn first_of_several(character: char) -> Option<char> {
    let mut first = None;
    decompose_canonical(character, |part| {
        first.get_or_insert(part);
    });
    first.filter(|&first| first != character)
}

#[cfg(test)]
mod tests {
    use unicode_normalization::{IsNormalized, is_nfc_quick};

    use super::*;
    use crate::normalize::tests::texts;

    const FORMS: [Normalizer; 4] = [Normalizer::Nfc, Normalizer::Nfd, Normalizer::Nfkc, Normalizer::Nfkd];

    fn is_mark(character: char) -> bool {
        canonical_combining_class(character) != 0 && first_of_several(character).is_none()
    }

    fn reads(form: &Normalizer, text: &str) -> bool {
        text.chars().try_fold(Tail::default(), |tail, character| form.goes_on(tail, character)).is_some()
    }

    #[test]
    fn a_text_that_is_read_to_its_end_is_one_that_its_form_does_not_change() {
        let letters = "aeé<1 ﬁÅ\u{301}\u{302}\u{323}\u{325}\u{327}\u{338}\u{344}\u{345}か\u{3099}が\u{1100}\u{1161}\u{11a8}\
                       가각\u{9c7}\u{9be}\u{9cb}\u{f71}\u{f72}\u{1d157}\u{1d165}\u{1d15e}";
        let all: Vec<char> = letters.chars().collect();
        let places = all.len();
        let made = (0..places.pow(4)).map(|number| {
            let chosen = (0..4).map(|place| all[number / places.pow(place) % places]);
            chosen.collect::<String>()
        });
        let mut found = [0, 0];
        for text in texts(4).chain(made.step_by(3)) {
            for form in &FORMS {
                let is_formed = form.apply(&text) == text;
                assert_eq!(reads(form, &text), is_formed, "{form:?} {text:?}");
                found[usize::from(is_formed)] += 1;
            }
        }
        assert!(found.iter().all(|&texts| texts > 10_000), "{found:?}");
    }

    #[test]
    fn each_starter_that_something_composes_with_is_known() {
        let marks: Vec<char> = (0..END_OF_DECOMPOSED)
            .filter_map(char::from_u32)
            .filter(|&mark| is_nfc_quick(std::iter::once(mark)) == IsNormalized::Maybe || is_mark(mark))
            .collect();
        assert!((800..2_000).contains(&marks.len()), "{}", marks.len());
        for starter in (0..END_OF_DECOMPOSED).step_by(29).chain(0..0x250).filter_map(char::from_u32) {
            let stays = Normalizer::Nfc.apply(&starter.to_string()) == starter.to_string();
            if stays && canonical_combining_class(starter) == 0 && !may_compose(starter) {
                for mark in marks.iter().step_by(3) {
                    let text = format!("{starter}{mark}");
                    assert_eq!(Normalizer::Nfc.apply(&text), text);
                }
            }
        }
    }

    #[test]
    fn the_tail_of_a_text_is_what_reading_all_of_it_gives() {
        for text in texts(4).filter(|text| Normalizer::Nfc.apply(text) == *text) {
            let read = text.chars().try_fold(Tail::default(), |tail, next| Normalizer::Nfc.goes_on(tail, next));
            assert_eq!(Some(Normalizer::Nfc.tail(&text)), read, "{text:?}");
        }
    }
}
