//! GPT-2's pre-tokenizer: a space in front, its split pattern, and a printable character for each byte.

use super::{Behavior, Matches, PreTokenized, behavior};
use crate::error::Result;
use crate::normalize::spell;
use crate::split::matches::StatedPattern;
use crate::split::names;

#[derive(Clone)]
pub(super) struct ByteLevel {
    add_prefix_space: bool,
    /// The split pattern, if it is used.
    matches: Option<Matches>,
}

impl ByteLevel {
    pub(super) fn new(add_prefix_space: bool, use_regex: bool) -> Result<Self> {
        let matches = use_regex.then(|| Matches::new(&StatedPattern::Regex(names::GPT2.to_owned()))).transpose()?;
        Ok(Self { add_prefix_space, matches })
    }

    pub(super) fn cuts(&self) -> bool {
        self.matches.is_some()
    }

    pub(super) fn apply(&self, text: &mut PreTokenized) -> Result<()> {
        if self.add_prefix_space {
            text.respell(|edit, piece, pieces| {
                let start = edit.len();
                let first = edit.old()[piece.clone()].chars().next();
                if let Some(first) = first.filter(|&first| first != ' ') {
                    edit.put(' ', piece.start + first.len_utf8());
                    edit.insert_char(first);
                }
                edit.keep(piece.end);
                pieces.push(start..edit.len());
            });
        }
        if let Some(matches) = &self.matches {
            text.cut(|text, piece, pieces| behavior::split(matches, Behavior::Isolated, false, text, piece, pieces))?;
        }
        text.respell(|edit, piece, pieces| {
            let start = edit.len();
            spell(edit, piece.end);
            pieces.push(start..edit.len());
        });
        Ok(())
    }
}
