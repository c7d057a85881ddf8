//! The vocabulary and the merges of a `tokenizer.json`, read in one pass over its text and without an object for each.
//!
//! Only what usual files have is read: whatever else there is, a fault included, is left to a reader that names it. So is
//! everything but the two, which are cut out of the text.

use std::ops::Range;

use crate::files::{Merges, Texts, Vocabulary, decimal};
use crate::vocab::NO_ID;

/// More digits than the greatest id has.
const DIGITS: usize = 11;

/// The most digits of a whole number that 53 bits hold, whatever they are.
const EXACT_DIGITS: usize = 15;

/// The tokens of the model in a `tokenizer.json`.
#[derive(Debug)]
pub struct JsonModel {
    /// The tokens with their ids: those that the file gives, or their places in a list.
    pub vocab: Vocabulary,
    /// The scores of a list.
    pub scores: Option<Vec<f64>>,
    /// The merges, if there is a list of them.
    pub merges: Option<Merges>,
    /// Whether merges are lists of two, and not two tokens with a space between.
    pub merges_are_lists: bool,
    /// Where the text of the file has these two.
    pub holes: Vec<Range<usize>>,
}

/// Reads the members `vocab` and `merges` of the member `model` of an object; None if anything about them is unusual. What
/// stands elsewhere in the text need not be JSON. Scores are read as `tokenizers` reads them, or exactly.
///
/// ```
/// let text = r#"{"model": {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}"#;
/// let model = bytepair_core::files::json_model::read(text, false).unwrap();
/// assert_eq!((model.vocab.place("ab"), model.merges.unwrap().get(0)), (Some(2), ("a", "b")));
/// assert_eq!(model.holes.iter().map(|hole| &text[hole.clone()]).collect::<Vec<_>>(), [r#"{"a": 0, "b": 1, "ab": 2}"#, r#"["a b"]"#]);
/// ```
#[must_use]
pub fn read(text: &str, exact_scores: bool) -> Option<JsonModel> {
    if u32::try_from(text.len()).is_err() {
        return None;
    }
    let mut scanner = Scanner { text, at: 0, exact_scores };
    if !scanner.finds_in_object("model")? {
        return None;
    }
    scanner.model()
}

/// The tokens of a vocabulary and what stands with each.
enum Tokens {
    Object(Texts, Vec<u32>),
    List(Texts, Vec<f64>),
}

/// A place in a text of JSON. Each method reads what it is named for, and returns None if something else is there.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    exact_scores: bool,
}

impl<'a> Scanner<'a> {
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// The next byte that is not white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Whether there is another element, the first or one behind a comma; else the closing byte is taken.
    #[inline]
    fn goes_on(&mut self, first: &mut bool, close: u8) -> Option<bool> {
        let is_first = std::mem::replace(first, false);
        let next = self.peek()?;
        if next == close {
            self.at += 1;
            return Some(false);
        }
        if is_first {
            return Some(true);
        }
        self.take(b',')?;
        // No comma is the last thing before the end.
        (self.peek()? != close).then_some(true)
    }

    /// Goes to the value of the first member of this name, which is spelled without escapes; false if there is none.
    fn finds_in_object(&mut self, name: &str) -> Option<bool> {
        self.take(b'{')?;
        let mut first = true;
        while self.goes_on(&mut first, b'}')? {
            if self.name()? == name {
                return Some(true);
            }
            self.skip()?;
        }
        Some(false)
    }

    /// A member's name as it is spelled, and the colon.
    fn name(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let start = self.at;
        self.skip_string()?;
        let end = self.at - 1;
        self.take(b':')?;
        Some(&self.text[start..end])
    }

    /// To behind the closing quote of a string whose opening one was taken.
    fn skip_string(&mut self) -> Option<()> {
        loop {
            match *self.bytes().get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    /// To behind a value, of which no more is checked than where it ends.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    self.skip_string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' if depth == 0 => return None,
                b',' | b':' => self.at += 1,
                _ => {
                    let rest = &self.bytes()[self.at..];
                    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
                    self.at += length.count().max(1);
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// A string, appended to a text.
    #[inline]
    fn string(&mut self, into: &mut String) -> Option<()> {
        self.take(b'"')?;
        let bytes = self.bytes();
        loop {
            let start = self.at;
            while !matches!(*bytes.get(self.at)?, b'"' | b'\\' | 0..0x20) {
                self.at += 1;
            }
            into.push_str(self.text.get(start..self.at)?);
            self.at += 1;
            match bytes[self.at - 1] {
                b'"' => return Some(()),
                b'\\' => into.push(self.escaped()?),
                _ => return None,
            }
        }
    }

    /// The character of an escape whose backslash was taken; None for half of a pair.
    fn escaped(&mut self) -> Option<char> {
        let byte = *self.bytes().get(self.at)?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = self.four_digits()?;
                if !(0xD800..0xE000).contains(&high) {
                    return char::from_u32(high);
                }
                let is_escape = self.bytes().get(self.at..self.at + 2)? == b"\\u";
                self.at += 2;
                let low = self.four_digits()?;
                if !is_escape || high >= 0xDC00 || !(0xDC00..0xE000).contains(&low) {
                    return None;
                }
                return char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
            }
            _ => return None,
        })
    }

    fn four_digits(&mut self) -> Option<u32> {
        let digits = self.bytes().get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
    }

    /// An id, and nothing else that could be a number.
    #[inline]
    fn id(&mut self) -> Option<u32> {
        self.peek()?;
        let rest = &self.bytes()[self.at..];
        let mut value = 0_u64;
        let mut length = 0;
        while length < DIGITS
            && let Some(digit) = rest.get(length).filter(|byte| byte.is_ascii_digit())
        {
            value = value * 10 + u64::from(digit - b'0');
            length += 1;
        }
        self.at += length;
        let is_plain = length > 0 && (rest[0] != b'0' || length == 1);
        let ends = !matches!(rest.get(length), Some(b'.' | b'e' | b'E' | b'0'..=b'9'));
        u32::try_from(value).ok().filter(|&id| is_plain && ends && id != NO_ID)
    }

    /// A number, whole or not, that is finite.
    fn number(&mut self) -> Option<f64> {
        self.peek()?;
        let rest = &self.bytes()[self.at..];
        let length =
            rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count();
        let number = &self.text[self.at..self.at + length];
        self.at += length;
        let whole = number.strip_prefix('-').unwrap_or(number);
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits(whole) {
            let is_plain = (whole == "0" || !whole.starts_with('0')) && whole.len() <= EXACT_DIGITS;
            // The integer -0 is 0.
            return if is_plain && number != "-0" { number.parse().ok() } else { None };
        }
        let (mantissa, exponent) = whole.split_once(['e', 'E']).unwrap_or((whole, "0"));
        let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let is_number = digits(before)
            && (before == "0" || !before.starts_with('0'))
            && digits(behind)
            && digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
        let read = if self.exact_scores { number.parse().ok() } else { decimal::read(number) };
        read.filter(|number| is_number && number.is_finite())
    }

    /// The members of a model.
    fn model(&mut self) -> Option<JsonModel> {
        let (mut tokens, mut merges, mut merges_are_lists, mut holes) = (None, None, false, Vec::new());
        self.take(b'{')?;
        let mut first = true;
        while self.goes_on(&mut first, b'}')? {
            let name = self.name()?;
            let next = self.peek()?;
            let start = self.at;
            match (name, next) {
                ("vocab", b'{') if tokens.is_none() => tokens = Some(self.object()?),
                ("vocab", b'[') if tokens.is_none() => tokens = Some(self.list()?),
                ("merges", b'[') if merges.is_none() => {
                    let (read, are_lists) = self.merges()?;
                    (merges, merges_are_lists) = (Some(read), are_lists);
                }
                ("vocab" | "merges", _) => return None,
                _ => {
                    self.skip()?;
                    continue;
                }
            }
            holes.push(start..self.at);
        }
        let (tokens, ids, scores) = match tokens? {
            Tokens::Object(tokens, ids) => (tokens, ids, None),
            Tokens::List(tokens, scores) => (tokens, (0..scores.len() as u32).collect(), Some(scores)),
        };
        Some(JsonModel { vocab: Vocabulary::new(tokens, ids)?, scores, merges, merges_are_lists, holes })
    }

    /// Room for about as many texts as files have. Memory that is not written costs none.
    fn room(&self) -> Texts {
        let rest = self.text.len() - self.at;
        Texts::with_capacity(rest / 32, rest / 8)
    }

    /// Tokens with their ids.
    fn object(&mut self) -> Option<Tokens> {
        let (mut tokens, mut ids) = (self.room(), Vec::new());
        self.take(b'{')?;
        let mut first = true;
        while self.goes_on(&mut first, b'}')? {
            self.string(tokens.open())?;
            tokens.end();
            self.take(b':')?;
            ids.push(self.id()?);
        }
        Some(Tokens::Object(tokens, ids))
    }

    /// Lists of a token and its score.
    fn list(&mut self) -> Option<Tokens> {
        let (mut tokens, mut scores) = (self.room(), Vec::new());
        self.take(b'[')?;
        let mut first = true;
        while self.goes_on(&mut first, b']')? {
            self.take(b'[')?;
            self.string(tokens.open())?;
            tokens.end();
            self.take(b',')?;
            scores.push(self.number()?);
            self.take(b']')?;
        }
        Some(Tokens::List(tokens, scores))
    }

    /// Merges, all of one form, and whether that is a list of two. No token of one is empty.
    fn merges(&mut self) -> Option<(Merges, bool)> {
        let mut halves = self.room();
        self.take(b'[')?;
        let (mut first, mut are_lists) = (true, None);
        let mut merge = String::new();
        while self.goes_on(&mut first, b']')? {
            let is_list = self.peek()? == b'[';
            if *are_lists.get_or_insert(is_list) != is_list {
                return None;
            }
            if is_list {
                self.at += 1;
                self.string(halves.open())?;
                let left = halves.end();
                self.take(b',')?;
                self.string(halves.open())?;
                let right = halves.end();
                self.take(b']')?;
                if !left || !right {
                    return None;
                }
            } else {
                merge.clear();
                self.string(&mut merge)?;
                let (left, right) = merge.split_once(' ')?;
                if left.is_empty() || right.is_empty() || right.contains(' ') {
                    return None;
                }
                halves.push(left);
                halves.push(right);
            }
        }
        Some((Merges::new(halves), are_lists == Some(true)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test fails by panicking, and these numbers are exact")]
mod tests {
    use super::*;

    fn model_of(model: &str) -> Option<JsonModel> {
        read(&format!("{{\"a\\\"{{\": [1, {{\"b\": \"]\\\\\"}}, null], \"model\" : {model}, \"x\": 0}}"), false)
    }

    #[test]
    fn members_are_read_in_any_order_and_cut_out() {
        let vocab = r#"{ "a" :0, "\u0062":1,"\ud83D\ude00\t/\/" : 4294967294,"": 10 }"#;
        for (merges, are_lists) in [(r#"["a b", "b a"]"#, false), (r#"[["a","b"],["b", "a"]]"#, true), ("[]", false)] {
            for model in [
                format!(r#"{{"vocab": {vocab}, "x": [{{"vocab": 1}}], "merges": {merges}}}"#),
                format!(r#"{{"merges":{merges} ,"x": "\"merges\": []", "vocab":{vocab}}}"#),
            ] {
                let read = model_of(&model).unwrap();
                assert_eq!(read.vocab.tokens().collect::<Vec<_>>(), ["a", "b", "\u{1F600}\t//", ""]);
                assert_eq!(read.vocab.ids(), [0, 1, u32::MAX - 1, 10]);
                let pairs: Vec<_> = read.merges.as_ref().unwrap().iter().collect();
                assert_eq!(pairs, [("a", "b"), ("b", "a")][..if merges == "[]" { 0 } else { 2 }]);
                assert_eq!((read.merges_are_lists, read.holes.len()), (are_lists, 2));
            }
        }
        let list = model_of(r#"{"vocab": [["a", -1.5], ["b",0], ["c", -2.0122928619384766], ["d", 25e-1]]}"#).unwrap();
        assert_eq!(list.scores.unwrap(), [-1.5, 0.0, -2.012_292_861_938_477, 2.5]);
        assert_eq!((list.vocab.ids(), list.merges.is_none()), (&[0, 1, 2, 3][..], true));
        let exact = read(r#"{"model": {"vocab": [["a", -2.0122928619384766]]}}"#, true).unwrap();
        assert_eq!(exact.scores.unwrap(), [-2.012_292_861_938_476_6]);
    }

    #[test]
    fn what_is_unusual_is_left_to_whoever_says_what_is_wrong() {
        let token = |token: &str| format!(r#"{{"vocab": {{"{token}": 0}}}}"#);
        assert!(model_of(&token("\\u00e9")).is_some());
        for wrong in ["\\ud83d", "\\ude00\\ud83d", "\\ud83d\\n", "\\x", "\\u12g4", "\n", "\u{1}"] {
            assert!(model_of(&token(wrong)).is_none(), "{wrong:?}");
        }
        for wrong in ["-1", "1.0", "1e1", "01", "4294967295", "99999999999", "1e", "true", "null", "\"1\"", ""] {
            assert!(model_of(&format!(r#"{{"vocab": {{"a": {wrong}}}}}"#)).is_none(), "{wrong}");
        }
        for wrong in
            ["NaN", "1e999", ".5", "1.", "+1", "01", "1.e1", "-", "-0", "1234567890123456", "1e+", "0x1", "--1"]
        {
            assert!(model_of(&format!(r#"{{"vocab": [["a", {wrong}]]}}"#)).is_none(), "{wrong}");
        }
        for wrong in
            ["[\"ab\"]", "[\"a  b\"]", "[\" b\"]", "[\"a b c\"]", "[[\"a\"]]", "[[\"a\", \"\"]]", "[\"a b\",]", "[1]"]
                .into_iter()
                .chain(["[\"a b\", [\"a\", \"b\"]]", "null", "{}", "[,\"a b\"]", "[\"a b\" \"a b\"]"])
        {
            assert!(model_of(&format!(r#"{{"vocab": {{"a": 0}}, "merges": {wrong}}}"#)).is_none(), "{wrong}");
        }
        for wrong in [
            r#"{"vocab": {"a": 0}, "vocab": {"a": 0}}"#,
            r#"{"vocab": {"a": 0, "a": 1}}"#,
            r#"{"vocab": null}"#,
            r#"{"merges": []}"#,
            r#"{"vocab": {"a": 0},}"#,
            "[]",
            "{}",
        ] {
            assert!(model_of(wrong).is_none(), "{wrong}");
        }
        let whole = r#"{"model": {"vocab": {"a": 0}, "merges": ["a a"]}}"#;
        for cut in 0..whole.len() - 1 {
            assert!(read(&whole[..cut], false).is_none(), "{cut}");
        }
    }
}
