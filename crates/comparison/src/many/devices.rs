//! Puts the same work on several chips side by side.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use metalens_analyzer::{GapParts, units};
use serde::{Deserialize, Serialize};

use super::row::IndexRow;
use crate::number::Number;
use crate::statistics::median;

/// The same work on several chips: recordings of one program with the same kernels as often, in as
/// many command buffers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AcrossDevices {
    /// Name of the work, such as `bench, 1,000 GPU intervals in 40 command buffers, 4 kernels`.
    pub name: String,
    /// Name of the program.
    pub process: String,
    /// True if a simulator wrote the recordings.
    pub synthetic: bool,
    /// The chips, by name.
    pub devices: Vec<DeviceFigures>,
}

/// The same work on one chip. The figures are of the recording with the median window, so that the
/// times sum to its window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DeviceFigures {
    /// Name of the GPU in Metal, which is that of the chip.
    pub gpu: String,
    /// Models of the machines, as far as they are recorded.
    pub models: Vec<String>,
    /// Folders of the reports of all recordings; of a dataset, names of its runs.
    pub reports: Vec<String>,
    /// Folder of the report whose figures these are, or the name of the run.
    pub median_report: String,
    /// Length of the window, in nanoseconds.
    pub span_ns: u64,
    /// Shortest and longest window of the recordings, in nanoseconds.
    pub span_range_ns: (u64, u64),
    /// GPU time: time that the process kept the GPU busy, in nanoseconds.
    pub busy_ns: u64,
    /// Share of the window in which the process kept the GPU busy. Null for an empty window.
    pub busy_ratio: Option<f64>,
    /// Idle time by cause, in nanoseconds; window and GPU time leave nothing else. Null if a row of
    /// an earlier version lacks it.
    pub idle: Option<GapParts>,
    /// Memory bandwidth while the process was busy, in GB/s: the median of the recordings with
    /// hardware counters. Null if none has them.
    pub bandwidth_gb_per_s: Option<Number>,
    /// Number of recordings with hardware counters of the memory bandwidth.
    pub bandwidth_of: u64,
}

/// A recording whose work may be put beside that of other chips.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceRun {
    /// Folder of the report, or name of the run.
    pub report: String,
    /// Name of the program.
    pub process: String,
    /// True if a simulator wrote the recording.
    pub synthetic: bool,
    /// Name of the GPU in Metal. None if it is not recorded.
    pub gpu: Option<String>,
    /// Model of the machine. None if it is not recorded.
    pub model: Option<String>,
    /// Number of GPU intervals.
    pub intervals: u64,
    /// Number of command buffers. None if the recording does not say.
    pub command_buffers: Option<u64>,
    /// Number of kernels.
    pub kernels: u64,
    /// Hash of the kernels and of how often each ran: see [`work_id`](super::work_id).
    pub work: String,
    /// Length of the window, in nanoseconds.
    pub span_ns: u64,
    /// GPU time, in nanoseconds.
    pub busy_ns: u64,
    /// Share of the window in which the process kept the GPU busy. None for an empty window.
    pub busy_ratio: Option<f64>,
    /// Idle time by cause. None if it is not known.
    pub idle: Option<GapParts>,
    /// Memory bandwidth while the process was busy, in GB/s. None if it was not counted.
    pub bandwidth_gb_per_s: Option<Number>,
}

/// Returns the recordings of rows, without those that were counted under another name.
#[must_use]
pub fn device_runs(rows: &[IndexRow]) -> Vec<DeviceRun> {
    let counted = rows.iter().filter(|row| row.same_as.is_none());
    let runs = counted.map(|row| DeviceRun {
        report: row.report.clone(),
        process: row.process.clone(),
        synthetic: row.synthetic,
        gpu: row.gpu.clone(),
        model: row.model.clone(),
        intervals: row.intervals,
        command_buffers: row.command_buffers,
        kernels: row.kernels,
        work: row.work.clone(),
        span_ns: row.span_ns,
        busy_ns: row.busy_ns,
        busy_ratio: row.busy_ratio,
        idle: row.idle_parts,
        bandwidth_gb_per_s: row.bandwidth_gb_per_s,
    });
    runs.collect()
}

/// Facts that are equal in all recordings of the same work, on any chip.
type WorkKey<'a> = (&'a str, bool, u64, Option<u64>, &'a str);

/// Returns each work that several chips did, that of the most chips first. A recording that does not
/// name its chip is left out.
#[must_use]
pub fn across_devices(runs: &[DeviceRun]) -> Vec<AcrossDevices> {
    let mut works: BTreeMap<WorkKey<'_>, BTreeMap<&str, Vec<&DeviceRun>>> = BTreeMap::new();
    for run in runs {
        let Some(gpu) = run.gpu.as_deref() else {
            continue;
        };
        let work = (
            &*run.process,
            run.synthetic,
            run.intervals,
            run.command_buffers,
            &*run.work,
        );
        let devices = works.entry(work).or_default();
        devices.entry(gpu).or_default().push(run);
    }

    let several = works.into_values().filter(|devices| devices.len() > 1);
    let works = several.filter_map(|devices| {
        let first = *devices.values().next()?.first()?;
        let figures = devices.into_iter();
        let figures = figures.filter_map(|(gpu, runs)| figures_of(gpu, runs));
        let mut figures: Vec<DeviceFigures> = figures.collect();
        figures.sort_by(|one, other| natural(one).cmp(&natural(other)));
        Some(AcrossDevices {
            name: work_name(first),
            process: first.process.clone(),
            synthetic: first.synthetic,
            devices: figures,
        })
    });
    let mut works: Vec<AcrossDevices> = works.collect();
    works.sort_by_key(|work| {
        let runs: usize = work.devices.iter().map(|one| one.reports.len()).sum();
        Reverse((work.devices.len(), runs))
    });
    works
}

/// Returns a key that sorts `Apple M2 Max` before `Apple M10`.
fn natural(device: &DeviceFigures) -> (usize, &str) {
    let gpu = device.gpu.as_str();
    let chip = gpu.strip_prefix("Apple ").unwrap_or(gpu);
    let chip = chip.split_whitespace().next().unwrap_or_default();
    (chip.len(), gpu)
}

fn work_name(run: &DeviceRun) -> String {
    let intervals = units::counted(run.intervals, "GPU interval");
    let buffers = run.command_buffers;
    let buffers = buffers.map(|buffers| units::counted(buffers, "command buffer"));
    let buffers = buffers.map_or_else(String::new, |buffers| format!(" in {buffers}"));
    let kernels = units::counted(run.kernels, "kernel");
    format!("{}, {intervals}{buffers}, {kernels}", run.process)
}

/// Returns the figures of one chip.
fn figures_of(gpu: &str, mut runs: Vec<&DeviceRun>) -> Option<DeviceFigures> {
    runs.sort_by_key(|run| (run.span_ns, &run.report));
    let middle = *runs.get(runs.len().checked_sub(1)? / 2)?;
    let ends = (runs.first()?.span_ns, runs.last()?.span_ns);
    let bandwidths: Vec<f64> = runs
        .iter()
        .filter_map(|run| run.bandwidth_gb_per_s)
        .map(Number::get)
        .collect();

    let models: BTreeSet<String> = runs.iter().filter_map(|run| run.model.clone()).collect();
    let mut reports: Vec<String> = runs.iter().map(|run| run.report.clone()).collect();
    reports.sort();
    Some(DeviceFigures {
        gpu: gpu.to_owned(),
        models: models.into_iter().collect(),
        reports,
        median_report: middle.report.clone(),
        span_ns: middle.span_ns,
        span_range_ns: ends,
        busy_ns: middle.busy_ns,
        busy_ratio: middle.busy_ratio,
        idle: middle.idle,
        bandwidth_gb_per_s: median(&bandwidths).and_then(Number::new),
        bandwidth_of: bandwidths.len() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::row;
    use super::*;

    fn on(name: &str, gpu: Option<&str>, span_us: u64, bandwidth: Option<f64>) -> IndexRow {
        IndexRow {
            gpu: gpu.map(str::to_owned),
            span_ns: span_us * 1_000,
            bandwidth_gb_per_s: bandwidth.and_then(Number::new),
            ..row(name, 1, 0.9)
        }
    }

    #[test]
    fn only_the_same_work_is_side_by_side() {
        let mut other = on("other", Some("Apple M3"), 7, None);
        other.work = "softmax".to_owned();
        let mut twice = on("twice", Some("Apple M5"), 7, None);
        twice.same_as = Some("a".to_owned());
        let mut simulated = on("simulated", Some("Apple M4"), 7, None);
        simulated.synthetic = true;
        let rows = [
            on("c", Some("Apple M10"), 300, Some(90.0)),
            on("a", Some("Apple M2"), 500, Some(40.0)),
            on("b", Some("Apple M2"), 400, None),
            // The same chip is one line, whether or not the recording names its Mac.
            IndexRow {
                model: Some("Mac mini".to_owned()),
                ..on("d", Some("Apple M2"), 900, Some(60.0))
            },
            on("nowhere", None, 1, None),
            other,
            twice,
            simulated,
        ];
        let found = across_devices(&device_runs(&rows));
        let [work] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(
            work.name,
            "bench, 1,000 GPU intervals in 40 command buffers, 4 kernels"
        );
        let shown = work.devices.iter().map(|one| {
            let gpu = &one.gpu;
            let bandwidth = one.bandwidth_gb_per_s.map(Number::get);
            let (least, most) = one.span_range_ns;
            let reports = one.reports.join("");
            format!(
                "{gpu} {reports} {} of {least}–{most} {bandwidth:?}/{}",
                one.span_ns, one.bandwidth_of
            )
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                "Apple M2 abd 500000 of 400000–900000 Some(50.0)/2",
                "Apple M10 c 300000 of 300000–300000 Some(90.0)/1",
            ]
        );
    }
}
