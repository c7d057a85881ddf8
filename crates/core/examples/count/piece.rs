//! One operation on one piece without end: what is not linear shows here.

use std::time::Duration;

use bytepair_core::count::{Appender, Index, Prepender, Side};
use bytepair_core::segment::Policy;
use bytepair_core::{Result, Tokenizer};
use serde_json::json;

use crate::clock::{self, Start};
use crate::{load, number, scratch, wrong};

/// Text comes in parts of so many bytes, with a count after each.
const PART: usize = 1 << 16;

/// The most tokens of what is cut.
const LIMIT: u64 = 1000;

/// Intervals are counted until there are so many, or until they took so long.
const INTERVALS: u32 = 1000;
const LONGEST: Duration = Duration::from_secs(2);

/// A generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

pub(crate) fn run(ranks: &str, split: &str, kind: &str, operation: &str, bytes: &str) -> Result<()> {
    let tokenizer = load(ranks, split)?;
    let text = text(kind, number(bytes)?)?;
    scratch::count(&tokenizer, &text[..text.len().min(1000)])?; // What is made once must not count.
    let before = clock::forget_peak();
    let started = Start::now();
    let done = perform(&tokenizer, &text, operation)?;
    let taken = started.taken();
    let peak = clock::peak().zip(before).map(|(peak, before)| peak - before);
    let (seconds, is_right) = match done {
        Done::Counts(counts) => (taken, are_right(&tokenizer, &text, operation, &counts)?),
        Done::Built(index) => (taken, index.bytes() > 0), // Its intervals are another operation, and checked there.
        Done::Intervals(taken, of) => (taken, of),
        Done::Passed(limit, passed) => (taken, passed && scratch::count(&tokenizer, &text)? > limit),
        Done::Fit(fit, side) => (taken, scratch::is_longest(&tokenizer, &text, fit, LIMIT, side)?),
    };
    let seconds = is_right.then_some(seconds.as_secs_f64());
    println!("{}", json!({"seconds": seconds, "peak": peak}));
    Ok(())
}

fn text(kind: &str, bytes: usize) -> Result<String> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut drawn = |alphabet: &str| -> String {
        let letters = alphabet.as_bytes();
        (0..bytes).map(|_| char::from(letters[random.below(letters.len())])).collect()
    };
    match kind {
        "letter" => Ok("a".repeat(bytes)),
        "spaces" => Ok(" ".repeat(bytes)),
        "lines" => Ok("\n ".repeat(bytes / 2)),
        "digits" => Ok(drawn("0123456789")),
        "letters" => Ok(drawn("abcdefghijklmnopqrstuvwxyz")),
        _ => Err(wrong(format!("there is no kind of piece {kind:?}"))),
    }
}

/// The result of an operation, checked after its time and its peak are measured.
enum Done {
    /// Counts of the text with so many bytes of it: of its beginning, or of its end.
    Counts(Vec<(usize, u64)>),
    /// It is kept until the peak was read.
    Built(Box<Index>),
    /// How long one of them took, and whether all are right.
    Intervals(Duration, bool),
    /// A limit, and whether it was passed.
    Passed(u64, bool),
    Fit(bytepair_core::count::Fit, Side),
}

fn perform(tokenizer: &Tokenizer, text: &str, operation: &str) -> Result<Done> {
    let fit = |side| tokenizer.fit(text, Policy::default(), LIMIT, side).map(|fit| Done::Fit(fit, side));
    match operation {
        "count" => Ok(Done::Counts(vec![(text.len(), scratch::count(tokenizer, text)?)])),
        "until" => {
            let sample = &text[..text.len().min(10_000)];
            let limit = scratch::count(tokenizer, sample)? * text.len() as u64 / sample.len() as u64 / 2;
            Ok(Done::Passed(limit, tokenizer.count_until(text, Policy::default(), limit)?.is_none()))
        }
        "append" => append(tokenizer, text, text.len()),
        "append-64k" => append(tokenizer, text, PART),
        "prepend" => prepend(tokenizer, text, text.len()),
        "prepend-64k" => prepend(tokenizer, text, PART),
        "index" => Index::new(tokenizer, text, Policy::default()).map(|index| Done::Built(Box::new(index))),
        "interval" => intervals(tokenizer, text),
        "fit" => fit(Side::Left),
        "fit-right" => fit(Side::Right),
        _ => Err(wrong(format!("there is no operation {operation:?}"))),
    }
}

fn append(tokenizer: &Tokenizer, text: &str, part: usize) -> Result<Done> {
    let mut appender = Appender::new();
    let mut counts = Vec::new();
    for start in (0..text.len()).step_by(part) {
        let end = text.len().min(start + part);
        appender.append(&text[start..end])?;
        counts.push((end, appender.count(tokenizer, Policy::default())?));
    }
    Ok(Done::Counts(counts))
}

fn prepend(tokenizer: &Tokenizer, text: &str, part: usize) -> Result<Done> {
    let mut prepender = Prepender::new();
    let mut counts = Vec::new();
    for taken in (0..text.len()).step_by(part) {
        let end = text.len() - taken;
        let start = end.saturating_sub(part);
        prepender.prepend(&text[start..end])?;
        counts.push((text.len() - start, prepender.count(tokenizer, Policy::default())?));
    }
    Ok(Done::Counts(counts))
}

/// Whether the first count, one in the middle and the last are those of encoding from scratch.
fn are_right(tokenizer: &Tokenizer, text: &str, operation: &str, counts: &[(usize, u64)]) -> Result<bool> {
    let is_prefix = !operation.starts_with("prepend");
    for &place in &[0, counts.len() / 2, counts.len() - 1] {
        let (bytes, count) = counts[place];
        let part = if is_prefix { &text[..bytes] } else { &text[text.len() - bytes..] };
        if scratch::count(tokenizer, part)? != count {
            return Ok(false);
        }
    }
    Ok(true)
}

fn intervals(tokenizer: &Tokenizer, text: &str) -> Result<Done> {
    let index = Index::new(tokenizer, text, Policy::default())?;
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let count = |start: usize, end: usize| {
        index
            .count(tokenizer, |range| Ok(text[range].into()), Policy::default(), start..end)
            .map(|count| (start, end, count))
    };
    let mut counted = Vec::new();
    let started = Start::now();
    while counted.len() < INTERVALS as usize && started.taken() < LONGEST {
        let (one, other) = (random.below(text.len() + 1), random.below(text.len() + 1));
        counted.push(count(one.min(other), one.max(other))?);
    }
    let taken = started.taken() / counted.len() as u32;
    for &(start, end, count) in counted.iter().take(3) {
        if scratch::count(tokenizer, &text[start..end])? != count {
            return Ok(Done::Intervals(taken, false));
        }
    }
    Ok(Done::Intervals(taken, true))
}
