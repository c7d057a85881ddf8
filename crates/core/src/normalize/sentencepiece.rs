//! The normalizer of a `SentencePiece` model: a table of replacements, and rules for white space. Long because its tests
//! contain an oracle.
//!
//! From left to right, at each place: a user-defined symbol stays as it is, the longest; else the longest rule of the table
//! that fits is applied; else the character stays. Spaces in a row become one, those at both ends vanish, one is put in front
//! (or behind), and all are written as U+2581, each if the model enables it. `tokenizers` applies the same table in another
//! way (by grapheme clusters, and the shortest rule), so that its `Precompiled` is another normalizer.
//!
//! Source: `normalizer.cc` of `SentencePiece` 0.2; the double array is that of Darts-clone.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};
use base64::Engine;
use serde::Deserialize;

use super::edges::Beginning;
use super::joins::Joins;
use super::parsed;
use super::rules::Rules;
use crate::edge::Edge;
use crate::error::{Error, Kind, Result};
use crate::interrupt::Checks;
use crate::memory::{self, Room};
use crate::normalize::aligned::{Aligned, Edit};

const BLANK: &str = "\u{2581}";

/// The step as files state it.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum Step {
    SentencePiece(Options),
}

/// The options of a model for its normalizer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools, reason = "they are the model's own options")]
pub(super) struct Options {
    precompiled_charsmap: String,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    escape_whitespaces: bool,
    treat_whitespace_as_suffix: bool,
    #[serde(default)]
    user_defined_symbols: Vec<String>,
    /// White space in front of a text becomes one space where `remove_extra_whitespaces` takes others away, and what
    /// becomes nothing there belongs to what is behind it: a later step can put a space at the start of a text alone.
    /// No model states it.
    #[serde(default)]
    keep_leading_space: bool,
}

/// The normalizer of a model.
///
/// ```
/// use bytepair_core::normalize::sentencepiece::SentencePiece;
/// let step = r#"{"type": "SentencePiece", "precompiled_charsmap": "", "add_dummy_prefix": true,
///     "remove_extra_whitespaces": true, "escape_whitespaces": true, "treat_whitespace_as_suffix": false}"#;
/// assert_eq!(SentencePiece::parse(step)?.apply("  low  lower "), "▁low▁lower");
/// # Ok::<(), bytepair_core::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SentencePiece {
    rules: Option<Arc<Rules>>,
    symbols: Option<Symbols>,
    /// Computed on first use; None in it if that is not possible.
    joins: Arc<OnceLock<Option<Joins>>>,
    space: &'static str,
    dummy: Dummy,
    squeeze: bool,
    /// Whether white space in front of its texts becomes one space. They go on where others ended, in a character that is
    /// no white space; or a later step puts the space of a text in front.
    goes_on: bool,
    /// Whether the first character always comes from the first one of the original text.
    keeps_start: bool,
    plain: Plain,
}

/// The ASCII characters that stay as they are where another ASCII character follows, or none.
#[derive(Clone, Debug)]
struct Plain {
    /// All of them but the space.
    bytes: [bool; 256],
    /// Whether the space is one, but for how it is written.
    space: bool,
}

/// Where the space is put that no text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dummy {
    Nowhere,
    InFront,
    Behind,
}

impl SentencePiece {
    /// Reads the step: a JSON object of the type `SentencePiece`, the table in base64.
    ///
    /// # Errors
    /// `Format`: an option is missing or unknown, or the table is broken.
    pub fn parse(step: &str) -> Result<Self> {
        let Step::SentencePiece(options) = parsed("normalizer", step)?;
        Self::new(&options)
    }

    /// The normalizer of a model; errors as [`SentencePiece::parse`].
    pub(super) fn new(options: &Options) -> Result<Self> {
        let broken = |what: String| {
            Error::new(Kind::Format, format!("the normalizer SentencePiece: {what}"))
                .remedy("the model may be incomplete: download it again")
        };
        let table = base64::engine::general_purpose::STANDARD
            .decode(&options.precompiled_charsmap)
            .map_err(|error| broken(format!("its table is not base64: {error}")))?;
        let rules = if table.is_empty() { None } else { Some(Rules::new(&table).map_err(broken)?) }.map(Arc::new);
        let symbols = Symbols::new(&options.user_defined_symbols).map_err(broken)?;
        if options.keep_leading_space && options.add_dummy_prefix {
            return Err(broken("it puts a space in front of a text, and keeps the one there".into()));
        }
        let mut bytes = [false; 256];
        for byte in 0..128_u8 {
            let changes = rules.as_ref().is_some_and(|rules| rules.changes_ascii(byte));
            let begins = symbols.as_ref().is_some_and(|symbols| symbols.begin[usize::from(byte)]);
            bytes[usize::from(byte)] = !changes && !begins;
        }
        let space = std::mem::take(&mut bytes[usize::from(b' ')]);
        Ok(Self {
            rules,
            symbols,
            space: if options.escape_whitespaces { BLANK } else { " " },
            dummy: match (options.add_dummy_prefix, options.treat_whitespace_as_suffix) {
                (false, _) => Dummy::Nowhere,
                (true, false) => Dummy::InFront,
                (true, true) => Dummy::Behind,
            },
            squeeze: options.remove_extra_whitespaces,
            goes_on: options.keep_leading_space,
            keeps_start: options.keep_leading_space,
            joins: Arc::default(),
            plain: Plain { bytes, space },
        })
    }

    /// The normalized text, in time linear in the text; borrowed if it is empty.
    #[must_use]
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out =
            Written::<false> { text: String::with_capacity(text.len() + text.len() / 2 + 3), from: Vec::new() };
        self.run(text, &mut out, |_| true);
        Cow::Owned(out.text)
    }

    /// The normalized text, and where each of its bytes comes from: a byte's place in the original, and at last the place
    /// where the original of all of it ends. The bytes `a..b` of the result come from `from[a]..from[b]`.
    ///
    /// ```
    /// # use bytepair_core::normalize::sentencepiece::SentencePiece;
    /// # let step = r#"{"type": "SentencePiece", "precompiled_charsmap": "", "add_dummy_prefix": true,
    /// #     "remove_extra_whitespaces": true, "escape_whitespaces": true, "treat_whitespace_as_suffix": false}"#;
    /// let (text, from) = SentencePiece::parse(step)?.apply_with_places(" a b ");
    /// assert_eq!((text.as_str(), from), ("▁a▁b", vec![1, 1, 1, 1, 2, 2, 2, 3, 4]));
    /// # Ok::<(), bytepair_core::error::Error>(())
    /// ```
    #[must_use]
    pub fn apply_with_places(&self, text: &str) -> (String, Vec<usize>) {
        self.placed(text, |_| true)
    }

    fn placed(&self, text: &str, goes_on: impl FnMut(usize) -> bool) -> (String, Vec<usize>) {
        let mut out = Written::<true> { text: String::new(), from: Vec::new() };
        let end = self.run(text, &mut out, goes_on);
        out.from.push(end);
        (out.text, out.from)
    }

    /// The pass over a text that knows where its bytes came from.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn edit(&self, edit: &mut Edit) -> Result<()> {
        if edit.old().is_empty() {
            return Ok(());
        }
        if !edit.is_traced() {
            let text = edit.old();
            let mut out = Written::<false> { text: edit.room_for(text.len() + text.len() / 2 + 3), from: Vec::new() };
            self.run(text, &mut out, |length| edit.goes_on(length));
            edit.take_all(Aligned::plain(out.text));
            return Ok(());
        }
        let mut aligned = edit.copy_of_old()?;
        let (text, from) = self.placed(edit.old(), |length| edit.goes_on(length));
        let old = aligned.origins().unwrap_or_default();
        let behind = old.last().map_or(0, |origin| origin.1);
        let origin = |start: usize, end: usize| {
            let first = old.get(start).map_or(behind, |origin| origin.0);
            // Nothing was read for what was put in, nor for the first bytes of a character.
            let last = end.checked_sub(1).filter(|&last| last >= start).and_then(|last| old.get(last));
            (first, last.map_or(first, |origin| origin.1))
        };
        let mut origins = memory::collect(from.windows(2).map(|pair| origin(pair[0], pair[1])))?;
        if let (true, Some(first), Some(old)) = (self.keeps_start, origins.first_mut(), old.first()) {
            first.0 = old.0;
        }
        aligned.replace(text, Some(origins));
        edit.take_all(aligned);
        Ok(())
    }

    /// The normalized text, if each rule writes as many characters as it reads, and nothing is dropped or put in; None also
    /// without memory for it, and if it is no longer wanted.
    pub(super) fn one_for_one(&self, text: &str) -> Option<String> {
        if self.dummy != Dummy::Nowhere || self.squeeze && !self.goes_on {
            return None;
        }
        let (mut out, mut checks) = (String::new(), Checks::default());
        out.room(text.len() + text.len() / 2).ok()?;
        let (mut at, mut after_space) = (0, false);
        while at < text.len() {
            checks.check().ok()?;
            let run = self.plain_run(text.as_bytes(), at);
            if run > at {
                out.room(run - at).ok()?;
                out.push_str(&text[at..run]);
                (at, after_space) = (run, false);
                continue;
            }
            let (part, length) = self.prefix(text, at)?;
            let is_space = part == " ";
            let is_dropped = is_space && after_space;
            if is_dropped
                || !is_space && part.contains(' ')
                || part.chars().count() != text[at..at + length].chars().count()
            {
                return None;
            }
            let part = if is_space { self.space } else { part };
            out.room(part.len()).ok()?;
            out.push_str(part);
            after_space = self.squeeze && is_space;
            at += length;
        }
        let is_cut_off = self.squeeze && out.ends_with(self.space);
        (!is_cut_off).then_some(out)
    }

    /// The normalizer of a text that goes on behind a character that is no white space.
    pub(super) fn going_on(self: &Arc<Self>) -> Arc<Self> {
        if self.dummy != Dummy::InFront && !self.squeeze && !self.keeps_start {
            return self.clone();
        }
        let dummy = if self.dummy == Dummy::Behind { Dummy::Behind } else { Dummy::Nowhere };
        Arc::new(Self { dummy, goes_on: true, keeps_start: false, ..Self::clone(self) })
    }

    /// Whether the first character always comes from the first one of the original text.
    pub(super) fn keeps_start(&self) -> bool {
        self.keeps_start
    }

    fn joins(&self) -> Option<&Joins> {
        let joins = self.joins.get_or_init(|| {
            let symbols = self.symbols.as_ref().map_or(&[][..], |symbols| &symbols.all);
            Joins::new(self.rules.as_deref(), symbols)
        });
        joins.as_ref()
    }

    /// The edge of the parts. No source of a rule and no symbol may lie across the place; and where white space is dropped,
    /// the left part must end in something else, so that none is dropped across it nor at the left part's end.
    pub(super) fn edge_of(&self, edge: &Edge) -> Option<Edge> {
        let (joins, right) = (self.joins()?, edge.right());
        let goes_on = match edge.left {
            Some(left) => !self.squeeze || self.ends_in_text(joins, left),
            None => !self.squeeze && self.dummy != Dummy::InFront,
        };
        if !goes_on || self.dummy == Dummy::Behind || joins.across(edge.left, right[0]) {
            return None;
        }
        let space = |character| if character == ' ' { self.space_character() } else { character };
        let mut beginning = Beginning::new();
        let mut after_space = false;
        for (place, &character) in right.iter().enumerate() {
            let alone = right.get(place + 1).is_some_and(|&next| !joins.across(Some(character), next));
            if !alone && joins.is_long(character) {
                break;
            }
            if character.is_ascii() && self.plain.bytes[character as usize] {
                beginning.push(character);
                after_space = false;
                continue;
            }
            let mut bytes = [0; 4];
            let image = self.image(character, &mut bytes);
            let kept = if after_space { image.trim_start_matches(' ') } else { image };
            if !kept.is_empty() {
                beginning.extend(kept.chars().map(space));
                after_space = self.squeeze && kept.ends_with(' ');
            }
        }
        let left = edge.left.filter(|&left| !joins.is_later(left)).and_then(|left| self.last_of(left));
        beginning.edge(left.map(space))
    }

    /// Whether it depends on characters of ASCII behind them how two of ASCII meet, but for control characters: a rule may
    /// take those behind, or remove one, so that what is behind it comes to its place.
    pub(super) fn looks_ahead(&self) -> bool {
        self.joins().is_none_or(Joins::has_later_ascii)
            || (' '..='~').any(|left| self.image(left, &mut [0; 4]).is_empty())
    }

    /// Whether a text loses white space at its end.
    pub(super) fn drops_blanks(&self) -> bool {
        self.squeeze
    }

    /// The same, where nothing is put there instead.
    pub(super) fn loses_blanks(&self) -> bool {
        self.squeeze && self.dummy != Dummy::Behind
    }

    /// Whether the left part ends with text and the right one begins with some, where no source of a rule and no symbol lies
    /// across the place: of such parts neither loses anything there, whatever the right one becomes.
    pub(super) fn is_in_text(&self, edge: &Edge) -> bool {
        let (Some(joins), Some(left), first) = (self.joins(), edge.left, edge.right()[0]) else { return false };
        let mut bytes = [0; 4];
        let image = self.image(first, &mut bytes);
        self.loses_blanks()
            && self.ends_in_text(joins, left)
            && !joins.across(Some(left), first)
            && !(joins.may_begin_blank(first) || image.is_empty() || image.starts_with([' ', self.space_character()]))
    }

    /// Whether the left part ends with white space, which it loses, while the whole has one space there; and the right part
    /// is more white space, or begins as it does behind text.
    pub(super) fn resumes(&self, edge: &Edge) -> bool {
        let (Some(joins), Some(left), right) = (self.joins(), edge.left, edge.right()) else { return false };
        if !self.loses_blanks() || joins.is_later(left) || joins.across(Some(left), right[0]) {
            return false;
        }
        let alone = right.get(1).is_some_and(|&next| !joins.across(Some(right[0]), next));
        let (mut before, mut bytes) = ([0; 4], [0; 4]);
        let image = self.image(right[0], &mut bytes);
        (alone || !joins.is_long(right[0]))
            && self.image(left, &mut before) == " "
            && (image == " " || !image.is_empty() && !image.starts_with([' ', self.space_character()]))
    }

    /// Whether [`SentencePiece::edge_of`] depends on the first of some characters, and on the one in front of it, alone, if that
    /// is kept.
    pub(super) fn is_settled(&self, right: &[char]) -> bool {
        let (Some(joins), [first, rest @ ..]) = (self.joins(), right) else { return false };
        rest.first().is_some_and(|&next| !joins.across(Some(*first), next)) || !joins.is_long(*first)
    }

    /// Whether a character becomes something.
    pub(super) fn keeps(&self, character: char) -> bool {
        !self.image(character, &mut [0; 4]).is_empty()
    }

    /// Whether what a text becomes that ends with this character certainly ends in something else than white space.
    fn ends_in_text(&self, joins: &Joins, character: char) -> bool {
        let is_text = |last: char| last != ' ' && last != self.space_character();
        !joins.may_be_blank(character) && self.last_of(character).is_some_and(is_text)
    }

    /// The last character of what one becomes of which no source takes more.
    fn last_of(&self, character: char) -> Option<char> {
        self.image(character, &mut [0; 4]).chars().next_back()
    }

    /// The normal form of a character of which no source takes more; white space is as it is before it is dropped or written.
    fn image<'b>(&'b self, character: char, bytes: &'b mut [u8; 4]) -> &'b str {
        let text: &'b str = character.encode_utf8(bytes);
        if character.is_ascii() && self.plain.bytes[character as usize] {
            return text;
        }
        self.prefix(text, 0).map_or(text, |(image, _)| image)
    }

    fn space_character(&self) -> char {
        if self.space == BLANK { '\u{2581}' } else { ' ' }
    }

    /// Writes the normalized text as long as it `goes_on` at that length; returns where its original ends.
    fn run<const PLACES: bool>(
        &self,
        text: &str,
        out: &mut Written<PLACES>,
        mut goes_on: impl FnMut(usize) -> bool,
    ) -> usize {
        let bytes = text.as_bytes();
        let mut at = 0;
        if self.squeeze && !self.goes_on {
            while let Some((" ", length)) = self.prefix(text, at) {
                at += length;
            }
        }
        if at == text.len() {
            return at;
        }
        if self.dummy == Dummy::InFront {
            out.push(self.space, at);
        }
        let mut after_space = self.squeeze && !self.goes_on;
        while at < bytes.len() {
            if !goes_on(out.text.len()) {
                return at;
            }
            let run = self.plain_run(bytes, at);
            let is_run = run > at;
            if is_run {
                out.copy(text, at, run);
                (at, after_space) = (run, false);
            }
            if self.plain.space && bytes.get(at) == Some(&b' ') && bytes.get(at + 1).is_none_or(u8::is_ascii) {
                if !after_space {
                    out.push(self.space, at);
                    after_space = self.squeeze;
                }
                at += 1;
                continue;
            }
            if is_run {
                continue;
            }
            let Some((part, length)) = self.prefix(text, at) else { break };
            let kept = if after_space { part.trim_start_matches(' ') } else { part };
            if !kept.is_empty() {
                let mut rest = kept;
                // Most are one character: a search would take longer.
                while let Some(space) = rest.bytes().position(|byte| byte == b' ') {
                    out.push(&rest[..space], at);
                    out.push(self.space, at);
                    rest = &rest[space + 1..];
                }
                out.push(rest, at);
                after_space = self.squeeze && kept.ends_with(' ');
            }
            at += length;
        }
        if self.squeeze {
            while out.text.ends_with(self.space) {
                let length = out.text.len() - self.space.len();
                at = out.shorten(length, at);
            }
        }
        if self.dummy == Dummy::Behind {
            out.push(self.space, at);
        }
        at
    }

    /// The end of the run of bytes from `at` on that stay as they are.
    fn plain_run(&self, bytes: &[u8], at: usize) -> usize {
        let length = bytes[at..].iter().take_while(|&&byte| self.plain.bytes[usize::from(byte)]).count();
        let end = at + length;
        // A character after the last one may change it, unless it is ASCII.
        if length > 0 && bytes.get(end).is_some_and(|next| !next.is_ascii()) { end - 1 } else { end }
    }

    /// The next symbol, rule or character at `at`: its replacement, and its length.
    fn prefix<'t>(&'t self, text: &'t str, at: usize) -> Option<(&'t str, usize)> {
        let rest = &text[at..];
        let length = rest.chars().next()?.len_utf8();
        if let Some(length) = self.symbols.as_ref().and_then(|symbols| symbols.prefix(rest)) {
            return Some((&rest[..length], length));
        }
        let ruled = self.rules.as_ref().and_then(|rules| rules.longest(rest.as_bytes()));
        // A rule that ends within a character is none: such a table was not made from text.
        let ruled = ruled.filter(|&(_, length)| rest.is_char_boundary(length));
        Some(ruled.unwrap_or((&rest[..length], length)))
    }
}

/// The result so far, and where its bytes come from if that is asked for.
struct Written<const PLACES: bool> {
    text: String,
    from: Vec<usize>,
}

impl<const PLACES: bool> Written<PLACES> {
    /// Adds what comes from one place.
    fn push(&mut self, part: &str, from: usize) {
        self.text.push_str(part);
        if PLACES {
            self.from.extend(std::iter::repeat_n(from, part.len()));
        }
    }

    /// Adds ASCII as it is.
    fn copy(&mut self, text: &str, start: usize, end: usize) {
        self.text.push_str(&text[start..end]);
        if PLACES {
            self.from.extend(start..end);
        }
    }

    /// Takes away the end; returns where it came from (without places: `otherwise`).
    fn shorten(&mut self, length: usize, otherwise: usize) -> usize {
        self.text.truncate(length);
        let place = if PLACES { self.from.get(length).copied() } else { None };
        self.from.truncate(length);
        place.unwrap_or(otherwise)
    }
}

/// The symbols that are never changed.
#[derive(Clone, Debug)]
struct Symbols {
    all: Arc<[String]>,
    matcher: AhoCorasick,
    begin: [bool; 256],
}

impl Symbols {
    fn new(symbols: &[String]) -> std::result::Result<Option<Self>, String> {
        if symbols.is_empty() {
            return Ok(None);
        }
        let mut begin = [false; 256];
        for symbol in symbols {
            let first = symbol.as_bytes().first().ok_or("a user-defined symbol is empty")?;
            begin[usize::from(*first)] = true;
        }
        let matcher = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(StartKind::Anchored)
            .build(symbols)
            .map_err(|error| format!("its user-defined symbols are too many: {error}"))?;
        Ok(Some(Self { all: symbols.into(), matcher, begin }))
    }

    /// The length of the longest symbol that `rest` begins with.
    fn prefix(&self, rest: &str) -> Option<usize> {
        let first = *rest.as_bytes().first()?;
        if !self.begin[usize::from(first)] {
            return None;
        }
        self.matcher.find(Input::new(rest).anchored(Anchored::Yes)).map(|found| found.end())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn step(options: [bool; 4], symbols: &[&str], table: &[u8]) -> String {
        let [prefix, squeeze, escape, suffix] = options;
        let table = base64::engine::general_purpose::STANDARD.encode(table);
        serde_json::json!({
            "type": "SentencePiece", "precompiled_charsmap": table, "add_dummy_prefix": prefix,
            "remove_extra_whitespaces": squeeze, "escape_whitespaces": escape, "treat_whitespace_as_suffix": suffix,
            "user_defined_symbols": symbols,
        })
        .to_string()
    }

    /// A double array of the rules "b" -> "x", "bc" -> "", and TAB -> two spaces. Each node has a block of 256 units.
    fn table() -> Vec<u8> {
        const BLOCK: u32 = 256;
        let mut units = vec![0_u32; 6 * BLOCK as usize];
        let mut edge = |parent: u32, byte: u8, child: Option<u32>, value: Option<u32>| {
            let at = (parent * BLOCK) ^ u32::from(byte);
            let next = child.map_or(at, |child| child * BLOCK);
            let leaf = u32::from(value.is_some()) << 8;
            units[at as usize] = (at ^ next) << 10 | leaf | u32::from(byte);
            if let Some(value) = value {
                units[next as usize] = 1 << 31 | value;
            }
        };
        edge(1, b'b', Some(2), Some(0));
        edge(2, b'c', Some(3), Some(2));
        edge(1, b'\t', Some(4), Some(3));
        units[0] = BLOCK << 10;
        let trie: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        [&u32::try_from(trie.len()).unwrap().to_le_bytes()[..], &trie, b"x\0\0  \0"].concat()
    }

    /// The definition, character by character and without any fast path.
    fn slow(options: [bool; 4], symbols: &[&str], ruled: bool, text: &str) -> String {
        let [prefix, squeeze, escape, suffix] = options;
        let next = |rest: &str| -> (String, usize) {
            if let Some(symbol) = symbols.iter().filter(|symbol| rest.starts_with(**symbol)).max_by_key(|s| s.len()) {
                return ((*symbol).to_string(), symbol.len());
            }
            let table = [("bc", ""), ("b", "x"), ("\t", "  ")];
            // An unused unit of the array looks like a step over a zero byte that stays where it is.
            let ends = rest.trim_start_matches('\0');
            if let Some((from, to)) = table.iter().find(|(from, _)| ruled && ends.starts_with(from)) {
                return ((*to).to_string(), rest.len() - ends.len() + from.len());
            }
            let first = rest.chars().next().unwrap();
            (first.to_string(), first.len_utf8())
        };
        let mut rest = text;
        while squeeze && !rest.is_empty() && next(rest).0 == " " {
            rest = &rest[next(rest).1..];
        }
        if rest.is_empty() {
            return String::new();
        }
        let space = if escape { "▁" } else { " " };
        let mut out = String::new();
        if prefix && !suffix {
            out.push_str(space);
        }
        let mut after = squeeze;
        while !rest.is_empty() {
            let (part, length) = next(rest);
            let kept = if after { part.trim_start_matches(' ') } else { &part };
            if !kept.is_empty() {
                out.push_str(&kept.replace(' ', space));
                after = squeeze && kept.ends_with(' ');
            }
            rest = &rest[length..];
        }
        while squeeze && out.ends_with(space) {
            out.truncate(out.len() - space.len());
        }
        if prefix && suffix {
            out.push_str(space);
        }
        out
    }

    #[test]
    fn equals_the_definition() {
        let letters = [" ", "  ", "a", "b", "c", "\t", "é", "▁", "<s>", "\0"];
        let mut seed = 7_u64;
        for round in 0..20_000_u32 {
            let mut text = String::new();
            for _ in 0..round % 9 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(letters[(seed >> 33) as usize % letters.len()]);
            }
            let options = [round & 1 == 0, round & 2 == 0, round & 4 == 0, round & 0x18 == 0];
            let (ruled, symbols) = (round & 0x20 == 0, if round & 0x40 == 0 { &["<s>", "b b", "b "][..] } else { &[] });
            let table = if ruled { table() } else { Vec::new() };
            let normalizer = SentencePiece::parse(&step(options, symbols, &table)).unwrap();
            let expected = slow(options, symbols, ruled, &text);
            assert_eq!(normalizer.apply(&text), expected, "{options:?} {symbols:?} {ruled} {text:?}");
            let (aligned, from) = normalizer.apply_with_places(&text);
            assert_eq!(aligned, expected);
            assert_eq!(from.len(), aligned.len() + 1);
            let mut traced = Aligned::traced(text.as_str()).unwrap();
            crate::normalize::Normalizer::parse(&step(options, symbols, &table))
                .unwrap()
                .apply_aligned(&mut traced)
                .unwrap();
            assert_eq!(traced.text(), expected);
            for start in 0..aligned.len() {
                assert_eq!(traced.original(start..aligned.len()), Some(from[start]..from[aligned.len()]), "{text:?}");
            }
            assert!(from.is_sorted() && from.iter().all(|&place| text.is_char_boundary(place)), "{from:?} {text:?}");
        }
    }

    #[test]
    fn a_leading_space_is_kept_as_behind_a_character() {
        let parts = [" ", "  ", "a", "b", "bc", "\t", "é", "▁"];
        for squeeze in [true, false] {
            let plain = step([false, squeeze, true, false], &[], &table());
            let keeping = plain.replace('{', r#"{"keep_leading_space":true,"#);
            let [plain, keeping] = [plain, keeping].map(|step| crate::normalize::Normalizer::parse(&step).unwrap());
            for number in 0..parts.len().pow(3) {
                let text = [number / 64, number / 8 % 8, number % 8].map(|place| parts[place]).concat();
                let expected = plain.apply(&format!("|{text}")).strip_prefix('|').unwrap().to_owned();
                assert_eq!(keeping.apply(&text), expected, "{text:?}");
                let mut traced = Aligned::traced(text.as_str()).unwrap();
                keeping.apply_aligned(&mut traced).unwrap();
                assert_eq!(traced.text(), expected);
                // A "bc" in front becomes nothing, and what is behind it begins where the text does.
                assert!(expected.is_empty() || traced.original(0..expected.len()).unwrap().start == 0, "{text:?}");
            }
        }
        let both = step([true, true, true, false], &[], &[]).replace('{', r#"{"keep_leading_space":true,"#);
        assert!(SentencePiece::parse(&both).is_err());
    }

    #[test]
    fn a_broken_table_is_an_error_or_harmless() {
        let whole = table();
        for cut in (0..whole.len()).step_by(97) {
            if let Ok(normalizer) = SentencePiece::parse(&step([true; 4], &[], &whole[..cut])) {
                assert!(normalizer.apply("a").len() < 100);
            }
        }
        for flip in (0..whole.len() * 8).step_by(13) {
            let mut damaged = whole.clone();
            damaged[flip / 8] ^= 1 << (flip % 8);
            if let Ok(normalizer) = SentencePiece::parse(&step([true; 4], &[], &damaged)) {
                assert!(normalizer.apply("abc\tb \u{0}é").len() < 1000);
            }
        }
        assert!(SentencePiece::parse(&step([true; 4], &[""], &[])).is_err());
        assert!(SentencePiece::parse("{").is_err());
    }
}
