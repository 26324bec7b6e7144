//! Which tables are to be asked for, and what their files are called.

use metalens_xctrace::command::What;

use crate::contents::Run;

/// One table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    /// The number of its run.
    pub(crate) run: u64,
    /// The 1-based position of its run.
    pub(crate) position: u64,
    pub(crate) schema: String,
    /// Its place, where its run has several tables of its schema.
    pub(crate) place: Option<usize>,
    /// The beginning of its file's name.
    pub(crate) stem: String,
}

impl Job {
    pub(crate) fn what(&self) -> What {
        match self.place {
            Some(place) => What::Place {
                run: self.run,
                place,
            },
            None => What::Schema {
                run: self.run,
                schema: self.schema.clone(),
            },
        }
    }
}

/// The jobs of a run that the contents list, in their order; `is_wanted` none
/// for all.
pub(crate) fn of_contents(runs: &[Run], at: usize, is_wanted: &dyn Fn(&str) -> bool) -> Vec<Job> {
    let Some(run) = runs.get(at) else {
        return Vec::new();
    };
    let places = run.schemas.iter().enumerate();
    let wanted = places.filter(|(_, schema)| is_plain(schema) && is_wanted(schema));
    let job = |(at_place, schema): (usize, &String)| {
        let is_one_of_several = run.schemas.iter().filter(|other| *other == schema).count() > 1;
        let place = is_one_of_several.then_some(at_place + 1);
        Job {
            run: run.number,
            position: at as u64 + 1,
            schema: schema.clone(),
            place,
            stem: stem(schema, (runs.len() > 1).then_some(run.number), place),
        }
    };
    wanted.map(job).collect()
}

/// The jobs where no contents are known: every name, on the chance that it is there.
pub(crate) fn of_names(names: &[String], run: u64) -> Vec<Job> {
    let wanted = names.iter().filter(|name| is_plain(name));
    let job = |schema: &String| Job {
        run,
        position: run,
        schema: schema.clone(),
        place: None,
        stem: stem(schema, (run > 1).then_some(run), None),
    };
    wanted.map(job).collect()
}

/// `os-signpost.run-2.table-14`: what the reader of a folder takes for `os-signpost`.
fn stem(schema: &str, run: Option<u64>, place: Option<usize>) -> String {
    let run = run.map(|run| format!(".run-{run}")).unwrap_or_default();
    let place = place
        .map(|place| format!(".table-{place}"))
        .unwrap_or_default();
    format!("{schema}{run}{place}")
}

/// Whether a name can be a file's.
fn is_plain(schema: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    schema.starts_with(|c: char| c.is_ascii_alphanumeric()) && schema.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u64, schemas: &[&str]) -> Run {
        let schemas = schemas.iter().map(|&schema| schema.to_owned()).collect();
        Run { number, schemas }
    }

    #[test]
    fn names_and_places() {
        let check = |runs: &[Run], at: usize, wanted: &[&str], expected: &[&str]| {
            let jobs = of_contents(runs, at, &|schema| wanted.contains(&schema));
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
        let named = of_names(&["a".to_owned(), "a/b".to_owned()], 2);
        let stems: Vec<&str> = named.iter().map(|job| job.stem.as_str()).collect();
        assert_eq!(stems, ["a.run-2"]);
    }
}
