//! `metalens chart`: pictures as files.

use std::fs;
use std::path::Path;

use super::{metalens, stderr, stdout};

fn small_export() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/small-export");
    root.display().to_string()
}

#[test]
fn pictures() {
    let folder = tempfile::tempdir().unwrap();
    let input = small_export();
    for chart in ["timeline", "ledger", "gaps", "busy", "kernels"] {
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

#[test]
fn twice_the_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let input = small_export();
    let size = |name: &str, scale: &str| {
        let arguments = ["chart", "-q", &input, "-o", name, "--scale", scale];
        let sized = [&arguments[..], &["--size", "600x500", "--theme", "dark"]].concat();
        let output = metalens(folder.path(), &sized);
        assert!(output.status.success(), "{}", stderr(&output));
        // Width and height are the first words of a PNG's first chunk.
        let picture = fs::read(folder.path().join(name)).unwrap();
        let word = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
        (word(16), word(20))
    };
    assert_eq!(size("one.png", "1"), (600, 500));
    assert_eq!(size("two.png", "2"), (1_200, 1_000));
}

#[test]
fn what_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there.png");
    fs::write(&there, "mine").unwrap();
    let input = small_export();
    let cases = [
        ("picture.jpeg", &[][..], "ends in neither .png nor .svg"),
        ("there.png", &[], "--force replaces it"),
        ("low.png", &["--size", "830x20"], "it needs"),
        ("narrow.png", &["--size", "20"], "400 to 8000 pixels wide"),
        ("odd.png", &["--size", "axb"], "no number of pixels"),
    ];
    for (name, arguments, said) in cases {
        let all = [&["chart", "-q", &input, "-o", name], arguments].concat();
        let output = metalens(folder.path(), &all);
        assert!(!output.status.success(), "{name}");
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    assert_eq!(fs::read(&there).unwrap(), b"mine");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
