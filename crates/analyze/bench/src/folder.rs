//! Keeps the runs of a benchmark in a folder, so that a benchmark that was stopped goes on.
//!
//! ```text
//! DIR/plan.json                 what is recorded, and how
//! DIR/01-eager/run-1/           what `record-and-analyze` writes
//! DIR/01-eager/run-1/run.json   written last: the run is complete
//! ```

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

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

/// Beginning of the name of a run's folder.
const RUN_PREFIX: &str = "run-";

/// The folder of a benchmark. No link in it is followed, and only what a benchmark made is removed.
#[derive(Debug)]
pub struct BenchFolder {
    folder: Folder,
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
    /// If the folder has another benchmark, or other files. With `force` the runs of the stored plan
    /// are removed; a folder of a variant that the stored plan does not name is refused.
    pub fn open(
        path: &Path,
        plan: &BenchPlan,
        options: BTreeMap<String, String>,
        force: bool,
    ) -> Result<Self> {
        let bench = Self {
            folder: Folder::make(path)?,
            path: path.to_owned(),
            variants: folder_names(&plan.variants),
        };
        let wanted = StoredPlan {
            schema: PLAN_SCHEMA.to_owned(),
            plan: plan.clone(),
            options,
            files: files_of(&plan.variants),
        };

        let stored = match read::<StoredPlan>(&bench.folder, path, PLAN) {
            Err(error) if !force => return Err(error),
            stored => stored.ok().flatten(),
        };
        match &stored {
            Some(stored) if !force => match difference(stored, &wanted) {
                None => return Ok(bench),
                Some(difference) => {
                    return Err(Error::AnotherBench {
                        folder: path.to_owned(),
                        difference,
                    });
                }
            },
            None if !force && bench.has_files()? => {
                return Err(Error::NotABench(path.to_owned()));
            }
            _ => {}
        }

        // Folders that no benchmark made are refused before anything is removed.
        let made = stored.map_or_else(Vec::new, |stored| folder_names(&stored.plan.variants));
        bench.refuse_others(&made)?;
        bench.remove_runs(&made)?;
        let text = json(&path.join(PLAN), &wanted)?;
        bench.folder.write_bytes(Path::new(PLAN), true, &text)?;
        Ok(bench)
    }

    /// Returns whether the folder has files that are not hidden.
    fn has_files(&self) -> Result<bool> {
        let names = self.folder.names()?;
        Ok(names
            .iter()
            .any(|name| !name.as_encoded_bytes().starts_with(b".")))
    }

    /// Refuses folders in the places of the variants' ones, except those that a benchmark made: runs
    /// in them would be removed as if they were of an interrupted benchmark.
    fn refuse_others(&self, made: &[String]) -> Result<()> {
        let mut names = self.variants.iter().filter(|name| !made.contains(name));
        match names.find(|name| self.folder.has(name)) {
            Some(name) => Err(Error::NotOurs(self.path.join(name))),
            None => Ok(()),
        }
    }

    /// Removes the runs in these folders of variants. A folder with something else in it stays.
    fn remove_runs(&self, made: &[String]) -> Result<()> {
        for name in made {
            let Some(variant) = self.folder.find(Path::new(name))? else {
                continue;
            };
            for run in variant.names()?.iter().filter(|name| is_run(name)) {
                variant.remove_folder(Path::new(run))?;
            }
            self.folder.remove_empty(name)?;
        }
        Ok(())
    }

    /// Returns the folder of a run, relative to the folder of the benchmark.
    pub fn inner(&self, turn: Turn) -> String {
        let name = self.variants.get(turn.variant);
        let name = name.map_or("variant", String::as_str);
        format!("{name}/{RUN_PREFIX}{}", turn.round)
    }

    /// Returns the path of the folder of a run, after a check that no link is on the way. Makes it
    /// first if it is missing.
    ///
    /// # Errors
    ///
    /// If a link is on the way, or the folder cannot be made.
    pub fn run(&self, turn: Turn) -> Result<PathBuf> {
        let inner = self.inner(turn);
        self.folder.inner(Path::new(&inner))?;
        Ok(self.path.join(inner))
    }

    /// Makes the empty folder of a run, without what an interrupted benchmark left in it. Returns its
    /// path.
    ///
    /// # Errors
    ///
    /// If a link is on the way, or the folder cannot be removed or made.
    pub fn begin(&self, turn: Turn) -> Result<PathBuf> {
        self.folder.remove_folder(Path::new(&self.inner(turn)))?;
        self.run(turn)
    }

    /// Removes a folder in the folder of a run.
    ///
    /// # Errors
    ///
    /// If a link is on the way, or it cannot be removed.
    pub fn remove(&self, turn: Turn, name: &str) -> Result<()> {
        let path = Path::new(&self.inner(turn)).join(name);
        Ok(self.folder.remove_folder(&path)?)
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
        let file = Path::new(&self.inner(turn)).join(RUN);
        let text = json(&self.path.join(&file), &run)?;
        Ok(self.folder.write_bytes(&file, true, &text)?)
    }

    /// Returns the complete runs of the first rounds.
    ///
    /// # Errors
    ///
    /// If the report of a complete run cannot be read.
    pub fn stored(&self, rounds: u32) -> Result<Vec<RunRecord>> {
        let mut runs = Vec::new();
        for turn in crate::turns::turns(self.variants.len(), rounds) {
            let inner = self.inner(turn);
            let path = self.path.join(&inner);
            let Some(folder) = self.folder.find(Path::new(&inner))? else {
                continue;
            };
            let Some(stored) = read::<RunFile>(&folder, &path, RUN)? else {
                continue;
            };
            let report = read_text(&folder, &path, REPORT)?;
            let report = metalens_inputs::parse_report(&report);
            runs.push(RunRecord {
                turn,
                end: stored.end,
                report: report.map_err(|error| unreadable(&path.join(REPORT), &error))?,
                folder: Some(inner),
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

    if variant_names(stored) != variant_names(wanted) {
        return Some(format!(
            "its variants are {}, not {}",
            variant_names(stored),
            variant_names(wanted)
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
    let others = |plan: &StoredPlan| {
        let variants = plan.plan.variants.iter().map(|variant| {
            (
                variant.template.clone(),
                variant.is_workload,
                variant.parameters.clone(),
            )
        });
        (plan.plan.parameters.clone(), variants.collect::<Vec<_>>())
    };
    if others(stored) != others(wanted) {
        return Some("its parameters differ".to_owned());
    }

    let mut files = wanted.files.iter();
    let changed = files.find(|(name, now)| stored.files.get(*name).is_some_and(|was| was != *now));
    if let Some((name, _)) = changed {
        return Some(format!("{name} has changed since its first run"));
    }

    let options = stored.options.keys().chain(wanted.options.keys());
    let mut keys = options.filter(|key| stored.options.get(*key) != wanted.options.get(*key));
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

fn variant_names(plan: &StoredPlan) -> String {
    let variants = plan.plan.variants.iter();
    let names = variants.map(|variant| variant.name.clone());
    names.collect::<Vec<String>>().join(", ")
}

/// Returns whether a name is that of a run's folder: `run-12`.
fn is_run(name: &OsStr) -> bool {
    let number = name.to_str().and_then(|name| name.strip_prefix(RUN_PREFIX));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

fn unreadable(file: &Path, cause: &dyn std::fmt::Display) -> Error {
    Error::Unreadable {
        file: file.to_owned(),
        cause: cause.to_string(),
    }
}

/// Reads a value from a JSON file. None if the file is missing.
fn read<T: for<'de> Deserialize<'de>>(
    folder: &Folder,
    path: &Path,
    name: &str,
) -> Result<Option<T>> {
    if !folder.has(name) {
        return Ok(None);
    }
    let text = read_text(folder, path, name)?;
    serde_json::from_str(&text).map_err(|error| unreadable(&path.join(name), &error))
}

/// Reads a file of a folder; `path` is only for messages.
fn read_text(folder: &Folder, path: &Path, name: &str) -> Result<String> {
    let text = folder.read_text(name, MOST_BYTES);
    text.map_err(|error| unreadable(&path.join(name), &error))
}

/// Returns a value as the JSON text of a file.
fn json(file: &Path, value: &impl Serialize) -> Result<Vec<u8>> {
    let text = serde_json::to_string_pretty(value).map_err(|error| unreadable(file, &error))?;
    Ok((metalens_text::in_json(&text).into_owned() + "\n").into_bytes())
}

/// Returns names of folders: the number of the variant, and the letters and digits of its name.
fn folder_names(variants: &[Variant]) -> Vec<String> {
    let names = (1..).zip(variants).map(|(number, variant)| {
        let mut slug = String::new();
        for letter in variant.name.chars() {
            if letter.is_ascii_alphanumeric() {
                slug.push(letter.to_ascii_lowercase());
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
        }
        let cut: String = slug.chars().take(MOST_SLUG_CHARACTERS).collect();
        let slug = cut.trim_end_matches('-');
        let slug = if slug.is_empty() { "variant" } else { slug };
        format!("{number:02}-{slug}")
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use metalens_text::Redactor;

    use super::*;
    use crate::variants::{BenchRequest, CommandTemplate};

    fn plan(commands: &[&str]) -> BenchPlan {
        let sources = commands.iter();
        let request = BenchRequest {
            sources: sources
                .map(|&command| CommandTemplate::Program(command.to_owned()))
                .collect(),
            ..BenchRequest::default()
        };
        BenchPlan::new(&request, &Redactor::default()).unwrap()
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
        let run = first.run(turn).unwrap();
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
        assert!(run.is_dir());
        open(&["a", "c"], "5s", true).unwrap();
        assert!(!run.exists());
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

    /// Only runs that the stored plan names are removed, also with `--force`.
    #[test]
    fn folders_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let open = |commands: &[&str]| {
            BenchFolder::open(folder.path(), &plan(commands), options("1s"), true)
        };
        let mine = [
            "2024-photos",
            "10-years",
            "02-b/run-x",
            "02-b/run-1-old",
            "03-c/run-1",
        ];
        let runs = ["01-a/run-1", "02-b/run-1", "02-b/run-12"];
        let make = |names: &[&str]| {
            for name in names {
                fs::create_dir_all(at(name)).unwrap();
                fs::write(at(name).join("text"), "").unwrap();
            }
        };
        open(&["a", "b"]).unwrap();
        make(&mine);
        make(&runs);
        open(&["x"]).unwrap();
        for name in mine {
            assert!(at(name).join("text").is_file(), "{name}");
        }
        for name in runs.into_iter().chain(["01-a"]) {
            assert!(!at(name).exists(), "{name}");
        }

        // Without a plan that names them, the runs may be those of somebody else.
        let check = |plan: Option<&str>| {
            match plan {
                Some(text) => fs::write(at(PLAN), text).unwrap(),
                None => fs::remove_file(at(PLAN)).unwrap(),
            }
            let refused = open(&["x", "y", "c"]).unwrap_err();
            assert!(
                matches!(&refused, Error::NotOurs(path) if *path == at("03-c")),
                "{refused}"
            );
            assert!(at("03-c/run-1/text").is_file());
        };
        check(None);
        check(Some("{"));
    }
}
