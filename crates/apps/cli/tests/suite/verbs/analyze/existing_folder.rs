//! Tests how `analyze -o` refuses and replaces folders, and what failures leave there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use super::folder::{check_manifest, files_of, json, write_report};
use crate::{metalens, stderr, transcript, with_scenario};

/// The error is about the existing file, although the input does not exist.
#[test]
fn existing_files_are_refused_before_the_input_is_read() {
    let folder = with_scenario("fused");
    write_report(folder.path(), &["fused", "-o", "whole"]);
    let all = files_of(&folder.path().join("whole"));
    assert_eq!(all.len(), 12);
    for path in all.keys() {
        let out = folder.path().join("out");
        let file = out.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "mine").unwrap();
        let refused = metalens(folder.path(), &["analyze", "no-such-input", "-o", "out"]);
        assert_eq!(refused.status.code(), Some(1), "{path}");
        let said = format!("error: out/{path} exists; --force replaces it\n");
        assert_eq!(stderr(&refused), said);
        assert_eq!(fs::read(&file).unwrap(), b"mine");
        fs::remove_dir_all(&out).unwrap();
    }

    // A failed reading leaves no folder, and with --force the old report.
    let failed = metalens(folder.path(), &["analyze", "no-such-input", "-o", "out"]);
    assert!(!failed.status.success() && !folder.path().join("out").exists());
    let arguments = ["analyze", "no-such-input", "-o", "whole", "--force"];
    assert!(!metalens(folder.path(), &arguments).status.success());
    assert_eq!(files_of(&folder.path().join("whole")), all);
}

#[test]
fn force_replaces_a_report_and_keeps_other_files() {
    let folder = with_scenario("fused");
    let eager = with_scenario("eager");
    let eager = eager.path().join("eager");
    let eager = eager.to_str().unwrap();
    write_report(folder.path(), &["fused", "-o", "out"]);
    fs::write(folder.path().join("out/notes.txt"), "mine").unwrap();
    let arguments = ["-o", "out", "--force"];
    write_report(folder.path(), &[&[eager], &arguments[..]].concat());
    let mut files = files_of(&folder.path().join("out"));
    assert_eq!(files.remove("notes.txt").unwrap(), b"mine");
    check_manifest(&files);
    assert_eq!(json(&files["report.json"])["source"]["path"], eager);
}

/// The error is about the folder, although the input does not exist.
#[test]
fn files_in_place_of_folders_are_refused_by_name() {
    let folder = metalens_testing::scratch();
    fs::write(folder.path().join("file"), "mine").unwrap();
    fs::create_dir(folder.path().join("half")).unwrap();
    fs::write(folder.path().join("half/charts"), "mine").unwrap();
    let cases = [
        ("file", "cannot write into file: file is not a folder"),
        (
            "file/out",
            "cannot write into file/out: file is not a folder",
        ),
        (
            "half",
            "cannot write into half/charts: half/charts is not a folder",
        ),
    ];
    for (place, said) in cases {
        let output = metalens(folder.path(), &["analyze", "no-such-input", "-o", place]);
        assert_eq!(output.status.code(), Some(1), "{place}");
        assert_eq!(stderr(&output), format!("error: {said}\n"));
    }
}

#[cfg(unix)]
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn a_read_only_folder_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = with_scenario("fused");
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(out.join("try"), "").is_ok() {
        eprintln!("skipped: this user may write anywhere");
        return;
    }
    let output = metalens(folder.path(), &["analyze", "fused", "-o", "out"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("cannot create a file in out"),
        "{}",
        stderr(&output)
    );
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
    fs::set_permissions(&out, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The old manifest is gone and there is no new one, so the folder does not look complete.
#[test]
fn a_failure_while_writing_leaves_no_manifest() {
    let folder = with_scenario("fused");
    write_report(folder.path(), &["fused", "-o", "out"]);
    let chart = folder.path().join("out/charts/idle.png");
    fs::remove_file(&chart).unwrap();
    fs::create_dir(&chart).unwrap();
    fs::write(chart.join("inside"), "mine").unwrap();
    let output = metalens(folder.path(), &["analyze", "fused", "-o", "out", "--force"]);
    assert_snapshot!(transcript(&output));
    assert!(!folder.path().join("out/manifest.json").exists());
    let hidden = files_of(&folder.path().join("out"));
    assert!(!hidden.keys().any(|path| path.contains(".metalens-")));
}

/// Each file is complete or absent. If there is a manifest, all files that it lists are there.
#[test]
fn a_killed_run_leaves_complete_files_and_a_true_manifest() {
    let folder = with_scenario("eager");
    write_report(folder.path(), &["eager", "-o", "whole"]);
    let whole = files_of(&folder.path().join("whole"));
    let program = assert_cmd::cargo::cargo_bin("metalens");
    let mut broken_off = 0;
    for enough in [0, 1, 2, 4, 7, 10, 13] {
        let name = format!("out-{enough}");
        let out = folder.path().join(&name);
        let mut child = Command::new(&program)
            .args(["analyze", "-q", "eager", "-o", &name])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let count = || if out.exists() { names_in(&out) } else { 0 };
        while count() < enough && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        broken_off += usize::from(!child.wait().unwrap().success());
        let found = if out.exists() {
            files_of(&out)
        } else {
            BTreeMap::new()
        };
        let named = found.keys().filter(|path| !path.contains(".metalens-"));
        for path in named {
            assert!(found[path] == whole[path], "{path} at {enough}");
        }
        if found.contains_key("manifest.json") {
            assert_eq!(found.len(), whole.len(), "at {enough}");
        }
    }
    assert!(broken_off > 0);
}

/// Counts the files of a folder and of its charts, which may change meanwhile.
fn names_in(folder: &Path) -> usize {
    let entries = |folder: &Path| fs::read_dir(folder).map_or(0, Iterator::count);
    let charts = entries(&folder.join("charts"));
    (entries(folder) + charts).saturating_sub(1)
}

/// A link inside the output would redirect files to a folder that the user did not name. The named
/// folder itself may be a link.
#[cfg(unix)]
#[test]
fn links_inside_the_output_are_refused() {
    use std::os::unix::fs::symlink;
    let folder = with_scenario("fused");
    let at = |name: &str| folder.path().join(name);
    for name in ["elsewhere", "o", "c", "ba/fused", "ds", "dt/runs", "real"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    for (to, link) in [
        ("../elsewhere", "o/charts"),
        ("../elsewhere", "c/charts"),
        ("../../elsewhere", "ba/fused/charts"),
        ("../elsewhere", "ds/runs"),
        ("real", "named"),
    ] {
        symlink(to, at(link)).unwrap();
    }

    // Finds the folder of the device that a dataset gets.
    let arguments = ["analyze", "fused", "-q", "--parquet", "probe"];
    assert!(metalens(folder.path(), &arguments).status.success());
    let device = fs::read_dir(at("probe/runs")).unwrap().next();
    let device = device.unwrap().unwrap().file_name().into_string().unwrap();
    let device = format!("dt/runs/{device}");
    symlink("../../elsewhere", at(&device)).unwrap();
    let check = |arguments: &[&str], link: &str| {
        for force in [&[][..], &["--force"]] {
            let output = metalens(folder.path(), &[arguments, force].concat());
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
            let expected = format!("{link} is a link, and metalens does not write through links");
            assert!(said.contains(&expected), "{arguments:?}: {said}");
            let found = fs::read_dir(at("elsewhere")).unwrap().count();
            assert_eq!(found, 0, "{arguments:?}");
        }
    };

    check(&["analyze", "no-such-input", "-o", "o"], "o/charts");
    check(&["analyze", "no-such-input", "--parquet", "ds"], "ds/runs");
    check(&["analyze", "fused", "--parquet", "dt"], &device);
    check(&["compare", "fused", "fused", "-o", "c"], "c/charts");
    check(&["batch", "fused", "-o", "ba"], "ba/fused/charts");
    check(
        &["batch", "fused", "-o", "bc", "--parquet", "ds"],
        "ds/runs",
    );
    fs::remove_file(at("ba/fused/charts")).unwrap();
    fs::remove_dir(at("ba/fused")).unwrap();
    symlink("../elsewhere", at("ba/fused")).unwrap();
    check(&["batch", "fused", "-o", "ba"], "ba/fused");

    for place in ["named", "named/"] {
        let arguments = ["analyze", "fused", "-q", "-o", place, "--force"];
        let output = metalens(folder.path(), &arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        check_manifest(&files_of(&at("real")));
    }
}
