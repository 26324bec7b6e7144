//! Reads and analyzes inputs for every command.

use std::path::{Path, PathBuf};

use clap::Args;
use metalens_analyzer::{Analysis, Note, Request, lost_encodings};
use metalens_comparison::{Gate, judge_report};
use metalens_inputs::{AnyRun, stored_report, with_work};
use metalens_message::{Message, message};

use crate::bundle_analyzer::BundleAnalyzer;
use crate::progress::LongWork;
use crate::reading::Reading;
use crate::view::View;

/// Options of reading and analyzing inputs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Analyzing {
    pub(crate) reading: Reading,
    /// The file of known work. None for the file in the default place of each input.
    pub(crate) work: Option<PathBuf>,
    /// The limits that each recording has to keep. None if there are none.
    pub(crate) gate: Option<Gate>,
    /// The request to the analyzer, without known work, which each input has its own of.
    pub(crate) request: Request,
}

impl Analyzing {
    /// Reads and analyzes an input together with its known work.
    pub(crate) fn analysis(&self, input: &Path, quiet: bool) -> anyhow::Result<Analysis> {
        let request = with_work(&self.request, self.work.as_deref(), input)?;
        analysis(input, self.reading, &request, quiet)
    }

    /// Reads and analyzes an input, notes the findings that the settings leave out, and judges the limits.
    pub(crate) fn noted_analysis(&self, input: &Path, quiet: bool) -> anyhow::Result<Analysis> {
        Ok(self.noted(self.analysis(input, quiet)?))
    }

    /// Loads the runs of a comparison: reads each stored report, and analyzes any other input.
    pub(crate) fn runs(&self, inputs: &[PathBuf], quiet: bool) -> anyhow::Result<Vec<AnyRun>> {
        let load = |input: &PathBuf| {
            if let Some(stored) = stored_report(input)? {
                return Ok(stored);
            }
            let analysis = with_input(self.analysis(input, quiet), input)?;
            Ok(AnyRun::Analyzed(Box::new(analysis)))
        };
        inputs.iter().map(load).collect()
    }

    /// Analyzes a recording that was just made. The recorder's own analysis of it has defaults for
    /// everything, and serves for a request that has them, too.
    pub(crate) fn analysis_of_recording(
        &self,
        bundle: &Path,
        analyzer: &mut BundleAnalyzer,
        quiet: bool,
    ) -> anyhow::Result<Analysis> {
        let request = with_work(&self.request, self.work.as_deref(), bundle)?;
        let is_default = request == Request::default() && self.reading == Reading::default();
        // Lost encodings need another reading, with more tables.
        let made = analyzer
            .take(bundle)
            .filter(|made| is_default && !lost_encodings(&made.report));
        let analysis = match made {
            Some(made) => made,
            None => analysis(bundle, self.reading, &request, quiet)?,
        };
        Ok(self.noted(analysis))
    }

    /// Notes the findings that the settings leave out, and judges the limits.
    fn noted(&self, mut analysis: Analysis) -> Analysis {
        let gate = self.gate.as_ref();
        analysis.report.gate = gate.and_then(|gate| judge_report(&analysis.report, gate));
        let ignored = &self.request.ignored_findings;
        if !ignored.is_empty() {
            let ignored = ignored.iter().map(|id| metalens_message::name(id));
            let text = message!(
                "the settings hide these findings, whether or not they apply: {}",
                Message::joined(ignored, ", ")
            );
            analysis
                .report
                .notes
                .push(Note::quiet("findings-ignored", text));
        }
        analysis
    }
}

/// Names the input in an error that does not begin with its name: several inputs are read.
pub(crate) fn with_input<T>(result: anyhow::Result<T>, input: &Path) -> anyhow::Result<T> {
    result.map_err(|error| {
        let shown = input.display().to_string();
        if format!("{error:#}").starts_with(&shown) {
            error
        } else {
            error.context(shown)
        }
    })
}

/// Outputs to write and to print.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct AnalyzeOutputs {
    /// Print the report as JSON (an array for several inputs)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the report as Markdown
    #[arg(long, conflicts_with_all = ["json", "format"])]
    pub(crate) markdown: bool,
    /// Show names of other processes and the input's folder in pages, charts and datasets
    /// [default: leave them out]
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Write the report to this folder: report.json, report.md, report.html, charts/*.png and
    /// manifest.json
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write the report as an HTML page with a zoomable timeline
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write every gap and its causes as CSV; text that a spreadsheet would run as a formula gets a
    /// leading '
    #[arg(long, value_name = "FILE")]
    pub(crate) gaps: Option<PathBuf>,
    /// Write a trace for ui.perfetto.dev and chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub(crate) perfetto: Option<PathBuf>,
    /// Add the run to a dataset in this folder: Parquet files for SQL engines and `query`
    #[arg(long, value_name = "DIR")]
    pub(crate) parquet: Option<PathBuf>,
    /// Open the page of the report in the browser: that of --html or --output, else a temporary
    /// file, which stays
    #[arg(long)]
    pub(crate) open: bool,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) view: View,
}

impl AnalyzeOutputs {
    /// Returns the files to write, without those in the folder of the report.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let files = [&self.gaps, &self.html, &self.perfetto];
        files.into_iter().flatten()
    }
}

/// Reads and analyzes an input.
pub(crate) fn analysis(
    path: &Path,
    reading: Reading,
    request: &Request,
    quiet: bool,
) -> anyhow::Result<Analysis> {
    let work = LongWork::begin(quiet);
    metalens_inputs::analysis(path, request, |selection| {
        Ok(work.load(path, selection, reading)?)
    })
}

/// Returns whether a file name means standard input, or standard output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}
