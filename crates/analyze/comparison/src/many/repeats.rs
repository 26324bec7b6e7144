//! Finds inputs that are the same run, such as a bundle, its zip and its export.
//!
//! No two recordings have the same nanoseconds throughout: see [`crate::repeated`].

use metalens_analyzer::id;
use std::collections::HashMap;

use metalens_message::Number;

use super::dates;
use super::row::IndexRow;

/// Facts that are equal in all inputs of one run.
type RunKey<'a> = (&'a str, u64, Option<i64>, [Option<u64>; 9]);

/// Figures that are equal in all inputs of one run, to the nanosecond.
const SAME: [&str; 9] = [
    id!(window.span_ns),
    id!(busy.busy_ns),
    id!(busy.machine_busy_ns),
    id!(counts.intervals),
    id!(gaps.count),
    id!(gaps.total_ns),
    id!(gaps.mean_ns?),
    id!(gaps.median_ns?),
    id!(gaps.p95_ns?),
];

/// Marks the rows of a run except for the first, so that the run counts once. A bundle comes before
/// what was made of it.
pub fn mark_repeats(rows: &mut [IndexRow]) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&index| rows.get(index).map(|row| !row.input.ends_with(".trace")));

    let mut first: HashMap<RunKey<'_>, &str> = HashMap::new();
    let mut repeats: Vec<(usize, String)> = Vec::new();
    for index in order {
        let Some(row) = rows.get(index) else { continue };
        match first.get(&run(row)) {
            Some(&report) => repeats.push((index, report.to_owned())),
            None => {
                first.insert(run(row), &row.report);
            }
        }
    }

    for (index, report) in repeats {
        if let Some(row) = rows.get_mut(index) {
            row.same_as = Some(report);
        }
    }
}

fn run(row: &IndexRow) -> RunKey<'_> {
    // A bundle has the date in UTC, its export in the time zone of the Mac.
    let date = row.of.date.as_deref().and_then(dates::parse);
    let figures = SAME.map(|id| row.of.figure(id).map(Number::to_whole));
    (&row.of.process, row.run, date, figures)
}

#[cfg(test)]
mod tests {
    use super::super::tests::row;
    use super::*;

    #[test]
    fn a_run_counts_once() {
        let check = |change: fn(&mut IndexRow), expected: [Option<&str>; 2]| {
            let mut rows = [row("a", 3, 0.9), row("b", 3, 0.9)];
            change(&mut rows[1]);
            mark_repeats(&mut rows);
            let found = rows.each_ref().map(|row| row.same_as.as_deref());
            assert_eq!(found, expected, "{:?}", rows[1]);
        };
        check(|_| (), [None, Some("a")]);
        check(
            |row| row.of.date = Some("2026-01-03T02:00:00.000-07:00".to_owned()),
            [None, Some("a")],
        );
        check(|row| row.of.date = None, [None, None]);
        check(
            |row| row.of.date = Some("2026-01-04T09:00:00Z".to_owned()),
            [None, None],
        );
        check(
            |row| row.of.figures.retain(|id, _| id != "window.span_ns"),
            [None, None],
        );
        check(
            |row| row.of.figures.retain(|id, _| id != "gaps.p95_ns"),
            [None, None],
        );
        check(|row| row.run = 2, [None, None]);
        check(|row| row.of.process = "other".to_owned(), [None, None]);
    }

    #[test]
    fn a_bundle_comes_before_its_export() {
        let mut rows = [row("a", 3, 0.9), row("b", 3, 0.9)];
        rows[0].input = "runs/a.export".to_owned();
        mark_repeats(&mut rows);
        let found = rows.each_ref().map(|row| row.same_as.as_deref());
        assert_eq!(found, [Some("b"), None]);
    }
}
