//! Tests `metalens export` with a shell script as `xctrace`, which serves the tables of a folder and
//! fails in ways that were seen of real ones.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread;
use std::time::Duration;

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::verbs::record::each;
use crate::{command, metalens, stderr, stdout, transcript};

/// The script. `@MODE@` is run before a table is served: `$file` is the requested table, `$data`
/// the folder of tables, `$out` the file to write; `give` writes to that file, else to stdout.
const SERVE: &str = r#"#!/bin/sh
PATH=/usr/bin:/bin
here=@HERE@ data=@HERE@/data
echo "$*" >> "$here/log"
case $1 in version) echo "xctrace version @VERSION@"; exit 0;; esac
while [ $# -gt 0 ]; do
  case $1 in
    --output) out=$2; shift;;
    --toc) file=toc.xml;;
    --xpath) xpath=$2; shift;;
  esac
  shift
done
case $xpath in
  "") ;;
  *@schema=*) file=${xpath##*@schema=\"}; file=${file%%\"*}.xml;;
  *) file=${xpath##*/}.xml;;
esac
if [ -n "$out" ] && [ -e "$out" ]; then echo "Trace file already exists" >&2; exit 1; fi
give() { if [ -n "$out" ]; then cat > "$out"; else cat; fi; }
intervals() { [ $file = metal-gpu-intervals.xml ]; }
missing() { echo 'Export failed: Document Missing Template Error' >&2; exit 10; }
@MODE@
if [ -f "$data/$file" ]; then give < "$data/$file"
else printf '<?xml version="1.0"?>\n<trace-query-result>\n</trace-query-result>' | give; fi
[ -z "$out" ] || echo "Finished export to the file: $out"
"#;

/// A folder with `run.trace`, the tables of it, and the `xctrace` that serves them.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
}

impl Bench {
    pub(crate) fn new(mode: &str) -> Self {
        Self::of("26.0 (17C529)", mode)
    }

    fn of(version: &str, mode: &str) -> Self {
        let folder = metalens_testing::scratch();
        let bench = Self { folder };
        fs::create_dir(bench.path("run.trace")).unwrap();
        fs::write(bench.path("run.trace/form.template"), "x").unwrap();
        fs::create_dir(bench.path("data")).unwrap();
        let fixture = Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../fixtures/small-export"
        ));
        for entry in fs::read_dir(fixture).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name().to_string_lossy().ends_with(".xml") {
                fs::copy(entry.path(), bench.path("data").join(entry.file_name())).unwrap();
            }
        }
        bench.behave(version, mode);
        bench
    }

    fn behave(&self, version: &str, mode: &str) {
        let script = SERVE
            .replace("@HERE@", &self.folder.path().display().to_string())
            .replace("@VERSION@", version)
            .replace("@MODE@", mode);
        metalens_testing::write_program(self.path("xctrace"), &script);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = command(self.folder.path(), arguments);
        command.env("METALENS_XCTRACE", self.path("xctrace"));
        command.output().unwrap()
    }

    /// Lists the files of a folder, and which have the bytes that were served.
    fn list(&self, folder: &str) -> String {
        let Ok(entries) = fs::read_dir(self.path(folder)) else {
            return format!("there is no {folder}\n");
        };
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        let mut text = String::new();
        for name in names {
            let served = fs::read(self.path("data").join(&name)).ok();
            let found = fs::read(self.path(folder).join(&name)).ok();
            let is_served = served.is_some() && served == found;
            writeln!(text, "{name}{}", if is_served { ", as served" } else { "" }).unwrap();
        }
        text
    }

    /// Returns the export requests to `xctrace` since the last call.
    fn asked(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        fs::write(self.path("log"), "").unwrap();
        let questions = log.lines().filter(|line| line.starts_with("export"));
        questions.map(str::to_owned).collect()
    }

    /// Returns the report of an analysis without its source, so that those of an export and of a
    /// stream can be compared.
    pub(crate) fn report(&self, arguments: &[&str]) -> serde_json::Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        let mut report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        report["source"].take();
        report
    }
}

/// Compares all that a user sees of an export with a snapshot; `mode` is a bit of the script.
fn check(name: &str, mode: &str) {
    let bench = Bench::new(mode);
    let output = bench.run(&["export", "run.trace"]);
    let seen = format!(
        "{}----- disk\n{}",
        transcript(&output),
        bench.list("run.export")
    );
    assert_snapshot!(format!("export-{name}"), seen);
}

#[test]
fn exports_of_a_good_xctrace_are_complete() {
    let loud = "yes 'objc[1]: a class is implemented in both' | head -c 10000000 >&2";
    let whole = "intervals && { give < \"$data/$file\"; exit 54; }";
    let now_and_then = "n=$(cat $here/n 2>/dev/null || echo 0); \
                        intervals && [ $n -lt 3 ] && { echo $((n+1)) > $here/n; missing; }";
    let crashes_now_and_then = format!(
        "n=$(cat $here/n 2>/dev/null || echo 0); echo $((n+1)) > $here/n; \
         [ $((n % 2)) = 0 ] && {{ {CUT}; kill -SEGV $$; }}"
    );
    let ways = [
        ("plain", ""),
        ("loud", loud),
        ("whole-in-spite-of-its-code", whole),
        ("no-contents", "[ $file = toc.xml ] && missing"),
        ("now-and-then", now_and_then),
        ("crashes-now-and-then", &crashes_now_and_then),
    ];
    each(&ways, |(name, mode)| check(name, mode));
}

const CUT: &str = "head -c 20000 \"$data/$file\" | give";

#[test]
fn tables_that_are_cut_off_are_kept_as_partial() {
    check(
        "crashes",
        &format!("intervals && {{ {CUT}; kill -TRAP $$; }}"),
    );
    check(
        "crashes-133",
        &format!("intervals && {{ {CUT}; exit 133; }}"),
    );
    // Three calls write less and less.
    check(
        "crashes-again-and-again",
        "n=$(cat $here/n 2>/dev/null || echo 4); \
         intervals && { echo $((n-1)) > $here/n; head -c ${n}0000 \"$data/$file\" | give; exit 139; }",
    );
    check(
        "stops-without-a-word",
        &format!("intervals && {{ {CUT}; exit 0; }}"),
    );
    check(
        "crashes-before-a-row",
        "intervals && { head -c 300 \"$data/$file\" | give; kill -TRAP $$; }",
    );
    let full = "echo 'write: No space left on device' >&2; exit 1";
    check("disk-full", &format!("intervals && {{ {CUT}; {full}; }}"));
}

#[test]
fn an_export_without_a_table_is_an_error() {
    let ways = [
        ("nothing-at-all", "missing"),
        ("empty", "intervals && { : | give; exit 0; }"),
        ("writes-nothing", "intervals && exit 0"),
    ];
    each(&ways, |(name, mode)| check(name, mode));
}

/// Three tables that crash have three attempts each; those after them have one.
#[test]
fn a_hopeless_export_ends_soon() {
    let bench = Bench::new("[ $file = toc.xml ] || kill -SEGV $$");
    let output = bench.run(&["export", "run.trace"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let mut calls: Vec<(String, u32)> = Vec::new();
    for asked in bench.asked() {
        match calls.last_mut() {
            Some((last, count)) if *last == asked => *count += 1,
            _ => calls.push((asked, 1)),
        }
    }
    let counts: Vec<u32> = calls.iter().map(|(_, count)| *count).collect();
    assert!(counts.len() > 6, "{calls:?}");
    let expected = |table: usize| if (1..4).contains(&table) { 3 } else { 1 };
    assert!(
        (0..counts.len()).all(|table| counts[table] == expected(table)),
        "{calls:?}"
    );
}

#[test]
fn exports_give_the_same_report() {
    let bench = Bench::new("");

    // Only tables that are there are listed.
    let toc = fs::read_to_string(bench.path("data/toc.xml")).unwrap();
    let is_there = |line: &&str| match line.trim().strip_prefix("<table schema=\"") {
        Some(rest) => {
            let schema = rest.split('"').next().unwrap();
            bench.path(&format!("data/{schema}.xml")).exists()
        }
        None => true,
    };

    let toc: Vec<&str> = toc.lines().filter(is_there).collect();
    fs::write(bench.path("data/toc.xml"), toc.join("\n")).unwrap();
    assert!(bench.run(&["export", "run.trace"]).status.success());
    let served = bench.report(&["analyze", "data", "--json"]);
    assert_eq!(served["counts"]["intervals"], 48);
    assert_eq!(bench.report(&["analyze", "run.export", "--json"]), served);
    // Exports are large, and people compress them.
    let table = bench.path("run.export/metal-gpu-intervals.xml");
    let packed = std::process::Command::new("gzip").arg(&table).status();
    assert!(packed.unwrap().success());
    assert_eq!(bench.report(&["analyze", "run.export", "--json"]), served);
}

/// A second run exports all tables again, and files of the first that it lacks are gone.
#[test]
fn a_second_run_replaces_the_export() {
    let bench = Bench::new("");
    let export = |arguments: &[&str]| {
        let output = bench.run(&[&["export", "run.trace"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        bench.asked().len()
    };

    let first = export(&[]);
    let table = bench.path("run.export/metal-gpu-intervals.xml");
    let packed = std::process::Command::new("gzip").arg(&table).status();
    assert!(packed.unwrap().success());
    assert_eq!(export(&["--force"]), first);
    assert!(!bench.list("run.export").contains(".xml.gz"));
    let one = "metal-gpu-intervals";
    export(&["--schema", one]);
    assert_eq!(
        bench.list("run.export"),
        format!("export.json\n{one}.xml, as served\ntoc.xml, as served\n")
    );

    // An xctrace that exports nothing leaves the earlier export.
    bench.behave("26.0 (17C529)", "missing");
    let failed = bench.run(&["export", "run.trace"]);
    assert_eq!(failed.status.code(), Some(4), "{}", stderr(&failed));
    assert!(
        bench
            .list("run.export")
            .contains("intervals.xml, as served")
    );
}

#[test]
fn a_complete_table_replaces_a_partial_one() {
    let bench = Bench::new("intervals && { head -c 20000 \"$data/$file\" | give; kill -TRAP $$; }");
    assert_eq!(bench.run(&["export", "run.trace"]).status.code(), Some(1));

    // A partial table is read only with --allow-truncated.
    let refused = bench.run(&["analyze", "run.export"]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(
        stderr(&refused).contains("metal-gpu-intervals.xml.partial"),
        "{}",
        stderr(&refused)
    );
    let allowed = bench.run(&["analyze", "run.export", "--allow-truncated"]);
    assert!(
        stdout(&allowed).contains("TRUNCATED"),
        "{}",
        stderr(&allowed)
    );
    bench.behave("26.0 (17C529)", "");
    assert_eq!(bench.run(&["export", "run.trace"]).status.code(), Some(0));
    assert!(!bench.list("run.export").contains("partial"));
}

#[test]
fn tables_of_the_same_name_are_exported_by_position() {
    let bench = Bench::new("");
    for place in [2, 6] {
        let text = format!(
            "<?xml version=\"1.0\"?>\n<trace-query-result><node xpath='//trace-toc[1]/run[1]/data[1]/table[{place}]'>\
             <schema name=\"kdebug\"><col><mnemonic>a</mnemonic><name>A</name><engineering-type>uint64\
             </engineering-type></col></schema></node></trace-query-result>"
        );
        fs::write(bench.path(&format!("data/table[{place}].xml")), text).unwrap();
    }
    let output = bench.run(&[
        "export",
        "run.trace",
        "--schema",
        "kdebug",
        "--schema",
        "nonesuch",
    ]);
    assert_snapshot!(
        "export-by-place",
        format!(
            "{}----- disk\n{}",
            transcript(&output),
            bench.list("run.export")
        )
    );
    assert!(
        bench
            .asked()
            .iter()
            .any(|line| line.contains("/data/table[6] --output"))
    );
    let all = bench.run(&["export", "run.trace", "--all", "--json"]);
    assert_eq!(all.status.code(), Some(0));
    let holds: serde_json::Value = serde_json::from_str(&stdout(&all)).unwrap();
    let tables = holds["holds"]["tables"].as_array().unwrap();
    let whole = tables
        .iter()
        .filter(|table| table["state"] == "whole")
        .count();
    assert_eq!(whole, 6);
    let analyzed = bench.run(&["analyze", "run.export"]);
    assert_eq!(analyzed.status.code(), Some(0), "{}", stderr(&analyzed));
}

#[test]
fn an_interrupt_leaves_complete_tables_and_no_xctrace() {
    let hang = "[ $file = metal-gpu-state-intervals.xml ] && \
                { head -c 900 \"$data/$file\" | give; echo $$ > $here/pid; exec sleep 60; }";
    let bench = Bench::new(hang);
    let mut program = std::process::Command::new(assert_cmd::cargo::cargo_bin!("metalens"));
    program.current_dir(bench.folder.path()).env_clear();
    program.env("METALENS_XCTRACE", bench.path("xctrace"));
    program
        .args(["export", "run.trace"])
        .stderr(std::process::Stdio::piped());
    let running = program.spawn().unwrap();
    let pid = bench.path("pid");
    for _ in 0..600 {
        if fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')) {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    signal("-INT", &running.id().to_string());
    let output = running.wait_with_output().unwrap();
    let seen = format!(
        "{}----- disk\n{}",
        transcript(&output),
        bench.list("run.export")
    );
    assert_snapshot!("export-interrupted", seen);
    let pid = fs::read_to_string(&pid).unwrap();
    assert!(!signal("-0", pid.trim()), "xctrace still runs");

    // The same command exports all of it.
    bench.behave("26.0 (17C529)", "");
    assert_eq!(bench.run(&["export", "run.trace"]).status.code(), Some(0));
}

fn signal(signal: &str, pid: &str) -> bool {
    let kill = std::process::Command::new("/bin/sh")
        .args(["-c", &format!("kill {signal} {pid}")])
        .output();
    kill.unwrap().status.success()
}

#[test]
fn a_part_needs_xcode_27_and_is_noted_in_reports() {
    let part = ["export", "run.trace", "--from", "1ms", "--to", "2s"];
    let old = Bench::new("");
    assert_snapshot!("export-part-too-old", transcript(&old.run(&part)));
    assert!(old.asked().is_empty());
    let new = Bench::of("27.0 (27A266a)", "");
    assert_eq!(new.run(&part).status.code(), Some(0));
    let asked = new.asked();
    let is_part = |line: &String| line.contains("--time-start 1000000ns --time-end 2000000000ns");
    assert!(
        asked
            .iter()
            .filter(|line| !line.contains("--toc"))
            .all(is_part)
    );
    let report = new.report(&["analyze", "run.export", "--json"]);
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("the export has only a part of the recording, from 0.001000s to 2.000000s"),
        "{notes}"
    );
}

#[test]
fn files_of_others_are_kept() {
    let bench = Bench::new("");
    fs::create_dir(bench.path("run.export")).unwrap();
    fs::write(bench.path("run.export/metal-gpu-intervals.xml"), "mine").unwrap();
    let refused = bench.run(&["export", "run.trace"]);
    assert_snapshot!("export-occupied", transcript(&refused));
    assert_eq!(
        fs::read(bench.path("run.export/metal-gpu-intervals.xml")).unwrap(),
        b"mine"
    );
    assert_eq!(
        bench.run(&["export", "run.trace", "--force"]).status.code(),
        Some(0)
    );
    fs::create_dir(bench.path("other.trace")).unwrap();
    for arguments in [
        ["export", "other.trace", "-o", "run.export"],
        ["export", "run.trace", "-o", "run.trace"],
        ["export", "run.trace", "-o", "run.trace/export"],
        ["export", "run.trace", "-o", "new.trace"],
        ["export", "xctrace", "-o", "new"],
        ["export", "nonesuch.trace", "-o", "new"],
    ] {
        let output = bench.run(&arguments);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
    assert_eq!(bench.list("run.trace"), "form.template\n");
    assert_eq!(bench.list("new"), "there is no new\n");
}

#[test]
fn each_of_several_bundles_has_its_folder() {
    let bench = Bench::new("");
    fs::create_dir(bench.path("other.trace")).unwrap();
    let output = bench.run(&[
        "export",
        "run.trace",
        "none.trace",
        "other.trace",
        "-o",
        "out",
        "--quiet",
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).starts_with("error: none.trace: "),
        "{}",
        stderr(&output)
    );
    for folder in ["out/run.export", "out/other.export"] {
        assert!(
            bench
                .list(folder)
                .contains("metal-gpu-intervals.xml, as served")
        );
    }
}

#[test]
fn export_without_a_mac_is_an_error() {
    let bench = Bench::new("");
    let output = metalens(bench.folder.path(), &["export", "run.trace"]);
    if cfg!(not(target_os = "macos")) {
        assert_snapshot!("export-without-a-mac", transcript(&output));
    }
    assert_eq!(bench.list("run.export"), "there is no run.export\n");
}

/// A stranger may have made the export folder beside a bundle: its list must not remove files
/// elsewhere, a link must not redirect the export, and a pipe must not block it.
#[test]
fn a_manipulated_export_folder_does_no_harm() {
    let bench = Bench::new("");
    let arguments = ["export", "run.trace", "--quiet"];
    assert_eq!(bench.run(&arguments).status.code(), Some(0));
    fs::write(bench.path("victim.xml"), "mine").unwrap();
    let list = bench.path("run.export/export.json");
    let text = fs::read_to_string(&list).unwrap();
    let name = "metal-gpu-intervals.xml";
    fs::write(&list, text.replace(name, "../victim.xml")).unwrap();
    let refused = bench.run(&arguments);
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    assert_eq!(
        bench.run(&["export", "run.trace", "--force"]).status.code(),
        Some(0)
    );
    assert_eq!(
        fs::read_to_string(bench.path("victim.xml")).unwrap(),
        "mine"
    );

    // A temporary folder whose lock is a pipe, which blocks a reader.
    fs::create_dir(bench.path("run.export/.metalens-x")).unwrap();
    let pipe = bench.path("run.export/.metalens-x/lock");
    let made = std::process::Command::new("mkfifo").arg(pipe).status();
    assert!(made.unwrap().success());
    assert_eq!(bench.run(&arguments).status.code(), Some(0));

    fs::rename(bench.path("run.export"), bench.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", bench.path("run.export")).unwrap();
    let refused = bench.run(&arguments);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("run.export is a link"),
        "{}",
        stderr(&refused)
    );
    let named = ["export", "run.trace", "--quiet", "-o", "run.export"];
    assert_eq!(bench.run(&named).status.code(), Some(0));
}
