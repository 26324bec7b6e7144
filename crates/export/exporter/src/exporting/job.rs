//! Selects the tables to export, and names their files.

use metalens_xctrace::command::{ExportSelection, TRACK_DETAILS, TrackDetail};

use super::contents::ListedRun;

/// A table that is to be exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableJob {
    /// Number of the table's run.
    pub(crate) run: u64,
    pub(crate) schema: String,
    /// Position of the table in the run, if the run has several tables of its schema.
    pub(crate) place: Option<usize>,
    /// Name of its file without the ending.
    pub(crate) stem: String,
}

impl TableJob {
    /// Returns the argument for `xctrace export`. Tables of one schema differ only in their
    /// position.
    pub(crate) fn selection(&self) -> ExportSelection {
        if let Some(detail) = track_detail(&self.schema) {
            let run = self.run;
            return ExportSelection::Detail { run, detail };
        }
        match self.place {
            Some(place) => ExportSelection::Place {
                run: self.run,
                place,
            },
            None => ExportSelection::Schema {
                run: self.run,
                schema: self.schema.clone(),
            },
        }
    }
}

/// Returns the jobs of the wanted tables that the contents list for a run, in their order.
pub(crate) fn jobs_from_contents(
    runs: &[ListedRun],
    run_index: usize,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Vec<TableJob> {
    let Some(run) = runs.get(run_index) else {
        return Vec::new();
    };
    let places = run.schemas.iter().enumerate();
    let wanted = places.filter(|(_, schema)| is_plain(schema) && is_wanted(schema));
    wanted
        .map(|(index, schema)| {
            let has_siblings = run.schemas.iter().filter(|other| *other == schema).count() > 1;
            let place = has_siblings.then_some(index + 1);
            TableJob {
                run: run.number,
                schema: schema.clone(),
                place,
                stem: stem(schema, (runs.len() > 1).then_some(run.number), place),
            }
        })
        .collect()
}

fn track_detail(table: &str) -> Option<TrackDetail> {
    TRACK_DETAILS
        .into_iter()
        .find(|detail| detail.table == table)
}

/// Returns the jobs for a bundle without a table of contents: one for every name, since the
/// table may exist. Details of tracks are seldom there.
pub(crate) fn jobs_from_names(names: &[String], run: u64) -> Vec<TableJob> {
    names
        .iter()
        .filter(|name| is_plain(name) && track_detail(name).is_none())
        .map(|schema| TableJob {
            run,
            schema: schema.clone(),
            place: None,
            stem: stem(schema, (run > 1).then_some(run), None),
        })
        .collect()
}

/// Returns a name such as `os-signpost.run-2.table-14`, which the reader of a folder reads as a table
/// `os-signpost`.
fn stem(schema: &str, run: Option<u64>, place: Option<usize>) -> String {
    let run = run.map(|run| format!(".run-{run}")).unwrap_or_default();
    let place = place
        .map(|place| format!(".table-{place}"))
        .unwrap_or_default();
    format!("{schema}{run}{place}")
}

/// Returns true if a schema name can be a file name.
fn is_plain(schema: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let starts_plain = schema.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    starts_plain && schema.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u64, schemas: &[&str]) -> ListedRun {
        let schemas = schemas.iter().map(|&schema| schema.to_owned()).collect();
        ListedRun::new(number, schemas)
    }

    #[test]
    fn files_are_named_after_schema_run_and_place() {
        let check = |runs: &[ListedRun], at: usize, wanted: &[&str], expected: &[&str]| {
            let jobs = jobs_from_contents(runs, at, &|schema| wanted.contains(&schema));
            let found: Vec<&str> = jobs.iter().map(|job| job.stem.as_str()).collect();
            assert_eq!(found, expected);
        };
        let one = run(1, &["a", "b", "../c", "b", "", "d"]);
        check(
            std::slice::from_ref(&one),
            0,
            &["a", "b", "../c", ""],
            &["a", "b.table-2", "b.table-4"],
        );
        let two = [one, run(7, &["b", "a"])];
        check(&two, 0, &["b"], &["b.run-1.table-2", "b.run-1.table-4"]);
        check(&two, 1, &["b", "x"], &["b.run-7"]);
        check(&two, 2, &["b"], &[]);
        let details = jobs_from_contents(&[run(3, &["a", "leaks-list"])], 0, &|_| true);
        let detail = TRACK_DETAILS[1];
        let selections: Vec<ExportSelection> = details.iter().map(TableJob::selection).collect();
        let schema = "a".to_owned();
        assert_eq!(
            selections,
            [
                ExportSelection::Schema { run: 3, schema },
                ExportSelection::Detail { run: 3, detail }
            ]
        );
        let names = ["a", "a/b", "leaks-list"].map(str::to_owned);
        let named = jobs_from_names(&names, 2);
        let stems: Vec<&str> = named.iter().map(|job| job.stem.as_str()).collect();
        assert_eq!(stems, ["a.run-2"]);
    }
}
