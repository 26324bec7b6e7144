//! Checks whether the disk has room for a recording.

use std::time::Duration;

use crate::check::Check;
use crate::facts::Disk;

/// Bytes per second of published recordings: from a quiet program (300 to 400 MB in 15 s) to
/// one that kept the GPU busy (19 GB in 90 s).
const QUIET_RATE: u64 = 25_000_000;
const BUSY_RATE: u64 = 211_000_000;
/// Bytes that should stay free for macOS itself.
const RESERVE: u64 = 2_000_000_000;

/// Checks that there is room for the recording and for the temporary files of Instruments, which are
/// as large again.
pub(super) fn free_space(disk: &Disk, time_limit: Option<Duration>) -> Check {
    let id = "disk";
    let Some(free) = disk.free_bytes.value else {
        return Check::unknown(id, disk.free_bytes.why_not.as_ref());
    };
    let less = " on the disk of the recording or that of temporary files, whichever has less";
    let (files, place, as_much_again) = match disk.holds_temporary {
        Some(true) => (2, "", ", and as much again in temporary files"),
        Some(false) => (1, less, ""),
        None => (1, "", ""),
    };
    let room = free.saturating_sub(RESERVE) / files;
    let free = format!("{} free{place}", size(free));
    let Some(limit) = time_limit else {
        let found = format!(
            "{free}: enough for {} (busy GPU) to {} (quiet GPU)",
            span(room / BUSY_RATE),
            span(room / QUIET_RATE)
        );
        return match room / BUSY_RATE {
            0..5 => Check::problem(id, found).remedy(MAKE_ROOM, &[]),
            5..60 => Check::warning(id, found).remedy(
                "set --time-limit, or free disk space: a full disk can destroy the recording",
                &[],
            ),
            _ => Check::ok(id, found),
        };
    };

    let needs =
        |rate: u64| rate.saturating_mul(limit.as_millis().try_into().unwrap_or(u64::MAX)) / 1_000;
    let found = format!(
        "{free}; {} may take {} to {}{as_much_again}",
        seconds(limit),
        size(needs(QUIET_RATE)),
        size(needs(BUSY_RATE))
    );

    if room < needs(QUIET_RATE) {
        Check::problem(id, found).remedy(MAKE_ROOM, &[])
    } else if room < needs(BUSY_RATE) {
        Check::warning(id, found).remedy(
            "record for less time, or free disk space: a full disk can destroy the recording",
            &[],
        )
    } else {
        Check::ok(id, found)
    }
}

const MAKE_ROOM: &str = "free disk space, or record to another disk (-o)";

/// Formats a size in decimal units, as macOS does, such as `12.3 GB`.
fn size(bytes: u64) -> String {
    let tenths = |unit: u64| {
        let tenths = bytes / (unit / 10);
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    match bytes {
        1_000_000_000.. => format!("{} GB", tenths(1_000_000_000)),
        1_000_000.. => format!("{} MB", bytes / 1_000_000),
        _ => format!("{} kB", bytes / 1_000),
    }
}

/// Formats an estimated time, such as `2 min`, no finer than it is known.
fn span(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

fn seconds(length: Duration) -> String {
    format!("{} s", length.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::CheckVerdict;
    use crate::facts::Fact;

    fn with(free: u64, holds_temporary: Option<bool>) -> Disk {
        Disk {
            free_bytes: Fact::new("", Some(free), String::new),
            holds_temporary,
        }
    }

    /// Temporary files count twice on the disk of the bundle, and on another they need room there.
    #[test]
    fn temporary_files_need_room_too() {
        let gb = 1_000_000_000;
        let check = |free: u64, holds_temporary: bool, expected: CheckVerdict, words: &str| {
            let disk = with(free, Some(holds_temporary));
            let checked = free_space(&disk, Some(Duration::from_secs(10)));
            assert_eq!(checked.verdict, expected, "{}", checked.found);
            assert!(checked.found.contains(words), "{}", checked.found);
        };
        // 10 s take 0.25 to 2.11 GB, and 2 GB stay free.
        check(5 * gb, true, CheckVerdict::Warning, "as much again");
        check(7 * gb, true, CheckVerdict::Ok, "as much again");
        let other = "free on the disk of the recording or that of temporary files";
        check(5 * gb, false, CheckVerdict::Ok, other);
        check(2 * gb, false, CheckVerdict::Problem, other);
    }

    #[test]
    fn room_is_compared_with_the_time_limit() {
        let gb = 1_000_000_000;
        let check = |free: u64, limit: Option<u64>, expected: CheckVerdict| {
            let checked = free_space(&with(free, None), limit.map(Duration::from_secs));
            assert_eq!(checked.verdict, expected, "{free} {limit:?}");
            assert_eq!(checked.remedy.is_some(), expected != CheckVerdict::Ok);
        };
        // 10 s take 0.25 to 2.11 GB, and 2 GB stay free.
        check(gb, Some(10), CheckVerdict::Problem);
        check(2 * gb + gb / 5, Some(10), CheckVerdict::Problem);
        check(2 * gb + gb / 2, Some(10), CheckVerdict::Warning);
        check(5 * gb, Some(10), CheckVerdict::Ok);
        // 90 s took 19 GB in a published recording.
        check(20 * gb, Some(90), CheckVerdict::Warning);
        check(21 * gb, Some(90), CheckVerdict::Ok);
        check(2 * gb, None, CheckVerdict::Problem);
        check(10 * gb, None, CheckVerdict::Warning);
        check(100 * gb, None, CheckVerdict::Ok);
    }

    #[test]
    fn sizes_and_times_are_formatted() {
        let found = |free: u64, limit| free_space(&with(free, None), limit).found;
        assert_eq!(
            found(50_000_000_000, Some(Duration::from_secs(10))),
            "50.0 GB free; 10 s may take 250 MB to 2.1 GB"
        );
        assert_eq!(
            found(50_000_000_000, None),
            "50.0 GB free: enough for 3 min (busy GPU) to 32 min (quiet GPU)"
        );
    }
}
