//! The words of a line, by the rules of UAX #29, around a place.
//!
//! Before most spaces and before ideographs a word ends whatever surrounds them, and what is before and what is behind
//! have the words that they have alone. So the crate `unicode-segmentation` has to look at little text around a place.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// A part of a line whose words do not depend on the rest.
#[derive(Default)]
pub(super) struct Window {
    /// Where it is in the line.
    pub(super) range: Range<usize>,
    /// Where words end or begin in it, its start among them, but neither the start of the line nor a place after white
    /// space.
    pub(super) places: Vec<usize>,
}

impl Window {
    /// The one with a place of a line, which is before its end.
    pub(super) fn around(line: &str, place: usize) -> Self {
        let start = (0..=place).rev().find(|&at| is_certain(line, at)).unwrap_or_default();
        let end = (place + 1..line.len()).find(|&at| is_certain(line, at)).unwrap_or(line.len());
        let text = &line[start..end];
        let is_place = |&at: &usize| at > 0 && !line[..at].ends_with(char::is_whitespace);
        let places = if text.is_ascii() {
            let found = (0..text.len()).filter(|&at| !is_in_ascii_word(text.as_bytes(), at)).map(|at| start + at);
            found.filter(is_place).collect()
        } else {
            text.split_word_bound_indices().map(|(at, _)| start + at).filter(is_place).collect()
        };
        Self { range: start..end, places }
    }
}

/// Whether words end at a place whatever surrounds it: before an ideograph or a hiragana, and before a space after
/// anything but white space.
fn is_certain(line: &str, place: usize) -> bool {
    match line.as_bytes()[place] {
        b' ' => !line[..place].ends_with(char::is_whitespace),
        // The first bytes of what follows.
        0xE3..=0xE9 => {
            line[place..].chars().next().is_some_and(|next| matches!(next, 'ぁ'..='ゖ' | '\u{4E00}'..='\u{9FFF}'))
        }
        _ => false,
    }
}

/// Whether a place of an ASCII text, which is not after white space, is inside a word.
fn is_in_ascii_word(text: &[u8], place: usize) -> bool {
    let byte = |at: Option<usize>| at.and_then(|at| text.get(at)).copied().unwrap_or(b' ');
    let (before, after) = (byte(place.checked_sub(1)), byte(Some(place)));
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    is_part(before) && is_part(after)
        || is_infix(before, after, byte(Some(place + 1)))
        || is_infix(byte(place.checked_sub(2)), before, after)
}

/// Whether a sign is a part of the word that two ASCII characters around it then belong to.
fn is_infix(before: u8, sign: u8, after: u8) -> bool {
    let letters = before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
    let digits = before.is_ascii_digit() && after.is_ascii_digit();
    match sign {
        b'.' | b'\'' => letters || digits,
        b':' => letters,
        b',' | b';' => digits,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::sentences::tests::each_string;

    fn places_of_crate(line: &str) -> Vec<usize> {
        let places = line.split_word_bound_indices().map(|(at, _)| at).skip(1);
        places.filter(|&at| !line[..at].ends_with(char::is_whitespace)).collect()
    }

    fn places_of_windows(line: &str) -> Vec<usize> {
        let (mut places, mut at) = (Vec::new(), 0);
        while at < line.len() {
            let window = Window::around(line, at);
            assert_eq!(window.range.start, at, "{line:?}");
            places.extend(window.places);
            at = window.range.end;
        }
        places
    }

    #[test]
    fn windows_together_have_the_places_of_the_line() {
        // One of each class of words, and what windows begin at.
        let atoms = [
            "a", "א", "カ", "1", "_", ".", ",", ":", "'", "\"", " ", "\u{3000}", "\t", "\u{301}", "\u{ad}", "\u{200d}",
            "☺", "🇦", "日", "あ", "!",
        ];
        each_string(&atoms, 4, &mut |line| assert_eq!(places_of_windows(line), places_of_crate(line), "{line:?}"));
        let ascii = ["a", "B", "1", "_", ".", ",", ":", "'", " ", "!"];
        each_string(&ascii, 5, &mut |line| assert_eq!(places_of_windows(line), places_of_crate(line), "{line:?}"));
    }

    #[test]
    fn every_three_characters_of_ascii_have_the_places_of_the_crate() {
        let ascii: Vec<String> = (0..128_u8).map(|byte| char::from(byte).to_string()).collect();
        let ascii: Vec<&str> = ascii.iter().map(String::as_str).collect();
        each_string(&ascii, 3, &mut |middle| {
            for line in [middle.to_owned(), format!("a{middle}"), format!("{middle}1")] {
                assert_eq!(places_of_windows(&line), places_of_crate(&line), "{line:?}");
            }
        });
    }

    #[test]
    fn each_ideograph_and_hiragana_begins_a_window_rightly() {
        for character in ('ぁ'..='ゖ').chain('\u{4E00}'..='\u{9FFF}') {
            for before in ["a", "1", "日", "カ", "\u{200d}", "_", "a'"] {
                let line = format!("{before}{character}a");
                let place = before.len();
                assert!(line.split_word_bound_indices().any(|(at, _)| at == place), "{line:?}");
            }
        }
    }
}
