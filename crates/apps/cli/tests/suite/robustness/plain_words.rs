//! Checks that errors say what, where and why in plain words: without numbers of the operating
//! system, without values of Rust, and without names of inner files.

use std::fs;

use crate::{metalens, stderr, with_scenario};

/// Words that no error may have.
const FOREIGN: [&str; 8] = [
    "os error",
    "Some(",
    "None",
    "Err(",
    "Error {",
    "Kind",
    "Pattern syntax",
    ".metalens-",
];

/// Commands in a folder with an export `eager`, a folder `d`, and files: `a.json` is cut off, `e.json`
/// is `{}`, and `t.txt` is text. Beside each is a part of its error.
const CASES: [(&str, &str); 48] = [
    ("analyze no", "no: No such file or directory"),
    ("analyze t.txt/x", "t.txt/x: Not a directory"),
    ("analyze t.txt", "t.txt: this is plain text"),
    ("analyze a.json", "a.json: this is JSON"),
    ("analyze eager no", "no: No such file or directory"),
    ("analyze eager t.txt", "t.txt: this is plain text"),
    (
        "analyze eager --work no.json",
        "cannot read no.json: No such file",
    ),
    (
        "analyze eager --work a.json",
        "EOF while parsing a value at line 2",
    ),
    ("analyze eager --work d", "cannot read d: this is a folder"),
    (
        "analyze eager --config no.toml",
        "cannot read no.toml: No such file",
    ),
    (
        "analyze eager --config a.toml",
        "a.toml is not a valid settings file",
    ),
    (
        "analyze eager --config d",
        "cannot read d: this is a folder",
    ),
    (
        "analyze eager --html no/dir/x.html",
        "there is no folder no/dir",
    ),
    ("analyze eager --html d", "d exists; --force replaces it"),
    ("analyze eager --html d --force", "d: Is a directory"),
    ("analyze eager --gaps no/x.csv", "there is no folder no"),
    ("analyze eager --perfetto no/x", "there is no folder no"),
    ("analyze eager -o t.txt", "t.txt is not a folder"),
    (
        "analyze eager --parquet t.txt",
        "cannot open t.txt: Not a directory",
    ),
    ("analyze eager --top x", "invalid digit found in string"),
    ("analyze eager --top -1", "unexpected argument '-1'"),
    ("analyze eager --step 0", "steps are named such as decode"),
    ("analyze eager --from 1x", "a time needs a unit"),
    ("analyze eager --gate=abc", "abc"),
    ("batch eager -o b --jobs 0", "1 or more"),
    (
        "batch [ -o b",
        "invalid pattern `[`: invalid range pattern at character 1",
    ),
    ("batch no -o b", "no: No such file or directory"),
    ("batch eager -o t.txt", "cannot write into t.txt"),
    (
        "batch eager -o eager",
        "eager is a recording: choose another folder",
    ),
    ("baseline save eager -o b.json", "at least 3 runs"),
    (
        "baseline show a.json",
        "a.json: not a baseline: EOF while parsing",
    ),
    ("baseline show d", "d is a folder, not a baseline"),
    (
        "bench --simulate --workload eager -r 1000",
        "1000 is not in 1..=999",
    ),
    ("bench a --simulate -o t.txt", "cannot write into t.txt"),
    ("chart eager -o no/x.png", "cannot write no/x.png"),
    ("chart eager -o x.foo", "x.foo does not end in .png or .svg"),
    ("compare a.json eager", "EOF while parsing"),
    ("compare e.json eager", "missing field `schema`"),
    ("compare eager no", "no: No such file or directory"),
    (
        "compare --baseline no.json eager",
        "cannot read no.json: No such file",
    ),
    (
        "compare --baseline t.txt eager",
        "not a baseline: expected value",
    ),
    (
        "compare eager eager --gate=a.toml",
        "a.toml is not a valid settings file",
    ),
    ("baseline show a.json", "a.json: not a baseline"),
    ("baseline show no.json", "cannot read no.json: No such file"),
    (
        "record --simulate -o no/x.trace -- /bin/sh",
        "cannot create a folder in no",
    ),
    ("synth s.toml -o q", "expected u64"),
    (
        "synth eager -o t.txt/q",
        "cannot open t.txt: Not a directory",
    ),
    ("synth eager -o t.txt", "cannot write t.txt"),
];

#[test]
fn errors_say_what_happened_in_plain_words() {
    let folder = with_scenario("eager");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("d")).unwrap();
    fs::write(at("d/x"), "").unwrap();
    for (name, text) in [
        ("a.json", "{\"schema\":\n"),
        ("e.json", "{}"),
        ("t.txt", "hello\n"),
        ("a.toml", "x = ["),
        ("s.toml", "seed = \"x\"\n"),
    ] {
        fs::write(at(name), text).unwrap();
    }

    for (command, expected) in CASES {
        let arguments: Vec<&str> = command.split(' ').collect();
        let output = metalens(folder.path(), &arguments);
        let told = stderr(&output);
        assert!(!output.status.success(), "{command}: {told}");
        assert!(told.contains(expected), "{command}: {told}");
        for foreign in FOREIGN {
            assert!(!told.contains(foreign), "{command}: {foreign}: {told}");
        }
    }
}

/// An input is named once, and each failed one of several is named.
#[test]
fn errors_name_their_input_once() {
    let folder = with_scenario("no-target-rows");
    for (command, name, expected) in [
        (
            "compare no-target-rows no-target-rows",
            "no-target-rows: ",
            1,
        ),
        (
            "analyze no-target-rows no-target-rows",
            "no-target-rows: ",
            2,
        ),
        ("compare nothing nothing", "nothing: ", 1),
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let told = stderr(&metalens(folder.path(), &arguments));
        assert_eq!(told.matches(name).count(), expected, "{command}: {told}");
    }
}
