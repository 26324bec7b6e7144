//! Finds inputs that are the same run, such as a bundle, its zip and its export.
//!
//! No two recordings have the same nanoseconds throughout: see [`crate::repeated`].

use std::collections::HashMap;

use super::dates;
use super::row::{IndexRow, RowGaps};

/// Facts that are equal in all inputs of one run.
type RunKey<'a> = (&'a str, u64, Option<i64>, [u64; 4], &'a RowGaps);

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
    let date = row.date.as_deref().and_then(dates::parse);
    let times = [row.span_ns, row.busy_ns, row.machine_busy_ns, row.intervals];
    (&row.process, row.run, date, times, &row.gaps)
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
            |row| row.date = Some("2026-01-03T02:00:00.000-07:00".to_owned()),
            [None, Some("a")],
        );
        check(|row| row.date = None, [None, None]);
        check(
            |row| row.date = Some("2026-01-04T09:00:00Z".to_owned()),
            [None, None],
        );
        check(|row| row.span_ns += 1, [None, None]);
        check(|row| row.gaps.p95_ns = None, [None, None]);
        check(|row| row.run = 2, [None, None]);
        check(|row| row.process = "other".to_owned(), [None, None]);
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
