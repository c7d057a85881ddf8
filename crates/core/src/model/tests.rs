//! Each model against its definition, spelled out here on strings, over random small vocabularies.
//!
//! The file is long because the definitions share what makes vocabularies and pieces.

use std::collections::{BTreeMap, HashMap};

use super::*;

/// A random number below `limit`.
pub(super) fn below(random: &mut Random, limit: usize) -> usize {
    (random.next_u64() >> 33) as usize % limit
}

/// Parts as triples that are easy to compare.
pub(super) type Triples = Vec<(u32, usize, usize)>;

pub(super) fn triples(tokens: &[Token]) -> Triples {
    tokens.iter().map(|token| (token.id, token.start as usize, token.end as usize)).collect()
}

/// A vocabulary as plain data: what it spells by id, with holes.
pub(super) struct Case {
    pub(super) tokens: Vec<String>,
    pub(super) ids: Vec<u32>,
    pub(super) id_of: HashMap<String, u32>,
}

impl Case {
    fn new(mut tokens: Vec<String>, random: &mut Random) -> Self {
        let mut seen = std::collections::HashSet::new();
        tokens.retain(|token| seen.insert(token.clone()));
        for at in (1..tokens.len()).rev() {
            tokens.swap(at, below(random, at + 1));
        }
        let (mut id, holes) = (below(random, 3) as u32, below(random, 2));
        let mut ids = Vec::new();
        for _ in &tokens {
            ids.push(id);
            id += 1 + if holes == 1 { below(random, 3) as u32 } else { 0 };
        }
        let id_of = tokens.iter().cloned().zip(ids.iter().copied()).collect();
        Self { tokens, ids, id_of }
    }

    pub(super) fn model(
        &self,
        options: &str,
        pairs: Option<&[(u32, u32)]>,
        scores: Option<&[f64]>,
    ) -> Result<WordModel> {
        let tokens: Vec<&[u8]> = self.tokens.iter().map(String::as_bytes).collect();
        WordModel::new(options, &tokens, &self.ids, pairs, scores)
    }
}

/// Characters of one to four bytes, of which some tests leave some out of the vocabulary.
const LETTERS: [&str; 8] = ["a", "b", "c", "é", "▁", "中", "😀", "<"];

fn word(random: &mut Random, letters: usize, longest: usize) -> String {
    (0..below(random, longest + 1)).map(|_| LETTERS[below(random, letters)]).collect()
}

fn byte_tokens(random: &mut Random) -> Vec<String> {
    let all = below(random, 3) > 0;
    let kept = |random: &mut Random| all || below(random, 40) > 0;
    (0..256).filter(|_| kept(random)).map(|byte| format!("<0x{byte:02X}>")).collect()
}

fn quoted(text: Option<&str>) -> String {
    serde_json::to_string(&text).unwrap()
}

/// The definition of `tokenizers`: symbols from characters, then the lowest merge; ties go left to right.
struct SlowCharacters<'a> {
    case: &'a Case,
    merges: Vec<(String, String)>,
    unk: Option<&'a str>,
    prefix: &'a str,
    suffix: &'a str,
    fuse_unk: bool,
    byte_fallback: bool,
    ignore_merges: bool,
}

impl SlowCharacters<'_> {
    fn encode(&self, piece: &str) -> Triples {
        if self.ignore_merges
            && let Some(&id) = self.case.id_of.get(piece)
        {
            return vec![(id, 0, piece.len())];
        }
        let mut symbols: Vec<(String, usize)> = Vec::new();
        let mut waiting: Option<usize> = None;
        for (at, character) in piece.char_indices() {
            let length = character.len_utf8();
            let prefix = if at > 0 { self.prefix } else { "" };
            let suffix = if at + length == piece.len() { self.suffix } else { "" };
            let decorated = format!("{prefix}{character}{suffix}");
            let bytes: Vec<String> = decorated.bytes().map(|byte| format!("<0x{byte:02X}>")).collect();
            if self.case.id_of.contains_key(&decorated) {
                if let Some(length) = waiting.take() {
                    symbols.push((self.unk.unwrap().to_owned(), length));
                }
                symbols.push((decorated, length));
            } else if self.byte_fallback && bytes.iter().all(|byte| self.case.id_of.contains_key(byte)) {
                symbols.extend(bytes.into_iter().map(|byte| (byte, 1)));
            } else if let Some(unk) = self.unk {
                match waiting {
                    Some(before) if self.fuse_unk => waiting = Some(before + length),
                    Some(before) => {
                        symbols.push((unk.to_owned(), before));
                        waiting = Some(length);
                    }
                    None => waiting = Some(length),
                }
            }
        }
        if let Some(length) = waiting {
            symbols.push((self.unk.unwrap().to_owned(), length));
        }
        loop {
            let rank = |at: usize| {
                let pair = (&symbols[at - 1].0, &symbols[at].0);
                self.merges.iter().rposition(|(left, right)| (left, right) == pair)
            };
            let Some((_, at)) = (1..symbols.len()).filter_map(|at| Some((rank(at)?, at))).min() else { break };
            let (right, length) = symbols.remove(at);
            symbols[at - 1].0.push_str(&right[self.prefix.len()..]);
            symbols[at - 1].1 += length;
        }
        let mut at = 0;
        let place = |symbol: &(String, usize)| {
            let start = at;
            at += symbol.1;
            (self.case.id_of[&symbol.0], start.min(piece.len()), at.min(piece.len()))
        };
        symbols.iter().map(place).collect()
    }
}

/// As subword-nmt has it: symbols are told apart by whether they end the word, and are spelled and looked up at the end.
fn slow_separated(
    ids: &HashMap<String, u32>,
    merges: &[(String, String, bool)],
    separator: &str,
    unk: u32,
    piece: &str,
) -> Triples {
    let spelled = |text: &str, ends: bool| if ends { text.to_owned() } else { format!("{text}{separator}") };
    let ends = piece.len();
    let mut symbols: Vec<(usize, usize)> =
        piece.char_indices().map(|(at, character)| (at, at + character.len_utf8())).collect();
    loop {
        let rank = |pair: &[(usize, usize)]| {
            let (left, right) = (&piece[pair[0].0..pair[0].1], &piece[pair[1].0..pair[1].1]);
            merges.iter().position(|(l, r, last)| l == left && r == right && *last == (pair[1].1 == ends))
        };
        let Some((_, at)) = symbols.windows(2).enumerate().filter_map(|(at, pair)| Some((rank(pair)?, at))).min()
        else {
            break;
        };
        symbols[at].1 = symbols.remove(at + 1).1;
    }
    let id = |text: String| ids.get(&text).copied().unwrap_or(unk);
    symbols.iter().map(|&(start, end)| (id(spelled(&piece[start..end], end == ends)), start, end)).collect()
}

#[test]
fn a_separator_stands_behind_all_tokens_but_the_last() {
    let random = &mut Random::new(0x5e9a);
    let separator = "@@";
    let mut unknown = 0;
    for round in 0..2000 {
        let known = 1 + below(random, LETTERS.len() - 1);
        let spelled = |text: &str, ends: bool| if ends { text.to_owned() } else { format!("{text}{separator}") };
        // Merges of what is there already; the last flag says whether the word ends there.
        let mut made: Vec<String> = LETTERS[..known].iter().map(ToString::to_string).collect();
        let mut merges: Vec<(String, String, bool)> = Vec::new();
        for _ in 0..below(random, 30) {
            let (left, right) = (&made[below(random, made.len())], &made[below(random, made.len())]);
            let merge = (left.clone(), right.clone(), below(random, 3) == 0);
            if left.len() + right.len() < 30 && !merges.contains(&merge) {
                made.push(format!("{left}{right}"));
                merges.push(merge);
            }
        }
        let mut all: Vec<String> =
            LETTERS[..known].iter().flat_map(|text| [spelled(text, false), spelled(text, true)]).collect();
        for (left, right, last) in &merges {
            all.extend([spelled(left, false), spelled(right, *last), spelled(&format!("{left}{right}"), *last)]);
        }
        all.sort();
        all.dedup();
        let (unlisted, mut tokens): (Vec<String>, Vec<String>) = all.into_iter().partition(|_| below(random, 5) == 0);
        tokens.push("<unk>".to_owned());
        let case = Case::new(tokens, random);
        let last = case.ids.last().copied().unwrap();
        let named: HashMap<String, u32> = case
            .id_of
            .iter()
            .map(|(text, &id)| (text.clone(), id))
            .chain(unlisted.iter().cloned().zip(last + 1..))
            .collect();
        let pairs: Vec<(u32, u32)> = merges
            .iter()
            .map(|(left, right, last)| (named[&spelled(left, false)], named[&spelled(right, *last)]))
            .collect();
        let options =
            serde_json::json!({"type": "BPE", "unk_token": "<unk>", "separator": separator, "unlisted": unlisted});
        let model = case.model(&options.to_string(), Some(&pairs), None).unwrap();
        assert_eq!((model.len(), model.ids()), (case.ids.len(), case.ids.as_slice()));
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        for _ in 0..12 {
            let longest = [4, 20, 60][below(random, 3)];
            let piece = word(random, known + 1, longest);
            out.clear();
            model.encode(&piece, &mut scratch, &mut out).unwrap();
            let unk = case.id_of["<unk>"];
            let expected = slow_separated(&case.id_of, &merges, separator, unk, &piece);
            assert_eq!(triples(&out), expected, "round {round} {merges:?} {unlisted:?} {piece:?}");
            unknown += expected.iter().filter(|token| token.0 == unk).count();
        }
    }
    assert!(unknown > 1000, "{unknown}");
}

#[test]
fn characters_merge_as_defined() {
    let random = &mut Random::new(0xC4A2);
    for round in 0..3000 {
        let (prefix, suffix) = [("", ""), ("", ""), ("##", ""), ("", "</w>"), ("@", "$")][below(random, 5)];
        let known = 1 + below(random, LETTERS.len());
        let mut tokens = vec!["<unk>".to_owned()];
        for letter in &LETTERS[..known] {
            for (prefix, suffix) in [("", ""), (prefix, ""), ("", suffix), (prefix, suffix)] {
                if below(random, 12) > 0 {
                    tokens.push(format!("{prefix}{letter}{suffix}"));
                }
            }
        }
        if below(random, 2) == 0 {
            tokens.extend(byte_tokens(random));
        }
        // Merges of what is there already, and some of what comes later.
        let mut merges: Vec<(String, String)> = Vec::new();
        for _ in 0..below(random, 40) {
            let (left, right) = (&tokens[below(random, tokens.len())], &tokens[below(random, tokens.len())]);
            if left.starts_with("<0x") && below(random, 4) > 0 {
                continue;
            }
            let fits = right.get(prefix.len()..).is_some_and(|rest| !rest.is_empty());
            if fits && left.len() + right.len() < 40 {
                merges.push((left.clone(), right.clone()));
                tokens.push(format!("{left}{}", &right[prefix.len()..]));
            }
        }
        for _ in 0..below(random, 4) * merges.len() / 3 {
            let at = below(random, merges.len());
            let other = below(random, merges.len());
            merges.swap(at, other);
            merges.push(merges[at].clone());
        }
        let case = Case::new(tokens, random);
        let flags: Vec<bool> = (0..4).map(|_| below(random, 2) == 0).collect();
        let unk = flags[0].then_some("<unk>");
        let slow = SlowCharacters {
            case: &case,
            merges,
            unk,
            prefix,
            suffix,
            fuse_unk: flags[1],
            byte_fallback: flags[2],
            ignore_merges: flags[3],
        };
        let options = format!(
            r#"{{"type":"BPE","unk_token":{},"fuse_unk":{},"byte_fallback":{},"ignore_merges":{},
                "continuing_subword_prefix":{},"end_of_word_suffix":{}}}"#,
            quoted(unk),
            flags[1],
            flags[2],
            flags[3],
            quoted(Some(prefix)),
            quoted(Some(suffix).filter(|suffix| !suffix.is_empty())),
        );
        let pairs: Vec<(u32, u32)> =
            slow.merges.iter().map(|(left, right)| (case.id_of[left], case.id_of[right])).collect();
        let model = case.model(&options, Some(&pairs), None).unwrap();
        assert_eq!(model.unk_id(), unk.map(|unk| case.id_of[unk]));
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        for _ in 0..12 {
            let longest = [6, 20, 80][below(random, 3)];
            let piece = if below(random, 10) == 0 {
                case.tokens[below(random, case.tokens.len())].clone()
            } else {
                word(random, LETTERS.len(), longest)
            };
            let expected = if piece.is_empty() { Vec::new() } else { slow.encode(&piece) };
            out.clear();
            model.encode(&piece, &mut scratch, &mut out).unwrap();
            assert_eq!(triples(&out), expected, "round {round} {options} {:?} {piece:?}", slow.merges);
            if !slow.ignore_merges {
                // The heap, whatever the length.
                out.clear();
                let WordModel::Bpe(inner) = &model else { unreachable!() };
                inner.encode_with_dropout(&piece, 0.0, random, &mut scratch.characters, &mut out).unwrap();
                assert_eq!(triples(&out), expected, "round {round} heap {piece:?}");
            }
        }
    }
}

/// The definition: the longest token that is there, again and again.
pub(super) fn slow_word_piece(case: &Case, piece: &str, prefix: &str, unk: u32, most: usize) -> Triples {
    let unknown = vec![(unk, 0, piece.len())];
    if piece.chars().count() > most {
        return unknown;
    }
    let mut found = Vec::new();
    let mut start = 0;
    while start < piece.len() {
        let prefix = if start > 0 { prefix } else { "" };
        let ends = (start + 1..=piece.len()).rev().filter(|&end| piece.is_char_boundary(end));
        let mut known =
            ends.filter_map(|end| Some((*case.id_of.get(&format!("{prefix}{}", &piece[start..end]))?, end)));
        let Some((id, end)) = known.next() else { return unknown };
        found.push((id, start, end));
        start = end;
    }
    found
}

#[test]
fn word_piece_takes_the_longest_token_first() {
    let random = &mut Random::new(0x30BD);
    let mut spelled = 0;
    for round in 0..4000 {
        let prefix = ["##", "", "a", "▁"][below(random, 4)];
        let (letters, longest) = (1 + below(random, LETTERS.len()), [3, 6, 12][below(random, 3)]);
        let mut tokens = vec!["[UNK]".to_owned(), prefix.to_owned()];
        for _ in 0..below(random, 60) {
            let decoration = if below(random, 3) == 0 { "" } else { prefix };
            tokens.push(format!("{decoration}{}", word(random, letters, longest)));
        }
        for letter in &LETTERS[..letters] {
            tokens.extend(
                ["", prefix].into_iter().filter(|_| below(random, 6) > 0).map(|before| format!("{before}{letter}")),
            );
        }
        let case = Case::new(tokens, random);
        let most = [100, 100, 100, 5, 0][below(random, 5)];
        let options = format!(
            r#"{{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":{},
                "max_input_chars_per_word":{most}}}"#,
            quoted(Some(prefix))
        );
        let model = case.model(&options, None, None).unwrap();
        let WordModel::WordPiece(inner) = &model else { unreachable!() };
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        let unk = case.id_of["[UNK]"];
        for _ in 0..20 {
            let longest = [4, 15, 110][below(random, 3)];
            let piece = word(random, letters, longest);
            let expected = slow_word_piece(&case, &piece, prefix, unk, most);
            out.clear();
            model.encode(&piece, &mut scratch, &mut out).unwrap();
            assert_eq!(triples(&out), expected, "round {round} {options} {:?} {piece:?}", case.tokens);
            let linear = inner.spell_slowly_for_tests(&piece);
            let linear = linear.map_or_else(|| vec![(unk, 0, piece.len())], |tokens| triples(&tokens));
            assert_eq!(
                linear,
                slow_word_piece(&case, &piece, prefix, unk, usize::MAX),
                "round {round} linear {piece:?}"
            );
            spelled += usize::from(expected.len() > 2);
        }
    }
    assert!(spelled > 5000, "{spelled}");
}

#[test]
fn word_piece_stays_linear_where_reading_on_is_in_vain() {
    let long = "a".repeat(1000);
    let tokens = ["[UNK]", "a", "##a", &format!("##{long}b")].map(str::to_owned).to_vec();
    let case = Case::new(tokens, &mut Random::new(1));
    let options = r###"{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",
        "max_input_chars_per_word":10000000}"###;
    let model = case.model(options, None, None).unwrap();
    let WordModel::WordPiece(inner) = &model else { unreachable!() };
    let mut out = Vec::new();
    let mut buffers = longest::Buffers::default();
    inner.encode(&"a".repeat(1_000_000), &mut buffers, &mut out).unwrap();
    assert_eq!(out.len(), 1_000_000);
    // Only the pass backward fills this.
    assert_eq!(buffers.tokens.len(), 1_000_000);
}

/// The definition: of all ways the first best one, as sums go from left to right. With the score of an unknown character it
/// is that of `sentencepiece`.
#[allow(clippy::cast_possible_truncation, reason = "the sums of sentencepiece have 32 bits")]
pub(super) fn slow_unigram(
    case: &Case,
    scores: &HashMap<u32, f64>,
    unk: Option<u32>,
    fallback: bool,
    stated: Option<f64>,
    unlisted: &BTreeMap<String, f64>,
    piece: &str,
) -> Option<Triples> {
    /// Each unlisted text is one unknown token.
    const UNLISTED: u32 = u32::MAX - 1;
    let is_byte = |id: u32| fallback && case.id_of.iter().any(|(name, &one)| one == id && name.starts_with("<0x"));
    let is_spelled = |id: u32| stated.is_none() || (Some(id) != unk && !is_byte(id));
    let rounded = |sum: f64| if stated.is_some() { f64::from(sum as f32) } else { sum };
    let lowest = scores.values().chain(unlisted.values()).copied().filter(|score| score.is_finite());
    let lowest = lowest.fold(f64::INFINITY, f64::min);
    let known = |text: &str| match unlisted.get(text) {
        Some(&score) => Some((UNLISTED, score)),
        None => case.id_of.get(text).map(|&id| (id, scores[&id])),
    };
    // By place: the sum, where the last token begins, and its id.
    let mut best: Vec<Option<(f64, usize, u32)>> = vec![None; piece.len() + 1];
    best[0] = Some((0.0, 0, 0));
    for (start, character) in piece.char_indices() {
        let offset = best[start]?.0;
        if stated.is_some() && offset < -100_000.0 {
            best[start..].iter_mut().flatten().for_each(|way| way.0 = rounded(way.0 - offset));
        }
        let here = best[start]?.0;
        let next = start + character.len_utf8();
        let ends = (start + 1..=piece.len()).filter(|&end| piece.is_char_boundary(end));
        let mut ways: Vec<(usize, u32, f64)> = ends
            .filter_map(|end| known(&piece[start..end]).map(|(id, score)| (end, id, score)))
            .filter(|&(_, id, score)| is_spelled(id) && score.is_finite())
            .collect();
        if !ways.iter().any(|way| way.0 == next) {
            ways.push((next, unk.unwrap_or(u32::MAX), stated.unwrap_or(lowest - 10.0)));
        }
        for (end, id, score) in ways {
            if best[end].is_none_or(|(sum, _, _)| rounded(here + score) > sum) {
                if id == u32::MAX {
                    return None;
                }
                best[end] = Some((rounded(here + score), start, id));
            }
        }
    }
    let mut parts: Vec<(u32, usize, usize)> = Vec::new();
    let mut end = piece.len();
    while end > 0 {
        let (_, start, id) = best[end]?;
        match parts.last_mut() {
            Some(last) if Some(id) == unk && last.0 == id => last.1 = start,
            _ => parts.push((id, start, end)),
        }
        end = start;
    }
    let mut found = Vec::new();
    for (id, start, end) in parts.into_iter().rev() {
        let text = &piece[start..end];
        if id == UNLISTED {
            found.push((unk?, start, end));
            continue;
        }
        if stated.is_some() && Some(id) != unk {
            found.push((id, start, end));
            continue;
        }
        let together = case.id_of.get(text).filter(|id| stated.is_none() || scores[id] == f64::NEG_INFINITY);
        let bytes: Option<Vec<u32>> =
            text.bytes().map(|byte| case.id_of.get(&format!("<0x{byte:02X}>")).copied()).collect();
        match (together, bytes.filter(|_| fallback)) {
            (Some(&id), _) => found.push((id, start, end)),
            (None, Some(bytes)) => found.extend(bytes.into_iter().map(|id| (id, start, end))),
            (None, None) => found.push((unk?, start, end)),
        }
    }
    Some(found)
}

/// A random Unigram: the case, its scores, what is unknown, and the model.
#[allow(clippy::type_complexity, reason = "it is taken apart at once")]
fn random_unigram(
    random: &mut Random,
) -> (Case, Vec<f64>, Option<u32>, bool, Option<f64>, BTreeMap<String, f64>, WordModel) {
    let known = 1 + below(random, LETTERS.len());
    let mut tokens: Vec<String> = vec!["<unk>".to_owned()];
    for _ in 0..below(random, 40) {
        tokens.push(word(random, known, 6));
    }
    if below(random, 2) == 0 {
        tokens.extend(byte_tokens(random));
    }
    let case = Case::new(tokens, random);
    // Few different scores, so that sums are often equal; high ones as well, so that unknown characters win.
    let shift = [0.0, -5.0, 30.0, -60_000.0][below(random, 4)];
    let step = [0.5, 0.001][below(random, 2)];
    let mut score = || shift - f64::from(below(random, 6) as u32) * step;
    let mut scores: Vec<f64> = case.tokens.iter().map(|_| score()).collect();
    let mut unlisted = BTreeMap::new();
    let stated = (below(random, 2) == 0).then_some(shift - 13.0);
    let unk = (below(random, 5) > 0).then(|| case.id_of["<unk>"]);
    let fallback = below(random, 2) == 0;
    if unk.is_some() && below(random, 4) == 0 {
        scores.iter_mut().filter(|_| below(random, 4) == 0).for_each(|score| *score = f64::NEG_INFINITY);
        let others = (0..below(random, 12)).map(|_| word(random, known, 5)).collect::<Vec<_>>().into_iter();
        let others = others.filter(|text| !case.id_of.contains_key(text));
        unlisted.extend(others.map(|text| (text, shift - f64::from(below(random, 6) as u32) * step)));
    }
    let options = serde_json::json!({
        "type": "Unigram", "unk_id": unk, "byte_fallback": fallback, "unk_score": stated, "unlisted": unlisted,
    });
    let model = case.model(&options.to_string(), None, Some(&scores)).unwrap();
    (case, scores, unk, fallback, stated, unlisted, model)
}

#[test]
fn unigram_takes_the_first_best_way() {
    let random = &mut Random::new(0x0611);
    let mut failed = 0;
    for round in 0..4000 {
        let (case, scores, unk, fallback, stated, unlisted, model) = random_unigram(random);
        let score_of: HashMap<u32, f64> = case.ids.iter().copied().zip(scores.iter().copied()).collect();
        assert_eq!((model.len(), model.ids()), (case.ids.len(), case.ids.as_slice()));
        assert!(unlisted.keys().all(|text| model.token_id(text).is_none()));
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        for _ in 0..15 {
            let mut piece = word(random, LETTERS.len(), 20);
            if below(random, 8) == 0 {
                piece.push_str("<unk>");
            }
            out.clear();
            let result = model.encode(&piece, &mut scratch, &mut out);
            let expected = slow_unigram(&case, &score_of, unk, fallback, stated, &unlisted, &piece);
            let found = result.is_ok().then(|| triples(&out));
            assert_eq!(found, expected, "round {round} {:?} {scores:?} {piece:?} {unlisted:?}", case.tokens);
            failed += usize::from(expected.is_none());
        }
    }
    assert!(failed > 100, "{failed}");
}

/// The definition: from the end of the piece, the best way from each place on, of equal ones the one with the longest token.
fn slow_from_end(case: &Case, scores: &[f64], unk: Option<u32>, fallback: bool, piece: &str) -> Option<Triples> {
    // By place: the sum in ten-thousandths, where the first token ends, and its id.
    let mut best: Vec<Option<(i64, usize, u32)>> = vec![None; piece.len() + 1];
    best[piece.len()] = Some((0, piece.len(), 0));
    for (start, character) in piece.char_indices().rev() {
        let next = start + character.len_utf8();
        let known = |end: usize| {
            let row = case.tokens.iter().position(|token| piece.get(start..end) == Some(token))?;
            #[allow(clippy::cast_possible_truncation, reason = "scores are small")]
            scores[row].is_finite().then(|| (end, case.ids[row], (scores[row] * 1e4).round() as i64))
        };
        let mut ways: Vec<_> = (next..=piece.len()).filter_map(known).collect();
        if let Some(unk) = unk.filter(|_| known(next).is_none()) {
            ways.push((next, unk, -10_000_000));
        }
        let sums = ways.into_iter().filter_map(|(end, id, score)| Some((best[end]?.0 + score, end, id)));
        best[start] = sums.max();
    }
    let (mut found, mut start): (Triples, usize) = (Vec::new(), 0);
    while start < piece.len() {
        let (_, mut end, id) = best[start]?;
        if Some(id) == unk {
            while end < piece.len() && best[end]?.2 == id {
                end = best[end]?.1;
            }
            let byte = |byte: u8| case.id_of.get(&format!("<0x{byte:02X}>")).map(|&id| (id, start, end));
            let bytes: Option<Vec<_>> = piece[start..end].bytes().map(byte).collect();
            match bytes.filter(|_| fallback) {
                Some(bytes) => found.extend(bytes),
                None => found.push((id, start, end)),
            }
        } else {
            found.push((id, start, end));
        }
        start = end;
    }
    Some(found)
}

#[test]
fn a_unigram_from_the_end_takes_the_longest_first_token_of_equal_ways() {
    let random = &mut Random::new(0x91a3);
    let mut failed = 0;
    for round in 0..2000 {
        let known = 1 + below(random, LETTERS.len());
        let mut tokens: Vec<String> = vec!["<unk>".to_owned()];
        tokens.extend((0..below(random, 40)).map(|_| word(random, known, 6)));
        if below(random, 2) == 0 {
            tokens.extend(byte_tokens(random));
        }
        let case = Case::new(tokens, random);
        let step = [0.5, 0.0001, 0.000_04][below(random, 3)];
        let score = |token: &String| match below(random, 12) {
            0 => f64::NEG_INFINITY,
            _ if token == "<unk>" => f64::NEG_INFINITY,
            many => -f64::from(many as u32) * step,
        };
        let scores: Vec<f64> = case.tokens.iter().map(score).collect();
        let (unk, fallback) = ((below(random, 5) > 0).then(|| case.id_of["<unk>"]), below(random, 2) == 0);
        let options =
            serde_json::json!({"type": "Unigram", "unk_id": unk, "byte_fallback": fallback, "from_end": true});
        let model = case.model(&options.to_string(), None, Some(&scores)).unwrap();
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        for _ in 0..15 {
            let piece = word(random, LETTERS.len(), 20);
            out.clear();
            let found = model.encode(&piece, &mut scratch, &mut out).is_ok().then(|| triples(&out));
            let expected = slow_from_end(&case, &scores, unk, fallback, &piece);
            assert_eq!(found, expected, "round {round} {:?} {scores:?} {piece:?}", case.tokens);
            failed += usize::from(expected.is_none());
        }
    }
    assert!(failed > 100, "{failed}");
}

#[test]
fn a_unigram_from_the_end_refuses_what_it_has_no_rule_for() {
    let model = |options: &str, score: f64| WordModel::new(options, &[b"a"], &[0], None, Some(&[score]));
    let usual = r#"{"type":"Unigram","from_end":true}"#;
    assert!(model(usual, -999.0).is_ok());
    let error = model(usual, -1000.0).err().unwrap().to_string();
    assert!(error.contains("the score -1000") && error.contains("above -1000"), "{error}");
    for more in [r#""unk_score":-3"#, r#""unk_id":0,"unlisted":{"b":-1}"#] {
        assert!(model(&usual.replace('}', &format!(",{more}}}")), 0.0).is_err());
    }
}

/// All ways to spell a piece and their weights, without fusing.
fn ways(case: &Case, scores: &[f64], piece: &str, start: usize) -> Vec<(Vec<u32>, f64)> {
    let Some(character) = piece[start..].chars().next() else { return vec![(Vec::new(), 0.0)] };
    let score_of = |id: u32| scores[case.ids.iter().position(|&other| other == id).unwrap()];
    let mut first: Vec<(usize, u32, f64)> = (start + 1..=piece.len())
        .filter(|&end| piece.is_char_boundary(end))
        .filter_map(|end| case.id_of.get(&piece[start..end]).map(|&id| (end, id, score_of(id))))
        .collect();
    let next = start + character.len_utf8();
    if !first.iter().any(|way| way.0 == next) {
        first.push((next, case.id_of["<unk>"], scores.iter().copied().fold(f64::INFINITY, f64::min) - 10.0));
    }
    let mut all = Vec::new();
    for (end, id, score) in first {
        for (rest, sum) in ways(case, scores, piece, end) {
            all.push(([vec![id], rest].concat(), score + sum));
        }
    }
    all
}

#[test]
fn samples_come_as_often_as_they_are_probable() {
    let tokens = ["<unk>", "a", "b", "ab", "ba", "aba", "é"].map(str::to_owned).to_vec();
    let case = Case::new(tokens, &mut Random::new(3));
    let scores: Vec<f64> = case.tokens.iter().map(|token| -1.0 - 0.7 * f64::from(token.len() as u32)).collect();
    let options = format!(r#"{{"type":"Unigram","unk_id":{}}}"#, case.id_of["<unk>"]);
    let model = case.model(&options, None, Some(&scores)).unwrap();
    let random = &mut Random::new(0x5A3);
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    for (piece, alpha) in [("ababa", 1.0), ("abaéb", 0.2), ("abab", 0.0), ("aba中ba", 3.0)] {
        let all = ways(&case, &scores, piece, 0);
        let whole: f64 = all.iter().map(|(_, sum)| (alpha * sum).exp()).sum();
        let mut counts: HashMap<Vec<u32>, f64> = HashMap::new();
        let draws = 20_000;
        for _ in 0..draws {
            out.clear();
            model.sample(piece, alpha, random, &mut scratch, &mut out).unwrap();
            *counts.entry(out.iter().map(|token| token.id).collect()).or_default() += 1.0;
        }
        assert!(counts.len() <= all.len());
        for (ids, sum) in &all {
            let expected = f64::from(draws) * (alpha * sum).exp() / whole;
            let found = counts.get(ids).copied().unwrap_or(0.0);
            assert!((found - expected).abs() < 5.0 * expected.sqrt() + 5.0, "{piece} {ids:?}: {found}, not {expected}");
        }
    }
    out.clear();
    let random = &mut Random::new(0x5A3);
    model.sample("ababa", 1000.0, random, &mut scratch, &mut out).unwrap();
    let best = std::mem::take(&mut out);
    model.encode("ababa", &mut scratch, &mut out).unwrap();
    assert_eq!(best.len(), out.len());
}

#[test]
fn samples_cover_the_piece_whatever_the_vocabulary() {
    let random = &mut Random::new(0x0FF);
    for _ in 0..1500 {
        let (_, _, unk, fallback, _, _, model) = random_unigram(random);
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        for _ in 0..5 {
            let piece = word(random, LETTERS.len(), 12);
            out.clear();
            let alpha = random.fraction() * 2.0;
            if model.sample(&piece, alpha, random, &mut scratch, &mut out).is_err() {
                assert!(unk.is_none() && model.encode(&piece, &mut scratch, &mut Vec::new()).is_err());
                continue;
            }
            let mut places: Vec<(u32, u32)> = out.iter().map(|token| (token.start, token.end)).collect();
            if fallback {
                places.dedup();
            }
            let mut at = 0;
            for (start, end) in places {
                assert_eq!(start, at);
                at = end;
            }
            assert_eq!(at as usize, piece.len());
        }
    }
}

#[test]
fn word_level_knows_whole_pieces() {
    let case = Case::new(["<unk>", "a", "the", "é"].map(str::to_owned).to_vec(), &mut Random::new(9));
    let model = case.model(r#"{"type":"WordLevel","unk_token":"<unk>"}"#, None, None).unwrap();
    let mut out = Vec::new();
    for piece in ["the", "th", "é", "", "a"] {
        model.encode(piece, &mut Scratch::default(), &mut out).unwrap();
        let id = case.id_of.get(piece).unwrap_or(&case.id_of["<unk>"]);
        assert_eq!(triples(&out), [(*id, 0, piece.len())]);
        out.clear();
    }
    let strict = case.model(r#"{"type":"WordLevel","unk_token":null}"#, None, None).unwrap();
    let error = strict.encode("x", &mut Scratch::default(), &mut out).err().unwrap();
    assert_eq!((error.kind, error.byte), (Kind::Encode, Some(0)));
}

#[test]
fn tokens_are_found_by_id_and_by_text() {
    let random = &mut Random::new(0x1D);
    for _ in 0..300 {
        let words = (0..below(random, 50)).map(|_| word(random, 8, 5)).chain(["<unk>".to_owned()]);
        let case = Case::new(words.collect(), random);
        let model = case.model(r#"{"type":"WordLevel","unk_token":"<unk>"}"#, None, None).unwrap();
        assert_eq!((model.len(), model.ids()), (case.tokens.len(), &case.ids[..]));
        for id in 0..*case.ids.last().unwrap() + 3 {
            let known = case.ids.iter().position(|&other| other == id).map(|at| case.tokens[at].as_str());
            assert_eq!(model.token(id), known);
            assert_eq!(known.and_then(|token| model.token_id(token)), known.map(|_| id));
        }
        assert_eq!(model.token_id("nothing"), None);
    }
}

#[test]
fn tries_hold_what_they_were_given() {
    let random = &mut Random::new(0x781E);
    for round in 0..300 {
        let letters = [2, 30, 256][below(random, 3)];
        let mut strings: Vec<Vec<u8>> = (0..below(random, 400))
            .map(|_| (0..below(random, 9)).map(|_| below(random, letters) as u8).collect())
            .collect();
        strings.sort();
        strings.dedup();
        let trie = trie::Trie::new(strings.iter().map(Vec::as_slice).zip(0..)).unwrap();
        let get = |text: &[u8]| text.iter().try_fold(trie.root(), |node, &byte| trie.next(node, byte))?.value();
        for (text, value) in strings.iter().zip(0..) {
            assert_eq!(get(text), Some(value), "round {round}");
        }
        for _ in 0..300 {
            let text: Vec<u8> = (0..below(random, 9)).map(|_| below(random, letters) as u8).collect();
            assert_eq!(get(&text), strings.binary_search(&text).ok().map(|at| at as u32), "round {round}");
        }
        let bytes: usize = strings.iter().map(Vec::len).sum();
        assert!(trie.places() <= 8 * bytes + 17 * 256, "{} places for {bytes} bytes", trie.places());
    }
}

#[test]
fn dropout_goes_from_all_merges_to_none() {
    let tokens = ["a", "b", "c", "ab", "bc", "abc", "abcabc"].map(str::to_owned).to_vec();
    let case = Case { ids: (0..7).collect(), id_of: tokens.iter().cloned().zip(0..).collect(), tokens };
    let pairs = [(0, 1), (1, 2), (3, 2), (0, 4), (5, 5)];
    let model = case.model(r#"{"type":"BPE"}"#, Some(&pairs), None).unwrap();
    let bytes: Vec<&[u8]> = case.tokens.iter().map(String::as_bytes).collect();
    let merges = crate::vocab::Semantics::Merges { pairs: pairs.to_vec(), ignore_merges: false };
    let vocab = crate::Vocab::new(&bytes, &case.ids, merges).unwrap();
    let (random, mut scratch) = (&mut Random::new(5), Scratch::default());
    let mut run = |dropout: f64| {
        let mut out = Vec::new();
        model.encode_with_dropout("abcabc", dropout, random, &mut scratch, &mut out).unwrap();
        assert_eq!(out.last().unwrap().end, 6);
        out.iter().map(|token| token.id).collect::<Vec<_>>()
    };
    assert_eq!((run(0.0), run(1.0)), (vec![6], vec![0, 1, 2, 0, 1, 2]));
    let mut seen: std::collections::HashSet<Vec<u32>> = (0..500).map(|_| run(0.5)).collect();
    assert!(seen.remove(&vec![6]) && seen.remove(&vec![3, 2, 0, 4]) && seen.len() > 4, "{seen:?}");
    for dropout in [0.0, 1.0] {
        let mut ids = Vec::new();
        encode_bytes_with_dropout(&vocab, b"abcabc", dropout, random, &mut ids).unwrap();
        assert_eq!(ids, run_of(&model, dropout));
    }
    for wrong in [-0.1, 1.1, f64::NAN] {
        assert!(encode_bytes_with_dropout(&vocab, b"a", wrong, random, &mut Vec::new()).is_err());
        let result = model.encode_with_dropout("a", wrong, random, &mut Scratch::default(), &mut Vec::new());
        assert_eq!(result.err().unwrap().kind, Kind::Encode);
    }
}

fn run_of(model: &WordModel, dropout: f64) -> Vec<u32> {
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    model.encode_with_dropout("abcabc", dropout, &mut Random::new(5), &mut scratch, &mut out).unwrap();
    out.iter().map(|token| token.id).collect()
}

#[test]
fn the_first_merge_of_three_is_passed_over_as_often_as_asked() {
    // With "aa" alone one pair is in the queue: it merges unless it is passed over.
    let tokens = ["a", "aa"].map(str::to_owned).to_vec();
    let case = Case { ids: vec![0, 1], id_of: tokens.iter().cloned().zip(0..).collect(), tokens };
    let model = case.model(r#"{"type":"BPE"}"#, Some(&[(0, 0)]), None).unwrap();
    let (random, mut scratch, mut kept) = (&mut Random::new(77), Scratch::default(), 0_u32);
    for _ in 0..20_000 {
        let mut out = Vec::new();
        model.encode_with_dropout("aa", 0.3, random, &mut scratch, &mut out).unwrap();
        kept += u32::from(out.len() == 1);
    }
    assert!((13_700..14_300).contains(&kept), "{kept}");
}

#[test]
fn on_bytes_is_on_characters() {
    let random = &mut Random::new(0x0B17);
    let (mut proper, mut improper, mut hazards, mut left) = (0, 0, 0, 0);
    for round in 0..2500 {
        let known = 1 + below(random, LETTERS.len());
        let mut tokens: Vec<String> = (0..256).map(|byte| format!("<0x{byte:02X}>")).collect();
        tokens.push("<unk>".to_owned());
        tokens.extend(LETTERS[..known].iter().map(|&letter| letter.to_owned()));
        tokens.extend(["▂", "è", "丮"].into_iter().filter(|_| below(random, 3) == 0).map(str::to_owned));
        let first = 257;
        let mut merges: Vec<(String, String)> = Vec::new();
        for _ in 0..below(random, 30) {
            let pick = |random: &mut Random| first + below(random, tokens.len() - first);
            let (left, right) = (tokens[pick(random)].clone(), tokens[pick(random)].clone());
            if left.len() + right.len() < 40 {
                tokens.push(format!("{left}{right}"));
                merges.push((left, right));
            }
        }
        match below(random, 4) {
            0 => {
                for at in 1..merges.len() {
                    merges.swap(at, below(random, at + 1));
                }
            }
            // All cuts of all tokens, as files that were SentencePiece models have them.
            1 => {
                let known: std::collections::HashSet<&String> = tokens.iter().collect();
                merges.clear();
                for token in &tokens[first..] {
                    for (at, _) in token.char_indices().skip(1) {
                        let (left, right) = (token[..at].to_owned(), token[at..].to_owned());
                        if known.contains(&left)
                            && known.contains(&right)
                            && !merges.contains(&(left.clone(), right.clone()))
                        {
                            merges.push((left, right));
                        }
                    }
                }
            }
            _ => {}
        }
        let case = Case::new(tokens, random);
        let id = |text: &String| case.id_of[text];
        let pairs: Vec<(u32, u32)> = merges.iter().map(|(left, right)| (id(left), id(right))).collect();
        let model =
            case.model(r#"{"type":"BPE","unk_token":"<unk>","byte_fallback":true}"#, Some(&pairs), None).unwrap();
        let bytes: Vec<&[u8]> = case.tokens.iter().map(String::as_bytes).collect();
        let on_bytes = OnBytes::new(&bytes, &case.ids, &pairs).unwrap().unwrap();
        assert_eq!(model.on_bytes().unwrap().unwrap().vocab.is_proper(), on_bytes.vocab.is_proper());
        assert_eq!(model.walls('▁'), Some(on_bytes.walls('▁')));
        *(if on_bytes.vocab.is_proper() { &mut proper } else { &mut improper }) += 1;
        let (mut scratch, mut merging) = (Scratch::default(), crate::merge::Scratch::default());
        for _ in 0..15 {
            let longest = [5, 20, 60][below(random, 3)];
            let mut piece: String = word(random, LETTERS.len(), longest);
            if below(random, 3) == 0 {
                piece.extend(["▂", "▃é", "è", "\u{7FF}", "😁a", "<0x0A>"][below(random, 6)..].iter().copied());
            }
            if below(random, 4) == 0 {
                let texts = case.tokens.iter().filter(|token| !token.starts_with("<0x")).collect::<Vec<_>>();
                piece = (0..=below(random, 3)).map(|_| texts[below(random, texts.len())].as_str()).collect();
            }
            let mut out = Vec::new();
            model.encode(&piece, &mut scratch, &mut out).unwrap();
            let expected: Vec<u32> = out.iter().map(|token| token.id).collect();
            let mut ids = vec![7];
            crate::merge::encode(&on_bytes.vocab, piece.as_bytes(), &mut merging, &mut ids).unwrap();
            hazards += usize::from(on_bytes.has_hazards());
            if on_bytes.can_encode(&piece) {
                assert_eq!(ids[1..], expected, "round {round} {merges:?} {piece:?}");
            } else {
                left += 1;
            }
            // Cut where walls say so.
            let walls = on_bytes.walls('▁');
            let mut cut = Vec::new();
            let mut start = 0;
            for (at, _) in piece.match_indices('▁') {
                if piece[..at].chars().next_back().is_some_and(|before| walls.binary_search(&before).is_err()) {
                    model.encode(&piece[start..at], &mut scratch, &mut cut).unwrap();
                    start = at;
                }
            }
            model.encode(&piece[start..], &mut scratch, &mut cut).unwrap();
            assert_eq!(cut.iter().map(|token| token.id).collect::<Vec<_>>(), expected, "round {round} cut {piece:?}");
        }
    }
    let counted = (proper, improper, hazards, left);
    assert!(proper > 300 && improper > 300 && left > 200 && hazards > 2 * left, "{counted:?}");
}

#[test]
fn bytes_refuse_what_they_could_not_do() {
    let mut tokens: Vec<String> = (0..256).map(|byte| format!("<0x{byte:02X}>")).collect();
    tokens.extend(["a", "<0x4", "1>", "a<0x41>"].map(str::to_owned));
    let of = |tokens: &[String], pairs: &[(u32, u32)]| {
        let bytes: Vec<&[u8]> = tokens.iter().map(String::as_bytes).collect();
        OnBytes::new(&bytes, &(0..tokens.len() as u32).collect::<Vec<_>>(), pairs).map(|found| found.is_some())
    };
    assert_eq!(of(&tokens, &[]), Ok(true));
    assert_eq!(of(&tokens, &[(257, 258)]), Ok(false));
    assert_eq!(of(&tokens, &[(256, 0x41)]), Ok(false));
    assert_eq!(of(&tokens[1..], &[]), Ok(false));
    assert!(of(&tokens, &[(256, 999)]).is_err());
}

#[test]
fn faults_are_named() {
    let what = |options: &str, tokens: &[&str], ids: &[u32], pairs: Option<&[(u32, u32)]>, scores: Option<&[f64]>| {
        let tokens: Vec<&[u8]> = tokens.iter().map(|token| token.as_bytes()).collect();
        let error = WordModel::new(options, &tokens, ids, pairs, scores).err().unwrap();
        assert_eq!(error.kind, Kind::Format);
        error.what.clone()
    };
    let level = r#"{"type":"WordLevel"}"#;
    assert!(what(level, &["a", "a"], &[0, 1], None, None).contains("\"a\" has two ids, 0 and 1"));
    assert!(what(level, &["a", "b"], &[4, 4], None, None).contains("id 4 occurs twice"));
    assert!(what(level, &["a", "b"], &[4, 3], None, None).contains("id 3 does not ascend"));
    assert!(what(level, &["a"], &[u32::MAX], None, None).contains("too large"));
    assert!(what(level, &["a"], &[0, 1], None, None).contains("1 tokens and 2 ids"));
    assert!(what(level, &[], &[], None, None).contains("no tokens"));
    assert!(what(r#"{"type":"WordLevel","unk_token":"?"}"#, &["a"], &[0], None, None).contains("\"?\""));
    assert!(what(r#"{"type":"WordLevel","dropout":0.1}"#, &["a"], &[0], None, None).contains("no option \"dropout\""));
    assert!(what(r#"{"type":"WordLevel","unk_token":3}"#, &["a"], &[0], None, None).contains("is 3"));
    assert!(what(r#"{"type":"Word"}"#, &["a"], &[0], None, None).contains("no type of model"));
    assert!(what("[]", &["a"], &[0], None, None).contains("not an object"));
    assert!(what("{", &["a"], &[0], None, None).contains("not JSON"));
    let bpe = r#"{"type":"BPE"}"#;
    assert!(what(bpe, &["a"], &[0], None, None).contains("needs merges"));
    assert!(what(bpe, &["a", "b"], &[0, 1], Some(&[(0, 9)]), None).contains("names id 9"));
    assert!(what(bpe, &["a", "b"], &[0, 1], Some(&[(0, 1)]), None).contains("\"ab\", which is not a token"));
    assert!(what(bpe, &["a", ""], &[0, 1], Some(&[(0, 1)]), None).contains("adds nothing"));
    let prefixed = r###"{"type":"BPE","continuing_subword_prefix":"##"}"###;
    assert!(what(prefixed, &["a", "b"], &[0, 1], Some(&[(0, 1)]), None).contains("adds nothing"));
    let unigram = r#"{"type":"Unigram","unk_id":1}"#;
    assert!(what(unigram, &["a"], &[0], None, Some(&[0.0])).contains("unk_id is 1"));
    assert!(what(unigram, &["a", "b"], &[0, 1], None, Some(&[0.0, f64::NAN])).contains("score of \"b\" is NaN"));
    assert!(what(unigram, &["a", "b"], &[0, 1], None, Some(&[0.0])).contains("1 scores"));
    let not_utf8 = WordModel::new(level, &[b"\xFF"], &[0], None, None).err().unwrap();
    assert!(not_utf8.what.contains("not UTF-8"));
}
