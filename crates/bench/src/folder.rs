//! Keeps the runs of a benchmark in a folder, so that a benchmark that was stopped goes on.
//!
//! ```text
//! DIR/plan.json                 what is recorded, and how
//! DIR/01-eager/run-1/           what `record-and-analyze` writes
//! DIR/01-eager/run-1/run.json   written last: the run is complete
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use metalens_analyzer::Report;
use metalens_files::Folder;
use serde::{Deserialize, Serialize};

use crate::carry_out::{RunEnd, RunRecord};
use crate::error::{Error, Result};
use crate::programs::files_of;
use crate::turns::Turn;
use crate::variants::{BenchPlan, Variant};

/// Name of the file that says what is recorded.
pub const PLAN: &str = "plan.json";
/// Name of the file that is written last into the folder of a run.
const RUN: &str = "run.json";
/// Name of the report in the folder of a run.
const REPORT: &str = "report.json";
const PLAN_SCHEMA: &str = "metalens.bench-plan/1";
/// Largest size of a file to read, in bytes; metalens writes none that is nearly as long.
const MOST_BYTES: u64 = 256 << 20;
/// Largest length of a variant's name in the name of a folder.
const MOST_SLUG_CHARACTERS: usize = 40;

/// The folder of a benchmark.
#[derive(Debug)]
pub struct BenchFolder {
    path: PathBuf,
    /// Folders of the variants, in their order.
    variants: Vec<String>,
}

/// The variants of a benchmark and the options of their recordings.
#[derive(Debug, Serialize, Deserialize)]
struct StoredPlan {
    schema: String,
    #[serde(flatten)]
    plan: BenchPlan,
    /// Options of the recordings and of their analysis, by name.
    options: BTreeMap<String, String>,
    /// Identities of the files that the commands name.
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// A run as its folder describes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunFile {
    /// Number of the round, from 1.
    pub round: u32,
    /// End of the run.
    #[serde(flatten)]
    pub end: RunEnd,
}

impl BenchFolder {
    /// Opens the folder of a benchmark, or makes one. `options` are all others that change what a
    /// run is.
    ///
    /// # Errors
    ///
    /// If the folder has another benchmark, or other files; with `force` its runs are removed.
    pub fn open(
        path: &Path,
        plan: &BenchPlan,
        options: BTreeMap<String, String>,
        force: bool,
    ) -> Result<Self> {
        let folder = Folder::make(path)?;
        let found = Self {
            path: path.to_owned(),
            variants: folder_names(&plan.variants),
        };
        let wanted = StoredPlan {
            schema: PLAN_SCHEMA.to_owned(),
            plan: plan.clone(),
            options,
            files: files_of(&plan.variants),
        };

        let file = path.join(PLAN);
        if file.symlink_metadata().is_ok() {
            let stored: Result<StoredPlan> = read(&file);
            match stored.map(|stored| difference(&stored, &wanted)) {
                Ok(None) if !force => return Ok(found),
                Ok(Some(difference)) if !force => {
                    return Err(Error::AnotherBench {
                        folder: path.to_owned(),
                        difference,
                    });
                }
                Err(error) if !force => return Err(error),
                Ok(_) | Err(_) => remove_runs(path)?,
            }
        } else if !force && has_files(path) {
            return Err(Error::NotABench(path.to_owned()));
        }
        folder.write_bytes(Path::new(PLAN), true, &json(&file, &wanted)?)?;
        Ok(found)
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of a run, relative to the folder of the benchmark.
    #[must_use]
    pub fn inner(&self, turn: Turn) -> String {
        let variant = self.variants.get(turn.variant);
        let variant = variant.map_or("variant", String::as_str);
        format!("{variant}/run-{}", turn.round)
    }

    /// Returns the path of the folder of a run.
    #[must_use]
    pub fn run(&self, turn: Turn) -> PathBuf {
        self.path.join(self.inner(turn))
    }

    /// Marks a run as complete.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn complete(&self, turn: Turn, end: &RunEnd) -> Result<()> {
        let run = RunFile {
            round: turn.round,
            end: end.clone(),
        };
        let path = self.run(turn);
        let text = json(&path.join(RUN), &run)?;
        Ok(Folder::open(&path)?.write_bytes(Path::new(RUN), true, &text)?)
    }

    /// Removes what an interrupted benchmark left of a run.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn clear(&self, turn: Turn) -> Result<()> {
        remove_folder(&self.run(turn))
    }

    /// Returns the complete runs of the first rounds.
    ///
    /// # Errors
    ///
    /// If the report of a complete run cannot be read.
    pub fn stored(&self, rounds: u32) -> Result<Vec<RunRecord>> {
        let mut runs = Vec::new();
        for turn in crate::turns::turns(self.variants.len(), rounds) {
            let folder = self.run(turn);
            let file = folder.join(RUN);
            if file.symlink_metadata().is_err() {
                continue;
            }
            let stored: RunFile = read(&file)?;
            let report = read_report(&folder.join(REPORT))?;
            runs.push(RunRecord {
                turn,
                end: stored.end,
                report,
                folder: Some(self.inner(turn)),
            });
        }
        Ok(runs)
    }
}

/// Returns the first difference between two plans, in words.
fn difference(stored: &StoredPlan, wanted: &StoredPlan) -> Option<String> {
    if stored.schema != wanted.schema {
        return Some(format!("its format is {:?}", stored.schema));
    }

    let names = |plan: &StoredPlan| {
        let names = plan.plan.variants.iter().map(|one| one.name.clone());
        names.collect::<Vec<String>>().join(", ")
    };
    if names(stored) != names(wanted) {
        return Some(format!(
            "its variants are {}, not {}",
            names(stored),
            names(wanted)
        ));
    }

    let both = stored.plan.variants.iter().zip(&wanted.plan.variants);
    if let Some((was, is)) = both.clone().find(|(was, is)| was.words != is.words) {
        return Some(format!(
            "the command of {} was `{}`, not `{}`",
            is.name,
            was.words.join(" "),
            is.words.join(" ")
        ));
    }
    if let Some((_, is)) = both.clone().find(|(was, is)| was.hooks != is.hooks) {
        return Some(format!(
            "--setup, --prepare or --cleanup of {} differ",
            is.name
        ));
    }
    if stored.plan != wanted.plan {
        return Some("its parameters differ".to_owned());
    }

    let mut files = wanted.files.iter();
    let changed = files.find(|(name, now)| stored.files.get(*name).is_some_and(|was| was != *now));
    if let Some((name, _)) = changed {
        return Some(format!("{name} has changed since its first run"));
    }

    let keys = stored.options.keys().chain(wanted.options.keys());
    let mut keys = keys.filter(|key| stored.options.get(*key) != wanted.options.get(*key));
    let key = keys.next()?;
    let value = |plan: &StoredPlan| {
        let value = plan.options.get(key);
        value.map_or_else(|| "not set".to_owned(), Clone::clone)
    };
    Some(format!(
        "{key} was {}, not {}",
        value(stored),
        value(wanted)
    ))
}

/// Returns whether a folder has files that are not hidden.
fn has_files(path: &Path) -> bool {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    names.any(|name| !name.to_string_lossy().starts_with('.'))
}

/// Removes the folders of variants: `01-name` with `run-…` inside.
fn remove_runs(path: &Path) -> Result<()> {
    let entries = fs::read_dir(path).map_err(|cause| unreadable(path, &cause))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = name.split_once('-').is_some_and(|(number, _)| {
            number.len() >= 2 && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        if is_ours {
            remove_folder(&entry.path())?;
        }
    }
    Ok(())
}

/// Removes a folder, if there is one. A link is refused.
fn remove_folder(path: &Path) -> Result<()> {
    metalens_files::refuse_link(path)?;
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unreadable(path, &error)),
        _ => Ok(()),
    }
}

fn unreadable(file: &Path, cause: &dyn std::fmt::Display) -> Error {
    Error::Unreadable {
        file: file.to_owned(),
        cause: cause.to_string(),
    }
}

/// Reads a value from a JSON file.
fn read<T: for<'de> Deserialize<'de>>(file: &Path) -> Result<T> {
    serde_json::from_str(&read_text(file)?).map_err(|error| unreadable(file, &error))
}

/// Reads a report from a JSON file.
fn read_report(file: &Path) -> Result<Report> {
    Report::from_json(&read_text(file)?).map_err(|error| unreadable(file, &error))
}

fn read_text(file: &Path) -> Result<String> {
    metalens_files::read_text(file, MOST_BYTES).map_err(|error| unreadable(file, &error))
}

/// Returns a value as the JSON text of a file.
fn json(file: &Path, value: &impl Serialize) -> Result<Vec<u8>> {
    let text = serde_json::to_string_pretty(value).map_err(|error| unreadable(file, &error))?;
    Ok((metalens_text::in_json(&text).into_owned() + "\n").into_bytes())
}

/// Returns names of folders: the number of the variant, and the letters and digits of its name.
fn folder_names(variants: &[Variant]) -> Vec<String> {
    let numbered = (1..).zip(variants);
    let names = numbered.map(|(number, variant)| {
        let mut slug = String::new();
        for letter in variant.name.chars() {
            if letter.is_ascii_alphanumeric() {
                slug.push(letter.to_ascii_lowercase());
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
        }
        let slug: String = slug.chars().take(MOST_SLUG_CHARACTERS).collect();
        let slug = slug.trim_end_matches('-');
        let slug = if slug.is_empty() { "variant" } else { slug };
        format!("{number:02}-{slug}")
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variants::{BenchRequest, CommandTemplate};

    fn plan(commands: &[&str]) -> BenchPlan {
        BenchPlan::new(&BenchRequest {
            sources: commands
                .iter()
                .map(|&one| CommandTemplate::Program(one.to_owned()))
                .collect(),
            ..BenchRequest::default()
        })
        .unwrap()
    }

    fn options(limit: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("--time-limit".to_owned(), limit.to_owned())])
    }

    #[test]
    fn folders_are_named_after_variants() {
        let names = folder_names(&plan(&["./eager --n 4", "/", "äö"]).variants);
        assert_eq!(names, ["01-eager-n-4", "02-variant", "03-variant"]);
    }

    #[test]
    fn only_the_same_benchmark_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bench");
        let open = |commands: &[&str], limit: &str, force: bool| {
            let opened = BenchFolder::open(&path, &plan(commands), options(limit), force);
            opened.map_err(|error| error.to_string())
        };
        let turn = Turn {
            round: 1,
            variant: 0,
        };
        let first = open(&["a", "b"], "5s", false).unwrap();
        fs::create_dir_all(first.run(turn)).unwrap();
        first.complete(turn, &RunEnd::default()).unwrap();
        open(&["a", "b"], "5s", false).unwrap();

        let shown = path.display();
        assert_eq!(
            open(&["a", "c"], "5s", false).unwrap_err(),
            format!("{shown} has another benchmark: its variants are a, b, not a, c")
        );
        assert_eq!(
            open(&["a", "b"], "6s", false).unwrap_err(),
            format!("{shown} has another benchmark: --time-limit was 5s, not 6s")
        );
        assert!(first.run(turn).is_dir());
        open(&["a", "c"], "5s", true).unwrap();
        assert!(!first.run(turn).exists());
    }

    #[test]
    fn runs_of_an_old_program_do_not_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let path = folder.path().join("bench");
        let named = program.to_str().unwrap();
        let open = || {
            let opened = BenchFolder::open(&path, &plan(&[named]), options("1s"), false);
            opened.map(drop).map_err(|error| error.to_string())
        };
        // A file that is not there yet is not compared.
        open().unwrap();
        fs::write(&program, "old").unwrap();
        fs::remove_dir_all(&path).unwrap();
        open().unwrap();
        open().unwrap();
        fs::write(&program, "new").unwrap();
        assert_eq!(
            open().unwrap_err(),
            format!(
                "{} has another benchmark: {named} has changed since its first run",
                path.display()
            )
        );
    }

    #[test]
    fn files_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("notes.txt"), "mine").unwrap();
        let open = |force| BenchFolder::open(folder.path(), &plan(&["a"]), options("1s"), force);
        assert!(matches!(open(false), Err(Error::NotABench(_))));
        open(true).unwrap();
        assert!(folder.path().join("notes.txt").is_file());
    }
}
