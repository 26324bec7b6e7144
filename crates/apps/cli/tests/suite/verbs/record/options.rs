//! Tests options of `metalens record`: the arguments that reach `xctrace`, and their effect.

use std::fs;
use std::process::{Child, Command};

use super::{Bench, recording, stderr};

#[test]
fn options_become_arguments_of_xctrace() {
    let check = |options: &[&str], expected: &str| {
        let bench = Bench::new();
        bench.fine(&[], &recording(options, "exit 0"));
        let [asked] = bench.asked().try_into().unwrap();
        let start = "record|--template|";
        let asked = asked.strip_prefix(start).unwrap();
        let (ours, _) = asked.split_once("|--target-stdout|").unwrap();
        let bundle = "<top>/here/.metalens-<random>.recording/x-<random>.trace";
        assert_eq!(ours.replace(bundle, "BUNDLE"), expected, "{options:?}");
    };

    let metal = "Metal System Trace|";
    let check_metal = |options: &[&str], before: &str, after: &str| {
        check(
            options,
            &format!(
                "{metal}{before}--instrument|Points of Interest|--output|BUNDLE{after}|--no-prompt"
            ),
        );
    };

    check_metal(&[], "", "");
    // Apple's template samples the CPU itself since Xcode 26.
    check_metal(&["--instrument", "GPU", "--cpu"], "--instrument|GPU|", "");
    check(
        &["--template", "System Trace", "--cpu"],
        "System Trace|--instrument|Time Profiler|--output|BUNDLE|--no-prompt",
    );
    check_metal(
        &["--time-limit", "90s", "--window", "2.5s"],
        "",
        "|--time-limit|90s|--window|2500ms",
    );
    check(
        &["--no-signposts"],
        &format!("{metal}--output|BUNDLE|--no-prompt"),
    );
    check_metal(&["--instrument", "GPU"], "--instrument|GPU|", "");
    check(
        &["--instrument", "Points of Interest"],
        &format!("{metal}--instrument|Points of Interest|--output|BUNDLE|--no-prompt"),
    );
    check(
        &["--template", "System Trace"],
        "System Trace|--output|BUNDLE|--no-prompt",
    );
}

/// Older templates get the instrument, and the recording has the samples.
#[test]
fn cpu_samples_are_added_before_xcode_26() {
    let bench = Bench::new();
    bench.fine(&["VERSION=16.0 (16F6)"], &recording(&["--cpu"], "exit 0"));
    let kept = bench.json("x.recording.json");
    assert_eq!(kept["instruments"][0], "Time Profiler");
    let stacks = bench.fine(&[], &["stacks", "x.trace"]);
    assert!(!stacks.stdout.is_empty(), "there are CPU samples");
}

#[test]
fn options_have_an_effect_on_the_recording() {
    let bench = Bench::new();
    bench.fine(&[], &recording(&["--window", "2s", "--cpu"], "exit 0"));
    let report = bench.report("x.trace");
    assert_eq!(report["run"]["recording_mode"], "Windowed (2 seconds)");
    let kept = bench.json("x.recording.json");
    assert_eq!(kept["window_ns"], 2_000_000_000_u64);
    assert_eq!(
        kept["instruments"],
        serde_json::json!(["Points of Interest"])
    );
    assert_eq!(kept["ended_by"], "target-exit");
    let stacks = bench.fine(&[], &["stacks", "x.trace"]);
    assert!(!stacks.stdout.is_empty(), "there are CPU samples");
}

#[test]
fn options_that_xcode_or_metalens_does_not_know_are_refused() {
    let check = |version: &str, options: &[&str], code: i32, expected: &str| {
        let bench = Bench::new();
        let version = format!("VERSION={version}");
        let output = bench.run(&[&version], &recording(options, "exit 0"));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "{said}");
        assert_eq!(bench.disk(), "", "{options:?}");
    };

    let too_old = "error: --instrument needs Xcode 14.0 or later; this is xctrace 13.0 (13E113)\n";
    check("13.0 (13E113)", &["--cpu"], 3, too_old);
    let now = "26.0 (17C529)";
    check(
        now,
        &["--instrument", "Clairvoyance"],
        1,
        "Instrument with name 'Clairvoyance' cannot be found",
    );
    check(
        now,
        &["--template", "No Such"],
        1,
        "Unable to find template",
    );
    check(
        now,
        &["--time-limit", "0s"],
        2,
        "--time-limit must be greater than zero",
    );
    check(now, &["--window", "soon"], 2, "invalid value 'soon'");
    check(now, &["--env", "=x"], 2, "a variable is NAME=VALUE");
    check(now, &["--attach", "1"], 2, "cannot be used with");
}

#[test]
fn dry_run_prints_a_command_that_a_shell_can_run() {
    let bench = Bench::new();
    let name = "it's $HOME\nnow.trace";
    let script = "echo \"$A\"; exit 4";
    let arguments = [
        "record",
        "-o",
        name,
        "--env",
        "A=x 'y' $z",
        "--time-limit",
        "600s",
        "--dry-run",
        "--",
        "./bench",
        "-c",
        script,
    ];
    let shown = bench.fine(&[], &arguments);
    assert_eq!(stderr(&shown), "");
    assert_eq!(bench.disk(), "");
    assert!(!bench.path("log").exists() || bench.asked().is_empty());

    // Runs the line as a user who copies it.
    let line = String::from_utf8(shown.stdout).unwrap();
    let mut shell = bench.command::<&str>(&[], &[]);
    let environment: Vec<_> = shell
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.unwrap().to_owned()))
        .collect();
    shell = Command::new("/bin/sh");
    let output = shell
        .args(["-c", &line])
        .current_dir(bench.here())
        .env_clear()
        .envs(environment)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.ends_with("Output file saved as: it's $HOME\nnow.trace\n"),
        "{said}{line}"
    );
    assert_eq!(bench.report(name)["run"]["end_reason"], "Target app exited");
}

/// Starts a program that does nothing, and has this name.
fn start_named(bench: &Bench, name: &str) -> Child {
    let program = bench.path(name);
    if !program.exists() {
        metalens_testing::copy_program("/bin/sleep", &program);
    }
    Command::new(program).arg("600").spawn().unwrap()
}

/// Versions of `xctrace` disagree about names, so it gets the id of the process.
#[test]
fn a_process_is_attached_to_by_its_id() {
    let bench = Bench::new();
    let name = format!("me-{}", std::process::id());
    let options = [
        "record",
        "-o",
        "x.trace",
        "--time-limit",
        "100ms",
        "--attach",
    ];
    let arguments = [&options[..], &[name.as_str()]].concat();
    let mut first = start_named(&bench, &name);
    bench.run(&[], &arguments);
    let asked = bench.asked();
    let wanted = format!("--attach|{}|", first.id());
    assert!(asked[0].contains(&wanted), "{asked:?}");

    let mut second = start_named(&bench, &name);
    let arguments = [
        &["record", "-o", "y.trace", "--attach"],
        &[name.as_str()][..],
    ]
    .concat();
    let output = bench.run(&[], &arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("several processes are named"), "{said}");
    for child in [&mut first, &mut second] {
        assert!(said.contains(&child.id().to_string()), "{said}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// The log has each line with its stream and end, and grows with each recording.
#[test]
fn a_log_is_kept_for_reports_of_faults() {
    let bench = Bench::new();
    let options = ["--keep-log", "log.txt", "--force"];
    for runs in 1..=2 {
        bench.fine(&[], &recording(&options, "echo a line >&2"));
        let log = fs::read_to_string(bench.here().join("log.txt")).unwrap();
        let count = |text: &str| log.lines().filter(|line| line.ends_with(text)).count();
        for text in [
            r"out \n Ctrl-C to stop the recording",
            r"err \n a line",
            "exit code 0",
        ] {
            assert_eq!(count(text), runs, "{text}: {log}");
        }
    }
}

/// The template of a bundle has all its settings, and is passed on as it is.
#[test]
fn the_template_of_a_bundle_is_used_again() {
    let bench = Bench::of("case \"$3\" in *.tracetemplate) cp \"$3\" \"$top/seen\";; esac");
    bench.fine(&[], &recording(&[], "exit 0"));
    let again = [
        "record",
        "-o",
        "y.trace",
        "--template",
        "x.trace",
        "./bench",
        "-c",
        "exit 0",
    ];
    bench.fine(&[], &again);
    let template = fs::read(bench.here().join("x.trace/form.template")).unwrap();
    assert_eq!(fs::read(bench.path("seen")).unwrap(), template);

    let output = bench.run(
        &[],
        &["record", "--template", "no.trace", "--dry-run", "./bench"],
    );
    let said = stderr(&output);
    assert!(
        said.contains("cannot read the template no.trace/form.template"),
        "{said}"
    );
}
