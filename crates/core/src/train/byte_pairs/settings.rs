//! The settings of learning, and the order of equally frequent pairs.

/// Which of the most frequent pairs merges first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The smallest (left id, right id), as in `tokenizers` and `rustbpe`.
    LowestIds,
    /// The greatest (left bytes, right bytes), as in CS336 and "Building a Fast BPE Tokenizer from Scratch".
    GreatestBytes,
    /// The smallest (left bytes, right bytes), as in "02 - The BPE Algorithm".
    SmallestBytes,
    /// The pair whose earliest occurrence in the current symbols comes first, as a full recount finds it (minbpe,
    /// "Slow Data").
    FirstSeen,
}

impl Ties {
    /// The policy of a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "lowest_ids" => Self::LowestIds,
            "greatest_bytes" => Self::GreatestBytes,
            "smallest_bytes" => Self::SmallestBytes,
            "first_seen" => Self::FirstSeen,
            _ => return None,
        })
    }
}

/// The settings of learning.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// At most this many merges.
    pub merges: usize,
    /// Which of equally frequent pairs comes first.
    pub ties: Ties,
    /// Pairs seen less often are not merged.
    pub min_frequency: u64,
    /// Longer tokens, in bytes, are not made.
    pub max_token_length: usize,
    /// Tokens of more words, runs of bytes that are not white space of ASCII, are not made.
    pub max_words: usize,
}
