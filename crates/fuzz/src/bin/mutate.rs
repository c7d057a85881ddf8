//! A target without coverage: `mutate TARGET SECONDS SEED MAX_LEN FAILURE FOLDER...` prints how many inputs it ran.
//!
//! Inputs are mutations of those in the folders, which coverage found: many more a second than libFuzzer runs. Only
//! those that are the target's are counted. A panic, or an input that takes ten seconds, ends the run, with the input
//! in the file `FAILURE`.

use std::ops::Range;
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// Texts that are put into inputs: signs of the formats, letters of few scripts, marks, and characters of four bytes.
const PUT: [&str; 44] = [
    "\0", "\n", "\r\n", " ", "  ", "\t", "\"", "\\", "{", "}", "[", "]", ":", ",", "'", "'s", "a", "b", "A", "Z", "0",
    "1", "256", "-", ".", "e", "é", "ß", "İ", "日", "本", "の", "한", "ा", "\u{301}", "\u{200D}", "\u{FE0F}", "\u{85}",
    "😀", "𝒳", "▁", "##", "<unk>", "\u{AC}",
];

/// So many mutations of an input in turn differ behind one place: what a target makes of the beginning is made once.
const MUTATIONS: u64 = 256;

/// An input that takes longer is a failure.
const HANG: Duration = Duration::from_secs(10);

/// Random numbers: `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// A place of an input that is not in front of `from`: as a rule, where a character starts.
    fn place(&mut self, input: &[u8], from: usize) -> usize {
        let from = from.min(input.len());
        let mut at = from + self.below(input.len() + 1 - from);
        if self.below(8) > 0 {
            while at > from && input.get(at).is_some_and(|byte| byte & 0xC0 == 0x80) {
                at -= 1;
            }
        }
        at
    }

    fn range(&mut self, input: &[u8], from: usize) -> Range<usize> {
        let (one, other) = (self.place(input, from), self.place(input, from));
        let start = one.min(other);
        // As a rule a short one.
        let longest = if self.below(4) > 0 { start + 8 } else { input.len() };
        let mut end = one.max(other).min(longest);
        while end > start && input.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
            end -= 1;
        }
        start..end
    }
}

/// Mutates an input up to four times, not in front of `from`; `inputs` are what parts of others are copied from.
fn mutate(input: &mut Vec<u8>, from: usize, inputs: &[Vec<u8>], random: &mut Random) {
    for _ in 0..=random.below(4) {
        mutate_once(input, from, inputs, random);
    }
}

fn mutate_once(input: &mut Vec<u8>, from: usize, inputs: &[Vec<u8>], random: &mut Random) {
    let at = random.place(input, from);
    match random.below(8) {
        0 if at < input.len() => input[at] ^= 1 << random.below(8),
        1 if at < input.len() => input[at] = random.next() as u8,
        2 => drop(input.drain(random.range(input, from))),
        3 => {
            let copied = input[random.range(input, from)].to_vec();
            input.splice(at..at, copied);
        }
        4 => {
            let other = &inputs[random.below(inputs.len())];
            let copied = other[random.range(other, 0)].to_vec();
            input.splice(at..at, copied);
        }
        5 => {
            let range = random.range(input, from);
            input.splice(range, PUT[random.below(PUT.len())].bytes());
        }
        _ => drop(input.splice(at..at, PUT[random.below(PUT.len())].bytes())),
    }
}

/// The inputs of the folders that are not too long, and an empty one.
fn read(folders: impl Iterator<Item = String>, longest: usize) -> Vec<Vec<u8>> {
    let mut inputs = vec![Vec::new()];
    for folder in folders {
        let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
        inputs.extend(files.map(|file| fs::read(file.unwrap().path()).unwrap()).filter(|input| input.len() <= longest));
    }
    inputs
}

fn main() {
    let mut arguments = env::args().skip(1);
    let mut argument = |name: &str| arguments.next().unwrap_or_else(|| panic!("there is no {name}"));
    let target = bytepair_fuzz::target(&argument("target"));
    let time = Duration::from_secs(argument("number of seconds").parse().unwrap());
    let mut random = Random(argument("seed").parse().unwrap());
    let longest: usize = argument("greatest length").parse().unwrap();
    let failure = argument("file for a failure");
    let inputs = read(arguments, longest);

    let current = Arc::new(Mutex::new(Vec::new()));
    let runs = Arc::new(AtomicU64::new(0));
    let keep = {
        let current = Arc::clone(&current);
        move || fs::write(&failure, &*current.lock().unwrap_or_else(PoisonError::into_inner))
    };
    thread::spawn({
        let (runs, keep) = (Arc::clone(&runs), keep.clone());
        move || {
            let mut before = u64::MAX;
            loop {
                let now = runs.load(Ordering::Relaxed);
                if now == before {
                    let kept = keep();
                    eprintln!("an input took longer than {HANG:?}; written: {kept:?}");
                    exit(1);
                }
                before = now;
                thread::sleep(HANG);
            }
        }
    });
    let printed = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        printed(panic);
        eprintln!("the input is written: {:?}", keep());
        exit(1);
    }));

    let (start, mut counted) = (Instant::now(), 0_u64);
    while start.elapsed() < time {
        let mut first = inputs[random.below(inputs.len())].clone();
        mutate(&mut first, 0, &inputs, &mut random);
        let from = random.below(first.len() + 1);
        for _ in 0..MUTATIONS {
            let mut input = first.clone();
            mutate(&mut input, from, &inputs, &mut random);
            input.truncate(longest);
            current.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&input);
            counted += u64::from(target(&input));
            runs.fetch_add(1, Ordering::Relaxed);
        }
    }
    println!("{counted}");
}
