//! The table of a `SentencePiece` model: a trie of keys, and their replacements.
//!
//! The table is a length of 32 bits, a double array of that many bytes (Yata's compacted form, as Darts-clone writes it:
//! units of 32 bits with a label, an offset and a flag for a value), and the replacements, each ended by a zero byte. It is
//! applied as in `tokenizers`, not as in `SentencePiece`: to each grapheme cluster of fewer than six bytes, whose shortest
//! prefix in the trie decides for all of it, and else to each of its characters.

use super::categories::ranges;
use super::charsmap::{self, offset};
use super::clusters::{PREPENDED, first_cluster, is_end, stands_alone};
use super::edges::Beginning;
use super::replace::check_content;
use super::simple::run_end;
use crate::edge::Edge;
use crate::error::{Error, Kind, Result};
use crate::normalize::aligned::Edit;

/// Clusters of at least this many bytes are looked up character by character.
const LONG_CLUSTER: usize = 6;

/// The parsed table.
#[derive(Debug)]
pub struct Precompiled {
    units: Vec<u32>,
    replacements: String,
    /// The ASCII characters that stay as they are where nothing else is in their cluster.
    stays: [bool; 256],
    /// Whether some cluster of a character that joins the next one may be looked up with success.
    prepends: bool,
}

impl Precompiled {
    /// Reads the bytes of a table.
    ///
    /// # Errors
    /// `Format`, if it ends too early, its trie was not made of rules, its replacements are not UTF-8, or one has more than
    /// 1,024 bytes.
    pub(super) fn new(bytes: &[u8]) -> Result<Self> {
        let broken = |what: &str| {
            Error::new(Kind::Format, format!("the table of the normalizer Precompiled {what}"))
                .remedy("save the file again with the library that made it")
        };
        let (length, rest) = bytes.split_first_chunk().ok_or_else(|| broken("has no length"))?;
        let length = u32::from_le_bytes(*length) as usize / 4 * 4;
        let (trie, rest) = rest.split_at_checked(length).ok_or_else(|| broken("ends within its trie"))?;
        let units: Vec<u32> = trie.as_chunks().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        if units.is_empty() {
            return Err(broken("has no trie"));
        }
        let replacements = std::str::from_utf8(rest).map_err(|_| broken("has replacements that are not UTF-8"))?;
        replacements.split('\0').try_for_each(check_content)?;
        charsmap::check(&units, replacements).map_err(broken)?;
        let mut table = Self { units, replacements: replacements.to_owned(), stays: [false; 256], prepends: false };
        for byte in 0..128_u8 {
            // A line feed belongs to the carriage return before it, wherever there is one.
            let alone = !matches!(byte, b'\r' | b'\n');
            table.stays[usize::from(byte)] = alone && table.find(&[byte]).is_none();
        }
        let mut prepended = ranges(PREPENDED).flat_map(|(start, end)| start..=end).filter_map(char::from_u32);
        table.prepends = prepended.any(|one| table.may_find(one.encode_utf8(&mut [0; 4]).as_bytes()));
        Ok(table)
    }

    /// Whether a key that begins with this one may be found.
    fn may_find(&self, start: &[u8]) -> bool {
        let mut node = self.units.first().map(|&unit| offset(unit));
        for &byte in start {
            match node.and_then(|node| self.step(node, byte)) {
                Some((_, true)) => return true,
                next => node = next.map(|(node, _)| node),
            }
        }
        node.is_some()
    }

    /// The node that a byte leads to from a node, by its offset, and whether a key ends there.
    fn step(&self, node: usize, byte: u8) -> Option<(usize, bool)> {
        let node = node ^ usize::from(byte);
        let unit = *self.units.get(node)?;
        (unit & (1 << 31 | 0xFF) == u32::from(byte)).then(|| (node ^ offset(unit), unit >> 8 & 1 == 1))
    }

    /// The replacement of the shortest prefix of `key` in the trie.
    fn find(&self, key: &[u8]) -> Option<&str> {
        let mut node = offset(*self.units.first()?);
        for &byte in key.iter().take_while(|&&byte| byte != 0) {
            let (next, ends) = self.step(node, byte)?;
            node = next;
            if ends {
                let start = (self.units.get(node)? & (u32::MAX >> 1)) as usize;
                let rest = self.replacements.get(start..)?;
                let end = memchr::memchr(0, rest.as_bytes()).unwrap_or(rest.len());
                return rest.get(..end);
            }
        }
        None
    }

    /// The edge of the parts: a cluster must end there.
    ///
    /// A character has an image of its own if it is a cluster, and in a cluster that is too long to be looked up as a whole:
    /// with a neighbour, if the two are.
    pub(super) fn edge(&self, edge: &Edge) -> Option<Edge> {
        let (left, right) = (edge.left?, edge.right());
        if !is_end(left, right[0]) {
            return None;
        }
        let mut beginning = Beginning::new();
        for pair in right.windows(2).take_while(|pair| are_apart(pair)) {
            self.each_of_image(pair[0], |part| beginning.push(part));
        }
        beginning.edge(self.last_of(left))
    }

    /// Whether [`Precompiled::edge`] depends on the first of some characters, and on the one in front of it, alone, if that is
    /// kept.
    pub(super) fn is_settled(right: &[char]) -> bool {
        right.get(..2).is_some_and(are_apart)
    }

    /// Whether a character becomes something.
    pub(super) fn keeps(&self, character: char) -> bool {
        let mut is_something = false;
        self.each_of_image(character, |_| is_something = true);
        is_something
    }

    /// The last character of what a text becomes that ends with this one, if a cluster ends there.
    ///
    /// Of the clusters that are looked up as a whole, being short enough, only those contain this character behind another
    /// one that begin with one that joins the next: the other ways to join take six bytes or more, but for a line end.
    fn last_of(&self, character: char) -> Option<char> {
        if !stands_alone(character) || self.prepends {
            return None;
        }
        let mut last = None;
        self.each_of_image(character, |part| last = Some(part));
        match self.find(b"\r\n") {
            Some(both) if character == '\n' => last.filter(|&last| both.ends_with(last)),
            _ => last,
        }
    }

    /// The characters that one becomes that is a cluster, or in one that is not looked up.
    fn each_of_image(&self, character: char, mut each: impl FnMut(char)) {
        if character.is_ascii() && self.stays[character as usize] {
            return each(character);
        }
        match self.find(character.encode_utf8(&mut [0; 4]).as_bytes()) {
            Some(replacement) => replacement.chars().for_each(each),
            None => each(character),
        }
    }

    /// The pass over the text.
    pub(super) fn run(&self, edit: &mut Edit) {
        let text = edit.old();
        let bytes = text.as_bytes();
        let mut changes = Changes { waiting: None, started: false, behind: false };
        let mut at = 0;
        while at < bytes.len() && edit.fits() {
            let run = run_end(text, at, |byte| self.stays[usize::from(byte)]);
            // The last character of the run may be in one cluster with the next.
            let apart = run == bytes.len() || bytes[run].is_ascii();
            let end = if apart { run } else { run.saturating_sub(1).max(at) };
            if end > at {
                changes.keep(edit, &text[at..end]);
                at = end;
            }
            while at < bytes.len() {
                let cluster = first_cluster(&text[at..]);
                at += cluster.len();
                self.cluster(edit, &mut changes, cluster);
                if bytes.get(at).is_none_or(|&byte| self.stays[usize::from(byte)]) || !edit.fits() {
                    break;
                }
            }
        }
        changes.flush(edit);
        if edit.at() < text.len() {
            edit.skip(text.len());
        }
    }

    fn cluster(&self, edit: &mut Edit, changes: &mut Changes, cluster: &str) {
        let mut characters = cluster.char_indices();
        let alone = characters.next().is_some() && characters.next().is_none();
        if cluster.len() < LONG_CLUSTER
            && let Some(replacement) = self.find(cluster.as_bytes())
        {
            return changes.replace(edit, cluster, replacement);
        }
        if alone {
            return changes.keep(edit, cluster);
        }
        for (at, character) in cluster.char_indices() {
            let part = &cluster[at..at + character.len_utf8()];
            match self.find(part.as_bytes()) {
                Some(replacement) => changes.replace(edit, part, replacement),
                None => changes.keep(edit, part),
            }
        }
    }
}

/// Changes on their way into an edit. The last one waits, since what is removed after it is added to it: so an inserted
/// character after which one is removed takes that one's place.
struct Changes {
    waiting: Option<(char, isize)>,
    /// Whether there is any character yet.
    started: bool,
    /// Whether the edit is behind the text: what is removed before any character stands is forgotten by `tokenizers`, and
    /// all origins are then those of characters further left.
    behind: bool,
}

impl Changes {
    /// The next part of the text stays.
    fn keep(&mut self, edit: &mut Edit, part: &str) {
        self.started = true;
        if self.behind {
            part.chars().for_each(|character| self.push(edit, character, 0));
        } else {
            self.flush(edit);
            edit.keep(edit.at() + part.len());
        }
    }

    /// Characters beyond those of the old part are inserted, and what is missing is removed with the last one.
    fn replace(&mut self, edit: &mut Edit, old: &str, new: &str) {
        let (length, count) = (old.chars().count(), new.chars().count());
        for (at, character) in new.chars().enumerate() {
            self.push(edit, character, isize::from(at >= length));
        }
        if count >= length {
            return;
        }
        match &mut self.waiting {
            Some((_, change)) => *change -= (length - count).cast_signed(),
            None if self.started || !edit.is_traced() => edit.skip(edit.at() + old.len()),
            None => self.behind = true,
        }
    }

    fn push(&mut self, edit: &mut Edit, character: char, change: isize) {
        self.flush(edit);
        self.waiting = Some((character, change));
        self.started = true;
    }

    fn flush(&mut self, edit: &mut Edit) {
        if let Some((character, change)) = self.waiting.take() {
            edit.change(character, change);
        }
    }
}

/// Whether two characters are looked up one by one: a cluster ends between them, or is too long to be looked up as a whole.
fn are_apart(pair: &[char]) -> bool {
    is_end(pair[0], pair[1]) || pair[0].len_utf8() + pair[1].len_utf8() >= LONG_CLUSTER
}
