//! Which characters stand beside each other in a token.
//!
//! A table of bits for two characters of ASCII, and one by the hash of the bytes of any others: two of these that no token
//! joins may look as if one did, never the other way round. Tokens of bytes can begin or end inside of a character. They are
//! entered with the bytes that they have of it, and asked for only if some token joins the two bytes at the edge with a part
//! of a character.

/// Bits for each byte of a token: the fewer are taken, the fewer pairs look like others.
const BITS_A_BYTE: usize = 8;

/// Bits of the largest table, as a power of two.
const MOST_BITS: u32 = 24;

/// 2^64 over the golden ratio: multiplying by it spreads adjacent keys.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The most bytes of a character.
const LONGEST: usize = 4;

/// The pairs of neighbouring characters.
pub(crate) struct Adjacent {
    /// Bit `right` of `ascii[left]`: a token has these two beside each other.
    ascii: Box<[u128; 128]>,
    seen: Vec<u64>,
    shift: u32,
    /// Bit `right` of `cut[left]`: a token has these two bytes at the edge between two characters, and a part of one of them.
    cut: Vec<[u64; 4]>,
}

/// Where pieces of a vocabulary can be taken apart.
pub(crate) struct Splits {
    adjacent: Adjacent,
    /// The first and last characters of the tokens that are taken whole though merging does not make them, ascending.
    begins: Vec<char>,
    ends: Vec<char>,
}

impl Splits {
    /// From the characters that stand beside each other in tokens, and the first and last ones of tokens that are taken
    /// whole though merging does not make them.
    pub(crate) fn new(adjacent: Adjacent, mut begins: Vec<char>, mut ends: Vec<char>) -> Self {
        for characters in [&mut begins, &mut ends] {
            characters.sort_unstable();
            characters.dedup();
        }
        Self { adjacent, begins, ends }
    }

    /// Whether no token has the two characters beside each other, and none that is taken whole ends with the left one or
    /// begins with the right one.
    #[inline]
    pub(crate) fn are_apart(&self, left: char, right: char) -> bool {
        !self.adjacent.joins(left, right)
            && self.ends.binary_search(&left).is_err()
            && self.begins.binary_search(&right).is_err()
    }
}

impl Adjacent {
    /// The pairs in some tokens, which have so many bytes in all.
    pub(crate) fn new<'a>(tokens: impl Iterator<Item = &'a [u8]>, bytes: usize) -> Self {
        let bits = (bytes.saturating_mul(BITS_A_BYTE)).next_power_of_two().trailing_zeros().clamp(6, MOST_BITS);
        let seen = vec![0; 1 << (bits - 6)];
        let mut new = Self { ascii: Box::new([0; 128]), seen, shift: u64::BITS - bits, cut: vec![[0; 4]; 256] };
        for token in tokens {
            for (before, pair) in token.windows(2).enumerate() {
                if pair.is_ascii() {
                    new.ascii[usize::from(pair[0])] |= 1 << pair[1];
                } else if !is_continuation(pair[1]) {
                    new.insert(token, before + 1);
                }
            }
        }
        new
    }

    /// Enters the two characters between which `at` is.
    fn insert(&mut self, token: &[u8], at: usize) {
        let mut start = at - 1;
        while start > 0 && is_continuation(token[start]) && at - start < LONGEST {
            start -= 1;
        }
        let end = (at + length(token[at])).min(token.len());
        let (left, right) = (&token[start..at], &token[at..end]);
        if left.len() < length(left[0]) || is_continuation(left[0]) || right.len() < length(right[0]) {
            let (left, right) = (token[at - 1], token[at]);
            self.cut[usize::from(left)][usize::from(right >> 6)] |= 1 << (right & 63);
        }
        let (word, bit) = self.place(left, right);
        self.seen[word] |= 1 << bit;
    }

    /// Whether some token may have a character right before another one.
    #[inline]
    pub(crate) fn joins(&self, left: char, right: char) -> bool {
        if left.is_ascii() && right.is_ascii() {
            return self.ascii[left as usize] >> right as u32 & 1 == 1;
        }
        let mut spelled = [[0; LONGEST]; 2];
        let [before, after] = &mut spelled;
        let left = left.encode_utf8(before).as_bytes();
        let right = right.encode_utf8(after).as_bytes();
        self.has(left, right) || self.is_cut(left, right) && self.joins_parts(left, right)
    }

    #[inline]
    fn is_cut(&self, left: &[u8], right: &[u8]) -> bool {
        let (last, first) = (left[left.len() - 1], right[0]);
        self.cut[usize::from(last)][usize::from(first >> 6)] >> (first & 63) & 1 == 1
    }

    /// Whether a token begins inside of the left character, or ends inside of the right one, and has both sides of the
    /// edge.
    fn joins_parts(&self, left: &[u8], right: &[u8]) -> bool {
        (0..left.len()).any(|start| (1..=right.len()).any(|end| self.has(&left[start..], &right[..end])))
    }

    #[inline]
    fn has(&self, left: &[u8], right: &[u8]) -> bool {
        let (word, bit) = self.place(left, right);
        self.seen[word] >> bit & 1 == 1
    }

    /// Where the bit of two characters, or of their parts at the edge, is.
    #[inline]
    fn place(&self, left: &[u8], right: &[u8]) -> (usize, u32) {
        // A byte for the length keeps parts apart from characters whose first bytes are zero.
        let number =
            |bytes: &[u8]| bytes.iter().fold(bytes.len() as u64, |number, &byte| number << 8 | u64::from(byte));
        let hash = (number(left).wrapping_mul(SPREAD) ^ number(right)).wrapping_mul(SPREAD) >> self.shift;
        ((hash >> 6) as usize, hash as u32 & 63)
    }
}

#[inline]
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The bytes of the character that begins with this byte.
#[inline]
fn length(lead: u8) -> usize {
    match lead {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn no_pair_of_characters_in_a_token_is_missed() {
        let characters = ['a', 'b', '\u{7F}', 'é', 'ÿ', '中', '丮', '\u{D7FF}', '\u{E000}', '😀', '😁', '\u{10FFFF}'];
        let mut seed = 3_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let mut apart = 0;
        for _ in 0..300 {
            // Parts of texts, cut anywhere, and bytes that no text has.
            let tokens: Vec<Vec<u8>> = (0..random(12))
                .map(|_| {
                    let text: String = (0..4).map(|_| characters[random(characters.len())]).collect();
                    let start = random(text.len());
                    let mut token = text.as_bytes()[start..start + 1 + random(text.len() - start)].to_vec();
                    if random(9) == 0 {
                        token.insert(random(token.len()), random(256) as u8);
                    }
                    token
                })
                .collect();
            let bytes = tokens.iter().map(Vec::len).sum();
            let adjacent = Adjacent::new(tokens.iter().map(Vec::as_slice), bytes);
            for left in characters {
                for right in characters {
                    let text = format!("{left}{right}");
                    let edge = left.len_utf8();
                    // The definition: a token that can stand in a text over the edge between the two.
                    let is_over = |token: &Vec<u8>| {
                        (1..token.len()).any(|at| {
                            let (before, after) = token.split_at(at);
                            let ends = |whole: &[u8], part: &[u8]| whole.ends_with(part) || part.ends_with(whole);
                            let begins = |whole: &[u8], part: &[u8]| whole.starts_with(part) || part.starts_with(whole);
                            ends(&text.as_bytes()[..edge], before) && begins(&text.as_bytes()[edge..], after)
                        })
                    };
                    let joined = tokens.iter().any(is_over);
                    assert!(!joined || adjacent.joins(left, right), "{left:?} {right:?} {tokens:?}");
                    apart += usize::from(!adjacent.joins(left, right));
                }
            }
        }
        assert!(apart > 10_000, "{apart}");
    }

    #[test]
    fn few_pairs_look_like_others() {
        let text: Vec<char> = (0x4E00..0x9000).filter_map(char::from_u32).collect();
        let tokens: Vec<String> = text.windows(2).map(|pair| pair.iter().collect()).collect();
        let bytes = tokens.iter().map(String::len).sum();
        let adjacent = Adjacent::new(tokens.iter().map(String::as_bytes), bytes);
        let wrong = text.windows(3).filter(|three| adjacent.joins(three[0], three[2])).count();
        assert!(wrong * 20 < text.len(), "{wrong}");
    }
}
