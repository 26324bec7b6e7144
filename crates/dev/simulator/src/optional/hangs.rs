//! Simulates times during which the main thread of a process did not respond.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::export::cells::{Cells, Number, Sheet, Text};
use crate::export::schema::Schema;
use crate::plan::{Plan, ProcessIndex};
use crate::random::Random;
use crate::scenario::checks::{instant, name};
use crate::scenario::nanos::Nanos;
use crate::truth::sweep::Window;

/// A time during which the main thread did not respond.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hang {
    /// Start, counted from the start of the recording.
    pub start: Nanos,
    /// Duration of the hang.
    pub length: Nanos,
    /// Name that Instruments has for a hang of this duration.
    #[serde(default = "Hang::default_kind")]
    pub kind: String,
}

impl Hang {
    fn default_kind() -> String {
        "Hang".to_owned()
    }
}

/// Checks an entry of a scenario.
pub(super) fn check(place: &str, hang: &Hang) -> Result<(), Error> {
    name(&format!("{place}.kind"), &hang.kind)?;
    instant(&format!("{place}.start"), hang.start, 0)?;
    instant(&format!("{place}.length"), hang.length, 1)
}

/// Returns a hang that may lie outside the work.
pub(super) fn random(random: &mut Random) -> Hang {
    Hang {
        start: Nanos::new(random.between(0, 300_000)),
        length: Nanos::new(random.between(1, 100_000)),
        kind: Hang::default_kind(),
    }
}

/// A time during which a main thread did not respond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedHang {
    pub(crate) process: ProcessIndex,
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) kind: String,
}

/// Plans the hangs of the processes that end within the run.
pub(super) fn plan<'s>(
    entries: impl Iterator<Item = (ProcessIndex, &'s Hang)>,
    plan: &Plan,
) -> Vec<PlannedHang> {
    let planned = entries.map(|(process, hang)| PlannedHang {
        process,
        start_ns: plan.clock.cut(hang.start.get()),
        duration_ns: plan.clock.cut(hang.length.get()),
        kind: hang.kind.clone(),
    });
    let mut planned: Vec<PlannedHang> = planned.collect();
    planned.retain(|hang| hang.start_ns + hang.duration_ns <= plan.wall_ns);
    planned.sort_by_key(|hang| hang.start_ns);
    planned
}

pub(crate) const SCHEMA: Schema = Schema {
    name: "potential-hangs",
    documentation: "When main threads did not respond.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Duration", "duration"),
        ("hang-type", "Hang Type", "hang-type"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
    ],
};

/// Writes `potential-hangs`: times when main threads did not respond.
pub(crate) fn write<'a>(hangs: &[PlannedHang], sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    for hang in hangs {
        sheet.row(|cells| {
            cells.number(Number::StartTime, hang.start_ns);
            cells.number(Number::Duration, hang.duration_ns);
            cells.text(Text::HangType, &hang.kind);
            cells.thread(hang.process);
            cells.process(hang.process);
        })?;
    }
    Ok(())
}

/// Counts the hangs of the process that touch the window.
pub(super) fn truth(planned: &[PlannedHang], target: ProcessIndex, window: Window) -> u64 {
    let own = planned.iter().filter(|hang| hang.process == target);
    own.filter(|hang| {
        hang.start_ns < window.end_ns && hang.start_ns + hang.duration_ns > window.start_ns
    })
    .count() as u64
}
