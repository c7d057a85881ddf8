//! The hashes of tokens, of all their beginnings and ends, and of texts that grow.
//!
//! A hash is a polynomial in [`BASE`] whose first byte has the lowest power: the hash of a prefix follows from that of the
//! prefix before, and the hash of a suffix from that of the suffix behind. So both sides of all cuts of a token cost little
//! more than the token.

/// The base of the polynomial: odd, so that it has an inverse.
pub(super) const BASE: u64 = 0x9E37_79B9_7F4A_7C55;

/// The first powers of [`BASE`].
const POWERS: [u64; 64] = {
    let mut powers = [1; 64];
    let mut at = 1;
    while at < 64 {
        powers[at] = BASE.wrapping_mul(powers[at - 1]);
        at += 1;
    }
    powers
};

/// `BASE` to the 64th.
const NEXT_POWER: u64 = BASE.wrapping_mul(POWERS[63]);

/// Spreads a hash over its upper bits, which become the slot and the tag.
const SPREAD: u64 = 0xD6E8_FEB8_6659_FD93;

/// The hashes of some tokens, and of both sides of each of their cuts, one token after another.
#[derive(Default)]
pub(crate) struct Hashes {
    wholes: Vec<u64>,
    /// A row for each byte: the hash of what is before the place behind it, and of what is after that place. The last row of
    /// a token is no cut, and says that it is at 0.
    before: Vec<u64>,
    after: Vec<u64>,
    places: Vec<Place>,
    rows: usize,
}

/// A place in a token of a batch.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) token: u32,
    pub(super) at: u32,
}

impl Hashes {
    /// Hashes other tokens.
    pub(super) fn read(&mut self, tokens: &[&[u8]]) {
        self.rows = tokens.iter().map(|token| token.len()).sum();
        if self.before.len() < self.rows {
            self.before.resize(self.rows, 0);
            self.after.resize(self.rows, 0);
            self.places.resize(self.rows, Place::default());
        }
        self.wholes.clear();
        let mut first = 0;
        for (number, token) in (0..).zip(tokens) {
            let (rows, length) = (first..first + token.len(), token.len());
            first = rows.end;
            let (before, after) = (&mut self.before[rows.clone()], &mut self.after[rows.clone()]);
            let places = &mut self.places[rows];
            let (mut prefix, mut power, mut suffix) = (0_u64, 1_u64, 0_u64);
            for at in 0..length {
                prefix = prefix.wrapping_add((u64::from(token[at]) + 1).wrapping_mul(power));
                power = power.wrapping_mul(BASE);
                before[at] = prefix;
                places[at] = Place { token: number, at: at as u32 + 1 };
                after[length - 1 - at] = suffix;
                suffix = suffix.wrapping_mul(BASE).wrapping_add(u64::from(token[length - 1 - at]) + 1);
            }
            if let Some(place) = places.last_mut() {
                place.at = 0;
            }
            self.wholes.push(prefix);
        }
    }

    /// The hash of each token.
    #[inline]
    pub(super) fn wholes(&self) -> &[u64] {
        &self.wholes
    }

    /// Each cut and the hashes of its sides; behind those of each token one that is at 0, which is none.
    #[inline]
    pub(super) fn sides(&self) -> impl Iterator<Item = (Place, [u64; 2])> {
        let hashes = self.before.iter().zip(&self.after).map(|(&before, &after)| [before, after]);
        self.places.iter().copied().zip(hashes).take(self.rows)
    }
}

/// Appends the hash of each prefix of `token` that is not empty to `hashes`.
#[inline]
pub(super) fn extend(hashes: &mut Vec<u64>, token: &[u8]) {
    let mut hash = 0_u64;
    let mut factor = 1_u64;
    for bytes in token.chunks(POWERS.len()) {
        hashes.extend(bytes.iter().zip(&POWERS).map(|(&byte, power)| {
            hash = hash.wrapping_add((u64::from(byte) + 1).wrapping_mul(power.wrapping_mul(factor)));
            hash
        }));
        factor = factor.wrapping_mul(NEXT_POWER);
    }
}

/// The hash of a token.
pub(super) fn hash(token: &[u8]) -> u64 {
    let mut hash = 0_u64;
    let mut factor = 1_u64;
    for bytes in token.chunks(POWERS.len()) {
        let terms = bytes.iter().zip(&POWERS).map(|(&byte, power)| (u64::from(byte) + 1).wrapping_mul(*power));
        hash = hash.wrapping_add(factor.wrapping_mul(terms.fold(0, u64::wrapping_add)));
        factor = factor.wrapping_mul(NEXT_POWER);
    }
    hash
}

/// A rolling hash of bytes.
#[derive(Clone, Copy)]
pub(crate) struct Rolling {
    pub(super) hash: u64,
    /// The power of the next byte.
    power: u64,
}

impl Rolling {
    /// The hash of some bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        bytes.iter().fold(Self { hash: 0, power: 1 }, |rolling, &byte| rolling.pushed(byte))
    }

    /// The hash with one more byte.
    #[inline]
    pub(crate) fn pushed(self, byte: u8) -> Self {
        let Self { hash, power } = self;
        let hash = hash.wrapping_add((u64::from(byte) + 1).wrapping_mul(power));
        Self { hash, power: power.wrapping_mul(BASE) }
    }
}

/// A hash of three bytes in 16 bits.
#[inline]
pub(super) fn three(a: u8, b: u8, c: u8) -> usize {
    (u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9E37_79B1) >> 16) as usize
}

/// Every bit of the hash in the upper half and in the upper bits of the lower.
#[inline]
pub(super) fn spread(hash: u64) -> u64 {
    (hash ^ hash >> 32).wrapping_mul(SPREAD)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_hashes_of_both_sides_of_a_cut_are_those_of_the_sides() {
        let long = [7; 200];
        let tokens: [&[u8]; 4] = [b"tokens", b"t", &long, b"to"];
        let mut hashes = Hashes::default();
        for tokens in [&tokens[..], &tokens[..1]] {
            hashes.read(tokens);
            assert_eq!(hashes.wholes(), tokens.iter().map(|token| hash(token)).collect::<Vec<_>>());
            let mut sides = hashes.sides();
            for (number, token) in (0..).zip(tokens) {
                for cut in 1..=token.len() {
                    let (place, found) = sides.next().unwrap();
                    assert_eq!((place.token, place.at as usize), (number, cut % token.len()));
                    assert_eq!(found, [hash(&token[..cut]), hash(&token[cut..])]);
                }
            }
            assert!(sides.next().is_none());
        }
    }
}
