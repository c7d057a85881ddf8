//! Splitting a pattern at its top-level `|`, and dropping possessive quantifiers where they change nothing, so that an
//! automaton can run it.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

/// `(?!\S)`, the one look-ahead of the family: white space or the end of the text comes next.
pub(super) const NO_TEXT_NEXT: &str = r"(?!\S)";

/// An atom (a character, a class, a group) and its quantifier.
struct Item<'p> {
    atom: &'p str,
    /// `?`, `*+`, `{1,3}`, ...; empty for exactly one.
    quantifier: &'p str,
}

impl Item<'_> {
    fn is_possessive(&self) -> bool {
        self.quantifier.len() > 1 && self.quantifier.ends_with('+')
    }

    /// Whether it is a group of flags and nothing else, such as `(?i)`.
    fn is_flags(&self) -> bool {
        let flags = self.atom.strip_prefix("(?").and_then(|rest| rest.strip_suffix(')'));
        flags.is_some_and(|flags| flags.chars().all(|flag| flag.is_ascii_alphabetic() || flag == '-'))
    }

    fn may_be_absent(&self) -> bool {
        self.quantifier.starts_with(['?', '*'])
            || self.quantifier.starts_with("{0")
            || self.quantifier.starts_with("{,")
    }

    /// The characters it matches, if it matches exactly one at a time.
    fn class(&self) -> Option<ClassUnicode> {
        match regex_syntax::parse(self.atom).ok()?.into_kind() {
            HirKind::Class(Class::Unicode(class)) => Some(class),
            HirKind::Literal(literal) => {
                let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
                let (only, None) = (characters.next()?, characters.next()) else { return None };
                Some(ClassUnicode::new([ClassUnicodeRange::new(only, only)]))
            }
            _ => None,
        }
    }
}

/// The items of a pattern, those inside groups too.
fn all_items(pattern: &str) -> impl Iterator<Item = Item<'_>> {
    let mut rest = pattern;
    std::iter::from_fn(move || {
        // Only the opening of a group is skipped, so that its inside is read as well.
        while let Some(inside) = rest.strip_prefix('(') {
            rest = inside.strip_prefix('?').unwrap_or(inside);
        }
        if rest.is_empty() {
            return None;
        }
        let (item, after) = next_item(rest);
        rest = after;
        Some(item)
    })
}

/// Whether a quantifier is possessive, which the automaton's syntax would read as something else.
pub(super) fn has_possessive(pattern: &str) -> bool {
    all_items(pattern).any(|item| item.is_possessive())
}

/// The characters that are escaped outside of classes.
pub(super) fn escapes(pattern: &str) -> impl Iterator<Item = char> + '_ {
    all_items(pattern).filter_map(|item| item.atom.strip_prefix('\\')?.chars().next())
}

/// The alternatives of a pattern without possessive quantifiers; None if one of those matters, or if there are flags at
/// the top level, which would govern more than their alternative.
pub(super) fn relaxed(pattern: &str) -> Option<Vec<String>> {
    let mut alternatives = vec![Vec::new()];
    let mut rest = pattern;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('|') {
            alternatives.push(Vec::new());
            rest = after;
            continue;
        }
        let (item, after) = next_item(rest);
        if item.is_flags() {
            return None;
        }
        alternatives.last_mut()?.push(item);
        rest = after;
    }
    alternatives.iter().map(|items| relax(items)).collect()
}

fn relax(items: &[Item]) -> Option<String> {
    let mut text = String::new();
    for (at, item) in items.iter().enumerate() {
        text.push_str(item.atom);
        let kept = if item.is_possessive() {
            if !greedy_suffices(item, &items[at + 1..]) {
                return None;
            }
            &item.quantifier[..item.quantifier.len() - 1]
        } else {
            item.quantifier
        };
        text.push_str(kept);
    }
    Some(text)
}

/// Characters of ASCII, as bits, of which each match of some alternatives has at least one where all text is ASCII.
pub(super) fn needed(alternatives: &[String]) -> u128 {
    alternatives.iter().fold(0, |needed, alternative| {
        let body = alternative.strip_suffix(NO_TEXT_NEXT).unwrap_or(alternative);
        needed | regex_syntax::parse(body).map_or(u128::MAX, |parsed| needed_by(&parsed))
    })
}

/// The characters of ASCII in a class, as bits.
pub(super) fn ascii(class: &ClassUnicode) -> u128 {
    class.ranges().iter().filter(|range| range.start().is_ascii()).fold(0, |set, range| {
        let (first, last) = (u32::from(range.start()), u32::from(range.end()).min(127));
        set | (u128::MAX >> (127 - last)) & (u128::MAX << first)
    })
}

fn needed_by(part: &Hir) -> u128 {
    let bit = |byte: u8| if byte.is_ascii() { 1 << byte } else { 0 };
    match part.kind() {
        HirKind::Class(Class::Unicode(class)) => ascii(class),
        HirKind::Literal(literal) => literal.0.first().map_or(u128::MAX, |&byte| bit(byte)),
        HirKind::Capture(capture) => needed_by(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => needed_by(&repetition.sub),
        // All of them are: those are the fewest that tell most.
        HirKind::Concat(parts) => parts.iter().map(needed_by).min_by_key(|set| set.count_ones()).unwrap_or(u128::MAX),
        HirKind::Alternation(parts) => parts.iter().fold(0, |set, part| set | needed_by(part)),
        _ => u128::MAX,
    }
}

/// Whether giving characters back could never make the rest match: then greedy and possessive are the same.
fn greedy_suffices(item: &Item, rest: &[Item]) -> bool {
    let Some(class) = item.class() else { return rest.is_empty() };
    for next in rest {
        if matches!(next.atom, "$" | r"\z") {
            if next.may_be_absent() {
                continue;
            }
            return true;
        }
        let Some(mut common) = next.class() else { return false };
        common.intersect(&class);
        if !common.ranges().is_empty() {
            return false;
        }
        if !next.may_be_absent() {
            return true;
        }
    }
    true
}

/// The first atom of a pattern with its quantifier, and the rest.
fn next_item(pattern: &str) -> (Item<'_>, &str) {
    let (atom, rest) = pattern.split_at(atom_length(pattern));
    let (quantifier, rest) = rest.split_at(quantifier_length(rest));
    (Item { atom, quantifier }, rest)
}

/// The length of the atom at the start: an escape, a class, a group, or one character.
fn atom_length(pattern: &str) -> usize {
    let mut characters = pattern.char_indices();
    let mut classes = 0_usize;
    let mut groups = 0_usize;
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                let escaped = characters.next().map_or('\\', |(_, escaped)| escaped);
                let braced = matches!(escaped, 'p' | 'P' | 'x' | 'u' | 'U') && characters.as_str().starts_with('{');
                if braced {
                    characters.find(|&(_, character)| character == '}');
                } else if matches!(escaped, 'p' | 'P') {
                    characters.next();
                }
            }
            '[' => classes += 1,
            ']' if classes > 0 => classes -= 1,
            '(' if classes == 0 => groups += 1,
            ')' if classes == 0 && groups > 0 => groups -= 1,
            _ => {}
        }
        if classes == 0 && groups == 0 {
            return characters.as_str().as_ptr().addr() - pattern.as_ptr().addr();
        }
        // `]` right after the opening, or after its `^`, is a literal.
        if character == '[' {
            let opened = &pattern[at + 1..];
            let negation = usize::from(opened.starts_with('^'));
            if opened[negation..].starts_with(']') {
                characters.nth(negation);
            }
        }
    }
    pattern.len()
}

/// The length of the quantifier at the start, its lazy or possessive mark included.
fn quantifier_length(pattern: &str) -> usize {
    let bare = match pattern.bytes().next() {
        Some(b'?' | b'*' | b'+') => 1,
        Some(b'{') => {
            let counts = pattern[1..].split('}').next().unwrap_or_default();
            let counted = counts.len() + 1 < pattern.len() && counts.chars().all(|c| c.is_ascii_digit() || c == ',');
            if counted { counts.len() + 2 } else { 0 }
        }
        _ => 0,
    };
    bare + usize::from(bare > 0 && pattern[bare..].starts_with(['?', '+']))
}
