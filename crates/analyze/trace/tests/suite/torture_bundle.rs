//! Tests a good bundle with one fault at a time, at every place, as plain files, as compressed
//! ones and as a zip archive. It must be refused, flagged, or read to the same answer; or a second
//! reader with other libraries must confirm the new answer.
//!
//! Plain files have no checksum: a flipped bit of a number gives another valid number, and only a
//! second reader of the same bytes can judge it. A compressed file has a checksum.
//!
//! `cargo test` breaks some thousand places, evenly distributed. `METALENS_TORTURE=N` breaks every
//! bit of every file, and adds N rounds of several faults at once: see `scripts/torture`.

#![expect(
    clippy::print_stdout,
    reason = "how often what came of it; seen with --nocapture"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use metalens_trace::{Input, LoadOptions, Run, Selection, Trace, TraceNote};
use tempfile::TempDir;

use super::mini_bundle::{Bundled, good, zip, zlib};
use super::mutation::{Mutation, RandomFault};
use super::second_bundle_reader::{self as second, Shown};
use super::torture::cell;

/// The form in which a bundle is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Compressed,
    Zipped,
}

/// The result of reading a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answer {
    tables: BTreeMap<u64, Shown>,
    run: Run,
    notes: Vec<TraceNote>,
}

impl Answer {
    fn of(trace: &Trace) -> Self {
        let tables = trace.tables().iter().map(|table| {
            let (_, number) = table.file.rsplit_once('-').unwrap();
            let lines = table.columns().map(|(spec, column)| {
                let rows = 0..table.rows();
                let cells: Vec<String> = rows.map(|row| cell(column, row, &trace.names)).collect();
                format!("{}: {cells:?}", spec.mnemonic)
            });
            let shown = (table.schema.name.clone(), lines.collect());
            (number.parse().unwrap(), shown)
        });
        Self {
            tables: tables.collect(),
            run: trace.run.clone(),
            notes: trace.notes.clone(),
        }
    }

    /// Returns true if a note says that a table is not listed.
    fn has_unlisted(&self) -> bool {
        let mut notes = self.notes.iter();
        notes.any(|note| matches!(note, TraceNote::Unlisted { .. }))
    }

    /// Returns the names of tables that were left out, according to notes.
    fn left_out(&self) -> Vec<&str> {
        let named = self.notes.iter().filter_map(|note| match note {
            TraceNote::Unreadable { file, .. } => file.split(" (").next(),
            _ => None,
        });
        named.collect()
    }
}

/// A bundle on a disk that is broken in one place and repaired again.
struct Bench {
    form: Form,
    folder: TempDir,
    /// Stored files, or the archive itself.
    stored: Bundled,
    good: Answer,
    outcomes: Outcomes,
}

/// Numbers of outcomes.
#[derive(Debug, Default)]
struct Outcomes {
    refused: usize,
    /// Another or an incomplete answer, with a note.
    flagged: usize,
    same: usize,
    /// Another answer that the second reader confirms.
    confirmed: usize,
    /// Another answer without a note, although the bundle is inconsistent.
    silent: Vec<String>,
}

/// Time limit of one reading; longer means that it hangs.
const MOMENT: Duration = Duration::from_secs(10);

impl Bench {
    fn new(form: Form) -> Self {
        let files = good();
        let stored = match form {
            Form::Plain => files,
            Form::Compressed => files
                .into_iter()
                .map(|(path, bytes)| (path, zlib(&bytes)))
                .collect(),
            Form::Zipped => Bundled::from([("bundle.zip".to_owned(), zip(&files))]),
        };

        let folder = metalens_testing::scratch();
        let mut bench = Self {
            form,
            folder,
            stored,
            good: Answer {
                tables: BTreeMap::new(),
                run: Run::default(),
                notes: Vec::new(),
            },
            outcomes: Outcomes::default(),
        };

        for (path, bytes) in &bench.stored {
            bench.write(path, Some(bytes));
        }
        bench.good = bench.read().unwrap();
        bench
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("X.trace")
    }

    fn write(&self, path: &str, bytes: Option<&[u8]>) {
        let path = self.root().join(path);
        match bytes {
            Some(bytes) => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
            None => fs::remove_file(path).unwrap(),
        }
    }

    fn read(&self) -> Option<Answer> {
        let path = match self.form {
            Form::Zipped => self.root().join("bundle.zip"),
            _ => self.root(),
        };
        let everything = Selection::everything().with_rendered_labels();
        // Tables beside a broken one are judged too.
        let selection = everything.where_readable();
        let input = Input::open(&path).ok()?;
        let trace = input.load(&selection, LoadOptions::default()).ok()?;
        Some(Answer::of(&trace))
    }

    /// Changes or removes some files, reads and judges the bundle, and repairs it.
    fn break_files(&mut self, changes: &[(&str, Option<Vec<u8>>)], what: &str) {
        for (path, bytes) in changes {
            self.write(path, bytes.as_deref());
        }
        let began = Instant::now();
        let answer = self.read();
        assert!(
            began.elapsed() < MOMENT,
            "{what} took {:?}",
            began.elapsed()
        );
        let mut broken = self.stored.clone();

        for (path, bytes) in changes {
            match bytes {
                Some(bytes) => drop(broken.insert((*path).to_owned(), bytes.clone())),
                None => drop(broken.remove(*path)),
            }
        }

        self.judge(answer.as_ref(), &broken, what);
        for (path, _) in changes {
            self.write(path, self.stored.get(*path).map(Vec::as_slice));
        }
    }

    fn judge(&mut self, answer: Option<&Answer>, broken: &Bundled, what: &str) {
        let Some(answer) = answer else {
            self.outcomes.refused += 1;
            return;
        };
        if *answer == self.good {
            self.outcomes.same += 1;
            return;
        }
        match self.check_confirmed(answer, broken) {
            Ok(()) if answer.notes != self.good.notes => self.outcomes.flagged += 1,
            Ok(()) => self.outcomes.confirmed += 1,
            Err(why) => self.outcomes.silent.push(format!("{what}: {why}")),
        }
    }

    /// Checks that a second reader confirms every unflagged difference from the good answer.
    fn check_confirmed(&self, answer: &Answer, broken: &Bundled) -> Result<(), String> {
        let reference =
            second::plain(broken, self.form != Form::Plain).and_then(|files| second::read(&files));
        let left_out = answer.left_out();
        for (number, table) in &answer.tables {
            if self.good.tables.get(number) == Some(table) {
                continue;
            }
            let second = match &reference {
                Ok(reference) => reference.tables.get(number).cloned(),
                Err(error) => return Err(format!("{error}, but {table:?}")),
            };
            match second.unwrap_or_else(|| Err("no such table".to_owned())) {
                Ok(second) if are_alike(table, &second) => {}
                Ok(second) => return Err(format!("{table:?}, where a second reads {second:?}")),
                Err(why) => return Err(format!("{why}, but {table:?}")),
            }
        }

        for (number, (schema, _)) in &self.good.tables {
            let is_there = answer.tables.contains_key(number);
            // A table with another name is left out under that name.
            let second = reference
                .as_ref()
                .map(|reference| reference.tables.get(number));
            let is_said = match second {
                Ok(None) => true,
                Ok(Some(Err(_))) => !left_out.is_empty(),
                _ => left_out.contains(&schema.as_str()) || answer.has_unlisted(),
            };
            if !is_there && !is_said {
                return Err(format!("{schema} is gone without a word"));
            }
        }

        let facts = |run: &Run| (run.target.clone(), run.template.clone(), run.duration_ns);
        let is_named = answer.notes.iter().any(|note| {
            matches!(
                note,
                TraceNote::NoTemplate
                    | TraceNote::DamagedTemplate
                    | TraceNote::TemplateLacks { .. }
            )
        });

        if facts(&answer.run) == facts(&self.good.run) || is_named {
            return Ok(());
        }
        let reference = reference?;
        let second = (reference.target, reference.template, reference.duration_ns);
        if facts(&answer.run) == second {
            Ok(())
        } else {
            Err(format!(
                "{:?}, where a second reads {second:?}",
                facts(&answer.run)
            ))
        }
    }

    /// Returns the outcomes. Panics if there were silent faults.
    fn finish(self) -> Outcomes {
        let mut outcomes = self.outcomes;
        let silent = std::mem::take(&mut outcomes.silent);
        println!("{:?}: {outcomes:?}", self.form);
        for fault in silent.iter().take(40) {
            println!("  {fault}");
        }
        assert!(silent.is_empty(), "{} without a word", silent.len());
        outcomes
    }
}

/// Returns true if two readings of a table agree. A `?` is a value that the second reader does not
/// decode.
fn are_alike(ours: &Shown, second: &Shown) -> bool {
    let lines = || ours.1.iter().zip(&second.1);
    let alike = |(one, two): (&String, &String)| one == two || two.contains("(\\\"?\\\"");
    ours.0 == second.0 && ours.1.len() == second.1.len() && lines().all(alike)
}

/// Returns the number of additional rounds, if any.
fn rounds() -> Option<u64> {
    let rounds = std::env::var("METALENS_TORTURE").ok();
    rounds.map(|rounds| rounds.parse().unwrap())
}

/// Returns the places to break in a file: all, or a few, evenly distributed over all files.
fn places(length: usize, files: usize) -> impl Iterator<Item = usize> {
    const FEW: usize = 400;
    let step = match rounds() {
        Some(_) => 1,
        None => (length * files / FEW).max(1),
    };
    (0..length).step_by(step)
}

impl Bench {
    fn break_file(&mut self, path: &str, good: &[u8], mutation: &Mutation) {
        let changes = [(path, Some(mutation.of(good)))];
        self.break_files(&changes, &format!("{path}: {mutation:?}"));
    }

    /// Cuts off every file and flips its bits, at some or all places.
    fn every_place(&mut self) {
        let bits = match rounds() {
            Some(_) => 0..8,
            None => 0..3,
        };
        for (path, bytes) in self.stored.clone() {
            for at in places(bytes.len(), self.stored.len()) {
                // Unless all bits are tested, each place tests different ones.
                let flips = bits
                    .clone()
                    .map(|bit| Mutation::Flip(at, 1 << ((bit * 3 + at) % 8)));
                for mutation in std::iter::once(Mutation::CutOff(at)).chain(flips) {
                    self.break_file(&path, &bytes, &mutation);
                }
            }
        }
    }

    /// Removes, empties, doubles and swaps every file.
    fn every_file(&mut self) {
        let files = self.stored.clone();
        for (path, bytes) in &files {
            self.break_files(&[(path, None)], &format!("without {path}"));
            self.break_file(path, bytes, &Mutation::CutOff(0));
            self.break_file(path, bytes, &Mutation::Repeat(0..bytes.len()));
            for (other, others) in files
                .range::<String, _>((std::ops::Bound::Excluded(path), std::ops::Bound::Unbounded))
            {
                let changes = [
                    (path.as_str(), Some(others.clone())),
                    (other.as_str(), Some(bytes.clone())),
                ];
                self.break_files(&changes, &format!("{path} and {other} swapped"));
            }
        }
    }

    /// Makes several random faults in one file; the seed makes them repeatable.
    fn by_chance(&mut self, rounds: u64) {
        let files: Vec<(String, Vec<u8>)> = self.stored.clone().into_iter().collect();
        for round in 0..rounds {
            let file = usize::try_from(round).unwrap() % files.len();
            let (path, mut bytes) = files[file].clone();
            RandomFault::apply_several(round, &mut bytes);
            let what = format!("round {round}: {path}");
            self.break_files(&[(&path, Some(bytes))], &what);
        }
    }
}

fn torture(form: Form) -> Outcomes {
    let mut bench = Bench::new(form);
    bench.every_place();
    bench.every_file();
    bench.by_chance(rounds().unwrap_or(2_000) / 4);
    bench.finish()
}

#[test]
fn broken_plain_files_are_found() {
    let outcomes = torture(Form::Plain);
    assert!(
        outcomes.confirmed > 0 && outcomes.refused > outcomes.confirmed,
        "{outcomes:?}"
    );
}

#[test]
fn broken_compressed_files_are_found() {
    let outcomes = torture(Form::Compressed);
    assert!(
        outcomes.refused > 0 && outcomes.confirmed == 0,
        "{outcomes:?}"
    );
}

#[test]
fn a_broken_archive_is_found() {
    let outcomes = torture(Form::Zipped);
    assert!(
        outcomes.refused > 0 && outcomes.confirmed == 0,
        "{outcomes:?}"
    );
}

/// The judge itself must reject another answer.
#[test]
fn the_judge_rejects_other_answers() {
    let bench = Bench::new(Form::Plain);
    let reference = second::read(&bench.stored).unwrap();
    for (number, table) in &bench.good.tables {
        let second = reference.tables[number].clone().unwrap();
        assert!(are_alike(table, &second), "{table:?} and {second:?}");
    }
    let mut other = bench.good.clone();
    let lines = &mut other.tables.get_mut(&2).unwrap().1;
    lines[0] = lines[0].replace("100", "101");
    assert!(bench.check_confirmed(&other, &bench.stored).is_err());
    other.tables.remove(&2);
    assert!(bench.check_confirmed(&other, &bench.stored).is_err());
    assert!(Path::new(&bench.root()).is_dir());
}
