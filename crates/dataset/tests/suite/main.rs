//! Datasets against the reports they are made of, and queries against both.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is the failure report, in the helpers too"
)]

mod docs;
mod laws;
mod queries;
mod real;
mod store;

use std::path::{Path, PathBuf};

use metalens_analyzer::{Analysis, Error, Request, analyze, selection};
use metalens_dataset::{Answer, Cell, Library};
use metalens_simulator::{Scenario, presets, write_export};
use metalens_trace::{Input, LoadOptions};

/// What `analyze --parquet` makes of an input.
fn analysis(path: &Path, request: Request) -> Result<Analysis, Error> {
    let trace = Input::open(path)?.load(&selection(), LoadOptions::default())?;
    let request = Request {
        keep_everyone: true,
        ..request
    };
    analyze(trace, &request)
}

/// The same of a scenario.
fn analysis_of(scenario: &Scenario) -> Result<Analysis, Error> {
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("export");
    write_export(scenario, &export, false).unwrap();
    analysis(&export, Request::default())
}

/// The same of a built-in scenario.
fn preset(name: &str) -> Analysis {
    analysis_of(&scenario(name)).unwrap()
}

fn scenario(name: &str) -> Scenario {
    let presets = presets();
    let preset = presets.iter().find(|preset| preset.name == name);
    preset.unwrap().scenario().unwrap()
}

/// The answer's rows, each cell as in CSV, absent ones as `null`.
fn rows(answer: &Answer) -> Vec<Vec<String>> {
    let text = |cell: Cell<'_>| match cell {
        Cell::Absent => "null".to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => format!("{number:?}"),
        Cell::Flag(flag) => flag.to_string(),
        Cell::Text(text) => text.into_owned(),
    };
    let row = |row| answer.row(row).map(text).collect();
    (0..answer.rows()).map(row).collect()
}

/// The one row that a query finds.
fn ask_one(library: &Library, sql: &str) -> Vec<String> {
    let answer = library
        .ask(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    let [row] = <[_; 1]>::try_from(rows(&answer)).unwrap();
    row
}

/// A dataset as a library.
fn stored(dataset: &Path) -> Library {
    let mut library = Library::new();
    library.add_dataset(dataset).unwrap();
    library
}

/// Every file below a folder, sorted, with what is in it.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push((path.clone(), std::fs::read(path).unwrap())),
            }
        }
    }
    found.sort();
    found
}
