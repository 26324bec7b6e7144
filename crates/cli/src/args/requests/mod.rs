//! Requests made of arguments: whatever the rest of metalens is asked, is asked in these plain
//! values.

mod posting;
mod recording;

use metalens_analyzer::{Request, Settings};

use super::AnalyzeArguments;
use super::batch::BatchArguments;
use super::shared::{
    AnalysisArguments, MeasureArguments, PartArguments, ReaderChoice, ReadingArguments,
};
use crate::analyzing::{AnalyzeRequest, Analyzing};
use crate::config;
use crate::reading::Reading;
pub(crate) use recording::amount;

impl ReadingArguments {
    /// Returns how a trace is to be read.
    pub(crate) fn reading(self) -> Reading {
        Reading {
            run: self.run,
            allow_truncated: self.allow_truncated,
            is_by_xctrace: self.reader == ReaderChoice::Xctrace,
        }
    }
}

impl MeasureArguments {
    /// Returns the thresholds and the findings to leave out.
    fn settings(&self) -> anyhow::Result<Settings> {
        config::settings(self.config.as_ref(), &self.thresholds)
    }
}

/// Returns how inputs are to be read and analyzed.
pub(crate) fn analyzing(
    part: &PartArguments,
    measure: &MeasureArguments,
    reading: Reading,
) -> anyhow::Result<Analyzing> {
    check_times(part.from, part.to)?;
    Ok(Analyzing {
        reading,
        work: measure.work.clone(),
        request: Request {
            processes: part.processes.clone(),
            from_ns: part.from,
            to_ns: part.to,
            skip_warm_up: part.skip_warmup,
            phase: part.phase.clone(),
            iteration: part.iteration,
            settings: measure.settings()?,
            ..Request::default()
        },
    })
}

/// Refuses a part of a recording that is empty.
pub(crate) fn check_times(from: Option<u64>, to: Option<u64>) -> anyhow::Result<()> {
    if let (Some(from), Some(to)) = (from, to) {
        anyhow::ensure!(from < to, "--from must lie before --to");
    }
    Ok(())
}

impl AnalyzeArguments {
    /// Returns what is to be analyzed, and what becomes of it.
    pub(crate) fn request(&self) -> anyhow::Result<AnalyzeRequest> {
        let mut analyzing = analyzing(&self.part, &self.measure, self.reading.reading())?;
        analyzing.request.keep_everyone = self.parquet.is_some();
        Ok(AnalyzeRequest {
            inputs: self.inputs.clone(),
            analyzing,
            json: self.json,
            markdown: self.markdown,
            show_names: self.show_names,
            output: self.output.clone(),
            html: self.html.clone(),
            gaps: self.gaps.clone(),
            perfetto: self.perfetto.clone(),
            parquet: self.parquet.clone(),
            force: self.force,
            check: self.check,
        })
    }
}

impl AnalysisArguments {
    /// Returns how inputs are to be read and analyzed.
    pub(crate) fn analyzing(&self) -> anyhow::Result<Analyzing> {
        analyzing(&self.part, &self.measure, self.reading.reading())
    }
}

impl BatchArguments {
    /// Returns how the traces are to be analyzed.
    pub(crate) fn analyzing(&self) -> anyhow::Result<Analyzing> {
        let mut analyzing = self.analysis.analyzing()?;
        analyzing.request.keep_everyone = self.parquet.is_some();
        Ok(analyzing)
    }
}
