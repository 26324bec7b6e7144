//! How much memory traces take, and that those that are analyzed at once take no more
//! than they may.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metalens_trace::{PathKind, path_kind};

use crate::identity::Part;

/// What an analysis takes that reads nothing, its pictures and pages included.
const LEAST: u64 = 48 << 20;

/// Where nobody knows how much memory there is.
const UNKNOWN: u64 = 4 << 30;

/// How many bytes of memory an input's bytes on disk take, at the very most, by what
/// they are. Measured as the peak of `analyze -o` less what it takes without any rows
/// (36 MiB), per byte on disk, on synthetic recordings of 1 k to 200 k intervals and on
/// real ones: XML 0.05 to 0.15 with all its tables, the same
/// in gzip 0.8, bundles 1.5. A million intervals take 300 MiB.
const OF_BUNDLE: u64 = 2;
const OF_COMPRESSED: u64 = 6;
/// XML's is less than one: its size is divided.
const OF_XML: u64 = 2;

/// How much memory the analysis of an input may take.
pub(crate) fn estimate(path: &Path, parts: &[Part]) -> u64 {
    let is_bundle = matches!(path_kind(path), Ok(PathKind::Bundle));
    let each = parts.iter().map(|part| match ending(&part.name) {
        _ if is_bundle => part.size.saturating_mul(OF_BUNDLE),
        "gz" | "zst" | "zip" => part.size.saturating_mul(OF_COMPRESSED),
        _ => part.size / OF_XML,
    });
    each.fold(LEAST, u64::saturating_add)
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Returns half of the machine's memory, in bytes.
#[must_use]
pub fn usual_memory() -> u64 {
    machine().map_or(UNKNOWN, |bytes| bytes / 2)
}

#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "other systems may not tell")]
fn machine() -> Option<u64> {
    let info = rustix::system::sysinfo();
    Some(info.totalram.saturating_mul(info.mem_unit.into()))
}

#[cfg(target_os = "macos")]
fn machine() -> Option<u64> {
    let asked = std::process::Command::new("/usr/sbin/sysctl")
        .args(["-n", "hw.memsize"])
        .output();
    String::from_utf8(asked.ok()?.stdout)
        .ok()?
        .trim()
        .parse()
        .ok()
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn machine() -> Option<u64> {
    None
}

/// Memory that is shared out.
pub(crate) struct Budget {
    limit: u64,
    used: Mutex<u64>,
    given_back: Condvar,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            limit,
            used: Mutex::new(0),
            given_back: Condvar::new(),
        }
    }

    /// Waits until there is room; what is larger than everything waits until nobody
    /// else has any. None if `stop` comes first.
    pub(crate) fn take(&self, bytes: u64, stop: &AtomicBool) -> Option<Share<'_>> {
        const PATIENCE: Duration = Duration::from_millis(100);
        let bytes = bytes.min(self.limit);
        let mut used = self.used();
        while !stop.load(Ordering::SeqCst) {
            if *used == 0 || used.saturating_add(bytes) <= self.limit {
                *used += bytes;
                return Some(Share {
                    budget: self,
                    bytes,
                });
            }
            let waited = self.given_back.wait_timeout(used, PATIENCE);
            used = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }

    fn used(&self) -> MutexGuard<'_, u64> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Given back when it is dropped.
pub(crate) struct Share<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.budget.used() -= self.bytes;
        self.budget.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_there_is() {
        let budget = Budget::new(100);
        let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
        let large = budget.take(1_000, &go).unwrap();
        assert!(budget.take(1, &stop).is_none(), "it is alone");
        drop(large);
        let half = budget.take(50, &go).unwrap();
        let other = budget.take(50, &go).unwrap();
        assert_eq!(*budget.used(), 100);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| budget.take(60, &go).map(|share| share.bytes));
            drop(half);
            assert!(!waiting.is_finished());
            drop(other);
            assert_eq!(waiting.join().unwrap(), Some(60));
        });
        assert_eq!(*budget.used(), 0);
    }

    #[test]
    fn a_machine_has_memory() {
        assert!(usual_memory() > 64 << 20);
    }
}
