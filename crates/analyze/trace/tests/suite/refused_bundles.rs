//! Tests the words with which bundles are refused: what they are, why, and what to do.

use std::fs;
use std::path::Path;

use metalens_failure::Failure;
use metalens_testing::real_recordings;
use metalens_trace::{Input, LoadOptions, Selection};

use super::mini_bundle::{Bundled, core, good, store, written};

/// Reads a bundle, which is refused, and returns the message and the hint.
fn refusal(path: &Path) -> (String, String) {
    let trace = Input::open(path)
        .and_then(|input| input.load(&Selection::everything(), LoadOptions::default()));
    let error = trace.unwrap_err();
    (error.to_string(), error.hint().unwrap())
}

#[track_caller]
fn check(files: &Bundled, message: &str, hint: &str) {
    let folder = metalens_testing::scratch();
    let (found, advice) = refusal(&written(files, folder.path()));
    assert!(found.ends_with(message), "{found}");
    assert!(advice.contains(hint), "{advice}");
}

#[test]
fn bundles_without_tables_say_why() {
    let mut files = good();
    files.remove(&core("table-manager/tables.plist"));
    let unknown = "unsupported bundle layout: it has no table manager";
    check(&files, unknown, "may write a new format");

    let issues = include_bytes!("../../../../../fixtures/run-issues/rosetta.storedata");
    let path = "Trace1.run/RunIssues.storedata";
    files.insert(path.to_owned(), issues.to_vec());
    let failed = "the recording failed: Instruments reports `Failed to start: ktrace cannot trace the \
                  system under Rosetta translation.`";
    check(&files, failed, "`arch -arm64`");

    files.retain(|name, _| !name.starts_with("corespace"));
    check(&files, failed, "`arch -arm64`");
    files.remove(path);
    let stub = "the bundle is incomplete: it has no folder corespace/run1";
    check(&files, stub, "xctrace was probably killed");
}

#[test]
fn old_bundles_are_not_called_new() {
    let mut files = good();
    files.remove(&store(2, "bulkstore_descriptor"));
    check(
        &files,
        "the bundle is incomplete: the file is missing",
        "copy the bundle again",
    );
    let version = "<key>com.apple.dt.trace</key><array><integer>0</integer></array>";
    files.insert("open.creq".to_owned(), version.into());
    let old = "it was recorded by Instruments older than 12, which metalens does not read (the file is \
               missing)";
    check(&files, old, "record again with a current Xcode");

    // Instruments 7 wrote neither a version nor a list of types.
    files.remove("open.creq");
    files.remove(&core("uniquing/EngineeringTypes.etypes"));
    files.insert("shared_data/1.run".to_owned(), Vec::new());
    check(&files, old, "record again with a current Xcode");

    // Instruments 4 to 6 had nothing but the data of their instruments.
    let data = "instrument_data/0/run_data/1.run.zip";
    files.retain(|name, _| name == "form.template");
    files.insert(data.to_owned(), Vec::new());
    let old = "it was recorded by Instruments older than 12, which metalens does not read (it has no \
               folder corespace/run1)";
    check(&files, old, "record again with a current Xcode");
    files.insert("UI_state_metadata.bin".to_owned(), Vec::new());
    let stub = "the bundle is incomplete: it has no folder corespace/run1";
    check(&files, stub, "xctrace was probably killed");
}

#[test]
fn real_bundles_are_refused_in_the_right_words() {
    let Some(real) = real_recordings() else {
        return;
    };
    let check = |folder: &str, extension: &str, message: &str, hint: &str| {
        let mut count = 0;
        for entry in fs::read_dir(real.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().ends_with(extension) {
                let (found, advice) = refusal(&path);
                assert!(found.contains(message), "{found}");
                assert!(advice.contains(hint), "{advice}");
                count += 1;
            }
        }
        assert!(count > 0, "{folder}");
    };
    check(
        "failed-recording-with-issues",
        "example.trace",
        "the recording failed: Instruments reports `Unexpected failure: Couriers have returned \
         unexpectedly.`, `Failed to start the recording: Failed to force all hardware CPU counters: 13.`",
        "record again",
    );
    let stub = "it has no folder corespace/run1";
    for folder in ["flux", "globlin", "vexy-glob"] {
        let folder = format!("unfinished-recordings/{folder}");
        check(&folder, ".trace", stub, "xctrace was probably killed");
    }
    check(
        "before-instruments-12/instruments-7-to-10",
        "time-profile.trace.zip",
        "it was recorded by Instruments older than 12",
        "current Xcode",
    );
}
