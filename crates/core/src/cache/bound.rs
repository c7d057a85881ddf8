//! How much memory the caches of a thread, and those of the process, may take.

use std::sync::atomic::{AtomicUsize, Ordering};

static A_THREAD: AtomicUsize = AtomicUsize::new(64 << 20);
static THE_PROCESS: AtomicUsize = AtomicUsize::new(512 << 20);
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// The least that a thread may be allowed, in bytes: its caches have about this size when they are made.
pub(crate) const LEAST: usize = 1 << 18;

/// The bytes that the caches of one thread may take, and those of all threads.
pub(crate) fn get() -> (usize, usize) {
    (A_THREAD.load(Ordering::Relaxed), THE_PROCESS.load(Ordering::Relaxed))
}

/// Sets the bounds that [`get`] returns. What was taken before stays.
pub(crate) fn set(a_thread: usize, the_process: usize) {
    A_THREAD.store(a_thread.max(LEAST), Ordering::Relaxed);
    THE_PROCESS.store(the_process, Ordering::Relaxed);
}

/// The largest power of two that is at most this part of what a thread may take.
pub(super) fn part(parts: usize) -> usize {
    1 << (get().0.max(LEAST) / parts).ilog2()
}

/// Bytes that a cache has taken; given back when it is dropped.
#[derive(Default)]
pub(super) struct Taken(usize);

impl Taken {
    pub(super) fn bytes(&self) -> usize {
        self.0
    }

    /// Makes it so many bytes in all, if that is no more than before or the process may take more.
    pub(super) fn resize(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.0);
        if more > 0 && TAKEN.fetch_add(more, Ordering::Relaxed) + more > get().1 {
            TAKEN.fetch_sub(more, Ordering::Relaxed);
            return false;
        }
        TAKEN.fetch_sub(self.0.saturating_sub(bytes), Ordering::Relaxed);
        self.0 = bytes;
        true
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.0, Ordering::Relaxed);
    }
}
