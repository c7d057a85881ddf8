//! The cost of counting in the core, without calls from Python: rows for `benchmarks/count.py`, a line of JSON each.
//!
//! ```text
//! count slices RANKS SPLIT TEXT SLICES RUNS     slices of a text, which SLICES lists as [[tokens, start, end], ...] in bytes
//! count piece RANKS SPLIT KIND OPERATION BYTES  one operation on one piece; a process each, whose peak is the operation's
//! ```
//!
//! RANKS is a `.tiktoken` file, SPLIT the name of a split pattern. Every result is compared with that of encoding from
//! scratch; where it differs, the value is null.

use std::process::ExitCode;

use bytepair_core::files::rank_file;
use bytepair_core::pipeline::{Parts, Tokenizer};
use bytepair_core::segment::Steps;
use bytepair_core::split::added::AddedToken;
use bytepair_core::split::{Pattern, names};
use bytepair_core::vocab::{Semantics, Vocab};
use bytepair_core::{Error, Kind, Result};

mod clock;
mod piece;
mod scratch;
mod slices;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match *arguments {
        ["slices", ranks, split, text, slices, runs] => slices::run(ranks, split, text, slices, runs),
        ["piece", ranks, split, kind, operation, bytes] => piece::run(ranks, split, kind, operation, bytes),
        _ => Err(wrong("count takes: slices RANKS SPLIT TEXT SLICES RUNS, or piece RANKS SPLIT KIND OPERATION BYTES")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The tokenizer of a rank file. It has a special token, as published ones do: it is looked for, and in none of the texts.
fn load(ranks: &str, split: &str) -> Result<Tokenizer> {
    let columns = rank_file::read(&file(ranks)?)?.0;
    let tokens: Vec<&[u8]> = columns.tokens().collect();
    let vocab = Vocab::new(&tokens, &columns.ids, Semantics::Ranks)?;
    let id = columns.ids.last().map_or(0, |id| id + 1);
    let end = AddedToken { content: "<|absent|>".to_owned(), id, special: true, ..AddedToken::default() };
    let named = names::ALL.iter().find(|(name, _)| *name == split);
    let (_, pattern) = named.ok_or_else(|| wrong(format!("{split:?} is not the name of a split pattern")))?;
    let patterns = if pattern.is_empty() { vec![] } else { vec![Pattern::new(pattern)?] };
    Tokenizer::new(Parts { added: vec![end], steps: Steps::of(patterns), ..Parts::of(vocab) })
}

fn file(path: &str) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| Error::new(Kind::Artifact, format!("{path}: {error}")))
}

fn number(text: &str) -> Result<usize> {
    text.parse().map_err(|_| wrong(format!("{text:?} is not a number")))
}

fn wrong(what: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(Kind::Format, what).remedy("see the head of crates/core/examples/count/main.rs")
}
