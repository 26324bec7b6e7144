//! Tests names and places of bundles: all that are possible, and some that are not.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Bench, each, stderr};

fn arguments(output: &OsStr) -> Vec<&OsStr> {
    let words = ["./bench", "-c", "exit 0"].map(OsStr::new);
    [
        &[
            OsStr::new("record"),
            OsStr::new("-o"),
            output,
            OsStr::new("--"),
        ],
        &words[..],
    ]
    .concat()
}

fn joined(name: &OsStr) -> OsString {
    let mut word = OsString::from("--output=");
    word.push(name);
    word
}

#[test]
fn a_bundle_can_have_any_name_that_a_file_can() {
    let bench = Bench::new();
    fs::create_dir(bench.here().join("sub folder")).unwrap();
    let absolute = bench.here().join("absolute.trace");
    let long = format!("{}.trace", "é".repeat(115));
    let names = [
        OsStr::new("a b.trace"),
        OsStr::new("it's \"quoted\".trace"),
        OsStr::new("two\nlines.trace"),
        OsStr::new("-dash.trace"),
        OsStr::new("Output file saved as: y.trace"),
        OsStr::new("sub folder/x.trace"),
        OsStr::new("./sub folder/../z.trace"),
        OsStr::new("slash.trace/"),
        OsStr::new(&long),
        absolute.as_os_str(),
        OsStr::from_bytes(b"not\xfftext.trace"),
    ];
    each(&names, |name| {
        let bundle = bench.here().join(name);

        // Some file systems refuse names that are not UTF-8.
        if fs::create_dir(&bundle).is_err() {
            assert!(name.to_str().is_none(), "{}", name.display());
            return;
        }
        fs::remove_dir(&bundle).unwrap();

        // As `--output=NAME`, for a name that looks like an option.
        let output = joined(name);
        let words = ["record", "-q", "--", "./bench", "-c", "exit 0"].map(OsStr::new);
        let [command, quiet, rest @ ..] = &words;
        bench.fine(&[], &[&[*command, quiet, &output], &rest[..]].concat());
        let words = [
            OsStr::new("analyze"),
            bundle.as_os_str(),
            OsStr::new("--json"),
        ];
        bench.fine(&[], &words);
        let beside = bundle.with_extension("recording.json");
        assert!(beside.is_file(), "{}", name.display());
    });
    let left = bench.names().into_iter();
    let left = left.filter(|name| name.as_bytes().starts_with(b".metalens-"));
    assert_eq!(left.count(), 0);
}

#[test]
fn without_output_a_free_name_of_the_program_is_chosen() {
    let bench = Bench::new();
    let words = ["record", "--", "./bench", "-c", "exit 0"];
    let last = |words: &[&str]| {
        let said = stderr(&bench.fine(&[], words));
        said.lines().last().unwrap().to_owned()
    };

    assert_eq!(last(&words), "next: metalens analyze bench.trace");
    assert_eq!(last(&words), "next: metalens analyze bench-2.trace");
    assert_eq!(
        bench.disk(),
        "bench-2.recording.json\nbench-2.trace: whole\nbench.recording.json\nbench.trace: whole\n"
    );
}

#[test]
fn invalid_places_are_refused_and_nothing_is_written() {
    let check = |output: &str, code: i32, expected: &str| {
        let bench = Bench::new();
        fs::write(bench.here().join("file"), "x").unwrap();
        let result = bench.run(&[], &arguments(OsStr::new(output)));
        let said = bench.seen(&result);
        assert_eq!(result.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "{output}: {said}");
        assert_eq!(bench.disk(), "file\n");
    };

    let other = "does not end in .trace, which Instruments needs to open it";
    check("x", 2, other);
    check("x.zip", 2, other);
    check(
        "nowhere/x.trace",
        1,
        "error: cannot create a folder in nowhere: No such file or directory",
    );
    check(
        "file/x.trace",
        1,
        "error: cannot create a folder in file: Not a directory",
    );

    // A folder where not even root can write.
    if Path::new("/proc/self").exists() {
        check(
            "/proc/x.trace",
            1,
            "error: cannot create a folder in /proc: ",
        );
    }
}
