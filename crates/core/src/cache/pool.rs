//! Working memory that is lent for one call.
#![allow(unsafe_code, reason = "a box that changes hands in one instruction")]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Working memory that no thread uses now. Each call has its own, so that there is never more than threads need at once.
pub(crate) struct Pool<T> {
    /// The one that was given back last, or null: calls one after another take and return it without a lock.
    last: AtomicPtr<T>,
    idle: Mutex<Vec<Box<T>>>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { last: AtomicPtr::default(), idle: Mutex::default() }
    }
}

impl<T> Drop for Pool<T> {
    fn drop(&mut self) {
        drop(self.swap(ptr::null_mut()));
    }
}

impl<T> Pool<T> {
    /// How often the lock is tried: it is held for a moment only.
    const TRIES: usize = 100;

    /// Puts one, or null, in the place of the last.
    #[inline]
    fn swap(&self, last: *mut T) -> Option<Box<T>> {
        let before = self.last.swap(last, Ordering::AcqRel);
        // SAFETY: whatever is not null there came out of a box, and whoever swaps it out is alone to have it.
        (!before.is_null()).then(|| unsafe { Box::from_raw(before) })
    }

    /// Never waits for long: in a forked child the lock may be held by a thread that is not there.
    #[cold]
    fn idle(&self) -> Option<MutexGuard<'_, Vec<Box<T>>>> {
        (0..Self::TRIES).find_map(|_| {
            self.idle.try_lock().ok().or_else(|| {
                std::hint::spin_loop();
                None
            })
        })
    }

    #[inline]
    pub(crate) fn give_back(&self, lent: Box<T>) {
        if let Some(before) = self.swap(Box::into_raw(lent))
            && let Some(mut idle) = self.idle()
        {
            idle.push(before);
        }
    }
}

impl<T: Default> Pool<T> {
    #[inline]
    #[allow(clippy::unnecessary_box_returns, reason = "it is large, and goes back as it came")]
    pub(crate) fn take(&self) -> Box<T> {
        self.swap(ptr::null_mut()).or_else(|| self.idle()?.pop()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn each_is_lent_to_one_at_a_time_and_none_is_lost() {
        let pool = Pool::<Vec<Arc<()>>>::default();
        let token = Arc::new(());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2000 {
                        let (mut one, mut other) = (pool.take(), pool.take());
                        one.push(Arc::clone(&token));
                        other.push(Arc::clone(&token));
                        pool.give_back(one);
                        pool.give_back(other);
                    }
                });
            }
        });
        // Where a lock was held, one may have been dropped, with what it held.
        assert!(Arc::strong_count(&token) > 1);
        drop(pool);
        assert_eq!(Arc::strong_count(&token), 1);
    }
}
