//! Says what the steps of a program are, how fast, which are slow, and what a change leaves of one.

use metalens_message::{
    Factor, Message, Ns, count, counted, kernel, message, moment, name, ratio, rough_time, share,
    steps_per_second,
};

use crate::report::{
    Cause, Gain, GapParts, HeldBy, Report, SlowKernel, SlowSteps, StepKind, StepSeries, StepsBy,
};

/// Share by which two rates differ from which on both are worth a word.
const APART: f64 = 0.05;
/// Number of slow steps whose places are said.
const PLACES: usize = 2;

/// Returns how many steps there are, how fast, and how that is known; `None` if there are none.
pub(super) fn steps(report: &Report) -> Option<Message> {
    let main = report.steps.first()?;
    if serves(report) {
        return requests(report, main);
    }
    let kind = main.kinds.first()?;
    let per_second = main.per_second?;
    let rest = kind.slow.as_ref().and_then(|slow| {
        let rest_ns = kind.total_ns - slow.mean_ns * slow.count;
        ratio(
            ((kind.count - slow.count) * 1_000_000_000).saturating_mul(main.units),
            rest_ns.0,
        )
    });
    let rest = rest.filter(|rest| rest / per_second - 1.0 > APART && main.kinds.len() == 1);
    let rest = rest.map(|rest| message!(" ({} without the slow ones)", steps_per_second(rest)));
    let far = [("p95", kind.p95_ns), ("p99", kind.p99_ns)];
    let mut far = far
        .into_iter()
        .filter_map(|(what, ns)| Some(message!("{} {}", what, ns?)))
        .peekable();
    let far = far.peek().is_some().then(|| Message::joined(far, ", "));
    let each = kind.median_ns.map(|ns| {
        let far = far.map(|far| message!(" ({})", far));
        let of_kind = (main.kinds.len() > 1)
            .then(|| message!(" for {} of {}", count(kind.count), count(main.measured)));
        message!(", median {}{}{}", ns, far, of_kind)
    });
    Some(message!(
        "{}, {}{} a second{}{}; {}",
        counted_steps(main),
        steps_per_second(per_second),
        units(main),
        rest,
        each,
        by(main),
    ))
}

/// Returns whether the program works when a request comes: then the time between two says nothing of it.
pub(super) fn serves(report: &Report) -> bool {
    let replay = report.replay.as_ref();
    replay.is_some_and(|replay| replay.waiting.held_by == Some(HeldBy::Requests))
}

/// Returns how many requests there are, how long they take, and how loaded the GPU is.
fn requests(report: &Report, main: &StepSeries) -> Option<Message> {
    let latency = main.latency_ns.map(|ns| {
        let alone = main.latency_alone_ns.filter(|alone| *alone * 10 < ns * 9);
        let alone = alone.map(|ns| message!("{} for one that finds the GPU free", ns));
        let p95 = main.latency_p95_ns.map(|ns| message!("p95 {}", ns));
        let mut more = p95.into_iter().chain(alone).peekable();
        let more = more.peek().is_some().then(|| Message::joined(more, ", "));
        let more = more.map(|more| message!(" ({})", more));
        message!(", {} from encoding to completion{}", ns, more)
    });
    Some(message!(
        "{}, {}{} a second{}; the GPU is loaded to {}",
        counted_steps(main),
        steps_per_second(main.per_second?),
        units(main),
        latency,
        report.busy.ratio?,
    ))
}

/// Returns how many units there are in a second if each step has a length.
pub(super) fn steps_each(main: &StepSeries, ns: Ns) -> Option<Message> {
    ratio(main.units.saturating_mul(1_000_000_000), ns.0).map(steps_per_second)
}

/// Returns the name of the units, after their number; `None` if a step is one.
fn units(main: &StepSeries) -> Option<Message> {
    (main.units > 1).then(|| message!(" {}", name(&main.name)))
}

fn counted_steps(main: &StepSeries) -> Message {
    let steps = counted(main.count, main.noun());
    match main.by {
        _ if main.units > 1 => message!("{} of {}{}", steps, count(main.units), units(main)),
        StepsBy::Named => message!("{} × {}", count(main.count), name(&main.name)),
        _ => steps,
    }
}

/// Returns how the steps were found.
fn by(main: &StepSeries) -> Message {
    match main.by {
        StepsBy::Paced => "at a fixed rate".into(),
        StepsBy::Named => "named by the program".into(),
        StepsBy::Waited => "each ends with a wait".into(),
        StepsBy::Repeated => "found as work that repeats".into(),
    }
}

/// Returns how much longer slow steps take, why, and where they are; `None` if there are none.
pub(super) fn slow(report: &Report) -> Option<Message> {
    let main = report.steps.first().filter(|_| !serves(report))?;
    let kind = main.kinds.first()?;
    let slow = kind.slow.as_ref()?;
    let usual_ns = kind.median_ns?;
    let why = more(main, kind, slow).map(|why| message!(": {}", why));
    let places = slow.longest.iter().map(|step| moment(step.start_ns));
    let others = slow.count > PLACES as u64;
    let places = Message::joined(places.take(PLACES), ", ");
    let verb = if main.missed.is_some() {
        "late"
    } else {
        "slow"
    };
    Some(message!(
        "{} of {} {} {}, {} instead of {}{}; that costs {} of the time (at {}{})",
        count(slow.count),
        counted(main.count, main.noun()),
        if slow.count == 1 { "is" } else { "are" },
        verb,
        rough_time(slow.mean_ns),
        rough_time(usual_ns),
        why,
        share(slow.excess_ns, kind.total_ns)?,
        places,
        if others { ", …" } else { "" },
    ))
}

/// Returns what slow steps have more of than the typical one: the parts that have most of it.
fn more(main: &StepSeries, kind: &StepKind, slow: &SlowSteps) -> Option<Message> {
    let typical = kind.typical.as_ref()?;
    let (gpu_ns, idle): (Ns, GapParts) = (slow.gpu_ns?, slow.idle?);
    let gpu_more_ns = gpu_ns.saturating_sub(typical.gpu_ns);
    let mut parts = vec![("GPU", gpu_more_ns)];
    parts.extend(Cause::ALL.map(|cause| {
        let more_ns = idle.get(cause).saturating_sub(typical.idle.get(cause));
        (cause.label(), more_ns)
    }));
    parts.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
    let all_ns: Ns = parts.iter().map(|&(_, ns)| ns).sum();
    let largest = parts
        .into_iter()
        .filter(|(_, ns)| *ns * 5 >= all_ns && *ns > Ns(0));
    let mut largest = largest
        .map(|(what, ns)| message!("{} +{}", what, rough_time(ns)))
        .peekable();
    largest.peek()?;
    let gpu = kernels(main, slow).filter(|_| 2 * gpu_more_ns >= all_ns);
    let gpu = gpu.map(|kernels| message!("; {}", kernels));
    Some(message!("{}{}", Message::joined(largest, ", "), gpu))
}

/// Returns which kernels take longer in slow steps: all of them, or the first.
fn kernels(main: &StepSeries, slow: &SlowSteps) -> Option<Message> {
    /// Share by which factors of kernels may differ.
    const ALIKE: f64 = 0.1;
    let times = |kernel: &SlowKernel| ratio(kernel.slow_ns, kernel.usual_ns);
    let first = slow.kernels.first()?;
    let most = times(first)?;
    let is_alike =
        |kernel: &SlowKernel| times(kernel).is_some_and(|each| (each / most - 1.0).abs() < ALIKE);
    let noun = if main.are_frames() {
        "passes"
    } else {
        "kernels"
    };
    Some(
        if slow.kernels.len() > 1 && slow.kernels.iter().all(is_alike) {
            message!("all {} ×{}", noun, Factor(most))
        } else {
            message!("{} ×{}", kernel(&first.name), Factor(most))
        },
    )
}

/// Returns what a change leaves of a step, and the command that predicts it; `None` if it was not
/// replayed.
pub(super) fn with_change(report: &Report, gain: &Gain) -> Option<Message> {
    let main = report.steps.first()?;
    let (before, after) = (report.replay.as_ref()?.step?, gain.step?);
    Some(message!(
        "{} {}× as fast: {} a {} instead of {}, {}{} a second instead of {} (what-if {})",
        gain.certainty.words(),
        gain.speedup,
        rough_time(after.mean_ns),
        Message::words(main.noun()),
        rough_time(before.mean_ns),
        steps_each(main, after.mean_ns)?,
        units(main),
        steps_each(main, before.mean_ns)?,
        gain.change?.option(),
    ))
}
