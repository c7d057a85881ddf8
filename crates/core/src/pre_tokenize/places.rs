//! Proof by exhaustion that each step does what it says at a place, alone and behind others, and that walls are found
//! where tokenizers in use have words.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::split::names;

/// Letters of three scripts, one of which ends contractions, a number, punctuation, white space, marks, and a
/// delimiter.
const CHARACTERS: [char; 12] = ['a', 's', 'я', '中', '1', '-', '\'', ' ', '\t', '▁', '\u{301}', 'x'];

const BEHAVIORS: [&str; 5] = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"];

const CLIP: &str = r"'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";

fn step(stated: &str) -> PreTokenizer {
    PreTokenizer::parse(stated).unwrap()
}

fn byte_level(prefix: bool, regex: bool) -> String {
    format!(r#"{{"type":"ByteLevel","add_prefix_space":{prefix},"trim_offsets":true,"use_regex":{regex}}}"#)
}

fn metaspace(mark: char, scheme: &str, split: bool) -> String {
    format!(r#"{{"type":"Metaspace","replacement":"{mark}","prepend_scheme":"{scheme}","split":{split}}}"#)
}

fn split(pattern: &str, behavior: &str, invert: bool) -> String {
    format!(r#"{{"type":"Split","pattern":{{{pattern}}},"behavior":"{behavior}","invert":{invert}}}"#)
}

/// Every step with each of its options.
fn all() -> Vec<String> {
    let names = ["Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts"];
    let mut stated: Vec<String> = names.map(str::to_owned).to_vec();
    for one in [false, true] {
        stated.push(format!(r#"{{"type":"Digits","individual_digits":{one}}}"#));
        stated.push(format!(r#"{{"type":"FixedLength","length":{}}}"#, 1 + u8::from(one)));
        stated.push(format!(r#"{{"type":"CharDelimiterSplit","delimiter":"{}"}}"#, if one { 'x' } else { '中' }));
        for other in [false, true] {
            stated.push(byte_level(one, other));
        }
        for mark in ['▁', ' ', 'x'] {
            stated.extend(["first", "never", "always"].map(|scheme| metaspace(mark, scheme, one)));
        }
    }
    for behavior in BEHAVIORS {
        stated.push(format!(r#"{{"type":"Punctuation","behavior":"{behavior}"}}"#));
        for invert in [false, true] {
            stated.extend(
                ["", " ", "-", "a-", "aa", "a1a"].map(|text| split(&format!(r#""String":"{text}""#), behavior, invert)),
            );
            let patterns = [CLIP, r"\\s+", "[as]+|1", r"\\p{N}{1,3}", r"1|\\s+(?!\\S)", "1(?:as)?", "x*", r"\\bx|a"];
            stated.extend(patterns.map(|regex| split(&format!(r#""Regex":"{regex}""#), behavior, invert)));
        }
    }
    stated
}

/// The pieces of a text, each with an end.
fn pieces(steps: &[PreTokenizer], text: &str, at_start: bool) -> String {
    let mut made = PreTokenized::new(Aligned::plain(text));
    for step in steps {
        step.apply(&mut made, at_start).unwrap();
    }
    made.texts().flat_map(|piece| [piece, "|"]).collect()
}

/// The pieces of a text and of its two parts.
struct Cut<'t> {
    whole: &'t str,
    left: &'t str,
    right: &'t str,
    /// Whether neither part of the text is empty.
    has_both: bool,
}

impl Cut<'_> {
    fn is_apart(&self) -> bool {
        self.whole.strip_prefix(self.left) == Some(self.right)
    }

    fn is_one(&self) -> bool {
        let left = self.left.strip_suffix('|');
        !self.right.is_empty() && left.is_some_and(|left| self.whole.strip_prefix(left) == Some(self.right))
    }

    /// Whether the answer is true here.
    fn agrees(&self, effect: Between) -> bool {
        match effect {
            Between::Unknown => true,
            Between::Wall => self.is_apart(),
            Between::Inside { joined: true, .. } if self.has_both && !self.is_one() => false,
            Between::Inside { left, right, .. } => {
                let end = self.left.strip_suffix('|').and_then(|left| left.chars().next_back());
                self.is_apart()
                    || self.is_one() && left.is_none_or(|left| end == Some(left)) && self.right.starts_with(right)
            }
        }
    }
}

/// How long the texts are that prove a step: five characters with `BYTEPAIR_WHOLE`.
fn longest() -> usize {
    if std::env::var_os("BYTEPAIR_WHOLE").is_some() { 5 } else { 4 }
}

/// How many texts of a length there are.
fn count(length: usize) -> usize {
    CHARACTERS.len().pow(length as u32)
}

/// One of the texts of a length.
fn text(number: usize, length: usize) -> String {
    (0..length).map(|place| CHARACTERS[number / count(place) % CHARACTERS.len()]).collect()
}

#[test]
fn each_step_does_what_it_says_at_each_place_of_all_short_texts() {
    let texts: Vec<Vec<String>> =
        (0..=longest()).map(|length| (0..count(length)).map(|number| text(number, length)).collect()).collect();
    for stated in all() {
        let step = [step(&stated)];
        let cut = |at_start| -> Vec<Vec<String>> {
            texts.iter().map(|texts| texts.iter().map(|text| pieces(&step, text, at_start)).collect()).collect()
        };
        let inside = cut(false);
        let minds_start = matches!(&step[0].0, Step::Metaspace(metaspace) if metaspace.is_first());
        let started = minds_start.then(|| cut(true));
        let effects: Vec<[Between; 2]> = (0..count(2))
            .map(|pair| {
                let right = CHARACTERS[pair / CHARACTERS.len()];
                [step[0].between(Some(CHARACTERS[pair % CHARACTERS.len()]), right), step[0].between(None, right)]
            })
            .collect();
        for length in 1..=longest() {
            for number in 0..count(length) {
                for place in 0..=length {
                    let power = count(place);
                    let (before, behind) = (number % power, number / power);
                    for left_part in [Some(&inside), started.as_ref()].into_iter().flatten() {
                        let left_part = if place == 0 { &inside } else { left_part };
                        let cut = Cut {
                            whole: &left_part[length][number],
                            left: &left_part[place][before],
                            right: &inside[length - place][behind],
                            has_both: place > 0 && place < length,
                        };
                        let message = || format!("{stated} {:?} at {place}: {}", texts[length][number], cut.whole);
                        for next in 0..CHARACTERS.len() {
                            // Where the right part is empty, the next character could be any.
                            let right = if place < length { behind % CHARACTERS.len() } else { next };
                            let last = if place > 0 { before / (power / CHARACTERS.len()) } else { next };
                            let [known, unknown] = effects[last + right * CHARACTERS.len()];
                            assert!(cut.agrees(unknown), "{unknown:?} {}", message());
                            assert!(place == 0 || cut.agrees(known), "{known:?} {}", message());
                            if place < length && place > 0 {
                                break;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Checks each place of a text at which two characters are said to be in one piece; returns how many there are.
fn check_joined(steps: &[PreTokenizer], text: &str) -> usize {
    let mut made = PreTokenized::new(Aligned::traced(text).unwrap());
    for step in steps {
        step.apply(&mut made, true).unwrap();
    }
    let characters: Vec<char> = text.chars().collect();
    let mut found = 0;
    for (number, (place, right)) in text.char_indices().enumerate().skip(1) {
        for from in [number - 1, number.saturating_sub(2), 0] {
            if joins(steps, &[], &characters[from..number], right) {
                found += 1;
                let originals = (0..made.pieces.len()).filter_map(|piece| made.original(piece));
                let is_one = originals.into_iter().any(|piece| piece.start < place && place < piece.end);
                assert!(is_one, "{steps:?} {text:?} at {place}: {}", pieces(steps, text, true));
            }
        }
    }
    found
}

/// Checks the spelling of two characters that a step is said to leave in one piece, with others around them.
fn check_spelling(step: &PreTokenizer, left: char, right: char) {
    if let Some((spelled_left, spelled_right)) = step.joins(&[left], right) {
        let spelled = String::from_iter([spelled_left, spelled_right]);
        for around in CHARACTERS {
            let text = String::from_iter([around, left, right, around]);
            let mut made = PreTokenized::new(Aligned::plain(text.as_str()));
            step.apply(&mut made, true).unwrap();
            assert!(made.texts().any(|piece| piece.contains(&spelled)), "{step:?} {text:?} {spelled:?}");
        }
    }
}

#[test]
fn characters_that_a_step_is_said_to_join_are_in_one_piece_in_all_short_texts() {
    for stated in all() {
        let step = [step(&stated)];
        let mut found = 0;
        for length in 2..longest() {
            found += (0..count(length)).map(|number| check_joined(&step, &text(number, length))).sum::<usize>();
        }
        for pair in 0..count(2) {
            check_spelling(&step[0], CHARACTERS[pair % CHARACTERS.len()], CHARACTERS[pair / CHARACTERS.len()]);
        }
        let is_uncertain = ["FixedLength", r#""String":"""#, "x*", r"\\bx"].iter().any(|of| stated.contains(of));
        assert!(found == 0 || !is_uncertain, "{stated}");
        // Where only matches are left, those of several characters may not be certain.
        let leaves_matches = stated.contains(r#""Removed","invert":true"#);
        assert!(found > 0 || is_uncertain || leaves_matches, "{stated}");
    }
}

/// The effect of some steps at a place, as a caller finds it: the first wall decides.
fn of_steps(steps: &[PreTokenizer], left: Option<char>, right: char) -> Between {
    let mut now = Between::Inside { left, right, joined: true };
    for step in steps {
        let Between::Inside { left, right, joined } = now else { break };
        now = match step.between(left, right) {
            Between::Inside { left, right, joined: here } => Between::Inside { left, right, joined: here && joined },
            decided => decided,
        };
    }
    now
}

#[test]
fn steps_in_a_row_do_what_they_say_together() {
    let all: Vec<PreTokenizer> = all().iter().map(|stated| step(stated)).collect();
    let mut seed = 7_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    let mut decided = [0_usize; 3];
    for round in 0..2_000 {
        let steps: Vec<PreTokenizer> = (0..2 + round % 2).map(|_| all[random(all.len())].clone()).collect();
        for _ in 0..12 {
            let text: String = (0..=random(8)).map(|_| CHARACTERS[random(CHARACTERS.len())]).collect();
            check_joined(&steps, &text);
            let whole = [false, true].map(|at_start| pieces(&steps, &text, at_start));
            for (place, right) in text.char_indices() {
                let (before, behind) = text.split_at(place);
                let last = before.chars().next_back();
                let right_pieces = pieces(&steps, behind, false);
                for at_start in [false, true].into_iter().take(1 + usize::from(place > 0)) {
                    let left_pieces = pieces(&steps, before, at_start);
                    let cut = Cut {
                        whole: &whole[usize::from(at_start)],
                        left: &left_pieces,
                        right: &right_pieces,
                        has_both: place > 0,
                    };
                    for left in [last, None] {
                        let effect = of_steps(&steps, left, right);
                        let message = || format!("{steps:?} {text:?} at {place}: {effect:?} {}", cut.whole);
                        assert!(cut.agrees(effect), "round {round} {}", message());
                        decided[match effect {
                            Between::Wall => 0,
                            Between::Inside { .. } => 1,
                            Between::Unknown => 2,
                        }] += 1;
                    }
                }
            }
        }
    }
    assert!(decided.iter().all(|&count| count > 10_000), "{decided:?}");
}

#[test]
fn tokenizers_in_use_have_walls_at_words_and_one_piece_within() {
    let gpt2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
    let regex = |text: &str, behavior, invert| split(&format!(r#""Regex":"{text}""#), behavior, invert);
    let punctuation = r#"{"type":"Punctuation","behavior":"Isolated"}"#.to_owned();
    let digits = r#"{"type":"Digits","individual_digits":true}"#.to_owned();
    let deepseek = [r"\\p{N}{1,3}", "[一-龥]+", gpt2].map(|text| regex(text, "Isolated", false));
    // Steps, and what divides two words in the text that they get.
    let pipelines: [(&str, Vec<String>, &str); 12] = [
        ("BERT", vec!["BertPreTokenizer".into()], " "),
        ("T5", vec!["WhitespaceSplit".into(), metaspace('▁', "always", true)], " "),
        ("Metaspace", vec![metaspace('▁', "always", true)], " "),
        ("Metaspace, first", vec![metaspace('▁', "first", true)], " "),
        ("CLIP", vec![regex(CLIP, "Removed", true), byte_level(false, false)], " "),
        ("GPT-2", vec![byte_level(false, true)], " "),
        ("RoBERTa", vec![byte_level(true, true)], " "),
        ("StarCoder", vec![digits.clone(), byte_level(false, true)], " "),
        ("DeepSeek", deepseek.into_iter().chain([byte_level(false, false)]).collect(), " "),
        ("Whitespace", vec!["Whitespace".into()], " "),
        ("kinds", vec!["Whitespace".into(), punctuation, digits], " "),
        ("scripts", vec!["UnicodeScripts".into()], "мир"),
    ];
    for (name, stated, between) in pipelines {
        let steps: Vec<PreTokenizer> = stated.iter().map(|stated| step(stated)).collect();
        for left in 'a'..='z' {
            for right in between.chars().take(1) {
                assert_eq!(of_steps(&steps, Some(left), right), Between::Wall, "{name} {left:?}");
            }
            for right in 'a'..='z' {
                assert!(joins(&steps, &[], &['x', 'y', left], right), "{name} {left:?} {right:?}");
            }
        }
        assert!(joins(&steps, &[], &['日'], '本'), "{name}");
    }
    let gemma = [step(&split(r#""String":" ""#, "MergedWithPrevious", false))];
    for (left, right) in [('▁', '▁'), ('a', '▁'), ('▁', 'b'), ('a', '\n')] {
        let inside = Between::Inside { left: Some(left), right, joined: true };
        assert_eq!(of_steps(&gemma, Some(left), right), inside);
    }
    assert_eq!(of_steps(&gemma, Some(' '), 'a'), Between::Wall);
    let bert = [step("BertPreTokenizer")];
    for (left, right) in [('a', '-'), ('-', 'a'), (' ', 'a'), ('a', '\t'), ('-', '-')] {
        assert_eq!(of_steps(&bert, Some(left), right), Between::Wall);
    }
    assert_eq!(of_steps(&bert, None, '-'), Between::Wall);
}

#[test]
fn patterns_behind_steps_join_what_all_of_them_join() {
    let patterns = [r"\p{N}{1,3}", names::GPT2].map(|text| Pattern::new(text).unwrap());
    let metaspace = [step(&metaspace('▁', "always", true))];
    for steps in [&[][..], &metaspace] {
        assert!(joins(steps, &patterns, &['t', 'e', 's'], 't') && joins(steps, &patterns, &['日'], '本'));
        for (left, right) in [(&['s'][..], 't'), (&['1', '1'], '1'), (&['a', 'b'], ' '), (&[], 'a')] {
            assert!(!joins(steps, &patterns, left, right), "{left:?} {right:?}");
        }
    }
}
