//! All places of a byte string in others.

use memchr::memmem::Finder;

/// The starts of all occurrences of `wanted`, ascending, overlapping ones too. An empty `wanted` has none.
///
/// ```
/// assert!(bytepair_core::occurrences::of(b"low---er", b"--").eq([3, 4]));
/// ```
pub fn of<'a>(data: &'a [u8], wanted: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    // A search for one byte has less overhead at each occurrence than a search for several.
    let alone = (wanted.len() == 1).then(|| memchr::memchr_iter(wanted[0], data));
    let finder = Finder::new(wanted);
    let mut from = if wanted.len() < 2 { data.len() + 1 } else { 0 };
    let several = std::iter::from_fn(move || {
        let at = from + finder.find(data.get(from..)?)?;
        from = at + 1;
        Some(at)
    });
    alone.into_iter().flatten().chain(several)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_windows() {
        for length in 0..=9 {
            for letters in 0..1_u32 << length {
                let data: Vec<u8> = (0..length).map(|bit| if letters >> bit & 1 == 1 { b'a' } else { b'b' }).collect();
                for wanted in [&b"a"[..], b"aa", b"ab", b"aba", b"bbbb", b"abababababab"] {
                    let slow = data.windows(wanted.len()).enumerate().filter(|(_, window)| *window == wanted);
                    assert!(of(&data, wanted).eq(slow.map(|(at, _)| at)));
                }
                assert_eq!(of(&data, b"").next(), None);
            }
        }
    }
}
