//! One target of libFuzzer in one program: the environment variable `FUZZ_TARGET` names which.
//!
//! A target takes bytes. It panics if a result contradicts a slower way to it, or what a type promises.
#![no_main]

mod encoding;
mod files;
mod stages;

use std::sync::OnceLock;

use libfuzzer_sys::{Corpus, fuzz_target};

/// Runs one input; false if it is none of the target's, and not worth keeping.
type Target = fn(&[u8]) -> bool;

const TARGETS: [(&str, Target); 13] = [
    ("rank_file", files::rank_file),
    ("json_model", files::json_model),
    ("pieces", files::pieces),
    ("json_lines", files::json_lines),
    ("decimal", files::decimal),
    ("regex", stages::regex),
    ("split", stages::split),
    ("normalizer", stages::normalizer),
    ("pre_tokenizer", stages::pre_tokenizer),
    ("decoder", stages::decoder),
    ("merging", encoding::merging),
    ("characters", encoding::characters),
    ("streams", encoding::streams),
];

static TARGET: OnceLock<Target> = OnceLock::new();

fuzz_target!(|data: &[u8]| -> Corpus {
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
        let known = TARGETS.iter().find(|(known, _)| *known == name);
        known.unwrap_or_else(|| panic!("FUZZ_TARGET is {name:?}, not one of {:?}", TARGETS.map(|(name, _)| name))).1
    });
    if target(data) { Corpus::Keep } else { Corpus::Reject }
});

/// The text in front of the first zero byte, and the text behind it.
fn halves(data: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(data).ok()?.split_once('\0')
}
