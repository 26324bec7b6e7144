//! What an index says of one trace.

use metalens_analyzer::{Cause, Message, Note, NoteDetail, Report, Severity, ThresholdResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rises when a row is made in another way: what was kept is then made again.
pub const ROW_FORM: u32 = 3;

/// One trace. `null` is unknown or undefined, never zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// The folder of its report, seen from the index.
    pub report: String,
    /// What the trace is called: its file name, with the folders in which it was found.
    pub name: String,
    /// What was analyzed, as it was given or found.
    pub input: String,
    /// Which run of it.
    pub run: u64,
    /// When the recording began, ISO 8601.
    pub date: Option<String>,
    /// Whom the report is about.
    pub process: String,
    /// The machine's model.
    pub model: Option<String>,
    /// Its operating system and version.
    pub os: Option<String>,
    /// Its GPU, as Metal calls it.
    pub gpu: Option<String>,
    /// Whether no GPU ran any of it: a simulator wrote the recording.
    pub synthetic: bool,
    /// Whether the recording breaks off, and only what came before was read.
    pub truncated: bool,
    /// The verdict, as a sentence.
    pub verdict: String,
    /// The length of the window that the report is about, ns.
    pub span_ns: u64,
    /// How long the target kept the GPU busy in it, ns.
    pub busy_ns: u64,
    /// busy / window.
    pub busy_ratio: Option<f64>,
    /// How long anybody did, ns.
    pub machine_busy_ns: u64,
    /// That / window.
    pub machine_busy_ratio: Option<f64>,
    /// The target's GPU intervals.
    pub intervals: u64,
    /// Distinct names of its work, per channel.
    pub kernels: u64,
    /// When it left the GPU idle.
    pub gaps: RowGaps,
    /// What most of the idle time was spent on; null if there was none.
    pub idle: Option<RowIdle>,
    /// The kernel that took the most time; null if nothing ran.
    pub top_kernel: Option<RowKernel>,
    /// How many findings there are, by severity.
    pub findings: RowFindings,
    /// The finding that matters most; null if there is none.
    pub finding: Option<RowFinding>,
    /// The targets that it missed; also those that cannot be measured although somebody set
    /// their limits.
    pub missed: Vec<String>,
    /// The targets that this recording cannot tell about.
    pub not_measurable: Vec<String>,
    /// What a reader must know before using these numbers: notes that nobody may overlook,
    /// checks of the recording that fail, charts that could not be drawn.
    pub problems: Vec<String>,
    /// Id, severity and values of each of `problems`: the id is that of the note, that of the
    /// check, or `file-missing`.
    #[serde(default)]
    pub problem_details: Vec<NoteDetail>,
    /// The window in equal parts: the target's busy share of each, in thousandths.
    pub busy_over_time: Vec<u16>,
    /// The other processes' share of each.
    pub others_over_time: Vec<u16>,
}

/// The gaps of one trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowGaps {
    /// How many.
    pub count: u64,
    /// Their summed length, ns.
    pub total_ns: u64,
    /// Their mean length, ns.
    pub mean_ns: Option<u64>,
    /// Their median length, ns.
    pub median_ns: Option<u64>,
    /// 95 % are not longer, ns.
    pub p95_ns: Option<u64>,
}

/// The largest part of the idle time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowIdle {
    /// Whose fault it is.
    pub cause: Cause,
    /// How much it is, ns.
    pub ns: u64,
    /// That / all idle time.
    pub share: f64,
}

/// The kernel that took the most time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowKernel {
    /// What it is called.
    pub name: String,
    /// Its summed durations, ns.
    pub total_ns: u64,
    /// Its share of all kernels' summed durations.
    pub time_pct: f64,
}

/// How many findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowFindings {
    /// The number of severity high.
    pub high: u64,
    /// The number of severity medium.
    pub medium: u64,
    /// The number of severity low.
    pub low: u64,
    /// The number of caveats.
    pub caveat: u64,
}

/// The finding that matters most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowFinding {
    /// Its rule.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// One sentence.
    pub title: String,
}

impl Row {
    /// Returns the row of a report, in whose folder some files may be missing. `shown` is the
    /// report as it may be shown: its notes and checks are the row's problems.
    #[must_use]
    pub fn of(report: &Report, shown: &Report, missing: Vec<Note>) -> Self {
        let ids = |targets: Vec<&ThresholdResult>| -> Vec<String> {
            targets.into_iter().map(|one| one.id.clone()).collect()
        };
        let untold = report.thresholds.iter().filter(|one| one.value.is_none());
        let (busy_over_time, others_over_time) = over_time(report);
        let (problems, problem_details) = Note::lists(problems(&shown, missing));
        Self {
            report: String::new(),
            name: String::new(),
            input: report.source.path.clone(),
            run: report.run.number,
            date: report.run.start.clone(),
            process: report.process.name.clone(),
            model: report.run.device.model.clone(),
            os: report.run.device.os.clone(),
            gpu: report.run.device.gpu.clone(),
            synthetic: report.run.synthetic,
            truncated: !report.sanity.truncated_tables.is_empty(),
            verdict: report.summary.busy.clone(),
            span_ns: report.window.span_ns,
            busy_ns: report.busy.busy_ns,
            busy_ratio: report.busy.ratio,
            machine_busy_ns: report.busy.machine_busy_ns,
            machine_busy_ratio: ratio(report.busy.machine_busy_ns, report.window.span_ns),
            intervals: report.counts.intervals,
            kernels: report.counts.kernels,
            gaps: gaps(report),
            idle: idle(report),
            top_kernel: report.kernels.first().map(|kernel| RowKernel {
                name: kernel.name.clone(),
                total_ns: kernel.total_ns,
                time_pct: kernel.time_pct,
            }),
            findings: findings(report),
            finding: report.findings.first().map(|finding| RowFinding {
                id: finding.id.clone(),
                severity: finding.severity,
                title: finding.title.clone(),
            }),
            missed: ids(report.missed_thresholds()),
            not_measurable: ids(untold.collect()),
            problems,
            problem_details,
            busy_over_time,
            others_over_time,
        }
    }
}

fn gaps(report: &Report) -> RowGaps {
    let gaps = &report.gaps;
    RowGaps {
        count: gaps.count,
        total_ns: gaps.total_ns,
        mean_ns: gaps.mean_ns,
        median_ns: gaps.median_ns,
        p95_ns: gaps.p95_ns,
    }
}

fn idle(report: &Report) -> Option<RowIdle> {
    let ledger = &report.idle;
    let cause = ledger.parts.cause();
    let ns = ledger.parts.get(cause);
    let share = ratio(ns, ledger.total_ns)?;
    Some(RowIdle { cause, ns, share })
}

fn findings(report: &Report) -> RowFindings {
    let mut count = RowFindings::default();
    for finding in &report.findings {
        *match finding.severity {
            Severity::High => &mut count.high,
            Severity::Medium => &mut count.medium,
            Severity::Low => &mut count.low,
            Severity::Caveat => &mut count.caveat,
        } += 1;
    }
    count
}

fn problems(report: &Report, missing: Vec<Note>) -> Vec<Note> {
    let failing = report.sanity.checks.iter().filter(|check| !check.ok);
    let failing = failing.map(|check| {
        let says = Message::new(&check.text, &check.text_values);
        Note::loud(&check.id, says)
    });
    report.loud_notes().chain(failing).chain(missing).collect()
}

/// The target's share and the others', part by part.
fn over_time(report: &Report) -> (Vec<u16>, Vec<u16>) {
    let chunks = &report.shape.utilization;
    let ends = chunks.iter().skip(1).map(|next| next.start_ns);
    let ends = ends.chain([report.window.end_ns]);
    let shares = chunks.iter().zip(ends).map(|(chunk, end)| {
        let length = end.saturating_sub(chunk.start_ns);
        (
            thousandths(chunk.busy_ns, length),
            thousandths(chunk.others_ns, length),
        )
    });
    shares.unzip()
}

/// The nearest thousandth; what is not nothing is at least one.
fn thousandths(part: u64, whole: u64) -> u16 {
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    let nearest = (2_000 * part + whole) / (2 * whole);
    let nearest = nearest.clamp(u128::from(part > 0), 1_000);
    u16::try_from(nearest).unwrap_or(1_000)
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        let check = |part: u64, whole: u64, expected: u16| {
            assert_eq!(thousandths(part, whole), expected, "{part} of {whole}");
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
