//! Slices of a text: encoded, grown byte by byte, counted as intervals, and the text cut to their number of tokens.

use std::hint::black_box;
use std::time::Duration;

use bytepair_core::count::{Appender, Index, Prepender, Side};
use bytepair_core::merge::{Merger, Scratch};
use bytepair_core::pipeline::study;
use bytepair_core::segment::Policy;
use bytepair_core::{Result, Tokenizer};
use serde_json::json;

use crate::clock::Start;
use crate::{file, load, number, scratch, wrong};

/// A run repeats what is shorter, so that the clock's own time does not matter.
const RUN: Duration = Duration::from_millis(2);

/// In so many places of a text that grows its count is compared.
const CHECKS: usize = 200;

/// Tokens, and where the slice starts and ends in the text.
type Slice = (u64, usize, usize);

/// Something that is done for a slice; what it gives is only kept from being optimized away.
type Call<'a> = Box<dyn Fn(Slice) -> Result<u64> + 'a>;

struct Measure<'a> {
    name: &'static str,
    /// Whether its time is that of a byte of the slice; else it is that of a call.
    per_byte: bool,
    call: Call<'a>,
    /// Whether what it gives is what encoding from scratch gives.
    is_right: Box<dyn Fn(Slice) -> Result<bool> + 'a>,
}

pub(crate) fn run(ranks: &str, split: &str, text: &str, slices: &str, runs: &str) -> Result<()> {
    let tokenizer = load(ranks, split)?;
    let text = String::from_utf8(file(text)?).map_err(|_| wrong("the text is not UTF-8"))?;
    let slices: Vec<Slice> = serde_json::from_slice(&file(slices)?).map_err(|error| wrong(error.to_string()))?;
    if slices.iter().any(|&(_, start, end)| text.get(start..end).is_none()) {
        return Err(wrong("a slice is not of whole characters of the text"));
    }
    let runs = number(runs)?.max(1);
    let index = Index::new(&tokenizer, &text, Policy::default())?;
    let mut built = Vec::with_capacity(runs);
    for _ in 0..runs {
        let started = Start::now();
        black_box(Index::new(&tokenizer, &text, Policy::default())?);
        built.push(started.taken());
    }
    let (nanoseconds, bytes) = (middle(built), index.bytes());
    println!("{}", json!({"measure": "index", "nanoseconds": nanoseconds, "bytes": bytes, "of": text.len()}));
    let measures = measures(&tokenizer, &text, &index);
    let mut sizes: Vec<u64> = slices.iter().map(|slice| slice.0).collect();
    sizes.dedup();
    for size in sizes {
        let slices: Vec<Slice> = slices.iter().copied().filter(|slice| slice.0 == size).collect();
        one_size(&measures, &slices, runs)?;
    }
    Ok(())
}

fn measures<'a>(tokenizer: &'a Tokenizer, text: &'a str, index: &'a Index) -> Vec<Measure<'a>> {
    let slice = move |(_, start, end): Slice| &text[start..end];
    let has_same_count = |call: Call<'a>| -> Measure<'a> {
        let again = move |at: Slice| scratch::count(tokenizer, slice(at));
        let call = std::rc::Rc::new(call);
        let checked = call.clone();
        Measure {
            name: "",
            per_byte: true,
            call: Box::new(move |at| call(at)),
            is_right: Box::new(move |at| Ok(checked(at)? == again(at)?)),
        }
    };
    let fit = move |(limit, start, end): Slice, side: Side| {
        let part = if side == Side::Left { &text[start..] } else { &text[..end] };
        tokenizer.fit(part, Policy::default(), limit, side).map(|fit| (part, fit))
    };
    let fits = |side: Side| -> Measure<'a> {
        Measure {
            name: if side == Side::Left { "fit" } else { "fit-right" },
            per_byte: false,
            call: Box::new(move |at| Ok(fit(at, side)?.1.tokens)),
            is_right: Box::new(move |at| {
                let (part, found) = fit(at, side)?;
                scratch::is_longest(tokenizer, part, found, at.0, side)
            }),
        }
    };
    vec![
        Measure { name: "encode", ..has_same_count(Box::new(move |at| encode(tokenizer, slice(at)))) },
        Measure { name: "merge", ..has_same_count(Box::new(move |at| merge(tokenizer, slice(at)))) },
        Measure { name: "count", ..has_same_count(Box::new(move |at| scratch::count(tokenizer, slice(at)))) },
        Measure {
            is_right: Box::new(move |at| is_appended_right(tokenizer, slice(at))),
            name: "append",
            ..has_same_count(Box::new(move |at| append_bytes(tokenizer, slice(at))))
        },
        Measure { name: "append-once", ..has_same_count(Box::new(move |at| append_once(tokenizer, slice(at)))) },
        Measure {
            is_right: Box::new(move |at| is_prepended_right(tokenizer, slice(at))),
            name: "prepend",
            ..has_same_count(Box::new(move |at| prepend(tokenizer, slice(at))))
        },
        Measure {
            name: "interval",
            per_byte: false,
            ..has_same_count(Box::new(move |(_, start, end)| {
                index.count(tokenizer, |range| Ok(text[range].into()), Policy::default(), start..end)
            }))
        },
        fits(Side::Left),
        fits(Side::Right),
        Measure {
            name: "until",
            per_byte: false,
            call: Box::new(move |at| until(tokenizer, text, at).map(Option::unwrap_or_default)),
            is_right: Box::new(move |at| {
                let count = scratch::count(tokenizer, &text[at.1..])?;
                Ok(until(tokenizer, text, at)? == Some(count).filter(|&count| count <= at.0))
            }),
        },
    ]
}

/// The rows of one size, from runs in turns.
fn one_size(measures: &[Measure], slices: &[Slice], runs: usize) -> Result<()> {
    let bytes: usize = slices.iter().map(|&(_, start, end)| end - start).sum();
    let all = |measure: &Measure| -> Result<()> {
        for &slice in slices {
            black_box((measure.call)(slice)?);
        }
        Ok(())
    };
    let mut taken: Vec<Option<(usize, Vec<Duration>)>> = Vec::new();
    for measure in measures {
        let mut right = true;
        for &slice in slices {
            right &= (measure.is_right)(slice)?;
        }
        // By now all that is remembered is known to both sides; the first run says how many make a run.
        let started = Start::now();
        all(measure)?;
        let once = started.taken().max(Duration::from_nanos(1));
        let times = RUN.as_nanos().div_ceil(once.as_nanos()) as usize;
        taken.push(right.then(|| (times, Vec::with_capacity(runs))));
    }
    for _ in 0..runs {
        for (measure, taken) in measures.iter().zip(&mut taken) {
            let Some((times, durations)) = taken else { continue };
            let started = Start::now();
            for _ in 0..*times {
                all(measure)?;
            }
            durations.push(started.taken());
        }
    }
    for (measure, taken) in measures.iter().zip(taken) {
        let once = taken.map(|(times, durations)| middle(durations) / times as u64);
        let of = if measure.per_byte { bytes } else { slices.len() };
        println!("{}", json!({"tokens": slices[0].0, "measure": measure.name, "nanoseconds": once, "of": of}));
    }
    Ok(())
}

/// The median, in nanoseconds.
fn middle(mut durations: Vec<Duration>) -> u64 {
    durations.sort_unstable();
    durations[durations.len() / 2].as_nanos() as u64
}

fn encode(tokenizer: &Tokenizer, text: &str) -> Result<u64> {
    let mut ids = Vec::new();
    tokenizer.encode(text, Policy::default(), &mut ids)?;
    Ok(ids.len() as u64)
}

/// Encoding with every piece merged: what it costs when no piece is known from before.
fn merge(tokenizer: &Tokenizer, text: &str) -> Result<u64> {
    let merger = if tokenizer.vocab().is_proper() { Merger::Backtrack } else { Merger::Heap };
    let mut ids = Vec::new();
    study::encode(tokenizer, merger, text, Policy::default(), &mut Scratch::default(), &mut ids)?;
    Ok(ids.len() as u64)
}

/// A count after each byte; the last one.
fn append_bytes(tokenizer: &Tokenizer, text: &str) -> Result<u64> {
    let mut appender = Appender::new();
    let mut count = 0;
    for byte in text.as_bytes() {
        appender.append_bytes(std::slice::from_ref(byte))?;
        count = appender.count(tokenizer, Policy::default())?;
    }
    Ok(count)
}

/// One count after all characters.
fn append_once(tokenizer: &Tokenizer, text: &str) -> Result<u64> {
    let mut appender = Appender::new();
    for (at, character) in text.char_indices() {
        appender.append(&text[at..at + character.len_utf8()])?;
    }
    appender.count(tokenizer, Policy::default())
}

/// A count after each character; the last one.
fn prepend(tokenizer: &Tokenizer, text: &str) -> Result<u64> {
    let mut prepender = Prepender::new();
    let mut count = 0;
    for (at, character) in text.char_indices().rev() {
        prepender.prepend(&text[at..at + character.len_utf8()])?;
        count = prepender.count(tokenizer, Policy::default())?;
    }
    Ok(count)
}

/// Whether the text from the start of a slice on has more ids than the slice has tokens.
fn until(tokenizer: &Tokenizer, text: &str, (limit, start, _): Slice) -> Result<Option<u64>> {
    tokenizer.count_until(&text[start..], Policy::default(), limit)
}

/// Whether it is time to compare: in all places of short texts, in some of long ones, and at the end.
fn is_checked(place: usize, of: usize) -> bool {
    place == of || place.is_multiple_of(of / CHECKS + 1)
}

fn is_appended_right(tokenizer: &Tokenizer, text: &str) -> Result<bool> {
    let mut appender = Appender::new();
    for (place, byte) in text.as_bytes().iter().enumerate() {
        appender.append_bytes(std::slice::from_ref(byte))?;
        let count = appender.count(tokenizer, Policy::default())?;
        if is_checked(place + 1, text.len()) && count != scratch::count(tokenizer, appender.text())? {
            return Ok(false);
        }
    }
    Ok(appender.text() == text)
}

fn is_prepended_right(tokenizer: &Tokenizer, text: &str) -> Result<bool> {
    let mut prepender = Prepender::new();
    for (at, character) in text.char_indices().rev() {
        prepender.prepend(&text[at..at + character.len_utf8()])?;
        let count = prepender.count(tokenizer, Policy::default())?;
        if is_checked(text.len() - at, text.len()) && count != scratch::count(tokenizer, &text[at..])? {
            return Ok(false);
        }
    }
    Ok(prepender.text() == text)
}
