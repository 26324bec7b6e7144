//! Figures and kernels of both sides, in columns.

use metalens_comparison::{
    Change, Class, Comparison, KernelChange, MetricChange, MetricGroup, Unit, format,
};
use metalens_text::shown;

use super::{Lines, styled};
use crate::screen::columns::{Align, Columns, shorten};

/// Kernels beyond this many are summed up in one line.
const KERNELS: usize = 20;
/// The widest name in a table.
const NAME: usize = 36;
/// A kernel that a side does not have.
const ABSENT: &str = "–";
/// Of several comparisons, what fits beside each other.
const MANY: usize = 4;

const GROUPS: [(MetricGroup, &str); 7] = [
    (MetricGroup::Time, "Time"),
    (MetricGroup::Gaps, "Gaps"),
    (MetricGroup::Idle, "Where the idle time went"),
    (MetricGroup::Work, "Work"),
    (MetricGroup::Latency, "How long work travels"),
    (MetricGroup::Thresholds, "Targets"),
    (MetricGroup::Machine, "Everybody on the GPU"),
];

/// Every figure that is not nothing on both sides.
pub(super) fn figures(comparison: &Comparison, lines: &mut Lines) {
    for (group, title) in GROUPS {
        let metrics = comparison.metrics.iter().filter(|one| one.group == group);
        let metrics: Vec<&MetricChange> = metrics.filter(|one| !is_nothing(&one.change)).collect();
        if metrics.is_empty() {
            continue;
        }
        lines.section(title);
        let mut columns = Columns::new(&[
            ("", Align::Left),
            ("base", Align::Right),
            ("new", Align::Right),
            ("change", Align::Right),
            ("", Align::Right),
            ("", Align::Left),
        ]);
        for metric in metrics {
            let change = &metric.change;
            let [was, now, by, share] = cells(change, metric.unit, "unknown");
            let class = styled(change.class, change.direction);
            columns.row([pad(&metric.name), was, now, by, share, class]);
        }
        lines.columns(&columns);
    }
}

/// Names as wide as each other, so that the tables below each other align.
fn pad(name: &str) -> String {
    format!("{name:<33}")
}

fn is_nothing(change: &Change) -> bool {
    let most = [change.base.max, change.new.max];
    let is_zero = most
        .iter()
        .all(|one| one.is_some_and(|one| one.get() == 0.0));
    is_zero && change.class == Class::Unchanged
}

/// Base, new, difference, ratio; of several runs the medians. `absent` is the word for a
/// side without a value.
fn cells(change: &Change, unit: Unit, absent: &str) -> [String; 4] {
    let said = |value: Option<metalens_comparison::Number>| {
        value.map_or_else(|| absent.to_owned(), |value| format::value(value, unit))
    };
    let by = change.absolute;
    let by = by.map_or_else(|| "–".to_owned(), |by| format::difference(by, unit));
    // A share's change is in points, not in percent of percent.
    let share = match unit {
        Unit::Ratio => String::new(),
        _ => format::share(change),
    };
    [said(change.base.median), said(change.new.median), by, share]
}

/// The kernels whose time moved most.
pub(super) fn kernels(comparison: &Comparison, lines: &mut Lines) {
    if comparison.kernels.is_empty() {
        return;
    }
    lines.section("Kernels, the largest change of total time first");
    let mut columns = Columns::new(&[
        ("", Align::Left),
        ("base", Align::Right),
        ("new", Align::Right),
        ("change", Align::Right),
        ("", Align::Right),
        ("median", Align::Right),
        ("instances", Align::Right),
        ("", Align::Left),
    ]);
    for kernel in comparison.kernels.iter().take(KERNELS) {
        let [was, now, by, share] = cells(&kernel.total_ns, Unit::Ns, ABSENT);
        columns.row([
            shorten(&name(kernel, &comparison.kernels), NAME - 12),
            was,
            now,
            by,
            share,
            before_and_after(&kernel.med_ns, Unit::Ns),
            before_and_after(&kernel.instances, Unit::Count),
            styled(kernel.class, kernel.direction),
        ]);
    }
    lines.columns(&columns);
    let rest = comparison.kernels.get(KERNELS..).unwrap_or(&[]);
    if !rest.is_empty() {
        lines.line(format!("  … and {} more: {}", rest.len(), classes(rest)));
    }
}

/// `9.000 µs → 9.9 µs`, or once if it stayed.
fn before_and_after(change: &Change, unit: Unit) -> String {
    let said = |value: Option<metalens_comparison::Number>| {
        value.map_or_else(|| ABSENT.to_owned(), |value| format::value(value, unit))
    };
    let (was, now) = (said(change.base.median), said(change.new.median));
    match was == now {
        true => now,
        false => format!("{was} → {now}"),
    }
}

/// The channel is told where the name alone is not enough.
fn name(kernel: &KernelChange, all: &[KernelChange]) -> String {
    let same = all.iter().filter(|one| one.name == kernel.name).count();
    match &kernel.channel {
        Some(channel) if same > 1 => shown(&format!("{} [{channel}]", kernel.name)).into_owned(),
        _ => shown(&kernel.name).into_owned(),
    }
}

/// Counts kernels by class: `3 no significant change, 1 inconclusive`.
fn classes(kernels: &[KernelChange]) -> String {
    let words = kernels
        .iter()
        .map(|kernel| (kernel.class, format::class(kernel.class, kernel.direction)));
    let mut all: Vec<(Class, &str)> = words.collect();
    all.sort_unstable();
    let groups = all.chunk_by(|one, other| one == other);
    let said = groups.filter_map(|group| {
        let (_, word) = group.first()?;
        Some(format!("{} {word}", group.len()))
    });
    said.collect::<Vec<_>>().join(", ")
}

/// A side of several in one cell: the value and what became of it. `absent` is the word for
/// a side without a value.
fn cell(change: Option<&Change>, unit: Unit, absent: &str) -> [String; 2] {
    let Some(change) = change else {
        return [ABSENT.to_owned(), String::new()];
    };
    let now = change.new.median;
    let now = now.map_or_else(|| absent.to_owned(), |now| format::value(now, unit));
    // A share's change is in points, not in percent of percent.
    let by = match (unit, change.absolute) {
        (Unit::Ratio, Some(by)) => format::difference(by, unit),
        _ => format::share(change),
    };
    let became = match change.class {
        Class::Unchanged => "=".to_owned(),
        Class::Unstable => format!("{by} ?"),
        _ => by,
    };
    [now, became]
}

/// The figures of each beside base.
pub(super) fn figures_of_all(comparisons: &[Comparison], lines: &mut Lines) {
    for (at, part) in comparisons.chunks(MANY).enumerate() {
        let Some(first) = part.first() else { continue };
        lines.section("Figures: = is unchanged, ? is what the runs do not decide");
        let mut columns = many_columns(at * MANY, part.len());
        for metric in &first.metrics {
            if part
                .iter()
                .all(|one| of(one, &metric.id).is_none_or(is_nothing))
            {
                continue;
            }
            let was = metric.change.base.median;
            let was = was.map_or_else(
                || "unknown".to_owned(),
                |was| format::value(was, metric.unit),
            );
            let cells = part
                .iter()
                .flat_map(|one| cell(of(one, &metric.id), metric.unit, "unknown"));
            columns.row([pad(&metric.name), was].into_iter().chain(cells));
        }
        lines.columns(&columns);
    }
}

fn of<'a>(comparison: &'a Comparison, id: &str) -> Option<&'a Change> {
    let mut all = comparison.metrics.iter();
    all.find(|one| one.id == id).map(|one| &one.change)
}

fn many_columns(before: usize, count: usize) -> Columns {
    let names = (before + 1..=before + count).map(|number| format!("new {number}"));
    let names: Vec<String> = names.collect();
    let mut head = vec![("", Align::Left), ("base", Align::Right)];
    for name in &names {
        head.extend([(name.as_str(), Align::Right), ("", Align::Right)]);
    }
    Columns::new(&head)
}

/// The kernels of each beside base: of the first comparison's order, then what the
/// others add.
pub(super) fn kernels_of_all(comparisons: &[Comparison], lines: &mut Lines) {
    for (at, part) in comparisons.chunks(MANY).enumerate() {
        let mut seen: Vec<&KernelChange> = Vec::new();
        for kernel in part.iter().flat_map(|one| one.kernels.iter().take(KERNELS)) {
            if !seen.iter().any(|one| is_same(one, kernel)) {
                seen.push(kernel);
            }
        }
        if seen.is_empty() {
            continue;
        }
        lines.section("Kernels: total time");
        let mut columns = many_columns(at * MANY, part.len());
        for kernel in seen {
            let of = |one: &'_ Comparison| {
                let found = one.kernels.iter().find(|one| is_same(one, kernel));
                let [now, became] = cell(found.map(|one| &one.total_ns), Unit::Ns, ABSENT);
                match found.map(|one| one.class) {
                    Some(class @ (Class::Added | Class::Removed)) => {
                        [now, format::class(class, None).to_owned()]
                    }
                    _ => [now, became],
                }
            };
            let was = kernel.total_ns.base.median;
            let was = was.map_or_else(|| ABSENT.to_owned(), |was| format::value(was, Unit::Ns));
            let label = shorten(&shown(&kernel.name), NAME);
            columns.row([label, was].into_iter().chain(part.iter().flat_map(of)));
        }
        lines.columns(&columns);
    }
}

fn is_same(one: &KernelChange, other: &KernelChange) -> bool {
    (&one.name, &one.channel) == (&other.name, &other.channel)
}
