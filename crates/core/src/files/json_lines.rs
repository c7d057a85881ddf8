//! Lines of JSON: the text in one field of each, and the id in another.
//!
//! Only the requested fields are kept. Text without escapes is copied once, to its final place.
//!
//! Long because a third of it is tests, and because the parser wants a visitor for each kind of value.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Error, Kind, Result};
use crate::utf8::{self, OnInvalid};

/// The most fields that an error names.
const MOST_NAMES: usize = 20;

const MARK: &[u8] = "\u{FEFF}".as_bytes();

/// The fields to read of each line.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'f> {
    /// The field of the text.
    pub text: &'f str,
    /// The field of the id, if lines have ids; not the field of the text.
    pub id: Option<&'f str>,
}

/// The fields of one line.
pub(crate) struct Line<'l> {
    pub(crate) text: Cow<'l, str>,
    /// Empty if the line has none.
    pub(crate) id: Cow<'l, str>,
}

/// Texts or ids, one after another, and their ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// All of them.
    pub data: Vec<u8>,
    /// The end of each.
    pub ends: Vec<usize>,
}

impl Column {
    fn push(&mut self, text: &str) {
        self.data.extend_from_slice(text.as_bytes());
        self.ends.push(self.data.len());
    }
}

/// The fields of some lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The text of each line that has one.
    pub texts: Column,
    /// The id of each of them; empty if ids are not read.
    pub ids: Column,
    /// The start of the line of each text.
    pub starts: Vec<usize>,
    /// The faulty lines, without their line ends.
    pub faults: Vec<(Range<usize>, Error)>,
}

/// Reads whole lines; the last one may lack its end. Lines of white space are skipped, and a byte order
/// mark before the `first` line of a file.
///
/// A fault is `Format`, if a line is no object, has no such field, or that is no text or no id; `Encode`, if it is not
/// UTF-8, with the byte in the line, or holds half a surrogate pair.
///
/// ```
/// use bytepair_core::files::json_lines::{Wanted, fields};
/// use bytepair_core::utf8::OnInvalid;
/// let lines = b"{\"text\": \"low\", \"n\": 7}\n\n[]\n{\"text\": \"er\"}";
/// let read = fields(lines, Wanted { text: "text", id: Some("n") }, OnInvalid::Raise, true);
/// assert_eq!((&read.texts.data[..], &read.texts.ends[..], &read.starts[..]), (&b"lower"[..], &[3, 5][..], &[0, 28][..]));
/// assert_eq!((&read.ids.data[..], &read.ids.ends[..]), (&b"7"[..], &[1, 1][..]));
/// assert_eq!(read.faults[0].0, 25..27);
/// ```
#[must_use]
pub fn fields(data: &[u8], wanted: Wanted, on_invalid: OnInvalid, first: bool) -> Fields {
    let mut read = Fields::default();
    read.texts.data.reserve(data.len());
    let mut start = 0;
    while start < data.len() {
        let end = memchr::memchr(b'\n', &data[start..]).map_or(data.len(), |at| start + at);
        let whole = &data[start..end];
        let line = if first && start == 0 { whole.strip_prefix(MARK).unwrap_or(whole) } else { whole };
        if !line.trim_ascii().is_empty() {
            let text = on_invalid.text(line).map_err(|error| error.shifted(whole.len() - line.len()));
            match text.as_ref().map_err(Error::clone).and_then(|text| line_of(text, wanted, on_invalid)) {
                Ok(Line { text, id }) => {
                    read.texts.push(&text);
                    read.starts.push(start);
                    if wanted.id.is_some() {
                        read.ids.push(&id);
                    }
                }
                Err(error) => read.faults.push((start..end, error)),
            }
        }
        start = end + 1;
    }
    read
}

/// The text and the id in one line, which is an object.
///
/// # Errors
/// `Format`, if it is none, has no field with a text, or that is no text; `Encode`, if it holds half a surrogate pair.
pub(crate) fn line_of<'l>(line: &'l str, wanted: Wanted, on_invalid: OnInvalid) -> Result<Line<'l>> {
    // An error at its end must not be reported in the next line.
    let line = line.trim_ascii_end();
    // The parser accepts control characters in a text, which JSON does not allow; white space is none of them.
    let controls = line.bytes().any(|byte| byte < b' ');
    let strict = if controls { serde_json::from_str::<IgnoredAny>(line).map(|_| ()) } else { Ok(()) };
    let parse = |id_is_text| {
        let mut parser = serde_json::Deserializer::from_str(line);
        let found = parser.deserialize_map(Object { wanted, id_is_text })?;
        parser.end().map(|()| found)
    };
    let read = strict.and_then(|()| {
        parse(false).or_else(|error| {
            // An id of any type cannot be read as half a surrogate pair.
            if wanted.id.is_some() { parse(true).map_err(|_| error) } else { Err(error) }
        })
    });
    let remedy = "write one JSON object a line; field=\"NAME\" names the field that holds the text";
    let cli_remedy = "write one JSON object a line; --field NAME names the field that holds the text";
    let Found { text, id } = read.map_err(|error| {
        let what = error.to_string();
        // There is one line here only.
        let what = what.replace(" at line 1 column", ", character");
        Error::new(Kind::Format, format!("cannot read the line as a JSON object: {what}"))
            .remedy(remedy)
            .cli_remedy(cli_remedy)
    })?;
    let text = text.ok_or_else(|| {
        let known = known_fields(line);
        Error::new(Kind::Format, format!("there is no field {:?}", wanted.text))
            .remedy(format!("pass field=\"NAME\" with the field that holds the text{known}"))
            .cli_remedy(format!("--field NAME names the field that holds the text{known}"))
    })?;
    let text = in_unicode(text, "text", wanted.text, on_invalid)?;
    let id = in_unicode(id.unwrap_or_default(), "id", wanted.id.unwrap_or_default(), on_invalid)?;
    Ok(Line { text, id })
}

/// Text in which the parser left halves of surrogate pairs.
fn in_unicode<'l>(bytes: Cow<'l, [u8]>, what: &str, field: &str, on_invalid: OnInvalid) -> Result<Cow<'l, str>> {
    let bytes = match bytes {
        Cow::Borrowed(bytes) => match utf8::text(bytes) {
            Ok(text) => return Ok(Cow::Borrowed(text)),
            Err(_) => bytes.to_vec(),
        },
        Cow::Owned(bytes) => bytes,
    };
    match (String::from_utf8(bytes), on_invalid) {
        (Ok(text), _) => Ok(Cow::Owned(text)),
        (Err(_), OnInvalid::Raise) => {
            Err(Error::new(Kind::Encode, format!("the {what} in field {field:?} holds half a surrogate pair"))
                .or_replace())
        }
        (Err(error), OnInvalid::Replace) => Ok(Cow::Owned(one_for_each_surrogate(error.as_bytes()))),
    }
}

/// The fields that could hold the text instead, as the end of a remedy.
fn known_fields(line: &str) -> String {
    let object: Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
    let texts = object.iter().filter(|(_, value)| value.is_string()).map(|(name, _)| format!("{name:?}"));
    let mut names: Vec<_> = texts.take(MOST_NAMES + 1).collect();
    let more = if names.len() > MOST_NAMES { " and others" } else { "" };
    names.truncate(MOST_NAMES);
    if names.is_empty() {
        return "; this line has none with a string".to_owned();
    }
    format!(", one of {}{more}", names.join(", "))
}

/// Text in which each half of a surrogate pair, three bytes, becomes one U+FFFD.
fn one_for_each_surrogate(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // The first of three invalid bytes in a row can only be the first byte of an encoded surrogate.
        if chunk.invalid().first() == Some(&0xED) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

/// An object, of which these fields are read.
struct Object<'f> {
    wanted: Wanted<'f>,
    /// Whether the id is known to be a string.
    id_is_text: bool,
}

/// The values of these fields, if they are there.
struct Found<'l> {
    text: Option<Cow<'l, [u8]>>,
    id: Option<Cow<'l, [u8]>>,
}

impl<'l> Visitor<'l> for Object<'_> {
    type Value = Found<'l>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "an object with a text in the field {:?}", self.wanted.text)
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let mut found = Found { text: None, id: None };
        while let Some(key) = map.next_key_seed(Which(self.wanted))? {
            let (before, field) = match key {
                Key::Text => (found.text.replace(map.next_value_seed(Text)?), self.wanted.text),
                Key::Id if self.id_is_text => (found.id.replace(map.next_value_seed(Text)?), self.field_of_id()),
                Key::Id => (found.id.replace(map.next_value_seed(Id)?), self.field_of_id()),
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if before.is_some() {
                return Err(A::Error::custom(format!("the field {field:?} occurs twice")));
            }
        }
        Ok(found)
    }
}

impl<'f> Object<'f> {
    fn field_of_id(&self) -> &'f str {
        self.wanted.id.unwrap_or_default()
    }
}

/// The field that a key names.
enum Key {
    Text,
    Id,
    Other,
}

/// Compares a key with the two fields.
struct Which<'f>(Wanted<'f>);

impl<'l> DeserializeSeed<'l> for Which<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'l>>(self, key: D) -> std::result::Result<Key, D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for Which<'_> {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> std::result::Result<Key, E> {
        Ok(if key == self.0.text {
            Key::Text
        } else if self.0.id == Some(key) {
            Key::Id
        } else {
            Key::Other
        })
    }
}

/// A text as bytes, in which the parser leaves halves of surrogate pairs.
struct Text;

impl<'l> DeserializeSeed<'l> for Text {
    type Value = Cow<'l, [u8]>;

    fn deserialize<D: Deserializer<'l>>(self, value: D) -> std::result::Result<Self::Value, D::Error> {
        value.deserialize_bytes(self)
    }
}

impl<'l> Visitor<'l> for Text {
    type Value = Cow<'l, [u8]>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'l [u8]) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Borrowed(bytes))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Owned(bytes.to_vec()))
    }
}

/// An id: a string, an integer, which is written in decimal, or null, which is none.
struct Id;

impl<'l> DeserializeSeed<'l> for Id {
    type Value = Cow<'l, [u8]>;

    fn deserialize<D: Deserializer<'l>>(self, value: D) -> std::result::Result<Self::Value, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'l> Visitor<'l> for Id {
    type Value = Cow<'l, [u8]>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an id, which is a string or an integer of 64 bits")
    }

    fn visit_borrowed_str<E>(self, text: &'l str) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Borrowed(text.as_bytes()))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Owned(text.as_bytes().to_vec()))
    }

    fn visit_u64<E>(self, number: u64) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string().into_bytes()))
    }

    fn visit_i64<E>(self, number: i64) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string().into_bytes()))
    }

    fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Borrowed(&[]))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const WANTED: Wanted = Wanted { text: "text", id: None };
    const WITH_IDS: Wanted = Wanted { text: "text", id: Some("id") };

    fn text(line: &str) -> Result<Cow<'_, str>> {
        line_of(line, WANTED, OnInvalid::Raise).map(|line| line.text)
    }

    #[test]
    fn the_field_is_found_wherever_it_stands() {
        for (line, expected) in [
            (r#"{"text": "a b"}"#, "a b"),
            (r#" {"id": 7, "more": {"text": [1, "x"]}, "text": "\u00e9\n\"\ud83d\ude00"} "#, "é\n\"😀"),
            (r#"{"t\u0065xt": ""}"#, ""),
            ("{\t\"text\":\t\"a\"}\r\n", "a"),
        ] {
            assert_eq!(text(line).unwrap(), expected);
        }
        assert!(matches!(text(r#"{"text": "plain"}"#).unwrap(), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_no_such_line_is_an_error() {
        for line in [
            "",
            "[]",
            r#""text""#,
            "{",
            "{}",
            r#"{"text": 1}"#,
            r#"{"text": null}"#,
            r#"{"text": ["a"]}"#,
            r#"{"text": "a"} x"#,
            "{\"text\": \"a\tb\"}",
            r#"{"text": "a", "text": "b"}"#,
            r#"{"Text": "a"}"#,
        ] {
            assert_eq!(text(line).unwrap_err().kind, Kind::Format, "{line}");
        }
        assert!(text(&"[".repeat(100_000)).is_err());
        assert!(text(&format!("{{\"a\": {}", "[".repeat(100_000))).is_err());
    }

    #[test]
    fn half_a_surrogate_pair_is_an_error_or_replaced() {
        let line = r#"{"text": "a\ud800b\udc00\udc00"}"#;
        assert_eq!(text(line).unwrap_err().kind, Kind::Encode);
        assert_eq!(line_of(line, WANTED, OnInvalid::Replace).unwrap().text, "a\u{FFFD}b\u{FFFD}\u{FFFD}");
    }

    #[test]
    fn ids_are_strings_integers_or_nothing() {
        for (id, expected) in [
            (r#""a\u00e9""#, Some("aé")),
            (r#""plain""#, Some("plain")),
            ("18446744073709551615", Some("18446744073709551615")),
            ("-9223372036854775808", Some("-9223372036854775808")),
            ("null", Some("")),
            ("18446744073709551616", None),
            ("1.0", None),
            ("true", None),
            (r#"["a"]"#, None),
            (r#"{"id": 1}"#, None),
            (r#"1, "id": 2"#, None),
        ] {
            for line in [format!(r#"{{"text": "t", "id": {id}}}"#), format!(r#"{{"id": {id}, "text": "t"}}"#)] {
                let read = line_of(&line, WITH_IDS, OnInvalid::Raise);
                assert_eq!(read.as_ref().ok().map(|line| &*line.id), expected, "{line}");
                assert!(read.err().is_none_or(|error| error.kind == Kind::Format));
            }
        }
        let half = r#"{"text": "t", "id": "a\ud800"}"#;
        assert_eq!(line_of(half, WITH_IDS, OnInvalid::Raise).err().unwrap().kind, Kind::Encode);
        assert_eq!(line_of(half, WITH_IDS, OnInvalid::Replace).unwrap().id, "a\u{FFFD}");
        assert_eq!(line_of(r#"{"text": "t"}"#, WITH_IDS, OnInvalid::Raise).unwrap().id, "");
    }

    #[test]
    fn lines_are_told_apart_and_placed() {
        let data = b"\xEF\xBB\xBF{\"text\": \"a\"}\r\n \n\xEF\xBB\xBF{}\n{\"text\": \"\xFF\"}\n{\"text\": \"b\"}";
        let read = fields(data, WANTED, OnInvalid::Raise, true);
        assert_eq!((read.texts.data, read.texts.ends, read.starts), (b"ab".to_vec(), vec![1, 2], vec![0, 40]));
        let faults: Vec<_> = read.faults.iter().map(|(range, error)| (range.clone(), error.byte)).collect();
        assert_eq!(faults, [(20..25, None), (26..39, Some(10))]);
        assert_eq!(fields(data, WANTED, OnInvalid::Replace, false).faults.len(), 2);
        assert_eq!(fields(b"", WANTED, OnInvalid::Raise, true), Fields::default());
    }
}
