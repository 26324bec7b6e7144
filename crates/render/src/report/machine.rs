//! Builds the sections on the rest of the machine: clock, heat, memory, driver, other processes,
//! hardware counters.

use metalens_analyzer::message::{
    Value, bytes, count, counted, name, number, percent, process, time,
};
use metalens_analyzer::{Machine, Message, Report, StateTime, message};

use crate::document::{Block, Column, Fact, Section, Table};
use crate::wording::{known, share};

/// Largest number of states that are named; the others are counted.
const STATES: usize = 8;
/// Largest number of other processes that are named.
const OTHERS: usize = 3;
/// Largest numbers of counters on screens and pages, and on interactive pages.
const COUNTERS: (usize, usize) = (20, 200);

/// Returns the other activity of the machine; `None` if none was recorded.
pub(super) fn machine(report: &Report) -> Option<Section> {
    let mut facts = clock_and_heat(&report.machine);
    facts.extend(memory_and_driver(report));
    let section = Section::new("machine", "Machine", 6);
    Block::facts(facts).map(|facts| section.with(facts))
}

/// Returns the states, each with its share of the window and of the busy time.
fn states(states: &[StateTime]) -> Message {
    let shown = states.iter().take(STATES).map(|state| {
        let induced = if state.induced_ns > 0 {
            " (induced)"
        } else {
            ""
        };
        let busy = state
            .busy_share
            .map(|busy| message!(" ({} of the busy time)", percent(busy)));
        let share = known(state.share, percent);
        message!(
            "{}{} for {} of the window{}",
            name(&state.state),
            induced,
            share,
            busy
        )
    });
    let hidden = states.len().saturating_sub(STATES) as u64;
    let more = (hidden > 0).then(|| message!("… and {} more", count(hidden)));
    Message::joined(shown.chain(more), ", ")
}

fn clock_and_heat(machine: &Machine) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(performance) = &machine.performance {
        let (window, busy) = (performance.unknown_ns, performance.unknown_busy_ns);
        let unknown = (window > 0 || busy > 0).then(|| {
            let (window, busy) = (time(window), time(busy));
            message!("; unknown for {} ({} of the busy time)", window, busy)
        });
        let text = message!("{}{}", states(&performance.states), unknown);
        facts.push(Fact::new("GPU clock", text));
    }
    if let Some(thermal) = &machine.thermal {
        let worst = thermal.worst.as_ref().filter(|_| thermal.states.len() > 1);
        let worst = worst.map(|worst| message!("; at worst {}", name(worst)));
        let text = message!("{}{}", states(&thermal.states), worst);
        facts.push(Fact::new("thermal", text));
    }
    facts
}

fn memory_and_driver(report: &Report) -> Vec<Fact> {
    let machine = &report.machine;
    let mut facts = Vec::new();
    if let Some(memory) = &machine.allocated
        && let (Some(peak), Some(last)) = (memory.peak_bytes, memory.last_bytes)
    {
        let wired = machine.wired.and_then(|wired| wired.peak_bytes);
        let wired =
            wired.map(|peak| message!("; peak wired memory of the machine {}", bytes(peak)));
        let text = message!(
            "of the process: peak {}, {} at the end{}",
            bytes(peak),
            bytes(last),
            wired
        );
        facts.push(Fact::new("GPU memory", text));
    }
    if let Some(driver) = &machine.driver {
        let calls: u64 = driver.types.iter().map(|one| one.count).sum();
        let text = message!(
            "{} for the process: {} of CPU time, {} of it in the gaps",
            counted(calls, "interval"),
            time(driver.busy_ns),
            time(driver.in_gaps_ns),
        );
        facts.push(Fact::new("driver", text));
    }
    if let Some(compiles) = machine.shader_compiles.filter(|one| one.inside.count > 0) {
        let text = message!(
            "{} inside the window, {}",
            counted(compiles.inside.count, "compilation"),
            time(compiles.inside.total_ns),
        );
        facts.push(Fact::new("compiler", text));
    }
    facts.push(others(report));
    facts
}

fn others(report: &Report) -> Fact {
    let others = &report.machine.others;
    let busy_ns = report.busy.others_busy_ns;
    let busy = message!(
        "{}, {} of the window",
        time(busy_ns),
        share(busy_ns, report.window.span_ns)
    );
    let top = others.top.iter().take(OTHERS).map(|one| {
        let name = match &one.name {
            Some(name) => process(name, false),
            None => "rows that name no process".into(),
        };
        message!("{} {}", name, time(one.in_gaps_ns))
    });
    let in_gaps = (others.in_gaps_ns > 0).then(|| {
        message!(
            "; in {} of the idle time: {}",
            share(others.in_gaps_ns, report.gaps.total_ns),
            Message::joined(top, ", "),
        )
    });
    Fact::new("other processes", message!("{}{}", busy, in_gaps))
}

/// Returns the hardware counters; `None` if there are none.
pub(super) fn counters(report: &Report) -> Option<Section> {
    let found = report.counters.as_ref()?;
    let (short, long) = COUNTERS;
    let columns = vec![
        Column::number("mean"),
        Column::number("mean, busy"),
        Column::number("p95"),
        Column::number("max"),
        Column::number("samples").spare(1),
        Column::name("counter"),
    ];
    let table = Table::new("counters", "Hardware counters of the whole GPU", columns);
    let table = table.sortable().limited(short, long);
    let mut table = table.of(found.counters.len());
    for counter in found.counters.iter().take(long) {
        let is_percentage = counter.is_percentage == Some(true);
        let value = |value: f64| {
            if is_percentage {
                let share = |percent: f64| Value::Share {
                    share: percent / 100.0,
                };
                number(format!("{value:.2} %"), value, share)
            } else {
                let text = format!("{value:.2}");
                number(text, value, |number| Value::Number { number })
            }
        };
        table.row([
            value(counter.window.mean),
            known(counter.busy, |busy| value(busy.mean)),
            value(counter.window.p95),
            value(counter.window.max),
            count(counter.window.samples),
            name(&counter.name),
        ]);
    }
    let section = Section::new("counters", "Hardware counters (of the whole GPU)", 7);
    Some(section.with(Block::Table(table)))
}
