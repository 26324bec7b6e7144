//! Tests `metalens query` end to end: `metalens` starts `metalens-query`, which has recordings read by
//! `metalens`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use insta::assert_snapshot;
use serde_json::Value;

use super::scenario;

/// Returns `metalens`, of another workspace, which is built beside this program once.
fn metalens() -> &'static Path {
    static METALENS: OnceLock<PathBuf> = OnceLock::new();
    METALENS.get_or_init(|| {
        let metalens = Path::new(env!("CARGO_BIN_EXE_metalens-query")).with_file_name("metalens");
        let built = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
            .args(["build", "--locked", "--package", "metalens"])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.."))
            .env("CARGO_TARGET_DIR", metalens.ancestors().nth(2).unwrap())
            .status();
        assert!(built.unwrap().success());
        metalens
    })
}

fn run(program: &Path, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.current_dir(folder).args(arguments);
    command.output().unwrap()
}

fn query(folder: &Path, arguments: &[&str]) -> Output {
    run(metalens(), folder, &[&["query"], arguments].concat())
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns the exit code and everything that a command printed.
fn transcript(output: &Output) -> String {
    let code = output.status.code();
    format!("exit {code:?}\n{}{}", stdout(output), stderr(output))
}

/// Makes a folder with two exports and the dataset of both.
fn with_dataset() -> tempfile::TempDir {
    let folder = metalens_testing::scratch();
    for name in ["eager", "fused"] {
        let export = folder.path().join(name);
        metalens_simulator::write_export(&scenario(name), &export, false).unwrap();
    }
    let arguments = ["analyze", "eager", "fused", "--json", "--parquet", "fleet"];
    let analyzed = run(metalens(), folder.path(), &arguments);
    assert!(analyzed.status.success(), "{}", stderr(&analyzed));
    folder
}

/// `metalens help query` and the program's own help have the same examples, and they run.
#[test]
fn examples_of_help_run() {
    let folder = with_dataset();
    let bundle = folder.path().join("run.trace");
    metalens_simulator::write_bundle(&scenario("eager"), &bundle, false).unwrap();

    let examples = |arguments: &[&str]| -> Vec<String> {
        let help = stdout(&run(metalens(), folder.path(), arguments));
        let lines = help
            .lines()
            .filter(|line| line.starts_with("  metalens query "));
        lines.map(|line| line.trim().to_owned()).collect()
    };
    let shown = examples(&["help", "query"]);
    assert_eq!(shown.len(), 3);
    assert_eq!(shown, examples(&["query", "--help"]));
    let path = metalens().parent().unwrap();
    for example in shown {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &example]).current_dir(folder.path());
        let output = shell.env("PATH", path).output().unwrap();
        assert!(
            output.status.success(),
            "{example}: {}",
            transcript(&output)
        );
    }
}

const RUNS_SQL: &str = "SELECT input, interval_count, gap_count, busy_ratio, end_reason FROM runs \
                   ORDER BY input";

#[test]
fn traces_and_a_dataset_of_them_answer_alike() {
    let folder = with_dataset();
    let of_dataset = query(folder.path(), &[RUNS_SQL, "fleet"]);
    let of_traces = query(folder.path(), &[RUNS_SQL, "eager", "fused"]);
    assert_eq!(stdout(&of_dataset), stdout(&of_traces));
    assert_snapshot!(transcript(&of_dataset));
    let mixed = query(folder.path(), &[RUNS_SQL, "fleet", "fused"]);
    assert_eq!(stdout(&mixed), stdout(&of_traces));
    assert_eq!(
        stderr(&mixed),
        "note: 1 run given more than once, and counted once\n"
    );
    let quiet = query(folder.path(), &["-q", RUNS_SQL, "fleet", "fused"]);
    assert_eq!(stderr(&quiet), "");
}

#[test]
fn answers_are_the_reports_figures() {
    let folder = with_dataset();
    let report = run(metalens(), folder.path(), &["analyze", "eager", "--json"]);
    let report: Value = serde_json::from_str(&stdout(&report)).unwrap();
    let sql = "SELECT kernel AS name, total_ns, instances, med_ns FROM kernels k JOIN runs r \
               ON k.run = r.run WHERE r.input = 'eager' ORDER BY total_ns DESC, kernel";
    let answer = query(folder.path(), &[sql, "fleet", "--format", "json"]);
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
fn errors_say_what_to_do() {
    let folder = with_dataset();
    fs::write(folder.path().join("broken.xml"), "<trace-query-result>").unwrap();
    let said = |arguments: &[&str]| transcript(&query(folder.path(), arguments));
    let all = [
        said(&["SELECT durtion_ns FROM gaps", "fleet"]),
        said(&["SELECT * FROM gap", "fleet"]),
        said(&["SELEC", "fleet"]),
        said(&["COPY runs TO 'a'", "fleet"]),
        said(&["SELECT * FROM read_parquet('fleet')", "fleet"]),
        said(&[RUNS_SQL, "nothing"]),
        said(&[RUNS_SQL, "broken.xml"]),
        said(&[RUNS_SQL, "fleet", "--format", "parquet"]),
        said(&[RUNS_SQL, "x=1/fleet"]),
    ];
    assert_snapshot!(all.join("\n"));
}

#[test]
fn a_missing_query_program_is_an_error_that_says_how_to_install_it() {
    let folder = metalens_testing::scratch();
    let alone = folder.path().join("metalens");
    metalens_testing::copy_program(metalens(), &alone);
    let output = Command::new(&alone)
        .args(["query", "SELECT 1", "."])
        .env("PATH", folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("cargo install --path crates/beside/query"));
}

#[test]
fn files_are_complete_and_overwritten_only_with_force() {
    let folder = with_dataset();
    let path = folder.path();
    let write = |name: &str, more: &[&str]| {
        let arguments = [&["SELECT * FROM gaps", "fleet", "-o", name], more].concat();
        let output = query(path, &arguments);
        assert_eq!(stdout(&output), "");
        output.status.code().unwrap()
    };
    for name in ["a.csv", "a.json", "a.parquet", "a.txt"] {
        assert_eq!(write(name, &[]), 0);
        let first = fs::read(path.join(name)).unwrap();
        assert_eq!(write(name, &[]), 1);
        assert_eq!(write(name, &["--force"]), 0);
        assert_eq!(fs::read(path.join(name)).unwrap(), first, "{name}");
    }
    let parquet = fs::read(path.join("a.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1"));
}

#[test]
fn a_long_table_says_how_many_rows_are_not_shown() {
    let folder = with_dataset();
    let sql = "SELECT start_ns, cause FROM gaps ORDER BY start_ns";
    let text = stdout(&query(folder.path(), &[sql, "eager", "--rows", "2"]));
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.contains("more rows: --rows shows more"), "{text}");
}

#[test]
fn the_schema_lists_all_tables() {
    let text = stdout(&query(Path::new("."), &["--schema"]));
    for table in ["runs  ", "intervals  ", "gaps  ", "kernels  ", "findings  "] {
        assert!(text.lines().any(|line| line.starts_with(table)), "{table}");
    }
    assert!(text.contains("busy_ns"));
}

/// A join of everything with everything is stopped at the limit, with a reason.
#[test]
fn a_query_above_the_memory_limit_is_stopped() {
    let folder = with_dataset();
    let sql = "SELECT a.start_ns, b.end_ns, c.start_ns AS c FROM gaps a CROSS JOIN gaps b \
               CROSS JOIN (SELECT start_ns FROM gaps LIMIT 40) c";
    let output = query(folder.path(), &[sql, "fleet", "--max-memory", "300MB"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("needs more than 0.3 GB of memory"));
}

/// Independent engines find the report's figures in the files, and answer as `metalens query`
/// does.
#[test]
fn duckdb_and_pyarrow_agree() {
    let folder = metalens_testing::scratch();
    let names = ["shared-machine", "eager", "renderer", "awkward"];
    for name in names {
        let export = folder.path().join(name);
        metalens_simulator::write_export(&scenario(name), &export, false).unwrap();
    }
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/small-export");
    let mut inputs = names.map(|name| folder.path().join(name)).to_vec();
    inputs.push(fixture);
    check("check-dataset", metalens(), &inputs);
}

/// Runs a script that needs Python packages. It exits with 3 where they are not installed.
fn check(script: &str, program: &Path, arguments: &[PathBuf]) {
    let python = std::env::var("METALENS_PYTHON").unwrap_or("python3".to_owned());
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scripts");
    let checked = Command::new(&python)
        .arg(scripts.join(script))
        .arg(program)
        .args(arguments)
        .output();
    let Ok(checked) = checked else {
        eprintln!("SKIPPED: there is no {python} to run {script} with");
        return;
    };
    let said = format!("{}{}", stdout(&checked), stderr(&checked));
    if checked.status.code() == Some(3) {
        eprintln!("{said}");
        return;
    }
    assert!(checked.status.success(), "{said}");
}
