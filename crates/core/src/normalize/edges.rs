//! Edges through normalizers: what is certain beside a place of a text is made what is certain of the normalized parts.
//!
//! A place counts if each part becomes what it becomes in the whole, whatever the text further left and right: the right
//! part as a text that goes on ([`Normalizer::going_on`](super::Normalizer::going_on)). Each normalizer has its argument
//! beside its code; in doubt the place does not count. Of the right part those characters remain that it begins with
//! however it goes on, also if it ends before the characters that were known of it.

use crate::edge::Edge;

/// The first characters of a right part, while they are collected.
pub(super) struct Beginning {
    characters: [char; Edge::MOST],
    length: usize,
}

impl Beginning {
    pub(super) fn new() -> Self {
        Self { characters: ['\0'; Edge::MOST], length: 0 }
    }

    /// Adds a character; nothing if there are enough.
    #[inline]
    pub(super) fn push(&mut self, character: char) {
        if let Some(place) = self.characters.get_mut(self.length) {
            *place = character;
            self.length += 1;
        }
    }

    /// Adds several.
    pub(super) fn extend(&mut self, characters: impl IntoIterator<Item = char>) {
        characters.into_iter().for_each(|character| self.push(character));
    }

    /// The edge with this right part; None if nothing of it is certain.
    pub(super) fn edge(&self, left: Option<char>) -> Option<Edge> {
        Edge::new(left, self.characters[..self.length].iter().copied())
    }
}

/// The edge after each character became its image, whatever stands around it: `image` calls a function with each character
/// of it.
#[inline]
pub(super) fn of_characters(edge: &Edge, image: impl Fn(char, &mut dyn FnMut(char))) -> Option<Edge> {
    let (mut last, mut beginning) = (None, Beginning::new());
    if let Some(left) = edge.left {
        image(left, &mut |character| last = Some(character));
    }
    for &character in edge.right() {
        image(character, &mut |character| beginning.push(character));
    }
    beginning.edge(last)
}

/// Whether all characters of an edge are of ASCII.
#[inline]
pub(super) fn is_ascii(edge: &Edge) -> bool {
    edge.left.is_none_or(|left| left.is_ascii()) && edge.right().iter().all(char::is_ascii)
}

#[cfg(test)]
mod tests;
