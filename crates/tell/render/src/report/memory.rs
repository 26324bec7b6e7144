//! Builds the section on Metal memory: what the process allocated, for whom, and what is left.

use metalens_analyzer::{
    CountedBytes, Heap, Memory, MemoryGroup, MemoryGrowth, MemorySteps, Report, Turnover,
};
use metalens_message::{
    Bytes, Message, Value, bytes, count, counted, function, message, moment, name, number, process,
};
use metalens_text::number::{Float, rounded};

use crate::document::{Block, Cell, Column, Fact, Section, Table};
use crate::wording::known;

/// Largest numbers of callers and labels on screens and pages, and on interactive pages.
const GROUPS: (usize, usize) = (5, 20);

/// Returns the memory of the process; nothing if none was recorded.
pub(super) fn memory(report: &Report) -> Option<Section> {
    let heap = report.heap.as_ref();
    let memory = report.memory.as_ref();
    let unread = memory.and_then(unread);
    let memory =
        memory.filter(|memory| memory.whole.allocations + memory.freed_from_before.count > 0);
    let mut facts = memory.map(allocated).unwrap_or_default();
    facts.extend(unread);
    facts.extend(levels(report));
    facts.extend(wired(report));
    facts.extend(heap.into_iter().flat_map(heap_facts));
    let section = Section::new("memory", "Metal memory", 6);
    let section = Block::facts(facts).map(|facts| section.with(facts))?;

    let section = heap
        .into_iter()
        .flat_map(heap_tables)
        .fold(section, Section::with);
    let Some(memory) = memory else {
        return Some(section);
    };
    let steady = memory.steps.map_or(0, |steps| steps.count);
    let callers = groups(
        "callers",
        "Memory by caller",
        &memory.callers,
        memory.callers_count,
        steady,
    );
    let labels = groups(
        "labels",
        "Memory by label",
        &memory.labels,
        memory.labels_count,
        steady,
    );
    let has_labels = memory.labels.iter().any(|label| label.name.is_some());
    let section = section.with_some(callers).with_some(phases(memory));
    Some(
        section
            .with_some(labels.filter(|_| has_labels))
            .with_some(others(memory)),
    )
}

/// Returns what the process allocated in the recording.
fn allocated(memory: &Memory) -> Vec<Fact> {
    let peak = memory
        .peak_at_ns
        .filter(|_| memory.peak_bytes > Bytes(0))
        .map(|at_ns| message!(" at {}", moment(at_ns)));
    let before = memory.freed_from_before;
    let before = (before.count > 0).then(|| {
        let resources = counted(before.count, "resource");
        message!(
            "; {} from before the recording ({}) freed",
            resources,
            before.bytes
        )
    });
    let peak = message!(
        "peak {}{}; {} never freed: {}{}",
        memory.peak_bytes,
        peak,
        counted(memory.live.count, "resource"),
        memory.live.bytes,
        before,
    );
    let mut facts = vec![
        Fact::new("allocated", turnover(&memory.whole)),
        Fact::new("live", peak),
    ];

    if let (Some(allocations), Some(rate)) = (memory.allocations_per_s, memory.bytes_per_s)
        && memory.in_window.allocations > 0
    {
        let text = message!(
            "{}; {} allocations and {} a second",
            turnover(&memory.in_window),
            with_a_decimal(allocations),
            Bytes(rounded(rate)),
        );
        facts.push(Fact::new("in the window", text));
    }
    facts.extend(memory.steps.as_ref().map(steps));
    if let Some(lives) = memory.lifetimes {
        let text = message!(
            "median {}, 95th percentile {}, longest {}; {} freed",
            lives.median_ns,
            lives.p95_ns,
            lives.max_ns,
            counted(lives.count, "resource"),
        );
        facts.push(Fact::new("lifetime", text));
    }
    facts
}

/// Returns what is in no figure, because nobody knows what it is.
fn unread(memory: &Memory) -> Option<Fact> {
    let text = message!(
        "{} of {} in no figure: another event than allocation and deallocation, or no time or id",
        counted(memory.unread, "row"),
        metalens_message::table(&memory.table)
    );
    (memory.unread > 0).then(|| Fact::new("not read", text))
}

fn turnover(part: &Turnover) -> Message {
    let inside = (part.inside_others > 0)
        .then(|| message!(" ({} inside other resources)", count(part.inside_others)));
    message!(
        "{}{}, {}; {} freed, {}",
        counted(part.allocations, "allocation"),
        inside,
        part.bytes,
        count(part.freed),
        part.freed_bytes,
    )
}

fn steps(found: &MemorySteps) -> Fact {
    let text = message!(
        "median {}, {} in each of {}; {}",
        counted(found.median_allocations, "allocation"),
        found.median_bytes,
        counted(found.count, "step"),
        change(found.growth),
    );
    Fact::new("step", text)
}

/// Returns how live bytes change from step to step, with an error only if there is one. Growth is what
/// the finding takes for growth.
fn change(growth: MemoryGrowth) -> Message {
    let (mean, error) = (growth.bytes_per_step, rounded(growth.error_bytes));
    let size = Bytes(rounded(mean.abs()));
    let away = if mean < 0.0 { "−" } else { "+" };
    match (size.0, error) {
        (0, _) => "live memory does not grow".into(),
        _ if !growth.is_growing() => message!(
            "live memory does not grow steadily (mean {}{} a step, standard error {})",
            away,
            size,
            Bytes(error)
        ),
        (_, 0) => message!("live memory grows by {} in each", size),
        _ => message!(
            "live memory grows by {} a step (standard error {})",
            size,
            Bytes(error)
        ),
    }
}

/// Returns the levels that Metal and the driver report, which include what the rows do not.
fn levels(report: &Report) -> Option<Fact> {
    let machine = &report.machine;
    let memory = machine.allocated.as_ref()?;
    let (peak, last) = (memory.peak_bytes?, memory.last_bytes?);
    let wired = machine.wired.and_then(|wired| wired.peak_bytes);
    let wired = wired.map(|peak| message!("; peak wired memory of the machine {}", peak));
    let text = message!("peak {}, {} at the end of the window{}", peak, last, wired);
    Some(Fact::new("Metal's own figure", text))
}

/// Returns what the driver wired; nothing if it wired nothing.
fn wired(report: &Report) -> Option<Fact> {
    let wiring = report.machine.wiring.as_ref()?;
    let longest = wiring.longest?;
    let before = ("before the window", wiring.before_window);
    let parts = [before, ("in the window", wiring.in_window)].into_iter();
    let parts = parts.filter(|(_, sum)| sum.count > 0).map(|(part, sum)| {
        let events = counted(sum.count, "event");
        message!("{} {} ({})", sum.bytes, part, events)
    });
    let unread = wiring.without_size;
    let unread = (unread > 0).then(|| message!("; {} without a size", counted(unread, "event")));
    let text = message!(
        "{}; {} in gaps; longest {} in {}{}",
        Message::joined(parts, ", "),
        wiring.in_gaps_ns,
        longest.bytes,
        longest.duration_ns,
        unread,
    );
    Some(Fact::new("wired by the driver", text))
}

/// Returns a table of callers or labels.
fn groups(
    id: &'static str,
    caption: &'static str,
    groups: &[MemoryGroup],
    all: u64,
    steps: u64,
) -> Option<Block> {
    let (short, long) = GROUPS;
    let columns = vec![
        Column::name(if id == "callers" { "caller" } else { "label" }),
        Column::number("allocations"),
        Column::number("bytes"),
        Column::number("never freed"),
        Column::number("a step").spare(1),
        Column::number("growth").spare(2),
    ];
    let table = Table::new(id, caption, columns).sortable();
    let mut table = table
        .limited(short, long)
        .of(usize::try_from(all).unwrap_or(usize::MAX));
    for group in groups.iter().take(long) {
        let inside = group.steps.as_ref();
        let each = inside.map(|inside| mean(inside.turnover.allocations, steps));
        table.row([
            Cell::from(title(group, id)),
            Cell::from(count(group.allocations)),
            Cell::from(bytes(group.bytes)),
            Cell::from(bytes(group.live.bytes)),
            Cell::from(known(each, with_a_decimal)),
            Cell::from(known(inside, |inside| growth(inside.growth.bytes_per_step))),
        ]);
    }
    (!groups.is_empty()).then_some(Block::Table(table))
}

/// Returns a table of the phases that the process named.
fn phases(memory: &Memory) -> Option<Block> {
    let columns = vec![
        Column::label("phase"),
        Column::number("allocations"),
        Column::number("bytes"),
        Column::number("freed").spare(1),
        Column::number("bytes freed"),
    ];
    let table = Table::new("memory-phases", "Memory by phase", columns).sortable();
    let mut table = table.limited(GROUPS.0, GROUPS.1);
    let phases = memory.phases.iter();
    let phases = phases.map(|phase| (name(&phase.name), phase.turnover));
    let outside = memory.outside_phases?;
    for (phase, part) in phases.chain([("(in no phase)".into(), outside)]) {
        table.row([
            phase,
            count(part.allocations),
            bytes(part.bytes),
            count(part.freed),
            bytes(part.freed_bytes),
        ]);
    }
    Some(Block::Table(table))
}

/// Returns what the details of tracks say about memory outside Metal.
fn heap_facts(heap: &Heap) -> Vec<Fact> {
    let sized =
        |sum: CountedBytes, noun: &str| message!("{}, {}", counted(sum.count, noun), sum.bytes);
    let allocations = heap.allocations.as_ref().map(|found| {
        let whole = sized(found.whole, "allocation");
        let text = message!("{}; live {}", whole, found.live.bytes);
        Fact::new("heap and VM", text)
    });
    let leaks = heap.leaks.as_ref();
    let leaks = leaks.map(|found| Fact::new("leaks", sized(found.whole, "object")));
    let regions = heap.regions.as_ref().map(|found| {
        let text = message!(
            "{} resident, {} dirty, {} swapped out, in {}",
            found.resident_bytes,
            found.dirty_bytes,
            found.swapped_bytes,
            counted(found.whole.count, "region"),
        );
        Fact::new("virtual memory", text)
    });
    allocations
        .into_iter()
        .chain(leaks)
        .chain(regions)
        .collect()
}

fn heap_tables(heap: &Heap) -> Vec<Block> {
    let mut lists = Vec::new();
    if let Some(found) = &heap.allocations {
        lists.push((
            "heap-categories",
            "Heap by category",
            "live",
            &found.categories,
        ));
        lists.push((
            "heap-libraries",
            "Heap by library",
            "live",
            &found.libraries,
        ));
    }
    if let Some(found) = &heap.leaks {
        lists.push(("leaks", "Leaks by object", "leaked", &found.objects));
    }
    if let Some(found) = &heap.regions {
        let caption = "Virtual memory by type";
        lists.push(("vm-regions", caption, "dirty and swapped", &found.types));
    }
    let tables = lists.into_iter().map(|(id, caption, live, groups)| {
        let columns = vec![
            Column::name("name"),
            Column::number("count"),
            Column::number("bytes"),
            Column::number(live),
        ];
        let table = Table::new(id, caption, columns).sortable();
        let mut table = table.limited(GROUPS.0, GROUPS.1);
        for group in groups {
            table.row([
                group.name.as_deref().map_or_else(|| "(none)".into(), name),
                count(group.whole.count),
                bytes(group.whole.bytes),
                bytes(group.live.bytes),
            ]);
        }
        Block::Table(table)
    });
    tables.collect()
}

fn title(group: &MemoryGroup, id: &str) -> Message {
    match (&group.name, &group.binary) {
        (Some(text), _) if id == "callers" => function(text),
        (Some(text), _) => name(text),
        (None, Some(binary)) => message!("({})", name(binary)),
        (None, None) if id == "callers" => "(only Apple's libraries)".into(),
        (None, None) => "(no label)".into(),
    }
}

/// Returns the other processes that allocated.
fn others(memory: &Memory) -> Option<Block> {
    let processes = memory.processes.iter();
    let others = processes.filter(|process| !process.is_analyzed);
    let others = others.map(|user| {
        let name = user.name.as_deref();
        let name = name.map_or_else(|| "no process".into(), |name| process(name, false));
        message!("{} (peak {})", name, user.peak_bytes)
    });
    let text = Message::joined(others, ", ");
    let text = message!("Other processes that allocated: {}", text);
    let has_others = memory.processes.iter().any(|process| !process.is_analyzed);
    has_others.then_some(Block::Remark(text))
}

fn mean(total: u64, count: u64) -> f64 {
    total.float() / count.max(1).float()
}

fn growth(bytes_per_step: f64) -> Message {
    let size = rounded(bytes_per_step.abs());
    if size == 0 {
        return "none".into();
    }
    let size = metalens_text::units::bytes(size);
    let sign = if bytes_per_step < 0.0 { "−" } else { "+" };
    let value = |number| Value::Number { number };
    number(format!("{sign}{size}"), bytes_per_step, value)
}

/// Returns a number with at most one decimal.
fn with_a_decimal(value: f64) -> Message {
    if value.fract() == 0.0 || value >= 100.0 {
        return count(rounded(value));
    }
    number(format!("{value:.1}"), value, |number| Value::Number {
        number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_what_the_finding_takes_for_growth() {
        for (mean, error, later, expected) in [
            (0.0, 0.0, 0.0, "live memory does not grow"),
            (1024.0, 0.0, 1024.0, "live memory grows by 1.0 KiB in each"),
            (
                4096.0,
                1024.0,
                4000.0,
                "live memory grows by 4.0 KiB a step (standard error 1.0 KiB)",
            ),
            // A ring of constant size, and a cache that has filled up.
            (
                63181.0,
                36352.0,
                0.0,
                "live memory does not grow steadily (mean +61.7 KiB a step, standard error 35.5 KiB)",
            ),
            (
                4096.0,
                1024.0,
                0.0,
                "live memory does not grow steadily (mean +4.0 KiB a step, standard error 1.0 KiB)",
            ),
            (
                -2048.0,
                1024.0,
                0.0,
                "live memory does not grow steadily (mean −2.0 KiB a step, standard error 1.0 KiB)",
            ),
        ] {
            let growth = MemoryGrowth {
                bytes_per_step: mean,
                error_bytes: error,
                later_bytes_per_step: later,
                total_bytes: 0,
            };
            assert_eq!(change(growth).to_string(), expected);
        }
    }
}
