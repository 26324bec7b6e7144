//! Every way to misbehave, once.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use metalens_simulator::fake_xctrace::Misbehavior;

use super::{Disk, PATIENCE, RECORD, code, disk, folder, in_order, output, recording, size};
use super::{stderr, stdout, xctrace};
use crate::{signal, until};

/// What a misbehaving recording comes to.
struct Case {
    name: &'static str,
    code: i32,
    /// On stdout, in this order.
    says: &'static [&'static str],
    /// On stderr, in this order.
    complains: &'static [&'static str],
    left: Disk,
}

const ISSUES: &str = "Run issues were detected (trace is still ready to be viewed):\n* [";
const FAILED: &str = "Recording failed with errors. Saving output file...\n";
const SAVED: &str = "Output file saved as: out.trace\n";
const SAVING: &str = "Recording completed. Saving output file...\n";

/// Of a recording of a command that ends well, with `--no-prompt`.
#[rustfmt::skip]
const RECORDINGS: [Case; 24] = [
    Case { name: "no-xcode", code: 1, says: &[], complains: &["xcode-select: error: tool 'xctrace' requires Xcode"], left: Disk::Nothing },
    Case { name: "xcrun-72", code: 72, says: &[], complains: &["unable to find utility \"xctrace\""], left: Disk::Nothing },
    Case { name: "silent", code: 0, says: &[], complains: &[], left: Disk::Nothing },
    Case { name: "attach-refused", code: 2, says: &["Starting", ISSUES, "Failed to attach to target process", FAILED], complains: &[], left: Disk::Stub },
    Case { name: "not-debuggable", code: 2, says: &[ISSUES, "Permission to debug sh was denied", "'get-task-allow'"], complains: &[], left: Disk::Stub },
    Case { name: "restricted", code: 2, says: &[ISSUES, "cannot be traced while SIP is enabled"], complains: &[], left: Disk::Stub },
    Case { name: "kperf-locked", code: 2, says: &[ISSUES, "could not lock kperf. Likely another session just started."], complains: &[], left: Disk::Stub },
    Case { name: "template-collision", code: 30, says: &[], complains: &["More than one template"], left: Disk::Nothing },
    Case { name: "output-exists", code: 1, says: &[], complains: &["Trace file already exists"], left: Disk::Nothing },
    Case { name: "no-metal-template", code: 1, says: &[], complains: &["Unable to find template with name"], left: Disk::Nothing },
    Case { name: "killed-recording", code: -9, says: &["Ctrl-C"], complains: &[], left: Disk::Stub },
    Case { name: "floods-stderr", code: 0, says: &["Ctrl-C", SAVED], complains: &["xxxx"], left: Disk::Whole },
    Case { name: "stderr-only", code: 0, says: &[], complains: &["Starting", "Ctrl-C", SAVING, SAVED], left: Disk::Whole },
    Case { name: "run-issues", code: 54, says: &["Target app exited", ISSUES, "The log archive is corrupt", FAILED, SAVED], complains: &[], left: Disk::Whole },
    Case { name: "counters-unsupported", code: 54, says: &[ISSUES, "Selected counter profile is not supported", FAILED, SAVED], complains: &[], left: Disk::Whole },
    Case { name: "malformed", code: 54, says: &[ISSUES, "Transferred trace file is malformed", FAILED, SAVED], complains: &[], left: Disk::NoTargetRows },
    Case { name: "no-target-rows", code: 0, says: &[SAVING, SAVED], complains: &[], left: Disk::NoTargetRows },
    Case { name: "exit-54", code: 54, says: &["Target app exited", SAVING, SAVED], complains: &[], left: Disk::Whole },
    Case { name: "exit-54-stub", code: 54, says: &[SAVING], complains: &[], left: Disk::Stub },
    Case { name: "saves-stub", code: 0, says: &[SAVING, SAVED], complains: &[], left: Disk::Stub },
    Case { name: "saving-crashes", code: -11, says: &[SAVING], complains: &[], left: Disk::Stub },
    Case { name: "saving-139", code: 139, says: &[SAVING], complains: &[], left: Disk::Stub },
    Case { name: "disk-full", code: 1, says: &[SAVING], complains: &["No space left on device"], left: Disk::Stub },
    Case { name: "saving-grows", code: 0, says: &[SAVING, SAVED], complains: &[], left: Disk::Whole },
];

#[test]
fn of_recordings() {
    for case in RECORDINGS {
        let folder = folder();
        let settings = format!("MISBEHAVE={}", case.name);
        let arguments = recording(&[], &["/bin/sh", "-c", "exit 0"]);
        let done = output(xctrace(folder.path(), &[&settings], &arguments));
        let (said, complained) = (stdout(&done), stderr(&done));
        let shown = || format!("{}: {said}{:.2000}", case.name, complained);
        assert_eq!(code(&done), case.code, "{}", shown());
        assert!(in_order(&said, case.says), "{}", shown());
        assert!(in_order(&complained, case.complains), "{}", shown());
        assert_eq!(
            said.contains(SAVED),
            case.says.contains(&SAVED),
            "{}",
            shown()
        );
        assert!(case.says.is_empty() <= said.is_empty(), "{}", shown());
        assert!(
            case.complains.is_empty() <= complained.is_empty(),
            "{}",
            shown()
        );
        if case.name == "floods-stderr" {
            assert_eq!(complained.len(), 10_000_000);
        }
        assert_eq!(disk(folder.path(), "out.trace"), case.left, "{}", case.name);
    }
}

/// What the bundles of all these are tried with elsewhere.
const ELSEWHERE: [&str; 17] = [
    "asks-enter",
    "aborts-34ms",
    "hangs-before",
    "saving-hangs",
    "exit-19",
    "exit-21",
    "exit-57",
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
];

#[test]
fn every_one_is_tried() {
    let mut tried: Vec<&str> = RECORDINGS.iter().map(|case| case.name).collect();
    tried.extend(ELSEWHERE);
    tried.push("export-133");
    for one in Misbehavior::ALL {
        assert!(tried.contains(&one.name()), "{one} is not tried");
    }
    assert_eq!(tried.len(), Misbehavior::ALL.len());
}

/// Whose stub or lock is in the way once, and fine then.
#[test]
fn once_and_then_fine() {
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

/// A misbehavior, options, one more of them if not empty; exit code, what is said, what is left.
type Other<'a> = (&'a str, &'a [&'a str], &'a str, (i32, &'a str, Disk));

/// Those that need other arguments.
#[test]
fn of_other_recordings() {
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
    let options: &[&str] = &["--recording-options", "f", "--all-processes"];
    let cases: [Other; 6] = [
        (
            "exit-21",
            attach,
            &pid,
            (21, "Cannot find process for provided pid: ", Disk::Nothing),
        ),
        (
            "exit-19",
            attach,
            name,
            (19, "Cannot find process matching name: ", Disk::Nothing),
        ),
        (
            "no-configuration",
            attach,
            &pid,
            (54, "will have to guess", Disk::NoTargetRows),
        ),
        ("propagates-status", exit_4, "", (4, SAVED, Disk::Whole)),
        ("exit-57", options, "", (57, "missing", Disk::Nothing)),
        ("aborts-34ms", sleep, "", (54, SAVED, Disk::NoTargetRows)),
    ];
    for (misbehavior, options, last, (exit, text, left)) in cases {
        let mut arguments = [RECORD, options].concat();
        arguments.extend(Some(last).filter(|last| !last.is_empty()));
        let settings = [
            format!("MISBEHAVE={misbehavior}"),
            "VERSION=27.0 (18A1)".to_owned(),
        ];
        let settings = settings.each_ref().map(String::as_str);
        let done = output(xctrace(folder.path(), &settings, &arguments));
        let shown = format!("{}{}", stdout(&done), stderr(&done));
        assert_eq!(code(&done), exit, "{misbehavior}: {shown}");
        assert!(shown.contains(text), "{misbehavior}: {shown}");
        assert_eq!(disk(folder.path(), "out.trace"), left, "{misbehavior}");
        let _ = fs::remove_dir_all(folder.path().join("out.trace"));
    }
}

#[test]
fn saves_under_the_basename() {
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
    assert_eq!(disk(folder.path(), "out.trace"), Disk::Whole);
    assert_eq!(disk(folder.path(), "sub/out.trace"), Disk::Nothing);
}

/// It waits for Enter, unless it was told not to ask.
#[test]
fn asks_for_enter() {
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
    assert_eq!(disk(folder.path(), "out.trace"), Disk::Nothing);
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    fs::remove_dir_all(folder.path().join("out.trace")).unwrap();
    assert_eq!(
        code(&output(xctrace(folder.path(), &settings, &arguments))),
        0
    );
}

/// The size of a bundle that does not grow, however busy the machine is.
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

/// Neither the limit nor SIGINT ends a hang; what it leaves is no bundle.
#[test]
fn hangs() {
    for (name, last_line, left) in [
        ("hangs-before", "", Disk::Nothing),
        ("saving-hangs", SAVING, Disk::Stub),
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
        assert_eq!(disk(folder.path(), "out.trace"), left, "{name}");
    }
}

/// While it is saved, the bundle grows and cannot be read.
#[test]
fn grows_while_it_is_saved() {
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
    assert_eq!(disk(folder.path(), "out.trace"), Disk::Whole);
}

/// Exports that fail, with what is left of them.
#[test]
fn of_exports() {
    const TOC: &[&str] = &["--toc"];
    const TABLE: &[&str] = &["--xpath", r#"//table[@schema="metal-gpu-intervals"]"#];
    let cases: [(&str, &[&str], &[i32]); 9] = [
        ("export-10", TOC, &[10, 10, 10]),
        ("export-10", TABLE, &[10, 10, 10]),
        ("export-43", TABLE, &[43, 43]),
        ("export-flaky", TABLE, &[10, 10, 0, 0]),
        ("toc-fails", TOC, &[10, 10]),
        ("toc-fails", TABLE, &[0, 0]),
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

/// A whole document, whole rows and a part of one, or nothing.
fn check_left(folder: &Path, code: i32) {
    let text = fs::read_to_string(folder.join("t.xml"));
    let _ = fs::remove_file(folder.join("t.xml"));
    match code {
        0 => assert!(text.unwrap().ends_with(">\n")),
        -5 | 133 => {
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
