//! Analyses of simulated recordings, for tests.

use metalens_analyzer::{Analysis, Request, analyze, selection};
use metalens_simulator::Scenario;
use metalens_trace::{Input, LoadOptions};

/// Returns the analysis of a built-in scenario.
pub(crate) fn analysis_of(preset: &str) -> Analysis {
    analysis_on(&Scenario::preset(preset).unwrap())
}

/// Returns the analysis of a scenario.
pub(crate) fn analysis_on(scenario: &Scenario) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("export");
    metalens_simulator::write_export(scenario, &export, false).unwrap();
    let input = Input::open(&export).unwrap();
    let trace = input.load(&selection(), LoadOptions::default());
    analyze(trace.unwrap(), &Request::default()).unwrap()
}
