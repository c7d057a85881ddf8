//! The kinds of characters in a block of 64 bytes, as one mask of bits for each kind.

/// How many bytes are looked at together.
pub(super) const BLOCK: usize = 64;

/// For each kind of character, at which bytes of a block those of it begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Masks {
    pub(super) upper: u64,
    pub(super) lower: u64,
    /// Letters and marks that go with upper case and with lower case.
    pub(super) either: u64,
    /// Those of them that are marks, and go with what is `other` as well.
    pub(super) mark: u64,
    pub(super) digit: u64,
    /// White space, line ends among it.
    pub(super) space: u64,
    /// Line feed and carriage return.
    pub(super) line_end: u64,
    /// The space itself.
    pub(super) blank: u64,
    /// Neither letters, nor digits, nor white space.
    pub(super) other: u64,
    pub(super) apostrophe: u64,
    pub(super) slash: u64,
    /// Neither printed nor white space.
    pub(super) control: u64,
    /// The bytes of characters after their first.
    pub(super) inside: u64,
    /// Bytes, or characters, of which nothing is known.
    pub(super) unknown: u64,
}

impl Masks {
    /// The masks of ASCII, from functions for one byte and for a range of bytes, and the mask of bytes outside ASCII, of which
    /// nothing is known.
    #[inline(always)]
    pub(super) fn of(is: impl Fn(u8) -> u64, range: impl Fn(u8, u8) -> u64, beyond: u64) -> Self {
        let blank = is(b' ');
        let (upper, lower, digit) = (range(b'A', b'Z'), range(b'a', b'z'), range(b'0', b'9'));
        let space = range(b'\t', b'\r') | blank;
        Self {
            upper,
            lower,
            either: 0,
            mark: 0,
            digit,
            space,
            line_end: is(b'\n') | is(b'\r'),
            blank,
            other: !(upper | lower | digit | space | beyond),
            apostrophe: is(b'\''),
            slash: is(b'/'),
            control: range(0, 8) | range(14, 31) | is(127),
            inside: 0,
            unknown: beyond,
        }
    }

    /// These masks of ASCII with those of the characters beyond it, from the mask of their first bytes and those of their kinds, which
    /// have a bit at the first, the second or the third byte of a character, whichever told its kind.
    #[inline(always)]
    pub(super) fn and_beyond(&self, first: u64, kinds: [u64; 3]) -> Self {
        let second = first << 1;
        let third = !(first | second);
        let [lower, upper, other] = kinds.map(|kind| (kind | (kind & second) >> 1 | (kind & third) >> 2) & first);
        let either = lower & upper;
        Self {
            upper: self.upper | upper & !either,
            lower: self.lower | lower & !either,
            either,
            mark: either & other,
            other: self.other | other & !either,
            inside: self.unknown & !first,
            unknown: first & !(lower | upper | other),
            ..*self
        }
    }
}

/// Eight bytes at a time, for machines without wider registers.
#[inline(always)]
pub(super) fn portable(block: &[u8; BLOCK]) -> Masks {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    let (words, _) = block.as_chunks::<8>();
    let words: [u64; 8] = std::array::from_fn(|number| u64::from_le_bytes(words[number]));
    // The high bits of the bytes of each word, which the multiplication gathers.
    let mask = |of: &dyn Fn(u64) -> u64| {
        words
            .iter()
            .rev()
            .fold(0, |mask, &word| mask << 8 | ((of(word) & HIGH) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56)
    };
    let range = |first: u8, last: u8| {
        mask(&|word| {
            // The high bit of each byte that is at least `least`, for bytes below 128.
            let from = |least: u8| (word & !HIGH) + (0x80 - u64::from(least)) * ONES;
            from(first) & !from(last + 1) & !word
        })
    };
    Masks::of(|byte| range(byte, byte), range, mask(&|word| word))
}
