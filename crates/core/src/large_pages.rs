//! Large pages for large memory that is read or written at many places.
//!
//! With pages of 4 KiB a read at a random place also waits for its address to be translated, some processors drop a prefetch
//! that would, and each page costs a fault when it is touched first. So the system is asked before that. It may refuse.
#![allow(unsafe_code, reason = "memory from the system, and advice about it")]

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{Table, ask};
#[cfg(target_os = "linux")]
pub(crate) use linux::{Table, ask};

use crate::error::{Error, Result};

/// The usual size of large pages.
pub(crate) const LARGE: usize = 2 << 20;

/// Types of which any number in a row may be zeros.
///
/// # Safety
/// Zeros are a value of the type.
pub(crate) unsafe trait Zeros: Copy {}

// SAFETY: zeros are a number.
unsafe impl Zeros for u64 {}
// SAFETY: as above.
unsafe impl Zeros for u32 {}

#[cfg(target_os = "linux")]
mod linux {
    use std::alloc::{Layout, handle_alloc_error};
    use std::ffi::c_void;
    use std::marker::PhantomData;
    use std::ops::{Deref, DerefMut, Range};
    use std::ptr::{self, NonNull};
    use std::slice;

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

    use super::{LARGE, Zeros};
    use crate::memory;

    /// Asks for large pages where a vector has room for items but holds none yet.
    pub(crate) fn ask<T>(room: &mut Vec<T>) {
        let room = room.spare_capacity_mut();
        let (first, size) = (room.as_mut_ptr().cast::<u8>(), size_of_val(room));
        let skipped = first.align_offset(LARGE);
        if size >= skipped.saturating_add(LARGE) {
            // SAFETY: the whole large pages lie within the room, and keep what they hold.
            let _ =
                unsafe { madvise(first.add(skipped).cast(), (size - skipped) / LARGE * LARGE, Advice::LinuxHugepage) };
        }
    }

    /// So many items, zeros at first, which begin where a large page does. What is not touched takes no memory.
    pub(crate) struct Table<T> {
        items: NonNull<T>,
        count: usize,
        mapped: *mut c_void,
        bytes: usize,
        own: PhantomData<T>,
    }

    // SAFETY: the memory belongs to the table alone.
    unsafe impl<T: Send> Send for Table<T> {}
    // SAFETY: it changes only through `&mut`.
    unsafe impl<T: Sync> Sync for Table<T> {}

    impl<T> Default for Table<T> {
        fn default() -> Self {
            Self { items: NonNull::dangling(), count: 0, mapped: ptr::null_mut(), bytes: 0, own: PhantomData }
        }
    }

    impl<T: Zeros> Table<T> {
        /// So many; where there is no memory for them, the reserve is spent before the process ends.
        pub(crate) fn zeros(count: usize) -> Self {
            let spent = || if memory::spend() { Self::try_zeros(count) } else { None };
            Self::try_zeros(count).or_else(spent).unwrap_or_else(|| handle_alloc_error(Layout::new::<T>()))
        }

        /// So many, if there is memory for them.
        pub(crate) fn try_zeros(count: usize) -> Option<Self> {
            const { assert!(align_of::<T>() <= 4096) };
            let layout = Layout::array::<T>(count).ok()?;
            if layout.size() == 0 {
                return Some(Self::default());
            }
            // Room to begin where a large page does, if the table is as large as one.
            let slack = if layout.size() < LARGE { 0 } else { LARGE };
            let bytes = layout.size() + slack;
            // SAFETY: the system chooses a place where nothing else is.
            let mapped = unsafe {
                mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
            };
            let mapped = mapped.ok()?;
            let skipped = if slack == 0 { 0 } else { mapped.cast::<u8>().align_offset(LARGE) };
            // SAFETY: the slack is larger than what is skipped.
            let first = unsafe { mapped.byte_add(skipped) };
            let items = NonNull::new(first.cast())?;
            Some(Self { items, count, mapped, bytes, own: PhantomData })
        }

        /// Asks for large pages where these items are, which have not been touched.
        pub(crate) fn ask(&mut self, items: Range<usize>) {
            let room = &mut self[items];
            let size = size_of_val(room) / LARGE * LARGE;
            let first = room.as_mut_ptr();
            if size > 0 && first.cast::<u8>().align_offset(LARGE) == 0 {
                // SAFETY: the whole large pages lie within the room, and keep what they hold.
                let _ = unsafe { madvise(first.cast(), size, Advice::LinuxHugepage) };
            }
        }
    }

    impl<T> Drop for Table<T> {
        fn drop(&mut self) {
            if self.bytes > 0 {
                // SAFETY: so many bytes were mapped there, and nothing refers to them any more.
                let _ = unsafe { munmap(self.mapped, self.bytes) };
            }
        }
    }

    impl<T> Deref for Table<T> {
        type Target = [T];

        #[inline(always)]
        fn deref(&self) -> &[T] {
            // SAFETY: there are so many items, zeros or written since, and a page is aligned for them.
            unsafe { slice::from_raw_parts(self.items.as_ptr(), self.count) }
        }
    }

    impl<T> DerefMut for Table<T> {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut [T] {
            // SAFETY: as above, and one alone has borrowed them.
            unsafe { slice::from_raw_parts_mut(self.items.as_ptr(), self.count) }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::ops::{Deref, DerefMut, Range};

    use super::Zeros;

    /// Does nothing.
    pub(crate) fn ask<T>(_: &mut Vec<T>) {}

    /// So many items, zeros at first.
    pub(crate) struct Table<T>(Vec<T>);

    impl<T> Default for Table<T> {
        fn default() -> Self {
            Self(Vec::new())
        }
    }

    impl<T: Zeros> Table<T> {
        pub(crate) fn zeros(count: usize) -> Self {
            // SAFETY: the trait's.
            Self(vec![unsafe { std::mem::zeroed() }; count])
        }

        pub(crate) fn try_zeros(count: usize) -> Option<Self> {
            let mut items = Vec::new();
            items.try_reserve_exact(count).ok()?;
            // SAFETY: the trait's.
            items.resize(count, unsafe { std::mem::zeroed() });
            Some(Self(items))
        }

        /// Does nothing.
        pub(crate) fn ask(&mut self, _: Range<usize>) {}
    }

    impl<T> Deref for Table<T> {
        type Target = [T];

        fn deref(&self) -> &[T] {
            &self.0
        }
    }

    impl<T> DerefMut for Table<T> {
        fn deref_mut(&mut self) -> &mut [T] {
            &mut self.0
        }
    }
}

impl<T: Zeros> Table<T> {
    /// So many items, all of which will be used.
    ///
    /// # Errors
    /// `Memory`.
    pub(crate) fn large(count: usize) -> Result<Self> {
        let mut table = Self::try_zeros(count).ok_or_else(Error::memory)?;
        table.ask(0..count);
        Ok(table)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn tables_are_zeros_and_hold_what_is_written() {
        for count in [0, 1, 1000, 1 << 18, (1 << 19) + 3] {
            let mut table = Table::<u64>::large(count).unwrap();
            assert!(table.len() == count && table.iter().all(|&item| item == 0));
            for (at, item) in table.iter_mut().enumerate() {
                *item = at as u64;
            }
            assert!((0..).zip(&*table).all(|(at, &item)| item == at));
        }
        let mut room = Vec::with_capacity(1 << 20);
        room.push(7_u64);
        ask(&mut room);
        room.resize(1 << 20, 8);
        assert_eq!((room[0], room[1], room[(1 << 20) - 1]), (7, 8, 8));
    }
}
