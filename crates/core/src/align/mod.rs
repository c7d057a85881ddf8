//! The alignment of two tokenizations of one text: the finest groups of tokens that cover the same text.
//!
//! Tokens side by side and tokens anywhere are grouped in two ways; a fifth of the file is tests.

mod lengths;

pub use self::lengths::{lengths_around, may_change};
use crate::eight_bytes::bits;
use crate::error::Result;
use crate::memory::{self, Room};

/// The tokens of some texts by one tokenizer, and where they are in their texts.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Where the tokens of each text begin, and the end of the last.
    pub offsets: &'a [i64],
    /// Whether the tokens of each text lie side by side and cover it, so that their lengths say where they are. A token of
    /// length 0, such as a space in front that the text does not have, has the place of the one behind it.
    pub covers: &'a [bool],
    /// The length of each token; of no meaning where they do not cover their text.
    pub lengths: &'a [u8],
    /// The start and end of each token; may be empty if all texts are covered. Starts ascend in each text.
    pub places: &'a [[i64; 2]],
}

/// Groups of tokens in the order of the texts. Group `g` has the tokens `a[g]..a[g + 1]` of the first tokenizer and
/// `b[g]..b[g + 1]` of the second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// The first group of each text, and the end of the last.
    pub rows: Vec<i64>,
    /// The first token of each group by the first tokenizer, and the end of the last group.
    pub a: Vec<i64>,
    /// The same for the second.
    pub b: Vec<i64>,
    /// Where the text of each group starts and ends.
    pub places: Vec<[i64; 2]>,
}

/// The length of a token that stands for other text wherever it is, and of one that is as long or longer. The texts with one
/// are placed by the tokenizer. Lengths in a byte: a table of them stays in the cache beside the encoders' own.
pub const UNKNOWN: u8 = u8::MAX;

/// The length of each token of some texts, and whether they add up to the size of each text.
///
/// `of` has a length for each id, none too large but for a space that is put in front of a text that is `prefixed`; the last
/// one is for all ids from there on. So if they add up, each is right: the tokens lie side by side. The lengths of a text with
/// one that is [`UNKNOWN`] never do. There are as many sizes as texts. Time is linear in the tokens.
///
/// ```
/// use bytepair_core::align::{UNKNOWN, lengths};
/// let of = [1, 2, 3, UNKNOWN];
/// assert_eq!(lengths(&[2, 0, 1], &[0, 2, 3], &[4, 1], &of, &[false; 2])?, (vec![3, 1, 2], vec![true, false]));
/// assert_eq!(lengths(&[2, 0, 1], &[0, 2, 3], &[4, 1], &of, &[true; 2])?, (vec![2, 1, 1], vec![false, true]));
/// # Ok::<(), bytepair_core::Error>(())
/// ```
///
/// # Errors
/// `Memory`.
// A caller that is compiled for size would take it in.
#[inline(never)]
pub fn lengths(
    ids: &[u32],
    offsets: &[i64],
    sizes: &[i64],
    of: &[u8],
    prefixed: &[bool],
) -> Result<(Vec<u8>, Vec<bool>)> {
    let mut found = Vec::new();
    found.room(ids.len())?;
    found.extend(ids.iter().map(|&id| length_of(of, id)));
    let covers = offsets.windows(2).zip(sizes).zip(prefixed).map(|((ends, &size), &prefixed)| {
        let lengths = &mut found[number(ends[0])..number(ends[1])];
        if prefixed && let Some(first) = lengths.first_mut().filter(|first| **first != UNKNOWN) {
            *first = first.saturating_sub(1);
        }
        sum(lengths) == size && !lengths.contains(&UNKNOWN)
    });
    let covers = memory::collect(covers)?;
    Ok((found, covers))
}

/// The length of an id, or [`UNKNOWN`].
#[inline]
fn length_of(of: &[u8], id: u32) -> u8 {
    // A minimum takes no branch, as asking whether there is an entry does.
    of.get(of.len().saturating_sub(1).min(id as usize)).copied().unwrap_or(UNKNOWN)
}

fn sum(lengths: &[u8]) -> i64 {
    // In parts whose sums fit into 32 bits, of which many are added at once.
    lengths.chunks(1 << 16).map(|part| i64::from(part.iter().map(|&length| u32::from(length)).sum::<u32>())).sum()
}

/// Groups the tokens of two tokenizers: two tokens are in one group if their places overlap or are equal, or if a chain of
/// such tokens leads from one to the other.
///
/// A token whose text the other tokenizer dropped, and one without text, is a group whose other side is empty. Time and memory
/// are linear in the tokens.
///
/// ```
/// use bytepair_core::align::{Side, groups};
/// let a = Side { offsets: &[0, 3], covers: &[true], lengths: &[3, 1, 4], places: &[] };
/// let b = Side { offsets: &[0, 3], covers: &[false], lengths: &[], places: &[[0, 2], [2, 4], [4, 8]] };
/// let found = groups(a, b)?;
/// assert_eq!((found.a, found.b), (vec![0, 2, 3], vec![0, 2, 3]));
/// assert_eq!((found.rows, found.places), (vec![0, 2], vec![[0, 4], [4, 8]]));
/// # Ok::<(), bytepair_core::Error>(())
/// ```
///
/// # Errors
/// `Memory`.
// As for `lengths`.
#[inline(never)]
pub fn groups(a: Side, b: Side) -> Result<Groups> {
    let texts = a.covers.len();
    let (mut found, mut window) = (Groups::default(), Window::new());
    let most = number(a.offsets[texts].max(b.offsets[texts]));
    found.rows.room(texts + 1)?;
    found.room(most + 1)?;
    found.a.push(a.offsets[0]);
    found.b.push(b.offsets[0]);
    for text in 0..texts {
        found.rows.push(position(found.places.len()));
        if let (Some(lengths_a), Some(lengths_b)) = (a.side_by_side(text), b.side_by_side(text))
            && sum(lengths_a) == sum(lengths_b)
        {
            // Texts before it may have had more groups than tokens of either.
            found.room(lengths_a.len().min(lengths_b.len()))?;
            let before = found.places.len();
            if window.group(lengths_a, lengths_b, &mut found) {
                continue;
            }
            found.truncate(before);
        }
        group(Cursor::new(a, text), Cursor::new(b, text), &mut found)?;
    }
    found.rows.push(position(found.places.len()));
    Ok(found)
}

impl Groups {
    /// Makes room for so many groups more.
    fn room(&mut self, more: usize) -> Result<()> {
        self.a.room(more)?;
        self.b.room(more)?;
        self.places.room(more)
    }

    /// Keeps so many groups.
    fn truncate(&mut self, groups: usize) {
        self.a.truncate(groups + 1);
        self.b.truncate(groups + 1);
        self.places.truncate(groups);
    }
}

fn position(number: usize) -> i64 {
    number.cast_signed() as i64
}

fn number(position: i64) -> usize {
    usize::try_from(position).unwrap_or_default()
}

impl<'a> Side<'a> {
    /// The lengths of a text's tokens, if they cover it and each empty one has another behind it.
    fn side_by_side(&self, text: usize) -> Option<&'a [u8]> {
        if !self.covers[text] {
            return None;
        }
        let lengths = &self.lengths[number(self.offsets[text])..number(self.offsets[text + 1])];
        (*lengths.last()? > 0).then_some(lengths)
    }
}

/// The bytes of text in which ends are compared at a time: what is known of them stays in the first-level cache.
const WINDOW: usize = 2048;

/// So many places of a window are compared at once.
const AT_ONCE: usize = 64;

/// The tokens of one side of a text, taken window by window.
struct Ends<'a> {
    /// The tokens that end behind the windows so far.
    lengths: &'a [u8],
    /// Where the tokens before those end: at most so many bytes behind the start of the next window, or in front of it.
    end: isize,
    /// The number of the last token before the window.
    last: i64,
    /// The number of tokens that end in the window.
    ended: u32,
}

impl Ends<'_> {
    /// Takes the tokens that end in the next window, and numbers them from 1 on in `numbers`: at each place, the one whose last
    /// byte it is; 0 where there is none. An empty token is counted, and has no place: so it is of the group behind.
    ///
    /// False if there are too many to number, as only empty ones can be.
    #[inline]
    fn next_window(&mut self, numbers: &mut [u16]) -> bool {
        self.last += i64::from(self.ended);
        numbers.fill(0);
        // Not in the fields, which the loop would read and write for each token.
        let (mut end, mut ended) = (self.end, 0_u32);
        for &length in self.lengths {
            let next = end + isize::from(length);
            if length > 0 {
                let Some(number) = numbers.get_mut((next - 1).cast_unsigned()) else { break };
                *number = (ended + 1) as u16;
            }
            (end, ended) = (next, ended + 1);
        }
        self.lengths = &self.lengths[ended as usize..];
        (self.end, self.ended) = (end - WINDOW.cast_signed(), ended);
        u16::try_from(ended).is_ok()
    }
}

/// What is known of the places of a window, for one text after the other.
struct Window {
    /// The numbers of the tokens that end there.
    a: [u16; WINDOW],
    b: [u16; WINDOW],
    /// Where tokens of both sides end, in order.
    common: [u16; WINDOW],
}

impl Window {
    fn new() -> Self {
        Self { a: [0; WINDOW], b: [0; WINDOW], common: [0; WINDOW] }
    }

    /// Adds the groups of one text from lengths of the same sum: groups end where tokens of both sides do. As many groups as
    /// the shorter side has tokens have room. False if a window has too many tokens: then some groups are wrong.
    fn group(&mut self, a: &[u8], b: &[u8], found: &mut Groups) -> bool {
        let (mut start, mut window, first) = (0, 0, found.places.len());
        let size = number(sum(a));
        let mut a = Ends { lengths: a, end: 0, last: found.a[first], ended: 0 };
        let mut b = Ends { lengths: b, end: 0, last: found.b[first], ended: 0 };
        while window < size {
            // A short text has a short window.
            let places = (size - window).min(WINDOW).next_multiple_of(AT_ONCE);
            if !(a.next_window(&mut self.a[..places]) && b.next_window(&mut self.b[..places])) {
                return false;
            }
            let mut count = 0;
            let numbers = self.a[..places].as_chunks().0.iter().zip(self.b[..places].as_chunks().0);
            for (at, (numbers_a, numbers_b)) in (0_u16..).step_by(AT_ONCE).zip(numbers) {
                let mut bits = common_bits(numbers_a, numbers_b);
                while bits != 0 {
                    self.common[count] = at + bits.trailing_zeros() as u16;
                    count += 1;
                    bits &= bits - 1;
                }
            }
            let common = &self.common[..count];
            let number = |numbers: &[u16; WINDOW], place: u16| i64::from(numbers[usize::from(place) % WINDOW]);
            found.a.extend(common.iter().map(|&place| a.last + number(&self.a, place)));
            found.b.extend(common.iter().map(|&place| b.last + number(&self.b, place)));
            found.places.extend(common.iter().map(|&place| {
                let place = [start, position(window) + i64::from(place) + 1];
                start = place[1];
                place
            }));
            window += WINDOW;
        }
        true
    }
}

/// The places at which both have a number.
#[inline]
fn common_bits(one: &[u16; AT_ONCE], other: &[u16; AT_ONCE]) -> u64 {
    let mut both = [0_u8; AT_ONCE];
    for ((both, &one), &other) in both.iter_mut().zip(one).zip(other) {
        *both = u8::from(one != 0) & u8::from(other != 0);
    }
    bits(&both)
}

/// Adds the groups of one text.
fn group(mut a: Cursor, mut b: Cursor, found: &mut Groups) -> Result<()> {
    loop {
        // Where each side drops what the other has, there are more groups than tokens of either.
        if found.places.len() == found.places.capacity() {
            found.room(found.places.len().max(1))?;
        }
        let ([start_a, end_a], [start_b, end_b]) = (a.next, b.next);
        let start = start_a.min(start_b);
        if start == i64::MAX {
            return Ok(());
        }
        let mut end;
        if start_a == start_b && (end_a == end_b || start < end_a.min(end_b)) {
            end = end_a.max(end_b);
            a.advance();
            b.advance();
        } else if (start_a, end_a) < (start_b, end_b) {
            end = end_a;
            a.advance();
        } else {
            end = end_b;
            b.advance();
        }
        // What the one side adds can reach over a next token of the other.
        while a.next[0] < end || b.next[0] < end {
            a.take(&mut end);
            b.take(&mut end);
        }
        found.a.push(position(a.at));
        found.b.push(position(b.at));
        found.places.push([start, end]);
    }
}

/// Where the next token is if there is none.
const NONE: [i64; 2] = [i64::MAX; 2];

/// The next token of a text.
struct Cursor<'a> {
    side: Side<'a>,
    covers: bool,
    at: usize,
    end: usize,
    next: [i64; 2],
}

impl<'a> Cursor<'a> {
    fn new(side: Side<'a>, text: usize) -> Self {
        let (at, end) = (number(side.offsets[text]), number(side.offsets[text + 1]));
        let mut cursor = Self { side, covers: side.covers[text], at, end, next: NONE };
        cursor.look(0);
        cursor
    }

    /// Looks at the next token; those before it end at `place`, if they cover the text.
    #[inline]
    fn look(&mut self, place: i64) {
        self.next = if self.at >= self.end {
            NONE
        } else if self.covers {
            let lengths = &self.side.lengths[self.at..self.end];
            let length = lengths.iter().copied().find(|&length| length > 0).unwrap_or_default();
            [place, place + i64::from(length)]
        } else {
            self.side.places[self.at]
        };
    }

    #[inline]
    fn advance(&mut self) {
        // An empty token has the place of the one behind it, which stays there.
        let place = if self.covers { self.next[0] + i64::from(self.side.lengths[self.at]) } else { 0 };
        self.at += 1;
        self.look(place);
    }

    /// Takes the tokens that start before `end`, and moves `end` to where they end.
    #[inline]
    fn take(&mut self, end: &mut i64) {
        while self.next[0] < *end {
            *end = self.next[1].max(*end);
            self.advance();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Groups, Side, WINDOW, groups, position};

    fn grouped(a: &[[i64; 2]], b: &[[i64; 2]]) -> Groups {
        let [of_a, of_b] = [a, b].map(|side| [0, position(side.len())]);
        let side = |offsets, places| Side { offsets, covers: &[false], lengths: &[], places };
        groups(side(&of_a, a), side(&of_b, b)).unwrap()
    }

    #[test]
    fn nothing_has_no_groups() {
        assert_eq!(grouped(&[], &[]), Groups { rows: vec![0, 0], a: vec![0], b: vec![0], places: vec![] });
    }

    #[test]
    fn dropped_text_and_empty_tokens_have_no_counterpart() {
        // The second drops 2..3 and begins with a token without text.
        let found = grouped(&[[0, 2], [2, 3], [3, 4]], &[[0, 0], [0, 2], [3, 4]]);
        assert_eq!((found.a, found.b), (vec![0, 0, 1, 2, 3], vec![0, 1, 2, 2, 3]));
        // Empty tokens at one place are a pair.
        let found = grouped(&[[0, 0], [0, 1]], &[[0, 0], [0, 1]]);
        assert_eq!((found.a, found.b), (vec![0, 1, 2], vec![0, 1, 2]));
    }

    #[test]
    fn tokens_of_one_character_stay_together() {
        let found = grouped(&[[0, 4], [0, 4], [0, 4], [4, 5]], &[[0, 5]]);
        assert_eq!((found.a, found.b), (vec![0, 4], vec![0, 1]));
        // A chain of overlaps is one group.
        let found = grouped(&[[0, 2], [2, 4], [4, 6]], &[[0, 3], [3, 6]]);
        assert_eq!((found.a, found.b, found.places), (vec![0, 3], vec![0, 2], vec![[0, 6]]));
    }

    /// Lengths that add up to `size`, up to `most` each, and empty ones in front of others.
    fn cut(random: &mut impl FnMut(usize) -> usize, mut size: usize, most: usize) -> Vec<u8> {
        let mut lengths = Vec::new();
        while size > 0 {
            lengths.extend(std::iter::repeat_n(0, random(40).saturating_sub(37)));
            let length = 1 + random(most.min(size));
            lengths.push(u8::try_from(length).unwrap());
            size -= length;
        }
        lengths
    }

    #[test]
    fn a_window_of_more_empty_tokens_than_it_can_number_is_grouped_one_by_one() {
        for empty in [65_534, 65_535, 65_600] {
            let mut lengths = vec![1];
            lengths.extend(std::iter::repeat_n(0, empty));
            lengths.push(2);
            let count = position(lengths.len());
            let side = |offsets, lengths| Side { offsets, covers: &[true], lengths, places: &[] };
            let found = groups(side(&[0, count], &lengths), side(&[0, 2], &[1, 2])).unwrap();
            assert_eq!((found.a, found.b), (vec![0, 1, count], vec![0, 1, 2]), "{empty}");
            assert_eq!((found.rows, found.places), (vec![0, 2], vec![[0, 1], [1, 3]]));
        }
    }

    #[test]
    fn windows_are_grouped_as_one_by_one() {
        let mut seed = 26_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        for size in (0..400).chain([WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW, 3 * WINDOW + 700]) {
            let sides = [1, 3, 9, 254].map(|most| cut(&mut random, size, most));
            for (a, b) in sides.iter().flat_map(|a| sides.iter().map(move |b| (a, b))) {
                let offsets = [a, b].map(|side| [0, position(side.len())]);
                let places = [a, b].map(|side| {
                    let ends = side.iter().scan(0, |end, &length| {
                        *end += i64::from(length);
                        Some(*end)
                    });
                    let mut places: Vec<[i64; 2]> =
                        ends.zip(side).map(|(end, &length)| [end - i64::from(length), end]).collect();
                    // An empty token has the place of the one behind it.
                    for at in (1..places.len()).rev().filter(|&at| side[at - 1] == 0) {
                        places[at - 1] = places[at];
                    }
                    places
                });
                let by_lengths =
                    |side: usize| Side { offsets: &offsets[side], covers: &[true], lengths: [a, b][side], places: &[] };
                let by_places = |side: usize| Side { covers: &[false], places: &places[side], ..by_lengths(side) };
                assert_eq!(
                    groups(by_lengths(0), by_lengths(1)).unwrap(),
                    groups(by_places(0), by_places(1)).unwrap(),
                    "{a:?} {b:?}"
                );
            }
        }
    }

    #[test]
    fn lengths_and_places_group_alike_text_by_text() {
        let lengths = Side { offsets: &[0, 2, 2, 4], covers: &[true; 3], lengths: &[1, 2, 0, 3], places: &[] };
        let places = Side { covers: &[false; 3], lengths: &[], places: &[[0, 1], [1, 3], [0, 3], [0, 3]], ..lengths };
        let found = groups(lengths, lengths).unwrap();
        assert_eq!(found, groups(places, lengths).unwrap());
        assert_eq!((found.rows, found.a), (vec![0, 2, 2, 3], vec![0, 1, 2, 4]));
    }
}
