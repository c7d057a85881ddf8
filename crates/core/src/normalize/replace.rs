//! Another text for each match of a pattern.

use crate::aligned::Edit;
use crate::error::Result;
use crate::split::pre::{Matches, Stated};

/// What is looked for, and what is put in its place.
pub struct Replace {
    matches: Matches,
    content: String,
}

impl std::fmt::Debug for Replace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replace").field("content", &self.content).finish_non_exhaustive()
    }
}

impl Replace {
    pub(crate) fn new(pattern: &Stated, content: String) -> Result<Self> {
        Ok(Self { matches: Matches::new(pattern)?, content })
    }

    /// The pass over the text: what replaces a match has the origin of its last byte.
    pub(crate) fn run(&self, edit: &mut Edit) -> Result<()> {
        self.matches.each(edit.old(), |start, end| {
            edit.keep(start);
            edit.skip(end);
            edit.insert(&self.content);
        })?;
        edit.keep(edit.old().len());
        Ok(())
    }

    /// Whether each match is one character, in the place of which something stands.
    pub(super) fn keeps_start(&self) -> bool {
        self.matches.is_one_character() && !self.content.is_empty()
    }

    /// The text with all matches replaced; None if nothing is.
    pub(crate) fn replaced(&self, text: &str) -> Result<Option<String>> {
        let mut edit = Edit::new(text, None);
        self.run(&mut edit)?;
        Ok(edit.finish().map(|(text, _)| text))
    }
}
