//! `metalens analyze --parquet` and `metalens query`.

use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;

use super::{metalens, stderr, stdout, transcript, with_scenario};

/// A folder with two exports and the dataset of both.
fn with_dataset() -> tempfile::TempDir {
    let folder = with_scenario("eager");
    let written = metalens(folder.path(), &["synth", "fused", "-o", "fused"]);
    assert!(written.status.success(), "{}", stderr(&written));
    let arguments = ["analyze", "eager", "fused", "--json", "--parquet", "fleet"];
    let analyzed = metalens(folder.path(), &arguments);
    assert!(analyzed.status.success(), "{}", stderr(&analyzed));
    folder
}

const WHO: &str = "SELECT input, interval_count, gap_count, busy_ratio, end_reason FROM runs \
                   ORDER BY input";

#[test]
fn traces_and_a_dataset_of_them_answer_alike() {
    let folder = with_dataset();
    let of_dataset = metalens(folder.path(), &["query", WHO, "fleet"]);
    let of_traces = metalens(folder.path(), &["query", WHO, "eager", "fused"]);
    assert_eq!(stdout(&of_dataset), stdout(&of_traces));
    assert_snapshot!(transcript(&of_dataset));
    let mixed = metalens(folder.path(), &["query", WHO, "fleet", "fused"]);
    assert_eq!(stdout(&mixed), stdout(&of_traces));
    assert_eq!(
        stderr(&mixed),
        "note: 1 run named more than once, and counted once\n"
    );
}

#[test]
fn answers_are_the_reports_figures() {
    let folder = with_dataset();
    let report = metalens(folder.path(), &["analyze", "eager", "--json"]);
    let report: Value = serde_json::from_str(&stdout(&report)).unwrap();
    let sql = "SELECT kernel AS name, total_ns, instances, med_ns FROM kernels k JOIN runs r \
               ON k.run = r.run WHERE r.input = 'eager' ORDER BY total_ns DESC, kernel";
    let answer = metalens(folder.path(), &["query", sql, "fleet", "--format", "json"]);
    let answer: Value = serde_json::from_str(&stdout(&answer)).unwrap();
    let kernels = report["kernels"].as_array().unwrap();
    assert_eq!(answer.as_array().unwrap().len(), kernels.len());
    for (found, kernel) in answer.as_array().unwrap().iter().zip(kernels) {
        for (key, value) in found.as_object().unwrap() {
            assert_eq!(value, &kernel[key], "{key}");
        }
    }
}

#[test]
fn what_goes_wrong() {
    let folder = with_dataset();
    let said = |arguments: &[&str]| transcript(&metalens(folder.path(), arguments));
    let both = [
        said(&["query", "SELECT durtion_ns FROM gaps", "fleet"]),
        said(&["query", "SELECT * FROM gap", "fleet"]),
        said(&["query", "SELEC", "fleet"]),
        said(&["query", "COPY runs TO 'a'", "fleet"]),
        said(&["query", "SELECT * FROM read_parquet('fleet')", "fleet"]),
        said(&["query", WHO, "nothing"]),
        said(&["query", WHO, "fleet", "--format", "parquet"]),
    ];
    assert_snapshot!(both.join("\n"));
}

#[test]
fn files_are_whole_and_not_overwritten() {
    let folder = with_dataset();
    let path = folder.path();
    let write = |name: &str, more: &[&str]| {
        let arguments = [&["query", "SELECT * FROM gaps", "fleet", "-o", name], more].concat();
        let output = metalens(path, &arguments);
        assert_eq!(stdout(&output), "");
        output.status.code().unwrap()
    };
    for name in ["a.csv", "a.json", "a.parquet", "a.txt"] {
        assert_eq!(write(name, &[]), 0);
        let first = std::fs::read(path.join(name)).unwrap();
        assert_eq!(write(name, &[]), 1);
        assert_eq!(write(name, &["--force"]), 0);
        assert_eq!(std::fs::read(path.join(name)).unwrap(), first, "{name}");
    }
    assert!(
        std::fs::read(path.join("a.parquet"))
            .unwrap()
            .starts_with(b"PAR1")
    );
}

#[test]
fn a_long_table_says_how_much_is_left() {
    let folder = with_dataset();
    let arguments = [
        "query",
        "SELECT start_ns, cause FROM gaps ORDER BY start_ns",
        "eager",
        "--rows",
        "2",
    ];
    let text = stdout(&metalens(folder.path(), &arguments));
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.contains("more rows: --rows shows more"), "{text}");
}

#[test]
fn the_schema() {
    let text = stdout(&metalens(Path::new("."), &["query", "--schema"]));
    for table in ["runs  ", "intervals  ", "gaps  ", "kernels  "] {
        assert!(text.lines().any(|line| line.starts_with(table)), "{table}");
    }
    assert!(text.contains("busy_ns"));
}

/// Engines that are not ours find the report's figures in the files.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn duckdb_and_pyarrow_agree() {
    let python = std::env::var("METALENS_PYTHON").unwrap_or("python3".to_owned());
    let has_both = Command::new(&python)
        .args(["-c", "import duckdb, pyarrow"])
        .output();
    if !has_both.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: {python} has no duckdb and pyarrow, to read a dataset with");
        return;
    }
    let folder = with_scenario("shared-machine");
    for name in ["eager", "renderer", "awkward"] {
        let written = metalens(folder.path(), &["synth", name, "-o", name]);
        assert!(written.status.success(), "{}", stderr(&written));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let checked = Command::new(python)
        .arg(root.join("scripts/check-dataset"))
        .arg(env!("CARGO_BIN_EXE_metalens"))
        .args(
            ["shared-machine", "eager", "renderer", "awkward"].map(|name| folder.path().join(name)),
        )
        .arg(root.join("fixtures/small-export"))
        .output()
        .unwrap();
    assert!(
        checked.status.success(),
        "{}{}",
        stdout(&checked),
        stderr(&checked)
    );
    let said = stdout(&checked);
    assert!(
        said.contains("all as reported") && said.contains("answer alike"),
        "{said}"
    );
}
