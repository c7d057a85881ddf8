//! Text in units of one, two or four bytes a character, as Python stores it, to UTF-8.
//!
//! Characters of ASCII are narrowed, sixteen at a time. Of sixteen others each is made in all its lengths and then stored as four
//! bytes, of which the next one covers those that are too many: no branch depends on a character, since those of mixed text would
//! be mispredicted at every word. The compiler makes loops over registers of it; those of AVX2 are twice as wide, and those of
//! AVX-512 are written out (`units::x86`).
#![allow(unsafe_code, reason = "stores into reserved room, and calls of what the machine was asked for first")]

#[cfg(target_arch = "x86_64")]
mod x86;

use std::ops::{BitOr, Range};

use crate::error::{Error, Kind, Result};
use crate::memory::Room;
use crate::prefetch::prefetch_at;
#[cfg(target_arch = "x86_64")]
use crate::tier::{Tier, allows};

/// Characters that are narrowed at once, if all are ASCII.
const AT_ONCE: usize = 16;

/// The units this many bytes ahead are asked for.
const AHEAD: usize = 2048;

/// Characters that are counted at once, if all are ASCII.
const MEASURED_AT_ONCE: usize = 128;

/// Characters for which there is room whatever they are.
const BLOCK: usize = 1 << 13;

/// Characters by which the bytes of a text are estimated.
const LOOKED_AT: usize = 256;

/// There is room for a byte more for each so many characters to come.
const SPARE: usize = 64;

/// The most bytes that are stored at once, of which those that are too many may be behind the last character.
const STORED: usize = 64;

/// A text with one unit for each character, of which some may be surrogates.
#[derive(Clone, Copy, Debug)]
pub enum Units<'a> {
    /// Characters up to U+00FF.
    One(&'a [u8]),
    /// Characters up to U+FFFF.
    Two(&'a [u16]),
    /// All characters.
    Four(&'a [u32]),
}

/// Has the same done for each size of units.
macro_rules! for_each_size {
    ($sized:expr, $units:ident => $done:expr) => {
        match $sized {
            Units::One($units) => $done,
            Units::Two($units) => $done,
            Units::Four($units) => $done,
        }
    };
}

impl Units<'_> {
    /// How many characters there are.
    #[must_use]
    pub fn characters(&self) -> usize {
        for_each_size!(self, units => units.len())
    }

    /// Whether no unit is a surrogate.
    #[must_use]
    pub fn are_characters(&self) -> bool {
        for_each_size!(self, units => measure(units).are_characters)
    }

    /// About how many bytes of UTF-8 the text has: as if all of a long text were like its beginning, and as if a short one were
    /// ASCII.
    #[must_use]
    #[inline]
    pub fn about_bytes(&self) -> usize {
        let characters = self.characters();
        if characters <= LOOKED_AT {
            characters
        } else {
            let bytes = for_each_size!(self, units => measure(&units[..LOOKED_AT]).bytes);
            scaled(bytes, characters, LOOKED_AT).unwrap_or(0)
        }
    }

    /// The text in UTF-8.
    ///
    /// # Errors
    /// `Encode`, at the first unit that is no character; `Memory`, if there is no room for it.
    ///
    /// ```
    /// use bytepair_core::units::Units;
    /// let text: Vec<u16> = "世界!".encode_utf16().collect();
    /// assert_eq!(Units::Two(&text).text()?, "世界!");
    /// let error = Units::Two(&[0x4E16, 0xD800]).text().map_err(|error| (error.byte, error.character));
    /// assert_eq!(error.err(), Some((Some(3), Some(1))));
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn text(&self) -> Result<String> {
        let mut text = String::new();
        self.append(0..self.characters(), &mut text)?;
        Ok(text)
    }

    /// Appends some characters in UTF-8.
    ///
    /// # Errors
    /// As [`Units::text`], placed in the whole text; nothing is appended then.
    pub fn append(&self, characters: Range<usize>, text: &mut String) -> Result<()> {
        for_each_size!(self, units => {
            let (some, start) = (&units[characters], text.len());
            for (done, block) in (0..).step_by(BLOCK).zip(some.chunks(BLOCK)) {
                // Characters to come are taken to be like those so far, and some more, so that the text seldom grows again.
                let left = some.len() - done;
                let expected = scaled(text.len() - start, left, done).map_or(0, |bytes| bytes + left / SPARE);
                text.room(expected + block.len() * most(block) + STORED)?;
                // SAFETY: only the UTF-8 of characters is appended.
                if !append(block, unsafe { text.as_mut_vec() }) {
                    text.truncate(start);
                    return Err(no_character(units));
                }
            }
        });
        Ok(())
    }
}

/// `bytes * part / whole`, if there is a whole; the product may need more bits than the result.
fn scaled(bytes: usize, part: usize, whole: usize) -> Option<usize> {
    (bytes as u128 * part as u128).checked_div(whole as u128)?.try_into().ok()
}

/// The most bytes in UTF-8 of a character of this size.
fn most<T: Unit>(_: &[T]) -> usize {
    T::MOST
}

trait Unit: Copy + Into<u32> + From<u8> + BitOr<Output = Self> {
    /// The bytes in UTF-8 of a character of this size, at most.
    const MOST: usize;
}

impl Unit for u8 {
    const MOST: usize = 2;
}

impl Unit for u16 {
    const MOST: usize = 3;
}

impl Unit for u32 {
    const MOST: usize = 4;
}

/// The result of a pass over units.
struct Measured {
    /// The bytes of UTF-8, if all units are characters.
    bytes: usize,
    are_characters: bool,
}

impl Measured {
    /// Adds what some units have beyond a byte each.
    #[inline(always)]
    fn beyond_ascii<T: Unit>(&mut self, units: &[T]) {
        let (mut more, mut wrong) = (0_u32, 0_u32);
        for &unit in units {
            let unit: u32 = unit.into();
            more += u32::from(unit >= 0x80) + u32::from(unit >= 0x800) + u32::from(unit >= 0x1_0000);
            wrong |= u32::from(!is_character(unit));
        }
        self.bytes += more as usize;
        self.are_characters &= wrong == 0;
    }
}

#[inline(always)]
fn is_character(unit: u32) -> bool {
    unit & !0x7FF != 0xD800 && unit <= 0x10_FFFF
}

fn measure<T: Unit>(units: &[T]) -> Measured {
    #[cfg(target_arch = "x86_64")]
    if has_wide_registers() {
        // SAFETY: the machine has the feature that the function is compiled for.
        return unsafe { measure_wide(units) };
    }
    measure_plain(units)
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn has_wide_registers() -> bool {
    allows(Tier::Avx2) && is_x86_feature_detected!("avx2")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn measure_wide<T: Unit>(units: &[T]) -> Measured {
    measure_plain(units)
}

#[inline(always)]
fn measure_plain<T: Unit>(units: &[T]) -> Measured {
    let mut measured = Measured { bytes: units.len(), are_characters: true };
    let (chunks, rest) = units.as_chunks::<MEASURED_AT_ONCE>();
    for chunk in chunks {
        // Not a fold, which is a call where a build does not inline it.
        let mut all = T::from(0);
        for &unit in chunk {
            all = all | unit;
        }
        if all.into() >= 0x80 {
            measured.beyond_ascii(chunk);
        }
    }
    measured.beyond_ascii(rest);
    measured
}

/// The error for the first unit that is no character.
#[cold]
fn no_character(units: &[impl Unit]) -> Error {
    let character = units.iter().position(|&unit| !is_character(unit.into())).unwrap_or(units.len());
    let unit: u32 = units[character].into();
    let error = Error::new(Kind::Encode, format!("the text holds the lone surrogate '\\u{unit:04x}'")).or_replace();
    error.at(measure(&units[..character]).bytes).but(|error| error.character = Some(character))
}

/// Appends characters, for which there is room whatever they are, and for [`STORED`] bytes more; false, and at most those
/// before it are appended, if a unit is no character.
fn append<T: Unit>(units: &[T], text: &mut Vec<u8>) -> bool {
    #[cfg(target_arch = "x86_64")]
    if allows(Tier::Avx512) && x86::has_avx512() {
        // SAFETY: the machine has the features that the function is compiled for.
        return unsafe { x86::append(units, text) }.is_some_and(|rest| append_plain(rest, text));
    }
    #[cfg(target_arch = "x86_64")]
    if has_wide_registers() {
        // SAFETY: the machine has the feature that the function is compiled for.
        return unsafe { append_wide(units, text) };
    }
    append_plain(units, text)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn append_wide<T: Unit>(units: &[T], text: &mut Vec<u8>) -> bool {
    append_plain(units, text)
}

#[allow(clippy::needless_range_loop, reason = "iterators and closures are calls where a build does not inline them")]
#[inline(always)]
fn append_plain<T: Unit>(units: &[T], text: &mut Vec<u8>) -> bool {
    debug_assert!(text.capacity() - text.len() >= units.len() * T::MOST + STORED);
    // SAFETY: the place is within the vector's room.
    let mut to = unsafe { text.as_mut_ptr().add(text.len()) };
    let mut wrong = 0;
    let (chunks, rest) = units.as_chunks::<AT_ONCE>();
    for chunk in chunks {
        prefetch_at(chunk.as_ptr().wrapping_byte_add(AHEAD));
        let mut all = T::from(0);
        for &unit in chunk {
            all = all | unit;
        }
        if all.into() < 0x80 {
            let mut narrow = [0_u8; AT_ONCE];
            for at in 0..AT_ONCE {
                narrow[at] = chunk[at].into() as u8;
            }
            // SAFETY: the room is enough for what is left of the characters.
            unsafe {
                to.cast::<[u8; AT_ONCE]>().write_unaligned(narrow);
                to = to.add(AT_ONCE);
            }
        } else {
            let (mut bytes, mut lengths) = ([0_u32; AT_ONCE], [0_u32; AT_ONCE]);
            for at in 0..AT_ONCE {
                (bytes[at], lengths[at]) = utf8::<T>(chunk[at].into());
                wrong |= u32::from(!is_character(chunk[at].into()));
            }
            for at in 0..AT_ONCE {
                // SAFETY: as above, with a few bytes to spare for the last store.
                unsafe {
                    to.cast::<[u8; 4]>().write_unaligned(bytes[at].to_le_bytes());
                    to = to.add(lengths[at] as usize);
                }
            }
        }
    }
    for &unit in rest {
        let (bytes, length) = utf8::<T>(unit.into());
        wrong |= u32::from(!is_character(unit.into()));
        // SAFETY: as above.
        unsafe {
            to.cast::<[u8; 4]>().write_unaligned(bytes.to_le_bytes());
            to = to.add(length as usize);
        }
    }
    if wrong == 0 {
        // SAFETY: everything up to there is written, in the same room.
        unsafe { text.set_len(to.offset_from_unsigned(text.as_ptr())) };
    }
    wrong == 0
}

/// A character in UTF-8, from the lowest byte on, and the number of bytes.
#[inline(always)]
fn utf8<T: Unit>(unit: u32) -> (u32, u32) {
    let signed = unit.cast_signed();
    let mut bytes = if signed < 0x80 { unit } else { 0xC0 | unit >> 6 | (0x80 | unit & 0x3F) << 8 };
    let mut length = 1 + u32::from(signed >= 0x80);
    if T::MOST > 2 {
        let three = 0xE0 | unit >> 12 | (0x80 | unit >> 6 & 0x3F) << 8 | (0x80 | unit & 0x3F) << 16;
        bytes = if signed < 0x800 { bytes } else { three };
        length += u32::from(signed >= 0x800);
    }
    if T::MOST > 3 {
        let four = 0xF0
            | unit >> 18
            | (0x80 | unit >> 12 & 0x3F) << 8
            | (0x80 | unit >> 6 & 0x3F) << 16
            | (0x80 | unit & 0x3F) << 24;
        bytes = if signed < 0x1_0000 { bytes } else { four };
        length += u32::from(signed >= 0x1_0000);
    }
    (bytes, length)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// The text in the smallest units of those that can hold it, and in all larger ones.
    fn each_size(text: &str, check: impl Fn(Units)) {
        let four: Vec<u32> = text.chars().map(u32::from).collect();
        check(Units::Four(&four));
        if let Ok(two) = four.iter().map(|&unit| u16::try_from(unit)).collect::<std::result::Result<Vec<_>, _>>() {
            check(Units::Two(&two));
        }
        if let Ok(one) = four.iter().map(|&unit| u8::try_from(unit)).collect::<std::result::Result<Vec<_>, _>>() {
            check(Units::One(&one));
        }
    }

    #[test]
    fn every_character_is_as_char_encodes_it() {
        let all: String = ('\0'..=char::MAX).collect();
        each_size(&all, |units| assert!(units.text().unwrap() == all && units.are_characters()));
        for last in ['\0', '\x7F', '\u{80}', '\u{FF}', '\u{7FF}', '\u{800}', '\u{FFFF}', '\u{10000}', char::MAX] {
            for length in [1, 2, 15, 16, 17, 31, 32, 33, 100, 128, 300, BLOCK + 1] {
                for at in [0, length / 2, length - 1] {
                    let text: String = (0..length).map(|place| if place == at { last } else { 'a' }).collect();
                    each_size(&text, |units| {
                        assert_eq!((units.text().unwrap(), units.characters()), (text.clone(), length));
                        // In two parts, behind something else.
                        let mut joined = "é".to_owned();
                        units.append(0..at, &mut joined).unwrap();
                        units.append(at..length, &mut joined).unwrap();
                        assert_eq!(joined, format!("é{text}"));
                    });
                }
            }
        }
        each_size("", |units| assert_eq!(units.text().unwrap(), ""));
    }

    type Way<T> = fn(&[T], &mut Vec<u8>) -> bool;

    /// The texts that the ways of this machine append, the plain one first; None where one finds a unit that is no character.
    fn appended<T: Unit>(units: &[T]) -> Vec<Option<String>> {
        let mut ways: Vec<Way<T>> = vec![append_plain, append];
        #[cfg(target_arch = "x86_64")]
        if has_wide_registers() {
            // SAFETY: the machine has the feature that the function is compiled for.
            ways.push(|units, text| unsafe { append_wide(units, text) });
        }
        let with = |way: Way<T>| {
            let mut text = Vec::with_capacity(units.len() * T::MOST + STORED);
            way(units, &mut text).then(|| String::from_utf8(text).unwrap())
        };
        ways.into_iter().map(with).collect()
    }

    #[test]
    fn all_ways_append_the_same() {
        let mut seed = 3_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for round in 0..2_000 {
            let length = random(200) as usize;
            let rare = 1 + random(40);
            let four: Vec<u32> = (0..length)
                .map(|_| {
                    let most = [0x100, 0x800, 0x1_0000, 0x11_0000][random(4) as usize];
                    let below = if random(rare) == 0 { most } else { 0x80 };
                    let unit = random(below) as u32;
                    if is_character(unit) || round % 10 == 0 { unit } else { 0 }
                })
                .collect();
            let two: Vec<u16> = four.iter().map(|&unit| unit as u16).collect();
            let one: Vec<u8> = four.iter().map(|&unit| unit as u8).collect();
            let text = |units: &mut dyn Iterator<Item = u32>| units.map(char::from_u32).collect::<Option<String>>();
            for (expected, found) in [
                (text(&mut four.iter().copied()), appended(&four)),
                (text(&mut two.iter().copied().map(u32::from)), appended(&two)),
                (text(&mut one.iter().copied().map(u32::from)), appended(&one)),
            ] {
                assert!(found.iter().all(|found| *found == expected), "{four:?}");
            }
        }
    }

    #[test]
    fn what_is_no_character_is_found_where_it_is() {
        for wrong in [0xD800_u16, 0xDBFF, 0xDC00, 0xDFFF] {
            for length in [1, 16, 40, 100_000] {
                for at in [0, length / 2, length - 1] {
                    let mut units = vec![0xE9_u16; length];
                    units[at..].fill(wrong);
                    let wide: Vec<u32> = units.iter().copied().map(u32::from).collect();
                    for units in [Units::Two(&units), Units::Four(&wide)] {
                        let mut joined = "é".to_owned();
                        assert!(units.append(0..length, &mut joined).is_err());
                        let later = units.append(at..length, &mut joined).unwrap_err();
                        let error = units.text().unwrap_err();
                        assert_eq!((error.byte, error.character), (Some(2 * at), Some(at)));
                        assert!(error.what.ends_with(&format!("'\\u{wrong:x}'")), "{error}");
                        assert_eq!((later.byte, later.character, joined.as_str()), (error.byte, error.character, "é"));
                        assert!(!units.are_characters());
                    }
                }
            }
        }
        assert!(Units::Four(&[0x61, 0x11_0000]).text().is_err() && Units::Four(&[u32::MAX]).text().is_err());
        assert!(Units::Four(&[0xD7FF, 0xE000, 0x10_FFFF]).text().is_ok());
    }
}
