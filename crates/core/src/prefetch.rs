//! Prefetching memory.

/// Prefetches the cache line of an item.
#[inline(always)]
pub fn prefetch<T>(items: &[T], item: usize) {
    prefetch_at(items.as_ptr().wrapping_add(item));
}

/// Prefetches the cache line of an address, whatever is there.
#[inline(always)]
#[allow(unsafe_code, reason = "asking for a cache line is no access")]
pub fn prefetch_at<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
