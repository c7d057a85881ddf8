//! Memory that grows with the input: it is asked for, and an error where there is none.
//!
//! Large buffers grow by `Room`. What allocates many small things cannot fail in Rust; for these there is a reserve, which an
//! allocator that has nothing left gives back to the system ([`spend`]). Work that [`crate::interrupt::check`]s then ends with an
//! error, unless the reserve can be had again.

use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

/// Larger allocations do not come out of the reserve: they are asked for.
pub const LARGE: usize = 4 << 20;

/// Some threads may each need something before all have ended. It is never touched: it costs addresses alone.
const RESERVE: usize = 4 * LARGE;

/// Less than this is there, or nothing goes on anyway.
const LITTLE: usize = 1 << 16;

static HELD: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Whether the reserve was spent.
static SHORT: AtomicBool = AtomicBool::new(false);

/// Takes the reserve; false if there is no memory for it.
#[must_use]
pub fn hold() -> bool {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    held.capacity() >= RESERVE || held.try_reserve_exact(RESERVE).is_ok()
}

/// Gives the reserve back, for an allocation that failed; false if it was spent before.
#[cold]
#[must_use]
pub fn spend() -> bool {
    SHORT.store(true, Ordering::Relaxed);
    let Ok(mut held) = HELD.try_lock() else { return false };
    let spent = std::mem::take(&mut *held);
    spent.capacity() > 0
}

/// An error if the reserve was spent, and cannot be had again.
///
/// # Errors
/// `Memory`.
///
/// ```
/// assert!(bytepair_core::memory::check().is_ok());
/// ```
#[inline]
pub fn check() -> Result<()> {
    if SHORT.load(Ordering::Relaxed) { hold_again() } else { Ok(()) }
}

#[cold]
fn hold_again() -> Result<()> {
    if !hold() {
        return Err(Error::memory());
    }
    SHORT.store(false, Ordering::Relaxed);
    Ok(())
}

/// An error if so many bytes cannot be had now: for what is made elsewhere, where that would not be an error.
///
/// # Errors
/// `Memory`.
///
/// ```
/// use bytepair_core::memory;
/// assert!(memory::probe(1000).is_ok());
/// assert!(memory::probe(usize::MAX / 4).is_err());
/// ```
pub fn probe(bytes: usize) -> Result<()> {
    if bytes < LITTLE { Ok(()) } else { Vec::<u8>::new().room(bytes) }
}

/// A buffer that grows with the input.
pub trait Room {
    /// Makes room for so many more.
    ///
    /// # Errors
    /// `Memory`.
    fn room(&mut self, more: usize) -> Result<()>;
}

impl<T> Room for Vec<T> {
    #[inline]
    fn room(&mut self, more: usize) -> Result<()> {
        if self.capacity() - self.len() >= more { Ok(()) } else { grow(self, more) }
    }
}

/// Out of the loops that append: what it does would be in each of them.
#[cold]
#[inline(never)]
fn grow<T>(all: &mut Vec<T>, more: usize) -> Result<()> {
    all.try_reserve(more).map_err(|_| Error::memory())
}

impl<K: Eq + Hash, V, S: BuildHasher> Room for HashMap<K, V, S> {
    #[inline]
    fn room(&mut self, more: usize) -> Result<()> {
        self.try_reserve(more).map_err(|_| Error::memory())
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> Room for hashbrown::HashMap<K, V, S> {
    #[inline]
    fn room(&mut self, more: usize) -> Result<()> {
        self.try_reserve(more).map_err(|_| Error::memory())
    }
}

impl<T: Ord> Room for BinaryHeap<T> {
    #[inline]
    fn room(&mut self, more: usize) -> Result<()> {
        self.try_reserve(more).map_err(|_| Error::memory())
    }
}

impl Room for String {
    #[inline]
    fn room(&mut self, more: usize) -> Result<()> {
        self.try_reserve(more).map_err(|_| Error::memory())
    }
}

/// All items in a vector.
///
/// # Errors
/// `Memory`.
///
/// ```
/// assert_eq!(bytepair_core::memory::collect(1..4)?, [1, 2, 3]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn collect<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    extend(&mut all, items)?;
    Ok(all)
}

/// Appends all items.
///
/// # Errors
/// `Memory`; then it holds those that there was room for.
///
/// ```
/// let mut all = vec![0];
/// bytepair_core::memory::extend(&mut all, 1..4)?;
/// assert_eq!(all, [0, 1, 2, 3]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn extend<T>(all: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> Result<()> {
    let mut items = items.into_iter();
    while let Some(item) = items.next() {
        all.room(items.size_hint().0.saturating_add(1))?;
        all.push(item);
        // Within the room, so that it does not allocate; in one loop where the length is known.
        let room = all.capacity() - all.len();
        all.extend(items.by_ref().take(room));
    }
    Ok(())
}

/// Appends an item.
///
/// # Errors
/// `Memory`.
///
/// ```
/// let mut all = vec![0];
/// bytepair_core::memory::push(&mut all, 1)?;
/// assert_eq!(all, [0, 1]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
#[inline]
pub fn push<T>(all: &mut Vec<T>, item: T) -> Result<()> {
    all.room(1)?;
    all.push(item);
    Ok(())
}

/// A copy of some items.
///
/// # Errors
/// `Memory`.
///
/// ```
/// assert_eq!(bytepair_core::memory::copied(&[1, 2])?, [1, 2]);
/// # Ok::<(), bytepair_core::Error>(())
/// ```
pub fn copied<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let mut all = Vec::new();
    all.room(items.len())?;
    all.extend_from_slice(items);
    Ok(all)
}

/// So many copies of an item.
pub(crate) fn filled<T: Clone>(item: T, count: usize) -> Result<Vec<T>> {
    let mut all = Vec::new();
    all.room(count)?;
    all.resize(count, item);
    Ok(all)
}

/// A copy of a text.
pub(crate) fn copy(text: &str) -> Result<String> {
    let mut copied = String::new();
    copied.room(text.len())?;
    copied.push_str(text);
    Ok(copied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_spent_once_and_comes_back() {
        assert!(hold() && hold());
        assert!(spend());
        assert!(check().is_ok());
        assert!(spend());
        assert!(!spend());
        assert!(check().is_ok());
        assert!(!SHORT.load(Ordering::Relaxed));
    }

    #[test]
    fn what_cannot_be_had_is_an_error() {
        assert!(Vec::<u64>::new().room(usize::MAX / 8).is_err());
        assert!(String::new().room(isize::MAX.unsigned_abs()).is_err());
        assert_eq!(copy("low"), Ok("low".to_owned()));
        assert!(filled(0_u64, usize::MAX / 8).is_err());
        assert_eq!(filled('a', 2), Ok(vec!['a', 'a']));
        let mut map = HashMap::<u64, u64>::new();
        assert!(map.room(usize::MAX / 8).is_err());
        assert!(map.room(10).is_ok() && map.capacity() >= 10);
    }
}
