//! Estimates the memory that recordings need, and limits the recordings that are analyzed at once to a
//! budget.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metalens_trace::{PathKind, path_kind};

use super::identity::InputFile;

/// Memory that an analysis needs without any rows, including its pictures and pages, in bytes.
const BASE_MEMORY: u64 = 48 << 20;

/// Memory of a machine whose memory is unknown, in bytes.
const UNKNOWN: u64 = 4 << 30;

/// Upper bound of the memory per byte of a bundle on disk. It was measured as the peak of
/// `analyze -o` minus its memory without any rows (36 MiB), per byte on disk, on synthetic
/// recordings of 1,000 to 200,000 intervals and on real ones: XML with all its tables needs 0.05 to
/// 0.15, the same in gzip 0.8, bundles 1.5. A million intervals need 300 MiB.
const PER_BUNDLE_BYTE: u64 = 2;
/// Upper bound of the memory per byte of a compressed file.
const PER_COMPRESSED_BYTE: u64 = 6;
/// Divisor for XML, which needs less than one byte per byte.
const XML_BYTES_PER_BYTE: u64 = 2;

/// Returns the memory that the analysis of an input may need, in bytes.
pub(crate) fn estimate(path: &Path, parts: &[InputFile]) -> u64 {
    let is_bundle = matches!(path_kind(path), Ok(PathKind::Bundle));
    let each = parts.iter().map(|part| match ending(&part.name) {
        _ if is_bundle => part.size.saturating_mul(PER_BUNDLE_BYTE),
        "gz" | "zst" | "zip" => part.size.saturating_mul(PER_COMPRESSED_BYTE),
        _ => part.size / XML_BYTES_PER_BYTE,
    });
    each.fold(BASE_MEMORY, u64::saturating_add)
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Returns half of the machine's memory, in bytes.
#[must_use]
pub fn usual_memory() -> u64 {
    machine_memory().map_or(UNKNOWN, |bytes| bytes / 2)
}

#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "other systems may not know")]
fn machine_memory() -> Option<u64> {
    let info = rustix::system::sysinfo();
    Some(info.totalram.saturating_mul(info.mem_unit.into()))
}

#[cfg(target_os = "macos")]
fn machine_memory() -> Option<u64> {
    let output = std::process::Command::new("/usr/sbin/sysctl")
        .args(["-n", "hw.memsize"])
        .output();
    String::from_utf8(output.ok()?.stdout)
        .ok()?
        .trim()
        .parse()
        .ok()
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn machine_memory() -> Option<u64> {
    None
}

/// A budget of memory that is shared among analyses.
pub(crate) struct MemoryBudget {
    limit: u64,
    used: Mutex<u64>,
    released: Condvar,
}

impl MemoryBudget {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            limit,
            used: Mutex::new(0),
            released: Condvar::new(),
        }
    }

    /// Waits until this many bytes are free. A request above the limit waits until all are free.
    /// Returns `None` if `stop` becomes true first.
    pub(crate) fn take(&self, bytes: u64, stop: &AtomicBool) -> Option<MemoryShare<'_>> {
        const CHECK_STOP_EVERY: Duration = Duration::from_millis(100);
        let bytes = bytes.min(self.limit);

        let mut used = self.used();
        while !stop.load(Ordering::SeqCst) {
            if *used == 0 || used.saturating_add(bytes) <= self.limit {
                *used += bytes;
                return Some(MemoryShare {
                    budget: self,
                    bytes,
                });
            }
            let waited = self.released.wait_timeout(used, CHECK_STOP_EVERY);
            used = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }

    fn used(&self) -> MutexGuard<'_, u64> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A share of the budget. Dropping it returns the memory.
pub(crate) struct MemoryShare<'a> {
    budget: &'a MemoryBudget,
    bytes: u64,
}

impl Drop for MemoryShare<'_> {
    fn drop(&mut self) {
        *self.budget.used() -= self.bytes;
        self.budget.released.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_never_exceed_the_budget() {
        let budget = MemoryBudget::new(100);
        let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
        let large = budget.take(1_000, &go).unwrap();
        assert!(
            budget.take(1, &stop).is_none(),
            "the large share uses everything"
        );
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
