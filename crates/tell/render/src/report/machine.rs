//! Builds the sections on the rest of the machine: clock, heat, driver, other processes,
//! hardware counters.

use metalens_analyzer::{CounterUnit, Counters, Machine, Report, StateTime};
use metalens_message::{
    Message, Ns, Value, count, counted, kernel, message, name, number, percent, process, time,
};

use crate::document::{Block, Column, Fact, Section, Table};
use crate::wording::{known, share};

/// Largest number of states that are named; the others are counted.
const STATES: usize = 8;
/// Largest number of other processes that are named.
const OTHERS: usize = 3;
/// Largest numbers of counters on screens and pages, and on interactive pages.
const COUNTERS: (usize, usize) = (20, 200);

/// Largest number of kernels without counters whose reason is shown.
const REASONS: usize = 3;

/// Returns the other activity of the machine; `None` if none was recorded.
pub(super) fn machine(report: &Report) -> Option<Section> {
    let mut facts = clock_and_heat(&report.machine);
    facts.extend(driver_and_others(report));
    let section = Section::new("machine", "Machine", 6);
    Block::facts(facts).map(|facts| section.with(facts))
}

/// Returns the states, each with its share of the window and of the busy time.
fn states(states: &[StateTime]) -> Message {
    let shown = states.iter().take(STATES).map(|state| {
        let induced = match state.induced_ns {
            Ns(0) => Message::default(),
            all if all >= state.total_ns => " (induced)".into(),
            part => message!(" ({} of it induced)", part),
        };
        let busy = state
            .busy_share
            .map(|busy| message!(" ({} of the busy time)", busy));
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
        let unknown = (window > Ns(0) || busy > Ns(0)).then(|| {
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

fn driver_and_others(report: &Report) -> Vec<Fact> {
    let machine = &report.machine;
    let mut facts = Vec::new();
    if let Some(driver) = &machine.driver {
        let calls: u64 = driver.types.iter().map(|events| events.count).sum();
        let text = message!(
            "{} for the process: they cover {} of the window, {} of it in the gaps",
            counted(calls, "interval"),
            driver.busy_ns,
            driver.in_gaps_ns,
        );
        facts.push(Fact::new("driver", text));
    }

    if let Some(compiles) = machine
        .shader_compiles
        .filter(|compiles| compiles.inside.count > 0)
    {
        let text = message!(
            "{} inside the window, {}",
            counted(compiles.inside.count, "compilation"),
            compiles.inside.total_ns,
        );
        facts.push(Fact::new("compiler", text));
    }
    facts.extend(others(report));
    facts
}

fn others(report: &Report) -> Option<Fact> {
    let others = report.machine.others.as_ref()?;
    let busy_ns = report.busy.others_busy_ns?;
    let busy = message!(
        "{}, {} of the window",
        busy_ns,
        share(busy_ns, report.window.span_ns)
    );
    let top = others.top.iter().take(OTHERS).map(|used| {
        let name = match &used.name {
            Some(name) => process(name, false),
            None => "rows that name no process".into(),
        };
        message!("{} ({})", name, used.in_gaps_ns)
    });
    let in_gaps = (others.in_gaps_ns > Ns(0)).then(|| {
        message!(
            "; in {} of the idle time: {}",
            share(others.in_gaps_ns, report.gaps.total_ns),
            Message::joined(top, ", "),
        )
    });
    Some(Fact::new(
        "other processes",
        message!("{}{}", busy, in_gaps),
    ))
}

/// Returns the hardware counters; `None` if there are none.
pub(super) fn counters(report: &Report) -> Option<Section> {
    let found = report.counters.as_ref()?;
    let sampled = found.step_ns.map(|step_ns| {
        let text = message!("every {}, of the whole GPU", step_ns);
        Fact::new("sampled", text)
    });
    let bandwidth = found.bandwidth.map(|bandwidth| {
        let text = message!(
            "{} while busy: {} read and {} written{}",
            gb_per_s(bandwidth.gb_per_s),
            gb_per_s(bandwidth.read_gb_per_s),
            gb_per_s(bandwidth.write_gb_per_s),
            bandwidth
                .share
                .map(|share| message!("; {} of the chip's", share.at_least)),
        );
        Fact::new("memory bandwidth", text)
    });
    let facts = sampled.into_iter().chain(bandwidth).collect();

    let section = Section::new("counters", "Hardware counters (of the whole GPU)", 7)
        .with_some(Block::facts(facts))
        .with_some(kernel_counters(found))
        .with_some(without_counters(found))
        .with(Block::Table(counter_values(found)));
    Some(section)
}

/// Returns the values of each counter.
fn counter_values(found: &Counters) -> Table {
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
        let value = |value: f64| match counter.unit {
            Some(CounterUnit::Percent) => percentage(value),
            Some(CounterUnit::GigabytesPerSecond) => gb_per_s(value),
            None if counter.is_percentage == Some(true) => percentage(value),
            None => {
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
    table
}

/// Returns the limiters and the bandwidth of each kernel that has values; `None` if none has. The
/// reasons of the others are below the table.
fn kernel_counters(found: &Counters) -> Option<Block> {
    let (short, long) = COUNTERS;
    let kernels = found
        .kernels
        .iter()
        .filter(|kernel| kernel.why_none.is_none());
    let kernels: Vec<_> = kernels.collect();
    let columns = vec![
        Column::name("kernel"),
        Column::label("limiter"),
        Column::number("mean"),
        Column::number("highest for").spare(2),
        Column::number("bandwidth"),
        Column::number("of the chip's"),
        Column::number("samples").spare(1),
    ];
    let table = Table::new("kernel-counters", "Limiter of each kernel", columns);
    let mut table = table.limited(short, long).of(kernels.len());
    for counters in kernels.iter().take(long) {
        let (limiter, bandwidth) = (counters.limiters.first(), counters.bandwidth);
        table.row([
            kernel(&counters.name),
            known(limiter, |limiter| name(&limiter.counter)),
            known(limiter, |limiter| percentage(limiter.mean_pct)),
            known(limiter, |limiter| percent(limiter.highest_share)),
            known(bandwidth, |bandwidth| gb_per_s(bandwidth.gb_per_s)),
            known(bandwidth.and_then(|bandwidth| bandwidth.share), |share| {
                percent(share.at_least)
            }),
            count(counters.samples),
        ]);
    }
    (!kernels.is_empty()).then_some(Block::Table(table))
}

/// Returns why kernels have no values: each of the first with its reason, and the number of all.
fn without_counters(found: &Counters) -> Option<Block> {
    let none = || {
        found
            .kernels
            .iter()
            .filter(|kernel| kernel.why_none.is_some())
    };
    let all = none().count();
    let reasons = none().take(REASONS).filter_map(|counters| {
        let why = counters.why_none.as_ref()?;
        Some(message!(
            "no values for {}: {}",
            kernel(&counters.name),
            why
        ))
    });
    let more = all.saturating_sub(REASONS);
    let more = (more > 0).then(|| {
        message!(
            "no values for {}: --json has each reason",
            counted(more as u64, "more kernel")
        )
    });
    Block::list(reasons.chain(more))
}

fn percentage(value: f64) -> Message {
    number(format!("{value:.2} %"), value, |percent| Value::Share {
        share: percent / 100.0,
    })
}

fn gb_per_s(value: f64) -> Message {
    let bandwidth = |gb_per_s| Value::Bandwidth { gb_per_s };
    number(format!("{value:.1} GB/s"), value, bandwidth)
}
