//! One error type: the fault, its place and a remedy.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// The result of each fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Which contract was broken; each is one Python exception type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The text cannot be encoded.
    Encode,
    /// The text holds an added token that the call does not allow, or a name is no special token.
    SpecialToken,
    /// No token has this id.
    InvalidId,
    /// The parts do not make a tokenizer.
    Format,
    /// A split pattern does not compile, or exceeded its step budget.
    Pattern,
    /// Nothing can be trained from these settings or counts.
    Training,
    /// A token limit cannot be met.
    Limit,
    /// A file cannot be read or written.
    Artifact,
    /// The caller stopped the work.
    Interrupted,
    /// There is not enough memory.
    Memory,
}

impl Kind {
    /// Whether it is no fault of the input, so that nothing is looked for there.
    pub(crate) fn ends_the_call(self) -> bool {
        matches!(self, Self::Interrupted | Self::Memory)
    }
}

/// A fault, as large as a pointer: results that nearly always are good ones stay in registers.
///
/// None is that of memory, whose details are not allocated: there may be no room for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Option<Box<Details>>);

/// The fault, its place as far as it is known, and a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// Which contract was broken.
    pub kind: Kind,
    /// The fault, in one clause.
    pub what: Cow<'static, str>,
    /// The remedy; may be empty.
    pub remedy: Cow<'static, str>,
    /// The same in the words of the command line, where `remedy` names a call or an option of one.
    pub cli_remedy: Option<String>,
    /// Position in the input text, in bytes of UTF-8.
    pub byte: Option<usize>,
    /// Position in the input text, in characters.
    pub character: Option<usize>,
    /// Index in a batch or in a list of ids.
    pub row: Option<usize>,
    /// Line of a file, from 1.
    pub line: Option<usize>,
}

static NO_MEMORY: Details = Details::new(
    Kind::Memory,
    Cow::Borrowed("there is not enough memory"),
    Cow::Borrowed("pass less at once, or use fewer threads"),
);

impl Details {
    const fn new(kind: Kind, what: Cow<'static, str>, remedy: Cow<'static, str>) -> Self {
        Self { kind, what, remedy, cli_remedy: None, byte: None, character: None, row: None, line: None }
    }
}

impl Deref for Error {
    type Target = Details;

    fn deref(&self) -> &Details {
        self.0.as_deref().unwrap_or(&NO_MEMORY)
    }
}

impl DerefMut for Error {
    fn deref_mut(&mut self) -> &mut Details {
        self.0.get_or_insert_with(|| Box::new(NO_MEMORY.clone()))
    }
}

impl Error {
    /// An error of `kind` with no place and no remedy yet.
    #[cold]
    pub fn new(kind: Kind, what: impl Into<Cow<'static, str>>) -> Self {
        Self(Some(Box::new(Details::new(kind, what.into(), "".into()))))
    }

    /// The same error after a change; a lack of memory is never changed, since there may be none for its details.
    ///
    /// ```
    /// use bytepair_core::{Error, error::Kind};
    /// let errors = [Error::new(Kind::Encode, "no token"), Error::memory()];
    /// let [other, memory] = errors.map(|error| error.but(|error| error.byte = Some(1)));
    /// assert_eq!((other.byte, memory.byte), (Some(1), None));
    /// ```
    #[must_use]
    pub fn but(mut self, change: impl FnOnce(&mut Details)) -> Self {
        if self.0.is_some() {
            change(&mut self);
        }
        self
    }

    /// The error for invalid UTF-8, placed at its first invalid byte.
    #[must_use]
    pub fn not_utf8(bytes: &[u8], error: &std::str::Utf8Error) -> Self {
        let at = error.valid_up_to();
        Self::new(Kind::Encode, format!("the bytes are not UTF-8: 0x{:02X} is not allowed here", bytes[at]))
            .at(at)
            .or_replace()
    }

    /// The error of a call for which there is not enough memory.
    #[cold]
    #[must_use]
    pub fn memory() -> Self {
        Self(None)
    }

    /// The error of a piece whose places do not fit into 32 bits, placed at its start.
    pub(crate) fn piece_too_long() -> Self {
        Self::new(Kind::Encode, "a piece is longer than 4 GiB").remedy("use a split pattern that cuts the text").at(0)
    }

    /// The same error with a remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<Cow<'static, str>>) -> Self {
        self.remedy = remedy.into();
        self
    }

    /// The same error with a remedy in the words of the command line.
    #[must_use]
    pub fn cli_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.cli_remedy = Some(remedy.into());
        self
    }

    /// The same error, whose remedy is to replace what is not Unicode.
    #[must_use]
    pub fn or_replace(self) -> Self {
        self.remedy("pass errors=\"replace\" to put U+FFFD in its place")
            .cli_remedy("--errors replace puts U+FFFD in its place")
    }

    /// The same error, placed at `byte` of a text.
    #[must_use]
    pub fn at(self, byte: usize) -> Self {
        self.but(|error| error.byte = Some(byte))
    }

    /// The same error for a text with `bytes` more bytes in front.
    #[must_use]
    pub fn shifted(self, bytes: usize) -> Self {
        self.but(|error| error.byte = error.byte.map(|byte| byte + bytes))
    }

    /// The same error for a text with so many bytes, and so many characters, more in front.
    pub(crate) fn moved(self, (bytes, characters): (usize, usize)) -> Self {
        let character = self.character.map(|character| character + characters);
        self.shifted(bytes).but(|error| error.character = character)
    }

    /// The same error, its character position derived from its byte position in `text`.
    #[must_use]
    pub fn placed(self, text: &str) -> Self {
        self.but(|error| {
            error.character = error.byte.and_then(|byte| text.get(..byte)).map(|before| before.chars().count());
        })
    }

    /// The same error, placed in a line of a file.
    #[must_use]
    pub fn line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// The same error, placed in a row of a batch.
    #[must_use]
    pub fn row(self, row: usize) -> Self {
        self.but(|error| error.row = Some(row))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        if let Some(byte) = self.byte {
            write!(f, " (byte {byte})")?;
        }
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "; {}", self.remedy) }
    }
}

impl std::error::Error for Error {}
