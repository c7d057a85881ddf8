//! Working memory that is lent for one call.

use std::sync::{Mutex, MutexGuard};

/// Working memory that no thread uses now. Each call has its own, so that there is never more than threads need at once.
#[derive(Default)]
pub(crate) struct Pool<T>(Mutex<Vec<Box<T>>>);

impl<T: Default> Pool<T> {
    /// How often the lock is tried: it is held for a moment only.
    const TRIES: usize = 100;

    /// Never waits for long: in a forked child the lock may be held by a thread that is not there.
    fn idle(&self) -> Option<MutexGuard<'_, Vec<Box<T>>>> {
        (0..Self::TRIES).find_map(|_| {
            self.0.try_lock().ok().or_else(|| {
                std::hint::spin_loop();
                None
            })
        })
    }

    #[allow(clippy::unnecessary_box_returns, reason = "it is large, and goes back as it came")]
    pub(crate) fn take(&self) -> Box<T> {
        self.idle().and_then(|mut idle| idle.pop()).unwrap_or_default()
    }

    pub(crate) fn give_back(&self, lent: Box<T>) {
        if let Some(mut idle) = self.idle() {
            idle.push(lent);
        }
    }
}
