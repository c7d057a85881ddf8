//! Text -> text, before it is split.

pub mod sentencepiece;

use std::borrow::Cow;

use unicode_normalization::{
    IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

/// One normalizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalizer {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
}

impl Normalizer {
    /// The normalizer of a name: `NFC`, `NFD`, `NFKC` or `NFKD`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "NFC" => Self::Nfc,
            "NFD" => Self::Nfd,
            "NFKC" => Self::Nfkc,
            "NFKD" => Self::Nfkd,
            _ => return None,
        })
    }

    /// The normalized text; borrowed where nothing had to change, which costs one look at each character.
    ///
    /// ```
    /// use bytepair_core::normalize::Normalizer;
    /// assert_eq!(Normalizer::Nfc.apply("e\u{301}"), "é");
    /// ```
    #[must_use]
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        let quick = match self {
            Self::Nfc => is_nfc_quick(text.chars()),
            Self::Nfd => is_nfd_quick(text.chars()),
            Self::Nfkc => is_nfkc_quick(text.chars()),
            Self::Nfkd => is_nfkd_quick(text.chars()),
        };
        if text.is_ascii() || quick == IsNormalized::Yes {
            return Cow::Borrowed(text);
        }
        Cow::Owned(match self {
            Self::Nfc => text.nfc().collect(),
            Self::Nfd => text.nfd().collect(),
            Self::Nfkc => text.nfkc().collect(),
            Self::Nfkd => text.nfkd().collect(),
        })
    }
}

/// All normalizers, one after another.
#[must_use]
pub fn apply_all<'t>(normalizers: &[Normalizer], text: &'t str) -> Cow<'t, str> {
    normalizers.iter().fold(Cow::Borrowed(text), |text, normalizer| match text {
        Cow::Borrowed(text) => normalizer.apply(text),
        Cow::Owned(text) => Cow::Owned(normalizer.apply(&text).into_owned()),
    })
}
