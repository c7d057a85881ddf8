//! A place between two parts of a text, and the characters around it that are certain.
//!
//! The stages of a tokenizer pass an edge on, each as the characters are after it, until one of them is sure to end a
//! piece there (`pipeline::cuts`).

/// The characters beside a place. The text further left and right may be any, and either part may end sooner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The last character of the left part, which then is not empty; None if nothing is certain, not even that it has one.
    pub(crate) left: Option<char>,
    right: [char; Self::MOST],
    length: usize,
}

impl Edge {
    /// The most characters that are kept of the right part: each stage that looks ahead takes one away.
    pub(crate) const MOST: usize = 4;

    /// An edge; None if no character of the right part is certain.
    pub(crate) fn new(left: Option<char>, right: impl IntoIterator<Item = char>) -> Option<Self> {
        let mut edge = Self { left, right: ['\0'; Self::MOST], length: 0 };
        for (place, character) in edge.right.iter_mut().zip(right) {
            *place = character;
            edge.length += 1;
        }
        (edge.length > 0).then_some(edge)
    }

    /// The first characters of the right part, at least one.
    pub(crate) fn right(&self) -> &[char] {
        &self.right[..self.length]
    }
}

/// The effect of a stage that cuts text into pieces at an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    /// A piece ends there, and either part has the pieces that it has alone.
    Wall,
    /// Either part is treated as it is alone, but perhaps for a piece that goes across, and these are its characters then.
    Inside {
        left: Option<char>,
        right: char,
        /// Whether a piece goes across for certain.
        joined: bool,
    },
    /// Nothing is certain.
    Unknown,
}
