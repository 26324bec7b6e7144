//! Reads and analyzes a bundle.

use std::path::Path;

use metalens_analyzer::{Analysis, Request, analyze, selection};
use metalens_trace::{Input, LoadOptions};

/// The reason why a bundle could not be read or analyzed.
pub(crate) enum AnalysisFailure {
    Trace(metalens_trace::Error),
    Analysis(metalens_analyzer::Error),
}

/// Reads and analyzes a bundle with default settings.
pub(crate) fn analyze_bundle(bundle: &Path) -> Result<Analysis, AnalysisFailure> {
    let input = Input::open(bundle);
    let trace = input.and_then(|input| input.load(&selection(), LoadOptions::default()));
    let trace = trace.map_err(AnalysisFailure::Trace)?;
    analyze(trace, &Request::default()).map_err(AnalysisFailure::Analysis)
}
