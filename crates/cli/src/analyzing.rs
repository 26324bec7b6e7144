//! Reading and analyzing inputs, as every command does it, whatever its command line was.

use std::path::{Path, PathBuf};

use anyhow::Context;
use metalens_analyzer::{
    Analysis, Message, Note, Request, WorkFile, analyze, lost_encodings, message, selection,
    selection_with_recovery,
};
use metalens_exporter::Manifest;
use metalens_trace::{Input, LoadOptions, Selection};

use crate::exporting;
use crate::progress;
use crate::reading::Reading;

/// Options of reading and analyzing inputs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Analyzing {
    pub(crate) reading: Reading,
    /// The file of known work. None for the one in the usual place.
    pub(crate) work: Option<PathBuf>,
    /// The subject of the reports; the known work comes with each input.
    pub(crate) request: Request,
}

impl Analyzing {
    /// Reads and analyzes an input, with what is known of its work.
    pub(crate) fn analysis(&self, input: &Path, quiet: bool) -> anyhow::Result<Analysis> {
        let usual = usual_work(input).filter(|file| file.is_file());
        let work = self.work.clone().or(usual);
        let request = Request {
            work: work.map(|file| sidecar(&file)).transpose()?,
            ..self.request.clone()
        };
        analysis(input, self.reading, &request, quiet)
    }

    /// Reads and analyzes an input, and notes what the settings keep back.
    pub(crate) fn noted_analysis(&self, input: &Path, quiet: bool) -> anyhow::Result<Analysis> {
        let mut analysis = self.analysis(input, quiet)?;
        let ignored = &self.request.settings.ignored_findings;
        if !ignored.is_empty() {
            let ignored = ignored.iter().map(|id| message::name(id));
            let text = message!(
                "findings that the settings leave out, found or not: {}",
                Message::joined(ignored, ", ")
            );
            let note = Note::quiet("findings-ignored", text);
            analysis.report.add_note(note);
        }
        Ok(analysis)
    }
}

/// Inputs to be analyzed, and the outputs to be made of them.
#[derive(Debug, Default)]
pub(crate) struct AnalyzeRequest {
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) analyzing: Analyzing,
    /// Whether the report is printed as JSON.
    pub(crate) json: bool,
    /// Whether it is printed as Markdown.
    pub(crate) markdown: bool,
    pub(crate) show_names: bool,
    /// The folder of the whole report.
    pub(crate) output: Option<PathBuf>,
    pub(crate) html: Option<PathBuf>,
    pub(crate) gaps: Option<PathBuf>,
    pub(crate) perfetto: Option<PathBuf>,
    pub(crate) parquet: Option<PathBuf>,
    /// Whether files that exist may be replaced.
    pub(crate) force: bool,
    /// Whether a target that is missed is a failure.
    pub(crate) check: bool,
}

/// Returns where the work of an input is told: in an export's folder, or beside a bundle,
/// where `record` puts it. The report says that its figures are that file's.
pub(crate) fn usual_work(input: &Path) -> Option<PathBuf> {
    let is_bundle = input.extension().is_some_and(|ending| ending == "trace");
    match is_bundle {
        true => Some(input.with_extension("work.json")),
        false => input.is_dir().then(|| input.join("work.json")),
    }
}

/// Reads a file of known work.
pub(crate) fn sidecar(file: &Path) -> anyhow::Result<WorkFile> {
    let shown = file.display().to_string();
    let text = metalens_files::read_text(file, LONGEST_WORK)
        .with_context(|| format!("cannot read {shown}"))?;
    Ok(WorkFile::parse(&text, &shown)?)
}

/// The times of two hundred thousand command buffers; without times it is short.
const LONGEST_WORK: u64 = 32 << 20;

/// Reads and analyzes an input. Seldom does the encoder list lose rows; what has
/// them is read only then, together with all the rest.
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
    let analysis = read(&selection())?;
    match lost_encodings(&analysis.report) && can_read_again(path) {
        true => read(&selection_with_recovery()),
        false => Ok(analysis),
    }
}

/// Whether an input can be read a second time.
fn can_read_again(path: &Path) -> bool {
    path.is_file() || path.is_dir()
}

/// Opens an input for the reader that was asked for. Only a bundle leaves a choice.
pub(crate) fn open(path: &Path, reading: Reading, quiet: bool) -> anyhow::Result<Input> {
    if reading.is_by_xctrace && !is_exported(path) {
        exporting::open(path, reading, quiet)
    } else {
        Ok(Input::open(path)?)
    }
}

/// Whether an input is XML already.
fn is_exported(path: &Path) -> bool {
    let has = |name: &str| path.join(name).exists();
    let is_bundle = path
        .extension()
        .is_some_and(|one| one == "trace" || one == "zip");
    let looks_like_one = is_bundle || has("corespace") || has("form.template");
    path.as_os_str() == "-" || (path.exists() && !looks_like_one)
}

/// What the folder of an export says of itself that a report must not hide.
fn note_part(path: &Path, analysis: &mut Analysis) {
    let Some(holds) = Manifest::load(path).filter(Manifest::is_part) else {
        return;
    };
    let time = |ns: Option<u64>, end: &'static str| ns.map_or(end.into(), message::moment);
    let text = message!(
        "only a part of the recording was exported, from {} to {}: everything else is missing",
        time(holds.basis.from_ns, "its beginning"),
        time(holds.basis.to_ns, "its end"),
    );
    analysis.report.add_note(Note::quiet("part-exported", text));
}
