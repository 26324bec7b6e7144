//! Reads and analyzes inputs for every command.

use std::path::{Path, PathBuf};

use anyhow::Context;
use metalens_analyzer::{
    Analysis, Message, Note, Request, WorkFile, analyze, lacks_intervals, lost_encodings, message,
    selection, selection_with_raw_events, selection_with_recovery,
};
use metalens_exporter::Manifest;
use metalens_render::document::Unit;
use metalens_trace::{Input, LoadOptions, Selection};

use crate::exporting;
use crate::progress;
use crate::reading::Reading;

/// Options of reading and analyzing inputs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Analyzing {
    pub(crate) reading: Reading,
    /// The file of known work. None for the file in the default place of each input.
    pub(crate) work: Option<PathBuf>,
    /// The request to the analyzer, without known work, which each input has its own of.
    pub(crate) request: Request,
}

impl Analyzing {
    /// Reads and analyzes an input together with its known work.
    pub(crate) fn analysis(&self, input: &Path, quiet: bool) -> anyhow::Result<Analysis> {
        let default = default_work(input).filter(|file| file.is_file());
        let work = self.work.clone().or(default);

        let request = Request {
            work: work.map(|file| sidecar(&file)).transpose()?,
            ..self.request.clone()
        };
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

/// The part of a report that is printed, and its form.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// True to print every section.
    pub(crate) full: bool,
    /// Names of the sections to print. Empty for the first screen, or all.
    pub(crate) sections: Vec<String>,
    /// Rows of each table to print at most.
    pub(crate) top: Option<usize>,
    /// Heading of the column to sort rows by.
    pub(crate) sort: Option<String>,
    /// True to print a table as CSV.
    pub(crate) is_csv: bool,
    /// Unit of all times.
    pub(crate) unit: Option<Unit>,
}

/// Returns the default place of an input's known work: a file in an export's folder, or beside a
/// bundle, where `record` writes it.
pub(crate) fn default_work(input: &Path) -> Option<PathBuf> {
    if input.extension().is_some_and(|ending| ending == "trace") {
        Some(input.with_extension("work.json"))
    } else {
        input.is_dir().then(|| input.join("work.json"))
    }
}

/// Reads a file of known work.
pub(crate) fn sidecar(file: &Path) -> anyhow::Result<WorkFile> {
    let shown = file.display().to_string();
    let text = metalens_files::read_text(file, LONGEST_WORK)
        .with_context(|| format!("cannot read {shown}"))?;
    Ok(WorkFile::parse(&text, &shown)?)
}

/// The largest size of a file of known work, in bytes: room for the times of two hundred thousand
/// command buffers.
pub(crate) const LONGEST_WORK: u64 = 32 << 20;

/// Reads and analyzes an input. If the encoder list lost rows, or there are no GPU intervals, which
/// is rare, reads the input again with the tables that can replace them.
pub(crate) fn analysis(
    path: &Path,
    reading: Reading,
    request: &Request,
    quiet: bool,
) -> anyhow::Result<Analysis> {
    let read = |selection: &Selection| {
        let input = open(path, reading, quiet)?;
        let load = |options: LoadOptions<'_>| input.load(selection, options);
        let trace = progress::reading(reading, quiet, load)?;
        let mut analysis = analyze(trace, request)?;
        note_part(path, &mut analysis);
        anyhow::Ok(analysis)
    };

    let lacks = |error: &anyhow::Error| error.downcast_ref().is_some_and(lacks_intervals);
    let analysis = match read(&selection()) {
        Err(error) if lacks(&error) && can_read_again(path) => {
            return read(&selection_with_raw_events());
        }
        analysis => analysis?,
    };
    if lost_encodings(&analysis.report) && can_read_again(path) {
        read(&selection_with_recovery())
    } else {
        Ok(analysis)
    }
}

/// Returns whether an input can be read a second time: a pipe cannot.
fn can_read_again(path: &Path) -> bool {
    path.is_file() || path.is_dir()
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

    path.as_os_str() == "-" || (path.exists() && !is_bundle)
}

/// Adds a note to the report of an export that has only a part of the recording.
fn note_part(path: &Path, analysis: &mut Analysis) {
    let Some(manifest) = Manifest::load(path).filter(Manifest::is_part) else {
        return;
    };

    let time = |ns: Option<u64>, end: &'static str| ns.map_or(end.into(), message::moment);
    let text = message!(
        "the export has only a part of the recording, from {} to {}; everything else is missing",
        time(manifest.basis.from_ns, "its start"),
        time(manifest.basis.to_ns, "its end"),
    );
    analysis.report.add_note(Note::quiet("part-exported", text));
}
