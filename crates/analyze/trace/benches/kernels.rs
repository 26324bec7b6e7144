//! Measures the readers without a disk: one document with the reference reader and with the fast
//! one, and a bundle. Run it with `cargo bench -p metalens-trace`.

#![expect(clippy::expect_used, reason = "a benchmark has nobody to tell")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use metalens_simulator::{Scenario, write_bundle, write_export};
use metalens_trace::fuzzing::{self, Bundled, ReadMethod};
use metalens_trace::{Names, Selection};

fn main() {
    divan::main();
}

const SCENARIO: &str = r#"
[[process]]
name = "bench"
pid = 4321
role = "target"

[[process.stream]]
count = 20000
submit = "pipelined"
encoders-per-buffer = 20
duration = ["5us", "60us"]
encoder-label = ["sin", "cos", "exp"]
"#;

/// Methods of reading rows: the reference, the fast path on one thread, and on all threads.
const METHODS: [ReadMethod; 3] = [
    ReadMethod::Reference,
    ReadMethod::Windows(1 << 20, 0),
    ReadMethod::Default,
];

#[divan::bench(args = METHODS, sample_count = 20)]
fn document(bencher: Bencher<'_, '_>, method: ReadMethod) {
    let folder = tempfile::tempdir().expect("a folder");
    let export = folder.path().join("made-up");
    let scenario = Scenario::from_toml(SCENARIO).expect("a scenario");
    write_export(&scenario, &export, false).expect("an export");
    let document = fs::read(export.join("metal-gpu-intervals.xml")).expect("a table");
    bencher
        .counter(BytesCount::of_slice(&document))
        .bench_local(|| {
            let selection = Selection::everything();
            let read = fuzzing::xml(
                black_box(document.as_slice()),
                &mut Names::new(),
                &selection,
                false,
                method,
            );
            read.expect("a table that can be read")
        });
}

#[divan::bench(sample_count = 20)]
fn bundle(bencher: Bencher<'_, '_>) {
    let files = made_up_bundle();
    let stored = files.values().map(Vec::len).sum();
    bencher
        .counter(BytesCount::usize(stored))
        .with_inputs(|| files.clone())
        .bench_local_values(fuzzing::bundle);
}

/// Returns the stored files of a simulated bundle.
fn made_up_bundle() -> Bundled {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made-up.trace");
    let scenario = Scenario::from_toml(SCENARIO).expect("a scenario");
    write_bundle(&scenario, &path, false).expect("a bundle");
    let mut files = BTreeMap::new();
    collect(&path, "", &mut files);
    files
}

fn collect(folder: &Path, inside: &str, files: &mut Bundled) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let name = if inside.is_empty() {
            name
        } else {
            format!("{inside}/{name}")
        };
        let path = entry.path();
        if path.is_dir() {
            collect(&path, &name, files);
        } else {
            files.insert(name, fs::read(path).expect("a file"));
        }
    }
}
