//! Tests `metalens chart`: pictures as files.

use std::fs;
use std::path::Path;

use crate::{metalens, stderr, stdout};

fn small_export() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/small-export");
    root.display().to_string()
}

#[test]
fn each_chart_can_be_a_png_or_an_svg() {
    let folder = metalens_testing::scratch();
    let input = small_export();
    for chart in ["timeline", "idle", "gaps", "kernels"] {
        for (ending, start) in [("png", &b"\x89PNG\r\n"[..]), ("svg", &b"<svg "[..])] {
            let file = format!("{chart}.{ending}");
            let output = metalens(
                folder.path(),
                &["chart", "-q", &input, "-o", &file, "--chart", chart],
            );
            assert!(output.status.success(), "{}", stderr(&output));
            assert_eq!((stdout(&output), stderr(&output)), Default::default());
            let picture = fs::read(folder.path().join(&file)).unwrap();
            assert!(picture.starts_with(start), "{file}");
        }
    }
}

/// A picture is as sharp as those of a folder: two pixels for each of its width.
#[test]
fn pictures_are_as_sharp_as_those_of_a_folder() {
    let folder = metalens_testing::scratch();
    let input = small_export();
    let run = |arguments: &[&str]| {
        let output = metalens(folder.path(), arguments);
        assert!(output.status.success(), "{}", stderr(&output));
    };
    run(&["chart", "-q", &input, "-o", "one.png", "--chart", "gaps"]);
    run(&["analyze", "-q", &input, "-o", "out"]);
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let picture = read("one.png");
    assert!(picture == read("out/charts/gaps.png"));

    // The first chunk of a PNG begins with its width.
    assert_eq!(picture[16..20], 1_660_u32.to_be_bytes());
}

#[test]
fn invalid_outputs_are_refused() {
    let folder = metalens_testing::scratch();
    let there = folder.path().join("there.png");
    fs::write(&there, "mine").unwrap();
    let input = small_export();
    let cases = [
        ("picture.jpeg", "does not end in .png or .svg"),
        ("there.png", "--force replaces it"),
    ];
    for (name, said) in cases {
        let output = metalens(folder.path(), &["chart", "-q", &input, "-o", name]);
        assert!(!output.status.success(), "{name}");
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    assert_eq!(fs::read(&there).unwrap(), b"mine");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Returns the exit code, the message, and the number of files in the folder afterwards.
fn refused(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, usize) {
    let output = metalens(folder, &[&["chart", "-q"], arguments].concat());
    assert_eq!(stdout(&output), "");
    let files = fs::read_dir(folder).unwrap().count();
    (output.status.code(), stderr(&output), files)
}

#[test]
fn two_recordings_can_be_compared_in_one_chart() {
    let folder = metalens_testing::scratch();
    let input = small_export();
    let draw = |arguments: &[&str]| {
        let all = [&["chart", "-q", &input, "--base", &input], arguments].concat();
        let output = metalens(folder.path(), &all);
        assert!(output.status.success(), "{}", stderr(&output));
        output.stdout
    };

    draw(&["-o", "compare.png"]);
    draw(&["-o", "same.png", "--chart", "compare", "--format", "png"]);
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("compare.png").starts_with(b"\x89PNG\r\n"));
    assert_eq!(read("compare.png"), read("same.png"));
    assert_eq!(read("compare.png"), draw(&["-o", "-"]));
    let svg = String::from_utf8(draw(&["-o", "-", "--format", "svg"])).unwrap();
    assert!(svg.contains("bench: No difference that counts: 8.387 ms → 8.387 ms"));

    // --to limits both recordings.
    let part = draw(&["-o", "-", "--format", "svg", "--to", "703ms"]);
    let part = String::from_utf8(part).unwrap();
    assert!(part.contains("No difference that counts: "));
    assert!(!part.contains("8.387 ms"));
}

#[test]
fn invalid_comparisons_are_refused_and_write_nothing() {
    let folder = metalens_testing::scratch();
    let input = small_export();
    fs::write(folder.path().join("there.png"), "mine").unwrap();
    let out = ["-o", "out.png"];
    let cases: [(&[&str], i32, &str); 7] = [
        (&[&input, "--chart", "compare"], 2, "--base <BASE>"),
        (
            &[&input, "--base", &input, "--chart", "gaps"],
            2,
            "--base is only for --chart compare",
        ),
        (&["-", "--base", "-"], 2, "give a file for the other"),
        (
            &[&input, "--base", &input, "--format", "svg"],
            2,
            "contradicts --format",
        ),
        (&[&input, "--base", "nowhere"], 1, "--base"),
        (&["nowhere", "--base", &input], 1, "nowhere"),
        (
            &[&input, "--base", &input, "--process", "nobody"],
            4,
            "nobody",
        ),
    ];
    for (arguments, code, said) in cases {
        let (found, message, files) = refused(folder.path(), &[arguments, &out].concat());
        assert_eq!(found, Some(code), "{message}");
        assert!(message.contains(said), "{message}");
        assert_eq!(files, 1, "{message}");
    }
    let there = [&input, "--base", &input, "-o", "there.png"];
    let (code, message, _) = refused(folder.path(), &there);
    assert!(code == Some(1) && message.contains("--force"), "{message}");
    assert_eq!(fs::read(folder.path().join("there.png")).unwrap(), b"mine");
}
