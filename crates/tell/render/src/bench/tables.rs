//! Builds the tables of a benchmark: one row for each variant.

use std::collections::BTreeMap;
use std::iter::zip;

use metalens_analyzer::{Cause, id};
use metalens_bench::{Bench, PairResult, VariantResult};
use metalens_comparison::sentences::share;
use metalens_comparison::{ChangeClass, Number, SideValues, TimeBasis, TimeParts, Unit};
use metalens_message::{Message, Share, Value, kernel, message, name, percent};

use super::TIMES;
use crate::cells::{ABSENT, value};
use crate::document::{Block, Cell, Chart, Column, Drawing, Section, Table, Tone};

/// Largest number of variants that have a column each.
const BESIDE: usize = 6;
/// Largest number of kernels on a screen, and on a page.
const KERNELS: (usize, usize) = (8, 50);

/// Returns a time; a dash if there is none.
pub(super) fn time(number: Option<Number>) -> Message {
    value(number, Unit::Ns, ABSENT)
}

fn figure(variant: &VariantResult, id: &str, unit: Unit) -> Message {
    let values = variant.figure(id);
    value(values.and_then(|values| values.median), unit, ABSENT)
}

/// Returns the table of times.
pub(super) fn variants(bench: &Bench) -> Section {
    let base = bench.pairs.first().map(|pair| pair.base.as_str());
    let mut columns = vec![
        Column::name("variant"),
        Column::number("runs").spare(3),
        Column::number(message!("wall{}", bench.basis.per())),
        Column::number("min").spare(2),
        Column::number("max").spare(2),
        Column::number("GPU busy"),
        Column::number("busy share").spare(1),
    ];
    if let Some(base) = base {
        columns.push(Column::number(message!("vs. {}", name(base))));
    }
    if bench.standing.is_some() {
        columns.push(Column::number("vs. lowest").spare(1));
    }

    let caption = "Wall time and busy time of each variant: medians of its runs";
    let mut table = Table::new("variants", caption, columns).sortable();
    for (at, variant) in bench.variants.iter().enumerate() {
        let mut cells: Vec<Cell> = vec![
            name(&variant.name).into(),
            metalens_message::count(variant.runs.len() as u64).into(),
            time(variant.wall.median).into(),
            time(variant.wall.min).into(),
            time(variant.wall.max).into(),
            time(variant.busy.median).into(),
            figure(variant, id!(busy.ratio?), Unit::Ratio).into(),
        ];
        if base.is_some() {
            let pair = bench.pairs.iter().find(|pair| pair.new == variant.name);
            cells.push(pair.map_or_else(|| "".into(), against));
        }
        if let Some(standing) = &bench.standing {
            let mut rivals = standing.others.iter();
            let times = rivals
                .find(|rival| rival.variant == at)
                .and_then(|rival| rival.times);
            cells.push(match times {
                Some(times) => metalens_message::number(
                    format!("×{:.2}", times.get()),
                    times.get(),
                    |factor| Value::Factor { factor },
                )
                .into(),
                None if at == standing.best && standing.wins => {
                    Cell::verdict("fastest", Tone::Strong)
                }
                None if at == standing.best => Cell::verdict("lowest", Tone::Strong),
                None => ABSENT.into(),
            });
        }
        table.row(cells);
    }
    Section::new("variants", "Variants: medians of their runs", 0).with(Block::Table(table))
}

/// Returns a change, such as `−74.0 %`; `=` if it does not count, and `?` behind it if it cannot be
/// told.
fn against(pair: &PairResult) -> Cell {
    let change = &pair.wall;
    let by = share(change);
    match change.material_class() {
        ChangeClass::Unchanged => Cell::from("="),
        ChangeClass::Unstable => message!("{} ?", by).into(),
        ChangeClass::Unknown => ABSENT.into(),
        _ => by.into(),
    }
}

/// Returns a time of a variant per unit of work: the median of its runs.
fn middle(variant: &VariantResult, id: &str, basis: TimeBasis) -> Option<Number> {
    SideValues::from_values(&variant.time_per_unit(id, basis).values).median
}

/// Returns the parts of a variant's wall time, per unit of work: each is the median of its runs. None
/// if the wall time or the busy time is not known.
pub(crate) fn time_parts(variant: &VariantResult, basis: TimeBasis) -> Option<TimeParts> {
    TimeParts::of(|id| middle(variant, id, basis))
}

/// Returns the table of idle time by cause; nothing if no variant was idle.
pub(super) fn idle(bench: &Bench) -> Option<Section> {
    let variants = bench.variants.iter();
    let parts = variants.map(|variant| time_parts(variant, bench.basis));
    let parts: Vec<Option<TimeParts>> = parts.collect();
    let is_there = |cause: &Cause| {
        let mut all = parts.iter().flatten().flat_map(|part| &part.idle);
        all.any(|(other, ns)| other == cause && ns.get() > 0.0)
    };
    let mut causes: Vec<Cause> = Cause::ALL.into_iter().filter(is_there).collect();
    if causes.is_empty() {
        return None;
    }
    let total_of = |cause: &Cause| -> f64 {
        let idle = parts.iter().flatten().flat_map(|part| &part.idle);
        idle.filter(|(other, _)| other == cause)
            .map(|(_, ns)| ns.get())
            .sum()
    };
    causes.sort_by(|a, b| total_of(b).total_cmp(&total_of(a)));

    let mut columns = vec![Column::name("variant"), Column::number("GPU idle")];
    // Where there is no room, the smallest go first.
    let headings = (0..).zip(&causes);
    columns.extend(headings.map(|(rank, cause)| Column::number(cause.label()).spare(rank)));
    let caption = "Idle time of each variant by cause: each is the median of its runs, so the causes \
                   need not add up to the whole";
    let mut table = Table::new("idle", caption, columns);
    for (variant, parts) in zip(&bench.variants, &parts) {
        let total = middle(variant, id!(gaps.total_ns), bench.basis);
        let by_cause = causes.iter().map(|cause| {
            let parts = parts.as_ref();
            let mut idle = parts.map_or(&[][..], |parts| &parts.idle).iter();
            time(idle.find(|(other, _)| other == cause).map(|(_, ns)| *ns))
        });
        let first = [name(&variant.name), time(total)];
        table.row(first.into_iter().chain(by_cause));
    }
    let chart = Block::Chart(Chart {
        id: TIMES.to_owned(),
        drawing: Drawing::None,
    });
    let title = message!("Why the GPU was idle{}", bench.basis.per());
    let section = Section::new("idle", title, 1).with(chart);
    Some(section.with(Block::Table(table)))
}

/// Returns the table of the amounts of work, if these differ.
pub(super) fn work(bench: &Bench) -> Option<Section> {
    bench.work.as_ref()?;
    let columns = vec![
        Column::name("variant"),
        Column::number("GPU intervals"),
        Column::number("command buffers"),
        Column::number("kernel names").spare(2),
        Column::number("wall per interval"),
        Column::number("GPU busy per interval"),
    ];
    let caption = "Amounts of work of each variant, and times per GPU interval";
    let mut table = Table::new("work", caption, columns);
    for variant in &bench.variants {
        table.row([
            name(&variant.name),
            figure(variant, id!(counts.intervals), Unit::Count),
            figure(variant, id!(counts.command_buffers), Unit::Count),
            figure(variant, id!(counts.kernels), Unit::Count),
            per_interval(variant, id!(window.span_ns)),
            per_interval(variant, id!(busy.busy_ns)),
        ]);
    }
    Some(Section::new("work", "Work", 1).with(Block::Table(table)))
}

fn per_interval(variant: &VariantResult, id: &str) -> Message {
    time(middle(variant, id, TimeBasis::Interval))
}

/// Returns the table of the steps that the programs repeat; nothing if none were found.
pub(super) fn steps(bench: &Bench) -> Option<Section> {
    let columns = vec![
        Column::name("variant"),
        Column::number("time of one"),
        Column::number("own time of one"),
        Column::number("GPU busy in one"),
    ];
    let caption = "Steps of each variant: medians of its runs";
    let mut table = Table::new("steps", caption, columns);
    for variant in &bench.variants {
        let figures = ["steps.median_ns", "steps.own_ns", "steps.gpu_ns"];
        let cells = figures.map(|id| figure(variant, id, Unit::Ns));
        if cells.iter().any(|cell| cell.text != ABSENT) {
            table.row([name(&variant.name)].into_iter().chain(cells));
        }
    }
    let section = Section::new("steps", "Steps: medians of the runs", 1);
    (!table.rows.is_empty()).then(|| section.with(Block::Table(table)))
}

/// Returns the kernels whose total time differs most between the variants.
pub(super) fn kernels(bench: &Bench) -> Option<Section> {
    type Key<'a> = (&'a str, Option<&'a str>);
    let shown = bench.variants.iter().take(BESIDE);
    let shown: Vec<&VariantResult> = shown.collect();
    let mut totals: BTreeMap<Key<'_>, Vec<Option<Number>>> = BTreeMap::new();
    for (at, variant) in shown.iter().enumerate() {
        for runs in &variant.recorded.kernels {
            let key = (runs.name.as_str(), runs.channel.as_deref());
            let row = totals.entry(key).or_insert_with(|| vec![None; shown.len()]);
            if let Some(cell) = row.get_mut(at) {
                *cell = SideValues::from_values(&runs.total_ns).median;
            }
        }
    }
    if totals.is_empty() {
        return None;
    }

    let differ = |row: &[Option<Number>]| {
        // A variant without the kernel spends no time in it.
        let times = || row.iter().map(|number| number.map_or(0.0, Number::get));
        times().fold(0.0, f64::max) - times().fold(f64::MAX, f64::min)
    };
    let mut rows: Vec<(Key<'_>, Vec<Option<Number>>)> = totals.into_iter().collect();
    rows.sort_by(|(_, a), (_, b)| differ(b).total_cmp(&differ(a)));

    let mut columns = vec![Column::name("kernel")];
    columns.extend(
        shown
            .iter()
            .map(|variant| Column::number(message!("in {}", name(&variant.name)))),
    );
    let caption = "Total time of each kernel in each variant: medians of the runs";
    let mut table = Table::new("kernels", caption, columns)
        .limited(KERNELS.0, KERNELS.1)
        .of(rows.len());
    table.rest = " kernels that differ less".into();
    for ((kernel_name, _), row) in rows.into_iter().take(KERNELS.1) {
        let cells = row.into_iter().map(time);
        table.row([kernel(kernel_name)].into_iter().chain(cells));
    }
    let title = if shown.len() > 1 {
        "Kernels that differ most: total time per run"
    } else {
        "Kernels: total time per run"
    };
    Some(Section::new("kernels", title, 2).with(Block::Table(table)))
}

/// Returns the table of the clock, the heat and other processes.
pub(super) fn machine(bench: &Bench) -> Option<Section> {
    let is_known = |variant: &VariantResult| {
        let recorded = &variant.recorded;
        let others = recorded.others.iter().flatten().next();
        !recorded.states().is_empty() || !recorded.thermal_states().is_empty() || others.is_some()
    };
    if !bench.variants.iter().any(is_known) {
        return None;
    }

    let columns = vec![
        Column::name("variant"),
        Column::words("GPU clock while busy"),
        Column::words("thermal state"),
        Column::number("other processes"),
    ];
    let caption = "Clock, thermal state and other processes while each variant ran";
    let mut table = Table::new("machine", caption, columns);
    for variant in &bench.variants {
        let recorded = &variant.recorded;
        let states = recorded
            .states()
            .into_iter()
            .filter(|(_, share)| *share >= 0.005);
        let states = states.map(|(state, share)| message!("{} {}", name(state), Share(share)));
        let states: Vec<Message> = states.collect();
        let thermal: Vec<Message> = recorded.thermal_states().into_iter().map(name).collect();
        let listed = |all: Vec<Message>| {
            if all.is_empty() {
                "not recorded".into()
            } else {
                Message::joined(all, ", ")
            }
        };
        let others = SideValues::from_values(&recorded.others).median;
        let others = others.map(|share| percent(Share(share.get())));
        table.row([
            name(&variant.name),
            listed(states),
            listed(thermal),
            others.unwrap_or_else(|| "not recorded".into()),
        ]);
    }
    Some(
        Section::new("machine", "Clock, thermal state and other processes", 3)
            .with(Block::Table(table)),
    )
}
