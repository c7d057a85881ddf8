//! Signals, such as that of Ctrl-C, that arrive while the core works.
//!
//! The core asks now and then whether it should stop. Python then runs the handlers of signals that have arrived; only in
//! its main thread, as elsewhere. What a handler raises is kept until the call that it ended returns.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytepair_core::interrupt;
use pyo3::prelude::*;

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// How many threads have one: most often none, which short calls learn faster from here.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Has the core ask here.
pub(crate) fn listen() {
    interrupt::ask_with(|| {
        if RAISED.with_borrow(Option::is_some) {
            return true;
        }
        // None while Python shuts down.
        let Some(error) = Python::try_attach(|py| py.check_signals().err()).flatten() else { return false };
        RAISED.set(Some(error));
        THREADS.fetch_add(1, Ordering::Relaxed);
        true
    });
}

/// What a handler raised during the call that this thread ends.
#[inline]
pub(crate) fn raised() -> Option<PyErr> {
    if THREADS.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let raised = RAISED.take()?;
    THREADS.fetch_sub(1, Ordering::Relaxed);
    Some(raised)
}
