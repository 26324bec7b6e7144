//! Checks datasets on disk. `crates/beside/query` checks their figures.

#![expect(clippy::unwrap_used, reason = "a panic is the failure report")]

mod counters;
mod docs;
mod phase_kernels;
mod store;

use std::path::{Path, PathBuf};

use metalens_analyzer::Analysis;
use metalens_simulator::Scenario;
use metalens_testing::{analyze_everyone as analysis, analyze_everyone_of as analysis_of};

/// Analyzes a built-in scenario.
fn preset(name: &str) -> Analysis {
    analysis_of(&scenario(name)).unwrap()
}

fn scenario(name: &str) -> Scenario {
    Scenario::preset(name).unwrap()
}

/// Returns every file below a folder with its contents, sorted.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.clone(), std::fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}
