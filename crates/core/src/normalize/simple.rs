//! Normalizers that look at one character at a time.

use unicode_normalization_alignments::char::is_combining_mark;

use super::edges::of_characters;
use crate::edge::Edge;
use crate::normalize::aligned::Edit;

/// Where the run of bytes from `start` on ends that are `like`.
#[inline]
pub(super) fn run_end(text: &str, start: usize, like: impl Fn(u8) -> bool) -> usize {
    /// So many bytes are looked at together, once as many were like it one by one: most runs in other scripts are short.
    const TOGETHER: usize = 64;
    let end_within = |start: usize, end: usize| {
        text.as_bytes()[start..end].iter().position(|&byte| !like(byte)).map_or(end, |length| start + length)
    };
    let near = text.len().min(start + TOGETHER);
    let end = end_within(start, near);
    if end < near {
        return end;
    }
    // Without an early end in a block, many bytes are compared at once.
    let all = |block: &&[u8]| block.iter().fold(true, |all, &byte| all & like(byte));
    let blocks = text.as_bytes()[end..].chunks(TOGETHER).take_while(all);
    end_within(end + blocks.map(<[u8]>::len).sum::<usize>(), text.len())
}

/// Whether a byte of a text is `like`.
#[inline]
pub(super) fn any(text: &str, like: impl Fn(u8) -> bool) -> bool {
    text.as_bytes().chunks(1024).any(|block| block.iter().fold(false, |any, &byte| any | like(byte)))
}

/// Where the run of ASCII from `start` on ends.
fn ascii_end(text: &str, start: usize) -> usize {
    run_end(text, start, |byte| byte.is_ascii())
}

/// Each character of the rest of the text, with where it ends; runs of ASCII are kept if `ascii` is.
fn each(edit: &mut Edit, ascii: bool, mut one: impl FnMut(&mut Edit, char, usize)) {
    let text = edit.old();
    while edit.at() < text.len() {
        let start = edit.at();
        if ascii {
            edit.keep(ascii_end(text, start));
        }
        let mut at = edit.at();
        for character in text[at..].chars() {
            if ascii && character.is_ascii() {
                break;
            }
            at += character.len_utf8();
            one(edit, character, at);
        }
    }
}

/// Small letters: the full mapping of each character, whatever stands around it.
pub(super) fn lowercase(edit: &mut Edit) {
    let text = edit.old();
    while edit.at() < text.len() {
        let start = edit.at();
        let end = ascii_end(text, start);
        if any(&text[start..end], |byte| byte.is_ascii_uppercase()) {
            edit.put_images(end, |byte| byte.to_ascii_lowercase());
        } else {
            edit.keep(end);
        }
        let mut at = end;
        for character in text[end..].chars().take_while(|character| !character.is_ascii()) {
            at += character.len_utf8();
            put_lowered(edit, character, at);
        }
    }
}

/// Each character becomes small letters by itself.
pub(super) fn lowercase_edge(edge: &Edge) -> Option<Edge> {
    of_characters(edge, |character, each| {
        if character.is_ascii() {
            each(character.to_ascii_lowercase());
        } else {
            character.to_lowercase().for_each(each);
        }
    })
}

/// The small letters of the next character, which ends at `to`.
#[inline]
pub(super) fn put_lowered(edit: &mut Edit, character: char, to: usize) {
    if is_small(character) {
        return edit.keep(to);
    }
    let mut lowered = character.to_lowercase();
    match (lowered.next(), lowered.len()) {
        (Some(first), 0) if first == character => edit.keep(to),
        (Some(first), _) => {
            edit.put(first, to);
            lowered.for_each(|other| edit.insert_char(other));
        }
        (None, _) => edit.skip(to),
    }
}

/// Whether a character is one of the most that stay as they are: small letters of Latin, Greek and Cyrillic, and those of scripts
/// without capitals. The table of all takes a search.
#[inline]
fn is_small(character: char) -> bool {
    matches!(
        character,
        '\u{DF}'..='\u{FF}'
            | '\u{3AC}'..='\u{3CE}'
            | '\u{430}'..='\u{45F}'
            | '\u{590}'..='\u{109F}'
            | '\u{2000}'..='\u{20FF}'
            | '\u{2E00}'..='\u{A63F}'
            | '\u{AC00}'..='\u{FEFF}'
    )
}

/// No white space at the ends.
pub(super) fn strip(edit: &mut Edit, left: bool, right: bool) {
    let text = edit.old();
    let start = if left { text.len() - text.trim_start().len() } else { 0 };
    let end = if right { text.trim_end().len().max(start) } else { text.len() };
    if start > 0 {
        edit.skip(start);
    }
    edit.keep(end);
    if end < text.len() {
        edit.skip(text.len());
    }
}

/// What is white space at an end of the whole must be so for the part that has it: not if it could go on in the other one.
pub(super) fn strip_edge(edge: &Edge, left: bool, right: bool) -> Option<Edge> {
    let text_before = edge.left.is_some_and(|character| !character.is_whitespace());
    let certain = text_before || !right && (!left || !edge.right()[0].is_whitespace());
    // A part of white space alone becomes nothing.
    let kept = edge.left.filter(|_| text_before || !left);
    if certain { Edge::new(kept, edge.right().iter().copied()) } else { None }
}

/// No characters of general category M, as of Unicode 9.
pub(super) fn strip_accents(edit: &mut Edit) {
    each(edit, true, |edit, character, end| {
        if is_combining_mark(character) {
            edit.skip(end);
        } else {
            edit.keep(end);
        }
    });
}

/// Each character stays or not by itself.
pub(super) fn strip_accents_edge(edge: &Edge) -> Option<Edge> {
    of_characters(edge, |character, each| {
        if !is_combining_mark(character) {
            each(character);
        }
    })
}

/// `content` before the first character: its first character takes that one's place, so that it has its origin.
pub(super) fn prepend(edit: &mut Edit, content: &str) {
    let text = edit.old();
    let (Some(first), mut characters) = (text.chars().next(), content.chars()) else { return };
    if let Some(start) = characters.next() {
        edit.put(start, first.len_utf8());
        edit.insert(characters.as_str());
        edit.insert_char(first);
    } else if edit.is_traced() {
        // Nothing is put there, and still the first character is written anew: it comes from nothing.
        edit.insert_char(first);
        edit.skip(first.len_utf8());
    }
    edit.keep(text.len());
}

/// No control characters, and spaces for what counts as white space.
pub(super) fn nmt(edit: &mut Edit) {
    each(edit, false, |edit, character, end| match nmt_image(character) {
        None => edit.skip(end),
        Some(same) if same == character => edit.keep(end),
        Some(space) => edit.put(space, end),
    });
}

/// Each character has its image by itself.
pub(super) fn nmt_edge(edge: &Edge) -> Option<Edge> {
    of_characters(edge, |character, each| nmt_image(character).into_iter().for_each(each))
}

fn nmt_image(character: char) -> Option<char> {
    match character {
        '\u{1}'..='\u{8}' | '\u{B}' | '\u{E}'..='\u{1F}' | '\u{7F}' | '\u{8F}' | '\u{9F}' => None,
        '\t'
        | '\n'
        | '\u{C}'
        | '\r'
        | '\u{1680}'
        | '\u{200B}'..='\u{200F}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{2581}'
        | '\u{FEFF}'
        | '\u{FFFD}' => Some(' '),
        _ => Some(character),
    }
}
