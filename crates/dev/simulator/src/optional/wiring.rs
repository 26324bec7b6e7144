//! Simulates memory that the driver wires for a process, so that the GPU can use it.

use serde::{Deserialize, Serialize};

use super::{Optional, Planned};
use crate::error::Error;
use crate::plan::ProcessIndex;
use crate::plan::states::process_color;
use crate::plan::sweep::{Gap, Window};
use crate::random::Random;
use crate::sheet::{Kind, Part, table};
use crate::values::checks::Place;
use crate::values::nanos::Nanos;

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
pub(crate) fn check(place: &Place, wiring: &Wiring) -> Result<(), Error> {
    place.instant("start", wiring.start, 0)?;
    place.instant("length", wiring.length, 1)?;
    place.bytes("bytes", wiring.bytes)
}

/// Returns memory that the driver wires, of a size that two decimals show exactly.
pub(crate) fn random(random: &mut Random) -> Wiring {
    Wiring {
        start: Nanos::new(random.between(0, 400_000)),
        length: Nanos::new(random.between(1, 60_000)),
        bytes: random.between(0, 900) * *random.one_of(&[1 << 10, 1 << 20]),
        unwire: random.once_in(4),
    }
}

table! {
    WIRING: "metal-driver-event-intervals", "What else the driver did, such as wiring memory.";
    |plan, optional| for (connection, wiring) in (1_u64..).zip(&optional.wiring) => {
        let (kind, before, after) = if wiring.of.unwire {
            ("Unwire Memory Request", "Request Unwire ", " System Memory (")
        } else {
            ("Wire Memory", "Wire ", " System Memory (Success) (")
        };
        let label = [
            Part::Text(Kind::NarrativeText, before),
            Part::Number(Kind::SizeInBytes, wiring.of.bytes),
            Part::Text(Kind::NarrativeText, after),
            Part::Thread(wiring.process),
            Part::Text(Kind::NarrativeText, ")"),
        ];
        "start" "Creation" StartTime = wiring.start_ns;
        "duration" "Duration" Duration = wiring.end_ns - wiring.start_ns;
        "gpu-driver-name" "GPU Driver Name" DriverName = "Driver Processing";
        "event-type" "Event Type" DriverName = kind;
        "event-depth" "Depth" NestingLevel;
        "event-label" "Event" FormattedLabel = &label;
        "event-priority" "Priority" Priority;
        "connection-UUID" "Connection UUID" ConnectionUuid = connection;
        "color" "Color" Color = process_color(plan, wiring.process);
        "process" "Process" Process = wiring.process;
        "thread" "Thread" Thread = wiring.process;
        "gpu" "Metal Device" DeviceName;
        "resource-id" "Resource ID" CommandBufferId = u64::MAX;
        "show-per-thread" "Show per Thread" Boolean;
    }
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
pub(crate) fn truth(
    planned: &[Planned<Wiring>],
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
            _ if wiring.of.unwire => &mut truth.unwired,
            start_ns if start_ns < window.start_ns => &mut truth.before_window,
            start_ns if start_ns < window.end_ns => &mut truth.in_window,
            _ => &mut ignored,
        };
        *sum = (sum.0 + 1, sum.1 + wiring.of.bytes);
        if wiring.of.unwire {
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
