//! Reading files: vocabularies into columns, JSON lines into texts.

pub mod byte_alphabet;
pub mod character_vocab;
mod columns;
pub mod decimal;
pub mod json_lines;
pub mod json_model;
pub mod pieces;
pub mod rank_file;
mod slots;
mod texts;
mod vocabulary;

pub use self::columns::Columns;
pub use self::texts::{TextTable, Texts};
pub use self::vocabulary::{IdMerges, Merges, Vocabulary};
