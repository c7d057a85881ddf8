//! The regular expressions whose matches are known without running them: one character of a class, or a run of them.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

/// The form that all matches of an expression have.
#[derive(Clone, Debug)]
pub(super) enum Spans {
    /// Each character of a class.
    Characters(Members),
    /// Each run of characters of a class that is at least so long, as far as it goes.
    Runs { class: Members, least: usize },
}

impl Spans {
    /// None if they are something else.
    pub(super) fn of(regex: &str) -> Option<Self> {
        let parsed = regex_syntax::parse(regex).ok()?;
        if let Some(class) = class(&parsed) {
            return Some(Self::Characters(class));
        }
        match parsed.kind() {
            HirKind::Repetition(runs) if runs.max.is_none() && runs.greedy && runs.min > 0 => {
                Some(Self::Runs { class: class(&runs.sub)?, least: runs.min as usize })
            }
            _ => None,
        }
    }

    /// Whether they are all runs of white space.
    pub(super) fn are_white_space(&self) -> bool {
        let Self::Runs { class, least: 1 } = self else { return false };
        matches!(Self::of(r"\s"), Some(Self::Characters(white)) if white.class == class.class)
    }
}

/// The characters of a class, those of ASCII also as bits.
#[derive(Clone, Debug)]
pub(super) struct Members {
    ascii: u128,
    class: ClassUnicode,
}

impl Members {
    fn new(class: ClassUnicode) -> Self {
        let members = Self { ascii: 0, class };
        let bits = (0..128_u8).filter(|&byte| members.is_listed(byte.into())).fold(0, |bits, byte| bits | 1 << byte);
        Self { ascii: bits, ..members }
    }

    /// Whether a character is one of them.
    #[inline]
    pub(super) fn has(&self, character: char) -> bool {
        if character.is_ascii() { self.ascii >> u32::from(character) & 1 == 1 } else { self.is_listed(character) }
    }

    fn is_listed(&self, character: char) -> bool {
        let ranges = self.class.ranges();
        let place = ranges.partition_point(|range| range.end() < character);
        ranges.get(place).is_some_and(|range| range.start() <= character)
    }
}

/// The class of an expression that matches one character.
fn class(expression: &Hir) -> Option<Members> {
    match expression.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(Members::new(class.clone())),
        HirKind::Literal(literal) => {
            let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
            let (only, None) = (characters.next()?, characters.next()) else { return None };
            Some(Members::new(ClassUnicode::new([ClassUnicodeRange::new(only, only)])))
        }
        _ => None,
    }
}
