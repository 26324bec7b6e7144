//! Simulates memory that the driver wires for a process, so that the GPU can use it.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::export::cells::{Cells, FORMATTED_LABEL, Number, Part, Sheet, Text};
use crate::export::schema::Schema;
use crate::plan::states::role_color;
use crate::plan::{Plan, ProcessIndex};
use crate::random::Random;
use crate::scenario::checks::{bytes, instant};
use crate::scenario::nanos::Nanos;
use crate::truth::sweep::{Gap, Window};

/// Memory that the driver wires for a process, so that the GPU can use it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Wiring {
    /// Start, counted from the start of the recording.
    pub start: Nanos,
    /// Time that the driver takes.
    pub length: Nanos,
    /// Bytes; the table shows them with two decimals.
    pub bytes: u64,
    /// True if the driver is asked to unwire the memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwire: bool,
}

/// Checks an entry of a scenario.
pub(super) fn check(place: &str, wiring: &Wiring) -> Result<(), Error> {
    instant(&format!("{place}.start"), wiring.start, 0)?;
    instant(&format!("{place}.length"), wiring.length, 1)?;
    bytes(&format!("{place}.bytes"), wiring.bytes)
}

/// Returns memory that the driver wires, of a size that two decimals show exactly.
pub(super) fn random(random: &mut Random) -> Wiring {
    Wiring {
        start: Nanos::new(random.between(0, 400_000)),
        length: Nanos::new(random.between(1, 60_000)),
        bytes: random.between(0, 900) * *random.one_of(&[1 << 10, 1 << 20]),
        unwire: random.once_in(4),
    }
}

/// Memory that the driver wires or unwires for a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlannedWiring {
    pub(crate) process: ProcessIndex,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) bytes: u64,
    pub(crate) unwire: bool,
}

/// Plans what the driver wires and unwires for the processes, within the run.
pub(super) fn plan<'s>(
    entries: impl Iterator<Item = (ProcessIndex, &'s Wiring)>,
    plan: &Plan,
) -> Vec<PlannedWiring> {
    let planned = entries.map(|(process, wiring)| {
        let start_ns = plan.clock.cut(wiring.start.get());
        PlannedWiring {
            process,
            start_ns,
            end_ns: start_ns + plan.clock.cut(wiring.length.get()),
            bytes: wiring.bytes,
            unwire: wiring.unwire,
        }
    });
    let mut planned: Vec<PlannedWiring> = planned.collect();
    planned.retain(|wiring| wiring.end_ns <= plan.wall_ns);
    planned.sort_by_key(|wiring| wiring.start_ns);
    planned
}

pub(crate) const SCHEMA: Schema = Schema {
    name: "metal-driver-event-intervals",
    documentation: "What else the driver did, such as wiring memory.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("gpu-driver-name", "GPU Driver Name", "gpu-driver-name"),
        ("event-type", "Event Type", "gpu-driver-name"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("event-label", "Event", "formatted-label"),
        ("event-priority", "Priority", "metal-workload-priority"),
        ("connection-UUID", "Connection UUID", "connection-uuid64"),
        ("color", "Color", "render-buffer-depth"),
        ("process", "Process", "process"),
        ("thread", "Thread", "thread"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("resource-id", "Resource ID", "metal-command-buffer-id"),
        ("show-per-thread", "Show per Thread", "boolean"),
    ],
};

/// Writes `metal-driver-event-intervals`: memory that the driver wires and unwires.
pub(crate) fn write<'a>(
    wirings: &[PlannedWiring],
    sheet: &mut impl Sheet<'a>,
) -> Result<(), Error> {
    let plan = sheet.plan();
    for (connection, wiring) in (1..).zip(wirings) {
        let (kind, before, after) = if wiring.unwire {
            (
                "Unwire Memory Request",
                "Request Unwire ",
                " System Memory (",
            )
        } else {
            ("Wire Memory", "Wire ", " System Memory (Success) (")
        };
        let label = [
            Part::Text(Text::Narrative, before),
            Part::Number(Number::SizeInBytes, wiring.bytes),
            Part::Text(Text::Narrative, after),
            Part::Thread(wiring.process),
            Part::Text(Text::Narrative, ")"),
        ];
        sheet.row(|cells| {
            cells.number(Number::StartTime, wiring.start_ns);
            cells.number(Number::Duration, wiring.end_ns - wiring.start_ns);
            cells.text(Text::DriverName, "Driver Processing");
            cells.text(Text::DriverName, kind);
            cells.number(Number::NestingLevel, 0);
            cells.label(FORMATTED_LABEL, &label);
            cells.number(Number::Priority, 0);
            cells.number(Number::ConnectionUuid, connection);
            cells.number(Number::Color, role_color(plan.process(wiring.process).role));
            cells.process(wiring.process);
            cells.thread(wiring.process);
            cells.text(Text::DeviceName, &plan.gpu);
            cells.number(Number::CommandBufferId, u64::MAX);
            cells.number(Number::Boolean, 0);
        })?;
    }
    Ok(())
}

/// Memory that the driver wired for the process.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wired {
    /// Number of times before the window, and their bytes.
    pub before_window: (u64, u64),
    /// Number of times in the window, and their bytes.
    pub in_window: (u64, u64),
    /// Number of requests to unwire memory in the recording, and their bytes.
    pub unwired: (u64, u64),
    /// Time in gaps during which the driver wired memory.
    pub in_gaps_ns: u64,
}

/// Counts what was wired for the process, or returns `None` if nothing was for any.
pub(super) fn truth(
    planned: &[PlannedWiring],
    target: ProcessIndex,
    window: Window,
    gaps: &[Gap],
) -> Option<Wired> {
    if planned.is_empty() {
        return None;
    }
    let mut truth = Wired::default();
    let own = planned.iter().filter(|wiring| wiring.process == target);
    let (mut covered_ns, mut ignored) = (0, (0, 0));
    for wiring in own {
        let sum = match wiring.start_ns {
            _ if wiring.unwire => &mut truth.unwired,
            start_ns if start_ns < window.start_ns => &mut truth.before_window,
            start_ns if start_ns < window.end_ns => &mut truth.in_window,
            _ => &mut ignored,
        };
        *sum = (sum.0 + 1, sum.1 + wiring.bytes);
        if wiring.unwire {
            continue;
        }
        // Time that an earlier one covers counts once.
        let start_ns = wiring.start_ns.max(covered_ns);
        for gap in gaps {
            let (from_ns, to_ns) = (gap.from_ns.max(start_ns), gap.to_ns.min(wiring.end_ns));
            truth.in_gaps_ns += to_ns.saturating_sub(from_ns);
        }
        covered_ns = covered_ns.max(wiring.end_ns);
    }
    Some(truth)
}
