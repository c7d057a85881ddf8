//! A cache of the ids of texts' beginnings: a text that begins as an earlier one did is encoded from there on.
//!
//! # How it works
//!
//! Texts are kept in blocks of [`BLOCK`] bytes. A block is found by the block before it and a hash of some of its bytes, and
//! confirmed by comparing all of them: so the blocks of a text make a path, and texts with a common beginning share it. A
//! block also has the last *cut* up to its end before which no later text changes an id (`pipeline::cuts`), and the ids from
//! the cut of the block before up to there.
//!
//! At a cut T(ab) = T(a) C(b), where C encodes a text that goes on. So the ids of a text are those of the blocks that it
//! begins with, which reach up to the last of their cuts, and C of the rest. Nothing but this is assumed of a tokenizer: where it has
//! no cuts, blocks have no ids, and all is encoded.
//!
//! Where memory is full, the blocks that were used least lately go. Whoever uses a block has used those before it, which were
//! made earlier: in that order a block goes after all that follow it.

use std::borrow::Cow;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::{FxHashMap, FxHasher};

use crate::error::{Error, Result};
use crate::interrupt;
use crate::memory::{self, Room};
use crate::pipeline::{Tokenizer, last_cut, walk};
use crate::segment::Policy;
use crate::units::Units;
use crate::utf8::{self, OnInvalid, boundary};

/// Bytes of a block: the end of a text that does not fill one is encoded again.
pub const BLOCK: usize = 4096;

/// Blocks that follow one and have the same hash: more would be made on purpose, and each look-up compares all.
const MOST_ALIKE: usize = 8;

/// Cuts are looked for in so many bytes before the end of a block.
const NEAR: usize = 2 * BLOCK;

/// More than a block takes beside its text and ids.
const OVERHEAD: usize = 192;

/// The number of the block before the first.
const ROOT: u64 = 0;

/// A text as its owner stores it. What was found of it is neither checked nor kept in another form.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// Text.
    Text(&'a str),
    /// UTF-8 that was not checked.
    Bytes(&'a [u8]),
    /// A unit for each character.
    Units(Units<'a>),
}

/// The figures of a cache so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Texts that were encoded or counted.
    pub texts: u64,
    /// Texts of which a beginning was found.
    pub hits: u64,
    /// Bytes of all texts.
    pub bytes: u64,
    /// Bytes of them that were not encoded, since their ids were found.
    pub found: u64,
    /// Blocks that went to make room.
    pub evicted: u64,
    /// Blocks that are kept.
    pub blocks: usize,
    /// The memory that they take, in bytes.
    pub memory: usize,
}

struct Block {
    /// Greater than that of each block before it.
    number: u64,
    text: Box<[u8]>,
    /// Up to where in the text `ids` reach.
    cut: usize,
    /// The ids since the cut of the block before.
    ids: Box<[u32]>,
    /// When it was used last.
    used: AtomicU64,
}

/// A text, the blocks that it begins with, and what is behind the last of their cuts.
struct Begun<'a> {
    text: Given<'a>,
    path: Vec<Arc<Block>>,
    rest: Cow<'a, str>,
}

/// The block before, and a hash of some bytes.
type Place = (u64, u64);

#[derive(Default)]
struct Store {
    blocks: FxHashMap<Place, Vec<Arc<Block>>>,
    count: usize,
    memory: usize,
    made: u64,
    evicted: u64,
}

/// Ids of texts' beginnings, for one tokenizer and one policy; shared by threads.
///
/// ```
/// use bytepair_core::pipeline::Parts;
/// use bytepair_core::prefix_cache::{Given, PrefixCache};
/// use bytepair_core::segment::Policy;
/// use bytepair_core::vocab::{Semantics, Vocab};
/// use bytepair_core::Tokenizer;
/// let tokenizer = Tokenizer::new(Parts::of(Vocab::new(&[b"a", b" ", b"aa"], &[0, 1, 2], Semantics::Ranks)?))?;
/// let (cache, text) = (PrefixCache::new(1 << 20), "aa a ".repeat(2_000));
/// for text in [&text[..9_000], &text] {
///     let mut ids = Vec::new();
///     tokenizer.encode(text, Policy::default(), &mut ids)?;
///     assert_eq!(cache.encode(&tokenizer, Policy::default(), Given::Text(text))?, ids);
/// }
/// assert_eq!((cache.figures().hits, cache.figures().blocks), (1, 2));
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub struct PrefixCache {
    /// The most bytes of memory.
    most: usize,
    store: RwLock<Store>,
    clock: AtomicU64,
    texts: AtomicU64,
    hits: AtomicU64,
    bytes: AtomicU64,
    found: AtomicU64,
}

impl<'a> Given<'a> {
    /// Its size in units or bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Units(units) => units.characters(),
        }
    }

    /// All of it.
    fn utf8(self) -> Result<Cow<'a, str>> {
        match self {
            Self::Text(text) => Ok(Cow::Borrowed(text)),
            Self::Bytes(bytes) => OnInvalid::Raise.text(bytes),
            Self::Units(units) => units.text().map(Cow::Owned),
        }
    }
}

impl Block {
    fn memory(&self) -> usize {
        self.text.len() + size_of_val(&*self.ids) + OVERHEAD
    }
}

impl Store {
    fn find(&self, place: Place, text: &[u8]) -> Option<&Arc<Block>> {
        self.blocks.get(&place)?.iter().find(|block| *block.text == *text)
    }

    /// Removes what was used least lately, so that a quarter of the memory is free.
    fn evict(&mut self, most: usize) {
        let mut all: Vec<(u64, u64, Place)> = self
            .blocks
            .iter()
            .flat_map(|(&place, blocks)| {
                blocks.iter().map(move |block| (block.used.load(Ordering::Relaxed), u64::MAX - block.number, place))
            })
            .collect();
        all.sort_unstable();
        for (_, number, place) in all {
            if self.memory <= most - most / 4 {
                break;
            }
            self.remove(place, u64::MAX - number);
        }
    }

    fn remove(&mut self, place: Place, number: u64) {
        let Some(blocks) = self.blocks.get_mut(&place) else { return };
        let Some(at) = blocks.iter().position(|block| block.number == number) else { return };
        self.memory -= blocks.swap_remove(at).memory();
        self.count -= 1;
        self.evicted += 1;
        if blocks.is_empty() {
            self.blocks.remove(&place);
        }
    }
}

/// A hash of some bytes of a block: comparing all of them decides.
fn place(before: u64, block: &[u8]) -> Place {
    let mut hasher = FxHasher::default();
    for part in block.chunks_exact(BLOCK / 4) {
        hasher.write(&part[..16]);
        hasher.write(&part[part.len() - 16..]);
    }
    (before, hasher.finish())
}

impl PrefixCache {
    /// An empty cache that takes at most so many bytes of memory.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let zero = || AtomicU64::new(0);
        let (clock, texts, hits, bytes, found) = (zero(), zero(), zero(), zero(), zero());
        Self { most, store: RwLock::default(), clock, texts, hits, bytes, found }
    }

    /// The ids of a text: those of [`Tokenizer::encode`]. Always with the same tokenizer and policy.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; `Encode`, if it is not Unicode.
    ///
    /// Time: comparing what was found, copying its ids, and encoding the rest.
    pub fn encode(&self, tokenizer: &Tokenizer, policy: Policy, text: Given) -> Result<Vec<u32>> {
        let begun = self.begin(text)?;
        let mut ids: Vec<u32> = Vec::new();
        ids.room(begun.path.iter().map(|block| block.ids.len()).sum::<usize>() + begun.rest.len() / 2)?;
        for block in &begun.path {
            ids.extend_from_slice(&block.ids);
        }
        self.encode_rest(tokenizer, policy, &begun, |more| {
            ids.room(more.len())?;
            ids.extend_from_slice(more);
            Ok(())
        })?;
        Ok(ids)
    }

    /// The number of ids of a text.
    ///
    /// # Errors
    /// As [`PrefixCache::encode`].
    pub fn count(&self, tokenizer: &Tokenizer, policy: Policy, text: Given) -> Result<u64> {
        let begun = self.begin(text)?;
        let mut count = begun.path.iter().map(|block| block.ids.len() as u64).sum();
        self.encode_rest(tokenizer, policy, &begun, |more| {
            count += more.len() as u64;
            Ok(())
        })?;
        Ok(count)
    }

    /// Its figures so far.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
        Figures {
            texts: get(&self.texts),
            hits: get(&self.hits),
            bytes: get(&self.bytes),
            found: get(&self.found),
            evicted: store.evicted,
            blocks: store.count,
            memory: store.memory,
        }
    }

    /// Forgets all texts; the figures of what was done stay.
    pub fn clear(&self) {
        let mut store = self.store.write().unwrap_or_else(PoisonError::into_inner);
        let (made, evicted) = (store.made, store.evicted);
        *store = Store { made, evicted, ..Store::default() };
    }

    /// Finds what a text begins with.
    fn begin<'a>(&self, text: Given<'a>) -> Result<Begun<'a>> {
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        let mut path: Vec<Arc<Block>> = Vec::new();
        let rest = match text {
            Given::Text(text) => {
                self.follow(text.as_bytes(), now, &mut path);
                Cow::Borrowed(&text[reach(&path)..])
            }
            Given::Bytes(bytes) => {
                self.follow(bytes, now, &mut path);
                match utf8::text(&bytes[reach(&path)..]) {
                    Ok(rest) => Cow::Borrowed(rest),
                    // Neither is the whole, which has the place of the error.
                    Err(_) => Cow::Owned(text.utf8()?[reach(&path)..].to_owned()),
                }
            }
            Given::Units(units) => Cow::Owned(self.follow_units(units, now, &mut path)?),
        };
        let found = reach(&path);
        for (number, more) in [
            (&self.texts, 1),
            (&self.hits, u64::from(found > 0)),
            (&self.bytes, (found + rest.len()) as u64),
            (&self.found, found as u64),
        ] {
            number.fetch_add(more, Ordering::Relaxed);
        }
        Ok(Begun { text, path, rest })
    }

    /// Goes on a path by the blocks that bytes begin with, and returns how many bytes these are.
    fn follow(&self, bytes: &[u8], now: u64, path: &mut Vec<Arc<Block>>) -> usize {
        let before = path.len();
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
        for block in bytes.chunks_exact(BLOCK) {
            let Some(found) = store.find(place(number(path), block), block) else { break };
            found.used.fetch_max(now, Ordering::Relaxed);
            path.push(Arc::clone(found));
        }
        (path.len() - before) * BLOCK
    }

    /// Goes on an empty path by the blocks that units begin with, and returns the UTF-8 of what is behind its last cut.
    fn follow_units(&self, units: Units, now: u64, path: &mut Vec<Arc<Block>>) -> Result<String> {
        let (mut held, mut read, mut followed) = (String::new(), 0, 0);
        // A part that stays in the processor's cache at a time.
        while read < units.characters() {
            interrupt::check()?;
            let next = units.characters().min(read + BLOCK);
            units.append(read..next, &mut held)?;
            read = next;
            let more = self.follow(&held.as_bytes()[followed..], now, path);
            followed += more;
            if more == 0 && held.len() >= followed + BLOCK {
                break;
            }
            let gone = boundary(&held, followed);
            held.drain(..gone);
            followed -= gone;
        }
        let (mut rest, cut) = (Vec::new(), reach(path));
        for (block, start) in path.iter().zip((0..).step_by(BLOCK)).skip(cut / BLOCK) {
            memory::extend(&mut rest, block.text[cut.max(start) - start..].iter().copied())?;
        }
        memory::extend(&mut rest, held.as_bytes()[followed..].iter().copied())?;
        let mut rest =
            String::from_utf8(rest).map_err(|error| Error::not_utf8(error.as_bytes(), &error.utf8_error()))?;
        units.append(read..units.characters(), &mut rest)?;
        Ok(rest)
    }

    /// Encodes what is behind a path, sends its ids to `send`, and keeps its blocks.
    fn encode_rest(
        &self,
        tokenizer: &Tokenizer,
        policy: Policy,
        Begun { text, path, rest }: &Begun,
        mut send: impl FnMut(&[u32]) -> Result<()>,
    ) -> Result<()> {
        let first = reach(path);
        let (mut cut, mut before) = (0, number(path));
        // The last id of a part of a character can depend on the next block; so may an error, which is placed in the whole.
        let whole = |()| {
            let mut ids: Vec<u32> = Vec::new();
            tokenizer.encode(&text.utf8()?, policy, &mut ids).map(|()| ids)
        };
        let behind = path.len() * BLOCK - first;
        for (block, start) in rest.as_bytes()[behind..].chunks_exact(BLOCK).zip((behind..).step_by(BLOCK)) {
            interrupt::check()?;
            let held = &rest[cut..boundary(rest, start + BLOCK)];
            let mut ids = Vec::new();
            if let Some(end) = last_cut(tokenizer, policy, held, NEAR) {
                if let Err(error) = walk(tokenizer, policy, &held[..end], first + cut == 0, None, &mut ids) {
                    return Err(whole(()).err().unwrap_or(error));
                }
                cut += end;
            }
            send(&ids)?;
            before = self.keep(place(before, block), block, first + cut, ids);
        }
        let mut ids = Vec::new();
        if let Err(error) = walk(tokenizer, policy, &rest[cut..], first + cut == 0, None, &mut ids) {
            return Err(whole(()).err().unwrap_or(error));
        }
        send(&ids)
    }

    /// Keeps a block, unless another thread did; returns its number.
    fn keep(&self, place: Place, text: &[u8], cut: usize, ids: Vec<u32>) -> u64 {
        let (text, ids): (Box<[u8]>, Box<[u32]>) = (text.into(), ids.into_boxed_slice());
        let used = AtomicU64::new(self.clock.load(Ordering::Relaxed));
        let mut store = self.store.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = store.find(place, &text) {
            return known.number;
        }
        store.made += 1;
        let number = store.made;
        let block = Arc::new(Block { number, text, cut, ids, used });
        let size = block.memory();
        if store.memory + size > self.most {
            store.evict(self.most);
        }
        // What does not fit at all is not kept: what follows it is not found then, and goes when there is need of room.
        if store.memory + size > self.most {
            return number;
        }
        if let Some(oldest) =
            store.blocks.get(&place).filter(|alike| alike.len() >= MOST_ALIKE).map(|alike| alike[0].number)
        {
            store.remove(place, oldest);
        }
        store.memory += size;
        store.count += 1;
        store.blocks.entry(place).or_default().push(block);
        number
    }
}

/// The number of the last block of a path.
fn number(path: &[Arc<Block>]) -> u64 {
    path.last().map_or(ROOT, |block| block.number)
}

/// Up to where the ids of a path reach.
fn reach(path: &[Arc<Block>]) -> usize {
    path.last().map_or(0, |block| block.cut)
}
