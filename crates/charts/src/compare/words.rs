//! What two reports say of each other, in sentences: exact differences, and no
//! word about what is better.

use metalens_analyzer::units::{count, counted, percent, time};
use metalens_analyzer::{Cause, Report};

/// How much longer or shorter the new one took, and of which program, if it is one.
pub(crate) fn headline(base: &Report, new: &Report, shown: impl Fn(&str) -> String) -> String {
    let (before, now) = (base.window.span_ns, new.window.span_ns);
    let both = format!("{} instead of {}", time(now), time(before));
    let said = match times(now, before) {
        _ if now == before => format!("as long as base: {}", time(now)),
        None => both,
        Some(is) if is < 1.0 => format!("{} of the time of base: {both}", percent(is)),
        Some(is) if is < 2.0 => format!("{} longer than base: {both}", percent(is - 1.0)),
        Some(is) => format!("{} times as long as base: {both}", digits(is)),
    };
    match base.process.name == new.process.name {
        true => format!("{}: new takes {said}", shown(&new.process.name)),
        false => format!("New takes {said}"),
    }
}

/// Where the difference lies: its parts sum to it.
pub(crate) fn moved(base: &Report, new: &Report) -> String {
    let idle = change_of_time(base.gaps.total_ns, new.gaps.total_ns);
    let busy = change_of_time(base.busy.busy_ns, new.busy.busy_ns);
    let causes = causes(base, new);
    let known = causes.filter_map(|(cause, before, now)| Some((cause, before?, now?)));
    let mut causes: Vec<(Cause, u64, u64)> = known.collect();
    causes.sort_by_key(|&(_, before, now)| std::cmp::Reverse(before.abs_diff(now)));
    let most = causes.iter().filter(|(_, before, now)| before != now);
    let said = most.take(2).map(|&(cause, before, now)| {
        let change = change_of_time(before, now);
        format!("{} {change}", cause.label())
    });
    let most: Vec<String> = said.collect();
    let most = match most.is_empty() {
        true => String::new(),
        false => format!(" ({})", most.join(", ")),
    };
    let all = change_of_time(base.window.span_ns, new.window.span_ns);
    format!("From first to last GPU work {all}: busy {busy}, idle {idle}{most}")
}

/// What ran: how much of it, and whether it goes by the same names.
pub(crate) fn work(base: &Report, new: &Report) -> String {
    let intervals = became(base.counts.intervals, new.counts.intervals, "GPU interval");
    let has = |report: &Report, name: &str| report.kernels.iter().any(|one| one.name == name);
    let only = |of: &Report, other: &Report| {
        let names = of.kernels.iter();
        names.filter(|one| !has(other, &one.name)).count()
    };
    let both = base.kernels.len() - only(base, new);
    let kernels = match (only(base, new), only(new, base), both) {
        (0, 0, _) => "the same kernels in both, by name".to_owned(),
        (_, _, 0) => "no kernel of the same name in both".to_owned(),
        (gone, added, both) => format!(
            "{both} of the kernels are in both by name, {gone} only in base, {added} only in new"
        ),
    };
    format!("{intervals}; {kernels}")
}

/// `1,000 gaps became 250`.
fn became(before: u64, now: u64, word: &str) -> String {
    match before == now {
        true => format!("As before {}", counted(now, word)),
        false => format!("{} became {}", counted(before, word), count(now)),
    }
}

/// A cause, and the time that it took in both; none where a recording does not tell.
pub(crate) type CauseOfBoth = (Cause, Option<u64>, Option<u64>);

/// The idle time of both by cause, in the order of `Cause::ALL`; what neither
/// has is left out.
pub(crate) fn causes(base: &Report, new: &Report) -> impl Iterator<Item = CauseOfBoth> {
    let both = Cause::ALL.map(|cause| {
        let of = |report: &Report| report.idle.known(cause);
        (cause, of(base), of(new))
    });
    let is_there = |ns: Option<u64>| ns.is_some_and(|ns| ns > 0);
    both.into_iter()
        .filter(move |&(_, before, now)| is_there(before) || is_there(now))
}

/// `−1.2 ms`, `+3.0 µs`, `±0`.
pub(crate) fn change_of_time(before: u64, now: u64) -> String {
    signed(before, now, time)
}

/// A difference with its sign.
pub(crate) fn signed(before: u64, now: u64, say: impl Fn(u64) -> String) -> String {
    match now.cmp(&before) {
        std::cmp::Ordering::Less => format!("−{}", say(before - now)),
        std::cmp::Ordering::Equal => "±0".to_owned(),
        std::cmp::Ordering::Greater => format!("+{}", say(now - before)),
    }
}

/// `−39.2 %`, `×12.4`; of nothing nothing can be said.
pub(crate) fn relative(before: u64, now: u64) -> String {
    match times(now, before) {
        _ if now == before => "same".to_owned(),
        None => "from 0".to_owned(),
        Some(is) if is < 1.0 => format!("−{}", percent(1.0 - is)),
        Some(is) if is < 3.0 => format!("+{}", percent(is - 1.0)),
        Some(is) => format!("×{}", digits(is)),
    }
}

/// `2.46`, `12.3`, `1,234`.
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

/// What changes the meaning of every number: simulated or cut off recordings, of
/// one or of both.
pub(crate) fn loud(base: &Report, new: &Report) -> Vec<String> {
    let loud = |report: &Report| -> Vec<String> {
        let notes = report.loud_notes();
        notes.map(|note| note.text).collect()
    };
    let (before, now) = (loud(base), loud(new));
    let of = |who: &str, note: &String| format!("{who}: {note}");
    let first = before.iter().map(|note| match now.contains(note) {
        true => of("base and new", note),
        false => of("base", note),
    });
    let rest = now.iter().filter(|note| !before.contains(note));
    first.chain(rest.map(|note| of("new", note))).collect()
}
