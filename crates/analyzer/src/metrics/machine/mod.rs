//! The rest of the machine: what else happened while the target ran.
//!
//! Each part comes from tables of its own, any of which a recording may lack.
//! A part without its table is `None` and is said to be unavailable; a table
//! without rows of the target counts zero, which is a fact.

mod driver;
mod memory;
mod others;
mod states;
mod trouble;

use metalens_trace::Names;

use crate::basics::held::Held;
use crate::metrics::against::Against;
use crate::report::{Machine, NotRecorded};
use crate::subject::others::ForeignUse;
use crate::subject::timeline::Interval;
use crate::tables::MachineTables;
use crate::tables::reader::{Absent, Given};

/// What the machine is measured from.
pub(crate) struct MachineInput<'a> {
    pub tables: MachineTables,
    /// The performance state that the recording asked for.
    pub requested_state: Option<String>,
    pub against: Against<'a>,
    /// The target's intervals in the window.
    pub mine: &'a [Interval],
    pub others: &'a ForeignUse,
    pub names: &'a Names,
}

/// Says all of it. What is missing is added to `unavailable`. Beside it: when which
/// performance state held.
pub(crate) fn machine(
    input: MachineInput<'_>,
    unavailable: &mut Vec<NotRecorded>,
) -> (Machine, Vec<Held>) {
    let (tables, against, names) = (input.tables, input.against, input.names);
    let mut missing = Missing(unavailable);
    let requested = input.requested_state;
    let states = states::performance(tables.performance, tables.device, requested, names, against);
    let (performance, held) = missing.tell("machine.performance", states).unzip();
    let thermal = missing.tell("machine.thermal", tables.thermal);
    let allocated = missing.tell("machine.allocated", tables.allocated);
    let wired = missing.tell("machine.wired", tables.wired);
    let driver = missing.tell("machine.driver", tables.driver_intervals);
    let events = missing.tell("machine.driver_events", tables.driver_events);
    let compiles = missing.tell("machine.shader_compiles", tables.shader_compiles);
    let hangs = missing.tell("machine.hangs", tables.hangs);
    let errors = missing.tell("machine.errors", tables.buffer_errors);
    let risks = tables.hang_risks.ok();
    let machine = Machine {
        performance,
        thermal: thermal.map(|table| states::thermal(&table, names, against)),
        allocated: allocated.map(|table| memory::allocated(&table, against)),
        wired: wired.map(|table| memory::wired(&table, against.window)),
        driver: driver.map(|table| driver::driver(&table, names, against)),
        driver_events: events.map(|table| driver::events(&table, names, against)),
        shader_compiles: compiles.map(|table| driver::compiles(&table, against)),
        others: others::others(input.others, against.gaps, names),
        display: trouble::display(
            tables.compositor.ok(),
            tables.vsyncs.ok(),
            tables.surfaces.ok(),
            names,
            against.window,
        ),
        hangs: hangs.map(|table| trouble::hangs(&table, risks.as_ref(), against)),
        errors: errors.map(|table| trouble::errors(&table, input.mine)),
    };
    (machine, held.unwrap_or_default())
}

/// What the recording does not tell.
struct Missing<'a>(&'a mut Vec<NotRecorded>);

impl Missing<'_> {
    /// Tells why, if there is no such part.
    fn tell<T>(&mut self, what: &str, part: Given<T>) -> Option<T> {
        let unavailable = |absent: Absent| {
            self.0.push(NotRecorded::new(what, absent.why()));
        };
        part.map_err(unavailable).ok()
    }
}
