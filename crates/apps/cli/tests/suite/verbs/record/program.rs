//! Tests how the recorded program is treated: its input, output, environment and end.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{Bench, PATIENCE, each, recording, stderr};

#[test]
fn standard_streams_pass_through_unchanged() {
    let bench = Bench::new();
    let mut command = bench.command(
        &[],
        &recording(&["-q"], "cat; printf 'no\\000end\\377'; echo oops >&2"),
    );
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let given: Vec<u8> = (0..100_000_u32).map(|at| at.to_le_bytes()[0]).collect();
    child.stdin.take().unwrap().write_all(&given).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = [&given[..], b"no\0end\xff"].concat();
    assert!(output.stdout == expected, "{} bytes", output.stdout.len());
    assert_eq!(stderr(&output), "oops\n");
}

/// Arguments may look like options of metalens, or not be UTF-8.
#[test]
fn environment_and_arguments_reach_the_program() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    let script = r#"printf '%s\n' "$GREETING" "$@""#;
    let words: Vec<&OsStr> = [
        "record",
        "-o",
        "x.trace",
        "--env",
        "GREETING=a b=c",
        "--",
        "./bench",
        "-c",
        script,
    ]
    .into_iter()
    .chain(["bench", "--force", "it's", ""])
    .map(OsStr::new)
    .chain([OsStr::from_bytes(b"\xff")])
    .collect();
    let output = bench.fine(&[], &words);
    assert_eq!(output.stdout, b"a b=c\n--force\nit's\n\n\xff\n");
    let recording = bench.json("x.recording.json");
    assert_eq!(recording["environment"][0], "GREETING");
    assert!(!recording.to_string().contains("a b=c"), "{recording}");
}

/// A program that fails makes the command fail, unless its failure is ignored; its recording is kept.
/// `xctrace` itself ends in the same way in most of these cases.
#[test]
fn the_end_of_the_program_is_told_and_stored() {
    let check = |script: &str, options: &[&str], told: &[&str], code: i32, kept: &str| {
        let bench = Bench::new();
        let output = bench.run(&[], &recording(options, script));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        let about_it = ["note: ", "error: ", "hint: "];
        let found: Vec<_> = said
            .lines()
            .filter(|line| about_it.iter().any(|kind| line.starts_with(kind)))
            .collect();
        assert_eq!(found, told, "{script}");
        assert_eq!(bench.json("x.recording.json")["target_ended"], kept);
        assert_eq!(bench.disk(), "x.recording.json\nx.trace: whole\n");
    };

    check("exit 0", &[], &[], 0, "exit(0)");
    let hint = "hint: with --ignore-failure this is a note, and the exit code is 0";
    let four = "error: the program ended abnormally: status 4; the recording is kept";
    check("exit 4", &[], &[four, hint], 1, "status 4");
    check("exit 4", &["-q"], &[four, hint], 1, "status 4");
    let crashed = "error: the program ended abnormally: SIGSEGV; the recording is kept";
    check("kill -SEGV $$", &[], &[crashed, hint], 1, "SIGSEGV");
    let ignored = "note: the program ended abnormally: status 4";
    check("exit 4", &["--ignore-failure"], &[ignored], 0, "status 4");
    let limit = "note: the program was still running at the time limit and was ended (SIGKILL); what it had \
                 not written yet is lost (Python writes at once with --env PYTHONUNBUFFERED=1)";
    check(
        "exec sleep 600",
        &["--time-limit", "50ms"],
        &[limit],
        0,
        "SIGKILL",
    );
}

/// Lines that look like those of `xctrace` are the program's, once it records, and its progress bars pass
/// through.
#[test]
fn words_of_the_program_are_not_those_of_xctrace() {
    let bench = Bench::new();
    let forged = "[Error] loss is NaN\n* [Warning] slow\nTarget app exited, ending recording...\n\
                  Output file saved as: other.trace\n";
    let script = format!(
        "sleep 1.5; printf '{}' >&2; printf '\\r 1%%\\r 2%%\\n' >&2",
        forged.replace('\n', "\\n")
    );
    let output = bench.fine(&[], &recording(&["-q"], &script));
    assert_eq!(stderr(&output), format!("{forged}\r 1%\r 2%\n"));
    let recording = bench.json("x.recording.json");
    assert_eq!(recording["warnings"], serde_json::json!([]));
    assert_eq!(recording["ended_by"], "target-exit");
    assert_eq!(bench.disk(), "x.recording.json\nx.trace: whole\n");
}

/// macOS takes the variables of the dynamic linker from Apple's programs, as the fake does.
#[test]
fn variables_of_the_linker_reach_the_program() {
    let bench = Bench::new();
    let mut command = bench.command(&[], &recording(&["-q"], "echo \"$DYLD_LIBRARY_PATH\""));
    let output = command
        .env("DYLD_LIBRARY_PATH", "/opt/lib")
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"/opt/lib\n", "{}", stderr(&output));
    let recording = bench.json("x.recording.json");
    assert_eq!(
        recording["environment"],
        serde_json::json!(["DYLD_LIBRARY_PATH"])
    );
}

#[test]
fn long_recordings_are_warned_of() {
    let warns = |options: &[&str]| {
        let bench = Bench::new();
        let output = bench.fine(&[], &recording(options, "exit 0"));
        stderr(&output).contains("60 s is long")
    };
    assert!(warns(&["--time-limit", "60s"]));
    assert!(!warns(&["--time-limit", "60s", "--window", "10s"]));
    assert!(!warns(&["--time-limit", "45s"]));
}

#[test]
fn an_attached_process_is_recorded_and_goes_on() {
    let bench = Bench::new();
    metalens_testing::copy_program("/bin/sleep", bench.path("lens-at-work"));
    let mut other = Command::new(bench.path("lens-at-work"))
        .arg("600")
        .spawn()
        .unwrap();
    // Until exec, the process has the name of this test.
    let pid = other.id().to_string();
    let named = format!("/proc/{pid}/cmdline");
    crate::until(PATIENCE, "it has its name", || {
        std::fs::read(&named).map_or(true, |words| words.ends_with(b"600\0"))
    });
    for (whom, output) in [
        (pid.as_str(), "by-pid.trace"),
        ("lens-at-work", "by-name.trace"),
    ] {
        let arguments = [
            "record",
            "-o",
            output,
            "--time-limit",
            "50ms",
            "--attach",
            whom,
        ];
        let said = stderr(&bench.fine(&[], &arguments));
        assert!(!said.contains("note:"), "{said}");
        let report = bench.report(output);
        assert_eq!(report["process"]["chosen_by"], "attached");
        assert_eq!(report["process"]["name"], "lens-at-work");
        assert_eq!(report["process"]["pid"], other.id());
        let recording = bench.json(&output.replace(".trace", ".recording.json"));
        assert!(recording["target_ended"].is_null());
        assert!(runs(&mut other), "it was ended");
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

fn runs(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_none()
}

#[test]
fn all_processes_can_be_recorded() {
    let bench = Bench::new();
    let arguments = ["record", "--all-processes", "--time-limit", "50ms"];
    bench.fine(&[], &arguments);
    assert_eq!(
        bench.disk(),
        "everyone.recording.json\neveryone.trace: whole\n"
    );
    assert_eq!(
        bench.report("everyone.trace")["process"]["chosen_by"],
        "busiest"
    );
}

#[test]
fn a_program_that_cannot_be_started_is_refused_before_recording() {
    let check = |program: &str, expected: &str| {
        let bench = Bench::new();
        std::fs::write(bench.here().join("notes.txt"), "x").unwrap();
        let output = bench.run(&[], &["record", "-o", "x.trace", "--", program]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(stderr(&output), format!("error: {expected}\n"));
        assert_eq!(bench.disk(), "notes.txt\n");
    };

    check("no-such-program", "no-such-program was not found in PATH");
    check(
        "./notes.txt",
        "./notes.txt cannot be started: it is not executable (chmod +x)",
    );
    check("../here", "../here cannot be started: it is a folder");
}

#[test]
fn the_recording_has_all_work_that_each_workload_issued() {
    let workloads: Vec<_> = metalens_workload::workloads().collect();
    each(&workloads, |workload| {
        let bench = Bench::new();
        let name = workload.name();
        let record = ["record", "--simulate", "-o", "x.trace", "--workload", name];
        bench.fine(&[], &[&record[..], &["--count", "80"]].concat());
        let issued = &bench.json("x.work.json")["program"];
        let report = bench.report("x.trace");
        for what in ["command_buffers", "encoders"] {
            let whole = &issued["whole"][what];
            assert!(whole.as_u64() > Some(0), "{name}: {issued}");
            assert_eq!(&report["counts"][what], whole, "{name}: {what}");
        }
        assert!(
            issued["whole"]["dispatches"].as_u64() > Some(0),
            "{name}: {issued}"
        );
        let labels = names(&issued["labels"], "label");
        assert_eq!(names(&report["kernels"], "name"), labels, "{name}");
    });
}

/// Returns the text that each element of a list has for a key.
fn names<'a>(list: &'a Value, key: &str) -> BTreeSet<&'a str> {
    let list = list.as_array().unwrap().iter();
    list.map(|element| element[key].as_str().unwrap()).collect()
}
