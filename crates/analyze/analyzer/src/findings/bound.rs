//! Decides the verdict in a word: what bounds the program.
//!
//! The verdict is about the steady part of the window, if there is one.
//!
//! 1. A program whose iterations begin on a grid of time is paced.
//! 2. If the GPU is busy for nine tenths of the time, the program is GPU-bound.
//! 3. Otherwise the replay decides: the part whose removal gives at least half of what all parts
//!    beside the GPU's work give together. If only two parts together do, and each alone gives little,
//!    they bound it at once. If neither, the verdict is mixed.
//! 4. Where the recording does not tell whether the program waits, or lacks commits, the group of
//!    causes with at least half of the idle time decides. If none has half of it, the verdict is mixed;
//!    or none, if time of unknown cause could have given a group its half.

use super::distrust::distrust;
use crate::basics::message::{Message, count, percent, time};
use crate::basics::statistics::ratio;
use crate::message;
use crate::report::{
    Bound, BoundVerdict, ExcludedPart, GapParts, Judged, Pace, PartKind, Replay, ReplayPart,
    Report, WaitVerdict,
};

/// One part in this many of the time may be idle in a program that is GPU-bound.
const IDLE_PARTS: u64 = 10;
/// A single interval has no gap, and so no verdict.
const INTERVALS: u64 = 2;
/// One part in this many of the command buffers may be missing in a replay that decides.
const LEFT_OUT: u64 = 10;

/// Verdict with its reason.
type Decision = (Option<Bound>, Message);

/// Returns the verdict on a report.
pub(crate) fn bound(report: &Report) -> BoundVerdict {
    let judged = report.judged();
    let (bound, why) = match distrust(report) {
        Some(why) => (None, message!("No verdict: {}", why)),
        None => {
            let (pace, replay) = (report.pace.as_ref(), report.replay.as_ref());
            let (bound, why) = decide(&judged, pace, replay);
            let excluded = report.steady.iter().flat_map(|steady| &steady.excluded);
            let without = excluded.map(|part| without_part(part, report));
            (
                bound,
                Message::joined(std::iter::once(why).chain(without), "; "),
            )
        }
    };
    BoundVerdict { bound, why }
}

/// Returns whether there is no verdict because time of unknown cause could change it. The report has
/// its verdict already.
pub(crate) fn is_undecided(report: &Report) -> bool {
    let is_trusted = distrust(report).is_none();
    report.verdict.bound.is_none() && report.counts.intervals >= INTERVALS && is_trusted
}

/// Returns the clause that a part of the window was left out.
fn without_part(part: &ExcludedPart, report: &Report) -> Message {
    let length_ns = part.end_ns - part.start_ns;
    let side = if part.start_ns == report.window.start_ns {
        "first"
    } else {
        "last"
    };
    match part.kind {
        PartKind::WarmUp => message!("judged without the warm-up of {}", time(length_ns)),
        PartKind::Pause => message!(
            "judged without the {} {}, which have a pause of {}",
            side,
            time(length_ns),
            time(part.longest_gap_ns)
        ),
    }
}

fn decide(judged: &Judged<'_>, pace: Option<&Pace>, replay: Option<&Replay>) -> Decision {
    let parts = &judged.idle.parts;
    if judged.intervals < INTERVALS {
        let why = "No verdict: the window has a single GPU interval, and so no gap";
        return (None, why.into());
    }
    let is_tenth = |ns: u64| u128::from(IDLE_PARTS) * u128::from(ns) <= u128::from(judged.span_ns);
    if is_tenth(parts.total_ns()) {
        return (Some(Bound::Gpu), gpu(judged));
    }
    if let Some(pace) = pace {
        return (Some(Bound::Paced), paced(pace));
    }
    let by_replay = replay
        .filter(|replay| is_decisive(replay))
        .and_then(|replay| by_replay(replay, parts));
    if let Some(decision) = by_replay {
        return decision;
    }
    // Work that the GPU had is its own matter, but a GPU that is mostly idle is not the limit.
    let is_mostly_busy = 2 * u128::from(judged.busy_ns) >= u128::from(judged.span_ns);
    if is_mostly_busy && is_tenth(parts.total_ns() - parts.queued_ns) {
        return (Some(Bound::Gpu), gpu(judged));
    }
    by_causes(parts)
}

/// Returns whether a replay knows nearly all command buffers, and whether the program waits.
fn is_decisive(replay: &Replay) -> bool {
    let buffers = replay.command_buffers + replay.left_out;
    replay.waiting.verdict != WaitVerdict::Unknown && LEFT_OUT * replay.left_out <= buffers
}

/// Decides by what is left without each part; `None` if nothing beside the GPU's work would shorten
/// the run.
fn by_replay(replay: &Replay, parts: &GapParts) -> Option<Decision> {
    const REST: [ReplayPart; 4] = [
        ReplayPart::Host,
        ReplayPart::Driver,
        ReplayPart::Latency,
        ReplayPart::Others,
    ];
    let whole_ns = replay.span_ns;
    let saved = |without: &[ReplayPart]| replay.saved_without(without).unwrap_or(0);
    let all_ns = saved(&REST);
    if u128::from(IDLE_PARTS) * u128::from(all_ns) < u128::from(whole_ns) {
        return None;
    }
    let is_half = |ns: u64| 2 * u128::from(ns) >= u128::from(all_ns);

    let (single_ns, single) = REST.map(|part| (saved(&[part]), part)).into_iter().max()?;
    if is_half(single_ns) {
        let bound = bound_of(single, parts);
        let why = message!(
            "{}: without {} the {} would take about {}",
            capitalized(bound),
            single.label(),
            time(whole_ns),
            time(whole_ns - single_ns),
        );
        return Some((Some(bound), agreeing(bound, parts).unwrap_or(why)));
    }

    let pairs = REST.iter().enumerate().flat_map(|(place, &part)| {
        let later = REST.iter().skip(place + 1);
        later.map(move |&other| [part, other])
    });
    let (pair_ns, pair) = pairs.map(|pair| (saved(&pair), pair)).max()?;
    let [first, second] = pair;
    let alone_ns = saved(&[first]).max(saved(&[second]));
    // What two parts give beyond their sum, neither gives alone.
    let is_joint = pair_ns > 2 * (saved(&[first]) + saved(&[second]));
    if is_half(pair_ns) && is_joint {
        let why = message!(
            "Bound by {} and {} at once: without both the {} would take about {}, without either \
             alone at best {}",
            first.label(),
            second.label(),
            time(whole_ns),
            time(whole_ns - pair_ns),
            time(whole_ns - alone_ns),
        );
        return Some((Some(Bound::Together), why));
    }
    let why = message!(
        "Mixed: no part alone limits; without {} the {} would take about {}",
        single.label(),
        time(whole_ns),
        time(whole_ns - single_ns),
    );
    Some((Some(Bound::Mixed), why))
}

fn bound_of(part: ReplayPart, parts: &GapParts) -> Bound {
    match part {
        ReplayPart::Host => cpu(parts),
        ReplayPart::Driver => Bound::Driver,
        ReplayPart::Gpu => Bound::Gpu,
        ReplayPart::Latency => Bound::Latency,
        ReplayPart::Others => Bound::Contended,
    }
}

fn cpu(parts: &GapParts) -> Bound {
    if parts.encoding_ns > parts.host_ns {
        Bound::CpuEncoding
    } else {
        Bound::CpuHost
    }
}

/// Returns the groups of causes with their time.
fn groups(parts: &GapParts) -> [(Bound, u64); 4] {
    let driver_ns = parts.driver_wait_ns + parts.driver_ns;
    let latency_ns =
        parts.completion_ns + parts.submission_ns + parts.start_latency_ns + parts.queued_ns;
    [
        (Bound::Latency, latency_ns),
        (cpu(parts), parts.host_ns + parts.encoding_ns),
        (Bound::Contended, parts.contention_ns),
        (Bound::Driver, driver_ns),
    ]
}

/// Returns the reason by the idle time, if its causes agree with a verdict of the replay.
fn agreeing(bound: Bound, parts: &GapParts) -> Option<Message> {
    let idle_ns = parts.total_ns();
    let (_, ns) = groups(parts).into_iter().find(|&(each, _)| each == bound)?;
    (2 * u128::from(ns) >= u128::from(idle_ns)).then(|| of_idle(bound, ns, parts))
}

fn of_idle(bound: Bound, ns: u64, parts: &GapParts) -> Message {
    let idle_ns = parts.total_ns();
    message!(
        "{}: {} {} of the idle time ({} of {})",
        capitalized(bound),
        causes(bound, parts),
        percent(ratio(ns, idle_ns).unwrap_or(0.0)),
        time(ns),
        time(idle_ns)
    )
}

fn by_causes(parts: &GapParts) -> Decision {
    let idle_ns = parts.total_ns();
    let mut groups = groups(parts);
    // The sort is stable: of equal groups the first of the list comes first.
    groups.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
    let [(first, most_ns), (second, less_ns), ..] = groups;
    let has_half = |ns: u64| 2 * u128::from(ns) >= u128::from(idle_ns);
    let share = |ns: u64| percent(ratio(ns, idle_ns).unwrap_or(0.0));
    if has_half(most_ns) {
        (Some(first), of_idle(first, most_ns, parts))
    } else if has_half(most_ns + parts.unknown_ns) {
        let why = message!(
            "No verdict: the cause of {} of the idle time is not recorded",
            share(parts.unknown_ns),
        );
        (None, why)
    } else {
        let why = message!(
            "Mixed: {} {} of the idle time; {} {}",
            causes(first, parts),
            share(most_ns),
            causes(second, parts),
            share(less_ns),
        );
        (Some(Bound::Mixed), why)
    }
}

fn gpu(judged: &Judged<'_>) -> Message {
    let parts = &judged.idle.parts;
    let idle_ns = parts.total_ns();
    let share = |ns: u64, of_ns: u64| percent(ratio(ns, of_ns).unwrap_or(0.0));
    let queued = (parts.queued_ns > 0).then(|| {
        message!(
            "; work was queued for {} of that time",
            share(parts.queued_ns, idle_ns)
        )
    });
    message!(
        "GPU-bound: the GPU was idle for {} of {}{}",
        share(idle_ns, judged.span_ns),
        judged.name,
        queued
    )
}

fn paced(pace: &Pace) -> Message {
    let headroom = pace.period_ns.saturating_sub(pace.busy_ns);
    let missed = (pace.missed_count > 0).then(|| {
        message!(
            "; {} of {} periods missed",
            count(pace.missed_count),
            count(pace.starts)
        )
    });
    message!(
        "Paced, one iteration each {}: the GPU works for {} of it; {} headroom{}",
        time(pace.period_ns),
        time(pace.busy_ns),
        percent(ratio(headroom, pace.period_ns).unwrap_or(0.0)),
        missed
    )
}

fn capitalized(bound: Bound) -> &'static str {
    match bound {
        Bound::Gpu => "GPU-bound",
        Bound::CpuHost => "CPU-bound (host work)",
        Bound::CpuEncoding => "CPU-bound (encoding)",
        Bound::Driver => "Driver-bound",
        Bound::Latency => "Latency-bound",
        Bound::Contended => "Contended",
        Bound::Together => "Bound by two parts",
        Bound::Paced => "Paced",
        Bound::Mixed => "Mixed",
    }
}

/// Returns the causes of a group, with the verb of what follows.
fn causes(bound: Bound, parts: &GapParts) -> &'static str {
    match bound {
        Bound::CpuHost | Bound::CpuEncoding => "host work and encoding are",
        Bound::Driver => "the driver and the wait for it are",
        Bound::Latency if parts.queued_ns > 0 => "latencies and queued work are",
        Bound::Latency if parts.start_latency_ns > 0 => "completion and GPU start latency are",
        Bound::Latency => "completion and submission latency are",
        Bound::Contended => "contention is",
        Bound::Gpu | Bound::Mixed | Bound::Together | Bound::Paced => "the GPU is",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{IdleTime, Outliers, Removal};

    /// Checks the verdict of a window of 1,000 ns for causes in this order: completion, host, encoding,
    /// submission, queued, contention, unknown.
    fn check(idle: [u64; 7], replay: Option<&Replay>, expected: Option<Bound>) {
        let parts = GapParts {
            completion_ns: idle[0],
            host_ns: idle[1],
            encoding_ns: idle[2],
            submission_ns: idle[3],
            queued_ns: idle[4],
            contention_ns: idle[5],
            unknown_ns: idle[6],
            ..GapParts::default()
        };
        let idle_time = IdleTime {
            total_ns: parts.total_ns(),
            parts,
            ..IdleTime::default()
        };
        let judged = Judged {
            name: "the window",
            span_ns: 1_000,
            intervals: 2,
            busy_ns: 1_000 - parts.total_ns(),
            idle: &idle_time,
            outliers: &Outliers::default(),
        };
        let (found, why) = decide(&judged, None, replay);
        assert_eq!(found, expected, "{idle:?}: {}", why.text);
    }

    #[test]
    fn half_of_the_idle_time_decides() {
        use Bound::{Contended, CpuEncoding, CpuHost, Gpu, Latency, Mixed};
        let check = |idle, expected| check(idle, None, expected);
        check([0; 7], Some(Gpu));
        // A tenth of the window may be idle for any reason, known or not.
        check([100, 0, 0, 0, 0, 0, 0], Some(Gpu));
        check([0, 0, 0, 0, 0, 0, 100], Some(Gpu));
        check([101, 0, 0, 0, 0, 0, 0], Some(Latency));
        // Queued time is the GPU's own while the GPU is mostly busy.
        check([50, 0, 0, 0, 450, 0, 0], Some(Gpu));
        check([50, 0, 0, 0, 460, 0, 0], Some(Latency));
        check([0, 200, 0, 0, 100, 0, 0], Some(CpuHost));
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

    /// Returns a replay of 1,000 ns with what is left without host, driver, latency, both of the
    /// first two, and all.
    fn replay(left: [u64; 5]) -> Replay {
        use ReplayPart::{Driver, Host, Latency, Others};
        let sets = [
            vec![Host],
            vec![Driver],
            vec![Latency],
            vec![Host, Driver],
            vec![Host, Driver, Latency, Others],
        ];
        let removals = sets.into_iter().zip(left);
        let mut replay = Replay {
            command_buffers: 100,
            span_ns: 1_000,
            removals: removals
                .map(|(without, left_ns)| Removal { without, left_ns })
                .collect(),
            ..Replay::default()
        };
        replay.waiting.verdict = WaitVerdict::DoesNotWait;
        replay
    }

    #[test]
    fn the_replay_decides_where_it_knows() {
        use Bound::{CpuHost, Driver, Latency, Mixed, Together};
        // Small asynchronous work: all idle time is latency that overlaps, and the host limits.
        let latencies = [0, 0, 0, 100, 800, 0, 0];
        let decide = |left, expected| check(latencies, Some(&replay(left)), expected);
        decide([300, 1_000, 1_000, 300, 100], Some(CpuHost));
        decide([1_000, 400, 1_000, 400, 100], Some(Driver));
        decide([900, 900, 500, 800, 100], Some(Latency));
        // Either alone gives little, both give much.
        decide([960, 990, 1_000, 110, 100], Some(Together));
        decide([700, 800, 800, 500, 100], Some(Mixed));
        // A recording that does not tell whether the program waits is judged by its causes.
        let mut unknown = replay([300, 1_000, 1_000, 300, 100]);
        unknown.waiting.verdict = WaitVerdict::Unknown;
        check(latencies, Some(&unknown), Some(Latency));
    }

    #[test]
    fn one_interval_tells_nothing() {
        let judged = Judged {
            name: "the window",
            span_ns: 1_000,
            intervals: 1,
            busy_ns: 1_000,
            idle: &IdleTime::default(),
            outliers: &Outliers::default(),
        };
        assert_eq!(decide(&judged, None, None).0, None);
    }
}
