//! All encoders against the definition, spelled out here on tokens as bytes, over random vocabularies.

use std::collections::HashMap;

use super::*;
use crate::vocab::Semantics;

/// Numbers that look random, the same on every machine.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }
}

/// A vocabulary as plain data.
pub(super) struct Case {
    pub(super) tokens: Vec<Vec<u8>>,
    pub(super) ids: Vec<u32>,
    pub(super) semantics: Semantics,
}

impl Case {
    pub(super) fn vocab(&self) -> Vocab {
        let tokens: Vec<&[u8]> = self.tokens.iter().map(Vec::as_slice).collect();
        Vocab::new(&tokens, &self.ids, self.semantics.clone()).unwrap()
    }

    /// The definition: merge the lowest pair below `limit`, of equal ones the leftmost, until there is none.
    fn encode(&self, piece: &[u8], limit: usize) -> Vec<u32> {
        let id_of: HashMap<&[u8], u32> = self.tokens.iter().map(Vec::as_slice).zip(self.ids.iter().copied()).collect();
        let bytes_of: HashMap<u32, &[u8]> = id_of.iter().map(|(&token, &id)| (id, token)).collect();
        let mut ids: Vec<u32> = piece.iter().map(|&byte| id_of[&[byte][..]]).collect();
        let join = |left: u32, right: u32| id_of.get(&[bytes_of[&left], bytes_of[&right]].concat()[..]).copied();
        let rank = |left: u32, right: u32| match &self.semantics {
            Semantics::Ranks => join(left, right).map(|id| id as usize),
            Semantics::Merges { pairs, .. } => pairs.iter().rposition(|&pair| pair == (left, right)),
        };
        while let Some((_, at)) = (1..ids.len())
            .filter_map(|at| Some((rank(ids[at - 1], ids[at])?, at)))
            .filter(|&(rank, _)| rank < limit)
            .min()
        {
            ids[at - 1] = join(ids[at - 1], ids[at]).unwrap();
            ids.remove(at);
        }
        ids
    }
}

/// A vocabulary over an alphabet, with holes between the ids. Improper ones are words at random; proper ones are
/// often what joins two tokens that are there.
pub(super) fn random_case(random: &mut Random, alphabet: &[u8]) -> Case {
    let mut tokens: Vec<Vec<u8>> = alphabet.iter().map(|&letter| vec![letter]).collect();
    let joins = random.below(4);
    for _ in 0..3 + random.below(7 * alphabet.len()) {
        let token = if random.below(4) < joins + 1 {
            let (left, right) = (random.below(tokens.len()), random.below(tokens.len()));
            [&tokens[left][..], &tokens[right]].concat()
        } else {
            (0..2 + random.below(4)).map(|_| alphabet[random.below(alphabet.len())]).collect()
        };
        if token.len() <= 9 && !tokens.contains(&token) {
            let at = if random.below(5) == 0 { random.below(tokens.len() + 1) } else { tokens.len() };
            tokens.insert(at, token);
        }
    }
    let mut id = 0;
    let ids: Vec<u32> = tokens
        .iter()
        .map(|_| {
            id += 1 + random.below(4) as u32 / 3 * 5;
            id
        })
        .collect();
    let semantics = if random.below(2) == 0 {
        Semantics::Ranks
    } else {
        let mut pairs = Vec::new();
        for (token, at) in tokens.iter().zip(0..) {
            let cuts = (1..token.len()).filter_map(|cut| {
                let index = |side: &[u8]| tokens.iter().position(|token| token == side);
                Some((ids[index(&token[..cut])?], ids[index(&token[cut..])?]))
            });
            let cuts: Vec<_> = cuts.collect();
            for _ in 0..=at % 2 {
                if !cuts.is_empty() {
                    let place = if random.below(9) == 0 { random.below(pairs.len() + 1) } else { pairs.len() };
                    pairs.insert(place, cuts[random.below(cuts.len())]);
                }
            }
        }
        Semantics::Merges { pairs, ignore_merges: false }
    };
    Case { tokens, ids, semantics }
}

/// Ranks as a list of merges, as conversions write them: every cut of each token, whether its parts are there by then or not.
fn converted(case: &Case) -> Case {
    let mut pairs = Vec::new();
    for token in &case.tokens {
        let id = |side: &[u8]| case.tokens.iter().position(|token| token == side).map(|index| case.ids[index]);
        pairs.extend((1..token.len()).filter_map(|cut| Some((id(&token[..cut])?, id(&token[cut..])?))));
    }
    let semantics = Semantics::Merges { pairs, ignore_merges: false };
    Case { tokens: case.tokens.clone(), ids: case.ids.clone(), semantics }
}

#[test]
fn ranks_and_their_cuts_as_merges_are_proper_alike_and_encode_alike() {
    let mut random = Random(0xC075);
    let mut kinds = [0, 0];
    for (alphabet, longest) in (0..300).flat_map(|_| [(&b"ab"[..], 8), (b"abc", 5)]) {
        let case = Case { semantics: Semantics::Ranks, ..random_case(&mut random, alphabet) };
        let merges = converted(&case);
        let [of_ranks, of_merges] = [case.vocab(), merges.vocab()];
        assert_eq!(of_ranks.is_proper(), of_merges.is_proper(), "{:?} {:?}", case.tokens, case.ids);
        kinds[usize::from(of_merges.is_proper())] += 1;
        for word in words(alphabet, longest) {
            let [one, other] = [&of_ranks, &of_merges]
                .map(|vocab| encoded(&word, |piece, scratch, ids| encode(vocab, piece, scratch, ids)));
            assert_eq!(one, other, "{:?} {:?} {word:?}", case.tokens, case.ids);
            assert_eq!(other, merges.encode(&word, usize::MAX), "{:?} {:?} {word:?}", case.tokens, case.ids);
        }
    }
    assert!(kinds.iter().all(|&kind| kind > 100), "{kinds:?}");
}

/// All words over an alphabet, up to a length.
pub(super) fn words(alphabet: &[u8], longest: u32) -> impl Iterator<Item = Vec<u8>> {
    let letters = alphabet.len();
    (0..=longest).flat_map(move |length| {
        (0..letters.pow(length))
            .map(move |number| (0..length).map(|place| alphabet[number / letters.pow(place) % letters]).collect())
    })
}

fn encoded(piece: &[u8], run: impl Fn(&[u8], &mut Scratch, &mut Vec<u32>) -> Result<()>) -> Vec<u32> {
    let mut ids = Vec::new();
    run(piece, &mut Scratch::default(), &mut ids).unwrap();
    ids
}

pub(super) const EXACT: [Merger; 4] = [Merger::Naive, Merger::Heap, Merger::Table, Merger::Backtrack];

#[test]
fn exact_encoders_are_the_definition_on_all_short_words_of_random_vocabularies() {
    let mut random = Random(0x5EED);
    let mut proper = [0, 0];
    // The last one has characters of two and three bytes, and pieces of them.
    let alphabets: [(&[u8], u32); 3] = [(b"ab", 9), (b"abc", 6), (&[b'a', 0xC3, 0xA9, 0xE4, 0xB8], 5)];
    for (alphabet, longest) in (0..200).flat_map(|_| alphabets) {
        let case = random_case(&mut random, alphabet);
        let vocab = case.vocab();
        proper[usize::from(vocab.is_proper())] += 1;
        for word in words(alphabet, longest) {
            let expected = case.encode(&word, usize::MAX);
            let shown = || format!("{:?} {:?} {:?} {word:?}", case.tokens, case.ids, case.semantics);
            assert_eq!(
                encoded(&word, |piece, scratch, ids| encode(&vocab, piece, scratch, ids)),
                expected,
                "{}",
                shown()
            );
            for merger in EXACT.into_iter().filter(|merger| merger.check(&vocab).is_ok()) {
                let ids = encoded(&word, |piece, scratch, ids| merger.merge(&vocab, piece, scratch, ids));
                assert_eq!(ids, expected, "{merger:?} {}", shown());
            }
        }
        for (token, &id) in case.tokens.iter().zip(&case.ids) {
            let itself = case.encode(token, usize::MAX) == [id];
            assert_eq!(vocab.whole(token), (itself || case.semantics == Semantics::Ranks).then_some(id));
        }
    }
    assert!(proper.iter().all(|&number| number > 50), "{proper:?}");
}

#[test]
fn canonical_merges_are_what_lower_ranks_leave() {
    let mut random = Random(0xCA11);
    let mut found = [0, 0];
    for _ in 0..3000 {
        let mut case = random_case(&mut random, b"abc");
        case.semantics = Semantics::Ranks;
        let longer = case.tokens.iter().zip(&case.ids).filter(|(token, _)| token.len() > 1);
        let parts: Vec<_> = longer.map(|(token, &id)| case.encode(token, id as usize)).collect();
        let expected: Option<Vec<_>> = parts
            .iter()
            .map(|parts| <[u32; 2]>::try_from(&parts[..]).ok().map(|[left, right]| (left, right)))
            .collect();
        found[usize::from(expected.is_some())] += 1;
        let merges = canonical_merges(&case.vocab());
        match expected {
            Some(expected) => assert_eq!(merges.unwrap(), expected, "{:?}", case.tokens),
            None => assert_eq!(merges.unwrap_err().kind, Kind::Format, "{:?}", case.tokens),
        }
    }
    assert!(found.iter().all(|&number| number > 300), "{found:?}");
}

#[test]
fn the_example_of_the_bpe_crate() {
    let tokens: [&[u8]; 9] = [b"a", b"b", b"c", b"ab", b"cb", b"ac", b"bb", b"cbb", b"acbb"];
    let vocab = Vocab::new(&tokens, &[0, 1, 2, 3, 4, 5, 6, 7, 8], Semantics::Ranks).unwrap();
    let ids = |piece| encoded(piece, |piece, scratch, ids| encode(&vocab, piece, scratch, ids));
    assert_eq!(ids(b"abacb"), [3, 0, 4]);
    assert_eq!(ids(b"abacbb"), [3, 8]);
    let last = |end: usize| *ids(&b"abacbb"[..end]).last().unwrap();
    assert_eq!((1..=6).map(last).collect::<Vec<_>>(), [0, 3, 0, 5, 4, 8]);
}

#[test]
fn a_byte_without_a_token_is_placed() {
    let vocab = Vocab::new(&[b"a"], &[0], Semantics::Ranks).unwrap();
    for merger in EXACT {
        let error = merger.merge(&vocab, b"aab", &mut Scratch::default(), &mut Vec::new()).unwrap_err();
        assert_eq!((error.kind, error.byte), (Kind::Encode, Some(2)));
    }
    let error = encode(&vocab, b"aab", &mut Scratch::default(), &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.byte), (Kind::Encode, Some(2)));
}

#[test]
fn long_words_of_characters_encode_as_defined() {
    let mut random = Random(0xC0DE);
    for _ in 0..300 {
        let case = random_case(&mut random, &[b' ', 0xC3, 0xA9, 0xA8, 0xE4, 0xB8, 0xAD]);
        let vocab = case.vocab();
        for _ in 0..20 {
            let characters = ["é", "è", "中", "串", " "];
            let word: String = (0..=random.below(40)).map(|_| characters[random.below(5)]).collect();
            let word: Vec<u8> = word.bytes().filter(|byte| vocab.byte_id(*byte) != NO_ID).collect();
            let ids = encoded(&word, |piece, scratch, ids| encode(&vocab, piece, scratch, ids));
            let shown = || format!("{:?} {:?} {:?} {word:?}", case.tokens, case.ids, case.semantics);
            assert_eq!(ids, case.encode(&word, usize::MAX), "{}", shown());
        }
    }
}

#[test]
fn a_character_is_whole_before_tokens_of_higher_ranks_reach_into_it() {
    let character: &[u8] = "中".as_bytes();
    let (front, back): (&[u8], &[u8]) = (&[b'a', 0xE4, 0xB8], &[0xAD, b'b', b'b']);
    let bytes: [&[u8]; 5] = [b"a", b"b", &[0xE4], &[0xB8], &[0xAD]];
    let parts: [&[u8]; 2] = [&[0xE4, 0xB8], b"bb"];
    let last = |order: [&[u8]; 3]| {
        let tokens: Vec<&[u8]> = bytes.into_iter().chain(parts).chain(order).collect();
        let ids: Vec<u32> = (0..tokens.len() as u32).collect();
        let vocab = Vocab::new(&tokens, &ids, Semantics::Ranks).unwrap();
        assert!(vocab.is_proper());
        let ids = encoded("a中bb".as_bytes(), |piece, scratch, ids| encode(&vocab, piece, scratch, ids));
        ids.into_iter().map(|id| tokens[id as usize]).map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    assert_eq!(last([character, front, back]), [b"a", character, b"bb"]);
    assert_eq!(last([front, character, back]), [front, &[0xAD, b'b', b'b']]);
    assert_eq!(last([back, character, front]), [front, back]);
}

#[test]
fn linear_encoders_refuse_vocabularies_on_which_they_could_be_wrong() {
    let vocab = Vocab::new(&[b"a", b"b", b"aab", b"aa"], &[0, 1, 2, 3], Semantics::Ranks).unwrap();
    for merger in [Merger::Table, Merger::Backtrack] {
        let error = merger.merge(&vocab, b"aab", &mut Scratch::default(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind, Kind::Format);
        assert!(error.what.contains(merger.name()) && error.remedy.contains("heap"), "{error}");
    }
}

#[test]
fn inexact_encoders_spell_the_piece_and_minimal_is_never_longer() {
    let mut random = Random(0x0D0);
    for _ in 0..200 {
        let case = random_case(&mut random, b"abc");
        let vocab = case.vocab();
        for word in words(b"abc", 6) {
            let of = |merger: Merger| encoded(&word, |piece, scratch, ids| merger.merge(&vocab, piece, scratch, ids));
            let (greedy, minimal) = (of(Merger::Greedy), of(Merger::Minimal));
            for ids in [&greedy, &minimal] {
                let bytes: Vec<u8> = ids.iter().flat_map(|&id| vocab.token_bytes(id).unwrap()).copied().collect();
                assert_eq!(bytes, word);
            }
            assert!(minimal.len() <= greedy.len() && minimal.len() <= of(Merger::Naive).len());
        }
    }
}

#[test]
fn names_lead_to_their_algorithms() {
    for (name, merger) in Merger::ALL {
        assert_eq!((Merger::by_name(name), merger.name()), (Some(merger), name));
    }
    assert_eq!(Merger::by_name("unigram"), None);
}

#[test]
fn backtracking_looks_at_most_twice_at_each_place() {
    let mut random = Random(0x11AE);
    for _ in 0..300 {
        let case = random_case(&mut random, b"ab");
        let vocab = case.vocab();
        for unit in [&b"a"[..], b"ab", b"aab", b"abb", b"aabab"] {
            let piece = unit.repeat(2000 / unit.len());
            let mut buffers = backtrack::Buffers::default();
            backtrack::merge(&vocab, &piece, &mut buffers, &mut Vec::new()).unwrap();
            assert!(buffers.looks <= 2 * piece.len(), "{:?} {unit:?} {}", case.tokens, buffers.looks);
        }
    }
}

#[test]
fn windows_give_what_merging_gives_however_soon_they_are_given_up() {
    let mut random = Random(0x817D);
    let mut kinds = [0, 0];
    let alphabets: [&[u8]; 4] = [b"a", b"ab", b"abcdefgh", &[b' ', 0xC3, 0xA9, 0xA8, 0xE4, 0xB8, 0xAD]];
    for alphabet in (0..400).flat_map(|_| alphabets) {
        let case = random_case(&mut random, alphabet);
        let vocab = case.vocab();
        kinds[usize::from(vocab.is_proper())] += 1;
        let (mut scratch, mut buffers) = (Scratch::default(), backtrack::Buffers::default());
        for longest in [1, 20, 60, 400] {
            // Runs of one letter, of a few together, and what is random.
            let unit: Vec<u8> = (0..=random.below(5)).map(|_| alphabet[random.below(alphabet.len())]).collect();
            let loose = random.below(8);
            let letter = |at: usize, random: &mut Random| {
                if random.below(8) < loose { alphabet[random.below(alphabet.len())] } else { unit[at % unit.len()] }
            };
            let word: Vec<u8> = (0..=random.below(longest)).map(|at| letter(at, &mut random)).collect();
            let (mut ids, mut expected) = (Vec::new(), Vec::new());
            windows::merge(&vocab, &word, &mut buffers, &mut ids).unwrap();
            Merger::Naive.merge(&vocab, &word, &mut scratch, &mut expected).unwrap();
            assert_eq!(ids, expected, "{:?} {:?} {:?} {word:?}", case.tokens, case.ids, case.semantics);
            // Backtracking alone, which the public name allows for proper vocabularies only.
            let mut symbols = Vec::new();
            backtrack::merge(&vocab, &word, &mut buffers, &mut symbols).unwrap();
            assert!(symbols.iter().map(|&symbol| vocab.rules().id(symbol)).eq(expected), "{:?} {word:?}", case.tokens);
        }
    }
    assert!(kinds.iter().all(|&kind| kind > 300), "{kinds:?}");
}

#[test]
fn runs_and_what_is_between_them_encode_as_by_merging() {
    let mut random = Random(0x5EA7);
    let mut kinds = [0, 0];
    let alphabets: [&[u8]; 3] = [b"ab", b"abc", &[b' ', 0xC3, 0xA9, 0xE4, 0xB8, 0xAD]];
    for alphabet in (0..700).flat_map(|_| alphabets) {
        let case = random_case(&mut random, alphabet);
        let vocab = case.vocab();
        kinds[usize::from(vocab.is_proper())] += 1;
        let (mut scratch, mut buffers) = (Scratch::default(), backtrack::Buffers::default());
        for _ in 0..4 {
            let mut word = Vec::new();
            for _ in 0..=random.below(4) {
                let mut some = |most: usize| {
                    (0..random.below(most)).map(|_| alphabet[random.below(alphabet.len())]).collect::<Vec<_>>()
                };
                let (unit, between) = (some(6), some(9));
                word.extend(unit.repeat(random.below(90)));
                word.extend(between);
            }
            let (mut ids, mut expected) = (Vec::new(), Vec::new());
            windows::merge(&vocab, &word, &mut buffers, &mut ids).unwrap();
            Merger::Heap.merge(&vocab, &word, &mut scratch, &mut expected).unwrap();
            assert_eq!(ids, expected, "{:?} {:?} {:?} {word:?}", case.tokens, case.ids, case.semantics);
            let mut symbols = Vec::new();
            backtrack::merge(&vocab, &word, &mut buffers, &mut symbols).unwrap();
            assert!(symbols.iter().map(|&symbol| vocab.rules().id(symbol)).eq(expected), "{:?} {word:?}", case.tokens);
        }
    }
    assert!(kinds.iter().all(|&kind| kind > 300), "{kinds:?}");
}
