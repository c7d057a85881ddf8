//! Unicode's normal forms (UAX #15), as of Unicode 9, the version of `tokenizers`.
//!
//! Later characters are left unchanged. Newer tables decide whether a text already has its form: text that is normal by
//! them is normal by the older ones, in which fewer characters compose, decompose or are sorted.

use std::ops::Range;
use std::sync::OnceLock;

use unicode_normalization::{IsNormalized, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick};
use unicode_normalization_alignments::UnicodeNormalization;
use unicode_normalization_alignments::char::{canonical_combining_class, decompose_canonical, decompose_compatible};

use super::Normalizer;
use super::edges::{Beginning, is_ascii};
use crate::edge::Edge;
use crate::eight_bytes::WORD;
use crate::normalize::aligned::Edit;
use crate::utf8::{boundary, next_boundary};

/// Changes what lacks the form: each stretch between plain characters by itself, with the one before it, which its first mark
/// may compose with. A plain character composes with nothing before it, and no mark is sorted across it.
pub(super) fn run(form: &Normalizer, edit: &mut Edit) {
    let text = edit.old();
    for stretch in between_plain(form, text).filter(|stretch| !surely_has(form, &text[stretch.clone()])) {
        let before = text[..stretch.start].chars().next_back().filter(|_| composes(form));
        let start = stretch.start - before.map_or(0, char::len_utf8);
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

/// The ranges of a text that may change, in order and apart.
pub(super) fn may_change(form: &Normalizer, text: &str) -> impl Iterator<Item = Range<usize>> {
    let unsure = between_plain(form, text).filter(|stretch| !surely_has(form, &text[stretch.clone()]));
    // What a stretch begins with can compose with the character before it.
    unsure.map(|stretch| boundary(text, stretch.start.saturating_sub(1))..stretch.end)
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

/// The stretches of a text without plain characters, as long as can be.
fn between_plain(form: &Normalizer, text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let plain = Plain::of(form);
    // Where the next stretch starts.
    let mut next = plain.end(bytes, 0);
    std::iter::from_fn(move || {
        let start = next;
        let mut end = start;
        while end < bytes.len() && next == end {
            end = next_boundary(text, end + 1);
            next = plain.end(bytes, end);
        }
        (start < end).then_some(start..end)
    })
}

/// The characters below U+10000 that a form never changes, whatever is before them, as bits of blocks of 64, worked out when
/// text first has one of them. A text can be cut before each.
struct Plain {
    form: Normalizer,
    blocks: [OnceLock<u64>; 1 << 10],
}

impl Plain {
    const fn new(form: Normalizer) -> Self {
        Self { form, blocks: [const { OnceLock::new() }; 1 << 10] }
    }

    fn of(form: &Normalizer) -> &'static Self {
        static NFC: Plain = Plain::new(Normalizer::Nfc);
        static NFD: Plain = Plain::new(Normalizer::Nfd);
        static NFKC: Plain = Plain::new(Normalizer::Nfkc);
        static NFKD: Plain = Plain::new(Normalizer::Nfkd);
        match form {
            Normalizer::Nfd => &NFD,
            Normalizer::Nfkc => &NFKC,
            Normalizer::Nfkd => &NFKD,
            _ => &NFC,
        }
    }

    /// The end of the plain characters that begin at `at`, which is a boundary of characters.
    #[inline]
    fn end(&self, bytes: &[u8], mut at: usize) -> usize {
        let low = |byte: u8| usize::from(byte & 0x3F);
        while let Some(&lead) = bytes.get(at) {
            let (block, last) = match lead {
                0..0x80 => {
                    let many = bytes[at..].first_chunk::<WORD>().is_some_and(|word| word.is_ascii());
                    at += if many { WORD } else { 1 };
                    continue;
                }
                0x80..0xE0 => (usize::from(lead & 0x1F), at + 1),
                0xE0..0xF0 => (usize::from(lead & 0xF) << 6 | low(bytes[at + 1]), at + 2),
                _ => break,
            };
            if self.block(block) >> low(bytes[last]) & 1 == 0 {
                break;
            }
            at = last + 1;
        }
        at
    }

    /// Whether a character is plain; those from U+10000 on are not known to be.
    #[inline]
    fn has(&self, character: char) -> bool {
        let number = u32::from(character);
        number < 0x1_0000 && self.block((number >> 6) as usize) >> (number & 63) & 1 == 1
    }

    #[inline]
    fn block(&self, number: usize) -> u64 {
        *self.blocks[number].get_or_init(|| {
            (0..64).fold(0, |bits, low| {
                let is_plain = char::from_u32((number as u32) << 6 | low).is_some_and(|character| {
                    surely_has(&self.form, character.encode_utf8(&mut [0; 4]))
                        && canonical_combining_class(character) == 0
                        && begins_by_tables(&self.form, character)
                });
                bits | u64::from(is_plain) << low
            })
        })
    }
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

pub(super) fn composes(form: &Normalizer) -> bool {
    matches!(form, Normalizer::Nfc | Normalizer::Nfkc)
}

/// Whether a character certainly has no part in what the one before it becomes, and neither has anything behind it.
pub(super) fn settles(form: &Normalizer, next: char) -> bool {
    next.is_ascii() || Plain::of(form).has(next)
}

/// Whether a text can be cut before a character.
fn begins(form: &Normalizer, character: char) -> bool {
    settles(form, character) || begins_by_tables(form, character)
}

fn begins_by_tables(form: &Normalizer, character: char) -> bool {
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
pub(super) fn each_of_image(form: &Normalizer, character: char, mut each: impl FnMut(char)) {
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
    use super::{Edit, Normalizer, may_change};
    use crate::normalize::Aligned;
    use crate::normalize::tests::texts;
    use unicode_normalization::{IsNormalized, is_nfc_quick, is_nfkd_quick};
    use unicode_normalization_alignments::UnicodeNormalization;

    /// Prime, so that the characters differ in all their bits.
    const STEP: usize = 7;

    #[test]
    fn what_is_between_plain_characters_changes_as_in_the_whole_text() {
        let forms = [Normalizer::Nfc, Normalizer::Nfd, Normalizer::Nfkc, Normalizer::Nfkd];
        let mut changed = 0;
        // Each so many characters, beside what may compose with them or be sorted.
        let beside = (0..0x3_0000).step_by(STEP).filter_map(char::from_u32).map(|one| {
            format!(
                "{one}\u{301}{one}\u{323}\u{301}x{one}\u{1161}\u{11a8}{one}\u{3099}日{one}\u{f71}\u{345}{one}\u{338}"
            )
        });
        for text in texts(3).chain(beside) {
            for form in &forms {
                let [mut whole, mut made] = [(); 2].map(|()| Aligned::traced(&text).unwrap());
                let all = |edit: &mut Edit| match form {
                    Normalizer::Nfd => edit.transform(text.nfd(), text.len()),
                    Normalizer::Nfkc => edit.transform(text.nfkc(), text.len()),
                    Normalizer::Nfkd => edit.transform(text.nfkd(), text.len()),
                    _ => edit.transform(text.nfc(), text.len()),
                };
                whole
                    .rewrite(|edit| {
                        all(edit);
                        Ok(())
                    })
                    .unwrap();
                form.apply_aligned(&mut made).unwrap();
                assert_eq!(made, whole, "{form:?} {text:?}");
                changed += usize::from(made.text() != text);
            }
        }
        assert!(changed > 200, "{changed}");
    }

    #[test]
    fn ranges_that_may_change_tell_whether_a_text_has_a_form() {
        let mut found = [0, 0];
        for text in texts(3) {
            let has = |form| may_change(&form, &text).next().is_none();
            let normal = is_nfc_quick(text.chars()) == IsNormalized::Yes;
            assert_eq!(has(Normalizer::Nfc), normal, "{text:?}");
            assert_eq!(has(Normalizer::Nfkd), is_nfkd_quick(text.chars()) == IsNormalized::Yes, "{text:?}");
            found[usize::from(normal)] += 1;
        }
        assert!(found.iter().all(|&texts| texts > 50), "{found:?}");
    }

    #[test]
    fn ranges_that_may_change_do_so_alone_and_nothing_else_does() {
        for text in texts(4) {
            for form in [Normalizer::Nfc, Normalizer::Nfd, Normalizer::Nfkc, Normalizer::Nfkd] {
                let formed = |text: &str| form.try_apply(text).unwrap().into_owned();
                let (mut at, mut made) = (0, String::new());
                for range in may_change(&form, &text) {
                    assert!(at <= range.start && range.start < range.end, "{text:?}");
                    made += &text[at..range.start];
                    made += &formed(&text[range.clone()]);
                    at = range.end;
                }
                assert_eq!(made + &text[at..], formed(&text), "{form:?} {text:?}");
            }
        }
    }
}
