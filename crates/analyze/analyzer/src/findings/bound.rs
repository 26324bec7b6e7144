//! Decides the verdict in a word: what bounds the program.
//!
//! The verdict is about the steps of the main series, if what runs once takes much of the window.
//!
//! 1. A program whose steps begin on a grid of time is paced.
//! 2. If the GPU is busy for nine tenths of the time, the program is GPU-bound.
//! 3. Otherwise the replay decides: the part whose removal gives at least half of what all parts
//!    beside the GPU's work give together. If there is none, the verdict is mixed.
//! 4. Where the recording does not tell whether the program waits, both answers are replayed. If they
//!    differ, or if commits are missing, there is no verdict.

use metalens_message::{Message, Ns, count, message, share};

use super::distrust::distrust;
use super::steps::steps_each;
use crate::report::{
    Bound, BoundVerdict, ChosenBy, GapParts, HeldBy, Judged, Removal, Replay, ReplayPart, Report,
    WaitVerdict,
};

/// One part in this many of the time may be idle in a program that is GPU-bound.
const IDLE_PARTS: u64 = 10;
/// A single interval has no gap, and so no verdict.
const INTERVALS: u64 = 2;
/// One part in this many of the command buffers may be missing in a replay that decides.
const LEFT_OUT: u64 = 10;
/// One part in this many of the window that something that runs once has, to be named.
const ONCE_PARTS: u64 = 20;

/// Verdict with its reason.
type Decision = (Option<Bound>, Message);

/// Returns the verdict on a report.
pub(crate) fn bound(report: &Report) -> BoundVerdict {
    let judged = report.judged();
    let (bound, why) = match distrust(report) {
        Some(why) => (None, message!("No verdict: {}", why)),
        None => {
            let (bound, why) = decide(&judged, paced(report), report.replay.as_ref());
            let why = match late(report).filter(|_| bound == Some(Bound::Gpu)) {
                Some(late) => message!("{}; then {}", late, why),
                None => why,
            };
            let without = without(report);
            (
                bound,
                Message::joined(std::iter::once(why).chain(without), "; "),
            )
        }
    };
    BoundVerdict { bound, why }
}

/// Returns whether there is no verdict because the recording does not show the cause of most of the idle
/// time. The report has its verdict already.
pub(crate) fn is_undecided(report: &Report) -> bool {
    let idle = &report.idle;
    let is_unknown = idle.total_ns > Ns(0) && 2 * idle.parts.unknown_ns >= idle.total_ns;
    report.verdict.bound.is_none() && is_unknown && distrust(report).is_none()
}

/// Returns the clause that most of the recording passes before the first GPU work of a launched program:
/// what limits that work is not why the program is slow.
fn late(report: &Report) -> Option<Message> {
    let duration_ns = report.run.duration_ns?;
    let start_ns = report.window.start_ns;
    let is_late = report.process.chosen_by == ChosenBy::Launched && 2 * start_ns >= duration_ns;
    is_late.then(|| {
        message!(
            "Starts late: {} of {} pass before the first GPU work",
            start_ns,
            duration_ns
        )
    })
}

/// Returns the clause on what runs once, if the verdict leaves it out.
fn without(report: &Report) -> Option<Message> {
    let (judged, main) = (report.judged.as_ref()?, report.steps.first()?);
    let first_ns = report.window.start_ns;
    let before = judged.start_ns - first_ns;
    let between = judged.end_ns - judged.start_ns - judged.span_ns;
    let after = report.window.end_ns - judged.end_ns;
    let parts = [
        (before, "before the first"),
        (between, "between"),
        (after, "from the last on"),
    ];
    let parts = parts
        .into_iter()
        .filter(|(ns, _)| *ns * ONCE_PARTS > report.window.span_ns);
    let parts = parts.map(|(ns, place)| message!("{} {}", ns, place));
    Some(message!(
        "judged by the {}s alone, without {}",
        Message::words(main.noun()),
        Message::joined(parts, ", ")
    ))
}

fn decide(judged: &Judged<'_>, pace: Option<Message>, replay: Option<&Replay>) -> Decision {
    let parts = &judged.idle.parts;
    if judged.intervals < INTERVALS {
        let why = "No verdict: the window has a single GPU interval, and so no gap";
        return (None, why.into());
    }
    if u128::from(IDLE_PARTS) * parts.total_ns().wide() <= judged.span_ns.wide() {
        return (Some(Bound::Gpu), gpu(judged));
    }
    if let Some(pace) = pace {
        return (Some(Bound::Paced), pace);
    }
    let Some(replay) = replay.filter(|replay| is_whole(replay)) else {
        let why = "No verdict: the recording does not tell when the program committed its work";
        return (None, why.into());
    };
    if let Some(held_by) = replay.waiting.held_by {
        return (None, held(held_by));
    }
    let untold = "the recording does not tell whether the program waits for its command buffers";
    let is_known = replay.waiting.verdict != WaitVerdict::Unknown;
    let likely = limit(replay, judged, |each| each.left_ns);
    let other = limit(replay, judged, |each| {
        each.otherwise_ns.unwrap_or(each.left_ns)
    });
    let mut removals = replay.removals.iter();
    let has_other = removals.any(|each| each.otherwise_ns.is_some());
    match (likely.0, other.0) {
        (Some(bound), Some(other)) if has_other && bound != other => {
            let (bound, other) = (bound.label(), other.label());
            let why = message!("No verdict: {} or {}; {}", bound, other, untold);
            (None, why)
        }
        _ if is_known || has_other => likely,
        _ => (None, message!("No verdict: {}", untold)),
    }
}

/// Returns why nobody can tell what limits a program that something else holds up.
fn held(by: HeldBy) -> Message {
    match by {
        HeldBy::Requests => message!(
            "No verdict: the times at which work begins look like those of requests, and a recording \
             does not tell waiting for input from work of the CPU"
        ),
        HeldBy::OtherProcess => message!(
            "No verdict: the program goes on after GPU work of another process, and what holds up that \
             one is not part of this report"
        ),
    }
}

/// Returns whether a replay knows nearly all command buffers.
fn is_whole(replay: &Replay) -> bool {
    let buffers = replay.command_buffers + replay.left_out;
    LEFT_OUT * replay.left_out <= buffers
}

/// Decides by what is left without each part.
fn limit(replay: &Replay, judged: &Judged<'_>, left_ns: impl Fn(&Removal) -> Ns) -> Decision {
    const REST: [ReplayPart; 4] = [
        ReplayPart::Host,
        ReplayPart::Driver,
        ReplayPart::Latency,
        ReplayPart::Others,
    ];
    let whole_ns = replay.span_ns;
    let saved = |without: &[ReplayPart]| {
        let removal = replay.removals.iter().find(|each| each.without == without);
        whole_ns.saturating_sub(removal.map_or(whole_ns, &left_ns))
    };
    let less = |ns: Ns| share(ns, whole_ns).unwrap_or_default();
    let all_ns = saved(&REST);
    if u128::from(IDLE_PARTS) * all_ns.wide() < whole_ns.wide() {
        // A GPU that is mostly idle is not the limit.
        let is_mostly_busy = 2 * judged.busy_ns.wide() >= judged.span_ns.wide();
        return if is_mostly_busy {
            (Some(Bound::Gpu), gpu(judged))
        } else {
            let why = "No verdict: nothing recorded explains most of the idle time";
            (None, why.into())
        };
    }
    let is_half = |ns: Ns| 2 * ns.wide() >= all_ns.wide();
    let single = REST.map(|part| (saved(&[part]), part)).into_iter().max();
    let Some((single_ns, single)) = single.filter(|&(ns, _)| is_half(ns)) else {
        let pairs = replay.removals.iter();
        let pairs = pairs.filter(|each| each.without.len() == 2);
        let pair = pairs.max_by_key(|each| saved(&each.without));
        let pair = pair.map(|pair| {
            let labels = pair.without.iter().map(|part| part.label());
            message!(
                "; without {} the run would take {} less time",
                Message::joined(labels, " and "),
                less(saved(&pair.without))
            )
        });
        let why = message!("Mixed: no part alone limits{}", pair);
        return (Some(Bound::Mixed), why);
    };
    let bound = bound_of(single, &judged.idle.parts);
    let why = message!(
        "{}: without {} the run would take {} less time",
        bound.label(),
        single.label(),
        less(single_ns),
    );
    (Some(bound), why)
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

fn gpu(judged: &Judged<'_>) -> Message {
    let parts = &judged.idle.parts;
    let idle_ns = parts.total_ns();
    let queued = (parts.queued_ns > Ns(0)).then(|| {
        message!(
            "; work was queued for {} of that time",
            share(parts.queued_ns, idle_ns).unwrap_or_default()
        )
    });
    let idle = match idle_ns {
        Ns(0) => "never idle in".into(),
        idle_ns => message!(
            "idle for {} of",
            share(idle_ns, judged.span_ns).unwrap_or_default()
        ),
    };
    message!("GPU-bound: the GPU was {} {}{}", idle, judged.name, queued)
}

/// Returns how a program that keeps a pace does; `None` for one that does not.
fn paced(report: &Report) -> Option<Message> {
    let main = report.steps.first()?;
    let (period_ns, missed) = main.period_ns.zip(main.missed)?;
    let gpu_ns = main.kinds.first()?.gpu_ns?;
    let is_said = main.kinds.first()?.slow.is_some();
    let late = (missed > 0 && !is_said)
        .then(|| message!("; {} of {} are late", count(missed), count(main.count)));
    Some(message!(
        "Paced at {} a second: of {}, the GPU works {}; {} headroom{}",
        steps_each(main, period_ns)?,
        period_ns,
        gpu_ns,
        share(period_ns.saturating_sub(gpu_ns), period_ns)?,
        late
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{IdleTime, Outliers};

    /// Returns the verdict on a window of 1,000 ns in which the GPU was idle for a time.
    fn decided(idle_ns: Ns, intervals: u64, replay: Option<&Replay>) -> Decision {
        let parts = GapParts {
            host_ns: idle_ns,
            ..GapParts::default()
        };
        let idle_time = IdleTime {
            total_ns: idle_ns,
            parts,
            ..IdleTime::default()
        };
        let judged = Judged {
            name: "the window",
            span_ns: Ns(1_000),
            intervals,
            busy_ns: Ns(1_000) - idle_ns,
            idle: &idle_time,
            outliers: &Outliers::default(),
        };
        decide(&judged, None, replay)
    }

    /// Returns a replay of 1,000 ns with what is left without host, driver, latency, both of the
    /// first two, and all.
    fn replay(left: [u64; 5], otherwise: Option<[u64; 5]>) -> Replay {
        use ReplayPart::{Driver, Host, Latency, Others};
        let sets = [
            vec![Host],
            vec![Driver],
            vec![Latency],
            vec![Host, Driver],
            vec![Host, Driver, Latency, Others],
        ];
        let removals = sets.into_iter().zip(left).enumerate();
        let removals = removals.map(|(place, (without, left_ns))| Removal {
            step: None,
            without,
            left_ns: Ns(left_ns),
            otherwise_ns: otherwise.map(|otherwise| Ns(otherwise[place])),
        });
        let mut replay = Replay {
            command_buffers: 100,
            span_ns: Ns(1_000),
            removals: removals.collect(),
            ..Replay::default()
        };
        if otherwise.is_none() {
            replay.waiting.verdict = WaitVerdict::DoesNotWait;
        }
        replay
    }

    #[test]
    fn the_replay_decides() {
        use Bound::{CpuHost, Driver, Gpu, Latency, Mixed};
        let check = |left, expected| {
            let (found, why) = decided(Ns(900), 2, Some(&replay(left, None)));
            assert_eq!(found, expected, "{left:?}: {}", why.text);
        };
        check([300, 1_000, 1_000, 300, 100], Some(CpuHost));
        check([1_000, 400, 1_000, 400, 100], Some(Driver));
        check([900, 900, 500, 800, 100], Some(Latency));
        // Either alone gives little, both give much.
        check([960, 990, 1_000, 110, 100], Some(Mixed));
        check([700, 800, 800, 500, 100], Some(Mixed));
        // Nothing explains why the GPU is idle for nine tenths of the time.
        let nothing = [1_000, 1_000, 1_000, 990, 950];
        check(nothing, None);
        let (found, why) = decided(Ns(450), 2, Some(&replay(nothing, None)));
        assert_eq!(found, Some(Gpu), "{}", why.text);
    }

    #[test]
    fn both_answers_must_agree() {
        let check = |left, otherwise, expected| {
            let (found, why) = decided(Ns(900), 2, Some(&replay(left, Some(otherwise))));
            assert_eq!((found, why.text.as_str()), expected);
        };
        let (host, latency) = ([300, 1_000, 1_000, 300, 100], [900, 900, 500, 800, 100]);
        check(
            host,
            [400, 1_000, 1_000, 400, 200],
            (
                Some(Bound::CpuHost),
                "CPU-bound (host work): without host work and encoding the run would take 70.0 % less \
                 time",
            ),
        );
        check(
            host,
            latency,
            (
                None,
                "No verdict: CPU-bound (host work) or Latency-bound; the recording does not tell \
                 whether the program waits for its command buffers",
            ),
        );
    }

    #[test]
    fn a_tenth_of_the_time_may_be_idle_for_any_reason() {
        assert_eq!(decided(Ns(100), 2, None).0, Some(Bound::Gpu));
        assert_eq!(decided(Ns(101), 2, None).0, None);
        // One interval has no gap.
        assert_eq!(decided(Ns(0), 1, None).0, None);
    }
}
