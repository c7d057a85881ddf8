//! Vocabularies from their stored tables, against those that were compiled; and from tables that were tampered with.

use std::sync::Arc;

use super::tests::{Case, Random, random_case, words};
use super::*;
use crate::files::Columns;
use crate::pipeline::{Parts, Tokenizer};
use crate::segment::Policy;
use crate::stored::{self, Stored};
use crate::vocab::Semantics;

const OWNER: &[u8] = b"a test";

/// Characters of one to three bytes, and pieces of them.
const ALPHABET: &[u8] = &[b'a', b'b', 0xC3, 0xA9, 0xE4, 0xB8];

fn takes_all_whole(case: &Case) -> bool {
    !matches!(case.semantics, Semantics::Merges { ignore_merges: false, .. })
}

fn opened(case: &Case, tables: Vec<u8>) -> Result<Option<Vocab>> {
    let stored = Stored::open(Arc::new(tables), OWNER)?.unwrap();
    let mut columns = Columns { ids: case.ids.clone(), ..Columns::default() };
    case.tokens.iter().for_each(|token| columns.push(token));
    Vocab::of_stored(&columns.bytes, &columns.ends, &columns.ids, takes_all_whole(case), &stored)
}

fn case(random: &mut Random) -> Case {
    let mut case = random_case(random, ALPHABET);
    if let Semantics::Merges { ignore_merges, .. } = &mut case.semantics {
        *ignore_merges = random.below(2) == 0;
    }
    case
}

#[test]
fn a_vocabulary_from_its_tables_is_the_one_that_was_compiled() {
    let mut random = Random(0x007A_B1E5);
    let mut proper = [0, 0];
    for _ in 0..60 {
        let case = case(&mut random);
        let vocab = case.vocab();
        proper[usize::from(vocab.is_proper())] += 1;
        let tables = vocab.store(OWNER).unwrap();
        let read = opened(&case, tables.clone()).unwrap().unwrap();
        assert_eq!(read.store(OWNER).unwrap(), tables);
        for word in words(ALPHABET, 4) {
            assert_eq!((read.whole(&word), read.token_id(&word)), (vocab.whole(&word), vocab.token_id(&word)));
            let ids = [&read, &vocab].map(|vocab| {
                let mut ids = Vec::new();
                encode(vocab, &word, &mut Scratch::default(), &mut ids).unwrap();
                ids
            });
            assert_eq!(ids[0], ids[1], "{word:?}");
        }
        let other = Case { semantics: Semantics::Merges { pairs: vec![], ignore_merges: false }, ..case };
        assert_eq!(opened(&other, tables).unwrap().is_none(), vocab.takes_all_whole());
    }
    assert!(proper[0] > 10 && proper[1] > 10, "{proper:?}");
}

/// Where tables pass the checks, encoding ends with an error, or with tokens that are as long as the text together.
#[test]
fn tables_that_were_tampered_with_are_refused_or_encode_all_of_a_text_or_raise() {
    let mut random = Random(0x0DD);
    let (mut refused, mut read) = (0, 0);
    for _ in 0..12 {
        let case = case(&mut random);
        let whole = case.vocab().store(OWNER).unwrap();
        let used: Vec<usize> = (64..whole.len() / 4 * 4).step_by(4).filter(|&at| whole[at..at + 4] != [0; 4]).collect();
        for _ in 0..60 {
            let mut tables = whole.clone();
            for _ in 0..=random.below(3) {
                let at = if random.below(4) > 0 {
                    used[random.below(used.len())]
                } else {
                    64 + random.below(whole.len() / 4 - 16) * 4
                };
                let word = u32::from_ne_bytes(*tables[at..].first_chunk().unwrap());
                let next = match random.below(6) {
                    0 => 0,
                    1 => u32::MAX,
                    2 => random.below(400) as u32,
                    3 => word ^ 1 << random.below(32),
                    4 => word.wrapping_add(1),
                    _ => u32::from_ne_bytes(*whole[used[random.below(used.len())]..].first_chunk().unwrap()),
                };
                tables[at..at + 4].copy_from_slice(&next.to_ne_bytes());
            }
            let Ok(vocab) = opened(&case, stored::sealed(tables, OWNER)) else {
                refused += 1;
                continue;
            };
            read += 1;
            let Some(vocab) = vocab else { continue };
            let length = |ids: &[u32]| ids.iter().map(|&id| vocab.token_bytes(id).unwrap().len()).sum::<usize>();
            let text = "ab\u{e9}ba".repeat(40);
            for word in words(ALPHABET, 3).chain([ALPHABET.repeat(9), b"ab".repeat(700), text.clone().into_bytes()]) {
                let mut ids = Vec::new();
                match encode(&vocab, &word, &mut Scratch::default(), &mut ids) {
                    Ok(()) => assert_eq!(length(&ids), word.len(), "{word:?} {ids:?}"),
                    Err(error) => assert_eq!(error.kind, Kind::Format),
                }
            }
            let tokenizer = Tokenizer::new(Parts::of(vocab)).unwrap();
            let mut ids: Vec<u32> = Vec::new();
            let _ = tokenizer.encode(&text, Policy::default(), &mut ids);
            let _ = tokenizer.count_until(&text, Policy::default(), 30);
        }
    }
    assert!(refused > 100 && read > 100, "{refused} {read}");
}

/// Files outlive versions of the core: those of another layout must not be read as if they were of this one.
#[cfg(target_endian = "little")]
#[test]
fn the_layout_has_a_new_number_wherever_tables_change() {
    let mut random = Random(0x001A_7007);
    let sums: Vec<u64> = (0..4)
        .map(|_| u64::from_le_bytes(*case(&mut random).vocab().store(OWNER).unwrap()[16..].first_chunk().unwrap()))
        .collect();
    // Where this fails and tables were meant to change, raise `stored::LAYOUT`, which changes the sums as well.
    assert_eq!(sums, [0x996D_864C_0593_7FC3, 0xE8FB_9EA6_F4CE_066B, 0x9120_DEBF_3F1E_872E, 0xBC5C_2785_A5FA_0A75]);
}
