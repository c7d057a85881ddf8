//! Real vocabularies and texts for tests, where the data folder is.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::files::{Columns, rank_file};

/// The data folder; None with a word that there is none.
pub(crate) fn folder() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("BYTEPAIR_DATA").map_or_else(beside, PathBuf::from);
    if !folder.is_dir() {
        println!("skipped: no real data; set BYTEPAIR_DATA (there is no {})", folder.display());
        return None;
    }
    Some(folder)
}

/// The tokens of a file of ranks, by rank.
pub(crate) fn ranks(path: &Path) -> Columns {
    rank_file::read(&std::fs::read(path).unwrap()).unwrap().0
}

/// A `tokenizer.json`, unpacked if need be; None where nothing unpacks it.
pub(crate) fn json(path: &Path) -> Option<Value> {
    let bytes = if path.extension().is_some_and(|end| end == "xz") {
        let unpacked = std::process::Command::new("xz").arg("-dc").arg(path).output();
        let Ok(output) = unpacked else {
            println!("skipped: no xz");
            return None;
        };
        output.stdout
    } else {
        std::fs::read(path).unwrap()
    };
    Some(serde_json::from_slice(&bytes).unwrap())
}

/// The model of a `tokenizer.json`, as [`json`].
pub(crate) fn model(path: &Path) -> Option<Value> {
    Some(json(path)?["model"].take())
}
