//! Unicode's normal forms (UAX #15), as of Unicode 9, the version of `tokenizers`.
//!
//! Later characters are left unchanged. Newer tables decide whether a text already has its form: text that is normal by
//! them is normal by the older ones, in which fewer characters compose, decompose or are sorted.

use unicode_normalization::{IsNormalized, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick};
use unicode_normalization_alignments::UnicodeNormalization;

use super::Normalizer;
use crate::normalize::aligned::Edit;

pub(super) fn run(form: &Normalizer, edit: &mut Edit) {
    let text = edit.old();
    let quick = |text: &str| match form {
        Normalizer::Nfd => is_nfd_quick(text.chars()),
        Normalizer::Nfkc => is_nfkc_quick(text.chars()),
        Normalizer::Nfkd => is_nfkd_quick(text.chars()),
        _ => is_nfc_quick(text.chars()),
    };
    if text.is_ascii() || quick(text) == IsNormalized::Yes {
        edit.keep(text.len());
        return;
    }
    match form {
        Normalizer::Nfd => edit.transform(text.nfd()),
        Normalizer::Nfkc => edit.transform(text.nfkc()),
        Normalizer::Nfkd => edit.transform(text.nfkd()),
        _ => edit.transform(text.nfc()),
    }
}
