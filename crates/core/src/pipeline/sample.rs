//! Subword regularization: BPE-dropout, and segmentations of a Unigram model by their probabilities.
//!
//! Training on several segmentations of a text makes a model depend less on one. Source: Provilkov, Emelianenko and Voita,
//! "BPE-Dropout", 2020; Kudo, "Subword Regularization", 2018.

use crate::encode::{Compiled, Sink};
use crate::error::{Error, Kind, Result};
use crate::interrupt;
use crate::memory::Room;
use crate::model::{Random, Scratch, Token, encode_bytes_with_dropout};
use crate::pipeline::Tokenizer;
use crate::segment::{Policy, Visit};
use crate::split::added::AddedToken;

/// How pieces are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Draw {
    /// Each merge is passed over with this probability, each time it is its turn.
    Dropout(f64),
    /// A segmentation is drawn with its probability to this power, among all: less than 1 makes them more alike.
    Power(f64),
}

impl Tokenizer {
    /// Sends the ids of an encoding that is drawn to `sink`; the same for the same state of `random` on every machine.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; `Encode`, if the model cannot be drawn from in this way or the number is none.
    pub fn draw(
        &self,
        text: &str,
        policy: Policy,
        draw: Draw,
        random: &mut Random,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let model = self.model();
        if model.words().is_none() && draw == Draw::Dropout(0.0) {
            // Nothing is passed over, and pieces that are tokens are taken whole.
            return self.encode(text, policy, sink);
        }
        let scratch = Scratch::default();
        let mut pieces = Pieces { model, draw, random, scratch, tokens: vec![], ids: vec![], sink };
        self.segmenter().walk(text, policy, &mut pieces)
    }
}

struct Pieces<'a, S> {
    model: &'a Compiled,
    draw: Draw,
    random: &'a mut Random,
    scratch: Scratch,
    tokens: Vec<Token>,
    ids: Vec<u32>,
    sink: &'a mut S,
}

impl<S: Sink> Visit for Pieces<'_, S> {
    fn piece(&mut self, piece: &str) -> Result<()> {
        interrupt::check()?;
        let Self { model, draw, random, scratch, tokens, ids, sink } = self;
        ids.clear();
        tokens.clear();
        match (model.words(), *draw) {
            (Some(words), Draw::Dropout(rate)) => words.encode_with_dropout(piece, rate, random, scratch, tokens)?,
            (Some(words), Draw::Power(power)) => words.sample(piece, power, random, scratch, tokens)?,
            (None, Draw::Dropout(rate)) => {
                encode_bytes_with_dropout(&model.vocab, piece.as_bytes(), rate, random, ids)?;
            }
            (None, Draw::Power(_)) => {
                return Err(Error::new(Kind::Encode, "a model that merges has no probabilities to draw by")
                    .remedy("use dropout"));
            }
        }
        ids.room(tokens.len())?;
        ids.extend(tokens.iter().map(|token| token.id));
        sink.take(ids)
    }

    fn added(&mut self, token: &AddedToken, _: &str) -> Result<()> {
        self.sink.take(&[token.id])
    }
}
