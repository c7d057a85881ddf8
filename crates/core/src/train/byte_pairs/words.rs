//! The words of a token: runs of bytes that are not white space of ASCII.

/// The words of a token, without its bytes: those of two tokens give those of both together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// How many there are, those that are cut off at either end counted as well.
    pub(super) number: usize,
    /// Whether the token begins inside a word.
    begins_inside: bool,
    /// Whether the token ends inside a word.
    ends_inside: bool,
}

impl Words {
    pub(super) fn of(token: &[u8]) -> Self {
        let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| !byte.is_ascii_whitespace());
        let number = token.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        Self { number, begins_inside: is_word(token.first()), ends_inside: is_word(token.last()) }
    }

    /// The words of this token and the one behind it.
    pub(super) fn followed_by(self, next: Self) -> Self {
        let shared = usize::from(self.ends_inside && next.begins_inside);
        Self { number: self.number + next.number - shared, ends_inside: next.ends_inside, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_parts_have_the_words_of_the_whole() {
        for text in ["by the way", " by  the\n", " ", "a", "\t.b ", "a\u{a0}b c"] {
            for cut in 1..text.len() {
                let (left, right) = text.as_bytes().split_at(cut);
                assert_eq!(Words::of(left).followed_by(Words::of(right)), Words::of(text.as_bytes()), "{text:?} {cut}");
            }
        }
        assert_eq!(Words::of(b" by the wa").number, 3);
    }
}
