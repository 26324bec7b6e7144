//! Tests tables that cannot be read: the recording is refused if the table must be readable, and
//! read with a note if not. The rule is the same for bundles, exports and the list of tables.

use std::fs;
use std::path::Path;

use metalens_testing::real_recordings;
use metalens_trace::{Error, Input, LoadOptions, Selection, Trace, TraceNote};

use super::mini_bundle::{Bundled, good, intervals, store, written};

const DAMAGED: &str = "metal-gpu-intervals";

fn load(path: &Path, selection: &Selection) -> Result<Trace, Error> {
    Input::open(path)?.load(selection, LoadOptions::default())
}

/// A recording with a damaged file, and the reason.
struct Damage<'a> {
    trace: &'a Path,
    file: &'a str,
    fault: &'a str,
}

impl Damage<'_> {
    /// Checks that the recording is refused if the table is needed, with file, table and fault in
    /// the error; read with a note if the table is optional; and listed with a problem.
    fn check(&self, table: &str, others: &[&str]) {
        let Self { trace, file, fault } = self;
        let error = load(trace, &Selection::table(table)).unwrap_err();
        let message = error.to_string();
        let path = trace.join(file).display().to_string();
        for part in [path.as_str(), table, fault] {
            assert!(message.contains(part), "{part}: {message}");
        }

        assert!(error.problem().is_unusable_input(), "{message}");
        let columns: Vec<(&str, &[&str])> = vec![(table, &["start", "label"])];
        let welcome = [
            Selection::everything().where_readable(),
            Selection::table(others.first().unwrap()).and_if_readable(&columns),
        ];
        for selection in welcome {
            let trace = load(trace, &selection).unwrap();
            assert!(trace.find_table(table).is_none());
            for other in others
                .iter()
                .filter(|other| selection.schemas().is_none_or(|all| all.contains(other)))
            {
                assert!(trace.find_table(other).is_some(), "{other}");
            }
            let noted = trace.notes.iter().map(TraceNote::to_string);
            let noted = noted.filter(|note| note.contains(table) && note.contains(fault));
            assert_eq!(noted.count(), 1, "{:?}", trace.notes);
            let error = trace.table(table).unwrap_err().to_string();
            assert!(error.contains(fault), "{error}");
        }

        let listed = Input::open(trace).unwrap().list(LoadOptions::default());
        for document in listed {
            let problem = document.table.err().map(|error| error.to_string());
            let is_damaged = document.named_schema == table;
            assert_eq!(
                problem.is_some(),
                is_damaged,
                "{}: {problem:?}",
                document.named_schema
            );
            assert!(problem.is_none_or(|problem| problem.contains(fault)));
        }
    }
}

/// A change to the files of a bundle, the damaged file, and the fault.
type Case<'a> = (&'a dyn Fn(&mut Bundled), String, &'a str);

#[test]
fn damaged_tables_of_a_bundle_are_found() {
    let bulkstore = store(2, "bulkstore");
    let rows = |files: &mut Bundled, rows: u64| {
        files.insert(
            store(2, "bulkstore_descriptor"),
            intervals().descriptor(rows),
        );
    };

    let size = usize::try_from(intervals().row_size()).unwrap();
    let cut = |files: &mut Bundled, length: usize| {
        files
            .get_mut(&store(2, "bulkstore"))
            .unwrap()
            .truncate(length);
    };

    let preallocated = |files: &mut Bundled| {
        let stored = files.get_mut(&store(2, "bulkstore")).unwrap();
        stored.resize(0x1000 + 0x4000 * size, 0);
    };

    let flip = |files: &mut Bundled| {
        let stored = files.get_mut(&store(2, "bulkstore")).unwrap();
        let mut packed = super::mini_bundle::zlib(stored);
        let middle = packed.len() / 2;
        packed[middle] ^= 0xff;
        *stored = packed;
    };

    let no_label = |files: &mut Bundled| {
        let stored = files.get_mut(&store(2, "bulkstore")).unwrap();
        stored[0x1000 + 28] = 99;
    };

    let cases: [Case<'_>; 9] = [
        (
            &|files| cut(files, 30),
            bulkstore.clone(),
            "the file is cut off",
        ),
        (
            &|files| cut(files, 0x1000 + size),
            bulkstore.clone(),
            "it has 1 rows, but its descriptor has 2",
        ),
        (
            &|files| rows(files, 1),
            bulkstore.clone(),
            "it has more rows than the 1",
        ),
        (
            &|files| rows(files, 90),
            bulkstore.clone(),
            "but its descriptor has 90",
        ),
        (
            &|files| drop(files.remove(&store(2, "bulkstore"))),
            bulkstore.clone(),
            "the file is missing",
        ),
        (
            &|files| drop(files.remove(&store(2, "schema.xml"))),
            store(2, "schema.xml"),
            "the file is missing",
        ),
        (&flip, bulkstore.clone(), "zlib data is damaged"),
        (
            &no_label,
            store(2, "").trim_end_matches('/').to_owned(),
            "refers to nothing",
        ),
        // The preallocated space has room for this many rows, but they are not written.
        (
            &|files| {
                preallocated(files);
                rows(files, 0x4000);
            },
            bulkstore.clone(),
            "its descriptor has 16384 rows, but only the first 2 are written",
        ),
    ];

    for (change, file, fault) in cases {
        let mut files = good();
        change(&mut files);
        let place = metalens_testing::scratch();
        let trace = &written(&files, place.path());
        Damage {
            trace,
            file: &file,
            fault,
        }
        .check(DAMAGED, &["process-info", "time-profile"]);
    }
}

/// Preallocated space is neither a row nor a fault.
#[test]
fn a_correct_count_is_accepted() {
    let mut files = good();
    let size = usize::try_from(intervals().row_size()).unwrap();
    let stored = files.get_mut(&store(2, "bulkstore")).unwrap();
    stored.resize(0x1000 + 0x4000 * size, 0);
    let place = metalens_testing::scratch();
    let trace = load(&written(&files, place.path()), &Selection::everything()).unwrap();
    assert_eq!(trace.table(DAMAGED).unwrap().rows(), 2);
}

#[test]
fn damaged_tables_of_an_export_are_found() {
    let place = metalens_testing::scratch();
    let other = super::GOOD
        .replace(DAMAGED, "process-info")
        .replace("table[7]", "table[8]");
    fs::write(place.path().join("process-info.xml"), other).unwrap();
    let file = "metal-gpu-intervals.xml";
    let end = super::GOOD.find("</row>").unwrap();
    fs::write(place.path().join(file), &super::GOOD[..end]).unwrap();
    let trace = place.path();
    let fault = "the document is cut off";
    Damage { trace, file, fault }.check(DAMAGED, &["process-info"]);
}

/// A file that all tables of a bundle need is listed separately.
#[test]
fn a_damaged_common_file_is_listed() {
    let mut files = good();
    files.insert(
        super::mini_bundle::core("uniquing/strings"),
        b"<plist>".to_vec(),
    );
    let place = metalens_testing::scratch();
    let trace = written(&files, place.path());
    assert!(load(&trace, &Selection::everything().where_readable()).is_err());
    let listed = Input::open(&trace).unwrap().list(LoadOptions::default());
    let (fine, broken): (Vec<_>, Vec<_>) = listed
        .into_iter()
        .partition(|document| document.table.is_ok());
    assert_eq!(fine.len(), 3);
    let [broken] = &broken[..] else {
        panic!("{broken:?}");
    };
    assert!(broken.file.ends_with("uniquing/strings"), "{}", broken.file);
}

/// A run that the bundle has but does not list must not be skipped silently.
#[test]
fn a_run_without_a_list_of_tables_gives_a_note() {
    let mut files = good();
    files.insert(
        "corespace/run2/core/uniquing/strings".to_owned(),
        Vec::new(),
    );
    let place = metalens_testing::scratch();
    let trace = load(&written(&files, place.path()), &Selection::everything()).unwrap();
    assert!(
        trace.notes.contains(&TraceNote::RunLeftOut { run: 2 }),
        "{:?}",
        trace.notes
    );
}

/// Real stores are cut off, or get a row count beyond their preallocated blocks.
#[cfg(unix)]
#[test]
fn damaged_tables_of_a_real_bundle_are_found() {
    let Some(real) = real_recordings() else {
        return;
    };
    let bundle = real.join("m1-bundle-and-export/gpu_baseline.trace");
    let others = ["metal-gpu-state-intervals", "metal-object-label"];
    let list = Input::open(&bundle).unwrap().list(LoadOptions::default());
    for table in [
        DAMAGED,
        "metal-command-buffer-completed",
        "metal-application-encoders-list",
    ] {
        let stored = list
            .iter()
            .find(|document| document.named_schema == table)
            .unwrap();
        let (_, store) = stored.file.split_once(".trace/").unwrap();
        let file = format!("{store}/bulkstore");
        let place = metalens_testing::scratch();
        let trace = &place.path().join("X.trace");
        copy(&bundle, trace);
        let whole = fs::read(bundle.join(&file)).unwrap();
        fs::write(trace.join(&file), &whole[..30]).unwrap();
        Damage {
            trace,
            file: &file,
            fault: "the file is cut off",
        }
        .check(table, &others);
    }
}

#[cfg(unix)]
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(path, copied).unwrap();
        }
    }
}
