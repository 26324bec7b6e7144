//! One scenario, written as a bundle and as an export, gives one report, byte
//! for byte but for what was read.

use std::path::Path;

use metalens_analyzer::{Note, Reader, Report, Request};
use metalens_simulator::{
    BundleOptions, Generation, Scenario, presets, random_scenario, write_bundle_with, write_export,
};
use metalens_trace::{Input, LoadOptions, Selection, compare};

use super::report;

fn write(scenario: &Scenario, folder: &Path, form_template: bool) {
    let options = BundleOptions {
        overwrite: false,
        form_template,
    };
    write_bundle_with(scenario, &folder.join("run.trace"), options).unwrap();
    write_export(scenario, &folder.join("export"), false).unwrap();
}

fn check(name: &str, scenario: &Scenario) {
    let folder = tempfile::tempdir().unwrap();
    write(scenario, folder.path(), true);
    for run in 1..=scenario.runs {
        let of = |input: &str| {
            let found = report(
                &folder.path().join(input),
                Some(run.into()),
                &Request::default(),
            );
            found.map(without_source).map_err(|error| {
                error
                    .to_string()
                    .replace(&folder.path().display().to_string(), "")
            })
        };
        match (of("run.trace"), of("export")) {
            (Ok(native), Ok(export)) => {
                let mut lines = native.lines().zip(export.lines());
                let first = lines.find(|(native, export)| native != export);
                assert!(first.is_none(), "{name}, run {run}: {first:?}");
                assert_eq!(native, export, "{name}, run {run}");
            }
            (Err(_), Err(_)) => {}
            (native, export) => panic!("{name}, run {run}: {native:?} against {export:?}"),
        }
    }
}

/// Without what cannot be the same: what was read; that the identifiers of
/// signposts, which are only compared, came out as raw numbers; and counters
/// with what is said of their tables, since nobody has seen how a bundle stores
/// their values, so that the simulator leaves them out.
fn without_source(mut report: Report) -> String {
    let raw = "os-signpost: raw numbers (undecoded) in identifier";
    let notes = Note::joined(&report.notes, &report.note_details);
    let notes =
        notes.filter(|note| !note.text.starts_with(raw) && !note.text.starts_with("gpu-counter-"));
    let notes: Vec<Note> = notes.collect();
    (report.notes, report.note_details) = Note::lists(notes);
    report.not_recorded.retain(|one| one.what != "counters");
    report.counters = None;
    report.source.path = String::new();
    report.source.kind = metalens_analyzer::SourceKind::Xml;
    report.source.reader = Reader::Xml;
    serde_json::to_string_pretty(&report).unwrap()
}

#[test]
fn of_the_presets() {
    for preset in presets().iter().filter(|preset| preset.name != "million") {
        check(preset.name, &preset.scenario().unwrap());
    }
}

#[test]
fn of_random_scenarios() {
    for seed in 0..150 {
        check(&format!("seed {seed}"), &random_scenario(seed));
    }
}

/// Not only the report: every cell of every table.
#[test]
fn every_cell() {
    for name in ["eager", "awkward", "renderer"] {
        let cells = same_cells(name, &Scenario::preset(name).unwrap());
        assert!(cells > 10_000, "{name}");
    }
    for seed in 0..60 {
        let mut scenario = random_scenario(seed);
        // Instruments 16 put no blanks between the parts of labels; the native reader does.
        scenario.xcode = Generation::Xcode26;
        same_cells(&format!("seed {seed}"), &scenario);
    }
}

/// Of the fixtures of the findings, too.
#[test]
fn every_cell_of_the_findings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/findings");
    let mut compared = 0;
    for rule in std::fs::read_dir(folder).unwrap() {
        for file in std::fs::read_dir(rule.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                let scenario = Scenario::from_toml(&std::fs::read_to_string(&path).unwrap());
                same_cells(&path.display().to_string(), &scenario.unwrap());
                compared += 1;
            }
        }
    }
    assert!(compared > 40, "{compared} fixtures");
}

/// How many cells were compared, names of functions included.
fn same_cells(name: &str, scenario: &Scenario) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    write(scenario, folder.path(), true);
    let load = |input: &str| {
        let everything = Selection::everything().with_rendered_labels();
        let input = Input::open(&folder.path().join(input)).unwrap();
        input.load(&everything, LoadOptions::default()).unwrap()
    };
    let tables = compare(&load("run.trace"), &load("export"));
    let different: Vec<_> = tables.iter().filter(|table| table.different > 0).collect();
    assert!(different.is_empty(), "{name}: {different:#?}");
    let unnamed: u64 = tables.iter().map(|table| table.unnamed).sum();
    assert_eq!(unnamed, 0, "{name}");
    tables.iter().map(|table| table.cells).sum()
}

/// Without `form.template` the numbers stay; only facts of the run are unknown.
#[test]
fn without_a_template() {
    let folder = tempfile::tempdir().unwrap();
    write(&Scenario::preset("eager").unwrap(), folder.path(), false);
    let of = |input: &str| report(&folder.path().join(input), None, &Request::default()).unwrap();
    let (native, export) = (of("run.trace"), of("export"));
    assert_eq!(
        (&native.busy, &native.gaps, &native.kernels),
        (&export.busy, &export.gaps, &export.kernels)
    );
    assert_eq!(native.run.template, None);
    assert!(native.run.synthetic);
    let notes = native.notes.join("\n");
    assert!(notes.contains("no form.template"), "{notes}");
}
