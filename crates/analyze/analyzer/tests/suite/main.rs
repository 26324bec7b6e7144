//! Compares reports with independent knowledge: scenarios whose truth was counted before they were
//! written, laws, and real recordings.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic is the failure report, in the helpers too"
)]

mod allocations;
mod bound;
mod counters;
mod cpu;
mod engines;
mod findings;
mod heap;
mod known_work;
mod laws;
mod lost_rows;
mod machine;
mod messages;
mod mixes;
mod names;
mod native;
mod odd_rows;
mod programs;
mod raw_events;
mod real;
mod reused_buffers;
mod shape;
mod signposts;
mod slowdown;
mod steps;
mod threads;
mod truth;
mod truth_beside;
mod what_if;
mod windows;

use std::path::Path;

use metalens_analyzer::{Error, Report, Request, analyze, selection};
use metalens_simulator::Scenario;
use metalens_trace::{Input, LoadOptions};

/// Returns the report of a run of an export.
fn report(folder: &Path, run: Option<u64>, request: &Request) -> Result<Report, Error> {
    let options = LoadOptions {
        run,
        ..LoadOptions::default()
    };
    let trace = Input::open(folder)?.load(&selection(), options)?;
    Ok(analyze(trace, request)?.report)
}

/// Writes a table that the simulator does not make into an export's folder, as `xctrace` does.
fn write_table(folder: &Path, schema: &str, columns: &[(&str, &str)], rows: &[Vec<String>]) {
    let document = metalens_testing::table_document(200, schema, columns, rows);
    std::fs::write(folder.join(format!("{schema}.xml")), document).unwrap();
}

/// Returns the report of a scenario, which it writes as an export.
fn report_of(scenario: &Scenario, request: &Request) -> Result<Report, Error> {
    Ok(metalens_testing::analyze_scenario(scenario, request)?.report)
}
