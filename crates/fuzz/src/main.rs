//! One target of libFuzzer in one program: the environment variable `FUZZ_TARGET` names which.
#![no_main]

use std::sync::OnceLock;

use bytepair_fuzz::Target;
use libfuzzer_sys::{Corpus, fuzz_target};

static TARGET: OnceLock<Target> = OnceLock::new();

fuzz_target!(|data: &[u8]| -> Corpus {
    let target = TARGET.get_or_init(|| bytepair_fuzz::target(&std::env::var("FUZZ_TARGET").unwrap_or_default()));
    if target(data) { Corpus::Keep } else { Corpus::Reject }
});
