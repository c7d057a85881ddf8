//! Text -> parts that are counted one by one: between added tokens, and at seams.

use std::ops::Range;

use crate::segment::Segmenter;
use crate::split::Seams;

/// Cuts text where that changes no piece.
pub(super) struct StretchCutter<'s> {
    segmenter: &'s Segmenter,
    /// None where stretches have to stay whole.
    seams: Option<Seams<'s>>,
    longest_added: usize,
}

impl<'s> StretchCutter<'s> {
    pub(super) fn new(segmenter: &'s Segmenter) -> Self {
        let seams = segmenter.cuttable().and_then(|(pattern, _)| pattern.seams());
        Self { segmenter, seams, longest_added: segmenter.longest_added() }
    }

    /// The length of a text that can be counted while more is to come: up to a place to cut it for any continuation.
    pub(super) fn settled(&self, text: &str) -> usize {
        // An added token that starts further right may continue in later text.
        let known = floor(text, text.len() - self.longest_added.saturating_sub(1).min(text.len()));
        for stretch in self.segmenter.stretches(text).into_iter().rev() {
            if stretch.start >= known {
                continue;
            }
            if stretch.end < known {
                return stretch.end;
            }
            let within = &text[stretch.clone()];
            let seam = self.seams.as_ref().and_then(|seams| seams.last(within, 0..known - stretch.start));
            // A whole added token precedes the stretch.
            let cut = stretch.start + seam.unwrap_or(0);
            if cut > 0 {
                return cut;
            }
        }
        0
    }

    /// The text without its added tokens, in parts of about `size` bytes or less, where seams allow it.
    pub(super) fn parts(&self, text: &str, size: usize) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        for stretch in self.segmenter.stretches(text) {
            let mut start = stretch.start;
            let mut near = start + size;
            while let Some(seams) = &self.seams
                && near + size < stretch.end
            {
                let end = floor(text, near);
                if let Some(seam) = seams.last(&text[start..stretch.end], 0..end - start) {
                    parts.push(start..start + seam);
                    start += seam;
                    near = start + size;
                } else {
                    near += near - start;
                }
            }
            parts.push(start..stretch.end);
        }
        parts
    }
}

/// The last place up to `at` where a character starts.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::segment::Steps;
    use crate::split::added::AddedToken;
    use crate::split::{Pattern, names};

    fn segmenter(tokens: &[&str]) -> Segmenter {
        let added = |(id, content): (u32, &&str)| AddedToken {
            id,
            content: (*content).to_owned(),
            special: true,
            ..AddedToken::default()
        };
        let added: Vec<_> = (0..).zip(tokens).map(added).collect();
        Segmenter::new(&added, Steps::of(vec![Pattern::new(names::GPT2).unwrap()])).unwrap()
    }

    #[test]
    fn what_is_settled_ends_before_what_may_go_on() {
        let plain = segmenter(&[]);
        assert_eq!(StretchCutter::new(&plain).settled("some words and"), 10);
        assert_eq!(StretchCutter::new(&plain).settled("words"), 0);
        let marked = segmenter(&["<end>", "<end>of"]);
        // `<end>o` may become the longer token, `b` the start of one.
        assert_eq!(StretchCutter::new(&marked).settled("words<end>o"), 0);
        assert_eq!(StretchCutter::new(&marked).settled("words<end>only, then"), 14);
        assert_eq!(StretchCutter::new(&marked).settled("a<end>onlythenthen"), 6);
    }

    #[test]
    fn parts_have_the_size_that_seams_allow() {
        let marked = segmenter(&["<end>"]);
        let text = format!("ab cd ef gh ij kl<end>{}", "x".repeat(40));
        let parts = StretchCutter::new(&marked).parts(&text, 6);
        assert_eq!(parts, [0..5, 5..17, 22..62]);
    }
}
