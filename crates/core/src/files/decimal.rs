//! Decimal numbers as `tokenizers` reads them from JSON.
//!
//! Its reader, `serde_json` without exact floats, takes all digits as one whole number, rounds that to 53 bits, and scales
//! it by a power of ten: two roundings, so that about a quarter of the numbers with 17 digits come out one off in the
//! last place. The scores of a Unigram are such numbers.

/// The largest power of ten that is a number of 53 bits.
const MOST_EXACT: i32 = 22;

/// The end of numbers that are read exactly: one in a thousand has no spelling that `tokenizers` reads as it is.
const EXACT: &str = "e0";

/// Reads a number, infinite if it is too large; None if it is none.
///
/// ```
/// use bytepair_core::files::decimal::read;
/// assert_eq!(read("-2.0122928619384766"), Some(-2.012292861938477));
/// assert_eq!((read("-2.5e-3"), read("1e999"), read("x")), (Some(-0.0025), Some(f64::INFINITY), None));
/// ```
#[must_use]
pub fn read(text: &str) -> Option<f64> {
    let read = if text.ends_with(EXACT) { None } else { serde_json::from_str(text).ok() };
    read.or_else(|| text.parse().ok())
}

/// The spelling of a finite number that this reader and exact ones both read as that number; `tokenizers` as well, where there
/// is one.
///
/// A whole number of 53 bits divided by an exact power of ten is rounded once, so all readers agree on it. Among the
/// powers that fit, nearly always one has a quotient that is the number.
///
/// ```
/// use bytepair_core::files::decimal::{read, write};
/// assert_eq!(write(-2.5), "-2.5");
/// assert_eq!(read(&write(-2.0122928619384766)), Some(-2.0122928619384766));
/// ```
#[must_use]
#[allow(clippy::float_cmp, reason = "a spelling is one of this number, not of one near it")]
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole, below 2^64"
)]
pub fn write(number: f64) -> String {
    let shortest = format!("{number:?}");
    if read(&shortest) == Some(number) {
        return shortest;
    }
    let size = number.abs();
    for (exponent, places) in (1..=MOST_EXACT).zip(1..) {
        let scale = 10_f64.powi(exponent);
        let near = size * scale;
        for whole in [near.round(), near.next_up(), near.next_down()] {
            let is_whole = whole.fract() == 0.0 && whole < u64::MAX as f64;
            if is_whole && whole / scale == size {
                let digits = format!("{:0>width$}", whole as u64, width = places + 1);
                let (before, behind) = digits.split_at(digits.len() - places);
                let spelled = format!("{}{before}.{behind}", if number.is_sign_negative() { "-" } else { "" });
                if read(&spelled) == Some(number) && spelled.parse() == Ok(number) {
                    return spelled;
                }
            }
        }
    }
    format!("{number}{EXACT}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::cast_precision_loss, reason = "numbers at random")]
    fn what_is_written_is_read_by_both() {
        let (mut seed, mut off, mut exact) = (17_u64, 0, 0);
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = -((seed >> 11) as f64 / (1_u64 << 53) as f64) * 20.0;
            off += usize::from(read(&format!("{number:?}")) != Some(number));
            let written = write(number);
            assert_eq!((read(&written), written.parse()), (Some(number), Ok(number)), "{number:?}");
            exact += usize::from(written.ends_with(EXACT));
        }
        assert!((2_000..8_000).contains(&off) && exact < 100, "{off} {exact}");
        for number in [0.0, -0.0, 1.0, -20.100_000_381_469_727, 1e-300, 1e300, f64::from(-9.123_f32)] {
            assert_eq!((read(&write(number)), write(number).parse()), (Some(number), Ok(number)));
        }
    }
}
