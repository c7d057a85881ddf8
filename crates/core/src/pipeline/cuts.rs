//! Cuts: places where the ids of a text are those of its two parts, whatever is further left and right of the characters
//! beside the place.
//!
//! T(x) is the ids of a text, C(x) those of a text that goes on where another one ended: without what stages put in front
//! of a text or take from it there. At a cut T(ab) = T(a) C(b) and C(ab) = C(a) C(b), also where a begins and b ends
//! anywhere nearer.
//!
//! Each stage reports its effect at a place between two characters ([`Edge`]). No added token may extend across it.
//! Normalizers change either side alone as they change it in the whole. Then the first pre-tokenizer or pattern that
//! certainly ends a piece there decides: those before it leave the place alone, and those after it work inside pieces. Where
//! none does, a place within a piece is a cut if no token of the model has these two characters side by side.
//!
//! Long because a quarter of it is tests, and because what is remembered of places belongs to what they are.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::edge::{Between, Edge};
use crate::normalize::{Normalizer, most_bytes};
use crate::pipeline::Tokenizer;
use crate::pre_tokenize::{PreTokenizer, joins};
use crate::segment::{Policy, Steps};
use crate::split::added::Matcher;
use crate::utf8::boundary;

/// Finds cuts.
#[allow(clippy::struct_excessive_bools, reason = "each is one answer of all stages together")]
pub(crate) struct Cuts<'t> {
    tokenizer: &'t Tokenizer,
    steps: &'t Steps,
    /// Finds added tokens in the original text.
    original: Option<&'t Matcher>,
    /// Finds them in normalized text.
    normalized: Option<&'t Matcher>,
    /// All added tokens that any call looks for in normalized text, if that is not the original text.
    any_normalized: Option<&'t Matcher>,
    /// Whether text beside an added token is not encoded as text that goes on.
    apart: bool,
    /// The same in any call.
    may_be_apart: bool,
    /// Whether the neighbours of added tokens decide if they are found, and their extent.
    minds_context: bool,
    /// Whether it depends on a control character behind them, which is removed, how two characters of ASCII meet.
    removes_controls: bool,
    /// Whether two characters alone may decide how they meet, as the first normalizer then tells.
    may_settle: bool,
    /// Whether two characters of normalized text alone decide if a piece ends between them.
    decides_by_two: bool,
    /// Whether any stage before the model cuts text into pieces.
    makes_pieces: bool,
    /// Whether a text is one piece that loses white space at its end, by the last normalizer alone, and so has certain places
    /// behind text only.
    loses_blanks: bool,
    /// The bytes of the longest piece that may be cut in two.
    splits: usize,
}

/// How characters in a row meet, as far as it was asked. An entry has the characters that decide it, and the answer above.
pub(crate) struct Memo {
    /// Whether it depends on characters of ASCII behind them how two of ASCII meet.
    looks_ahead: OnceLock<bool>,
    entries: Box<[AtomicU64]>,
}

/// The answer of an entry about a place.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Answer {
    /// How the characters meet, but for added tokens.
    meeting: Meeting,
    /// Whether none of the added tokens that are looked for in normalized text extends across the place, or ends or begins
    /// there where that matters to any call.
    far: bool,
}

/// The characters of the right part in a key of ASCII, whose characters have a byte each.
const IN_KEY: usize = 3;
const NOT_ASCII: u32 = 0x8080_8080;

/// The bit of a key of two characters, where further ones do not matter: the first one is in the bits below, the second one in
/// those from here on.
const PAIR: u64 = 1 << 62;
const SECOND: u32 = 21;

/// The bit of an entry that is set, and where it has its answer.
const SET: u64 = 1 << 63;
const ANSWER: u32 = 42;
const FAR: u64 = 1 << 45;

/// A character that composes with no other one.
const NOTHING_BEHIND: char = '\0';

/// In so many bytes a cut is looked for without asking the model whether it is one: its answers need a table of all tokens,
/// which takes milliseconds to make, and which most texts never need.
const NEAR: usize = 64;

impl Memo {
    const BITS: u32 = 15;

    fn entry(&self, key: u64) -> &AtomicU64 {
        &self.entries[(key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - Self::BITS)) as usize]
    }

    #[inline]
    fn get(&self, key: u64) -> Option<Answer> {
        let found = self.entry(key).load(Ordering::Relaxed);
        (found & !(0b111 << ANSWER | FAR) == key | SET)
            .then(|| Answer { meeting: Meeting::ALL[(found >> ANSWER & 0b111) as usize], far: found & FAR != 0 })
    }

    fn set(&self, key: u64, answer: Answer) {
        let far = if answer.far { FAR } else { 0 };
        self.entry(key).store(key | SET | (answer.meeting as u64) << ANSWER | far, Ordering::Relaxed);
    }
}

impl Default for Memo {
    fn default() -> Self {
        Self { looks_ahead: OnceLock::new(), entries: (0..1 << Self::BITS).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl<'t> Cuts<'t> {
    pub(crate) fn new(tokenizer: &'t Tokenizer, policy: Policy) -> Self {
        let segmenter = tokenizer.segmenter();
        let (original, normalized) = (segmenter.matcher(policy), segmenter.normalized_matcher(policy));
        let minds_context = [original, normalized].into_iter().flatten().any(Matcher::minds_context);
        let apart = minds_context || segmenter.minds_start();
        let Steps { normalizers, pre_tokenizers, patterns, .. } = segmenter.steps();
        let any_normalized = segmenter.any_normalized().filter(|_| !normalizers.is_empty());
        let may_be_apart = segmenter.any_minds_context() || segmenter.minds_start();
        let removes_controls = normalizers.iter().any(Normalizer::removes_controls);
        let may_settle = normalizers.first().is_none_or(Normalizer::may_settle)
            && normalizers.iter().skip(1).all(Normalizer::is_of_pairs);
        let decides_by_two = patterns.is_empty() && pre_tokenizers.iter().all(PreTokenizer::is_of_characters);
        let makes_pieces = !(patterns.is_empty() && pre_tokenizers.is_empty());
        let loses_blanks = decides_by_two
            && !segmenter.steps().prefix_space
            && normalizers.split_last().is_some_and(|(last, others)| {
                last.loses_blanks() && !others.iter().any(|step| matches!(step, Normalizer::Strip { .. }))
            });
        let splits = tokenizer.model().longest_that_splits();
        Self {
            tokenizer,
            steps: segmenter.steps(),
            original,
            normalized,
            any_normalized,
            apart,
            may_be_apart,
            minds_context,
            removes_controls,
            may_settle,
            decides_by_two,
            makes_pieces,
            loses_blanks,
            splits,
        }
    }

    /// A cut of a text after `range.start` and up to `range.end`, which are characters of the text: the last one within
    /// [`NEAR`] bytes of the end that is known without asking the model, else the last of all.
    ///
    /// Time: linear in the text behind the cut.
    pub(crate) fn last(&self, text: &str, range: Range<usize>) -> Option<usize> {
        let last = |range, asks| last_place(text, range, |place| self.is_cut_by(text, place, asks));
        let near = boundary(text, range.end.saturating_sub(NEAR)).max(range.start);
        let known = self.makes_pieces.then(|| last(near..range.end, false)).flatten();
        known.or_else(|| last(range, true))
    }

    /// The last cut of a text in a range of characters of it where a stage before the model certainly ends a piece.
    pub(crate) fn last_of_pieces(&self, text: &str, range: Range<usize>) -> Option<usize> {
        last_place(text, range, |place| {
            self.meeting_at(text, place, false) == Meeting::Cut && !self.is_near_added(text, place)
        })
    }

    /// The first cut of a text in a range of characters of it where a stage before the model certainly ends a piece.
    pub(crate) fn first_of_pieces(&self, text: &str, range: Range<usize>) -> Option<usize> {
        first_place(text, range, |place| {
            self.meeting_at(text, place, false) == Meeting::Cut && !self.is_near_added(text, place)
        })
    }

    /// A cut of a text after `range.start` and up to `range.end`, which are characters of the text: the first one within
    /// [`NEAR`] bytes of the start that is known without asking the model, else the first of all.
    ///
    /// Time: linear in the text before the cut.
    pub(crate) fn first(&self, text: &str, range: Range<usize>) -> Option<usize> {
        let first = |range, asks| first_place(text, range, |place| self.is_cut_by(text, place, asks));
        let near = boundary(text, range.end.min(range.start + NEAR)).max(range.start);
        let known = self.makes_pieces.then(|| first(range.start..near, false)).flatten();
        known.or_else(|| first(range, true))
    }

    /// Whether a place between two characters is a cut.
    #[cfg(test)]
    pub(crate) fn is_cut(&self, text: &str, place: usize) -> bool {
        self.is_cut_by(text, place, true)
    }

    /// Whether a place between two characters is a cut. Where the model is not to be asked, it may be one all the same.
    fn is_cut_by(&self, text: &str, place: usize, asks: bool) -> bool {
        self.is_wall_by(text, place, asks) && !self.is_near_added(text, place)
    }

    /// Up to where a text that goes on may be cut: behind it an added token may have begun that more text completes.
    pub(crate) fn sure(&self, text: &str) -> usize {
        if self.minds_context || !self.finds_as_spelled() {
            return text.len().saturating_sub(self.longest_added());
        }
        let open = self.matchers().filter_map(|added| added.open(text.as_bytes(), 0)).min();
        open.map_or(text.len(), |open| if self.apart { open.saturating_sub(1) } else { open })
    }

    /// The bytes of the longest added token: within so many of the end of a text that goes on, a place may be no cut.
    pub(crate) fn longest_added(&self) -> usize {
        self.matchers().map(Matcher::longest).max().unwrap_or(0)
    }

    /// The added tokens that are looked for.
    pub(crate) fn matchers(&self) -> impl Iterator<Item = &'t Matcher> {
        [self.original, self.normalized].into_iter().flatten()
    }

    /// Whether all added tokens are found in the text as it is.
    pub(crate) fn finds_as_spelled(&self) -> bool {
        self.normalized.is_none() || self.steps.normalizers.is_empty()
    }

    /// Whether text beside an added token is not encoded as text that goes on.
    pub(crate) fn is_apart(&self) -> bool {
        self.apart
    }

    /// Whether it takes long to find out if a place is a cut: the answer is never remembered.
    pub(crate) fn takes_long(&self, text: &str, place: usize) -> bool {
        let is_ascii = |at: usize| text.as_bytes().get(at).is_none_or(u8::is_ascii);
        !(self.may_settle || is_ascii(place - 1) && is_ascii(place))
    }

    /// Whether a place is a cut but for added tokens.
    #[inline]
    pub(crate) fn is_wall(&self, text: &str, place: usize) -> bool {
        self.is_wall_by(text, place, true)
    }

    #[inline]
    fn is_wall_by(&self, text: &str, place: usize, asks: bool) -> bool {
        match self.meeting_at(text, place, asks) {
            Meeting::Cut => true,
            // What was asked before must not decide where a call cuts, and so how far it reads.
            Meeting::CutByModel => asks && most_bytes(text.len()) <= self.splits,
            _ => false,
        }
    }

    /// Whether the characters beside a place certainly belong to one piece: that of the left part with what the right part
    /// becomes behind it.
    pub(crate) fn is_joined(&self, text: &str, place: usize) -> bool {
        self.meeting_at(text, place, true) == Meeting::Joined && !self.is_near(text, place, true)
    }

    /// Whether a place is joined, or beside white space inside of a piece that the left or the right part loses at its end and
    /// the whole has as one space.
    pub(crate) fn is_inside(&self, text: &str, place: usize) -> bool {
        // An added token that takes white space in front of it begins behind all of that.
        let is_near = match self.meeting_at(text, place, true) {
            Meeting::Joined | Meeting::BeforeBlank => Self::is_near,
            Meeting::BehindBlank => Self::is_at_added,
            _ => return false,
        };
        !is_near(self, text, place, true)
    }

    /// The same, where no added token begins or ends near.
    pub(crate) fn is_inside_text(&self, text: &str, place: usize) -> bool {
        matches!(self.meeting_at(text, place, true), Meeting::Joined | Meeting::BeforeBlank | Meeting::BehindBlank)
    }

    /// Whether certainly no added token begins or ends at a place from `start` up to `end`, or lies across it.
    pub(crate) fn has_none_added(&self, text: &str, start: usize, end: usize) -> bool {
        let from = boundary(text, start.saturating_sub(self.longest_added()));
        let to = text[end..].chars().next().map_or(end, |character| end + character.len_utf8());
        self.finds_as_spelled() && self.matchers().all(|added| added.next_at(text.as_bytes(), from..to).is_none())
    }

    /// Whether a text is one piece that loses white space at its end.
    pub(crate) fn loses_blanks(&self) -> bool {
        self.loses_blanks
    }

    /// Whether a place is behind white space that the left part loses, in a piece.
    pub(crate) fn is_behind_blank(&self, text: &str, place: usize) -> bool {
        self.meeting_at(text, place, true) == Meeting::BehindBlank
    }

    /// Whether a text that ends at a place has, once the character behind it is appended, the same pieces, of which the last one
    /// is longer by what that becomes.
    pub(crate) fn is_growing(&self, text: &str, place: usize) -> bool {
        matches!(self.meeting_at(text, place, true), Meeting::Joined | Meeting::Growing)
            && !self.is_near(text, place, true)
    }

    /// The same of a place near the end of a text that does not go on, where no normalizer but a normal form looks ahead:
    /// there the last characters are what they are in front of one that composes with nothing.
    pub(crate) fn is_growing_to_end(&self, text: &str, place: usize) -> bool {
        let (before, after) = text.split_at(place);
        let right = after.chars().chain([NOTHING_BEHIND]).take(Edge::MOST);
        let edge = before.chars().next_back().and_then(|left| Edge::new(Some(left), right));
        self.steps.normalizers.iter().all(Normalizer::is_form)
            && edge.is_some_and(|edge| matches!(self.work_out(edge, true).meeting, Meeting::Joined | Meeting::Growing))
            && !self.is_near(text, place, true)
    }

    /// How the characters beside a place meet; [`Meeting::Inside`] only if the model is not to be asked.
    #[inline]
    fn meeting_at(&self, text: &str, place: usize, asks: bool) -> Meeting {
        self.answer_at(text, place, asks).meeting
    }

    /// The answer about a place, remembered where few characters decide it.
    #[inline]
    fn answer_at(&self, text: &str, place: usize, asks: bool) -> Answer {
        let bytes = &text.as_bytes()[place.saturating_sub(1)..];
        let around = match (bytes.first_chunk::<4>(), bytes) {
            (Some(&around), _) if place > 0 => Some(around),
            // Only the two at the place matter.
            (None, &[left, right, ..]) if place > 0 && self.steps.normalizers.is_empty() => Some([left, right, 0, 0]),
            _ => None,
        };
        if let Some(around) = around {
            let key = u32::from_le_bytes(around);
            if key & NOT_ASCII == 0 {
                let sees_control = self.removes_controls && around[1..].iter().any(u8::is_ascii_control);
                let key = if !(sees_control || self.looks_ahead()) {
                    u64::from(key & 0xFFFF)
                } else if !sees_control && self.is_settled(&[around[1], around[2], around[3]].map(char::from)) {
                    pair(around[0].into(), around[1].into())
                } else {
                    key.into()
                };
                return self.remembered(key, asks, || edge(text, place, IN_KEY));
            }
        }
        match edge(text, place, Edge::MOST) {
            Some(edge) if self.is_settled(edge.right()) => {
                let key = pair(edge.left.unwrap_or_default(), edge.right()[0]);
                self.remembered(key, asks, || Some(edge))
            }
            edge => self.work_out_if_any(edge, asks),
        }
    }

    /// Whether two characters alone decide how they meet, before these.
    #[inline]
    fn is_settled(&self, right: &[char]) -> bool {
        self.may_settle && self.steps.normalizers.first().is_none_or(|first| first.is_settled(right))
    }

    /// Whether it depends on characters of ASCII behind them how two of ASCII meet; a table is read to find out.
    fn looks_ahead(&self) -> bool {
        *self.tokenizer.memo().looks_ahead.get_or_init(|| {
            // What a Replace puts in may be removed in its turn.
            let replaces = |step: &Normalizer| self.removes_controls && matches!(step, Normalizer::Replace(_));
            self.steps.normalizers.iter().any(|step| step.looks_ahead() || replaces(step))
        })
    }

    /// The answer for a key, else that for an edge, which is remembered; but not where the second of a pair becomes nothing, since
    /// others matter then.
    #[inline]
    fn remembered(&self, key: u64, asks: bool, edge: impl FnOnce() -> Option<Edge>) -> Answer {
        let memo = self.tokenizer.memo();
        if let Some(known) = memo.get(key).filter(|known| !asks || known.meeting != Meeting::Inside) {
            return known;
        }
        let edge = edge();
        let becomes_nothing =
            |edge: &Edge| self.steps.normalizers.first().is_some_and(|first| !first.keeps(edge.right()[0]));
        let is_kept = key & PAIR == 0 || !edge.as_ref().is_some_and(becomes_nothing);
        let answer = self.work_out_if_any(edge, asks);
        if is_kept {
            memo.set(key, answer);
        }
        answer
    }

    fn work_out_if_any(&self, edge: Option<Edge>, asks: bool) -> Answer {
        edge.map_or(Answer { meeting: Meeting::Unknown, far: false }, |edge| self.work_out(edge, asks))
    }

    /// The answer about an edge.
    fn work_out(&self, edge: Edge, asks: bool) -> Answer {
        let normal = self.normal(edge);
        let far = self.any_normalized.is_some_and(|any| {
            let minds_context = self.tokenizer.segmenter().any_minds_context();
            !may_be_near(any, &normal, minds_context, self.may_be_apart)
        });
        Answer { meeting: self.meeting_of(normal, asks), far }
    }

    fn meeting_of(&self, normal: Normal, asks: bool) -> Meeting {
        match normal {
            Normal::Unknown => Meeting::Unknown,
            Normal::LeftOut(_) => Meeting::Cut,
            Normal::InText => Meeting::Joined,
            Normal::BehindBlank => Meeting::BehindBlank,
            // What the left part ends with may be uncertain, but that is text of the piece.
            Normal::Edge { edge: Edge { left: None, .. }, stays } if self.loses_blanks => {
                if stays {
                    Meeting::Joined
                } else {
                    Meeting::BeforeBlank
                }
            }
            Normal::Edge { edge, stays } => match self.meeting(edge.left, edge.right()[0], asks) {
                Meeting::Joined if !stays && self.loses_blanks => Meeting::BeforeBlank,
                Meeting::Joined | Meeting::Growing if !stays => Meeting::Unknown,
                meeting => meeting,
            },
        }
    }

    /// An edge behind the normalizers.
    fn normal(&self, mut edge: Edge) -> Normal {
        let mut stays = true;
        for (at, normalizer) in self.steps.normalizers.iter().enumerate() {
            stays &= !normalizer.may_lose(edge.right()[0]);
            edge = match normalizer.edge(&edge) {
                Some(normal) => normal,
                None if self.loses_blanks && normalizer.is_in_text(&edge) => return Normal::InText,
                None if self.loses_blanks && normalizer.resumes(&edge) => return Normal::BehindBlank,
                None => return self.left_out(at, &edge).map_or(Normal::Unknown, Normal::LeftOut),
            };
            stays &= !normalizer.may_lose(edge.right()[0]);
        }
        Normal::Edge { edge, stays }
    }

    /// The character that a run becomes, if an edge before a normalizer is inside of one, and the first pre-tokenizer leaves
    /// the character out: then it may be one of each part. So CLIP cuts white space.
    fn left_out(&self, normalizer: usize, edge: &Edge) -> Option<char> {
        let Steps { normalizers, prefix_space, pre_tokenizers, .. } = self.steps;
        let put = normalizers[normalizer].run_becomes(edge)?;
        let put = normalizers[normalizer + 1..].iter().try_fold(put, |put, normalizer| normalizer.image(put))?;
        (!prefix_space && pre_tokenizers.first()?.leaves_out(put)).then_some(put)
    }

    /// How two characters of normalized text meet.
    fn meeting(&self, left: Option<char>, right: char, asks: bool) -> Meeting {
        let meeting = self.meeting_alone(left, right, asks);
        let Steps { pre_tokenizers, patterns, .. } = self.steps;
        match left {
            // The right part by itself may have something put in front of it.
            Some(left)
                if meeting == Meeting::Unknown
                    && self.decides_by_two
                    && joins(pre_tokenizers, patterns, &[left], right) =>
            {
                Meeting::Joined
            }
            _ => meeting,
        }
    }

    /// The same, where the right part is what it is by itself.
    fn meeting_alone(&self, left: Option<char>, right: char, asks: bool) -> Meeting {
        let Steps { prefix_space, pre_tokenizers, patterns, .. } = self.steps;
        if *prefix_space && right != ' ' {
            return Meeting::Unknown;
        }
        let (mut left, mut right, mut all_joined, mut grows) = (left, right, true, false);
        let steps = pre_tokenizers.iter().map(Cutting::Step);
        for step in steps.chain(patterns.iter().map(Cutting::Pattern)) {
            match step.between(left, right) {
                Between::Wall => return Meeting::Cut,
                Between::Inside { left: new_left, right: new_right, joined } => {
                    (left, right) = (new_left, new_right);
                    all_joined &= joined;
                }
                Between::Unknown => match (step, left) {
                    (Cutting::Pattern(pattern), Some(left)) if pattern.grows(left, right) => grows = true,
                    _ => return Meeting::Unknown,
                },
            }
        }
        if grows {
            return if all_joined { Meeting::Growing } else { Meeting::Unknown };
        }
        match left {
            Some(_) if !asks => Meeting::Inside,
            Some(left) if self.tokenizer.model().splits_between(left, right) => Meeting::CutByModel,
            Some(_) if all_joined => Meeting::Joined,
            _ => Meeting::Unknown,
        }
    }

    /// Whether an added token may extend across a place of a text, or be found otherwise in its parts.
    pub(crate) fn is_near_added(&self, text: &str, place: usize) -> bool {
        self.is_near(text, place, self.apart)
    }

    /// Whether an added token may extend across a place; `apart`, also whether one may end or begin there.
    fn is_near(&self, text: &str, place: usize, apart: bool) -> bool {
        if self.original.is_none() && self.normalized.is_none() {
            return false;
        }
        self.minds_context && text[..place].ends_with(char::is_whitespace) || self.is_at_added(text, place, apart)
    }

    /// The same, where no white space is in front of the place that an added token takes.
    fn is_at_added(&self, text: &str, place: usize, apart: bool) -> bool {
        let is_near = |added: &Matcher| {
            if apart { added.touches(text.as_bytes(), place) } else { added.is_across(text.as_bytes(), place) }
        };
        if self.original.is_some_and(is_near) {
            return true;
        }
        let Some(normalized) = self.normalized else { return false };
        if self.steps.normalizers.is_empty() {
            return is_near(normalized);
        }
        if (self.may_be_apart || !apart) && self.answer_at(text, place, false).far {
            return false;
        }
        let normal = edge(text, place, Edge::MOST).map_or(Normal::Unknown, |edge| self.normal(edge));
        may_be_near(normalized, &normal, self.minds_context, apart)
    }
}

/// Whether an added token may extend across an edge of normalized text; `apart`, also whether one may end or begin there.
fn may_be_near(added: &Matcher, normal: &Normal, minds_context: bool, apart: bool) -> bool {
    match normal {
        Normal::Unknown | Normal::InText | Normal::BehindBlank => true,
        Normal::LeftOut(put) => added.may_have(*put),
        Normal::Edge { edge, .. } => {
            let left = edge.left.filter(|left| !minds_context || !left.is_whitespace());
            added.may_meet(left, edge.right()[0], apart)
        }
    }
}

/// An edge behind the normalizers.
enum Normal {
    Unknown,
    /// All that is known of the parts, and whether the right one keeps its first character if it ends there.
    Edge {
        edge: Edge,
        stays: bool,
    },
    /// Either part has this character there, the whole has one of it, and the first pre-tokenizer leaves it out.
    LeftOut(char),
    /// Both parts become what they are in the whole, and neither is empty.
    InText,
    /// The left part ends in white space that it loses, of which the whole has one space.
    BehindBlank,
}

/// A stage that cuts text into pieces.
#[derive(Clone, Copy)]
enum Cutting<'t> {
    Step(&'t PreTokenizer),
    Pattern(&'t crate::split::Pattern),
}

impl Cutting<'_> {
    fn between(&self, left: Option<char>, right: char) -> Between {
        match self {
            Self::Step(step) => step.between(left, right),
            Self::Pattern(pattern) => pattern.between(left, right),
        }
    }
}

/// How two characters meet after all stages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meeting {
    Unknown,
    /// The place between them is a cut.
    Cut,
    /// They are in one piece.
    Joined,
    /// The place is a cut in a piece that is not too long for the model.
    CutByModel,
    /// They are in one piece, or may be, and the model was not asked whether the place is a cut.
    Inside,
    /// They are in one piece; what other pieces there are may depend on both, and on what comes behind them. If they end the text,
    /// these are the pieces of the text without the last one of them.
    Growing,
    /// They are in one piece unless the text ends with the right one, or with more white space, which is then lost.
    BeforeBlank,
    /// The left one is white space, which its text loses at the end, and the whole has as one space with all that is beside it.
    /// The piece goes on with what the right one becomes then, unless that is lost as well.
    BehindBlank,
}

impl Meeting {
    /// By number.
    const ALL: [Self; 8] = [
        Self::Unknown,
        Self::Cut,
        Self::Joined,
        Self::CutByModel,
        Self::Inside,
        Self::Growing,
        Self::BeforeBlank,
        Self::BehindBlank,
    ];
}

/// The key of two characters.
fn pair(left: char, right: char) -> u64 {
    PAIR | u64::from(u32::from(right)) << SECOND | u64::from(u32::from(left))
}

/// The first place after `range.start` and up to `range.end` that is wanted.
fn first_place(text: &str, range: Range<usize>, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
    let mut place = range.start;
    text[range].chars().find_map(|left| {
        place += left.len_utf8();
        is_wanted(place).then_some(place)
    })
}

/// The last place after `range.start` and up to `range.end` that is wanted.
fn last_place(text: &str, range: Range<usize>, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
    let mut place = range.end;
    text[range].chars().rev().find_map(|left| {
        let found = is_wanted(place).then_some(place);
        place -= left.len_utf8();
        found
    })
}

/// The edge at a place of a text, with so many characters of the right part; None at the text's ends.
fn edge(text: &str, place: usize, ahead: usize) -> Option<Edge> {
    let (before, after) = text.split_at(place);
    Edge::new(Some(before.chars().next_back()?), after.chars().take(ahead))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
pub(crate) mod tests {
    use base64::Engine;

    use super::*;
    use crate::normalize::Normalizer;
    use crate::normalize::tests::table;
    use crate::pipeline::Parts;
    use crate::pre_tokenize::PreTokenizer;
    use crate::segment::Treat;
    use crate::split::added::AddedToken;
    use crate::split::{Pattern, names};
    use crate::vocab::{Semantics, Vocab};

    /// Normalizers, pre-tokenizers and patterns.
    type Stages<'a> = (&'a [&'a str], &'a [&'a str], &'a [&'a str]);

    pub(crate) const ALPHABET: [char; 11] = ['a', 'b', ' ', '.', '1', 'é', '\u{301}', '中', '\n', '\u{2581}', '\u{1}'];

    fn tokenizer(normalizers: &[&str], pre_tokenizers: &[&str], patterns: &[&str], flags: u8) -> Tokenizer {
        let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
        let mut tokens: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).collect();
        tokens.extend([&b" a"[..], b"ab", b" ab", b"  ", b"a.", "中".as_bytes(), "▁a".as_bytes(), "中.".as_bytes()]);
        let ids: Vec<u32> = (0..tokens.len() as u32).collect();
        let added = |id, content: &str| AddedToken {
            lstrip: flags == 1,
            rstrip: flags == 2,
            single_word: flags == 3,
            normalized: flags == 4,
            ..AddedToken { content: content.to_owned(), id, ..AddedToken::default() }
        };
        Tokenizer::new(Parts {
            added: vec![added(900, "b1"), added(901, ".\n")],
            steps: Steps {
                normalizers: normalizers.iter().map(|step| Normalizer::parse(step).unwrap()).collect(),
                prefix_space: flags == 5,
                pre_tokenizers: pre_tokenizers.iter().map(|step| PreTokenizer::parse(step).unwrap()).collect(),
                patterns: patterns.iter().map(|pattern| Pattern::new(pattern).unwrap()).collect(),
            },
            ..Parts::of(Vocab::new(&tokens, &ids, Semantics::Ranks).unwrap())
        })
        .unwrap()
    }

    /// The ids of a text by itself, and of one that goes on.
    fn encoded(tokenizer: &Tokenizer, text: &str) -> [Vec<u32>; 2] {
        let policy = Policy { special: Treat::Match, added: Treat::Match };
        let (mut alone, mut going_on) = (Vec::new(), Vec::new());
        tokenizer.encode(text, policy, &mut alone).unwrap();
        let segmenter = tokenizer.segmenter();
        segmenter.walk_on(text, policy, &mut tokenizer.encoder(&mut going_on, None)).unwrap();
        [alone, going_on]
    }

    /// Tokenizers of many stages, each with added tokens of each flag: the number of the stages, that of the flag.
    pub(crate) fn tokenizers() -> Vec<(usize, u8, Tokenizer)> {
        let prepend = r#"{"type":"Prepend","prepend":"▁"}"#;
        let marks = r#"{"type":"Replace","pattern":{"String":" "},"content":"▁"}"#;
        let spaces = r#"{"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "}"#;
        let strip = r#"{"type":"Strip","strip_left":true,"strip_right":true}"#;
        let metaspace = r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}"#;
        let digits = r#"{"type":"Digits","individual_digits":true}"#;
        let clip = r#"{"type":"Split","pattern":{"Regex":"<b>|'s|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"},"behavior":"Removed","invert":true}"#;
        let bert = r#"{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}"#;
        let unsplit = r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":false}"#;
        let all: [Stages; 15] = [
            (&[], &[], &[names::GPT2]),
            (&[], &[], &[]),
            (&["NFC"], &[], &[names::GPT2]),
            (&["NFKC", "Lowercase", strip], &[], &[r"\p{N}{1,3}", names::GPT2]),
            (&[prepend, marks], &[], &[]),
            (&[bert], &["BertPreTokenizer"], &[]),
            (&["NFC", spaces, "Lowercase"], &["Whitespace"], &[]),
            (&["NFD", "StripAccents"], &["WhitespaceSplit", metaspace], &[]),
            (&[], &[metaspace, digits, "Punctuation"], &[]),
            (&[strip], &["UnicodeScripts"], &[r"(?:(?=a)a|\w)+|\s|."]),
            (&["NFC", spaces, "Lowercase"], &[clip], &[]),
            (&[], &[unsplit], &[]),
            (&["NFKC", "Nmt", "ByteLevel"], &["Whitespace"], &[]),
            (&[prepend, marks], &[], &[r"▁+[^▁]*|[^▁]+"]),
            (&["NFKC", marks], &[], &[r"▁+[^▁]*|[^▁]+", r"\d|\D+"]),
        ];
        let numbered = all.into_iter().enumerate();
        let made = numbered.flat_map(|(number, (normalizers, pre_tokenizers, patterns))| {
            (0..6).map(move |flags| (number, flags, tokenizer(normalizers, pre_tokenizers, patterns, flags)))
        });
        made.collect()
    }

    fn is_remembered_as_worked_out(cuts: &Cuts, text: &str, places: &[usize]) {
        for &place in places {
            let worked_out = |asks| cuts.work_out_if_any(edge(text, place, Edge::MOST), asks);
            let said = || format!("{text:?} {place} {:?}", cuts.steps.normalizers);
            for asks in [false, true] {
                let (known, worked_out) = (cuts.answer_at(text, place, asks), worked_out(asks));
                let is_known_already = !asks && known.meeting != Meeting::Inside;
                assert!(known.meeting == worked_out.meeting || is_known_already, "{}", said());
                assert!(known.far == worked_out.far, "{}", said());
            }
            let is_wall = cuts.is_wall_by(text, place, false);
            assert_eq!(is_wall, worked_out(false).meeting == Meeting::Cut, "{}", said());
        }
    }

    #[test]
    fn what_is_remembered_holds_for_all_short_texts_behind_any_two_normalizers() {
        let bert = |clean_text: bool, strips: bool| {
            format!(
                r#"{{"type":"BertNormalizer","clean_text":{clean_text},"handle_chinese_chars":true,"strip_accents":{strips},"lowercase":true}}"#
            )
        };
        let replace = |kind: &str, pattern: &str, content: &str| {
            format!(r#"{{"type":"Replace","pattern":{{"{kind}":"{pattern}"}},"content":"{content}"}}"#)
        };
        let mut steps =
            ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"].map(str::to_owned).to_vec();
        steps.extend([bert(true, false), bert(false, true)]);
        steps.extend([replace("String", " ", "▁"), replace("String", "a", ""), replace("Regex", r"\\s+", " ")]);
        steps.push(r#"{"type":"Strip","strip_left":true,"strip_right":true}"#.to_owned());
        steps.push(r#"{"type":"Prepend","prepend":"▁"}"#.to_owned());
        for (rules, squeezes) in [(&[("a", ""), ("\u{1}", "")], true), (&[("!", " "), ("\n", "")], false)] {
            let table = base64::engine::general_purpose::STANDARD.encode(table(rules));
            steps.push(format!(
                r#"{{"type":"SentencePiece","precompiled_charsmap":"{table}","add_dummy_prefix":true,
                "remove_extra_whitespaces":{squeezes},"escape_whitespaces":true,"treat_whitespace_as_suffix":false}}"#
            ));
        }
        let alphabet = ['a', ' ', '\u{1}', '\n', 'é', '\u{301}', '\u{11A8}', '각', '\u{2003}', '!'];
        let policy = Policy { special: Treat::Match, added: Treat::Match };
        for (first, second) in steps.iter().flat_map(|first| steps.iter().map(move |second| (first, second))) {
            let tokenizer = tokenizer(&[first, second], &["Whitespace"], &[], 0);
            let cuts = Cuts::new(&tokenizer, policy);
            for text in texts(&alphabet) {
                let places: Vec<usize> = text.char_indices().skip(1).map(|(at, _)| at).collect();
                is_remembered_as_worked_out(&cuts, &text, &places);
            }
        }
    }

    #[test]
    fn spaces_are_one_piece_where_sentencepiece_takes_none_away() {
        for (squeezes, joined) in [(false, 3), (true, 0)] {
            let step = format!(
                r#"{{"type":"SentencePiece","precompiled_charsmap":"","add_dummy_prefix":true,
                "remove_extra_whitespaces":{squeezes},"escape_whitespaces":true,"treat_whitespace_as_suffix":false}}"#
            );
            let tokenizer = tokenizer(&[&step], &[], &[], 0);
            let cuts = Cuts::new(&tokenizer, Policy { special: Treat::Match, added: Treat::Match });
            assert_eq!((1..4).filter(|&place| cuts.is_joined("a   ", place)).count(), joined);
        }
    }

    /// All texts of four characters.
    fn texts(alphabet: &[char]) -> impl Iterator<Item = String> + '_ {
        let all = alphabet.len();
        (0..all.pow(4)).map(move |number| (0..4).map(|place| alphabet[number / all.pow(place) % all]).collect())
    }

    #[test]
    fn ids_add_up_at_cuts_of_all_short_texts() {
        let policy = Policy { special: Treat::Match, added: Treat::Match };
        for (number, flags, tokenizer) in tokenizers() {
            let cuts = Cuts::new(&tokenizer, policy);
            let mut found = 0;
            for text in texts(&ALPHABET) {
                let places: Vec<usize> = text.char_indices().skip(1).map(|(at, _)| at).collect();
                is_remembered_as_worked_out(&cuts, &text, &places);
                for &place in places.iter().filter(|&&place| cuts.is_cut(&text, place)) {
                    let (left, right) = text.split_at(place);
                    let ([whole, whole_on], [left, left_on]) = (encoded(&tokenizer, &text), encoded(&tokenizer, left));
                    let [_, right] = encoded(&tokenizer, right);
                    assert_eq!(whole, [left, right.clone()].concat(), "{number} {flags} {text:?} at {place}");
                    assert_eq!(whole_on, [left_on, right].concat(), "{number} {flags} {text:?} at {place}");
                    found += 1;
                }
            }
            let least = if number == 9 || flags == 5 { 0 } else { 500 };
            assert!(found >= least, "{number} {flags}: {found} cuts");
        }
    }
}
