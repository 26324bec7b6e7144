//! Reads and analyzes an input, and reads it again if rows were lost.

use std::path::Path;

use metalens_analyzer::{
    Analysis, Note, Request, RunSamples, analyze, lacks_intervals, lost_encodings, selection,
    selection_with_raw_events, selection_with_recovery,
};
use metalens_exporter::ExportManifest;
use metalens_message::{Ns, message};
use metalens_trace::{Input, LoadOptions, Selection, Table, Trace};

use crate::error::{Error, cannot_read};

/// Reads and analyzes an input. If the encoder list lost rows, or there are no GPU intervals, which
/// is rare, reads the input again with the tables that can replace them.
///
/// # Errors
///
/// Returns the errors of `read`, those of the analysis, and those of files beside the input.
pub fn analysis<E: From<metalens_analyzer::Error> + From<Error>>(
    path: &Path,
    request: &Request,
    read: impl Fn(&Selection) -> Result<Trace, E>,
) -> Result<Analysis, E> {
    let analyzed = |selection: &Selection| {
        let mut analysis = analyze(read(selection)?, request);
        let part = part(path)?;
        if let (Ok(analysis), Some(part)) = (&mut analysis, part) {
            analysis.report.notes.push(part);
        }
        Ok::<_, E>(analysis)
    };

    let analysis = match analyzed(&selection())? {
        Err(error) if lacks_intervals(&error) && can_read_again(path) => {
            let analysis = analyzed(&selection_with_raw_events())?;
            return Ok(analysis.map_err(|error| {
                error.with_samples_of_runs(|table| samples_of_runs(path, table))
            })?);
        }
        analysis => analysis?,
    };
    if lost_encodings(&analysis.report) && can_read_again(path) {
        Ok(analyzed(&selection_with_recovery())??)
    } else {
        Ok(analysis)
    }
}

/// Returns the number of rows that a table has in each run of a recording; none if it has one run.
fn samples_of_runs(path: &Path, table: &str) -> Vec<RunSamples> {
    let numbers: Vec<u64> = match Input::open(path).as_ref().map(Input::toc) {
        Ok(Some(toc)) if toc.runs.len() > 1 => toc.runs.iter().map(|run| run.number).collect(),
        _ => return Vec::new(),
    };
    let selection = Selection::columns(&[(table, &[])]).where_readable();
    let samples = numbers.into_iter().take(MAX_RUNS).filter_map(|run| {
        let options = LoadOptions {
            run: Some(run),
            ..LoadOptions::default()
        };
        let trace = Input::open(path).ok()?.load(&selection, options).ok()?;
        let samples = trace.find_table(table).map_or(0, Table::rows);
        Some(RunSamples { run, samples })
    });
    samples.collect()
}

/// Maximum number of runs whose samples are counted. Real recordings have at most 20.
const MAX_RUNS: usize = 50;

/// Returns whether an input can be read a second time, unlike a pipe.
fn can_read_again(path: &Path) -> bool {
    path.is_file() || path.is_dir()
}

/// Returns the note on an export that has only a part of the recording.
fn part(path: &Path) -> Result<Option<Note>, Error> {
    let manifest = ExportManifest::load(path).map_err(cannot_read(path))?;
    let Some(manifest) = manifest.filter(ExportManifest::is_part) else {
        return Ok(None);
    };

    let time = |ns: Option<u64>, end: &'static str| {
        ns.map_or(end.into(), |ns| metalens_message::moment(Ns(ns)))
    };
    let text = message!(
        "the export has only a part of the recording, from {} to {}; everything else is missing",
        time(manifest.from_ns, "its start"),
        time(manifest.to_ns, "its end"),
    );
    Ok(Some(Note::quiet("part-exported", text)))
}
