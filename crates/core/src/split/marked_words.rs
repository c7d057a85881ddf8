//! Words with U+2581 in front, which marks a space: the usual pieces of models of characters.
//!
//! A piece ends before a U+2581 that follows another character, unless that one *reaches* across: some vocabularies have
//! tokens such as `>` and U+2581. The first byte of U+2581 begins few other characters that occur in texts. So this byte is
//! searched in eight bytes at once, in plain integers, and the other two are compared where it is found.

use super::ends::Ends;
use super::masks::BLOCK;
use crate::eight_bytes::{WORD, bytes_equal, word_at};

const MARK: char = '\u{2581}';
const BYTES: [u8; 3] = [0xE2, 0x96, 0x81];

/// The pattern of the words of a vocabulary in which these characters reach across.
pub(crate) fn pattern(reaching: &[char]) -> String {
    if reaching.is_empty() {
        return format!("{MARK}+[^{MARK}]*|[^{MARK}]+");
    }
    let escaped = reaching.iter().map(|&reaching| format!("\\x{{{:x}}}", u32::from(reaching)));
    let reaching = escaped.collect::<Vec<_>>().concat();
    format!("{MARK}*(?:[^{MARK}{reaching}]|[{reaching}]{MARK}*)+|{MARK}+")
}

/// Finds the pieces of such a pattern.
#[derive(Clone, Copy)]
pub(super) struct MarkedWords {
    /// A bit for each ASCII character that reaches across.
    reaching: u128,
}

impl MarkedWords {
    /// None if the pattern is another one, or other characters than those of ASCII reach across.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut reaching = Vec::new();
        if let Some((_, rest)) = text.split_once("|[") {
            let named = rest.split(']').next().unwrap_or_default().split("\\x{").skip(1);
            for hexadecimal in named {
                let byte = u8::from_str_radix(hexadecimal.strip_suffix('}')?, 16).ok()?;
                reaching.push(byte.is_ascii().then_some(char::from(byte))?);
            }
        }
        let is_it = text == pattern(&reaching);
        is_it.then(|| Self { reaching: reaching.iter().fold(0, |bits, &reaching| bits | 1 << u32::from(reaching)) })
    }

    /// Appends the ends of the pieces from `at` on, as many as there is room for; returns where the last one ends.
    pub(super) fn fill(self, text: &str, at: usize, ends: &mut Ends) -> usize {
        let bytes = text.as_bytes();
        let (mut last, mut word) = (at, at);
        while ends.has_room_for_a_block() {
            let block = (word + BLOCK).min(bytes.len());
            while word < block {
                let mut found = bytes_equal(word_at(bytes, word, 0), BYTES[0]);
                while found != 0 {
                    let place = word + found.trailing_zeros() as usize / WORD;
                    found &= found - 1;
                    if place > last && is_mark(bytes, place) && self.ends(bytes, place) {
                        ends.push(place);
                        last = place;
                    }
                }
                word += WORD;
            }
            if word >= bytes.len() {
                if last < bytes.len() {
                    ends.push(bytes.len());
                }
                return bytes.len();
            }
        }
        last
    }

    /// Whether the character before a mark, which is not the first one, ends a piece.
    #[inline(always)]
    fn ends(self, bytes: &[u8], place: usize) -> bool {
        let before = bytes[place - 1];
        if before.is_ascii() {
            return self.reaching >> before & 1 == 0;
        }
        before != BYTES[2] || place < BYTES.len() || !is_mark(bytes, place - BYTES.len())
    }
}

#[inline(always)]
fn is_mark(bytes: &[u8], place: usize) -> bool {
    bytes.get(place..place + BYTES.len()).is_some_and(|found| found == BYTES)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::automaton::Automaton;
    use super::super::{Engine, Faster, Pattern, ends};
    use super::*;

    #[test]
    fn pieces_are_those_of_the_automaton() {
        for reaching in [&[][..], &['>'], &['>', '\n', '-']] {
            let pattern = Pattern::new(&pattern(reaching)).unwrap();
            let Engine::Classes(automaton, Some(Faster::Words(_))) = &pattern.engine else {
                unreachable!("another engine")
            };
            are_those(&pattern, automaton);
        }
        assert!(
            MarkedWords::of(&pattern(&['é'])).is_none()
                && MarkedWords::of("|[").is_none()
                && MarkedWords::of("a").is_none()
        );
    }

    fn are_those(pattern: &Pattern, automaton: &Automaton) {
        let letters = [
            "\u{2581}",
            "\u{2581}",
            ">",
            "-",
            "\n",
            "a",
            "word",
            "\u{2580}",
            "\u{2541}",
            "é",
            "日",
            " ",
            "longer than thirty-two bytes of it",
        ];
        let mut seed = 5_u64;
        for round in 0..3_000 {
            let mut text = String::new();
            for _ in 0..round % 150 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(letters[(seed >> 33) as usize % letters.len()]);
            }
            let mut expected = Vec::new();
            let mut at = 0;
            while at < text.len() {
                at = ends::piece_end(automaton, &text, at);
                expected.push(at);
            }
            let mut found: Vec<usize> = Vec::new();
            for piece in pattern.pieces(&text) {
                found.push(found.last().unwrap_or(&0) + piece.unwrap().len());
            }
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn one_mark_after_another_is_one_piece_of_any_length() {
        let text = "\u{2581}".repeat(100_000) + "a\u{2581}";
        let pattern = Pattern::new(&pattern(&[])).unwrap();
        let lengths: Vec<usize> = pattern.pieces(&text).map(|piece| piece.unwrap().len()).collect();
        assert_eq!(lengths, [300_001, 3]);
    }
}
