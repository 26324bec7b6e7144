//! Computes the memory that the driver wired for the process: a GPU cannot use other memory.

use metalens_message::{Bytes, Ns};
use metalens_text::number::rounded;
use metalens_trace::{Names, Symbol};

use crate::basics::spans::{Span, overlap_ns, union};
use crate::metrics::busy_window::BusyWindow;
use crate::report::{CountedBytes, WireEvent, Wiring};
use crate::tables::columns::at;
use crate::tables::machine::OtherDriverWork;

/// Returns the wired memory of the process.
pub(super) fn wiring(
    table: &OtherDriverWork,
    names: &Names,
    busy_window: BusyWindow<'_>,
) -> Wiring {
    let window = busy_window.window;
    let mut wiring = Wiring::default();
    let mut spans: Vec<Span> = Vec::new();
    for (row, span) in busy_window.rows(&table.processes, &table.spans) {
        let kind = at(&table.types, row).map(|kind: Symbol| names.text(kind));
        let is_wiring = match kind {
            Some("Wire Memory") => true,
            Some("Unwire Memory Request") => false,
            _ => continue,
        };
        let label = at(&table.labels, row).and_then(|id| names.label(id));
        let written_size = label.and_then(|label| size(names.text(label.text)));
        wiring.without_size += u64::from(written_size.is_none());
        let bytes = Bytes(written_size.unwrap_or(0));
        if !is_wiring {
            add(&mut wiring.unwire_requests, bytes);
            continue;
        }
        spans.push(span.clip(window));
        let sum = match span.start_ns {
            start_ns if start_ns < window.start_ns => &mut wiring.before_window,
            start_ns if start_ns < window.end_ns => &mut wiring.in_window,
            _ => &mut wiring.after_window,
        };
        add(sum, bytes);
        let event = WireEvent {
            at_ns: Ns(span.start_ns),
            duration_ns: Ns(span.length_ns()),
            bytes,
        };
        let length = |event: WireEvent| (event.duration_ns, std::cmp::Reverse(event.at_ns));
        let is_longer = |longest| length(event) > length(longest);
        if span.start_ns < window.end_ns && wiring.longest.is_none_or(is_longer) {
            wiring.longest = Some(event);
        }
    }
    spans.sort_unstable();
    wiring.in_gaps_ns = Ns(overlap_ns(&union(spans), busy_window.gaps));
    wiring
}

fn add(sum: &mut CountedBytes, bytes: Bytes) {
    sum.count += 1;
    sum.bytes = sum.bytes.saturating_add(bytes);
}

/// Returns the size in a label such as `Wire  24.38 MiB   System Memory  ( Success ) …`, which has no
/// more digits than that.
fn size(label: &str) -> Option<u64> {
    const UNITS: [(&str, f64); 5] = [
        ("Bytes", 1.0),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
    ];
    let mut words = label.split_whitespace();
    let amount: f64 = words.find_map(|word| word.parse().ok())?;
    let unit = words.next()?;
    let (_, bytes) = UNITS.into_iter().find(|&(name, _)| name == unit)?;
    (amount.is_finite() && amount >= 0.0).then(|| rounded(amount * bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::machine::DRIVER_EVENTS;
    use crate::testing::{ANALYZED, Columns, OTHER, machine_tables, with_busy_window};

    const COLUMNS: Columns = &[
        ("start", "start-time"),
        ("duration", "duration"),
        ("event-type", "gpu-driver-name"),
        ("process", "process"),
        ("event-label", "formatted-label"),
    ];

    /// Checks events before, in and after the window; time in gaps counts once.
    ///
    /// ```text
    /// window        10├───────────────────┤30
    /// gaps                 16├──┤22
    /// wire    5├──┤8     15├─┤18  24├─┤26   30├─┤32
    /// wire                   17├─┤20
    /// unwire                            28├┤29
    /// another's       12├───────┤20
    /// ```
    #[test]
    fn wired_memory_is_summed() {
        let (wire, unwire) = ("Wire Memory", "Unwire Memory Request");
        let rows: &[&[&str]] = &[
            &[
                "15",
                "3",
                wire,
                ANALYZED,
                "Wire  1.50 MiB   System Memory  ( Success )",
            ],
            &["5", "3", wire, ANALYZED, "Wire  32.00 KiB   System Memory"],
            &[
                "17",
                "3",
                wire,
                ANALYZED,
                "Wire 7 Bytes System Memory (2 MiB)",
            ],
            &["24", "2", wire, ANALYZED, "Wire System Memory"],
            &["30", "2", wire, ANALYZED, "Wire  1.00 KiB   System Memory"],
            &[
                "28",
                "1",
                unwire,
                ANALYZED,
                "Request Unwire  2.00 GiB  System Memory",
            ],
            &["12", "8", wire, OTHER, "Wire  1.00 KiB   System Memory"],
            &["21", "1", "Page Off", ANALYZED, "Page Off 1.00 KiB"],
        ];
        let (names, tables) = machine_tables(&[(DRIVER_EVENTS.schema, COLUMNS, rows)]);
        let found = with_busy_window((10, 30), &[(10, 16), (22, 30)], |busy_window| {
            wiring(&tables.driver_events.unwrap(), &names, busy_window)
        });
        let sum = |count, bytes| CountedBytes { count, bytes };
        let expected = Wiring {
            before_window: sum(1, Bytes(32 << 10)),
            in_window: sum(3, Bytes((3 << 19) + 7)),
            after_window: sum(1, Bytes(1 << 10)),
            unwire_requests: sum(1, Bytes(2 << 30)),
            in_gaps_ns: Ns(4),
            longest: Some(WireEvent {
                at_ns: Ns(5),
                duration_ns: Ns(3),
                bytes: Bytes(32 << 10),
            }),
            without_size: 1,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn sizes_have_a_known_unit() {
        let check =
            |label: &str, expected: Option<u64>| assert_eq!(size(label), expected, "{label}");
        check("Wire  24.38 MiB   System Memory", Some(25_564_283));
        check("Request Unwire  0 Bytes  System Memory", Some(0));
        check("Wire 3 Pages", None);
        check("Wire -1 KiB", None);
        check("Wire NaN KiB", None);
        check("", None);
    }
}
