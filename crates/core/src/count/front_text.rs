//! Text that grows at its front.

use crate::error::Result;
use crate::memory::Room;
use crate::utf8::boundary;

/// Filler for the room in front of the text.
const SPACES: &str = match str::from_utf8(&[b' '; 1024]) {
    Ok(spaces) => spaces,
    Err(_) => " ",
};

/// It is stored at the end of a string; before it there are spaces, so that all text is moved only where they are spent.
#[derive(Default)]
pub(super) struct FrontText {
    stored: String,
    start: usize,
}

impl FrontText {
    /// The text.
    pub(super) fn text(&self) -> &str {
        &self.stored[self.start..]
    }

    /// Its bytes.
    pub(super) fn len(&self) -> usize {
        self.stored.len() - self.start
    }

    /// Puts text in front.
    ///
    /// Time: linear in that text, on average.
    ///
    /// # Errors
    /// `Memory`; the text is then as before.
    pub(super) fn prepend(&mut self, text: &str) -> Result<()> {
        if self.start < text.len() {
            let room = text.len() + self.len();
            let mut grown = String::new();
            grown.room(room + self.len())?;
            grown.extend(std::iter::repeat_n(' ', room));
            grown.push_str(self.text());
            self.stored = grown;
            self.start = room;
        }
        let start = self.start - text.len();
        self.stored.replace_range(start..self.start, text);
        self.start = start;
        Ok(())
    }

    /// Takes away all but the last so many bytes, which are those of characters.
    pub(super) fn truncate(&mut self, length: usize) {
        let start = self.stored.len().saturating_sub(length);
        // A part at a time, which takes no memory.
        while self.start < start {
            let end = boundary(&self.stored, start.min(self.start + SPACES.len()));
            self.stored.replace_range(self.start..end, &SPACES[..end - self.start]);
            self.start = end;
        }
    }
}
