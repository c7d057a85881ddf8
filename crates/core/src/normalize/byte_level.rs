//! A printable character for each byte: GPT-2's byte alphabet.

use super::edges::of_characters;
use crate::edge::Edge;
use crate::files::byte_alphabet::CHARACTERS;
use crate::normalize::aligned::Edit;

/// Spells the rest of the text in the alphabet.
pub(super) fn run(edit: &mut Edit) {
    spell(edit, edit.old().len());
}

/// Each character becomes one or more by itself.
pub(super) fn edge(edge: &Edge) -> Option<Edge> {
    of_characters(edge, |character, each| {
        character.encode_utf8(&mut [0; 4]).bytes().map(|byte| CHARACTERS[usize::from(byte)]).for_each(each);
    })
}

/// Spells the old text up to `to` in the alphabet: the first byte of a character takes its place, the others follow.
pub(crate) fn spell(edit: &mut Edit, to: usize) {
    let text = edit.old();
    let mut at = edit.at();
    while at < to {
        at += text.as_bytes()[at..to].iter().position(|byte| !byte.is_ascii_graphic()).unwrap_or(to - at);
        edit.keep(at);
        let Some(character) = text[at..to].chars().next() else { break };
        let end = at + character.len_utf8();
        let mut bytes = text.as_bytes()[at..end].iter().map(|&byte| CHARACTERS[usize::from(byte)]);
        if let Some(first) = bytes.next() {
            edit.put(first, end);
        }
        bytes.for_each(|other| edit.insert_char(other));
        at = end;
    }
}
