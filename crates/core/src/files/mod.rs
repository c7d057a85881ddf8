//! Reading files: vocabularies into columns, JSON lines into texts.

pub mod byte_alphabet;
pub mod character_vocab;
mod columns;
pub mod decimal;
pub mod json_lines;
pub mod rank_file;

pub use self::columns::Columns;
