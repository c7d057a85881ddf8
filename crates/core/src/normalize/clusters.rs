//! Whether a grapheme cluster ends between two characters, whatever the text around them.
//!
//! Beyond the two, it depends on the text to the left in three ways only (UAX #29): regional indicators are counted in
//! pairs, so that any two in a row may be one; and behind characters that extend what is before them, a pictograph may
//! join another one, and a consonant another one. So a few texts to the left stand for all.

use unicode_segmentation::UnicodeSegmentation;

/// A pictograph, a consonant, a consonant with a linker.
const CONTEXTS: [&str; 3] = ["\u{1F600}", "\u{915}", "\u{915}\u{94D}"];

/// Characters that join what comes after them.
pub(super) const PREPENDED: &str = "\
    600-605 6DD 70F 890-891 8E2 D4E 110BD 110CD 111C2-111C3 113D1 1193F 11941 11A84-11A89 11D46 11F02";

/// The first cluster of a text. Where it ends, the next one of the text begins as the first of what is left.
#[inline]
pub(super) fn first_cluster(text: &str) -> &str {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        // Most do not need the rules.
        (Some(first), Some(second)) if are_plain(first, second) => &text[..first.len_utf8()],
        _ => text.graphemes(true).next().unwrap_or_default(),
    }
}

/// Whether a cluster certainly ends between two characters.
pub(super) fn is_end(left: char, right: char) -> bool {
    if are_plain(left, right) {
        return true;
    }
    let extends = !ends_behind("", 'a', left);
    ends_behind("", left, right) && (!extends || CONTEXTS.iter().all(|context| ends_behind(context, left, right)))
}

/// Whether a character joins no character before it but one of [`PREPENDED`], or one of its kind.
pub(super) fn stands_alone(character: char) -> bool {
    is_plain(character) || ends_behind("", 'a', character)
}

/// Whether a cluster ends between two characters that come after a text.
fn ends_behind(context: &str, left: char, right: char) -> bool {
    let mut bytes = [0; 16];
    let mut length = context.len();
    bytes[..length].copy_from_slice(context.as_bytes());
    length += left.encode_utf8(&mut bytes[length..]).len();
    let place = length;
    length += right.encode_utf8(&mut bytes[length..]).len();
    let text = std::str::from_utf8(&bytes[..length]).unwrap_or_default();
    text.grapheme_indices(true).any(|(start, _)| start == place)
}

/// Whether two characters are of common kinds, of which any two in a row are in two clusters.
#[inline]
fn are_plain(left: char, right: char) -> bool {
    is_plain(left) && is_plain(right) && (left, right) != ('\r', '\n')
}

/// Whether it is of a common kind of which any two in a row are in two clusters, but for a line end.
fn is_plain(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{AC}'
            | '\u{AE}'..='\u{2FF}'
            | '\u{370}'..='\u{482}'
            | '\u{48A}'..='\u{590}'
            | '\u{5D0}'..='\u{5FF}'
            | '\u{620}'..='\u{64A}'
            | '\u{904}'..='\u{939}'
            | '\u{E01}'..='\u{E30}'
            | '\u{1E00}'..='\u{200A}'
            | '\u{2010}'..='\u{2027}'
            | '\u{3000}'..='\u{3029}'
            | '\u{3041}'..='\u{3096}'
            | '\u{309B}'..='\u{312F}'
            | '\u{3400}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7A3}'
            | '\u{FF01}'..='\u{FF9D}'
            | '\u{1F300}'..='\u{1F3FA}'
            | '\u{1F400}'..='\u{1FAFF}'
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::categories::ranges;
    use super::*;

    /// One character of each kind that the rules tell apart.
    const KINDS: [char; 21] = [
        '\r',
        '\n',
        '\u{1}',
        ' ',
        'a',
        '\u{300}',
        '\u{94D}',
        '\u{93F}',
        '\u{200D}',
        '\u{200C}',
        '\u{600}',
        '\u{915}',
        '\u{1100}',
        '\u{1161}',
        '\u{11A8}',
        '\u{AC00}',
        '\u{AC01}',
        '\u{1F1E6}',
        '\u{1F600}',
        '\u{1F3FB}',
        '\u{E0020}',
    ];

    #[test]
    fn any_two_plain_characters_are_in_two_clusters() {
        for character in ('\0'..=char::MAX).filter(|&character| is_plain(character)) {
            for other in KINDS.into_iter().filter(|&other| is_plain(other)) {
                for (left, right) in [(character, other), (other, character)] {
                    let ends = ["", CONTEXTS[0], CONTEXTS[1], CONTEXTS[2], "\u{1F1E6}", "\u{1F600}\u{200D}", "a"]
                        .iter()
                        .all(|context| ends_behind(context, left, right));
                    assert_eq!(ends, (left, right) != ('\r', '\n'), "{left:?} {right:?}");
                }
            }
        }
    }

    #[test]
    fn clusters_one_by_one_are_those_of_the_whole() {
        for length in 1..5_u32 {
            for number in 0..KINDS.len().pow(length) {
                let text: String =
                    (0..length).map(|place| KINDS[number / KINDS.len().pow(place) % KINDS.len()]).collect();
                let mut rest = text.as_str();
                for cluster in text.graphemes(true) {
                    assert_eq!(first_cluster(rest), cluster, "{text:?}");
                    rest = &rest[cluster.len()..];
                }
            }
        }
    }

    #[test]
    fn a_few_texts_to_the_left_stand_for_all() {
        let mut ends = 0;
        for length in 0..3_u32 {
            for number in 0..KINDS.len().pow(length) {
                let context: String =
                    (0..length).map(|place| KINDS[number / KINDS.len().pow(place) % KINDS.len()]).collect();
                for left in KINDS {
                    for right in KINDS {
                        if !is_end(left, right) {
                            continue;
                        }
                        let text = format!("{context}{left}{right}");
                        let place = text.len() - right.len_utf8();
                        assert!(text.grapheme_indices(true).any(|(start, _)| start == place), "{text:?}");
                        ends += 1;
                    }
                }
            }
        }
        assert!(ends > 100_000, "{ends}");
    }

    #[test]
    fn each_character_is_of_a_kind() {
        let listed: Vec<(u32, u32)> = ranges(PREPENDED).collect();
        let of = |left: char, right: char| CONTEXTS.map(|context| ends_behind(context, left, right));
        let signature = |one: char| KINDS.map(|kind| (of(kind, one), ends_behind("", one, kind)));
        let known: Vec<_> = KINDS.map(signature).into_iter().collect();
        // Of the ideographs and syllables, some.
        let many = |one: char| matches!(one, '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}');
        let all = ('\0'..'\u{20000}').filter(|&one| !many(one) || u32::from(one) % 29 == 0);
        for character in all.chain('\u{E0000}'..'\u{E0200}').chain('\u{F0000}'..'\u{F0010}') {
            let prepended = !ends_behind("", character, 'a');
            let is_listed = listed.iter().any(|&(start, end)| (start..=end).contains(&character.into()));
            assert!(!prepended || is_listed, "{character:?}");
            assert!(known.contains(&signature(character)), "{character:?}");
        }
    }
}
