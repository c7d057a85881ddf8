//! The named split patterns.
//!
//! Each is spelled so that it means the same to every engine that may read it from a saved file: no possessive
//! quantifiers, and `\z` for the end of the text, since `$` is the end of a line to some.

/// GPT-2, also `r50k_base`, `p50k_base`, GPT-NeoX, RoBERTa and Phi: the pattern of `ByteLevel` in `tokenizer.json`.
pub const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// GPT-3.5 and GPT-4, as `tiktoken` has it: all white space at the end of the text is one piece.
pub const CL100K: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"|\s+\z|\s*[\r\n]|\s+(?!\S)|\s"
);

/// GPT-4o and gpt-oss: words split where upper case follows lower case, contractions kept with their word.
pub const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// Llama 3.
pub const LLAMA3: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// Qwen 2, 2.5 and 3: like Llama 3, each digit alone.
pub const QWEN2: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// Words with the space between them, for tokens of several words: a piece ends with its line, behind a colon, and beside
/// digits, which are three to a piece at most.
pub const SUPERWORDS: &str = r"[^\p{N}\r\n:]+[:\r\n]*|[:\r\n]+|\p{N}{1,3}";

/// Every name and its pattern; `none` leaves a text whole.
pub const ALL: [(&str, &str); 7] = [
    ("gpt2", GPT2),
    ("cl100k", CL100K),
    ("o200k", O200K),
    ("llama3", LLAMA3),
    ("qwen2", QWEN2),
    ("superwords", SUPERWORDS),
    ("none", ""),
];
