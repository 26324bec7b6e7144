//! Simulates times during which the main thread of a process did not respond.

use serde::{Deserialize, Serialize};

use super::{Optional, Planned};
use crate::error::Error;
use crate::plan::ProcessIndex;
use crate::plan::sweep::Window;
use crate::random::Random;
use crate::sheet::table;
use crate::values::checks::Place;
use crate::values::nanos::Nanos;

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
pub(crate) fn check(place: &Place, hang: &Hang) -> Result<(), Error> {
    place.name("kind", &hang.kind)?;
    place.instant("start", hang.start, 0)?;
    place.instant("length", hang.length, 1)
}

/// Returns a hang that may lie outside the work.
pub(crate) fn random(random: &mut Random) -> Hang {
    Hang {
        start: Nanos::new(random.between(0, 300_000)),
        length: Nanos::new(random.between(1, 100_000)),
        kind: Hang::default_kind(),
    }
}

table! {
    HANGS: "potential-hangs", "When main threads did not respond.";
    |_, optional| for hang in &optional.hangs => {
        "start" "Start" StartTime = hang.start_ns;
        "duration" "Duration" Duration = hang.end_ns - hang.start_ns;
        "hang-type" "Hang Type" HangType = &hang.of.kind;
        "thread" "Thread" Thread = hang.process;
        "process" "Process" Process = hang.process;
    }
}

/// Counts the hangs of the process that touch the window.
pub(crate) fn truth(planned: &[Planned<Hang>], target: ProcessIndex, window: Window) -> u64 {
    let own = planned.iter().filter(|hang| hang.process == target);
    own.filter(|hang| hang.start_ns < window.end_ns && hang.end_ns > window.start_ns)
        .count() as u64
}
