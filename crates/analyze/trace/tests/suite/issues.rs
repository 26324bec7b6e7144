//! Tests the issues that Instruments wrote into a recording.

use metalens_testing::real_recordings;
use metalens_trace::fuzzing::issues;
use metalens_trace::{Input, IssueSeverity, LoadOptions, RunIssue, Selection, Trace, TraceNote};

use super::mini_bundle::{good, written};
use super::mutation::Mutation;

const LOST: &[u8] = fixture!("lost-events");
const ROSETTA: &[u8] = fixture!("rosetta");
const MANY: &[u8] = fixture!("many");
const HARMLESS: &[u8] = fixture!("harmless");

/// Returns the bytes of a database that SQLite wrote.
macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!(
            "../../../../../fixtures/run-issues/",
            $name,
            ".storedata"
        ))
    };
}
use fixture;

/// Returns a bundle with a file in the folder of its run.
fn load(file: &str, bytes: &[u8]) -> Trace {
    let folder = metalens_testing::scratch();
    let mut files = good();
    files.insert(format!("Trace1.run/{file}"), bytes.to_vec());
    let input = Input::open(&written(&files, folder.path())).unwrap();
    let selection = Selection::everything();
    input.load(&selection, LoadOptions::default()).unwrap()
}

#[test]
fn errors_and_warnings_come_before_all_other_notes() {
    let check = |bytes: &[u8], expected: &str| {
        let trace = load("RunIssues.storedata", bytes);
        let first = trace.notes.first().map(TraceNote::to_string);
        assert_eq!(first.as_deref(), Some(expected), "{:?}", trace.notes);
        assert!(trace.notes.len() > 1 && trace.run.issues.len() == 1);
    };
    check(
        LOST,
        "EVENTS LOST: Instruments reports `Lost events were detected. Data rate might be too high`. \
         Rows are missing, so GPU busy time and all counts are lower bounds, and idle time is an upper \
         bound",
    );
    check(
        ROSETTA,
        "ERROR while recording: Instruments reports `Failed to start: ktrace cannot trace the system \
         under Rosetta translation.`. Parts of the recording may be missing",
    );
}

#[test]
fn harmless_issues_stay_quiet_and_others_are_limited() {
    let without = load("other", b"").notes;
    let trace = load("RunIssues.storedata", HARMLESS);
    assert_eq!((trace.run.issues, trace.notes), (Vec::new(), without));

    let issues = load("RunIssues.storedata", MANY).run.issues;
    let errors = issues
        .iter()
        .filter(|issue| issue.severity == IssueSeverity::Error);
    assert_eq!((issues.len(), errors.count()), (10, 10));
    assert!(
        issues
            .iter()
            .all(|issue| issue.message.chars().count() <= 300)
    );
}

/// A file of issues that cannot be read does not fail the reading, and is not passed over.
#[test]
fn unreadable_issues_are_noted() {
    let check = |file: &str, bytes: &[u8], expected: &str| {
        let trace = load(file, bytes);
        let notes: Vec<String> = trace.notes.iter().map(TraceNote::to_string).collect();
        let expected = format!("Trace1.run/{file} was left out: {expected}");
        assert!(notes.contains(&expected), "{notes:?}");
        assert!(trace.run.issues.is_empty() && !trace.tables().is_empty());
    };
    check(
        "RunIssues.storedata",
        b"x",
        "unsupported bundle layout: it is not an SQLite database",
    );
    check(
        "RunIssues.storedata",
        &LOST[..LOST.len() / 2],
        "unsupported bundle layout: a page is missing",
    );
    check(
        "RunIssues.storedata-wal",
        b"x",
        "unsupported bundle layout: it has changes of a database that was not closed",
    );
}

/// Breaks every byte of a small database in every way, and some of a larger one.
#[test]
fn damaged_databases_cause_no_panic() {
    for fault in Mutation::every_byte(ROSETTA.len()) {
        issues(&fault.of(ROSETTA));
    }
    for place in (0..MANY.len()).step_by(16) {
        issues(&Mutation::Set(place, 0xff).of(MANY));
        issues(&Mutation::CutOff(place).of(MANY));
    }
}

#[test]
fn real_issues_are_read() {
    let Some(real) = real_recordings() else {
        return;
    };
    let check = |bundle: &str, expected: &[&str]| {
        let input = Input::open(&real.join(bundle)).unwrap();
        let issues = &input.toc().unwrap().runs[0].issues;
        let messages: Vec<&str> = issues.iter().map(|issue| issue.message.as_str()).collect();
        assert_eq!(messages, expected, "{bundle}");
        assert_eq!(issues.iter().find_map(RunIssue::remedy), None);
    };
    let failed = "Failed to stop recording session: Failed stoping ktrace session.";
    check(
        "older-layout-bundles/vela/cargo-flamegraph.trace",
        &[failed],
    );
    check(
        "older-layout-bundles/gtfs.guru/cargo-flamegraph.trace",
        &[failed],
    );
    check("m1-bundle-and-export/gpu_baseline.trace", &[]);
    check("m2-counters-bundle/julia_1.trace", &[]);
    check(
        "newest-layout-time-profile-bundle/cargo-flamegraph.trace",
        &[],
    );
}
