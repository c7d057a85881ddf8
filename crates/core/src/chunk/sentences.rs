//! The sentences of a line, by the rules of UAX #29.
//!
//! Only `.`, `?`, `!` and their like end sentences, so a search goes from one to the next and reads the few characters
//! that decide. The crate `unicode-segmentation` says what each character is to the rules: it is asked once for each.

use std::sync::atomic::{AtomicU8, Ordering};

use memchr::memchr3;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// The class of a character in the rules of sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Other,
    Lower,
    Upper,
    /// A letter without case.
    Letter,
    Digit,
    /// Ends a sentence unless lower case follows.
    Dot,
    /// Ends a sentence.
    Stop,
    /// Does not begin a sentence, such as a comma.
    Continue,
    Close,
    Space,
    LineEnd,
    /// Belongs to the character before.
    Mark,
}

/// A class has this number in [`KNOWN`].
const CLASSES: [Class; 12] = [
    Class::Other,
    Class::Lower,
    Class::Upper,
    Class::Letter,
    Class::Digit,
    Class::Dot,
    Class::Stop,
    Class::Continue,
    Class::Close,
    Class::Space,
    Class::LineEnd,
    Class::Mark,
];

/// Added to the number of a class: a letter or digit that is no combining mark.
const ALPHANUMERIC: u8 = 16;

/// Added to what is known of a character.
const ASKED: u8 = 32;

/// The known facts of each character, 0 before the crate was asked. Most of it is never read and takes no memory.
static KNOWN: [AtomicU8; 0x11_0000] = [const { AtomicU8::new(0) }; 0x11_0000];

/// The known facts of a character.
fn known(character: char) -> u8 {
    let known = &KNOWN[character as usize];
    match known.load(Ordering::Relaxed) {
        0 => {
            let asked = ask(character);
            known.store(asked, Ordering::Relaxed);
            asked
        }
        known => known,
    }
}

#[cold]
fn ask(character: char) -> u8 {
    let class = asked_class(character);
    let number = CLASSES.iter().position(|&known| known == class).unwrap_or_default() as u8;
    let is_alphanumeric = character.is_alphanumeric() && !is_combining_mark(character);
    ASKED | number | if is_alphanumeric { ALPHANUMERIC } else { 0 }
}

/// The class of a character, by where the crate ends sentences around it.
fn asked_class(character: char) -> Class {
    // Whether a sentence ends at the `|` with the character in place of the `@`.
    let ends = |example: &str| {
        let example = example.replace('@', character.encode_utf8(&mut [0; 4]));
        let (before, after) = example.split_once('|').unwrap_or_default();
        [before, after].concat().split_sentence_bound_indices().any(|(at, _)| at == before.len())
    };
    if ends("!|@") {
        match (ends(".|@"), ends(". |@")) {
            (false, false) => Class::Lower,
            (false, true) => Class::Digit,
            _ if !ends("A.|@") => Class::Upper,
            _ if ends(". |@a") => Class::Letter,
            _ => Class::Other,
        }
    } else if ends("@|A") {
        match (ends("@|."), ends("@|1")) {
            (true, _) => Class::LineEnd,
            (_, true) => Class::Stop,
            _ => Class::Dot,
        }
    } else {
        match (ends("! |@"), ends("!@|)"), ends("!@|A")) {
            (true, ..) => Class::Close,
            (_, true, _) => Class::Space,
            (.., true) => Class::Mark,
            _ => Class::Continue,
        }
    }
}

fn class(character: char) -> Class {
    CLASSES.get(usize::from(known(character) % ALPHANUMERIC)).copied().unwrap_or(Class::Other)
}

/// Whether a character ends a line.
pub(super) fn is_line_end(character: char) -> bool {
    class(character) == Class::LineEnd
}

/// Whether a character is a letter or digit and no combining mark.
pub(super) fn is_alphanumeric(character: char) -> bool {
    known(character) & ALPHANUMERIC != 0
}

/// Where sentences end inside a text that has no line end but at its own end.
pub(super) fn sentence_ends(line: &str) -> Vec<usize> {
    let is_ascii = line.is_ascii();
    let (mut found, mut from) = (Vec::new(), 0);
    loop {
        let rest = &line[from..];
        let stop = if is_ascii {
            memchr3(b'.', b'?', b'!', rest.as_bytes())
        } else {
            rest.char_indices().find(|&(_, character)| is_stop(class(character))).map(|(at, _)| at)
        };
        let Some(stop) = stop else { return found };
        let (at, is_end) = behind(line, from + stop);
        if is_end {
            found.push(at);
        }
        from = at;
    }
}

fn is_stop(class: Class) -> bool {
    matches!(class, Class::Dot | Class::Stop)
}

/// From where on to look further behind a character that may end a sentence, and whether one ends there.
fn behind(line: &str, stop: usize) -> (usize, bool) {
    let mut following = line[stop..].char_indices().map(|(at, character)| (stop + at, class(character)));
    let Some((_, stop_class)) = following.next() else { return (line.len(), false) };
    let mut last = stop_class;
    for (at, next) in following {
        match next {
            Class::Mark => continue,
            Class::Space => {}
            Class::Close if last != Class::Space => {}
            Class::Dot | Class::Stop | Class::Continue | Class::LineEnd => return (at, false),
            Class::Digit if last == Class::Dot => return (at, false),
            Class::Upper if last == Class::Dot && is_behind_case(line, stop) => return (at, false),
            _ => return (at, stop_class == Class::Stop || !is_before_lower(line, at)),
        }
        last = next;
    }
    (line.len(), false)
}

/// Whether the character before a place has case, as in `U.S.`.
fn is_behind_case(line: &str, at: usize) -> bool {
    let before = line[..at].chars().rev().map(class).find(|&class| class != Class::Mark);
    matches!(before, Some(Class::Lower | Class::Upper))
}

/// Whether the first character from a place on that decides about a dot before it is in lower case.
fn is_before_lower(line: &str, at: usize) -> bool {
    use Class::{Dot, Letter, LineEnd, Lower, Stop, Upper};
    let mut after = line[at..].chars().map(class);
    after.find(|class| matches!(class, Lower | Upper | Letter | LineEnd | Dot | Stop)) == Some(Lower)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// All strings of up to so many of some atoms.
    pub(in crate::chunk) fn each_string(atoms: &[&str], most: usize, check: &mut impl FnMut(&str)) {
        fn grow(text: &mut String, atoms: &[&str], most: usize, check: &mut impl FnMut(&str)) {
            check(text);
            for atom in atoms.iter().filter(|_| most > 0) {
                text.push_str(atom);
                grow(text, atoms, most - 1, check);
                text.truncate(text.len() - atom.len());
            }
        }
        grow(&mut String::new(), atoms, most, check);
    }

    /// The sentences of the crate, those behind a line end inside the text left out.
    fn of_crate(text: &str) -> Vec<usize> {
        text.split_sentence_bound_indices().map(|(at, _)| at).skip(1).collect()
    }

    #[test]
    fn ends_are_those_of_the_crate_in_all_short_lines_of_each_class() {
        let ascii = ["B", "a", "1", ".", "!", ",", "'", "_", " ", ")"];
        let others = ["É", "é", "日", "٣", "\u{2024}", "。", "、", "”", "★", "\u{a0}", "\u{301}", "\u{ad}", "."];
        for (atoms, most) in [(&ascii[..], 5), (&others, 4), (&["A", "a", ".", " ", ")", "\u{301}"], 6)] {
            each_string(atoms, most, &mut |line| {
                for end in ["", "\n", "\r\n", "\u{2028}"] {
                    let line = format!("{line}{end}");
                    assert_eq!(sentence_ends(&line), of_crate(&line), "{line:?}");
                }
            });
        }
    }

    #[test]
    fn every_character_has_the_class_that_it_has_in_the_crate() {
        for character in (0..=0x10_FFFF).filter_map(char::from_u32) {
            let line = format!("a.{character}B.{character} c! {character}. {character}a");
            if !is_line_end(character) {
                assert_eq!(sentence_ends(&line), of_crate(&line), "{character:?}");
            }
            let line_ends = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];
            assert_eq!(is_line_end(character), line_ends.contains(&character), "{character:?}");
            let is_stop = is_stop(class(character)) && character.is_ascii();
            assert_eq!(is_stop, matches!(character, '.' | '?' | '!'), "{character:?}");
        }
    }
}
