//! One file per command: read, ask, show.

pub(crate) mod analyze;
pub(crate) mod baseline;
pub(crate) mod batch;
pub(crate) mod calibrate;
pub(crate) mod chart;
pub(crate) mod compare;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod manual;
pub(crate) mod own;
pub(crate) mod pr;
pub(crate) mod query;
pub(crate) mod record;
pub(crate) mod record_and_analyze;
pub(crate) mod schema;
pub(crate) mod selfcheck;
pub(crate) mod stacks;
pub(crate) mod stand_in;
pub(crate) mod synth;
pub(crate) mod tables;
pub(crate) mod workload;

use std::path::{Path, PathBuf};

use anyhow::Context;
use metalens_analyzer::{
    Analysis, Request, Settings, Sidecar, analyze, lost_encodings, selection,
    selection_with_recovery,
};
use metalens_exporter::Manifest;
use metalens_trace::{Input, LoadOptions, Selection};

use crate::args::{MeasureArguments, PartArguments, ReaderChoice, ReadingArguments};
use crate::screen::progress;
use crate::{config, exporting};

/// What a report is to be about, everything else as usual.
pub(crate) fn request(part: &PartArguments) -> Request {
    Request {
        processes: part.processes.clone(),
        from_ns: part.from,
        to_ns: part.to,
        skip_warm_up: part.skip_warmup,
        phase: part.phase.clone(),
        ..Request::default()
    }
}

/// The targets and what findings to leave out.
pub(crate) fn settings(measure: &MeasureArguments) -> anyhow::Result<Settings> {
    config::settings(measure.config.as_ref(), &measure.targets)
}

/// Reads what was named, else what lies where exports and recordings have it.
pub(crate) fn known_work(
    input: &Path,
    measure: &MeasureArguments,
) -> anyhow::Result<Option<Sidecar>> {
    let usual = usual_work(input).filter(|file| file.is_file());
    let file = measure.work.clone().or(usual);
    file.map(|file| sidecar(&file)).transpose()
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
pub(crate) fn sidecar(file: &Path) -> anyhow::Result<Sidecar> {
    let shown = file.display().to_string();
    let text = metalens_files::read_text(file, LONGEST_WORK)
        .with_context(|| format!("cannot read {shown}"))?;
    Ok(Sidecar::parse(&text, &shown)?)
}

/// The times of two hundred thousand command buffers; without times it is short.
const LONGEST_WORK: u64 = 32 << 20;

/// Reads and analyzes an input. Seldom does the encoder list lose rows; what has
/// them is read only then, together with all the rest.
pub(crate) fn analysis(
    path: &Path,
    reading: ReadingArguments,
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

/// A part of a recording is not empty.
pub(crate) fn check_times(from: Option<u64>, to: Option<u64>) -> anyhow::Result<()> {
    if let (Some(from), Some(to)) = (from, to) {
        anyhow::ensure!(from < to, "--from must lie before --to");
    }
    Ok(())
}

/// Opens an input for the reader that was asked for. Only a bundle leaves a choice.
pub(crate) fn open(path: &Path, reading: ReadingArguments, quiet: bool) -> anyhow::Result<Input> {
    match reading.reader {
        ReaderChoice::Xctrace if !is_exported(path) => exporting::open(path, reading, quiet),
        _ => Ok(Input::open(path)?),
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
    let time = |ns: Option<u64>, end: &str| ns.map_or(end.to_owned(), crate::words::moment);
    analysis.report.notes.push(format!(
        "only a part of the recording was exported, from {} to {}: everything else is missing",
        time(holds.basis.from_ns, "its beginning"),
        time(holds.basis.to_ns, "its end"),
    ));
}
