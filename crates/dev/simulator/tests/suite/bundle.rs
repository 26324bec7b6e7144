//! Tests bundles: the stores have the same content as the documents, in the real byte layout.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use metalens_simulator::{
    Error, Generation, MARK, Scenario, Table, TruthFile, presets, random_scenario, truths,
    write_bundle,
};
use plist::Value;

use crate::folder::exported;
use crate::keyed::{archive, get, int_keyed, plain};
use crate::trace_bundle::{Run, inflated};
use crate::xml::{self, Element};

/// The bundle of a scenario, on disk for as long as this lives.
struct TestBundle {
    dir: tempfile::TempDir,
}

impl TestBundle {
    fn new(scenario: &Scenario) -> Self {
        let bundle = Self {
            dir: metalens_testing::scratch(),
        };
        write_bundle(scenario, &bundle.path(), false).unwrap();
        bundle
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("X.trace")
    }
}

#[test]
fn stores_and_documents_agree_for_presets() {
    for preset in presets().iter().filter(|preset| preset.name != "million") {
        agree(&preset.scenario().unwrap());
    }
}

#[test]
fn stores_and_documents_agree_for_random_scenarios() {
    (0..16)
        .map(random_scenario)
        .for_each(|scenario| agree(&scenario));
}

fn agree(scenario: &Scenario) {
    let (bundle, files) = (TestBundle::new(scenario), exported(scenario));
    for run in 1..=scenario.runs {
        let read = Run::open(&bundle.path(), run);
        for table in Table::recorded(scenario) {
            let numbered = format!("{}.run-{run}.xml", table.name());
            let unnumbered = format!("{}.xml", table.name());
            let document = files.get(&numbered).or_else(|| files.get(&unnumbered));
            let document = xml::table(document.expect("a document"));
            let stored = read.table(table.name());
            let named = |column: &[String; 4]| (column[0].clone(), column[1].clone());
            let names: Vec<_> = stored.columns.iter().map(named).collect();
            let theirs = document.columns.into_iter();
            let theirs: Vec<_> = theirs.map(|(mnemonic, name, _)| (mnemonic, name)).collect();
            assert_eq!(names, theirs, "{}", table.name());
            let rows: Vec<Vec<String>> = document
                .rows
                .iter()
                .map(|row| row.iter().map(shown).collect())
                .collect();
            assert_eq!(stored.rows, rows, "{} of {}", table.name(), scenario.name);
        }
    }
}

/// Shows a cell of a document as the bundle's reader shows its own.
fn shown(cell: &Element) -> String {
    let parts = || cell.children.iter().map(shown);
    match cell.tag.as_str() {
        "sentinel" => "null".to_owned(),
        "process" | "thread" => parts().collect::<Vec<_>>().join(" "),
        "backtrace" => {
            let addresses = cell.children.iter().map(|frame| frame.attribute("addr"));
            format!("{:?}", addresses.collect::<Vec<_>>())
        }
        "formatted-label" | "narrative" => format!("{:?}", parts().collect::<Vec<_>>()),
        _ => cell.text.clone(),
    }
}

#[test]
fn rows_are_not_in_order_of_time() {
    let bundle = TestBundle::new(&Scenario::preset("eager").unwrap());
    let run = Run::open(&bundle.path(), 1);
    let moved = run.table("metal-gpu-intervals").steps_back;
    assert!((10..500).contains(&moved), "{moved} of 1000");
}

#[test]
fn headers_are_constant() {
    for (generation, rows_per_block) in [
        (Generation::Xcode16, 0x4000),
        (Generation::Xcode26, 0x1_0000),
        (Generation::Xcode27, 0x1_0000),
    ] {
        let mut scenario = Scenario::preset("awkward").unwrap();
        scenario.xcode = generation;
        scenario.recording.large_blocks = true;
        let bundle = TestBundle::new(&scenario);
        let run = Run::open(&bundle.path(), 1);
        for table in Table::recorded(&scenario) {
            let [magic, version, bytes, rows_at, _, _, per_block] = run.table(table.name()).header;
            assert_eq!(
                [magic, version, bytes, rows_at, per_block],
                [0x1234_0a0a, 3, 40, 0x1000, rows_per_block]
            );
        }
        assert_eq!(run.stores_of("kdebug").len(), 3, "stores share a schema");
    }
}

#[test]
fn rows_and_lists_fill_several_blocks() {
    let mut scenario = Scenario::preset("eager").unwrap();
    scenario.process[0].stream[0].count = 20_000;
    let bundle = TestBundle::new(&scenario);
    let run = Run::open(&bundle.path(), 1);
    assert!(run.typed.blocks > 1, "{} blocks", run.typed.blocks);
    assert!(run.typed.lists.len() > 20_000);

    let stored = run.table("metal-gpu-intervals");
    let labels: BTreeSet<&String> = stored.rows.iter().map(|row| &row[6]).collect();
    assert_eq!(labels.len(), stored.rows.len(), "every label is its own");
}

#[test]
fn the_document_archive_says_what_the_table_of_contents_says() {
    for preset in ["awkward", "two-runs", "no-target-rows", "shared-machine"] {
        let scenario = Scenario::preset(preset).unwrap();
        let toc = &exported(&scenario)["toc.xml"];
        let bundle = TestBundle::new(&scenario);
        let roots = archive(&bundle.path().join("form.template"));
        let list = &roots["com.apple.xray.run.data"];
        assert_eq!(
            get(list, "$0").as_array().unwrap().len(),
            scenario.runs as usize
        );
        for (run, element) in (1..).zip(xml::parse(toc).all("run")) {
            same_facts(get(get(list, "$1"), &format!("{run}")), element);
        }
    }
}

fn same_facts(run: &Value, toc: &Element) {
    let info = get(run, "runInfo");
    let (target, summary) = (
        toc.child("info").child("target"),
        toc.child("info").child("summary"),
    );

    let text = |key: &str| plain(get(info, key));
    for (key, tag) in [
        ("_endReason", "end-reason"),
        ("_instrumentVersion", "instruments-version"),
        ("_templateName", "template-name"),
        ("_recordingMode", "recording-mode"),
    ] {
        assert_eq!(text(key), summary.child(tag).text);
    }
    let limit = plain(get(get(info, "_timeLimit"), "NS.string"));
    assert_eq!(limit, summary.child("time-limit").text);
    let seconds = get(info, "_rawDuration").as_real().unwrap();
    assert_eq!(format!("{seconds:.6}"), summary.child("duration").text);

    let start = get(info, "_rawStartTime").as_real().unwrap();
    assert_eq!(start % 3_600.0, 0.0, "on the hour");
    let device = target.child("device");
    assert_eq!(text("_targetName"), device.attribute("name"));
    assert_eq!(text("_targetModel"), device.attribute("model"));
    assert_eq!(
        text("_targetOperatingSystem"),
        device.attribute("os-version")
    );
    assert_eq!(text("_targetUUID"), device.attribute("uuid"));

    if let Some(process) = target.all("process").next() {
        assert_eq!(text("_targetProcessName"), process.attribute("name"));
        assert_eq!(text("_targetProcessPid"), process.attribute("pid"));
        assert_eq!(
            text("_targetExitStatus"),
            process.attribute("return-exit-status")
        );
    }

    let processes = get(run, "processDatas").as_array().unwrap().iter();
    let listed = processes.map(|process| plain(get(process, "displayName")));
    let seen = toc.child("processes").all("process");
    let seen = seen.map(|process| process.attribute("name").to_owned());
    assert_eq!(listed.collect::<Vec<_>>(), seen.collect::<Vec<_>>());
}

#[test]
fn the_manifest_names_every_folder_and_the_maker() {
    let scenario = Scenario::preset("two-runs").unwrap();
    let bundle = TestBundle::new(&scenario);
    let corespace = bundle.path().join("corespace");
    let manifest = Value::from_file(corespace.join("MANIFEST.plist")).unwrap();
    assert_eq!(get(&manifest, "synthetic").as_string(), Some(MARK));
    let paths = get(&manifest, "compressed-paths").as_array().unwrap();
    let paths: BTreeSet<String> = paths.iter().map(plain).collect();
    for run in 1..=2 {
        for store in Run::open(&bundle.path(), run).stores.keys() {
            assert!(paths.contains(store), "{store}");
        }
    }

    for path in paths {
        assert!(corespace.join(&path).is_dir(), "{path}");
    }

    let required = Value::from_file(bundle.path().join("open.creq")).unwrap();
    let format = get(&required, "com.apple.dt.trace").as_array().unwrap();
    assert_eq!(format[0].as_unsigned_integer(), Some(5));
}

#[test]
fn inputs_are_distinguished_from_derived_tables() {
    let bundle = TestBundle::new(&Scenario::preset("eager").unwrap());
    let core = bundle.path().join("corespace/run1/core");
    let tables = archive(&core.join("table-manager/tables.plist"));
    let tables = get(&tables["root"], "tableDetails")
        .as_dictionary()
        .unwrap();
    let tables = int_keyed(tables);

    let exposed = archive(&core.join("core-config/exposedTableInfo.plist"));
    let inputs = get(&exposed["root"], "inputTableIDs").as_array().unwrap();
    let name = |id: &Value| plain(get(get(&tables[&plain(id)], "spec"), "schemaName"));
    let names: BTreeSet<String> = inputs.iter().map(name).collect();
    assert!(names.contains("process-info") && names.contains("time-info"));
    assert!(!names.contains("metal-gpu-intervals"));
}

#[test]
fn the_same_scenario_gives_the_same_bundle() {
    let scenario = Scenario::preset("renderer").unwrap();
    let (first, second) = (TestBundle::new(&scenario), TestBundle::new(&scenario));
    assert_eq!(files(&first.path()), files(&second.path()));
}

/// Returns every file of a bundle, inflated.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let below = files(&path).into_iter();
            let name = PathBuf::from(path.file_name().unwrap());
            found.extend(below.map(|(file, bytes)| (name.join(file), bytes)));
        } else {
            found.insert(path.file_name().unwrap().into(), inflated(&path));
        }
    }
    found
}

#[test]
fn the_truth_and_the_scenario_are_inside() {
    let scenario = random_scenario(7);
    let bundle = TestBundle::new(&scenario);
    let text = |name| fs::read_to_string(bundle.path().join(name)).unwrap();
    assert_eq!(
        Scenario::from_toml(&text("scenario.toml")).unwrap(),
        scenario
    );
    let truth: TruthFile = serde_json::from_str(&text("truth.json")).unwrap();
    assert_eq!(truth.runs, truths(&scenario).unwrap());
}

#[test]
fn processes_are_named_whatever_tables_are_chosen() {
    let mut scenario = Scenario::preset("eager").unwrap();
    scenario.tables = Some(vec![Table::MetalGpuIntervals]);
    let bundle = TestBundle::new(&scenario);
    let run = Run::open(&bundle.path(), 1);
    assert!(run.stores_of("metal-gpu-state-intervals").is_empty());
    let names = run.table("process-info").rows;
    assert!(names.iter().any(|row| row[4] == scenario.process[0].name));
}

#[test]
fn only_synthetic_bundles_are_replaced() {
    let dir = metalens_testing::scratch();
    let path = dir.path().join("below/X.trace");
    let scenario = Scenario::preset("two-runs").unwrap();
    write_bundle(&scenario, &path, false).unwrap();
    let refused = write_bundle(&scenario, &path, false).unwrap_err();
    assert!(matches!(refused, Error::NotEmpty { .. }), "{refused}");

    write_bundle(&random_scenario(1), &path, true).unwrap();
    assert!(!path.join("corespace/run2").exists(), "nothing is left");

    let real = dir.path().join("real.trace");
    fs::create_dir(&real).unwrap();
    fs::write(real.join("open.creq"), "precious").unwrap();
    let refused = write_bundle(&scenario, &real, true).unwrap_err();
    assert!(matches!(refused, Error::NotOurs { .. }), "{refused}");
    assert!(refused.to_string().contains("was not written by"));
    assert_eq!(
        fs::read_to_string(real.join("open.creq")).unwrap(),
        "precious"
    );
}

#[test]
fn no_temporary_files_are_left() {
    let dir = metalens_testing::scratch();
    let path = dir.path().join("X.trace");
    let mut scenario = Scenario::preset("eager").unwrap();
    // The run is too short for its own events, which is found only when it is planned.
    scenario.recording.wall = Some(metalens_simulator::Nanos::new(1));
    assert!(write_bundle(&scenario, &path, false).is_err());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    scenario.recording.wall = None;
    write_bundle(&scenario, &path, false).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}
