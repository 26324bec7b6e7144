//! Tests that a scenario written as a bundle and as an export gives the same report, byte for byte,
//! except for the facts about the input.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;

use flate2::read::ZlibDecoder;
use metalens_analyzer::{Note, Reader, Report, Request};
use metalens_simulator::{
    Generation, Scenario, presets, random_scenario, write_bundle, write_export,
};
use metalens_trace::{Input, LoadOptions, Selection, compare};

use super::report;

fn write(scenario: &Scenario, folder: &Path, form_template: bool) {
    let bundle = folder.join("run.trace");
    write_bundle(scenario, &bundle, false).unwrap();
    if !form_template {
        fs::remove_file(bundle.join("form.template")).unwrap();
    }
    write_export(scenario, &folder.join("export"), false).unwrap();
}

fn check(name: &str, scenario: &Scenario) {
    let folder = metalens_testing::scratch();
    write(scenario, folder.path(), true);
    for run in 1..=scenario.runs {
        let text = |input: &str| {
            let report = report(
                &folder.path().join(input),
                Some(run.into()),
                &Request::default(),
            );
            report.map(without_source).map_err(|error| {
                error
                    .to_string()
                    .replace(&folder.path().display().to_string(), "")
            })
        };
        match (text("run.trace"), text("export")) {
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

/// Removes the parts that cannot be equal: those about the input.
fn without_source(mut report: Report) -> String {
    report.source.path = String::new();
    report.source.kind = metalens_analyzer::SourceKind::Xml;
    report.source.reader = Reader::Xml;
    serde_json::to_string_pretty(&report).unwrap()
}

#[test]
fn presets_are_equal() {
    for preset in presets().iter().filter(|preset| preset.name != "million") {
        check(preset.name, &preset.scenario().unwrap());
    }
}

#[test]
fn random_scenarios_are_equal() {
    for seed in 0..150 {
        check(&format!("seed {seed}"), &random_scenario(seed));
    }
}

/// Compares every cell of every table, not only the report.
#[test]
fn every_cell_is_equal() {
    for name in ["eager", "awkward", "renderer"] {
        let cells = same_cells(name, &Scenario::preset(name).unwrap());
        assert!(cells > 10_000, "{name}");
    }
    for seed in 0..60 {
        let mut scenario = random_scenario(seed);
        // Instruments 16 put no blanks between the parts of labels; the native reader does.
        scenario.xcode = Generation::Xcode26;
        // A bundle of the newest layout holds the same stacks.
        scenario.recording.tagged_stacks = seed % 2 == 1;
        scenario.recording.large_blocks = seed % 8 == 0;
        same_cells(&format!("seed {seed}"), &scenario);
    }
}

/// Compares every cell of the findings' fixtures, too.
#[test]
fn every_cell_of_the_findings_is_equal() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/findings");
    let mut compared = 0;
    for rule in fs::read_dir(folder).unwrap() {
        for file in fs::read_dir(rule.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                let scenario = Scenario::from_toml(&fs::read_to_string(&path).unwrap());
                same_cells(&path.display().to_string(), &scenario.unwrap());
                compared += 1;
            }
        }
    }
    assert!(compared > 40, "{compared} fixtures");
}

/// Returns the number of cells that were compared, with the names of functions.
fn same_cells(name: &str, scenario: &Scenario) -> u64 {
    let folder = metalens_testing::scratch();
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

/// A bundle without `form.template` has the same numbers; only facts about the run are unknown.
#[test]
fn a_bundle_without_template_has_its_numbers() {
    let folder = metalens_testing::scratch();
    write(&Scenario::preset("eager").unwrap(), folder.path(), false);
    let load = |input: &str| report(&folder.path().join(input), None, &Request::default()).unwrap();
    let (native, export) = (load("run.trace"), load("export"));
    assert_eq!(
        (&native.busy, &native.gaps, &native.kernels),
        (&export.busy, &export.gaps, &export.kernels)
    );
    assert_eq!(native.run.template, None);
    assert!(native.run.synthetic);
    let notes: Vec<&str> = native.notes.iter().map(Note::text).collect();
    let notes = notes.join("\n");
    assert!(notes.contains("form.template is missing"), "{notes}");
}

/// A new word of any type costs what is known about the old one, and neither a row nor a part of the report.
#[test]
fn a_new_word_hides_nothing() {
    let mut renamed = BTreeMap::<String, usize>::new();
    for preset in presets().iter().filter(|preset| preset.name != "million") {
        let folder = metalens_testing::scratch();
        write(&preset.scenario().unwrap(), folder.path(), true);
        let bundle = folder.path().join("run.trace");
        let before = shape(&bundle);
        let strings = fs::read(bundle.join(STRINGS)).unwrap();
        for (kind, words) in words_by_type(&bundle) {
            rename(&bundle, &words);
            assert_eq!(shape(&bundle), before, "{}: {kind}", preset.name);
            fs::write(bundle.join(STRINGS), &strings).unwrap();
            *renamed.entry(kind).or_default() += words.len();
        }
    }
    renamed.retain(|_, words| *words > 0);
    assert!(renamed.len() > 10, "{renamed:?}");
}

/// Returns the rows and the types of each table, and what the report lists as not recorded, a line each.
fn shape(bundle: &Path) -> Vec<String> {
    let input = Input::open(bundle).unwrap();
    let trace = input
        .load(&Selection::everything(), LoadOptions::default())
        .unwrap();
    let tables = trace.tables().iter().map(|table| {
        let types = table.columns().map(|(spec, _)| &spec.engineering_type);
        let types: Vec<&String> = types.collect();
        format!("{}: {} rows of {types:?}", table.schema.name, table.rows())
    });
    let report = report(bundle, None, &Request::default());
    let missing = report.map_or_else(|_| Vec::new(), |report| report.not_recorded);
    let missing = missing.into_iter().map(|part| part.what);
    tables.chain(missing).collect()
}

/// The file of a bundle with its strings.
const STRINGS: &str = "corespace/run1/core/uniquing/strings";

/// Returns the words of each type of text.
fn words_by_type(bundle: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let input = Input::open(bundle).unwrap();
    let trace = input
        .load(&Selection::everything(), LoadOptions::default())
        .unwrap();
    let mut words = BTreeMap::<String, BTreeSet<String>>::new();
    for table in trace.tables() {
        for (spec, _) in table.columns() {
            let Ok(texts) = table.texts(&spec.mnemonic) else {
                continue;
            };
            let texts = texts
                .iter()
                .flatten()
                .map(|&text| trace.names.text(text).to_owned());
            words
                .entry(spec.engineering_type.clone())
                .or_default()
                .extend(texts.filter(|text| !text.is_empty()));
        }
    }
    words
}

/// Gives other texts to words.
fn rename(bundle: &Path, words: &BTreeSet<String>) {
    let path = bundle.join(STRINGS);
    let mut strings = String::new();
    let stored = fs::File::open(&path).unwrap();
    ZlibDecoder::new(stored)
        .read_to_string(&mut strings)
        .unwrap();
    for word in words {
        strings = strings.replace(&format!(">{word}<"), &format!(">New {word}<"));
    }
    fs::write(&path, strings).unwrap();
}
