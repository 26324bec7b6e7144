//! Tests of the details of tracks, written by hand in the form of Xcode 27.

use metalens_analyzer::{CountedBytes, HeapGroup, Report, Request};
use metalens_message::Bytes;
use metalens_simulator::{Scenario, write_export};
use metalens_trace::Error;

use super::report;

const LIST: &str = r#"<row address="0x10" category="Malloc 64 Bytes" live="true" responsible-caller="0x9" size="64" identifier="1" responsible-library="tool" timestamp="00:01.000.000" thread-id="0x1" index="0"><backtrace><frame id="0" name="malloc" addr="0x9"><binary id="1" name="lib.dylib" load-addr="0x8"/></frame><frame ref="0"/></backtrace></row>
<row address="0x20" category="Malloc 64 Bytes" live="false" responsible-caller="" size="64" identifier="2" responsible-library="" timestamp="00:01.000.100" thread-id="0x1" index="1"/>
<row address="0x30" category="VM: Stack &amp; Co" live="true" responsible-caller="" size="4096" identifier="3" responsible-library="tool" timestamp="00:01.000.200" thread-id="0x1" index="2"/>
"#;
const LEAKS: &str = r#"<row leaked-object="NSArray" size="96" responsible-frame="&lt;Call stack limit reached&gt;" count="2" responsible-library="" address="0x40"/>
<row leaked-object="NSArray" size="48" responsible-frame="0x9" count="1" responsible-library="tool" address="0x50"/>
"#;
const REGIONS: &str = r#"<row path="tool" address-range="0x1 - 0x2" dirty-size="0" resident-size="16384" virtual-size="32768" type="__TEXT" swapped-size="0" protections="r-x/r-x" resident-%="50.00"/>
<row path="" address-range="0x2 - 0x3" dirty-size="4096" resident-size="4096" virtual-size="8192" type="MALLOC_LARGE" swapped-size="2048" protections="rw-/rwx" resident-%="50.00"/>
"#;

/// Returns the report of an export with these details.
fn report_with(details: &[(&str, &str)]) -> Report {
    let folder = metalens_testing::scratch();
    write_export(&Scenario::preset("eager").unwrap(), folder.path(), false).unwrap();
    for (name, rows) in details {
        std::fs::write(folder.path().join(name), document(rows)).unwrap();
    }
    report(folder.path(), None, &Request::default()).unwrap()
}

fn document(rows: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/tracks[1]\
         /track[1]/details[1]/detail[2]'>{rows}</node></trace-query-result>\n"
    )
}

fn count_and_bytes(sum: CountedBytes) -> (u64, Bytes) {
    (sum.count, sum.bytes)
}

/// Returns each group's name, and its number and bytes: all, and those that are live.
fn lines(groups: &[HeapGroup]) -> Vec<String> {
    let lines = groups.iter().map(|group| {
        let name = group.name.as_deref().unwrap_or("(none)");
        let [whole, live] = [group.whole, group.live].map(|sum| (sum.count, sum.bytes.0));
        format!("{name} {whole:?} {live:?}")
    });
    lines.collect()
}

#[test]
fn details_of_tracks_are_summed_up() {
    let details = [
        ("Allocations.xml", LIST),
        ("Leaks.xml", LEAKS),
        ("Regions.xml", REGIONS),
    ];
    let heap = report_with(&details).heap.unwrap();
    let allocations = heap.allocations.unwrap();
    assert_eq!(count_and_bytes(allocations.whole), (3, Bytes(4_224)));
    assert_eq!(count_and_bytes(allocations.live), (2, Bytes(4_160)));
    assert_eq!(
        lines(&allocations.categories),
        [
            "VM: Stack & Co (1, 4096) (1, 4096)",
            "Malloc 64 Bytes (2, 128) (1, 64)"
        ]
    );
    assert_eq!(
        lines(&allocations.libraries),
        ["tool (2, 4160) (2, 4160)", "(none) (1, 64) (0, 0)"]
    );
    let leaks = heap.leaks.unwrap();
    assert_eq!(count_and_bytes(leaks.whole), (3, Bytes(144)));
    assert_eq!(lines(&leaks.objects), ["NSArray (3, 144) (3, 144)"]);
    let regions = heap.regions.unwrap();
    let bytes = (
        regions.resident_bytes,
        regions.dirty_bytes,
        regions.swapped_bytes,
    );
    assert_eq!(
        (count_and_bytes(regions.whole), bytes),
        (
            (2, Bytes(40_960)),
            (Bytes(20_480), Bytes(4_096), Bytes(2_048))
        )
    );
    assert_eq!(
        lines(&regions.types),
        [
            "MALLOC_LARGE (1, 8192) (1, 6144)",
            "__TEXT (1, 32768) (1, 0)"
        ]
    );

    assert_eq!(report_with(&[]).heap, None);
    let leaks = report_with(&details[1..2]).heap.unwrap();
    assert!(leaks.allocations.is_none() && leaks.leaks.is_some());
}

/// Checks that a wrong row is refused with its place, and that only its part of a report is missing.
#[test]
fn wrong_rows_are_refused() {
    let check = |rows: &str, expected: &str| {
        let error = read(rows).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let wrong = LIST.replacen("size=\"4096\"", "size=\"4 KiB\"", 1);
    check(&wrong, "size=\"4 KiB\" is not a whole number");
    check(&wrong, "row 3");
    check(
        &LIST.replacen(" live=\"false\"", "", 1),
        "a row has no attribute live",
    );
    check(&LEAKS.replace("leaked-object", "object"), "schema");

    let found = report_with(&[("Allocations.xml", &wrong), ("Leaks.xml", LEAKS)]);
    let heap = found.heap.unwrap();
    assert!(heap.allocations.is_none() && heap.leaks.is_some());
    let noted = found.notes.iter().any(|note| note.text().contains("4 KiB"));
    assert!(noted, "{:?}", found.notes);
}

fn read(rows: &str) -> Result<(), Error> {
    let mut names = metalens_trace::Names::new();
    let selection = metalens_trace::Selection::everything();
    let xml = document(rows);
    metalens_trace::read_document(xml.as_bytes(), "a.xml", &mut names, &selection).map(drop)
}

/// Checks the sums of real details, counted by hand.
#[test]
fn real_details_are_read() {
    let Some(recordings) = super::real::recordings() else {
        return;
    };
    let folder = recordings.join("xcode27-more-tables/track-detail");
    let text = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let from = text.find("<row").unwrap();
        text[from..text.find("</node>").unwrap()].to_owned()
    };
    let heap = report_with(&[
        ("a.xml", &text("Allocations__Allocations-List.xml")),
        ("b.xml", &text("Leaks__Leaks.xml")),
        ("c.xml", &text("VM-Tracker__Regions-Map.xml")),
    ]);
    let heap = heap.heap.unwrap();
    let allocations = heap.allocations.unwrap();
    assert_eq!(
        (allocations.whole.count, allocations.whole.bytes),
        (6, Bytes(196_784))
    );
    assert_eq!(
        (allocations.live.count, allocations.live.bytes),
        (3, Bytes(128))
    );
    let leaks = heap.leaks.unwrap();
    assert_eq!((leaks.whole.count, leaks.whole.bytes), (7, Bytes(1_232)));
    let regions = heap.regions.unwrap();
    assert_eq!(
        (regions.dirty_bytes, regions.resident_bytes),
        (Bytes(4_096), Bytes(32_768))
    );
}
