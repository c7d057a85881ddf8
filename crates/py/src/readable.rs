//! A text as UTF-8, and the places of its characters in the text that was given.

use std::borrow::Cow;
use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PySlice, PyString};

use crate::errors::in_row;
use crate::lists::{bytes as made_bytes, string};
use crate::options::OnInvalid;
use crate::strings::exact;
use crate::text::{Stored, invalid, is_high_surrogate, utf8};

/// U+FFFD in UTF-8.
const REPLACEMENT_BYTES: usize = 3;

/// A text as UTF-8 that knows the places of its characters in the given text.
pub(crate) struct Readable<'a> {
    pub(crate) text: Cow<'a, str>,
    units: Units,
}

/// The units in which places in the given text are counted.
enum Units {
    /// Bytes of the same UTF-8, or characters of ASCII.
    Same,
    /// Characters.
    Characters,
    /// Bytes or characters of a text that is not Unicode: for each character of the UTF-8, and for its end, the byte and
    /// the place in the given text.
    Replaced { places: Vec<(usize, usize)>, is_bytes: bool },
}

impl<'a> Readable<'a> {
    pub(crate) fn new(given: &'a Bound<'_, PyAny>, errors: OnInvalid) -> PyResult<Self> {
        let Ok(text) = given.cast::<PyString>() else { return Self::of_bytes(given, errors) };
        Ok(match Stored::of(text)?.utf8(text.py())? {
            Ok(text @ Cow::Borrowed(_)) => Self { text, units: Units::Same },
            Ok(text @ Cow::Owned(_)) => Self { text, units: Units::Characters },
            Err(error) => Self { text: Cow::Owned(invalid(text, error, errors)?), units: replaced_characters(given)? },
        })
    }

    /// The same for calls that come again for a text ([`lasting_utf8`]).
    pub(crate) fn lasting(given: &'a Bound<'_, PyAny>, errors: OnInvalid) -> PyResult<Self> {
        match given.cast::<PyString>().map(|text| text.to_str()) {
            Ok(Ok(text)) => {
                let units = if text.is_ascii() { Units::Same } else { Units::Characters };
                Ok(Self { text: Cow::Borrowed(text), units })
            }
            _ => Self::new(given, errors),
        }
    }

    /// The texts of a batch; an error says which one is at fault.
    pub(crate) fn all(given: &'a [Bound<'_, PyAny>], errors: OnInvalid, lasts: bool) -> PyResult<Vec<Self>> {
        let read = if lasts { Self::lasting } else { Self::new };
        let rows = given.iter().enumerate();
        rows.map(|(row, text)| read(text, errors).map_err(|error| in_row(text.py(), error, row))).collect()
    }

    fn of_bytes(given: &'a Bound<'_, PyAny>, errors: OnInvalid) -> PyResult<Self> {
        let text = utf8(given, errors)?;
        let units = match (&text, given.cast::<PyBytes>()) {
            (Cow::Owned(_), Ok(bytes)) => replaced_bytes(bytes.as_bytes()),
            _ => Units::Same,
        };
        Ok(Self { text, units })
    }

    /// Bytes with U+FFFD in place of each maximal part that is not UTF-8.
    pub(crate) fn lossy(bytes: &'a [u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let units = match text {
            Cow::Borrowed(_) => Units::Same,
            Cow::Owned(_) => replaced_bytes(bytes),
        };
        Self { text, units }
    }

    /// Converts places; those near the last one are fast.
    pub(crate) fn places(&self) -> Places<'_> {
        Places { readable: self, byte: 0, character: 0 }
    }

    /// The part of the given text that a range of bytes of the UTF-8 stands for.
    pub(crate) fn part<'py>(&self, given: &Bound<'py, PyAny>, range: Range<usize>) -> PyResult<Bound<'py, PyAny>> {
        if range == (0..self.text.len()) {
            return Ok(given.clone());
        }
        let py = given.py();
        if let Units::Replaced { .. } = self.units {
            let mut places = self.places();
            let (start, end) = (places.given(range.start), places.given(range.end));
            if let Ok(bytes) = given.cast::<PyBytes>() {
                return Ok(made_bytes(py, &bytes.as_bytes()[start..end])?.into_any());
            }
            return exact(given.cast()?)?.get_item(PySlice::new(py, start.cast_signed(), end.cast_signed(), 1));
        }
        let part = &self.text[range];
        Ok(if given.is_instance_of::<PyBytes>() {
            made_bytes(py, part.as_bytes())?.into_any()
        } else {
            string(py, part)?.into_any()
        })
    }

    /// For each character that U+FFFD or a joined surrogate pair stands for, the place behind it, counted as the given text
    /// but in the UTF-8, and how much longer the given text is there.
    pub(crate) fn shifts(&self) -> impl Iterator<Item = (usize, isize)> {
        let (places, is_bytes) = match &self.units {
            Units::Replaced { places, is_bytes } => (places.as_slice(), *is_bytes),
            Units::Same | Units::Characters => (&[][..], false),
        };
        places.windows(2).enumerate().filter_map(move |(character, pair)| {
            let length = if is_bytes { pair[1].0 - pair[0].0 } else { 1 };
            let longer = (pair[1].1 - pair[0].1).cast_signed() - length.cast_signed();
            let behind = if is_bytes { pair[1].0 } else { character + 1 };
            (longer != 0).then_some((behind, longer))
        })
    }

    /// The places of a text that is not Unicode, as `Units::Replaced` has them.
    pub(crate) fn into_replaced(self) -> Option<(String, Vec<(usize, usize)>)> {
        match self.units {
            Units::Replaced { places, .. } => Some((self.text.into_owned(), places)),
            Units::Same | Units::Characters => None,
        }
    }
}

/// Converts places between bytes of the UTF-8 and units of the given text.
pub(crate) struct Places<'a> {
    readable: &'a Readable<'a>,
    /// A byte and the character there.
    byte: usize,
    character: usize,
}

impl Places<'_> {
    /// The place in the given text of a byte at which a character starts or the text ends.
    pub(crate) fn given(&mut self, byte: usize) -> usize {
        match &self.readable.units {
            Units::Same => byte,
            Units::Replaced { places, .. } => {
                let at = places.partition_point(|&(known, _)| known < byte);
                places.get(at).map_or(0, |&(_, given)| given)
            }
            Units::Characters => {
                let bytes = self.readable.text.as_bytes();
                let is_start = |byte: &&u8| **byte & 0xC0 != 0x80;
                if byte >= self.byte {
                    self.character += bytes[self.byte..byte].iter().filter(is_start).count();
                } else {
                    self.character -= bytes[byte..self.byte].iter().filter(is_start).count();
                }
                self.byte = byte;
                self.character
            }
        }
    }

    /// The byte of a place in the given text, if a character starts or the text ends there. Places do not go back.
    pub(crate) fn byte(&mut self, given: usize) -> Option<usize> {
        let text = &*self.readable.text;
        match &self.readable.units {
            Units::Same => text.is_char_boundary(given).then_some(given),
            Units::Replaced { places, .. } => byte_of(places, given),
            Units::Characters => {
                let rest = &text[self.byte..];
                let skipped = given.checked_sub(self.character)?;
                let ahead = rest.char_indices().map(|(byte, _)| byte).chain([rest.len()]).nth(skipped)?;
                (self.byte, self.character) = (self.byte + ahead, given);
                Some(self.byte)
            }
        }
    }
}

/// The byte of a place in a given text that is not Unicode, if a character starts or the text ends there.
pub(crate) fn byte_of(places: &[(usize, usize)], given: usize) -> Option<usize> {
    let found = places.binary_search_by_key(&given, |&(_, given)| given).ok()?;
    places.get(found).map(|&(byte, _)| byte)
}

fn replaced_bytes(bytes: &[u8]) -> Units {
    let (mut places, mut byte, mut given) = (Vec::new(), 0, 0);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            places.push((byte, given));
            byte += character.len_utf8();
            given += character.len_utf8();
        }
        if !chunk.invalid().is_empty() {
            places.push((byte, given));
            byte += REPLACEMENT_BYTES;
            given += chunk.invalid().len();
        }
    }
    places.push((byte, given));
    Units::Replaced { places, is_bytes: true }
}

/// The places of a `str` with surrogates, of which two halves that meet are one character.
fn replaced_characters(given: &Bound<'_, PyAny>) -> PyResult<Units> {
    let encoded = exact(given.cast()?)?.call_method1("encode", ("utf-32-le", "surrogatepass"))?;
    let encoded = encoded.cast::<PyBytes>()?;
    let mut units =
        encoded.as_bytes().chunks_exact(4).map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]));
    let (mut places, mut byte, mut given) = (Vec::new(), 0, 0);
    let mut next = units.next();
    while let Some(unit) = next {
        places.push((byte, given));
        next = units.next();
        given += 1;
        byte += char::from_u32(unit).map_or(REPLACEMENT_BYTES, char::len_utf8);
        if is_high_surrogate(unit) && next.is_some_and(|unit| (0xDC00..0xE000).contains(&unit)) {
            next = units.next();
            given += 1;
            byte += 1;
        }
    }
    places.push((byte, given));
    Ok(Units::Replaced { places, is_bytes: false })
}
