//! Computes the time in each performance and thermal state, and the busy time of the process in
//! it.

use metalens_message::{Ns, share};
use metalens_trace::{Names, Symbol};

use crate::basics::spans::{Span, length_ns, overlap_ns, union};
use crate::basics::state_interval::StateInterval;
use crate::metrics::busy_window::BusyWindow;
use crate::report::{Performance, StateTime, Thermal};
use crate::tables::columns::at;
use crate::tables::machine::{DEVICE, NamedStates, NumberedStates, PERFORMANCE};
use crate::tables::reader::TableResult;

/// Largest number of different narratives that are kept.
const NARRATIVES: usize = 8;

/// Returns the performance states, by name if the recording has names, else by number.
pub(super) fn performance(
    named: TableResult<NamedStates>,
    numbered: TableResult<NumberedStates>,
    requested: Option<String>,
    names: &Names,
    busy_window: BusyWindow<'_>,
) -> TableResult<(Performance, Vec<StateInterval>)> {
    let window = busy_window.window;
    let (table, rows, narratives) = match (named, numbered) {
        (Ok(table), _) => {
            let narratives = narratives(&table, names, window);
            (PERFORMANCE.schema, named_rows(&table, names), narratives)
        }
        (Err(_), Ok(table)) => (DEVICE.schema, numbered_rows(&table), Vec::new()),
        (Err(absent), Err(_)) => return Err(absent),
    };
    let state_rows = StateRows::new(rows, window);
    let covered = state_rows.covered();
    let performance = Performance {
        table: table.to_owned(),
        requested,
        unknown_ns: Ns(state_rows.unknown_ns(window)),
        unknown_busy_ns: Ns(length_ns(busy_window.busy) - overlap_ns(&covered, busy_window.busy)),
        changes: state_rows.changes(),
        narratives,
        states: state_rows.states(busy_window),
    };
    Ok((performance, state_rows.rows))
}

/// Returns the thermal states.
pub(super) fn thermal(table: &NamedStates, names: &Names, busy_window: BusyWindow<'_>) -> Thermal {
    let state_rows = StateRows::new(named_rows(table, names), busy_window.window);
    let states = state_rows.states(busy_window);
    Thermal {
        worst: worst(&states),
        unknown_ns: Ns(state_rows.unknown_ns(busy_window.window)),
        states,
    }
}

/// Returns the worst of the known thermal states; `None` if one is unknown.
fn worst(states: &[StateTime]) -> Option<String> {
    const RANKS: [&str; 4] = ["Nominal", "Fair", "Serious", "Critical"];
    let rank = |state: &StateTime| RANKS.iter().position(|&known| known == state.state);
    let ranks: Option<Vec<usize>> = states.iter().map(rank).collect();
    let worst = ranks?.into_iter().max()?;
    RANKS.get(worst).map(|&name| name.to_owned())
}

fn named_rows(table: &NamedStates, names: &Names) -> Vec<StateInterval> {
    let row = |(row, span): (usize, Span)| {
        Some(StateInterval {
            is_induced: table.induced.get(row) == Some(1),
            ..StateInterval::new(span, names.text(at(&table.states, row)?))
        })
    };
    table.spans.started().filter_map(row).collect()
}

/// Returns rows of device states, whose numbers are the chip's own. The table does not mark
/// induced ones.
fn numbered_rows(table: &NumberedStates) -> Vec<StateInterval> {
    let row = |(row, span): (usize, Span)| {
        let what = format!("device state {}", table.states.get(row)?);
        Some(StateInterval::new(span, what))
    };
    table.spans.started().filter_map(row).collect()
}

/// Returns the different narratives of rows in the window, in order of time.
fn narratives(table: &NamedStates, names: &Names, window: Span) -> Vec<String> {
    let mut narratives: Vec<Symbol> = Vec::new();
    let rows = table.spans.started();
    for (row, span) in rows.filter(|(_, span)| !span.clip(window).is_empty()) {
        if let Some(text) = at(&table.narratives, row)
            && narratives.len() < NARRATIVES
            && !narratives.contains(&text)
            && !span.is_empty()
        {
            narratives.push(text);
        }
    }

    narratives
        .iter()
        .map(|&text| names.text(text).to_owned())
        .collect()
}

/// Rows in the window, in order of time and cut to it.
struct StateRows {
    rows: Vec<StateInterval>,
}

impl StateRows {
    fn new(mut rows: Vec<StateInterval>, window: Span) -> Self {
        for row in &mut rows {
            let inside = row.span().clip(window);
            (row.start_ns, row.end_ns) = (inside.start_ns, inside.end_ns);
        }
        rows.retain(|row| !row.span().is_empty());
        rows.sort_by_key(StateInterval::span);
        Self { rows }
    }

    /// Returns the time in which some state is known.
    fn covered(&self) -> Vec<Span> {
        union(self.rows.iter().map(StateInterval::span))
    }

    fn unknown_ns(&self, window: Span) -> u64 {
        window.length_ns() - length_ns(&self.covered())
    }

    fn changes(&self) -> u64 {
        let changes = self.rows.windows(2).filter(|pair| match pair {
            [this, next] => this.what != next.what,
            _ => false,
        });
        changes.count() as u64
    }

    /// Returns the time in each state, the longest first, then by name.
    fn states(&self, busy_window: BusyWindow<'_>) -> Vec<StateTime> {
        let mut names: Vec<&str> = self.rows.iter().map(|row| row.what.as_str()).collect();
        names.sort_unstable();
        names.dedup();

        let busy_ns = length_ns(busy_window.busy);
        let state = |name: &str| {
            let rows = self.rows.iter().filter(|row| row.what == name);
            let in_state = union(rows.clone().map(StateInterval::span));
            let induced = union(rows.filter(|row| row.is_induced).map(StateInterval::span));
            let (total_ns, in_busy_ns) = (
                length_ns(&in_state),
                overlap_ns(&in_state, busy_window.busy),
            );
            StateTime {
                state: name.to_owned(),
                total_ns: Ns(total_ns),
                share: share(total_ns, busy_window.window.length_ns()),
                busy_ns: Ns(in_busy_ns),
                busy_share: share(in_busy_ns, busy_ns),
                induced_ns: Ns(length_ns(&induced)),
            }
        };

        let mut states: Vec<StateTime> = names.into_iter().map(state).collect();
        states.sort_by_key(|state| std::cmp::Reverse(state.total_ns));
        states
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::machine::THERMAL;
    use crate::testing::{Columns, TableText, machine_tables, with_busy_window};
    use metalens_message::Share;

    const COLUMNS: Columns = &[
        ("start", "start-time"),
        ("duration", "duration"),
        ("gpu-performance-state", "gpu-performance-state"),
        ("is-induced", "boolean"),
        ("narrative", "narrative"),
    ];

    /// Returns the performance states in a window from 10 to 30.
    fn performance_of(
        tables: &[TableText<'_>],
        busy: &[(u64, u64)],
    ) -> TableResult<(Performance, Vec<StateInterval>)> {
        let (names, tables) = machine_tables(tables);
        with_busy_window((10, 30), busy, |busy_window| {
            performance(tables.performance, tables.device, None, &names, busy_window)
        })
    }

    /// Checks states of which one began before the window.
    ///
    /// ```text
    /// window        10├─────────────────────┤30
    /// Minimum   5├────────┤14
    /// Maximum                     20├──┤24├─┤26
    /// busy          10├──────┤16      22├───┤26
    /// ```
    #[test]
    fn states_are_cut_to_the_window() {
        let rows: &[&[&str]] = &[
            &["5", "9", "Minimum", "1", "Minimum due to conditions"],
            &["20", "4", "Maximum", "0", "Maximum"],
            &["24", "2", "Maximum", "1", "Maximum"],
        ];
        let table = (PERFORMANCE.schema, COLUMNS, rows);
        let (found, intervals) = performance_of(&[table], &[(10, 16), (22, 26)]).unwrap();
        let intervals: Vec<_> = intervals
            .iter()
            .map(|interval| (interval.start_ns, interval.end_ns))
            .collect();
        assert_eq!(intervals, [(10, 14), (20, 24), (24, 26)]);
        let states: Vec<_> = found
            .states
            .iter()
            .map(|state| {
                (
                    state.state.as_str(),
                    state.total_ns,
                    state.busy_ns,
                    state.induced_ns,
                )
            })
            .collect();
        let expected = [
            ("Maximum", Ns(6), Ns(4), Ns(2)),
            ("Minimum", Ns(4), Ns(4), Ns(4)),
        ];
        assert_eq!(states, expected);
        assert_eq!((found.unknown_ns, found.unknown_busy_ns), (Ns(10), Ns(2)));
        assert_eq!(found.changes, 1);
        assert_eq!(found.narratives, ["Minimum due to conditions", "Maximum"]);
        assert_eq!(found.states[0].share, Some(Share(0.3)));
        assert_eq!(found.states[0].busy_share, Some(Share(0.4)));
        assert_eq!(found.requested, None);
    }

    #[test]
    fn states_without_names_are_numbered() {
        let columns: Columns = &[
            ("start", "start-time"),
            ("duration", "duration"),
            ("state", "uint32"),
        ];
        let table: TableText<'_> = (DEVICE.schema, columns, &[&["0", "30", "2"]]);
        let (found, _) = performance_of(&[table], &[]).unwrap();
        assert_eq!(found.table, DEVICE.schema);
        assert_eq!(found.states[0].state, "device state 2");
        assert_eq!(found.states[0].busy_share, None);
    }

    #[test]
    fn states_are_unknown_without_rows() {
        let (performance, intervals) =
            performance_of(&[(PERFORMANCE.schema, COLUMNS, &[])], &[(10, 30)]).unwrap();
        assert_eq!(intervals, []);
        assert_eq!(
            (performance.unknown_ns, performance.unknown_busy_ns),
            (Ns(20), Ns(20))
        );
        assert!(performance.states.is_empty());
        assert!(performance_of(&[], &[(10, 30)]).is_err());
    }

    #[test]
    fn the_worst_thermal_state_needs_known_states() {
        let check = |rows: &[&[&str]], expected: Option<&str>| {
            let columns: Columns = &[
                ("start", "start-time"),
                ("duration", "duration"),
                ("thermal-state", "thermal-state"),
                ("is-induced", "boolean"),
            ];
            let (names, tables) = machine_tables(&[(THERMAL.schema, columns, rows)]);
            let table = tables.thermal.unwrap();
            let found = with_busy_window((10, 30), &[], |busy_window| {
                thermal(&table, &names, busy_window)
            });
            assert_eq!(found.worst.as_deref(), expected, "{rows:?}");
        };
        check(
            &[&["0", "20", "Fair", "0"], &["20", "9", "Nominal", "0"]],
            Some("Fair"),
        );
        check(
            &[&["0", "20", "Fair", "0"], &["20", "9", "Glowing", "0"]],
            None,
        );
        check(
            &[&["0", "10", "Critical", "0"], &["10", "20", "Fair", "0"]],
            Some("Fair"),
        );
        check(&[], None);
    }
}
