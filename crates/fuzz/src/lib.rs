//! The targets of fuzzing: a program of libFuzzer runs them with coverage, `mutate` without.
//!
//! A target takes bytes. It panics if a result contradicts a slower way to it, or what a type promises.

mod encoding;
mod files;
mod stages;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Runs one input; false if it is none of the target's, and not worth keeping.
pub type Target = fn(&[u8]) -> bool;

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

/// The target of a name.
///
/// # Panics
///
/// There is none of that name.
#[must_use]
pub fn target(name: &str) -> Target {
    let known = TARGETS.iter().find(|(known, _)| *known == name);
    known.unwrap_or_else(|| panic!("{name:?} is not one of {:?}", TARGETS.map(|(name, _)| name))).1
}

/// The text in front of the first zero byte, and the text behind it.
fn halves(data: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(data).ok()?.split_once('\0')
}

/// Values that many inputs share, by the bytes they are made of: to make one can take longer than to use it.
type Seen<T> = Mutex<HashMap<Vec<u8>, T>>;

fn known<T: Clone>(seen: &Seen<T>, key: &[u8], make: impl FnOnce() -> T) -> T {
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(made) = seen.get(key) {
        return made.clone();
    }
    if seen.len() > 1000 {
        seen.clear();
    }
    let made = make();
    seen.insert(key.to_vec(), made.clone());
    made
}
