//! The rest of the machine: what else happened while the target ran.
//!
//! Each part comes from tables of its own, any of which a recording may lack.
//! A part without its table is `None` and is said to be unavailable; a table
//! without rows of the target counts zero, which is a fact.

mod driver;
mod memory;
mod others;
mod sanity;
mod states;
#[cfg(test)]
pub(crate) mod testing;
mod trouble;

use metalens_trace::Trace;

use crate::analysis::Held;
use crate::report::{Machine, Unavailable};
use crate::rows::why_absent;
use crate::spans::Span;
use crate::target::Target;
use crate::timeline::Interval;

pub(crate) use others::{ForeignUse, others};
pub(crate) use sanity::{SanityInput, joined, sanity, truncated_tables};

/// The tables and columns that are read here.
pub(crate) const TABLES: &[(&str, &[&str])] = &[
    (
        states::PERFORMANCE,
        &[
            "start",
            "duration",
            "gpu-performance-state",
            "is-induced",
            "narrative",
        ],
    ),
    (states::DEVICE, &["start", "duration", "state"]),
    (
        states::THERMAL,
        &["start", "duration", "thermal-state", "is-induced"],
    ),
    (
        memory::ALLOCATED,
        &["start", "process", "current-allocated-size"],
    ),
    (memory::WIRED, &["start", "duration", "bytes"]),
    (
        driver::INTERVALS,
        &["start", "duration", "event-type", "process"],
    ),
    (
        driver::EVENTS,
        &["start", "duration", "event-type", "process"],
    ),
    (driver::COMPILES, &["start", "duration", "process"]),
    (trouble::HANGS, &["start", "duration", "process"]),
    (trouble::RISKS, &["time", "process"]),
    (trouble::ERRORS, &["cmdbuffer-id", "error-code"]),
    (trouble::COMPOSITOR, &["compositor-name"]),
    (trouble::VSYNCS, &["timestamp"]),
    (trouble::SURFACES, &["start", "duration"]),
];

/// What the parts are measured against.
#[derive(Clone, Copy)]
pub(crate) struct Against<'a> {
    pub target: &'a Target,
    pub window: Span,
    /// When the target was busy.
    pub busy: &'a [Span],
    /// When it was not.
    pub gaps: &'a [Span],
}

/// All of it, but for what others did, which needs their intervals. Takes its
/// tables out of the trace. What is missing is added to `unavailable`. Beside
/// it: when which performance state held.
pub(crate) fn machine(
    trace: &mut Trace,
    against: Against<'_>,
    mine: &[Interval],
    others: crate::report::Others,
    unavailable: &mut Vec<Unavailable>,
) -> (Machine, Vec<Held>) {
    let (performance, held) = states::performance(trace, against).unzip();
    let thermal = states::thermal(trace, against);
    let allocated = memory::allocated(trace, against);
    let wired = memory::wired(trace, against.window);
    let driver = driver::driver(trace, against);
    let driver_events = driver::events(trace, against);
    let shader_compiles = driver::compiles(trace, against);
    let hangs = trouble::hangs(trace, against);
    let errors = trouble::errors(trace, mine);
    let mut missing = |absent: bool, what: &str, schema: &str| {
        if absent {
            unavailable.push(Unavailable {
                what: what.to_owned(),
                why: why_absent(trace, schema),
            });
        }
    };
    missing(
        performance.is_none(),
        "machine.performance",
        states::PERFORMANCE,
    );
    missing(thermal.is_none(), "machine.thermal", states::THERMAL);
    missing(allocated.is_none(), "machine.allocated", memory::ALLOCATED);
    missing(wired.is_none(), "machine.wired", memory::WIRED);
    missing(driver.is_none(), "machine.driver", driver::INTERVALS);
    missing(
        driver_events.is_none(),
        "machine.driver_events",
        driver::EVENTS,
    );
    missing(
        shader_compiles.is_none(),
        "machine.shader_compiles",
        driver::COMPILES,
    );
    missing(hangs.is_none(), "machine.hangs", trouble::HANGS);
    missing(errors.is_none(), "machine.errors", trouble::ERRORS);
    let machine = Machine {
        performance,
        thermal,
        allocated,
        wired,
        driver,
        driver_events,
        shader_compiles,
        others,
        display: trouble::display(trace, against.window),
        hangs,
        errors,
    };
    (machine, held.unwrap_or_default())
}
