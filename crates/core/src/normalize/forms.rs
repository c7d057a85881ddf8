//! Unicode's normal forms (UAX #15), as of Unicode 9, the version of `tokenizers`.
//!
//! Later characters are left unchanged. Newer tables decide whether a text already has its form: text that is normal by
//! them is normal by the older ones, in which fewer characters compose, decompose or are sorted.

use std::ops::Range;

use unicode_normalization::{IsNormalized, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick};
use unicode_normalization_alignments::UnicodeNormalization;
use unicode_normalization_alignments::char::{canonical_combining_class, decompose_canonical, decompose_compatible};

use super::Normalizer;
use super::edges::{Beginning, is_ascii};
use crate::edge::Edge;
use crate::normalize::aligned::Edit;

/// Changes what lacks the form: each stretch without ASCII by itself, with the ASCII before it, which its first mark may
/// compose with. ASCII composes with nothing before it, and no mark is sorted across it.
pub(super) fn run(form: &Normalizer, edit: &mut Edit) {
    let text = edit.old();
    for stretch in beyond_ascii(text).filter(|stretch| !surely_has(form, &text[stretch.clone()])) {
        let start = stretch.start - usize::from(composes(form) && stretch.start > 0);
        let part = &text[start..stretch.end];
        edit.keep(start);
        match form {
            Normalizer::Nfd => edit.transform(part.nfd(), stretch.end),
            Normalizer::Nfkc => edit.transform(part.nfkc(), stretch.end),
            Normalizer::Nfkd => edit.transform(part.nfkd(), stretch.end),
            _ => edit.transform(part.nfc(), stretch.end),
        }
    }
    edit.keep(text.len());
}

/// Whether a text has a form for certain.
pub(super) fn has(form: &Normalizer, text: &str) -> bool {
    beyond_ascii(text).all(|stretch| surely_has(form, &text[stretch]))
}

fn surely_has(form: &Normalizer, text: &str) -> bool {
    let found = match form {
        Normalizer::Nfd => is_nfd_quick(text.chars()),
        Normalizer::Nfkc => is_nfkc_quick(text.chars()),
        Normalizer::Nfkd => is_nfkd_quick(text.chars()),
        _ => is_nfc_quick(text.chars()),
    };
    found == IsNormalized::Yes
}

/// The stretches of a text without ASCII, as long as can be.
fn beyond_ascii(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let next = |at: usize, ascii: bool| {
        bytes[at..].iter().position(|byte| byte.is_ascii() == ascii).map_or(bytes.len(), |behind| at + behind)
    };
    let mut end = 0;
    std::iter::from_fn(move || {
        let start = next(end, false);
        end = next(start, true);
        (start < end).then_some(start..end)
    })
}

/// A text can be cut before a character whose decomposition begins with a starter that composes with nothing before it:
/// marks are not sorted across a starter, and what follows composes with that one or a later one. Newer tables tell what
/// composes with something before it: more does than by the older ones, and nothing that did stops to.
///
/// So a character between two such places has an image of its own. Decomposed, it also keeps its starters before what is no
/// such place: only the marks behind the last one may be sorted among others.
pub(super) fn edge(form: &Normalizer, edge: &Edge) -> Option<Edge> {
    let right = edge.right();
    if is_ascii(edge) {
        // The last one might compose with what comes next.
        let sure = right.len() - usize::from(composes(form));
        return Edge::new(edge.left, right[..sure].iter().copied());
    }
    if !begins(form, right[0]) {
        return None;
    }
    let left = edge.left.filter(|&left| begins(form, left)).and_then(|left| {
        let mut last = None;
        each_of_image(form, left, |part| last = Some(part));
        last
    });
    let mut beginning = Beginning::new();
    for (place, &character) in right.iter().enumerate() {
        if right.get(place + 1).is_some_and(|&next| begins(form, next)) {
            each_of_image(form, character, |part| beginning.push(part));
            continue;
        }
        if !composes(form) {
            let (mut parts, mut sure) = (0, 0);
            each_of_image(form, character, |part| {
                parts += 1;
                sure = if canonical_combining_class(part) == 0 { parts } else { sure };
            });
            each_of_image(form, character, |part| {
                if sure > 0 {
                    beginning.push(part);
                    sure -= 1;
                }
            });
        }
        break;
    }
    beginning.edge(left)
}

fn composes(form: &Normalizer) -> bool {
    matches!(form, Normalizer::Nfc | Normalizer::Nfkc)
}

/// Whether a text can be cut before a character.
fn begins(form: &Normalizer, character: char) -> bool {
    if character.is_ascii() {
        return true;
    }
    let mut first = None;
    let take = |part| {
        first.get_or_insert(part);
    };
    match form {
        Normalizer::Nfc | Normalizer::Nfd => decompose_canonical(character, take),
        _ => decompose_compatible(character, take),
    }
    first.is_some_and(|first| {
        canonical_combining_class(first) == 0
            && (!composes(form) || is_nfc_quick(std::iter::once(first)) == IsNormalized::Yes)
    })
}

/// The characters that one becomes alone.
fn each_of_image(form: &Normalizer, character: char, mut each: impl FnMut(char)) {
    if character.is_ascii() {
        return each(character);
    }
    let alone = std::iter::once(character);
    match form {
        Normalizer::Nfd => alone.nfd().for_each(|(part, _)| each(part)),
        Normalizer::Nfkc => alone.nfkc().for_each(|(part, _)| each(part)),
        Normalizer::Nfkd => alone.nfkd().for_each(|(part, _)| each(part)),
        _ => alone.nfc().for_each(|(part, _)| each(part)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Edit, Normalizer, has};
    use crate::normalize::Aligned;
    use crate::normalize::tests::texts;
    use unicode_normalization::{IsNormalized, is_nfc_quick, is_nfkd_quick};
    use unicode_normalization_alignments::UnicodeNormalization;

    #[test]
    fn what_is_between_ascii_changes_as_in_the_whole_text() {
        let forms = [Normalizer::Nfc, Normalizer::Nfd, Normalizer::Nfkc, Normalizer::Nfkd];
        let mut changed = 0;
        for text in texts(3) {
            for form in &forms {
                let [mut whole, mut made] = [(); 2].map(|()| Aligned::traced(&text).unwrap());
                let all = |edit: &mut Edit| match form {
                    Normalizer::Nfd => edit.transform(text.nfd(), text.len()),
                    Normalizer::Nfkc => edit.transform(text.nfkc(), text.len()),
                    Normalizer::Nfkd => edit.transform(text.nfkd(), text.len()),
                    _ => edit.transform(text.nfc(), text.len()),
                };
                whole.rewrite(|edit| Ok(all(edit))).unwrap();
                form.apply_aligned(&mut made).unwrap();
                assert_eq!(made, whole, "{form:?} {text:?}");
                changed += usize::from(made.text() != text);
            }
        }
        assert!(changed > 200, "{changed}");
    }

    #[test]
    fn what_is_between_ascii_tells_whether_a_text_has_a_form() {
        let mut found = [0, 0];
        for text in texts(3) {
            let normal = is_nfc_quick(text.chars()) == IsNormalized::Yes;
            assert_eq!(has(&Normalizer::Nfc, &text), normal, "{text:?}");
            assert_eq!(has(&Normalizer::Nfkd, &text), is_nfkd_quick(text.chars()) == IsNormalized::Yes, "{text:?}");
            found[usize::from(normal)] += 1;
        }
        assert!(found.iter().all(|&texts| texts > 50), "{found:?}");
    }
}
