//! Describes the differences between two reports in sentences: exact differences without a
//! judgment.

use metalens_analyzer::units::{count, counted, percent, time};
use metalens_analyzer::{Cause, Report};

/// Returns the change of the wall time, with the name of the program if it is the same.
pub(crate) fn headline(base: &Report, new: &Report, shown: impl Fn(&str) -> String) -> String {
    let (before, now) = (base.window.span_ns, new.window.span_ns);
    let both = format!("{} → {}", time(before), time(now));
    let change = match times(now, before) {
        _ if now == before => format!("as long as base, {}", time(now)),
        None => both,
        Some(times) if times < 1.0 => format!("{} of base's time, {both}", percent(times)),
        Some(times) if times < 2.0 => format!("{} longer than base, {both}", percent(times - 1.0)),
        Some(times) => format!("{} times as long as base, {both}", digits(times)),
    };
    if base.process.name == new.process.name {
        format!("{}: new takes {change}", shown(&new.process.name))
    } else {
        format!("New takes {change}")
    }
}

/// Describes where the difference comes from; its parts sum to it.
pub(crate) fn difference(base: &Report, new: &Report) -> String {
    let idle = change_of_time(base.gaps.total_ns, new.gaps.total_ns);
    let busy = change_of_time(base.busy.busy_ns, new.busy.busy_ns);
    let causes = causes(base, new);
    let known = causes.filter_map(|(cause, before, now)| Some((cause, before?, now?)));
    let mut causes: Vec<(Cause, u64, u64)> = known.collect();
    causes.sort_by_key(|&(_, before, now)| std::cmp::Reverse(before.abs_diff(now)));

    let most = causes.iter().filter(|(_, before, now)| before != now);
    let most = most.take(2).map(|&(cause, before, now)| {
        let change = change_of_time(before, now);
        format!("{} {change}", cause.label())
    });
    let most: Vec<String> = most.collect();
    let most = if most.is_empty() {
        String::new()
    } else {
        format!(" (mostly {})", most.join(", "))
    };

    let all = change_of_time(base.window.span_ns, new.window.span_ns);
    format!("First to last GPU work {all}: GPU busy {busy}, idle {idle}{most}")
}

/// Describes how much work ran, and whether the kernel names are the same.
pub(crate) fn work(base: &Report, new: &Report) -> String {
    let intervals = became(base.counts.intervals, new.counts.intervals, "GPU interval");
    let has = |report: &Report, name: &str| report.kernels.iter().any(|kernel| kernel.name == name);
    let only = |report: &Report, other: &Report| {
        let names = report.kernels.iter();
        names.filter(|kernel| !has(other, &kernel.name)).count()
    };
    let both = base.kernels.len() - only(base, new);
    let kernels = match (only(base, new), only(new, base), both) {
        (0, 0, _) => "the same kernel names in both".to_owned(),
        (_, _, 0) => "no kernel name in both".to_owned(),
        (gone, added, both) => {
            format!("kernel names: {both} in both, {gone} only in base, {added} only in new")
        }
    };
    format!("{intervals}; {kernels}")
}

/// Returns a change of a count, such as `1,000 gaps → 250`.
fn became(before: u64, now: u64, word: &str) -> String {
    if before == now {
        format!("{} in both", counted(now, word))
    } else {
        format!("{} → {}", counted(before, word), count(now))
    }
}

/// A cause and its time in base and new. None if a recording cannot tell.
pub(crate) type CauseOfBoth = (Cause, Option<u64>, Option<u64>);

/// Returns the idle time of both by cause, in the order of `Cause::ALL`, without the causes that
/// neither has.
pub(crate) fn causes(base: &Report, new: &Report) -> impl Iterator<Item = CauseOfBoth> {
    let both = Cause::ALL.map(|cause| {
        let known = |report: &Report| report.idle.known(cause);
        (cause, known(base), known(new))
    });
    let is_positive = |ns: Option<u64>| ns.is_some_and(|ns| ns > 0);
    both.into_iter()
        .filter(move |&(_, before, now)| is_positive(before) || is_positive(now))
}

/// Formats a difference in time, such as `−1.2 ms`, `+3.0 µs` or `±0`.
pub(crate) fn change_of_time(before: u64, now: u64) -> String {
    signed(before, now, time)
}

/// Formats a difference with its sign.
pub(crate) fn signed(before: u64, now: u64, format: impl Fn(u64) -> String) -> String {
    match now.cmp(&before) {
        std::cmp::Ordering::Less => format!("−{}", format(before - now)),
        std::cmp::Ordering::Equal => "±0".to_owned(),
        std::cmp::Ordering::Greater => format!("+{}", format(now - before)),
    }
}

/// Formats a relative change, such as `−39.2 %` or `×12.4`. A change from 0 has no share.
pub(crate) fn relative(before: u64, now: u64) -> String {
    match times(now, before) {
        _ if now == before => "same".to_owned(),
        None => "from 0".to_owned(),
        Some(is) if is < 1.0 => format!("−{}", percent(1.0 - is)),
        Some(is) if is < 3.0 => format!("+{}", percent(is - 1.0)),
        Some(is) => format!("×{}", digits(is)),
    }
}

/// Formats a factor, such as `2.46`, `12.3` or `1,234`.
fn digits(times: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded, and not negative"
    )]
    match times {
        _ if times < 9.995 => format!("{times:.2}"),
        _ if times < 99.95 => format!("{times:.1}"),
        _ => count(times.round() as u64),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
fn times(now: u64, before: u64) -> Option<f64> {
    (before > 0).then(|| now as f64 / before as f64)
}

/// Returns the loud notes of both, which change the meaning of every number, each with the sides
/// that it applies to.
pub(crate) fn loud(base: &Report, new: &Report) -> Vec<String> {
    let loud = |report: &Report| -> Vec<String> {
        let notes = report.loud_notes();
        notes.map(|note| note.text).collect()
    };
    let (before, now) = (loud(base), loud(new));
    let first = before.iter().map(|note| {
        let sides = if now.contains(note) {
            "base and new"
        } else {
            "base"
        };
        format!("{sides}: {note}")
    });
    let rest = now.iter().filter(|note| !before.contains(note));
    first
        .chain(rest.map(|note| format!("new: {note}")))
        .collect()
}
