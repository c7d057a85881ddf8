//! Text -> segments: added tokens, and the pieces between them. Encoding and counting for training both begin here.
//!
//! Long because all ways through a text are one walk: whole, in parts for workers, with origins, each under the call's
//! policy for added tokens.

mod policy;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use self::policy::admit;
pub use self::policy::{Policy, Treat};
use crate::error::{Error, Kind, Result};
use crate::memory::{self, Room};
use crate::normalize::joined::Joined;
use crate::normalize::{self, Aligned, Normalizer};
use crate::pre_tokenize::{Metaspace, PreTokenized, PreTokenizer, needs_origins};
use crate::split::added::{AddedToken, Found, Matcher};
use crate::split::{Pattern, Pieces, Scan};

/// More steps of a kind in a row are refused: no tokenizer in use has more than a handful.
const MOST_STEPS: usize = 32;

/// Longer added tokens, in bytes, are refused: compiling them takes time that grows with the square of the length.
const LONGEST_ADDED: usize = 1024;

/// Passes over all segments.
struct Nothing;

impl Visit for Nothing {
    fn piece(&mut self, _: &str) -> Result<()> {
        Ok(())
    }

    fn added(&mut self, _: &AddedToken, _: &str) -> Result<()> {
        Ok(())
    }
}

/// Receives the segments of a text in order.
pub trait Visit {
    /// A piece: merges happen in it and never across its ends.
    fn piece(&mut self, piece: &str) -> Result<()>;
    /// An added token, and the text that it took.
    fn added(&mut self, token: &AddedToken, text: &str) -> Result<()>;
    /// The pieces that pre-tokenizers made of `text`, in order; those without text are none.
    fn pre_tokenized(&mut self, text: &str, pieces: &[Range<usize>]) -> Result<()> {
        pieces.iter().filter_map(|piece| text.get(piece.clone())).try_for_each(|piece| self.piece(piece))
    }
    /// The pieces that patterns in a row make of `text` and that start in `range`, which starts at a boundary of the
    /// first pattern; returns where the last one ends. Errors are placed in `text`.
    fn pieces(&mut self, text: &str, pattern: &Pattern, inner: &[Pattern], range: Range<usize>) -> Result<usize> {
        each_piece(self, text, pattern, inner, range)
    }
}

/// The default of [`Visit::pieces`]: one piece after another.
pub(crate) fn each_piece(
    visitor: &mut (impl Visit + ?Sized),
    text: &str,
    pattern: &Pattern,
    inner: &[Pattern],
    range: Range<usize>,
) -> Result<usize> {
    let mut pieces = Pieces::of(Scan::new(pattern, inner, text, range.clone()));
    while !inner.is_empty() || pieces.at() < range.end {
        let at = pieces.at();
        let Some(piece) = pieces.next() else { break };
        piece.and_then(|piece| visitor.piece(piece).map_err(|error| error.shifted(at)))?;
    }
    Ok(pieces.at())
}

/// A part of a text that one worker encodes; places are counted in the whole text.
pub(crate) enum Part {
    /// An added token, and where it ends.
    Added { id: u32, end: usize },
    /// The pieces of `stretch`, which lies between added tokens, that start in `range`.
    Pieces { stretch: Range<usize>, range: Range<usize> },
}

impl Part {
    /// Where it ends, if the scan of the part before ended where this one starts.
    pub(crate) fn end(&self) -> usize {
        match self {
            Self::Added { end, .. } => *end,
            Self::Pieces { range, .. } => range.end,
        }
    }
}

/// The matchers of one group of added tokens: which of them are looked for depends on the call.
struct Group {
    all: Option<Arc<Matcher>>,
    special: Option<Arc<Matcher>>,
    ordinary: Option<Arc<Matcher>>,
}

impl Group {
    fn new(tokens: &[AddedToken], normalizers: &[Normalizer]) -> Result<Self> {
        let of = |keep: &dyn Fn(&AddedToken) -> bool| {
            let kept = tokens.iter().filter(|token| keep(token)).cloned().collect();
            let made = Matcher::new(kept, |content| Ok(normalize::apply_to_added(normalizers, content)?.into_owned()))?;
            Ok::<_, Error>(made.map(Arc::new))
        };
        let all = of(&|_| true)?;
        // Most have tokens of one kind only, and a matcher has some fifty times their bytes.
        let special = tokens.iter().filter(|token| token.special).count();
        Ok(match special {
            0 => Self { ordinary: all.clone(), special: None, all },
            _ if special == tokens.len() => Self { special: all.clone(), ordinary: None, all },
            _ => Self { special: of(&|token| token.special)?, ordinary: of(&|token| !token.special)?, all },
        })
    }

    fn matcher(&self, policy: Policy) -> Option<&Matcher> {
        match (policy.special, policy.added) {
            (Treat::Text, Treat::Text) => None,
            (Treat::Text, _) => self.ordinary.as_deref(),
            (_, Treat::Text) => self.special.as_deref(),
            _ => self.all.as_deref(),
        }
    }
}

/// The steps between added tokens and the model, each in order.
#[derive(Default)]
pub struct Steps {
    /// Change the text between added tokens.
    pub normalizers: Vec<Normalizer>,
    /// Whether text that does not start with a space gets one.
    pub prefix_space: bool,
    /// Cut text into pieces, and may change it or leave some of it out.
    pub pre_tokenizers: Vec<PreTokenizer>,
    /// Cut text into pieces, each pattern those of the one before.
    pub patterns: Vec<Pattern>,
}

impl Steps {
    /// Split patterns alone.
    #[must_use]
    pub fn of(patterns: Vec<Pattern>) -> Self {
        Self { patterns, ..Self::default() }
    }

    /// Whether pieces are parts of the text, in order and without gaps.
    pub(crate) fn keep_text(&self) -> bool {
        self.normalizers.is_empty() && !self.prefix_space && self.pre_tokenizers.is_empty()
    }
}

/// The stages before the model: added tokens, and the steps for the text between them.
pub struct Segmenter {
    original: Group,
    normalized: Group,
    steps: Steps,
    /// Whether counts add up where pieces meet, and tokens are the bytes of their pieces.
    adds_up: bool,
    /// Whether the pieces depend on origins.
    traces: bool,
    /// The normalizers for text that goes on where other text ended.
    going_on: Vec<Normalizer>,
}

impl Segmenter {
    /// Composes the stages. Added tokens that a normalizer makes equal are one in text: the first special one, or else the first.
    ///
    /// # Errors
    /// `Format`, if two added tokens share an id or a content, one is empty, or there are too many patterns.
    pub fn new(added: &[AddedToken], steps: Steps) -> Result<Self> {
        for (count, what) in [
            (steps.patterns.len(), "split patterns"),
            (steps.normalizers.len(), "normalizers"),
            (steps.pre_tokenizers.len(), "pre-tokenizers"),
        ] {
            if count > MOST_STEPS {
                return Err(Error::new(Kind::Format, format!("{count} {what} in a row"))
                    .remedy(format!("use at most {MOST_STEPS}")));
            }
        }
        let mut contents = HashSet::new();
        let mut ids = HashSet::new();
        for token in added {
            if token.content.is_empty() {
                return Err(Error::new(Kind::Format, format!("the added token with id {} is empty", token.id)));
            }
            if token.content.len() > LONGEST_ADDED {
                let what = format!("the added token with id {} has {} bytes", token.id, token.content.len());
                return Err(Error::new(Kind::Format, what).remedy(format!("use at most {LONGEST_ADDED}")));
            }
            if !contents.insert(token.content.as_str()) || !ids.insert(token.id) {
                let what = format!("the added token {:?} or its id {} occurs twice", token.content, token.id);
                return Err(Error::new(Kind::Format, what).remedy("give each added token one content and one id"));
            }
        }
        let (mut normalized, original): (Vec<_>, Vec<_>) = added.iter().cloned().partition(|token| token.normalized);
        normalized.sort_by_key(|token| !token.special);
        let mut spelled = HashSet::new();
        let mut found = Vec::with_capacity(normalized.len());
        for token in normalized {
            let normal = normalize::apply_to_added(&steps.normalizers, &token.content)?;
            if normal.is_empty() || normal.len() > LONGEST_ADDED {
                let what =
                    format!("the added token {:?} has {} bytes once it is normalized", token.content, normal.len());
                return Err(Error::new(Kind::Format, what)
                    .remedy(format!("it needs from 1 to {LONGEST_ADDED}, or look for it in the original text")));
            }
            if spelled.insert(normal.into_owned()) {
                found.push(token);
            }
        }
        Ok(Self {
            original: Group::new(&original, &[])?,
            normalized: Group::new(&found, &steps.normalizers)?,
            traces: needs_origins(&steps.normalizers, &steps.pre_tokenizers),
            going_on: steps.normalizers.iter().filter_map(Normalizer::going_on).collect(),
            steps,
            adds_up: true,
        })
    }

    /// The same for a model whose ids of a text do not follow from its parts.
    pub(crate) fn without_cuts(self) -> Self {
        Self { adds_up: false, ..self }
    }

    /// Sends the segments of `text` to `visitor`.
    ///
    /// # Errors
    /// `SpecialToken`, if the policy does not admit an added token; `Pattern`, if a split pattern exceeds its step budget; what
    /// `visitor` returns. Each with its position in `text`, unless a normalizer changed the text around it.
    pub fn walk(&self, text: &str, policy: Policy, visitor: &mut impl Visit) -> Result<()> {
        self.walk_at(true, text, policy, visitor)
    }

    /// The same for a text that may come after another one.
    pub(crate) fn walk_at(&self, at_start: bool, text: &str, policy: Policy, visitor: &mut impl Visit) -> Result<()> {
        let matcher = self.original.matcher(policy);
        let mut room = Joined::default();
        walk_added(matcher, text, policy, visitor, |start, between, visitor| {
            self.walk_between(between, at_start && start == 0, &self.steps.normalizers, policy, visitor, &mut room)
        })
        .map_err(|error| error.placed(text))
    }

    /// The same for a text that goes on where another one of the same stretch ended.
    ///
    /// # Errors
    /// As [`Segmenter::walk`].
    pub(crate) fn walk_on(&self, text: &str, policy: Policy, visitor: &mut impl Visit) -> Result<()> {
        let mut room = Joined::default();
        walk_added(self.original.matcher(policy), text, policy, visitor, |start, between, visitor| {
            let normalizers = if start == 0 { &self.going_on } else { &self.steps.normalizers };
            self.walk_between(between, false, normalizers, policy, visitor, &mut room)
        })
        .map_err(|error| error.placed(text))
    }

    /// As [`Segmenter::walk`], of a text that [`Segmenter::one_for_one`] gives as it is.
    pub(crate) fn walk_as_is(&self, text: &str, policy: Policy, visitor: &mut impl Visit) -> Result<()> {
        walk_added(self.original.matcher(policy), text, policy, visitor, |_, between, visitor| {
            walk_added(self.normalized.matcher(policy), between, policy, visitor, |_, plain, visitor| {
                walk_pieces(plain, &self.steps.patterns, visitor)
            })
        })
    }

    /// The stretches of `text` between the added tokens that are looked for in original text.
    #[must_use]
    pub fn stretches(&self, text: &str) -> Vec<Range<usize>> {
        let mut stretches = Vec::new();
        let mut at = 0;
        for found in self.original.all.iter().flat_map(|matcher| matcher.find(text)) {
            stretches.push(at..found.start);
            at = found.end;
        }
        stretches.push(at..text.len());
        stretches.retain(|stretch| !stretch.is_empty());
        stretches
    }

    /// Sends the segments of a stretch, or of a part of one between two seams, to `visitor`.
    ///
    /// # Errors
    /// As [`Segmenter::walk`].
    pub fn walk_stretch(&self, stretch: &str, visitor: &mut impl Visit) -> Result<()> {
        let policy = Policy { special: Treat::Match, added: Treat::Match };
        self.walk_between(stretch, true, &self.steps.normalizers, policy, visitor, &mut Joined::default())
    }

    /// A text in parts that several workers can encode, each of about `size` bytes or less, and each cut where a scan
    /// from a guess settled; None where the stages do not let text be cut, or the policy does not admit a token in it.
    pub(crate) fn parts(&self, text: &str, policy: Policy, size: usize, settle: usize) -> Option<Vec<Part>> {
        if !self.steps.keep_text() {
            return None;
        }
        let pattern = self.steps.patterns.first()?;
        let mut parts = Vec::new();
        let (outer, inner) = (self.original.matcher(policy), self.normalized.matcher(policy));
        find(outer, text, 0..text.len(), policy, &mut parts, &mut |stretch, parts| {
            find(inner, text, stretch, policy, parts, &mut |stretch, parts| {
                let mut start = stretch.start;
                while stretch.end - start > size * 2 {
                    let Some(cut) = settled(pattern, &text[stretch.clone()], start + size - stretch.start, settle)
                    else {
                        break;
                    };
                    parts.push(Part::Pieces { stretch: stretch.clone(), range: start..stretch.start + cut });
                    start = stretch.start + cut;
                }
                parts.push(Part::Pieces { range: start..stretch.end, stretch });
                Some(())
            })
        })?;
        Some(parts)
    }

    /// Sends a part of a text to `visitor`; returns where its last piece ends.
    ///
    /// # Errors
    /// The errors of `visitor`, and `Pattern`, if a pattern exceeds its step budget.
    pub(crate) fn walk_piece_range(
        &self,
        text: &str,
        stretch: &Range<usize>,
        range: &Range<usize>,
        visitor: &mut impl Visit,
    ) -> Result<usize> {
        let Some((pattern, inner)) = self.steps.patterns.split_first() else { return Ok(stretch.start) };
        let within = range.start - stretch.start..range.end - stretch.start;
        visitor.pieces(&text[stretch.clone()], pattern, inner, within).map(|end| end + stretch.start)
    }

    /// The length in bytes of the longest added token that is looked for in original text; 0 without any.
    pub(crate) fn longest_added(&self) -> usize {
        self.original.all.as_deref().map_or(0, Matcher::longest)
    }

    /// The matcher of the added tokens that a call searches in original text.
    pub(crate) fn matcher(&self, policy: Policy) -> Option<&Matcher> {
        self.original.matcher(policy)
    }

    /// The patterns, if they are the only stage between a stretch and its pieces, and tokens are the bytes of their pieces.
    pub(crate) fn only_patterns(&self) -> Option<&[Pattern]> {
        let only = self.adds_up && self.steps.keep_text();
        only.then_some(&self.steps.patterns)
    }

    /// As [`Segmenter::only_patterns`], for text of ASCII: normalizers that leave it as it is do not count.
    pub(crate) fn only_patterns_of_ascii(&self) -> Option<&[Pattern]> {
        let Steps { normalizers, prefix_space, pre_tokenizers, .. } = &self.steps;
        let only = self.adds_up && !prefix_space && pre_tokenizers.is_empty();
        (only && normalizers.iter().all(Normalizer::keeps_ascii)).then_some(&self.steps.patterns)
    }

    /// As [`Segmenter::only_patterns`], the first one apart; None without patterns as well, and where added tokens are
    /// looked for between others.
    pub(crate) fn cuttable(&self) -> Option<(&Pattern, &[Pattern])> {
        self.only_patterns().filter(|_| self.normalized.all.is_none())?.split_first()
    }

    /// Looks for added tokens that the policy does not admit.
    ///
    /// # Errors
    /// `SpecialToken`, where [`Segmenter::walk`] meets one, with its position in bytes; where text is normalized, all that
    /// [`Segmenter::walk`] can meet.
    pub(crate) fn check(&self, text: &str, policy: Policy) -> Result<()> {
        if !policy.refuses() {
            return Ok(());
        }
        if self.normalized.all.is_some() {
            return self.walk(text, policy, &mut Nothing);
        }
        self.original.matcher(policy).map_or(Ok(()), |matcher| {
            matcher
                .find(text)
                .try_for_each(|found| admit(matcher.token(found.token), policy).map_err(|error| error.at(found.start)))
        })
    }

    /// The same for a text that goes on, as far as that does not matter; returns from where on it does.
    ///
    /// # Errors
    /// As [`Segmenter::check`].
    pub(crate) fn check_part(&self, text: &str, policy: Policy) -> Result<usize> {
        if !policy.refuses() {
            return Ok(text.len());
        }
        if self.normalized.all.is_some() {
            return Ok(0);
        }
        let Some(matcher) = self.original.matcher(policy) else { return Ok(text.len()) };
        if matcher.minds_context() {
            return Ok(0);
        }
        // Tokens that start further right can depend on the text to come.
        let mut sure = (text.len() + 1).saturating_sub(matcher.longest());
        while !text.is_char_boundary(sure) {
            sure -= 1;
        }
        let mut done = sure;
        for found in matcher.find(text).take_while(|found| found.start < sure) {
            admit(matcher.token(found.token), policy).map_err(|error| error.at(found.start))?;
            done = done.max(found.end);
        }
        Ok(done)
    }

    /// As [`Segmenter::matcher`], of those that are looked for in normalized text.
    pub(crate) fn normalized_matcher(&self, policy: Policy) -> Option<&Matcher> {
        self.normalized.matcher(policy)
    }

    /// All added tokens that any call looks for in normalized text.
    pub(crate) fn any_normalized(&self) -> Option<&Matcher> {
        self.normalized.all.as_deref()
    }

    /// Whether the neighbours of added tokens that any call looks for decide if they are found, and their extent.
    pub(crate) fn any_minds_context(&self) -> bool {
        [&self.original.all, &self.normalized.all].into_iter().flatten().any(|all| all.minds_context())
    }

    /// Whether text that goes on is not normalized as a text by itself.
    pub(crate) fn minds_start(&self) -> bool {
        self.steps.normalizers.iter().any(Normalizer::minds_start)
    }

    /// The steps.
    pub(crate) fn steps(&self) -> &Steps {
        &self.steps
    }

    /// A text as patterns get it, which begins by itself or goes on, where nothing else cuts it but added tokens: as it is, or
    /// without any of these and with as many characters between any two cuts as it has itself. None elsewhere.
    pub(crate) fn one_for_one<'t>(&self, text: &'t str, at_start: bool, policy: Policy) -> Option<Cow<'t, str>> {
        let Steps { prefix_space, pre_tokenizers, .. } = &self.steps;
        if *prefix_space || !pre_tokenizers.is_empty() {
            return None;
        }
        let mut new = Cow::Borrowed(text);
        for normalizer in if at_start { &self.steps.normalizers } else { &self.going_on } {
            if let Cow::Owned(changed) = normalizer.one_for_one(&new)? {
                new = Cow::Owned(changed);
            }
        }
        if matches!(new, Cow::Borrowed(_)) && self.parts_stay() {
            return Some(new);
        }
        // The text between added tokens is normalized by itself.
        let has_any = has_added(self.matcher(policy), text) || has_added(self.normalized_matcher(policy), &new);
        (!has_any).then_some(new)
    }

    /// Whether pre-tokenizers do nothing to a text that goes on, nor normalizers before them, but to put one character in the
    /// place of another.
    pub(crate) fn is_of_characters(&self, policy: Policy) -> bool {
        let Steps { normalizers, prefix_space, pre_tokenizers, .. } = &self.steps;
        let is_of_characters = |step: &PreTokenizer| step.metaspace().is_some_and(Metaspace::is_of_characters);
        !prefix_space
            && !pre_tokenizers.is_empty()
            && pre_tokenizers.iter().all(is_of_characters)
            && normalizers.iter().all(Normalizer::is_of_characters)
            && self.normalized_matcher(policy).is_none()
    }

    /// The pieces of a text, which begins by itself or goes on, with their places in it; None where patterns cut them, where the
    /// places are not known, or the text has added tokens or is very long.
    ///
    /// # Errors
    /// As [`Segmenter::normalize`] and [`Segmenter::pre_tokenize`].
    pub(crate) fn placed_pieces(&self, text: &str, at_start: bool, policy: Policy) -> Result<Option<PreTokenized>> {
        let Steps { pre_tokenizers, patterns, .. } = &self.steps;
        let are_all = !pre_tokenizers.is_empty() && patterns.is_empty() && u32::try_from(text.len()).is_ok();
        if !are_all || has_added(self.matcher(policy), text) {
            return Ok(None);
        }
        let mut new = Aligned::traced(text)?;
        self.normalize(&mut new, at_start)?;
        // As in `tokenizers`, what a table drops at the start is counted nowhere: all origins are too near to it then.
        let ends = new.origins().and_then(<[_]>::last).map_or(0, |last| last.1 as usize);
        if ends < text.len() || has_added(self.normalized_matcher(policy), new.text()) {
            return Ok(None);
        }
        let at_start = at_start && new.starts_original(0);
        self.pre_tokenize(new, at_start).map(Some)
    }

    /// Whether the normalizers leave each part of a text as it is if they leave all of it so.
    pub(crate) fn parts_stay(&self) -> bool {
        self.steps.normalizers.iter().all(Normalizer::parts_stay)
    }

    /// Whether nothing but patterns and added tokens found in normalized text changes or cuts a stretch, or one that goes on
    /// where another one ended.
    ///
    /// # Errors
    /// As [`Segmenter::normalize`].
    pub(crate) fn keeps_stretch(&self, text: &str, at_start: bool) -> Result<bool> {
        let Steps { normalizers, prefix_space, pre_tokenizers, .. } = &self.steps;
        // Places in pieces are 32 bits wide.
        let cuts = *prefix_space || !pre_tokenizers.is_empty() || u32::try_from(text.len()).is_err();
        let normalizers = if at_start { normalizers } else { &self.going_on };
        Ok(!cuts && matches!(normalize::try_apply_all(normalizers, text)?, Cow::Borrowed(_)))
    }

    /// Whether text is normalized as `sentencepiece` does it.
    pub(crate) fn is_of_sentencepiece(&self) -> bool {
        self.steps.normalizers.iter().any(|normalizer| matches!(normalizer, Normalizer::SentencePiece(_)))
    }

    /// Normalizes a stretch, or one that goes on where another one ended.
    ///
    /// # Errors
    /// `Pattern`, if a pattern exceeds its step budget.
    pub(crate) fn normalize(&self, stretch: &mut Aligned, at_start: bool) -> Result<()> {
        let normalizers = if at_start { &self.steps.normalizers } else { &self.going_on };
        normalizers.iter().try_for_each(|normalizer| normalizer.apply_aligned(stretch))
    }

    /// Takes normalized text without added tokens to pieces, which patterns may still cut.
    ///
    /// # Errors
    /// `Pattern`, if a pattern exceeds its step budget.
    pub(crate) fn pre_tokenize(&self, mut text: Aligned, at_start: bool) -> Result<PreTokenized> {
        if self.steps.prefix_space && !text.text().starts_with(' ') {
            Normalizer::Prepend(" ".into()).apply_aligned(&mut text)?;
        }
        let mut cut = PreTokenized::new(text);
        self.steps.pre_tokenizers.iter().try_for_each(|step| step.apply(&mut cut, at_start))?;
        Ok(cut)
    }

    /// The patterns that cut pieces.
    pub(crate) fn patterns(&self) -> &[Pattern] {
        &self.steps.patterns
    }

    /// Sends the pieces that patterns make of a text to `visitor`.
    ///
    /// # Errors
    /// `Pattern`, if a pattern exceeds its step budget; the errors of `visitor`.
    pub(crate) fn walk_patterns(&self, text: &str, visitor: &mut impl Visit) -> Result<()> {
        walk_pieces(text, &self.steps.patterns, visitor)
    }

    /// The same of a text that is not the one that was given: errors have no place.
    ///
    /// # Errors
    /// As [`Segmenter::walk_patterns`].
    pub(crate) fn walk_changed(&self, text: &str, visitor: &mut impl Visit) -> Result<()> {
        self.walk_patterns(text, visitor).map_err(unplaced)
    }

    /// The text between two added tokens of the original text.
    fn walk_between(
        &self,
        original: &str,
        at_start: bool,
        normalizers: &[Normalizer],
        policy: Policy,
        visitor: &mut impl Visit,
        room: &mut Joined,
    ) -> Result<()> {
        if self.traces {
            return self.walk_traced(original, at_start, normalizers, policy, visitor);
        }
        let text = normalize::try_apply_in(normalizers, original, room)?;
        let matcher = self.normalized.matcher(policy);
        let walked = walk_added(matcher, &text, policy, visitor, |start, plain, visitor| {
            self.walk_plain(plain, at_start && start == 0, visitor)
        });
        // A place in changed text is no place in the original.
        walked.map_err(|error| if text == original { error } else { unplaced(error) })
    }

    /// The same where pieces depend on whether they come from the beginning of the original text.
    fn walk_traced(
        &self,
        original: &str,
        at_start: bool,
        normalizers: &[Normalizer],
        policy: Policy,
        visitor: &mut impl Visit,
    ) -> Result<()> {
        let mut text = Aligned::traced(original)?;
        normalizers.iter().try_for_each(|normalizer| normalizer.apply_aligned(&mut text))?;
        let walked = each_part(self.normalized.matcher(policy), text.text(), policy, |token, range| {
            if let Some(token) = token {
                return visitor.added(token, &text.text()[range]);
            }
            let at_start = at_start && text.starts_original(range.start);
            let cut = self.pre_tokenize(text.part(range)?, at_start)?;
            walk_cut(&cut, &self.steps.patterns, visitor)
        });
        walked.map_err(unplaced)
    }

    /// Text in which no added token is left.
    fn walk_plain(&self, text: &str, at_start: bool, visitor: &mut impl Visit) -> Result<()> {
        let Steps { prefix_space, pre_tokenizers, patterns, .. } = &self.steps;
        if !pre_tokenizers.is_empty() {
            // As between the line ends that are added tokens of Gemma, whose spaces are replaced before.
            if !prefix_space && pre_tokenizers.iter().all(|step| step.finds_nothing_to_cut(text)) {
                return walk_pieces(text, patterns, visitor).map_err(unplaced);
            }
            let cut = self.pre_tokenize(Aligned::plain(memory::copy(text)?), at_start)?;
            return walk_cut(&cut, patterns, visitor).map_err(unplaced);
        }
        if *prefix_space && !text.starts_with(' ') {
            let mut spaced = String::new();
            spaced.room(1 + text.len())?;
            spaced.push(' ');
            spaced.push_str(text);
            let walked = walk_pieces(&spaced, patterns, visitor);
            return walked
                .map_err(|error| error.but(|error| error.byte = error.byte.map(|byte| byte.saturating_sub(1))));
        }
        walk_pieces(text, patterns, visitor)
    }
}

/// Whether `matcher` finds an added token in a text.
fn has_added(matcher: Option<&Matcher>, text: &str) -> bool {
    matcher.is_some_and(|matcher| matcher.find(text).next().is_some())
}

/// Calls `visit` for each added token that `matcher` finds, and for each stretch between them that is not empty.
///
/// # Errors
/// `SpecialToken`, if the policy does not admit a token; the errors of `visit`. Their places are not changed.
pub(crate) fn each_part(
    matcher: Option<&Matcher>,
    text: &str,
    policy: Policy,
    mut visit: impl FnMut(Option<&AddedToken>, Range<usize>) -> Result<()>,
) -> Result<()> {
    let found =
        matcher.into_iter().flat_map(|matcher| matcher.find(text).map(|found| (matcher.token(found.token), found)));
    each_found(found, text, |token, range| {
        token.map_or(Ok(()), |token| admit(token, policy).map_err(|error| error.at(range.start)))?;
        visit(token, range)
    })
}

/// The same for added tokens that were found in some way.
///
/// # Errors
/// The errors of `visit`.
pub(crate) fn each_found<'m>(
    found: impl Iterator<Item = (&'m AddedToken, Found)>,
    text: &str,
    mut visit: impl FnMut(Option<&AddedToken>, Range<usize>) -> Result<()>,
) -> Result<()> {
    let mut at = 0;
    for (token, found) in found {
        if at < found.start {
            visit(None, at..found.start)?;
        }
        visit(Some(token), found.start..found.end)?;
        at = found.end;
    }
    if at < text.len() { visit(None, at..text.len()) } else { Ok(()) }
}

/// Sends the added tokens that `matcher` finds to `visitor`, and the text between them to `between` with where it starts.
fn walk_added<V: Visit>(
    matcher: Option<&Matcher>,
    text: &str,
    policy: Policy,
    visitor: &mut V,
    mut between: impl FnMut(usize, &str, &mut V) -> Result<()>,
) -> Result<()> {
    each_part(matcher, text, policy, |token, range| {
        let start = range.start;
        let visited = match token {
            Some(token) => visitor.added(token, &text[range]).map_err(|error| error.at(0)),
            None => between(start, &text[range], visitor),
        };
        visited.map_err(|error| error.shifted(start))
    })
}

/// Where a scan that starts at about `near` has a boundary after `settle` pieces: very likely one of the whole stretch's own.
fn settled(pattern: &Pattern, stretch: &str, near: usize, settle: usize) -> Option<usize> {
    let start = (near..=stretch.len()).find(|&at| stretch.is_char_boundary(at))?;
    let mut pieces = pattern.pieces_from(stretch, start);
    for _ in 0..settle {
        pieces.next()?.ok()?;
    }
    Some(pieces.at())
}

/// Appends the added tokens that `matcher` finds in a range of a text to `parts`, and has `between` append what lies
/// between them; None if the policy does not admit one of them.
fn find(
    matcher: Option<&Matcher>,
    text: &str,
    range: Range<usize>,
    policy: Policy,
    parts: &mut Vec<Part>,
    between: &mut impl FnMut(Range<usize>, &mut Vec<Part>) -> Option<()>,
) -> Option<()> {
    let mut at = range.start;
    for found in matcher.iter().flat_map(|matcher| matcher.find(&text[range.clone()]).map(|found| (*matcher, found))) {
        let (matcher, Found { start, end, token }) = found;
        let token = matcher.token(token);
        admit(token, policy).ok()?;
        if at < range.start + start {
            between(at..range.start + start, parts)?;
        }
        parts.push(Part::Added { id: token.id, end: range.start + end });
        at = range.start + end;
    }
    if at < range.end { between(at..range.end, parts) } else { Some(()) }
}

/// The same error, of a text that is not the one that was given.
fn unplaced(error: Error) -> Error {
    error.but(|error| error.byte = None)
}

/// The pieces of pre-tokenizers, or what patterns make of them.
fn walk_cut(cut: &PreTokenized, patterns: &[Pattern], visitor: &mut impl Visit) -> Result<()> {
    if patterns.is_empty() {
        return visitor.pre_tokenized(cut.text(), cut.pieces());
    }
    cut.texts().try_for_each(|piece| walk_pieces(piece, patterns, visitor))
}

fn walk_pieces(text: &str, patterns: &[Pattern], visitor: &mut impl Visit) -> Result<()> {
    match patterns.split_first() {
        None => visitor.piece(text),
        Some((pattern, inner)) => visitor.pieces(text, pattern, inner, 0..text.len()).map(|_| ()),
    }
}
