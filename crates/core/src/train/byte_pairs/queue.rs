//! A binary heap whose order is an argument of each call, because it can depend on the tokens, which grow meanwhile.

use crate::error::Result;
use crate::memory;

/// A heap of entries; `before(a, b)` is whether `a` comes out before `b`, and must be the same order every time.
#[derive(Debug)]
pub(super) struct Queue<T> {
    entries: Vec<T>,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// # Errors
    /// `Memory`.
    pub(super) fn push(&mut self, entry: T, before: impl Fn(&T, &T) -> bool) -> Result<()> {
        memory::push(&mut self.entries, entry)?;
        let mut child = self.entries.len() - 1;
        while child > 0 {
            let parent = (child - 1) / 2;
            if !before(&self.entries[child], &self.entries[parent]) {
                break;
            }
            self.entries.swap(child, parent);
            child = parent;
        }
        Ok(())
    }

    /// The next entry.
    pub(super) fn peek(&self) -> Option<&T> {
        self.entries.first()
    }

    pub(super) fn pop(&mut self, before: impl Fn(&T, &T) -> bool) -> Option<T> {
        if self.entries.is_empty() {
            return None;
        }
        let top = self.entries.swap_remove(0);
        self.sink(before);
        Some(top)
    }

    /// Puts an entry in the place of the one that comes out next.
    pub(super) fn replace_top(&mut self, entry: T, before: impl Fn(&T, &T) -> bool) {
        if let Some(top) = self.entries.first_mut() {
            *top = entry;
            self.sink(before);
        }
    }

    fn sink(&mut self, before: impl Fn(&T, &T) -> bool) {
        let mut parent = 0;
        loop {
            let (left, right) = (2 * parent + 1, 2 * parent + 2);
            let mut first = parent;
            for child in [left, right] {
                if child < self.entries.len() && before(&self.entries[child], &self.entries[first]) {
                    first = child;
                }
            }
            if first == parent {
                return;
            }
            self.entries.swap(parent, first);
            parent = first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_in_order() {
        let mut queue = Queue::new();
        let less = |a: &u32, b: &u32| a < b;
        let numbers: Vec<u32> = (0..500).map(|i| i * 7919 % 251).collect();
        for &number in &numbers {
            queue.push(number, less).unwrap();
        }
        let mut sorted = numbers;
        sorted.sort_unstable();
        assert_eq!(std::iter::from_fn(|| queue.pop(less)).collect::<Vec<_>>(), sorted);
    }
}
