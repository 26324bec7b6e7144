//! Decides the verdict in a word: what bounds the program.
//!
//! 1. Idle time while work was queued is the GPU's own: it had work. If the rest of the idle time
//!    is at most a tenth of the window, the program is GPU-bound.
//! 2. Otherwise the group of causes with at least half of that rest decides: completion and
//!    submission latency are latency-bound, host work and encoding CPU-bound, contention contended.
//! 3. If no group has half of it, the verdict is mixed; or none, if time of unknown cause could
//!    have given a group its half.

use crate::basics::message::{Message, percent, time};
use crate::basics::statistics::ratio;
use crate::message;
use crate::report::{Bound, BoundVerdict, GapParts, Report};

/// One part in this many of the window may be idle in a program that is GPU-bound.
const IDLE_PARTS: u64 = 10;
/// A single interval has no gap, and so no verdict.
const INTERVALS: u64 = 2;

/// Returns the verdict on a report.
pub(crate) fn bound(report: &Report) -> BoundVerdict {
    let (bound, why) = decide(
        report.counts.intervals,
        report.window.span_ns,
        &report.idle.parts,
    );
    let (why, why_values) = why.into_parts();
    BoundVerdict {
        bound,
        why,
        why_values,
    }
}

/// Returns whether there is no verdict because time of unknown cause could change it. The report has
/// its verdict already.
pub(crate) fn is_undecided(report: &Report) -> bool {
    report.verdict.bound.is_none() && report.counts.intervals >= INTERVALS
}

fn decide(intervals: u64, span_ns: u64, parts: &GapParts) -> (Option<Bound>, Message) {
    if intervals < INTERVALS {
        let why = "No verdict: the window has a single GPU interval, and so no gap";
        return (None, why.into());
    }
    let idle_ns = parts.total_ns() - parts.queued_ns;
    if u128::from(IDLE_PARTS) * u128::from(idle_ns) <= u128::from(span_ns) {
        return (Some(Bound::Gpu), gpu(parts, span_ns));
    }

    let cpu = if parts.encoding_ns > parts.host_ns {
        Bound::CpuEncoding
    } else {
        Bound::CpuHost
    };
    let mut groups = [
        (Bound::Latency, parts.completion_ns + parts.submission_ns),
        (cpu, parts.host_ns + parts.encoding_ns),
        (Bound::Contended, parts.contention_ns),
    ];
    // The sort is stable: of equal groups the first of the list comes first.
    groups.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
    let [(first, most_ns), (second, less_ns), _] = groups;

    let rest = if parts.queued_ns > 0 {
        "the idle time without queued work"
    } else {
        "the idle time"
    };
    let has_half = |ns: u64| 2 * u128::from(ns) >= u128::from(idle_ns);
    let share = |ns: u64| percent(ratio(ns, idle_ns).unwrap_or(0.0));
    if has_half(most_ns) {
        // The next lines name all idle time: another sum of it would look like a mistake.
        let times =
            (parts.queued_ns == 0).then(|| message!(" ({} of {})", time(most_ns), time(idle_ns)));
        let why = message!(
            "{}: {} {} of {}{}",
            capitalized(first),
            causes(first),
            share(most_ns),
            rest,
            times
        );
        (Some(first), why)
    } else if has_half(most_ns + parts.unknown_ns) {
        let why = message!(
            "No verdict: the cause of {} of {} is not recorded",
            share(parts.unknown_ns),
            rest
        );
        (None, why)
    } else {
        let why = message!(
            "Mixed: {} {} of {}; {} {}",
            causes(first),
            share(most_ns),
            rest,
            causes(second),
            share(less_ns),
        );
        (Some(Bound::Mixed), why)
    }
}

fn gpu(parts: &GapParts, span_ns: u64) -> Message {
    let idle_ns = parts.total_ns();
    let share = |ns: u64, of_ns: u64| percent(ratio(ns, of_ns).unwrap_or(0.0));
    let queued = (parts.queued_ns > 0).then(|| {
        message!(
            "; work was queued for {} of that time",
            share(parts.queued_ns, idle_ns)
        )
    });
    message!(
        "GPU-bound: the GPU was idle for {} of the window{}",
        share(idle_ns, span_ns),
        queued
    )
}

fn capitalized(bound: Bound) -> &'static str {
    match bound {
        Bound::Gpu => "GPU-bound",
        Bound::CpuHost => "CPU-bound (host work)",
        Bound::CpuEncoding => "CPU-bound (encoding)",
        Bound::Latency => "Latency-bound",
        Bound::Contended => "Contended",
        Bound::Mixed => "Mixed",
    }
}

/// Returns the causes of a group, with the verb of what follows.
fn causes(bound: Bound) -> &'static str {
    match bound {
        Bound::CpuHost | Bound::CpuEncoding => "host work and encoding are",
        Bound::Latency => "completion and submission latency are",
        Bound::Contended => "contention is",
        Bound::Gpu | Bound::Mixed => "the GPU is",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the verdict for causes in this order: completion, host, encoding, submission, queued,
    /// contention, unknown. The window is 1,000 ns long.
    fn check(idle: [u64; 7], expected: Option<Bound>) {
        let parts = GapParts {
            completion_ns: idle[0],
            host_ns: idle[1],
            encoding_ns: idle[2],
            submission_ns: idle[3],
            queued_ns: idle[4],
            contention_ns: idle[5],
            unknown_ns: idle[6],
        };
        let (found, why) = decide(2, 1_000, &parts);
        assert_eq!(found, expected, "{idle:?}: {}", why.text);
    }

    #[test]
    fn half_of_the_idle_time_decides() {
        use Bound::{Contended, CpuEncoding, CpuHost, Gpu, Latency, Mixed};
        check([0; 7], Some(Gpu));
        // A tenth of the window may be idle for any reason, known or not.
        check([100, 0, 0, 0, 0, 0, 0], Some(Gpu));
        check([0, 0, 0, 0, 0, 0, 100], Some(Gpu));
        check([101, 0, 0, 0, 0, 0, 0], Some(Latency));
        // Queued time is the GPU's own, however long.
        check([50, 0, 0, 0, 900, 0, 0], Some(Gpu));
        check([0, 200, 0, 0, 700, 0, 0], Some(CpuHost));
        // Half is enough, and groups are sums.
        check([100, 99, 101, 100, 0, 0, 0], Some(Latency));
        check([0, 150, 151, 100, 0, 100, 0], Some(CpuEncoding));
        check([0, 151, 150, 100, 0, 100, 0], Some(CpuHost));
        check([0, 100, 100, 100, 0, 300, 0], Some(Contended));
        check([100, 200, 0, 100, 0, 150, 0], Some(Mixed));
        // Unknown time decides nothing, and forbids the word mixed where it could.
        check([300, 0, 0, 0, 0, 0, 300], Some(Latency));
        check([200, 100, 0, 0, 0, 100, 100], None);
        check([200, 190, 0, 0, 0, 190, 10], Some(Mixed));
        check([0, 0, 0, 0, 0, 0, 500], None);
    }

    #[test]
    fn one_interval_tells_nothing() {
        let (found, _) = decide(1, 1_000, &GapParts::default());
        assert_eq!(found, None);
    }
}
