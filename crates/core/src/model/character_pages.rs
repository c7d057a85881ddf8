//! Characters -> tokens, by pages of 256 characters.

use super::affixes::bare;
use super::token_table::{NONE, TokenTable};

/// Characters in one page.
const PAGE: usize = 256;

/// The tokens of single characters. Memory: a kilobyte for each page in use, five megabytes at most.
pub(super) struct CharacterPages {
    /// Where the page of 256 characters begins in `tokens`, over [`PAGE`]; page 0 is that of ASCII, all others that are
    /// not there share page 1, which is empty.
    pages: Vec<u16>,
    tokens: Vec<u32>,
}

impl CharacterPages {
    /// The characters that are tokens between this prefix and this suffix.
    pub(super) fn new(table: &TokenTable, prefix: &str, suffix: &str) -> Self {
        let mut pages = vec![1; (char::MAX as usize + 1) / PAGE];
        pages[0] = 0;
        let mut alphabet = Self { pages, tokens: vec![NONE; 2 * PAGE] };
        // Most tokens are longer, and comparing them takes longer than asking.
        let longest = prefix.len() + 4 + suffix.len();
        for (index, token) in (0..).zip(table.texts()).filter(|(_, token)| token.len() <= longest) {
            let mut characters = bare(token, prefix, suffix).unwrap_or_default().chars();
            if let (Some(character), None) = (characters.next(), characters.next()) {
                alphabet.insert(character, index);
            }
        }
        alphabet
    }

    /// Gives a character its token.
    fn insert(&mut self, character: char, token: u32) {
        let (page, at) = (character as usize / PAGE, character as usize % PAGE);
        if self.pages[page] == 1 {
            self.pages[page] = (self.tokens.len() / PAGE) as u16;
            self.tokens.resize(self.tokens.len() + PAGE, NONE);
        }
        self.tokens[usize::from(self.pages[page]) * PAGE + at] = token;
    }

    /// The token of a character, or [`NONE`].
    #[inline]
    pub(super) fn token(&self, character: char) -> u32 {
        if character.is_ascii() {
            return self.tokens[character as usize];
        }
        let page = self.pages[character as usize / PAGE];
        self.tokens[usize::from(page) * PAGE + character as usize % PAGE]
    }
}
