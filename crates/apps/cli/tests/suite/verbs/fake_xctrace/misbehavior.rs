//! Tests each misbehavior of the fake `xctrace` once.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use metalens_simulator::fake_xctrace::Misbehavior;

use super::{
    BundleState, PATIENCE, RECORD, bundle_state, code, folder, in_order, output, recording, size,
};
use super::{stderr, stdout, xctrace};
use crate::{signal, until};

/// A misbehavior of a recording, and its expected outcome.
struct Misrecording {
    name: &'static str,
    code: i32,
    /// Parts of stdout, in this order.
    stdout: &'static [&'static str],
    /// Parts of stderr, in this order.
    stderr: &'static [&'static str],
    bundle: BundleState,
}

const ISSUES: &str = "Run issues were detected (trace is still ready to be viewed):\n* [";
const FAILED: &str = "Recording failed with errors. Saving output file...\n";
const SAVED: &str = "Output file saved as: out.trace\n";
const SAVING: &str = "Recording completed. Saving output file...\n";

/// Cases that record a command with exit code 0, with `--no-prompt`.
#[rustfmt::skip]
const RECORDINGS: [Misrecording; 31] = [
    Misrecording { name: "no-xcode", code: 1, stdout: &[], stderr: &["xcode-select: error: tool 'xctrace' requires Xcode"], bundle: BundleState::Absent },
    Misrecording { name: "xcrun-72", code: 72, stdout: &[], stderr: &["unable to find utility \"xctrace\""], bundle: BundleState::Absent },
    Misrecording { name: "no-license", code: 69, stdout: &[], stderr: &["You have not agreed to the Xcode license"], bundle: BundleState::Absent },
    Misrecording { name: "child-works", code: 0, stdout: &[SAVING, SAVED], stderr: &[], bundle: BundleState::NoTargetRows },
    Misrecording { name: "other-copy", code: 0, stdout: &[SAVING, SAVED], stderr: &[], bundle: BundleState::Complete },
    Misrecording { name: "leaves-raw", code: 1, stdout: &[SAVING], stderr: &["Unexpected internal error"], bundle: BundleState::Stub },
    Misrecording { name: "silent", code: 0, stdout: &[], stderr: &[], bundle: BundleState::Absent },
    Misrecording { name: "attach-refused", code: 2, stdout: &["Starting", ISSUES, "Failed to attach to target process", FAILED], stderr: &[], bundle: BundleState::Stub },
    Misrecording { name: "not-debuggable", code: 2, stdout: &[ISSUES, "Permission to debug sh was denied", "'get-task-allow'"], stderr: &[], bundle: BundleState::Stub },
    Misrecording { name: "restricted", code: 2, stdout: &[ISSUES, "cannot be traced while SIP is enabled"], stderr: &[], bundle: BundleState::Stub },
    Misrecording { name: "sandboxed", code: 2, stdout: &[ISSUES, "Could not set the recording priority"], stderr: &[], bundle: BundleState::Stub },
    Misrecording { name: "never-says", code: 0, stdout: &["Starting", "Target app exited", SAVED], stderr: &[], bundle: BundleState::Complete },
    Misrecording { name: "kperf-locked", code: 2, stdout: &[ISSUES, "could not lock kperf. Likely another session just started."], stderr: &[], bundle: BundleState::Stub },
    Misrecording { name: "template-collision", code: 30, stdout: &[], stderr: &["More than one template"], bundle: BundleState::Absent },
    Misrecording { name: "output-exists", code: 1, stdout: &[], stderr: &["Trace file already exists"], bundle: BundleState::Absent },
    Misrecording { name: "no-metal-template", code: 1, stdout: &[], stderr: &["Unable to find template with name"], bundle: BundleState::Absent },
    Misrecording { name: "killed-recording", code: -9, stdout: &["Ctrl-C"], stderr: &[], bundle: BundleState::Stub },
    Misrecording { name: "floods-stderr", code: 0, stdout: &["Ctrl-C", SAVED], stderr: &["xxxx"], bundle: BundleState::Complete },
    Misrecording { name: "stderr-only", code: 0, stdout: &[], stderr: &["Starting", "Ctrl-C", SAVING, SAVED], bundle: BundleState::Complete },
    Misrecording { name: "run-issues", code: 54, stdout: &["Target app exited", ISSUES, "The log archive is corrupt", FAILED, SAVED], stderr: &[], bundle: BundleState::Complete },
    Misrecording { name: "lost-events", code: 0, stdout: &[SAVING, SAVED], stderr: &[], bundle: BundleState::Complete },
    Misrecording { name: "counters-unsupported", code: 54, stdout: &[ISSUES, "Selected counter profile is not supported", FAILED, SAVED], stderr: &[], bundle: BundleState::Complete },
    Misrecording { name: "malformed", code: 54, stdout: &[ISSUES, "Transferred trace file is malformed", FAILED, SAVED], stderr: &[], bundle: BundleState::NoTargetRows },
    Misrecording { name: "no-target-rows", code: 0, stdout: &[SAVING, SAVED], stderr: &[], bundle: BundleState::NoTargetRows },
    Misrecording { name: "exit-54", code: 54, stdout: &["Target app exited", SAVING, SAVED], stderr: &[], bundle: BundleState::Complete },
    Misrecording { name: "exit-54-stub", code: 54, stdout: &[SAVING], stderr: &[], bundle: BundleState::Stub },
    Misrecording { name: "saves-stub", code: 0, stdout: &[SAVING, SAVED], stderr: &[], bundle: BundleState::Stub },
    Misrecording { name: "saving-crashes", code: -11, stdout: &[SAVING], stderr: &[], bundle: BundleState::Stub },
    Misrecording { name: "saving-139", code: 139, stdout: &[SAVING], stderr: &[], bundle: BundleState::Stub },
    Misrecording { name: "disk-full", code: 1, stdout: &[SAVING], stderr: &["No space left on device"], bundle: BundleState::Stub },
    Misrecording { name: "saving-grows", code: 0, stdout: &[SAVING, SAVED], stderr: &[], bundle: BundleState::Complete },
];

#[test]
fn misbehaving_recordings_end_as_expected() {
    for case in RECORDINGS {
        let folder = folder();
        let settings = format!("MISBEHAVE={}", case.name);
        let arguments = recording(&[], &["/bin/sh", "-c", "exit 0"]);
        let done = output(xctrace(folder.path(), &[&settings], &arguments));
        let (said, complained) = (stdout(&done), stderr(&done));
        let shown = || format!("{}: {said}{:.2000}", case.name, complained);
        assert_eq!(code(&done), case.code, "{}", shown());
        assert!(in_order(&said, case.stdout), "{}", shown());
        assert!(in_order(&complained, case.stderr), "{}", shown());
        assert_eq!(
            said.contains(SAVED),
            case.stdout.contains(&SAVED),
            "{}",
            shown()
        );
        assert!(case.stdout.is_empty() <= said.is_empty(), "{}", shown());
        assert!(
            case.stderr.is_empty() <= complained.is_empty(),
            "{}",
            shown()
        );
        if case.name == "floods-stderr" {
            assert_eq!(complained.len(), 10_000_000);
        }
        assert_eq!(
            bundle_state(folder.path(), "out.trace"),
            case.bundle,
            "{}",
            case.name
        );
    }
}

/// Misbehaviors that other tests of the fake `xctrace` cover.
const ELSEWHERE: [&str; 24] = [
    "hangs-guarded",
    "leaves-target",
    "refuses-changed",
    "asks-enter",
    "aborts-34ms",
    "hangs-before",
    "asks-password",
    "no-instrument",
    "export-crashes",
    "saving-hangs",
    "exit-19",
    "exit-21",
    "no-configuration",
    "propagates-status",
    "basename-in-cwd",
    "templates-empty-twice",
    "shader-timeline-refused",
    "export-10",
    "export-43",
    "export-flaky",
    "toc-fails",
    "export-trap",
    "leaves-scratch",
    "holds-scratch",
];

#[test]
fn every_misbehavior_has_a_test() {
    let mut tried: Vec<&str> = RECORDINGS.iter().map(|case| case.name).collect();
    tried.extend(ELSEWHERE);
    tried.extend(super::super::verify::TRIED);
    tried.push("export-133");
    for misbehavior in Misbehavior::ALL {
        assert!(
            tried.contains(&misbehavior.name()),
            "{misbehavior} has no test"
        );
    }
    assert_eq!(tried.len(), Misbehavior::ALL.len());
}

/// A locked kperf fails once, and an empty list of templates twice; then all is well.
#[test]
fn some_misbehaviors_end_after_a_few_calls() {
    let folder = folder();
    let settings = ["MISBEHAVE=kperf-locked"];
    let arguments = recording(&[], &["/bin/sh", "-c", "exit 0"]);
    let run = || code(&output(xctrace(folder.path(), &settings, &arguments)));
    assert_eq!(run(), 2);
    assert_eq!(run(), 1, "the stub is in the way");
    fs::remove_dir_all(folder.path().join("out.trace")).unwrap();
    assert_eq!(run(), 0);

    let list = || {
        let settings = ["MISBEHAVE=templates-empty-twice"];
        stdout(&output(xctrace(
            folder.path(),
            &settings,
            &["list", "templates"],
        )))
    };
    let lists = [list(), list(), list(), list()];
    assert_eq!(
        lists.map(|list| list.contains("Metal System Trace")),
        [false, false, true, true]
    );
}

/// A misbehavior, its options, a last option unless empty; expected exit code, output and bundle.
type CaseWithOptions<'a> = (&'a str, &'a [&'a str], &'a str, (i32, &'a str, BundleState));

/// These misbehaviors need arguments of their own.
#[test]
fn misbehaviors_with_other_arguments_end_as_expected() {
    let folder = folder();
    let pid = std::process::id().to_string();
    let attach: &[&str] = &["--output", "out.trace", "--time-limit", "20ms", "--attach"];
    let myself =
        fs::read_link("/proc/self/exe").unwrap_or_else(|_| std::env::current_exe().unwrap());
    let name = myself.file_name().unwrap().to_str().unwrap();
    let exit_4: &[&str] = &[
        "--output",
        "out.trace",
        "--launch",
        "--",
        "/bin/sh",
        "-c",
        "exit 4",
    ];
    let sleep: &[&str] = &[
        "--output",
        "out.trace",
        "--launch",
        "--",
        "/bin/sleep",
        "60",
    ];
    let cases: [CaseWithOptions; 5] = [
        (
            "exit-21",
            attach,
            &pid,
            (
                21,
                "Cannot find process for provided pid: ",
                BundleState::Absent,
            ),
        ),
        (
            "exit-19",
            attach,
            name,
            (
                19,
                "Cannot find process matching name: ",
                BundleState::Absent,
            ),
        ),
        (
            "no-configuration",
            attach,
            &pid,
            (54, "will have to guess", BundleState::NoTargetRows),
        ),
        (
            "propagates-status",
            exit_4,
            "",
            (4, SAVED, BundleState::Complete),
        ),
        (
            "aborts-34ms",
            sleep,
            "",
            (54, SAVED, BundleState::NoTargetRows),
        ),
    ];
    for (misbehavior, options, last, (exit, text, left)) in cases {
        let mut arguments = [RECORD, options].concat();
        arguments.extend(Some(last).filter(|last| !last.is_empty()));
        let settings = [
            format!("MISBEHAVE={misbehavior}"),
            "VERSION=27.0 (27A266a)".to_owned(),
        ];
        let settings = settings.each_ref().map(String::as_str);
        let done = output(xctrace(folder.path(), &settings, &arguments));
        let shown = format!("{}{}", stdout(&done), stderr(&done));
        assert_eq!(code(&done), exit, "{misbehavior}: {shown}");
        assert!(shown.contains(text), "{misbehavior}: {shown}");
        assert_eq!(
            bundle_state(folder.path(), "out.trace"),
            left,
            "{misbehavior}"
        );
        let _ = fs::remove_dir_all(folder.path().join("out.trace"));
    }
}

#[test]
fn basename_in_cwd_saves_in_the_current_folder() {
    let folder = folder();
    fs::create_dir(folder.path().join("sub")).unwrap();
    let launch = [
        "--output",
        "sub/out.trace",
        "--launch",
        "--",
        "/bin/sleep",
        "0",
    ];
    let arguments = [RECORD, &launch].concat();
    let done = output(xctrace(
        folder.path(),
        &["MISBEHAVE=basename-in-cwd"],
        &arguments,
    ));
    assert_eq!(code(&done), 0);
    assert_eq!(
        bundle_state(folder.path(), "out.trace"),
        BundleState::Complete
    );
    assert_eq!(
        bundle_state(folder.path(), "sub/out.trace"),
        BundleState::Absent
    );
}

/// The fake waits for Enter, unless it has `--no-prompt`.
#[test]
fn asks_enter_waits_for_enter() {
    let folder = folder();
    let arguments = recording(&[], &["/bin/sleep", "0"]);
    let asking: Vec<&str> = arguments
        .iter()
        .copied()
        .filter(|word| *word != "--no-prompt")
        .collect();
    let settings = ["MISBEHAVE=asks-enter"];
    let mut command = xctrace(folder.path(), &settings, &asking);
    let said = folder.path().join("said");
    command.stdout(File::create(&said).unwrap());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    until(PATIENCE, "it asks", || {
        fs::read_to_string(&said).unwrap().contains("Press Enter")
    });
    thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none());
    assert_eq!(
        bundle_state(folder.path(), "out.trace"),
        BundleState::Absent
    );
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    fs::remove_dir_all(folder.path().join("out.trace")).unwrap();
    assert_eq!(
        code(&output(xctrace(folder.path(), &settings, &arguments))),
        0
    );
}

/// Waits until a bundle does not grow for a second, and returns its size.
fn settled(bundle: &Path) -> u64 {
    let mut last = size(bundle);
    loop {
        thread::sleep(Duration::from_millis(1_000));
        let now = size(bundle);
        if now == last {
            return now;
        }
        last = now;
    }
}

/// A fake that hangs ignores the time limit and SIGINT, and leaves no complete bundle.
#[test]
fn a_hang_ends_only_with_sigkill() {
    for (name, last_line, left) in [
        ("hangs-before", "", BundleState::Absent),
        ("saving-hangs", SAVING, BundleState::Stub),
    ] {
        let folder = folder();
        let said = folder.path().join("said");
        let setting = format!("MISBEHAVE={name}");
        let arguments = recording(&["--time-limit", "10ms"], &["/bin/sleep", "60"]);
        let mut command = xctrace(folder.path(), &[&setting], &arguments);
        let mut child = command
            .stdout(File::create(&said).unwrap())
            .spawn()
            .unwrap();
        let bundle = folder.path().join("out.trace");
        until(PATIENCE, "it says no more", || {
            fs::read_to_string(&said).unwrap().ends_with(last_line)
        });
        let before = settled(&bundle);
        signal(child.id(), "INT");
        thread::sleep(Duration::from_millis(200));
        assert!(child.try_wait().unwrap().is_none(), "{name}");
        assert_eq!(size(&bundle), before, "{name}");
        assert!(
            fs::read_to_string(&said).unwrap().ends_with(last_line),
            "{name}"
        );
        signal(child.id(), "KILL");
        child.wait().unwrap();
        assert_eq!(bundle_state(folder.path(), "out.trace"), left, "{name}");
    }
}

/// The bundle grows while it is saved.
#[test]
fn saving_grows_lets_the_bundle_grow() {
    let folder = folder();
    let bundle = folder.path().join("out.trace");
    let settings = ["MISBEHAVE=saving-grows", "SLOW_MS=6"];
    let arguments = recording(&[], &["/bin/sleep", "0"]);
    let mut child = xctrace(folder.path(), &settings, &arguments)
        .spawn()
        .unwrap();
    let mut sizes = vec![0];
    until(PATIENCE, "it is saved", || {
        let now = size(&bundle);
        sizes.extend(Some(now).filter(|now| sizes.last() != Some(now)));
        child.try_wait().unwrap().is_some()
    });
    assert!(sizes.len() > 10, "{sizes:?}");
    assert_eq!(
        bundle_state(folder.path(), "out.trace"),
        BundleState::Complete
    );
}

/// Each call of an export has its expected exit code and file.
#[test]
fn misbehaving_exports_end_as_expected() {
    const TOC: &[&str] = &["--toc"];
    const TABLE: &[&str] = &[
        "--xpath",
        r#"/trace-toc/run[@number="1"]/data/table[@schema="metal-gpu-intervals"]"#,
    ];
    let cases: [(&str, &[&str], &[i32]); 10] = [
        ("export-10", TOC, &[10, 10, 10]),
        ("export-10", TABLE, &[10, 10, 10]),
        ("export-43", TABLE, &[43, 43]),
        ("export-flaky", TABLE, &[10, 10, 0, 0]),
        ("toc-fails", TOC, &[10, 10]),
        ("toc-fails", TABLE, &[0, 0]),
        ("export-crashes", TABLE, &[-11, 0, -11]),
        ("export-trap", TOC, &[0]),
        ("export-trap", TABLE, &[-5, -5]),
        ("export-133", TABLE, &[133]),
    ];
    for (name, options, codes) in cases {
        let folder = folder();
        let written = crate::metalens(folder.path(), &["synth", "small.toml", "-o", "x.trace"]);
        assert!(written.status.success());
        let arguments = [
            &["export", "--input", "x.trace", "--output", "t.xml"],
            options,
        ]
        .concat();
        for expected in codes {
            let setting = format!("MISBEHAVE={name}");
            let done = output(xctrace(folder.path(), &[&setting], &arguments));
            assert_eq!(code(&done), *expected, "{name}: {}", stderr(&done));
            check_left(folder.path(), *expected);
        }
    }
}

/// Checks the exported file: complete after success, cut inside a row after a crash, else absent.
fn check_left(folder: &Path, code: i32) {
    let text = fs::read_to_string(folder.join("t.xml"));
    let _ = fs::remove_file(folder.join("t.xml"));
    match code {
        0 => assert!(text.unwrap().ends_with(">\n")),
        -5 | -11 | 133 => {
            let text = text.unwrap();
            let (starts, ends) = (
                text.matches("<row>").count(),
                text.matches("</row>").count(),
            );
            assert_eq!(starts, ends + 1, "{text}");
            assert!(ends > 0);
        }
        _ => assert!(text.is_err()),
    }
}
