//! Reads and analyzes inputs for every command.

use std::path::{Path, PathBuf};

use metalens_analyzer::{Analysis, Message, Note, Request, message};
use metalens_inputs::with_work;
use metalens_trace::{Input, LoadOptions};

use crate::exporting;
use crate::progress;
use crate::reading::Reading;
use crate::view::View;

/// Options of reading and analyzing inputs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Analyzing {
    pub(crate) reading: Reading,
    /// The file of known work. None for the file in the default place of each input.
    pub(crate) work: Option<PathBuf>,
    /// The origin of the thresholds, in words.
    pub(crate) thresholds_from: String,
    /// The request to the analyzer, without known work, which each input has its own of.
    pub(crate) request: Request,
}

impl Analyzing {
    /// Reads and analyzes an input together with its known work.
    pub(crate) fn analysis(&self, input: &Path, quiet: bool) -> anyhow::Result<Analysis> {
        let request = with_work(&self.request, self.work.as_deref(), input)?;
        analysis(input, self.reading, &request, quiet)
    }

    /// Reads and analyzes an input, and notes the findings that the settings leave out.
    pub(crate) fn noted_analysis(&self, input: &Path, quiet: bool) -> anyhow::Result<Analysis> {
        let mut analysis = self.analysis(input, quiet)?;

        let ignored = &self.request.settings.ignored_findings;
        if !ignored.is_empty() {
            let ignored = ignored.iter().map(|id| message::name(id));
            let text = message!(
                "the settings hide these findings, whether or not they apply: {}",
                Message::joined(ignored, ", ")
            );
            analysis
                .report
                .add_note(Note::quiet("findings-ignored", text));
        }
        Ok(analysis)
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

/// Inputs to analyze, and outputs to write.
#[derive(Debug, Default)]
pub(crate) struct AnalyzeRequest {
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) analyzing: Analyzing,
    /// True to print the report as JSON.
    pub(crate) json: bool,
    /// True to print the report as Markdown.
    pub(crate) markdown: bool,
    pub(crate) show_names: bool,
    /// The folder for the report in every form. None for no folder.
    pub(crate) output: Option<PathBuf>,
    pub(crate) html: Option<PathBuf>,
    pub(crate) gaps: Option<PathBuf>,
    pub(crate) perfetto: Option<PathBuf>,
    pub(crate) parquet: Option<PathBuf>,
    /// True to replace files that exist.
    pub(crate) force: bool,
    /// True if a missed threshold is a failure.
    pub(crate) check: bool,
    pub(crate) view: View,
}

/// Reads and analyzes an input.
pub(crate) fn analysis(
    path: &Path,
    reading: Reading,
    request: &Request,
    quiet: bool,
) -> anyhow::Result<Analysis> {
    metalens_inputs::analysis(path, request, |selection| {
        let input = open(path, reading, quiet)?;
        let load = |options: LoadOptions<'_>| input.load(selection, options);
        Ok(progress::reading(reading, quiet, load)?)
    })
}

/// Opens an input with the chosen reader. Only a bundle leaves a choice.
pub(crate) fn open(path: &Path, reading: Reading, quiet: bool) -> anyhow::Result<Input> {
    if reading.is_by_xctrace && !is_exported(path) {
        exporting::open(path, reading, quiet)
    } else {
        Ok(Input::open(path)?)
    }
}

/// Returns whether an input is XML already.
fn is_exported(path: &Path) -> bool {
    let has = |name: &str| path.join(name).exists();
    let is_named_as_bundle = path
        .extension()
        .is_some_and(|ending| ending == "trace" || ending == "zip");
    let is_bundle = is_named_as_bundle || has("corespace") || has("form.template");

    is_standard(path) || (path.exists() && !is_bundle)
}

/// Returns whether a file name means standard input, or standard output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}
