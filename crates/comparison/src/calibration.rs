//! `metalens.calibration/1`: runs without and with the recorder, compared: from what the runs
//! said and what was found in their recordings to figures. Nothing here runs or reads anything.

mod counts;
mod figures;
mod program;
mod runs;
#[cfg(test)]
mod tests;
mod verdicts;

use metalens_analyzer::{Message, Note};

pub use counts::{Count, CountVerdict, Counts, LabelCount, Other};
pub use figures::{Agreement, Calibration, Cost, Pair, Spread, Workload};
pub use program::{Label, Program, ProgramRun, Ran, UnknownProgram, Whole};
pub use runs::{ClockShare, NamedWork, PairRuns, Recorded};
pub use verdicts::{range, signed};

/// The form's name.
const SCHEMA: &str = "metalens.calibration/1";

impl Calibration {
    /// Makes the calibration of at least one pair.
    #[must_use]
    pub fn of(runs: Vec<PairRuns>, simulated: bool, is_kept: bool) -> Self {
        let first = runs.first().map(|pair| &pair.with.program);
        let workload = first.map_or_else(Workload::none, |program| Workload {
            name: program.workload.clone(),
            size: program.size,
            count: program.count,
            warm_up: program.warm_up,
            gpu: program.run.as_ref().map(|run| run.device.clone()),
        });
        let cost = |time: fn(&ProgramRun) -> Option<u64>| {
            let pairs = runs.iter();
            let pairs = pairs.map(|pair| Some((time(&pair.without)?, time(&pair.with)?)));
            Cost::of(pairs.collect(), simulated)
        };
        let mut calibration = Self {
            schema: SCHEMA,
            metalens: env!("CARGO_PKG_VERSION"),
            simulated,
            workload,
            verdicts: Vec::new(),
            verdict_values: Vec::new(),
            counts: Counts::of(&runs),
            agreement: Agreement::of(&runs, simulated),
            wall: cost(ProgramRun::wall_ns),
            gpu: cost(|run| run.gpu_ns),
            pairs: figures::pairs(&runs, is_kept),
            notes: Vec::new(),
            note_details: Vec::new(),
        };
        let said = verdicts::verdicts(&calibration).into_iter();
        (calibration.verdicts, calibration.verdict_values) = said.map(Message::into_parts).unzip();
        let notes = verdicts::notes(&calibration);
        (calibration.notes, calibration.note_details) = Note::lists(notes);
        calibration
    }
}

/// Returns the JSON Schema of what `calibrate --json` prints.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Calibration);
    schema.insert("title".to_owned(), SCHEMA.into());
    schema.to_value()
}
