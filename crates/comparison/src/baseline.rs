//! Writes and reads baselines: several runs in one file that people can review.

use metalens_analyzer::message::Value;
use metalens_analyzer::{Report, notes_mut};
use serde::{Deserialize, Serialize};

use crate::change::LEAST_RUNS;
use crate::repeated::{RepeatedRun, last_name};
use crate::runs::Runs;

/// Name of the format. Its number rises when a key is removed or changes meaning.
pub(crate) const BASELINE_SCHEMA: &str = "metalens.baseline/2";

/// Several runs of one program, recorded under the same circumstances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Baseline {
    /// Name of the format: `metalens.baseline/2`.
    pub schema: String,
    /// Version of metalens that wrote the file.
    pub metalens: String,
    /// The runs and their figures.
    #[serde(flatten)]
    pub runs: Runs,
}

/// Reason why runs or a file are not a baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// There are too few runs.
    #[error("a baseline needs at least {LEAST_RUNS} runs, not {0}")]
    TooFew(usize),
    /// Two of the runs are the same run.
    #[error("{0}: a baseline needs different runs")]
    Repeated(RepeatedRun),
    /// The runs differ in their circumstances.
    #[error(
        "a baseline needs runs that were recorded under the same conditions, but these conditions \
         differ: {0}"
    )]
    Differ(String),
    /// The file was not written by this crate.
    #[error("not a baseline: {0}")]
    Unreadable(String),
}

impl Baseline {
    /// Makes a baseline from reports. Only the last part of each path is kept, because baselines
    /// are published.
    ///
    /// # Errors
    ///
    /// If there are too few runs, if two of them are the same run, or if they are of different
    /// programs or were recorded under different circumstances.
    pub fn from_reports(reports: &[Report]) -> Result<Self, BaselineError> {
        let mut runs = Runs::from_reports(reports);
        check(&runs)?;
        for path in &mut runs.paths {
            *path = last_name(path);
        }
        for mut note in notes_mut(&mut runs.loud, &mut runs.loud_details) {
            note.rewrite(|value| (value.value == Value::Path).then(|| last_name(&value.text)));
        }
        Ok(Self {
            schema: BASELINE_SCHEMA.to_owned(),
            metalens: env!("CARGO_PKG_VERSION").to_owned(),
            runs,
        })
    }

    /// Reads a file that [`Self::text`] wrote.
    ///
    /// # Errors
    ///
    /// If the text is something else, if it was edited so that its lists do not match each other or
    /// lack something that [`Self::text`] always writes, or for the reasons of
    /// [`Self::from_reports`].
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let baseline: Self = serde_json::from_str(text)
            .map_err(|error| BaselineError::Unreadable(error.to_string()))?;
        if baseline.schema != BASELINE_SCHEMA {
            let why = format!(
                "its schema is {:?}, expected {BASELINE_SCHEMA:?}",
                baseline.schema
            );
            return Err(BaselineError::Unreadable(why));
        }
        if let Some(why) = baseline.runs.fault() {
            return Err(BaselineError::Unreadable(why));
        }

        check(&baseline.runs)?;
        Ok(baseline)
    }

    /// Returns the text of the file. The same runs give the same bytes, with one line for each list
    /// of values.
    ///
    /// # Errors
    ///
    /// None in practice: everything in a baseline can be written as JSON.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        let pretty = serde_json::to_string_pretty(self)?;
        let mut text = joined_lists(&pretty);
        text.push('\n');
        Ok(text)
    }
}

/// Refuses runs that do not show how runs of one program vary.
fn check(runs: &Runs) -> Result<(), BaselineError> {
    if runs.count() < LEAST_RUNS {
        return Err(BaselineError::TooFew(runs.count()));
    }
    if let Some(repeated) = runs.repeated() {
        return Err(BaselineError::Repeated(repeated));
    }

    let facts = runs.circumstances.iter();
    let facts = facts.map(|fact| (fact.what.as_str(), fact.values.iter().flatten().collect()));
    let programs = ("program", runs.processes.iter().collect());
    let differ = [programs].into_iter().chain(facts);
    let differ = differ.filter_map(|(what, mut known): (&str, Vec<&String>)| {
        known.sort();
        known.dedup();
        let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
        (known.len() > 1).then(|| format!("{what} {}", known.join(" and ")))
    });

    let differ: Vec<String> = differ.collect();
    if differ.is_empty() {
        Ok(())
    } else {
        Err(BaselineError::Differ(differ.join("; ")))
    }
}

/// Puts each list of numbers or words on one line, so that a changed figure is one changed line.
fn joined_lists(pretty: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut list: Vec<&str> = Vec::new();
    for line in pretty.lines() {
        let bare = line.trim();
        let is_open = !list.is_empty();
        match bare {
            _ if bare.ends_with('[') => {
                out.extend(list.drain(..).map(str::to_owned));
                list.push(line);
            }
            _ if is_open && bare.ends_with('{') => {
                out.extend(list.drain(..).map(str::to_owned));
                out.push(line.to_owned());
            }
            "]" | "]," if is_open => {
                let first = list.first().copied().unwrap_or_default();
                let items = list.iter().skip(1).map(|item| item.trim());
                let items = items.collect::<Vec<_>>().join(" ");
                out.push(format!("{first}{items}{bare}"));
                list.clear();
            }
            _ if is_open => list.push(line),
            _ => out.push(line.to_owned()),
        }
    }

    out.extend(list.into_iter().map(str::to_owned));
    out.join("\n")
}
