//! Compares real bundles, if they are available, with their exports by `xctrace`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use metalens_failure::Failure;
use metalens_testing::real_recordings;
use metalens_trace::{
    Frame, Input, Integers, LoadOptions, Run, Selection, StackId, Table, TableComparison, Target,
    Trace, Values, compare,
};

const METAL: &str = "m1-bundle-and-export/gpu_baseline.trace";
const METAL_EXPORT: &str = "m1-bundle-and-export/export";
const CPU: &str = "m1-time-profiler-bundle-and-export/cpu_time_profiler.trace";
const NEWEST: &str = "newest-layout-time-profile-bundle/cargo-flamegraph.trace";
const INSTRUMENTS_15: &str = "m2-counters-bundle/julia_1.trace";
const INTEL: &str = "older-layout-bundles/qcel-howmany/cargo-flamegraph.trace";
/// Of Instruments 16, on Apple silicon.
const INSTRUMENTS_16: &str =
    "older-layout-bundles/vela/Launch_matching-a51bd83e5bcec25f_2026-04-14_18.42.10_A606575F.trace";
const CYCLES: &str = "cycles-and-signposts-pairs/finder.trace.zip";
const CYCLES_EXPORT: &str = "cycles-and-signposts-pairs/export/finder_cpu_profile.xml";
const SIGNPOSTS: &str = "cycles-and-signposts-pairs/signpost.trace.zip";
/// The first 50 rows of each table.
const SIGNPOSTS_EXPORT: [(&str, u64); 2] = [
    ("cycles-and-signposts-pairs/export/signpost_events.xml", 13),
    (
        "cycles-and-signposts-pairs/export/signpost_intervals.xml",
        18,
    ),
];
const CPU_EXPORT: &str = "m1-time-profiler-bundle-and-export/export";

fn load(path: &Path, selection: &Selection) -> Result<Trace, metalens_trace::Error> {
    let selection = selection.clone().with_rendered_labels();
    Input::open(path)?.load(&selection, LoadOptions::default())
}

fn check(bundle: &Path, export: &Path) -> Result<Vec<TableComparison>, metalens_trace::Error> {
    let export = load(export, &Selection::everything())?;
    let schemas: Vec<String> = export
        .tables()
        .iter()
        .map(|t| t.schema.name.clone())
        .collect();
    let native = load(bundle, &Selection::tables(&schemas))?;
    Ok(compare(&native, &export))
}

fn total(tables: &[TableComparison], of: fn(&TableComparison) -> u64) -> u64 {
    tables.iter().map(of).sum()
}

#[test]
fn every_exported_cell_is_the_same() {
    let Some(real) = real_recordings() else {
        return;
    };
    for (bundle, export, cells) in [(METAL, METAL_EXPORT, 121_393), (CPU, CPU_EXPORT, 35_276)] {
        let tables = check(&real.join(bundle), &real.join(export)).unwrap();
        let different: Vec<&TableComparison> = tables.iter().filter(|t| t.different > 0).collect();
        assert!(different.is_empty(), "{bundle}: {different:?}");
        assert_eq!(total(&tables, |table| table.cells), cells, "{bundle}");
    }
}

/// Samples of the CPU Profiler weigh in cycles, which are not time. Three stacks have a name that was not
/// found, or that may be spelled otherwise.
#[test]
fn cycles_are_read_as_cycles() {
    let Some(real) = real_recordings() else {
        return;
    };
    let (bundle, export) = (real.join(CYCLES), real.join(CYCLES_EXPORT));
    let tables = check(&bundle, &export).unwrap();
    let [table] = &tables[..] else {
        panic!("{tables:?}");
    };
    assert_eq!((table.rows, table.cells), ((91, 91), 637));
    assert_eq!(
        (table.undecoded, table.different, table.unnamed),
        (0, 0, 3),
        "{table:?}"
    );
    let weights = |path: &Path| {
        let trace = load(path, &Selection::table("cpu-profile")).unwrap();
        let table = trace.table("cpu-profile").unwrap();
        let weight = &table.schema.columns[table.schema.position("weight").unwrap()];
        assert_eq!(weight.engineering_type, "cycle-weight");
        table.integers("weight").unwrap().iter().collect::<Vec<_>>()
    };
    assert_eq!(weights(&bundle), weights(&export));
}

#[test]
fn signposts_are_the_same() {
    let Some(real) = real_recordings() else {
        return;
    };
    for (export, columns) in SIGNPOSTS_EXPORT {
        let tables = check(&real.join(SIGNPOSTS), &real.join(export)).unwrap();
        let [table] = &tables[..] else {
            panic!("{tables:?}");
        };
        assert_eq!((table.cells, table.undecoded), (50 * columns, 0));
        // The only difference is the number of rows.
        assert_eq!(table.different, 1, "{:?}", table.first);
    }
}

/// No export of the arguments exists. But each is also in the message of its event.
#[test]
fn arguments_of_signposts_are_in_their_messages() {
    let Some(real) = real_recordings() else {
        return;
    };
    let tables = ["os-signpost", "os-signpost-arg"].map(str::to_owned);
    let trace = load(&real.join(SIGNPOSTS), &Selection::tables(&tables)).unwrap();
    let texts = |schema: &str, column: &str| -> Vec<(u64, String)> {
        let table = trace.table(schema).unwrap();
        let texts = table.texts(column).unwrap().iter();
        let texts = texts.map(|text| text.map_or("", |text| trace.names.text(text)).to_owned());
        table
            .integers("time")
            .unwrap()
            .iter()
            .flatten()
            .zip(texts)
            .collect()
    };
    let mut messages: BTreeMap<u64, String> = BTreeMap::new();
    for (time, message) in texts("os-signpost", "message") {
        *messages.entry(time).or_default() += &message.replace(',', "");
    }
    let arguments = texts("os-signpost-arg", "value");
    assert_eq!(arguments.len(), 18_159);
    for (time, argument) in arguments {
        let hex = argument.parse::<u64>().map(|number| format!("{number:x}"));
        let message = &messages[&time];
        let argument = argument.replace(',', "");
        let is_in = message.contains(&argument) || hex.is_ok_and(|hex| message.contains(&hex));
        assert!(is_in, "{argument:?} at {time} in {message:?}");
    }
}

/// Checks that all processes and threads have names if `form.template` is present.
#[test]
fn names_are_complete_if_the_bundle_has_them() {
    let Some(real) = real_recordings() else {
        return;
    };
    let tables = check(&real.join(CPU), &real.join(CPU_EXPORT)).unwrap();
    let people = tables
        .iter()
        .filter(|table| table.schema.ends_with("-info"));
    assert_eq!(people.map(|table| table.unnamed).sum::<u64>(), 0);
}

#[test]
fn every_table_is_listed_with_its_rows() {
    let Some(real) = real_recordings() else {
        return;
    };
    let listed = Input::open(&real.join(METAL))
        .unwrap()
        .list(LoadOptions::default());
    assert_eq!(listed.len(), 114);
    let rows = |schema: &str| -> usize {
        let tables = listed
            .iter()
            .map(|document| document.table.as_ref().unwrap());
        tables
            .filter(|table| table.schema.name == schema)
            .map(Table::rows)
            .sum()
    };

    for (schema, expected) in [
        ("metal-gpu-intervals", 1_260),
        ("metal-gpu-state-intervals", 2_447),
        ("metal-gpu-execution-points", 2_520),
        ("metal-gpu-submission-to-command-buffer-id", 2_276),
        ("metal-command-buffer-completed", 1_059),
        ("metal-application-encoders-list", 1_000),
        ("metal-application-command-buffer-submissions", 1_000),
        ("metal-application-intervals", 2_000),
        ("metal-driver-intervals", 2_197),
        ("metal-object-label", 2_492),
        ("metal-io-surface-access", 145),
        ("metal-resource-allocations", 15),
        ("metal-current-allocated-size", 31),
        ("gpu-performance-state-intervals", 13),
        ("gpu-counter-value", 0),
    ] {
        assert_eq!(rows(schema), expected, "{schema}");
    }
}

/// Every table of both bundles is read completely.
#[test]
fn every_table_is_read() {
    let Some(real) = real_recordings() else {
        return;
    };
    for bundle in [METAL, CPU] {
        let trace = load(&real.join(bundle), &Selection::everything()).unwrap();
        let listed = Input::open(&real.join(bundle))
            .unwrap()
            .list(LoadOptions::default());
        assert_eq!(
            trace.tables().len(),
            listed.len(),
            "{bundle}: {:?}",
            trace.notes
        );
    }
}

/// No export of these bundles exists. But their tables `time-sample` have the program counter of
/// each sample, which is one less than the first address of its stack.
#[test]
fn stacks_begin_with_the_program_counter_and_have_names() {
    let Some(real) = real_recordings() else {
        return;
    };
    for (bundle, samples, frames, named) in [
        (NEWEST, 10, 117, 114),
        (INSTRUMENTS_15, 189, 9_955, 8_452),
        (INSTRUMENTS_16, 40_909, 556_180, 556_180),
        (INTEL, 9_494, 99_757, 99_682),
    ] {
        let tables = ["time-profile", "time-sample"].map(str::to_owned);
        let trace = load(&real.join(bundle), &Selection::tables(&tables)).unwrap();
        let found = program_counters(&trace);
        let mut profile = trace.table("time-profile").unwrap().clone();
        let times = Integers::take(&mut profile, "time").unwrap();
        let stacks = Vec::<Option<StackId>>::take(&mut profile, "stack").unwrap();

        let stacks = times.iter().zip(stacks);
        let stacks = stacks.filter_map(|(time, stack)| Some((time?, stack?)));
        let mut counts = (0, 0, 0);
        for (time, stack) in stacks {
            let frames: Vec<Frame> = trace.names.stack(stack).collect();
            let first = trace.names.text(frames[0].address);
            let first = u64::from_str_radix(first.trim_start_matches("0x"), 16).unwrap();
            let expected = &found[&time];
            assert!(expected.contains(&(first - 1)), "{bundle}: {time}");
            counts.0 += 1;
            counts.1 += frames.len();
            counts.2 += frames
                .iter()
                .filter(|frame| frame.name != frame.address)
                .count();
        }
        assert_eq!(counts, (samples, frames, named), "{bundle}");
    }
}

/// Returns the program counters in `time-sample` by their time; several threads are sampled at once.
fn program_counters(trace: &Trace) -> BTreeMap<u64, Vec<u64>> {
    let samples = trace.table("time-sample").unwrap();
    let times: Vec<_> = samples.integers("time").unwrap().iter().collect();
    let mut found: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for column in ["cp-user-callstack", "cp-kernel-callstack"] {
        let callstacks = samples.texts(column).unwrap();
        for (time, callstack) in times.iter().zip(callstacks) {
            let text = callstack.map_or("", |text| trace.names.text(text));
            let counter = text
                .strip_prefix("PC:0x")
                .and_then(|rest| rest.split_once(','));
            if let (&Some(time), Some((counter, _))) = (time, counter) {
                let counter = u64::from_str_radix(counter, 16).unwrap();
                found.entry(time).or_default().push(counter);
            }
        }
    }
    found
}

/// Reads a table as the texts of its cells, by the names of its columns.
fn rows_of(bundle: &Path, schema: &str) -> Vec<BTreeMap<String, String>> {
    let trace = load(bundle, &Selection::table(schema)).unwrap();
    let mut rows = Vec::new();
    let tables = trace.tables().iter();
    for table in tables.filter(|table| table.schema.name == schema) {
        rows.extend((0..table.rows()).map(|row| {
            let cells = table.columns().map(|(spec, column)| {
                let cell = super::torture::cell(column, row, &trace.names);
                let cell = cell.trim_start_matches("Some(").trim_end_matches(')');
                (spec.mnemonic.clone(), cell.trim_matches('"').to_owned())
            });
            cells.collect()
        }));
    }
    rows
}

/// Values of types without an export to compare with agree with other columns, in every row.
#[test]
fn related_types_agree_with_other_columns() {
    let Some(real) = real_recordings() else {
        return;
    };
    let has = |list: &str, number: &str| list.split(' ').any(|listed| listed == number);
    for (bundle, chains, samples) in [(METAL, 5_441, 0), (INSTRUMENTS_15, 386, 113)] {
        let rows = rows_of(&real.join(bundle), "visual-chain");
        let agree = rows
            .iter()
            .filter(|row| has(&row["uuid-chain"], &row["uuid"]));
        assert_eq!((rows.len(), agree.count()), (chains, chains), "{bundle}");

        let rows = rows_of(&real.join(bundle), "gpu-shader-profiler-sample");
        let counts = |row: &BTreeMap<String, String>| row["pcs"].split(' ').count().to_string();
        let agree = rows.iter().filter(|row| counts(row) == row["num-pcs"]);
        assert_eq!((rows.len(), agree.count()), (samples, samples), "{bundle}");
    }

    let metal = real.join(METAL);
    let pairs = |rows: &[BTreeMap<String, String>], a: &str, b: &str| -> BTreeMap<String, String> {
        let pairs = rows.iter().map(|row| (row[a].clone(), row[b].clone()));
        pairs.collect()
    };
    let swaps = rows_of(&metal, "display-surface-swap");
    let swapped = pairs(&swaps, "timestamp", "surface-id");
    let shown = pairs(
        &rows_of(&metal, "displayed-surfaces-interval"),
        "start",
        "surface-id",
    );
    assert!(
        shown
            .iter()
            .all(|(time, surface)| swapped[time] == *surface)
    );
    let queue = pairs(
        &rows_of(&metal, "display-surface-queue"),
        "swap-id",
        "timestamp",
    );
    assert!(
        swaps
            .iter()
            .all(|swap| queue.contains_key(&swap["swap-id"]))
    );

    let resources = pairs(
        &rows_of(&metal, "metal-resource-allocations"),
        "resource-id",
        "label",
    );
    for (id, label) in resources {
        assert_eq!(
            label,
            format!("Resource 0x{:x}", id.parse::<u64>().unwrap())
        );
    }
    let display = &rows_of(&metal, "device-display-info")[0];
    let surfaces = rows_of(&metal, "metal-io-surface-access");
    let mut sizes = surfaces
        .iter()
        .map(|row| format!("{}x{}", row["width"], row["height"]));
    assert!(sizes.any(|size| size == display["resolution"]));
}

/// Counts the cells of Metal recordings that are not decoded, by type: below one in ten thousand.
#[test]
fn nearly_all_cells_of_metal_recordings_are_decoded() {
    let Some(real) = real_recordings() else {
        return;
    };
    for (bundle, cells) in [(METAL, 2_275_423), (INSTRUMENTS_15, 339_109)] {
        let trace = load(&real.join(bundle), &Selection::everything()).unwrap();
        let (mut all, mut undecoded) = (0, BTreeMap::new());
        for table in trace.tables().iter().filter(|table| table.rows() > 0) {
            for (spec, _) in table.columns() {
                all += table.rows();
                if spec.engineering_type.ends_with("TypeID") {
                    *undecoded.entry(spec.engineering_type.clone()).or_insert(0) += table.rows();
                }
            }
        }
        // A fraction in two halves: how an export shows it is unknown.
        let expected = BTreeMap::from([("XRMachTimebaseInfoTypeID".to_owned(), 1)]);
        assert_eq!((all, undecoded), (cells, expected), "{bundle}");
    }
}

/// Types without an export to compare with have known words in every row.
#[test]
fn word_types_have_known_words() {
    let Some(real) = real_recordings() else {
        return;
    };
    let cases: [(&str, &str, &[&str]); 9] = [
        (
            "gpu-performance-state-intervals",
            "gpu-performance-state",
            &["Minimum"],
        ),
        (
            "gpu-performance-state-intervals",
            "event-type",
            &["GPU Performance State"],
        ),
        ("device-thermal-state-intervals", "thermal-state", &["Fair"]),
        (
            "metal-wired-sysmem-level-interval",
            "event-type",
            &["Wired System Memory"],
        ),
        (
            "graphics-compiler-activity-intervals",
            "compiler",
            &["Metal Shader Compiler"],
        ),
        (
            "metal-resource-allocations",
            "event-type",
            &["Allocation", "Deallocation"],
        ),
        (
            "metal-application-command-buffer-submissions",
            "event-icon",
            &["Green"],
        ),
        ("display-vsyncs-interval", "event", &["VSYNC"]),
        ("displayed-surfaces-interval", "category", &["Display"]),
    ];

    for (schema, column, expected) in cases {
        let trace = load(&real.join(METAL), &Selection::table(schema)).unwrap();
        let table = trace.table(schema).unwrap();
        let texts = table.texts(column).unwrap().iter();
        let texts = texts.map(|text| trace.names.text(text.unwrap()));
        let found: std::collections::BTreeSet<&str> = texts.collect();
        assert_eq!(Vec::from_iter(found), expected, "{schema}: {column}");
    }
}

/// The facts in the bundle equal those in its table of contents, in which names and identifiers are
/// blanked and dates are in local time.
#[test]
fn run_facts_equal_the_table_of_contents() {
    let Some(real) = real_recordings() else {
        return;
    };
    let run = |path: &str| -> Run {
        let input = Input::open(&real.join(path)).unwrap();
        input.toc().unwrap().runs[0].clone()
    };

    let (native, export) = (run(CPU), run(CPU_EXPORT));
    let comparable = |run: &Run| {
        let mut run = run.clone();
        run.start_date = None;
        (run.tables, run.processes) = Default::default();
        run
    };

    assert_eq!(comparable(&native), comparable(&export));
    assert!(matches!(native.target, Target::Launched(_)));
    assert_eq!(
        instant(native.start_date.as_ref()),
        instant(export.start_date.as_ref())
    );
    let tables = |run: &Run| {
        let mut tables: Vec<String> = run.tables.iter().map(|t| t.schema.clone()).collect();
        tables.sort();
        tables
    };

    assert_eq!(tables(&native), tables(&export));
    let people = |run: &Run| {
        let mut people: Vec<_> = run
            .processes
            .iter()
            .map(|p| (p.pid, p.name.clone()))
            .collect();
        people.sort();
        people
    };

    for person in people(&export) {
        assert!(people(&native).contains(&person), "{person:?}");
    }
}

/// Parses `2026-03-30T14:37:20.646-07:00` into milliseconds of its day in UTC.
fn instant(date: Option<&String>) -> u64 {
    let date = date.unwrap();
    let number = |from: usize, to: usize| date[from..to].parse::<u64>().unwrap();
    let local = ((number(11, 13) * 60 + number(14, 16)) * 60 + number(17, 19)) * 1_000;
    let behind = match &date[23..24] {
        "-" => (number(24, 26) * 60 + number(27, 29)) * 60_000,
        _ => 0,
    };
    (local + number(20, 23) + behind) % 86_400_000
}

#[test]
fn a_zipped_bundle_reads_the_same() {
    let Some(real) = real_recordings() else {
        return;
    };
    let place = metalens_testing::scratch();
    let archive = place.path().join("artifact.zip");
    let mut zip = zip::ZipWriter::new(fs::File::create(&archive).unwrap());
    let options = zip::write::SimpleFileOptions::default();

    for file in files_below(&real.join(METAL)) {
        let inside = file
            .strip_prefix(real.join(METAL))
            .unwrap()
            .display()
            .to_string();
        zip.start_file(format!("traces/run.trace/{inside}"), options)
            .unwrap();
        zip.write_all(&fs::read(&file).unwrap()).unwrap();
        zip.start_file(format!("__MACOSX/traces/run.trace/._{inside}"), options)
            .unwrap();
    }

    zip.finish().unwrap();
    let tables = check(&archive, &real.join(METAL_EXPORT)).unwrap();
    assert_eq!(total(&tables, |table| table.different), 0);
    assert_eq!(total(&tables, |table| table.cells), 121_393);
}

/// A changed byte in a row, a string or an index is reported as a difference or refused. It never
/// gives the same answer or a panic.
#[test]
fn one_altered_byte_is_reported() {
    let Some(real) = real_recordings() else {
        return;
    };
    /// Offset of row 700 of metal-gpu-intervals: duration at 8, label at 44, process at 64.
    const ROW: usize = 0x1000 + 112 * 700;
    let core = "corespace/run1/core";
    let intervals = store_of(&real.join(METAL), "metal-gpu-intervals");
    let rows = inflate(&fs::read(real.join(METAL).join(&intervals).join("bulkstore")).unwrap());
    let index = format!("{core}/uniquing/arrayUniquer/integeruniquer.index");
    let index = inflate(&fs::read(real.join(METAL).join(index)).unwrap());
    let entry = 40 + 8 * (usize::from(rows[ROW + 64]) + 256 * usize::from(rows[ROW + 65]));

    // The count of the list and its first number, in the first block.
    let pid = usize::from(index[entry]) + 256 * usize::from(index[entry + 1]) + 4;
    let label = usize::from(rows[ROW + 44]) + 256 * usize::from(rows[ROW + 45]);
    let cases = [
        ("a row", format!("{intervals}/bulkstore"), ROW + 8),
        (
            "a process in a row",
            format!("{intervals}/bulkstore"),
            ROW + 64,
        ),
        (
            "a label's index",
            format!("{core}/uniquing/typedArrayUniquer/integeruniquer.index"),
            40 + 8 * label,
        ),
        (
            "a label's part",
            format!("{core}/uniquing/typedArrayUniquer/integeruniquer.data"),
            4_000,
        ),
        (
            "a process's pid",
            format!("{core}/uniquing/arrayUniquer/integeruniquer.data"),
            pid,
        ),
    ];

    for (what, path, at) in cases {
        let place = altered(&real.join(METAL), &path, |bytes| bytes[at] ^= 0x01);
        assert_reported(what, place.path(), &real);
    }

    let strings = format!("{core}/uniquing/strings");
    let place = altered(&real.join(METAL), &strings, |bytes| {
        let at = find(bytes, b"Compute Command 0").unwrap();
        bytes[at] = b'c';
    });
    assert_reported("a string", place.path(), &real);
}

fn assert_reported(what: &str, bundle: &Path, real: &Path) {
    let bundle = bundle.join("copy.trace");
    match check(&bundle, &real.join(METAL_EXPORT)) {
        Ok(tables) => assert!(total(&tables, |t| t.different) > 0, "{what} went unnoticed"),
        Err(error) => assert!(error.hint().is_some(), "{what}: {error}"),
    }
}

/// Returns a copy of a bundle with one inflated file changed.
fn altered(bundle: &Path, path: &str, change: impl Fn(&mut Vec<u8>)) -> tempfile::TempDir {
    let place = metalens_testing::scratch();
    for file in files_below(bundle) {
        let inside = file.strip_prefix(bundle).unwrap();
        let copy = place.path().join("copy.trace").join(inside);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        let mut bytes = fs::read(&file).unwrap();
        if inside == Path::new(path) {
            let before = inflate(&bytes);
            let mut after = before.clone();
            change(&mut after);
            assert_ne!(before, after, "nothing was changed");
            bytes = after;
        }
        fs::write(copy, bytes).unwrap();
    }
    place
}

fn inflate(bytes: &[u8]) -> Vec<u8> {
    let mut inflated = Vec::new();
    match bytes.first() {
        Some(0x78) => flate2::read::ZlibDecoder::new(bytes)
            .read_to_end(&mut inflated)
            .unwrap(),
        _ => (&mut &bytes[..]).read_to_end(&mut inflated).unwrap(),
    };
    inflated
}

/// Returns the folder of the store of a table.
fn store_of(bundle: &Path, schema: &str) -> String {
    let listed = Input::open(bundle).unwrap().list(LoadOptions::default());
    let store = listed
        .iter()
        .find(|document| document.named_schema == schema)
        .unwrap();
    store.file.split(".trace/").nth(1).unwrap().to_owned()
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes
        .windows(needle.len())
        .position(|window| window == needle)
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}
