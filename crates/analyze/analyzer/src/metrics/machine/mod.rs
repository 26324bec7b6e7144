//! Computes the machine's other activity during the window.
//!
//! Each part comes from tables of its own, any of which a recording may lack. A part without
//! its table is `None` and is listed as not recorded; a table without rows of the process
//! counts zero, which is a fact.

mod driver;
mod hangs_and_errors;
mod memory;
pub(crate) mod others;
mod states;
mod wiring;

pub(crate) use driver::name_events;
use metalens_trace::Names;

use crate::basics::state_interval::StateInterval;
use crate::metrics::busy_window::BusyWindow;
use crate::report::{Machine, NotRecorded};
use crate::subject::interval::Interval;
use crate::subject::others::OtherGpuUse;
use crate::tables::machine::MachineTables;
use crate::tables::reader::TableResult;

/// Input of the machine's figures.
pub(crate) struct MachineInput<'a> {
    pub tables: MachineTables,
    /// Performance state that the recording asked for.
    pub requested_state: Option<String>,
    pub busy_window: BusyWindow<'a>,
    /// GPU intervals of the process in the window.
    pub mine: &'a [Interval],
    pub others: &'a OtherGpuUse,
    pub names: &'a Names,
}

/// Computes all parts, and adds missing ones to `not_recorded`. Also returns the performance
/// states in order of time.
pub(crate) fn machine(
    input: MachineInput<'_>,
    not_recorded: &mut Vec<NotRecorded>,
) -> (Machine, Vec<StateInterval>) {
    let (tables, busy_window, names) = (input.tables, input.busy_window, input.names);
    let mut missing = MissingParts(not_recorded);
    let requested = input.requested_state;
    let states = states::performance(
        tables.performance,
        tables.device,
        requested,
        names,
        busy_window,
    );

    let (performance, state_intervals) = missing.note("machine.performance", states).unzip();
    let thermal = missing.note("machine.thermal", tables.thermal);
    let allocated = missing.note(
        "machine.allocated",
        tables
            .allocated
            .or_else(|absent| tables.allocated_before.map_err(|_| absent)),
    );
    let wired = missing.note("machine.wired", tables.wired);
    let mut driver = missing.note("machine.driver", tables.driver_intervals);
    if driver
        .as_ref()
        .is_some_and(|table| driver::ends_early(table, input.mine, busy_window))
    {
        let why = "metal-driver-intervals has no row after the last commit of the process";
        missing.0.push(NotRecorded::new("machine.driver", why));
        driver = None;
    }
    let events = missing.note("machine.driver_events", tables.driver_events);
    let wiring = events
        .as_ref()
        .map(|table| wiring::wiring(table, names, busy_window));
    let compiles = missing.note("machine.shader_compiles", tables.shader_compiles);
    let hangs = missing.note("machine.hangs", tables.hangs);
    let errors = missing.note("machine.errors", tables.buffer_errors);

    let machine = Machine {
        performance,
        thermal: thermal.map(|table| states::thermal(&table, names, busy_window)),
        allocated: allocated.map(|table| memory::allocated(&table, busy_window)),
        wired: wired.map(|table| memory::wired(&table, busy_window.window)),
        driver: driver.map(|table| driver::driver(&table, names, busy_window)),
        driver_events: events.map(|table| driver::events(&table, names, busy_window)),
        wiring,
        shader_compiles: compiles.map(|table| driver::compiles(&table, busy_window)),
        others: (!input.others.are_unrecorded)
            .then(|| others::others(&input.others.users, busy_window.gaps, names)),
        display: hangs_and_errors::display(
            tables.compositor.ok(),
            tables.vsyncs.ok(),
            tables.surfaces.ok(),
            names,
            busy_window.window,
        ),
        hangs: hangs.map(|table| hangs_and_errors::hangs(&table, busy_window)),
        errors: errors.map(|table| hangs_and_errors::errors(&table, input.mine)),
    };
    (machine, state_intervals.unwrap_or_default())
}

/// List of the parts that are not recorded.
struct MissingParts<'a>(&'a mut Vec<NotRecorded>);

impl MissingParts<'_> {
    /// Returns a part; if it is missing, adds the reason to the list.
    fn note<T>(&mut self, what: &str, part: TableResult<T>) -> Option<T> {
        part.map_err(|absent| self.0.push(NotRecorded::new(what, absent.why)))
            .ok()
    }
}
