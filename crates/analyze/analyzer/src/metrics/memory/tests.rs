//! Tests of lives, callers and steps, on tables by hand.

use super::*;
use crate::report::Memory;
use crate::tables;
use crate::testing::{ANALYZED, Columns, OTHER, chosen, trace};

const COLUMNS: Columns = &[
    ("timestamp", "start-time"),
    ("process", "process"),
    ("resource-id", "gpu-hardware-trace"),
    ("parent-resource-id", "gpu-hardware-trace"),
    ("label", "metal-object-label"),
    ("resource-size", "size-in-bytes"),
    ("event-type", "gpu-memory-event-name"),
];

const MADE: &str = "Allocation";
const FREED: &str = "Deallocation";

fn memory_of(
    schema: &str,
    rows: &[&[&str]],
    window: (u64, u64),
    starts: &[u64],
) -> Result<Memory, NotRecorded> {
    let (recording, tables) = tables::take(trace(&[(schema, COLUMNS, rows)])).unwrap();
    let (first, _) = recording.names.processes().next().unwrap();
    let window = Span::new(window.0, window.1);
    let input = MemoryInput {
        chosen: &chosen(first),
        names: &recording.names,
        window,
        starts: starts
            .iter()
            .copied()
            .filter(|&ns| (window.start_ns..window.end_ns).contains(&ns))
            .collect(),
        signposts: &Signposts::default(),
    };
    memory(tables.surroundings.allocations, &input)
}

/// Checks lives that begin before the recording, end after it, and share an id.
///
/// ```text
/// recording  0│         10        20        30        40
/// window                10├──────────────────┤30
/// id 1, 100      5├─────────────────┤25
/// id 1, 7 again                         28├──────────────
/// id 2, 1000    ───────────────┤18
/// id 3, 50                 15├─────────────────────┤35
/// inside 3, 40                20├──────┤26
/// other's, 9       8├───────────────────────────────────
/// ```
#[test]
fn lives_begin_and_end_in_the_recording() {
    let rows: &[&[&str]] = &[
        &["5", ANALYZED, "1", "18446744073709551615", "a", "100", MADE],
        &["8", OTHER, "1", "", "a", "9", MADE],
        &["15", ANALYZED, "3", "", "b", "50", MADE],
        &["18", ANALYZED, "2", "", "a", "1000", FREED],
        &["20", ANALYZED, "4", "3", "Resource 0x4", "40", MADE],
        &["25", ANALYZED, "1", "", "a", "100", FREED],
        &["26", ANALYZED, "4", "3", "Resource 0x4", "40", FREED],
        &["28", ANALYZED, "1", "", "", "7", MADE],
        &["35", ANALYZED, "3", "", "b", "50", FREED],
        &["36", ANALYZED, "3", "", "b", "50", "Moved"],
    ];
    let found = memory_of(RESOURCES.schema, rows, (10, 30), &[]).unwrap();

    let whole = Turnover {
        allocations: 4,
        inside_others: 1,
        bytes: Bytes(157),
        freed: 3,
        freed_bytes: Bytes(150),
    };
    assert_eq!(found.whole, whole);
    assert_eq!(
        found.live,
        CountedBytes {
            count: 1,
            bytes: Bytes(7)
        }
    );
    let before = CountedBytes {
        count: 1,
        bytes: Bytes(1_000),
    };
    assert_eq!(found.freed_from_before, before);
    assert_eq!(
        (found.peak_bytes, found.peak_at_ns),
        (Bytes(150), Some(Ns(15)))
    );
    let parts = [found.before_window, found.in_window, found.after_window];
    assert_eq!(parts.map(|part| part.bytes), [100, 57, 0].map(Bytes));
    assert_eq!(parts.map(|part| part.freed), [0, 2, 1]);
    let lifetimes = found.lifetimes.unwrap();
    assert_eq!((lifetimes.count, lifetimes.max_ns), (3, Ns(20)));
    assert_eq!((found.unread, found.without_stack), (1, 4));
    let labels = found.labels.iter();
    let labels: Vec<_> = labels
        .map(|group| (group.name.as_deref(), group.bytes))
        .collect();
    let expected = [
        (Some("a"), Bytes(100)),
        (Some("b"), Bytes(50)),
        (None, Bytes(7)),
    ];
    assert_eq!(labels, expected);
    let of_other = found
        .processes
        .iter()
        .find(|process| !process.is_analyzed)
        .unwrap();
    assert_eq!((of_other.bytes, of_other.live.count), (Bytes(9), 1));
    assert_eq!(found.steps, None);
}

/// Checks steps from 100 to 500, of which each keeps 10 bytes and frees 90 of the one before.
#[test]
fn steps_have_their_share() {
    let mut rows: Vec<[String; 7]> = Vec::new();
    let row = |at: u64, id: u64, bytes: u64, event: &str| {
        let texts = [at, id, bytes].map(|number| number.to_string());
        let [at, id, bytes] = texts;
        let (process, event) = (ANALYZED.to_owned(), event.to_owned());
        [at, process, id, String::new(), String::new(), bytes, event]
    };
    for step in 0..6 {
        let at = step * 100;
        rows.push(row(at + 1, 2 * step, 10, MADE));
        rows.push(row(at + 2, 2 * step + 1, 90, MADE));
        rows.push(row(at + 101, 2 * step + 1, 90, FREED));
    }
    let rows: Vec<Vec<&str>> = rows
        .iter()
        .map(|row| row.iter().map(String::as_str).collect())
        .collect();
    let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
    let starts = [0, 100, 200, 300, 400, 500];
    let found = memory_of(RESOURCES_BEFORE.schema, &rows, (100, 550), &starts).unwrap();
    assert_eq!(found.table, "metal-gpu-allocations");

    let steps = found.steps.unwrap();
    let ends = (steps.start_ns, steps.end_ns, steps.count);
    assert_eq!(ends, (Ns(100), Ns(500), 4));
    let medians = (steps.median_allocations, steps.median_bytes);
    assert_eq!(medians, (2, Bytes(100)));
    assert_eq!(steps.turnover.bytes, Bytes(400));
    let growth = steps.growth;
    assert_eq!(growth.total_bytes, 40);
    assert!((growth.bytes_per_step - 10.0).abs() < 1e-9);
    assert!(growth.error_bytes < 1e-9);
    let group = found.callers[0].steps.unwrap();
    assert_eq!((group.allocating, group.passing.count), (4, 4));
}

#[test]
fn without_a_table_the_reason_is_known() {
    let why = memory_of("else", &[], (0, 10), &[]).unwrap_err();
    assert_eq!(why.what, "memory");
    let text = &why.why.text;
    assert!(text.contains("metal-resource-allocations"), "{text}");
}
