//! The allocator of the extension: the system's, which spends the reserve where it has nothing left.
#![allow(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Write, stderr};
use std::panic;

use bytepair_core::memory;

/// Rust ends the process where a small allocation fails. With the reserve it goes on, up to where a call can end.
struct WithReserve;

#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve;

/// A backtrace takes about so much.
const BYTES_OF_A_BACKTRACE: usize = 64 << 20;

/// Has a panic report itself in one line where there is no memory for more: a backtrace would fail, and wait for itself.
pub(crate) fn report_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| match memory::probe(BYTES_OF_A_BACKTRACE) {
        Ok(()) => usual(panic),
        Err(_) => drop(writeln!(stderr(), "{panic}")),
    }));
}

/// What `get` has, or else gets with the reserve spent.
#[inline]
fn or_spend(size: usize, get: impl Fn() -> *mut u8) -> *mut u8 {
    let got = get();
    if got.is_null() && size <= memory::LARGE && memory::spend() { get() } else { got }
}

// SAFETY: all is the system's allocator, which is asked a second time with the same arguments where it returned null, and so
// did nothing. Spending takes a lock that is never waited for and frees memory; it neither allocates nor panics.
unsafe impl GlobalAlloc for WithReserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller's.
        or_spend(layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller's.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller's.
        or_spend(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller's; what could not be moved is where it was.
        or_spend(size, || unsafe { System.realloc(at, layout, size) })
    }
}
