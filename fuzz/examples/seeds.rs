//! Writes a few made-up inputs for each target to `corpus/` or another folder:
//! `cargo run --example seeds [folder]`. Inputs that fuzzing found are in the same folders; this
//! program does not write them.

#[path = "../../crates/analyze/trace/tests/suite/mini_bundle.rs"]
mod mini_bundle;

use std::fs;
use std::io::Write as _;
use std::path::Path;

use metalens_analyzer::{Request, analyze, selection};
use metalens_comparison::Baseline;
use metalens_fuzz::documents::SMALL;
use metalens_simulator::{Scenario, presets, write_export};
use metalens_trace::{Input, LoadOptions};
use mini_bundle::{core, good, store, zip, zlib};

/// A function that writes a seed, given its target, name and bytes.
type Write<'a> = &'a dyn Fn(&str, &str, &[u8]);

fn main() {
    let folder = std::env::args().nth(1).unwrap_or("corpus".to_owned());
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = Path::new(&folder).join(target);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(name), bytes).expect("room on the disk");
    };
    bundles(&write);
    exports(&write);
    documents(&write);
}

/// Writes a bundle, its parts, and a change of each file.
fn bundles(write: Write<'_>) {
    let files = good();
    let file = |path: String| files[&path].as_slice();
    for number in 1..=3 {
        let descriptor = file(store(number, "bulkstore_descriptor"));
        let layout = [file(store(number, "schema.xml")), &[0], descriptor].concat();
        write("layout", &format!("store-{number}"), &layout);
        write("keyed", &format!("descriptor-{number}"), descriptor);
    }

    write("keyed", "template", file("form.template".to_owned()));
    write("keyed", "tables", file(core("table-manager/tables.plist")));
    let uniques = [
        "arrayUniquer/integeruniquer.index",
        "arrayUniquer/integeruniquer.data",
        "strings",
        "EngineeringTypes.etypes",
    ];

    let uniques = uniques.map(|name| file(core(&format!("uniquing/{name}"))));
    let framed = uniques.iter().flat_map(|bytes| {
        let length = u16::try_from(bytes.len()).expect("a small file");
        [&length.to_le_bytes(), *bytes].concat()
    });
    write("uniques", "lists", &framed.collect::<Vec<u8>>());
    write("bundle", "zip", &zip(&files));
    write("bundle", "unchanged", &[]);
    for place in 0..files.len() {
        let place = u8::try_from(place).expect("few files");
        let change = [place, 40, 0, 4, 1, 0, 0, 0];
        write("bundle", &format!("changed-{place}"), &change);
    }
}

/// Writes tables and a table of contents, plain and compressed.
fn exports(write: Write<'_>) {
    for (name, document) in DOCUMENTS {
        write("xml", name, document);
        write("xml_judge", name, document);
        for how in [0, 1, 0x1c, 34] {
            let input = [&[how], *document].concat();
            write("xml_differential", &format!("{name}-{how}"), &input);
        }
    }
    write("toc", "toc", TOC.as_bytes());
    let (_, table) = DOCUMENTS[0];
    for (name, how, inside) in [
        ("gzip", 2, gzip(table)),
        ("zlib", 2, zlib(table)),
        ("zip", 2, archive(table)),
        ("inside-gzip", 0, table.to_vec()),
    ] {
        write("compressed", name, &[&[how][..], &inside].concat());
    }
}

/// Compresses bytes with gzip.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(bytes).expect("memory");
    gzip.finish().expect("memory")
}

/// Returns an export folder as a zip archive.
fn archive(table: &[u8]) -> Vec<u8> {
    let mut archive = ::zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in [
        ("x.export/toc.xml", TOC.as_bytes()),
        ("x.export/x.xml", table),
    ] {
        let options = ::zip::write::SimpleFileOptions::default();
        archive.start_file(name, options).expect("an archive");
        archive.write_all(bytes).expect("memory");
    }
    archive.finish().expect("an archive").into_inner()
}

/// Writes scenarios, a work file, a report, a baseline and a manifest.
fn documents(write: Write<'_>) {
    for preset in presets() {
        write("scenario", preset.name, preset.toml.as_bytes());
    }
    write("work", "work", WORK.as_bytes());
    let folder = tempfile::tempdir().expect("a folder");
    let export = folder.path().join("small");
    let scenario = Scenario::from_toml(SMALL).expect("a scenario");
    write_export(&scenario, &export, false).expect("an export");
    let input = Input::open(&export).expect("an input");
    let trace = input.load(&selection(), LoadOptions::default());
    let mut trace = trace.expect("a trace");
    "small".clone_into(&mut trace.path);
    let analysis = analyze(trace, &Request::default()).expect("an analysis");
    let report = analysis.report;
    let json = serde_json::to_vec(&report).expect("JSON");
    write("report", "small", &json);
    // The same run three times would be no baseline.
    let runs = [1, 2, 3].map(|longer_ns| {
        let mut run = report.clone();
        run.run.duration_ns = run.run.duration_ns.map(|length_ns| length_ns + longer_ns);
        run
    });
    let baseline = Baseline::from_reports(&runs);
    let text = baseline.expect("a baseline").text().expect("JSON");
    write("baseline", "small", text.as_bytes());
    write("manifest", "small", MANIFEST.as_bytes());
}

const WORK: &str = r#"{"schema":"metalens.work/1","bandwidth_gb_s":100.0,"peak_tflops":2.5,"gpu_cores":8,"work":[{"label":"sin","bytes":4096,"flops":8192},{"label":"cos","bytes":4096}]}"#;

const MANIFEST: &str = r#"{"schema":"metalens.export/1","bundle":"run.trace","from_ns":null,"to_ns":null,"tables":[{"schema":"metal-gpu-intervals","run":1,"state":"whole","file":"metal-gpu-intervals.xml","bytes":12}]}"#;

/// Two documents; `everything` contains every construct that the fast reader supports.
const DOCUMENTS: &[(&str, &[u8])] = &[
    (
        "table",
        include_bytes!("../../crates/analyze/trace/tests/suite/good.xml"),
    ),
    (
        "everything",
        include_bytes!("../../crates/analyze/trace/tests/suite/everything.xml"),
    ),
];

const TOC: &str = r#"<trace-toc><run number="1"><info><target><device name="a" model="b" os-version="1"/><process type="launched" name="bench" pid="12" return-exit-status="0"/></target><summary><start-date>2026-01-01T00:00:00.000+01:00</start-date><duration>1.5</duration><end-reason>Target app exited</end-reason><template-name>t</template-name></summary></info><processes><process name="bench" pid="12" path="/bin/bench"/></processes><data><table schema="x" target-pid="ALL"/></data><tracks><track name="t"><details><detail name="d" kind="table"/></details></track></tracks></run></trace-toc>"#;
