//! Collects the figures and circumstances of the runs of one side.

use std::collections::BTreeMap;

use metalens_analyzer::{ChosenBy, Note, Report, Severity, WaitVerdict, doubt, id};
use metalens_message::{Message, Number, Quantity, Value, ratio};
use metalens_text::number::Float;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::many::dates;
use crate::metrics::metrics;
use crate::run::{Run, THERMAL, circumstances, last_name};
use crate::statistics::median;

/// The runs of one side. Every list of values has one entry for each run, in the same order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Runs {
    /// Path of each run's input, as it was given.
    pub paths: Vec<String>,
    /// Date on which each run was recorded. Null where the recording has none.
    pub dates: Vec<Option<String>>,
    /// Name of the process that each run is about.
    pub processes: Vec<String>,
    /// True for a run that is about the busiest process, because its recording names none.
    pub guessed: Vec<bool>,
    /// Reason why a limit that each run keeps may be missed even so. Null if there is none; absent if no
    /// run has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Option<Message>>,
    /// Circumstances under which the runs were recorded.
    pub circumstances: Vec<Circumstance>,
    /// Share of the busy time in each performance state of the GPU.
    pub performance: BTreeMap<String, Vec<Option<Number>>>,
    /// Share of the window in which other processes used the GPU.
    pub others: Vec<Option<Number>>,
    /// Notes of any run that change the meaning of every number.
    pub loud: Vec<Note>,
    /// Titles of the caveats of any run, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
    /// Figures by their path in a report. Null where a run has none.
    pub metrics: BTreeMap<String, Vec<Option<Number>>>,
    /// Own time of a step in each third of each run, in nanoseconds. Null where a run has too few steps.
    pub own_thirds_ns: Vec<Option<[u64; 3]>>,
    /// The same of a step of the second kind.
    pub second_own_thirds_ns: Vec<Option<[u64; 3]>>,
    /// Number of command buffers that each run keeps in flight, 0 if it waits for none. Null where that is not
    /// known.
    pub in_flight: Vec<Option<u64>>,
    /// Kernels of all runs, by name and channel.
    pub kernels: Vec<KernelRuns>,
}

/// One circumstance of each run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Circumstance {
    /// Name of the circumstance: `GPU`, `system`, …
    pub what: String,
    /// Value for each run. Null where the run did not record it.
    pub values: Vec<Option<String>>,
}

/// Figures of one kernel in each run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelRuns {
    /// Name of the kernel.
    pub name: String,
    /// GPU channel that it ran on. Null if the recordings do not say.
    pub channel: Option<String>,
    /// Summed durations in nanoseconds. Null in a run without the kernel.
    pub total_ns: Vec<Option<Number>>,
    /// Number of GPU intervals. Null in a run without the kernel.
    pub instances: Vec<Option<Number>>,
    /// Median duration in nanoseconds. Null in a run without the kernel.
    pub med_ns: Vec<Option<Number>>,
    /// Median durations in each third of each run. Null in a run with too few instances.
    pub med_thirds_ns: Vec<Option<[u64; 3]>>,
    /// Middles of sixteen equal parts of the sorted durations of each run. Null in a run with fewer instances.
    pub sixteenths_ns: Vec<Option<[u64; 16]>>,
}

impl Runs {
    /// Collects the runs of reports.
    #[must_use]
    pub fn from_reports(reports: &[Report]) -> Self {
        let runs: Vec<Run> = reports.iter().map(Run::of).collect();
        let circumstances = circumstances().map(|what| Circumstance {
            what: what.to_owned(),
            values: runs
                .iter()
                .map(|run| run.circumstances.get(what).cloned())
                .collect(),
        });
        let metrics = metrics().map(|metric| {
            let values = runs.iter().map(|run| run.figure(metric.id));
            (metric.id.to_owned(), values.collect())
        });

        Self {
            paths: reports
                .iter()
                .map(|report| report.source.path.clone())
                .collect(),
            dates: runs.iter().map(|run| run.date.clone()).collect(),
            processes: runs.iter().map(|run| run.process.clone()).collect(),
            guessed: reports.iter().map(is_guessed).collect(),
            doubts: doubts(reports),
            circumstances: circumstances.collect(),
            performance: performance(reports),
            others: reports.iter().map(others).collect(),
            loud: loud_notes(reports),
            caveats: caveats(reports),
            metrics: metrics.collect(),
            own_thirds_ns: own_thirds(reports, 0),
            second_own_thirds_ns: own_thirds(reports, 1),
            in_flight: reports.iter().map(in_flight).collect(),
            kernels: kernels(reports),
        }
    }

    /// Returns these runs and more after them.
    #[must_use]
    pub(crate) fn and(mut self, mut more: Self) -> Self {
        let counts = (self.count(), more.count());
        self.paths.append(&mut more.paths);
        self.dates.append(&mut more.dates);
        self.processes.append(&mut more.processes);
        self.guessed.append(&mut more.guessed);
        self.others.append(&mut more.others);
        self.own_thirds_ns.append(&mut more.own_thirds_ns);
        self.second_own_thirds_ns
            .append(&mut more.second_own_thirds_ns);
        self.in_flight.append(&mut more.in_flight);
        if !self.doubts.is_empty() || !more.doubts.is_empty() {
            append(&mut self.doubts, more.doubts, counts);
        }
        for fact in &mut self.circumstances {
            let mut others = more.circumstances.iter_mut();
            let other = others.find(|other| other.what == fact.what);
            let values = other.map(|other| std::mem::take(&mut other.values));
            append(&mut fact.values, values.unwrap_or_default(), counts);
        }
        append_all(&mut self.metrics, more.metrics, counts);
        append_all(&mut self.performance, more.performance, counts);
        fill_states(&mut self.performance, counts.0 + counts.1);
        for note in more.loud {
            if !self.has_loud(note.text()) {
                self.loud.push(note);
            }
        }
        more.caveats.retain(|title| !self.caveats.contains(title));
        self.caveats.append(&mut more.caveats);
        self.append_kernels(more.kernels, counts);
        self
    }

    fn append_kernels(&mut self, more: Vec<KernelRuns>, counts: (usize, usize)) {
        let more = more.into_iter().map(|kernel| (kernel.key(), kernel));
        let mut more: BTreeMap<_, KernelRuns> = more.collect();
        for kernel in &mut self.kernels {
            kernel.append(more.remove(&kernel.key()).unwrap_or_default(), counts);
        }
        for ((name, channel), kernel) in more {
            let mut mine = KernelRuns {
                name,
                channel,
                ..KernelRuns::default()
            };
            mine.append(kernel, counts);
            self.kernels.push(mine);
        }
        self.kernels.sort_by_cached_key(KernelRuns::key);
    }

    /// Returns whether each run was recorded before each run of the other side, as far as dates tell.
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        self.ms_before(other).is_some_and(|ms| ms > 0)
    }

    /// Returns the time from the start of the last run to that of the first run of the other side, in
    /// milliseconds; none if a date is not known.
    pub(crate) fn ms_before(&self, other: &Self) -> Option<i64> {
        let (mine, others) = (self.times()?, other.times()?);
        Some(others.into_iter().min()? - mine.into_iter().max()?)
    }

    /// Returns when each run began, in milliseconds since 1970; none if a date is not known.
    pub(crate) fn times(&self) -> Option<Vec<i64>> {
        let dates = self.dates.iter();
        dates.map(|date| dates::parse(date.as_deref()?)).collect()
    }

    /// Returns the number of runs.
    pub fn count(&self) -> usize {
        self.processes.len()
    }

    /// Returns whether a run has this note that changes the meaning of every number.
    pub(crate) fn has_loud(&self, text: &str) -> bool {
        self.loud.iter().any(|note| note.text() == text)
    }

    /// Returns the runs with only the last part of each path: what is published names no folder.
    #[must_use]
    pub fn without_folders(mut self) -> Self {
        for path in &mut self.paths {
            *path = last_name(path);
        }
        for note in &mut self.loud {
            note.message
                .rewrite(|value| (value.value == Value::Path).then(|| last_name(&value.text)));
        }
        self
    }

    /// Returns the performance states of the GPU with the median of their shares of the busy time, the
    /// largest first. Empty if a run did not record them.
    pub fn states(&self) -> Vec<(&str, f64)> {
        let shares = self.performance.iter().filter_map(|(state, shares)| {
            let known: Option<Vec<f64>> =
                shares.iter().map(|share| Some((*share)?.get())).collect();
            Some((state.as_str(), median(&known?)?))
        });
        let mut states: Vec<(&str, f64)> = shares.collect();
        states.sort_by(|a, b| b.1.total_cmp(&a.1));
        states
    }

    /// Returns the thermal states that the runs were in, each once.
    pub fn thermal_states(&self) -> Vec<&str> {
        let values = self.circumstance(THERMAL).map(|fact| fact.values.iter());
        let values = values.into_iter().flatten().flatten();
        let mut states: Vec<&str> = values.map(String::as_str).collect();
        states.sort_unstable();
        states.dedup();
        states
    }

    /// Returns whether the times of some runs look as if they waited for completions, and those of others not.
    pub(crate) fn has_mixed_waits(&self) -> bool {
        let mut known = self.in_flight.iter().flatten();
        let first = known.next();
        known.any(|other| Some(other) != first)
    }

    /// Returns a figure of each run.
    pub fn values(&self, id: &str) -> Vec<Option<Number>> {
        let known = self.metrics.get(id).cloned();
        known.unwrap_or_else(|| vec![None; self.count()])
    }

    /// Returns the number of instances of a kernel in each run, on all channels.
    pub(crate) fn instances_of(&self, name: &str) -> Vec<Option<Number>> {
        let mut counts = vec![None; self.count()];
        for kernel in self.kernels.iter().filter(|kernel| kernel.name == name) {
            for (run, count) in kernel.instances.iter().enumerate() {
                if let Some(count) = count {
                    add(&mut counts, run, count.get());
                }
            }
        }
        counts
    }

    pub(crate) fn circumstance(&self, what: &str) -> Option<&Circumstance> {
        self.circumstances.iter().find(|fact| fact.what == what)
    }

    /// Returns the first error in runs that were read from a file, which may have been edited.
    pub(crate) fn fault(&self) -> Option<String> {
        if !self.has_all_values() {
            return Some("a list does not have one value for each run".to_owned());
        }

        let ids = metrics().map(|metric| metric.id);
        let lacking: Vec<&str> = ids.filter(|id| !self.metrics.contains_key(*id)).collect();
        if !lacking.is_empty() {
            return Some(format!(
                "metrics are missing: {}; save the baseline again with this version of metalens",
                lacking.join(", ")
            ));
        }

        let run = (0..self.count()).find(|&run| !self.lists_all_kernels(run))?;
        Some(format!(
            "kernels are missing: the instances of run {} do not sum to counts.intervals",
            run + 1
        ))
    }

    fn has_all_values(&self) -> bool {
        let kernels = self
            .kernels
            .iter()
            .flat_map(|kernel| [&kernel.total_ns, &kernel.instances, &kernel.med_ns]);
        let metrics = self.metrics.values().chain(self.performance.values());
        let facts = self.circumstances.iter().map(|fact| fact.values.len());
        facts
            .chain(metrics.chain(kernels).map(Vec::len))
            .chain(self.kernels.iter().map(|kernel| kernel.med_thirds_ns.len()))
            .chain(self.kernels.iter().map(|kernel| kernel.sixteenths_ns.len()))
            .chain([self.paths.len(), self.guessed.len(), self.others.len()])
            .chain([self.own_thirds_ns.len(), self.second_own_thirds_ns.len()])
            .chain([self.in_flight.len()])
            .all(|length| length == self.count())
    }

    fn lists_all_kernels(&self, run: usize) -> bool {
        let instances = self.kernels.iter().map(|kernel| kernel.instances.get(run));
        let sum: f64 = instances.flatten().flatten().map(|count| count.get()).sum();
        self.values(id!(counts.intervals)).get(run) == Some(&Number::new(sum))
    }
}

impl KernelRuns {
    fn key(&self) -> (String, Option<String>) {
        (self.name.clone(), self.channel.clone())
    }

    /// Appends the figures of more runs.
    fn append(&mut self, more: Self, counts: (usize, usize)) {
        append(&mut self.total_ns, more.total_ns, counts);
        append(&mut self.instances, more.instances, counts);
        append(&mut self.med_ns, more.med_ns, counts);
        append(&mut self.med_thirds_ns, more.med_thirds_ns, counts);
        append(&mut self.sixteenths_ns, more.sixteenths_ns, counts);
    }
}

/// Values of each run by a name.
type ValuesByName = BTreeMap<String, Vec<Option<Number>>>;

/// Appends the values of more runs to those of so many. What one of them has not is not known.
fn append<T: Clone>(
    values: &mut Vec<Option<T>>,
    more: Vec<Option<T>>,
    (count, added): (usize, usize),
) {
    values.resize(count, None);
    values.extend(more);
    values.resize(count + added, None);
}

fn append_all(values: &mut ValuesByName, mut more: ValuesByName, counts: (usize, usize)) {
    for (name, values) in &mut *values {
        append(values, more.remove(name).unwrap_or_default(), counts);
    }
    for (name, more) in more {
        append(values.entry(name).or_default(), more, counts);
    }
}

/// Sets the share of a state to 0 in each run with known states that lacks it.
fn fill_states(states: &mut ValuesByName, runs: usize) {
    for run in 0..runs {
        let shares = states.values_mut().filter_map(|shares| shares.get_mut(run));
        let mut shares: Vec<&mut Option<Number>> = shares.collect();
        if shares.iter().any(|share| share.is_some()) {
            let unknown = shares.iter_mut().filter(|share| share.is_none());
            unknown.for_each(|share| **share = Number::new(0.0));
        }
    }
}

/// Returns the performance states of each run. A run counts if at least 95 % of its busy time has a
/// state.
fn performance(reports: &[Report]) -> BTreeMap<String, Vec<Option<Number>>> {
    let by_report: Vec<Option<BTreeMap<String, f64>>> = reports.iter().map(states).collect();

    let names = by_report.iter().flatten().flat_map(BTreeMap::keys);
    let mut by_state = BTreeMap::new();
    for name in names {
        let share = |shares: &Option<BTreeMap<String, f64>>| {
            let shares = shares.as_ref()?;
            Number::new(shares.get(name).copied().unwrap_or(0.0))
        };
        by_state.insert(name.clone(), by_report.iter().map(share).collect());
    }
    by_state
}

/// Returns the share of each performance state; none if they are unknown.
fn states(report: &Report) -> Option<BTreeMap<String, f64>> {
    let known = report.machine.performance.as_ref()?;
    let mut shares = BTreeMap::new();
    for state in &known.states {
        *shares.entry(state.state.clone()).or_insert(0.0) += state.busy_share?.0;
    }
    let is_known = known.unknown_busy_ns <= report.busy.busy_ns / 20;
    (is_known && !shares.is_empty()).then_some(shares)
}

fn others(report: &Report) -> Option<Number> {
    Number::new(ratio(report.busy.others_busy_ns?, report.window.span_ns)?)
}

fn own_thirds(reports: &[Report], kind: usize) -> Vec<Option<[u64; 3]>> {
    let thirds = |report: &Report| report.steps.first()?.kinds.get(kind)?.own_thirds_ns;
    reports.iter().map(thirds).collect()
}

fn in_flight(report: &Report) -> Option<u64> {
    let waiting = &report.replay.as_ref()?.waiting;
    match waiting.verdict {
        WaitVerdict::Waits => Some(waiting.in_flight),
        WaitVerdict::DoesNotWait => Some(0),
        WaitVerdict::Unknown => None,
    }
}

fn doubts(reports: &[Report]) -> Vec<Option<Message>> {
    let doubts: Vec<_> = reports.iter().map(doubt).collect();
    let has_any = doubts.iter().any(Option::is_some);
    if has_any { doubts } else { Vec::new() }
}

fn is_guessed(report: &Report) -> bool {
    report.process.chosen_by == ChosenBy::Busiest
}

fn loud_notes(reports: &[Report]) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for note in reports.iter().flat_map(Report::loud_notes) {
        if notes.iter().all(|known| known.text() != note.text()) {
            notes.push(note.clone());
        }
    }
    notes
}

/// Returns the titles of the findings that say how far the numbers can be trusted, each once. That
/// work has no labels changes no number.
fn caveats(reports: &[Report]) -> Vec<String> {
    let findings = reports.iter().flat_map(|report| &report.findings);
    let caveats = findings
        .filter(|finding| finding.severity == Severity::Caveat && finding.id != "unlabeled");
    let mut titles: Vec<String> = Vec::new();
    for caveat in caveats {
        if !titles.contains(&caveat.title) {
            titles.push(caveat.title.clone());
        }
    }
    titles
}

/// Collects the kernels of all runs. Two entries with one name and channel, whose names may come
/// from different sources, become one, with the median of the entry that took more time.
fn kernels(reports: &[Report]) -> Vec<KernelRuns> {
    let mut by_name: BTreeMap<(String, Option<String>), KernelRuns> = BTreeMap::new();
    for (run, report) in reports
        .iter()
        .enumerate()
        .filter(|(_, report)| lists_all(report))
    {
        for kernel in &report.kernels {
            let key = (kernel.name.clone(), kernel.channel.clone());
            let entry = by_name.entry(key).or_insert_with(|| KernelRuns {
                name: kernel.name.clone(),
                channel: kernel.channel.clone(),
                total_ns: vec![None; reports.len()],
                instances: vec![None; reports.len()],
                med_ns: vec![None; reports.len()],
                med_thirds_ns: vec![None; reports.len()],
                sixteenths_ns: vec![None; reports.len()],
            });
            add(&mut entry.total_ns, run, kernel.total_ns.number());
            add(&mut entry.instances, run, kernel.instances.float());
            // Kernels are sorted by total time, so the first entry took the most.
            if let Some(median) = entry.med_ns.get_mut(run).filter(|median| median.is_none()) {
                *median = Number::new(kernel.med_ns.number());
                if let Some(thirds) = entry.med_thirds_ns.get_mut(run) {
                    *thirds = kernel.med_thirds_ns;
                }
                if let Some(sixteenths) = entry.sixteenths_ns.get_mut(run) {
                    *sixteenths = kernel.sixteenths_ns;
                }
            }
        }
    }
    by_name.into_values().collect()
}

/// Adds to the value of a run. A missing value counts as 0.
fn add(values: &mut [Option<Number>], run: usize, more: f64) {
    if let Some(value) = values.get_mut(run) {
        *value = Number::new(value.map_or(0.0, Number::get) + more);
    }
}

/// Returns whether a report lists all of its kernels: then their instances sum to its intervals.
/// Otherwise a kernel that is not listed may still have run, so the list is not used.
fn lists_all(report: &Report) -> bool {
    let instances = report.kernels.iter().map(|kernel| kernel.instances);
    instances.fold(0_u64, u64::saturating_add) == report.counts.intervals
}
