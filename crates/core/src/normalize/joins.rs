//! The characters between which a rule of a table, or a symbol, may lie.

use rustc_hash::{FxHashMap, FxHashSet};

use super::rules::Rules;

/// The most steps through a table: those in use take some ten million, and a broken one could take any number.
const MOST_STEPS: usize = 1 << 26;

/// A set of characters, those of ASCII as bits.
#[derive(Clone, Debug, Default)]
struct Characters {
    ascii: u128,
    others: FxHashSet<char>,
}

impl Characters {
    fn insert(&mut self, character: char) {
        if character.is_ascii() {
            self.ascii |= 1 << u32::from(character);
        } else {
            self.others.insert(character);
        }
    }

    #[inline]
    fn has(&self, character: char) -> bool {
        if character.is_ascii() {
            self.ascii >> u32::from(character) & 1 == 1
        } else {
            self.others.contains(&character)
        }
    }
}

/// The characters of what is replaced or kept as a whole, by their places in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Joins {
    /// Those that are not the first of some source.
    later: Characters,
    /// Those that begin a source of several.
    long: Characters,
    /// Those that end a source of several of which nothing is left, or white space at the end.
    blank: Characters,
    /// Those that begin a source of several of which nothing is left, or white space at the beginning.
    blank_first: Characters,
    /// Those that may follow U+0000 at the beginning: the units of a table that are not in use look like a step over it.
    after_zero: Characters,
}

impl Joins {
    /// Those of a table's rules and of symbols, which stay as they are; None if the table is broken or too large.
    pub(super) fn new(rules: Option<&Rules>, symbols: &[String]) -> Option<Self> {
        let mut joins = Self::default();
        for symbol in symbols {
            let mut characters = symbol.chars();
            let first = characters.next();
            let Some(last) = characters.next_back() else { continue };
            if let Some(first) = first {
                joins.long.insert(first);
                if begins_blank(symbol) {
                    joins.blank_first.insert(first);
                }
            }
            if is_blank(symbol) {
                joins.blank.insert(last);
            }
            characters.chain([last]).for_each(|later| joins.later.insert(later));
        }
        rules.map_or(Some(()), |rules| joins.read(rules))?;
        Some(joins)
    }

    fn read(&mut self, rules: &Rules) -> Option<()> {
        let (mut budget, root) = (MOST_STEPS, rules.root());
        let (mut firsts, mut nodes) = (Vec::new(), Vec::new());
        let mut over_zero = false;
        rules.each_character(root, &mut budget, |first, node, value| {
            if (first, node, value) == ('\0', root, None) {
                over_zero = true;
            } else {
                firsts.push((first, node));
                nodes.push(node);
            }
        })?;
        if over_zero {
            self.later.insert('\0');
            self.long.insert('\0');
            for &(first, _) in &firsts {
                self.after_zero.insert(first);
            }
        }
        let (mut seen, mut inner) = (FxHashSet::default(), FxHashSet::default());
        // Sources with equal ends share nodes: whose sources become blank is carried back to their first characters.
        let (mut before, mut blank) = (FxHashMap::<_, Vec<_>>::default(), Vec::new());
        while let Some(node) = nodes.pop() {
            if !seen.insert(node) {
                continue;
            }
            rules.each_character(node, &mut budget, |later, next, value| {
                self.later.insert(later);
                let replaced =
                    |is: fn(&str) -> bool| value.is_some_and(|value| rules.replacement(value).is_none_or(is));
                if replaced(is_blank) {
                    self.blank.insert(later);
                }
                if replaced(begins_blank) {
                    blank.push(node);
                }
                inner.insert(node);
                before.entry(next).or_default().push(node);
                nodes.push(next);
            })?;
        }
        let mut begins_blank = FxHashSet::default();
        while let Some(node) = blank.pop() {
            if begins_blank.insert(node) {
                blank.extend(before.get(&node).into_iter().flatten());
            }
        }
        for (first, node) in firsts {
            if inner.contains(&node) {
                self.long.insert(first);
            }
            if begins_blank.contains(&node) {
                self.blank_first.insert(first);
            }
        }
        Some(())
    }

    /// Whether a source may lie across the place between two characters; the left one is None if nothing is known of it.
    #[inline]
    pub(super) fn across(&self, left: Option<char>, right: char) -> bool {
        self.later.has(right) || left.is_none_or(|left| left == '\0') && self.after_zero.has(right)
    }

    /// Whether a source may end with a character that is not its first.
    #[inline]
    pub(super) fn is_later(&self, character: char) -> bool {
        self.later.has(character)
    }

    /// Whether a source may have a character of ASCII that is not its first.
    pub(super) fn has_later_ascii(&self) -> bool {
        self.later.ascii != 0
    }

    /// Whether a source may begin with a character and go on.
    #[inline]
    pub(super) fn is_long(&self, character: char) -> bool {
        self.long.has(character)
    }

    /// Whether a source of several characters that begins with this one may leave nothing, or white space at the beginning.
    #[inline]
    pub(super) fn may_begin_blank(&self, first: char) -> bool {
        self.blank_first.has(first)
    }

    /// Whether a source of several characters that ends with this one may leave nothing, or white space at the end.
    #[inline]
    pub(super) fn may_be_blank(&self, last: char) -> bool {
        self.blank.has(last)
    }
}

fn begins_blank(text: &str) -> bool {
    text.is_empty() || text.starts_with([' ', '\u{2581}'])
}

fn is_blank(text: &str) -> bool {
    text.is_empty() || text.ends_with([' ', '\u{2581}'])
}
