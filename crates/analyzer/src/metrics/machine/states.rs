//! Performance and thermal states: how long which, and how much of the
//! target's busy time was in it.

use metalens_trace::{Names, Symbol};

use crate::basics::held::Held;
use crate::basics::spans::{Span, length_ns, overlap_ns, union};
use crate::basics::statistics::ratio;
use crate::metrics::against::Against;
use crate::report::{Performance, StateTime, Thermal};
use crate::tables::columns::at;
use crate::tables::machine::{DEVICE, NamedStates, NumberedStates, PERFORMANCE};
use crate::tables::reader::Given;

/// How many different narratives are kept.
const NARRATIVES: usize = 8;

/// The performance states, by name where the recording has names, else by number.
pub(super) fn performance(
    named: Given<NamedStates>,
    numbered: Given<NumberedStates>,
    requested: Option<String>,
    names: &Names,
    against: Against<'_>,
) -> Given<(Performance, Vec<Held>)> {
    let window = against.window;
    let (table, rows, narratives) = match (named, numbered) {
        (Ok(table), _) => {
            let narratives = narratives(&table, names, window);
            (PERFORMANCE.schema, named_rows(&table, names), narratives)
        }
        (Err(_), Ok(table)) => (DEVICE.schema, numbered_rows(&table), Vec::new()),
        (Err(absent), Err(_)) => return Err(absent),
    };
    let held = States::of(rows, window);
    let performance = Performance {
        table: table.to_owned(),
        requested,
        unknown_ns: held.unknown_ns(window),
        unknown_busy_ns: length_ns(against.busy) - overlap_ns(&held.covered(), against.busy),
        changes: held.changes(),
        narratives,
        states: held.states(against),
    };
    Ok((performance, held.into_held()))
}

/// The thermal states.
pub(super) fn thermal(table: &NamedStates, names: &Names, against: Against<'_>) -> Thermal {
    let held = States::of(named_rows(table, names), against.window);
    let states = held.states(against);
    Thermal {
        worst: worst(&states),
        unknown_ns: held.unknown_ns(against.window),
        states,
    }
}

/// The worst of the known thermal states; none if one is not known.
fn worst(states: &[StateTime]) -> Option<String> {
    const RANKS: [&str; 4] = ["Nominal", "Fair", "Serious", "Critical"];
    let rank = |one: &StateTime| RANKS.iter().position(|&known| known == one.state);
    let ranks: Option<Vec<usize>> = states.iter().map(rank).collect();
    let worst = ranks?.into_iter().max()?;
    RANKS.get(worst).map(|&name| name.to_owned())
}

/// One row: some state held for some time.
struct Row {
    span: Span,
    state: String,
    induced: bool,
}

fn named_rows(table: &NamedStates, names: &Names) -> Vec<Row> {
    let row = |(row, span): (usize, Span)| {
        Some(Row {
            span,
            state: names.text(at(&table.states, row)?).to_owned(),
            induced: table.induced.get(row) == Some(1),
        })
    };
    table.spans.started().filter_map(row).collect()
}

/// The numbers of device states are the chip's own; none is said to be induced.
fn numbered_rows(table: &NumberedStates) -> Vec<Row> {
    let row = |(row, span): (usize, Span)| {
        Some(Row {
            span,
            state: format!("device state {}", table.states.get(row)?),
            induced: false,
        })
    };
    table.spans.started().filter_map(row).collect()
}

/// The different narratives of rows in the window, in their order.
fn narratives(table: &NamedStates, names: &Names, window: Span) -> Vec<String> {
    let mut found: Vec<Symbol> = Vec::new();
    let rows = table.spans.started();
    for (row, span) in rows.filter(|(_, span)| !span.clip(window).is_empty()) {
        if let Some(text) = at(&table.narratives, row)
            && found.len() < NARRATIVES
            && !found.contains(&text)
            && !span.is_empty()
        {
            found.push(text);
        }
    }
    found
        .iter()
        .map(|&text| names.text(text).to_owned())
        .collect()
}

/// The rows of the window, in order of time and cut to it.
struct States {
    rows: Vec<Row>,
}

impl States {
    fn of(mut rows: Vec<Row>, window: Span) -> Self {
        for row in &mut rows {
            row.span = row.span.clip(window);
        }
        rows.retain(|row| !row.span.is_empty());
        rows.sort_by_key(|row| row.span);
        Self { rows }
    }

    fn into_held(self) -> Vec<Held> {
        let rows = self.rows.into_iter();
        let held = rows.map(|row| Held {
            start_ns: row.span.start_ns,
            end_ns: row.span.end_ns,
            what: row.state,
            is_induced: row.induced,
        });
        held.collect()
    }

    /// When any state is known.
    fn covered(&self) -> Vec<Span> {
        union(self.rows.iter().map(|row| row.span))
    }

    fn unknown_ns(&self, window: Span) -> u64 {
        window.length_ns() - length_ns(&self.covered())
    }

    fn changes(&self) -> u64 {
        let neighbours = self.rows.windows(2);
        let changed = neighbours.filter(|two| match two {
            [one, next] => one.state != next.state,
            _ => false,
        });
        changed.count() as u64
    }

    /// Each state, the longest first, then by name.
    fn states(&self, against: Against<'_>) -> Vec<StateTime> {
        let mut names: Vec<&str> = self.rows.iter().map(|row| row.state.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let busy_ns = length_ns(against.busy);
        let state = |name: &str| {
            let rows = self.rows.iter().filter(|row| row.state == name);
            let held = union(rows.clone().map(|row| row.span));
            let induced = union(rows.filter(|row| row.induced).map(|row| row.span));
            let (total_ns, in_busy_ns) = (length_ns(&held), overlap_ns(&held, against.busy));
            StateTime {
                state: name.to_owned(),
                total_ns,
                share: ratio(total_ns, against.window.length_ns()),
                busy_ns: in_busy_ns,
                busy_share: ratio(in_busy_ns, busy_ns),
                induced_ns: length_ns(&induced),
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
    use crate::testing::{Columns, TableText, against, machine_tables};

    const COLUMNS: Columns = &[
        ("start", "start-time"),
        ("duration", "duration"),
        ("gpu-performance-state", "gpu-performance-state"),
        ("is-induced", "boolean"),
        ("narrative", "narrative"),
    ];

    /// The performance states in a window from 10 to 30.
    fn performance_of(
        tables: &[TableText<'_>],
        busy: &[(u64, u64)],
    ) -> Given<(Performance, Vec<Held>)> {
        let (names, tables) = machine_tables(tables);
        against((10, 30), busy, |against| {
            performance(tables.performance, tables.device, None, &names, against)
        })
    }

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
        let (found, held) = performance_of(&[table], &[(10, 16), (22, 26)]).unwrap();
        let held: Vec<_> = held.iter().map(|one| (one.start_ns, one.end_ns)).collect();
        assert_eq!(held, [(10, 14), (20, 24), (24, 26)]);
        let states: Vec<_> = found
            .states
            .iter()
            .map(|one| {
                (
                    one.state.as_str(),
                    one.total_ns,
                    one.busy_ns,
                    one.induced_ns,
                )
            })
            .collect();
        assert_eq!(states, [("Maximum", 6, 4, 2), ("Minimum", 4, 4, 4)]);
        assert_eq!((found.unknown_ns, found.unknown_busy_ns), (10, 2));
        assert_eq!(found.changes, 1);
        assert_eq!(found.narratives, ["Minimum due to conditions", "Maximum"]);
        assert_eq!(found.states[0].share, Some(0.3));
        assert_eq!(found.states[0].busy_share, Some(0.4));
        assert_eq!(found.requested, None);
    }

    #[test]
    fn by_number_where_there_are_no_names() {
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
    fn nothing_is_known_without_a_table() {
        let (performance, held) =
            performance_of(&[(PERFORMANCE.schema, COLUMNS, &[])], &[(10, 30)]).unwrap();
        assert_eq!(held, []);
        assert_eq!(
            (performance.unknown_ns, performance.unknown_busy_ns),
            (20, 20)
        );
        assert!(performance.states.is_empty());
        assert!(performance_of(&[], &[(10, 30)]).is_err());
    }

    #[test]
    fn the_worst_is_told_only_of_known_states() {
        let check = |rows: &[&[&str]], expected: Option<&str>| {
            let columns: Columns = &[
                ("start", "start-time"),
                ("duration", "duration"),
                ("thermal-state", "thermal-state"),
                ("is-induced", "boolean"),
            ];
            let (names, tables) = machine_tables(&[(THERMAL.schema, columns, rows)]);
            let table = tables.thermal.unwrap();
            let found = against((10, 30), &[], |against| thermal(&table, &names, against));
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
