use bytepair_core::split::{Pattern, names};
use std::time::Instant;
fn main() {
    for f in ["en", "code", "multi"] {
        let text = std::fs::read_to_string(format!("/work/shared/data/corpora/{f}_1mb.txt")).unwrap();
        for (n, p) in [("gpt2", names::GPT2), ("cl100k", names::CL100K), ("o200k", names::O200K)] {
            let p = Pattern::new(p).unwrap();
            let mut best = f64::MAX;
            let mut c = 0;
            for _ in 0..20 {
                let t = Instant::now();
                c = p.pieces(&text).count();
                best = best.min(t.elapsed().as_secs_f64());
            }
            println!(
                "{f} {n}: {:.0} MB/s, {} pieces, {:.1} ns/piece",
                text.len() as f64 / best / 1e6,
                c,
                best * 1e9 / c as f64
            );
        }
    }
}
