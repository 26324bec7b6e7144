//! A baseline: several runs kept as one file that people can review.

use metalens_analyzer::message::Value;
use metalens_analyzer::{Report, notes_mut};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compare::titled;
use crate::repeated::{Repeated, last_name};
use crate::runs::Runs;

/// The format's name; its number rises when a key is removed or changes meaning.
pub const BASELINE_SCHEMA: &str = "metalens.baseline/1";

/// Fewer runs than this have no range that is worth the name.
pub const LEAST_RUNS: usize = 3;

/// Several runs of one program, recorded alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// `metalens.baseline/1`.
    pub schema: String,
    /// The version of metalens that wrote it.
    pub metalens: String,
    /// The runs.
    #[serde(flatten)]
    pub runs: Runs,
}

/// Why there is no baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// Too few.
    #[error("a baseline needs {LEAST_RUNS} runs or more, not {0}: fewer have no range to speak of")]
    TooFew(usize),
    /// Two of them are one.
    #[error("{0}: a baseline needs different runs")]
    Repeated(Repeated),
    /// They differ among themselves.
    #[error("the runs differ among themselves, so that they are no baseline: {0}")]
    Differ(String),
    /// Not what this crate wrote.
    #[error("is no baseline: {0}")]
    Unreadable(String),
}

impl Baseline {
    /// Of these runs. What was read keeps its last name alone: a baseline is posted.
    ///
    /// # Errors
    ///
    /// If they are too few, if two of them are the same run, or if they are of different
    /// programs or were recorded under different circumstances.
    pub fn of(reports: &[Report]) -> Result<Self, BaselineError> {
        let mut runs = Runs::of(reports);
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

    /// Reads what [`Self::text`] wrote.
    ///
    /// # Errors
    ///
    /// If it is something else, if it was edited so that lists do not fit each other or
    /// lack what [`Self::text`] always writes, or for the reasons of [`Self::of`].
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let unreadable = |why: String| BaselineError::Unreadable(why);
        let baseline: Self =
            serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))?;
        if baseline.schema != BASELINE_SCHEMA {
            let why = format!(
                "it says {:?} where {BASELINE_SCHEMA:?} was expected",
                baseline.schema
            );
            return Err(unreadable(why));
        }
        if let Some(why) = baseline.runs.fault() {
            return Err(unreadable(why));
        }
        check(&baseline.runs)?;
        Ok(baseline)
    }

    /// The file: the same runs, the same bytes; one line for each list of values.
    ///
    /// # Errors
    ///
    /// None in practice: everything in it can be written as JSON.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        let pretty = serde_json::to_string_pretty(self)?;
        let mut text = joined_lists(&pretty);
        text.push('\n');
        Ok(text)
    }
}

/// Refuses runs that say nothing of how runs of one program vary.
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
    match differ.is_empty() {
        true => Ok(()),
        false => Err(BaselineError::Differ(differ.join("; "))),
    }
}

/// Lists of numbers and words on one line each: a changed figure is one changed line.
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

/// The JSON Schema of the baseline.
#[must_use]
pub fn baseline_json_schema() -> serde_json::Value {
    titled(schemars::schema_for!(Baseline), BASELINE_SCHEMA)
}
