//! Lines of JSON: the text in one field of each.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Error, Kind, Result};
use crate::train::counts::OnInvalid;

/// An error names so many fields at most.
const MOST_NAMES: usize = 20;

/// The text in a field of an object, which is one line of JSON.
///
/// # Errors
/// `Training`, if the line is no object, or has no such field, or that is no text; `Encode`, if it holds half a surrogate
/// pair.
pub(super) fn field_of<'l>(line: &'l str, field: &str, on_invalid: OnInvalid) -> Result<Cow<'l, str>> {
    // What goes wrong at its end is not said to be in the next one.
    let line = line.trim_ascii_end();
    let mut parser = serde_json::Deserializer::from_str(line);
    // Of a text the parser takes control characters as they are, which JSON does not allow; white space is none of them.
    let controls = line.bytes().any(|byte| byte < b' ');
    let strict = if controls { serde_json::from_str::<IgnoredAny>(line).map(|_| ()) } else { Ok(()) };
    let read = strict.and_then(|()| parser.deserialize_map(Object { field }));
    let found = read.and_then(|found| parser.end().map(|()| found));
    let remedy = "each line has to be one JSON object; name the field that holds the text by field=";
    let bytes = found
        .map_err(|error| {
            let what = error.to_string();
            // There is one line here only.
            let what = what.replace(" at line 1 column", ", character");
            Error::new(Kind::Training, format!("not what a line of JSON should be: {what}")).remedy(remedy)
        })?
        .ok_or_else(|| Error::new(Kind::Training, format!("there is no field {field:?}")).remedy(known_fields(line)))?;
    match (bytes, on_invalid) {
        (Cow::Borrowed(bytes), _) if let Ok(text) = std::str::from_utf8(bytes) => Ok(Cow::Borrowed(text)),
        (bytes, OnInvalid::Raise) => String::from_utf8(bytes.into_owned()).map(Cow::Owned).map_err(|_| {
            Error::new(Kind::Encode, format!("the text in field {field:?} holds half a surrogate pair"))
                .remedy("pass errors=\"replace\" to have U+FFFD in its place")
        }),
        (bytes, OnInvalid::Replace) => Ok(Cow::Owned(one_for_each_surrogate(&bytes))),
    }
}

/// What to do about a field that is not there: choose one that is.
fn known_fields(line: &str) -> String {
    let object: Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
    let texts = object.iter().filter(|(_, value)| value.is_string()).map(|(name, _)| format!("{name:?}"));
    let mut names: Vec<_> = texts.take(MOST_NAMES + 1).collect();
    let more = if names.len() > MOST_NAMES { " and others" } else { "" };
    names.truncate(MOST_NAMES);
    if names.is_empty() {
        return "name the field that holds the text by field=...; this line has none with a string".to_owned();
    }
    format!("name the field that holds the text: field=... is one of {}{more}", names.join(", "))
}

/// Text in which each half of a surrogate pair, three bytes, becomes one U+FFFD.
fn one_for_each_surrogate(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // Of three invalid bytes in a row the first can only be the one that surrogates start with.
        if chunk.invalid().first() == Some(&0xED) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

/// An object, of which one field is read.
struct Object<'f> {
    field: &'f str,
}

impl<'l> Visitor<'l> for Object<'_> {
    type Value = Option<Cow<'l, [u8]>>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "an object with a text in the field {:?}", self.field)
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_it) = map.next_key_seed(Is(self.field))? {
            if !is_it {
                map.next_value::<IgnoredAny>()?;
            } else if found.replace(map.next_value_seed(Text)?).is_some() {
                return Err(A::Error::custom(format!("the field {:?} occurs twice", self.field)));
            }
        }
        Ok(found)
    }
}

/// Whether a key is this one.
struct Is<'f>(&'f str);

impl<'l> DeserializeSeed<'l> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'l>>(self, key: D) -> std::result::Result<bool, D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> std::result::Result<bool, E> {
        Ok(key == self.0)
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn text(line: &str) -> Result<Cow<'_, str>> {
        field_of(line, "text", OnInvalid::Raise)
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
            assert_eq!(text(line).unwrap_err().kind, Kind::Training, "{line}");
        }
        assert!(text(&"[".repeat(100_000)).is_err());
        assert!(text(&format!("{{\"a\": {}", "[".repeat(100_000))).is_err());
    }

    #[test]
    fn half_a_surrogate_pair_is_an_error_or_replaced() {
        let line = r#"{"text": "a\ud800b\udc00\udc00"}"#;
        assert_eq!(text(line).unwrap_err().kind, Kind::Encode);
        assert_eq!(field_of(line, "text", OnInvalid::Replace).unwrap(), "a\u{FFFD}b\u{FFFD}\u{FFFD}");
    }
}
