//! Compares the same work on several chips, from the runs of the datasets.

use std::collections::{BTreeMap, BTreeSet};

use metalens_analyzer::GapParts;
use metalens_comparison::many::{DeviceRun, across_devices, work_id};
use metalens_comparison::{Environment, Number, distinct_environments};
use metalens_render::devices::FleetChips;

use crate::answer::{Cell, QueryAnswer};
use crate::error::{Error, Result};
use crate::library::Library;

/// The facts of a run, in the order in which [`run`] takes them.
const RUNS: &str = "SELECT run, interval_count, window_ns, busy_ns, command_buffer_count, kernel_count, process, \
     synthetic, gpu, device, busy_ratio, bandwidth_gb_per_s, completion_ns, host_ns, encoding_ns, \
     driver_wait_ns, driver_ns, start_latency_ns, submission_ns, queued_ns, contention_ns, unknown_ns, os, instruments_version \
     FROM runs ORDER BY run";
const KERNELS: &str = "SELECT run, kernel, channel, instances FROM kernels ORDER BY run";

/// Kernels of a run: name, channel, and number of instances.
type RunKernels = Vec<(String, Option<String>, u64)>;

impl Library {
    /// Returns the comparison of recordings with the same work on several chips. Work is the same if
    /// it has the same kernels with the same numbers of instances and of command buffers.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or lacks a fact that every run has.
    pub fn chips(&self) -> Result<FleetChips> {
        let kernels = kernels(&self.ask(KERNELS)?);
        let answer = self.ask(RUNS)?;
        let found = (0..answer.rows()).map(|row| {
            let run = run(&mut RowCells(answer.row(row)), &kernels);
            run.ok_or_else(|| Error::Read("a row of runs has no name, window or counts".to_owned()))
        });
        let found: Vec<(DeviceRun, Environment)> = found.collect::<Result<_>>()?;
        let (runs, environments): (Vec<DeviceRun>, Vec<Environment>) = found.into_iter().unzip();

        let count = |is_counted: fn(&DeviceRun) -> bool| {
            runs.iter().filter(|run| is_counted(run)).count() as u64
        };
        let mut environments = distinct_environments(environments);
        environments.sort_by(|left, right| (&left.gpu, &left.os).cmp(&(&right.gpu, &right.os)));
        let chips: BTreeSet<&String> = runs.iter().filter_map(|run| run.gpu.as_ref()).collect();
        Ok(FleetChips {
            recordings: count(|_| true),
            synthetic: count(|run| run.synthetic),
            unnamed: count(|run| run.gpu.is_none()),
            chips: chips.into_iter().cloned().collect(),
            works: across_devices(&runs),
            environments,
        })
    }
}

/// The cells of a row that are not taken yet.
struct RowCells<I>(I);

impl<'a, I: Iterator<Item = Cell<'a>>> RowCells<I> {
    fn text(&mut self) -> Option<String> {
        match self.0.next()? {
            Cell::Text(text) => Some(text.into_owned()),
            _ => None,
        }
    }

    fn count(&mut self) -> Option<u64> {
        match self.0.next()? {
            Cell::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<f64> {
        match self.0.next()? {
            Cell::Number(number) => Some(number),
            _ => None,
        }
    }

    fn flag(&mut self) -> Option<bool> {
        match self.0.next()? {
            Cell::Flag(flag) => Some(flag),
            _ => None,
        }
    }
}

/// Returns the kernels of each run.
fn kernels(answer: &QueryAnswer) -> BTreeMap<String, RunKernels> {
    let mut found: BTreeMap<String, RunKernels> = BTreeMap::new();
    for row in 0..answer.rows() {
        let mut cells = RowCells(answer.row(row));
        let (run, name, channel) = (cells.text(), cells.text(), cells.text());
        let (Some(run), Some(name), Some(instances)) = (run, name, cells.count()) else {
            continue;
        };
        found
            .entry(run)
            .or_default()
            .push((name, channel, instances));
    }
    found
}

/// Returns a run, and the environment in which it was recorded.
fn run<'a>(
    cells: &mut RowCells<impl Iterator<Item = Cell<'a>>>,
    kernels: &BTreeMap<String, RunKernels>,
) -> Option<(DeviceRun, Environment)> {
    let name = cells.text()?;
    let (intervals, span_ns, busy_ns) = (cells.count()?, cells.count()?, cells.count()?);
    let own = kernels.get(&name).into_iter().flatten();
    let own = own.map(|(name, channel, instances)| (&**name, channel.as_deref(), *instances));

    let run = DeviceRun {
        work: work_id(own.collect(), intervals),
        report: name.clone(),
        intervals,
        span_ns,
        busy_ns,
        // Intervals without command buffers mean that the recording does not name the buffers.
        command_buffers: cells.count().filter(|count| *count > 0 || intervals == 0),
        kernels: cells.count()?,
        process: cells.text()?,
        synthetic: cells.flag()?,
        gpu: cells.text(),
        model: cells.text(),
        busy_ratio: cells.number(),
        bandwidth_gb_per_s: cells.number().and_then(Number::new),
        idle: idle(std::array::from_fn(|_| cells.count())),
    };
    let environment = Environment {
        gpu: run.gpu.clone(),
        model: run.model.clone(),
        os: cells.text(),
        instruments_version: cells.text(),
        frameworks: None,
        synthetic: run.synthetic,
        of: vec![name],
    };
    Some((run, environment))
}

/// Returns the idle time by cause; `None` if one of the causes is not known.
fn idle(causes: [Option<u64>; 10]) -> Option<GapParts> {
    let [
        completion,
        host,
        encoding,
        driver_wait,
        driver,
        start_latency,
        submission,
        queued,
        contention,
        unknown,
    ] = causes;
    Some(GapParts {
        completion_ns: completion?,
        host_ns: host?,
        encoding_ns: encoding?,
        driver_wait_ns: driver_wait?,
        driver_ns: driver?,
        start_latency_ns: start_latency?,
        submission_ns: submission?,
        queued_ns: queued?,
        contention_ns: contention?,
        unknown_ns: unknown?,
    })
}
