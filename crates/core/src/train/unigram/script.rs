//! The scripts of characters: a token of a Unigram model stays within one.

use std::collections::HashMap;

use regex_syntax::hir::{Class, HirKind};

use crate::error::{Error, Kind, Result};

/// The scripts of Unicode by their short names, but for Common and Inherited: `Zzzz` is what a character without one has,
/// which counts as Common. Names that the tables in use do not know are passed over.
const NAMES: &str = "Adlm Aghb Ahom Arab Armi Armn Avst Bali Bamu Bass Batk Beng Berf Bhks Bopo Brah Brai Bugi Buhd Cakm Cans \
    Cari Cham Cher Chrs Copt Cpmn Cprt Cyrl Deva Diak Dogr Dsrt Dupl Egyp Elba Elym Ethi Gara Geor Glag Gong Gonm Goth Gran \
    Grek Gujr Gukh Guru Hang Hani Hano Hatr Hebr Hira Hluw Hmng Hmnp Hung Ital Java Kali Kana Kawi Khar Khmr Khoj Kits Knda \
    Krai Kthi Lana Laoo Latn Lepc Limb Lina Linb Lisu Lyci Lydi Mahj Maka Mand Mani Marc Medf Mend Merc Mero Mlym Modi Mong \
    Mroo Mtei Mult Mymr Nagm Nand Narb Nbat Newa Nkoo Nshu Ogam Olck Onao Orkh Orya Osge Osma Ougr Palm Pauc Perm Phag Phli \
    Phlp Phnx Plrd Prti Rjng Rohg Runr Samr Sarb Saur Sgnw Shaw Shrd Sidd Sidt Sind Sinh Sogd Sogo Sora Soyo Sund Sunu Sylo \
    Syrc Tagb Takr Tale Talu Taml Tang Tavt Tayo Telu Tfng Tglg Thaa Thai Tibt Tirh Tnsa Todr Tols Toto Tutg Ugar Vaii Vith \
    Wara Wcho Xpeo Xsux Yezi Yiii Zanb";

/// The script of a character as far as tokens are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// The script, by its place in the list of names; 0 is Common.
    Of(u16),
    /// The script of the character before.
    Inherited,
    /// Matches every script: a digit, if digits need not be split from letters.
    Any,
    /// The space symbol, which only begins tokens.
    Space,
}

/// The scripts of these characters. Han, Hiragana and Katakana are one, since Japanese words mix them, as SentencePiece has
/// it; digits of ASCII and of full width go with all scripts if `split_by_number` is false.
///
/// # Errors
/// `Training`, if the tables of Unicode are not there.
pub(super) fn scripts(characters: &[char], split_by_number: bool) -> Result<Vec<Script>> {
    let mut found: HashMap<char, Script> = HashMap::new();
    // Few texts have characters beyond one table's, and most tables are of some hundred ranges.
    for (number, name) in NAMES.split_whitespace().enumerate() {
        let number = if matches!(name, "Hira" | "Kana") { number_of("Hani") } else { number + 1 };
        let Some(ranges) = ranges(name) else { continue };
        let within = characters.iter().filter(|&&character| holds(&ranges, character));
        found.extend(within.map(|&character| (character, Script::Of(number as u16))));
    }
    let inherited = ranges("Zinh").ok_or_else(no_tables)?;
    let script = |&character: &char| match character {
        crate::train::piece_words::SPACE => Script::Space,
        '0'..='9' | '\u{FF10}'..='\u{FF19}' if !split_by_number => Script::Any,
        // The long vowel sign is Common, and part of Katakana words.
        '\u{30FC}' => Script::Of(number_of("Hani") as u16),
        _ if holds(&inherited, character) => Script::Inherited,
        _ => found.get(&character).copied().unwrap_or(Script::Of(0)),
    };
    Ok(characters.iter().map(script).collect())
}

fn number_of(name: &str) -> usize {
    NAMES.split_whitespace().position(|other| other == name).map_or(0, |number| number + 1)
}

fn no_tables() -> Error {
    Error::new(Kind::Training, "the scripts of Unicode are not known here").remedy("use split_by_unicode_script=False")
}

/// The characters of a script in ascending ranges.
fn ranges(name: &str) -> Option<Vec<(char, char)>> {
    let parsed = regex_syntax::parse(&format!(r"\p{{Script={name}}}")).ok()?;
    match parsed.into_kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Some(class.ranges().iter().map(|range| (range.start(), range.end())).collect())
        }
        _ => None,
    }
}

fn holds(ranges: &[(char, char)], character: char) -> bool {
    let above = ranges.partition_point(|&(start, _)| start <= character);
    above > 0 && ranges[above - 1].1 >= character
}

/// How many of these scripts, from the first on, one token may hold.
pub(super) fn within_one_script(scripts: impl Iterator<Item = Script>, split_by_script: bool) -> usize {
    let mut before = None;
    let mut length = 0;
    for script in scripts {
        let now = match script {
            Script::Space if length > 0 => break,
            // They set no script of their own.
            Script::Space | Script::Any => None,
            Script::Inherited => before,
            Script::Of(number) => Some(number),
        };
        if split_by_script && now.is_some() && before.is_some() && now != before {
            break;
        }
        before = now;
        length += 1;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(text: &str, split_by_number: bool) -> usize {
        let characters: Vec<char> = text.chars().collect();
        within_one_script(scripts(&characters, split_by_number).unwrap().into_iter(), true)
    }

    #[test]
    fn tokens_end_where_another_script_begins() {
        let cases =
            [("ab\u{44F}", 2), ("a1", 1), ("can't", 3), ("▁ab", 3), ("a▁b", 1), ("e\u{301}a", 3), ("\u{301}a", 2)];
        for (text, expected) in cases {
            assert_eq!(length(text, true), expected, "{text}");
        }
        // Hiragana, Katakana, the long vowel sign and Han are one.
        assert_eq!(length("\u{3042}\u{30A2}\u{30FC}\u{4E00}a", true), 4);
        // The script before a digit is forgotten after it, as in SentencePiece.
        assert_eq!(length("a1\u{44F}", false), 3);
    }

    #[test]
    fn every_letter_has_a_script() {
        let letters = regex_syntax::parse(r"\p{L}").unwrap().into_kind();
        let HirKind::Class(Class::Unicode(letters)) = letters else { unreachable!("it is a class") };
        let letters: Vec<char> = letters.ranges().iter().flat_map(|range| range.start()..=range.end()).collect();
        let without = scripts(&letters, true).unwrap().into_iter().filter(|&script| script == Script::Of(0)).count();
        let common = regex_syntax::parse(r"[\p{L}&&\p{Script=Common}]").unwrap().into_kind();
        let HirKind::Class(Class::Unicode(common)) = common else { unreachable!("it is a class") };
        let common: usize = common.ranges().iter().map(regex_syntax::hir::ClassUnicodeRange::len).sum();
        assert_eq!(without, common - 1, "all but the long vowel sign");
    }
}
