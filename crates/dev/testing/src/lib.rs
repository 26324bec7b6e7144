//! Runs scenarios through the simulator, the reader and the analyzer, for tests of other crates.
//!
//! ```text
//! scenario ─▶ simulator ─▶ export ─▶ trace ─▶ analyzer ─▶ Analysis
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a panic is the failure report of a test"
)]

mod policy;
mod random;
mod raw_counters;
mod scratch;
mod table;
mod taking;

use std::path::{Path, PathBuf};

pub use policy::check_policy;
pub use random::Random;
pub use raw_counters::{RawCounters, raw_counters};
pub use scratch::{copy_program, scratch, write_program, write_script};

use metalens_analyzer::{Analysis, Error, Request, analyze, selection};
use metalens_simulator::{Scenario, write_export};
use metalens_trace::{Input, LoadOptions};
pub use table::table_document;
pub use taking::{CutTable, drawn, without_tail};

/// Reads and analyzes an input.
///
/// # Errors
///
/// If the input cannot be read, or has no process to report on.
pub fn analyze_input(input: &Path, request: &Request) -> Result<Analysis, Error> {
    let trace = Input::open(input)?.load(&selection(), LoadOptions::default())?;
    analyze(trace, request)
}

/// Writes a scenario as an export, and analyzes it.
///
/// # Errors
///
/// If the scenario has no process to report on.
pub fn analyze_scenario(scenario: &Scenario, request: &Request) -> Result<Analysis, Error> {
    let folder = scratch();
    let export = folder.path().join("export");
    write_export(scenario, &export, false).unwrap();
    analyze_input(&export, request)
}

/// Reads and analyzes an input as `analyze --parquet` does, with the intervals of other processes.
///
/// # Errors
///
/// If the input cannot be read, or has no process to report on.
pub fn analyze_everyone(input: &Path, request: Request) -> Result<Analysis, Error> {
    analyze_input(input, &with_everyone(request))
}

/// Writes a scenario as an export, and analyzes it as `analyze --parquet` does.
///
/// # Errors
///
/// If the scenario has no process to report on.
pub fn analyze_everyone_of(scenario: &Scenario) -> Result<Analysis, Error> {
    analyze_scenario(scenario, &with_everyone(Request::default()))
}

/// Returns a request that keeps the intervals of all processes.
pub fn with_everyone(request: Request) -> Request {
    Request {
        keep_everyone: true,
        ..request
    }
}

/// Returns the analysis of a built-in scenario.
pub fn analysis_of(preset: &str) -> Analysis {
    let scenario = Scenario::preset(preset).unwrap();
    analyze_scenario(&scenario, &Request::default()).unwrap()
}

/// Returns the analysis of a scenario that is written as TOML.
pub fn analysis_of_toml(text: &str) -> Analysis {
    let scenario = Scenario::from_toml(text).unwrap();
    analyze_scenario(&scenario, &Request::default()).unwrap()
}

/// Returns the folder of real recordings; says that the test is skipped if there is none.
pub fn real_recordings() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/real");
    let folder = std::env::var_os("METALENS_REAL").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("skipped: no real recordings (METALENS_REAL names their folder)");
        return None;
    }
    Some(folder)
}
