//! Reads the recordings of experiments.

use std::path::Path;

use metalens_analyzer::{Analysis, Request, WorkFile, analyze, selection};
use metalens_trace::{Input, LoadOptions, Selection, Trace};

use crate::evidence::TableSeen;

/// Largest size of a work file, in bytes.
const MAX_WORK_BYTES: u64 = 32 << 20;
/// Notes of a log that are kept.
const NOTES: usize = 50;

/// Loads a recording or an export. The error is for the user alone, as all errors here.
pub(crate) fn load(path: &Path, selection: &Selection) -> Result<Trace, String> {
    let trace = Input::open(path).and_then(|input| input.load(selection, LoadOptions::default()));
    trace.map_err(|error| error.to_string())
}

/// Reads and analyzes a bundle, with the file of its known work if it has one.
pub(crate) fn analysis(bundle: &Path) -> Result<Analysis, String> {
    let request = Request {
        work: work(bundle).ok(),
        ..Request::default()
    };
    analyze(load(bundle, &selection())?, &request).map_err(|error| error.to_string())
}

/// Reads the file in which the bundled workload describes its work.
pub(crate) fn work(bundle: &Path) -> Result<WorkFile, String> {
    let file = bundle.with_extension("work.json");
    let text =
        metalens_files::read_text(&file, MAX_WORK_BYTES).map_err(|error| error.to_string())?;
    WorkFile::parse(&text, &file.display().to_string()).map_err(|error| error.to_string())
}

/// Returns the notes of a log, such as those on classes that the probe left alone.
pub(crate) fn notes(log: &Path) -> Vec<String> {
    let text = metalens_files::read_text(log, MAX_WORK_BYTES).unwrap_or_default();
    let notes = text.lines().filter(|line| line.starts_with(r#"{"note":"#));
    notes.take(NOTES).map(str::to_owned).collect()
}

/// Returns the number of rows of a table. None if it is absent or cannot be read.
pub(crate) fn rows(bundle: &Path, schema: &str) -> Option<u64> {
    let trace = load(bundle, &Selection::table(schema)).ok()?;
    u64::try_from(trace.find_table(schema)?.rows()).ok()
}

/// Returns the tables of a bundle that can be read.
pub(crate) fn tables(bundle: &Path) -> Vec<TableSeen> {
    let Ok(trace) = load(bundle, &Selection::everything().where_readable()) else {
        return Vec::new();
    };
    let tables = trace.tables().iter().map(|table| TableSeen {
        schema: table.schema.name.clone(),
        rows: table.rows() as u64,
        columns: table
            .schema
            .columns
            .iter()
            .map(|column| column.mnemonic.clone())
            .collect(),
    });
    tables.collect()
}
