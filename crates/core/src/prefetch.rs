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
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch reads nothing, whatever the address.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{address}]", address = in(reg) address, options(nostack, readonly, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}
