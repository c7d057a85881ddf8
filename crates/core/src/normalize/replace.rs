//! Another text for each match of a pattern.

use crate::aligned::Edit;
use crate::error::{Error, Kind, Result};
use crate::split::pre::{Matches, Stated};

/// Bytes that a step may put in one place. Tokenizers in use put a few; what has more makes texts of any length.
const MOST_CONTENT: usize = 1024;

/// Refuses what a step would put into texts if it is too long.
pub(crate) fn check_content(content: &str) -> Result<()> {
    if content.len() <= MOST_CONTENT {
        return Ok(());
    }
    let what = format!("a step puts {} bytes in one place, more than {MOST_CONTENT}", content.len());
    Err(Error::new(Kind::Format, what).remedy("is the file what it should be? no tokenizer in use has such a step"))
}

/// What is looked for, and what is put in its place: at most 1,024 bytes.
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
        check_content(&content)?;
        Ok(Self { matches: Matches::new(pattern)?, content })
    }

    /// The pass over the text: what replaces a match has the origin of its last byte.
    pub(crate) fn run(&self, edit: &mut Edit) -> Result<()> {
        self.matches.each(edit.old(), |start, end| {
            if edit.fits() {
                edit.keep(start);
                edit.skip(end);
                edit.insert(&self.content);
            }
        })?;
        edit.check_length()?;
        edit.keep(edit.old().len());
        Ok(())
    }

    /// Whether each match is one character, in the place of which something stands.
    pub(super) fn keeps_start(&self) -> bool {
        self.matches.is_one_character() && !self.content.is_empty()
    }

    /// Whether a text is known to become no longer, and no pattern can give up.
    pub(crate) fn never_grows(&self) -> bool {
        self.matches.text().is_some_and(|text| text.len() >= self.content.len())
    }

    /// Whether a text is known to become at most sixteen times as long, and no pattern can give up.
    pub(crate) fn grows_little(&self) -> bool {
        self.matches.text().is_some() && self.content.len() <= 16
    }

    /// The text with all matches replaced, which has at most `most` bytes; None if nothing is.
    pub(crate) fn replaced(&self, text: &str, most: usize) -> Result<Option<String>> {
        let mut edit = Edit::new(text, None, most);
        self.run(&mut edit)?;
        Ok(edit.finish().map(|(text, _)| text))
    }
}
