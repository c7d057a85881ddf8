//! Pieces -> ids: those that the thread has seen from its caches, whole tokens from the vocabulary's table, and the rest by
//! merging.
//!
//! Long because the ways of a piece, by table, by cache, by merging, by a model of characters, share their buffers and are
//! compiled into one loop; a sixth of it is tests.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cache::known::{Known, few};
use crate::cache::pool::Pool;
use crate::cache::seen::Key;
use crate::error::{Error, Kind, Result};
use crate::interrupt::Checks;
use crate::memory::{self, Room};
use crate::merge::{self, Scratch};
use crate::model::{self, Hazards, OnBytes, Token, WordModel};
use crate::row::{self, IDS, Ids};
use crate::segment::{self, Visit};
use crate::split::added::AddedToken;
use crate::split::{Ends, Pattern, Scan};
use crate::utf8;
use crate::vocab::{LONGEST_WHOLE, Semantics, Vocab};

/// Takes ids as they come.
pub trait Sink {
    /// What it keeps of them.
    fn kept(&mut self) -> Kept<'_>;

    /// Some ids, in order.
    ///
    /// # Errors
    /// `Memory`.
    #[inline]
    fn take(&mut self, ids: &[u32]) -> Result<()> {
        match self.kept() {
            Kept::Ids(kept) => {
                kept.room(ids.len())?;
                kept.extend_from_slice(ids);
            }
            Kept::Number(number) => *number += ids.len() as u64,
        }
        Ok(())
    }
}

/// What a [`Sink`] keeps: the ids, or only how many there are.
pub enum Kept<'a> {
    /// All ids.
    Ids(&'a mut Vec<u32>),
    /// Their number.
    Number(&'a mut u64),
}

impl Sink for Vec<u32> {
    #[inline(always)]
    fn kept(&mut self) -> Kept<'_> {
        Kept::Ids(self)
    }
}

/// Counts ids and keeps none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count(pub u64);

impl Sink for Count {
    #[inline(always)]
    fn kept(&mut self) -> Kept<'_> {
        Kept::Number(&mut self.0)
    }
}

/// How many pieces are looked up together at most.
const MANY: usize = Ends::MOST;

/// So many pieces of pre-tokenizers are looked up together.
pub(crate) const TOGETHER: usize = 32;

/// The working memory of a thread.
#[derive(Default)]
struct Workspace {
    ends: Ends,
    lookup: Lookup,
    /// Those that ask whether the ids are still wanted.
    checks: Checks,
    /// The number of ids of pieces that are counted together.
    counts: Vec<u32>,
}

/// The working memory of a thread for a model of characters.
#[derive(Default)]
struct WordScratch {
    model: model::Scratch,
    tokens: Vec<Token>,
}

impl WordScratch {
    /// Appends the ids of a piece.
    fn encode(&mut self, words: &WordModel, piece: &str, ids: &mut Vec<u32>) -> Result<()> {
        self.tokens.clear();
        words.encode(piece, &mut self.model, &mut self.tokens)?;
        ids.room(self.tokens.len())?;
        ids.extend(self.tokens.iter().map(|token| token.id));
        Ok(())
    }
}

/// The working memory of a thread for looking up pieces, and merging unknown ones.
#[derive(Default)]
struct Lookup {
    found: Found,
    known: Known,
    scratch: Scratch,
    words: WordScratch,
    /// The ids of pieces that have too many for [`Ids`], one piece behind the other.
    merged: Vec<u32>,
    /// The ids of one piece.
    ids: Vec<u32>,
}

/// A piece to be looked up.
#[derive(Clone, Copy, Default)]
pub(crate) struct Asked {
    key: Key,
    hash: u32,
}

impl Asked {
    #[inline(always)]
    fn new(text: &[u8], piece: Range<usize>, kind: impl Fn(Key) -> Key) -> Self {
        let key = kind(Key::new(text, piece.start, piece.len()));
        Self { key, hash: key.hash() }
    }
}

/// Pieces that are looked up together.
struct Found {
    keys: [Key; MANY],
    hashes: [u32; MANY],
    /// The ids of each; if their number is 0, the first two are where its ids start and end in `merged`.
    ids: [Ids; MANY],
    /// The numbers of those that were not found at once, in order.
    which: [u8; MANY],
    missing: usize,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            keys: [Key::default(); MANY],
            hashes: [0; MANY],
            ids: [Ids::default(); MANY],
            which: [0; MANY],
            missing: 0,
        }
    }
}

/// A vocabulary with its caches, shared by all threads.
pub(crate) struct Compiled {
    pub(crate) vocab: Vocab,
    /// A model that is spelled in characters. The vocabulary does its work on bytes, or is empty.
    words: Option<WordModel>,
    /// Pieces with one of these are left to the model that is spelled in characters.
    hazards: Option<Hazards>,
    pool: Pool<Workspace>,
}

impl Compiled {
    pub(crate) fn new(vocab: Vocab) -> Self {
        Self { vocab, words: None, hazards: None, pool: Pool::default() }
    }

    /// A model that is spelled in characters, and the vocabulary that does its work on bytes, if there is one.
    ///
    /// # Errors
    /// None: no tokens are a vocabulary.
    pub(crate) fn of_words(words: WordModel, on_bytes: Option<OnBytes>) -> Result<Self> {
        let (vocab, hazards) = match on_bytes {
            Some(mut on_bytes) => {
                let hazards = on_bytes.take_hazards();
                (on_bytes.vocab, hazards)
            }
            None => (Vocab::new(&[], &[], Semantics::Ranks)?, None),
        };
        Ok(Self { words: Some(words), hazards, ..Self::new(vocab) })
    }

    /// Whether each piece that is not empty has an id, since there is one for what is unknown, or a byte is a token.
    pub(crate) fn makes_something(&self) -> bool {
        self.words.as_ref().is_none_or(|words| words.unk_id().is_some())
    }

    /// The model that is spelled in characters, if no vocabulary does its work.
    #[inline]
    fn words_alone(&self) -> Option<&WordModel> {
        self.words.as_ref().filter(|_| self.vocab.is_empty())
    }

    /// The encoder of a piece in place of the vocabulary, if it needs another one.
    #[inline]
    fn instead(&self, piece: &[u8]) -> Option<&WordModel> {
        let words = self.words.as_ref()?;
        let is_left = self.vocab.is_empty() || self.hazards.as_ref().is_some_and(|hazards| hazards.are_in(piece));
        is_left.then_some(words)
    }

    /// Appends the ids of a piece that is not known.
    #[inline]
    fn encode_new(
        &self,
        text: &[u8],
        piece: Range<usize>,
        scratch: &mut Scratch,
        words: &mut WordScratch,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        if let Some(model) = self.instead(&text[piece.clone()]) {
            let piece = &text[piece];
            let piece = utf8::text(piece).map_err(|error| Error::not_utf8(piece, &error))?;
            return words.encode(model, piece, ids);
        }
        match self.whole(text, piece.start, piece.end) {
            Some(id) => memory::push(ids, id),
            None => merge::encode(&self.vocab, &text[piece], scratch, ids),
        }
    }

    /// The model that is spelled in characters, if it is one.
    pub(crate) fn words(&self) -> Option<&WordModel> {
        self.words.as_ref()
    }

    /// Whether the place between two characters is an edge of tokens in every piece that has it, of up to
    /// [`Compiled::longest_that_splits`] bytes, the ids of both sides being those of each side as a piece of its own. Where
    /// it says no, it may still be one.
    ///
    /// A model that runs on bytes: no hazard goes across either, since hazards are tokens, and the model that is spelled in
    /// characters, which encodes a piece with one, has the same edge there.
    pub(crate) fn splits_between(&self, left: char, right: char) -> bool {
        match &self.words {
            Some(words) if self.vocab.is_empty() => words.splits_between(left, right),
            _ => self.vocab.splits_between(left, right),
        }
    }

    /// The bytes of the longest piece for which [`Compiled::splits_between`] holds.
    pub(crate) fn longest_that_splits(&self) -> usize {
        match &self.words {
            Some(words) if self.vocab.is_empty() => words.longest_that_splits(),
            _ => usize::MAX,
        }
    }

    /// Whether some pieces of a model that runs on bytes are left to the model that is spelled in characters.
    pub(crate) fn has_hazards(&self) -> bool {
        self.hazards.is_some()
    }

    /// Where the first hazard ends that begins at `from` or later, if the vocabulary does the model's work on bytes and some
    /// pieces are left to the model that is spelled in characters.
    pub(crate) fn hazard_end(&self, text: &str, from: usize) -> Option<usize> {
        self.hazards.as_ref()?.end_behind(text, from)
    }

    /// The bytes of the longest hazard.
    pub(crate) fn longest_hazard(&self) -> usize {
        self.hazards.as_ref().map_or(0, Hazards::longest)
    }

    /// Whether a part of a text, which is not empty, is a whole token as a piece.
    #[inline]
    pub(crate) fn is_whole(&self, text: &[u8], start: usize, end: usize) -> bool {
        self.whole(text, start, end).is_some()
    }

    /// The id of a part of a text, which is not empty, if it is a whole token as a piece.
    #[inline]
    fn whole(&self, text: &[u8], start: usize, end: usize) -> Option<u32> {
        let tokens = self.vocab.whole_tokens();
        if end - start <= LONGEST_WHOLE && !tokens.may_lack_tokens() {
            return tokens.get(text, start, end);
        }
        self.vocab.whole(&text[start..end])
    }

    /// A borrowed workspace for the calls of [`Compiled::tokens`].
    pub(crate) fn borrow(&self) -> Borrowed<'_> {
        Borrowed { model: self, workspace: Some(self.pool.take()), ids: Vec::new(), tokens: Vec::new() }
    }

    /// Bytes of memory of the table of tokens.
    pub(crate) fn memory(&self) -> usize {
        self.vocab.whole_tokens().memory()
    }

    /// An encoder for one call.
    pub(crate) fn encoder<'a, S: Sink>(&'a self, sink: &'a mut S) -> Encoder<'a, S> {
        Encoder { model: self, workspace: Some(self.pool.take()), stop: None, sink }
    }
}

/// Encodes pieces into a sink.
pub(crate) struct Encoder<'a, S> {
    model: &'a Compiled,
    /// There until the encoder is dropped.
    workspace: Option<Box<Workspace>>,
    /// Set by whoever no longer wants the ids.
    pub(crate) stop: Option<&'a AtomicBool>,
    pub(crate) sink: &'a mut S,
}

impl<S> Drop for Encoder<'_, S> {
    fn drop(&mut self) {
        if let Some(workspace) = self.workspace.take() {
            self.model.pool.give_back(workspace);
        }
    }
}

/// A workspace that one call has.
pub(crate) struct Borrowed<'a> {
    model: &'a Compiled,
    /// Present until it is returned.
    workspace: Option<Box<Workspace>>,
    ids: Vec<u32>,
    tokens: Vec<Token>,
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if let Some(workspace) = self.workspace.take() {
            self.model.pool.give_back(workspace);
        }
    }
}

impl Borrowed<'_> {
    /// Appends the tokens of a piece, which has its length in 32 bits.
    ///
    /// # Errors
    /// `Encode`, if a part of it has no token.
    pub(crate) fn tokens(&mut self, piece: &str, tokens: &mut Vec<Token>) -> Result<()> {
        let asked = Asked::new(piece.as_bytes(), 0..piece.len(), Key::of_places);
        self.tokens_asked_for(piece, asked, |token| memory::push(tokens, token))
    }

    /// Asks for the memory that the tokens of some pieces need, at most [`TOGETHER`]: for [`Borrowed::tokens_asked_for`].
    pub(crate) fn ask(&self, text: &str, pieces: &[Range<usize>]) -> [Asked; TOGETHER] {
        match &self.workspace {
            Some(workspace) if self.model.words.is_some() => workspace.lookup.ask(text, pieces, Key::of_places),
            _ => [Asked::default(); TOGETHER],
        }
    }

    /// Calls `each` with the tokens of a piece that was asked for.
    ///
    /// # Errors
    /// As [`Borrowed::tokens`], and those of `each`.
    #[inline(always)]
    pub(crate) fn tokens_asked_for(
        &mut self,
        piece: &str,
        asked: Asked,
        mut each: impl FnMut(Token) -> Result<()>,
    ) -> Result<()> {
        let Some(workspace) = &mut self.workspace else { return Ok(()) };
        workspace.checks.check()?;
        if self.model.words.is_some() && workspace.lookup.known_tokens(piece, asked, &mut each)? {
            return Ok(());
        }
        self.new_tokens(piece, asked)?;
        self.tokens.iter().try_for_each(|&token| each(token))
    }

    /// Puts the tokens of a piece that are not remembered into `tokens`.
    fn new_tokens(&mut self, piece: &str, asked: Asked) -> Result<()> {
        let (Some(workspace), tokens) = (&mut self.workspace, &mut self.tokens) else { return Ok(()) };
        tokens.clear();
        if let Some(words) = self.model.instead(piece.as_bytes()) {
            return workspace.word_tokens(words, piece, asked, tokens);
        }
        self.ids.clear();
        let end = u32::try_from(piece.len()).map_err(|_| Error::piece_too_long())?;
        workspace.lookup.encode(self.model, piece.as_bytes(), 0, &[end], &mut self.ids)?;
        tokens.room(self.ids.len())?;
        one_after_another(&self.model.vocab, &self.ids, 0, |token| {
            tokens.push(token);
            Ok(())
        })
    }

    /// Calls `found` with each token of the pieces that patterns make of a text, and the number of its piece; returns the
    /// number of pieces. None if the pieces have to be asked for one by one.
    ///
    /// # Errors
    /// As [`Borrowed::tokens`], and `Pattern`, if a pattern exceeds its step budget.
    pub(crate) fn all_tokens(
        &mut self,
        text: &str,
        patterns: &[Pattern],
        mut found: impl FnMut(Token, u32) -> Result<()>,
    ) -> Result<Option<u32>> {
        let (Some((pattern, inner)), Some(workspace)) = (patterns.split_first(), &mut self.workspace) else {
            return Ok(None);
        };
        if u32::try_from(text.len()).is_err() || self.model.words_alone().is_some() {
            return Ok(None);
        }
        let mut scan = Scan::new(pattern, inner, text, 0..text.len());
        let Workspace { ends, lookup, checks, .. } = &mut **workspace;
        let (mut start, mut pieces) = (0, 0);
        loop {
            let filled = scan.fill(ends, start);
            let ends = ends.as_slice();
            let Some(&last) = ends.last() else {
                filled?;
                return Ok(Some(pieces));
            };
            checks.check()?;
            self.ids.clear();
            lookup.encode(self.model, text.as_bytes(), start, ends, &mut self.ids)?;
            let mut piece = 0;
            one_after_another(&self.model.vocab, &self.ids, start as u32, |token| {
                while ends.get(piece).is_some_and(|&end| start as u32 + end <= token.start) {
                    piece += 1;
                }
                found(token, pieces + piece as u32)
            })?;
            pieces += ends.len() as u32;
            start += last as usize;
        }
    }
}

/// Calls `found` with ids as tokens, which stand one behind the other.
fn one_after_another(vocab: &Vocab, ids: &[u32], start: u32, mut found: impl FnMut(Token) -> Result<()>) -> Result<()> {
    let mut start = start;
    for &id in ids {
        let end = start + vocab.length_of_id(id) as u32;
        found(Token { id, start, end })?;
        start = end;
    }
    Ok(())
}

impl Workspace {
    /// Sends the ids of a piece, which is not empty, to `sink`; it may have been asked for.
    fn encode_piece(
        &mut self,
        model: &Compiled,
        piece: &str,
        asked: Option<Asked>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if let Some(words) = model.words_alone() {
            let asked = asked.unwrap_or_else(|| Asked::new(piece.as_bytes(), 0..piece.len(), |key| key));
            return self.encode_word(words, piece, asked, sink);
        }
        let end = u32::try_from(piece.len()).map_err(|_| Error::piece_too_long())?;
        self.lookup.encode(model, piece.as_bytes(), 0, &[end], sink)
    }

    /// Sends the ids of a piece of a model of characters to `sink`.
    fn encode_word(
        &mut self,
        words: &WordModel,
        piece: &str,
        Asked { key, hash }: Asked,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Lookup { known, ids, words: scratch, .. } = &mut self.lookup;
        if u32::try_from(piece.len()).is_err() {
            return Err(Error::piece_too_long());
        }
        let bytes = piece.as_bytes();
        ids.clear();
        if !known.get(key, hash, bytes, ids) {
            scratch.encode(words, piece, ids)?;
            known.keep(key, hash, bytes, ids);
        }
        sink.take(ids)
    }

    /// Appends the tokens of a piece that are not known. Those that lie side by side and cover it are remembered: their ids, and
    /// behind them where each but the last one ends.
    fn word_tokens(
        &mut self,
        words: &WordModel,
        piece: &str,
        Asked { key, hash }: Asked,
        tokens: &mut Vec<Token>,
    ) -> Result<()> {
        let Lookup { known, ids: numbers, words: WordScratch { model, .. }, .. } = &mut self.lookup;
        let bytes = piece.as_bytes();
        let before = tokens.len();
        words.encode(piece, model, tokens)?;
        let found = &tokens[before..];
        let ends = || found.iter().map(|token| token.end);
        let starts = [0].into_iter().chain(ends());
        let covers = found.iter().zip(starts).all(|(token, start)| token.start == start)
            && ends().next_back() == Some(bytes.len() as u32);
        if covers {
            numbers.clear();
            numbers.room(2 * found.len())?;
            numbers.extend(found.iter().map(|token| token.id).chain(ends()));
            numbers.pop();
            known.keep(key, hash, bytes, numbers);
        }
        Ok(())
    }
}

fn interrupted() -> Error {
    Error::new(Kind::Interrupted, "encoding was interrupted")
}

impl Lookup {
    /// Asks for the memory that some pieces need, at most [`TOGETHER`]; `kind` makes of their keys those to look for.
    #[inline]
    fn ask(&self, text: &str, pieces: &[Range<usize>], kind: impl Fn(Key) -> Key) -> [Asked; TOGETHER] {
        let mut all = [Asked::default(); TOGETHER];
        for (piece, asked) in pieces.iter().zip(&mut all) {
            *asked = Asked::new(text.as_bytes(), piece.clone(), &kind);
            self.known.prepare(asked.hash);
        }
        all
    }

    /// Calls `each` with the tokens of a piece if they are remembered; whether they are.
    #[inline(always)]
    fn known_tokens(
        &mut self,
        piece: &str,
        Asked { key, hash }: Asked,
        mut each: impl FnMut(Token) -> Result<()>,
    ) -> Result<bool> {
        let (held, is_it) = self.known.probe(key, hash);
        let numbers = if is_it {
            &held[..held[IDS] as usize % (IDS + 1)]
        } else {
            self.ids.clear();
            if !self.known.get(key, hash, piece.as_bytes(), &mut self.ids) {
                return Ok(false);
            }
            &self.ids
        };
        let (ids, ends) = numbers.split_at(numbers.len().div_ceil(2));
        let mut start = 0;
        for (&id, end) in ids.iter().zip(ends.iter().copied().chain([piece.len() as u32])) {
            each(Token { id, start, end })?;
            start = end;
        }
        Ok(true)
    }

    /// Looks some pieces up, of which the first starts at `start`, merges those that are not known, and sends the ids of
    /// all to `sink`.
    fn encode(
        &mut self,
        model: &Compiled,
        text: &[u8],
        start: usize,
        ends: &[u32],
        sink: &mut impl Sink,
    ) -> Result<()> {
        let text = &text[start..];
        self.prepare(text, ends);
        let Found { keys, hashes, .. } = &self.found;
        let asked = keys[..ends.len()].iter().zip(hashes).map(|(&key, &hash)| Asked { key, hash });
        let known = self.send_known(asked, sink)?;
        if known == ends.len() {
            return Ok(());
        }
        match self.find(model, text, ends, known) {
            Ok(()) => self.send(known..ends.len(), sink),
            Err(error) if error.kind.ends_the_call() => Err(error),
            // The first fault is found one by one.
            Err(_) => self.encode_one_by_one(model, text, ends, known, sink).map_err(|error| error.shifted(start)),
        }
    }

    /// Asks for the memory that looking some pieces up needs: while some are compared, the lines of all of them are on their
    /// way.
    #[inline]
    fn prepare(&mut self, text: &[u8], ends: &[u32]) {
        let Self { found: Found { keys, hashes, .. }, known, .. } = self;
        let mut at = 0;
        for (&end, (key, hash)) in ends.iter().zip(keys.iter_mut().zip(hashes)) {
            let end = end as usize;
            *key = Key::new(text, at, end - at);
            *hash = key.hash();
            known.prepare(*hash);
            at = end;
        }
    }

    /// Sends the ids of the first pieces, up to the first one that is not found at once; returns which that is.
    #[inline]
    fn send_known(&self, pieces: impl ExactSizeIterator<Item = Asked>, sink: &mut impl Sink) -> Result<usize> {
        match sink.kept() {
            Kept::Ids(kept) => row::append(kept, pieces.len() * IDS, |row| self.each_known(pieces, |ids| row.put(ids))),
            Kept::Number(number) => Ok(self.each_known(pieces, |ids| *number += u64::from(ids[IDS]))),
        }
    }

    #[inline(always)]
    fn each_known(&self, pieces: impl Iterator<Item = Asked>, mut put: impl FnMut(&Ids)) -> usize {
        let mut count = 0;
        for Asked { key, hash } in pieces {
            let (ids, is_it) = self.known.probe(key, hash);
            if !is_it {
                break;
            }
            put(ids);
            count += 1;
        }
        count
    }

    /// Finds the ids of some pieces from number `first` on.
    #[inline]
    fn find(&mut self, model: &Compiled, text: &[u8], ends: &[u32], first: usize) -> Result<()> {
        let Self { found: Found { keys, hashes, ids, which, missing, .. }, known, .. } = self;
        let mut lost = 0;
        for number in first..ends.len() {
            let (held, is_it) = known.probe(keys[number], hashes[number]);
            ids[number] = *held;
            which[lost & (MANY - 1)] = number as u8;
            lost += usize::from(!is_it);
        }
        *missing = lost;
        if lost == 0 { Ok(()) } else { self.find_missing(model, text, ends) }
    }

    /// Finds the ids of the pieces that were not found at once.
    fn find_missing(&mut self, model: &Compiled, text: &[u8], ends: &[u32]) -> Result<()> {
        let Self { found, known, scratch, words, merged, .. } = self;
        merged.clear();
        // As with all: the memory of some is asked for while others are compared.
        for &number in &found.which[..found.missing] {
            let (start, end) = place(ends, number);
            let number = usize::from(number);
            if known.prepare_more(found.keys[number], found.hashes[number]) && end - start <= LONGEST_WHOLE {
                model.vocab.whole_tokens().prepare(text, start, end);
            }
        }
        for &number in &found.which[..found.missing] {
            let (start, end) = place(ends, number);
            let number = usize::from(number);
            let (key, hash, piece) = (found.keys[number], found.hashes[number], &text[start..end]);
            let before = merged.len();
            if !known.get(key, hash, piece, merged) {
                model.encode_new(text, start..end, scratch, words, merged)?;
                known.keep(key, hash, piece, &merged[before..]);
            }
            found.ids[number] = if let Some(ids) = few(&merged[before..]) {
                merged.truncate(before);
                ids
            } else {
                [before as u32, merged.len() as u32, 0, 0]
            };
        }
        Ok(())
    }

    /// The ids of a piece that has too many for [`Ids`].
    #[inline]
    fn many(&self, [start, end, ..]: Ids) -> &[u32] {
        &self.merged[start as usize..end as usize]
    }

    /// Finds some pieces as [`Lookup::encode`] does; `counts` becomes the number of ids of each.
    fn count(
        &mut self,
        model: &Compiled,
        text: &[u8],
        start: usize,
        ends: &[u32],
        counts: &mut Vec<u32>,
    ) -> Result<()> {
        let text = &text[start..];
        self.prepare(text, ends);
        if let Err(error) = self.find(model, text, ends, 0) {
            if error.kind.ends_the_call() {
                return Err(error);
            }
            return self
                .encode_one_by_one(model, text, ends, 0, &mut Count::default())
                .map_err(|error| error.shifted(start));
        }
        counts.clear();
        counts.extend(self.found.ids[..ends.len()].iter().map(count));
        Ok(())
    }

    /// Sends the ids of pieces that were found to `sink`, in order.
    #[inline]
    fn send(&self, pieces: Range<usize>, sink: &mut impl Sink) -> Result<()> {
        let pieces = self.found.ids[pieces].iter();
        match sink.kept() {
            Kept::Ids(kept) => row::append(kept, pieces.len() * IDS + self.merged.len(), |row| {
                for ids in pieces {
                    if ids[IDS] == 0 { row.put_all(self.many(*ids).iter().copied()) } else { row.put(ids) }
                }
            }),
            Kept::Number(number) => {
                *number += pieces.map(|ids| u64::from(count(ids))).sum::<u64>();
                Ok(())
            }
        }
    }

    #[cold]
    fn encode_one_by_one(
        &mut self,
        model: &Compiled,
        text: &[u8],
        ends: &[u32],
        first: usize,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Self { scratch, words, ids, .. } = self;
        for number in first as u8..ends.len() as u8 {
            ids.clear();
            let (start, end) = place(ends, number);
            model.encode_new(text, start..end, scratch, words, ids).map_err(|error| error.shifted(start))?;
            sink.take(ids)?;
        }
        Ok(())
    }
}

/// How many ids a piece has that was found ([`Found`]).
#[inline(always)]
fn count(ids: &Ids) -> u32 {
    if ids[IDS] == 0 { ids[1] - ids[0] } else { ids[IDS] }
}

/// Where one of the pieces that end at `ends` starts and ends.
#[inline]
fn place(ends: &[u32], number: u8) -> (usize, usize) {
    let number = usize::from(number);
    let start = if number == 0 { 0 } else { ends[number - 1] };
    (start as usize, ends[number] as usize)
}

impl<S: Sink> Visit for Encoder<'_, S> {
    fn piece(&mut self, piece: &str) -> Result<()> {
        let (Some(workspace), false) = (&mut self.workspace, piece.is_empty()) else { return Ok(()) };
        workspace.checks.check()?;
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(interrupted());
        }
        workspace.encode_piece(self.model, piece, None, self.sink)
    }

    fn added(&mut self, token: &AddedToken, _: &str) -> Result<()> {
        self.sink.take(&[token.id])
    }

    fn pre_tokenized(&mut self, text: &str, pieces: &[Range<usize>]) -> Result<()> {
        let Some(workspace) = &mut self.workspace else { return Ok(()) };
        for pieces in pieces.chunks(TOGETHER) {
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(interrupted());
            }
            let asked = workspace.lookup.ask(text, pieces, |key| key);
            let mut at = 0;
            loop {
                workspace.checks.check()?;
                at += workspace.lookup.send_known(asked[at..pieces.len()].iter().copied(), self.sink)?;
                let Some(piece) = pieces.get(at) else { break };
                // The key of an empty one would be that of free entries.
                if let Some(piece) = text.get(piece.clone()).filter(|piece| !piece.is_empty()) {
                    workspace.encode_piece(self.model, piece, Some(asked[at]), self.sink)?;
                }
                at += 1;
            }
        }
        Ok(())
    }

    fn pieces(&mut self, text: &str, pattern: &Pattern, inner: &[Pattern], range: Range<usize>) -> Result<usize> {
        if self.model.words_alone().is_some() {
            return segment::each_piece(self, text, pattern, inner, range);
        }
        let bytes = text.as_bytes();
        let mut start = range.start;
        let Some(workspace) = &mut self.workspace else { return Ok(start) };
        let mut scan = Scan::new(pattern, inner, text, range.clone());
        let Workspace { ends, lookup, checks, .. } = &mut **workspace;
        while !inner.is_empty() || start < range.end {
            let filled = scan.fill(ends, start);
            let Some(&last) = ends.as_slice().last() else {
                filled?;
                break;
            };
            checks.check()?;
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(interrupted());
            }
            let mut ends = ends.as_slice();
            if inner.is_empty() && start + last as usize > range.end {
                // The first that ends at the range's end or later is the last that starts in it.
                ends = &ends[..=ends.partition_point(|&end| start + (end as usize) < range.end)];
            }
            lookup.encode(self.model, bytes, start, ends, self.sink)?;
            start += ends.last().map_or(0, |&last| last as usize);
        }
        Ok(start)
    }
}

impl<S> Encoder<'_, S> {
    /// Calls `each` with each piece that pre-tokenizers made of a text, and the number of its ids.
    ///
    /// # Errors
    /// As [`Visit::piece`]; `Interrupted`.
    pub(crate) fn count_pre_tokenized(
        &mut self,
        text: &str,
        pieces: &[Range<usize>],
        mut each: impl FnMut(&Range<usize>, u64),
    ) -> Result<()> {
        let Some(workspace) = &mut self.workspace else { return Ok(()) };
        for pieces in pieces.chunks(TOGETHER) {
            let asked = workspace.lookup.ask(text, pieces, |key| key);
            for (range, &asked) in pieces.iter().zip(&asked) {
                let Some(piece) = text.get(range.clone()).filter(|piece| !piece.is_empty()) else { continue };
                workspace.checks.check()?;
                let (ids, is_it) = workspace.lookup.known.probe(asked.key, asked.hash);
                let mut count = Count(ids[IDS].into());
                if !is_it {
                    count = Count::default();
                    workspace.encode_piece(self.model, piece, Some(asked), &mut count)?;
                }
                each(range, count.0);
            }
        }
        Ok(())
    }

    /// Calls `each` with the end of each piece that patterns make of a text, and the number of its ids.
    ///
    /// # Errors
    /// As [`Visit::pieces`]; `Interrupted`.
    pub(crate) fn count_pieces(
        &mut self,
        text: &str,
        pattern: &Pattern,
        inner: &[Pattern],
        mut each: impl FnMut(usize, u64),
    ) -> Result<()> {
        let Some(workspace) = &mut self.workspace else { return Ok(()) };
        let Workspace { ends, lookup, checks, counts } = &mut **workspace;
        let mut scan = Scan::new(pattern, inner, text, 0..text.len());
        let mut start = 0;
        let words_alone = self.model.words_alone();
        loop {
            let filled = scan.fill(ends, start);
            let ends = ends.as_slice();
            let Some(&last) = ends.last() else { return filled };
            checks.check()?;
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(interrupted());
            }
            if let Some(model) = words_alone {
                let (mut at, words) = (start, &mut lookup.words);
                for &end in ends {
                    let end = start + end as usize;
                    words.tokens.clear();
                    model
                        .encode(&text[at..end], &mut words.model, &mut words.tokens)
                        .map_err(|error| error.shifted(at))?;
                    each(end, words.tokens.len() as u64);
                    at = end;
                }
            } else {
                lookup.count(self.model, text.as_bytes(), start, ends, counts)?;
                for (&end, &count) in ends.iter().zip(&*counts) {
                    each(start + end as usize, u64::from(count));
                }
            }
            start += last as usize;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::split::names;
    use crate::vocab::Semantics;

    fn model() -> Compiled {
        let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
        let mut tokens: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).collect();
        tokens.extend([&b" a"[..], b"bc", b" abc", b"de"]);
        let ids: Vec<u32> = (0..tokens.len() as u32).collect();
        Compiled::new(Vocab::new(&tokens, &ids, Semantics::Ranks).unwrap())
    }

    #[test]
    fn pieces_together_have_the_ids_that_they_have_alone() {
        let pattern = Pattern::new(names::GPT2).unwrap();
        let words =
            [" abc", " abcd", "bc", " ", "\n\n", " deabcde", "!", " ééé", " longer than twenty-eight bytes", "12"];
        let mut seed = 9_u64;
        for length in [1, 2, 17, 40, 1000] {
            let (model, alone) = (model(), model());
            for _ in 0..3 {
                let text: String = (0..length)
                    .map(|_| {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        // Words that are no tokens are the most, so that many in a row have to be merged.
                        words[if seed >> 60 < 12 { 5 } else { (seed >> 33) as usize % words.len() }]
                    })
                    .collect();
                let (mut ids, mut count, mut expected) = (Vec::new(), Count::default(), Vec::new());
                model.encoder(&mut ids).pieces(&text, &pattern, &[], 0..text.len()).unwrap();
                model.encoder(&mut count).pieces(&text, &pattern, &[], 0..text.len()).unwrap();
                for piece in pattern.pieces(&text) {
                    alone.encoder(&mut expected).piece(piece.unwrap()).unwrap();
                }
                assert_eq!((&ids, count.0), (&expected, expected.len() as u64));
                let merged: Vec<u32> = pattern
                    .pieces(&text)
                    .flat_map(|piece| {
                        let mut ids = Vec::new();
                        let piece = piece.unwrap().as_bytes();
                        merge::encode(&model.vocab, piece, &mut Scratch::default(), &mut ids).unwrap();
                        ids
                    })
                    .collect();
                assert_eq!(ids, merged);
            }
        }
    }

    /// A BPE of characters that runs on bytes but for pieces with "aaa", whose merge is listed before that of its part.
    fn hazardous() -> Compiled {
        let mut tokens: Vec<String> = (0..256).map(|byte| format!("<0x{byte:02X}>")).collect();
        tokens.extend(["<unk>", "a", "b", " ", "\u{e9}", "aa", "aaa", "aaaa", "ab", " a", " ab"].map(str::to_owned));
        let tokens: Vec<&[u8]> = tokens.iter().map(String::as_bytes).collect();
        let ids: Vec<u32> = (0..tokens.len() as u32).collect();
        let id = |token: &str| tokens.iter().position(|&other| other == token.as_bytes()).unwrap() as u32;
        let merges = [("aa", "a"), ("a", "a"), ("aa", "aa"), ("a", "b"), (" ", "a"), (" a", "b")];
        let pairs: Vec<(u32, u32)> = merges.iter().map(|(left, right)| (id(left), id(right))).collect();
        let options = r#"{"type":"BPE","unk_token":"<unk>","byte_fallback":true}"#;
        let words = WordModel::new(options, &tokens, &ids, Some(&pairs), None).unwrap();
        let on_bytes = words.on_bytes().unwrap();
        Compiled::of_words(words, on_bytes).unwrap()
    }

    #[test]
    fn pieces_with_hazards_have_the_ids_of_characters() {
        let pattern = Pattern::new(names::GPT2).unwrap();
        let words = [
            " aaa",
            "aaa",
            " aaaab",
            "aaaaa",
            " a",
            "ab",
            " \u{e9}aaa",
            "\u{4e16}aaa",
            " ba",
            "aabaaabaaaab",
            "b",
            " ",
        ];
        let (mut seed, mut others) = (9_u64, 0);
        for length in [1, 2, 17, 40, 1000] {
            let model = hazardous();
            assert!(model.has_hazards() && model.vocab.is_proper());
            let characters = model.words().unwrap();
            for _ in 0..3 {
                let word = |_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    words[(seed >> 33) as usize % words.len()]
                };
                let text: String = (0..length).map(word).collect();
                let (mut expected, mut scratch) = (Vec::new(), model::Scratch::default());
                let (mut ends, mut pieces) = (Vec::new(), Vec::new());
                for piece in pattern.pieces(&text).map(Result::unwrap) {
                    let start = ends.last().map_or(0, |&(end, _): &(usize, u64)| end);
                    let before = expected.len();
                    characters.encode(piece, &mut scratch, &mut expected).unwrap();
                    ends.push((start + piece.len(), (expected.len() - before) as u64));
                    pieces.push(start..start + piece.len());
                    let mut merged = Vec::new();
                    merge::encode(&model.vocab, piece.as_bytes(), &mut Scratch::default(), &mut merged).unwrap();
                    others += usize::from(merged.iter().ne(expected[before..].iter().map(|token| &token.id)));
                }
                let expected: Vec<u32> = expected.iter().map(|token| token.id).collect();
                // The second time all pieces are known.
                for _ in 0..2 {
                    let (mut ids, mut together, mut one_by_one) = (Vec::new(), Vec::new(), Vec::new());
                    model.encoder(&mut ids).pieces(&text, &pattern, &[], 0..text.len()).unwrap();
                    model.encoder(&mut together).pre_tokenized(&text, &pieces).unwrap();
                    for piece in &pieces {
                        model.encoder(&mut one_by_one).piece(&text[piece.clone()]).unwrap();
                    }
                    assert_eq!((&ids, &together, &one_by_one), (&expected, &expected, &expected), "{text:?}");
                    let (mut none, mut counts) = (Count::default(), Vec::new());
                    let mut encoder = model.encoder(&mut none);
                    encoder.count_pieces(&text, &pattern, &[], |end, count| counts.push((end, count))).unwrap();
                    assert_eq!(counts, ends);
                    let mut tokens = Vec::new();
                    let mut take = |token: Token, _| {
                        tokens.push(token.id);
                        Ok(())
                    };
                    let found = model.borrow().all_tokens(&text, std::slice::from_ref(&pattern), &mut take).unwrap();
                    assert_eq!((found, tokens), (Some(pieces.len() as u32), expected.clone()));
                }
            }
        }
        assert!(others > 100, "{others}");
    }

    #[test]
    fn pieces_stay_found_while_generations_change() {
        let (model, pattern) = (model(), Pattern::new(names::GPT2).unwrap());
        // Each word comes twice, the second time soon after the first, and there are more than are kept.
        let word = |number: u32| {
            format!(" {}", if number.is_multiple_of(2) { number / 2 } else { (number / 2).saturating_sub(3) })
        };
        let text: String = (0..200_000).map(word).collect();
        let mut ids = Vec::new();
        model.encoder(&mut ids).pieces(&text, &pattern, &[], 0..text.len()).unwrap();
        let mut expected = Vec::new();
        for piece in pattern.pieces(&text) {
            merge::encode(&model.vocab, piece.unwrap().as_bytes(), &mut Scratch::default(), &mut expected).unwrap();
        }
        assert_eq!(ids, expected);
    }

    #[test]
    fn a_token_with_a_huge_id_is_taken_whole() {
        let tokens: [&[u8]; 4] = [b"a", b"b", b"c", b"abc"];
        let vocab = Vocab::new(&tokens, &[0, 1, 2, u32::MAX - 1], Semantics::Ranks).unwrap();
        let mut ids = Vec::new();
        Compiled::new(vocab).encoder(&mut ids).pieces("abc", &Pattern::new(names::GPT2).unwrap(), &[], 0..3).unwrap();
        assert_eq!(ids, [u32::MAX - 1]);
    }

    #[test]
    fn a_range_ends_with_the_piece_that_starts_in_it() {
        let (model, pattern) = (model(), Pattern::new(names::GPT2).unwrap());
        let text = " abc".repeat(200);
        for (range, expected) in [(0..1, 4), (4..8, 8), (4..9, 12), (0..800, 800), (0..0, 0), (400..799, 800)] {
            let mut ids = Vec::new();
            let end = model.encoder(&mut ids).pieces(&text, &pattern, &[], range.clone()).unwrap();
            assert_eq!((end, ids.len()), (expected, (expected - range.start) / 4));
        }
    }
}
