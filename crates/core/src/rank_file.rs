//! Rank files (`.tiktoken`): a line for each token, its bytes in base64, a space, and its rank, which is its id.
//!
//! Only canonical base64 is read, so that a file and the tokens it holds say the same. Errors spell bytes and numbers as
//! Python does, whose users read them.

use std::collections::HashSet;
use std::fmt::Write;
use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::columns::Columns;
use crate::error::{Error, Kind, Result};
use crate::vocab::NO_ID;

/// A line has a token of at least four characters, a space, and a digit.
const SHORTEST_LINE: usize = 6;

/// Python reads no longer number.
const MOST_DIGITS: usize = 4300;

/// Reads the tokens, and sorts them by id. Lines end as Python's `splitlines` ends them; empty ones are passed over.
///
/// # Errors
/// `Format`, with the first line that is no token and rank, or that has the rank or the token of an earlier one.
///
/// ```
/// let columns = bytepair_core::rank_file::read(b"YWI= 1\nYQ== 0\n")?;
/// assert_eq!((columns.token(0), columns.token(1), &columns.ids[..]), (&b"a"[..], &b"ab"[..], &[0, 1][..]));
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn read(data: &[u8]) -> Result<Columns> {
    // What is reserved is what the data could hold, whatever it claims.
    let most = data.iter().filter(|&&byte| byte == b'\n').count().min(data.len() / SHORTEST_LINE) + 1;
    let mut columns = Columns { bytes: Vec::new(), ends: Vec::with_capacity(most), ids: Vec::with_capacity(most) };
    let mut known: HashTable<u32> = HashTable::with_capacity(most);
    // Ranks that ascend occur once. From the first that does not, all are remembered.
    let mut ranks: Option<HashSet<u32>> = None;
    for (number, line) in (1..).zip(Lines(data)) {
        if line.is_empty() {
            continue;
        }
        let space = line.iter().position(|&byte| byte == b' ').unwrap_or(line.len());
        let (token, rank) = (&line[..space], line.get(space + 1..).unwrap_or_default());
        let id = match decimal(rank) {
            Some(id) if decode_base64(token, &mut columns.bytes) => id,
            _ => return Err(broken(number, not_a_rank(token, rank))),
        };
        if id >= u64::from(NO_ID) {
            return Err(broken(number, not_a_rank(token, rank)));
        }
        let id = id as u32;
        if ranks.is_none() && columns.ids.last().is_some_and(|&last| last >= id) {
            ranks = Some(columns.ids.iter().copied().collect());
        }
        if ranks.as_mut().is_some_and(|ranks| !ranks.insert(id)) {
            return Err(broken(number, format!("has the rank {id}, which an earlier line has")));
        }
        let start = columns.ends.last().copied().unwrap_or(0);
        let decoded = &columns.bytes[start..];
        let hash = hash(decoded);
        if decoded.is_empty() || known.find(hash, |&index| columns.token(index as usize) == decoded).is_some() {
            let shown = spelled(decoded);
            return Err(broken(number, format!("has the token {shown}, which is empty or an earlier line has")));
        }
        known.insert_unique(hash, columns.ends.len() as u32, |&index| self::hash(columns.token(index as usize)));
        columns.ends.push(columns.bytes.len());
        columns.ids.push(id);
    }
    Ok(if ranks.is_some() { columns.by_id() } else { columns })
}

/// Lines without their ends: `\n`, `\r\n` or `\r`.
struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let end = self.0.iter().position(|&byte| byte == b'\n' || byte == b'\r').unwrap_or(self.0.len());
        let (line, rest) = self.0.split_at(end);
        self.0 = rest.strip_prefix(b"\r\n").or_else(|| rest.get(1..)).unwrap_or_default();
        Some(line)
    }
}

fn broken(line: usize, what: impl std::fmt::Display) -> Error {
    Error::new(Kind::Format, format!("a line {what}")).remedy("is the file whole? fetch it again").line(line)
}

fn hash(token: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(token);
    hasher.finish()
}

/// The value of some digits; as large as can be, if it is larger.
fn decimal(rank: &[u8]) -> Option<u64> {
    let digits = (1..=MOST_DIGITS).contains(&rank.len()) && rank.iter().all(u8::is_ascii_digit);
    let add = |value: u64, digit: &u8| value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    digits.then(|| rank.iter().fold(0, add))
}

/// The value of each character of base64, and 64 for what is none.
const VALUES: [u8; 256] = {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [64; 256];
    let mut value = 0;
    while value < 64 {
        values[alphabet[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// Appends what `text` stands for; false if it is not what an encoder would write: padded, and with no stray bits.
fn decode_base64(text: &[u8], into: &mut Vec<u8>) -> bool {
    let unpadded = match text {
        [text @ .., b'=', b'='] => text,
        [text @ .., b'='] => text,
        text => text,
    };
    let (quads, rest) = unpadded.as_chunks::<4>();
    let mut seen = 0;
    for quad in quads {
        let [a, b, c, d] = quad.map(|byte| VALUES[usize::from(byte)]);
        seen |= a | b | c | d;
        into.extend_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
    }
    let mut values = [0; 3];
    for (value, &byte) in values.iter_mut().zip(rest) {
        *value = VALUES[usize::from(byte)];
        seen |= *value;
    }
    let [a, b, c] = values;
    let stray = match rest.len() {
        0 => 0,
        2 => {
            into.push(a << 2 | b >> 4);
            b & 0xF
        }
        3 => {
            into.extend_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2]);
            c & 0x3
        }
        _ => return false,
    };
    text.len() % 4 == 0 && seen < 64 && stray == 0
}

/// What is wrong with a line whose rank is no plain number below the largest, or whose token is not base64.
fn not_a_rank(token: &[u8], rank: &[u8]) -> String {
    match integer(rank) {
        Some(id) if decode_base64(token, &mut Vec::new()) => format!("has the rank {id}, which is not an id"),
        _ => "is not a token in base64, a space and a rank".to_owned(),
    }
}

/// What Python's `int` reads: signs, white space around it and underscores between digits are allowed.
fn integer(text: &[u8]) -> Option<String> {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let start = text.iter().position(|byte| !blank(byte))?;
    let end = text.iter().rposition(|byte| !blank(byte))? + 1;
    let (negative, digits) = match &text[start..end] {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let groups = digits.split(|&byte| byte == b'_');
    if !groups.clone().all(|group| !group.is_empty() && group.iter().all(u8::is_ascii_digit)) {
        return None;
    }
    let digits: String = groups.flatten().map(|&digit| char::from(digit)).collect();
    if digits.len() > MOST_DIGITS {
        return None;
    }
    let value = digits.trim_start_matches('0');
    Some(match value {
        "" => "0".to_owned(),
        value if negative => format!("-{value}"),
        value => value.to_owned(),
    })
}

/// Bytes as Python spells them.
fn spelled(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    let mut shown = format!("b{quote}");
    for &byte in bytes {
        // Writing to a String never fails.
        let _ = match byte {
            b'\n' => write!(shown, "\\n"),
            b'\r' => write!(shown, "\\r"),
            b'\t' => write!(shown, "\\t"),
            b'\\' => write!(shown, "\\\\"),
            b' '..=b'~' if char::from(byte) == quote => write!(shown, "\\{quote}"),
            b' '..=b'~' => write!(shown, "{}", char::from(byte)),
            _ => write!(shown, "\\x{byte:02x}"),
        };
    }
    shown.push(quote);
    shown
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn fault(data: &[u8]) -> (usize, String) {
        let error = read(data).err().unwrap();
        (error.line.unwrap(), error.what)
    }

    #[test]
    fn lines_end_in_three_ways_and_may_be_empty() {
        let columns = read(b"\r\nYQ== 0\r\n\r\rYg== 1\rYWI= 02\n\nYWJj 3").unwrap();
        assert_eq!(columns.tokens().collect::<Vec<_>>(), [&b"a"[..], b"b", b"ab", b"abc"]);
        assert_eq!(columns.ids, [0, 1, 2, 3]);
        assert_eq!(read(b"").unwrap(), Columns::default());
    }

    #[test]
    fn ranks_may_come_in_any_order() {
        let columns = read(b"YQ== 4294967294\nYg== 1\nYWI= 7\n").unwrap();
        assert_eq!(
            (columns.tokens().collect::<Vec<_>>(), columns.ids.as_slice()),
            (vec![&b"b"[..], b"ab", b"a"], &[1, 7, u32::MAX - 1][..])
        );
    }

    #[test]
    fn only_canonical_base64_is_read() {
        for token in ["YQ", "YQ=", "YQ===", "YR==", "YWJ=", "YQ==YQ==", "=", "====", "Y===", "Y=Q=", "Y Q==", "YQ-_"] {
            let (line, what) = fault(format!("\nYWJj 1\n{token} 2\n").as_bytes());
            assert_eq!((line, &*what), (3, "a line is not a token in base64, a space and a rank"), "{token}");
        }
        for byte in 0..=255 {
            let mut bytes = Vec::new();
            let text = [b'A', b'A', b'A', byte];
            let expected = byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/' || byte == b'=';
            assert_eq!(decode_base64(&text, &mut bytes), expected, "{byte}");
        }
    }

    #[test]
    fn faults_are_named_as_python_names_them() {
        let rank = |rank: &str| fault(format!("YQ== {rank}\n").as_bytes()).1;
        for (given, shown) in [("4294967295", "4294967295"), (" -0_07 ", "-7"), ("+1", "1"), ("-00", "0"), ("1\t", "1")]
        {
            assert_eq!(rank(given), format!("a line has the rank {shown}, which is not an id"));
        }
        for given in ["", "_1", "1_", "1__0", "+ 1", "x", "1\0", &"0".repeat(4301)] {
            assert!(rank(given).starts_with("a line is not a token"), "{given:?}");
        }
        assert_eq!(fault(b"YQ== 5\nYg== 3\nYWI= 5\n"), (3, "a line has the rank 5, which an earlier line has".into()));
        let twice = "a line has the token b'a', which is empty or an earlier line has";
        assert_eq!(fault(b"YQ== 0\nYQ== 1\n"), (2, twice.into()));
        assert_eq!(spelled(b"'\t\"\\\x7f\xff"), "b'\\'\\t\"\\\\\\x7f\\xff'");
        assert_eq!(spelled(b"'"), "b\"'\"");
    }
}
