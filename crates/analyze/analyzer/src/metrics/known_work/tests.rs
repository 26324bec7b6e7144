//! Tests of the work file's format.

use metalens_failure::Failure;
use proptest::prelude::*;

use super::*;

const FULL_FILE: &str = r#"{
  "schema": "metalens.work/1", "device": "Apple M3 Max", "gpu_cores": 40,
  "work": [
    {"label": "matmul", "channel": "Compute", "per": "instance",
     "operations": 1, "bytes": 50331648, "flops": 1.7179869184e10},
    {"label": "*", "per": "total", "bytes": 4096}
  ]
}"#;

#[test]
fn a_full_file_is_parsed() {
    let file = WorkFile::parse(FULL_FILE, "work.json").unwrap();
    assert_eq!(file.work[0].flops, Some(17_179_869_184));
    assert_eq!(file.work[1].per, AmountScope::Total);
    assert_eq!(file.file, "work.json");
}

/// Facts about the program are kept. A simulated program makes a note, unless the recording is
/// synthetic as well.
#[test]
fn a_simulated_program_makes_a_note() {
    let check = |program: &str, is_simulated: bool| {
        let text = format!(
            r#"{{"schema": "metalens.work/1", "work": [{{"label": "*", "per": "total", "bytes": 1}}]{program}}}"#
        );
        let file = WorkFile::parse(&text, "w").unwrap();
        assert_eq!(file.is_simulated(), is_simulated, "{program}");
        let note = simulated(&file, false);
        assert_eq!(note.is_some_and(|note| note.is_loud()), is_simulated);
        assert_eq!(simulated(&file, true), None);
        let written = serde_json::to_string(&file).unwrap();
        assert_eq!(WorkFile::parse(&written, "w").unwrap(), file);
    };
    check("", false);
    check(r#", "program": null"#, false);
    check(r#", "program": "anything""#, false);
    check(
        r#", "program": {"simulated": false, "steps": [1, 2]}"#,
        false,
    );
    check(r#", "program": {"simulated": "yes"}"#, false);
    check(r#", "program": {"simulated": true}"#, true);
}

/// Checks the error for a file's text.
fn check(text: &str, expected: &str) {
    let error = WorkFile::parse(text, "w").unwrap_err().to_string();
    assert!(error.contains(expected), "{text}\n  {error}\n  {expected}");
}

/// Returns a file with one entry of work.
fn entry(entry: &str) -> String {
    format!(r#"{{"schema": "metalens.work/1", "work": [{entry}]}}"#)
}

#[test]
fn errors_name_the_place() {
    check("", "not JSON: EOF");
    check("{\n 1", "line 2 column 2");
    check("[]", "not a JSON object");
    check("{}", r#"missing "schema": "metalens.work/1""#);
    check(
        r#"{"schema": "metalens.work/2", "new": 1}"#,
        "unsupported schema `metalens.work/2`; this version reads `metalens.work/1`",
    );
    check(r#"{"schema": "metalens.work/1"}"#, "`work` is empty");
    check(
        &entry(r#"{"label": "a", "per": "instance", "flop": 1}"#),
        "unknown field `flop`, expected one of",
    );
    check(
        &entry(r#"{"label": "a", "bytes": 1}"#),
        "missing field `per`",
    );
    check(
        &entry(r#"{"label": "a", "per": "second", "bytes": 1}"#),
        "unknown variant `second`",
    );
    check(
        &entry(r#"{"label": "a", "per": "total"}"#),
        "work[0]: `a` has no amount",
    );
    check(
        &entry(r#"{"label": "", "per": "total", "bytes": 1}"#),
        "work[0]: empty label",
    );
    for wrong in ["-1", "1.5", "1e300", "\"1\""] {
        let text = format!(r#"{{"label": "a", "per": "total", "bytes": {wrong}}}"#);
        check(&entry(&text), "line 1 column");
    }
    let one = r#"{"label": "a", "per": "total", "bytes": 1}"#;
    check(
        &entry(&format!("{one}, {one}")),
        "work[1]: `a` has two entries",
    );
}

#[test]
fn the_example_in_the_hint_is_valid() {
    let hint = WorkFile::parse("", "w").unwrap_err().hint().unwrap();
    let example = &hint[hint.find('{').unwrap()..];
    WorkFile::parse(example, "w").unwrap();
}

proptest! {
    /// Mangled text is an error or a file, never a panic; a file that was read is the same after
    /// writing it.
    #[test]
    fn mangled_files(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_usize..12), 1..6),
    ) {
        let mut bytes = FULL_FILE.as_bytes().to_vec();
        for (at, byte, cut) in cuts {
            let at = at.index(bytes.len());
            let to = (at + cut).min(bytes.len());
            bytes.splice(at..to, [byte]);
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(file) = WorkFile::parse(&text, "w") {
            let written = serde_json::to_string(&file).unwrap();
            prop_assert_eq!(WorkFile::parse(&written, "w").unwrap(), file);
        }
    }
}
