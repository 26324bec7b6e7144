//! Fuzzes the readers of documents other than recordings: files that people write by hand, and files
//! that metalens wrote and others may have changed.

use std::sync::LazyLock;

use metalens_analyzer::{Report, Request, WorkFile, analyze, selection};
use metalens_comparison::{Baseline, CompareOptions, compare};
use metalens_exporter::{ExportManifest, MANIFEST};
use metalens_simulator::{Scenario, truths, write_export};
use metalens_trace::{Input, LoadOptions};
use tempfile::TempDir;

use super::Entry;

/// The entries, by the names of their targets.
pub const ENTRIES: [(&str, Entry); 5] = [
    ("baseline", baseline),
    ("manifest", manifest),
    ("report", report),
    ("scenario", scenario),
    ("work", work),
];

/// A small export, with which work files are analyzed.
static EXPORT: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let scenario = Scenario::from_toml(SMALL).unwrap();
    write_export(&scenario, &folder.path().join("small"), false).unwrap();
    folder
});

/// A scenario with a few intervals.
pub const SMALL: &str = r#"
[[process]]
name = "bench"
pid = 4321
role = "target"

[[process.stream]]
count = 6
duration = "10us"
encoder-label = ["sin", "cos"]
"#;

/// Parses `X.work.json`, and analyzes a small export with it.
pub fn work(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(work) = WorkFile::parse(&text, "fuzz.work.json") else {
        return;
    };
    let input = Input::open(&EXPORT.path().join("small")).unwrap();
    let trace = input.load(&selection(), LoadOptions::default()).unwrap();
    let request = Request {
        work: Some(work),
        ..Request::default()
    };
    if let Ok(analysis) = analyze(trace, &request) {
        drop(serde_json::to_string(&analysis.report).unwrap());
    }
}

/// Parses `report.json`, compares the report with itself, and makes a baseline of it.
pub fn report(bytes: &[u8]) {
    let Ok(report) = serde_json::from_slice::<Report>(bytes) else {
        return;
    };
    let both = [report.clone()];
    let comparison = compare(&both, &both, &CompareOptions::default());
    drop(serde_json::to_string(&comparison));
    if let Ok(kept) = Baseline::from_reports(&[report.clone(), report.clone(), report]) {
        baseline(kept.text().unwrap().as_bytes());
    }
}

/// Parses `baseline.json`, and checks that the parsed baseline survives writing and parsing.
pub fn baseline(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(baseline) = Baseline::parse(&text) {
        let again = Baseline::parse(&baseline.text().unwrap()).unwrap();
        assert_eq!(again.text().unwrap(), baseline.text().unwrap());
    }
}

/// Parses a scenario of the simulator, and plans it if it is small.
pub fn scenario(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(scenario) = Scenario::from_toml(&text) else {
        return;
    };
    if scenario.intervals_planned() < 1_000 {
        drop(truths(&scenario));
    }
}

/// Parses `export.json`, the manifest of an export folder.
pub fn manifest(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(MANIFEST), bytes).unwrap();
    if let Ok(Some(manifest)) = ExportManifest::load(folder.path()) {
        assert!(manifest.complete_tables() <= manifest.tables.len());
    }
}
