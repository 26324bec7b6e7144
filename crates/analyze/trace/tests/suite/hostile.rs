//! Tests hostile bundles: each is refused, or read without its bad part, quickly and in little
//! memory. None causes a panic or a hang.

use std::time::{Duration, Instant};

use metalens_trace::{Input, LabelId, LoadOptions, Selection, Trace, TraceNote, Values};
use plist::{Uid, Value};

use super::GOOD;
use super::mini_bundle::{
    Archive, Bundled, LISTS, Store, binary, core, dictionary, good, intervals, lists, row, store,
    strings, tables, tables_at, written, zip,
};
use super::mutation::{Mutation, replaced};

/// Time limit. All of these take milliseconds; a failure would take minutes.
const TIME_LIMIT: Duration = Duration::from_secs(20);

fn load(files: &Bundled) -> Result<Trace, String> {
    load_archive(&zip(files))
}

fn load_archive(archive: &[u8]) -> Result<Trace, String> {
    let folder = metalens_testing::scratch();
    let path = folder.path().join("bundle.zip");
    std::fs::write(&path, archive).unwrap();
    let began = Instant::now();
    let selection = Selection::everything().with_rendered_labels();
    let selection = selection.where_readable();
    let trace = Input::open(&path).and_then(|input| {
        drop(input.list(LoadOptions::default()));
        input.load(&selection, LoadOptions::default())
    });
    assert!(began.elapsed() < TIME_LIMIT, "took {:?}", began.elapsed());
    trace.map_err(|error| error.to_string())
}

/// Returns true if the note that a file was left out is the only remaining one; None without it.
fn left_out(trace: &Trace, path: &str) -> Option<bool> {
    let mut notes = trace.notes.iter();
    notes
        .find(|note| matches!(note, TraceNote::Unreadable { file, .. } if file == path))
        .map(|_| notes.len() == 0)
}

/// Checks that the bundle is refused for a reason.
fn refused(files: &Bundled, why: &str) {
    match load(files) {
        Ok(_) => panic!("was read, expected: {why}"),
        Err(error) => assert!(error.contains(why), "{error}"),
    }
}

/// Checks that the table is refused for a reason, and others are read.
fn table_refused(files: &Bundled, why: &str) {
    let trace = load(files).unwrap();
    match trace.table("metal-gpu-intervals") {
        Ok(_) => panic!("was read, expected: {why}"),
        Err(error) => assert!(error.to_string().contains(why), "{error}"),
    }
    assert_eq!(trace.table("time-profile").unwrap().rows(), 1);
}

fn with(path: String, bytes: Vec<u8>) -> Bundled {
    let mut files = good();
    files.insert(path, bytes);
    files
}

#[test]
fn the_good_bundle_is_read() {
    let trace = load(&good()).unwrap();
    assert!(
        trace
            .notes
            .iter()
            .all(|note| !note.to_string().contains("unsupported"))
    );
    let table = trace.table("metal-gpu-intervals").unwrap();
    assert_eq!(table.rows(), 2);
    assert_eq!(table.integers("start").unwrap().get(0), Some(100));
    let labels = Vec::<Option<LabelId>>::take(&mut table.clone(), "label");
    let label = labels.unwrap()[1].unwrap();
    let label = trace.names.label(label).unwrap();
    assert_eq!(label.submission_id(), Some(31));
    assert_eq!(trace.run.target.process().unwrap().name, "bench");
    assert_eq!(trace.table("process-info").unwrap().rows(), 1);
    assert_eq!(trace.table("time-profile").unwrap().rows(), 1);
}

#[test]
fn row_counts_beyond_the_store_are_refused() {
    for rows in [4, 100_000, u64::from(u32::MAX), u64::MAX / 80, u64::MAX] {
        let path = store(2, "bulkstore_descriptor");
        let trace = load(&with(path, intervals().descriptor(rows))).unwrap();
        assert!(trace.table("metal-gpu-intervals").is_err(), "{rows} rows");
    }
}

/// 10 KB inflate to 10 MB of empty rows.
#[test]
fn a_zlib_bomb_of_rows_is_refused() {
    let mut files = good();
    let mut bulkstore = intervals().header();
    bulkstore.resize(10 << 20, 0);
    let rows = (bulkstore.len() as u64 - 0x1000) / intervals().row_size();
    files.insert(store(2, "bulkstore"), bulkstore);
    files.insert(
        store(2, "bulkstore_descriptor"),
        intervals().descriptor(rows),
    );
    table_refused(&files, "is too large for its file size");
}

#[test]
fn a_zlib_bomb_in_any_file_is_refused() {
    let too_large = "more than 4194304 bytes";
    let zeros = || vec![0; 10 << 20];
    let bombs = [
        (store(2, "bulkstore_descriptor"), zeros()),
        (store(2, "schema.xml"), vec![b' '; 10 << 20]),
        (core("table-manager/tables.plist"), zeros()),
        (core("uniquing/strings"), strings(&["x"; 600_000])),
        (core("uniquing/EngineeringTypes.etypes"), zeros()),
        (core("uniquing/arrayUniquer/integeruniquer.index"), zeros()),
        ("form.template".to_owned(), zeros()),
        ("open.creq".to_owned(), zeros()),
        (
            "corespace/MANIFEST.plist".to_owned(),
            strings(&["x"; 600_000]),
        ),
    ];

    for (path, bomb) in bombs {
        let trace = load(&with(path.clone(), bomb));
        let message = trace.map_or_else(|error| error, |trace| format!("{:?}", trace.notes));
        let has_reason = message.contains(too_large) || message.contains("longer than");
        assert!(has_reason && message.contains(&path), "{path}: {message}");
    }
}

/// Files that are read into memory have a limit of their own. The test files have holes, so they
/// take no disk space.
#[test]
fn files_far_larger_than_real_ones_are_refused() {
    for (path, limit) in [
        ("form.template".to_owned(), 64 << 20),
        ("open.creq".to_owned(), 4 << 20),
        ("corespace/MANIFEST.plist".to_owned(), 4 << 20),
        (core("table-manager/tables.plist"), 4 << 20),
        (store(2, "bulkstore_descriptor"), 4 << 20),
    ] {
        let folder = metalens_testing::scratch();
        let trace = written(&with(path.clone(), b"<plist>".to_vec()), folder.path());
        let file = std::fs::OpenOptions::new()
            .append(true)
            .open(trace.join(&path));
        file.unwrap().set_len(64 << 30).unwrap();
        let selection = Selection::everything().where_readable();
        let loaded =
            Input::open(&trace).and_then(|input| input.load(&selection, LoadOptions::default()));
        let message = match loaded {
            Ok(trace) => format!("{:?}", trace.notes),
            Err(error) => error.to_string(),
        };
        let expected = if path.ends_with("MANIFEST.plist") {
            "byte 0x00 may not appear in XML".to_owned()
        } else {
            format!("more than {limit} bytes")
        };
        assert!(
            message.contains(&expected) && message.contains(&path),
            "{path}: {message}"
        );
    }
}

/// An object takes more space in memory than in the file, so their number is limited.
#[test]
fn an_archive_of_too_many_objects_is_refused() {
    let count = 3 << 20;
    let mut bytes = b"bplist00".to_vec();
    bytes.resize(8 + count, 0x09);
    let table = bytes.len() as u64;
    let offsets = (8..8 + u32::try_from(count).unwrap()).flat_map(u32::to_be_bytes);
    bytes.extend(offsets);
    bytes.extend([0, 0, 0, 0, 0, 0, 4, 4]);
    for number in [count as u64, 0, table] {
        bytes.extend(number.to_be_bytes());
    }
    let folder = metalens_testing::scratch();
    let files = with("form.template".to_owned(), bytes);
    let error = Input::open(&written(&files, folder.path())).unwrap_err();
    assert!(
        error.to_string().contains("it is not a keyed archive"),
        "{error}"
    );
}

/// A bundle of a newer format is read as far as it is known, with a note.
#[test]
fn a_newer_format_gives_a_note() {
    let check = |required: &str, expected: Option<u64>| {
        let trace = load(&with("open.creq".to_owned(), required.into())).unwrap();
        let newer = trace.notes.iter().find_map(|note| match note {
            TraceNote::NewerFormat { version } => Some(*version),
            _ => None,
        });
        assert_eq!(newer, expected, "{required}");
    };
    let requires = |version: &str| {
        format!(
            "<dict><key>com.apple.dt.ac</key><array><integer>9</integer></array>\n\
             <key>com.apple.dt.trace</key>\n<array>\n<integer>{version}</integer></array></dict>"
        )
    };
    check(&requires("5"), None);
    check(&requires("6"), Some(6));
    check(&requires("a lot"), None);
    check("<dict/>", None);
    for silent in [requires("a lot"), "<dict/>".to_owned()] {
        let trace = load(&with("open.creq".to_owned(), silent.into())).unwrap();
        assert!(left_out(&trace, "open.creq").is_some(), "{:?}", trace.notes);
    }
}

/// Control characters in the texts of a bundle must not reach a terminal.
#[test]
fn characters_that_xml_forbids_are_refused() {
    for text in ["\u{1b}]0;x\u{7}", "a\0b"] {
        let list = strings(&["", "bench", "Compute", text]);
        let files = with(core("uniquing/strings"), list);
        refused(&files, "may not appear in XML");
        refused(&files, "uniquing/strings, line 8");
    }
}

/// A damaged template, and one that lacks facts, give unknown facts and a note.
#[test]
fn an_incomplete_template_gives_a_note() {
    let check = |from: &[u8], to: &[u8], expected: &[TraceNote]| {
        let mut files = good();
        let template = files.get_mut("form.template").unwrap();
        let mut places = template.windows(from.len());
        let at = places.position(|place| place == from).unwrap();
        template[at..at + from.len()].copy_from_slice(to);
        let mut noted = load(&files).unwrap().notes;
        noted.retain(|note| {
            matches!(
                note,
                TraceNote::DamagedTemplate | TraceNote::TemplateLacks { .. }
            )
        });
        let name = String::from_utf8_lossy(to);
        assert_eq!(noted, expected, "{name}");
    };

    let lacks = |facts: &[&'static str]| TraceNote::TemplateLacks {
        facts: facts.to_vec(),
    };
    check(b"_rawStartTime", b"_rawStartDate", &[]);
    check(b"runningTime", b"RunningTime", &[lacks(&["the duration"])]);
    check(
        b"_targetProcessPid",
        b"_targetProcessPit",
        &[lacks(&["the process id"])],
    );
    check(
        b"runInfo",
        b"runInfx",
        &[lacks(&[
            "the process",
            "the duration",
            "the template",
            "the device",
        ])],
    );

    // Two entries with the same name.
    check(
        b"_rawStartTime",
        b"_templateName",
        &[TraceNote::DamagedTemplate],
    );
    // A text that ends with half a character is invalid, even if it is not needed.
    check(
        b"NSKeyedArchiver",
        b"NSKeyedArchive\xc3",
        &[TraceNote::DamagedTemplate],
    );
}

/// Real bundles have a hundred preallocated blocks, which are not an attack.
#[test]
fn preallocated_blocks_are_not_read() {
    let (_, mut data) = lists(&LISTS);
    data.resize(20 << 20, 0);
    let path = core("uniquing/arrayUniquer/integeruniquer.data");
    let trace = load(&with(path, data)).unwrap();
    assert_eq!(trace.table("metal-gpu-intervals").unwrap().rows(), 2);
}

#[test]
fn index_entries_may_point_anywhere() {
    let (index, data) = lists(&LISTS);
    for (offset, block) in [
        (u32::MAX, 0),
        (0, u32::MAX),
        (u32::MAX, u32::MAX),
        (0x000f_ffff, 0),
    ] {
        let mut broken = index.clone();
        let entry = broken.len() - 8 * LISTS.len();
        broken[entry..entry + 4].copy_from_slice(&u32::to_le_bytes(offset));
        broken[entry + 4..entry + 8].copy_from_slice(&u32::to_le_bytes(block));
        let path = core("uniquing/arrayUniquer/integeruniquer.index");
        let trace = load(&with(path, broken)).unwrap();
        assert!(trace.table("metal-gpu-intervals").is_err());
    }

    let mut endless = data;
    endless[32..36].copy_from_slice(&u32::MAX.to_le_bytes());
    let path = core("uniquing/arrayUniquer/integeruniquer.data");
    assert!(
        load(&with(path, endless))
            .unwrap()
            .table("metal-gpu-intervals")
            .is_err()
    );
}

#[test]
fn an_index_may_be_shorter_than_its_header() {
    let (index, _) = lists(&LISTS);
    for length in 0..48 {
        let path = core("uniquing/arrayUniquer/integeruniquer.index");
        drop(load(&with(path, Mutation::CutOff(length).of(&index))));
    }
}

/// Every object of the archive contains all others.
#[test]
fn an_archive_of_cycles_ends() {
    let uids = |count: u64| (0..count).map(|n| Value::Uid(Uid::new(n))).collect();
    let all: Vec<Value> = uids(64);
    let object = dictionary([
        ("NS.keys", Value::Array(all.clone())),
        ("NS.objects", Value::Array(all.clone())),
        ("$0", all[1].clone()),
        ("$1", all[1].clone()),
        ("$2", all[1].clone()),
        ("tableDetails", all[1].clone()),
        ("runInfo", all[1].clone()),
        ("processDatas", all[1].clone()),
    ]);

    let archive = |name: &str| {
        binary(&dictionary([
            ("$objects", Value::Array(vec![object.clone(); 64])),
            ("$top", dictionary([(name, all[1].clone())])),
        ]))
    };

    for path in [
        core("table-manager/tables.plist"),
        store(2, "bulkstore_descriptor"),
    ] {
        drop(load(&with(path, archive("root"))));
    }

    drop(load(&with(
        "form.template".to_owned(),
        archive("com.apple.xray.run.data"),
    )));
}

/// Fuzzing found this overflow: the number of an object times the width of a reference.
#[test]
fn an_archive_with_the_largest_reference_is_refused() {
    let archive = Archive::new();
    let root = archive.finish("root", Value::Uid(Uid::new(u64::MAX)));
    let path = core("table-manager/tables.plist");
    refused(
        &with(path, root),
        "it is not a keyed archive, or is damaged",
    );
}

#[test]
fn an_archive_of_a_million_objects_is_refused() {
    let mut archive = Archive::new();
    for _ in 0..1_000_000 {
        archive.add(1);
    }
    let details = archive.dictionary([("$0", u64::MAX.into()), ("$1", 1.into())]);
    let root = archive.dictionary([("tableDetails", details)]);
    let path = core("table-manager/tables.plist");
    refused(
        &with(path, archive.finish("root", root)),
        "its objects are broken",
    );
}

/// The attributes of every table are the same thousand long texts, stored once.
#[test]
fn an_archive_whose_tables_share_everything_is_refused() {
    let mut archive = Archive::new();
    let long = archive.add("x".repeat(10_000));
    let attributes = archive.map(vec![(long.clone(), long.clone()); 1_000]);
    let spec = archive.dictionary([("schemaName", long), ("attributes", attributes)]);
    let mut details = vec![("$0".to_owned(), Value::from(10_000_u64))];
    for at in 0..10_000_u64 {
        let path = archive.add(format!("run1/core/stores/indexed-store-{at}"));
        let table = archive.dictionary([("storeSubpath", path), ("spec", spec.clone())]);
        details.push((format!("${}", 2 * at + 1), at.into()));
        details.push((format!("${}", 2 * at + 2), table));
    }
    let details = archive.dictionary(details.iter().map(|(k, v)| (k.as_str(), v.clone())));
    let root = archive.dictionary([("tableDetails", details)]);
    let path = core("table-manager/tables.plist");
    refused(&with(path, archive.finish("root", root)), "");
}

/// Returns a binary property list of nested lists, each of which contains the next one once or
/// twice.
fn nested(levels: u32, twice: bool) -> Vec<u8> {
    let mut bytes = b"bplist00".to_vec();
    let mut offsets = Vec::new();
    for level in 1..=levels {
        offsets.push(u32::try_from(bytes.len()).unwrap());
        let inner = level.to_be_bytes();
        bytes.push(if twice { 0xa2 } else { 0xa1 });
        bytes.extend(inner.iter().chain(inner.iter().filter(|_| twice)));
    }
    offsets.push(u32::try_from(bytes.len()).unwrap());
    bytes.push(0x09);
    let table = bytes.len() as u64;
    bytes.extend(offsets.iter().flat_map(|offset| offset.to_be_bytes()));
    bytes.extend([0, 0, 0, 0, 0, 0, 4, 4]);
    for number in [u64::from(levels) + 1, 0, table] {
        bytes.extend(number.to_be_bytes());
    }
    bytes
}

/// Forty levels take 500 bytes and would expand to a trillion lists; 200,000 levels would overflow
/// the stack of a recursive reader.
#[test]
fn lists_that_double_or_nest_are_refused() {
    for bytes in [nested(40, true), nested(200_000, false)] {
        for path in [
            core("table-manager/tables.plist"),
            core("uniquing/EngineeringTypes.etypes"),
            core("uniquing/strings"),
            "form.template".to_owned(),
        ] {
            assert!(load(&with(path.clone(), bytes.clone())).is_err(), "{path}");
        }
        let manifest = "corespace/MANIFEST.plist".to_owned();
        assert!(load(&with(manifest, bytes.clone())).is_ok());
        table_refused(
            &with(store(2, "bulkstore_descriptor"), bytes),
            "keyed archive",
        );
    }
}

#[test]
fn xml_lists_that_nest_or_define_entities_are_refused() {
    let nest = |tag: &str| format!("<plist>{}", format!("<{tag}>").repeat(200_000)).into_bytes();
    let mut laughs = "<!DOCTYPE plist [<!ENTITY a0 \"ha\">".to_owned();
    for level in 1..40 {
        let before = format!("&a{};", level - 1);
        laughs += &format!("<!ENTITY a{level} \"{before}{before}\">");
    }

    laughs += "<!ENTITY file SYSTEM \"file:///etc/passwd\">]>";
    let body = |entity: &str| {
        format!("{laughs}<plist><array><string>{entity}</string></array></plist>").into_bytes()
    };

    let (deep, unknown) = ("nested deeper than", "an unknown entity");
    for (bytes, why) in [
        (nest("array"), deep),
        (nest("dict"), deep),
        (body("&a39;"), unknown),
        (body("&file;"), unknown),
    ] {
        refused(&with(core("uniquing/strings"), bytes.clone()), why);
        let manifest = "corespace/MANIFEST.plist".to_owned();
        let trace = load(&with(manifest.clone(), bytes)).unwrap();
        assert_eq!(left_out(&trace, &manifest), Some(true));
    }
}

#[test]
fn schemas_that_nest_or_have_a_doctype_are_refused() {
    let nested = "<schema>".repeat(100_000).into_bytes();
    table_refused(&with(store(2, "schema.xml"), nested), "nested deeper");
    let doctype = [b"<!DOCTYPE a>".to_vec(), intervals().schema_xml()].concat();
    table_refused(&with(store(2, "schema.xml"), doctype), "DOCTYPE");
    for tail in [&b"x"[..], b"<schema/>"] {
        let schema = [intervals().schema_xml(), tail.to_vec()].concat();
        let outside = "content outside the root element";
        table_refused(&with(store(2, "schema.xml"), schema), outside);
    }
}

#[test]
fn store_paths_that_lead_elsewhere_are_refused() {
    for path in [
        "run1/core/stores/../../../../../etc/passwd",
        "run1/core/stores/indexed-store-1/../indexed-store-2",
        "/etc/passwd",
        "run2/core/stores/indexed-store-1",
        "run1/core/stores/indexed-store-99999999999999999999",
        "run1/core/stores/indexed-store-",
    ] {
        let files = with(
            core("table-manager/tables.plist"),
            tables_at(&[(path, "metal-gpu-intervals")]),
        );
        refused(&files, "a table has no store");
    }
}

#[test]
fn two_stores_with_one_number_are_refused() {
    let path = core("table-manager/tables.plist");
    let twice = tables(&[(2, "metal-gpu-intervals"), (2, "metal-gpu-intervals")]);
    assert_eq!(load(&with(path.clone(), twice)).unwrap().tables().len(), 1);
    let two = tables(&[(2, "metal-gpu-intervals"), (2, "time-profile")]);
    refused(&with(path, two), "one store has two schemas");
}

#[test]
fn duplicate_columns_are_refused() {
    let mut double = intervals();
    double.columns.push(double.columns[0]);
    table_refused(
        &with(store(2, "schema.xml"), double.schema_xml()),
        "two columns",
    );
    let mut fields = intervals();
    fields.fields.push(("odd", 2));
    let descriptor = fields.descriptor(2);
    table_refused(
        &with(store(2, "bulkstore_descriptor"), descriptor),
        "two fields",
    );
}

/// Twenty thousand columns all contain the time of the row.
#[test]
fn more_columns_than_fields_are_refused() {
    let mut xml = "<schema name=\"metal-gpu-intervals\">".to_owned();
    for at in 0..20_000 {
        xml += &format!(
            "<column mnemonic=\"c{at}\" engineeringType=\"XRStartTimeTypeID\" topologyField=\"XRTraceRelativeTimestampFieldID\"/>"
        );
    }
    xml += "</schema>";
    let files = with(store(2, "schema.xml"), xml.into_bytes());
    table_refused(&files, "more columns than fields");
}

#[test]
fn too_many_fields_are_refused() {
    let names: Vec<String> = (0..5_000).map(|at| format!("f{at}")).collect();
    let names: &'static [String] = names.leak();
    let mut wide = intervals();
    wide.fields = names.iter().map(|name| (name.as_str(), 2)).collect();
    let files = with(store(2, "bulkstore_descriptor"), wide.descriptor(2));
    table_refused(&files, "fields");
}

/// The label of every row has ten thousand references to one long text.
#[test]
fn labels_that_repeat_one_long_text_are_refused() {
    let mut files = good();
    let long = "x".repeat(100_000);
    files.insert(
        core("uniquing/strings"),
        strings(&["", "bench", "Compute", &long]),
    );
    let repeated = [0, 3].repeat(10_000);
    let (index, data) = lists(&[&repeated, &repeated]);
    let path = core("uniquing/typedArrayUniquer/integeruniquer");
    files.insert(format!("{path}.index"), index);
    files.insert(format!("{path}.data"), data);
    table_refused(&files, "refers to nothing");
}

/// The stack has ten thousand pieces of ten thousand addresses.
#[test]
fn stacks_that_repeat_one_piece_are_refused() {
    let mut files = good();
    let (pieces, addresses) = (vec![2; 10_000], vec![0x1000; 10_000]);
    let all = [LISTS[0], LISTS[1], &addresses, &pieces, LISTS[4]];
    let (index, data) = lists(&all);
    let path = core("uniquing/arrayUniquer/integeruniquer");
    files.insert(format!("{path}.index"), index);
    files.insert(format!("{path}.data"), data);
    let trace = load(&files).unwrap();
    assert!(trace.table("time-profile").is_err());
    assert_eq!(trace.table("metal-gpu-intervals").unwrap().rows(), 2);
}

/// Names that lead out of the archive are not part of the bundle.
#[test]
fn archive_entries_that_lead_elsewhere_are_skipped() {
    let mut files = good();
    for path in ["../../outside", "/etc/passwd", "a/../../b"] {
        files.insert(path.to_owned(), b"never read".to_vec());
    }
    assert_eq!(load(&files).unwrap().tables().len(), 3);
}

/// Two entries have the same bytes.
#[test]
fn archive_entries_that_overlap_are_refused() {
    let mut archive = zip(&good());
    let entry = |archive: &[u8], from: usize| {
        let rest = &archive[from..];
        from + rest
            .windows(4)
            .position(|bytes| bytes == b"PK\x01\x02")
            .unwrap()
    };
    let first = entry(&archive, 0);
    let second = entry(&archive, first + 4);
    // Byte 42 of an entry in the directory is the offset of its data.
    archive.copy_within(first + 42..first + 46, second + 42);
    let error = load_archive(&archive).unwrap_err();
    assert!(error.contains("zip"), "{error}");
}

#[test]
fn an_archive_that_is_cut_off_is_refused() {
    let archive = zip(&good());
    for end in (0..archive.len()).step_by(97) {
        assert!(load_archive(&Mutation::CutOff(end).of(&archive)).is_err());
    }
}

/// The numbers of these rows refer to no label, text or process.
#[test]
fn numbers_that_refer_to_nothing_are_refused() {
    let store_of = |number: u64| Store {
        rows: vec![row(&[
            (u64::MAX, 8),
            (u64::MAX, 8),
            (0, 8),
            (number, 4),
            (number, 4),
            (number, 4),
            (number, 4),
            (number, 8),
            (number, 8),
        ])],
        ..intervals()
    };

    for number in [99, u64::from(u32::MAX) - 1] {
        let mut files = good();
        store_of(number).add_to(&mut files, 2);
        table_refused(&files, "refers to nothing");
    }

    let mut files = good();
    store_of(u64::MAX).add_to(&mut files, 2);
    assert_eq!(
        load(&files)
            .unwrap()
            .table("metal-gpu-intervals")
            .unwrap()
            .rows(),
        1
    );
}

/// Fuzzing found this: runs start at 1, and this document names run 0.
#[test]
fn a_document_of_run_0_is_read() {
    let xml = replaced(GOOD, "run[1]", "run[0]");
    let folder = metalens_testing::scratch();
    let path = folder.path().join("t.xml");
    std::fs::write(&path, xml).unwrap();
    let input = Input::open(&path).unwrap();
    let trace = input.load(&Selection::everything(), LoadOptions::default());
    let trace = trace.unwrap();
    assert_eq!((trace.run.number, trace.tables().len()), (0, 1));
}
