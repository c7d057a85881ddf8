//! Texts encoded each by itself: a text that cannot be encoded is reported beside the ids of the others and stops nothing.

use std::sync::atomic::AtomicBool;

use crate::encode::Sink;
use crate::error::{Error, Result};
use crate::memory::Room;
use crate::pipeline::Tokenizer;
use crate::segment::Policy;
use crate::utf8::OnInvalid;

/// The ids before and after the ids of each text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame<'a> {
    /// Ids in front.
    pub prefix: &'a [u32],
    /// Ids behind.
    pub suffix: &'a [u32],
}

/// The encoded texts and the faulty ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Each {
    /// The ids of all texts, framed.
    pub ids: Vec<u32>,
    /// Where the ids of each text end; one at fault has none.
    pub ends: Vec<usize>,
    /// The errors of faulty texts, each with its row and its place in that text.
    pub faults: Vec<Error>,
}

impl Tokenizer {
    /// The ids of texts, which should be UTF-8, on this thread. They are those of [`Tokenizer::encode_batch`] in a frame.
    ///
    /// # Errors
    /// `Interrupted` alone.
    ///
    /// ```
    /// use bytepair_core::pipeline::Frame;
    /// use bytepair_core::pipeline::{Parts, Tokenizer};
    /// use bytepair_core::segment::Policy;
    /// use bytepair_core::utf8::OnInvalid;
    /// use bytepair_core::vocab::{Semantics, Vocab};
    /// let vocab = Vocab::new(&[b"a", b"b", b"ab"], &[0, 1, 2], Semantics::Ranks)?;
    /// let tokenizer = Tokenizer::new(Parts::of(vocab))?;
    /// let (texts, frame): ([&[u8]; 3], _) = ([b"aab", b"ac", b"b"], Frame { prefix: &[], suffix: &[9] });
    /// let each = tokenizer.encode_each(texts.into_iter(), frame, OnInvalid::Raise, Policy::default(), None)?;
    /// assert_eq!((each.ids, each.ends), (vec![0, 2, 9, 1, 9], vec![3, 3, 5]));
    /// assert_eq!((each.faults[0].row, each.faults[0].byte), (Some(1), Some(1)));
    /// # Ok::<(), bytepair_core::Error>(())
    /// ```
    pub fn encode_each<'t>(
        &self,
        texts: impl Iterator<Item = &'t [u8]> + Clone,
        frame: Frame,
        on_invalid: OnInvalid,
        policy: Policy,
        stop: Option<&AtomicBool>,
    ) -> Result<Each> {
        let mut each = Each::default();
        // More than most texts need: untouched memory costs nothing.
        let (rows, bytes) = texts.clone().fold((0_usize, 0), |(rows, bytes), text| (rows + 1, bytes + text.len()));
        let framed = rows.saturating_mul(frame.prefix.len().saturating_add(frame.suffix.len()));
        each.ids.room(framed.saturating_add(bytes / 3 + 8))?;
        each.ends.room(rows)?;
        let mut encoder = self.encoder(&mut each.ids, stop);
        for (row, text) in texts.enumerate() {
            let before = encoder.sink.len();
            encoder.sink.take(frame.prefix)?;
            let walked = on_invalid.text(text).and_then(|text| self.segmenter().walk(&text, policy, &mut encoder));
            match walked {
                Ok(()) => encoder.sink.take(frame.suffix)?,
                Err(error) if error.kind.ends_the_call() => return Err(error),
                Err(error) => {
                    encoder.sink.truncate(before);
                    each.faults.push(error.row(row));
                }
            }
            each.ends.push(encoder.sink.len());
        }
        drop(encoder);
        Ok(each)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::error::Kind;
    use crate::pipeline::Parts;
    use crate::segment::Steps;
    use crate::split::{Pattern, names};
    use crate::vocab::{Semantics, Vocab};

    #[test]
    fn a_text_at_fault_leaves_nothing_behind() {
        let tokens: [&[u8]; 3] = [b"a", b" ", b" a"];
        let vocab = Vocab::new(&tokens, &[0, 1, 2], Semantics::Ranks).unwrap();
        let steps = Steps::of(vec![Pattern::new(names::GPT2).unwrap()]);
        let tokenizer = Tokenizer::new(Parts { steps, ..Parts::of(vocab) }).unwrap();
        let texts: [&[u8]; 5] = [b" a", b"a a aQ a", b"", b"a\xC3", b"aa"];
        let frame = Frame { prefix: &[7, 8], suffix: &[9] };
        let encode = |texts: &[&'static [u8]], stop: Option<&AtomicBool>| {
            tokenizer.encode_each(texts.iter().copied(), frame, OnInvalid::Raise, Policy::default(), stop)
        };
        let each = encode(&texts, None).unwrap();
        assert_eq!(each.ids, [7, 8, 2, 9, 7, 8, 9, 7, 8, 0, 0, 9]);
        assert_eq!(each.ends, [4, 4, 7, 7, 12]);
        let places: Vec<_> = each.faults.iter().map(|fault| (fault.row, fault.byte, fault.character)).collect();
        assert_eq!(places, [(Some(1), Some(5), Some(5)), (Some(3), Some(1), Some(1))]);
        let stopped = encode(&texts, Some(&AtomicBool::new(true)));
        assert_eq!(stopped.unwrap_err().kind, Kind::Interrupted);
    }
}
