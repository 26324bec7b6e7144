//! A bundle, read and analyzed.

use std::path::Path;

use metalens_analyzer::{Analysis, Request, analyze, selection};
use metalens_trace::{Input, LoadOptions};

/// The reason why a bundle could not be read or analyzed.
pub(crate) enum NotAnalyzed {
    Trace(metalens_trace::Error),
    Analysis(metalens_analyzer::Error),
}

/// Reads and analyzes a bundle.
pub(crate) fn analyzed(bundle: &Path) -> Result<Analysis, NotAnalyzed> {
    let input = Input::open(bundle);
    let trace = input.and_then(|input| input.load(&selection(), LoadOptions::default()));
    let trace = trace.map_err(NotAnalyzed::Trace)?;
    analyze(trace, &Request::default()).map_err(NotAnalyzed::Analysis)
}
