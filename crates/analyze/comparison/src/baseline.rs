//! Writes and reads baselines: several runs in one file that people can review.

use metalens_analyzer::{Report, id};
use metalens_message::{Message, Number, message, name, path};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{LEAST_RUNS, STEADY, SideValues, known};
use crate::metrics::metrics;
use crate::repeated::RepeatedRun;
use crate::runs::Runs;
use crate::sentences;
use crate::unit::Unit;

/// Name of the format. Its number rises when a key is removed or changes meaning.
pub(crate) const BASELINE_SCHEMA: &str = "metalens.baseline/1";

/// Several runs of one program, recorded under the same circumstances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// Name of the format: `metalens.baseline/1`.
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
        Self::of(Runs::from_reports(reports))
    }

    /// Returns the baseline with more runs, such as those of another day.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::from_reports`] does.
    pub fn with(self, reports: &[Report]) -> Result<Self, BaselineError> {
        Self::of(self.runs.and(Runs::from_reports(reports).without_folders()))
    }

    fn of(runs: Runs) -> Result<Self, BaselineError> {
        check(&runs)?;
        let runs = runs.without_folders();
        Ok(Self {
            schema: BASELINE_SCHEMA.to_owned(),
            metalens: env!("CARGO_PKG_VERSION").to_owned(),
            runs,
        })
    }

    /// Describes why slower runs may hide behind this baseline: a run far from the others, runs that
    /// become slower or faster one after another, or two clocks of the GPU. None if nothing shows that.
    pub fn doubt(&self) -> Option<Message> {
        let doubt = self.outlying_run().or_else(|| self.two_clocks());
        doubt.or_else(|| self.drift())
    }

    /// Describes runs of which each took longer than the one before it, or each less.
    fn drift(&self) -> Option<Message> {
        /// Number of runs from which on such an order is hardly chance.
        const RUNS: usize = 5;
        /// Smallest share by which the last run differs from the first.
        const SHARE: f64 = 0.02;
        let values = known(&self.runs.values(id!(window.span_ns)));
        let (first, last) = (*values.first()?, *values.last()?);
        let is_ordered = values.is_sorted() || values.iter().rev().is_sorted();
        let is_far = (last / first - 1.0).abs() >= SHARE;
        let shown = |ns: f64| Number::new(ns).map(|ns| sentences::value(ns, Unit::Ns));
        (values.len() >= RUNS && is_ordered && is_far).then(|| {
            message!(
                "each run took {} than the one before it, from {} to {}: the machine or the program \
                 was not steady",
                if last > first { "longer" } else { "less time" },
                shown(first),
                shown(last)
            )
        })
    }

    /// Describes two runs that were in different performance states of the GPU most of the time.
    fn two_clocks(&self) -> Option<Message> {
        let most = |run: usize| {
            let shares = self.runs.performance.iter();
            let states = shares.filter_map(|(state, shares)| Some((state, (*shares.get(run)?)?)));
            let most = states.max_by(|(_, a), (_, b)| a.get().total_cmp(&b.get()));
            Some((most?.0, self.runs.paths.get(run)?))
        };
        let runs: Vec<(&String, &String)> = (0..self.runs.count()).filter_map(most).collect();
        let (state, run) = *runs.first()?;
        let (other_state, other) = *runs.iter().find(|(other, _)| *other != state)?;
        Some(message!(
            "two clocks of the GPU: {} mostly {}, {} mostly {}",
            path(run),
            name(state),
            path(other),
            name(other_state)
        ))
    }

    /// Describes the run that is farthest from the others, if runs are farther apart than those of one
    /// program on a steady machine.
    fn outlying_run(&self) -> Option<Message> {
        const FIGURES: [&str; 3] = [
            id!(counts.intervals),
            id!(window.span_ns),
            id!(busy.busy_ns),
        ];
        let figures = metrics().filter(|figure| FIGURES.contains(&figure.id));
        let mut outlying = figures.filter_map(|figure| {
            let values = self.runs.values(figure.id);
            let side = SideValues::from_values(&values);
            let (least, most, middle) = (side.min?.get(), side.max?.get(), side.median?);
            if most <= least * (1.0 + STEADY) {
                return None;
            }
            let known = values.iter().zip(&self.runs.paths);
            let runs = known.filter_map(|(value, run)| Some(((*value)?, run)));
            let distance = |value: &Number| (value.get() - middle.get()).abs();
            let (farthest, run) =
                runs.max_by(|(a, _), (b, _)| distance(a).total_cmp(&distance(b)))?;
            Some(message!(
                "{} is far from the other runs: {} {}, median of all runs {}",
                path(run),
                name(figure.name),
                sentences::value(farthest, figure.unit),
                sentences::value(middle, figure.unit)
            ))
        });
        outlying.next()
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

    let circumstances = runs.circumstances.iter();
    let facts =
        circumstances.map(|fact| (fact.what.as_str(), fact.values.iter().flatten().collect()));
    let programs = ("program", runs.processes.iter().collect());

    let differ: Vec<String> = [programs]
        .into_iter()
        .chain(facts)
        .filter_map(|(what, mut known): (&str, Vec<&String>)| {
            known.sort();
            known.dedup();
            let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
            (known.len() > 1).then(|| format!("{what} {}", known.join(" and ")))
        })
        .collect();
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
                let lines = list.iter().skip(1).map(|item| item.trim());
                let items = lines.collect::<Vec<_>>().join(" ");
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
