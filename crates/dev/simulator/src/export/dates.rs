//! Gives each run its date: all runs start on one day, each on its own hour. No clock is read.

/// Hour of the day from which the starts of runs count: run 1 starts one hour later.
const START_HOUR: u64 = 8;
const HOUR_NS: u64 = 3_600_000_000_000;

/// Returns the start of a run, in nanoseconds since midnight.
pub(super) const fn start_ns(run: u32) -> u64 {
    (START_HOUR + run as u64) * HOUR_NS
}

/// Returns the start of a run, in nanoseconds since 1970.
pub(super) const fn start_ns_since_1970(run: u32) -> u64 {
    MIDNIGHT_S * 1_000_000_000 + start_ns(run)
}

/// Day on which all runs start, in seconds since 1970.
const MIDNIGHT_S: u64 = 1_767_225_600;

/// Formats an instant of that day, to the millisecond.
pub(super) fn date(since_midnight_ns: u64) -> String {
    let ms = since_midnight_ns / 1_000_000;
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    format!(
        "2026-01-01T{hour:02}:{minute:02}:{second:02}.{:03}Z",
        ms % 1_000
    )
}
