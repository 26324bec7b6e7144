//! Takes the circumstances and the figures of one run out of its report: the row of every set of runs.

use std::collections::BTreeMap;

use metalens_analyzer::{ChainSource, NamedBy, Report};
use metalens_message::Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::metrics;

/// One run: when, of what, under which circumstances, and its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Start of the recording, ISO 8601. Null if it is not recorded.
    pub date: Option<String>,
    /// Name of the process that the report is about.
    pub process: String,
    /// Circumstances by name: `GPU`, `system`, … Those that are not recorded are left out.
    pub circumstances: BTreeMap<String, String>,
    /// Figures by their path in a report, such as `busy.ratio`. Those that are not known are left out.
    pub figures: BTreeMap<String, Number>,
}

pub(crate) const ORIGIN: &str = "origin";
pub(crate) const SYNTHETIC: &str = "synthetic";
pub(crate) const GPU: &str = "GPU";
pub(crate) const MODEL: &str = "model";
pub(crate) const SYSTEM: &str = "system";
pub(crate) const INSTRUMENTS: &str = "Instruments";
pub(crate) const THERMAL: &str = "thermal state";

/// Circumstances that must be equal, and where a report states them.
type GetCircumstance = fn(&Report) -> Option<String>;
const CIRCUMSTANCES: [(&str, GetCircumstance); 13] = [
    (ORIGIN, |report| {
        let origin = if report.run.synthetic {
            SYNTHETIC
        } else {
            "recorded"
        };
        Some(origin.to_owned())
    }),
    (GPU, |report| report.run.device.gpu.clone()),
    (MODEL, |report| report.run.device.model.clone()),
    (SYSTEM, |report| report.run.device.os.clone()),
    (INSTRUMENTS, |report| report.run.instruments_version.clone()),
    ("template", |report| report.run.template.clone()),
    ("recording mode", |report| report.run.recording_mode.clone()),
    ("shader timeline", shader_timeline),
    ("left out of the window", left_out),
    ("requested GPU clock", |report| {
        report.machine.performance.as_ref()?.requested.clone()
    }),
    (THERMAL, |report| {
        report.machine.thermal.as_ref()?.worst.clone()
    }),
    ("GPU intervals", recorded_work),
    // The order of the driver's rows tells other times than the tables that join them.
    ("driver times", |report| {
        let by = match report.latency.driver_source? {
            ChainSource::Tables => "by command buffer",
            ChainSource::Order => "by order",
        };
        Some(by.to_owned())
    }),
];

/// Returns whether the recording has a GPU interval of each command buffer that completed, and no row
/// outside of its time. What is missing would look like a gain, so recordings that lack much are like
/// no other.
fn recorded_work(report: &Report) -> Option<String> {
    /// One command buffer in this many may be missing in a recording that is like others.
    const FEW: u64 = 20;
    let sanity = &report.sanity;
    // A log has each command buffer, or counts those that it lacks.
    let of_log = report.source.is_log().then_some(0);
    let (missing, outside) = (
        sanity.buffers_without_interval.or(of_log)?,
        sanity.rows_outside.unwrap_or(0),
    );
    Some(match (missing, outside) {
        (0, 0) => "of every command buffer".to_owned(),
        (_, 0) if missing * FEW < sanity.buffers_finished? => {
            "of nearly every command buffer".to_owned()
        }
        _ => format!("of all but {missing} command buffers; {outside} rows have impossible times"),
    })
}

/// Returns whether the shader timeline was in use. It slows the GPU down, and it names kernels.
#[expect(clippy::unnecessary_wraps, reason = "a getter like the others")]
fn shader_timeline(report: &Report) -> Option<String> {
    let mut kernels = report.kernels.iter();
    let is_on = kernels.any(|kernel| kernel.named_by == NamedBy::ShaderProfiler);
    Some(if is_on { "in use" } else { "not in use" }.to_owned())
}

/// Returns the reasons for which parts of the recording were excluded from the window.
#[expect(clippy::unnecessary_wraps, reason = "a getter like the others")]
fn left_out(report: &Report) -> Option<String> {
    let mut why: Vec<String> = Vec::new();
    for excluded in &report.window.excluded {
        if !why.contains(&excluded.why.text) {
            why.push(excluded.why.text.clone());
        }
    }

    Some(if why.is_empty() {
        "nothing".to_owned()
    } else {
        why.join(", ")
    })
}

/// Returns the names of all circumstances, in the order in which they are shown.
pub(crate) fn circumstances() -> impl Iterator<Item = &'static str> {
    CIRCUMSTANCES.iter().map(|(what, _)| *what)
}

impl Run {
    /// Returns the run of a report.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let circumstances = CIRCUMSTANCES.iter();
        let circumstances =
            circumstances.filter_map(|(what, get)| Some(((*what).to_owned(), get(report)?)));
        let figures = metrics().filter_map(|metric| {
            let value = Number::new(metric.known(report)?)?;
            Some((metric.id.to_owned(), value))
        });
        Self {
            date: report.run.start.clone(),
            process: report.process.name.clone(),
            circumstances: circumstances.collect(),
            figures: figures.collect(),
        }
    }

    /// Returns a figure, by its id.
    pub fn figure(&self, id: &str) -> Option<Number> {
        self.figures.get(id).copied()
    }

    /// Returns a circumstance, by its name.
    pub fn circumstance(&self, what: &str) -> Option<&str> {
        self.circumstances.get(what).map(String::as_str)
    }

    /// Returns the name of the GPU in Metal.
    pub fn gpu(&self) -> Option<&str> {
        self.circumstance(GPU)
    }

    /// Returns whether a simulator wrote the recording: no GPU ran any of it.
    pub fn is_synthetic(&self) -> bool {
        self.circumstance(ORIGIN) == Some(SYNTHETIC)
    }
}

/// Returns the last part of a path, because folder names may be private.
pub fn last_name(path: &str) -> String {
    std::path::Path::new(path).file_name().map_or_else(
        || path.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
