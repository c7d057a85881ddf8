//! Validity of the marks of a growing text: a mark holds until its own place is rolled back.

use std::sync::atomic::{AtomicU64, Ordering};

/// The rollbacks of one text.
#[derive(Debug)]
pub(super) struct Marks {
    /// No other text has it.
    id: u64,
    rollbacks: u64,
    /// The rollbacks that went further back than all later ones, with the lengths of the text: both ascend.
    lowest: Vec<(u64, usize)>,
}

/// When a mark was made, and the length of the text then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    id: u64,
    rollbacks: u64,
    pub(super) length: usize,
}

impl Marks {
    pub(super) fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        Self { id: MADE.fetch_add(1, Ordering::Relaxed), rollbacks: 0, lowest: Vec::new() }
    }

    /// The stamp of a mark that is made now.
    pub(super) fn stamp(&self, length: usize) -> Stamp {
        Stamp { id: self.id, rollbacks: self.rollbacks, length }
    }

    /// Whether a mark holds; if so, the text goes back to it.
    pub(super) fn go_back(&mut self, stamp: Stamp) -> bool {
        let since = self.lowest.partition_point(|&(rollback, _)| rollback < stamp.rollbacks);
        if stamp.id != self.id || self.lowest.get(since).is_some_and(|&(_, length)| length < stamp.length) {
            return false;
        }
        self.lowest.truncate(self.lowest.partition_point(|&(_, length)| length < stamp.length));
        self.lowest.push((self.rollbacks, stamp.length));
        self.rollbacks += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_holds_until_its_place_is_taken_back() {
        let mut marks = Marks::new();
        let (two, five) = (marks.stamp(2), marks.stamp(5));
        assert!(marks.go_back(five) && marks.go_back(five) && marks.go_back(two));
        assert!(!marks.go_back(five));
        let again = marks.stamp(5);
        assert!(marks.go_back(again) && marks.go_back(two) && !marks.go_back(again) && marks.go_back(two));
        assert!(!Marks::new().go_back(two));
    }
}
