//! Runs of white space that are not a space alone, found in blocks of text that has few: most words have one space between them.

use std::ops::Range;

use crate::eight_bytes::bits;

/// So many bytes are looked at together.
const BLOCK: usize = 64;

/// The first run of white space from `from` on that is anything but one space. No run is across `from`.
///
/// ```text
/// "a b  c\n d"
///     ^^  ^^   two runs
/// ```
pub(super) fn next_odd(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        let mut left = if let Some(block) = bytes[at..].first_chunk() {
            odd_places(block)
        } else {
            // What follows the text is as a letter.
            let mut block = [0; BLOCK + 1];
            block[..bytes.len() - at].copy_from_slice(&bytes[at..]);
            odd_places(&block)
        };
        while left != 0 {
            let place = at + left.trailing_zeros() as usize;
            left &= left - 1;
            let run: usize = text[place..].chars().take_while(|c| c.is_whitespace()).map(char::len_utf8).sum();
            if run > 0 {
                let start = if place > from && bytes[place - 1] == b' ' { place - 1 } else { place };
                return Some(start..place + run);
            }
        }
        at += BLOCK;
    }
    None
}

/// A bit for each byte of a block, with the one behind it, where white space may begin that is no space, and for the first of two
/// spaces.
#[inline(always)]
fn odd_places(block: &[u8; BLOCK + 1]) -> u64 {
    let mut odd = [0; BLOCK];
    for (place, odd) in odd.iter_mut().enumerate() {
        let (byte, next) = (block[place], block[place + 1]);
        // The first bytes of white space beyond ASCII: U+0085 and U+00A0, U+1680, U+2000 to U+205F, U+3000.
        let beyond = u8::from(byte == 0xC2) | u8::from(byte.wrapping_sub(0xE1) < 3);
        *odd = u8::from(byte.wrapping_sub(b'\t') < 5) | u8::from(byte == b' ') & u8::from(next == b' ') | beyond;
    }
    bits(&odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_but_a_space_alone_is_found() {
        let mut seed = 5_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let white: Vec<char> =
            (0..=char::MAX as u32).filter_map(char::from_u32).filter(|c| c.is_whitespace()).collect();
        for _ in 0..4_000 {
            let length = random(300);
            let text: String = (0..length)
                .map(|_| match random(12) {
                    0 => white[random(white.len())],
                    1 => ['é', 'あ', '\u{2029}', '\u{E000}', '😀'][random(5)],
                    2..5 => ' ',
                    _ => 'a',
                })
                .collect();
            let (mut expected, mut start) = (Vec::new(), 0);
            for part in text.split_inclusive(|c: char| !c.is_whitespace()) {
                let run = part.trim_end_matches(|c: char| !c.is_whitespace());
                if !run.is_empty() && run != " " {
                    expected.push(start..start + run.len());
                }
                start += part.len();
            }
            let (mut found, mut from) = (Vec::new(), 0);
            while let Some(run) = next_odd(&text, from) {
                from = run.end;
                found.push(run);
            }
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
