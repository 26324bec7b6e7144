//! Requests made of arguments: whatever the rest of metalens is asked, is asked in these plain
//! values.

mod bench;
mod recording;

pub(crate) use recording::require_simulator;

use metalens_analyzer::Request;

use super::AnalyzeArguments;
use super::batch::BatchArguments;
use super::shared::{AnalysisArguments, MeasureArguments, PartArguments};
use crate::analyzing::{Analyzing, is_standard};
use crate::config;
use crate::exit::Misuse;
use crate::reading::Reading;

/// Returns how inputs are to be read and analyzed.
pub(crate) fn analyzing(
    part: &PartArguments,
    measure: &MeasureArguments,
    reading: Reading,
) -> anyhow::Result<Analyzing> {
    check_times(part.from, part.to)?;
    let ignored_findings = config::ignored_findings(measure.config.as_ref())
        .map_err(|error| Misuse(format!("{error:#}")))?;
    Ok(Analyzing {
        reading,
        gate: None,
        work: measure.work.clone(),
        request: Request {
            processes: part.processes.clone(),
            from_ns: part.from,
            to_ns: part.to,
            step: part.step.clone(),
            ignored_findings,
            bytes_per_step: measure.bytes_per_step,
            ..Request::default()
        },
    })
}

/// Refuses a part of a recording that is empty.
pub(crate) fn check_times(from: Option<u64>, to: Option<u64>) -> anyhow::Result<()> {
    match (from, to) {
        (Some(from), Some(to)) if from >= to => {
            Err(Misuse("--from must lie before --to".to_owned()).into())
        }
        _ => Ok(()),
    }
}

impl AnalyzeArguments {
    /// Returns how inputs are to be read and analyzed.
    pub(crate) fn analyzing(&self) -> anyhow::Result<Analyzing> {
        let outputs = &self.outputs;
        let files = outputs.files().chain(&outputs.output);
        if files.into_iter().any(|file| is_standard(file)) {
            let why = "- is no file name here: the report itself goes to standard output";
            return Err(Misuse(why.to_owned()).into());
        }
        let mut analyzing = analyzing(&self.part, &self.measure, self.reading)?;
        analyzing.gate = self.gate.gate(self.measure.config.as_ref())?;
        analyzing.request.keep_everyone = outputs.parquet.is_some();
        Ok(analyzing)
    }
}

impl AnalysisArguments {
    /// Returns how inputs are to be read and analyzed.
    pub(crate) fn analyzing(&self) -> anyhow::Result<Analyzing> {
        analyzing(&self.part, &self.measure, self.reading)
    }
}

impl BatchArguments {
    /// Returns how the recordings are to be analyzed.
    pub(crate) fn analyzing(&self) -> anyhow::Result<Analyzing> {
        let mut analyzing = self.analysis.analyzing()?;
        let config = self.analysis.measure.config.as_ref();
        analyzing.gate = self.gate.gate(config)?;
        analyzing.request.keep_everyone = self.parquet.is_some();
        Ok(analyzing)
    }
}
