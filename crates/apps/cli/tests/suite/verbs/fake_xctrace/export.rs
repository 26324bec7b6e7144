//! Tests `export` of the fake `xctrace`: it writes the same bytes as the simulator's own export,
//! one document per call.

use std::fs;
use std::path::Path;

use super::{code, folder, output, stderr, stdout, xctrace};
use crate::metalens;

/// Writes a scenario as a bundle `x.trace` and as an export `x.export`.
fn write_bundle_and_export(folder: &Path, scenario: &str) {
    for name in ["x.trace", "x.export"] {
        let written = metalens(folder, &["synth", scenario, "-o", name]);
        assert!(written.status.success(), "{}", stderr(&written));
    }
}

fn exported(folder: &Path, options: &[&str]) -> String {
    let arguments = [&["export", "--input", "x.trace"], options].concat();
    let done = output(xctrace(folder, &[], &arguments));
    assert_eq!(
        (code(&done), stderr(&done).as_str()),
        (0, ""),
        "{options:?}"
    );
    stdout(&done)
}

/// The table of contents and every table are compared, one call each.
#[test]
fn documents_equal_those_of_the_simulator() {
    for (scenario, run, suffix) in [("small.toml", 1, ""), ("two-runs", 2, ".run-2")] {
        let folder = folder();
        write_bundle_and_export(folder.path(), scenario);
        let file =
            |name: &str| fs::read_to_string(folder.path().join("x.export").join(name)).unwrap();
        let toc = exported(folder.path(), &["--toc"]);
        assert_eq!(toc, file("toc.xml"));
        let mut compared = 0;
        for entry in fs::read_dir(folder.path().join("x.export")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let Some(schema) = name.strip_suffix(&format!("{suffix}.xml")) else {
                continue;
            };
            if schema == "toc" {
                continue;
            }
            let xpath =
                format!(r#"/trace-toc/run[@number="{run}"]/data/table[@schema="{schema}"]"#);
            assert_eq!(exported(folder.path(), &["--xpath", &xpath]), file(&name));
            compared += 1;
        }
        assert!(compared > 10, "{compared} tables of {scenario}");
    }
}

#[test]
fn a_table_can_be_exported_by_position_and_to_a_file() {
    let folder = folder();
    write_bundle_and_export(folder.path(), "small.toml");
    let schema = r#"/trace-toc/run[@number="1"]/data/table[@schema="metal-gpu-intervals"]"#;
    let document = exported(folder.path(), &["--xpath", schema]);
    let (_, position) = document.split_once("table[").unwrap();
    let (position, _) = position.split_once(']').unwrap();
    let xpath = format!(r#"/trace-toc/run[@number="1"]/data/table[{position}]"#);
    let said = exported(folder.path(), &["--xpath", &xpath, "--output", "t.xml"]);
    assert_eq!(said, "Finished export to the file: t.xml\n");
    assert_eq!(
        fs::read_to_string(folder.path().join("t.xml")).unwrap(),
        document
    );
}

/// A missing table, an empty table and a missing bundle are different.
#[test]
fn missing_and_empty_tables_and_bundles() {
    let folder = folder();
    write_bundle_and_export(folder.path(), "small.toml");
    let table =
        |schema: &str| format!(r#"/trace-toc/run[@number="1"]/data/table[@schema="{schema}"]"#);
    for (xpath, nodes) in [
        (table("no-such-schema"), 0),
        (r#"/trace-toc/run[@number="7"]/data/table[3]"#.to_owned(), 0),
        (table("tick"), 1),
        (table("kdebug"), 2),
    ] {
        let document = exported(folder.path(), &["--xpath", &xpath]);
        assert_eq!(document.matches("<node ").count(), nodes, "{xpath}");
        assert_eq!(document.matches("<schema ").count(), nodes, "{xpath}");
        assert!(!document.contains("<row>"), "{xpath}");
        assert!(document.ends_with("</trace-query-result>\n"), "{xpath}");
    }
    fs::remove_file(folder.path().join("x.trace/form.template")).unwrap();
    for input in ["x.trace", "no.trace", "small.toml"] {
        let arguments = ["export", "--input", input, "--toc", "--output", "t.xml"];
        let done = output(xctrace(folder.path(), &[], &arguments));
        assert_eq!(code(&done), 10, "{input}");
        assert_eq!(
            stderr(&done),
            "Export failed: Document Missing Template Error\n"
        );
        assert!(!folder.path().join("t.xml").exists());
    }
}

/// Some options no version accepts, others only some versions.
#[test]
fn invalid_options_are_refused() {
    let folder = folder();
    write_bundle_and_export(folder.path(), "small.toml");
    let new = "VERSION=27.0 (27A266a)";
    let old = "VERSION=26.0 (17C529)";
    let input = ["export", "--input", "x.trace"];
    let cases: [(&str, &[&str], Option<&str>); 9] = [
        (
            old,
            &["--toc", "--time-start", "1s"],
            Some("Unrecognized option: --time-start"),
        ),
        (
            new,
            &["--toc", "--time-start", "1s", "--duration", "20.5ms"],
            None,
        ),
        (
            new,
            &["--toc", "--time-start", "1"],
            Some("Invalid time for --time-start: 1"),
        ),
        (
            new,
            &["--toc", "--time-end", "1s", "--duration", "1s"],
            Some("exclude each other"),
        ),
        (old, &[], Some("Neither --toc nor --xpath")),
        (old, &["--toc", "--toc"], Some("more than once")),
        (old, &["--xpath", "//row"], Some("only paths to tables")),
        (
            old,
            &["--xpath", "/trace-toc/run[1]/data/table"],
            Some("only paths to tables"),
        ),
        (new, &["--toc", "x.trace"], Some("more than once: --input")),
    ];
    for (version, options, expected) in cases {
        let done = output(xctrace(
            folder.path(),
            &[version],
            &[&input, options].concat(),
        ));
        let exit = if expected.is_some() { 64 } else { 0 };
        assert_eq!(code(&done), exit, "{options:?}: {}", stderr(&done));
        let text = stderr(&done);
        assert!(
            text.contains(expected.unwrap_or("cannot cut")),
            "{options:?}: {text}"
        );
    }
    let positional = ["export", "x.trace", "--toc"];
    for (version, exit) in [(new, 0), (old, 64)] {
        assert_eq!(
            code(&output(xctrace(folder.path(), &[version], &positional))),
            exit
        );
    }
}
