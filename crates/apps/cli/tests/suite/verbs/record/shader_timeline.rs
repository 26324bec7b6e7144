//! Tests `record --shader-timeline`: the template that reaches `xctrace`, and the notes.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::{command, left_in_tmp, metalens, output_with_tmp, stderr, stdout};

/// Writes an `xctrace` in an Xcode that keeps the template it is given, and fails.
fn xcode(folder: &Path) -> PathBuf {
    let tool = folder.join("Xcode.app/Contents/Developer/usr/bin/xctrace");
    fs::create_dir_all(tool.parent().unwrap()).unwrap();
    let script = "#!/bin/sh\n[ $1 = version ] && echo 'xctrace version 26.0 (17C529)' && exit\n\
                  while [ $# -gt 0 ]; do [ \"$1\" = --template ] && cp \"$2\" \"$SEEN\" && echo \"$2\"; shift; done\n\
                  exit 1\n";
    metalens_testing::write_program(&tool, script);
    tool
}

/// Writes a template in the format of Apple's, with readable keys and values in place of numbers.
fn template(folder: &Path, key: &str) {
    let place = "Xcode.app/Contents/Applications/Instruments.app/Contents/Packages/GPU.instrdst/Contents/Templates";
    let place = folder.join(place);
    fs::create_dir_all(&place).unwrap();
    let text = format!(
        "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>$objects</key><array><dict>\
         <key>NS.keys</key><array><string>{key}</string></array>\
         <key>NS.objects</key><array><false/></array>\
         </dict></array></dict></plist>"
    );
    fs::write(place.join("Metal System Trace.tracetemplate"), text).unwrap();
}

fn record(folder: &Path, more: &[&str]) -> Output {
    let tool = xcode(folder);
    let mut arguments = vec!["record", "--shader-timeline", "-o", "x.trace"];
    arguments.extend(more);
    arguments.extend(["--", "/usr/bin/true"]);
    let mut command = command(folder, &arguments);
    command.env("METALENS_XCTRACE", tool);
    command.env("SEEN", folder.join("seen.tracetemplate"));
    output_with_tmp(command, folder)
}

#[test]
fn a_changed_template_reaches_xctrace_and_is_removed() {
    let folder = metalens_testing::scratch();
    let folder = folder.path();
    template(folder, "shaderprofiler");
    let shown = stdout(&record(folder, &["--dry-run"]));
    assert!(
        shown.contains("metalens-shader-timeline-") && !shown.contains("'Metal System Trace'"),
        "{shown}"
    );
    let output = record(folder, &[]);

    // This xctrace records nothing, but it got a changed template.
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let seen = fs::read(folder.join("seen.tracetemplate")).unwrap();
    assert!(seen.starts_with(b"bplist00"));
    assert_eq!(left_in_tmp(folder), 0);
}

#[test]
fn a_missing_template_or_switch_is_refused() {
    let check = |prepare: &dyn Fn(&Path), expected: &str| {
        let folder = metalens_testing::scratch();
        prepare(folder.path());
        let output = record(folder.path(), &[]);
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(
            said.contains("--shader-timeline needs a changed copy"),
            "{said}"
        );
        assert!(said.contains(expected), "{said}");
        assert_eq!(left_in_tmp(folder.path()), 0);
    };

    check(&|_| {}, "is not part of an Xcode");
    check(
        &|folder| template(folder, "other"),
        "it has no switch for the Shader Timeline",
    );
}

/// A recording with a changed template that cannot be exported names that cause, and is read natively.
#[test]
fn an_export_that_fails_names_the_changed_template() {
    let folder = metalens_testing::scratch();
    let folder = folder.path();
    template(folder, "shaderprofiler");
    let tool = xcode(folder);
    let own = env!("CARGO_BIN_EXE_metalens");
    metalens_testing::write_program(
        &tool,
        &format!("#!/bin/sh\nexec {own} fake-xctrace -- \"$@\"\n"),
    );
    let run = |arguments: &[&str]| {
        let mut command = command(folder, arguments);
        command.env("METALENS_XCTRACE", &tool);
        command.env("METALENS_FAKE_XCTRACE_MISBEHAVE", "refuses-changed");
        command.output().unwrap()
    };
    let recorded = run(&[
        "record",
        "-o",
        "x.trace",
        "--shader-timeline",
        "--",
        "/usr/bin/true",
    ]);
    assert!(recorded.status.success(), "{}", stderr(&recorded));
    let exported = run(&["export", "x.trace"]);
    assert_eq!(exported.status.code(), Some(4), "{}", stderr(&exported));
    let expected = "recorded with a changed copy of Apple's template (--shader-timeline)";
    assert!(
        stderr(&exported).contains(expected),
        "{}",
        stderr(&exported)
    );
    assert!(run(&["analyze", "x.trace"]).status.success());

    let recorded = run(&["record", "-o", "y.trace", "--", "/usr/bin/true"]);
    assert!(recorded.status.success(), "{}", stderr(&recorded));
    let exported = run(&["export", "y.trace"]);
    assert!(exported.status.success(), "{}", stderr(&exported));
}

/// The screen says whether the changed template took effect. Either way the recording is complete.
#[test]
fn an_xctrace_that_ignores_the_changed_template_is_noticed() {
    let check = |misbehavior: &str, expected: &str| {
        let folder = metalens_testing::scratch();
        let folder = folder.path();
        fs::write(
            folder.join("scenario.toml"),
            SCENARIO.replace("TIMELINE", "false"),
        )
        .unwrap();
        template(folder, "shaderprofiler");
        let tool = xcode(folder);
        let own = env!("CARGO_BIN_EXE_metalens");
        metalens_testing::write_program(
            &tool,
            &format!("#!/bin/sh\nexec {own} fake-xctrace -- \"$@\"\n"),
        );

        let rest = ["-o", "x.trace", "--", "/usr/bin/true"];
        let mut command = command(
            folder,
            &[&["record", "--shader-timeline"], &rest[..]].concat(),
        );
        command.env("METALENS_XCTRACE", &tool);
        command.env("METALENS_FAKE_XCTRACE_MISBEHAVE", misbehavior);
        command.env(
            "METALENS_FAKE_XCTRACE_SCENARIO",
            folder.join("scenario.toml"),
        );
        let output = command.output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let is_about_it = |line: &&str| line.starts_with(expected);
        assert!(said.lines().any(|line| is_about_it(&line)), "{said}");
        assert!(folder.join("x.trace/form.template").is_file());
        assert!(folder.join("x.recording.json").is_file());
    };

    let recorded = "shaders: the Shader Timeline was recorded: 3 samples";
    check("", recorded);
    // With this option, metalens names no file for the output of the program.
    check("no-shaders-to-file", recorded);
    check(
        "shader-timeline-refused",
        "warning: the Shader Timeline stayed off",
    );
}

/// Records with an `xctrace` that saves a bundle of this scenario.
fn records(folder: &Path, scenario: &str) -> Output {
    fs::write(folder.join("scenario.toml"), scenario).unwrap();
    let made = metalens(folder, &["synth", "scenario.toml", "-o", "made.trace"]);
    assert!(made.status.success(), "{}", stderr(&made));
    template(folder, "shaderprofiler");
    let tool = xcode(folder);
    let script = "#!/bin/sh\n[ $1 = version ] && echo 'xctrace version 26.0 (17C529)' && exit\n\
                  while [ $# -gt 0 ]; do [ $1 = --output ] && cp -r \"$SEEN\" \"$2\" && saved=$2; shift; done\n\
                  echo 'Ctrl-C to stop the recording'; echo 'Target app exited, ending recording...'\n\
                  echo 'Recording completed. Saving output file...'; echo \"Output file saved as: $saved\"\n";
    fs::write(&tool, script).unwrap();
    let rest = ["-o", "x.trace", "--", "/usr/bin/true"];
    let arguments = [&["record", "--shader-timeline"], &rest[..]].concat();
    let mut command = command(folder, &arguments);
    command.env("METALENS_XCTRACE", tool);
    command.env("SEEN", folder.join("made.trace"));
    command.output().unwrap()
}

const SCENARIO: &str = r#"
[recording]
shader-timeline = TIMELINE

[[process]]
name = "bench"
pid = 4321
role = "target"
shaders = ["sin_kernel"]

[[process.stream]]
count = 3
duration = "10us"
encode = "5us"
launch = "20us"
completion = "15us"
"#;

/// The result is also stored in the file beside the bundle.
#[test]
fn record_says_whether_the_shader_timeline_was_recorded() {
    let check = |timeline: &str, said: &str, expected: &str| {
        let folder = metalens_testing::scratch();
        let output = records(folder.path(), &SCENARIO.replace("TIMELINE", timeline));
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
        let file = fs::read_to_string(folder.path().join("x.recording.json")).unwrap();
        let provenance: serde_json::Value = serde_json::from_str(&file).unwrap();
        assert_eq!(provenance["shader_timeline"]["said"], said, "{file}");
        let has_samples = provenance["shader_timeline"]["samples"].as_u64() > Some(0);
        assert_eq!(has_samples, timeline == "true", "{file}");
        let schema = metalens(folder.path(), &["schema", "recording"]);
        let schema = serde_json::from_str(&stdout(&schema)).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&provenance), "{file}");
    };

    check(
        "true",
        "Enabled",
        "the Shader Timeline was recorded: 3 samples",
    );
    check("false", "Disabled", "the Shader Timeline stayed off");
}
