//! CPU time of this thread, and the memory of this process.

use std::time::Duration;

/// The CPU time that this thread has taken.
#[cfg(unix)]
fn now() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or_default(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// The time since the first call: there is no other clock everywhere.
#[cfg(not(unix))]
fn now() -> Duration {
    static STARTED: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    STARTED.get_or_init(std::time::Instant::now).elapsed()
}

/// A moment, from which CPU time is taken.
pub(crate) struct Start(Duration);

impl Start {
    pub(crate) fn now() -> Self {
        Self(now())
    }

    pub(crate) fn taken(&self) -> Duration {
        now().saturating_sub(self.0)
    }
}

/// Makes the peak what is used now, and returns that in bytes; None where the system does not tell.
pub(crate) fn forget_peak() -> Option<u64> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    peak()
}

/// The most bytes that were used since the peak was forgotten.
pub(crate) fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
