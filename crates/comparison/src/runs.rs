//! The runs of one side: the figures of each, and the circumstances.

use std::collections::BTreeMap;

use metalens_analyzer::{ChosenBy, NamedBy, Note, NoteDetail, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::{METRICS, Metric};
use crate::number::Number;

/// The runs of one side. Every list of values has one for each run, in their order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Runs {
    /// What was read of each run, as it was given.
    pub paths: Vec<String>,
    /// Whom each run is about.
    pub processes: Vec<String>,
    /// Whether each is about the busiest process, since its recording names none.
    pub guessed: Vec<bool>,
    /// Under what circumstances they were recorded.
    pub circumstances: Vec<Fact>,
    /// The share of the busy time in each of the GPU's performance states.
    pub performance: BTreeMap<String, Vec<Option<Number>>>,
    /// The share of the window in which other processes were on the GPU.
    pub others: Vec<Option<Number>>,
    /// Notes that change what every number means, of any of the runs.
    pub loud: Vec<String>,
    /// Id, severity and values of each of `loud`.
    #[serde(default)]
    pub loud_details: Vec<NoteDetail>,
    /// The figures, by where they are in a report; null where a run has none.
    pub metrics: BTreeMap<String, Vec<Option<Number>>>,
    /// The kernels, by name and channel.
    pub kernels: Vec<KernelRuns>,
}

/// One circumstance of each run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// What it is: `GPU`, `system`, …
    pub what: String,
    /// What it was; null where the run does not tell.
    pub values: Vec<Option<String>>,
}

/// A kernel of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelRuns {
    /// What it is called.
    pub name: String,
    /// Where it ran.
    pub channel: Option<String>,
    /// Its summed durations; null in a run without it.
    pub total_ns: Vec<Option<Number>>,
    /// Its intervals; null in a run without it.
    pub instances: Vec<Option<Number>>,
    /// Its median duration; null in a run without it.
    pub med_ns: Vec<Option<Number>>,
}

/// What must be alike, and where a report says what it was. `system` is an example
/// of what a reader looks for by that name.
type Get = fn(&Report) -> Option<String>;
const FACTS: [(&str, Get); 11] = [
    ("origin", |report| {
        let origin = if report.run.synthetic {
            "synthetic"
        } else {
            "recorded"
        };
        Some(origin.to_owned())
    }),
    ("GPU", |report| report.run.device.gpu.clone()),
    ("model", |report| report.run.device.model.clone()),
    ("system", |report| report.run.device.os.clone()),
    ("Instruments", |report| {
        report.run.instruments_version.clone()
    }),
    ("template", |report| report.run.template.clone()),
    ("recording mode", |report| report.run.recording_mode.clone()),
    ("shader timeline", shader_timeline),
    ("left out of the window", left_out),
    ("requested GPU clock", |report| {
        report.machine.performance.as_ref()?.requested.clone()
    }),
    ("thermal state", |report| {
        report.machine.thermal.as_ref()?.worst.clone()
    }),
];

/// Recorded or not: it slows the GPU down, and it names kernels.
#[expect(clippy::unnecessary_wraps, reason = "a getter like the others")]
fn shader_timeline(report: &Report) -> Option<String> {
    let mut kernels = report.kernels.iter();
    let is_on = kernels.any(|kernel| kernel.named_by == NamedBy::ShaderProfiler);
    Some(if is_on { "in use" } else { "not in use" }.to_owned())
}

/// Which parts of the recordings the reports are about.
#[expect(clippy::unnecessary_wraps, reason = "a getter like the others")]
fn left_out(report: &Report) -> Option<String> {
    let mut why: Vec<String> = Vec::new();
    for excluded in &report.window.excluded {
        if !why.contains(&excluded.why) {
            why.push(excluded.why.clone());
        }
    }
    Some(match why.is_empty() {
        true => "nothing".to_owned(),
        false => why.join(", "),
    })
}

impl Runs {
    /// Of these reports.
    #[must_use]
    pub fn of(reports: &[Report]) -> Self {
        let facts = FACTS.iter().map(|(what, get)| Fact {
            what: (*what).to_owned(),
            values: reports.iter().map(get).collect(),
        });
        let metrics = METRICS.iter().map(|metric| {
            let values = reports.iter().map(|report| metric.value(report));
            (metric.id.to_owned(), values.collect())
        });
        let (loud, loud_details) = Note::lists(loud(reports));
        Self {
            paths: reports.iter().map(|one| one.source.path.clone()).collect(),
            processes: reports.iter().map(|one| one.process.name.clone()).collect(),
            guessed: reports.iter().map(is_guessed).collect(),
            circumstances: facts.collect(),
            performance: performance(reports),
            others: reports.iter().map(others).collect(),
            loud,
            loud_details,
            metrics: metrics.collect(),
            kernels: kernels(reports),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.processes.len()
    }

    /// The notes that change the meaning of every number, of any of the runs.
    pub(crate) fn loud_notes(&self) -> impl Iterator<Item = Note> + use<'_> {
        Note::joined(&self.loud, &self.loud_details)
    }

    /// A figure of each run.
    pub(crate) fn values(&self, id: &str) -> Vec<Option<Number>> {
        let known = self.metrics.get(id).cloned();
        known.unwrap_or_else(|| vec![None; self.count()])
    }

    pub(crate) fn fact(&self, what: &str) -> Option<&Fact> {
        self.circumstances.iter().find(|fact| fact.what == what)
    }

    /// The first thing that is wrong with runs which were read from a file: it may have
    /// been edited.
    pub(crate) fn fault(&self) -> Option<String> {
        if !self.has_all_values() {
            return Some("some of its lists have not one value for each run".to_owned());
        }
        let lacks = |metric: &&Metric| !self.metrics.contains_key(metric.id);
        let lacking: Vec<&str> = METRICS.iter().filter(lacks).map(|one| one.id).collect();
        if !lacking.is_empty() {
            return Some(format!(
                "its metrics lack {}, which this version of metalens writes for every run; save \
                 the baseline again",
                lacking.join(", ")
            ));
        }
        let run = (0..self.count()).find(|&run| !self.lists_all_kernels(run))?;
        Some(format!(
            "kernels are missing: in run {} their instances do not sum to counts.intervals",
            run + 1
        ))
    }

    fn has_all_values(&self) -> bool {
        let kernels = self.kernels.iter();
        let kernels = kernels.flat_map(|one| [&one.total_ns, &one.instances, &one.med_ns]);
        let metrics = self.metrics.values().chain(self.performance.values());
        let facts = self.circumstances.iter().map(|fact| fact.values.len());
        let mut lengths = facts.chain(metrics.chain(kernels).map(Vec::len)).chain([
            self.paths.len(),
            self.guessed.len(),
            self.others.len(),
        ]);
        lengths.all(|length| length == self.count())
    }

    fn lists_all_kernels(&self, run: usize) -> bool {
        let instances = self.kernels.iter().map(|one| one.instances.get(run));
        let sum: f64 = instances.flatten().flatten().map(|one| one.get()).sum();
        let intervals = self.values("counts.intervals");
        intervals.get(run) == Some(&Number::of(sum))
    }
}

/// The performance states of each run, where all but a twentieth of its busy time has one.
fn performance(reports: &[Report]) -> BTreeMap<String, Vec<Option<Number>>> {
    let states = |report: &Report| -> Option<BTreeMap<String, f64>> {
        let known = report.machine.performance.as_ref()?;
        let mut shares = BTreeMap::new();
        for state in &known.states {
            *shares.entry(state.state.clone()).or_insert(0.0) += state.busy_share?;
        }
        let is_known = known.unknown_busy_ns <= report.busy.busy_ns / 20;
        (is_known && !shares.is_empty()).then_some(shares)
    };
    let all: Vec<Option<BTreeMap<String, f64>>> = reports.iter().map(states).collect();
    let names = all.iter().flatten().flat_map(BTreeMap::keys);
    let mut found = BTreeMap::new();
    for name in names {
        let of = |shares: &Option<BTreeMap<String, f64>>| {
            let shares = shares.as_ref()?;
            Number::of(shares.get(name).copied().unwrap_or(0.0))
        };
        found.insert(name.clone(), all.iter().map(of).collect());
    }
    found
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn others(report: &Report) -> Option<Number> {
    Number::of(report.busy.others_busy_ns as f64 / report.window.span_ns as f64)
}

fn is_guessed(report: &Report) -> bool {
    report.process.chosen_by == ChosenBy::Busiest
}

fn loud(reports: &[Report]) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for note in reports.iter().flat_map(Report::loud_notes) {
        if notes.iter().all(|known| known.text != note.text) {
            notes.push(note);
        }
    }
    notes
}

/// The kernels of all runs. Two of one name and channel, whose names may be from different
/// sources, are one, with the median of the one that took more time.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 ns")]
fn kernels(reports: &[Report]) -> Vec<KernelRuns> {
    let mut found: BTreeMap<(String, Option<String>), KernelRuns> = BTreeMap::new();
    for (run, report) in reports.iter().enumerate().filter(|(_, one)| lists_all(one)) {
        for kernel in &report.kernels {
            let key = (kernel.name.clone(), kernel.channel.clone());
            let entry = found.entry(key).or_insert_with(|| KernelRuns {
                name: kernel.name.clone(),
                channel: kernel.channel.clone(),
                total_ns: vec![None; reports.len()],
                instances: vec![None; reports.len()],
                med_ns: vec![None; reports.len()],
            });
            add(&mut entry.total_ns, run, kernel.total_ns as f64);
            add(&mut entry.instances, run, kernel.instances as f64);
            if let Some(at) = entry.med_ns.get_mut(run).filter(|at| at.is_none()) {
                *at = Number::of(kernel.med_ns as f64);
            }
        }
    }
    found.into_values().collect()
}

/// Adds to a run's value, which begins with nothing.
fn add(values: &mut [Option<Number>], run: usize, more: f64) {
    if let Some(at) = values.get_mut(run) {
        *at = Number::of(at.map_or(0.0, Number::get) + more);
    }
}

/// Whether a report lists all of its kernels: their instances then sum to its intervals. If
/// not, a kernel that is not listed may still have run, so that none of the list counts.
fn lists_all(report: &Report) -> bool {
    let instances = report.kernels.iter().map(|kernel| kernel.instances);
    let sum = instances.fold(0_u64, u64::saturating_add);
    sum == report.counts.intervals
}
