//! Tests zip archives: where a recording may be, and the errors if there are several.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use metalens_failure::Failure;
use metalens_trace::{Error, Input, LoadOptions, Problem, Selection, Trace};
use tempfile::TempDir;

use super::GOOD;
use super::mini_bundle::{good, zlib};

fn load(path: &Path) -> Result<Trace, Error> {
    Input::open(path)?.load(&Selection::everything(), LoadOptions::default())
}

/// The files of the small bundle, or the good document, under other names.
enum What {
    Bundle,
    Export,
}

/// Returns an archive of recordings at these paths, with this path separator.
fn archive(traces: &[(&str, What)], separator: &str) -> (TempDir, PathBuf) {
    let folder = metalens_testing::scratch();
    let path = folder.path().join("a.zip");
    let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
    for (root, what) in traces {
        let files: Vec<(String, Vec<u8>)> = match what {
            What::Bundle => {
                let files = good().into_iter();
                files.map(|(path, bytes)| (path, zlib(&bytes))).collect()
            }
            What::Export => vec![("metal-gpu-intervals.xml".to_owned(), GOOD.into())],
        };
        for (inside, bytes) in files {
            let name = format!("{root}{inside}").replace('/', separator);
            let options = zip::write::SimpleFileOptions::default();
            archive.start_file(name, options).unwrap();
            archive.write_all(&bytes).unwrap();
        }
    }
    archive.finish().unwrap();
    (folder, path)
}

/// The place of the recording must not change its rows.
#[test]
fn one_recording_is_found_anywhere() {
    let roots = [
        "X.trace/",
        "",
        "/X.trace/",
        "./X.trace/",
        "a/b/X.trace/",
        "/",
        "run/",
        "C:/run.trace/",
    ];

    for root in roots {
        for separator in ["/", "\\"] {
            let (_folder, path) = archive(&[(root, What::Bundle)], separator);
            let trace = load(&path).unwrap_or_else(|error| panic!("{root}, {separator}: {error}"));
            assert_eq!(
                trace.table("metal-gpu-intervals").unwrap().rows(),
                2,
                "{root}"
            );
            // A folder with the name of a bundle is not an export.
            let root = &root.replace(".trace", "");
            let (_folder, path) = archive(&[(root, What::Export)], separator);
            let trace = load(&path).unwrap_or_else(|error| panic!("{root}, {separator}: {error}"));
            assert_eq!(
                trace.table("metal-gpu-intervals").unwrap().rows(),
                3,
                "{root}"
            );
        }
    }
}

#[test]
fn one_of_several_recordings_must_be_named() {
    let check = |traces: &[(&str, What)], expected: &str| {
        let (_folder, path) = archive(traces, "/");
        let error = load(&path).unwrap_err();
        assert!(error.to_string().ends_with(expected), "{error}");
        let hint = error.hint().unwrap();
        assert!(
            hint.starts_with("give the path of one, as in a folder: "),
            "{hint}"
        );
        for (root, what) in traces {
            let trace = load(&path.join(root.trim_end_matches('/')));
            let rows = match what {
                What::Bundle => 2,
                What::Export => 3,
            };
            let trace = trace.unwrap_or_else(|error| panic!("{root}: {error}"));
            assert_eq!(
                trace.table("metal-gpu-intervals").unwrap().rows(),
                rows,
                "{root}"
            );
        }
        let nothing = load(&path.join("no/such.trace")).unwrap_err();
        assert!(
            matches!(nothing.problem(), Problem::EmptyFolder),
            "{nothing}"
        );
    };

    check(
        &[("a.trace/", What::Bundle), ("runs/b.trace/", What::Bundle)],
        "a.zip: the archive has 2 recordings: a.trace, runs/b.trace",
    );
    check(
        &[("one/", What::Export), ("two/", What::Export)],
        "a.zip: the archive has 2 recordings: one, two",
    );
    let many: Vec<String> = (10..40).map(|at| format!("{at}.trace/")).collect();
    let many: Vec<(&str, What)> = many
        .iter()
        .map(|root| (root.as_str(), What::Export))
        .collect();
    let (_folder, path) = archive(&many, "/");
    let error = load(&path).unwrap_err().to_string();
    assert!(error.ends_with("17.trace and 22 more"), "{error}");
}

/// The directory of an archive must be read only once: reading it for each entry would take minutes
/// for ten thousand entries.
#[cfg(unix)]
#[test]
fn the_directory_is_read_once() {
    for what in [What::Bundle, What::Export] {
        let (_folder, path) = archive(&[("x/", what)], "/");
        let input = Input::open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(
            input
                .list(LoadOptions::default())
                .iter()
                .all(|document| document.table.is_ok())
        );
        assert!(
            input
                .load(&Selection::everything(), LoadOptions::default())
                .is_ok()
        );
    }
}

/// Many other files, at the root and deep inside, are skipped, and not all of them are named.
#[test]
fn other_files_are_skipped() {
    for folder in ["", "a/b/"] {
        let place = metalens_testing::scratch();
        let path = place.path().join("a.zip");
        let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
        let options = zip::write::SimpleFileOptions::default();
        archive
            .start_file(format!("{folder}metal-gpu-intervals.xml"), options)
            .unwrap();
        archive.write_all(GOOD.as_bytes()).unwrap();
        for at in 0..40_000 {
            archive
                .start_file(format!("{folder}t{at}.xml"), options)
                .unwrap();
        }
        archive.finish().unwrap();
        let input = Input::open(&path).unwrap();
        let only = Selection::table("metal-gpu-intervals");
        let trace = input.load(&only, LoadOptions::default()).unwrap();
        assert_eq!(trace.table("metal-gpu-intervals").unwrap().rows(), 3);
        assert!(trace.notes.len() < 100, "{}", trace.notes.len());
        let last = trace.notes.last().unwrap().to_string();
        assert!(
            last.contains("39980 more notes of the kind files-left-out"),
            "{last}"
        );
    }
}

/// A zip compresses what a bundle has compressed: labels that repeat without end inflate to hundreds
/// of times their size in it. The bundle and its zip must be read alike.
#[test]
fn a_zip_of_regular_labels_is_read() {
    let scenario = r#"
        seed = 1
        tables = ["metal-gpu-intervals"]
        [[process]]
        name = "bench"
        pid = 1
        role = "target"
        [[process.stream]]
        count = 60000
        submit = "pipelined"
        encoders-per-buffer = 20
        encoder-label = ["matmul", "softmax"]
        duration = "20us"
    "#;
    let place = metalens_testing::scratch();
    let bundle = place.path().join("X.trace");
    let scenario = metalens_simulator::Scenario::from_toml(scenario).unwrap();
    metalens_simulator::write_bundle(&scenario, &bundle, false).unwrap();
    let path = place.path().join("a.zip");
    let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
    let labels = "corespace/run1/core/uniquing/typedArrayUniquer/integeruniquer.data";
    let mut folders = vec![bundle.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let list = if path.is_dir() {
                &mut folders
            } else {
                &mut files
            };
            list.push(path);
        }
    }
    for file in files {
        let inside = file.strip_prefix(&bundle).unwrap().display().to_string();
        let options = zip::write::SimpleFileOptions::default();
        archive
            .start_file(format!("X.trace/{inside}"), options)
            .unwrap();
        archive.write_all(&fs::read(&file).unwrap()).unwrap();
    }
    archive.finish().unwrap();

    let mut archive = zip::ZipArchive::new(File::open(&path).unwrap()).unwrap();
    let zipped = archive
        .by_name(&format!("X.trace/{labels}"))
        .unwrap()
        .compressed_size();
    let stored = fs::read(bundle.join(labels)).unwrap();
    // What Instruments writes begins with these bytes too.
    assert_eq!(stored[..2], [0x78, 0x9c]);
    let mut inflated = Vec::new();
    let mut inflating = flate2::read::ZlibDecoder::new(stored.as_slice());
    std::io::Read::read_to_end(&mut inflating, &mut inflated).unwrap();
    let ratio = inflated.len() as u64 / zipped;
    assert!(
        ratio > 100,
        "the labels inflate to {ratio} times their size"
    );

    let (zip, folder) = (load(&path).unwrap(), load(&bundle).unwrap());
    let rows = |trace: &Trace| trace.table("metal-gpu-intervals").unwrap().rows();
    assert_eq!((rows(&zip), rows(&folder)), (60_000, 60_000));
}

/// Two entries with the same name are ambiguous.
#[test]
fn two_entries_with_one_name_are_refused() {
    let place = metalens_testing::scratch();
    let path = place.path().join("a.zip");
    let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
    for name in ["a/metal-gpu-intervals.xml", "a//metal-gpu-intervals.xml"] {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(name, options).unwrap();
        archive.write_all(GOOD.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    let error = load(&path).unwrap_err().to_string();
    assert!(error.contains("appears twice"), "{error}");
}
