//! Tests the export folder: its content, its mark, and that it is complete and reproducible.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use metalens_simulator::{
    Error, MARK, Scenario, Table, TruthFile, random_scenario, truths, write_export,
};

use crate::xml;

/// Returns every file of a folder by name.
pub(crate) fn files(dir: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(dir).unwrap();
    entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect()
}

/// Returns the files of a scenario's export.
pub(crate) fn exported(scenario: &Scenario) -> BTreeMap<String, String> {
    let dir = metalens_testing::scratch();
    write_export(scenario, dir.path(), false).unwrap();
    files(dir.path())
}

#[test]
fn a_folder_has_one_document_per_table_and_the_truth() {
    let scenario = Scenario::preset("eager").unwrap();
    let files = exported(&scenario);
    let mut expected: Vec<String> = Table::recorded(&scenario)
        .map(|table| format!("{}.xml", table.name()))
        .collect();
    expected.extend(["toc.xml", "truth.json", "scenario.toml"].map(str::to_owned));
    expected.sort();
    assert_eq!(files.keys().cloned().collect::<Vec<_>>(), expected);
}

#[test]
fn every_file_is_marked() {
    for (name, text) in exported(&Scenario::preset("two-runs").unwrap()) {
        let head: String = text.chars().take(400).collect();
        assert!(head.contains(MARK), "{name}: {head}");
        if name.ends_with(".xml") {
            assert_eq!(xml::parse(&text).attribute("synthetic"), MARK, "{name}");
        }
    }
}

#[test]
fn the_same_scenario_gives_the_same_bytes() {
    for seed in 0..20 {
        assert_eq!(
            exported(&random_scenario(seed)),
            exported(&random_scenario(seed)),
            "seed {seed}"
        );
    }
}

#[test]
fn another_seed_gives_other_times() {
    let mut scenario = Scenario::preset("eager").unwrap();
    let before = truths(&scenario).unwrap();
    scenario.seed += 1;
    assert_ne!(before, truths(&scenario).unwrap());
}

#[test]
fn the_scenario_and_the_truth_can_be_read_back() {
    for seed in 0..50 {
        let scenario = random_scenario(seed);
        let files = exported(&scenario);
        assert_eq!(
            Scenario::from_toml(&files["scenario.toml"]).unwrap(),
            scenario
        );
        let truth: TruthFile = serde_json::from_str(&files["truth.json"]).unwrap();
        assert_eq!(truth.runs, truths(&scenario).unwrap());
    }
}

#[test]
fn several_runs_have_numbered_documents() {
    let files = exported(&Scenario::preset("two-runs").unwrap());
    for run in ["run-1", "run-2"] {
        let table = xml::table(&files[&format!("metal-gpu-intervals.{run}.xml")]);
        assert!(
            table.xpath.contains(&run.replace("run-", "run[")),
            "{}",
            table.xpath
        );
    }
    assert!(!files.contains_key("metal-gpu-intervals.xml"));
}

#[test]
fn a_folder_in_use_is_refused_unless_overwriting() {
    let dir = metalens_testing::scratch();
    let two_runs = Scenario::preset("two-runs").unwrap();
    write_export(&two_runs, dir.path(), false).unwrap();
    let refused = write_export(&two_runs, dir.path(), false).unwrap_err();
    assert!(matches!(refused, Error::NotEmpty { .. }), "{refused}");
    assert!(refused.to_string().contains("is not empty"));

    fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    let eager = Scenario::preset("eager").unwrap();
    write_export(&eager, dir.path(), true).unwrap();
    let mut found = files(dir.path());
    assert_eq!(found.remove("notes.txt").as_deref(), Some("mine"));
    assert_eq!(
        found,
        exported(&eager),
        "nothing of the earlier export is left"
    );
}

#[test]
fn an_impossible_scenario_leaves_nothing_behind() {
    let dir = metalens_testing::scratch();
    let mut scenario = Scenario::preset("eager").unwrap();
    scenario.runs = 0;
    assert!(write_export(&scenario, dir.path(), false).is_err());
    assert!(files(dir.path()).is_empty());
}
