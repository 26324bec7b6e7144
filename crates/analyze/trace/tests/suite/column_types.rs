//! Tests the decoding of types that the small bundle does not have.

use metalens_trace::{Input, LoadOptions, Selection, Trace};

use super::mini_bundle::{Bundled, Store, TIME, Uniques, add_stores, row, written};
use super::torture::cell;

/// Reads a bundle with one table of these columns.
fn load(
    uniques: &Uniques<'_>,
    columns: &[(&'static str, &'static str, u64)],
    rows: &[&[u64]],
) -> Trace {
    let widths = columns
        .iter()
        .map(|(.., width)| 4 * usize::try_from(*width).unwrap());
    let widths: Vec<usize> = [8, 8].into_iter().chain(widths).collect();
    let rows = rows.iter().zip(1..).map(|(numbers, time)| {
        let numbers = [time, 0].into_iter().chain(numbers.iter().copied());
        row(&numbers.zip(widths.iter().copied()).collect::<Vec<_>>())
    });
    let declared = columns.iter().map(|(name, kind, _)| (*name, *kind, None));
    let store = Store {
        schema: "events",
        topology: 7,
        columns: std::iter::once(("time", "XRSampleTimestampTypeID", TIME))
            .chain(declared)
            .collect(),
        fields: columns
            .iter()
            .map(|(name, _, width)| (*name, *width))
            .collect(),
        rows: rows.collect(),
    };
    let mut files = Bundled::new();
    uniques.add_to(&mut files);
    add_stores(&mut files, &[store]);
    let folder = tempfile::tempdir().unwrap();
    let bundle = Input::open(&written(&files, folder.path())).unwrap();
    let selection = Selection::everything().with_rendered_labels();
    bundle.load(&selection, LoadOptions::default()).unwrap()
}

/// Returns the type and the cells of a column.
fn column(trace: &Trace, mnemonic: &str) -> (String, Vec<String>) {
    let table = trace.table("events").unwrap();
    let (spec, column) = table
        .columns()
        .find(|(spec, _)| spec.mnemonic == mnemonic)
        .unwrap();
    let cells = (0..table.rows()).map(|row| cell(column, row, &trace.names));
    (spec.engineering_type.clone(), cells.collect())
}

#[test]
fn hexadecimal_numbers_stand_without_spaces_in_labels() {
    let uniques = Uniques {
        types: &[
            "XRNarrativeTextTypeID",
            "XRUnsignedIntegerHexLowercaseTypeID",
        ],
        strings: &["", "MPSGraph:0x", " (CommandBuffer: 0x", ")", "MPSGraph"],
        lists: &[],
        typed: &[&[0, 1, 1, 0x10f5, 0, 2, 1, 0xaa, 0, 3]],
    };
    let columns = [
        ("channel-name", "XRMPSEventNameTypeID", 1),
        ("start-latency", "XRDurationTypeID", 2),
        ("event-label", "XRFormattedLabelTypeID", 1),
    ];
    let trace = load(&uniques, &columns, &[&[4, 0, 0], &[4, 7, 0]]);
    let (kind, channels) = column(&trace, "channel-name");
    assert_eq!(kind, "mps-event-name");
    assert_eq!(channels, ["Some(\"MPSGraph\")"; 2]);
    // A latency of 0 is not recorded.
    assert_eq!(column(&trace, "start-latency").1, ["None", "Some(7)"]);
    let table = trace.table("events").unwrap();
    for label in table.labels("event-label").unwrap() {
        let label = trace.names.label(label.unwrap()).unwrap();
        let shown = "MPSGraph:0x10f5 (CommandBuffer: 0xaa)";
        assert_eq!(trace.names.text(label.text), shown);
        assert_eq!(trace.names.text(label.rendered.unwrap()), shown);
    }
}

#[test]
fn cycles_are_whole_numbers() {
    let columns = [("weight", "XRCycleWeightTypeID", 2)];
    let trace = load(&Uniques::default(), &columns, &[&[837_200], &[u64::MAX]]);
    let (kind, cells) = column(&trace, "weight");
    assert_eq!(kind, "cycle-weight");
    assert_eq!(cells, ["Some(837200)", "None"]);
}
