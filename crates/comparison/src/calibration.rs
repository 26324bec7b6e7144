//! Compares runs of the workload without and with the recorder (`metalens.calibration/1`): turns
//! what the runs reported and what their recordings contain into figures. Nothing here runs or
//! reads anything.

mod counts;
mod figures;
mod program;
mod runs;
mod verdicts;

use metalens_analyzer::{Message, Note};

pub use counts::{Count, CountVerdict, LabelCount, UnissuedName, WorkCounts};
pub use figures::{Calibration, ClockAgreement, Cost, RunPair, TimeSpread, WorkloadFacts};
pub use program::{IssuedLabel, IssuedTotals, MeasuredRun, Program, ProgramError, ProgramRun};
pub use runs::{ClockShare, NameCounts, PairRuns, RecordedWork};
pub use verdicts::{range, signed};

/// Name of the format.
const SCHEMA: &str = "metalens.calibration/1";

impl Calibration {
    /// Compares the runs of at least one pair.
    #[must_use]
    pub fn from_pairs(runs: Vec<PairRuns>, simulated: bool, is_kept: bool) -> Self {
        let first = runs.first().map(|pair| &pair.with.program);
        let workload = first.map_or_else(WorkloadFacts::none, |program| WorkloadFacts {
            name: program.workload.clone(),
            size: program.size,
            count: program.count,
            warm_up: program.warm_up,
            gpu: program.run.as_ref().map(|run| run.device.clone()),
        });

        let cost = |time: fn(&ProgramRun) -> Option<u64>| {
            let pairs = runs.iter();
            let pairs = pairs.map(|pair| Some((time(&pair.without)?, time(&pair.with)?)));
            Cost::from_times(pairs.collect(), simulated)
        };

        let mut calibration = Self {
            schema: SCHEMA,
            metalens: env!("CARGO_PKG_VERSION"),
            simulated,
            workload,
            verdicts: Vec::new(),
            verdict_values: Vec::new(),
            counts: WorkCounts::from_pairs(&runs),
            agreement: ClockAgreement::from_pairs(&runs, simulated),
            wall: cost(ProgramRun::wall_ns),
            gpu: cost(|run| run.gpu_ns),
            pairs: figures::pairs(&runs, is_kept),
            notes: Vec::new(),
            note_details: Vec::new(),
        };

        let sentences = verdicts::verdicts(&calibration).into_iter();
        (calibration.verdicts, calibration.verdict_values) =
            sentences.map(Message::into_parts).unzip();
        let notes = verdicts::notes(&calibration);
        (calibration.notes, calibration.note_details) = Note::lists(notes);
        calibration
    }
}
