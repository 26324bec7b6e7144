//! Tests the decoding of types that the small bundle does not have.

use metalens_trace::{Input, LabelId, LoadOptions, Selection, Trace, TraceNote, Values};

use super::mini_bundle::{Bundled, Store, TIME, Uniques, add_stores, row, written};
use super::torture::cell;

/// Table of the bundles: the one whose latencies of 0 are none.
const SCHEMA: &str = "mps-hw-intervals";

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
        schema: SCHEMA,
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
    let folder = metalens_testing::scratch();
    let bundle = Input::open(&written(&files, folder.path())).unwrap();
    let selection = Selection::everything().with_rendered_labels();
    bundle.load(&selection, LoadOptions::default()).unwrap()
}

/// Returns the type and the cells of a column.
fn column(trace: &Trace, mnemonic: &str) -> (String, Vec<String>) {
    let table = trace.table(SCHEMA).unwrap();
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
    let table = trace.table(SCHEMA).unwrap();
    for label in Vec::<Option<LabelId>>::take(&mut table.clone(), "event-label").unwrap() {
        let label = trace.names.label(label.unwrap()).unwrap();
        let shown = "MPSGraph:0x10f5 (CommandBuffer: 0xaa)";
        assert_eq!(trace.names.text(label.text), shown);
        assert_eq!(trace.names.text(label.rendered.unwrap()), shown);
    }
}

#[test]
fn types_of_the_reference_are_read_by_their_class() {
    let uniques = Uniques {
        strings: &["", "Unknown", "LG UltraFine"],
        ..Uniques::default()
    };
    let zero = u64::MAX / 2;
    for (type_id, width, kind, values, expected) in [
        (
            "XRThermalStateTypeID",
            1,
            "thermal-state",
            [1, 2, NULL],
            [Some("Unknown"), Some("LG UltraFine"), None],
        ),
        (
            "XRDisplayNameTypeID",
            1,
            "display-name",
            [2, 1, NULL],
            [Some("LG UltraFine"), Some("Unknown"), None],
        ),
        (
            "XRFramesPerSecondTypeID",
            2,
            "fps",
            [zero + 39_000_000_000, zero, u64::MAX],
            [Some("39.000000000"), Some("0.000000000"), None],
        ),
        (
            "XREventCountTypeID",
            2,
            "event-count",
            [7, 0, u64::MAX],
            [Some("7"), Some("0"), None],
        ),
        // No list of strings is so long: the column stays as it is.
        (
            "XRThermalStateTypeID",
            1,
            "XRThermalStateTypeID",
            [1, 3, NULL],
            [Some("1"), Some("3"), Some("4294967295")],
        ),
    ] {
        let rows = values.each_ref().map(std::slice::from_ref);
        let trace = load(&uniques, &[("column", type_id, width)], &rows);
        let (found, cells) = column(&trace, "column");
        let bare = |cell: String| cell.replace('"', "");
        let cells: Vec<String> = cells.into_iter().map(bare).collect();
        let expected = expected.map(|cell| bare(format!("{cell:?}")));
        assert_eq!((found.as_str(), cells), (kind, expected.to_vec()));
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

const MESSAGES: Uniques<'_> = Uniques {
    types: &[
        "XRNarrativeTextTypeID",
        "XRPrototypeValueTypeID",
        "XRUnsignedIntegerHexLowercaseTypeID",
        "XRPrivateValueTypeID",
        "XROSLogMetadataTypeID",
        "XRNeverSeenTypeID",
    ],
    strings: &["", "frame ", " of ", "→"],
    lists: &[&[0x3031_3233_3435_3637, 0x3839_6162_6364_6566], &[1]],
    typed: &[
        &[0, 1, 1, 59_827, 0, 2, 2, 255, 3, 0],
        &[4, 0, 0, 3, 4, 0],
        &[1, 59_827],
        &[2, 255],
        &[3, 0],
        &[5, 7],
        &[4, 1],
        &[4, 7],
    ],
};

/// Checks the cells of a column of references, or that it stays raw numbers.
fn check(type_id: &'static str, kind: &str, values: &[u64], expected: &[Option<&str>]) {
    let width = if type_id == "XRReturnLocationTypeID" {
        2
    } else {
        1
    };
    let rows: Vec<[u64; 1]> = values.iter().map(|&value| [value]).collect();
    let rows: Vec<&[u64]> = rows.iter().map(|row| &row[..]).collect();
    let trace = load(&MESSAGES, &[("column", type_id, width)], &rows);
    let found = column(&trace, "column");
    let expected: Vec<String> = expected.iter().map(|cell| format!("{cell:?}")).collect();
    assert_eq!(found, (kind.to_owned(), expected));

    // One other value, and all of the column stays as it is.
    let other = if width == 2 { 1 << 32 } else { NEVER_SEEN };
    let with_other = [values, &[other]].concat();
    let rows: Vec<[u64; 1]> = with_other.iter().map(|&value| [value]).collect();
    let rows: Vec<&[u64]> = rows.iter().map(|row| &row[..]).collect();
    let trace = load(&MESSAGES, &[("column", type_id, width)], &rows);
    let (kind, cells) = column(&trace, "column");
    assert_eq!(kind, type_id);
    let raw = with_other.iter().map(|value| format!("Some({value})"));
    assert_eq!(cells, raw.collect::<Vec<_>>());
    let undecoded = |note: &TraceNote| matches!(note, TraceNote::Undecoded { .. });
    assert!(trace.notes.iter().any(undecoded));
}

/// A list with a type that was never compared.
const NEVER_SEEN: u64 = 5;
const NULL: u64 = u32::MAX as u64;

#[test]
fn signposts_are_displayed_part_by_part() {
    let message = "frame  59,827  of  ff <private>";
    let both = format!("{message} → {message}");
    check(
        "XROSLogMetadataTypeID",
        "os-log-metadata",
        &[0, 1, NULL],
        &[Some(message), Some(&both), None],
    );
    check(
        "XRAnyTypeID",
        "any",
        &[2, 3, 4, NULL],
        &[Some("59827"), Some("255"), Some("<private>"), None],
    );
    check(
        "XRReturnLocationTypeID",
        "return-location",
        &[0x20_1e64, u64::MAX],
        &[
            Some("30313233-3435-3637-3839-616263646566 + 0x201e64"),
            None,
        ],
    );
    check("XRTextBacktraceTypeID", "text-backtrace", &[NULL], &[None]);
}

#[test]
fn lists_of_numbers_are_shown_in_one_line() {
    let two = "3472611983179986487 4051376414998685030";
    let size = two.replace(' ', "x");
    for (type_id, kind, shown) in [
        ("XRVisualUUIDChainTypeID", "visual-uuid-chain", two),
        ("XRPrototypeUInt64ArrayTypeID", "uint64-array", two),
        ("XRCoreProfilePMCEventsArrayTypeID", "pmc-events", two),
        ("XRSizeInPixelsTypeID", "size-in-pixels", &size),
    ] {
        let expected = [Some(shown), Some("1"), None];
        check(type_id, kind, &[0, 1, NULL], &expected);
    }
}

#[test]
fn kernel_events_and_surfaces_are_whole_numbers() {
    for (type_id, width, kind, cells) in [
        (
            "XRKDebugClassTypeID",
            1,
            "kdebug-class",
            ["Some(7)", "None"],
        ),
        (
            "XRKDebugArgumentTypeID",
            2,
            "kdebug-arg",
            ["Some(7)", "Some(18446744073709551615)"],
        ),
        (
            "XRDisplayedSurfaceSwapIDTypeID",
            2,
            "displayed-surface-swap",
            ["Some(7)", "None"],
        ),
        (
            "XRGPUHardwareTraceIDTypeID",
            2,
            "gpu-hardware-trace",
            ["Some(7)", "Some(18446744073709551615)"],
        ),
    ] {
        let ones = u64::MAX >> (64 - 32 * width);
        let columns = [("column", type_id, width)];
        let trace = load(&Uniques::default(), &columns, &[&[7], &[ones]]);
        let found = column(&trace, "column");
        assert_eq!(found, (kind.to_owned(), cells.map(str::to_owned).to_vec()));
    }
}

#[test]
fn unusual_messages_stay_numbers() {
    // A message in messages, one in itself, an argument with two values, no argument, no UUID.
    for (type_id, value) in [
        ("XROSLogMetadataTypeID", 6),
        ("XROSLogMetadataTypeID", 7),
        ("XROSLogMetadataTypeID", 8),
        ("XRAnyTypeID", 0),
        ("XRAnyTypeID", 8),
        ("XRReturnLocationTypeID", 1 << 32),
        ("XRReturnLocationTypeID", 2 << 32),
    ] {
        let width = if type_id == "XRReturnLocationTypeID" {
            2
        } else {
            1
        };
        let trace = load(&MESSAGES, &[("column", type_id, width)], &[&[value]]);
        let raw = (type_id.to_owned(), vec![format!("Some({value})")]);
        assert_eq!(column(&trace, "column"), raw);
    }
}
