//! Large pages for large memory that is read or written at many places.
//!
//! With pages of 4 KiB a read at a random place also waits for its address to be translated, some processors drop a prefetch
//! that would, and each page costs a fault when it is touched first. So the system is asked before that.

/// Asks for large pages where a vector has room for items but holds none yet. It may get none.
pub(crate) fn ask<T>(room: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    linux::ask(room.spare_capacity_mut());
    #[cfg(not(target_os = "linux"))]
    let _ = room;
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "advice to the system changes no memory")]
mod linux {
    use std::mem::MaybeUninit;

    use rustix::mm::{Advice, madvise};

    /// The usual size of large pages. A smaller room holds none.
    const LARGE: usize = 2 << 20;

    pub(super) fn ask<T>(room: &mut [MaybeUninit<T>]) {
        let size = size_of_val(room);
        let skipped = room.as_mut_ptr().cast::<u8>().align_offset(LARGE);
        if size < skipped.saturating_add(LARGE) {
            return;
        }
        let first = room.as_mut_ptr().cast::<u8>().wrapping_add(skipped);
        let whole = (size - skipped) / LARGE * LARGE;
        // SAFETY: the whole large pages lie within the room, and keep what they hold.
        let _ = unsafe { madvise(first.cast(), whole, Advice::LinuxHugepage) };
    }
}
