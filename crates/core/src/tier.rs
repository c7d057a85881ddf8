//! Which instructions may be used, of those that the machine has: benchmarks and tests can do without the widest.

use std::sync::atomic::{AtomicU8, Ordering};

/// Sets of instructions that loops are compiled for. Each comes with all before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Tier {
    /// Those that every machine has.
    Plain,
    /// Registers of 16 bytes, on ARM.
    Neon,
    /// Registers of 32 bytes.
    Avx2,
    /// Registers of 64 bytes.
    Avx512,
}

static WIDEST: AtomicU8 = AtomicU8::new(Tier::Avx512 as u8);

impl Tier {
    /// All, by name.
    pub const ALL: [(&'static str, Self); 4] =
        [("plain", Self::Plain), ("neon", Self::Neon), ("avx2", Self::Avx2), ("avx512", Self::Avx512)];

    /// The tier of this name.
    ///
    /// ```
    /// use bytepair_core::tier::Tier;
    /// assert_eq!((Tier::by_name("avx2"), Tier::by_name("mmx")), (Some(Tier::Avx2), None));
    /// ```
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find_map(|(known, tier)| (known == name).then_some(tier))
    }
}

/// Makes this the widest tier that any later call of this process uses.
pub fn limit(widest: Tier) {
    WIDEST.store(widest as u8, Ordering::Relaxed);
}

/// Whether a tier may be used, if the machine has it.
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code, reason = "there is one tier"))]
#[inline]
pub(crate) fn allows(tier: Tier) -> bool {
    tier as u8 <= WIDEST.load(Ordering::Relaxed)
}
