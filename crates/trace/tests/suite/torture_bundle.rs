//! A good bundle, broken everywhere, one place at a time, as plain files, as compressed
//! ones and as a zip archive. The law: it is refused, or flagged, or read to the same
//! answer, or a second reader over other libraries finds that the bundle now says what
//! was read and nowhere contradicts it.
//!
//! Plain files have no checksum: a bit of a number that flips is another number, and
//! only a second opinion on the same bytes can be had. A compressed file has one.
//!
//! `cargo test` breaks some thousand places, evenly chosen; `METALENS_TORTURE=N` every
//! bit of every file, and N rounds of several breaks at once: see `scripts/torture`.

#![expect(
    clippy::print_stdout,
    reason = "how often what came of it; seen with --nocapture"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use metalens_trace::{Input, LoadOptions, Note, Run, Selection, Trace};
use tempfile::TempDir;

use super::mini_bundle::{Bundled, good, zip, zlib};
use super::second_bundle_reader::{self as second, Shown};
use super::torture::{Chance, cell};

/// How a bundle is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Compressed,
    Zipped,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answer {
    tables: BTreeMap<u64, Shown>,
    run: Run,
    notes: Vec<Note>,
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

    /// Whether a note says that rows are of no table that is listed.
    fn has_unlisted(&self) -> bool {
        let mut notes = self.notes.iter();
        notes.any(|note| matches!(note, Note::Unlisted { .. }))
    }

    /// The names of tables that a note says were left out.
    fn left_out(&self) -> Vec<&str> {
        let named = self.notes.iter().filter_map(|note| match note {
            Note::Unreadable { file, .. } => file.split(" (").next(),
            _ => None,
        });
        named.collect()
    }
}

/// A bundle on the disk that is broken in one place and mended again.
struct Bench {
    form: Form,
    folder: TempDir,
    /// The files as they are stored; of an archive, itself.
    stored: Bundled,
    good: Answer,
    outcomes: Outcomes,
}

/// What came of it.
#[derive(Debug, Default)]
struct Outcomes {
    refused: usize,
    /// Another answer, or none to a part of it, and a note that says so.
    flagged: usize,
    same: usize,
    /// The bundle says something else, and says it well.
    said: usize,
    /// Another answer without a word, though the bundle contradicts itself.
    silent: Vec<String>,
}

/// Nothing here takes longer, or it hangs.
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
        let folder = tempfile::tempdir().unwrap();
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
        // What is read beside a table that is broken is judged, too.
        let selection = everything.where_readable();
        let input = Input::open(&path).ok()?;
        let trace = input.load(&selection, LoadOptions::default()).ok()?;
        Some(Answer::of(&trace))
    }

    /// Changes some files, or takes them away, reads, judges, and mends.
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
        match self.check_said(answer, broken) {
            Ok(()) if answer.notes != self.good.notes => self.outcomes.flagged += 1,
            Ok(()) => self.outcomes.said += 1,
            Err(why) => self.outcomes.silent.push(format!("{what}: {why}")),
        }
    }

    /// Whether everything that differs from the good answer, and is not flagged, is what
    /// a second reader finds.
    fn check_said(&self, answer: &Answer, broken: &Bundled) -> Result<(), String> {
        let said =
            second::plain(broken, self.form != Form::Plain).and_then(|files| second::read(&files));
        let left_out = answer.left_out();
        for (number, table) in &answer.tables {
            if self.good.tables.get(number) == Some(table) {
                continue;
            }
            let second = match &said {
                Ok(said) => said.tables.get(number).cloned(),
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
            // A table of another name is left out under that.
            let second = said.as_ref().map(|said| said.tables.get(number));
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
                Note::NoTemplate | Note::DamagedTemplate | Note::TemplateLacks { .. }
            )
        });
        if facts(&answer.run) == facts(&self.good.run) || is_named {
            return Ok(());
        }
        let said = said?;
        let second = (said.target, said.template, said.duration_ns);
        match facts(&answer.run) == second {
            true => Ok(()),
            false => Err(format!(
                "{:?}, where a second reads {second:?}",
                facts(&answer.run)
            )),
        }
    }

    /// The outcomes, once nothing was silent.
    fn finish(self) -> Outcomes {
        let mut outcomes = self.outcomes;
        let silent = std::mem::take(&mut outcomes.silent);
        println!("{:?}: {outcomes:?}", self.form);
        for one in silent.iter().take(40) {
            println!("  {one}");
        }
        assert!(silent.is_empty(), "{} without a word", silent.len());
        outcomes
    }
}

/// Two readings of a table are alike; a `?` is what the second reader leaves to the first.
fn are_alike(ours: &Shown, second: &Shown) -> bool {
    let lines = || ours.1.iter().zip(&second.1);
    let alike = |(one, two): (&String, &String)| one == two || two.contains("(\\\"?\\\"");
    ours.0 == second.0 && ours.1.len() == second.1.len() && lines().all(alike)
}

/// How many rounds were asked for beyond what is always done.
fn rounds() -> Option<u64> {
    let rounds = std::env::var("METALENS_TORTURE").ok();
    rounds.map(|rounds| rounds.parse().unwrap())
}

/// Places in one of so many files at which to break it: all, or a few, evenly chosen.
fn places(length: usize, files: usize) -> impl Iterator<Item = usize> {
    const FEW: usize = 400;
    let step = match rounds() {
        Some(_) => 1,
        None => (length * files / FEW).max(1),
    };
    (0..length).step_by(step)
}

impl Bench {
    /// Every file cut off, and a bit of it flipped, here and there or everywhere.
    fn every_place(&mut self) {
        let bits = match rounds() {
            Some(_) => 0..8,
            None => 0..3,
        };
        for (path, bytes) in self.stored.clone() {
            for at in places(bytes.len(), self.stored.len()) {
                let cut = bytes[..at].to_vec();
                self.break_files(&[(&path, Some(cut))], &format!("{path} cut off at {at}"));
                for bit in bits.clone() {
                    // Without all bits each place has others of its own.
                    let bit = (bit * 3 + at) % 8;
                    let mut flipped = bytes.clone();
                    flipped[at] ^= 1 << bit;
                    let what = format!("bit {bit} of {path}, byte {at}");
                    self.break_files(&[(&path, Some(flipped))], &what);
                }
            }
        }
    }

    /// Every file away, empty, twice over, and in another's place.
    fn every_file(&mut self) {
        let files = self.stored.clone();
        for (path, bytes) in &files {
            self.break_files(&[(path, None)], &format!("without {path}"));
            let empty = Some(Vec::new());
            self.break_files(&[(path, empty)], &format!("{path} empty"));
            let twice = Some([&bytes[..], &bytes[..]].concat());
            self.break_files(&[(path, twice)], &format!("{path} twice"));
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

    /// Several breaks in one file, in an order that chance decides and a number repeats.
    fn by_chance(&mut self, rounds: u64) {
        let files: Vec<(String, Vec<u8>)> = self.stored.clone().into_iter().collect();
        for round in 0..rounds {
            let mut chance = Chance(round.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
            let (path, bytes) = &files[chance.below(files.len())];
            let mut bytes = bytes.clone();
            for _ in 0..=chance.below(3) {
                chance.damage(&mut bytes);
            }
            let what = format!("round {round}: {path}");
            self.break_files(&[(path, Some(bytes))], &what);
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
fn plain_files() {
    let outcomes = torture(Form::Plain);
    assert!(
        outcomes.said > 0 && outcomes.refused > outcomes.said,
        "{outcomes:?}"
    );
}

#[test]
fn compressed_files() {
    let outcomes = torture(Form::Compressed);
    assert!(outcomes.refused > 0 && outcomes.said == 0, "{outcomes:?}");
}

#[test]
fn an_archive() {
    let outcomes = torture(Form::Zipped);
    assert!(outcomes.refused > 0 && outcomes.said == 0, "{outcomes:?}");
}

/// The judge is no rubber stamp: it tells what is another answer.
#[test]
fn the_judge_tells() {
    let bench = Bench::new(Form::Plain);
    let said = second::read(&bench.stored).unwrap();
    for (number, table) in &bench.good.tables {
        let second = said.tables[number].clone().unwrap();
        assert!(are_alike(table, &second), "{table:?} and {second:?}");
    }
    let mut other = bench.good.clone();
    let lines = &mut other.tables.get_mut(&2).unwrap().1;
    lines[0] = lines[0].replace("100", "101");
    assert!(bench.check_said(&other, &bench.stored).is_err());
    other.tables.remove(&2);
    assert!(bench.check_said(&other, &bench.stored).is_err());
    assert!(Path::new(&bench.root()).is_dir());
}
