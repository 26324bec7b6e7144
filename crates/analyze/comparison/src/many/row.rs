//! Defines the row of an index: the main facts of one recording.

use std::hash::{DefaultHasher, Hash, Hasher};

use metalens_analyzer::{Bound, Cause, GateResult, Kernel, Note, Report};
use metalens_message::{Ns, Number, Quantity, Share, share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::totals::RowFinding;
use crate::run::Run;

/// The main facts of one recording. `null` means unknown or undefined, never zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexRow {
    /// Folder of the recording's report, relative to the index.
    pub report: String,
    /// Name of the recording: its file name, with the folders in which it was found.
    pub name: String,
    /// Path of the input, as it was given or found.
    pub input: String,
    /// Number of the run in the input.
    pub run: u64,
    /// Circumstances and figures of the recording.
    #[serde(flatten)]
    pub of: Run,
    /// True if the recording breaks off, so that only its beginning was read.
    pub truncated: bool,
    /// Verdict on the recording, in one sentence.
    pub verdict: String,
    /// Limit that bounds the program. Null if the recording does not tell.
    pub bound: Option<Bound>,
    /// Hash of the names and channels of all kernels and of how often each ran. Recordings are compared
    /// only if it is the same.
    pub work: String,
    /// Folder of the report that this recording was counted under: another input is the same run,
    /// such as the bundle of an export. Null if it counts here.
    pub same_as: Option<String>,
    /// Largest cause of the idle time. Null if there was no idle time.
    pub idle: Option<RowIdle>,
    /// Kernel with the most time. Null if nothing ran.
    pub top_kernel: Option<RowKernel>,
    /// Kernels with 1 % of the time or more, the twenty with most of it.
    #[serde(default)]
    pub kernels: Vec<RowKernel>,
    /// Result of the limits that somebody set. Null if none were judged.
    pub gate: Option<GateResult>,
    /// Facts to know before using these numbers: loud notes, failing checks of the recording,
    /// charts that could not be drawn.
    pub problems: Vec<Note>,
    /// All findings, the most important first.
    pub findings: Vec<RowFinding>,
    /// Busy share of the process in each of equal parts of the window, in thousandths.
    pub busy_over_time: Vec<u16>,
    /// Busy share of the other processes in the same parts, in thousandths.
    pub others_over_time: Vec<u16>,
}

/// The largest cause of the idle time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowIdle {
    /// Cause of the idle time.
    pub cause: Cause,
    /// Idle time with this cause, in nanoseconds.
    pub ns: Ns,
    /// Share of all idle time.
    pub share: Share,
}

/// One kernel of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowKernel {
    /// Name of the kernel.
    pub name: String,
    /// Channel that it ran on. Null if the recording does not say.
    #[serde(default)]
    pub channel: Option<String>,
    /// Median duration, in nanoseconds.
    #[serde(default)]
    pub med_ns: Ns,
    /// Summed durations, in nanoseconds.
    pub total_ns: Ns,
    /// Share of the summed durations of all kernels, in percent.
    pub time_pct: f64,
}

impl IndexRow {
    /// Returns the median time that a kernel of another recording has here.
    pub(super) fn median_of(&self, other: &RowKernel) -> Option<Number> {
        let mut kernels = self.kernels.iter();
        let own = kernels.find(|own| own.name == other.name && own.channel == other.channel)?;
        Number::new(own.med_ns.number())
    }

    /// Returns the row of a report. `shown` is the report as it may be shown to readers: its notes
    /// and checks become the row's problems. `missing` are notes on files that could not be
    /// written.
    #[must_use]
    pub fn from_report(report: &Report, shown: &Report, missing: Vec<Note>) -> Self {
        let (busy_over_time, others_over_time) = over_time(report);
        Self {
            report: String::new(),
            name: String::new(),
            input: report.source.path.clone(),
            run: report.run.number,
            of: Run::of(report),
            truncated: !report.sanity.truncated_tables.is_empty(),
            verdict: report.summary.busy.text.clone(),
            bound: report.verdict.bound,
            work: work(report),
            same_as: None,
            idle: row_idle(report),
            top_kernel: report.kernels.first().map(RowKernel::from),
            kernels: kernels(report),
            gate: report.gate.clone(),
            problems: problems(shown, missing),
            findings: report.findings.iter().map(RowFinding::from).collect(),
            busy_over_time,
            others_over_time,
        }
    }
}

impl From<&Kernel> for RowKernel {
    fn from(kernel: &Kernel) -> Self {
        Self {
            name: kernel.name.clone(),
            channel: kernel.channel.clone(),
            med_ns: kernel.med_ns,
            total_ns: kernel.total_ns,
            time_pct: kernel.time_pct,
        }
    }
}

/// Returns the kernels that matter: at most twenty, with 1 % of the time and more.
fn kernels(report: &Report) -> Vec<RowKernel> {
    let kernels = report.kernels.iter().take(20);
    let kernels = kernels.filter(|kernel| kernel.time_pct >= 1.0);
    kernels.map(RowKernel::from).collect()
}

/// Returns a hash of kernels, by name, channel and number of instances. If these are not all of the
/// intervals, it is the hash of none: which kernels are listed depends on their times.
fn work(report: &Report) -> String {
    let mut kernels: Vec<(&str, Option<&str>, u64)> = report
        .kernels
        .iter()
        .map(|kernel| {
            let channel = kernel.channel.as_deref();
            (kernel.name.as_str(), channel, kernel.instances)
        })
        .collect();
    let instances: u64 = kernels.iter().map(|(_, _, instances)| instances).sum();
    if instances != report.counts.intervals {
        kernels.clear();
    }
    kernels.sort_unstable();

    let mut hasher = DefaultHasher::new();
    kernels.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn row_idle(report: &Report) -> Option<RowIdle> {
    let idle = &report.idle;
    let cause = idle.parts.cause();
    let ns = idle.parts.get(cause);
    let share = share(ns, idle.total_ns)?;
    Some(RowIdle { cause, ns, share })
}

fn problems(report: &Report, missing: Vec<Note>) -> Vec<Note> {
    let checks = report.sanity.checks.iter().filter(|check| !check.ok);
    let failing = checks.map(|check| Note::quiet(&check.id, &check.text));
    let loud = report.loud_notes().cloned();
    loud.chain(failing).chain(missing).collect()
}

/// Returns the busy shares of the process and of the others in each part of the window.
fn over_time(report: &Report) -> (Vec<u16>, Vec<u16>) {
    let chunks = &report.shape.utilization;
    let starts = chunks.iter().skip(1).map(|next| next.start_ns);
    let ends = starts.chain([report.window.end_ns]);
    let shares = chunks.iter().zip(ends).map(|(chunk, end)| {
        let length = end.saturating_sub(chunk.start_ns);
        (
            thousandths(chunk.busy_ns, length),
            thousandths(chunk.others_ns, length),
        )
    });
    shares.unzip()
}

/// Returns a share rounded to thousandths; a share above zero is at least one.
fn thousandths(part: Ns, whole: Ns) -> u16 {
    let (part, whole) = (part.wide(), whole.wide().max(1));
    let nearest = ((2_000 * part + whole) / (2 * whole)).clamp(u128::from(part > 0), 1_000);
    u16::try_from(nearest).unwrap_or(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousandths_are_rounded() {
        let check = |part: u64, whole: u64, expected: u16| {
            assert_eq!(
                thousandths(Ns(part), Ns(whole)),
                expected,
                "{part} of {whole}"
            );
        };
        check(0, 0, 0);
        check(0, 5, 0);
        check(1, u64::MAX, 1);
        check(1, 3, 333);
        check(2, 3, 667);
        check(5, 5, 1_000);
        check(9, 5, 1_000);
    }
}
