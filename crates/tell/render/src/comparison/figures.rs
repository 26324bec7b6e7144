//! Builds the tables of the figures of both sides, group by group.

use metalens_analyzer::id;
use metalens_comparison::{
    Change, Comparison, DifferencePart, MetricChange, MetricGroup, Number, SideValues, Sides,
    StepsDifference, StepsPart, Unit, sentences,
};
use metalens_message::{Message, message, path};

use crate::cells::{class, difference, is_nothing, value};
use crate::document::{Block, Cell, Column, Section, Table};
use crate::wording::plain;

/// The groups of figures and their headings; the idle time has a section of its own.
const GROUPS: [(MetricGroup, &str); 6] = [
    (MetricGroup::Work, "Work"),
    (MetricGroup::Time, "Time"),
    (MetricGroup::Gaps, "Gaps"),
    (MetricGroup::Latency, "Submission and completion latency"),
    (MetricGroup::Machine, "All processes on the GPU"),
    (MetricGroup::Memory, "Metal memory"),
];

/// Returns the idle time by cause; nothing if neither side has any.
pub(super) fn idle(comparison: &Comparison) -> Option<Section> {
    let causes = comparison.metrics.iter().filter(|metric| is_cause(metric));
    let table = table(comparison, causes)?;
    let section = Section::new("idle", "Idle time by cause", 4);
    Some(section.with(Block::Table(table)))
}

/// Returns the parts of the difference between one run of each side, which sum to it; nothing if the time
/// did not change by more than noise.
pub(super) fn difference_of_runs(comparison: &Comparison) -> Option<Section> {
    let mut metrics = comparison.metrics.iter();
    let wall = metrics.find(|metric| metric.id == id!(window.span_ns))?;
    let found = comparison.difference.as_ref();
    let found = found.filter(|_| wall.change.is_material())?;

    let columns = vec![
        Column::name("part"),
        Column::number("base"),
        Column::number("new"),
        Column::number("change"),
        Column::number("of the difference").spare(1),
    ];
    let caption = "Parts of the time from first to last GPU work, which sum to it";
    let mut table = Table::new("difference", caption, columns);
    let is_something =
        |part: &&DifferencePart| part.time_ns.base.get() + part.time_ns.new.get() != 0.0;
    for part in found.parts.iter().filter(is_something) {
        table.row(part_of_difference(&part.name, part.time_ns, found.time_ns));
    }
    table.row(part_of_difference(&wall.name, found.time_ns, found.time_ns));

    let runs = [
        (&comparison.base, found.runs.base),
        (&comparison.new, found.runs.new),
    ];
    let by_steps = found.steps.as_ref();
    let by_steps = by_steps.map(|steps| difference_by_steps(steps, found.time_ns.change()));
    let has_several = runs.iter().any(|(side, _)| side.runs.len() > 1);
    let names = runs.map(|(side, run)| side.runs.get(run).map(|run| path(&run.path)));
    let [base, new] = names.map(Option::unwrap_or_default);
    let of = message!(
        "Of the run of median time of each side: base {}, new {}.",
        base,
        new
    );
    let section = Section::new("difference", "Where the difference comes from", 2);
    Some(
        section
            .with(Block::Table(table))
            .with_some(by_steps.map(Block::Table))
            .with_some(has_several.then_some(Block::Text(of))),
    )
}

/// Returns what each part of the run adds to the difference, if there are steps.
fn difference_by_steps(steps: &StepsDifference, whole_ns: f64) -> Table {
    let columns = vec![
        Column::name("part"),
        Column::number("base"),
        Column::number("new"),
        Column::number("adds"),
        Column::number("of the difference").spare(1),
    ];
    let caption = "The same difference by steps";
    let mut table = Table::new("difference-steps", caption, columns);
    for (part, ns) in steps.parts_ns() {
        let (sides, unit) = match part {
            StepsPart::Count => (steps.count, Unit::Count),
            StepsPart::Median => (steps.median_ns, Unit::Ns),
            StepsPart::Away => (steps.away_ns, Unit::Ns),
            StepsPart::Once => (steps.once_ns, Unit::Ns),
        };
        let adds = Number::new(ns).map(|ns| sentences::difference(ns, Unit::Ns));
        table.row([
            part.label().into(),
            value(Some(sides.base), unit, ""),
            value(Some(sides.new), unit, ""),
            adds.unwrap_or_default(),
            value(Number::new(ns / whole_ns), Unit::Ratio, ""),
        ]);
    }
    table
}

/// Returns the row of a part of the time whose difference is taken apart.
fn part_of_difference(name: &str, part_ns: Sides<Number>, whole_ns: Sides<Number>) -> [Cell; 5] {
    let change = Number::new(part_ns.change());
    let change = change.map(|change| sentences::difference(change, Unit::Ns));
    let share = Number::new(part_ns.change() / whole_ns.change());
    [
        plain(name).into(),
        value(Some(part_ns.base), Unit::Ns, "").into(),
        value(Some(part_ns.new), Unit::Ns, "").into(),
        change.unwrap_or_default().into(),
        value(share, Unit::Ratio, "").into(),
    ]
}

/// Returns the times per unit of work; nothing if both sides did the same work.
pub(super) fn per_unit(comparison: &Comparison) -> Option<Section> {
    let work = &comparison.work;
    let title = message!("Times per {}", work.unit()?);
    let table = table(comparison, work.per_unit.iter())?;
    let section = Section::new("per-unit", title, 2);
    Some(section.with(Block::Table(table)))
}

/// Returns the figures that changed by more than noise, those with a better side first; nothing if
/// none did. Of different work, these are times per unit of it.
pub(super) fn changed(comparison: &Comparison) -> Option<Section> {
    let moved = comparison.compared().iter();
    let moved = moved.filter(|metric| !is_cause(metric) && metric.change.is_material());
    let mut moved: Vec<&MetricChange> = moved.collect();
    moved.sort_by_key(|metric| metric.change.direction.is_none());
    moved.first()?;

    let has_intervals = moved.iter().any(|metric| metric.change.interval.is_some());
    let mut columns = columns();
    if has_intervals {
        columns.insert(5, Column::number("interval"));
    }
    let caption = if has_intervals {
        "Figures that changed by more than noise"
    } else {
        "Figures that differ; how much runs vary is unknown"
    };
    let mut table = Table::new("changed", caption, columns);
    for metric in moved {
        let mut cells = row(metric, &metric.change).to_vec();
        if has_intervals {
            cells.insert(5, interval(metric).into());
        }
        table.row(cells);
    }
    Some(Section::new("changed", heading(comparison), 0).with(Block::Table(table)))
}

/// Returns the causes of idle time that changed by more than noise, the largest change first.
pub(super) fn idle_changed(comparison: &Comparison) -> Option<Section> {
    let moved = comparison
        .compared()
        .iter()
        .filter(|metric| is_cause(metric) && metric.change.is_material());
    let mut moved: Vec<&MetricChange> = moved.collect();
    let size = |metric: &MetricChange| metric.change.absolute.map_or(0.0, |by| by.get().abs());
    moved.sort_by(|metric, other| size(other).total_cmp(&size(metric)));
    let table = table(comparison, moved.into_iter())?;
    let section = Section::new("idle", "Idle time by cause: what changed", 4);
    Some(section.with(Block::Table(table)))
}

/// Returns the heading of what changed: per unit of work if times are compared so.
fn heading(comparison: &Comparison) -> Message {
    let unit = comparison.work.unit();
    let per = unit.map(|unit| message!(", per {}", unit));
    message!("What changed{}", per)
}

/// Returns whether a figure is the time of a cause of idle time, which have a table of their own.
fn is_cause(metric: &MetricChange) -> bool {
    metric.group == MetricGroup::Idle
}

/// Returns both ends of the interval of a change; nothing if there is no interval.
fn interval(metric: &MetricChange) -> Message {
    let Some(interval) = metric.change.interval else {
        return Message::default();
    };
    let [low, high] = [interval.low, interval.high].map(|end| end_of(metric, end));
    if low.text == high.text {
        low
    } else {
        message!("{} … {}", low, high)
    }
}

/// Returns an end of an interval as a share of base, like the change beside it.
fn end_of(metric: &MetricChange, end: Number) -> Message {
    match metric.change.base_value().map(Number::get) {
        Some(base) if base != 0.0 && metric.unit != Unit::Ratio => {
            sentences::relative(end.get() / base.abs())
        }
        _ => sentences::difference(end, metric.unit),
    }
}

/// Returns every other figure that is not zero on both sides.
pub(super) fn figures(comparison: &Comparison) -> Section {
    let groups = GROUPS.into_iter().filter_map(|(group, title)| {
        let of_group = |metric: &&MetricChange| metric.group == group;
        let metrics = || comparison.metrics.iter().filter(of_group);
        let table = table(comparison, metrics())?;
        let content = if metrics().all(is_same) {
            Block::Text("The same on both sides".into())
        } else {
            Block::Table(table)
        };
        Some([Block::Heading(title), content])
    });
    Section::new("figures", "All figures", 5)
        .folded()
        .with_all(groups.flatten())
}

/// Returns whether a figure is equal on both sides in all runs.
fn is_same(metric: &MetricChange) -> bool {
    let values = |side: &SideValues| (side.min, side.max);
    let (base, new) = (values(&metric.change.base), values(&metric.change.new));
    base == new && base.0 == base.1
}

fn table<'a>(
    comparison: &Comparison,
    metrics: impl Iterator<Item = &'a MetricChange>,
) -> Option<Table> {
    // Of one run a side there is no range.
    let has_ranges = [&comparison.base, &comparison.new]
        .iter()
        .any(|side| side.runs.len() > 1);
    let mut metrics = metrics
        .filter(|metric| !is_nothing(&metric.change))
        .peekable();
    metrics.peek()?;
    let mut columns = columns();
    if has_ranges {
        columns.push(Column::number("base's runs").spare(2));
        columns.push(Column::number("new's runs").spare(2));
    }
    let mut table = Table::new("figures", "Figures of both sides", columns);
    for metric in metrics {
        let ranges = [&metric.change.base, &metric.change.new];
        let ranges = ranges.map(|side| Cell::from(range(side, metric.unit)));
        let row = row(metric, &metric.change).into_iter();
        table.row(row.chain(ranges.into_iter().filter(|_| has_ranges)));
    }
    Some(table)
}

fn row(metric: &MetricChange, change: &Change) -> [Cell; 6] {
    let [by, share] = difference(change, metric.unit);
    [
        plain(&metric.name).into(),
        value(change.base_value(), metric.unit, "unknown").into(),
        value(change.new_value(), metric.unit, "unknown").into(),
        by.into(),
        share.into(),
        class(change),
    ]
}

/// Returns the smallest and the largest value of several runs.
fn range(side: &SideValues, unit: Unit) -> Message {
    let (Some(least), Some(most)) = (side.min, side.max) else {
        return Message::default();
    };
    let (least, most) = (value(Some(least), unit, ""), value(Some(most), unit, ""));
    if side.values.len() < 2 || least.text == most.text {
        Message::default()
    } else {
        message!("{} … {}", least, most)
    }
}

/// Returns the columns that all tables of figures have.
fn columns() -> Vec<Column> {
    vec![
        Column::name("figure"),
        Column::number("base"),
        Column::number("new"),
        // Its share of base says it, too.
        Column::number("change").spare(1),
        Column::number("share").headed(""),
        Column::words("verdict").headed(""),
    ]
}
