//! Prefetching memory.

/// Prefetches the cache line of an item.
#[inline(always)]
#[allow(unsafe_code, reason = "asking for a cache line is no access")]
pub(crate) fn prefetch<T>(items: &[T], item: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(items.as_ptr().wrapping_add(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, item);
}
