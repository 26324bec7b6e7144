//! Compares queries with the reports that their datasets were made from, and runs the program end
//! to end.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is the failure report, in the helpers too"
)]

mod laws;
mod notices;
mod program;
mod real;
mod statements;
mod store;

use std::path::Path;

use metalens_analyzer::Analysis;
use metalens_dataset::{WriteOptions, write};
use metalens_query::{Cell, Library, QueryAnswer};
use metalens_simulator::Scenario;
use metalens_testing::{analyze_everyone as analysis, analyze_everyone_of as analysis_of};
use tempfile::TempDir;

/// Analyzes a built-in scenario.
fn preset(name: &str) -> Analysis {
    analysis_of(&scenario(name)).unwrap()
}

fn scenario(name: &str) -> Scenario {
    Scenario::preset(name).unwrap()
}

/// Returns the rows of an answer as text, null as `null`.
fn rows(answer: &QueryAnswer) -> Vec<Vec<String>> {
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

/// Returns the one row that a query finds.
fn ask_one(library: &Library, sql: &str) -> Vec<String> {
    let answer = library
        .ask(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    let [row] = <[_; 1]>::try_from(rows(&answer)).unwrap();
    row
}

/// Opens a dataset for queries.
fn stored(dataset: &Path) -> Library {
    let mut library = Library::new();
    library.add(dataset.to_str().unwrap()).unwrap();
    library
}

/// Writes a dataset of one analysis, and opens it.
fn dataset_of(analysis: &Analysis) -> (TempDir, Library) {
    let dataset = metalens_testing::scratch();
    write(analysis, dataset.path(), WriteOptions::default()).unwrap();
    let library = stored(dataset.path());
    (dataset, library)
}
