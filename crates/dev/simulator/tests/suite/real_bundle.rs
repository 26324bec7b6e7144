//! Compares the layout of our bundles with real ones, if there are any on this machine: schemas,
//! descriptors, archives and headers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use metalens_simulator::{Scenario, write_bundle};
use plist::Value;

use crate::keyed::{archive, archive_to, get, plain};
use crate::real_tables::real_folder;
use crate::trace_bundle::{Run, inflated};

const METAL: &str = "m1-bundle-and-export/gpu_baseline.trace";
const COMPLETE: &str = "m1-time-profiler-bundle-and-export/cpu_time_profiler.trace";

/// A real bundle, and one of ours.
struct Pair {
    real: PathBuf,
    ours: PathBuf,
    _dir: tempfile::TempDir,
}

/// Returns both bundles, or `None` with a message if the real one is missing.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn pair(name: &str) -> Option<Pair> {
    let real = real_folder().join(name);
    if !real.is_dir() {
        eprintln!(
            "skipped: no bundle at {}; set METALENS_REAL",
            real.display()
        );
        return None;
    }
    let dir = metalens_testing::scratch();
    let ours = dir.path().join("ours.trace");
    let mut scenario = Scenario::preset("eager").unwrap();
    scenario.recording.large_blocks = true;
    write_bundle(&scenario, &ours, false).unwrap();
    Some(Pair {
        real,
        ours,
        _dir: dir,
    })
}

#[test]
fn every_store_is_laid_out_like_the_real_one() {
    let Some(pair) = pair(METAL) else { return };
    let (real, ours) = (Run::open(&pair.real, 1), Run::open(&pair.ours, 1));
    let names: BTreeSet<&String> = ours.stores.values().collect();
    for name in &names {
        let (theirs, mine) = (real.stores_of(name), ours.stores_of(name));
        let (theirs, mine) = (theirs.first().expect("one of theirs"), &mine[0]);
        for file in ["bulkstore_descriptor", "spec.plist"] {
            assert_eq!(
                shape(&archive(&mine.join(file))["root"]),
                shape(&archive(&theirs.join(file))["root"]),
                "{file} of {name}"
            );
        }
        let (mine, theirs) = (ours.store(mine), real.store(theirs));
        assert_eq!(mine.columns, theirs.columns, "columns of {name}");
        assert_eq!(mine.fields, theirs.fields, "fields of {name}");
        assert_eq!(mine.header, theirs.header, "header of {name}");
    }
    assert!(names.len() > 20, "{names:?}");
}

#[test]
fn archives_are_shaped_like_the_real_ones() {
    let Some(pair) = pair(METAL) else { return };
    for (file, keys) in [
        (
            "table-manager/tables.plist",
            ["lastStoreIdx", "nextTableID"],
        ),
        (
            "core-config/exposedTableInfo.plist",
            ["inputTableIDs", "biproductTableIDs"],
        ),
        ("uniquing/TOC", ["strings", "etypeMap"]),
    ] {
        let read = |bundle: &Path| archive(&bundle.join("corespace/run1/core").join(file));
        let (theirs, mine) = (read(&pair.real), read(&pair.ours));
        let members = |root: &Value| -> BTreeSet<String> {
            root.as_dictionary().unwrap().keys().cloned().collect()
        };
        assert_eq!(members(&mine["root"]), members(&theirs["root"]), "{file}");
        for key in keys {
            let kind = |value: &Value| std::mem::discriminant(get(value, key));
            assert_eq!(kind(&mine["root"]), kind(&theirs["root"]), "{key}");
        }
    }

    let types = |bundle: &Path| {
        let types = archive(&bundle.join("corespace/run1/core/uniquing/EngineeringTypes.etypes"));
        let types = types["root"].as_array().unwrap().clone();
        types.iter().map(shape_of_text).collect::<BTreeSet<_>>()
    };

    let (theirs, mine) = (types(&pair.real), types(&pair.ours));
    assert!(mine.is_subset(&theirs), "{:?}", mine.difference(&theirs));
}

#[test]
fn the_document_archive_has_the_real_fields() {
    let Some(pair) = pair(COMPLETE) else { return };
    let roots = |bundle: &Path| archive_to(&bundle.join("form.template"), 6);
    let (theirs, mine) = (roots(&pair.real), roots(&pair.ours));
    for key in mine.keys() {
        assert!(theirs.contains_key(key), "{key}");
    }

    let run = |roots: &plist::Dictionary| {
        let list = &roots["com.apple.xray.run.data"];
        get(get(list, "$1"), "1").clone()
    };

    let (theirs, mine) = (run(&theirs), run(&mine));
    let members = |value: &Value| -> BTreeSet<String> {
        value.as_dictionary().unwrap().keys().cloned().collect()
    };

    assert!(members(&mine).is_subset(&members(&theirs)));
    let kinds = |run: &Value| -> Vec<(String, String)> {
        let info = get(run, "runInfo").as_dictionary().unwrap();
        let kind = |(key, value): (&String, &Value)| {
            let kind = format!("{:?}", std::mem::discriminant(value));
            (key.clone(), kind)
        };
        let mut kinds: Vec<_> = info.iter().map(kind).collect();
        kinds.sort();
        kinds
    };

    assert_eq!(kinds(&mine), kinds(&theirs));
}

#[test]
fn surrounding_files_are_where_the_real_ones_are() {
    let Some(pair) = pair(COMPLETE) else { return };
    for file in [
        "open.creq",
        "corespace/MANIFEST.plist",
        "corespace/currentRun/core/uniquing/arrayUniquer/integeruniquer.index",
        "corespace/currentRun/core/uniquing/typedArrayUniquer/integeruniquer.data",
    ] {
        let (theirs, mine) = (pair.real.join(file), pair.ours.join(file));
        let head = |path: &Path| inflated(path).into_iter().take(32).collect::<Vec<_>>();
        assert_eq!(head(&mine), head(&theirs), "{file}");
    }
}

/// Returns the keys and kinds of an archive, without its values.
fn shape(value: &Value) -> String {
    match value {
        Value::Dictionary(members) if !members.contains_key("NS.data") => {
            let mut shapes: Vec<String> = members
                .iter()
                .map(|(key, value)| match key.as_str() {
                    "attributes" | "mergeableAttributeKeys" => key.clone(),
                    "$classname" => format!("is {value:?}"),
                    _ => format!("{key}: {}", shape(value)),
                })
                .collect();
            shapes.sort();
            format!("{{{}}}", shapes.join(", "))
        }
        Value::Array(items) => {
            let shapes: BTreeSet<String> = items.iter().map(shape).collect();
            format!("{shapes:?}")
        }
        other => format!("{:?}", std::mem::discriminant(other)),
    }
}

fn shape_of_text(value: &Value) -> String {
    plain(get(value, "NS.string"))
}
