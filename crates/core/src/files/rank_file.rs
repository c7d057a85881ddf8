//! Rank files (`.tiktoken`): a line for each token, its bytes in base64, a space, and its rank, which is its id.
//!
//! Only canonical base64 and ranks without signs, leading zeros or spaces are read, so that a file has one spelling. Errors
//! spell bytes as Python does.

use std::collections::HashSet;
use std::fmt::Write;

use crate::error::{Error, Kind, Result};
use crate::files::Columns;
use crate::files::slots::{Slots, hash};
use crate::vocab::NO_ID;

/// About the bytes of a line, to reserve memory by the size of the file.
const USUAL_LINE: usize = 16;

/// The token of a line that stands for no bytes: no text becomes it. Whisper has one.
const NOTHING: &[u8] = b"=";

/// Reads the tokens and those that no text becomes, both by id. Lines end as Python's `splitlines` ends them; empty ones are
/// skipped.
///
/// # Errors
/// `Format`, with the first line that is not a token and a rank, or that repeats an earlier rank or token.
///
/// ```
/// let (columns, unreachable) = bytepair_core::files::rank_file::read(b"YWI= 1\nYQ== 0\n= 2\n")?;
/// assert_eq!((columns.token(0), columns.token(1), &columns.ids[..]), (&b"a"[..], &b"ab"[..], &[0, 1][..]));
/// assert_eq!(unreachable.ids, [2]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn read(data: &[u8]) -> Result<(Columns, Columns)> {
    let mut columns = Columns::default();
    let mut unreachable = Columns::default();
    let read = read_lines(data, &mut columns, &mut unreachable);
    // A line that repeats a token comes before the one that could not be read.
    let hash_of = |place| hash(columns.token(place as usize));
    let are_equal = |one, other| columns.token(one as usize) == columns.token(other as usize);
    if let Err((_, place)) = Slots::new(columns.ends.len() as u32, hash_of, are_equal) {
        let is_token = |line: &[u8]| !line.is_empty() && rank_of_nothing(line).is_none();
        let line = (1..).zip(Lines(data)).filter(|(_, line)| is_token(line)).nth(place as usize);
        let shown = spelled(columns.token(place as usize));
        let what = format!("has the token {shown}, which is empty or an earlier line has");
        return Err(broken(line.map_or(1, |(number, _)| number), what));
    }
    let ascends = read?;
    if let Some(&id) = unreachable.ids.first().filter(|id| columns.ids.contains(id)) {
        let what = format!("two tokens have the rank {id}, one of them empty");
        return Err(Error::new(Kind::Format, what).remedy("is the file whole? fetch it again"));
    }
    Ok((if ascends { columns } else { columns.by_id() }, unreachable))
}

/// Reads lines up to one that is no token and rank, or repeats a rank; returns whether ranks ascend.
fn read_lines(data: &[u8], columns: &mut Columns, unreachable: &mut Columns) -> Result<bool> {
    let lines = data.len() / USUAL_LINE;
    columns.bytes.reserve(data.len() / 2);
    columns.ends.reserve(lines);
    columns.ids.reserve(lines);
    // Ranks that ascend occur once. From the first that does not, all are remembered.
    let mut ranks: Option<HashSet<u32>> = None;
    let mut lines = Lines(data);
    for number in 1.. {
        let start = columns.bytes.len();
        let id = if let Some((id, rest)) = plain_line(lines.0, &mut columns.bytes) {
            lines.0 = rest;
            id
        } else {
            columns.bytes.truncate(start);
            let Some(line) = lines.next() else { break };
            if line.is_empty() {
                continue;
            }
            if let Some(id) = rank_of_nothing(line).filter(|_| unreachable.ids.is_empty()) {
                unreachable.push(b"");
                unreachable.ids.push(id);
                continue;
            }
            rank_and_token(line, &mut columns.bytes).map_err(|what| broken(number, what))?
        };
        if ranks.is_none() && columns.ids.last().is_some_and(|&last| last >= id) {
            ranks = Some(columns.ids.iter().copied().collect());
        }
        if ranks.as_mut().is_some_and(|ranks| !ranks.insert(id)) {
            return Err(broken(number, format!("has the rank {id}, which an earlier line has")));
        }
        if columns.bytes.len() == start {
            return Err(broken(number, "has the token b'', which is empty or an earlier line has"));
        }
        columns.ends.push(columns.bytes.len());
        columns.ids.push(id);
    }
    Ok(ranks.is_none())
}

/// Reads a line as files have them, with no second look at a byte: appends its token, and returns its rank and what comes
/// after it. None for any other line, which may be right all the same.
fn plain_line<'a>(data: &'a [u8], into: &mut Vec<u8>) -> Option<(u32, &'a [u8])> {
    let (quads, _) = data.as_chunks::<4>();
    let mut rest = data;
    for quad in quads {
        let [a, b, c, d] = quad.map(|byte| VALUES[usize::from(byte)]);
        if a | b | c | d >= NOT_BASE64 {
            break;
        }
        into.extend_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
        rest = &rest[4..];
    }
    if let [_, _, _, b'=', after @ ..] = rest {
        if !decode_base64(&rest[..4], into) {
            return None;
        }
        rest = after;
    }
    let digits = rest.strip_prefix(b" ")?;
    // More digits may be no id.
    let length = digits.iter().take(10).position(|byte| !byte.is_ascii_digit())?;
    let rest = digits[length..].strip_prefix(b"\n")?;
    let id = digits[..length].iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    let is_usual = length == 1 || length > 1 && digits[0] != b'0';
    is_usual.then_some((id, rest))
}

/// The rank on the line of the empty token.
fn rank_of_nothing(line: &[u8]) -> Option<u32> {
    rank_of(line.strip_prefix(NOTHING)?.strip_prefix(b" ")?)
}

/// Reads any other line: appends its token, and returns its rank.
fn rank_and_token(line: &[u8], into: &mut Vec<u8>) -> std::result::Result<u32, String> {
    let space = line.iter().position(|&byte| byte == b' ').unwrap_or(line.len());
    let (token, rank) = (&line[..space], line.get(space + 1..).unwrap_or_default());
    if rank.is_empty() || !decode_base64(token, into) {
        return Err("is not a token in base64, a space and a rank".to_owned());
    }
    rank_of(rank).ok_or_else(|| format!("has the rank {}, which is not an id", &spelled(rank)[1..]))
}

/// The id that digits spell, in the one spelling that it has.
fn rank_of(digits: &[u8]) -> Option<u32> {
    let is_plain = digits.iter().all(u8::is_ascii_digit) && (digits.len() == 1 || digits.first() != Some(&b'0'));
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|&id| is_plain && id < NO_ID)
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

/// The bit that no character of base64 has in its value.
const NOT_BASE64: u8 = 64;

/// The value of each character of base64.
const VALUES: [u8; 256] = {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [NOT_BASE64; 256];
    let mut value = 0;
    while value < 64 {
        values[alphabet[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// Decodes base64; false unless it is canonical: padded, without stray bits.
fn decode_base64(text: &[u8], into: &mut Vec<u8>) -> bool {
    let unpadded = match text {
        [text @ .., b'=', b'='] | [text @ .., b'='] | text => text,
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
    text.len().is_multiple_of(4) && seen < NOT_BASE64 && stray == 0
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
        (error.line.unwrap(), error.what.to_string())
    }

    #[test]
    fn lines_end_in_three_ways_and_may_be_empty() {
        let (columns, unreachable) = read(b"\r\nYQ== 0\r\n\r\rYg== 1\rYWI= 2\n\n= 4\nYWJj 3").unwrap();
        assert_eq!(columns.tokens().collect::<Vec<_>>(), [&b"a"[..], b"b", b"ab", b"abc"]);
        assert_eq!(columns.ids, [0, 1, 2, 3]);
        assert_eq!((unreachable.ids.as_slice(), unreachable.token(0)), (&[4][..], &b""[..]));
        assert_eq!(read(b"").unwrap(), Default::default());
    }

    #[test]
    fn ranks_may_come_in_any_order() {
        let (columns, _) = read(b"YQ== 4294967294\nYg== 1\nYWI= 7\n").unwrap();
        assert_eq!(
            (columns.tokens().collect::<Vec<_>>(), columns.ids.as_slice()),
            (vec![&b"b"[..], b"ab", b"a"], &[1, 7, u32::MAX - 1][..])
        );
    }

    #[test]
    fn only_canonical_base64_is_read() {
        for token in ["YQ", "YQ=", "YQ===", "YR==", "YWJ=", "YQ==YQ==", "=\t", "====", "Y===", "Y=Q=", "Y Q==", "YQ-_"]
        {
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
        for given in ["4294967295", " -0_07 ", "+1", "-0", "0256", "00", "1 ", "_1", "x", "1_0", "+ 1"] {
            assert_eq!(rank(given), format!("a line has the rank '{given}', which is not an id"));
        }
        assert_eq!(rank("1\t"), "a line has the rank '1\\t', which is not an id");
        assert_eq!(rank(""), "a line is not a token in base64, a space and a rank");
        assert_eq!(fault(b"= 05\n").0, 1);
        assert_eq!(fault(b"YQ== 5\nYg== 3\nYWI= 5\n"), (3, "a line has the rank 5, which an earlier line has".into()));
        assert_eq!(read(b"YQ== 5\n= 5\n").unwrap_err().what, "two tokens have the rank 5, one of them empty");
        assert_eq!(fault(b"= 5\n= 6\n").0, 2);
        let twice = "a line has the token b'a', which is empty or an earlier line has";
        assert_eq!(fault(b"YQ== 0\nYQ== 1\n"), (2, twice.into()));
        let repeat = b"\n= 7\nYQ== 0\r\rYg== 2\n\nYQ== 9\nnot a line\n";
        assert_eq!(fault(repeat), (7, twice.into()), "the first line that is wrong");
        assert_eq!(spelled(b"'\t\"\\\x7f\xff"), "b'\\'\\t\"\\\\\\x7f\\xff'");
        assert_eq!(spelled(b"'"), "b\"'\"");
    }
}
