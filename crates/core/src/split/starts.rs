//! The bytes that a match may start with, and the search for the next of them.

/// One is mostly within so many bytes, which are looked at one by one, or far away.
const NEAR: usize = 16;

/// So many bytes are looked at together.
const CHUNK: usize = 32;

/// A set of bytes.
pub(super) struct Starts {
    set: Box<[bool; 256]>,
    /// Two ranges of ASCII that have all of it that is in the set: the first byte, and how many there are.
    ranges: [(u8, u8); 2],
}

impl Starts {
    pub(super) fn new(set: [bool; 256]) -> Self {
        let ascii: Vec<u8> = (0..128).filter(|&byte| set[usize::from(byte)]).collect();
        // With the widest gap between them.
        let cut = (1..ascii.len()).max_by_key(|&at| ascii[at] - ascii[at - 1]).unwrap_or(ascii.len());
        let (first, second) = ascii.split_at(cut);
        let range = |part: &[u8]| match *part {
            [low, .., high] => (low, high - low + 1),
            [only] => (only, 1),
            [] => (0, 0),
        };
        Self { set: Box::new(set), ranges: [range(first), range(second)] }
    }

    #[inline]
    pub(super) fn has(&self, byte: u8) -> bool {
        self.set[usize::from(byte)]
    }

    /// The place of the first one in some bytes, or how many there are.
    #[inline]
    pub(super) fn next(&self, bytes: &[u8]) -> usize {
        let near = bytes.iter().take(NEAR).take_while(|&&byte| !self.has(byte)).count();
        if near < NEAR { near } else { self.next_beyond(bytes) }
    }

    /// The same where none is near.
    fn next_beyond(&self, bytes: &[u8]) -> usize {
        let mut at = NEAR;
        let [first, second] = self.ranges;
        let is_in = |byte: u8, (low, count): (u8, u8)| u8::from(byte.wrapping_sub(low) < count);
        while let Some(chunk) = bytes[at..].first_chunk::<CHUNK>() {
            // All of them, so that the loop has no branch.
            let any = chunk
                .iter()
                .fold(0, |any, &byte| any | is_in(byte, first) | is_in(byte, second) | u8::from(!byte.is_ascii()));
            if any != 0
                && let Some(place) = chunk.iter().position(|&byte| self.has(byte))
            {
                return at + place;
            }
            at += CHUNK;
        }
        let rest = bytes[at..].iter().position(|&byte| self.has(byte));
        rest.map_or(bytes.len(), |place| at + place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_one_is_found_at_any_distance() {
        let sets: [&dyn Fn(u8) -> bool; 5] = [
            &|_| false,
            &|byte| byte == b'\n' || byte == b'\r',
            &|byte| byte.is_ascii_digit() || byte == 0xD9,
            &|byte| byte.is_ascii_punctuation() || byte >= 0xE0,
            &|byte| byte == 0 || byte == 127,
        ];
        for is_in in sets {
            let starts = Starts::new(std::array::from_fn(|byte| is_in(byte as u8)));
            for other in (0..=255).filter(|&byte| !is_in(byte)) {
                for length in [0, 1, 15, 16, 17, 47, 48, 49, 100] {
                    assert_eq!(starts.next(&vec![other; length]), length);
                    for one in (0..=255).filter(|&byte| is_in(byte)) {
                        let mut bytes = vec![other; length];
                        bytes.push(one);
                        bytes.extend([one, other]);
                        assert_eq!(starts.next(&bytes), length, "{one} behind {other}");
                    }
                }
            }
        }
    }
}
