//! The chunks of a text that arrives in parts.

use std::ops::Range;

use crate::chunk::boundaries::Boundary;
use crate::chunk::chunks::{Chunk, Chunker, Settings, State, check};
use crate::error::{Error, Result};
use crate::memory::{self, Room};
use crate::pipeline::Tokenizer;
use crate::segment::{Policy, Segmenter};

/// A chunk that is not certain is tried again when there are so many bytes more, and half as many again as before: so
/// that small parts do not have the same text read for each.
const LEAST_MORE: usize = 1 << 13;

/// A chunk of a stream and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streamed {
    /// Where it is in the whole text, in bytes.
    pub chunk: Chunk,
    /// Where it is in the whole text, in characters.
    pub characters: Range<usize>,
    /// Its text.
    pub text: String,
}

/// Chunks of a text that is given in parts: those of the whole, each as soon as no text to come can change it.
///
/// It holds a chunk and what it takes to be sure of it: the text up to a cut behind it. A text without cuts is held whole.
///
/// ```
/// use bytepair_core::chunk::{Boundary, ChunkStream};
/// use bytepair_core::pipeline::{Parts, Tokenizer};
/// use bytepair_core::segment::Policy;
/// use bytepair_core::vocab::{Semantics, Vocab};
/// let vocab = Vocab::new(&[b"a", b" ", b"aa"], &[0, 1, 2], Semantics::Ranks)?;
/// let parts = Parts::of(vocab);
/// let tokenizer = Tokenizer::new(parts)?;
/// let mut stream = ChunkStream::new(3, 0, Boundary::Word)?;
/// assert_eq!(stream.push(&tokenizer, Policy::default(), "aa a", false)?, []);
/// let chunks = stream.push(&tokenizer, Policy::default(), " aa", true)?;
/// assert_eq!(chunks.iter().map(|chunk| &*chunk.text).collect::<Vec<_>>(), ["aa a", " aa"]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub struct ChunkStream {
    settings: Settings<'static>,
    state: State,
    /// The text that is needed, and how many bytes came before.
    text: String,
    dropped: usize,
    /// A place in the text, in bytes, and which character of the whole is there.
    reached: (usize, usize),
    /// How far added tokens were looked for.
    checked: usize,
    /// With less text, the next chunk is not certain.
    least: usize,
}

impl ChunkStream {
    /// A stream at its start. Places of the caller's own are of a whole text, which no stream has.
    ///
    /// # Errors
    /// `Limit`, if an overlap leaves no room.
    pub fn new(limit: u64, overlap: u64, boundary: Boundary) -> Result<Self> {
        let settings = Settings { limit, overlap, boundary, given: &[] };
        check(settings)?;
        let state = State::new(settings);
        Ok(Self { settings, state, text: String::new(), dropped: 0, reached: (0, 0), checked: 0, least: 0 })
    }

    /// Takes the next part of the text and returns the chunks that are now final; with the last part, all are.
    /// Tokenizer and policy are always the same.
    ///
    /// # Errors
    /// As [`Tokenizer::chunks`], placed in the whole text; the stream is then of no more use.
    pub fn push(&mut self, tokenizer: &Tokenizer, policy: Policy, part: &str, is_last: bool) -> Result<Vec<Streamed>> {
        self.text.room(part.len())?;
        self.text.push_str(part);
        self.check(tokenizer.segmenter(), policy, is_last)?;
        let mut chunks = Vec::new();
        if !is_last && self.text.len() < self.least {
            return Ok(chunks);
        }
        let mut chunker = Chunker::new(tokenizer, policy, self.settings, &mut self.state);
        let text = &self.text;
        let ended = loop {
            match chunker.next(text, is_last) {
                Ok(Some(chunk)) => {
                    self.reached = reach(self.reached, text, chunk.start);
                    let text = memory::copy(&text[chunk.start..chunk.end])?;
                    let characters = self.reached.1..self.reached.1 + text.chars().count();
                    let (start, end) = (chunk.start + self.dropped, chunk.end + self.dropped);
                    chunks.room(1)?;
                    chunks.push(Streamed { chunk: Chunk { start, end, ..chunk }, characters, text });
                }
                ended => break ended,
            }
        };
        // Blocks begin before the chunk does.
        let done = chunker.needed().min(self.checked);
        drop(chunker);
        ended.map_err(|error| self.placed(error))?;
        self.reached = reach(self.reached, &self.text, self.reached.0.max(done));
        self.state.shift(done);
        self.text.drain(..done);
        self.dropped += done;
        self.reached.0 -= done;
        self.checked -= done;
        self.least = self.text.len() + (self.text.len() / 2).max(LEAST_MORE);
        Ok(chunks)
    }

    /// Looks for added tokens in what can be told by now.
    fn check(&mut self, segmenter: &Segmenter, policy: Policy, is_last: bool) -> Result<()> {
        let text = &self.text[self.checked..];
        let checked = if is_last {
            segmenter.check(text, policy).map(|()| text.len())
        } else {
            segmenter.check_part(text, policy)
        };
        self.checked += checked.map_err(|error| self.placed(error.shifted(self.checked)))?;
        Ok(())
    }

    /// An error of the text that is held, placed in the whole.
    fn placed(&self, error: Error) -> Error {
        let byte = error.byte.filter(|&byte| byte >= self.reached.0 && self.text.is_char_boundary(byte));
        let character = byte.map(|byte| reach(self.reached, &self.text, byte).1);
        error.shifted(self.dropped).but(|error| error.character = character)
    }
}

/// A place further right, and which character is there.
fn reach((from, before): (usize, usize), text: &str, place: usize) -> (usize, usize) {
    (place, before + text[from..place].chars().count())
}
