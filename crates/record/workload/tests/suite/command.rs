//! Tests the command: arguments in; the screen, the file and errors out.

use std::fs;
use std::path::Path;

use clap::{Args, FromArgMatches};
use insta::assert_snapshot;
use metalens_failure::{Failure, FailureKind};
use metalens_workload::Error;
use metalens_workload::command::{Arguments, list, run};
use serde_json::Value;

/// Runs the command. Returns what it printed, and how it ended.
fn workload(words: &[&str]) -> (String, Result<(), Error>) {
    let command = Arguments::augment_args(clap::Command::new("workload").no_binary_name(true));
    let arguments = command.try_get_matches_from(words).unwrap();
    let mut out = Vec::new();
    let ended = run(&Arguments::from_arg_matches(&arguments).unwrap(), &mut out);
    (String::from_utf8(out).unwrap(), ended)
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn the_list() {
    let mut out = Vec::new();
    list(&mut out).unwrap();
    assert_snapshot!(String::from_utf8(out).unwrap());
}

/// Runs on a Mac. Where no GPU is, the screen has the plan, and the error the reason.
#[test]
fn a_workload_runs_or_says_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("work.json");
    let (out, ended) = workload(&["eager", "--count", "5", "-o", file.to_str().unwrap()]);
    assert!(out.contains("5 steps after 0 of warm-up; 20 command buffers in all"));
    match ended {
        Ok(()) => {
            let work: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
            assert_eq!(work["program"]["whole"]["command_buffers"], 4 * 5);
        }
        Err(error) => {
            assert_eq!(error.kind(), FailureKind::Unavailable);
            eprintln!("SKIPPED: {error}");
            // No run, so no file about one.
            assert_eq!(files(folder.path()), 0);
        }
    }
}

#[test]
fn simulated() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("work.json");
    let arguments = ["matmul", "--simulated", "--count", "80", "-o"];
    let arguments = [&arguments[..], &[file.to_str().unwrap()]].concat();
    let (out, ended) = workload(&arguments);
    ended.unwrap();
    assert_snapshot!(out);
    assert_snapshot!("simulated_work_json", fs::read_to_string(&file).unwrap());
    assert_eq!(files(folder.path()), 1, "only the requested file");

    let (_, again) = workload(&arguments);
    assert!(matches!(again, Err(Error::File(_))), "{again:?}");
    workload(&[&arguments[..], &["--force"]].concat())
        .1
        .unwrap();
}
