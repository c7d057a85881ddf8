use bytepair_core::encode::Count;
use bytepair_core::pipeline::{Parts, Tokenizer};
use bytepair_core::segment::Policy;
use bytepair_core::split::{Pattern, names};
use bytepair_core::vocab::{Semantics, Vocab};
struct Instant(u64);
impl Instant {
    fn ns() -> u64 {
        std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse().unwrap()
    }
    fn now() -> Self {
        std::thread::yield_now();
        Self(Self::ns())
    }
    fn elapsed(&self) -> std::time::Duration {
        std::thread::yield_now();
        std::time::Duration::from_nanos(Self::ns() - self.0)
    }
}
fn b64(s: &str) -> Vec<u8> {
    let t = |c: u8| match c {
        b'A'..=b'Z' => c - 65,
        b'a'..=b'z' => c - 71,
        b'0'..=b'9' => c + 4,
        b'+' => 62,
        b'/' => 63,
        _ => 0,
    } as u32;
    let mut o = vec![];
    for q in s.as_bytes().chunks(4) {
        let v = t(q[0]) << 18 | t(q[1]) << 12 | t(q[2]) << 6 | t(q[3]);
        o.push((v >> 16) as u8);
        if q[2] != b'=' {
            o.push((v >> 8) as u8)
        }
        if q[3] != b'=' {
            o.push(v as u8)
        }
    }
    o
}
pub fn load(name: &str, pat: &str) -> Tokenizer {
    let file = std::fs::read_to_string(format!("/work/shared/data/vocabs/openai/{name}.tiktoken")).unwrap();
    let (toks, ids): (Vec<_>, Vec<u32>) = file
        .lines()
        .map(|l| {
            let (a, b) = l.split_once(' ').unwrap();
            (b64(a), b.parse::<u32>().unwrap())
        })
        .unzip();
    let refs: Vec<&[u8]> = toks.iter().map(|t| &t[..]).collect();
    let t = Instant::now();
    let vocab = Vocab::new(&refs, &ids, Semantics::Ranks).unwrap();
    let t1 = t.elapsed();
    let p = Pattern::new(pat).unwrap();
    let t2 = t.elapsed();
    let tok =
        Tokenizer::new(Parts { vocab, added: vec![], normalizers: vec![], prefix_space: false, patterns: vec![p] })
            .unwrap();
    eprintln!("vocab {t1:?} pattern {:?} rest {:?}", t2 - t1, t.elapsed() - t2);
    tok
}
fn main() {
    let which = std::env::args().nth(1);
    let only: Option<usize> = std::env::args().nth(2).map(|n| n.parse().unwrap());
    for (n, p) in [("o200k_base", names::O200K), ("cl100k_base", names::CL100K)] {
        for f in ["en", "code", "multi"] {
            if which.as_ref().is_some_and(|w| w != f) {
                continue;
            }
            let tok = load(n, p);
            let text = std::fs::read_to_string(format!("/work/shared/data/corpora/{f}_1mb.txt")).unwrap();
            let mid = text[text.len() / 2..].find('\n').unwrap() + text.len() / 2 + 1;
            let run = |tok: &Tokenizer, s: &str| {
                let t = Instant::now();
                let mut v = Vec::with_capacity(s.len() / 3);
                tok.encode(s, Policy::default(), &mut v).unwrap();
                (s.len() as f64 / t.elapsed().as_secs_f64() / 1e6, v.len())
            };
            if let Some(n) = only {
                let mut b: Vec<f64> = (0..n).map(|_| run(&tok, &text).0).collect();
                b.sort_by(f64::total_cmp);
                println!("{n} {f} {:.0}", b[b.len() / 2]);
                continue;
            }
            let cold = run(&tok, &text).0;
            let tok2 = load(n, p);
            run(&tok2, &text[..mid]);
            let fresh = run(&tok2, &text[mid..]).0;
            let mut warm: Vec<f64> = (0..31).map(|_| run(&tok, &text).0).collect();
            warm.sort_by(f64::total_cmp);
            let mut cnt: Vec<f64> = (0..31)
                .map(|_| {
                    let t = Instant::now();
                    let mut v = Count(0);
                    tok.encode(&text, Policy::default(), &mut v).unwrap();
                    text.len() as f64 / t.elapsed().as_secs_f64() / 1e6
                })
                .collect();
            cnt.sort_by(f64::total_cmp);
            println!(
                "{n} {f}: cold {cold:.0} fresh {fresh:.0} warm {:.0} (best {:.0}) count {:.0}; {} ids",
                warm[15],
                warm[30],
                cnt[15],
                run(&tok, &text).1
            );
        }
    }
}
