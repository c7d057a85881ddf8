//! BERT's normalizer: clean text, spaces around ideographs, no accents, small letters.
//!
//! The four stages see one character at a time, but for the decomposition in the third, which also sorts marks. Nearly all
//! marks go away there; where one stays that could have been sorted, the stages run one after another over the text.

use unicode_normalization_alignments::char::decompose_canonical;

use super::categories::{CHINESE, Categories, DECOMPOSES, NONSPACING, OTHER, SORTED, SPACE, categories};
use super::edges::{is_ascii, of_characters};
use super::simple::{any, lowercase, lowercase_edge, put_lowered, run_end};
use super::{Normalizer, forms};
use crate::edge::Edge;
use crate::error::Result;
use crate::normalize::aligned::{Aligned, Edit};

/// The enabled stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bert {
    /// Removes control characters and U+FFFD, and makes all white space spaces.
    pub clean_text: bool,
    /// Puts spaces around ideographs.
    pub handle_chinese_chars: bool,
    /// Decomposes characters and removes nonspacing marks; None follows `lowercase`.
    pub strip_accents: Option<bool>,
    /// Makes letters small.
    pub lowercase: bool,
}

/// The result of the first stage for a character.
enum Cleaned {
    Removed,
    Space,
    Kept,
}

impl Bert {
    /// Whether it removes nonspacing marks.
    pub(super) fn strips(self) -> bool {
        self.strip_accents.unwrap_or(self.lowercase)
    }

    /// The pass over the text.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn run(self, edit: &mut Edit) -> Result<()> {
        if self.run_at_once(edit) { Ok(()) } else { self.run_stages(edit) }
    }

    /// Its stages one after another, each with the edge of the one before.
    pub(super) fn edge(self, edge: &Edge) -> Option<Edge> {
        let categories = categories();
        let mut edge = edge.clone();
        if self.clean_text {
            edge = of_characters(&edge, |character, each| match self.clean(categories, character) {
                Cleaned::Removed => {}
                Cleaned::Space => each(' '),
                Cleaned::Kept => each(character),
            })?;
        }
        if is_ascii(&edge) {
            return if self.lowercase { lowercase_edge(&edge) } else { Some(edge) };
        }
        if self.handle_chinese_chars {
            edge = of_characters(&edge, |character, each| {
                let space = (categories.of(character) & CHINESE != 0).then_some(' ');
                space.into_iter().chain([character]).chain(space).for_each(each);
            })?;
        }
        if self.strips() {
            edge = forms::edge(&Normalizer::Nfd, &edge)?;
            edge = of_characters(&edge, |character, each| {
                if categories.of(character) & NONSPACING == 0 {
                    each(character);
                }
            })?;
        }
        if self.lowercase { lowercase_edge(&edge) } else { Some(edge) }
    }

    /// Whether [`Bert::edge`] depends on the first of some characters, and on the one in front of it, alone, if that is kept.
    pub(super) fn is_settled(self, right: &[char]) -> bool {
        right.get(1).is_some_and(|&next| {
            forms::settles(&Normalizer::Nfd, next) && !matches!(self.clean(categories(), next), Cleaned::Removed)
        })
    }

    /// Whether a character becomes something.
    pub(super) fn keeps(self, character: char) -> bool {
        let categories = categories();
        let mut is_something = !self.strips();
        forms::each_of_image(&Normalizer::Nfd, character, |part| {
            is_something |= categories.of(part) & NONSPACING == 0;
        });
        is_something && !matches!(self.clean(categories, character), Cleaned::Removed)
    }

    /// All stages for one character after the other; false where one is met that they cannot be so for.
    fn run_at_once(self, edit: &mut Edit) -> bool {
        let categories = categories();
        let text = edit.old();
        let becomes_space = |byte: u8| self.clean_text && matches!(byte, b'\t' | b'\n' | b'\r');
        let stays_one =
            |byte: u8| byte.is_ascii() && (!self.clean_text || matches!(byte, b' '..=b'~') || becomes_space(byte));
        let changes = |byte: u8| becomes_space(byte) || self.lowercase && byte.is_ascii_uppercase();
        let image = |byte: u8| match byte {
            byte if becomes_space(byte) => b' ',
            byte if self.lowercase => byte.to_ascii_lowercase(),
            byte => byte,
        };
        let mut at = 0;
        while at < text.len() {
            let end = run_end(text, at, stays_one);
            if any(&text[at..end], changes) {
                edit.put_images(end, image);
            } else {
                edit.keep(end);
            }
            at = end;
            for character in text[end..].chars().take_while(|&one| !u8::try_from(one).is_ok_and(stays_one)) {
                let category = categories.of(character);
                if category & SORTED != 0 && self.strips() {
                    return false;
                }
                at += character.len_utf8();
                self.one(edit, categories, (character, category), at);
            }
        }
        true
    }

    /// All stages for the next character, which ends at `to`.
    fn one(self, edit: &mut Edit, categories: &Categories, (character, category): (char, u8), to: usize) {
        if category & (OTHER | SPACE | CHINESE | DECOMPOSES | NONSPACING) == 0 && character != '\u{FFFD}' {
            return if self.lowercase { put_lowered(edit, character, to) } else { edit.keep(to) };
        }
        match self.clean(categories, character) {
            Cleaned::Removed => return edit.skip(to),
            Cleaned::Space => return edit.put(' ', to),
            Cleaned::Kept => {}
        }
        let spaced = self.handle_chinese_chars && category & CHINESE != 0;
        if spaced {
            edit.put(' ', to);
        }
        if self.strips() {
            let mut started = spaced;
            decompose_canonical(character, |part| {
                if categories.of(part) & NONSPACING != 0 {
                    return;
                }
                if !started && part == character && !self.lowercase {
                    edit.keep(to);
                } else if !started && self.lowercase {
                    put_lowered_of(edit, part, character, to);
                } else if !started {
                    edit.put(part, to);
                } else {
                    insert(edit, part, self.lowercase);
                }
                started = true;
            });
            if !started {
                edit.skip(to);
            }
        } else if spaced {
            insert(edit, character, self.lowercase);
        } else if self.lowercase {
            put_lowered(edit, character, to);
        } else {
            edit.keep(to);
        }
        if spaced {
            edit.insert_char(' ');
        }
    }

    fn clean(self, categories: &Categories, character: char) -> Cleaned {
        if !self.clean_text {
            return Cleaned::Kept;
        }
        let category = categories.of(character);
        match character {
            '\t' | '\n' | '\r' => Cleaned::Space,
            '\0' | '\u{FFFD}' => Cleaned::Removed,
            _ if category & OTHER != 0 => Cleaned::Removed,
            _ if category & SPACE != 0 => Cleaned::Space,
            _ => Cleaned::Kept,
        }
    }

    /// The stages one after another.
    fn run_stages(self, edit: &mut Edit) -> Result<()> {
        let categories = categories();
        let mut text = edit.copy_of_old()?;
        if self.clean_text {
            stage(&mut text, |edit, character, end| match self.clean(categories, character) {
                Cleaned::Removed => edit.skip(end),
                Cleaned::Space => edit.put(' ', end),
                Cleaned::Kept => edit.keep(end),
            })?;
        }
        if self.handle_chinese_chars {
            stage(&mut text, |edit, character, end| {
                if categories.of(character) & CHINESE == 0 {
                    return edit.keep(end);
                }
                edit.put(' ', end);
                edit.insert_char(character);
                edit.insert_char(' ');
            })?;
        }
        text.rewrite(|edit| {
            forms::run(&Normalizer::Nfd, edit);
            Ok(())
        })?;
        stage(&mut text, |edit, character, end| {
            if categories.of(character) & NONSPACING == 0 {
                edit.keep(end);
            } else {
                edit.skip(end);
            }
        })?;
        if self.lowercase {
            text.rewrite(|edit| {
                lowercase(edit);
                Ok(())
            })?;
        }
        edit.take_all(text);
        Ok(())
    }
}

/// The small letters of `part`, the first of them in the place of `whole`, which ends at `to`.
fn put_lowered_of(edit: &mut Edit, part: char, whole: char, to: usize) {
    if part == whole {
        return put_lowered(edit, part, to);
    }
    let mut lowered = part.to_lowercase();
    if let Some(first) = lowered.next() {
        edit.put(first, to);
    }
    lowered.for_each(|other| edit.insert_char(other));
}

fn insert(edit: &mut Edit, character: char, lowered: bool) {
    if lowered {
        character.to_lowercase().for_each(|other| edit.insert_char(other));
    } else {
        edit.insert_char(character);
    }
}

fn stage(text: &mut Aligned, mut one: impl FnMut(&mut Edit, char, usize)) -> Result<()> {
    text.rewrite(|edit| {
        for (at, character) in edit.old().char_indices() {
            one(edit, character, at + character.len_utf8());
        }
        Ok(())
    })
}
