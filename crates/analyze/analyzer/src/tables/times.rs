//! Rejects times that no recording can have.
//!
//! The analysis adds up durations (by kernel, by channel, in total) and adds them to starts.
//! Every reader of a report can represent a time of 104 days exactly (53 bits) and a sum of 292
//! years (63 bits). A table with times beyond that is damaged. It is rejected here, before
//! anything is added up, so that no later sum can overflow.
//!
//! Rows outside of the recording are dropped one by one, and counted: a single damaged time would
//! become the longest gap, the end of the window, or the mean of a latency.

use metalens_trace::{Column, Integers, Table, Trace};

use super::commands::{COMPLETIONS, ENCODERS};
use super::gpu::{GPU_INTERVALS, GPU_STATES};
use crate::error::{Error, Result};

/// Latest point in time, and longest duration, in nanoseconds.
const LONGEST_NS: u64 = 1 << 53;

/// Largest sum of all durations in a column, in nanoseconds.
const SUM_NS: u128 = (1 << 63) - 1;

/// Names of columns with points in time.
const MOMENTS: [&str; 3] = ["start", "time", "timestamp"];
/// Names of columns with durations.
const DURATIONS: [&str; 3] = ["duration", "start-latency", "weight"];

/// Time after the end of the recording, as the table of contents has it, that a row may have, in
/// nanoseconds. Raw events of a real recording end 4 ms after it.
const AFTER_NS: u64 = 100_000_000;

/// Time before the start of the recording that a commit may have, in nanoseconds. No work in a real
/// recording was committed before its start.
const BEFORE_NS: u64 = 10_000_000_000;

/// Rows of a table with times outside of the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowsOutside {
    /// Name of the table.
    pub schema: String,
    /// Number of the rows.
    pub rows: u64,
}

/// Names of tables that an analysis requires.
const NEEDED: [&str; 4] = [
    GPU_INTERVALS.schema,
    GPU_STATES.schema,
    ENCODERS.schema,
    COMPLETIONS.schema,
];

/// Rejects a trace if a main table has impossible times. Leaves out any other such table, with
/// a note. Drops rows outside of the recording, and returns their numbers; `None` if its length is
/// unknown.
pub(crate) fn check(trace: &mut Trace) -> Result<Option<Vec<RowsOutside>>> {
    let impossible: Vec<(String, String)> = trace
        .tables()
        .iter()
        .filter_map(|table| Some((table.schema.name.clone(), impossible_time(table)?)))
        .collect();

    for (table, why) in impossible {
        if NEEDED.contains(&table.as_str()) {
            return Err(Error::ImpossibleTimes { table, why });
        }
        trace.leave_out(&table, &why);
    }

    let wall_ns = trace.run.duration_ns;
    let outside = wall_ns.map(|wall_ns| {
        let outside = trace.tables_mut().iter_mut().filter_map(|table| {
            let rows = drop_outside(table, wall_ns.saturating_add(AFTER_NS));
            let schema = table.schema.name.clone();
            (rows > 0).then_some(RowsOutside { schema, rows })
        });
        outside.collect()
    });
    Ok(outside)
}

/// Drops the rows of a table that end after a time, and the latencies that begin long before the
/// recording. Returns how many rows had either.
fn drop_outside(table: &mut Table, end_ns: u64) -> u64 {
    let numbers = |name: &str| table.integers(name).ok();
    let starts = MOMENTS.iter().find_map(|name| numbers(name));
    let (durations, latencies) = (numbers("duration"), numbers("start-latency"));
    let start = |row: usize| starts.and_then(|starts| starts.get(row));
    let length = |of: Option<&Integers>, row: usize| of.and_then(|of| of.get(row)).unwrap_or(0);

    let is_late = |row: usize| {
        let end = start(row).map(|start| start.saturating_add(length(durations, row)));
        end.is_some_and(|end| end > end_ns)
    };
    let is_early = |row: usize| {
        let latest = start(row).map(|start| start.saturating_add(BEFORE_NS));
        latest.is_some_and(|latest| length(latencies, row) > latest)
    };

    let rows = 0..table.rows();
    // Nearly always there is none, in any of a million rows.
    let may_be_early = latencies.is_some_and(|latencies| latencies.upper_bound() > BEFORE_NS);
    let has_any = rows.clone().any(is_late) || may_be_early && rows.clone().any(is_early);
    if !has_any {
        return 0;
    }
    let late: Vec<bool> = rows.clone().map(is_late).collect();
    let early: Vec<bool> = rows.clone().map(is_early).collect();
    let is = |flags: &[bool], row: usize| flags.get(row).copied().unwrap_or(false);
    let outside = rows
        .filter(|&row| is(&late, row) || is(&early, row))
        .count();
    if early.contains(&true) {
        table.forget("start-latency", |row| is(&early, row));
    }
    if late.contains(&true) {
        table.keep_rows(|row| !is(&late, row));
    }
    outside as u64
}

/// Returns the reason why a table's times are impossible, if they are.
fn impossible_time(table: &Table) -> Option<String> {
    let durations = || columns(table, &DURATIONS);
    let mut times = columns(table, &MOMENTS).chain(durations());
    let too_long = times.find_map(|(column, times)| {
        let (row, ns) = first_beyond(times)?;
        Some(format!(
            "row {row} has a {column} of {ns} ns, but no recording is longer than 104 days"
        ))
    });

    too_long.or_else(|| {
        let (column, _) = durations().find(|(_, times)| !fits(times))?;
        Some(format!("the sum of its column {column} exceeds 292 years"))
    })
}

/// Returns the first row, counted from 1, with a time beyond [`LONGEST_NS`], and that time.
fn first_beyond(times: &Integers) -> Option<(usize, u64)> {
    // Nearly always there is none, and then no row has to be examined.
    let may_exceed = times.upper_bound() > LONGEST_NS;
    let mut rows = may_exceed.then(|| (1..).zip(times.iter()))?;
    rows.find_map(|(row, ns)| Some((row, ns.filter(|&ns| ns > LONGEST_NS)?)))
}

/// Returns whether the sum of durations stays within [`SUM_NS`].
fn fits(durations: &Integers) -> bool {
    let at_most = u128::from(durations.upper_bound()) * durations.len() as u128;
    let sum = || durations.iter().flatten().map(u128::from).sum::<u128>();
    at_most <= SUM_NS || sum() <= SUM_NS
}

/// Returns the named columns that contain numbers.
fn columns<'t>(
    table: &'t Table,
    names: &'t [&str],
) -> impl Iterator<Item = (&'t str, &'t Integers)> {
    table.columns().filter_map(|(spec, column)| match column {
        Column::Integers(numbers) if names.contains(&spec.mnemonic.as_str()) => {
            Some((spec.mnemonic.as_str(), numbers))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Columns, trace};

    const COLUMNS: Columns = &[
        ("start", "start-time"),
        ("duration", "duration"),
        ("start-latency", "duration"),
        ("cmdbuffer-id", "uint64"),
    ];

    /// Checks the reason for rows of (start, duration, start latency, command buffer).
    fn check(rows: &[[u64; 4]], expected: Option<&str>) {
        let texts = rows.iter().map(|row| row.map(|number| number.to_string()));
        let texts: Vec<[String; 4]> = texts.collect();
        let rows = texts
            .iter()
            .map(|row| row.each_ref().map(String::as_str).to_vec());
        let rows: Vec<Vec<&str>> = rows.collect();
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();

        let trace = trace(&[("table", COLUMNS, &rows)]);
        let found = impossible_time(trace.table("table").unwrap());
        assert_eq!(found.as_deref(), expected, "{rows:?}");
    }

    #[test]
    fn impossible_times_are_found() {
        const MOST: u64 = LONGEST_NS;
        check(&[], None);
        check(&[[MOST, MOST, MOST, u64::MAX]], None);
        let beyond = "9007199254740993 ns, but no recording is longer than 104 days";
        let reason = |at: &str| format!("{at} of {beyond}");
        check(
            &[[0; 4], [MOST + 1, 0, 0, 1]],
            Some(&reason("row 2 has a start")),
        );
        check(
            &[[0, MOST + 1, 0, 1]],
            Some(&reason("row 1 has a duration")),
        );
        check(
            &[[0, 0, MOST + 1, 1]],
            Some(&reason("row 1 has a start-latency")),
        );
        // Starts are not added to each other, durations are.
        check(&vec![[MOST, MOST, 0, 1]; 1_023], None);
        check(&vec![[MOST, 0, 0, 1]; 1_024], None);
        let sum = "the sum of its column duration exceeds 292 years";
        check(&vec![[0, MOST, 0, 1]; 1_024], Some(sum));
    }
}
